"""Playing many games for many steps in one scan, where new games replace ended ones; the same for one step.

`rollout` plays. `auto_reset` and `time_limit` change the step of one game, for your own loops: `jax.vmap` them.
"""

import dataclasses
import functools
import math
from collections.abc import Callable
from typing import Any, NamedTuple

import jax
import jax.numpy as jnp
from jax import lax
from jaxtyping import Array, Bool, Float32, Int32, Key

from jaxgames.envs.checks import a_game, a_state, state_batch
from jaxgames.envs.core import Game, State, action_from_bits
from jaxgames.ops import checks
from jaxgames.ops.packing import pack, unpack
from jaxgames.ops.pytrees import select
from jaxgames.ops.random_bits import random_bits

STEPS_A_ROUND = 2
"""Steps in one iteration of the loop on a GPU or TPU: they share its overhead, to count, to copy and to write."""
Step = Callable[..., State]
Policy = Callable[[Key[Array, ""], State], Any]
"""Picks an action for each of a batch of states, int32[batch]; may return a pair of these and extras for `keep`."""


class Transition(NamedTuple):
    """One step of a batch of games: the states, the actions, and the states after them, before any reset.

    `extras` is what the policy gave besides the actions, such as their log-probabilities and values.
    """

    states: State
    actions: Int32[Array, " batch"]
    after: State
    extras: Any = None

    @property
    def rewards(self) -> Float32[Array, "batch 2"]:
        """What both players won in the step."""
        return self.after.rewards

    @property
    def ended(self) -> Bool[Array, " batch"]:
        """Which games ended in the step."""
        return (self.after.terminated | self.after.truncated) & ~(self.states.terminated | self.states.truncated)


def random_action(key: Key[Array, ""], states: State | Bool[Array, "... actions"]) -> Int32[Array, "..."]:
    """A legal action for each of `states`, or an allowed one for each of some masks, drawn uniformly.

    It takes 32 random bits for each game, and is much faster than `jax.random.categorical`. A mask that allows nothing
    gives -1, an illegal action. Raises `TypeError` or `ValueError` for what is neither states nor bool[..., actions].
    """
    checks.key(key)
    if not isinstance(states, State):
        mask = checks.mask("states", states)
        actions = action_from_bits(random_bits(key, mask.shape[:-1]), mask)
        return jnp.where(jnp.any(mask, axis=-1), actions, jnp.int32(-1))
    draw: Callable = states._game.draw_action
    for _ in range(states.terminated.ndim):
        draw = jax.vmap(draw)
    return draw(states._position, random_bits(key, states.terminated.shape))


def step_batch(game: Game, states: State, actions: Int32[Array, " batch"], key: Key[Array, ""]) -> State:
    """The states after an action in each of a batch; chance is drawn by one key for all of them."""
    after = jax.vmap(game.apply)(states, actions)
    if game.outcome_probabilities:
        outcomes = game.draw_outcome(random_bits(key, actions.shape))
        after = jax.vmap(game.resolve)(after, outcomes)
    return after


def everything(transition: Transition) -> Transition:
    """Keeps all of a transition."""
    return transition


def rollout(
    game: Game,
    states: State,
    key: Key[Array, ""],
    num_steps: int,
    policy: Policy = random_action,
    *,
    auto_reset: bool = False,
    games_at_once: int | None = None,
    keep: Callable[[Transition], Any] = everything,
) -> tuple[State, Any]:
    """Plays a batch of games for `num_steps` actions each, in one scan.

    States are small and derive observations and masks at any rank, so `transitions.states.observation` is
    `[num_steps, batch, ...]`. `transitions.after` is the state before a reset, so the last observation and reward of a
    game are never lost. On a GPU or TPU `keep` runs after all steps: until then the states of all steps are
    stored, a few dozen bytes each.

    Outside of `jit` a rollout is compiled once if `policy` and `keep` are the defaults, jitted functions, or jitted
    functions with their arrays, `jax.tree_util.Partial(jax.jit(act), params)`. Other functions are traced in each call,
    as what they refer to may have changed; so put a training loop into `jit`.

    Args:
        game: The game.
        states: Where the games start, of shape [batch].
        key: For the policy, for chance and for new games.
        num_steps: How many actions are taken in each game.
        policy: Picks the actions; by default at random. It may return a pair `(actions, extras)`, and `keep` sees these
            as `transition.extras`: arrays, in any pytree.
        auto_reset: Whether a new game follows one that has ended. Otherwise it stays as it is.
        games_at_once: How many games are played to the end of the rollout before the next ones; `keep` sees that many.
            On a CPU a few hundred are fastest if little is kept: XLA shares larger batches among threads, which
            takes longer than the small steps themselves.
        keep: What to return of each transition; by default all of it.

    Returns the states after the last step, and what `keep` gave for each transition, stacked to `[num_steps, batch]`.
    Raises `ValueError` unless `games_at_once` divides the batch, and `TypeError` or `ValueError` for arguments of
    another kind or shape, also for actions of `policy` that are not int32[batch].
    """
    state_batch(a_game(game), states)
    checks.key(key)
    num_steps = checks.whole("num_steps", num_steps, 0)
    checks.function("policy", policy, "(key, states) -> actions")
    checks.function("keep", keep, "of a transition")
    if games_at_once is not None:
        games_at_once = checks.whole("games_at_once", games_at_once)
    parts = game, states, key, num_steps, policy, auto_reset, games_at_once, keep
    if (
        _is_pure(policy)
        and _is_pure(keep)
        and not any(isinstance(leaf, jax.core.Tracer) for leaf in jax.tree.leaves((states, key, policy, keep)))
    ):
        return _rollout_compiled(*parts[:4], _as_partial(policy), *parts[5:7], _as_partial(keep))
    return _rollout(*parts)


def _is_pure(function: Callable) -> bool:
    """Whether a function always gives the same, which its caller promises by jitting it."""
    inner = function.func if isinstance(function, jax.tree_util.Partial) else function
    return inner in (random_action, everything) or isinstance(inner, type(_rollout_compiled))


def _as_partial(function: Callable) -> jax.tree_util.Partial:
    return function if isinstance(function, jax.tree_util.Partial) else jax.tree_util.Partial(function)


def _rollout(
    game: Game,
    states: State,
    key: Key[Array, ""],
    num_steps: int,
    policy: Policy,
    auto_reset: bool,
    games_at_once: int | None,
    keep: Callable[[Transition], Any],
) -> tuple[State, Any]:
    batch = len(states.terminated)
    if games_at_once is not None and games_at_once != batch:
        play = functools.partial(rollout, game, num_steps=num_steps, policy=policy, auto_reset=auto_reset, keep=keep)
        return _in_parts(play, states, key, games_at_once)

    keys = jax.random.split(key, (num_steps + 1, 4))  # in the loop it would cost as much as a step
    loop = _Loop.of(game, policy, auto_reset, keep)
    first = _Carry.of(_reset_done(game, states, *keys[0, :2])) if auto_reset else states
    last, kept = lax.platform_dependent(first, keys[1:], cpu=loop.in_arrays, default=loop.in_words)
    return last.states(game) if auto_reset else last, kept


_rollout_compiled = jax.jit(_rollout, static_argnums=(0, 3, 5, 6))


class _Carry(NamedTuple):
    """What the scan carries if none of the states has ended, so that XLA need not check which have."""

    position: Any
    player: Int32[Array, " batch"]
    step_count: Int32[Array, " batch"]

    @classmethod
    def of(cls, states: State) -> "_Carry":
        return cls(states._position, states.current_player, states._step_count)

    def states(self, game: Game) -> State:
        return game.state(self.position, self.player).replace(_step_count=self.step_count)


class _Loop(NamedTuple):
    """The scan of a rollout, in a form for CPUs and in one for other devices.

    A CPU computes what `keep` returns within each step, while it is still in the cache. A GPU starts a kernel for each
    array that a step carries or keeps, which takes longer than the work itself. So there a whole state is one array of
    words, a step keeps only these words, actions and extras, and `keep` runs on all steps at once afterwards.
    """

    game: Game
    auto_reset: bool
    act: Callable[[Key[Array, ""], State], tuple[Int32[Array, " batch"], Any]]
    step: Callable[[State, Int32[Array, " batch"], Key[Array, ""]], State]
    keep: Callable[[Transition], Any]

    @classmethod
    def of(cls, game: Game, policy: Policy, auto_reset: bool, keep: Callable[[Transition], Any]) -> "_Loop":
        """With functions that are traced once for both forms."""

        def act(key: Key[Array, ""], states: State) -> tuple[Int32[Array, " batch"], Any]:
            result = policy(key, states)
            actions, extras = result if isinstance(result, tuple) and len(result) == 2 else (result, None)
            for leaf in jax.tree.leaves(extras):
                if not checks.is_array(leaf) and not isinstance(leaf, int | float):
                    raise TypeError(f"the policy's extras hold {checks.describe(leaf)}: expected arrays")
            return checks.integers("the policy's actions", actions, states.terminated.shape), extras

        step = functools.partial(step_batch, game)
        return cls(game, auto_reset, *(jax.jit(one, inline=True) for one in (act, step, keep)))

    def in_arrays(self, carry: Any, keys: Key[Array, "num_steps 4"]) -> tuple[Any, Any]:
        """The last carry, and what is kept of all steps."""

        def step(carry: Any, keys: Key[Array, " 4"]) -> tuple[Any, Any]:
            transition = self._after(carry, *self.act(keys[0], self._states(carry)), keys[1])
            return self._next(transition, keys), jax.tree.map(_flatten, self.keep(transition))

        carry, kept = lax.scan(step, carry, keys)
        return carry, jax.tree.map(_unflatten, kept, is_leaf=lambda x: isinstance(x, _FlatRows))

    def in_words(self, carry: Any, keys: Key[Array, "num_steps 4"]) -> tuple[Any, Any]:
        """The same."""

        def step(words: Array, keys: Key[Array, " 4"]) -> tuple[Array, Any]:
            before = unpack(words, carry)
            actions, extras = self.act(keys[0], self._states(before))
            after = self._next(self._after(before, actions, extras, keys[1]), keys)
            return pack(after), (jnp.concatenate([words, pack(actions)]), extras)

        def keep(words: Array, extras: Any, keys: Key[Array, " 4"]) -> Any:
            before, actions = unpack(words, (carry, jax.ShapeDtypeStruct(words.shape[-1:], jnp.int32)))
            return self.keep(self._after(before, actions, extras, keys[1]))

        last, (words, extras) = lax.scan(step, pack(carry), keys, unroll=STEPS_A_ROUND)
        # The same draws once more, to the same states, which JAX's check of keys is told.
        return unpack(last, carry), jax.vmap(keep)(words, extras, jax.random.clone(keys))

    def _states(self, carry: Any) -> State:
        return carry.states(self.game) if self.auto_reset else carry

    def _after(self, carry: Any, actions: Int32[Array, " batch"], extras: Any, key: Key[Array, ""]) -> Transition:
        states = self._states(carry)
        return Transition(states, actions, self.step(states, actions, key), extras)

    def _next(self, transition: Transition, keys: Key[Array, " 4"]) -> Any:
        after = transition.after
        return _Carry.of(_reset_done(self.game, after, *keys[2:])) if self.auto_reset else after


def _in_parts(play: Callable, states: State, key: Key[Array, ""], size: int) -> tuple[State, Any]:
    """Calls `play` for `size` games at a time, and puts the results together."""
    batch = len(states.terminated)
    if batch % size:
        raise ValueError(f"games_at_once {size} must divide the batch of {batch} games")
    parts = jax.tree.map(lambda x: x.reshape(batch // size, size, *x.shape[1:]), states)
    states, kept = lax.map(lambda part: play(*part), (parts, jax.random.split(key, batch // size)))
    states = jax.tree.map(lambda x: x.reshape(batch, *x.shape[2:]), states)

    def together(x: Array) -> Array:
        return jnp.moveaxis(x, 0, 1).reshape(x.shape[1], math.prod((x.shape[0], *x.shape[2:3])), *x.shape[3:])

    return states, jax.tree.map(together, kept)


@dataclasses.dataclass(frozen=True)
class _FlatRows:
    """An array of several axes as one row for each game: XLA:CPU fills such rows six times as fast."""

    rows: Array
    shape: tuple[int, ...]


jax.tree_util.register_dataclass(_FlatRows, data_fields=["rows"], meta_fields=["shape"])


def _flatten(kept: Array) -> _FlatRows:
    return _FlatRows(kept.reshape(len(kept), math.prod(kept.shape[1:])) if kept.ndim > 2 else kept, kept.shape)


def _unflatten(flat: _FlatRows) -> Array:
    return flat.rows.reshape(len(flat.rows), *flat.shape)


def _reset_done(game: Game, states: State, init_key: Key[Array, ""], player_key: Key[Array, ""]) -> State:
    """The states, with new games in place of those that have ended."""
    ended = states.terminated | states.truncated
    positions = jax.vmap(game.init_position)(jax.random.split(init_key, ended.size))
    players = random_bits(player_key, ended.shape) >> 31
    fresh = game.state(positions, players.astype(jnp.int32))
    return select(ended, fresh, states)


def auto_reset(step: Step, init: Callable[[Key[Array, ""]], State], with_final: bool = False) -> Callable[..., Any]:
    """The step that begins a new game after the last move of the old one: `(state, action, key) -> state`.

    As in pgx, the new game's state keeps `rewards`, `terminated` and `truncated` of the old one for this step; mask and
    observation are those of the new game. With `with_final` the step returns `(state, final)`, where `final` is the
    state before the reset, with its observation and its rewards. It costs nothing where it is not read.

    A new game follows one that this step ends. As in pgx, a state that had already ended, by `from_string` or a plain
    `step`, is played on as if it had not: replace it by `init(key)` first, as `rollout` does.

    Raises `TypeError` for what is not a function; the step raises `TypeError` for a wrong key, `ValueError` without
    one.
    """
    checks.function("step", step, "(state, action, key) -> state, such as game.step")
    checks.function("init", init, "(key) -> state, such as game.init")

    def step_or_reset(state: State, action: Int32[Array, ""], key: Key[Array, ""] | None = None) -> Any:
        if key is None:
            raise ValueError("a step with auto_reset draws new games: call it with (state, action, key)")
        a_state(state)
        checks.key(key)
        step_key, init_key = jax.random.split(key)
        running = state.replace(
            rewards=jnp.zeros_like(state.rewards),
            terminated=jnp.zeros_like(state.terminated),
            truncated=jnp.zeros_like(state.truncated),
        )
        final = step(running, action, step_key)
        new = init(init_key).replace(rewards=final.rewards, terminated=final.terminated, truncated=final.truncated)
        ended = final.terminated | final.truncated
        state = select(ended, new, final)
        return (state, final) if with_final else state

    return step_or_reset


def time_limit(step: Step, max_steps: int) -> Step:
    """The step that truncates a game that has not ended after `max_steps` actions; `step` may be batched.

    The state stays as it is, with `truncated` set. Raises `ValueError` for a limit below 1.
    """
    checks.function("step", step, "(state, action, key) -> state, such as game.step")
    max_steps = checks.whole("max_steps", max_steps)

    def limited(state: State, *arguments: Any) -> State:
        state = step(a_state(state), *arguments)
        return state.replace(truncated=state.truncated | (~state.terminated & (state._step_count >= max_steps)))

    return limited
