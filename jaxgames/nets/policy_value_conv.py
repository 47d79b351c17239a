"""Plain convolutions and dense layers, then a policy and a value."""

import flax.linen as nn
import jax.numpy as jnp
from jaxtyping import Array, Float32

VALUE_OUTPUTS = ("tanh", "identity")


class PolicyValueConv(nn.Module):
    """3 x 3 convolutions, then dense layers, rectified all of them; then logits and a value. Without convolutions it
    is a dense network.

    Args:
        num_actions: logits.
        convolutions: channels of each convolution.
        hidden: units of each dense layer.
        max_value: what the value output is multiplied by, in points.
        value_output: `tanh`, or `identity` for a value without bounds.
        dtype: of the computation; weights are float32.
    """

    num_actions: int
    convolutions: tuple[int, ...] = (32, 32)
    hidden: tuple[int, ...] = (64,)
    max_value: float = 1.0
    value_output: str = "tanh"
    dtype: str = "float32"

    @nn.compact
    def __call__(self, inputs: Array) -> tuple[Float32[Array, "batch actions"], Float32[Array, " batch"]]:
        """Logits and values of inputs [batch, rows, columns, planes], or of any shape without convolutions."""
        x = inputs.astype(self.dtype)
        for channels in self.convolutions:
            x = nn.relu(nn.Dense(channels, dtype=self.dtype)(_patches(x)))
        x = x.reshape(x.shape[0], -1)
        for size in self.hidden:
            x = nn.relu(nn.Dense(size, dtype=self.dtype)(x))
        small = nn.initializers.normal(0.01)
        heads = nn.Dense(self.num_actions + 1, dtype=self.dtype, kernel_init=small)(x).astype(jnp.float32)
        value = jnp.tanh(heads[:, -1]) if self.value_output == "tanh" else heads[:, -1]
        return heads[:, :-1], self.max_value * value


def _patches(x: Array) -> Array:
    """The 3 x 3 squares around each, [batch, rows, columns, 9 planes], zeros beyond the edge.

    A dense layer on them is a convolution. Inside a loop XLA:CPU makes fast code of products, not of convolutions.
    """
    rows, columns = x.shape[1:3]
    padded = jnp.pad(x, ((0, 0), (1, 1), (1, 1), (0, 0)))
    shifted = [padded[:, i : i + rows, j : j + columns] for i in range(3) for j in range(3)]
    return jnp.concatenate(shifted, axis=-1)
