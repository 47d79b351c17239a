"""Checks of arguments before anything is computed: the error is one line that says what would be right.

Only types, shapes and dtypes are read, so that nothing is added to a compiled program, and a tracer is checked like an
array. The wrong kind of thing (a text, a list) is a `TypeError`, the right kind with a wrong shape, dtype or value a
`ValueError`.
"""

import dataclasses
import functools
import math
import numbers
import types
from collections.abc import Callable, Mapping
from typing import Any, TypeVar

import jax
import jax.numpy as jnp
import numpy as np

from jaxgames.ops.jax_internals import setting
from jaxgames.ops.pytrees import by_its_object

Kind = TypeVar("Kind")
MOST = 2**31 - 1
"""The greatest whole number of an int32."""
MOST_SEED = 2**32 - 1
"""`jax.random.key` repeats beyond."""
LEAST_FLOAT32, MOST_FLOAT32 = float(np.finfo(np.float32).tiny), float(np.finfo(np.float32).max)
"""The least number above 0 that float32 holds in full, and the greatest one."""


def describe(value: Any) -> str:
    """What a value is, in a few words."""
    if value is None or isinstance(value, bool | int | float | complex):
        return repr(value)
    if isinstance(value, str):
        return repr(value if len(value) <= 40 else value[:37] + "...")
    if is_array(value):
        return f"{value.dtype}{list(value.shape)}"
    if isinstance(value, tuple | list) and 0 < len(value) <= 4 and all(map(is_array, value)):
        return f"a {type(value).__name__} ({', '.join(map(describe, value))})"
    if callable(value) and hasattr(value, "__qualname__"):
        return f"{value.__qualname__} itself, uncalled" if isinstance(value, type) else f"the function {name_of(value)}"
    return _with_article(type(value).__name__)


def _with_article(name: str) -> str:
    return f"{'an' if name[0] in 'aeioAEIO' else 'a'} {name}"


def name_of(function: Any) -> str:
    """The name of a function."""
    return getattr(function, "__name__", type(function).__name__)


def is_array(value: Any) -> bool:
    """Whether a value is an array of JAX or NumPy, traced or not, or a number of NumPy."""
    return isinstance(value, jax.Array | np.ndarray | np.generic)


def whole(name: str, value: Any, low: int | None = 1, high: int | None = None, expected: str = "") -> int:
    """A setting that is a whole number from `low` on (None: any), known when a program is traced.

    Errors say that `expected` was expected, by default the range.
    """
    among = "" if low is None else f" from {low} {'on' if high is None else f'to {high}'}"
    expected = f"expected {expected or f'a whole number{among}'}"
    if isinstance(value, jax.core.Tracer):
        raise TypeError(f"{name} is traced: {expected}, the same in each call (a static argument)")
    if not isinstance(value, numbers.Number | np.generic) and not (is_array(value) and value.ndim == 0):
        raise TypeError(f"{name} {describe(value)}: {expected}")
    right = isinstance(value, numbers.Integral) or (is_array(value) and jnp.issubdtype(value.dtype, jnp.integer))
    most = math.inf if high is None else high
    if not right or isinstance(value, bool) or not (low is None or low <= int(value) <= most):
        raise ValueError(f"{name} {value}: {expected}")
    return int(value)


def seed(value: Any) -> int:
    """A seed of random numbers."""
    return whole("seed", value, 0, MOST_SEED)


def whole_or_traced(name: str, value: Any, low: int = 1) -> Any:
    """As `whole`, but it may also be traced, as an input of a program."""
    return integers(name, value, ()) if isinstance(value, jax.core.Tracer) else whole(name, value, low)


def number(name: str, value: Any, expected: str, right: Callable[[float], bool] = lambda number: True) -> float:
    """A setting that is a number for which `right` holds, as `expected` says; NaN is refused."""
    if isinstance(value, jax.core.Tracer):
        raise TypeError(f"{name} is traced: expected {expected}, the same in each call (a static argument)")
    if isinstance(value, bool) or not (isinstance(value, numbers.Real) or (is_array(value) and value.ndim == 0)):
        raise TypeError(f"{name} {describe(value)}: expected {expected}")
    try:
        taken = float(value)
    except OverflowError:
        raise ValueError(f"{name} is too large for a float: expected {expected}") from None
    if math.isnan(taken) or not right(taken):
        raise ValueError(f"{name} {value}: expected {expected}")
    return taken


def native(value: Any) -> Any:
    """A number of NumPy or JAX as one of Python, also in tuples; Python's own and traced ones stay what they are."""
    if type(value) is tuple:
        return tuple(native(tuple(one) if type(one) is list else one) for one in value)
    known = is_array(value) and value.ndim == 0 and not isinstance(value, jax.core.Tracer)
    return value.item() if known and (value.dtype == bool or jnp.issubdtype(value.dtype, jnp.number)) else value


def native_fields(made: Any, *names: str) -> None:
    """For `__post_init__`: makes these fields of a dataclass `native`, by default all, a list a tuple where one is
    declared, and methods those of any equal object. So what is made of equal arguments is equal, can be hashed, and
    shares compiled programs.
    """
    for field in dataclasses.fields(made):
        if field.init and (not names or field.name in names):
            value = getattr(made, field.name)
            value = tuple(value) if type(value) is list and str(field.type).startswith("tuple") else value
            object.__setattr__(made, field.name, by_its_object(native(value)))


def flag(name: str, value: Any) -> None:
    """True or false."""
    if not isinstance(value, bool | np.bool_):
        raise TypeError(f"{name} {describe(value)}: expected True or False")


def sizes(name: str, value: Any) -> None:
    """Whole numbers, in a tuple or list."""
    if not isinstance(value, tuple | list):
        raise TypeError(f"{name} {describe(value)}: expected whole numbers, such as (256, 256)")
    for size in value:
        whole(name, size, None)


def share(name: str, value: Any) -> float:
    """A number from 0 to 1."""
    return number(name, value, "a number from 0 to 1", lambda share: 0 <= share <= 1)


def discount(value: Any) -> float:
    """What a point is worth a turn or an action earlier."""
    return number("discount", value, "a number above 0, at most 1", lambda discount: 0 < discount <= 1)


def text(name: str, value: Any, like: str = "") -> str:
    """A text, such as `like`."""
    if not isinstance(value, str):
        raise TypeError(f"{name} {describe(value)}: expected a text{like and f', such as {like!r}'}")
    return value


def choice(name: str, value: Any, known: Mapping[str, Any] | tuple[str, ...]) -> str:
    """One of the names that are known."""
    if not isinstance(value, str):
        raise TypeError(f"{name} {describe(value)}: expected one of {', '.join(known)}")
    if value not in known:
        raise ValueError(f"{name} {describe(value)}: expected one of {', '.join(known)}")
    return value


def function(name: str, value: Any, form: str) -> Any:
    """Something that can be called as `form` says."""
    if not callable(value):
        raise TypeError(f"{name} {describe(value)}: expected a function {form}")
    return value


def kind(name: str, value: Any, of: type[Kind]) -> Kind:
    """A value of this class."""
    if not isinstance(value, of):
        raise TypeError(f"{name} {describe(value)}: expected {_with_article(of.__name__)}")
    return value


def made(name: str, value: Any, parts: tuple[str, ...], expected: str) -> Any:
    """A value with these attributes: the result of one of our functions, not the function itself."""
    if isinstance(value, str | type) or not all(hasattr(value, part) for part in parts):
        ours = isinstance(value, type | types.FunctionType) and value.__module__.startswith("jaxgames.")
        what = f"{value.__name__} is not called" if ours else describe(value)
        raise TypeError(f"{name} {what}: expected {expected}")
    return value


def key(value: Any, name: str = "key") -> Any:
    """One key, typed or legacy; a legacy key is uint32[2], or whatever the default generator of this JAX has."""
    if not is_array(value):
        raise TypeError(f"{name} {describe(value)}: expected a key, such as jax.random.key(0)")
    typed = jnp.issubdtype(value.dtype, jax.dtypes.prng_key)
    words = _words_of_key(setting("jax_default_prng_impl"))
    if not typed and (value.dtype != np.uint32 or value.ndim == 0 or value.shape[-1] != words):
        other = "or jax.random.key(0, impl='rbg') of another generator"
        raise ValueError(f"{name} {describe(value)}: expected a key, such as jax.random.key(0), {other}")
    batch = value.shape if typed else value.shape[:-1]
    if batch:
        raise ValueError(f"{name}: one key is needed here, not {batch_of(batch)}: use jax.vmap")
    return value


@functools.cache
def _words_of_key(generator: Any) -> int:
    """The generator of a legacy key: JAX always takes it for one of its default generator, whatever made it."""
    return jax.eval_shape(lambda: jax.random.key_data(jax.random.key(0))).shape[0]


def batch_of(shape: tuple[int, ...]) -> str:
    """A batch of this shape, in words."""
    return f"a batch of {shape[0] if len(shape) == 1 else ' x '.join(map(str, shape))}"


def integers(name: str, value: Any, shape: tuple[int, ...], most: int | None = None) -> Any:
    """Whole numbers of this shape, as int32; a wide one that is negative, or that int32 cannot hold, becomes -1.

    If the shape is (), a whole number of Python or NumPy is accepted. With `most`, numbers that are known outside of
    `jit` must be from 0 to `most`.
    """
    if isinstance(value, bool | float | complex) or not (is_array(value) or isinstance(value, int)):
        kind = ValueError if isinstance(value, float) else TypeError
        raise kind(f"{name} {describe(value)}: expected {_wanted(shape)}")
    given = value
    if isinstance(value, int):
        value = np.int64(value if 0 <= value <= MOST else -1)
    if not jnp.issubdtype(value.dtype, jnp.integer):
        raise ValueError(f"{name} {describe(value)}: expected {_wanted(shape)}")
    if value.shape != shape:
        if not shape:
            raise ValueError(f"one {name} is needed here, not {batch_of(value.shape)}: use jax.vmap")
        raise ValueError(f"{name} {describe(value)}: expected {_wanted(shape)}")
    if most is not None and _known(value) and not np.all((np.asarray(value) >= 0) & (np.asarray(value) <= most)):
        raise ValueError(f"{name} {describe(given) if shape else given}: expected {_wanted(shape)} from 0 to {most}")
    if value.dtype.itemsize > 4:  # a cast would silently change the number
        where: Any = jnp.where if isinstance(value, jax.Array) else np.where
        value = where((value >= 0) & (value <= MOST), value.astype(np.int32), np.int32(-1))
    return jnp.asarray(value, jnp.int32)


def _known(value: Any) -> bool:
    """Whether the numbers of an array can be read here: it is not traced, and no part is on another host."""
    return not isinstance(value, jax.core.Tracer) and getattr(value, "is_fully_addressable", True)


def _wanted(shape: tuple[int, ...]) -> str:
    return f"whole numbers, int32{list(shape)}" if shape else "one whole number"


def array(name: str, value: Any, dtype: Any, shape: tuple[int | None, ...], of: str = "") -> Any:
    """An array of this dtype, or kind of dtype (`jnp.floating`, `np.bool_`, ...), and shape, where None is any size."""
    where = f"{dtype_name(dtype)}[{', '.join('n' if size is None else str(size) for size in shape)}]{of and ' ' + of}"
    if not is_array(value):
        raise TypeError(f"{name} {describe(value)}: expected {where}")
    fits = len(value.shape) == len(shape) and all(b is None or a == b for a, b in zip(value.shape, shape, strict=True))
    if not fits or not jnp.issubdtype(value.dtype, dtype):
        raise ValueError(f"{name} {describe(value)}: expected {where}")
    return value


def bits(value: Any) -> Any:
    """Random bits: words of 32. With x64 JAX draws 64, with which comparisons and shifts would give other results."""
    if not is_array(value) or value.dtype != np.uint32:
        said = f"bits {describe(value)}: expected uint32, as jax.random.bits(key, dtype=jnp.uint32) draws them"
        raise (ValueError if is_array(value) else TypeError)(said)
    return value


def policy_and_value(outputs: Any, batch: int, actions: int, of: str) -> tuple[Any, Any]:
    """The logits and the value that a network gives for a batch of positions."""
    expected = f"expected apply(params, observation) -> (logits float32[{batch}, {actions}], value float32[{batch}])"
    if not isinstance(outputs, tuple) or len(outputs) != 2 or not all(map(is_array, outputs)):
        raise TypeError(f"the network gives {describe(outputs)} for {batch} positions of {of}: {expected}")
    floats = all(jnp.issubdtype(output.dtype, jnp.floating) for output in outputs)
    if not floats or [output.shape for output in outputs] != [(batch, actions), (batch,)]:
        raise ValueError(f"the network gives {describe(outputs)} for {batch} positions of {of}: {expected}")
    return outputs


def mask(name: str, value: Any) -> Any:
    """Flags of any batch of actions."""
    if not is_array(value):
        raise TypeError(f"{name} {describe(value)}: expected states, or a mask bool[..., actions]")
    if value.dtype != bool or not value.ndim or not value.shape[-1]:
        raise ValueError(f"{name} {describe(value)}: expected states, or a mask bool[..., actions]")
    return jnp.asarray(value)


def floats(name: str, value: Any) -> Any:
    """Floating point numbers of any shape."""
    if not is_array(value):
        raise TypeError(f"{name} {describe(value)}: expected float32 of any shape")
    if not jnp.issubdtype(value.dtype, jnp.floating):
        raise ValueError(f"{name} {describe(value)}: expected float32 of any shape")
    return value


def dtype_name(dtype: Any) -> str:
    """A dtype, or a kind of dtypes, as people say it."""
    if isinstance(dtype, np.dtype):
        return dtype.name
    return {jnp.floating: "float32", jnp.integer: "int32", np.bool_: "bool"}.get(dtype, getattr(dtype, "__name__", "?"))
