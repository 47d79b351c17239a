"""The minimax of the text: its tree, times per move by depth, cuts, and games against random moves."""

import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import cache
from math import log
from statistics import fmean, stdev
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np

from jaxgames.algos.minimax import Search
from jaxgames.envs.registry import make as make_game
from jaxgames.envs.testing.perft import perft
from jaxgames.matches import match
from jaxgames.ops.pytrees import select
from jaxgames.players import make as make_player
from jaxgames.recipes.reproduce.checkers_simulation.published import PUBLISHED
from jaxgames.recipes.reproduce.checkers_simulation.rates import rates
from jaxgames.recipes.reproduce.report import Row
from jaxgames.recipes.reproduce.study import Study

GAME = make_game("checkers")
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


def search(depth: int, **settings: Any) -> Callable[..., Any]:
    """A compiled search of a batch of positions, as the text's minimax evaluates and chooses."""
    found, value = Search(GAME, depth, ties="first", **settings), jax.vmap(GAME.piece_count)
    return jax.jit(lambda positions: found(positions, jnp.zeros(len(positions.own), jnp.uint32), value))


@cache
def _ply(depth: int, count: int) -> Callable[..., tuple[Any, Any, Any, Any]]:
    """A compiled ply of so many games."""
    random, run = make_player("random", GAME), Search(GAME, depth, ties="first")

    @jax.jit
    def ply(position: Any, over: Any, moves: Any, bits: Any) -> tuple[Any, Any, Any, Any]:
        found = run(position, jnp.zeros(count, jnp.uint32), jax.vmap(GAME.piece_count), over | ~moves)
        by_search = jax.vmap(GAME.play)(position, jnp.maximum(found.actions, 0))
        by_lot = random.turn(random.params, position, bits)
        outcome = select(moves, by_search, by_lot)
        return select(over, position, outcome.position), over | outcome.over, moves ^ outcome.turn_passes, found

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
        after, ended, next_moves, found = _ply(depth, count)(position, over, moves, bits)
        yield position, np.asarray(moves & ~over), found
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
    count = study.amount({7: 32, 8: 16, 9: 4}.get(depth, 48), {5: 4, 6: 2}.get(depth, 8))
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
                found = jax.block_until_ready(run(row))
                tries.append(1000 * (time.perf_counter() - began))
            milliseconds.append(min(tries))
            nodes += int(found.nodes[0])
        return {"milliseconds": milliseconds, "nodes": nodes}

    return study.cell(f"{variant}, depth {depth}", settings, measure)


def depths(study: Study) -> range:
    """The depths of figures 3.2 and 3.4; a quick study leaves most of them out."""
    return study.amount(range(1, 10), range(1, 6, 2))


def times(study: Study, variant: str = "plain") -> list[Row]:
    """Figure 3.2: plain minimax by depth."""
    rows = []
    for depth in depths(study) if variant == "plain" else depths(study)[:: study.amount(4, 1)]:
        found = time_per_move(study, variant, depth)["milliseconds"]
        mean, margin = fmean(found), 1.96 * stdev(found) / len(found) ** 0.5
        what = f"{variant}, depth {depth}"
        rows.append(Row(what, None, mean, max(0.0, mean - margin), mean + margin, unit="ms", digits=3))
    return rows


def speedups(study: Study) -> list[Row]:
    """Figure 3.4: all variants by depth, and how many times as fast alpha-beta is at the last one."""
    rows, last = [row for variant in VARIANTS for row in times(study, variant)], depths(study)[-1]
    measured = {variant: time_per_move(study, variant, last) for variant in VARIANTS}
    published = PUBLISHED["depth 9"] if last == 9 else {}
    reasons = (
        {}
        if not published
        else {
            "plain": (
                "moves come in another order, killer moves first, and bounds pass from one move of the root to the next"
            ),
            "in parallel": "eight searches in one vector unit, not threads of as many cores, share the root's moves",
        }
    )
    for variant, name in (("plain", "plain"), ("in parallel", "multithreaded")):
        ratio, low, high = ratio_of(measured[variant]["milliseconds"], measured["alpha-beta"]["milliseconds"])
        rows.append(
            Row(
                f"alpha-beta is so many times as fast as {variant}, depth {last}",
                published.get(f"{name} over alpha-beta"), ratio, low, high, best="high", why=reasons.get(variant, ""),
            )
        )  # fmt: skip
    nodes = measured["plain"]["nodes"] / measured["alpha-beta"]["nodes"]
    rows.append(Row(f"plain minimax looks at so many times the nodes of alpha-beta, depth {last}", None, nodes))
    return [*rows, batch_row(study, last)]


def batch_row(study: Study, depth: int) -> Row:
    """Plain minimax for many moves at once: what this library is made for."""
    count = study.amount(32, 16)

    def measure() -> Mapping[str, Any]:
        drawn, run = jax.tree.map(lambda x: x[:count], positions(study.seed)), search(depth, prune=False)
        jax.block_until_ready(run(drawn))
        began = time.perf_counter()
        found = jax.block_until_ready(run(drawn))
        seconds = time.perf_counter() - began
        return {"milliseconds": 1000 * seconds / count, "nodes": float(np.asarray(found.nodes, np.float64).sum())}

    settings = {"depth": depth, "positions": count, "seed": study.seed}
    found = study.cell(f"plain, {count} moves at once, depth {depth}", settings, measure)
    return Row(f"plain, {count} moves at once, depth {depth}", None, found["milliseconds"], unit="ms a move", digits=2)


def ratio_of(slow: Sequence[float], fast: Sequence[float]) -> tuple[float, float, float]:
    """The ratio of two sums of pairs, with its 95 % interval by the delta method."""
    ratio, count = sum(slow) / sum(fast), len(slow)
    rest = [one - ratio * other for one, other in zip(slow, fast, strict=True)]
    margin = 1.96 * stdev(rest) / count**0.5 / fmean(fast)
    return ratio, max(0.0, ratio - margin), ratio + margin


def cuts(study: Study) -> list[Row]:
    """Section 3.2.1: cuts of a game by depth, and at the depth that comes nearest to the text's."""
    rows, found, count = [], {}, study.amount(100, 16)
    for depth in study.amount(range(5, 8), range(4, 6)):

        def measure(depth: int = depth) -> Mapping[str, Any]:
            counted = np.zeros((2, count))
            for _, here, result in games(depth, count, study.seed):
                counted += np.where(here, [result.beta_cuts, result.alpha_cuts], 0)
            return {"beta": counted[0].tolist(), "alpha": counted[1].tolist()}

        settings = {"depth": depth, "games": count, "seed": study.seed}
        found[depth] = study.cell(f"cuts, depth {depth}", settings, measure)
        for kind in ("beta", "alpha"):
            each = found[depth][kind]
            mean, margin = fmean(each), 1.96 * stdev(each) / count**0.5
            rows.append(Row(f"{kind} cuts a game, depth {depth}", None, mean, mean - margin, mean + margin, digits=0))
    published = {kind: PUBLISHED["minimax"][f"{kind} cuts"] for kind in ("beta", "alpha")}
    wanted = sum(published.values())
    nearest = min(
        found, key=lambda depth: abs(log((fmean(found[depth]["beta"]) + fmean(found[depth]["alpha"])) / wanted))
    )
    why = "the text gives no depth; this one has the nearest sum, and another order of moves makes other cuts"
    for row in [row for row in rows if row.what.endswith(f"depth {nearest}")]:
        kind = row.what.partition(" ")[0]
        rows.append(row._replace(what=f"{kind} cuts of a game beside the text's", published=published[kind], why=why))
    return rows


def against_random(study: Study) -> list[Row]:
    """Section 6: alpha-beta by depth against random moves, and how long games of two of them are."""
    published, rows = PUBLISHED["minimax against random"], []
    share = {name: 100 * published[name] / published["games"] for name in ("won", "lost", "drawn")}
    whole = {5: 10_000, 6: 2_000, 7: 500, 8: 200, 9: 100, 10: 40}
    for depth in study.amount(range(5, 11), range(5, 6)):
        count = study.amount(whole[depth], 100)

        def measure(depth: int = depth, count: int = count) -> Mapping[str, Any]:
            player = make_player(SPEC.format(depth), GAME)
            return match(player, make_player("random", GAME), count, seed=study.seed).to_dict()

        found = study.cell(f"depth {depth} against random", {"games": count, "seed": study.seed}, measure)
        why = "the text does not say how many games of which depth; ours also values wins and losses in sight"
        rows += rates(found, f"random moves, depth {depth}, {count:,} games", share, "", why)
    return rows


def length(study: Study) -> list[Row]:
    """Section 3.1: how many moves a game has."""
    count, published, rows = study.amount(1_000, 50), PUBLISHED["game"], []
    least, most = published["least moves"], published["most moves"]
    for name, other in (
        ("random", "random"),
        ("alphabeta:4,value=pieces", "random"),
        ("alphabeta:4,value=pieces",) * 2,
    ):

        def measure(name: str = name, other: str = other) -> Mapping[str, Any]:
            return match(make_player(name, GAME), make_player(other, GAME), count, seed=study.seed).to_dict()

        found = study.cell(f"length of {name} against {other}", {"games": count, "seed": study.seed}, measure)
        why = "the text does not say whose games; each jump counts, and where nobody captures any more 100 moves follow"
        rows.append(
            Row(
                f"moves of a game, {name} against {other}", (least + most) / 2, found["plies_per_game"],
                published_margin=(most - least) / 2, why=why,
            )
        )  # fmt: skip
    return rows
