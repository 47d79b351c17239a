"""Wrong arguments by kind: each with the exception and a part of the line that it must get."""

from collections.abc import Callable, Mapping
from typing import Any, NamedTuple

import jax
import jax.numpy as jnp
import numpy as np

import jaxgames

Wrong = Mapping[str, tuple[Any, type[Exception], str]]
"""By name: a value that is wrong, the exception, and a part of its line."""


class Row(NamedTuple):
    """A public function, arguments that are right, and for each argument values that are wrong."""

    call: Callable[..., Any]
    right: Mapping[str, Any]
    wrong: Mapping[str, Wrong]
    free: tuple[str, ...] = ()
    """Arguments that may be anything: what a user's own functions are given, and switches."""
    tried: bool = True
    """Whether the right arguments are tried here; otherwise by the function's own tests, as it takes long."""


GAME = jaxgames.make("connect_four")
DICE = jaxgames.make("backgammon")
SMALL = jaxgames.make("connect_four", rows=4, cols=4)
SEED = jax.random.key(0)
KEYS = jax.random.split(SEED, 4)
STATES, OF_SMALL, OF_DICE = jax.jit(lambda keys: [jax.vmap(game.init)(keys) for game in (GAME, SMALL, DICE)])(KEYS)
STATE, ROLLED, SMALL_STATE = (jax.tree.map(lambda x: x[0], states) for states in (STATES, OF_DICE, OF_SMALL))
TORN = STATES.replace(rewards=STATES.rewards[0])
OF_BATCH = STATE.replace(_position=STATES._position)


def blank(function: Callable[..., Any], *arguments: Any) -> Any:
    """Zeros in place of what a function returns, which is not compiled."""
    return jax.tree.map(lambda shape: np.zeros(shape.shape, shape.dtype), jax.eval_shape(function, *arguments))


def rows(count: int) -> Any:
    """The first states of the batch."""
    return jax.tree.map(lambda x: x[:count], STATES)


NO_STATE: Wrong = {
    "list": ([STATE], TypeError, "expected what game.init(key) returns"),
    "None": (None, TypeError, "None: expected what game.init(key) returns"),
    "text": ("4453", TypeError, "'4453': expected what game.init(key) returns"),
    "array": (jnp.zeros(4), TypeError, "float32[4]: expected what game.init(key) returns"),
    "too few": (TORN, ValueError, "rewards is [2] where terminated is [4]: expected [4, 2]"),
    "position of a batch": (OF_BATCH, ValueError, "the position is [4] where terminated is []"),
}
ONE_STATE: Wrong = {
    **NO_STATE,
    "batch": (STATES, ValueError, "one state is needed here, not a batch of 4: use jax.vmap"),
    "batch of 1": (rows(1), ValueError, "one state is needed here, not a batch of 1: use jax.vmap"),
    "batch of 2": (rows(2), ValueError, "one state is needed here, not a batch of 2: use jax.vmap"),
    "of another game": (ROLLED, ValueError, "this state is of backgammon, this game is connect_four"),
    "of another board": (SMALL_STATE, ValueError, "this state is of ConnectFour(rows=4, cols=4"),
}
STATE_BATCH: Wrong = {
    **NO_STATE,
    "one": (STATE, ValueError, "a batch of shape [n] is needed here, not one state"),
    "batch of batches": (
        jax.tree.map(lambda x: x[None], STATES),
        ValueError,
        "a batch of shape [n] is needed here, not a batch of 1 x 4",
    ),
    "of another game": (OF_DICE, ValueError, "this state is of backgammon, this game is connect_four"),
    "of another board": (OF_SMALL, ValueError, "this state is of ConnectFour(rows=4, cols=4"),
}
KEY: Wrong = {
    "int": (0, TypeError, "key 0: expected a key, such as jax.random.key(0)"),
    "float": (0.5, TypeError, "key 0.5: expected a key"),
    "text": ("0", TypeError, "key '0': expected a key"),
    "list": ([0, 1], TypeError, "key a list: expected a key"),
    "batch": (KEYS, ValueError, "one key is needed here, not a batch of 4"),
    "old batch": (np.zeros((4, 2), np.uint32), ValueError, "one key is needed here, not a batch of 4"),
    "too few": (np.zeros(1, np.uint32), ValueError, "key uint32[1]: expected a key"),
    "floats": (jnp.zeros(2), ValueError, "key float32[2]: expected a key"),
    "old of another generator": (np.zeros(4, np.uint32), ValueError, "or jax.random.key(0, impl='rbg') of another"),
}
NEEDED_KEY: Wrong = {**KEY, "None": (None, TypeError, "key None: expected a key")}


def whole(name: str) -> Wrong:
    """What is wrong for one whole number of a program: an action, an outcome."""
    return {
        "text": ("4", TypeError, f"{name} '4': expected one whole number"),
        "float": (3.9, ValueError, f"{name} 3.9: expected one whole number"),
        "NaN": (float("nan"), ValueError, f"{name} nan: expected one whole number"),
        "bool": (True, TypeError, f"{name} True: expected one whole number"),
        "list": ([3], TypeError, f"{name} a list: expected one whole number"),
        "batch": (jnp.zeros(4, jnp.int32), ValueError, f"one {name} is needed here, not a batch of 4: use jax.vmap"),
        "batch of 1": (np.zeros(1, np.int32), ValueError, f"one {name} is needed here, not a batch of 1"),
        "floats": (jnp.float32(3), ValueError, f"{name} float32[]: expected one whole number"),
        "bools": (np.bool_(True), ValueError, f"{name} bool[]: expected one whole number"),
    }


def setting(name: str, low: int | None = 1) -> Wrong:
    """What is wrong for a whole number that a program is compiled for."""
    expected = "expected a whole number" + ("" if low is None else f" from {low} ")
    kinds: dict[str, Any] = {
        "text": ("10", TypeError, f"{name} '10': {expected}"),
        "None": (None, TypeError, f"{name} None: {expected}"),
        "float": (2.5, ValueError, f"{name} 2.5: {expected}"),
        "NaN": (float("nan"), ValueError, f"{name} nan: {expected}"),
        "bool": (True, ValueError, f"{name} True: {expected}"),
        "list": ([3], TypeError, f"{name} a list: {expected}"),
        "batch": (jnp.zeros(4, jnp.int32), TypeError, f"{name} int32[4]: {expected}"),
    }
    return kinds if low is None else {**kinds, "too low": (low - 1, ValueError, f"{name} {low - 1}: {expected}")}


def one_of(name: str, most: int) -> Wrong:
    """What is wrong for one whole number from 0 on."""
    beyond: Wrong = {
        str(value): (value, ValueError, f"{name} {value}: expected one whole number from 0 to {most}")
        for value in (-1, most + 1, np.int64(2**32), jnp.int32(-1))
    }
    return {**whole(name), **beyond}


def text(name: str) -> Wrong:
    """What is wrong for a text."""
    return {
        "int": (3, TypeError, f"{name} 3: expected a text"),
        "None": (None, TypeError, f"{name} None: expected a text"),
        "list": (["4"], TypeError, f"{name} a list: expected a text"),
        "array": (jnp.zeros(4), TypeError, f"{name} float32[4]: expected a text"),
    }


def function(name: str) -> Wrong:
    """What is wrong for a function."""
    return {
        "int": (3, TypeError, f"{name} 3: expected a function"),
        "text": ("random", TypeError, f"{name} 'random': expected a function"),
        "None": (None, TypeError, f"{name} None: expected a function"),
        "list": ([GAME.step], TypeError, f"{name} a list: expected a function"),
        "array": (jnp.zeros(4), TypeError, f"{name} float32[4]: expected a function"),
    }


NO_GAME: Wrong = {
    "text": ("connect_four", TypeError, "game 'connect_four': expected a game, such as jaxgames.make('connect_four')"),
    "None": (None, TypeError, "game None: expected a game"),
    "class": (type(GAME), TypeError, "game ConnectFour itself, uncalled: expected a game"),
    "state": (STATE, TypeError, "game a State: expected a game"),
    "list": ([GAME], TypeError, "game a list: expected a game"),
}


def number(name: str, expected: str, wrong: float | None = None) -> Wrong:
    """What is wrong for a number, NaN among it, and one that is out of range."""
    kinds: dict[str, Any] = {
        "text": ("0.5", TypeError, f"{name} '0.5': expected {expected}"),
        "None": (None, TypeError, f"{name} None: expected {expected}"),
        "NaN": (float("nan"), ValueError, f"{name} nan: expected {expected}"),
        "huge": (10**400, ValueError, f"{name} is too large for a float: expected {expected}"),
        "bool": (True, TypeError, f"{name} True: expected {expected}"),
        "list": ([0.5], TypeError, f"{name} a list: expected {expected}"),
        "batch": (jnp.zeros(4), TypeError, f"{name} float32[4]: expected {expected}"),
    }
    return (
        kinds
        if wrong is None
        else {**kinds, "out of range": (wrong, ValueError, f"{name} {wrong}: expected {expected}")}
    )


def choice(name: str, known: str) -> Wrong:
    """What is wrong for one of a few names."""
    return {
        "int": (3, TypeError, f"{name} 3: expected one of {known}"),
        "None": (None, TypeError, f"{name} None: expected one of {known}"),
        "unknown": ("best", ValueError, f"{name} 'best': expected one of {known}"),
        "list": (["best"], TypeError, f"{name} a list: expected one of {known}"),
    }


def without(wrong: Wrong, *kinds: str) -> Wrong:
    """All but some kinds, which are right here."""
    return {kind: case for kind, case in wrong.items() if kind not in kinds}
