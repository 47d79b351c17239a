"""Looking further ahead in backgammon: what 2 plies gain over 1 with the same network, and what a move costs.

First matches, in pairs with the same dice: 2-ply against 1-ply, and each against pubeval. Then the time of a move, in
many games at once and in one, with the full look-ahead and with the best turns only.
"""

import argparse
import sys
from typing import Any

import jax
import numpy as np
from _backgammon import positions_of_play
from _common import begin, compiled, finish, one_line_errors, parsed, parser, short_name, timed
from _figures import Comparison, Figure, Report

import jaxgames
from jaxgames import players
from jaxgames.matches import MatchResult, match

TITLE = "Backgammon: 2-ply and 3-ply play with a TD network"
GAMES = 2000
FULL, FEW, THREE = "@2", "@2,keep=8,within=0.16", "@3,keep=4,within=0.08"
AHEAD = {FULL: (2,), FEW: (2, 8, 0.16), THREE: (3, 4, 0.08)}
"""Plies, and of `Expectimax` `keep` and `within`."""
BATCH = {"": 256, FULL: 256, FEW: 256, THREE: 16}
ONE_POSITION = (FULL, FEW, THREE)


def main() -> int:
    """The matches, then the moves."""
    options = parser(TITLE, repeats=8)
    options.add_argument("--player", default="td-gammon-0.0", metavar="SPEC", help="such as runs/a (td-gammon-0.0)")
    options.add_argument("--games", type=int, default=GAMES, help=f"of each match (default {GAMES:,})")
    options = parsed(options)
    if options.quick:
        options.games, options.repeats = 4, 1
    report = Report("backgammon_plies", TITLE)
    begin()
    with one_line_errors():
        game, options.player = jaxgames.make("backgammon"), short_name(spec := options.player)
        known = {"pubeval": players.make("pubeval", game), "": (plain := players.make(spec, game))}
        known |= {name: players.generic.look_ahead(plain, name, *ahead) for name, ahead in AHEAD.items()}
    pairs = [(FULL, "")] if options.quick else [(FULL, ""), (FEW, ""), ("", "pubeval"), (FULL, "pubeval")]
    gains = [strength(report, known[a], known[b], named(options, a), named(options, b), options) for a, b in pairs]
    rolled = positions_of_play(game, as_function(known[""]), jax.random.key(options.seed), max(BATCH.values()), 8)
    for ahead in ("", FULL) if options.quick else BATCH:
        moves(report, named(options, ahead), known[ahead], rolled, BATCH[ahead], options)
    for ahead in () if options.quick else ONE_POSITION:
        moves(report, named(options, ahead), known[ahead], rolled, 1, options)
    what = f"backgammon, 2-ply against 1-ply, the same network, {options.games:,} games"
    report.comparisons.append(Comparison(what, gains[0]))
    return finish(report, options)


def named(options: argparse.Namespace, ahead: str) -> str:
    """A player as it is called here, without the folders that lead to its run."""
    return ahead if ahead == "pubeval" else f"{options.player}{ahead}"


def strength(report: Report, a: Any, b: Any, name: str, against: str, options: argparse.Namespace) -> Figure:
    """Points per game of one player against another."""
    result: MatchResult = match(a, b, options.games, seed=options.seed)
    moves = result.games * result.plies_per_game / 2
    note = f"{1000 * result.seconds / moves:.2f} ms a move and its reply, {result.seconds:.0f} s in all"
    rates = f"{100 * result.win_rate:.1f} % wins, {100 * result.gammon_rate:.1f} % gammons"
    return report.add(
        Figure(
            f"{name} against {against}",
            "jaxgames",
            "PPG",
            (result.ppg,),
            interval=(result.ppg_low, result.ppg_high),
            form="+.3f",
            note=f"{result.games:,} games; {rates}; {note}",
        )
    )


def moves(report: Report, name: str, player: Any, rolled: Any, batch: int, options: argparse.Namespace) -> None:
    """Milliseconds for a move, of so many positions at once; other positions each time."""

    def inputs(number: int) -> Any:
        return jax.tree.map(lambda x: x[number % len(x), :batch], rolled)

    words = np.zeros(batch, np.uint32)
    program, seconds = compiled(player.turn, player.params, inputs(0), words)
    timings = timed(lambda number: program(player.params, inputs(number), words), batch, options.repeats)
    report.add(
        Figure(
            f"{name}: one move, {batch} position{'s' if batch > 1 else ''} at once",
            "jaxgames",
            "ms",
            tuple(1000 * timing.wall / timing.amount for timing in timings),
            tuple(timings),
            compile_seconds=seconds,
        )
    )


def as_function(player: Any) -> Any:
    """The player's turns, with its parameters inside."""

    def turn(positions: Any, words: Any) -> Any:
        return player.turn(player.params, positions, words)

    return turn


if __name__ == "__main__":
    sys.exit(main())
