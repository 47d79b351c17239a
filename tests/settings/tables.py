"""What the tables are made of: for each setting another value, where it is tried, and what it changes."""

import dataclasses
import functools
from collections.abc import Callable, Iterable, Mapping
from typing import Any, NamedTuple

from jaxgames.ops.settings import Settings
from tests.settings.traces import Program

KEPT = "kept"
"""The result of a setting that follows from the plan of a training, and is only written into its `config.json`."""


class Row(NamedTuple):
    """Another value of a setting, the settings beside which it is tried, and the results that differ by it.

    A result is `part.name` of the table's parts, or a whole `part`; by default all of the first part.
    """

    value: Any
    results: tuple[str, ...]
    base: Mapping[str, Any]


def row(value: Any, *results: str, **base: Any) -> Row:
    """See `Row`."""
    return Row(value, results, base)


class Refusal(NamedTuple):
    """A value of a setting that is refused beside some others, where it would have no effect, and the line about it."""

    value: Any
    line: str
    base: Mapping[str, Any]


def refused(value: Any, line: str, **base: Any) -> Refusal:
    """See `Refusal`."""
    return Refusal(value, line, base)


@dataclasses.dataclass(frozen=True, eq=False)
class Table:
    """The rows of a class of settings.

    Attributes:
        usual: small settings.
        parts: what settings are good for, each a function of settings that gives a `Program`, or for what is no program
            plain values by name.
        rows: for each setting its row, or several.
        refusals: values that are refused in one line, besides those of settings that say `when` they have a meaning.
    """

    usual: Settings
    parts: Mapping[str, Callable[[Any], Any]]
    rows: Mapping[str, Row | tuple[Row, ...]]
    refusals: Mapping[str, Refusal] = dataclasses.field(default_factory=dict)

    def every(self) -> Iterable[tuple[str, Row]]:
        """All rows, each with the name of its setting."""
        for name, found in self.rows.items():
            yield from ((name, one) for one in ((found,) if isinstance(found, Row) else found))

    def result(self, settings: Settings, name: str) -> Any:
        """What stands for a result with these settings: equal where nothing is computed otherwise."""
        part, _, one = name.partition(".")
        return _of(_part(self, part, settings), one)


@functools.lru_cache(maxsize=64)
def _part(table: Table, part: str, settings: Settings) -> Any:
    return table.parts[part](settings)


def _of(found: Any, name: str) -> Any:
    if isinstance(found, Program):
        return found.of(*((name,) if name else ()))
    return repr(found[name] if name else found)
