"""Your own network, in plain JAX, flax.nnx or equinox: learned by TD(lambda), then asked by a search.

    python examples/own_network.py

To this library a network is any function `apply(params, observation)`. Here it gives one number, the value for the
player who is to move, and our own evaluator asks it about the position and its mirror image.
(`mcts.network(apply, params)` takes networks that give logits, too.)
"""

import argparse
import dataclasses
import functools
import itertools
from pathlib import Path
from typing import Any

import equinox as eqx
import jax
import jax.numpy as jnp
import matplotlib.pyplot as plt
import optax
from flax import nnx

import jaxgames
from jaxgames.algos import mcts
from jaxgames.matches import match
from jaxgames.players import jax_player

SIZES, SIMULATIONS = (84, 128, 128, 1), 100  # Connect Four is seen as 6 x 7 x 2 bits
LAMBDA, EXPLORED, OPTIMIZER = 0.8, 0.1, optax.adam(1e-3)


def flat(observation):
    return observation.reshape(-1, SIZES[0]).astype(jnp.float32)


def in_plain_jax(key):
    def apply(params, observation):
        x = flat(observation)
        for weights, biases in params[:-1]:
            x = jax.nn.relu(x @ weights + biases)
        return jnp.tanh((x @ params[-1][0] + params[-1][1])[:, 0])

    shapes = zip(jax.random.split(key, 3), itertools.pairwise(SIZES), strict=True)
    return apply, [(jax.random.normal(key, (i, o)) * (2 / i) ** 0.5, jnp.zeros(o)) for key, (i, o) in shapes]


def in_nnx(key):
    rngs = nnx.Rngs(key)
    layers = [(nnx.Linear(i, o, rngs=rngs), nnx.relu) for i, o in itertools.pairwise(SIZES)]
    network = nnx.Sequential(*[part for layer in layers for part in layer][:-1])
    graph, params = nnx.split(network)  # what it is, and its arrays
    return lambda params, observation: jnp.tanh(nnx.merge(graph, params)(flat(observation))[:, 0]), params


def in_equinox(key):
    network = eqx.nn.MLP(SIZES[0], "scalar", SIZES[1], 2, final_activation=jnp.tanh, key=key)  # of one observation
    params, rest = eqx.partition(network, eqx.is_array)
    return lambda params, observation: jax.vmap(eqx.combine(params, rest))(flat(observation)), params


def choose(game, apply, params, states, bits=None):
    """The action after which the network gives the other player least."""
    actions = jnp.arange(game.num_actions, dtype=jnp.int32)
    after = jax.vmap(lambda state: jax.vmap(lambda action: game.apply(state, action))(actions))(states)
    won = jnp.take_along_axis(after.rewards, states.current_player[:, None, None], 2)[..., 0]
    value = jnp.where(after.terminated, won, -apply(params, after.observation).reshape(won.shape))
    return jnp.argmax(jnp.where(states.legal_action_mask, value, -jnp.inf), 1).astype(jnp.int32)


def learn(game, apply, params, key, updates, batch, steps=16):
    """TD(lambda) by self-play in one jitted call: the parameters at the end, and the squared error of each update."""

    def policy(params, key, states):
        explored = jax.random.bernoulli(key, EXPLORED, states.terminated.shape)
        return jnp.where(explored, jaxgames.random_action(key, states), choose(game, apply, params, states))

    def keep(step):
        reward = jnp.take_along_axis(step.rewards, step.states.current_player[:, None], 1)[:, 0]
        return step.states.observation, reward, step.ended

    def update(carry, key):
        params, optimizer_state, states = carry
        act = functools.partial(policy, params)
        states, (seen, reward, ended) = jaxgames.rollout(game, states, key, steps, act, auto_reset=True, keep=keep)

        def back(following, step):  # what the next position is worth to its player, the player before loses
            value, reward, ended = step
            target = reward - jnp.where(ended, 0.0, following)
            return (1 - LAMBDA) * value + LAMBDA * target, target

        steps_seen = apply(params, seen).reshape(reward.shape), reward, ended
        _, target = jax.lax.scan(back, apply(params, states.observation), steps_seen, reverse=True)
        error, gradient = jax.value_and_grad(lambda x: jnp.mean((apply(x, seen) - target.ravel()) ** 2))(params)
        change, optimizer_state = OPTIMIZER.update(gradient, optimizer_state)
        return (optax.apply_updates(params, change), optimizer_state, states), error

    first = params, OPTIMIZER.init(params), jax.vmap(game.init)(jax.random.split(key, batch))
    last, errors = jax.jit(lambda carry: jax.lax.scan(update, carry, jax.random.split(key, updates)))(first)
    return last[0], errors


@jax.tree_util.register_dataclass
@dataclasses.dataclass(frozen=True)
class OverMirrors:
    """An evaluator of leaves: the mean value of all mirror images of the position. Its arrays are its parameters."""

    params: Any
    apply: Any = dataclasses.field(metadata={"static": True})
    has_policy = False

    def init(self, game, batch):
        return ()  # it remembers nothing from leaf to leaf

    def __call__(self, game, leaves, memory, track):
        seen = jax.vmap(lambda position: game.observe_position(position, jnp.bool_(True)))(leaves.position)
        values = [self.apply(self.params, symmetry.observe(seen)) for symmetry in game.symmetries]
        return mcts.Evaluation(sum(values) / len(values)), memory


def search(game, apply, params, states, bits):
    return mcts.search(game, states, jax.random.key(bits[0]), SIMULATIONS, evaluate=OverMirrors(params, apply)).actions


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0], usage=argparse.SUPPRESS)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--out", type=Path, default="own_network.png", help="the picture")
    parser.add_argument("--quick", action="store_true", help="a tiny run, to see that it works")
    options = parser.parse_args()
    if options.out.suffix not in (".png", ".svg") or not options.out.resolve().parent.is_dir():
        parser.error(f"--out {options.out}: expected a .png or .svg in a folder that exists")
    updates, batch, parts, rival = (4, 8, 2, "random") if options.quick else (1000, 256, 20, "uct:100")
    game, key = jaxgames.make("connect_four"), jax.random.key(options.seed)
    figure, axes = plt.subplots(figsize=(6, 3.5), layout="constrained")
    for name, make in {"plain JAX": in_plain_jax, "flax.nnx": in_nnx, "equinox": in_equinox}.items():
        apply, params = make(key)
        params, errors = learn(game, apply, params, key, updates, batch)

        for how, act in ((name, choose), (f"{name} and a search", search))[options.quick :]:
            player = jax_player(functools.partial(act, game, apply), params).make(game, how)
            print(f"{how}: {match(player, rival, games=20 * parts).win_rate:.1%} won against {rival}")
        axes.plot(jnp.linspace(0, updates, parts), errors.reshape(parts, -1).mean(1), label=name)
    axes.set(xlabel="updates", ylabel="squared error of TD(lambda)", title="One training, three kinds of networks")
    axes.legend()
    figure.savefig(options.out, dpi=100)


if __name__ == "__main__":
    main()
