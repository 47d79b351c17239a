"""A table in Markdown."""

from collections.abc import Iterable, Sequence


def markdown(rows: Iterable[Sequence[object]]) -> str:
    """The rows, the first of which is the head."""
    head, *others = rows
    lines = (head, ("---",) * len(head), *others)
    return "".join(f"| {' | '.join(map(str, row))} |\n" for row in lines)
