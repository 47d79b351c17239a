"""What a tester asked for (section 5.3): how good the network becomes in 3,000,000 games."""

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from jaxgames.matches import match
from jaxgames.recipes.reproduce.report import Row
from jaxgames.recipes.reproduce.study import Study
from jaxgames.recipes.reproduce.td_gammon.figures import against, smooth
from jaxgames.recipes.reproduce.td_gammon.tables import LEFT_OUT, games_of
from jaxgames.recipes.reproduce.td_gammon.trained import BATCH, LEARNER, meet, player, trained
from jaxgames.runs import Panel
from jaxgames.runs.curves import draw as draw_metrics

OPPONENTS = ("td", "pubeval", "tidy:3")
NOTE = (
    "The learner and the seed of `td`, so the first 700,000 games are its games. The last network plays here, not one "
    "chosen by a knock-out; `td` is the network that its knock-out has chosen. The picture is figure 5.3 continued."
)


def rows(study: Study) -> list[Row]:
    """The last network against the best of the usual training, and both against others."""
    if study.quick:
        return [Row("after the wished games, against td", None, unit="PPG", learner=LEARNER, why=LEFT_OUT)]
    games, wished, usual = games_of(study), trained(study, "wish").games, trained(study, "td").games
    last = [_row(f"after {wished:,} games, against {other}", _meet_last(study, other)) for other in OPPONENTS]
    best = [_row(f"td, of {usual:,} games, against {b}", meet(study, "td", b, games)) for b in OPPONENTS[1:]]
    return last + best


def _meet_last(study: Study, other: str) -> Mapping[str, Any]:
    found, games = trained(study, "wish"), games_of(study)

    def measure() -> Mapping[str, Any]:
        return match(found.after(found.games), player(study, other), games, seed=study.seed + 1, batch=BATCH).to_dict()

    return study.cell(f"wish against {other}", {"games": games, "trained": found.games}, measure)


def _row(what: str, result: Mapping[str, Any]) -> Row:
    interval = result["ppg_low"], result["ppg_high"]
    return Row(what, None, result["ppg"], *interval, "PPG", learner=LEARNER, digits=3)


def draw(study: Study, rows: Sequence[Row], path: Path) -> None:
    """Draws the networks of all games against pubeval."""
    curve = [(0, 0.0)] if study.quick else smooth(against(study, "wish", "pubeval"))  # nothing was trained if quick
    panel = Panel("points per game against pubeval", {"td": "TD"}, height=2.6, signed=True)
    draw_metrics([{"games": games, "td": ppg} for games, ppg in curve], path, panels=[panel], title="3,000,000 games")
