"""A policy plays all games, many at once, as a trainer would let it: steps per second, and what the environment costs.

In each step an MLP of 64 units reads the observation, the action is drawn by Gumbel noise over the masked logits, and
observation, mask, action, rewards and end are stored, `[steps, batch, ...]`, 16 steps at a time. Ended games are
followed by new ones. The rows:

* *policy loop*: one driver for both libraries, each with its own `auto_reset`;
* *policy loop, `rollout`*: the same work by `jaxgames.rollout`, which draws fewer random numbers, beside the same peer;
* the limit: the same driver with an environment that does nothing. Whatever the policy plays, it shows recorded
  observations and masks of the same shapes in turn.

What the environment costs is 1 - (seconds a step of the limit) / (seconds a step of the loop).
"""

import argparse
import sys
import warnings
from functools import partial
from typing import Any, NamedTuple

import _games as loop
import jax
import jax.numpy as jnp
from _common import begin, finish, names, numbers, one_line_errors, parsed, parser, peer, rate
from _figures import Comparison, Figure, Report
from _games_timing import Compiled, in_turn, written_in_loop
from jax import lax

import jaxgames

TITLE = "Policy loop: steps per second, and the share of the environment"
GAMES = ("tic_tac_toe", "connect_four", "checkers", "backgammon")
PGX = ("tic_tac_toe", "connect_four", "backgammon")
TITLES = {"tic_tac_toe": "tic-tac-toe", "connect_four": "Connect Four"}
HIDDEN, STEPS = 64, 16
OURS, LIMIT = "jaxgames", "an environment that does nothing"
SAME, ROLLOUT = "policy loop", "policy loop, `rollout`"


def main() -> int:
    """All games at all batch sizes."""
    options = parser(TITLE)
    options.add_argument("--against", type=names(("pgx",), "none"), default=["pgx"], help="pgx or none")
    options.add_argument("--games", type=names(GAMES), default=list(GAMES), help=f"some of {','.join(GAMES)}")
    options.add_argument("--batch", type=numbers, default=[1024, 8192], help="games at once (default 1024,8192)")
    options.add_argument("--seconds", type=float, default=0.5, help="of each repeat, about (default 0.5)")
    options = parsed(options)
    if options.quick:
        options.batch, options.repeats, options.seconds, options.against = [16], 1, 0.01, []
    begin()
    report = Report("policy_loop", TITLE)
    pgx = peer("pgx") if options.against else None
    for name in options.games:
        for batch in options.batch:
            one_batch(report, name, batch, pgx, options)
    report.notes.append(f"MLP of {HIDDEN} units, Gumbel noise over the masked logits, {STEPS} steps stored at a time")
    return finish(report, options, ("pgx", "flax"))


def one_batch(report: Report, name: str, batch: int, pgx: Any, options: argparse.Namespace) -> None:
    """All loops of a game at one batch size, their repeats in turn."""
    game = loop.make(name)
    loops = [partial(driver, LIMIT, Nothing(game)), partial(driver, OURS, game), partial(by_rollout, game)]
    if pgx and name in PGX:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            loops.append(partial(driver, "pgx", pgx.make(name)))
    settings = batch, loop.MIXED[name], options.seconds, options.seed, name in loop.SLOW
    runners = [Compiled(each, *settings) for each in loops]
    title = TITLES.get(name, name)
    for runner in runners:
        what = f"{title}, {runner.mode}, batch {batch:,}, {runner.by}: all that is kept is written in every step"
        report.checks[what] = written_in_loop(runner.text, runner.loop.kept)
    figures: dict[tuple[str, str], Figure] = {}
    for runner, (timings, _) in zip(runners, in_turn(runners, options.repeats), strict=True):
        what = f"{title}, {runner.mode}, batch {batch:,}"
        figure = rate(what, runner.by, "steps/s", timings, compile_seconds=runner.compile_seconds)
        figures[runner.mode, runner.by] = report.add(figure)
    limit, theirs = figures[SAME, LIMIT], figures.get((SAME, "pgx"))
    for mode, by in ((SAME, "pgx"), (SAME, OURS), (ROLLOUT, OURS)):
        if (mode, by) not in figures:
            continue
        figure = figures[mode, by]
        cost = f"{title}, {mode}, batch {batch:,}: share of the step that the environment costs"
        shares = (100 * (1 - rate / most) for rate, most in zip(figure.values, limit.values, strict=True))
        share = report.add(Figure(cost, by, "% of the step", tuple(shares), form=".0f"))
        if by == OURS:
            beside = next((f for f in report.figures if f.by == "pgx" and f.what == _same(cost)), None)
            report.comparisons += [Comparison(figure.what, figure, theirs), Comparison(share.what, share, beside)]


def _same(what: str) -> str:
    """The row of the driver that belongs to a row of `rollout`: pgx has the driver only."""
    return what.replace(ROLLOUT, SAME)


def driver(by: str, env: Any, batch: int) -> loop.Loop:
    """The loop that knows nothing of a library but `init`, `step`, `auto_reset` and the public attributes."""
    step_or_reset = step_of(by, env, batch)

    def block(carry, key):
        states, (params, _) = carry

        def step(states, keys):
            policy_key, step_key = keys
            observation, mask = states.observation, states.legal_action_mask
            actions = act(params, policy_key, observation, mask)
            states = step_or_reset(states, actions, step_key)
            return states, (observation, mask, actions, states.rewards, states.terminated | states.truncated)

        states, kept = lax.scan(step, states, jax.random.split(key, (STEPS, 2)))
        return (states, (params, kept)), jnp.sum(kept[4], dtype=jnp.int32)

    return _loop(SAME, by, env, batch, block)


def step_of(by: str, env: Any, batch: int) -> Any:
    """`(states, actions, key) -> states`, new games in place of ended ones."""
    if by == LIMIT:
        return env.step
    wrapper = peer("pgx.experimental.wrappers").auto_reset if by == "pgx" else jaxgames.auto_reset
    step = jax.vmap(wrapper(env.step, env.init))
    return lambda states, actions, key: step(states, actions, jax.random.split(key, batch))


def by_rollout(game: Any, batch: int) -> loop.Loop:
    """The same by `jaxgames.rollout`."""

    def block(carry, key):
        states, (params, _) = carry

        def policy(key, states):
            return act(params, key, states.observation, states.legal_action_mask)

        def keep(step):
            return step.states.observation, step.states.legal_action_mask, step.actions, step.rewards, step.ended

        states, kept = jaxgames.rollout(game, states, key, STEPS, policy, auto_reset=True, keep=keep)
        return (states, (params, kept)), jnp.sum(kept[4], dtype=jnp.int32)

    return _loop(ROLLOUT, OURS, game, batch, block)


def _loop(mode: str, by: str, env: Any, batch: int, block: Any) -> loop.Loop:
    """What `block` plays, with the weights of the policy and all that was stored last in the carry."""

    def shapes(key):
        states = loop.new_games(env.init, key, batch)
        params = weights(states.observation, states.legal_action_mask)
        return block((states, (params, None)), key)[0][1][1]

    kept = jax.eval_shape(shapes, jax.random.key(0))

    def more(states):
        arrays = jax.tree.map(lambda x: jnp.zeros(x.shape, x.dtype), kept)
        return weights(states.observation, states.legal_action_mask), arrays

    return loop.Loop(mode, by, env.init, more, block, STEPS, kept=tuple(kept[:2]))


def weights(observation: jax.Array, mask: jax.Array) -> tuple[jax.Array, jax.Array]:
    """Of the policy, the same for all libraries."""
    inputs, outputs = observation[0].size, mask.shape[-1]
    one, other = jax.random.split(jax.random.key(1))
    return (
        jax.random.normal(one, (inputs, HIDDEN)) / inputs**0.5,
        jax.random.normal(other, (HIDDEN, outputs)) / HIDDEN**0.5,
    )


def act(params: tuple[jax.Array, jax.Array], key: jax.Array, observation: jax.Array, mask: jax.Array) -> jax.Array:
    """Actions drawn from the policy."""
    flat = observation.reshape(len(observation), -1).astype(jnp.float32)
    logits = jax.nn.relu(flat @ params[0]) @ params[1]
    noise = jax.random.gumbel(key, logits.shape)
    return jnp.argmax(jnp.where(mask, logits + noise, -jnp.inf), axis=1).astype(jnp.int32)


class Shown(NamedTuple):
    """A state of the environment that does nothing: it shows two recorded positions in turn."""

    observations: jax.Array
    masks: jax.Array
    number: jax.Array
    rewards: jax.Array
    terminated: jax.Array

    @property
    def observation(self) -> jax.Array:
        """The recorded observation whose turn it is."""
        return self._now(self.observations)

    @property
    def legal_action_mask(self) -> jax.Array:
        """The mask that belongs to it."""
        return self._now(self.masks)

    @property
    def current_player(self) -> jax.Array:
        """The players in turn."""
        return self.number & 1

    @property
    def truncated(self) -> jax.Array:
        """Never."""
        return self.terminated

    def _now(self, recorded: jax.Array) -> jax.Array:
        axis = self.terminated.ndim
        return lax.dynamic_index_in_dim(recorded, self.number.reshape(-1)[0] & 1, axis, keepdims=False)


class Nothing(NamedTuple):
    """The environment that does nothing, in the shapes of a game."""

    game: Any

    def init(self, key: jax.Array) -> Shown:
        """The opening position of the game and the one after it."""
        first = self.game.init(key)
        second = self.game.step(first, jaxgames.random_action(key, first), key)
        observations = jnp.stack([first.observation, second.observation])
        masks = jnp.stack([first.legal_action_mask, second.legal_action_mask])
        return Shown(observations, masks, jnp.int32(0), first.rewards, first.terminated)

    def step(self, states: Shown, actions: jax.Array, key: jax.Array) -> Shown:
        """The other recorded position."""
        return states._replace(number=states.number + 1)


if __name__ == "__main__":
    with one_line_errors():
        sys.exit(main())
