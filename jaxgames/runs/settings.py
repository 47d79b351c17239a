"""A learner's settings, as read back from a run's config.json."""

import dataclasses
from collections.abc import Collection
from typing import Any, TypeVar

T = TypeVar("T")


def settings_from(found: Any, defaults: T, learner: str, added: Collection[str] = ()) -> T:
    """The dataclass of settings that has these values.

    Args:
        found: a value for each field, by name, as JSON has them: tuples may be lists, and whole numbers floats.
        defaults: a dataclass of the same kind; its values say what is expected.
        learner: whose settings they are, for errors, such as "a TD learner".
        added: settings that older runs have not; they had these defaults.

    Raises `ValueError` if one is unknown, missing, or no value of its kind.
    """
    if not isinstance(found, dict):
        raise ValueError(f"the settings of {learner} are {found!r}; expected names with values")
    expected: dict[str, Any] = dataclasses.asdict(defaults)  # type: ignore[call-overload]
    known = ", ".join(sorted(expected))
    for name in found:
        if name not in expected:
            raise ValueError(f"unknown setting {name!r} of {learner}; known: {known}")
    for name, default in expected.items():
        if name not in found and name not in added:
            raise ValueError(f"setting {name!r} of {learner} is missing; expected all of {known}")
        kinds = {float: (int, float), tuple: (list, tuple)}.get(type(default), (type(default),))
        if type(found.get(name, default)) not in kinds:
            raise ValueError(f"{name}={found[name]!r} of {learner}: expected a value such as {default!r}")
    values = {name: getattr(defaults, name) for name in added} | found
    tuples = {name: tuple(values[name]) for name, default in expected.items() if isinstance(default, tuple)}
    return type(defaults)(**values | tuples)
