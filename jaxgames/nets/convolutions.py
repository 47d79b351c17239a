"""Convolutions whose gradients are as fast in a loop as outside of one."""

from collections.abc import Sequence
from functools import partial
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
from jax import lax
from jaxtyping import Array, Float

from jaxgames.ops import checks

ORDER = lax.ConvDimensionNumbers((0, 3, 1, 2), (3, 2, 0, 1), (0, 3, 1, 2))
"""Boards [batch, rows, columns, planes], kernels [height, width, planes, channels]."""
OTHERS: dict[str, Any] = {
    "lhs_dilation": (1, 1),
    "rhs_dilation": (1, 1),
    "dimension_numbers": ORDER,
    "feature_group_count": 1,
    "precision": None,
}
"""Further arguments that flax.linen.Conv passes, with their defaults."""

_Zeros = tuple[tuple[int, int], ...]


def convolution(
    boards: Float[Array, "batch rows columns planes"],
    kernel: Float[Array, "height width planes channels"],
    strides: Sequence[int] | np.ndarray = (1, 1),
    padding: str | Sequence[tuple[int, int]] = "SAME",
    **others: Any,
) -> Float[Array, "batch rows_after columns_after channels"]:
    """What `flax.linen.Conv` computes, for learning in loops: `flax.linen.Conv(..., conv_general_dilated=convolution)`.

    Results and gradients are those of `jax.lax.conv_general_dilated`. XLA:CPU has fast code for one order of axes, and
    brings other convolutions, such as those of gradients, into it; but not within loops such as `lax.scan`, where they
    take 20 to 90 times as long. So gradients are computed in that order here. `jax.jvp` is not supported.

    Args:
      strides: 1 and 1; others are refused.
      padding: `SAME`, `VALID`, or how many zeros to add before and after rows and columns.
      others: further arguments of flax; refused unless they have their defaults.

    Raises `ValueError` or `TypeError` for arrays of other shapes, and for what is refused.
    """
    checks.array("boards", boards, jnp.floating, (None,) * 4)
    checks.array("kernel", kernel, boards.dtype, (None, None, boards.shape[3], None))
    if _as_tuple(strides) != (1, 1):
        raise ValueError(f"strides={strides}: expected (1, 1)")
    for name, value in others.items():
        if name not in OTHERS:
            raise TypeError(f"{name}={value}: a convolution has no such setting; expected one of {', '.join(OTHERS)}")
        if _as_tuple(value) != OTHERS[name]:
            raise ValueError(f"{name}={value}: expected {OTHERS[name]}, as flax.linen.Conv has it by default")
    try:
        if isinstance(padding, str):
            padding = lax.padtype_to_pads(boards.shape[1:3], kernel.shape[:2], (1, 1), padding)
        (top, bottom), (left, right) = ((int(before), int(after)) for before, after in padding)
    except (RuntimeError, TypeError, ValueError):
        raise ValueError(f"padding {padding!r}: expected SAME, VALID or ((top, bottom), (left, right))") from None
    return _convolved(boards, kernel, ((top, bottom), (left, right)))


def _as_tuple(value: Any) -> Any:
    """A list or an array as a tuple, which compares as one value; anything else unchanged."""
    return tuple(np.ravel(value).tolist()) if isinstance(value, list | np.ndarray) else value


def _plain(boards: Array, kernel: Array, zeros: _Zeros) -> Array:
    return lax.conv_general_dilated(boards, kernel, (1, 1), zeros, dimension_numbers=ORDER)


_convolved = jax.custom_vjp(_plain, nondiff_argnums=(2,))


def _forward(boards: Array, kernel: Array, zeros: _Zeros) -> tuple[Array, tuple[Array, Array]]:
    return _plain(boards, kernel, zeros), (boards, kernel)


def _backward(zeros: _Zeros, inputs: tuple[Array, Array], cotangent: Array) -> tuple[Array, Array]:
    if 0 in cotangent.shape:  # if the kernel is larger than the board; JAX's own rule refuses empty kernels
        return jnp.zeros_like(inputs[0]), jnp.zeros_like(inputs[1])

    def in_order(boards: Array, kernel: Array, cotangent: Array) -> tuple[Array, Array]:
        # The gradient of the boards: the cotangent, seen by the kernel turned around.
        sizes = zip(kernel.shape[:2], zeros, strict=True)
        around = tuple((size - 1 - before, size - 1 - after) for size, (before, after) in sizes)
        of_boards = _plain(cotangent, jnp.swapaxes(kernel[::-1, ::-1], 2, 3), around)
        # That of the kernel: each plane of all boards, seen by the cotangent as a kernel with as many planes as boards.
        planes, large = jnp.transpose(boards, (3, 1, 2, 0)), jnp.transpose(cotangent, (1, 2, 0, 3))
        return of_boards, jnp.transpose(_plain(planes, large, zeros), (1, 2, 0, 3))

    def as_jax_has_them(boards: Array, kernel: Array, cotangent: Array) -> tuple[Array, Array]:
        _, gradients = jax.vjp(partial(_plain, zeros=zeros), boards, kernel)
        of_both: tuple[Array, Array] = gradients(cotangent)
        return of_both

    of_inputs: tuple[Array, Array] = lax.platform_dependent(*inputs, cotangent, cpu=in_order, default=as_jax_has_them)
    return of_inputs


_convolved.defvjp(_forward, _backward)
