"""How good the moves of searches are by simulations: the share of perfect and of good moves on 500 solved positions.

Beside the curves of the thesis from which the searches are taken, in whole percents. A move is perfect if no other has
a higher exact score, good if it keeps the result.
"""

import sys
import time
from pathlib import Path

from _common import begin, finish, parsed, parser
from _figures import Figure, Report, Timing

import jaxgames
from jaxgames import players
from jaxgames.arena.connect_four import accuracy, solved

TITLE = "Connect Four: perfect and good moves of searches"
DATA = Path(__file__).parent.parent / "tests" / "data" / "connect_four" / "move_scores_500.jsonl"
SIMULATIONS = (20, 50, 100, 200, 400, 800)
NEAR = 3.0
CURVES = {
    "uct:{},c=0.8": "39/75 49/81 58/85 65/89 68/90 71/91",
    "rave:{},k=100,c=0.2": "46/79 58/86 67/89 70/91 73/92 75/93",
    "amaf:{},alpha=0.5,c=0.4": "43/78 57/85 64/88 69/90 72/92 74/93",
    "lgr:{},c=0.8": "40/76 50/81 59/86 66/89 70/91 74/93",
    "rave+lgr:{},k=100,c=0.2": "46/79 58/86 67/90 72/92 75/93 77/95",
    "uct1:{},c=0.8": "40/76 49/81 59/85 64/88 69/90 71/91",
}
"""Percent of perfect / of good moves by the thesis, after so many simulations."""


def main() -> int:
    """All curves."""
    options = parsed(parser(TITLE, repeats=4))
    report = Report("search_curves", TITLE)
    begin()
    positions = solved.read(DATA, 20 if options.quick else None)
    for spec, curve in CURVES.items():
        for simulations, point in zip(SIMULATIONS[: 1 if options.quick else None], curve.split(), strict=False):
            measure(report, positions, spec.format(simulations), [float(x) for x in point.split("/")], options)
    far = [figure.what for figure in report.figures if figure.reached is False]
    if not options.quick:
        report.checks[f"every point within {NEAR:.0f} of the thesis's"] = not far
    report.notes = [f"each position {options.repeats} times", "asked for: the thesis's figure, give or take 3 points"]
    return finish(report, options)


def measure(report: Report, positions: list, spec: str, thesis: list[float], options) -> None:
    """Both shares of one player, and those of the thesis."""
    player = players.make(spec, jaxgames.make("connect_four"))
    start, cpu = time.perf_counter(), time.process_time()
    found = accuracy.score(player, positions * options.repeats, seed=options.seed, batch=1000)
    wall, cpu = time.perf_counter() - start, time.process_time() - cpu
    timing = Timing(found.positions, wall, cpu)
    for name, share, theirs in zip(("perfect", "good"), (found.perfect, found.good), thesis, strict=True):
        bounds = {"at_least": theirs - NEAR, "at_most": theirs + NEAR}
        ours = {} if options.quick else bounds
        report.add(Figure(f"{spec}: {name}", "jaxgames", "%", (100 * share,), (timing,), form=".1f", **ours))
        report.add(Figure(f"{spec}: {name}", "thesis", "%", (theirs,), form=".0f"))


if __name__ == "__main__":
    sys.exit(main())
