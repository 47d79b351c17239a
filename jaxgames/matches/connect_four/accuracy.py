"""What share of solved positions a player plays right.

A move is *perfect* if no other has a higher exact score, *good* if it keeps the result: win, draw or loss.
"""

import dataclasses
import functools
import time
from collections.abc import Callable, Sequence
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Int32, UInt32

from jaxgames.envs.connect_four.board import Position, from_plain
from jaxgames.envs.connect_four.game import ConnectFour
from jaxgames.matches.connect_four.solved import Solved, board_of
from jaxgames.players import Player
from jaxgames.players.host import on_host, take_forfeits
from jaxgames.tables.connect_four.solver import Solver


@dataclasses.dataclass(frozen=True)
class Accuracy:
    """The shares of moves that were perfect and good. `seconds` is the player's time, without compilation."""

    game: str
    player: str
    file: str
    seed: int
    positions: int
    perfect: float
    good: float
    seconds: float

    def to_dict(self) -> dict[str, Any]:
        """All fields, ready for JSON."""
        return dataclasses.asdict(self)


def score(
    player: Player[Any],
    positions: Sequence[Solved],
    file: str = "",
    seed: int = 0,
    batch: int = 1024,
    progress: Callable[[int], None] | None = None,
) -> Accuracy:
    """Lets a player move in each of solved positions, and compares with the exact scores.

    Where a file has no scores of moves, the position after the move is solved (early ones take long). The result
    depends on `seed` only, not on `batch`, the most positions played at once. `progress` is told how many are done.

    Raises `ValueError` for a player of another game or board, one in plain Python that fails, and if there are no
    positions.
    """
    right, seconds = judge_moves(player, positions, file, seed, batch, progress)
    perfect, good = np.mean(right, axis=0).tolist()
    return Accuracy(player.game.id, player.name, file, seed, len(positions), perfect, good, seconds)


def judge_moves(
    player: Player[Any],
    positions: Sequence[Solved],
    file: str = "",
    seed: int = 0,
    batch: int = 1024,
    progress: Callable[[int], None] | None = None,
) -> tuple[list[tuple[bool, bool]], float]:
    """Whether the move in each position is perfect, and whether it is good; and the player's seconds. As `score`."""
    if not positions:
        raise ValueError("there are no positions to score")
    if batch < 1:
        raise ValueError(f"batch {batch}: expected at least 1")
    if player.game != board_of(positions):
        raise ValueError(f"{player.name} plays {player.game}, the positions are of {board_of(positions)}")
    chunks = -(-len(positions) // batch)
    size = -(-len(positions) // chunks)
    bits = np.resize(jax.random.bits(jax.random.key(seed), (len(positions),), jnp.uint32), chunks * size)
    boards = [from_plain(one.board) for one in positions]
    boards += boards[:1] * (len(bits) - len(boards))
    stacked = jax.tree.map(lambda *x: np.stack(x), *boards)

    def inputs(start):
        return player, *jax.tree.map(lambda x: x[start : start + size], (stacked, bits))

    choose = _choose if on_host(player) else jax.jit(_choose).lower(*inputs(0)).compile()
    seconds, right = 0.0, []
    for start in range(0, len(positions), size):
        began = time.perf_counter()
        columns = jax.device_get(choose(*inputs(start))).tolist()
        seconds += time.perf_counter() - began
        for reason in take_forfeits(player):
            raise ValueError(f"no move in a position of {file or 'the positions'}: {reason}")
        for one in judge(positions[start : start + size], columns, inputs(start)[1]):
            right.append(one)
            if progress is not None:
                progress(len(right))
    return right, seconds


def judge(positions: Sequence[Solved], columns: Sequence[int], stacked: Position) -> list[tuple[bool, bool]]:
    """Whether the move in each position is perfect, and whether it is good.

    `stacked` is the batch of positions, `columns` the moves; there may be more of them, which are left out.
    """
    known = [None if one.moves is None else one.moves[column] for one, column in zip(positions, columns, strict=False)]
    solved = np.zeros(len(columns), np.int32)
    if None in known:
        solved = np.asarray(_solve_moves(board_of(positions), stacked, jnp.asarray(columns, jnp.int32)))
    scores = [solved[row] if score is None else score for row, score in enumerate(known)]
    return [
        (bool(score == one.score), bool(np.sign(score) == np.sign(one.score)))
        for one, score in zip(positions, scores, strict=True)
    ]


@functools.partial(jax.jit, static_argnums=0)
def _solve_moves(game: ConnectFour, positions: Position, columns: Int32[Array, " batch"]) -> Int32[Array, " batch"]:
    """The exact scores of moves."""
    return -Solver(game)(jax.vmap(game.play)(positions, columns).position).scores


def _choose(player: Player, positions: Position, words: UInt32[Array, " batch"]) -> Int32[Array, " batch"]:
    after = player.play_once(positions, words).position
    return player.game.turn_actions(positions, after, jnp.ones(len(words), bool), after)[0]
