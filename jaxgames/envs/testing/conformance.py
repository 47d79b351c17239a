"""What every game has to keep to, checked by playing it: `check_game`, for our games and for those of others."""

import dataclasses
from collections.abc import Callable
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Key

from jaxgames.envs.core import Game, State
from jaxgames.envs.rollout import random_action
from jaxgames.envs.testing.conformance_play import (
    ConformanceError,
    Report,
    check_draws,
    check_play,
    check_symmetries,
    check_turns,
    jit,
    require,
)

__all__ = ["ConformanceError", "Report", "check_game"]

GLOBAL_FLAGS = ("jax_enable_x64", "jax_numpy_dtype_promotion", "jax_numpy_rank_promotion", "jax_debug_nans")


def check_game(game: Game, num_games: int = 64, seed: int = 0, max_actions: int = 2000) -> Report:
    """Check that `game` keeps the contracts that rollouts, learners, searches and players build on.

    Plays `num_games` random games at once (at least 4), each for at most `max_actions` actions, and checks at every
    step legal and illegal actions, rewards, chance and the end; on positions from these games, any batch rank, random
    draws, whole turns and, if the game has them, symmetries, notation and drawings. Raises `ConformanceError` naming
    the contract that is broken, else says what was played.
    """
    if num_games < 4:
        raise ValueError(f"num_games {num_games} is too few; at least 4 are needed")
    flags = [getattr(jax.config, name) for name in GLOBAL_FLAGS]
    key, start_key, play_key, turn_key = jax.random.split(jax.random.key(seed), 4)
    _check_description(game)
    _check_types(game, key)
    states = jit(jax.vmap(game.init))(jax.random.split(start_key, num_games))
    _check_start(game, states)
    check_symmetries(game, key)
    sample, last, report = check_play(game, states, play_key, seed, max_actions)
    _check_ranks(game, sample, key)
    check_draws(game, sample, key)
    check_turns(game, sample, turn_key)
    _check_texts(game, sample)
    _check_ends(game, last)
    require(game, flags == [getattr(jax.config, name) for name in GLOBAL_FLAGS], "changes a global flag of JAX")
    return report


def _check_description(game: Game) -> None:
    """Names, numbers, probabilities; a frozen value."""
    for name, kind in (("id", str), ("version", str), ("num_actions", int), ("observation_shape", tuple)):
        require(game, isinstance(getattr(game, name, None), kind), f"has no `{name}` that is a {kind.__name__}")
    require(game, game.num_players == 2, "is not for two players")
    require(game, game.num_actions > 0, "has no actions")
    require(game, game.max_reward > 0, "has no positive `max_reward`")
    copy = dataclasses.replace(game)
    require(game, copy == game and hash(copy) == hash(game), "is not equal to its copy, so each copy is compiled anew")
    probabilities = np.asarray(game.outcome_probabilities, np.float64)
    if len(probabilities):
        require(game, (probabilities > 0).all(), "has an outcome of chance that never happens")
        require(game, abs(probabilities.sum() - 1) < 1e-6, f"has outcome probabilities with sum {probabilities.sum()}")
        words = jnp.arange(0, 2**32, 2**16, dtype=jnp.uint32)
        drawn = np.bincount(game.draw_outcome(words), minlength=len(probabilities)) / 2**16
        close = len(drawn) == len(probabilities) and np.abs(drawn - probabilities).max() < 2**-15
        require(game, close, "draws outcomes with other probabilities than `outcome_probabilities`")


def _check_types(game: Game, key: Key[Array, ""]) -> None:
    """Shapes and dtypes of all attributes at batch rank 0, 1 and 2, with both kinds of keys, without running."""
    expected = {
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
            require(game, _types(state) == _types(after), f"steps to a state of other types than `init` gives {where}")
            seen = jax.eval_shape(lambda s: {name: getattr(s, name) for name in (*expected, "observation")}, state)
            for name, (shape, dtype) in expected.items():
                fits = seen[name].shape == (2,) * rank + shape and seen[name].dtype == dtype
                require(game, fits, f"has `{name}` {seen[name].dtype}{list(seen[name].shape)} {where}")
            shape = seen["observation"].shape
            fits = shape == (2,) * rank + game.observation_shape
            require(game, fits, f"has an observation of shape {shape} {where}; `observation_shape` is different")
            wide = [x.dtype for x in jax.tree.leaves((state, seen)) if x.dtype.itemsize > 4]
            require(game, not wide, f"uses 64-bit numbers: {wide}")
            init, step = jax.vmap(init), jax.vmap(step)
    if game.outcome_probabilities:
        try:
            jax.eval_shape(game.step, jax.eval_shape(game.init, key), jnp.int32(0))
        except ValueError:
            return
        require(game, False, "has chance, but steps without a key")


def _types(state: State) -> tuple:
    return jax.tree.structure(state), [(x.shape, x.dtype, x.weak_type) for x in jax.tree.leaves(state)]


def _check_start(game: Game, states: State) -> None:
    players = np.unique(states.current_player)
    require(game, set(players) <= {0, 1}, f"has players {players}, not 0 and 1")
    require(game, len(states.current_player) < 32 or len(players) == 2, "always lets the same player begin")
    require(game, not states.terminated.any() and not states.truncated.any(), "has ended games at the start")
    require(game, not states.rewards.any(), "gives rewards at the start")


def _check_ranks(game: Game, sample: State, key: Key[Array, ""]) -> None:
    """The same results for one state, a batch, and a batch of batches; with typed and with legacy keys."""
    keys = jax.random.split(key, 4)
    states = jax.tree.map(lambda x: x[:4], sample)

    def look(state: State, step: Callable, *arguments: Any) -> tuple:
        return state.legal_action_mask, state.observation, step(state, *arguments)

    @jit  # all in one program, which compiles much faster than each alone
    def looks(states: State, keys: Any) -> list:
        actions, legacy = random_action(key, states), jax.random.key_data(keys)
        squared = jax.tree.map(lambda x: x.reshape(2, 2, *x.shape[1:]), (states, actions, keys))
        square = look(squared[0], jax.vmap(jax.vmap(game.step)), *squared[1:])
        picked = [jax.tree.map(lambda x, i=i: x[i], (states, actions, keys)) for i in range(2)]
        singles = [look(one[0], game.step, *one[1:]) for one in picked]
        return [
            look(states, jax.vmap(game.step), actions, keys),
            look(states, jax.vmap(game.step), actions, legacy),
            jax.tree.map(lambda *x: jnp.stack(x), *singles),
            jax.tree.map(lambda x: x.reshape(4, *x.shape[2:]), square),
        ]

    batch, legacy, single, square = jax.device_get(looks(states, keys))
    require(game, _equal(batch, legacy), "steps otherwise with legacy keys than with typed ones")
    require(game, _equal(jax.tree.map(lambda x: x[:2], batch), single), "plays a batch otherwise than its states")
    require(game, _equal(batch, square), "plays a batch of batches otherwise than its states")


def _equal(one: Any, other: Any) -> bool:
    return all(map(np.array_equal, jax.tree.leaves(one), jax.tree.leaves(other)))


def _check_texts(game: Game, sample: State) -> None:
    """Notation and drawings, where the game has them."""
    look = jit(lambda states: (states.legal_action_mask, states.observation))
    sample = jax.tree.map(lambda x: x[:16], jax.device_get(sample))
    masks, views = jax.device_get(look(sample))
    states = [jax.tree.map(lambda x, i=i: x[i], sample) for i in range(len(masks))]
    texts = [_if_there(game.to_string, state) for state in states]
    if None not in texts:
        again = [game.from_string(text, int(state.current_player)) for text, state in zip(texts, states, strict=True)]
        require(game, texts == [game.to_string(state) for state in again], "writes a state otherwise once it was read")
        require(game, not any(state.terminated for state in again), "reads a game in play as one that is over")
        new_masks, new_views = look(jax.tree.map(lambda *x: np.stack(x), *again))
        require(game, _equal(masks, new_masks), "reads a state with other legal actions")
        require(game, _equal(views, new_views), "reads a state that looks different")
        _require_error(game, lambda: game.from_string("?"), "reads '?' as a position")
    for state, mask in zip(states, masks, strict=True):
        actions = np.flatnonzero(mask).tolist()
        names = [_if_there(game.action_to_string, state, action) for action in actions]
        if None not in names:
            read = [game.string_to_action(state, name) for name in names]
            require(game, read == actions, f"reads the names {names} of actions {actions} as {read}")
            _require_error(game, lambda state=state: game.string_to_action(state, "?"), "reads '?' as an action")
    for some in (states[0], jax.tree.map(lambda x: x[:2], sample)):
        drawing = _if_there(some.to_svg)
        require(game, drawing is None or drawing.lstrip().startswith("<svg"), "draws something that is no SVG document")


def _check_ends(game: Game, last: State) -> None:
    """The last positions of games that were played to their end are over too when they are read, if they can be."""
    last = jax.tree.map(lambda x: x[last.terminated][:16], jax.device_get(last))
    for index in range(len(last.terminated)):
        state = jax.tree.map(lambda x, i=index: x[i], last)
        text = _if_there(game.to_string, state)
        if text is None:
            return
        try:
            again = game.from_string(text)
        except ValueError:  # a game may refuse to set up a position that nobody can play on
            continue
        require(game, again.terminated, f"reads {text!r}, where a game has ended, as one in play")
        require(game, not np.any(again.rewards), f"gives rewards for {text!r}, which nobody has played")


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
    require(game, False, fault)
