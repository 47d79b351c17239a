"""Backgammon, one checker move at a time: actions, legal actions, dice and the end of a game.

An action is a checker moved by a die, numbered as in pgx: `(26 - source) * 6 + die - 1` with source 1..24 and 25 for
the bar. Action 0 passes, and is legal only when nothing else is. A turn is up to four actions of the same player. In
a position that awaits a roll (from `from_string`; `step` never leaves one) action 0 leaves the board and the player
as they are, so that `step` rolls.
"""

import dataclasses
import re
from collections.abc import Mapping, Sequence
from typing import Any, ClassVar

import jax
import jax.numpy as jnp
import numpy as np
from jax import lax
from jaxtyping import Array, Bool, Float32, Int32, Key, UInt32
from typing_extensions import override

from jaxgames.envs.backgammon import board, drawing, notation
from jaxgames.envs.backgammon.best import (
    FEW,
    Score,
    actions_to,
    apply_plays,
    best_plays,
    random_plays,
    score_by,
    top_plays,
)
from jaxgames.envs.backgammon.board import Position, dice_of_roll, from_plain, high_low, one_die, to_plain
from jaxgames.envs.backgammon.encoding import Extra, FirstLayer, Strategic, Tesauro, score_first_layer
from jaxgames.envs.backgammon.play_lists import BatchPlays, PlayList, list_plays, of_backgammon, plays
from jaxgames.envs.backgammon.turn import Turn
from jaxgames.envs.checks import one_state
from jaxgames.envs.core import Game, Outcome, State, Value
from jaxgames.envs.svg import document
from jaxgames.envs.turns.best import TopTurns
from jaxgames.ops import checks
from jaxgames.ops.bits import bounded, has, nth_set, union, unpack
from jaxgames.ops.materialize import materialize
from jaxgames.ops.pytrees import select, take

ROLLS = tuple((high, low) for high in range(1, 7) for low in range(1, high + 1))
"""The 21 rolls, in the order of the chance outcomes."""

START = np.zeros(25, np.int32)
START[[5, 7, 12, 23]] = 5, 3, 5, 2

_HIGH, _LOW = (np.array(dice, np.uint32) for dice in zip(*ROLLS, strict=True))
_OPENING_ROLLS = np.array([outcome for outcome, (high, low) in enumerate(ROLLS) if high != low], np.int32)


def legal_words(position: Position) -> tuple[UInt32[Array, "..."], UInt32[Array, "..."]]:
    """The sources from which the larger and the smaller die may be played now, so that the whole turn stays legal.

    With two different dice left, a move must leave the other die playable if any move does. If only one die can be
    played, it is the larger one where possible. With a double every order reaches the same number of moves, so there is
    nothing to check.
    """
    own, barred = position.own, board.blocked(position.opponent)
    high, low = high_low(position.dice)
    taken = board.occupied(own)
    high_sources, low_sources = board.sources(taken, barred, high), board.sources(taken, barred, low)
    starts = jnp.asarray(1 << board.SOURCES).reshape((25,) + (1,) * taken.ndim)

    def followed(first, second):
        return union(jnp.where(board.follow_ups(own, barred, first, second) != 0, starts, jnp.uint32(0)), axis=0)

    high_first, low_first = followed(high, low), followed(low, high)
    two_dice = high != low
    both = two_dice & ((high_first | low_first) != 0)
    single_low = jnp.where(two_dice & (high_sources != 0), jnp.uint32(0), low_sources)
    none = position.dice == 0
    return (
        jnp.where(none, jnp.uint32(0), jnp.where(both, high_first, high_sources)),
        jnp.where(none, jnp.uint32(0), jnp.where(both, low_first, single_low)),
    )


@dataclasses.dataclass(frozen=True)
class Backgammon(Game[Position]):
    """Backgammon without the cube, one checker move at a time. A turn is up to four actions of the same player.

    - Observation: int32[34], as in pgx v2: the 24 points in the direction of play, own checkers positive; the bar and
      the checkers off, of both; the dice left of each value, 0 unless the player is to act.
    - Action: int32 from 0 to 155, `(26 - source) * 6 + die - 1` with source 1..24 and 25 for the bar. Action 0 passes,
      and is legal only when nothing else is.
    - Reward: float32[2], one number for each player id: 1 and -1 for a single game, 2 for a gammon, 3 for a backgammon.
    - End: a player has borne off all 15 checkers.
    - Chance: the 21 rolls of `ROLLS`, drawn by the key of `step`.
    - State: `Position`, both sides and the dice left, nine uint32.

    Lines that run:

        game = jaxgames.make("backgammon")
        state = game.init(jax.random.key(0))
        state = game.step(state, jnp.argmax(state.legal_action_mask), jax.random.key(1))
        assert state.observation.shape == (34,) and state.legal_action_mask.shape == (156,)
    """

    id: ClassVar[str] = "backgammon"
    num_actions: ClassVar[int] = 156
    observation_shape: ClassVar[tuple[int, ...]] = (34,)
    outcome_probabilities: ClassVar[tuple[float, ...]] = tuple((1 + (high != low)) / 36 for high, low in ROLLS)
    max_reward: ClassVar[int] = 3

    @property
    @override
    def encodings(self) -> Mapping[str, Any]:
        """Tesauro's 198 inputs; the 212 of the "Extra" network; Tesauro's and 63 that strong players count."""
        return {"tesauro": Tesauro(), "extra": Extra(), "strategic": Strategic()}

    @override
    def init_position(self, key: Key[Array, ""]) -> Position:
        """The starting position with an opening roll: never a double."""
        choice = bounded(jax.random.bits(key, dtype=jnp.uint32), len(_OPENING_ROLLS)).astype(jnp.int32)
        side = board.from_counts(jnp.asarray(START))
        return self.chance(Position(side, side, jnp.uint32(0)), jnp.asarray(_OPENING_ROLLS)[choice])

    @override
    def chance(self, position: Position, outcome: Int32[Array, ""]) -> Position:
        """The roll number `outcome` of `ROLLS`, where one is awaited."""
        dice = dice_of_roll(jnp.asarray(_HIGH)[outcome], jnp.asarray(_LOW)[outcome])
        return position._replace(dice=jnp.where(position.dice == 0, dice, position.dice))

    @override
    def legal(self, position: Position) -> Bool[Array, "156"]:
        """bool[156]; action 0 alone when no checker can move."""
        high, low = high_low(position.dice)
        high_word, low_word = legal_words(position)
        high_word, low_word = (materialize(word, position.dice) for word in (high_word, low_word))
        none = jnp.uint32(0)
        words = [jnp.where(die == high, high_word, none) | jnp.where(die == low, low_word, none) for die in range(1, 7)]
        mask = unpack(words, np.arange(26, 0, -1))
        return mask | ((np.arange(156) == 0) & ((high_word | low_word) == 0))

    @override
    def is_legal(self, position: Position, action: Int32[Array, ""]) -> Bool[Array, ""]:
        # Without building the mask.
        source, die = _step(action)
        high, low = high_low(position.dice)
        high_word, low_word = legal_words(position)
        plays = (has(high_word, source) & (die == high)) | (has(low_word, source) & (die == low))
        return jnp.where(action == 0, (high_word | low_word) == 0, plays & (action > 0) & (action < 156))

    @override
    def draw_action(self, position: Position, bits: UInt32[Array, ""]) -> Int32[Array, ""]:
        """A legal action, drawn uniformly by its rank among the sources for both dice."""
        high, low = high_low(position.dice)
        high_word, low_word = legal_words(position)
        low_word = jnp.where(high == low, jnp.uint32(0), low_word)
        before, after = lax.population_count(high_word), lax.population_count(low_word)
        rank = bounded(bits, before + after)
        plays_high = rank < before
        source = nth_set(jnp.where(plays_high, high_word, low_word), jnp.where(plays_high, rank, rank - before))
        action = (26 - source) * 6 + jnp.where(plays_high, high, low) - 1
        return jnp.where(before + after == 0, 0, action.astype(jnp.int32))

    @override
    def play(self, position: Position, action: Int32[Array, ""]) -> Outcome[Position]:
        """One checker moved, or the pass."""
        source, die = _step(action)
        passes = action == 0
        own, opponent = board.move(position.own, position.opponent, source, die, ~passes)
        dice = jnp.where(passes, jnp.uint32(0), position.dice - one_die(die))
        over = board.occupied(own) == 0
        turn_passes = (dice == 0) & (position.dice != 0) & ~over
        reward = board.result(opponent).astype(jnp.float32)
        actor, other = select(turn_passes, (opponent, own), (own, opponent))
        return Outcome(Position(actor, other, dice), turn_passes, over, reward)

    @override
    def best_turn(self, positions: Position, value: Value) -> tuple[Outcome[Position], Float32[Array, " batch"]]:
        """The best play of the whole roll, over all distinct plays; a `FirstLayer` is updated play by play.

        The positions must have dice: call `chance` first if they await a roll. The next two methods need this, too.
        """
        kind = value.class_of(positions) if isinstance(value, FirstLayer) else None
        if kind is None or len(kind) <= FEW:
            best = best_plays(positions, _score(positions, value))
        else:
            # A chunk is valued by every network that any of its plays needs: so positions are sorted by class.
            order = jnp.argsort(kind)
            ordered = take(positions, order)
            best = take(best_plays(ordered, _score(ordered, value)), jnp.argsort(order))
        return apply_plays(positions, best.code), best.score

    @override
    def top_turns(self, positions: Position, value: Value, count: int) -> TopTurns:
        """The best plays of the whole roll."""
        return top_plays(positions, _score(positions, value), count)

    @override
    def random_turn(self, positions: Position, bits: UInt32[Array, " batch"]) -> Outcome[Position]:
        """A play of the whole roll, drawn uniformly from the distinct plays."""
        return apply_plays(positions, random_plays(positions, bits))

    @override
    def turn_actions(
        self, positions: Position, target: Position, wanted: Bool[Array, " batch"], otherwise: Position
    ) -> tuple[Int32[Array, " batch"], Bool[Array, " batch"]]:
        """The first checker of the one play that leads to the position."""
        return actions_to(positions, target, wanted, otherwise)

    def plays(self, state: State) -> PlayList | BatchPlays:
        """Every distinct position that the turn can lead to, and the actions that lead there.

        One state gives NumPy arrays of exact size (`list_plays`), a batch of states a flat list inside `jit` (`plays`).
        """
        return plays(state) if of_backgammon(state).terminated.ndim else list_plays(state)

    @override
    def observe_position(self, position: Position, acting: Bool[Array, ""]) -> Int32[Array, "34"]:
        """Points in the direction of play, own checkers positive; bar and off of both; dice left (0 if not to act)."""
        own, opponent = board.to_counts(position.own), board.to_counts(position.opponent)
        points = own[:24][::-1] - opponent[:24]
        off = [board.CHECKERS - own.sum(dtype=jnp.int32), opponent.sum(dtype=jnp.int32) - board.CHECKERS]
        dice = (position.dice >> (jnp.uint32(4) * jnp.arange(6, dtype=jnp.uint32))) & jnp.uint32(15)
        dice = jnp.where(acting, dice.astype(jnp.int32), 0)
        return jnp.concatenate([points, jnp.stack([own[24], -opponent[24], *off]), dice])

    @override
    def parse(self, text: str) -> Position:
        """A GNU Backgammon position id and, after a colon, the dice left: `4HPwATDgc/ABMA:31`; without dice a roll is
        awaited.
        """
        return from_plain(*notation.from_text(text))

    @override
    def unparse(self, position: Position) -> str:
        return notation.to_text(*to_plain(position))

    @override
    def draw_board(self, position: Position, theme: str, player: int = 0) -> str:
        """The board as an SVG document; player 0 has the light checkers and sits at the bottom."""
        return document(drawing.board_picture(*to_plain(position), theme, player), theme)

    @override
    def board_text(self, state: State) -> str:
        return drawing.board_text(*to_plain(one_state(self, state)._position), player=int(state.current_player))

    @override
    def action_to_string(self, state: State, action: int) -> str:
        """One checker's move, such as `8/5` or `bar/22*`, or `pass`; raises `ValueError` if there is no checker to
        move.
        """
        mover, opponent, dice = to_plain(one_state(self, state)._position)
        step = notation.step_of(checks.whole("action", action, None))
        return notation.format_step(*step, mover, opponent, dice) if step else "pass"

    @override
    def string_to_action(self, state: State, text: str) -> int:
        """The action that `text` names; raises `ValueError` that says why there is none."""
        step = notation.parse_step(checks.text("action", text), *to_plain(one_state(self, state)._position))
        return notation.action_of(*step) if step else 0

    @override
    def legal_turns(self, state: State) -> list[tuple[int, ...]]:
        """The plays of the whole roll, one for each board that they lead to; `ValueError` where a roll is awaited."""
        if bool(one_state(self, state).terminated | state.truncated):
            return []
        return [_actions(turn) for turn in Turn.start(*to_plain(state._position)).whole_turns()]

    @override
    def turn_to_string(self, state: State, actions: Sequence[int]) -> str:
        """A play such as `8/5 6/5*`, or `pass`: `actions` in order, as in `PlayList.actions`."""
        mover, opponent, _ = to_plain(one_state(self, state)._position)
        numbers = (checks.whole("action", action, None) for action in actions)
        steps = [notation.step_of(number) for number in numbers if number >= 0]
        return notation.format_play([step for step in steps if step], mover, opponent)

    @override
    def string_to_turn(self, state: State, text: str) -> tuple[int, ...]:
        """The actions of the legal play that `text` describes. Raises `ValueError` that names what is wrong with it."""
        turn = Turn.start(*to_plain(one_state(self, state)._position))
        for source, die in notation.parse_play(checks.text("turn", text), turn.mover, turn.opponent, turn.dice):
            turn = turn.step(source, die)
        return _actions(turn)

    @override
    def turn_to(self, state: State, target: Position) -> tuple[int, ...]:
        """The actions of the play that leads to a position; `ValueError` if there is none."""
        own, other = map(tuple, to_plain(target)[:2])
        views = [(other, own)]  # as the other player sees it
        if not any(own):
            views.append((own, other))  # after single actions a won game stays as the winner sees it
        for turn in Turn.start(*to_plain(one_state(self, state)._position)).whole_turns():
            if (turn.mover, turn.opponent) in views:
                return _actions(turn)
        raise ValueError("no play of this roll leads to that position")

    @override
    def outcome_to_string(self, outcome: int) -> str:
        """The two dice, the larger one first: `31`."""
        return "".join(map(str, ROLLS[checks.whole("outcome", outcome, 0, len(ROLLS) - 1)]))

    @override
    def string_to_outcome(self, text: str) -> int:
        """The roll of two dice in any order: `31`, `1-3`, `3 1`. Raises `ValueError` for anything else."""
        dice = re.fullmatch(r"\s*([1-6])[\s,-]*([1-6])\s*", checks.text("outcome", text))
        if not dice:
            raise ValueError(f"{text!r} is no roll; write two dice from 1 to 6, such as 31")
        return ROLLS.index(tuple(sorted(map(int, dice.groups()), reverse=True)))


def _actions(turn: Turn) -> tuple[int, ...]:
    """The actions of a turn; it ends with the pass (0) if dice are left and checkers too."""
    passes = bool(turn.dice) and any(turn.mover)
    return tuple(notation.action_of(*step) for step in turn.steps) + (0,) * passes


def _score(positions: Position, value: Value) -> Score:
    """How good plays are if the positions after them are worth `value`."""
    return score_first_layer(positions, value) if isinstance(value, FirstLayer) else score_by(positions, value)


def _step(action: Int32[Array, "..."]) -> tuple[UInt32[Array, "..."], UInt32[Array, "..."]]:
    """Source and die of an action; an action out of range gives some step, which is then not legal."""
    action = jnp.clip(action, 0, 155)
    return (26 - action // 6).astype(jnp.uint32), (action % 6 + 1).astype(jnp.uint32)


def make_position(
    mover_points: Sequence[int], opponent_points: Sequence[int], dice: Sequence[int], current_player: int = 0
) -> State:
    """The state where `current_player` is to play `dice`, with these checkers on points 1..24 and the bar.

    The player to act comes first, and each side counts points in its own numbering: 25 counts each, at most 15
    checkers; missing ones are off. `dice` is the roll, two numbers from 1 to 6. Raises `ValueError` for an impossible
    position or roll.
    """
    mover, opponent, roll = (np.asarray(x) for x in (mover_points, opponent_points, dice))
    for name, side in (("mover_points", mover), ("opponent_points", opponent)):
        if side.shape != (25,) or side.dtype.kind not in "iuf":
            what = f"{side.dtype}{list(side.shape)}"
            raise ValueError(f"{name} must be 25 numbers, points 1 to 24 and the bar, not {what}")
    if roll.shape != (2,) or roll.dtype.kind not in "iu" or not all(1 <= die <= 6 for die in roll):
        raise ValueError(f"dice must be two numbers from 1 to 6, not {dice}")
    if current_player not in (0, 1):
        raise ValueError(f"current_player must be 0 or 1, not {current_player}")
    left = roll.tolist() * (2 if roll[0] == roll[1] else 1)
    return Backgammon().state(from_plain(mover.tolist(), opponent.tolist(), left), current_player)
