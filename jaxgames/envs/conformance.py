"""What every game has to keep to, checked by playing it: `check_game`, for our games and for those of others."""

from collections.abc import Callable
from typing import Any, NamedTuple

import jax
import jax.numpy as jnp
import numpy as np
from jax import lax
from jaxtyping import Array, Bool, Float32, Int32, Key

from jaxgames.envs.core import Game, Outcome, State
from jaxgames.envs.rollout import random_action

GLOBAL_FLAGS = ("jax_enable_x64", "jax_numpy_dtype_promotion", "jax_numpy_rank_promotion", "jax_debug_nans")
TOLERANCE = 1e-4


class ConformanceError(AssertionError):
    """A game breaks a contract of `Game` or `State`; the message names the contract."""


class Report(NamedTuple):
    """What `check_game` has played: games, how many of them ended, and actions in all."""

    games: int
    ended: int
    actions: int


def check_game(game: Game, num_games: int = 64, seed: int = 0, max_actions: int = 2000) -> Report:
    """Check that `game` keeps the contracts that rollouts, learners, searches and players build on.

    Plays `num_games` random games at once (at least 4), each for at most `max_actions` actions, and checks at every
    step legal and illegal actions, rewards, chance and the end; on positions from these games, any batch rank, whole
    turns and, if the game has them, notation and drawings. Raises `ConformanceError` naming the contract that is
    broken, else says what was played.
    """
    if num_games < 4:
        raise ValueError(f"num_games {num_games} is too few; at least 4 are needed")
    flags = [getattr(jax.config, name) for name in GLOBAL_FLAGS]
    key, start_key, play_key, turn_key = jax.random.split(jax.random.key(seed), 4)
    _check_description(game)
    _check_types(game, key)
    states = jax.jit(jax.vmap(game.init))(jax.random.split(start_key, num_games))
    _check_start(game, states)
    sample, report = _check_play(game, states, play_key, seed, max_actions)
    _check_ranks(game, sample, key)
    _check_turns(game, sample, turn_key)
    _check_texts(game, sample)
    _require(game, flags == [getattr(jax.config, name) for name in GLOBAL_FLAGS], "changes a global flag of JAX")
    return report


def _require(game: Game, condition: Any, fault: str) -> None:
    if not condition:
        raise ConformanceError(f"{getattr(game, 'id', type(game).__name__)} {fault}")


def _check_description(game: Game) -> None:
    """Names, numbers, probabilities; a frozen value."""
    for name, kind in (("id", str), ("version", str), ("num_actions", int), ("observation_shape", tuple)):
        _require(game, isinstance(getattr(game, name, None), kind), f"has no `{name}` that is a {kind.__name__}")
    _require(game, game.num_players == 2, "is not for two players")
    _require(game, game.num_actions > 0, "has no actions")
    _require(game, game.max_reward > 0, "has no positive `max_reward`")
    _require(game, hash(game) == hash(game) and game == game, "is not hashable, or not equal to itself")
    _require(game, not hasattr(game, "__dict__") or _is_frozen(game), "can be changed: make it a frozen dataclass")
    probabilities = np.asarray(game.outcome_probabilities, np.float64)
    if len(probabilities):
        _require(game, (probabilities > 0).all(), "has an outcome of chance that never happens")
        _require(game, abs(probabilities.sum() - 1) < 1e-6, f"has outcome probabilities with sum {probabilities.sum()}")
        words = jnp.arange(0, 2**32, 2**16, dtype=jnp.uint32)
        drawn = np.bincount(game.draw_outcome(words), minlength=len(probabilities)) / 2**16
        close = len(drawn) == len(probabilities) and np.abs(drawn - probabilities).max() < 2**-15
        _require(game, close, "draws outcomes with other probabilities than `outcome_probabilities`")


def _is_frozen(game: Game) -> bool:
    try:
        object.__getattribute__(game, "__class__").__setattr__(game, "_conformance", 0)
    except AttributeError:
        return True
    return False


def _check_types(game: Game, key: Key[Array, ""]) -> None:
    """Shapes and dtypes of all attributes at batch rank 0, 1 and 2, with both kinds of keys, without running
    anything.""" expected = {
        "current_player": ((), jnp.int32),
        "rewards": ((2,), jnp.float32),
        "terminated": ((), jnp.bool_),
        "truncated": ((), jnp.bool_),
        "legal_action_mask": ((game.num_actions,), jnp.bool_),
    }
    for kind, one_key in (("typed", key), ("legacy", jax.random.key_data(key))):
        init: Callable = game.init
        step: Callable = game.step
        for rank in range(3):
            keys = jax.ShapeDtypeStruct((2,) * rank + one_key.shape, one_key.dtype)
            actions = jax.ShapeDtypeStruct((2,) * rank, jnp.int32)
            state = jax.eval_shape(init, keys)
            after = jax.eval_shape(step, state, actions, keys)
            where = f"at batch rank {rank} with {kind} keys"
            _require(game, _types(state) == _types(after), f"steps to a state of other types than `init` gives {where}")
            seen = jax.eval_shape(lambda s: {name: getattr(s, name) for name in (*expected, "observation")}, state)
            for name, (shape, dtype) in expected.items():
                fits = seen[name].shape == (2,) * rank + shape and seen[name].dtype == dtype
                _require(game, fits, f"has `{name}` {seen[name].dtype}{list(seen[name].shape)} {where}")
            shape = seen["observation"].shape
            fits = shape == (2,) * rank + game.observation_shape
            _require(game, fits, f"has an observation of shape {shape} {where}; `observation_shape` is different")
            wide = [x.dtype for x in jax.tree.leaves((state, seen)) if x.dtype.itemsize > 4]
            _require(game, not wide, f"uses 64-bit numbers: {wide}")
            init, step = jax.vmap(init), jax.vmap(step)
    if game.outcome_probabilities:
        try:
            jax.eval_shape(game.step, jax.eval_shape(game.init, key), jnp.int32(0))
        except ValueError:
            return
        _require(game, False, "has chance, but steps without a key")


def _types(state: State) -> tuple:
    return jax.tree.structure(state), [(x.shape, x.dtype, x.weak_type) for x in jax.tree.leaves(state)]


def _check_start(game: Game, states: State) -> None:
    players = np.unique(states.current_player)
    _require(game, set(players) <= {0, 1}, f"has players {players}, not 0 and 1")
    _require(game, len(states.current_player) < 32 or len(players) == 2, "always lets the same player begin")
    _require(game, not states.terminated.any() and not states.truncated.any(), "has ended games at the start")
    _require(game, not states.rewards.any(), "gives rewards at the start")


FAULTS = (
    "has no legal action",
    "has an ended game with a mask that is not all true",
    "has a `legal_action_mask` that is not what `is_legal` says of each action",
    "finds an action legal that is out of range",
    "steps otherwise than `resolve(apply(state, action), outcome)`",
    "changes a state that awaits no chance in `resolve`",
    "gives rewards that do not sum to zero",
    "gives rewards before the end, or more than `max_reward`",
    "changes an ended game, or rewards it again",
    "does not end with -1 and +1 at an illegal action",
    "has a current player who is not 0 or 1",
    "has an observation that is not finite",
)


def _faults(game: Game, state: State, key: Key[Array, ""]) -> tuple[State, Bool[Array, " faults"]]:
    """One random action of one game; which of `FAULTS` it shows."""
    action_key, wrong_key, step_key = jax.random.split(key, 3)
    mask, player = state.legal_action_mask, state.current_player
    numbers = jnp.arange(game.num_actions, dtype=jnp.int32)
    legal = jax.vmap(lambda action: game.is_legal(state._position, action))(numbers)
    outside = jax.vmap(lambda action: game.is_legal(state._position, action))(
        jnp.array([-1, game.num_actions, -(2**31), 2**31 - 1], jnp.int32)
    )
    after = game.step(state, random_action(action_key, mask), step_key)
    again = game.apply(state, random_action(action_key, mask))
    chance = bool(game.outcome_probabilities)
    if chance:
        again = game.resolve(again, game.draw_outcome(jax.random.bits(step_key)))
    resolved = game.resolve(after, game.draw_outcome(jax.random.bits(wrong_key))) if chance else after
    wrong_action = jnp.where(mask.all(), game.num_actions, random_action(wrong_key, ~mask | mask.all()))
    wrong = game.step(state, wrong_action, step_key)
    ended, now_ended = state.terminated | state.truncated, after.terminated | after.truncated
    signs = jnp.where(jnp.arange(2, dtype=jnp.int32) == player, -1.0, 1.0).astype(jnp.float32)
    kept = _same(after._position, state._position) & (after.current_player == player) & now_ended
    reward = jnp.abs(after.rewards).max()
    faults = (
        ~mask.any(),
        ended & ~mask.all(),
        ~ended & (mask != legal).any(),
        outside.any(),
        ~_same(after, again),
        ~_same(after, resolved),
        after.rewards.sum() != 0,
        (~now_ended & (reward != 0)) | (reward > game.max_reward),
        ended & (~kept | (after.rewards != 0).any() | (wrong.rewards != 0).any()),
        ~ended & (~wrong.terminated | (wrong.rewards != signs).any()),
        (after.current_player != 0) & (after.current_player != 1),
        ~jnp.isfinite(state.observation.astype(jnp.float32)).all(),
    )
    return after, jnp.stack(faults)


def _same(one: Any, other: Any) -> Bool[Array, ""]:
    """Whether two trees of arrays are equal."""
    return jnp.stack([(x == y).all() for x, y in zip(*map(jax.tree.leaves, (one, other)), strict=True)]).all()


def _check_play(
    game: Game, states: State, key: Key[Array, ""], seed: int, max_actions: int
) -> tuple[State, Report]:
    """Whole games; also gives one state of each that had not ended, drawn uniformly from its length."""

    def play(carry):
        states, _, sample, key, first, where, number, actions = carry
        key, play_key, keep_key = jax.random.split(key, 3)
        ended = states.terminated | states.truncated
        after, faults = jax.vmap(lambda state, key: _faults(game, state, key))(
            states, jax.random.split(play_key, len(ended))
        )
        keep = ~ended & (jax.random.randint(keep_key, ended.shape, 0, number + 1) == 0)
        sample = jax.tree.map(lambda new, old: jax.vmap(jnp.where)(keep, new, old), states, sample)
        news = faults.any(axis=0) & (first < 0)
        first = jnp.where(news, number, first)
        where = jnp.where(news, jnp.argmax(faults, axis=0).astype(jnp.int32), where)
        actions += jnp.sum(~ended, dtype=jnp.int32)
        return after, ended.all(), sample, key, first, where, number + 1, actions

    def go_on(carry):
        return ~carry[1] & (carry[6] < max_actions)

    none = jnp.full(len(FAULTS), -1, jnp.int32)
    start = (states, jnp.bool_(False), states, key, none, none, jnp.int32(0), jnp.int32(0))
    last, _, sample, _, first, where, _, actions = jax.jit(lambda carry: lax.while_loop(go_on, play, carry))(start)
    for fault, number, index in zip(FAULTS, first.tolist(), where.tolist(), strict=True):
        _require(game, number < 0, f"{fault} (game {index} of {len(where)}, seed {seed}, after {number} actions)")
    ended = int((last.terminated | last.truncated).sum())
    _require(game, ended, f"ends none of {len(states.terminated)} games in {max_actions} actions; allow more of them")
    return sample, Report(len(states.terminated), ended, int(actions))


def _check_ranks(game: Game, sample: State, key: Key[Array, ""]) -> None:
    """The same results for one state, a batch, and a batch of batches; with typed and with legacy keys."""
    states = jax.tree.map(lambda x: x[:4], sample)
    keys = jax.random.split(key, 4)
    actions = random_action(key, states.legal_action_mask)

    def look(rank: int) -> Callable:
        step: Callable = game.step
        for _ in range(rank):
            step = jax.vmap(step)
        return jax.jit(lambda state, action, key: (state.legal_action_mask, state.observation, step(state, action,
        key)))

    batch = look(1)(states, actions, keys)
    _require(
        game,
        _same(batch, look(1)(states, actions, jax.random.key_data(keys))),
        "steps otherwise with legacy keys than with typed ones",
    )
    one = look(0)
    single = [one(*jax.tree.map(lambda x, i=i: x[i], (states, actions, keys))) for i in range(4)]
    _require(game, _same(batch, jax.tree.map(lambda *x: jnp.stack(x), *single)), "plays a batch otherwise than its
    states") square = jax.tree.map(lambda x: x.reshape(2, 2, *x.shape[1:]), (states, actions, keys))
    flat = jax.tree.map(lambda x: x.reshape(4, *x.shape[2:]), look(2)(*square))
    _require(game, _same(batch, flat), "plays a batch of batches otherwise than its states")


def _check_turns(game: Game, sample: State, key: Key[Array, ""]) -> None:
    """`best_turn` is worth what it says, and nothing that `random_turn` draws is worth more."""
    weights = jax.random.normal(key, (int(np.prod(game.observation_shape)),))

    def value(positions: Any) -> Float32[Array, " n"]:
        views = jax.vmap(lambda position: game.view(position, jnp.bool_(True)))(positions)
        return game.max_reward * jnp.tanh(views.reshape(len(views), -1).astype(jnp.float32) @ weights * 0.1)

    def worth(outcome: Outcome) -> Float32[Array, " n"]:
        after = value(outcome.position)
        return jnp.where(outcome.over, outcome.reward, jnp.where(outcome.switch, -after, after))

    @jax.jit
    def turns(positions: Any, words: Any) -> tuple[Any, Any, Any]:
        best, score = game.best_turn(positions, value)
        return score, worth(best), lax.map(lambda row: worth(game.random_turn(positions, row)), words)

    words = jax.random.bits(key, (16, len(sample.terminated)))
    score, best, others = turns(sample._position, words)
    _require(game, np.abs(score - best).max() < TOLERANCE, "has a `best_turn` that is not worth the value it gives")
    _require(game, (others <= best[None] + TOLERANCE).all(), "has a `best_turn` that is worse than a random turn")


def _check_texts(game: Game, sample: State) -> None:
    """Notation and drawings, where the game has them."""
    states = [jax.tree.map(lambda x, i=i: x[i], sample) for i in range(min(16, len(sample.terminated)))]
    texts = [_if_there(game.to_string, state) for state in states]
    if None not in texts:
        again = [game.from_string(text, int(state.current_player)) for text, state in zip(texts, states, strict=True)]
        _require(game, texts == [game.to_string(state) for state in again], "writes a state otherwise once it was read")
        seen, before = (jax.tree.map(lambda *x: jnp.stack(x), *some) for some in (again, states))
        _require(game, _same(seen.legal_action_mask, before.legal_action_mask), "reads a state with other legal
        actions") _require(game, _same(seen.observation, before.observation), "reads a state that looks different")
        _require_error(game, lambda: game.from_string("?"), "reads '?' as a position")
    for state in states:
        actions = np.flatnonzero(state.legal_action_mask).tolist()
        names = [_if_there(game.action_to_string, state, action) for action in actions]
        if None not in names:
            read = [game.string_to_action(state, name) for name in names]
            _require(game, read == actions, f"reads the names {names} of actions {actions} as {read}")
            _require_error(game, lambda state=state: game.string_to_action(state, "?"), "reads '?' as an action")
    for some in (states[0], jax.tree.map(lambda x: x[:2], sample)):
        drawing = _if_there(some.to_svg)
        _require(game, drawing is None or drawing.lstrip().startswith("<svg"), "draws something that is no SVG
        document")


def _if_there(function: Callable, *arguments: Any) -> Any:
    try:
        return function(*arguments)
    except NotImplementedError:
        return None


def _require_error(game: Game, function: Callable, fault: str) -> None:
    try:
        function()
    except ValueError:
        return
    _require(game, False, fault)
