"""What a value network predicts: the chance of each outcome of the game, for one player."""

import dataclasses

import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Float32


@dataclasses.dataclass(frozen=True)
class Outcomes:
    """One output for each outcome, named by the points it gives the player: `(1, -1, 2, -2)` are win, lose, win and
    lose a gammon.

    The outcomes exclude each other, so expected points are the outputs times `points`. Results beyond the largest
    outcome count as that one (a backgammon is a gammon to a network with four outputs); a draw is no outcome at all.
    """

    points: tuple[int, ...] = (1, -1, 2, -2)

    def __post_init__(self) -> None:
        if not self.points or set(self.points) != {-p for p in self.points} or 0 in self.points:
            raise ValueError(f"outcomes {self.points}: every number of points is needed with both signs, as in (1, -1)")

    def __len__(self) -> int:
        return len(self.points)

    def target(self, reward: Float32[Array, "..."]) -> Float32[Array, "... outcomes"]:
        """1 for the outcome with this reward, 0 elsewhere."""
        most = float(max(self.points))
        reward = jnp.clip(reward, -most, most)[..., None]
        points = jnp.asarray(self.points, jnp.float32).reshape((1,) * (reward.ndim - 1) + (-1,))
        return (reward == points).astype(jnp.float32)

    def flip(self, outputs: Float32[Array, "... outcomes"]) -> Float32[Array, "... outcomes"]:
        """The same prediction for the other player."""
        return outputs[..., np.array([self.points.index(-p) for p in self.points])]

    def expected(self, outputs: Float32[Array, "... outcomes"]) -> Float32[Array, "..."]:
        """Expected points."""
        return outputs @ jnp.asarray(self.points, jnp.float32)  # on CPU twice as fast as a sum over products
