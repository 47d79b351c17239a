"""AlphaZero with a game of its own, short enough to read in one sitting; then you can play it in the terminal.

    python examples/alphazero_minimal.py --play

The game is Hex on 5 x 5 cells: each player connects two opposite sides, there are no draws, and the first can win. A
network learns what a search prefers and how games end (Silver et al., 2018), with the search and the targets of Gumbel
MuZero (Danihelka et al., 2022). The whole recipe, for long trainings on many devices: `jaxgames.algos.alphazero`.
"""

import argparse
import dataclasses
import functools
import time
from pathlib import Path

import jax
import jax.numpy as jnp
import matplotlib.pyplot as plt
import optax
from flax import linen as nn

import jaxgames
from jaxgames.algos import mcts
from jaxgames.envs import Outcome
from jaxgames.matches import match
from jaxgames.players import by_policy

SIZE, NEIGHBOURS = 5, ((-1, 0), (-1, 1), (0, -1), (0, 1), (1, -1), (1, 0))


@dataclasses.dataclass(frozen=True)
class Hex(jaxgames.Game[jax.Array]):
    """A board is int8[5, 5]: 1 for a stone of the player to act, who connects top and bottom, -1 for the other's."""

    id, num_actions, observation_shape = "hex", SIZE**2, (SIZE, SIZE, 2)

    def init_position(self, key):
        return jnp.zeros((SIZE, SIZE), jnp.int8)

    def legal(self, board):
        return (board == 0).ravel()

    def play(self, board, action):
        board = board.ravel().at[action].set(1).reshape(SIZE, SIZE)

        def spread(_, reached):  # from the top to all stones connected with it, a step at a time
            wide = jnp.pad(reached, 1)
            near = [wide[1 + r : 1 + r + SIZE, 1 + c : 1 + c + SIZE] for r, c in NEIGHBOURS]
            return (board == 1) & (reached | jnp.any(jnp.stack(near), axis=0))

        over = jax.lax.fori_loop(0, SIZE**2 // 2, spread, (board == 1).at[1:].set(False))[-1].any()
        # The other player connects left and right: on the transposed board that is top and bottom.
        return Outcome(-board.T, jnp.bool_(True), over, over.astype(jnp.float32))

    def observe_position(self, board, acting):
        board = jnp.where(acting, board, -board.T)
        return jnp.stack([board == 1, board == -1], axis=-1)


class PolicyValue(nn.Module):  # logits of the actions, and the value for the player who is to move
    @nn.compact
    def __call__(self, observation):
        x = observation.reshape(len(observation), -1).astype(jnp.float32)
        x = nn.relu(nn.Dense(128)(nn.relu(nn.Dense(128)(x))))
        return nn.Dense(SIZE**2)(x), jnp.tanh(nn.Dense(1)(x)[:, 0])


GAME, NETWORK, OPTIMIZER, SIMULATIONS = Hex(), PolicyValue(), optax.adam(1e-3), 32


def search(params, key, states, **options):
    evaluate = mcts.network(NETWORK.apply, params)
    return mcts.search(GAME, states, key, SIMULATIONS, select=mcts.gumbel(), evaluate=evaluate, **options)


def update(batch, params, optimizer_state, key):
    """Plays whole games, every move by a search, then learns from them."""
    play_key, learn_key = jax.random.split(key)

    def policy(key, states):  # a move drawn from those that the search prefers; the second result becomes `extras`
        found = search(params, key, states, temperature=1.0)
        return found.actions, found.weights

    states = jax.vmap(GAME.init)(jax.random.split(play_key, batch))
    _, moves = jaxgames.rollout(GAME, states, play_key, GAME.num_actions, policy)  # all of it is [moves, batch, ...]
    results = jnp.broadcast_to(moves.rewards.sum(0), moves.rewards.shape)
    result = jnp.take_along_axis(results, moves.states.current_player[..., None], 2)[..., 0]
    rows = moves.states.observation, moves.extras, result, ~moves.states.terminated
    rows = jax.tree.map(lambda x: x.reshape(-1, *x.shape[2:]), rows)

    def loss(params, seen, weights, result, running):
        logits, value = NETWORK.apply(params, seen)
        return jnp.average(optax.softmax_cross_entropy(logits, weights) + (value - result) ** 2, weights=running)

    def minibatch(carry, index):
        gradient = jax.grad(loss)(carry[0], *jax.tree.map(lambda x: x[index], rows))
        change, optimizer_state = OPTIMIZER.update(gradient, carry[1])
        return (optax.apply_updates(carry[0], change), optimizer_state), None

    drawn = jax.random.randint(learn_key, (64, min(512, len(result))), 0, result.size)  # positions of each step
    return jax.lax.scan(minibatch, (params, optimizer_state), drawn)[0]


def play(params, key):
    """A game in the terminal: X connects top and bottom."""
    state = GAME.init(key)
    while not state.terminated:
        seen = enumerate(GAME.observe(state, jnp.int32(0)).reshape(-1, 2).tolist())
        cells = [" X" if own else " O" if other else f"{number:2}" for number, (own, other) in seen]
        for row in range(SIZE):
            print("  " * row, *cells[SIZE * row : SIZE * row + SIZE])
        if state.current_player == 0:
            text = input("the number of a free cell: ").rjust(2)
            action = cells.index(text) if text in cells and text.strip().isdigit() else -1
        else:
            batch = jax.tree.map(lambda x: x[None], state)
            action = search(params, jax.random.fold_in(key, state.step_count), batch).actions[0]
        state = GAME.step(state, action) if action >= 0 else state
    print("you win" if state.rewards[0] > 0 else "it wins")


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0], usage=argparse.SUPPRESS)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--out", type=Path, default="alphazero_minimal.png", help="the picture")
    parser.add_argument("--quick", action="store_true", help="a tiny run, to see that it works")
    parser.add_argument("--play", action="store_true", help="then play against it here")
    options = parser.parse_args()
    if options.out.suffix not in (".png", ".svg") or not options.out.resolve().parent.is_dir():
        parser.error(f"--out {options.out}: expected a .png or .svg in a folder that exists")
    batch, parts, updates, rival = (4, 1, 1, "random") if options.quick else (256, 10, 6, "uct:100")
    key, began, won = jax.random.key(options.seed), time.perf_counter(), []
    params = NETWORK.init(key, jnp.zeros((1, *GAME.observation_shape)))
    step, carry = jax.jit(functools.partial(update, batch)), (params, OPTIMIZER.init(params))
    for number in range(parts * updates + 1):
        if number % updates == 0:
            player = by_policy("alphazero", GAME, NETWORK.apply, carry[0])  # its policy alone, without a search
            won.append(100 * match(player, rival, games=2 * batch).win_rate)
            print(f"{time.perf_counter() - began:.0f} s, {number * batch} games: {won[-1]:.1f}% won against {rival}")
        carry = step(*carry, jax.random.fold_in(key, number))
    figure, axes = plt.subplots(figsize=(6, 3.5), layout="constrained")
    axes.plot([part * updates * batch for part in range(parts + 1)], won, marker="o")
    axes.set(xlabel="games of self-play", ylabel="games won, %", title=f"Hex: the policy alone against {rival}")
    figure.savefig(options.out, dpi=100)
    if options.play:
        play(carry[0], key)


if __name__ == "__main__":
    main()
