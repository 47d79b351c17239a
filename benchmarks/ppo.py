"""A whole training step of PPO by self-play, with only the environment exchanged: steps per second, learning included.

The update of purejaxrl (Lu et al., 2022): actor and critic of two layers of 64 tanh units each, 1,024 games, 16 steps a
game, 4 passes over 4 minibatches, Adam. Both libraries' games go through the same driver, each with the library's own
`auto_reset`. The value of the next position counts for the player who is to move there. The same training with an
environment that does nothing shows which share the environment costs. Most of the time goes to learning, so no
environment can make the training much faster; `policy_loop.py` measures acting alone.
"""

import argparse
import itertools
import sys
import warnings
from functools import partial
from typing import Any, NamedTuple

import _games as loop
import jax
import jax.numpy as jnp
import optax
from _common import begin, finish, names, numbers, one_line_errors, parsed, parser, peer, rate
from _figures import Comparison, Figure, Report
from _games_timing import Compiled, in_turn
from jax import lax
from policy_loop import LIMIT, OURS, PGX, TITLES, Nothing, step_of

TITLE = "PPO by self-play, only the environment exchanged: steps per second with learning"
HIDDEN, STEPS, EPOCHS, MINIBATCHES = 64, 16, 4, 4
DISCOUNT, LAMBDA, CLIP, VALUE, ENTROPY = 0.99, 0.95, 0.2, 0.5, 0.01
OPTIMIZER = optax.chain(optax.clip_by_global_norm(0.5), optax.adam(2.5e-4, eps=1e-5))


class Played(NamedTuple):
    """What is kept of each step, `[steps, games, ...]`."""

    observation: jax.Array
    mask: jax.Array
    action: jax.Array
    log_prob: jax.Array
    value: jax.Array
    reward: jax.Array
    ended: jax.Array
    next_sign: jax.Array
    """1 where the same player moves next, -1 where the other one does."""


def main() -> int:
    """All games at all batch sizes."""
    options = parser(TITLE)
    options.add_argument("--against", type=names(("pgx",), "none"), default=["pgx"], help="pgx or none")
    options.add_argument("--games", type=names(PGX), default=["connect_four", "backgammon"], help=f"some of {PGX}")
    options.add_argument("--batch", type=numbers, default=[1024], help="games at once (default 1024)")
    options.add_argument("--seconds", type=float, default=1.0, help="of each repeat, about (default 1)")
    options = parsed(options)
    if options.quick:
        options.batch, options.repeats, options.seconds, options.against = [16], 1, 0.01, []
    begin()
    report = Report("ppo", TITLE)
    pgx = peer("pgx") if options.against else None
    for name in options.games:
        for batch in options.batch:
            one_batch(report, name, batch, pgx, options)
    kept = f"{STEPS} steps a game, {EPOCHS} passes over {MINIBATCHES} minibatches"
    report.notes.append(f"actor and critic of two layers of {HIDDEN} units each, {kept}")
    return finish(report, options, ("pgx", "optax"))


def one_batch(report: Report, name: str, batch: int, pgx: Any, options: argparse.Namespace) -> None:
    """The same training with each environment, their repeats in turn."""
    game = loop.make(name)
    loops = [partial(training, LIMIT, Nothing(game)), partial(training, OURS, game)]
    if pgx:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            loops.append(partial(training, "pgx", pgx.make(name)))
    settings = batch, loop.MIXED[name], options.seconds, options.seed, name in loop.SLOW
    runners = [Compiled(each, *settings) for each in loops]
    what = f"{TITLES.get(name, name)}, PPO, batch {batch:,}"
    figures = {}
    for runner, (timings, _) in zip(runners, in_turn(runners, options.repeats), strict=True):
        figure = rate(what, runner.by, "steps/s", timings, compile_seconds=runner.compile_seconds)
        figures[runner.by] = report.add(figure)
    shares = {}
    for by, figure in figures.items():
        cost = (100 * (1 - rate / most) for rate, most in zip(figure.values, figures[LIMIT].values, strict=True))
        share = f"{what}: share of the training that the environment costs"
        shares[by] = Figure(share, by, "% of the step", tuple(cost), form=".0f")
    for found in (figures, {by: report.add(share) for by, share in shares.items() if by != LIMIT}):
        report.comparisons.append(Comparison(found[OURS].what, found[OURS], found.get("pgx")))


def training(by: str, env: Any, batch: int) -> loop.Loop:
    """Updates of PPO: each plays `STEPS` actions of all games, and learns from them."""
    step_or_reset = step_of(by, env, batch)

    def block(carry, key):
        states, learner = carry
        play_key, learn_key = jax.random.split(key)
        keys = jax.random.split(play_key, STEPS)
        (states, _), played = lax.scan(partial(act, step_or_reset), (states, learner[0]), keys)
        last = network(learner[0], states.observation)[1]
        learner = learn(learner, played, *advantages(played, last), learn_key)
        return (states, learner), jnp.sum(played.ended, dtype=jnp.int32)

    def more(states):
        params = weights(states.observation, states.legal_action_mask)
        return params, OPTIMIZER.init(params)

    return loop.Loop("PPO", by, env.init, more, block, STEPS)


def act(step_or_reset: Any, carry: Any, key: jax.Array) -> tuple[Any, Played]:
    """One action of all games, drawn from the policy."""
    states, params = carry
    policy_key, step_key = jax.random.split(key)
    observation, mask, player = states.observation, states.legal_action_mask, states.current_player
    logits, value = network(params, observation)
    logits = jnp.where(mask, logits, -jnp.inf)
    action = jax.random.categorical(policy_key, logits).astype(jnp.int32)
    after = step_or_reset(states, action, step_key)
    reward = jnp.take_along_axis(after.rewards, player[:, None], axis=1)[:, 0]
    next_sign = jnp.where(after.current_player == player, 1.0, -1.0)
    ended = after.terminated | after.truncated
    return (after, params), Played(observation, mask, action, chosen(logits, action), value, reward, ended, next_sign)


def advantages(played: Played, last: jax.Array) -> tuple[jax.Array, jax.Array]:
    """Generalized advantage estimates, each for the player who moves, and the targets of the value."""

    def back(carry, step):
        advantage, value = carry
        follows = jnp.where(step.ended, 0.0, DISCOUNT * step.next_sign)
        advantage = step.reward + follows * (value + LAMBDA * advantage) - step.value
        return (advantage, step.value), advantage

    _, found = lax.scan(back, (jnp.zeros_like(last), last), played, reverse=True)
    return found, found + played.value


def learn(learner: Any, played: Played, advantage: jax.Array, target: jax.Array, key: jax.Array) -> Any:
    """Some passes over all that was played, in shuffled minibatches."""
    rows = jax.tree.map(lambda x: x.reshape(-1, *x.shape[2:]), (played, advantage, target))

    def minibatch(learner, index):
        params, state = learner
        gradient = jax.grad(loss)(params, *jax.tree.map(lambda x: x[index], rows))
        updates, state = OPTIMIZER.update(gradient, state, params)
        return (optax.apply_updates(params, updates), state), None

    def epoch(learner, key):
        order = jax.random.permutation(key, len(rows[1])).reshape(MINIBATCHES, -1)
        return lax.scan(minibatch, learner, order)

    return lax.scan(epoch, learner, jax.random.split(key, EPOCHS))[0]


def loss(params: Any, played: Played, advantage: jax.Array, target: jax.Array) -> jax.Array:
    """The clipped loss of PPO (Schulman et al., 2017, equation 9), with a clipped value loss."""
    logits, value = network(params, played.observation)
    logits = jnp.where(played.mask, logits, jnp.finfo(jnp.float32).min)
    ratio = jnp.exp(chosen(logits, played.action) - played.log_prob)
    advantage = (advantage - jnp.mean(advantage)) / (jnp.std(advantage) + 1e-8)
    gain = jnp.minimum(ratio * advantage, jnp.clip(ratio, 1 - CLIP, 1 + CLIP) * advantage)
    clipped = played.value + jnp.clip(value - played.value, -CLIP, CLIP)
    value_loss = 0.5 * jnp.mean(jnp.maximum((value - target) ** 2, (clipped - target) ** 2))
    log_probs = jax.nn.log_softmax(logits)
    entropy = -jnp.mean(jnp.sum(jnp.where(played.mask, jnp.exp(log_probs) * log_probs, 0.0), axis=1))
    return VALUE * value_loss - jnp.mean(gain) - ENTROPY * entropy


def chosen(logits: jax.Array, action: jax.Array) -> jax.Array:
    """The logarithms of the probabilities of actions."""
    return jnp.take_along_axis(jax.nn.log_softmax(logits), action[:, None], axis=1)[:, 0]


def weights(observation: jax.Array, mask: jax.Array) -> Any:
    """Of actor and critic, the same for all libraries."""
    inputs, outputs = observation[0].size, mask.shape[-1]

    def layers(key, sizes):
        return [
            (jax.random.normal(jax.random.fold_in(key, number), (a, b)) / a**0.5, jnp.zeros(b))
            for number, (a, b) in enumerate(itertools.pairwise(sizes))
        ]

    actor, critic = jax.random.split(jax.random.key(1))
    return layers(actor, (inputs, HIDDEN, HIDDEN, outputs)), layers(critic, (inputs, HIDDEN, HIDDEN, 1))


def network(params: Any, observation: jax.Array) -> tuple[jax.Array, jax.Array]:
    """Logits and values."""
    flat = observation.reshape(len(observation), -1).astype(jnp.float32)
    logits, value = (_forward(layers, flat) for layers in params)
    return logits, value[:, 0]


def _forward(layers: Any, x: jax.Array) -> jax.Array:
    for weight, bias in layers[:-1]:
        x = jnp.tanh(x @ weight + bias)
    weight, bias = layers[-1]
    return x @ weight + bias


if __name__ == "__main__":
    with one_line_errors():
        sys.exit(main())
