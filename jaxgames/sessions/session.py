"""One game that people play: turns by text or action by action, undo and redo, seats, chance, the result.

The terminal and the browser page are built on it. Plain Python around a few small compiled programs for each game; the
program that makes a state also computes its legal actions. Seat 0 is the player who moves first in the start
position.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence
from functools import partial
from typing import Any, NamedTuple

import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Bool, Int32, Key, UInt32

from jaxgames.envs.checks import one_state
from jaxgames.envs.core import Game, State, single
from jaxgames.envs.registry import as_game, make
from jaxgames.ops import checks
from jaxgames.ops.pytrees import equal, take
from jaxgames.players.host import PlayerFailed, take_forfeits
from jaxgames.players.player import Player, forfeits
from jaxgames.players.registry import as_players
from jaxgames.sessions.record import GameRecord, RecordedTurn, game_options

GIVEN_UP = ("resigned", "draw agreed")
"""Reasons of an end that people declare."""


class PlayedTurn(NamedTuple):
    """A whole turn: whose it was, the chance before it (`31`, or empty), its actions and text, the states around it.

    `before` is where it began, after the chance; `after` is where it ended, at the latest before the next chance. A
    turn in which `max_moves` stopped the game has no text, and is in no record.
    """

    seat: int
    chance: str
    actions: tuple[int, ...]
    text: str
    before: State
    after: State


class _Node(NamedTuple):
    """A state with the facts about it that are needed again and again."""

    state: State
    legal: list[int]
    awaits_chance: bool


class GameEnd(NamedTuple):
    """How a game ended: the points of seat 0 (seat 1 has as many less), and why, empty if by the rules."""

    points: float
    reason: str = ""


class Session:
    """One game: what has been played, what may be played now, and who sits where. Not for several threads at once.

    Args:
        game: its rules.
        start: a position in the game's notation, or a state; by default a new game, with its first roll.
        seed: of the first roll and all others that are drawn; after `undo` the same ones come again.
        players: who plays on seats 0 and 1; None for a person.
        rolls: whether the session draws chance; otherwise `roll` does, except in `start`. `chance` is this turn's.

    Raises `ValueError` for a text that is not a position, a state or player of another game, more or fewer players.
    """

    def __init__(
        self,
        game: Game | str,
        start: str | State | None = None,
        seed: int = 0,
        players: Sequence[Player | str | None] = (None, None),
        rolls: bool = True,
    ):
        game, seed = as_game(game), checks.seed(seed)
        if isinstance(players, str) or len(players) != 2:
            raise ValueError(f"players {players!r}: expected two, such as ('random', None), None for a person")
        seats = [None if player is None else as_players(player, game=game)[0] for player in players]
        self.game, self.rolls, self.seats, self.seed = game, rolls, seats, seed
        self.turns, self.undone = list[PlayedTurn](), list[PlayedTurn]()
        self._ahead: tuple[_Node, str]  # how the turn after all that is undone began
        self._key = jax.random.key(seed)
        self._end: GameEnd | None = None
        if start is None:
            start = _init(game, self._key)
        self.start = jax.device_get(one_state(game, start) if isinstance(start, State) else game.from_string(start))
        self._begin_turn(_look_at(self.start))

    # What there is to see.

    @property
    def state(self) -> State:
        """The state now, within a turn too."""
        return self._nodes[-1].state

    @property
    def turn_start(self) -> State:
        """The state in which the turn under way began."""
        return self._nodes[0].state

    @property
    def seat(self) -> int:
        """Whose turn it is, also while a finished turn is not yet handed over; at the end, who would be next."""
        return int(self.turn_start.current_player) ^ int(self.start.current_player)

    @property
    def player(self) -> Player | None:
        """The player on that seat; None for a person."""
        return self.seats[self.seat]

    @property
    def actions(self) -> tuple[int, ...]:
        """The actions of the turn under way."""
        return tuple(self._actions)

    @property
    def awaits_chance(self) -> bool:
        """Whether the next thing is an outcome of chance, by `roll`."""
        return not self._actions and self._nodes[-1].awaits_chance and not self.over

    @property
    def turn_complete(self) -> bool:
        """Whether the turn under way is finished and waits for `hand_over`."""
        return bool(self._actions) and (_passed(self.turn_start, self.state) or self._nodes[-1].awaits_chance)

    @property
    def end(self) -> GameEnd | None:
        """How the game ended; None while it goes on."""
        if self._end is not None or self._actions or not _is_over(self.state):
            return self._end
        points = float(self.state.rewards[int(self.start.current_player)])  # none where it was over from the start
        return GameEnd(points + 0.0, "too many moves" * bool(self.state.truncated))

    @property
    def over(self) -> bool:
        """Whether the game has ended."""
        return self.end is not None

    def legal_turns(self) -> dict[str, tuple[int, ...]]:
        """The legal ways to complete the turn, by text; none if chance is awaited or the game is over."""
        if self.over or self.awaits_chance or self.turn_complete:
            return {}
        return {self.game.turn_to_string(self.state, turn): turn for turn in self.game.legal_turns(self.state)}

    def legal_actions(self) -> list[int]:
        """The legal actions now."""
        return [] if self.over or self.awaits_chance or self.turn_complete else list(self._nodes[-1].legal)

    # What can be done.

    def roll(self, outcome: str | int | None = None) -> str:
        """Gives the awaited outcome of chance, by its name or number, or draws it. Returns its name.

        Raises `ValueError` if none is awaited, or for an unknown one.
        """
        if not self.awaits_chance:
            raise ValueError("no chance is awaited now")
        if outcome is None:
            drawn, *seen = _roll(self.state, self._key, np.int32(len(self.turns) + 1))
            outcome = int(drawn)
        else:
            outcome = self.game.string_to_outcome(outcome) if isinstance(outcome, str) else outcome
            seen = _resolve(self.state, np.int32(outcome))
        self.chance, self._nodes = self.game.outcome_to_string(outcome), [_node(*seen)]
        return self.chance

    def play(self, turn: str | Sequence[int]) -> PlayedTurn:
        """Plays the rest of the turn, by its text or its actions, and hands it over.

        Raises `ValueError` that says what is wrong with it, `TypeError` for what is neither; then nothing changes.
        """
        self._check_open()
        if not isinstance(turn, Sequence) and not (checks.is_array(turn) and turn.ndim == 1):
            raise TypeError(f"turn {checks.describe(turn)}: expected a text such as '4', or actions such as [3]")
        actions = self.game.string_to_turn(self.state, turn) if isinstance(turn, str) else tuple(turn)
        kept = len(self._actions)
        try:
            for action in actions:
                if self.state.truncated:
                    break
                self.play_action(checks.whole("action", action, None), hand_over=False)
            if not self.turn_complete:
                raise ValueError(f"actions {self._actions[kept:]} are no whole turn: add one of {self.legal_actions()}")
        except (ValueError, TypeError):
            del self._actions[kept:], self._nodes[kept + 1 :]
            raise
        return self.hand_over()

    def play_action(self, action: str | int, hand_over: bool = True) -> None:
        """Plays one action, by its name or number; if it ends the turn, hands it over, or waits for `hand_over`.

        Raises `ValueError` for an action that is not legal, `TypeError` for what is no action.
        """
        self._check_open()
        if isinstance(action, str):
            action = self.game.string_to_action(self.state, action)
        action = checks.whole("action", action, None)
        if action not in self.legal_actions():
            raise ValueError(f"action {action} is not legal; legal are {self.legal_actions()}")
        self._nodes.append(_node(*_apply(self.state, np.int32(action))))
        self._actions.append(action)
        if hand_over and self.turn_complete:
            self.hand_over()

    def undo_action(self) -> None:
        """Takes back the last action of the turn under way. Raises `ValueError` if there is none."""
        if not self._actions:
            raise ValueError("no action of this turn can be taken back")
        self._actions.pop()
        self._nodes.pop()

    def hand_over(self) -> PlayedTurn:
        """Ends the turn that is finished, and rolls for the next one. Raises `ValueError` if it is not finished."""
        if not self.turn_complete:
            raise ValueError("the turn is not finished yet")
        try:
            text = self.game.turn_to_string(self.turn_start, self._actions)
        except ValueError:  # the game was stopped in the middle of a turn
            text = ""
        turn = PlayedTurn(self.seat, self.chance, self.actions, text, self.turn_start, self.state)
        self.turns.append(turn)
        self.undone.clear()
        self._begin_turn(self._nodes[-1])
        return turn

    def undo(self) -> PlayedTurn | None:
        """Takes back a resignation or an agreed draw; otherwise the unfinished turn, or the last whole turn.

        Raises `ValueError` if nothing has been played.
        """
        if self._end is not None:
            self._end = None
        elif self._actions:
            self._begin_turn(self._nodes[0], self.chance)
        elif self.turns:
            if not self.undone:  # chance that was given, not drawn, must not be drawn when all is played again
                self._ahead = self._nodes[0], self.chance
            turn = self.turns.pop()
            self.undone.append(turn)
            self._begin_turn(_look_at(turn.before), turn.chance)
            return turn
        else:
            raise ValueError("nothing has been played that could be taken back")
        return None

    def redo(self) -> PlayedTurn:
        """Plays the turn again that `undo` took back last. Raises `ValueError` if there is none."""
        if not self.undone or self._actions or self._end:
            raise ValueError("no turn has been taken back that could be played again")
        turn = self.undone.pop()
        self.turns.append(turn)
        following = self.undone[-1] if self.undone else None
        self._begin_turn(*(self._ahead if following is None else (_look_at(following.before), following.chance)))
        return turn

    @property
    def given_up(self) -> bool:
        """Whether people ended the game (resignation, agreed draw), not the rules or a player that failed."""
        return self._end is not None and self._end.reason in GIVEN_UP

    def turns_before(self, seats: Collection[int]) -> int:
        """How many turns stay if some seats take back: all of them if there is a declared end or an unfinished turn
        to take back, otherwise those before the last turn of these seats. Raises `ValueError` if there is none.
        """
        if self.given_up or self._actions:
            return len(self.turns)
        own = [number for number, turn in enumerate(self.turns) if turn.seat in seats]
        if not own:
            raise ValueError("you have played nothing that could be taken back")
        return own[-1]

    def undo_to(self, turns: int) -> None:
        """Takes back turns until so many stay, and also an unfinished turn and a declared end."""
        while len(self.turns) > turns or self._actions or self.given_up:
            self.undo()

    def redo_to(self, seats: Collection[int]) -> None:
        """Repeats `redo` until one of these seats is to move or nothing is left."""
        self.redo()
        while self.undone and self.seat not in seats:
            self.redo()

    def resign(self, seat: int | None = None, points: int = 1, reason: str = GIVEN_UP[0]) -> GameEnd:
        """Ends the game: a seat, by default the one whose turn it is, loses `points`.

        Raises `ValueError` if the game is over, for impossible points, and for a wrong seat.
        """
        self._check_going()
        most = self.game.max_reward
        if not 1 <= checks.whole("points", points, None) <= most:
            worth = f"1 to {most} points" if most > 1 else "1 point"
            raise ValueError(f"a game of {self.game.id} is worth {worth}, not {points}")
        loser = self.seat if seat is None else checks.whole("seat", seat, 0, 1)
        self._end = GameEnd(float(points if loser == 1 else -points), reason)
        return self._end

    def agree_draw(self) -> GameEnd:
        """Ends the game with no points for both. Raises `ValueError` if it is over."""
        self._check_going()
        self._end = GameEnd(0.0, GIVEN_UP[1])
        return self._end

    def suggest(self, player: Player | str | None = None) -> tuple[int, ...]:
        """The actions that a player, by default the one on the seat, would play to end this turn.

        The same position after as many turns gives the same suggestion. Raises `ValueError` if nothing can be played.
        """
        self._check_open()
        if (asked := player or self.player) is None:
            raise ValueError("a person sits here; name a player to ask")
        (player,) = as_players(asked, game=self.game)
        bits = int(_player_bits(self._key, jnp.int32(len(self.turns)), jnp.int32(len(self._actions))))
        return choose_turn(player, self.state, bits)

    def play_on(self) -> PlayedTurn | None:
        """Lets the player on the seat play its turn; a player that fails loses the game, and there is no turn.

        Raises `ValueError` if a person sits there.
        """
        try:
            return self.play(self.suggest())
        except PlayerFailed as failure:
            self.resign(reason=str(failure))
            return None

    # Records.

    def record(self, names: Sequence[str] | None = None, tags: Mapping[str, str] | None = None) -> GameRecord:
        """What has been played so far; `names` are those of the seats."""
        names = [player.name if player else "person" for player in self.seats] if names is None else names
        end = self.end
        return GameRecord(
            game=self.game.id,
            options=game_options(self.game),
            players=(names[0], names[1]),
            start=self.game.to_string(self.start),
            turns=tuple(RecordedTurn(turn.text, turn.chance) for turn in self.turns if turn.text),
            points=None if end is None else end.points,
            reason="" if end is None else end.reason,
            tags=dict(tags or {}),
        )

    @classmethod
    def replay(
        cls, record: GameRecord, seed: int = 0, players: Sequence[Player | None] = (None, None), chance: str = ""
    ) -> Session:
        """The game of a record, played under the rules to its end; `chance` is the chance before the next turn.

        Raises `ValueError` that names an illegal turn, for a result that the rules contradict, for unawaited `chance`.
        """
        session = cls(make(record.game, **record.options), record.start, seed, players, rolls=False)
        for number, turn in enumerate(record.turns, 1):
            try:
                if session.awaits_chance or turn.chance:
                    session.roll(turn.chance)
                session.play(turn.text)
            except ValueError as error:
                raise ValueError(f"turn {number}: {error}") from None
        session.rolls = True
        if (end := session.end) is not None:
            if record.points not in (None, end.points):
                raise ValueError(f"the result is {record.points:+g} points, but the game ends with {end.points:+g}")
        elif record.points is not None:
            session._end = GameEnd(record.points, record.reason or GIVEN_UP[0])
        if session.end is None and session.awaits_chance:
            session.roll(chance or None)
        elif chance:
            raise ValueError(f"chance {chance!r}: no turn after the record begins with one; leave it out")
        return session

    def _begin_turn(self, node: _Node, chance: str = "") -> None:
        self._nodes, self._actions, self.chance = [node], list[int](), chance
        if self.rolls and self.awaits_chance:
            self.roll()

    def _check_going(self) -> None:
        if self.over:
            raise ValueError("the game is over")

    def _check_open(self) -> None:
        self._check_going()
        if self.awaits_chance:
            raise ValueError("roll first: a roll is awaited")
        if self.turn_complete:
            raise ValueError("the turn is finished; hand it over or take an action back")


def choose_turn(player: Player, state: State, bits: int) -> tuple[int, ...]:
    """The actions of a player from a state to the end of its turn; `bits` are the 32 random bits it may use.

    Raises `PlayerFailed` for a player in plain Python that fails, and for an illegal action.
    """
    start, actions, word = single(state), list[int](), bits
    while not actions or not (_passed(start, state) or (state._game.outcome_probabilities and _look_at(state)[2])):
        target, failed = jax.device_get((_ask if player.on_host else _choose)(player, state, jnp.uint32(word)))
        if failed:
            raise PlayerFailed(f"{player.name}: illegal action")
        chosen = state._game.turn_to(state, target)
        state = after_actions(state, chosen)
        actions += chosen
        word = (word * 0x9E3779B1 + 1) & 0xFFFFFFFF  # another word if the same player goes on
    return tuple(actions)


def after_actions(state: State, actions: Iterable[int]) -> State:
    """The state after legal actions, before chance acts, on the host."""
    for action in actions:
        state = _node(*_apply(state, np.int32(action))).state
    return state


def _is_over(state: State) -> bool:
    return bool(state.terminated) or bool(state.truncated)


def _passed(before: State, after: State) -> bool:
    return _is_over(after) or int(after.current_player) != int(before.current_player)


Seen = tuple[State, Bool[Array, " actions"], Bool[Array, ""]]
"""A state, its legal actions, and whether chance is awaited: an outcome would change the position."""


def _node(state: State, mask: Array, awaits_chance: Array) -> _Node:
    state, mask, awaits_chance = jax.device_get((state, mask, awaits_chance))
    return _Node(state, np.flatnonzero(mask).tolist(), bool(awaits_chance))


def _look_at(state: State) -> _Node:
    return _node(*_look(state))


def _see(state: State) -> Seen:
    game: Game = state._game
    if not game.outcome_probabilities:
        return state, state.legal_action_mask, jnp.bool_(False)
    both = state._position, game.chance(state._position, jnp.int32(0))
    same = equal(*(jax.tree.map(lambda x: jnp.asarray(x)[None], position) for position in both))[0]
    return state, state.legal_action_mask, ~same


_look = jax.jit(_see)


@partial(jax.jit, static_argnums=0)
def _init(game: Game, key: Key[Array, ""]) -> State:
    return game.state(game.init_position(jax.random.fold_in(key, 0)))


@jax.jit
def _apply(state: State, action: Int32[Array, ""]) -> Seen:
    return _see(state._game.apply(state, action))


@jax.jit
def _resolve(state: State, outcome: Int32[Array, ""]) -> Seen:
    return _see(state._game.resolve(state, outcome))


@jax.jit
def _roll(
    state: State, key: Key[Array, ""], number: Int32[Array, ""]
) -> tuple[Int32[Array, ""], State, Bool[Array, " actions"], Bool[Array, ""]]:
    """An outcome drawn, and as `_resolve`."""
    outcome = state._game.draw_outcome(jax.random.bits(jax.random.fold_in(key, number), dtype=jnp.uint32))
    return outcome, *_see(state._game.resolve(state, outcome))


@jax.jit
def _player_bits(key: Key[Array, ""], turn: Int32[Array, ""], action: Int32[Array, ""]) -> UInt32[Array, ""]:
    of_turn = jax.random.fold_in(jax.random.fold_in(key, 1 << 30), turn)
    return jax.random.bits(jax.random.fold_in(of_turn, action), dtype=jnp.uint32)


@jax.jit
def _choose(player: Player, state: State, bits: UInt32[Array, ""]) -> Any:
    """The position that the player's turn leads to, and whether it loses by an illegal action instead."""
    positions = jax.tree.map(lambda x: jnp.asarray(x)[None], state._position)
    outcome = player.play_once(positions, bits[None])
    return take(outcome.position, 0), forfeits(positions, outcome)[0]


def _ask(player: Player, state: State, bits: UInt32[Array, ""]) -> Any:
    """As `_choose`, for players in plain Python."""
    positions = jax.tree.map(lambda x: np.asarray(x)[None], state._position)
    take_forfeits(player)  # of other games
    outcome = player.turn(player.params, positions, bits[None])
    for reason in take_forfeits(player):
        raise PlayerFailed(reason)
    return take(jax.tree.map(np.asarray, outcome.position), 0), False
