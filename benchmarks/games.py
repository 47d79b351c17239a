"""Random legal play of all games, many at once, with auto-reset: steps and games per second beside pgx and OpenSpiel.

The figures differ by what a step does (`--modes`):

* rules only: our `rollout` that keeps nothing, beside pgx's own loop (`written`): pgx has no loop that does less;
* written: each library's own loop, ours `rollout`, pgx's `auto_reset` and `act_randomly`; observation, mask and
  rewards are written in every step; ours in blocks of steps that fit a cache, and in longer ones;
* same loop: one driver for both, one cheap draw over the bool mask; observation and mask are read in every step;
* their loop: pgx's driver as it is, only the game swapped;
* whole turns: bare positions of backgammon, where a turn is up to four actions, beside pgx's own loop.

OpenSpiel is called from Python, a game at a time, by the loop of its own example; a leaner loop is shown too. Where pgx
has no such game, both *rules only* and *written* stand beside OpenSpiel. The loops: `_games.py` and `_openspiel.py`.
"""

import argparse
import math
import sys
import warnings
from functools import partial
from typing import Any

import _games as loop
import jax
import numpy as np
from _common import begin, compiled, finish, names, numbers, one_line_errors, parsed, parser, peer
from _figures import Comparison, Figure, Report
from _games_timing import Compiled, Rates, figures, in_turn, lengths, written_in_loop
from _openspiel import OpenSpiel

from jaxgames.envs import rollout

TITLE = "Random play: steps and games per second"
GAMES = ("tic_tac_toe", "connect_four", "checkers", "backgammon")
MODES = ("rules", "written", "same", "their", "turns")
PEERS = ("pgx", "openspiel")
PGX = ("tic_tac_toe", "connect_four", "backgammon")
OPENSPIEL = ("tic_tac_toe", "connect_four", "checkers")
TITLES = {"tic_tac_toe": "tic-tac-toe", "connect_four": "Connect Four"}
TITLES |= {name: name for name in GAMES if name not in TITLES}
SHOWN = ("rules only", "written", "same loop", "their loop", "whole turns")
STATE_BYTES = {"tic_tac_toe": 24, "connect_four": 40, "checkers": 48, "backgammon": 80}
COMPILE_SECONDS = 3
ASKED: dict[tuple[str, str], dict[int, float]] = {
    ("connect_four", "written"): {1024: 15, 8192: 12},
    ("connect_four", "rules only"): {1024: 20, 8192: 20},
    ("connect_four", "same loop"): {1024: 3, 8192: 4},
    ("tic_tac_toe", "written"): {1024: 8, 8192: 8},
    ("tic_tac_toe", "same loop"): {1024: 2.5, 8192: 2.5},
    ("backgammon", "whole turns"): {1024: 10, 8192: 10},
    ("backgammon", "same loop"): {1024: 5, 8192: 5},
    ("checkers", "rules only"): {1024: 300, 8192: 500},
    ("checkers", "written"): {1024: 75, 8192: 100},
}
"""How many times the peer's figure of the same run, by batch; in *their loop* no game may be slower than the peer's."""

FIRST_WINS, SECOND_WINS = 0.584921, 0.288095
"""Of random tic-tac-toe: exact expectation over the whole tree of games (255,168 of them, weighed by the draws)."""


def main() -> int:
    """All games at all batch sizes."""
    options = parser(TITLE)
    options.add_argument("--against", type=names(PEERS, "none"), default=list(PEERS), help="pgx,openspiel or none")
    options.add_argument("--games", type=names(GAMES), default=list(GAMES), help=f"some of {','.join(GAMES)}")
    options.add_argument("--batch", type=numbers, default=[1024, 8192], help="games at once (default 1024,8192)")
    options.add_argument("--modes", type=names(MODES), default=list(MODES), help=f"some of {','.join(MODES)}")
    options.add_argument("--seconds", type=float, default=0.5, help="of each repeat, about (default 0.5)")
    options = parsed(options)
    if options.quick:
        options.batch, options.repeats, options.seconds, options.against = [64], 1, 0.01, []
    begin()
    report = Report("games", TITLE)
    modules = {name: module for name in options.against if (module := peer({"openspiel": "pyspiel"}.get(name, name)))}
    for name in options.games:
        state_bytes(report, name, modules)
        compile_time(report, name, options)
        for batch in options.batch:
            one_batch(report, name, batch, modules, options)
        if not options.quick:
            who_wins(report, name, modules, options)
    report.notes.append(
        "*rules only* is `rollout` that keeps nothing; *bare positions* are a loop of `random_turn` without any State"
    )
    return finish(report, options, ("pgx", "open-spiel"))


def one_batch(report: Report, name: str, batch: int, modules: dict[str, Any], options: argparse.Namespace) -> None:
    """All modes of a game at one batch size, ours and the peers' repeats in turn."""
    loops = pgx_loops(name, modules["pgx"], options.modes) if "pgx" in modules and name in PGX else []
    loops += our_loops(name, options.modes, "pgx" in modules)
    runners: list[Any] = []
    if "openspiel" in modules and name in OPENSPIEL:
        modes = (OpenSpiel.PLAIN, OpenSpiel.LEAN, OpenSpiel.OBSERVED)
        runners += [OpenSpiel(name, options.seconds, options.seed, mode) for mode in modes]
    settings = batch, loop.MIXED[name], options.seconds, options.seed, name in loop.SLOW
    runners += [Compiled(each, *settings) for each in loops]
    for runner in runners:
        if runner.by == "jaxgames" and runner.loop.kept:
            what = f"{TITLES[name]}, {runner.mode}, batch {batch:,}: all that is kept is written in every step"
            report.checks[what] = written_in_loop(runner.text, runner.loop.kept)
    found = in_turn(runners, options.repeats)
    length = lengths(runners, found)
    rates: dict[str, Rates] = {}
    for runner, (timings, _) in zip(runners, found, strict=True):  # the peers come first
        one = runner.by == "OpenSpiel"
        what = f"{TITLES[name]}, {runner.mode}" + ("" if one else f", batch {batch:,}")
        if runner.by != "jaxgames":
            rates[runner.mode] = figures(report, what, runner, timings, length)
            continue
        same = runner.mode == "same loop"
        beside = rates.get("same loop") if same else rates.get("written", rates.get(OpenSpiel.PLAIN))
        times = ASKED.get((name, runner.mode), {}).get(batch, 1 if runner.mode == "their loop" else None)
        ours = figures(report, what, runner, timings, length, beside, times)
        if runner.mode in SHOWN:
            pick = 1 if runner.unit == "turns" else 0
            report.comparisons.append(Comparison(what, ours[pick], beside and beside[pick]))


def our_loops(name: str, modes: list[str], pgx: bool) -> list[Any]:
    """Our loops in the modes that are asked for, each made for a batch size."""
    game, loops = loop.make(name), []
    if "rules" in modes:
        loops.append(partial(loop.rules, game))
    if ("turns" if name == "backgammon" else "rules") in modes:
        loops.append(partial(loop.positions, game))
    if "written" in modes:
        loops += [partial(loop.written, game), partial(loop.written, game, steps=loop.LONG)]
    if "same" in modes:
        loops.append(partial(loop.same_loop, "jaxgames", game))
    if "their" in modes and name in PGX and pgx:
        loops.append(pgx_driver("their loop", "jaxgames", game))
    return loops


def pgx_loops(name: str, pgx: Any, modes: list[str]) -> list[Any]:
    """pgx's loops that they are compared with."""
    env, steps, loops = pgx_game(name, pgx), 2 if name in loop.SLOW else 16, []
    if {"rules", "written", "their", "turns"} & set(modes):
        loops.append(pgx_driver("written", "pgx", env, steps))
    if "same" in modes:
        loops.append(partial(loop.same_loop, "pgx", env, steps=steps))
    return loops


def pgx_driver(mode: str, by: str, env: Any, steps: int = 16) -> Any:
    """pgx's own driver of a game."""
    utils, wrappers = peer("pgx.experimental.utils"), peer("pgx.experimental.wrappers")
    return partial(loop.pgx_loop, mode, by, env, utils, wrappers, steps=steps)


def pgx_game(name: str, pgx: Any) -> Any:
    """pgx's game, without its warnings."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return pgx.make(name)


def state_bytes(report: Report, name: str, modules: dict[str, Any]) -> None:
    """The bytes of one state: all its arrays."""
    envs = [("jaxgames", loop.make(name), STATE_BYTES[name])]
    if "pgx" in modules and name in PGX:
        envs.append(("pgx", pgx_game(name, modules["pgx"]), None))
    found = []
    for by, env, most in envs:
        leaves = jax.tree.leaves(jax.eval_shape(env.init, jax.random.key(0)))
        size = float(sum(math.prod(leaf.shape) * leaf.dtype.itemsize for leaf in leaves))
        what = f"{TITLES[name]}, bytes of a state"
        found.append(report.add(Figure(what, by, "bytes", (size,), at_most=most, form=".0f")))
    report.comparisons.append(Comparison(found[0].what, *found))


def compile_time(report: Report, name: str, options: argparse.Namespace) -> None:
    """The seconds that tracing and compiling takes for the `rollout` of *written*, once for each repeat."""
    game, batch = loop.make(name), max(options.batch)
    key = jax.random.key(options.seed)
    states = jax.jit(lambda key: loop.new_games(game.init, key, batch))(key)
    seconds = []
    for _ in range(min(options.repeats, 3)):
        jax.clear_caches()

        def play(states, key):
            return rollout(game, states, key, 16, auto_reset=True, keep=loop.observed)

        seconds.append(compiled(play, states, key)[1])
    what = f"{TITLES[name]}, compiling a rollout with observations"
    report.add(Figure(what, "jaxgames", "seconds", tuple(seconds), at_most=COMPILE_SECONDS))


def who_wins(report: Report, name: str, modules: dict[str, Any], options: argparse.Namespace) -> None:
    """Checks that the player who begins wins as often in our games as in the peer's, played to their ends."""
    if name == "backgammon":
        return
    games, key = 20_000, jax.random.key(options.seed)
    envs = {"jaxgames": loop.make(name)}
    if "pgx" in modules and name in PGX:
        envs["pgx"] = pgx_game(name, modules["pgx"])
    shares = {}
    for by, env in envs.items():
        points, steps = map(np.asarray, loop.played_out(env, jax.random.fold_in(key, len(by)), games))
        shares[by] = (games, float(np.mean(points > 0)), float(np.mean(points < 0)))
        won, lost = (f"{100 * share:.1f} %" for share in shares[by][1:])
        length = f"{np.mean(steps):.2f} actions each"
        report.notes.append(f"{TITLES[name]}, {games:,} games by {by}: {won} won by who began, {lost} lost, {length}")
    if "openspiel" in modules and name in OPENSPIEL:
        shares["OpenSpiel"] = OpenSpiel(name, 4.0, options.seed, OpenSpiel.LEAN).shares()
    if name == "tic_tac_toe":
        shares["the whole tree"] = (10**12, FIRST_WINS, SECOND_WINS)
    for by, other in shares.items():
        if by != "jaxgames":
            same = agree(shares["jaxgames"], other)
            report.checks[f"{TITLES[name]}: whoever begins wins and loses as often as {by}"] = same


def agree(one: tuple[int, float, float], other: tuple[int, float, float]) -> bool:
    """Whether two shares of wins and of losses differ by less than chance would (4 standard errors)."""
    return all(
        abs(p - q) <= 4 * math.sqrt(p * (1 - p) / one[0] + q * (1 - q) / other[0])
        for p, q in zip(one[1:], other[1:], strict=True)
    )


if __name__ == "__main__":
    with one_line_errors():
        sys.exit(main())
