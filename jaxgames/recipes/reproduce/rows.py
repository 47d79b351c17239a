"""Published figures beside ours: what a row of a report is, and how measured figures become rows."""

import math
from collections.abc import Mapping, Sequence
from importlib import resources
from typing import Any, Literal, NamedTuple

import numpy as np

from jaxgames.matches.intervals import mean_margin, wilson
from jaxgames.ops import json_text

RESULTS: tuple[tuple[str, str, Literal["high", "low"] | None], ...] = (
    ("won", "win_rate", "high"),
    ("lost", "loss_rate", "low"),
    ("drawn", "draw_rate", None),
)
"""The results of games, their rates in a match, and which ones are better."""


def published(system: str) -> dict[str, Any]:
    """All figures of a publication, by section or table, with its citation: the file `published/<system>.json`."""
    file = resources.files(__package__) / f"published/{system}.json"
    figures: dict[str, Any] = json_text.loads(file.read_text("utf-8"))
    return figures


class Row(NamedTuple):
    """A published figure and ours.

    Args:
        what: what is measured.
        published: the figure of the text; None where it has none.
        ours: our figure; None if there is none, and `why` says why.
        low, high: the 95 % interval of ours; None where it is exact.
        unit: such as "%" or "PPG".
        best: whether "high" or "low" figures are better; None where neither is.
        published_margin: half the 95 % interval of the published figure, or of its rounding; or how far that interval
            goes below and above the figure.
        why: the reason why ours differs or is missing; needed in both cases.
        learner: the learner or setting of the row, where that matters.
        seconds: wall time.
        digits: decimals shown.
        is_set: whether the figure is an input that we chose as in the text.
        claim: that our figure is "above" or "below" zero, if the text says so in words.
        text: what stands in place of the published figure: a range, or a claim in words.
    """

    what: str
    published: float | None
    ours: float | None = None
    low: float | None = None
    high: float | None = None
    unit: str = ""
    best: Literal["high", "low"] | None = None
    published_margin: float | Sequence[float] = 0.0
    why: str = ""
    learner: str = ""
    seconds: float | None = None
    digits: int = 1
    is_set: bool = False
    claim: Literal["", "above", "below"] = ""
    text: str = ""

    @property
    def difference(self) -> tuple[float, float, float]:
        """Ours less the published figure, and its 95 % interval, from both intervals as they are: each end has the root
        of the sum of squares of the distances that move the difference there (Newcombe 1998, method 10).
        """
        ours, published, margin = self.ours or 0.0, self.published or 0.0, self.published_margin
        below, above = (margin, margin) if isinstance(margin, int | float) else margin
        low, high = (ours if end is None else end for end in (self.low, self.high))
        middle = ours - published
        return middle, middle - math.hypot(ours - low, above), middle + math.hypot(high - ours, below)

    @property
    def verdict(self) -> str:
        """One of `VERDICTS`. Two figures agree if the interval of their difference contains zero; it is too wide if
        that would also be so with a published figure of zero, or of twice the size.
        """
        if self.ours is None:
            return "not done"
        if self.claim:
            low, high = (self.ours if end is None else end for end in (self.low, self.high))
            return "agrees" if (low > 0 if self.claim == "above" else high < 0) else "not confirmed"
        if self.published is None:
            return "-"
        middle, low, high = self.difference
        if low <= ROUNDING and high >= -ROUNDING:
            if self.is_set:
                return "set"
            return "too wide" if self.published > 0 and low <= -self.published and high >= self.published else "agrees"
        gain = {"high": middle, "low": -middle, None: -1.0}[self.best]
        return "better" if gain > 0 else "differs"


VERDICTS = ("agrees", "better", "differs", "not confirmed", "too wide", "set", "-", "not done")
ROUNDING = 1e-9
LEAST_POOLED = 9
"""How many rows a table needs for a line about their mean difference."""


def pooled(rows: Sequence[Row]) -> tuple[int, float, float, float] | None:
    """How many rows there are, the mean of their differences, and its 95 % interval if the rows are independent.

    It takes all rows with both figures and an interval, of which the higher figure is better. None if these are few,
    or have several units.
    """
    pairs = [row for row in rows if None not in (row.published, row.ours, row.low) and row.best == "high"]
    if len(pairs) < LEAST_POOLED or len({row.unit for row in pairs}) > 1:
        return None
    middle, low, high = np.array([row.difference for row in pairs]).T
    mean, count = float(middle.mean()), len(pairs)
    below, above = (float(np.sqrt(np.square(end - middle).sum())) / count for end in (low, high))
    return count, mean, mean - below, mean + above


def setting_rows(published: Mapping[str, float], ours: Mapping[str, float], digits: int = 3) -> list[Row]:
    """The settings of a program beside those of its recipe, under our names; fractions have this many digits."""
    return [Row(name, published[name], x, digits=0 if x == int(x) else digits, is_set=True) for name, x in ours.items()]


def layer_rows(published: Sequence[int], ours: Sequence[int]) -> list[Row]:
    """The units of each layer of a network, its inputs first."""
    names = ["inputs", *(f"units of layer {number}" for number in range(1, len(ours)))]
    return [Row(*row, digits=0, is_set=True) for row in zip(names, published, map(float, ours), strict=True)]


def mean_row(what: str, values: Sequence[float] | np.ndarray, published: float | None = None, **fields: Any) -> Row:
    """The mean of independent figures, with its 95 % interval; a single one is exact."""
    mean = float(np.mean(values))
    if len(values) == 1:
        return Row(what, published, mean, **fields)
    margin = mean_margin(values)
    return Row(what, published, mean, mean - margin, mean + margin, **fields)


def range_row(what: str, published: Sequence[float], ours: float | None, **fields: Any) -> Row:
    """A figure beside a published range."""
    low, high = published
    text = f"{low:g} to {high:g}"
    return Row(what, (low + high) / 2, ours, published_margin=(high - low) / 2, text=text, **fields)


def share_row(what: str, part: int, whole: int, **fields: Any) -> Row:
    """A part of independent things in percent, with its 95 % interval by Wilson."""
    if not whole:
        return Row(what, None, unit="%", why="none came up", **fields)
    low, high = wilson(part / whole, whole)
    return Row(what, None, 100 * part / whole, 100 * low, 100 * high, "%", **fields)


def points_row(what: str, match: Mapping[str, Any], published: float | None = None, **fields: Any) -> Row:
    """The points per game of a match (`MatchResult.to_dict`)."""
    interval = match["ppg_low"], match["ppg_high"]
    return Row(what, published, match["ppg"], *interval, "PPG", **{"digits": 3, **fields})


def percent_margin(percent: float, games: int) -> tuple[float, float]:
    """How far the 95 % interval of Wilson goes below and above a percentage of so many games."""
    low, high = wilson(percent / 100, games)
    return percent - 100 * low, 100 * high - percent


def result_rows(
    match: Mapping[str, Any], against: str, theirs: Mapping[str, float] | None = None, why: str = "", learner: str = ""
) -> list[Row]:
    """Three rows of a match in percent, seen by its first player.

    Args:
        match: as `MatchResult.to_dict`.
        against: whom it played.
        theirs: the published number of `games`, and of those `won`, `lost` and `drawn`; None for none.
        why, learner: as in `Row`; `why` only where a figure is published.
    """
    rows = []
    for name, rate, best in RESULTS:
        low, high = wilson(match[rate], match["games"])
        percent, margin = None, (0.0, 0.0)
        if theirs:
            percent = 100 * theirs[name] / theirs["games"]
            margin = percent_margin(percent, int(theirs["games"]))
        rows.append(
            Row(
                f"{name} against {against}", percent, 100 * match[rate], 100 * low, 100 * high, "%", best, margin,
                why if theirs else "", learner, digits=2,
            )
        )  # fmt: skip
    return rows
