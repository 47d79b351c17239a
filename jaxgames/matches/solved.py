"""Solved positions of Connect Four: read from files, and the share that a player plays correctly.

A move is *perfect* if no other has a higher exact score, *good* if it keeps the result: win, draw or loss.
"""

import dataclasses
import functools
import time
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any, NamedTuple

import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Int, Int32, UInt32

from jaxgames.envs.connect_four import ConnectFour, notation
from jaxgames.envs.connect_four.board import Position, from_plain
from jaxgames.envs.core import Game, Outcome
from jaxgames.ops import checks, json_text
from jaxgames.ops.pytrees import take
from jaxgames.players import Player
from jaxgames.players.host import compile_for, take_forfeits
from jaxgames.players.player import forfeits
from jaxgames.tables.connect_four_solver import Solver

__all__ = ["MOVE_SCORES", "Accuracy", "Solved", "board_of", "judge", "judge_moves", "read", "score"]

MOVE_SCORES = Path(__file__).parent / "move_scores_500.jsonl"
"""500 positions on the board of 6 x 7 with the exact score of every move: every second one of P. Cnudde's
"1k connect4 validation set" (Kaggle, Connect X).
"""
ILLEGAL = -99
PONS_BOARD = (6, 7)
CONNECT = 4


class Solved(NamedTuple):
    """A position with its exact score for the player to act: k > 0 if it can win with the k-th last of its stones that
    fit on the board, k < 0 if the other one can, else 0. `moves` are the scores of the columns, `ILLEGAL` for full
    ones; None if they are not known.
    """

    board: Int[np.ndarray, "rows cols"]
    score: int
    moves: tuple[int, ...] | None = None


def read(path: str | Path, limit: int | None = None) -> list[Solved]:
    """The solved positions in a file, or the first `limit` of them. Two formats, told apart by how a line begins.

    JSON: `{"board": [...], "score": 2, "move score": [...]}`, with the board's squares row by row from the top, 0 free,
    1 of the player who began, 2 of the other one. There are as many columns as move scores, -99 where one is
    full. Or the columns played on the empty board of 6 x 7, and the score: `4453 -1` (Pons' test sets).

    Raises `ValueError` that names the line and what is wrong with it.
    """
    if limit is not None and limit < 1:
        raise ValueError(f"cannot take {limit} positions; expected 1 or more")
    try:
        lines = Path(path).read_text("utf-8").splitlines()
    except OSError as error:
        raise ValueError(f"{path} cannot be read: {error.strerror}; expected a file of solved positions") from None
    except UnicodeDecodeError:
        raise ValueError(f"{path} is no text; expected a file of solved positions, unpacked") from None
    positions: list[Solved] = []
    for number, line in enumerate(lines, 1):
        if not line.strip() or len(positions) == limit:
            continue
        try:
            solved = _from_json(line) if line.lstrip().startswith("{") else _from_moves(line)
            if positions and solved.board.shape != positions[0].board.shape:
                sizes = [" x ".join(map(str, one.board.shape)) for one in (solved, positions[0])]
                raise ValueError(f"a board of {sizes[0]}; expected {sizes[1]} as in the lines before")
        except ValueError as error:
            raise ValueError(f"{path}, line {number}: {error}") from None
        positions.append(solved)
    if not positions:
        raise ValueError(f"{path} holds no positions; expected lines such as: 4453 -1")
    return positions


def board_of(positions: Sequence[Solved]) -> ConnectFour:
    """The game on the board of solved positions."""
    rows, cols = positions[0].board.shape
    return ConnectFour(rows=rows, cols=cols, connect=CONNECT)


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
    """Lets a player move in each of the solved positions, and compares its moves with the exact scores.

    If a file has no scores of moves, the position after the move is solved (early ones take long).

    Args:
        player: a player of Connect Four on the board of the positions.
        positions: as `read` gives them.
        file: the name of their file, for the result.
        seed: of all random numbers; it decides the result.
        batch: the most positions played at once. The result does not depend on it.
        progress: is called with the number of positions that are done.

    Raises `ValueError` for a player of another game or board, one that fails or chooses an illegal action, and if there
    are no positions.
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
    """Whether the move in each position is perfect, and whether it is good; and the player's seconds.

    Args:
        player, positions, file, seed, batch, progress: as of `score`.

    Raises `ValueError` as `score`.
    """
    if not positions:
        raise ValueError("there are no positions to score")
    if batch < 1:
        raise ValueError(f"batch {batch}: expected at least 1")
    if player.game != board_of(positions):
        raise ValueError(f"{player.name} plays {player.game}, the positions are of {board_of(positions)}")
    seed, chunks = checks.seed(seed), -(-len(positions) // batch)
    size = -(-len(positions) // chunks)
    bits = np.resize(jax.random.bits(jax.random.key(seed), (len(positions),), jnp.uint32), chunks * size)
    boards = [from_plain(one.board) for one in positions]
    boards += boards[:1] * (len(bits) - len(boards))
    stacked = jax.tree.map(lambda *x: np.stack(x), *boards)

    def inputs(start):
        return player, *jax.tree.map(lambda x: x[start : start + size], (stacked, bits))

    if player.on_host:
        choose, first = _choose, inputs(0)[1]
        compile_for(player, take(first, 0))
        nothing: Any = np.zeros(size, np.float32)
        _compiled_columns(player.game, first, Outcome(first, nothing > 0, nothing > 0, nothing))
    else:
        choose = jax.jit(_choose).lower(*inputs(0)).compile()
    seconds, right = 0.0, []
    take_forfeits(player)  # of other games
    for start in range(0, len(positions), size):
        began = time.perf_counter()
        columns = jax.device_get(choose(*inputs(start))).tolist()
        seconds += time.perf_counter() - began
        for reason in take_forfeits(player):
            raise ValueError(f"no move in a position of {file or 'the positions'}: {reason}")
        if -1 in columns:
            raise ValueError(f"no move in a position of {file or 'the positions'}: {player.name}: illegal action")
        for one in judge(positions[start : start + size], columns, inputs(start)[1]):
            right.append(one)
            if progress is not None:
                progress(len(right))
    return right, seconds


def judge(positions: Sequence[Solved], columns: Sequence[int], stacked: Position) -> list[tuple[bool, bool]]:
    """Whether the move in each position is perfect, and whether it is good.

    `stacked` is the batch of positions, `columns` the moves; further entries of the batch are ignored.
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


def _from_json(line: str) -> Solved:
    try:
        content = json_text.loads(line)
    except ValueError:
        raise ValueError("no complete JSON object") from None
    for name in ("board", "score", "move score"):
        if name not in content:
            raise ValueError(f'no {name!r}; expected {{"board": [...], "score": 2, "move score": [...]}}')
    squares, best, moves = (content[name] for name in ("board", "score", "move score"))
    for name, numbers in (("board", squares), ("score", [best]), ("move score", moves)):
        if not isinstance(numbers, list) or not numbers or not all(type(number) is int for number in numbers):
            raise ValueError(f"{name!r} is {content[name]!r}; expected whole numbers")
    cols = len(moves)
    rows, rest = divmod(len(squares), cols)
    if rest:
        raise ValueError(f"{len(squares)} squares and {cols} move scores; expected as many scores as columns")
    ConnectFour(rows=rows, cols=cols)  # a size that there is
    board = notation.check_board(np.array(squares).reshape(rows, cols))
    _going_on(board)
    for column, (top, score) in enumerate(zip(board[0], moves, strict=True)):
        if (top != 0) != (score == ILLEGAL):
            state = "full" if top else "not full"
            raise ValueError(f"column {column + 1} is {state}, but its move score is {score}")
    if best != max(moves):
        raise ValueError(f"the score is {best}, that of the best move {max(moves)}")
    return Solved(board.astype(np.int8), best, tuple(moves))


def _from_moves(line: str) -> Solved:
    fields = line.split()
    if len(fields) != 2:
        raise ValueError(f"{line.strip()[:60]!r}: expected moves and a score, such as: 4453 -1")
    board = notation.parse(fields[0], *PONS_BOARD, CONNECT)
    _going_on(board)
    left = board.size - np.count_nonzero(board)
    least, most = -(left // 2), (left + 1) // 2
    number = fields[1]
    if not (number.lstrip("-").isdecimal() and number.count("-") <= 1 and least <= int(number) <= most):
        raise ValueError(f"score {number!r}: expected a whole number from {least} to {most}")
    return Solved(board, int(number))


def _going_on(board: np.ndarray) -> None:
    if board.all() or notation.winning_cells(board, CONNECT):
        raise ValueError("the game is over there; expected a position with a move to play")


@functools.partial(jax.jit, static_argnums=0)
def _solve_moves(game: ConnectFour, positions: Position, columns: Int32[Array, " batch"]) -> Int32[Array, " batch"]:
    """The exact scores of moves."""
    return -Solver(game)(jax.vmap(game.play)(positions, columns).position).scores


def _choose(player: Player, positions: Position, words: UInt32[Array, " batch"]) -> Int32[Array, " batch"]:
    """The columns that a player chooses, -1 for an illegal action."""
    columns = _compiled_columns if player.on_host else _columns
    return columns(player.game, positions, player.play_once(positions, words))


def _columns(game: Game, positions: Position, outcome: Outcome) -> Int32[Array, " batch"]:
    after = jax.tree.map(jnp.asarray, outcome.position)
    columns = game.turn_actions(positions, after, jnp.ones(len(outcome.over), bool), after)[0]
    return jnp.where(forfeits(positions, outcome), -1, columns)


_compiled_columns = jax.jit(_columns, static_argnums=0)
