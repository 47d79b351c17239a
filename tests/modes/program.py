"""A little of everything that is jitted, for `test_modes.py`: prints a line of JSON, a hash of each result.

    python program.py FLAG [GAME ...]     # such as jax_enable_x64, or "none"; all games unless some are named
"""

import hashlib
import json
import sys
from collections.abc import Iterator, Sequence
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np

import jaxgames
from jaxgames.algos import mcts
from jaxgames.algos.evolution import ByPlay, Genomes, OpenES, Outputs, RandomMoves, generation
from jaxgames.algos.minimax import alphabeta
from jaxgames.nets import MLP

GAMES = ("tic_tac_toe", "connect_four", "checkers", "backgammon")
KEY = jax.random.key
BATCH = 2


def results(flag: str, games: Sequence[str]) -> Iterator[tuple[str, Any]]:
    """What is computed, by name; without `jit` less, which would take minutes. Of every game at least its types."""
    for name in games:
        yield name, played(name)
    for name in GAMES:
        yield f"types of {name}", jax.eval_shape(lambda name=name: played(name))
    game = jaxgames.make("tic_tac_toe")
    states = jax.vmap(game.init)(jax.random.split(KEY(0), BATCH))
    for select in (mcts.uct(),) if flag == "jax_disable_jit" else (mcts.uct(), mcts.gumbel(), mcts.one_round()):
        evaluate = linear(game) if select.needs_policy else mcts.rollout()
        found = mcts.search(game, states, KEY(2), num_simulations=3, select=select, evaluate=evaluate)
        yield type(select).__name__, (found.visits, found.values, found.actions)
    if flag == "jax_disable_jit":
        return
    yield "alpha-beta", alphabeta(game, states, depth=2)
    networks = Genomes(MLP((3, 9), "softsign_unit", "softsign_unit"), inputs=9)
    fitness = ByPlay(Outputs(game, networks, encoding="cells"), RandomMoves(2), score="wins")
    strategy = OpenES(population=4, dimension=networks.dimension)
    state = strategy.start(KEY(3), networks.init(KEY(4), jnp.ones(1, jnp.int32))[0])
    step = jax.jit(lambda state, key: generation(strategy, fitness, state, key))
    yield "scores of a generation", step(state, KEY(5))[1]


def played(name: str) -> Any:
    """Two games after some steps."""
    game = jaxgames.make(name)
    states = jax.vmap(game.init)(jax.random.split(KEY(0), BATCH))
    last, moves = jaxgames.rollout(game, states, KEY(1), 4, auto_reset=True)
    return last, moves.actions, moves.rewards, last.observation, last.legal_action_mask


def linear(game: jaxgames.Game) -> mcts.Evaluator:
    """A network of one layer, whose weights are 0."""

    def apply(params: jax.Array, observation: jax.Array) -> tuple[jax.Array, jax.Array]:
        outputs = observation.reshape(len(observation), -1).astype(jnp.float32) @ params
        return outputs[:, 1:], jnp.tanh(outputs[:, 0])

    inputs = int(np.prod(game.observation_shape))
    return mcts.network(apply, jnp.zeros((inputs, game.num_actions + 1), jnp.float32))


def digest(tree: Any) -> str:
    """The bits and dtypes of all arrays of a tree; shapes and dtypes where it has nothing else."""
    found = hashlib.sha256()
    for leaf in jax.tree.leaves(tree):
        if isinstance(leaf, jax.ShapeDtypeStruct):
            found.update(str(leaf).encode())
            continue
        array = np.asarray(jax.random.key_data(leaf) if jnp.issubdtype(leaf.dtype, jax.dtypes.prng_key) else leaf)
        found.update(str(array.dtype).encode() + array.tobytes())
    return found.hexdigest()[:16]


if __name__ == "__main__":
    flag, *games = sys.argv[1:]
    jax.config.update("jax_numpy_dtype_promotion", "strict")
    jax.config.update("jax_numpy_rank_promotion", "raise")
    if flag != "none":
        jax.config.update(flag, True)
    print(json.dumps({name: digest(result) for name, result in results(flag, games or GAMES)}))
