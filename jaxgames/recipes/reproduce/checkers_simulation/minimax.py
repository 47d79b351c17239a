"""The minimax of the text: its tree, times per move by depth, cuts, and games against random moves."""

import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import cache
from math import cos, log, pi, sin
from pathlib import Path
from statistics import fmean
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np

from jaxgames.algos.minimax import Search
from jaxgames.envs.checkers.notation import parse
from jaxgames.envs.checkers.plain_board import apply_action, legal_moves
from jaxgames.envs.testing.perft import perft
from jaxgames.matches.intervals import mean_margin
from jaxgames.ops.pytrees import select
from jaxgames.players import make as make_player
from jaxgames.recipes.reproduce.checkers_simulation.positions import GAME, PUBLISHED
from jaxgames.recipes.reproduce.rows import Row, mean_row, range_row, result_rows
from jaxgames.recipes.reproduce.study import Study
from jaxgames.runs.figures import GREY, LIGHT, LINE_COLORS, Diagram, PlottedLine, canvas, draw_diagrams, save

SPEC = "alphabeta:{},ties=first,value=pieces"
"""The text's player: all pieces count 1, and of equal moves the first one is played."""

VARIANTS: Mapping[str, Mapping[str, Any]] = {
    "plain": {"prune": False, "lanes": 1},
    "in parallel": {"prune": False, "lanes": 8},
    "alpha-beta": {"prune": True, "lanes": 1},
}
"""How one move is searched: by one search, by eight that share the moves of the root, by one that cuts."""

MOST_PLIES = 300
SHORT = 200
"""Searches of less milliseconds are timed three times."""


def tree(study: Study) -> list[Row]:
    """Figure 3.1: positions after 1, 2 and 3 turns from the start."""
    counts = study.cell("tree", {"depth": 3}, lambda: {"turns": perft(GAME, 3)})["turns"]
    return [
        Row(f"positions {depth} {'turn' if depth == 1 else 'turns'} deep", None, counts[depth], digits=0)
        for depth in (1, 2, 3)
    ]


def draw_tree(study: Study, rows: Sequence[Row], path: Path) -> None:
    """Draws figure 3.1: the search tree of depth 3, the start in the middle, each turn a ring."""
    figure, axis = canvas((6.4, 6.6), bare=True)

    def grow(board: Any, depth: int, begin: float, end: float) -> tuple[float, float]:
        angle = (begin + end) / 2
        here = depth * cos(angle), depth * sin(angle)
        moves = legal_moves(board) if depth < 3 else []
        for number, move in enumerate(moves):
            after = board
            for action in move.actions:
                after, _ = apply_action(after, action)
            part = (end - begin) / len(moves)
            there = grow(after, depth + 1, begin + number * part, begin + (number + 1) * part)
            axis.plot(*zip(here, there, strict=True), color=LINE_COLORS[depth], linewidth=0.7, zorder=1)
        axis.plot(*here, "o", color=LINE_COLORS[max(0, depth - 1)], markersize=(7, 5, 3, 1.5)[depth], zorder=2)
        return here

    grow(parse(GAME.to_string(GAME.init(jax.random.key(0)))), 0, 0.0, 2 * pi)
    axis.set_aspect("equal")
    axis.set_title("   ".join(f"{row.what}: {row.ours:,.0f}" for row in rows), fontsize=9, color=GREY)
    save(figure, path)


def search(depth: int, **settings: Any) -> Callable[..., Any]:
    """A compiled search of a batch of positions, as the text's minimax evaluates and chooses."""
    searches, value = Search(GAME, depth, ties="first", **settings), jax.vmap(GAME.piece_count)
    return jax.jit(lambda positions: searches(positions, jnp.zeros(len(positions.own), jnp.uint32), value))


@cache
def _ply(depth: int, count: int) -> Callable[..., tuple[Any, Any, Any, Any]]:
    """A compiled ply of so many games."""
    random, run = make_player("random", GAME), Search(GAME, depth, ties="first")

    @jax.jit
    def ply(position: Any, over: Any, moves: Any, bits: Any) -> tuple[Any, Any, Any, Any]:
        searched = run(position, jnp.zeros(count, jnp.uint32), jax.vmap(GAME.piece_count), over | ~moves)
        by_search = jax.vmap(GAME.play)(position, jnp.maximum(searched.actions, 0))
        by_lot = random.turn(random.params, position, bits)
        outcome = select(moves, by_search, by_lot)
        return select(over, position, outcome.position), over | outcome.over, moves ^ outcome.turn_passes, searched

    return ply


def games(depth: int, count: int, seed: int) -> Iterator[tuple[Any, Any, Any]]:
    """The plies of games of minimax, which begins every other one, against random moves.

    Each time the positions, in which games minimax is to move, and its search there.
    """
    key = jax.random.key(seed)
    position = jax.vmap(GAME.init_position)(jax.random.split(key, count))
    over, moves = jnp.zeros(count, bool), jnp.arange(count, dtype=jnp.int32) % 2 == 0
    for number in range(MOST_PLIES):
        bits = jax.random.bits(jax.random.fold_in(key, number), (count,), jnp.uint32)
        after, ended, next_moves, searched = _ply(depth, count)(position, over, moves, bits)
        yield position, np.asarray(moves & ~over), searched
        position, over, moves = after, ended, next_moves
        if bool(over.all()):
            return


@cache
def positions(seed: int, depth: int = 4, count: int = 128) -> Any:
    """A position from each of so many games, drawn evenly from those in which minimax was to move."""
    rng, chosen, seen = np.random.default_rng(seed), None, np.zeros(count, int)
    for position, here, _ in games(depth, count, seed):
        seen += here
        takes = here & (rng.random(count) * np.maximum(seen, 1) < 1)  # the n-th one takes the place with chance 1 / n
        chosen = position if chosen is None else select(jnp.asarray(takes), position, chosen)
    return chosen


def time_per_move(study: Study, variant: str, depth: int) -> Mapping[str, Any]:
    """Milliseconds for each of some moves, one after the other, and all their nodes."""
    count = study.amount(100, {5: 4, 6: 2}.get(depth, 8))
    settings = {"depth": depth, "positions": count, "seed": study.seed, **VARIANTS[variant]}

    def measure() -> Mapping[str, Any]:
        drawn, run = positions(study.seed), search(depth, **VARIANTS[variant])
        rows = [jax.tree.map(lambda x, number=number: x[number : number + 1], drawn) for number in range(count)]
        jax.block_until_ready(run(rows[0]))
        milliseconds, nodes = [], 0
        for row in rows:
            tries: list[float] = []
            while len(tries) < 3 and sum(tries) < SHORT:  # the shortest of three: other programs run, too
                began = time.perf_counter()
                searched = jax.block_until_ready(run(row))
                tries.append(1000 * (time.perf_counter() - began))
            milliseconds.append(min(tries))
            nodes += int(searched.nodes[0])
        return {"milliseconds": milliseconds, "nodes": nodes}

    return study.cell(f"{variant}, depth {depth}", settings, measure)


def depths(study: Study) -> range:
    """The depths of figures 3.2 and 3.4; a quick study leaves most of them out."""
    return study.amount(range(1, 10), range(1, 6, 2))


def times(study: Study, variant: str = "plain") -> list[Row]:
    """Figure 3.2: plain minimax by depth."""
    rows = []
    for depth in depths(study):
        row = mean_row(
            f"{variant}, depth {depth}", time_per_move(study, variant, depth)["milliseconds"], unit="ms", digits=3
        )
        rows.append(row._replace(low=max(0.0, row.low or 0.0)))
    return rows


def speedups(study: Study) -> list[Row]:
    """Figure 3.4: all variants by depth, and how many times as fast alpha-beta is at the last one."""
    rows, last = [row for variant in VARIANTS for row in times(study, variant)], depths(study)[-1]
    measured = {variant: time_per_move(study, variant, last) for variant in VARIANTS}
    theirs = PUBLISHED["3.3 depth 9"] if last == 9 else {}
    for variant, (name, why) in FASTER.items():
        ratio, low, high = ratio_of(measured[variant]["milliseconds"], measured["alpha-beta"]["milliseconds"])
        what = f"speed of alpha-beta ({variant} = 1), depth {last}"
        rows.append(Row(what, theirs.get(name), ratio, low, high, best="high", why=why if theirs else ""))
    nodes = measured["plain"]["nodes"] / measured["alpha-beta"]["nodes"]
    rows.append(Row(f"nodes of plain minimax (alpha-beta = 1), depth {last}", None, nodes))
    count = study.amount(32, 16)  # plain minimax for many moves at once: what this library is made for
    name, settings = f"plain, {count} moves at once, depth {last}", {"depth": last, "positions": count}
    batch = study.cell(name, {**settings, "seed": study.seed}, _time_of_batch, last, count, study.seed)
    return [*rows, Row(name, None, batch["milliseconds"], unit="ms a move", digits=2)]


FASTER = {
    "plain": (
        "plain over alpha-beta",
        "ours tries moves in another order, killer moves first, and passes bounds from a move of the root to the next",
    ),
    "in parallel": (
        "multithreaded over alpha-beta",
        "here eight searches in one vector unit share the root's moves; there threads on as many cores did",
    ),
}
"""The published ratio of a variant, by its name in the file of figures, and the reason of another one."""


def _time_of_batch(depth: int, count: int, seed: int) -> Mapping[str, Any]:
    drawn, run = jax.tree.map(lambda x: x[:count], positions(seed)), search(depth, prune=False)
    jax.block_until_ready(run(drawn))
    began = time.perf_counter()
    searched = jax.block_until_ready(run(drawn))
    seconds = time.perf_counter() - began
    return {"milliseconds": 1000 * seconds / count, "nodes": float(np.asarray(searched.nodes, np.float64).sum())}


def ratio_of(slow: Sequence[float], fast: Sequence[float]) -> tuple[float, float, float]:
    """The ratio of two sums of pairs, with its 95 % interval by the delta method."""
    ratio = sum(slow) / sum(fast)
    margin = mean_margin([one - ratio * other for one, other in zip(slow, fast, strict=True)]) / fmean(fast)
    return ratio, max(0.0, ratio - margin), ratio + margin


def cuts(study: Study) -> list[Row]:
    """Section 3.2.1: cuts of a game by depth, and at the depth that comes nearest to the text's."""
    rows, counts, count, theirs = [], {}, study.amount(100, 16), PUBLISHED["3.2.1 cuts"]
    for depth in study.amount(range(5, 8), range(4, 6)):
        settings = {"depth": depth, "games": count, "seed": study.seed}
        counts[depth] = study.cell(f"cuts, depth {depth}", settings, _cuts, depth, count, study.seed)
        rows += [mean_row(f"{kind} cuts a game, depth {depth}", counts[depth][kind], digits=0) for kind in theirs]
    sums = {depth: sum(fmean(of[kind]) for kind in theirs) for depth, of in counts.items()}
    nearest = min(sums, key=lambda depth: abs(log(sums[depth] / sum(theirs.values()))))
    why = "the text gives no depth; this depth has the nearest sum, and another order of moves makes other cuts"
    for kind, row in zip(theirs, [row for row in rows if row.what.endswith(f"depth {nearest}")], strict=True):
        rows.append(row._replace(what=f"{kind} cuts of a game beside the text's", published=theirs[kind], why=why))
    return rows


def _cuts(depth: int, count: int, seed: int) -> Mapping[str, Any]:
    """The cuts of each game."""
    counted = np.zeros((2, count))
    for _, here, searched in games(depth, count, seed):
        counted += np.where(here, [searched.beta_cuts, searched.alpha_cuts], 0)
    return {"beta": counted[0].tolist(), "alpha": counted[1].tolist()}


def _match(study: Study, cell: str, one: str, other: str, games: int) -> Mapping[str, Any]:
    return study.match(cell, lambda: (one, other), games, study.seed, {"seed": study.seed}, game=GAME)


def against_random(study: Study) -> list[Row]:
    """Section 6: alpha-beta by depth against random moves, and how long games of two of them are."""
    rows, whole = [], {5: 10_000, 6: 2_000, 7: 500, 8: 200, 9: 100, 10: 40}
    why = "the text does not say how many games it played at which depth; ours also values wins and losses in sight"
    for depth in study.amount(range(5, 11), range(5, 6)):
        count = study.amount(whole[depth], 100)
        result = _match(study, f"depth {depth} against random", SPEC.format(depth), "random", count)
        against = f"random moves, depth {depth}, {count:,} games"
        rows += result_rows(result, against, PUBLISHED["6 minimax against random"], why)
    return rows


def length(study: Study) -> list[Row]:
    """Section 3.1: how many moves a game has."""
    count, rows, minimax = study.amount(1_000, 50), [], "alphabeta:4,value=pieces"
    why = "the text does not say whose games; each jump counts, and without captures a game goes on for 100 moves"
    for name, other in (("random", "random"), (minimax, "random"), (minimax, minimax)):
        result = _match(study, f"length of {name} against {other}", name, other, count)
        what = f"moves of a game, {name} against {other}"
        rows.append(range_row(what, PUBLISHED["3.1 game"]["moves"], result["plies_per_game"], why=why))
    return rows


# The pictures.


def draw_depths(names: Mapping[str, str], unit: str, study: Study, rows: Sequence[Row], path: Path) -> None:
    """Draws the rows `NAME, depth D` over the depth on a logarithmic axis; `names` maps each to its label."""
    lines = []
    for name, label in names.items():
        shown = [row for row in rows if row.what.startswith(f"{name}, depth ")]
        at, ours = [int(row.what.rpartition(" ")[2]) for row in shown], [row.ours or 0.0 for row in shown]
        low = [max(row.low or 0.0, mean / 10) for row, mean in zip(shown, ours, strict=True)]
        lines.append(PlottedLine(at, ours, label, low, [row.high for row in shown]))
    ticks = {depth: str(depth) for depth in lines[0].x}
    draw_diagrams([Diagram(lines, x="depth in turns", y=unit, log_y=True, ticks=ticks)], path)


def draw_results(study: Study, rows: Sequence[Row], path: Path) -> None:
    """Draws section 6: won, drawn and lost games by depth, the published ones first."""
    shares: dict[str, dict[str, float]] = {"published": {}}
    for row in rows:
        name, _, rest = row.what.partition(" against random moves, ")
        shares["published"][name] = row.published or 0.0
        shares.setdefault(rest.split(",")[0], {})[name] = row.ours or 0.0

    figure, axis = canvas()
    for place, share in enumerate(shares.values()):
        begin = 0.0
        for name, color in (("won", LINE_COLORS[0]), ("drawn", LIGHT), ("lost", LINE_COLORS[1])):
            axis.barh(place, share[name], left=begin, color=color, height=0.7, label=name if not place else None)
            begin += share[name]
    axis.set_yticks(range(len(shares)), list(shares))
    axis.invert_yaxis()
    axis.set_xlim(90, 100)
    axis.grid(visible=False, axis="y")
    axis.set_xlabel("% of games against random moves (from 90 on)", color=GREY)
    axis.legend(frameon=False, fontsize=9, labelcolor=GREY, ncols=3, loc="lower center", bbox_to_anchor=(0.5, 1.0))
    save(figure, path)
