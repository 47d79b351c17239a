"""How good the choices of backgammon players are: equity lost on 350 decisions, by GNU Backgammon's 2-ply equities.

A decision is a position and a roll. The player chooses a play; its loss is how much more equity the best candidate has.
A player that picks at random is expected to lose the mean over all candidates: we compute this mean and draw nothing.
"""

import gzip
import json
import sys
from pathlib import Path
from typing import Any, NamedTuple

import jax
import jax.numpy as jnp
import numpy as np
from _backgammon import Gnubg, gnubg
from _common import begin, finish, one_line_errors, parsed, parser, short_name
from _figures import Comparison, Figure, Report

import jaxgames
from jaxgames import players
from jaxgames.envs.backgammon import Position, board
from jaxgames.envs.backgammon.board import dice_of_roll

TITLE = "Backgammon: equity lost by players' choices"
DATA = Path(__file__).parent.parent / "tests" / "data" / "backgammon" / "move_choice_gnubg2ply.jsonl.gz"
TRAINED = ["td-gammon-0.0", "champion@1", "champion@2"]
KNOWN = ("pubeval", "simple:3")
PUBEVAL = 0.041
PUBLISHED = "pubeval 0.041 and gnubg 0-ply 0.006, by the notes of the data set"
"""What pubeval loses by the notes that came with the decisions; a trained player has to lose less."""
RESAMPLES = 10_000


class Decision(NamedTuple):
    """A position, the dice, and the 2-ply equity of each candidate, by the board after it (the mover's side first)."""

    board: str
    dice: tuple[int, int]
    equities: dict[str, float]

    @property
    def best(self) -> float:
        """The equity of the best candidate."""
        return max(self.equities.values())


def main() -> int:
    """The players that are named, and others to compare with."""
    options = parser(TITLE)
    options.add_argument("--player", nargs="+", default=TRAINED, metavar="SPEC", help=f"players ({' '.join(TRAINED)})")
    options = parsed(options)
    if options.quick:
        options.player = options.player[:1]
    report = Report("move_choice", TITLE)
    begin()
    decisions = read(DATA)[: 20 if options.quick else None]
    with one_line_errors():
        game = jaxgames.make("backgammon")
        asked = {spec: players.make(spec, game) for spec in options.player}  # all of them, before the first one plays
    ours = {}
    for spec, player in asked.items():
        lost, name = losses(decisions, of_player(player, decisions)), short_name(spec)
        ours[name] = add(report, name, "jaxgames", lost, PUBEVAL)
    known = {
        spec: add(report, spec, "jaxgames", losses(decisions, of_player(players.make(spec, game), decisions)))
        for spec in (() if options.quick else KNOWN)
    }
    add(
        report,
        "random",
        "exactly",
        [decision.best - np.mean(list(decision.equities.values())) for decision in decisions],
    )
    engine = gnubg()
    theirs = engine and add(report, "0-ply", "gnubg", losses(decisions, of_gnubg(engine, decisions)))
    what = f"mean equity lost on {len(decisions)} decisions"
    rows = ours | {spec: figure for spec, figure in known.items() if spec == "pubeval"}
    report.comparisons = [Comparison(f"{what}: {name}", figure, theirs, PUBLISHED) for name, figure in rows.items()]
    options.player = list(ours)
    return finish(report, options, ("gnubg",))


def read(path: Path) -> list[Decision]:
    """The decisions of the file."""
    with gzip.open(path, "rt") as file:
        rows = [json.loads(line) for line in file]
    return [Decision(row["pos"], tuple(row["dice"]), dict(row["cands"])) for row in rows]


def of_player(player: Any, decisions: list[Decision]) -> list[str]:
    """The board after each choice of a player, as text."""
    sides = np.array([[int(digit, 16) for digit in decision.board] for decision in decisions], np.int32)
    dice = np.sort(np.array([decision.dice for decision in decisions], np.uint32), axis=1)

    @jax.jit
    def turn(params, sides, dice, words):
        own, opponent = (board.from_counts(side) for side in (sides[:, :25], sides[:, 25:]))
        after = player.turn(params, Position(own, opponent, dice_of_roll(dice[:, 1], dice[:, 0])), words).position
        return jnp.concatenate([board.to_counts(after.opponent), board.to_counts(after.own)], axis=1)

    words = jax.random.bits(jax.random.key(0), (len(decisions),))
    return ["".join(f"{count:x}" for count in row) for row in np.asarray(turn(player.params, sides, dice, words))]


def of_gnubg(engine: Gnubg, decisions: list[Decision]) -> list[str]:
    """The board after each choice of GNU Backgammon, by its evaluation of every candidate."""

    def equity(text):
        counts = [int(digit, 16) for digit in text]
        return -engine.equity(counts[25:], counts[:25])

    return [max(decision.equities, key=equity) for decision in decisions]


def losses(decisions: list[Decision], chosen: list[str]) -> list[float]:
    """What each choice loses against the best. Raises `ValueError` for a board that is no candidate."""
    for decision, text in zip(decisions, chosen, strict=True):
        if text not in decision.equities:
            raise ValueError(f"a play from {decision.board} with {decision.dice} led to {text}, which is no candidate")
    return [decision.best - decision.equities[text] for decision, text in zip(decisions, chosen, strict=True)]


def add(report: Report, name: str, by: str, lost: list[float], at_most: float | None = None) -> Figure:
    """The mean loss, with the 95 % bootstrap interval over the decisions."""
    values = np.array(lost)
    drawn = np.random.default_rng(0).integers(0, len(values), (RESAMPLES, len(values)))
    low, high = np.quantile(values[drawn].mean(axis=1), [0.025, 0.975])
    best = 100 * np.mean(values < 1e-9)
    return report.add(
        Figure(
            name,
            by,
            "points lost a decision",
            (float(values.mean()),),
            interval=(float(low), float(high)),
            at_most=at_most,
            form=".4f",
            note=f"the best candidate in {best:.0f} % of the decisions",
        )
    )


if __name__ == "__main__":
    sys.exit(main())
