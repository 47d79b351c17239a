"""The measures of a training in words, and which of them matter first."""

import re
from collections.abc import Iterable

ENDS = ("_low", "_high")
"""What stands behind the name of a measure for the two ends of its interval."""
FIRST = ("ppg_", "score_", "choosing_", "fitness", "lines_lost", "points", "validation_loss", "loss")
"""What matters, the first most: names, or how they begin."""
_WORDS = (
    (r"ppg_(.+)", r"points a game against \1"),
    (r"score_(.+)", r"score against \1, %"),
    (r"win_(.+)", r"won against \1, %"),
    (r"draw_(.+)", r"drawn against \1, %"),
    (r"loss_(.+)", r"lost against \1, %"),
    (r"choosing_(.+)", r"\1 moves, positions to choose by, %"),
    (r"reporting_(.+)", r"\1 moves, positions to report by, %"),
    (r"validation_(.+)", r"\1 in validation"),
    (r"(.+)_per_(.+)", r"\1 a \2"),
    (r"lines_lost", "lines of play lost"),
    (r"ppg", "points a game"),
    (r"fitness_mean", "mean fitness"),
    (r"fitness", "best fitness"),
)


def title(name: str) -> str:
    """The name of a measure in words."""
    for pattern, words in _WORDS:
        if found := re.fullmatch(pattern, name):
            name = found.expand(words)
            break
    return name.replace("_", " ")


def ordered(names: Iterable[str]) -> list[str]:
    """The measures among the names, those that matter first; ends of intervals are none."""
    known = set(names)
    measures = [name for name in known if not any(name.endswith(end) and name[: -len(end)] in known for end in ENDS)]
    return sorted(measures, key=lambda name: (_rank(name), name))


def _rank(name: str) -> int:
    fits = (name.startswith(first) if first.endswith("_") else name == first for first in FIRST)
    return next((place for place, one in enumerate(fits) if one), len(FIRST))
