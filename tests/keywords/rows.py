"""What the tables are made of: for each keyword another value and the call that differs by it, or the test of it."""

import re
import tempfile
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any, NamedTuple

import jax
import numpy as np

from tests.settings.traces import Program

ADDRESS = re.compile(r" at 0x[0-9a-f]+")


class Beside(NamedTuple):
    """Another value of a keyword, tried beside some others that both calls have."""

    value: Any
    others: Mapping[str, Any]


def beside(value: Any, **others: Any) -> Beside:
    """See `Beside`."""
    return Beside(value, others)


class Several(tuple[Any, ...]):
    """Several other values: each must give another result than all others."""


def several(*values: Any) -> Several:
    """See `Several`."""
    return Several(values)


class Heard:
    """The value of a keyword that is called back: what it was told is a part of the result."""

    def __init__(self, answers: Any = None):
        self.told: list[Any] = []
        self.answers = answers

    def __call__(self, *arguments: Any) -> Any:
        self.told.append(arguments)
        return self.answers


class Tried(NamedTuple):
    """The rows of a function: what is called, other values of its keywords, and the tests that hold the others."""

    call: Callable[..., Any]
    values: Mapping[str, Any]
    held: Mapping[str, str]


def tried(call: Callable[..., Any], held: Mapping[str, str] | None = None, **values: Any) -> Tried:
    """See `Tried`. `held` are keywords with the name of a test, as in `tests/x/test_y.py::test_z`."""
    return Tried(call, values, held or {})


def held(**tests: str) -> Tried:
    """A function all of whose keywords are tested elsewhere."""
    return Tried(lambda: None, {}, tests)


def result(row: Tried, keywords: Mapping[str, Any]) -> tuple[Any, Any]:
    """What a call gives, so that it can be compared, and what it told those who listened."""
    found = row.call(**keywords)
    return found if isinstance(found, Program) else plain(found), [
        plain(value.told) for value in keywords.values() if isinstance(value, Heard) and value.told
    ]


def said(call: Callable[[], Any]) -> Any:
    """What a call gives, or what it says is wrong."""
    try:
        return call()
    except (ValueError, TypeError) as error:
        return f"{type(error).__name__}: {error}"


def differ(one: tuple[Any, Any], other: tuple[Any, Any]) -> bool:
    """Whether two results are different."""
    return plain(one) != plain(other)


def plain(value: Any) -> Any:
    """Equal for equal results: numbers of arrays, programs as numbers, anything else as it is shown."""
    leaves, tree = jax.tree.flatten(value)
    return ADDRESS.sub("", str(tree)), *map(_leaf, leaves)


def _leaf(value: Any) -> Any:
    if isinstance(value, Program):
        return value.of()
    if isinstance(value, jax.Array) and jax.dtypes.issubdtype(value.dtype, jax.dtypes.prng_key):
        value = jax.random.key_data(value)
    if isinstance(value, jax.Array | np.ndarray):
        array = np.asarray(value)
        return array.shape, str(array.dtype), array.tobytes()
    return ADDRESS.sub("", repr(value))


def in_folder(call):
    """A call with the path of an empty folder."""

    def run(**keywords):
        with tempfile.TemporaryDirectory() as folder:
            return call(Path(folder), **keywords)

    return run
