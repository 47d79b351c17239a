"""Monte-Carlo tree search of many positions at once: simulations per second beside mctx, and what long searches cost.

* PUCT with a linear network, the same for all, on the same positions: a few random actions from the opening. mctx's
  `muzero_policy` without noise has pgx's game as its model where pgx has it, or ours. Both find the same root visits.
  mctx searches blocks of positions one after the other, of the size that is fastest for it: short runs find that size,
  and the row says it. Of a large batch it searches the first positions only, as many as it can in some seconds.
  In backgammon chance decides: mctx is there by its `stochastic_muzero_policy`, which searches another kind of tree.
* UCT with random rollouts, in a batch and, from the opening position, for a single position: as many trees, merged at
  the root. Beside it one tree of OpenSpiel's UCT in C++, on one core.

`--games connect_four --merge` measures one game, and leaves the saved rows of the others. Programs: `_search.py`.
"""

import argparse
import sys
from typing import Any

import _search as programs
import jax
from _common import begin, finish, names, one_line_errors, parsed, parser, peer, rate
from _figures import Comparison, Figure, Report
from _search import MCTX, MCTX_PGX, OURS, Search, compare_visits, measured

TITLE = "Tree search: simulations per second"
GAMES = ("connect_four", "tic_tac_toe", "checkers", "backgammon")
TITLES = {"tic_tac_toe": "tic-tac-toe", "connect_four": "Connect Four", "checkers": "checkers"}
PEERS = ("mctx", "openspiel")
SMALL, BATCH, FEW, SOME, MANY = 64, 1024, 32, 128, 800
ROWS = ((SMALL, SOME), (BATCH, FEW), (BATCH, SOME), (BATCH, MANY))
"""Positions x simulations of PUCT."""
WITH_MCTX = {"connect_four": ROWS, "tic_tac_toe": ROWS[:3], "checkers": ROWS[:3], "backgammon": ROWS[:1]}
"""What mctx is asked to do: the rest would take many minutes (in tic-tac-toe it goes on below the ends of games)."""
BLOCKS = {FEW: (16, 64, 256, 1024), SOME: (4, 16, 64, 1024), MANY: (2, 4, 16, 64)}
"""Sizes of blocks that mctx is tried with, by simulations; by blocks of 1,024 x 800 it would take minutes."""
ASKED = {(SMALL, SOME): 20, (BATCH, SOME): 20, (BATCH, MANY): 60}
"""Connect Four: how many times the simulations/s of mctx, by the faster of its two games."""
LESS_THAN_PROPORTIONAL, COMPILE_SECONDS = 3, 5
UCT = {"connect_four": (BATCH, MANY), "tic_tac_toe": (BATCH, MANY), "checkers": (BATCH, SOME), "backgammon": (256, FEW)}
"""Positions x simulations of UCT with rollouts."""
ONE = {
    "connect_four": ((64, 1600), (256, 400), (1024, 100)),
    "tic_tac_toe": ((256, 400),),
    "checkers": ((256, 100),),
    "backgammon": ((256, FEW),),
}
"""Trees x simulations for one position."""
BATCH_RATE, ONE_RATE = 1_000_000, 100_000
THESIS = "7,000 iterations/s by the Python program of S. Goeppert (2020)"
OPENSPIEL, SPIEL_SIMULATIONS = ("connect_four", "tic_tac_toe", "checkers"), 10_000


def main() -> int:
    """All games."""
    options = parser(TITLE, repeats=3)
    options.add_argument("--against", type=names(PEERS, "none"), default=list(PEERS), help="mctx,openspiel or none")
    options.add_argument("--games", type=names(GAMES), default=list(GAMES), help=f"some of {','.join(GAMES)}")
    options.add_argument("--seconds", type=float, default=0.5, help="of each repeat, at least (default 0.5)")
    options = parsed(options)
    if options.quick:
        options.repeats, options.seconds = 1, 0.01
    begin()
    report = Report("search", TITLE)
    modules = {"mctx": "mctx", "openspiel": "pyspiel"}
    options.against = [name for name in options.against if peer(modules[name])]
    for name in options.games:
        with_network(report, name, options)
        with_rollouts(report, name, options)
    report.notes.append(f"{MCTX}, {MCTX_PGX}: the game that its model steps; bars are multiples of the faster one")
    games = tuple(f"{title(name)}, " for name in options.games)
    return finish(report, options, ("mctx", "pgx", "open-spiel"), covers=lambda what: what.startswith(games))


def with_network(report: Report, name: str, options: argparse.Namespace) -> None:
    """PUCT in all sizes, ours and mctx's repeats in turn."""
    rates: dict[tuple[str, int], Figure] = {}
    for batch, simulations in ((8, 8), (8, 16)) if options.quick else ROWS:
        size = (batch, simulations)
        what = f"{title(name)}, PUCT, {batch:,} x {simulations}"
        searches = puct(report, what, name, size, options)
        figures = {}
        for search, timings in zip(searches, measured(searches, options.repeats), strict=True):
            by, times = search.by, ASKED.get(size, 0) if name == "connect_four" else 0
            fastest = max((figure.value for figure in figures.values()), default=0)
            asked = times * fastest if by == OURS and times and fastest else None
            more = {"compile_seconds": search.compile_seconds, "at_least": asked}
            figures[by] = report.add(rate(what, search.name, "simulations/s", timings, **more))
            if batch == BATCH:
                rates[by, simulations] = figures[by]
        beside = max((f for by, f in figures.items() if by != OURS), key=lambda f: f.value, default=None)
        report.comparisons.append(Comparison(what, figures[OURS], beside))
        for search in searches if size == (BATCH, MANY) else ():
            compile_time(report, name, search)
        for search in searches[:-1]:
            if name != "backgammon":
                compare_visits(report, what, searches[-1], search)
    per_simulation(report, name, rates)


def puct(report: Report, what: str, name: str, size: tuple[int, int], options: argparse.Namespace) -> list[Search]:
    """The searches of this size: mctx's with each of the games at its best block size, and ours as the last one."""
    batch, simulations = size
    game, key = programs.make(name), jax.random.key(options.seed)
    states, actions = jax.jit(lambda key: programs.actions_played(game, key, batch))(jax.random.fold_in(key, batch))
    params, searches = programs.linear(game, key), []
    peers: dict[str, tuple[Any, Any]] = {}
    if "mctx" in options.against and (options.quick or size in WITH_MCTX[name]):
        env = programs.pgx_game(name) if name != "backgammon" else None
        mctx = programs.mctx_with_chance if name == "backgammon" else programs.mctx
        peers[MCTX] = mctx(game, simulations), states
        if env is not None:
            peers[MCTX_PGX] = programs.mctx(env, simulations), jax.jit(lambda x: programs.replayed(env, x))(actions)
    sizes: tuple[int, ...] = (4, 8) if options.quick else BLOCKS[simulations]
    for by, (search, theirs) in reversed(peers.items()):
        speeds = programs.best_blocks(search, params, theirs, simulations, sizes)
        tried = ", ".join(f"{block}: {speed:,.0f}" for block, speed in speeds.items())
        report.notes.append(f"{what}: {by}, simulations/s by size of its blocks in short runs: {tried}")
        block = max(speeds, key=speeds.__getitem__)
        sizes = (block,)  # the same size with the other game
        speed = speeds[block]
        searches.append(programs.by_blocks(by, search, params, theirs, simulations, block, speed, options.seconds))
    ours = programs.ours(game, simulations)
    return [*searches, Search(OURS, ours, (params, states), batch * simulations, options.seconds)]


def compile_time(report: Report, name: str, search: Search) -> None:
    """The seconds that tracing and compiling takes."""
    what = f"{title(name)}, PUCT, {BATCH:,} x {MANY}: compiling"
    most = COMPILE_SECONDS if search.by == OURS else None
    figure = report.add(Figure(what, search.name, "seconds", (search.compile_seconds,), at_most=most))
    if search.by == OURS:
        theirs = next((other for other in report.figures if other.what == what and other.by != OURS), None)
        report.comparisons.append(Comparison(what, figure, theirs))


def per_simulation(report: Report, name: str, rates: dict[tuple[str, int], Figure]) -> None:
    """How much longer a simulation takes in a long search than in a short one; the short one is of all positions."""
    what = f"{title(name)}, PUCT, {BATCH:,} positions: time of a simulation at {MANY} over that at {FEW}"
    found = {}
    for by in (MCTX, MCTX_PGX, OURS):
        if (by, FEW) in rates and (by, MANY) in rates:
            ratio = rates[by, FEW].value / rates[by, MANY].value
            most = LESS_THAN_PROPORTIONAL if by == OURS else None
            long = rates[by, MANY].by  # of how many positions
            found[by] = report.add(Figure(what, long, "times", (ratio,), at_most=most))
    if OURS in found:
        report.comparisons.append(Comparison(what, found[OURS], found.get(MCTX_PGX, found.get(MCTX))))


def with_rollouts(report: Report, name: str, options: argparse.Namespace) -> None:
    """UCT of a batch, and of one position."""
    game, key = programs.make(name), jax.random.key(options.seed)
    bars = name == "connect_four" and not options.quick
    batch, simulations = (8, 8) if options.quick else UCT[name]
    states, _ = jax.jit(lambda key: programs.actions_played(game, key, batch))(key)
    search = Search(OURS, programs.uct(game, simulations), (states,), batch * simulations, options.seconds)
    (timings,) = measured([search], options.repeats)
    what = f"{title(name)}, UCT with rollouts, {batch:,} x {simulations}"
    more = {"compile_seconds": search.compile_seconds, "at_least": BATCH_RATE if bars else None}
    report.comparisons.append(Comparison(what, report.add(rate(what, OURS, "iterations/s", timings, **more))))

    peers = []
    if "openspiel" in options.against and name in OPENSPIEL:
        peers.append(programs.OpenSpiel(name, 1.0, 50 if options.quick else SPIEL_SIMULATIONS, options.seed))
    opening = jax.jit(jax.vmap(game.init))(jax.random.split(key, 1))
    sizes = ((4, 8),) if options.quick else ONE[name]
    for trees, simulations in sizes:
        function = programs.uct(game, simulations, trees)
        peers.append(Search(OURS, function, (opening,), trees * simulations, options.seconds))
    what, beside, best = f"{title(name)}, UCT with rollouts, one position", None, None
    for number, (runner, timings) in enumerate(zip(peers, measured(peers, options.repeats), strict=True)):
        amount = runner.amount
        latency = 1000 * min(timing.wall / timing.amount for timing in timings) * amount
        if runner.by == OURS:
            trees, simulations = sizes[number - len(peers)]
            busy = sum(timing.cpu for timing in timings) / sum(timing.wall for timing in timings)
            named = f"{what}, {trees:,} trees x {simulations} on {busy:.1f} cores"
            more = {"compile_seconds": runner.compile_seconds, "at_least": ONE_RATE if bars else None}
            figure = rate(named, OURS, "iterations/s", timings, note=f"{latency:.3g} ms a move", **more)
            report.add(figure)
            best = figure if best is None or figure.value > best.value else best
        else:
            note = f"{latency:.3g} ms for {amount:,}; one thread"
            beside = report.add(rate(what, f"{runner.by}, one tree on one core", "iterations/s", timings, note=note))
    report.comparisons.append(Comparison(best.what, best, beside, THESIS if bars else ""))


def title(name: str) -> str:
    """A game as people call it."""
    return TITLES.get(name, name)


if __name__ == "__main__":
    with one_line_errors():
        sys.exit(main())
