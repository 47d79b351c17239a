"""English draughts: forced capture, jumps one action at a time, a man that reaches the king row stops there."""

import dataclasses
from collections.abc import Mapping, Sequence
from typing import Any, ClassVar

import jax.numpy as jnp
import numpy as np
from jax import lax
from jaxtyping import Array, Bool, Float32, Int32, Key, UInt32
from typing_extensions import override

from jaxgames.envs.checkers import board, drawing, notation, plain_board
from jaxgames.envs.checkers.board import Position, from_plain, to_plain
from jaxgames.envs.checkers.encoding import ActionsHead, Board64, OneSquare, Pieces, SquaresHead, TargetHead
from jaxgames.envs.checks import one_state
from jaxgames.envs.core import Game, Outcome, State, Value
from jaxgames.envs.svg import document
from jaxgames.envs.turns.best import best_of_legal
from jaxgames.ops import checks
from jaxgames.ops.bits import bit, bounded, nth_set, top_index, unpack
from jaxgames.ops.materialize import materialize

# The order of the squares as five words: bit k of a square's number is bit `place` of word k, and the other way round.
_PLACE_OF = [np.uint32(sum((int(p) >> k & 1) << s for s, p in enumerate(board.PLACE))) for k in range(5)]
_SQUARE_OF = [np.uint32(sum((s >> k & 1) << int(p) for s, p in enumerate(board.PLACE))) for k in range(5)]


@dataclasses.dataclass(frozen=True)
class Checkers(Game[Position]):
    """English draughts (American checkers): jumps are forced, and are made one action at a time.

    - Observation: bool[8, 8, 5], by row and column in the frame of the player to act, who plays upwards: own men, own
      kings, the other's men and kings, and the piece that must go on jumping.
    - Action: int32 from 0 to 127, `4 * square + direction` in the same frame, squares 0..3 lowest: forward to the lower
      or the higher column, backward likewise. The same action is a step or a jump. A jump that goes on is further
      actions of the same player.
    - Reward: float32[2], one number for each player id: 1 and -1 if a player has no move left, 0 for a draw.
    - End: no move left; a draw after `draw_after` single moves without a capture; truncated after `max_moves` actions.
    - State: `Position`, four uint32: own pieces, the other's, the kings, and the status.

    Lines that run:

        game = jaxgames.make("checkers")
        state = game.init(jax.random.key(0))
        state = game.step(state, game.string_to_action(state, "11-15"))
        assert state.observation.shape == (8, 8, 5) and state.legal_action_mask.shape == (128,)
        assert game.to_string(state).startswith("W:")

    Raises `ValueError` for numbers out of range.
    """

    id: ClassVar[str] = "checkers"
    num_actions: ClassVar[int] = 128
    observation_shape: ClassVar[tuple[int, ...]] = (8, 8, 5)
    alternates: ClassVar[bool] = False
    draw_after: int = 100
    max_moves: int | None = None

    def __post_init__(self) -> None:
        for name, optional in (("draw_after", False), ("max_moves", True)):
            value = getattr(self, name)
            if isinstance(value, np.integer):
                object.__setattr__(self, name, value := int(value))
            if not (optional and value is None) and not (type(value) is int and 1 <= value <= 100_000):
                raise ValueError(f"{name}={value!r}: expected a whole number from 1 to 100,000")

    @property
    @override
    def encodings(self) -> Mapping[str, Any]:
        """The men on 32 squares and the kings; the 8 x 8 board; only one square, as in a published program."""
        return {"pieces": Pieces(), "board64": Board64(), "one_square": OneSquare()}

    @property
    @override
    def heads(self) -> Mapping[str, Any]:
        """One output for each action; or one for each square to leave and each to go to, summed or in turn."""
        return {"highest": ActionsHead(self), "squares": SquaresHead(), "target": TargetHead()}

    @property
    @override
    def step_limit(self) -> int | None:
        """`max_moves`, each jump counted as one."""
        return self.max_moves

    @override
    def init_position(self, key: Key[Array, ""]) -> Position:
        """The starting position, Black to move."""
        black, white = map(jnp.asarray, board.START)
        return Position(black, white, jnp.uint32(0), jnp.uint32(0))

    @override
    def ended(self, position: Position) -> Bool[Array, ""]:
        """Whether the player to act has no move, or nothing has been captured for too long."""
        stuck = ~board.can_move(position.own, position.opponent, position.kings, board.white(position))
        return stuck | (board.quiet(position) >= self.draw_after)

    @override
    def legal(self, position: Position) -> Bool[Array, "128"]:
        """bool[128]."""
        sources, white = board.moves(position).sources, board.white(position)
        own = [jnp.where(white, sources[3 - direction], sources[direction]) for direction in range(4)]
        return unpack([materialize(board.turn_board(word, white), position.status) for word in own], board.PLACE)

    @override
    def is_legal(self, position: Position, action: Int32[Array, ""]) -> Bool[Array, ""]:
        # Without building the mask.
        piece, direction = _piece(position, action)
        words = board.moves(position).sources
        chosen = _select(direction, words)
        return (action >= 0) & (action < 128) & ((chosen & piece) != 0)

    @override
    def draw_action(self, position: Position, bits: UInt32[Array, ""]) -> Int32[Array, ""]:
        """A legal action, drawn uniformly by its rank among all that may move in the four directions."""
        words = board.moves(position).sources
        counts = [lax.population_count(sources) for sources in words]
        rank = bounded(bits, sum(counts[1:], counts[0]))
        chosen, direction = words[3], jnp.full_like(rank, 3)
        for number in range(3):
            before = sum(counts[:number], jnp.zeros_like(rank))
            here = (rank >= before) & (rank < before + counts[number])
            chosen, direction = jnp.where(here, words[number], chosen), jnp.where(here, number, direction)
        passed = [jnp.where(direction > number, counts[number], 0) for number in range(3)]
        place = nth_set(chosen, rank - sum(passed[1:], passed[0]))
        square, white = _lookup(_SQUARE_OF, place), board.white(position)
        action = jnp.where(white, 127 - (square << 2 | direction), square << 2 | direction)
        return action.astype(jnp.int32)

    @override
    def moves(self, position: Position) -> tuple[UInt32[Array, ""], ...]:
        """One set of pieces for each direction of Black's."""
        return board.moves(position).sources

    @override
    def action_of_move(self, position: Position, move: UInt32[Array, ""]) -> Int32[Array, ""]:
        """The piece on place `move % 32`, moved in direction `move // 32` of Black's."""
        number = _lookup(_SQUARE_OF, move & 31) << 2 | (move >> 5)
        return jnp.where(board.white(position), 127 - number, number).astype(jnp.int32)

    @override
    def material(self, position: Position) -> Float32[Array, ""]:
        """A man is worth 1, a king 1.5."""
        own, other = (
            lax.population_count(side) * 2 + lax.population_count(side & position.kings)
            for side in (position.own, position.opponent)
        )
        return (own.astype(jnp.float32) - other.astype(jnp.float32)) * 0.5

    @override
    def piece_count(self, position: Position) -> Float32[Array, ""]:
        """Every piece counts 1, kings too."""
        own, other = (lax.population_count(side).astype(jnp.float32) for side in (position.own, position.opponent))
        return own - other

    @override
    def play(self, position: Position, action: Int32[Array, ""]) -> Outcome[Position]:
        """A step, or one jump: +1 if it leaves the other player without a move, unless it makes a draw."""
        # The piece goes one square on or, where an opponent's piece stands, two.
        own, opponent, kings, white = position.own, position.opponent, position.kings, board.white(position)
        piece, direction = _piece(position, action)
        turn = _select(direction, [jnp.uint32(turn) for turn in board.TURNS])
        target = board.rotate(piece, turn)
        captured = target & opponent
        jumped = captured != 0
        target = jnp.where(jumped, board.rotate(target, turn), target)

        # The board after it; a man that arrives on the king row is a king from now on.
        arrives = (target & jnp.where(white, board.KING_ROWS[1], board.KING_ROWS[0])) != 0
        was_king = (kings & piece) != 0
        own, opponent = (own & ~piece) | target, opponent & ~captured
        kings = (kings & ~(piece | captured)) | jnp.where(was_king | arrives, target, jnp.uint32(0))

        # The turn passes unless the piece jumped and can jump again; a man that was just crowned stops.
        again = board.jumps(target, kings, opponent, ~(own | opponent), white)
        stops = ~jumped | (arrives & ~was_king) | ((again[0] | again[1] | again[2] | again[3]) == 0)
        turn_passes = materialize(stops, position.status)

        # The end: the other player has no move, or nothing was captured for too long, which makes a draw.
        quiet = jnp.where(jumped, jnp.uint32(0), board.quiet(position) + 1)
        stuck, drawn = turn_passes & ~board.can_move(opponent, own, kings, ~white), quiet >= self.draw_after

        # The position as the player who acts next sees it.
        jumper = jnp.where(turn_passes, jnp.uint32(0), 64 + top_index(target))
        actor, other = jnp.where(turn_passes, opponent, own), jnp.where(turn_passes, own, opponent)
        after = Position(actor, other, kings, board.status(white ^ turn_passes, jumper, quiet))
        return Outcome(after, turn_passes, stuck | drawn, (stuck & ~drawn).astype(jnp.float32))

    @override
    def best_turn(self, positions: Position, value: Value) -> tuple[Outcome[Position], Float32[Array, " batch"]]:
        # Only legal actions are tried: they are few of 128.
        return best_of_legal(self, positions, value)

    @override
    def observe_position(self, position: Position, acting: Bool[Array, ""]) -> Bool[Array, "8 8 5"]:
        """Men and kings of the player who looks, of the other one, and the piece that must go on jumping."""
        own = jnp.where(acting, position.own, position.opponent)
        other = jnp.where(acting, position.opponent, position.own)
        kings = position.kings
        words = [own & ~kings, own & kings, other & ~kings, other & kings, board.jumper(position)]
        turned = board.white(position) ^ ~acting
        words = [materialize(board.turn_board(word, turned), position.status) for word in words]
        return unpack(words, _GRID).reshape(8, 8, 5)

    @override
    def parse(self, text: str) -> Position:
        """PDN FEN, `B:W21,22,K30:B1,2,K7`; `ValueError` that points at what is wrong."""
        return from_plain(notation.parse(text))

    @override
    def unparse(self, position: Position) -> str:
        """As read by `parse`, with the moves since the last capture and the piece that must jump on, if any."""
        return notation.unparse(to_plain(position))

    @override
    def draw_board(self, position: Position, theme: str, player: int = 0) -> str:
        """The board as an SVG document, White at the bottom."""
        return document(drawing.board_picture(to_plain(position), theme, player, self.draw_after), theme)

    @override
    def board_text(self, state: State) -> str:
        return drawing.board_text(
            to_plain(one_state(self, state)._position), int(state.current_player), self.draw_after
        )

    @override
    def action_to_string(self, state: State, action: int) -> str:
        """A step, `11-15`, or one jump, `22x15`."""
        return notation.action_name(to_plain(one_state(self, state)._position), checks.whole("action", action, None))

    @override
    def string_to_action(self, state: State, text: str) -> int:
        """The action with this name; raises `ValueError` that says why there is none."""
        return notation.parse_action(to_plain(one_state(self, state)._position), checks.text("action", text))

    @override
    def legal_turns(self, state: State) -> list[tuple[int, ...]]:
        """The whole moves: a step, or a jump with all further jumps of the same piece."""
        over = bool(one_state(self, state).terminated | state.truncated)
        return [] if over else [move.actions for move in plain_board.legal_moves(to_plain(state._position))]

    @override
    def turn_to_string(self, state: State, actions: Sequence[int]) -> str:
        """A whole move with every square: `11-15`, `22x15x8`."""
        numbers = [checks.whole("action", action, None) for action in actions]
        return plain_board.move_to_string(to_plain(one_state(self, state)._position), numbers)

    @override
    def string_to_turn(self, state: State, text: str) -> tuple[int, ...]:
        """The actions of the legal whole move; squares between may be left out. Raises `ValueError` that says why."""
        return tuple(plain_board.move_to_actions(to_plain(one_state(self, state)._position), checks.text("turn", text)))


def _grid() -> np.ndarray:
    """The place of each square of the 8 x 8 board, row 0 nearest to the player; 32 where nothing stands."""
    rows, columns = np.indices((8, 8))
    return np.where((rows + columns) % 2 == 1, (18 + 4 * rows - 3 * columns) % 32, 32).ravel()


_GRID = _grid()


def _piece(position: Position, action: Int32[Array, "..."]) -> tuple[UInt32[Array, "..."], UInt32[Array, "..."]]:
    """The piece that an action moves, as a set, and the direction, as Black sees it."""
    number = jnp.where(board.white(position), 127 - action, action).astype(jnp.uint32) & 127
    return bit(_lookup(_PLACE_OF, number >> 2)), number & 3


def _lookup(table: list[np.uint32], index: UInt32[Array, "..."]) -> UInt32[Array, "..."]:
    """An entry 0..31 of a table of 32, kept as five words: no gather."""
    entry = jnp.zeros_like(index)
    for place, word in enumerate(table):
        entry = entry | ((jnp.asarray(word) >> index & 1) << place)
    return entry


def _select(index: UInt32[Array, "..."], values: list | tuple) -> UInt32[Array, "..."]:
    """One of four values."""
    low, high = jnp.where(index & 1 != 0, values[1], values[0]), jnp.where(index & 1 != 0, values[3], values[2])
    return jnp.where(index & 2 != 0, high, low)
