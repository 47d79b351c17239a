"""What the searches that go down no tree are tried with: positions, a network, and the rules one position at a time."""

import functools

import jax
import jax.numpy as jnp
import numpy as np

from jaxgames.algos import mcts
from jaxgames.ops.pytrees import select
from jaxgames.ops.random_bits import fold_in


def apply(params, seen):
    """A policy and a value that differ from position to position."""
    flat = seen.reshape(len(seen), -1).astype(jnp.float32)
    hidden = jnp.sin(flat @ params["in"])
    return hidden @ params["logits"], jnp.tanh(hidden @ params["value"])


def network_of(game):
    rng = np.random.default_rng(3)
    size = int(np.prod(game.observation_shape))
    shapes = {"in": (size, 8), "logits": (8, game.num_actions), "value": (8,)}
    return mcts.network(
        apply, {name: jnp.asarray(rng.normal(size=shape), jnp.float32) for name, shape in shapes.items()}
    )


def middle_positions(game, count, plies):
    """Positions of random games after some plies, some of them near the end."""
    states = jax.jit(jax.vmap(game.init))(jax.random.split(jax.random.key(1), count))

    @jax.jit
    @jax.vmap
    def step(state, key):
        after = game.step(state, game.draw_action(state._position, jax.random.bits(key)), key)
        return select(~(after.terminated | after.truncated), after, state)

    for ply in range(plies):
        states = step(states, jax.random.split(jax.random.key(ply), count))
    return states


@functools.cache
def compiled(game):
    """What the plain search asks of one position."""
    evaluate = network_of(game)

    def look(position):
        seen = game.observe_position(position, jnp.bool_(True))
        logits, value = evaluate.apply(evaluate.params, seen[None])
        chance = jax.tree.map(lambda x, y: jnp.any(x != y), position, game.chance(position, jnp.int32(0)))
        return logits[0], value[0], game.legal(position), jnp.any(jnp.stack(jax.tree.leaves(chance)))

    return jax.jit(look), jax.jit(game.play), jax.jit(game.chance), jax.jit(fold_in)
