"""What share of solved positions a player plays right.

A move is *perfect* if no other has a higher exact score, *good* if it keeps the result: win, draw or loss.
"""

import dataclasses
import time
from collections.abc import Callable, Sequence
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Int32, UInt32

from jaxgames.arena.connect_four.solved import Solved, board_of
from jaxgames.arena.connect_four.solver import Solver
from jaxgames.envs.connect_four.board import Position, from_plain
from jaxgames.players import Player
from jaxgames.players.host import on_host, take_forfeits


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
    bits = np.resize(jax.random.bits(jax.random.key(seed), (len(positions),)), chunks * size)
    boards = [from_plain(one.board) for one in positions]
    boards += boards[:1] * (len(bits) - len(boards))
    stacked = jax.tree.map(lambda *x: np.stack(x), *boards)

    def inputs(start):
        return player, *jax.tree.map(lambda x: x[start : start + size], (stacked, bits))

    choose = _choose if on_host(player) else jax.jit(_choose).lower(*inputs(0)).compile()
    judge, seconds, right = Judge(*positions[0].board.shape), 0.0, []
    for start in range(0, len(positions), size):
        began = time.perf_counter()
        columns = jax.device_get(choose(*inputs(start))).tolist()
        seconds += time.perf_counter() - began
        for reason in take_forfeits(player):
            raise ValueError(f"no move in a position of {file or 'the positions'}: {reason}")
        for one, column in zip(positions[start : start + size], columns, strict=False):
            right.append(judge(one, column))
            if progress is not None:
                progress(len(right))
    return right, seconds


class Judge:
    """Says of a column whether it is perfect and good."""

    def __init__(self, rows: int, cols: int):
        self._solver = Solver(rows, cols)

    def __call__(self, solved: Solved, column: int) -> tuple[bool, bool]:
        """Whether a move is perfect, and whether it is good."""
        if solved.moves is not None:
            score = solved.moves[column]
            return score == solved.score, np.sign(score) == np.sign(solved.score)
        if self._at_least(solved, column, solved.score):
            return True, True
        return False, solved.score < 0 or self._at_least(solved, column, int(solved.score > 0))

    def _at_least(self, solved: Solved, column: int, score: int) -> bool:
        """Whether a move's score is at least `score`, which is at most the best."""
        solver, (own, taken) = self._solver, _stones(solved.board)
        after = solver.after(own, taken, column)
        if solver.has_line(after[0] ^ after[1]):
            return True
        if np.count_nonzero(solved.board) + 1 == solved.board.size:
            return score <= 0
        return solver.score_at_most(*after, -score)


def _choose(player: Player, positions: Position, words: UInt32[Array, " batch"]) -> Int32[Array, " batch"]:
    after = player.play_once(positions, words).position
    return player.game.turn_actions(positions, after, jnp.ones(len(words), bool), after)[0]


def _stones(board: np.ndarray) -> tuple[int, int]:
    """The stones of the player to act and all stones, as `Solver` has them."""
    rows, cols = board.shape
    mover, own, taken = 1 + np.count_nonzero(board) % 2, 0, 0
    for row, column in np.argwhere(board).tolist():
        square = 1 << column * (rows + 1) + rows - 1 - row
        taken |= square
        own |= square if board[row, column] == mover else 0
    return own, taken
