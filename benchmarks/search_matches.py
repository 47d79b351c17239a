"""Matches of searches in Connect Four: RAVE, last good replies and both against UCT, 1,000 simulations a move each.

Beside the results of the thesis from which the searches are taken. Replies are kept over the whole game
(`result.memory`), and without forgetting, as its figures ask for: players by spec search each position anew.
"""

import sys
import time

import jax
import jax.numpy as jnp
import numpy as np
from _common import begin, finish, parsed, parser
from _figures import Figure, Report, Timing

import jaxgames
from jaxgames.algos import mcts

TITLE = "Connect Four: matches of searches against UCT"
GAME = jaxgames.make("connect_four")
REPLIES = mcts.last_good_reply(forget=False, limit=GAME.rows * GAME.cols)
MATCHES = {
    "RAVE": (mcts.rave(), mcts.rollout(), 62),
    "LGR": (mcts.uct(), REPLIES, 78),
    "RAVE and LGR": (mcts.rave(), REPLIES, 87),
}
"""A player's rule and evaluator, and the percent of points that it made in the thesis."""
UCT = mcts.uct(1.0)
"""The opponent. How much it explored in the thesis's matches is not known; with 0.8, as on the solved positions, it is
stronger, and the percents are lower.
"""


def main() -> int:
    """All matches."""
    asked = parser(TITLE, repeats=1)
    asked.add_argument("--games", type=int, default=128, help="games of each match, half of them begun by each side")
    options = parsed(asked)
    report = Report("search_matches", TITLE)
    begin()
    games, simulations = (4, 8) if options.quick else (options.games, 1000)
    for name, (rule, evaluate, thesis) in MATCHES.items():
        start, cpu = time.perf_counter(), time.process_time()
        setting = (rule, evaluate, games // 2, simulations)
        points = np.concatenate([half(*setting, first, options.seed) for first in (0, 1)])
        timing = Timing(len(points), time.perf_counter() - start, time.process_time() - cpu)
        what = f"{name} against UCT, {simulations:,} simulations a move"
        report.add(Figure(what, "jaxgames", "% of points", (100 * points.mean(),), (timing,), form=".1f"))
        report.add(Figure(what, "thesis", "% of points", (thesis,), form=".0f"))
        margin = 196 * points.std() / len(points) ** 0.5
        report.notes.append(f"{what}: {len(points)} games, {100 * points.mean():.1f} +- {margin:.1f} %")
    return finish(report, options)


def half(rule, evaluate, games: int, simulations: int, first: int, seed: int) -> np.ndarray:
    """Points, 0 to 1, of the player with this rule in games begun by it (`first` 0) or by UCT (1)."""
    opening = jax.tree.map(lambda x: jnp.broadcast_to(x, (games,)), GAME.init_position(jax.random.key(0)))
    states = GAME.state(opening, jnp.full(games, first, jnp.int32))
    step, memory, rewards = jax.jit(jax.vmap(GAME.step)), None, np.zeros(games)
    for ply in range(GAME.rows * GAME.cols):
        key = jax.random.fold_in(jax.random.key(seed), 2 * ply + first)
        if (ply + first) % 2 == 0:
            found = mcts.search(GAME, states, key, simulations, select=rule, evaluate=evaluate, memory=memory)
            memory = found.memory
        else:
            found = mcts.search(GAME, states, key, simulations, select=UCT)
        states = step(states, found.actions)
        rewards += np.asarray(states.rewards)[:, 0]
        if np.asarray(states.terminated).all():
            break
    return (1 + rewards) / 2


if __name__ == "__main__":
    sys.exit(main())
