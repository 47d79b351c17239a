"""The time inside compiled programs, for searches with a time budget."""

import time
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, UInt32

from jaxgames.ops.jax_internals import call_host


def microseconds(after: Array) -> UInt32[Array, ""]:
    """The time when `after`, an array, is known: a count that wraps around every 71 minutes. Differences are exact."""
    return call_host(_now, jax.ShapeDtypeStruct((), jnp.uint32), after.reshape(-1)[:1])


def _now(after: Any) -> np.uint32:
    return np.uint32(time.perf_counter_ns() // 1000 & 0xFFFFFFFF)
