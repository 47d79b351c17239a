"""A little of everything that is jitted, for `test_modes.py`: prints a line of JSON, a hash of each result.

python program.py FLAG,... # such as jax_enable_x64, or "none"; then the names of results that are left out
"""

import functools
import hashlib
import json
import runpy
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


def results(flag: str, left_out: Sequence[str]) -> Iterator[tuple[str, Any]]:
    """What is computed, by name. Without `jit` the smallest game stands for all: others would take minutes."""
    for name in GAMES[:1] if flag == "jax_disable_jit" else GAMES:
        yield name, jax.jit(lambda name=name: played(name))()
    game = jaxgames.make("tic_tac_toe")
    states = jax.jit(lambda: begun(game))()
    for name, select in (("uct", mcts.uct()), ("gumbel", mcts.gumbel()), ("one round", mcts.one_round())):
        if name not in left_out and (name == "uct" or flag != "jax_disable_jit"):
            evaluate = linear(game) if select.needs_policy else mcts.rollout()
            search = functools.partial(mcts.search, game, num_simulations=3, select=select, evaluate=evaluate)
            found = jax.jit(lambda states, search=search: search(states, KEY(2)))(states)
            yield name, (found.visits, found.values, found.actions)
    if flag == "jax_disable_jit":
        return
    ur = runpy.run_path("examples/own_game.py")["Ur"]()  # its first position is rolled
    yield "the game of the example", jax.jit(jax.vmap(ur.init))(jax.random.split(KEY(6), 16))._position
    if "alpha-beta" not in left_out:
        yield "alpha-beta", jax.jit(lambda states: alphabeta(game, states, depth=2))(states)
    networks = Genomes(MLP((3, 9), "softsign_unit", "softsign_unit"), inputs=9)
    fitness = ByPlay(Outputs(game, networks, encoding="cells"), RandomMoves(2), score="wins")
    strategy = OpenES(population=4, dimension=networks.dimension)
    state = jax.jit(lambda: strategy.start(KEY(3), networks.init(KEY(4), jnp.ones(1, jnp.int32))[0]))()
    step = jax.jit(lambda state, key: generation(strategy, fitness, state, key))
    yield "scores of a generation", step(state, KEY(5))[1]


def played(name: str) -> Any:
    """Two games after some steps."""
    game = jaxgames.make(name)
    last, moves = jaxgames.rollout(game, begun(game), KEY(1), 4, auto_reset=True)
    return last, moves.actions, moves.rewards, last.observation, last.legal_action_mask


def begun(game: jaxgames.Game) -> Any:
    """Two games before their first action."""
    return jax.vmap(game.init)(jax.random.split(KEY(0), BATCH))


def linear(game: jaxgames.Game) -> mcts.Evaluator:
    """A network of one layer, whose weights are 0."""

    def apply(params: jax.Array, observation: jax.Array) -> tuple[jax.Array, jax.Array]:
        outputs = observation.reshape(len(observation), -1).astype(jnp.float32) @ params
        return outputs[:, 1:], jnp.tanh(outputs[:, 0])

    inputs = int(np.prod(game.observation_shape))
    return mcts.network(apply, jnp.zeros((inputs, game.num_actions + 1), jnp.float32))


def digest(tree: Any) -> str:
    """The bits and dtypes of all arrays of a tree."""
    found = hashlib.sha256()
    for leaf in jax.tree.leaves(tree):
        array = np.asarray(jax.random.key_data(leaf) if jnp.issubdtype(leaf.dtype, jax.dtypes.prng_key) else leaf)
        found.update(str(array.dtype).encode() + array.tobytes())
    return found.hexdigest()[:16]


if __name__ == "__main__":
    flags, *left_out = sys.argv[1:]
    jax.config.update("jax_numpy_dtype_promotion", "strict")
    jax.config.update("jax_numpy_rank_promotion", "raise")
    for flag in flags.split(",") if flags != "none" else ():
        jax.config.update(flag, True)
    print(json.dumps({name: digest(result) for name, result in results(flags, left_out)}))
