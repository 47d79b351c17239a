"""Playing many games on: one scan, with new games in place of those that end."""

import dataclasses
import functools
from collections.abc import Callable
from typing import Any, NamedTuple

import jax
import jax.numpy as jnp
from jax import lax
from jaxtyping import Array, Bool, Float32, Int32, Key

from jaxgames.envs.core import Game, State, action_from_bits
from jaxgames.ops.random_bits import random_bits

Policy = Callable[[Key[Array, ""], State], Int32[Array, " batch"]]
"""Picks an action for each of a batch of states."""


class Transition(NamedTuple):
    """What one step of a batch of games was: the states, the actions, and the states they led to, before any reset."""

    states: State
    actions: Int32[Array, " batch"]
    after: State

    @property
    def rewards(self) -> Float32[Array, "batch 2"]:
        """What both players won by the step."""
        return self.after.rewards

    @property
    def ended(self) -> Bool[Array, " batch"]:
        """Which games ended by the step."""
        return (self.after.terminated | self.after.truncated) & ~(self.states.terminated | self.states.truncated)


def random_action(key: Key[Array, ""], states: State | Bool[Array, "... actions"]) -> Int32[Array, "..."]:
    """A legal action of each of `states` (or of masks, each allowing at least one), drawn uniformly.

    One random word for each game, and no `jax.random.categorical`.
    """
    if not isinstance(states, State):
        return action_from_bits(random_bits(key, states.shape[:-1]), states)
    draw: Callable = states._game.draw_action
    for _ in range(states.terminated.ndim):
        draw = jax.vmap(draw)
    return draw(states._position, random_bits(key, states.terminated.shape))


def rollout(
    game: Game,
    states: State,
    key: Key[Array, ""],
    num_steps: int,
    policy: Policy = random_action,
    *,
    auto_reset: bool = False,
    games_at_once: int | None = None,
    keep: Callable[[Transition], Any] = lambda transition: transition,
) -> tuple[State, Any]:
    """A batch of games played on for `num_steps` actions each, in one scan.

    Games that have ended stay as they are or, with `auto_reset`, are followed by new ones. Returns the states after it
    all, and `keep` of every transition, stacked: by default all of it, `[num_steps, batch]`. States are small and show
    their observations and masks at any rank, so `transitions.states.observation` is `[num_steps, batch, ...]`; and as
    `transitions.after` is what was there before a reset, the last observation and reward of a game are never lost.

    With `games_at_once` that many games are played to the end of the rollout before the next ones, and `keep` sees so
    many. On a CPU a few hundred are fastest where little is kept: XLA shares larger batches among threads, which costs
    more than their small steps take. Raises `ValueError` unless it divides the batch.
    """
    if games_at_once is not None and games_at_once != len(states.terminated):
        play = functools.partial(rollout, game, num_steps=num_steps, policy=policy, auto_reset=auto_reset, keep=keep)
        return _in_parts(play, states, key, games_at_once)

    def step(states, keys):
        policy_key, chance_key = keys
        actions = policy(policy_key, states)
        after = jax.vmap(game.apply)(states, actions)
        if game.outcome_probabilities:
            outcomes = game.draw_outcome(random_bits(chance_key, actions.shape))
            after = jax.vmap(game.resolve)(after, outcomes)
        return after, jax.tree.map(_flattened, keep(Transition(states, actions, after)))

    def step_or_reset(running, keys):
        after, kept = step(running.states(game), keys[:2])
        return _Running.of(reset_ended(game, after, *keys[2:])), kept

    keys = jax.random.split(key, (num_steps + 1, 4))  # in the loop it would cost as much as a step
    if auto_reset:
        running = _Running.of(reset_ended(game, states, *keys[0, :2]))
        running, kept = lax.scan(step_or_reset, running, keys[1:])
        states = running.states(game)
    else:
        states, kept = lax.scan(step, states, keys[1:, :2])
    return states, jax.tree.map(_stacked, kept, is_leaf=lambda x: isinstance(x, _Flat))


class _Running(NamedTuple):
    """States of which none has ended: what there is to carry of them. XLA need not ask which have ended, then."""

    position: Any
    player: Int32[Array, " batch"]
    step_count: Int32[Array, " batch"]

    @classmethod
    def of(cls, states: State) -> "_Running":
        return cls(states._position, states.current_player, states._step_count)

    def states(self, game: Game) -> State:
        return game.state(self.position, self.player).replace(_step_count=self.step_count)


def _in_parts(play: Callable, states: State, key: Key[Array, ""], size: int) -> tuple[State, Any]:
    """Plays `size` games after the other, and puts the results together."""
    batch = len(states.terminated)
    if size < 1 or batch % size:
        raise ValueError(f"games_at_once {size} must divide the batch of {batch} games")
    parts = jax.tree.map(lambda x: x.reshape(-1, size, *x.shape[1:]), states)
    states, kept = lax.map(lambda part: play(*part), (parts, jax.random.split(key, batch // size)))
    states = jax.tree.map(lambda x: x.reshape(batch, *x.shape[2:]), states)
    return states, jax.tree.map(lambda x: jnp.moveaxis(x, 0, 1).reshape(x.shape[1], -1, *x.shape[3:]), kept)


@dataclasses.dataclass(frozen=True)
class _Flat:
    """An array of several axes as one row for each game: XLA:CPU fills such rows six times as fast."""

    rows: Array
    shape: tuple[int, ...]


jax.tree_util.register_dataclass(_Flat, data_fields=["rows"], meta_fields=["shape"])


def _flattened(kept: Array) -> _Flat:
    return _Flat(kept.reshape(*kept.shape[:1], -1) if kept.ndim > 2 else kept, kept.shape)


def _stacked(flat: _Flat) -> Array:
    return flat.rows.reshape(-1, *flat.shape)


def reset_ended(game: Game, states: State, opening_key: Key[Array, ""], player_key: Key[Array, ""]) -> State:
    """The states, with new games in place of those that have ended."""
    ended = states.terminated | states.truncated
    positions = jax.vmap(game.init_position)(jax.random.split(opening_key, ended.size))
    players = random_bits(player_key, ended.shape) >> 31
    fresh = game.state(positions, players.astype(jnp.int32))
    return jax.tree.map(lambda new, old: jax.vmap(jnp.where)(ended, new, old), fresh, states)
