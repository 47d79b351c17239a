"""Steps of small searches as single kernels of the CPU.

XLA:CPU runs a program operation by operation. Each of them costs some tenths of a microsecond and is shared among
threads, which is most of the time that a simulation in a few dozen positions takes: it is a hundred operations of a
hundred numbers. A computation that XLA itself finds small enough, loops and all, it compiles into one kernel instead;
here that is asked for, by the attribute with which XLA marks such a computation.

The attribute is XLA's own affair, and its compiler of such kernels knows some operations only and takes no unused
arguments. So it is asked only in versions of JAX with which this was tested, and for what is known to work; everything
else runs as ever, with the same results.
"""

import functools
import operator
from collections.abc import Callable, Iterator, Sequence
from typing import Any

import jax
import jax.numpy as jnp
from jax import lax
from jax.core import Tracer
from jax.custom_batching import custom_vmap
from jax.experimental.xla_metadata import set_xla_metadata
from jax.extend.core import ClosedJaxpr, Jaxpr, jaxpr_as_fun
from jaxtyping import Array, Bool, Int32

TESTED = ((0, 10),)
"""Versions of JAX."""
MOST_DEVICES = 1
"""XLA may divide the program of several devices among them, which a kernel does not bear."""
MOST_LANES = 255
"""Larger batches gain more from several threads than from a single kernel."""
OPERATIONS = frozenset(
    """
    abs add and bitcast_convert_type broadcast_in_dim clamp clz concatenate convert_element_type copy div dynamic_slice
    dynamic_update_slice eq exp expand_dims floor gather ge gt iota is_finite jit le log lt max min mul ne neg not or
    pad pjit population_count reduce_and reduce_max reduce_min reduce_or reduce_sum rem reshape rsqrt scan select_n
    shift_left shift_right_arithmetic shift_right_logical sign slice sqrt squeeze stack stop_gradient sub transpose
    unstack while xor
    """.split()
)
"""What a kernel may consist of; neither scatters nor products of matrices."""
MOST_REDUCED = 2048
"""Elements of a reduction; those of large ones, from 4,096 on, XLA leaves to a library."""
_KINDS = (jnp.float32, jnp.int32, jnp.uint32, jnp.bool_)
_MARKS = {"xla_cpu_small_call": "true", "inlineable": "false"}


def is_small(lanes: int, edges: int) -> bool:
    """Whether kernels are worth while for so many nodes of so many edges, and can be."""
    return lanes <= MOST_LANES and lanes * edges <= MOST_REDUCED


def one_kernel(small: bool, function: Callable[..., Any], *written: Any) -> Any:
    """`function(True, *written)` as one kernel or, where that is not `small` or cannot be, `function(False, *written)`.

    Both are to give the same; with True the function should go through the lanes in loops, see `scattered`, as scatters
    are no part of kernels. `written` are arrays in whose place the function writes, all other arrays it only reads. It
    gives at least one array of whole numbers.
    """
    if not (small and _possible()):
        return function(False, *written)
    closed, shape = jax.make_jaxpr(functools.partial(function, True), return_shape=True)(*written)
    places, tree = jax.tree.flatten(written)
    given = [x for x in closed.consts if isinstance(x, Tracer)]
    if not (_fits(closed.jaxpr) and all(_is_plain(x) for x in given) and all(len(x) > 1 for x in places)):
        return function(False, *written)
    plain = jax.make_jaxpr(functools.partial(function, False))(*written)
    given += [x for x in plain.consts if isinstance(x, Tracer) and all(x is not y for y in given)]

    @custom_vmap
    def call(places, read):
        def inside(places, read):
            with set_xla_metadata(**dict.fromkeys(_MARKS)):  # the call is marked, not what it is made of
                return _all_used(jaxpr_as_fun(_with(closed, given, read))(*places), read)

        with set_xla_metadata(**_MARKS):
            return jax.jit(inside)(places, read)

    @call.def_vmap
    def _(size, batched, places, read):
        axes = jax.tree.map(lambda is_batched: 0 if is_batched else None, batched)
        outs = jax.vmap(lambda places, read: jaxpr_as_fun(_with(plain, given, read))(*places), axes)(places, read)
        return outs, [True] * len(outs)

    return jax.tree.unflatten(jax.tree.structure(shape), call(places, given))


def scattered(
    flat: Array, places: Int32[Array, " lanes"], values: Array, in_kernel: bool, *, add: bool = False
) -> Array:
    """An array with the lanes' values set or added at places; those beyond its end are dropped."""
    if not in_kernel:
        at = flat.at[places]
        return (at.add if add else at.set)(values, mode="drop")

    def one(lane, flat):
        place = jnp.minimum(places[lane], flat.size - 1)
        old = lax.dynamic_slice(flat, (place,), (1,))
        new = values if values.ndim == 0 else values[lane]
        new = old + new if add else jnp.broadcast_to(new, (1,))
        return lax.dynamic_update_slice(flat, jnp.where(places[lane] < flat.size, new, old), (place,))

    return lax.fori_loop(0, len(places), one, flat)


def numbers_of(flags: Bool[Array, " lanes"], most: int, in_kernel: bool) -> Int32[Array, " most"]:
    """The numbers of the lanes that have a flag, the first ones if there are more; then the number of lanes."""
    lanes = len(flags)
    if not in_kernel:
        return jnp.nonzero(flags, size=most, fill_value=lanes)[0].astype(jnp.int32)

    def one(lane, carry):
        found, count = carry
        there = flags[lane] & (count < most)
        place = jnp.minimum(count, most - 1)
        number = jnp.where(there, lane, found[place])
        return lax.dynamic_update_slice(found, number[None], (place,)), count + there.astype(jnp.int32)

    return lax.fori_loop(0, lanes, one, (jnp.full(most, lanes, jnp.int32), jnp.int32(0)))[0]


def _possible() -> bool:
    """Whether this is a place for kernels."""
    tested = jax.__version_info__[:2] in TESTED
    return tested and jax.default_backend() == "cpu" and jax.local_device_count() <= MOST_DEVICES


def _fits(jaxpr: Jaxpr) -> bool:
    """Whether a program has only operations that a kernel may consist of."""
    return all(
        eqn.primitive.name in OPERATIONS
        and not (eqn.primitive.name.startswith("reduce_") and getattr(eqn.invars[0].aval, "size", 0) > MOST_REDUCED)
        and all(map(_fits, _within(eqn.params)))
        for eqn in jaxpr.eqns
    )


def _within(params: dict[str, Any]) -> Iterator[Jaxpr]:
    for value in params.values():
        for part in value if isinstance(value, tuple | list) else (value,):
            if isinstance(part, ClosedJaxpr | Jaxpr):
                yield part.jaxpr if isinstance(part, ClosedJaxpr) else part


def _is_plain(array: Array) -> bool:
    return array.size > 0 and array.dtype in _KINDS


def _with(closed: ClosedJaxpr, old: Sequence[Array], new: Sequence[Array]) -> ClosedJaxpr:
    """A program with other values in the place of those that it was made with."""
    consts = [next((y for x, y in zip(old, new, strict=True) if x is const), const) for const in closed.consts]
    return ClosedJaxpr(closed.jaxpr, consts)


def _all_used(outs: list[Array], read: list[Array]) -> list[Array]:
    """The same values, made of all that is `read`: XLA's compiler fails where an argument is of no use.

    Divides by a one that XLA does not know to be one, as in `jaxgames.ops.materialize`.
    """
    some = functools.reduce(operator.or_, map(_bits, read), jnp.int32(0))
    whole = [number for number, out in enumerate(outs) if out.dtype == jnp.int32]
    least = min(whole, key=lambda number: outs[number].size)
    one = jnp.broadcast_to(((some | 1) != 0).astype(jnp.int32), outs[least].shape)
    return [lax.div(out, one) if number == least else out for number, out in enumerate(outs)]


def _bits(array: Array) -> Int32[Array, ""]:
    """The first element, as a whole number."""
    first = array.reshape(-1)[0]
    return first.astype(jnp.int32) if first.dtype == bool else lax.bitcast_convert_type(first, jnp.int32)
