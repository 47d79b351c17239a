"""Networks with a policy head and a value head: fully connected, with or without windows, and a residual tower."""

import flax.linen as nn
import jax.numpy as jnp
from jaxtyping import Array, Float32


class PolicyValueMLP(nn.Module):
    """Fully connected hidden layers, then logits and a value.

    Args:
        num_actions: logits.
        hidden: units of each hidden layer.
        max_value: values are within plus and minus this, in points.
        dtype: of the computation; weights are float32.
        window: with k > 0 the first layer also sees `channels` features of every k x k window of a board of planes.
        channels: features of a window.
    """

    num_actions: int
    hidden: tuple[int, ...] = (256, 256)
    max_value: float = 1.0
    dtype: str = "float32"
    window: int = 0
    channels: int = 32

    @nn.compact
    def __call__(self, observation: Array) -> tuple[Float32[Array, "batch actions"], Float32[Array, " batch"]]:
        """Logits and values of observations [batch, ...]."""
        x = observation.reshape(len(observation), -1).astype(self.dtype)
        if self.window:
            planes, square = observation.astype(self.dtype), (self.window, self.window)
            features = nn.relu(nn.Conv(self.channels, square, padding="VALID", dtype=self.dtype)(planes))
            x = jnp.concatenate([x, features.reshape(len(x), -1)], axis=1)
        for size in self.hidden:
            x = nn.relu(nn.Dense(size, dtype=self.dtype)(x))
        # One product for both heads. Small weights: the first policies are nearly uniform, the first values near 0.
        heads = nn.Dense(self.num_actions + 1, dtype=self.dtype, kernel_init=nn.initializers.normal(0.01))(x)
        return _heads(heads[:, :-1], heads[:, -1], self.max_value)


class ResidualTower(nn.Module):
    """Residual blocks of 3 x 3 convolutions (He et al., 2016), with layer normalisation, then logits and a value.

    Args:
        num_actions: logits.
        blocks: residual blocks of two convolutions each.
        channels: of each convolution.
        max_value: values are within plus and minus this, in points.
        dtype: of the computation; weights are float32.
    """

    num_actions: int
    blocks: int = 3
    channels: int = 32
    max_value: float = 1.0
    dtype: str = "float32"

    @nn.compact
    def __call__(self, observation: Array) -> tuple[Float32[Array, "batch actions"], Float32[Array, " batch"]]:
        """Logits and values of observations [batch, rows, columns, planes]."""

        def convolution(x, channels, size=3):
            return nn.Conv(channels, (size, size), use_bias=False, dtype=self.dtype)(x)

        x = convolution(observation.astype(self.dtype), self.channels)
        for _ in range(self.blocks):
            y = convolution(nn.relu(nn.LayerNorm(dtype=self.dtype)(x)), self.channels)
            x += convolution(nn.relu(nn.LayerNorm(dtype=self.dtype)(y)), self.channels)
        x = nn.relu(nn.LayerNorm(dtype=self.dtype)(x))
        small = nn.initializers.normal(0.01)

        def head(channels, outputs):
            flat = nn.relu(convolution(x, channels, 1)).reshape(len(x), -1)
            return nn.Dense(outputs, dtype=self.dtype, kernel_init=small)(flat)

        return _heads(head(4, self.num_actions), head(2, 1)[:, 0], self.max_value)


def _heads(logits: Array, value: Array, max_value: float) -> tuple[Array, Array]:
    return logits.astype(jnp.float32), max_value * jnp.tanh(value.astype(jnp.float32))
