"""Matches of searches in Connect Four: RAVE, last good replies and both against UCT, 1,000 simulations a move each.

Beside the results of the thesis from which the searches are taken (S. Goeppert, 2020, tables 6, 7 and 9). `--as thesis`
plays as it says: the opponent explores with its Cp = 0.8, which is c = 0.4 here, where means are scaled to 0..1;
everybody plays the move of the best mean; RAVE has k = 100 and Cp = 0.2, replies Cp = 1.0, both together k = 50 and
Cp = 0.2. With a number, `--as 1.0`, the opponent explores with that c, ours with their defaults, and everybody plays
the move with the most visits. Replies are kept over the whole game (`result.memory`), and without forgetting.
"""

import sys
import time
from typing import Any, NamedTuple

import jax
import jax.numpy as jnp
import numpy as np
from _common import begin, finish, one_line_errors, parsed, parser
from _figures import Comparison, Figure, Report, Timing

import jaxgames
from jaxgames.algos import mcts

TITLE = "Connect Four: matches of searches against UCT"
GAME = jaxgames.make("connect_four")
REPLIES = mcts.last_good_reply(forget=False, limit=GAME.rows * GAME.cols)
PUBLISHED = {"RAVE": 61.6, "LGR": 77.8, "RAVE and LGR": 87.4}
"""Percent of points that a player made in the thesis."""


class Side(NamedTuple):
    """A player: its rule, its evaluator, and whether it plays the move of the best mean instead of the most visits."""

    rule: Any
    evaluate: Any = None
    by_mean: bool = False


THESIS = {
    "RAVE": Side(mcts.rave(k=100, c=0.1), mcts.rollout(), True),
    "LGR": Side(mcts.uct(0.5), REPLIES, True),
    "RAVE and LGR": Side(mcts.rave(k=50, c=0.1), REPLIES, True),
}
DEFAULTS = {
    "RAVE": Side(mcts.rave(), mcts.rollout()),
    "LGR": Side(mcts.uct(), REPLIES),
    "RAVE and LGR": Side(mcts.rave(), REPLIES),
}


def main() -> int:
    """All matches."""
    asked = parser(TITLE, repeats=1)
    asked.add_argument("--games", type=int, default=128, help="games of each match, half of them begun by each side")
    asked.add_argument("--as", dest="form", default="thesis", help="thesis (default), or the opponent's c such as 1.0")
    asked.add_argument("--simulations", type=int, default=1000, help="a move (default 1,000, as in the thesis)")
    options = parsed(asked)
    if options.quick:
        options.games, options.simulations = 4, 8
    report = Report("search_matches", TITLE)
    begin()
    as_published = options.form == "thesis"
    players = THESIS if as_published else DEFAULTS
    opponent = Side(mcts.uct(0.4), None, True) if as_published else Side(mcts.uct(float(options.form)))
    form = "as in the thesis" if as_published else f"UCT with c = {options.form}, the most visits"
    for name, player in players.items():
        start, cpu = time.perf_counter(), time.process_time()
        setting = player, opponent, options.games // 2, options.simulations
        points = np.concatenate([half(*setting, first, options.seed) for first in (0, 1)])
        timing = Timing(len(points), time.perf_counter() - start, time.process_time() - cpu)
        what = f"{name} against UCT, {options.simulations:,} simulations a move, {form}"
        mean, margin = 100 * points.mean(), 196 * points.std() / len(points) ** 0.5
        interval = (mean - margin, mean + margin)
        note = f"{len(points)} games, {mean:.1f} +- {margin:.1f} %"
        unit = "% of points"
        ours = report.add(Figure(what, "jaxgames", unit, (mean,), (timing,), interval=interval, form=".1f", note=note))
        report.add(Figure(what, "thesis", unit, (PUBLISHED[name],), form=".1f"))
        row = f"{what}, {len(points)} games, +- {margin:.0f}"
        report.comparisons.append(Comparison(row, ours, published=f"{PUBLISHED[name]} by the thesis"))
    return finish(report, options, covers=lambda what: form in what)


def half(player: Side, opponent: Side, games: int, simulations: int, first: int, seed: int) -> np.ndarray:
    """Points, 0 to 1, of a player in games begun by it (`first` 0) or by its opponent (1)."""
    opening = jax.tree.map(lambda x: jnp.broadcast_to(x, (games,)), GAME.init_position(jax.random.key(0)))
    states = GAME.state(opening, jnp.full(games, first, jnp.int32))
    step, memory, rewards = jax.jit(jax.vmap(GAME.step)), None, np.zeros(games)
    for ply in range(GAME.rows * GAME.cols):
        key = jax.random.fold_in(jax.random.key(seed), 2 * ply + first)
        side, kept = (player, memory) if (ply + first) % 2 == 0 else (opponent, None)
        found = mcts.search(GAME, states, key, simulations, select=side.rule, evaluate=side.evaluate, memory=kept)
        memory = found.memory if side is player else memory
        states = step(states, best_mean(found) if side.by_mean else found.actions)
        rewards += np.asarray(states.rewards)[:, 0]
        if np.asarray(states.terminated).all():
            break
    return (1 + rewards) / 2


def best_mean(found: Any) -> jax.Array:
    """The action of the best mean at the root of each tree, among those that were visited."""
    means = found.tree.root("value_sums")[:, : GAME.num_actions] / jnp.maximum(found.visits, 1)
    played = jnp.argmax(jnp.where(found.visits > 0, means, -jnp.inf), axis=1).astype(jnp.int32)
    return jnp.where(jnp.any(found.visits > 0, axis=1), played, found.actions)


if __name__ == "__main__":
    with one_line_errors():
        sys.exit(main())
