"""Steps of small searches as single kernels of the CPU.

XLA:CPU runs a program operation by operation. Each operation takes some tenths of a microsecond to start. This is most
of the time of a simulation in a few dozen positions, which is a hundred operations on a hundred numbers each. XLA
itself compiles a computation that it finds small enough, loops included, into one kernel, and marks it by an attribute.
This file marks a step of the search like this. On 2 cores of an AMD EPYC with jax 0.10, Connect Four, searches take
this much less time: one position x 800 rollouts 2.0x, 64 positions x 128 simulations with a linear network 4.1x, with
an MLP 256-256 2.2x, with a residual network 3 x 32 1.2x.

The attribute is internal to XLA, and its compiler for such kernels knows only some operations and takes no unused
arguments. So steps are marked only if they consist of operations that are known to work, and only if a small marked
step gives the same result as an unmarked one (`probe`, once in a process). Everything else runs unmarked, with the
same results.

The search calls `run`. Code that must differ inside a kernel (`scatter`, `nonzero`, the backup) checks `is_inside`.
"""

import contextvars
import functools
import importlib.metadata
import logging
import operator
import platform
from collections.abc import Callable, Iterator, Sequence
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
from jax import lax
from jax.core import Tracer
from jax.custom_batching import custom_vmap
from jaxtyping import Array, Bool, Int32

from jaxgames.ops import apart
from jaxgames.ops.jax_internals import ClosedJaxpr, Jaxpr, has_programs, jaxpr_as_fun, marked, setting
from jaxgames.ops.scatter import set_rows

MET = ("0.8.0", "0.10.2", "0.11.2", "0.12.0.1")
"""Versions of JAX whose compiler is known to survive `probe`. For any other one a separate process runs it."""
MAX_DEVICES = 1
"""With several devices XLA may divide a program among them, which breaks kernels."""
MAX_LANES = 255
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
"""The operations that a kernel may have: no scatters and no matrix products."""
MAX_REDUCED = 2048
"""The most elements of a reduction; XLA leaves larger ones, from 4,096 on, to a library."""
_KINDS = (jnp.float32, jnp.int32, jnp.uint32, jnp.bool_)
OURS = "jaxgames_step"
_MARKS = {"xla_cpu_small_call": "true", "inlineable": "false", OURS: "true"}
"""The last one distinguishes our kernels from those that XLA makes by itself."""
_inside = contextvars.ContextVar("inside a kernel", default=False)


def is_small(lanes: int, edges: int) -> bool:
    """Whether kernels are worthwhile for so many nodes with so many edges, and possible."""
    return lanes <= MAX_LANES and lanes * edges <= MAX_REDUCED


def is_inside() -> bool:
    """Whether a function is being traced for a kernel, which cannot scatter and so loops over lanes."""
    return _inside.get()


def run(small: bool, function: Callable[..., Any], *written: Any) -> Any:
    """`function(*written)`, as one kernel if it is `small` and has only operations that a kernel may have.

    The function is traced twice, for the kernel (`is_inside`) and for everything else, and must give the same result
    both times.

    Args:
        small: whether a kernel is worthwhile, see `is_small`.
        function: gives at least one array of whole numbers. It changes none of the arrays that it reads, except
            `written`.
        written: arrays that the function overwrites.
    """
    return _run_marked(function, *written) if small and _is_possible() else function(*written)


def _run_marked(function: Callable[..., Any], *written: Any) -> Any:
    closed, shape = _traced(True, function, written)
    places, tree = jax.tree.flatten(written)
    given = [x for x in closed.consts if isinstance(x, Tracer)]
    if not (_fits(closed.jaxpr) and all(_is_plain(x) for x in given)):
        return function(*written)
    plain = _traced(False, function, written)[0]
    given += [x for x in plain.consts if isinstance(x, Tracer) and all(x is not y for y in given)]

    @custom_vmap
    def call(places, read):
        def inside(places, read):
            with marked(**dict.fromkeys(_MARKS)):  # marks the call, not the operations in it
                return _all_used(jaxpr_as_fun(_with(closed, given, read))(*places), read)

        with marked(**_MARKS):
            return jax.jit(inside)(places, read)

    @call.def_vmap
    def _(size, batched, places, read):
        axes = jax.tree.map(lambda is_batched: 0 if is_batched else None, batched)
        outs = jax.vmap(lambda places, read: jaxpr_as_fun(_with(plain, given, read))(*places), axes)(places, read)
        return outs, [True] * len(outs)

    return jax.tree.unflatten(jax.tree.structure(shape), call(places, given))


def by_device(on_cpu: Callable[..., Any], elsewhere: Callable[..., Any], *given: Any) -> Any:
    """`on_cpu(*given)` in programs for CPUs, `elsewhere(*given)` in others. A kernel is for CPUs, and cannot ask."""
    return on_cpu(*given) if is_inside() else lax.platform_dependent(*given, cpu=on_cpu, default=elsewhere)


def scatter(flat: Array, index: Int32[Array, " lanes"], values: Array) -> Array:
    """An array with the lanes' values at these indices; those beyond its end are dropped."""
    if not is_inside():
        return set_rows(flat, index, values)

    def one(lane, flat):
        place = jnp.minimum(index[lane], flat.size - 1)
        old, new = lax.dynamic_slice(flat, (place,), (1,)), jnp.broadcast_to(values[lane], (1,))
        return lax.dynamic_update_slice(flat, jnp.where(index[lane] < flat.size, new, old), (place,))

    return lax.fori_loop(0, len(index), one, flat)


def nonzero(flags: Bool[Array, " lanes"], size: int) -> Int32[Array, " size"]:
    """The indices of the first `size` flags that are set, filled up with the number of flags."""
    lanes = len(flags)
    if not is_inside():
        return jnp.nonzero(flags, size=size, fill_value=lanes)[0].astype(jnp.int32)

    def one(lane, carry):
        indices, count = carry
        there = flags[lane] & (count < size)
        place = jnp.minimum(count, size - 1)
        number = jnp.where(there, lane, indices[place])
        return lax.dynamic_update_slice(indices, number[None], (place,)), count + there.astype(jnp.int32)

    return lax.fori_loop(0, lanes, one, (jnp.full(size, lanes, jnp.int32), jnp.int32(0)))[0]


def _traced(inside: bool, function: Callable[..., Any], written: Any) -> tuple[ClosedJaxpr, Any]:
    """The program of a function for a kernel or for everything else, and the shapes of what it gives."""
    token = _inside.set(inside)
    try:
        # A new function each time, as JAX keeps the trace of one that it knows.
        return jax.make_jaxpr(lambda *written: function(*written), return_shape=True)(*written)
    finally:
        _inside.reset(token)


def _is_possible() -> bool:
    """Whether this machine and this version of JAX can have kernels."""
    if jax.default_backend() != "cpu" or jax.local_device_count() > MAX_DEVICES:
        return False
    # A marked step holds the tracers that it reads; JAX's check for leaks would report them.
    if setting("jax_disable_jit") or setting("jax_check_tracer_leaks"):
        return False
    return _works()


@functools.cache
def _works() -> bool:
    """What `probe` says, asked once in a process; if no, that is logged."""
    about = f"jax {jax.__version__}, jaxlib {importlib.metadata.version('jaxlib')}, {platform.machine()}"
    works = has_programs() and apart.ask(probe, about, is_safe=jax.__version__ in MET)
    if not works:
        told = "small searches run without single kernels, up to 4 times slower: %s"
        logging.getLogger(__name__).warning(told, about)
    return works


def probe() -> bool:
    """Whether a small step that bears our mark is compiled with it, and gives what it gives without, also mapped.

    The step has what steps of a search have: loops in loops, writes of lanes, all kinds of numbers.
    """
    trees = np.linspace(-1, 1, 48, dtype=np.float32)
    lanes, flags = np.arange(5, dtype=np.int32), np.array([True, False, True, True, False])
    one, many = (trees, lanes, flags), tuple(np.stack([x, x[::-1]]) for x in (trees, lanes, flags))

    def both(run, one, many):
        step = functools.partial(_probed_step, run)
        return step(*one), jax.vmap(step)(*many)

    try:
        steps = jax.jit(lambda *given: (both(_run_marked, *given), both(_run_plain, *given)))
        program = steps.lower(one, many).compile()
        ours, plain = program(one, many)
    except Exception:  # whatever a compiler says to what it does not know
        return False
    return OURS in (program.as_text() or "") and all(map(np.array_equal, jax.tree.leaves(ours), jax.tree.leaves(plain)))


def _probed_step(run: Callable[..., Any], trees: Array, lanes: Int32[Array, " n"], flags: Bool[Array, " n"]) -> Any:
    """Goes a few levels down from each lane, by the values found there, and adds the last value all the way up."""

    def step(trees, lanes):
        def down(carry):
            depth, places, word = carry
            higher = trees[places] > jnp.float32(0.1)
            places = jnp.where(flags & higher, (places * 2 + 1) % 48, (places * 3 + 2) % 48)
            return depth + 1, places, (word << 3) ^ places.astype(jnp.uint32)

        start = jnp.int32(0), lanes * 7, jnp.zeros(len(lanes), jnp.uint32)
        depth, places, word = lax.while_loop(lambda carry: (carry[0] < 4) & jnp.any(carry[2] < 2**20), down, start)
        some = nonzero(flags, 3)
        gain = trees[places] + (lax.population_count(word) + depth.astype(jnp.uint32)).astype(jnp.float32)
        return scatter(trees, places, gain), scatter(lanes, some, jnp.arange(3, dtype=jnp.int32)), word

    return run(step, trees, lanes)


def _run_plain(function: Callable[..., Any], *written: Any) -> Any:
    return function(*written)


def _fits(jaxpr: Jaxpr) -> bool:
    """Whether a program has only operations that a kernel may consist of."""
    return all(
        eqn.primitive.name in OPERATIONS
        and not (eqn.primitive.name.startswith("reduce_") and getattr(eqn.invars[0].aval, "size", 0) > MAX_REDUCED)
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
    """A program with other values in place of those with which it was made."""
    consts = [next((y for x, y in zip(old, new, strict=True) if x is const), const) for const in closed.consts]
    return ClosedJaxpr(closed.jaxpr, consts)


def _all_used(outs: list[Array], read: list[Array]) -> list[Array]:
    """The same values, but depending on all that is `read`: XLA's compiler fails if an argument is unused.

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
