"""The replay buffer: the last plies of every game side by side, on the device."""

from typing import Any, NamedTuple

import jax
import jax.numpy as jnp
from jaxtyping import Array, Bool, Float32, Int32, Key

from jaxgames.ops.device_memory import free_bytes
from jaxgames.ops.random_bits import random_bits


class Plies(NamedTuple):
    """Positions that were searched, `[plies, games]` each.

    Attributes:
        position: of the player to act.
        policy: the search's policy, float16[plies, games, actions].
        root_value: the search's value, in points of the player to act.
        player: the id of the player to act.
        is_target: whether the policy is one to learn from.
        result: points of player 0 at the end of the game, where `known`.
        known: whether the game has ended.
    """

    position: Any
    policy: Array
    root_value: Float32[Array, "plies games"]
    player: Int32[Array, "plies games"]
    is_target: Bool[Array, "plies games"]
    result: Float32[Array, "plies games"]
    known: Bool[Array, "plies games"]


class ReplayBuffer(NamedTuple):
    """A ring of plies. `next` is the row that is written next, `filled` how many rows hold plies."""

    plies: Plies
    next: Int32[Array, ""]
    filled: Int32[Array, ""]


def results_backwards(
    reward: Float32[Array, "plies games"], ended: Bool[Array, "plies games"], discount: float = 1.0
) -> tuple[Float32[Array, "plies games"], Bool[Array, "plies games"]]:
    """The result that follows each ply, and whether there is one among these plies.

    Args:
        reward: points of player 0 by each ply.
        ended: whether the game ended by it.
        discount: what a point is worth one ply earlier.
    """

    def back(later, ply):
        result, known = later
        reward, ended = ply
        found = jnp.where(ended, reward, discount * result), ended | known
        return found, found

    games = reward.shape[1]
    start = jnp.zeros(games, jnp.float32), jnp.zeros(games, bool)
    _, (result, known) = jax.lax.scan(back, start, (reward, ended), reverse=True)
    return result, known


def check_room(example: Plies, rows: int) -> None:
    """Raises `ValueError` if a buffer of so many rows is larger than the memory that is free."""
    games = example.known.shape[1]
    row = sum(x.size // len(x) * x.dtype.itemsize for x in jax.tree.leaves(example))
    free = free_bytes()
    if free is not None and rows * row > free:
        raise ValueError(
            f"no room for the replay buffer: {rows:,} plies of {games:,} games need {rows * row / 1e9:.1f} GB, and "
            f"{free / 1e9:.1f} GB are free: buffer_plies of at most {free // row:,} fits"
        )


def init_buffer(example: Plies, rows: int) -> ReplayBuffer:
    """An empty buffer of so many rows, for plies such as those of `example`."""
    plies = jax.tree.map(lambda x: jnp.zeros((rows, *x.shape[1:]), x.dtype), example)
    return ReplayBuffer(plies, jnp.int32(0), jnp.int32(0))


def add(buffer: ReplayBuffer, plies: Plies, discount: float = 1.0) -> ReplayBuffer:
    """The buffer with newer plies in place of its oldest ones. Games that end among them settle their older plies.

    The plies go on where those of the last call stopped. Their number divides the number of rows. A result is worth
    `discount` times as much one ply earlier.
    """
    number, rows = plies.known.shape[0], buffer.plies.known.shape[0]
    # Whatever is not known yet belongs to the game under way, which ends by the first known result of these plies.
    old = buffer.plies
    row = jnp.arange(rows, dtype=jnp.int32)[:, None]
    settles = ~old.known & plies.known[:1] & (row < buffer.filled)
    age = (buffer.next - 1 - row) % rows + 1  # plies before the first new one
    result = plies.result[:1] * discount ** age.astype(jnp.float32)
    old = old._replace(result=jnp.where(settles, result, old.result), known=old.known | settles)
    written = jax.tree.map(lambda x, new: jax.lax.dynamic_update_slice_in_dim(x, new, buffer.next, 0), old, plies)
    return ReplayBuffer(written, (buffer.next + number) % rows, jnp.minimum(buffer.filled + number, rows))


def sample(buffer: ReplayBuffer, key: Key[Array, ""], number: int) -> Plies:
    """So many plies drawn from the rows that are filled, as `[number]`; some may be of games that have not ended."""
    games = buffer.plies.known.shape[1]
    bits = random_bits(key, (2, number))
    row = (bits[0] % jnp.maximum(buffer.filled, 1).astype(jnp.uint32)).astype(jnp.int32)
    game = (bits[1] % jnp.uint32(games)).astype(jnp.int32)
    return jax.tree.map(lambda x: x[row, game], buffer.plies)
