"""Alpha-beta of checkers: positions and nodes per second beside OpenSpiel's, what it saves, and games against random.

OpenSpiel's `alpha_beta_search` is Python on C++ states. It searches one position at a time, and does not order moves.
Here it gets some of the same positions, and the same evaluation: the difference of pieces, with a king at 1.5. It
counts them on the text of a state, the fastest way to the pieces from Python. Its depth counts actions; ours counts
turns, so a multiple jump is one. All positions are from random play.
"""

import argparse
import sys
import time
from collections.abc import Callable
from functools import partial
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
from _common import begin, compiled, finish, one_line_errors, parsed, parser, peer, rate, timed
from _figures import Comparison, Figure, Report, Timing

import jaxgames
from jaxgames.algos.minimax import Result, Search
from jaxgames.envs import rollout
from jaxgames.matches import match
from jaxgames.players import make, random

TITLE = "Alpha-beta of checkers"
PEER = "OpenSpiel's Python search"
GAME = jaxgames.make("checkers")
BEFORE = 20
"""Random actions before the positions."""
SAVED_AT, SAVED, TYPICAL = 9, 75, 16
"""Minimax visits so many times the nodes of alpha-beta at depth 9, on average over so many positions."""
WINS, LOSSES = 0.9736, 0.0067
"""Of alphabeta:9 against random: at least, at most."""


def main() -> int:
    """Speed, savings, games."""
    options = parser(TITLE, repeats=5)
    options.add_argument("--against", choices=("openspiel", "none"), default="openspiel", help="openspiel or none")
    options.add_argument("--batch", type=int, default=256, help="positions at once (default 256)")
    options.add_argument("--depth", type=int, default=7, help="turns (default 7)")
    options.add_argument("--peer-positions", type=int, default=8, help="of each batch, for OpenSpiel (default 8)")
    options.add_argument("--games", type=int, default=0, help="games of alphabeta:9 against random (default 0)")
    options = parsed(options)
    if options.quick:
        options.batch, options.depth, options.repeats, options.peer_positions, options.games = 16, 3, 1, 1, 0
    begin()
    report = Report("alpha_beta", TITLE)
    speed(report, options)
    if not options.quick:
        savings(report, options)
    if options.games:
        games(report, options)
    return finish(report, options, ("open-spiel",))


def positions_of(options: argparse.Namespace, number: int, count: int) -> Any:
    """Positions after random actions."""

    @jax.jit
    def play(key):
        states = jax.vmap(GAME.init)(jax.random.split(key, count))
        return rollout(GAME, states, jax.random.fold_in(key, 1), BEFORE)[0]._position

    return play(jax.random.fold_in(jax.random.key(options.seed), number))


def program(depth: int, count: int, **settings: Any) -> tuple[Callable[[Any], Result], float]:
    """A compiled search of so many positions, and the seconds that took."""
    search = Search(GAME, depth, **settings)
    single = jax.eval_shape(GAME.init_position, jax.random.key(0))
    positions = jax.tree.map(lambda x: jnp.zeros((count, *x.shape), x.dtype), single)
    return compiled(lambda positions: search(positions, jnp.zeros(count, jnp.uint32)), positions)


def nodes(result: Result) -> float:
    """All nodes of a batch."""
    return float(np.asarray(result.nodes).astype(np.float64).sum())


def speed(report: Report, options: argparse.Namespace) -> None:
    """Nodes and positions per second, with and without a table, and OpenSpiel's on some of the same positions."""
    pyspiel = peer("pyspiel") if options.against == "openspiel" else None
    numbers, states = range(options.repeats + 1), []
    if pyspiel:
        states = [spiel_states(pyspiel, options, number) for number in numbers]
        batches = [stacked([GAME.parse(text_of(state)) for state in batch]) for batch in states]
    else:
        batches = [positions_of(options, number, options.batch) for number in numbers]
    what = f"checkers, depth {options.depth}"
    ours = None
    for name, settings in (("", {}), (", table of 256 entries a lane", {"table": 256})):
        run, seconds = program(options.depth, options.batch, **settings)
        timings = timed(lambda number, run=run: run(batches[number]), nodes, options.repeats)
        per_position = [t._replace(amount=options.batch) for t in timings]
        title = f"{what}, batch {options.batch:,}{name}"
        figure = rate(title, "jaxgames", "positions/s", per_position, compile_seconds=seconds)
        found = report.add(figure), report.add(rate(title, "jaxgames", "nodes/s", timings))
        ours = ours or found
    if pyspiel:
        theirs = openspiel(report, pyspiel, options, what, [batch[: options.peer_positions] for batch in states[1:]])
        for one, other in zip(ours or (), theirs, strict=True):
            report.comparisons.append(Comparison(f"alpha-beta, {one.what}", one, other))


def stacked(positions: list[Any]) -> Any:
    """Positions as a batch."""
    return jax.tree.map(lambda *leaves: jnp.stack(leaves), *positions)


def spiel_states(pyspiel: Any, options: argparse.Namespace, number: int) -> list[Any]:
    """A batch of OpenSpiel's states after random actions, none of them within a turn, none over."""
    game, draw, found = pyspiel.load_game("checkers"), np.random.default_rng((options.seed, number)), []
    while len(found) < options.batch:
        state, before, played = game.new_initial_state(), -1, 0
        while not state.is_terminal() and (played < BEFORE or state.current_player() == before):
            before = state.current_player()
            state.apply_action(int(draw.choice(state.legal_actions())))
            played += 1
        if not state.is_terminal():
            found.append(state)
    return found


def text_of(state: Any) -> str:
    """OpenSpiel's state as PDN FEN: its first player, who has `o` and `8`, is our Black, its columns are turned."""
    squares: dict[str, list[str]] = {"o8": [], "+*": []}
    for row, line in enumerate(reversed(str(state).splitlines()[:8])):
        for column, piece in enumerate(line[1:]):
            for side in squares:
                if piece in side:
                    squares[side].append(f"{'K' * (piece in '8*')}{4 * row + (7 - column) // 2 + 1}")
    black, white = (",".join(of_side) for of_side in squares.values())
    return f"{'BW'[state.current_player()]}:W{white}:B{black}"


def openspiel(
    report: Report, pyspiel: Any, options: argparse.Namespace, what: str, states: list[list[Any]]
) -> tuple[Figure, Figure]:
    """The same for the first few positions of each batch, a repeat each."""
    from open_spiel.python.algorithms import minimax as theirs

    game, calls, inner = pyspiel.load_game("checkers"), [0], theirs._alpha_beta

    def counted(*arguments, **named):
        calls[0] += 1
        return inner(*arguments, **named)

    def search_all(batch):
        for state in batch:
            sign = 1 if state.current_player() == 0 else -1
            theirs.alpha_beta_search(game, state, partial(evaluated, sign), options.depth, state.current_player())

    timings = []
    for batch in states:
        wall, cpu, calls[0] = time.perf_counter(), time.process_time(), 0
        search_all(batch)
        wall, cpu = time.perf_counter() - wall, time.process_time() - cpu
        theirs._alpha_beta = counted  # the same search once more: counting takes time
        search_all(batch)
        theirs._alpha_beta = inner
        timings.append(Timing(float(calls[0]), wall, cpu))
    each = [t._replace(amount=float(options.peer_positions)) for t in timings]
    note = f"the first {options.peer_positions} positions of each batch, one at a time"
    return (
        report.add(rate(what, PEER, "positions/s", each, note=note)),
        report.add(rate(what, PEER, "nodes/s", timings)),
    )


def pieces(board: str) -> float:
    """The difference of pieces on OpenSpiel's board; the first player has `o` and `8`, the other one `+` and `*`.

    The text of the board also has row numbers: one `8` there is no king.
    """
    kings = board.count("8") - 1
    return board.count("o") + 1.5 * kings - board.count("+") - 1.5 * board.count("*")


def evaluated(sign: int, state: Any) -> float:
    """The difference of pieces, seen by the first player or (`sign` -1) by the other one."""
    return sign * pieces(str(state))


def savings(report: Report, options: argparse.Namespace) -> None:
    """How many times as many nodes minimax visits as alpha-beta."""
    positions = positions_of(options, 99, TYPICAL)
    full = program(SAVED_AT, TYPICAL, prune=False)[0](positions)
    cut = program(SAVED_AT, TYPICAL, lanes=1)[0](positions)  # one search after the other: none is shared
    same = bool((np.asarray(full.values) == np.asarray(cut.values)).all())
    report.checks[f"the same values from both in {TYPICAL} positions at depth {SAVED_AT}"] = same
    what = f"checkers, depth {SAVED_AT}: nodes of minimax over those of alpha-beta"
    times = nodes(full) / nodes(cut)
    note = f"{nodes(full) / TYPICAL:,.0f} and {nodes(cut) / TYPICAL:,.0f} a position"
    report.add(Figure(what, "jaxgames", "times", (times,), at_least=SAVED, note=note))


def games(report: Report, options: argparse.Namespace) -> None:
    """alphabeta:9 against random."""
    found = match(make("alphabeta:9", GAME), random(GAME), options.games, seed=options.seed, batch=1024)
    what = f"checkers, alphabeta:9 against random, {found.games:,} games"
    report.add(Figure(f"{what}: won", "jaxgames", "of all", (found.win_rate,), at_least=WINS, form=".4f"))
    report.add(Figure(f"{what}: lost", "jaxgames", "of all", (found.loss_rate,), at_most=LOSSES, form=".4f"))
    report.notes.append(f"the games took {found.seconds:.0f} seconds, {found.plies_per_game:.1f} actions each")


if __name__ == "__main__":
    with one_line_errors():
        sys.exit(main())
