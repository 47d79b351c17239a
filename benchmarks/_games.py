"""The loops of `games.py`: a batch of games of random legal play, each ended game followed by a new one.

A loop's carry is `(states, more)`. `block` plays `steps` actions of each game and returns how many games ended, or
None where it does not count them.
"""

import functools
import math
from collections.abc import Callable
from typing import Any, NamedTuple

import jax
import jax.numpy as jnp
import numpy as np
from jax import lax

import jaxgames
from jaxgames.envs import Game, Transition, random_action, rollout
from jaxgames.ops.random_bits import random_bits

OPTIONS: dict[str, dict[str, Any]] = {"checkers": {"draw_after": 40}}
"""Options of our games, so that they end by the rules of the peer: OpenSpiel's checkers is drawn after 40 moves."""

MIXED = {"tic_tac_toe": 40, "connect_four": 160, "checkers": 400, "backgammon": 800}
"""Steps of about four games, after which the games of a batch are in all their phases."""

SLOW = {"backgammon"}
"""Games that a few hundred of are mixed, and then copied to make the batch: all of it would take minutes."""


CACHE, LONG = 4 * 2**20, 64
SINGLE = {"checkers"}  # one step a block is fastest: XLA:CPU writes the large observations of several by one thread
"""Bytes of what *written* keeps in a block of steps, and the steps of a block that is longer than that."""


class Loop(NamedTuple):
    """A way to go on playing a batch of games. The function that makes it says what exactly it does."""

    mode: str
    by: str
    fresh: Callable[[jax.Array], Any]
    """A new game, from a key."""
    more: Callable[[Any], Any]
    """What the loop carries besides the states, for these first states."""
    block: Callable[[Any, jax.Array], tuple[Any, jax.Array | None]]
    steps: int
    unit: str = "steps"
    kept: tuple[jax.ShapeDtypeStruct, ...] = ()
    """Arrays that the loop must write in every step."""


def make(name: str) -> Game:
    """Our game, with the rules of its peer."""
    return jaxgames.make(name, **OPTIONS.get(name, {}))


def rules(game: Game, batch: int, steps: int = 256) -> Loop:
    """*rules only*: our `rollout`, which keeps nothing: no observation and no mask is ever made.

    Small batches are played in parts on a CPU, as `rollout` advises.
    """
    parts = 256 if batch <= 1024 and batch % 256 == 0 and jax.default_backend() == "cpu" else None

    def block(carry, key):
        states, _ = rollout(
            game, carry[0], key, steps, auto_reset=True, games_at_once=parts, keep=lambda transition: None
        )
        return (states, None), None

    return Loop("rules only", "jaxgames", game.init, lambda states: None, block, steps)


def positions(game: Game, batch: int, steps: int = 256) -> Loop:
    """*rules only* without `State`: turns of bare positions, no rewards, player ids or counts of steps kept.

    A turn is an action or, in backgammon, up to four of them.
    """
    turns = game.id == "backgammon"

    def step(positions, key):
        turn_key, chance_key, opening_key = jax.random.split(key, 3)
        outcome = game.random_turn(positions, random_bits(turn_key, (batch,)))
        after = outcome.position
        if game.outcome_probabilities:
            after = jax.vmap(game.chance)(after, game.draw_outcome(random_bits(chance_key, (batch,))))
        fresh = new_games(game.init_position, opening_key, batch)
        after = jax.tree.map(functools.partial(_choose, outcome.over), fresh, after)
        return after, jnp.sum(outcome.over, dtype=jnp.int32)

    def block(carry, key):
        positions, over = lax.scan(step, carry[0], jax.random.split(key, steps))
        return (positions, None), jnp.sum(over)

    mode, unit = ("whole turns", "turns") if turns else ("bare positions", "steps")
    return Loop(mode, "jaxgames", game.init_position, lambda states: None, block, steps, unit)


def written(game: Game, batch: int, steps: int | None = None) -> Loop:
    """*written*, ours: `rollout`, which keeps observation, mask, rewards and ends of every step.

    They are written as a learner reads them, `[steps, batch, ...]`, one block of steps over the other. By default a
    block is small enough for the processor's cache (pgx's loop overwrites what a single step wrote).
    """
    states = jax.eval_shape(lambda key: new_games(game.init, key, batch), jax.random.key(0))

    def play(states, key, steps):
        return rollout(game, states, key, steps, auto_reset=True, keep=observed)

    def shapes(steps):
        return jax.eval_shape(functools.partial(play, steps=steps), states, jax.random.key(0))[1]

    short = steps is None
    if short:
        size = sum(math.prod(x.shape) * x.dtype.itemsize for x in shapes(1))
        steps = 1 if game.id in SINGLE else max(2, min(16, CACHE // size))
    kept = shapes(steps)

    def block(carry, key):
        states, arrays = play(carry[0], key, steps)
        return (states, arrays), jnp.sum(arrays[3], dtype=jnp.int32)

    def more(states):
        return jax.tree.map(lambda x: jnp.zeros(x.shape, x.dtype), kept)

    mode = "written" if short else f"written, {steps} steps at a time"
    return Loop(mode, "jaxgames", game.init, more, block, steps, kept=tuple(kept))


def observed(transition: Transition) -> tuple[jax.Array, ...]:
    """Observation and mask that the action was chosen by, rewards, and whether the game ended."""
    states = transition.states
    return states.observation, states.legal_action_mask, transition.rewards, transition.ended


def pgx_loop(mode: str, by: str, env: Any, utils: Any, wrappers: Any, batch: int, steps: int = 16) -> Loop:
    """*written*, pgx's, and *their loop*, ours: pgx's documented driver, `auto_reset` and `act_randomly` in a scan.

    Observation, mask, rewards and ends are attributes of the state, with pgx's games arrays of the carry.
    """
    step_or_reset = jax.vmap(wrappers.auto_reset(env.step, env.init))

    def step(states, key):
        choice_key, step_key = jax.random.split(key)
        actions = utils.act_randomly(choice_key, states.legal_action_mask)
        states = step_or_reset(states, actions, jax.random.split(step_key, batch))
        return states, jnp.sum(states.terminated | states.truncated, dtype=jnp.int32)

    def block(carry, key):
        states, ended = lax.scan(step, carry[0], jax.random.split(key, steps))
        return (states, None), jnp.sum(ended)

    return Loop(mode, by, env.init, lambda states: None, block, steps)


def same_loop(by: str, env: Any, batch: int, steps: int = 16) -> Loop:
    """*same loop*: one driver for both libraries, which knows nothing but `init`, `step` and the public attributes.

    It draws an action over the bool mask by one random word a game. It reads every element of observation and mask, and
    adds them with weights. Games that have ended are replaced by new ones, which were made before the loop.
    """

    def step(carry, keys):
        states, (fresh, total) = carry
        choice_key, step_key = keys
        mask = states.legal_action_mask
        total = total + consumed(states.observation) + consumed(mask)
        actions = random_action(choice_key, mask)
        states = jax.vmap(env.step)(states, actions, jax.random.split(step_key, batch))
        ended = states.terminated | states.truncated
        states = jax.tree.map(functools.partial(_choose, ended), fresh, states)
        return (states, (fresh, total)), jnp.sum(ended, dtype=jnp.int32)

    def block(carry, key):
        carry, ended = lax.scan(step, carry, jax.random.split(key, (steps, 2)))
        return carry, jnp.sum(ended)

    def more(states):
        return new_games(env.init, jax.random.key(1), batch), jnp.float32(0)

    return Loop("same loop", by, env.init, more, block, steps)


def consumed(values: jax.Array) -> jax.Array:
    """A weighted sum of all elements of a batch of arrays, as a layer of one unit would form it."""
    flat = values.reshape(values.shape[0], -1).astype(jnp.float32)
    weights = np.cos(np.arange(flat.shape[1])).astype(np.float32)
    return jnp.sum(flat @ weights)


def new_games(fresh: Callable[[jax.Array], Any], key: jax.Array, batch: int) -> Any:
    """A batch of new games."""
    return jax.vmap(fresh)(jax.random.split(key, batch))


def _choose(condition: jax.Array, new: jax.Array, old: jax.Array) -> jax.Array:
    return jnp.where(condition.reshape(-1, *(1,) * (new.ndim - 1)), new, old)


@functools.partial(jax.jit, static_argnames=("env", "batch"))
def played_out(env: Any, key: jax.Array, batch: int) -> tuple[jax.Array, jax.Array]:
    """The points that the player who began won in each of a batch of random games, and their lengths in steps."""
    key, start_key = jax.random.split(key)
    states = new_games(env.init, start_key, batch)
    first, rows = states.current_player, jnp.arange(batch)

    def going(states):
        return ~(states.terminated | states.truncated)

    def step(carry):
        states, points, steps, key = carry
        key, choice_key, step_key = jax.random.split(key, 3)
        steps = steps + going(states).astype(jnp.int32)
        actions = random_action(choice_key, states.legal_action_mask)
        states = jax.vmap(env.step)(states, actions, jax.random.split(step_key, batch))
        return states, points + states.rewards[rows, first], steps, key

    carry = (states, jnp.zeros(batch, jnp.float32), jnp.zeros(batch, jnp.int32), key)
    _, points, steps, _ = lax.while_loop(lambda carry: jnp.any(going(carry[0])), step, carry)
    return points, steps
