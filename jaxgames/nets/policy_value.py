"""Networks with a policy head and a value head: dense layers, alone or behind windows or convolutions, and a tower."""

import math

import flax.linen as nn
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Float32

from jaxgames.nets.convolutions import convolution
from jaxgames.nets.layers import activation, initializer
from jaxgames.ops import checks


class PolicyValueNet(nn.Module):
    """Dense hidden layers, alone or behind windows or plain convolutions; then logits and a value.

    Args:
        num_actions: logits.
        hidden: units of each dense hidden layer.
        max_value: what the value output is multiplied by, in points.
        dtype: of the computation; weights are float32.
        window: with k > 0 the first dense layer also sees `channels` features of every k x k window of the board.
        channels: features of a window; 0 without windows.
        convolutions: channels of each 3 x 3 convolution before the dense layers.
        activation: function of the hidden layers and convolutions, a name of `jaxgames.nets.ACTIVATIONS`.
        output: function of the value, a name of `jaxgames.nets.ACTIVATIONS`: `identity` for a value without bounds.
        initializer: first weights of the hidden layers and convolutions, a name of `jaxgames.nets.INITIALIZERS`.
    """

    num_actions: int
    hidden: tuple[int, ...] = (256, 256)
    max_value: float = 1.0
    dtype: str = "float32"
    window: int = 0
    channels: int = 0
    convolutions: tuple[int, ...] = ()
    activation: str = "relu"
    output: str = "tanh"
    initializer: str = "lecun_normal"

    def __post_init__(self) -> None:
        checks.native_fields(self)
        super().__post_init__()

    @nn.compact
    def __call__(self, observation: Array) -> tuple[Float32[Array, "batch actions"], Float32[Array, " batch"]]:
        """Logits and values of observations: [batch, rows, columns, planes], or of any shape where all is dense.

        Raises `ValueError` for windows without features, features without windows, windows larger than the board,
        windows or convolutions without a board, and unknown names.
        """
        if (self.window > 0) != (self.channels > 0):
            raise ValueError(
                f"window={self.window} with channels={self.channels}; expected both above 0, or both 0 for no windows"
            )
        shape = observation.shape[1:]
        if (self.window or self.convolutions) and len(shape) != 3:
            raise ValueError(f"observation {checks.describe(observation)}: expected [batch, rows, columns, planes]")
        if self.window and self.window > min(shape[:2]):
            raise ValueError(f"window {self.window}: expected 1 to {min(shape[:2])} for a board {list(shape)}")
        hidden, start = activation(self.activation), initializer(self.initializer)

        def dense(units: int, x: Array) -> Array:
            layer = nn.Dense(units, dtype=self.dtype, kernel_init=start.weights, bias_init=start.biases)
            return hidden(layer(x))

        # Convolutions see the squares around each square.
        x = observation.astype(self.dtype)
        for channels in self.convolutions:
            x = dense(channels, _patches(x))
        # Windows are seen beside the board.
        board = x.shape[1:]
        x = x.reshape(x.shape[0], math.prod(board))
        if self.window:
            features = Windows(self.window, self.channels, board, self.dtype)(x)
            x = jnp.concatenate([x, hidden(features)], axis=1)
        for size in self.hidden:
            x = dense(size, x)
        # One product for both heads. Small weights, so that the first policies are nearly uniform, the first values
        # near 0.
        heads = nn.Dense(self.num_actions + 1, dtype=self.dtype, kernel_init=nn.initializers.normal(0.01))(x)
        return _heads(heads[:, :-1], heads[:, -1], self.max_value, self.output)


def _patches(x: Array) -> Array:
    """The 3 x 3 squares around each, [batch, rows, columns, 9 planes], zeros beyond the edge.

    A dense layer on them is a convolution. In a loop XLA:CPU makes fast code of products, but not of the gradients of
    convolutions: see `nets.convolution`.
    """
    rows, columns = x.shape[1:3]
    padded = jnp.pad(x, ((0, 0), (1, 1), (1, 1), (0, 0)))
    shifted = [padded[:, i : i + rows, j : j + columns] for i in range(3) for j in range(3)]
    return jnp.concatenate(shifted, axis=-1)


class Windows(nn.Module):
    """The same features of every window of a board: a convolution without padding, computed as one matrix product.

    On CPUs one product with a matrix that is mostly zeros is faster than a convolution of so few planes.

    Args:
        size: rows and columns of a window.
        channels: features of each.
        shape: rows, columns and planes of the board.
        dtype: of the computation; weights are float32.
    """

    size: int
    channels: int
    shape: tuple[int, ...]
    dtype: str = "float32"

    def __post_init__(self) -> None:
        checks.native_fields(self)
        super().__post_init__()

    @nn.compact
    def __call__(self, flat: Array) -> Array:
        """Features [batch, windows x channels] of boards [batch, rows x columns x planes]."""
        rows, columns, planes = self.shape
        across = columns - self.size + 1
        number = (rows - self.size + 1) * across
        inputs = self.size**2 * planes
        kernel = self.param("kernel", nn.initializers.lecun_normal(), (inputs, self.channels), jnp.float32)
        bias = self.param("bias", nn.initializers.zeros_init(), (self.channels,), jnp.float32)
        squares = np.arange(rows * columns).reshape(rows, columns)
        places = np.zeros((rows * columns, number, self.size**2), np.float32)
        for window in range(number):
            row, column = divmod(window, across)
            inside = squares[row : row + self.size, column : column + self.size].ravel()
            places[inside, window, np.arange(self.size**2)] = 1
        of_place = kernel.reshape(self.size**2, planes * self.channels)
        matrix = (places.reshape(-1, self.size**2) @ of_place).reshape(-1, number, planes, self.channels)
        matrix = jnp.swapaxes(matrix, 1, 2).reshape(flat.shape[1], -1).astype(self.dtype)
        return flat @ matrix + jnp.tile(bias, number).astype(self.dtype)[None]


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

    def __post_init__(self) -> None:
        checks.native_fields(self)
        super().__post_init__()

    @nn.compact
    def __call__(self, observation: Array) -> tuple[Float32[Array, "batch actions"], Float32[Array, " batch"]]:
        """Logits and values of observations [batch, rows, columns, planes]."""

        def conv(x, channels, size=3):
            layer = nn.Conv(channels, (size, size), use_bias=False, dtype=self.dtype, conv_general_dilated=convolution)
            return layer(x)

        x = conv(observation.astype(self.dtype), self.channels)
        for _ in range(self.blocks):
            y = conv(nn.relu(nn.LayerNorm(dtype=self.dtype)(x)), self.channels)
            x += conv(nn.relu(nn.LayerNorm(dtype=self.dtype)(y)), self.channels)
        x = nn.relu(nn.LayerNorm(dtype=self.dtype)(x))
        small = nn.initializers.normal(0.01)

        def head(channels, outputs):
            board = nn.relu(conv(x, channels, 1))
            flat = board.reshape(x.shape[0], math.prod(board.shape[1:]))
            return nn.Dense(outputs, dtype=self.dtype, kernel_init=small)(flat)

        return _heads(head(4, self.num_actions), head(2, 1)[:, 0], self.max_value)


def _heads(logits: Array, value: Array, max_value: float, output: str = "tanh") -> tuple[Array, Array]:
    return logits.astype(jnp.float32), max_value * activation(output)(value.astype(jnp.float32))
