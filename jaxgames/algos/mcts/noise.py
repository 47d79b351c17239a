"""Noise in the policy at the root, so that self-play sees more than what it believes in."""

from typing import NamedTuple

import jax
import jax.numpy as jnp
from jaxtyping import Array, Bool, Float32, UInt32


class Noise(NamedTuple):
    """See `dirichlet`."""

    alpha: float
    fraction: float

    def added(
        self, prior: Float32[Array, "B A"], legal: Bool[Array, "B A"], words: UInt32[Array, " B"]
    ) -> Float32[Array, "B A"]:
        """The policy with noise among the legal actions."""

        def gammas(word):
            return jax.random.loggamma(jax.random.key(word), self.alpha, (prior.shape[1],))

        logits = jnp.where(legal, jax.vmap(gammas)(words), -jnp.inf)
        # Logarithms, as gammas of a small alpha are mostly too small for float32.
        noise = jnp.where(jnp.any(legal, axis=1, keepdims=True), jax.nn.softmax(logits, axis=1), 0)
        return (1 - self.fraction) * prior + self.fraction * noise


def dirichlet(alpha: float = 0.3, fraction: float = 0.25) -> Noise:
    """Noise for self-play, as in AlphaZero: the policy at the root is (1 - fraction) P + fraction Dirichlet(alpha)."""
    if not alpha > 0 or not 0 <= fraction <= 1:
        raise ValueError(f"alpha {alpha}, fraction {fraction}: expected alpha above 0 and a fraction from 0 to 1")
    return Noise(float(alpha), float(fraction))
