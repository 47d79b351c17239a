"""How strong trained backgammon players are: points per game against pubeval, beside what others published.

Without folders all runs in `runs/` are measured. PPG at a number of minutes is read from a run's own measurements in
training (2,000 games each, so within 0.06); then the best player of each run plays matches, with several seeds.
"""

import argparse
import dataclasses
import math
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any, NamedTuple

from _common import begin, finish, one_line_errors, parsed, parser, short_name
from _figures import Comparison, Figure, Report, say

import jaxgames
from jaxgames import players
from jaxgames.matches import match
from jaxgames.runs import Run

TITLE = "Backgammon: strength of trained players against pubeval"
GAMES = 10_000
UNSEEN = 1000  # the first seed of a match
MINUTES = (1, 2, 5, 10, 20)
ASKED = {"10 minutes": 0.0, "20 minutes": 0.26}  # PPG of each seed
PUBLISHED = (
    (40, 0.26, "the thesis that rebuilds TD-Gammon 0.0"),
    (40, 0.33, "best known for 40 hidden units"),
    (80, 0.43, "best known for 80 hidden units"),
)


def main() -> int:
    """Every run folder in turn, then those of the same settings together."""
    options = parser(TITLE)
    options.add_argument("runs", nargs="*", metavar="RUN", help="run folders (default: all in runs/)")
    options.add_argument("--games", type=int, default=GAMES, help=f"of each match (default {GAMES:,})")
    options.add_argument("--matches", type=int, default=3, help="of each player, with other dice (default 3)")
    options = parsed(options)
    if options.quick:
        options.games, options.matches = 100, 1
    folders = options.runs or [str(config.parent) for config in sorted(Path("runs").glob("*/config.json"))]
    if not folders:
        say("there are no runs to measure; train a player first: jaxgames train td-gammon --out runs/a --minutes 10")
        return 0
    report = Report("td_strength", TITLE)
    begin()
    groups: dict[Settings, list[tuple[float, Figure]]] = {}
    with one_line_errors():
        game = jaxgames.make("backgammon")
        loaded = [(short_name(folder), Run.open(folder), players.make(folder, game)) for folder in folders]
        for name, run, player in loaded:
            settings = Settings.of(run)
            during(report, f"{name}: {settings}", run)
            figure = after(report, f"{name}: {settings}", run, player, options)
            groups.setdefault(settings, []).append((minutes_of(run), figure))
    for settings, found in groups.items():
        report.comparisons.append(together(settings, *zip(*found, strict=True)))
    options.runs = [name for name, _, _ in loaded]
    return finish(report, options)


class Settings(NamedTuple):
    """What runs that differ by their seed have in common."""

    recipe: str
    setting: str
    hidden: tuple[int, ...]
    goal: str

    @classmethod
    def of(cls, run: Run) -> "Settings":
        """The settings of a run."""
        config = run.config
        minutes, games = (config.get("goal", {}).get(unit) for unit in ("minutes", "games"))
        goal = f"{minutes:g} minutes" if minutes else f"{games:,} games" if games else "?"
        return cls(config["recipe"], config["setting"], tuple(config["learner"]["hidden"]), goal)

    def __str__(self) -> str:
        return f"{self.recipe} {self.setting}, {'-'.join(map(str, self.hidden))} hidden"

    @property
    def asked(self) -> float | None:
        """The PPG that the project asks for, if it asks for any."""
        return ASKED.get(self.goal)


def during(report: Report, name: str, run: Run) -> None:
    """The run's last measurement before so many minutes of training."""
    lines = [line for line in run.metrics() if None not in (line.get("ppg_pubeval"), line.get("seconds"))]
    for minutes in MINUTES:
        found = [line for line in lines if line["seconds"] <= 60 * minutes]
        if not found or lines[-1]["seconds"] < 45 * minutes:  # not that far
            continue
        line = found[-1]
        report.add(
            Figure(
                f"{name}: as measured in training, {minutes} min",
                "jaxgames",
                "PPG",
                (line["ppg_pubeval"],),
                interval=(line["ppg_pubeval_low"], line["ppg_pubeval_high"]),
                form="+.3f",
                note=f"after {line['games']:,} games, {line['seconds'] / 60:.1f} minutes",
            )
        )


def after(report: Report, name: str, run: Run, player: Any, options: argparse.Namespace) -> Figure:
    """Matches of the best player of a run; the interval is that of all matches together."""
    opponent = players.make("pubeval", player.game)
    # Not the dice of the matches by which the training chose its best player.
    seeds = range(UNSEEN + options.seed, UNSEEN + options.seed + options.matches)
    results = [match(player, opponent, options.games, seed=seed) for seed in seeds]
    mean = sum(result.ppg for result in results) / len(results)
    margin = math.sqrt(sum((result.ppg_high - result.ppg) ** 2 for result in results)) / len(results)
    rates = {
        what: f"{100 * sum(getattr(result, f'{key}_rate') for result in results) / len(results):.1f} %"
        for what, key in (("wins", "win"), ("gammons won", "gammon"), ("gammons lost", "gammon_loss"))
    }
    info = run.best_info() or {}
    learned = f"trained for {minutes_of(run):.1f} minutes, best after {info.get('games', 0):,} games"
    seconds = sum(result.seconds for result in results)
    speed = f"matches at {sum(result.games for result in results) / seconds:,.0f} games/s"
    return report.add(
        Figure(
            f"{name}: best player, {options.games:,} games x {options.matches}",
            "jaxgames",
            "PPG",
            tuple(result.ppg for result in results),
            interval=(mean - margin, mean + margin),
            at_least=Settings.of(run).asked,
            form="+.3f",
            note="; ".join([learned, *(f"{rate} {what}" for what, rate in rates.items()), speed]),
        )
    )


def minutes_of(run: Run) -> float:
    """How long a run has trained, whatever was planned."""
    return max((line["seconds"] for line in run.metrics() if line.get("seconds")), default=0.0) / 60


def together(settings: Settings, minutes: Sequence[float], figures: Sequence[Figure]) -> Comparison:
    """Runs with the same settings; the worst of them counts."""
    values = tuple(figure.value for figure in figures)
    worst = dataclasses.replace(figures[0], values=(min(values),), interval=None)
    runs = f"worst of {len(values)} seeds" if len(values) > 1 else "1 seed"
    shortest, longest = f"{min(minutes):.1f}", f"{max(minutes):.1f}"
    trained = f"{shortest} minutes" if shortest == longest else f"{shortest} to {longest} minutes"
    published = "; ".join(f"{ppg:+.2f} {source}" for hidden, ppg, source in PUBLISHED if (hidden,) == settings.hidden)
    return Comparison(f"PPG against pubeval: {settings}, {trained} ({runs})", worst, published=published)


if __name__ == "__main__":
    sys.exit(main())
