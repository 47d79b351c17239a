"""DQN by self-play with masks: a replay buffer (flashbax), a target network, and never an illegal action.

    python examples/dqn_masked.py

Q(s, a) is what the player who is to move in s may expect after a (Mnih et al., 2015). The next position belongs to the
other player, so its best value is negated. Illegal actions are masked in both places where a maximum is taken:
when an action is chosen, and in the target.
"""

import argparse
import functools
import time
from pathlib import Path

import flashbax
import jax
import jax.numpy as jnp
import matplotlib.pyplot as plt
import optax
from flax import linen as nn

import jaxgames
from jaxgames.matches import match
from jaxgames.players import by_policy

STEPS, BUFFER, SAMPLE, LEARNED, STEP_SIZE = 4, 200_000, 512, 4, 5e-4  # 4 actions of each game, then 4 steps, ...
EXPLORED, TARGET = (1.0, 0.1), 0.01  # share of random actions at the start and at the end; step of the target network


class QNetwork(nn.Module):
    """The values of all actions, legal or not."""

    actions: int

    @nn.compact
    def __call__(self, observation):
        x = observation.reshape(len(observation), -1).astype(jnp.float32)
        for units in (256, 128):
            x = nn.relu(nn.Dense(units)(x))
        return jnp.tanh(nn.Dense(self.actions)(x))


def make_train(game, network, buffer, updates, batch):
    """Functions of a key that begin a training, and play and learn once: `begin(key)`, `update(carry, key)`."""
    optimizer = optax.adam(STEP_SIZE)

    def policy(params, explored, key, states):
        values = jnp.where(states.legal_action_mask, network.apply(params, states.observation), -jnp.inf)
        random = jax.random.bernoulli(key, explored, states.terminated.shape)
        return jnp.where(random, jaxgames.random_action(key, states), jnp.argmax(values, 1).astype(jnp.int32))

    def keep(step):
        before, after = step.states, step.after
        mover = before.current_player[:, None]
        sign = jnp.where(after.current_player == before.current_player, 1.0, -1.0)
        return {
            "seen": before.observation,
            "action": step.actions,
            "reward": jnp.take_along_axis(step.rewards, mover, 1)[:, 0],
            "discount": jnp.where(step.ended, 0.0, sign),
            "next_seen": after.observation,
            "next_mask": after.legal_action_mask,  # all true where the game is over; there the discount is 0
        }

    def loss(params, target_params, rows):
        value = jnp.take_along_axis(network.apply(params, rows["seen"]), rows["action"][:, None], 1)[:, 0]
        # Double DQN (van Hasselt et al., 2016): the network chooses, the target network says what that is worth.
        best = jnp.argmax(jnp.where(rows["next_mask"], network.apply(params, rows["next_seen"]), -jnp.inf), 1)
        following = jnp.take_along_axis(network.apply(target_params, rows["next_seen"]), best[:, None], 1)[:, 0]
        target = jax.lax.stop_gradient(rows["reward"] + rows["discount"] * following)
        return optax.huber_loss(value, target).mean()

    def begin(key):
        states = jax.vmap(game.init)(jax.random.split(key, batch))
        params = network.init(key, states.observation)
        row = jax.tree.map(lambda x: x[0, 0], jaxgames.rollout(game, states, key, 1, keep=keep)[1])
        return params, params, optimizer.init(params), buffer.init(row), states, jnp.float32(0)

    def update(carry, key):
        params, target_params, optimizer_state, rows, states, number = carry
        play_key, sample_key = jax.random.split(key)
        first, last = EXPLORED
        act = functools.partial(policy, params, jnp.maximum(last, first + (last - first) * 4 * number / updates))
        states, played = jaxgames.rollout(game, states, play_key, STEPS, act, auto_reset=True, keep=keep)
        rows = buffer.add(rows, jax.tree.map(lambda x: x.reshape(-1, *x.shape[2:]), played))

        def learn(carry, key):
            params, target_params, optimizer_state = carry
            sample = buffer.sample(rows, key).experience
            gradient = jax.grad(loss)(params, target_params, sample)
            change, optimizer_state = optimizer.update(gradient, optimizer_state)
            params = optax.apply_updates(params, change)
            return (params, optax.incremental_update(params, target_params, TARGET), optimizer_state), None

        learned, _ = jax.lax.scan(
            learn, (params, target_params, optimizer_state), jax.random.split(sample_key, LEARNED)
        )
        return (*learned, rows, states, number + 1), None

    return begin, update


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0], usage=argparse.SUPPRESS)
    parser.add_argument("--game", default="connect_four", choices=("tic_tac_toe", "connect_four", "checkers"))
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--out", type=Path, default="dqn_masked.png", help="the picture")
    parser.add_argument("--quick", action="store_true", help="a tiny run, to see that it works")
    options = parser.parse_args()
    if options.out.suffix not in (".png", ".svg") or not options.out.resolve().parent.is_dir():
        parser.error(f"--out {options.out}: expected a .png or .svg in a folder that exists")
    parts, updates, batch, games = (1, 2, 8, 4) if options.quick else (12, 4800, 128, 400)
    game, key, began = jaxgames.make(options.game), jax.random.key(options.seed), time.perf_counter()
    network = QNetwork(game.num_actions)
    room = dict(max_length=BUFFER, min_length=1, sample_batch_size=SAMPLE, add_batches=True)
    begin, update = make_train(game, network, flashbax.make_item_buffer(**room), updates, batch)
    part = jax.jit(lambda carry, keys: jax.lax.scan(update, carry, keys)[0], donate_argnums=0)

    def values(params, observation):  # as logits, so that the player takes the legal action of the greatest value
        values = network.apply(params, observation)
        return values, values.max(1)

    carry, won = jax.jit(begin)(key), {"random": []} if options.quick else {"random": [], "uct:50": []}
    for number in range(parts + 1):
        for opponent, shares in won.items():
            player = by_policy("dqn", game, values, carry[0])
            shares.append(100 * match(player, opponent, games=games, seed=1).win_rate)
        print(
            f"{time.perf_counter() - began:.0f} s: won {', '.join(f'{x[-1]:.1f}% against {o}' for o, x in won.items())}"
        )
        if number < parts:
            carry = part(carry, jax.random.split(jax.random.fold_in(key, number), updates // parts))
    figure, axes = plt.subplots(figsize=(6, 3.5), layout="constrained")
    actions = jnp.linspace(0, updates * batch * STEPS / 1e6, parts + 1)
    for opponent, shares in won.items():
        axes.plot(actions, shares, marker="o", label=f"against {opponent}")
    axes.set(xlabel="million actions of self-play", ylabel="games won, %", title=f"DQN with masks: {game.id}")
    axes.legend()
    figure.savefig(options.out, dpi=100)


if __name__ == "__main__":
    main()
