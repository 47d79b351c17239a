"""A game of your own with dice: the Royal Game of Ur, checked, searched and learned.

    python examples/own_game.py

Two players race seven pieces each along a path of 14 squares. Squares 5 to 12 are shared: a piece that lands on one of
the other player's captures it, and the captured piece begins again. A player who lands on a rosette (4, 8, 14) moves
again; on the shared one, 8, a piece is safe. The dice show 0 to 4; a piece leaves by the exact number (Finkel, 2007).
Only the rules are written: states, rewards, illegal actions and the order of turns come with `Game`.
"""

import argparse
import dataclasses
import time
from pathlib import Path
from typing import NamedTuple

import jax
import jax.numpy as jnp
import matplotlib.pyplot as plt

import jaxgames
from jaxgames.algos import mcts
from jaxgames.algos.td import make_config, make_learner
from jaxgames.envs import Outcome, register
from jaxgames.matches import match
from jaxgames.players import greedy

PIECES, HAND, HOME, PASS = 7, 0, 15, 15  # the places of a piece: 0 in the hand, 1 to 14 on the path, 15 at home
ROSETTES, SAFE, SHARED = (4, 8, 14), 8, (5, 12)


class Board(NamedTuple):
    """As the player to act sees it."""

    own: jax.Array  # int8[16], the own pieces in each place
    other: jax.Array  # int8[16], those of the other player, on a path of their own but for the shared squares
    roll: jax.Array  # int8, what the dice show; -1 before they are thrown


@dataclasses.dataclass(frozen=True)
class Ur(jaxgames.Game[Board]):
    """Action s moves the piece in place s; 15 passes, where nothing can move."""

    id = "ur"
    num_actions = 16
    observation_shape = (37,)
    outcome_probabilities = (1 / 16, 4 / 16, 6 / 16, 4 / 16, 1 / 16)  # of 0 to 4: four dice with two marked tips each
    alternates = False  # whoever lands on a rosette moves again

    def init_position(self, key):
        pieces = jnp.zeros(16, jnp.int8).at[HAND].set(PIECES)
        roll = self.draw_outcome(jax.random.bits(key, dtype=jnp.uint32))
        return self.chance(Board(pieces, pieces, jnp.int8(-1)), roll)

    def legal(self, board):
        places = jnp.arange(15)
        target = places + board.roll
        there = jnp.minimum(target, HOME)
        free = (target == HOME) | (board.own[there] == 0)
        safe = (target == SAFE) & (board.other[SAFE] > 0)
        moves = (board.own[:15] > 0) & (board.roll > 0) & (target <= HOME) & free & ~safe
        return jnp.append(moves, ~moves.any())

    def play(self, board, action):
        moves = action != PASS
        target = jnp.where(moves, jnp.minimum(action + board.roll, HOME), PASS)
        own = board.own.at[action].add(-1).at[target].add(1)
        takes = moves & (target >= SHARED[0]) & (target <= SHARED[1]) & (board.other[target] > 0)
        other = board.other.at[target].add(-takes.astype(jnp.int8)).at[HAND].add(takes.astype(jnp.int8))
        again = moves & jnp.isin(target, jnp.array(ROSETTES))
        sides = jax.tree.map(lambda x, y: jnp.where(again, x, y), (own, other), (other, own))
        over = own[HOME] == PIECES
        return Outcome(Board(*sides, jnp.int8(-1)), ~again, over, over.astype(jnp.float32))

    def chance(self, board, outcome):
        return board._replace(roll=jnp.where(board.roll < 0, outcome.astype(jnp.int8), board.roll))

    def ended(self, board):
        return (board.own[HOME] == PIECES) | (board.other[HOME] == PIECES)

    def observe_position(self, board, acting):
        own, other = (jnp.where(acting, x, y) for x, y in ((board.own, board.other), (board.other, board.own)))
        dice = board.roll == jnp.arange(5)  # none of them before the roll
        return jnp.concatenate([own / PIECES, other / PIECES, dice]).astype(jnp.float32)


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0], usage=argparse.SUPPRESS)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--out", type=Path, default="own_game.png", help="the picture")
    parser.add_argument("--quick", action="store_true", help="a tiny run, to see that it works")
    options = parser.parse_args()
    if options.out.suffix not in (".png", ".svg") or not options.out.resolve().parent.is_dir():
        parser.error(f"--out {options.out}: expected a .png or .svg in a folder that exists")
    batch, parts, updates, games = (4, 1, 1, 4) if options.quick else (256, 8, 1000, 1000)
    rival = "random" if options.quick else "uct:50"
    game, key = Ur(), jax.random.key(options.seed)

    # Checked: random games, in which every contract between rules, learners and searches is tested.
    print(jaxgames.check_game(game, num_games=max(4, batch // 4)))

    # Searched: rolls are nodes of the tree. The search asks the game who moves, what is legal, and whose value it is.
    states, _ = jaxgames.rollout(game, jax.vmap(game.init)(jax.random.split(key, 4)), key, num_steps=40)
    found = mcts.search(game, states, key, num_simulations=batch)
    print(f"the search prefers {found.actions} after the rolls {states.observation[:, -5:].argmax(1)}")
    result = match(rival, "random", games=games, game=game)
    print(f"{rival} wins {result.win_rate:.1%} against random moves")

    # Learned: TD(lambda) by self-play, which looks at what each move leads to and knows nothing else (Tesauro, 1992).
    register(Ur)  # settings name the game by its id; on the command line `--plugin own_game.py` does this
    learner = make_learner(make_config(game="ur", hidden=(64,), outputs=2, batch=batch, plies=8, step_size=0.003))
    state = learner.init(key)

    @jax.jit
    def part(state, keys):
        state, metrics = jax.lax.scan(learner.update, state, keys)
        return state, metrics.games.sum()

    learned, won, began = [], [], time.perf_counter()
    for number in range(parts):
        state, ended = part(state, jax.random.split(jax.random.fold_in(key, number), updates))
        learned.append(int(ended) + (learned[-1] if learned else 0))
        player = greedy(game, "td", state.params, learner.network.value)  # one program for all parameters
        won.append(100 * match(player, "random", games=games, seed=1).win_rate)
        print(f"{time.perf_counter() - began:.0f} s, {learned[-1]:,} games: won {won[-1]:.1f}% against random moves")
    result = match(player, rival, games=games, seed=2)
    print(f"and {result.win_rate:.1%} against {rival}")

    figure, axes = plt.subplots(figsize=(6, 3.5), layout="constrained")
    axes.plot(learned, won, marker="o")
    axes.set(xlabel="games of self-play", ylabel="won against random moves, %", title="Ur, learned by TD(lambda)")
    figure.savefig(options.out, dpi=100)


GAMES = [Ur]  # for `--plugin own_game.py` of every command
if __name__ == "__main__":
    main()
