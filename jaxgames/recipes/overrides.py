"""Settings changed by texts, as `--set name=value` gives them."""

from collections.abc import Mapping
from typing import Any, get_args

_BOOLS = {"true": True, "false": False}
_EXPECTED = {bool: "true or false", int: "a whole number", float: "a number"}


def parse_overrides(types: Mapping[str, Any], changes: Mapping[str, str]) -> dict[str, Any]:
    """The values in the texts, by the types of the settings.

    Raises `ValueError` for an unknown name and for a text that is no value of that type.
    """
    found = {}
    for name, text in changes.items():
        if name not in types:
            raise ValueError(f"unknown setting {name!r}; available: {', '.join(types)}")
        try:
            found[name] = _parse(types[name], text)
        except (KeyError, ValueError):
            expected = _EXPECTED.get(types[name], "numbers as in 40,40")
            raise ValueError(f"{name}={text!r}: expected {expected}") from None
    return found


def _parse(kind: Any, text: str) -> Any:
    if kind is bool:
        return _BOOLS[text.lower()]
    if get_args(kind):  # tuple[int, ...]
        return tuple(get_args(kind)[0](part) for part in text.split(",") if part)
    return kind(text)
