"""Random numbers made of hashes: what the operators draw, elementwise and at any shape."""

import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Float32, UInt32


def fractions(bits: UInt32[Array, "..."]) -> Float32[Array, "..."]:
    """Uniform numbers from 0 to below 1, of 24 bits."""
    return (bits >> 8).astype(jnp.int32).astype(jnp.float32) * np.float32(2**-24)


def signed_fractions(bits: UInt32[Array, "..."]) -> Float32[Array, "..."]:
    """Uniform numbers from -1 to 1: the bits read as signed ones, of mean -2^-32."""
    return jax.lax.bitcast_convert_type(bits, jnp.int32).astype(jnp.float32) * np.float32(2**-31)


def below(bits: UInt32[Array, "..."], number: UInt32[Array, ""] | int) -> UInt32[Array, "..."]:
    """Whole numbers from 0 to `number` - 1, for any number below 2^32: the high word of their product.

    None is more likely than another by more than `number` / 2^32 of itself.
    """
    high, low = bits >> 16, bits & np.uint32(0xFFFF)
    number = jnp.asarray(number, jnp.uint32)
    number_high, number_low = number >> 16, number & np.uint32(0xFFFF)
    middle = high * number_low + ((low * number_low) >> 16)
    return high * number_high + (middle >> 16) + ((low * number_high + (middle & np.uint32(0xFFFF))) >> 16)
