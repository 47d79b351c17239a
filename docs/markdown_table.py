"""A table in Markdown."""

from collections.abc import Iterable, Sequence

LINES = {"l": "---", "r": "--:"}


def markdown(rows: Iterable[Sequence[object]], columns: str = "") -> str:
    """The rows, the first of which is the head. A letter for each column says where its text stands: l or r."""
    head, *others = rows
    lines = (head, [LINES[column] for column in columns or "l" * len(head)], *others)
    return "".join(f"| {' | '.join(map(str, row))} |\n" for row in lines)
