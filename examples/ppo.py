"""PPO by self-play on any game: the whole training is one jitted call, in the style of purejaxrl.

    python examples/ppo.py --game connect_four

One network plays both sides and learns from both (Schulman et al., 2017; Lu et al., 2022). A value is for the
player who is to move, so the next value is negated where the other player moves next; in backgammon a player often
acts several times in a row. Nothing else is special about two-player games.
"""

import argparse
import functools
import time
from pathlib import Path

import jax
import jax.numpy as jnp
import matplotlib.pyplot as plt
import optax
from flax import linen as nn

import jaxgames
from jaxgames.matches import match
from jaxgames.players import by_policy

UPDATES, BATCH, STEPS = 240, 1024, 32  # each update learns from 32 actions of each of 1,024 games, ...
EPOCHS, MINIBATCHES, STEP_SIZE, LAMBDA, CLIP, ENTROPY = 2, 32, 1e-3, 0.9, 0.2, 0.1  # ... twice, in 32 parts
PARTS = 20  # of a training; the player is measured after each
OPPONENTS = {"backgammon": "simple:1", "checkers": "alphabeta:1"}  # in other games a search, uct:50


class ActorCritic(nn.Module):
    """Logits of the actions, and what the player who is to move expects to win."""

    actions: int

    @nn.compact
    def __call__(self, observation):
        x = observation.reshape(len(observation), -1).astype(jnp.float32)
        for units in (256, 128):
            x = nn.relu(nn.Dense(units)(x))
        return nn.Dense(self.actions)(x), nn.Dense(1)(x)[:, 0]


def make_train(game, network, updates, batch, parts):
    """A function of a key that trains, and measures the player after each part of the training."""
    optimizer = optax.adam(optax.linear_schedule(STEP_SIZE, 0, updates * EPOCHS * MINIBATCHES), eps=1e-5)

    def policy(params, key, states):
        logits, value = network.apply(params, states.observation)
        log_probs = jax.nn.log_softmax(jnp.where(states.legal_action_mask, logits, -1e9))  # never an illegal action
        actions = jax.random.categorical(key, log_probs).astype(jnp.int32)
        return actions, (jnp.take_along_axis(log_probs, actions[:, None], 1)[:, 0], value)

    def keep(step):  # what is learned from a step of all games; a policy's second result is `step.extras`
        before, mover = step.states, step.states.current_player
        sign = jnp.where(step.after.current_player == mover, 1.0, -1.0)
        reward = jnp.take_along_axis(step.rewards, mover[:, None], 1)[:, 0]
        played = before.observation, before.legal_action_mask, step.actions, *step.extras
        return played, reward, jnp.where(step.ended, 0.0, sign)

    def advantages(value, reward, discount, last_value):  # Schulman et al. (2016), backwards in time
        def back(carry, step):
            advantage, next_value = carry
            value, reward, discount = step
            advantage = reward + discount * (next_value + LAMBDA * advantage) - value
            return (advantage, value), advantage

        zero = jnp.zeros_like(last_value)
        return jax.lax.scan(back, (zero, last_value), (value, reward, discount), reverse=True)[1]

    def loss(params, rows):
        (observation, mask, action, old_log_prob, old_value), advantage = rows
        logits, value = network.apply(params, observation)
        log_probs = jax.nn.log_softmax(jnp.where(mask, logits, -1e9))
        ratio = jnp.exp(jnp.take_along_axis(log_probs, action[:, None], 1)[:, 0] - old_log_prob)
        squared_error = (value - (old_value + advantage)) ** 2
        advantage = (advantage - advantage.mean()) / (advantage.std() + 1e-8)
        gain = jnp.minimum(ratio * advantage, jnp.clip(ratio, 1 - CLIP, 1 + CLIP) * advantage)
        entropy = -(jnp.exp(log_probs) * log_probs).sum(1)
        return (0.5 * squared_error - gain - ENTROPY * entropy).mean()

    def update(carry, key):
        params, optimizer_state, states = carry
        play_key, learn_key = jax.random.split(key)
        act = functools.partial(policy, params)
        states, kept = jaxgames.rollout(game, states, play_key, STEPS, act, auto_reset=True, keep=keep)
        played, reward, discount = kept  # each [STEPS, batch, ...]
        rows = played, advantages(played[-1], reward, discount, network.apply(params, states.observation)[1])
        rows = jax.tree.map(lambda x: x.reshape(-1, *x.shape[2:]), rows)

        def minibatch(carry, index):
            gradient = jax.grad(loss)(carry[0], jax.tree.map(lambda x: x[index], rows))
            change, optimizer_state = optimizer.update(gradient, carry[1], carry[0])
            return (optax.apply_updates(carry[0], change), optimizer_state), None

        order = jax.vmap(lambda key: jax.random.permutation(key, batch * STEPS))(jax.random.split(learn_key, EPOCHS))
        learned, _ = jax.lax.scan(minibatch, (params, optimizer_state), order.reshape(EPOCHS * MINIBATCHES, -1))
        return (*learned, states), None

    def against_random(params, key):  # the share of games won as player 0; who begins is drawn
        def act(key, states):
            ours = policy(params, key, states)[0]
            return jnp.where(states.current_player == 0, ours, jaxgames.random_action(key, states))

        states = jax.vmap(game.init)(jax.random.split(key, 256))
        results = lambda step: jnp.stack([step.rewards[:, 0] > 0, step.ended])
        won, ended = jaxgames.rollout(game, states, key, 512, act, auto_reset=True, keep=results)[1].sum((0, 2))
        return won / ended

    def part(carry, key):
        learn_key, measure_key = jax.random.split(key)
        carry, _ = jax.lax.scan(update, carry, jax.random.split(learn_key, max(1, updates // parts)))
        return carry, against_random(carry[0], measure_key)

    def train(key):
        init_key, states_key, key = jax.random.split(key, 3)
        states = jax.vmap(game.init)(jax.random.split(states_key, batch))
        params = network.init(init_key, states.observation)
        carry, won = jax.lax.scan(part, (params, optimizer.init(params), states), jax.random.split(key, parts))
        return carry[0], won

    return train


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0], usage=argparse.SUPPRESS)
    parser.add_argument("--game", default="connect_four", choices=jaxgames.available_games())
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--out", type=Path, default="ppo.png", help="the picture")
    parser.add_argument("--quick", action="store_true", help="a tiny run, to see that it works")
    options = parser.parse_args()
    if options.out.suffix not in (".png", ".svg") or not options.out.resolve().parent.is_dir():
        parser.error(f"--out {options.out}: expected a .png or .svg in a folder that exists")
    updates, batch, parts, games = (2, 16, 2, 4) if options.quick else (UPDATES, BATCH, PARTS, 400)
    game, began = jaxgames.make(options.game), time.perf_counter()
    network = ActorCritic(game.num_actions)
    train = jax.jit(make_train(game, network, updates, batch, parts))
    params, won = jax.block_until_ready(train(jax.random.key(options.seed)))
    print(f"{time.perf_counter() - began:.0f} s; won against random moves: {', '.join(f'{x:.1%}' for x in won)}")
    rival = "random" if options.quick else OPPONENTS.get(game.id, "uct:50")
    result = match(by_policy("ppo", game, network.apply, params), rival, games=games)
    print(f"{result.ppg:+.2f} points a game against {rival}: {result.win_rate:.1%} won")
    figure, axes = plt.subplots(figsize=(6, 3.5), layout="constrained")
    axes.plot(jnp.linspace(0, updates * batch * STEPS / 1e6, parts + 1)[1:], 100 * won, marker="o")
    axes.set(xlabel="million actions", ylabel="games won, %", title=f"PPO against random moves: {game.id}")
    figure.savefig(options.out, dpi=100)


if __name__ == "__main__":
    main()
