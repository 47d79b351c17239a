"""Published figures beside ours: what a row of a report is, and how measured figures become rows."""

import json
import math
from collections.abc import Mapping, Sequence
from importlib import resources
from typing import Any, Literal, NamedTuple

import numpy as np

from jaxgames.matches.intervals import mean_margin, share_margin, wilson

RESULTS: tuple[tuple[str, str, Literal["high", "low"] | None], ...] = (
    ("won", "win_rate", "high"),
    ("lost", "loss_rate", "low"),
    ("drawn", "draw_rate", None),
)
"""The results of games, their rates in a match, and which ones are better."""


def published(system: str) -> dict[str, Any]:
    """All figures of a publication, by section or table, with its citation: the file `published/<system>.json`."""
    figures: dict[str, Any] = json.loads((resources.files(__package__) / f"published/{system}.json").read_text("utf-8"))
    return figures


class Row(NamedTuple):
    """A published figure and ours.

    Args:
        what: what is measured.
        published: the figure of the text; None where it has none.
        ours: our figure; None where it cannot be had, and `why` says why.
        low, high: the 95 % interval of ours; None where it is exact.
        unit: such as "%" or "PPG".
        best: which figure is the better one, "high" or "low"; None where neither is.
        published_margin: half the 95 % interval of the published figure, or of its rounding.
        why: the reason of a difference, or of what is missing; needed for both.
        learner: of which learner or setting the row is, where that matters.
        seconds: wall time.
        digits: decimals shown.
    """

    what: str
    published: float | None
    ours: float | None = None
    low: float | None = None
    high: float | None = None
    unit: str = ""
    best: Literal["high", "low"] | None = None
    published_margin: float = 0.0
    why: str = ""
    learner: str = ""
    seconds: float | None = None
    digits: int = 1

    @property
    def verdict(self) -> str:
        """`agrees`, `better`, `differs`; `-` without a published figure, `not done` without ours.

        Two figures agree if they differ by at most the margin of their difference, the root of the sum of squares.
        """
        if self.ours is None:
            return "not done"
        if self.published is None:
            return "-"
        difference = self.ours - self.published
        ours = 0.0 if self.low is None or self.high is None else (self.high - self.low) / 2
        if abs(difference) <= math.hypot(ours, self.published_margin) + 1e-9:
            return "agrees"
        gain = {"high": difference, "low": -difference, None: -1.0}[self.best]
        return "better" if gain > 0 else "differs"

    @property
    def is_explained(self) -> bool:
        """Whether a row that differs or is missing says why."""
        return bool(self.why) or self.verdict not in ("differs", "not done")


def setting_rows(published: Mapping[str, float], ours: Mapping[str, float], digits: int = 3) -> list[Row]:
    """The settings of a program beside those of its recipe, by the names of ours; fractions with so many digits."""
    return [Row(name, published[name], x, digits=0 if x == int(x) else digits) for name, x in ours.items()]


def layer_rows(published: Sequence[int], ours: Sequence[int]) -> list[Row]:
    """The units of each layer of a network, its inputs first."""
    names = ["inputs", *(f"units of layer {number}" for number in range(1, len(ours)))]
    return [Row(*row, digits=0) for row in zip(names, published, map(float, ours), strict=True)]


def mean_row(what: str, values: Sequence[float] | np.ndarray, published: float | None = None, **fields: Any) -> Row:
    """The mean of independent figures, with its 95 % interval; a single one is exact."""
    mean = float(np.mean(values))
    if len(values) == 1:
        return Row(what, published, mean, **fields)
    margin = mean_margin(values)
    return Row(what, published, mean, mean - margin, mean + margin, **fields)


def range_row(what: str, published: Sequence[float], ours: float | None, **fields: Any) -> Row:
    """A figure beside a published range, of which the middle is shown."""
    low, high = published
    return Row(what, (low + high) / 2, ours, published_margin=(high - low) / 2, **fields)


def share_row(what: str, part: int, whole: int, **fields: Any) -> Row:
    """A part of independent things in percent, with its normal 95 % interval."""
    share = part / max(whole, 1)
    margin = share_margin(share, max(whole, 1))
    return Row(what, None, 100 * share, 100 * max(0.0, share - margin), 100 * min(1.0, share + margin), "%", **fields)


def points_row(what: str, match: Mapping[str, Any], published: float | None = None, **fields: Any) -> Row:
    """The points per game of a match (`MatchResult.to_dict`)."""
    interval = match["ppg_low"], match["ppg_high"]
    return Row(what, published, match["ppg"], *interval, "PPG", **{"digits": 3, **fields})


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
        percent, margin = None, 0.0
        if theirs:
            share = theirs[name] / theirs["games"]
            percent, margin = 100 * share, 100 * share_margin(share, int(theirs["games"]))
        rows.append(
            Row(
                f"{name} against {against}", percent, 100 * match[rate], 100 * low, 100 * high, "%", best, margin,
                why if theirs else "", learner, digits=2,
            )
        )  # fmt: skip
    return rows
