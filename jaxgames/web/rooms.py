"""One game in browsers: who sits where, the session, the programs' turns, games in a row, who watches."""

from __future__ import annotations

import asyncio
import contextlib
import secrets
import time
from collections import deque
from collections.abc import Callable
from typing import Any

from jaxgames.envs.core import State
from jaxgames.players.host import PlayerFailed
from jaxgames.sessions.session import GIVEN_UP, Session
from jaxgames.web.boards import VIEWS, View, ending, points_of
from jaxgames.web.clocks import FREE_TURNS, TIME_UP, Clock, TimeControl
from jaxgames.web.connection import Client, to_text
from jaxgames.web.engine import Engine
from jaxgames.web.games import GameChoice
from jaxgames.web.seats import FIRST, Chair, MatchScore, Offer, new_token, same

SCORE_INTERVAL = 0.1


class Room:
    """A session of the server. Everything happens in the event loop; `session` and `first` change together.

    Attributes:
        first: the seat (the colour) that moves first in the start position: seat 0 of `session`.
        values: evaluations in points of seat 0, by the number of turns played.
        analyses: the `hints.Analyses` of those who want evaluations.
        version: counts what everybody was told; since `moved` the position has been as it is.
        number: of the game in this session, from 1.
        loaded: turns that were not played here; `furthest`: the most turns there have been, each earns its time once.
        counted: the points of this game, if it has ended and counts.
        control: how much time the next game gives; `clock` is that of this one.
        tags: of the record.
        chosen_speed: seconds between moves of programs, once somebody has chosen them.
        keep: called when something has changed that is to be kept.
    """

    def __init__(self, engine: Engine):
        self.id = secrets.token_urlsafe(12)
        self.host = new_token()
        self.engine, self.limits = engine, engine.limits
        self.clients: set[Client] = set()
        self.chats: deque[dict[str, Any]] = deque(maxlen=engine.limits.chat_lines)
        self.chairs = [Chair(token=self.host, came=True), Chair(token=self.host, came=True)]
        self.choice: GameChoice
        self.session: Session
        self.view: View
        self.first, self.start_text, self.drawn_start = 0, "", True
        self.version, self.moved, self.paused, self.one_turn, self.display = 0, 0, False, False, True
        self.chosen_speed: float | None = None
        self.offer: Offer | None = None
        self.match: MatchScore | None = None
        self.values: dict[int, float] = {}
        self.steps: list[dict[str, Any]] = []
        self.broken_off = False
        self.used = self.left = time.monotonic()
        self.control: TimeControl | None = None
        self.clock, self.tags = Clock(), dict[str, str]()
        self.analyses: Any = None
        self.number, self.loaded, self.furthest = 0, 0, 0
        self.counted: list[int] | None = None
        self.keep: Callable[[Room], None] = lambda room: None
        self.leave: Callable[[Room], None] = lambda room: None
        self._driver: asyncio.Task[None] | None = None
        self._thinks, self._scored = False, 0.0
        self._board: State | None = None

    # Who is here.

    def seats_of(self, token: str | None) -> list[int]:
        """The seats of the person with a token."""
        return [seat for seat, chair in enumerate(self.chairs) if chair.is_of(token)]

    def is_host(self, token: str | None) -> bool:
        """Whether a token is the creator's."""
        return same(self.host, token)

    def knows(self, token: str | None) -> bool:
        """Whether the room has given this token to somebody who still takes part; all others only watch."""
        return self.is_host(token) or bool(self.seats_of(token))

    @property
    def between_people(self) -> bool:
        """Whether two different persons sit here, who both have come."""
        one, other = self.chairs
        return one.is_person and other.is_person and one.came and other.came and not same(one.token, other.token)

    @property
    def hides_values(self) -> bool:
        """Whether messages to everybody must have no evaluations, as two people play, or somebody plays a challenge."""
        return (self.between_people and not self.over) or self.challenged

    @property
    def is_watched(self) -> bool:
        """Whether only programs play."""
        return not any(chair.is_person for chair in self.chairs)

    @property
    def goes_on(self) -> bool:
        """Whether games in a row have not all been played."""
        return self.match is not None and self.match.played < self.match.games

    @property
    def challenged(self) -> bool:
        """Whether a challenge is under way."""
        return self.match is not None and self.match.challenge and self.goes_on

    def is_left(self, seats: list[int]) -> bool:
        """Whether the person on the other seat has been here and is gone."""
        other = self.chairs[1 - seats[0]]
        here = any(other.is_of(client.token) for client in self.clients)
        return self.between_people and len(seats) == 1 and not here

    # The game.

    @property
    def speed(self) -> float:
        """Seconds between moves of programs. Games in a row that nobody plays wait for nobody, unless it was chosen."""
        if self.chosen_speed is not None:
            return self.chosen_speed
        return 0.0 if self.goes_on and self.is_watched else 1.0

    @property
    def to_move(self) -> int | None:
        """The seat whose turn it is; None at the end."""
        return None if self.over else self.session.seat ^ self.first

    @property
    def over(self) -> bool:
        """Whether the game has ended."""
        return self.broken_off or self.session.over

    def points(self) -> list[int]:
        """The points of both seats at the end."""
        end = self.session.end
        return points_of(0 if end is None or self.broken_off else int(end.points), self.first, self.choice.most_points)

    def acting(self, state: State) -> int:
        """The seat to act in a state of this game."""
        return int(state.current_player) ^ int(self.session.start.current_player) ^ self.first

    def state_at(self, ply: int) -> State:
        """The state after so many turns. Raises `ValueError` if there were not so many."""
        if ply > len(self.session.turns):
            raise ValueError(f"only {len(self.session.turns)} turns have been played")
        return self.session.turn_start if ply == len(self.session.turns) else self.session.turns[ply].before

    def begin(self, choice: GameChoice, session: Session, first: int, drawn_start: bool) -> None:
        """Another game in place of this one; `drawn_start`: chance draws the start of the next one in a row.

        Raises `ValueError` where the start has no text: the moves to a large board may be too hard to find.
        """
        start_text = choice.game.to_string(session.start)
        self.leave(self)
        self.choice, self.session, self.first, self.drawn_start = choice, session, first, drawn_start
        self.view, self.start_text = VIEWS[choice.game.id], start_text
        self.offer, self.broken_off, self.counted = None, False, None
        self.values.clear()
        self.steps = []
        self.number, self.loaded = self.number + 1, len(session.turns)
        self.furthest = self.loaded
        self.clock.run(None)
        self.clock = Clock(self.control)
        self.tags = {} if session.turns else {"Date": time.strftime("%Y.%m.%d")}
        self.tags |= {} if self.control is None else {"TimeControl": str(self.control)}
        self.tags |= {} if self.view.first(session.start) is not None else {FIRST: self.view.sides[first]}

    @property
    def times_turn(self) -> bool:
        """Whether the turn under way takes time from the clock."""
        return len(self.session.turns) - self.loaded >= FREE_TURNS

    def run_clock(self) -> None:
        """Lets the clock run for the side to move: a person, or a program while it thinks; the flag falls by itself."""
        seat = self.to_move
        runs = seat is not None and (self.chairs[seat].is_person or self._thinks)
        self.clock.run(seat if runs else None, self.times_turn)
        self.clock.watch(self._flag_falls)

    def _flag_falls(self) -> None:
        if self.check_time():
            self.changed()
        else:  # the timer was a little early
            self.run_clock()

    def check_time(self) -> bool:
        """Ends the game where the time is up; whether it did."""
        seat = self.clock.seat
        if self.over or seat is None or self.clock.until_flag() > 0:
            return False
        self.clock.run(None)
        self.lose(seat, TIME_UP)
        return True

    def lose(self, seat: int, reason: str = GIVEN_UP[0]) -> None:
        """Ends the game: a seat loses it; an unfinished turn is dropped."""
        self.take_turn_back()
        self.session.resign(seat=seat ^ self.first, reason=reason)
        self.offer = None

    def take_turn_back(self) -> None:
        """Takes back the unfinished turn."""
        if self.session.actions:
            self.session.undo()
            self.steps = []

    def again(self) -> None:
        """Makes this a separate session, to look at a finished game: whoever opens it has all seats."""
        self.id, self.host, self.match = secrets.token_urlsafe(12), new_token(), None
        self.chairs = [Chair(token=self.host, name=chair.name, came=True) for chair in self.chairs]
        self.control, self.clock = None, Clock()
        self.number, self.loaded = 1, len(self.session.turns)

    def play(self, actions: list[int], confirmed: bool = False) -> None:
        """Plays actions of the present turn. A complete turn is handed over at once, unless that needs confirmation.

        Raises `ValueError` for an illegal one; those before it stay.
        """
        session = self.session
        for action in actions:
            legal = session.legal_actions()
            if action not in legal:
                raise ValueError(f"action {action} is not legal now")
            move = self.view.moves(session.state, [action], self.acting(session.state))
            session.play_action(action, hand_over=False)
            self.steps.append(next(one for one in move if one["actions"] == [action]))
        if session.actions and session.legal_actions() == [0] and self.choice.game.outcome_probabilities:
            session.play_action(0, hand_over=False)  # nothing can be played with what is left of the dice
        ends = bool(session.state.terminated | session.state.truncated)
        alone = session.actions == (0,)
        if session.turn_complete and (confirmed or ends or alone or not self.choice.game.outcome_probabilities):
            self.hand_over()

    def hand_over(self, text: str | None = None) -> None:
        """Ends a turn: a finished one, or one whose rest is played by its text."""
        seat, earns = self.session.seat ^ self.first, self.times_turn and len(self.session.turns) >= self.furthest
        if text is None:
            self.session.hand_over()
        else:
            self.session.play(text)
        self.clock.end_turn(seat, earns)
        self.steps, self.offer = [], None
        ply = len(self.session.turns)
        self.furthest = max(self.furthest, ply)
        self.values = {number: value for number, value in self.values.items() if number < ply}
        if ply >= self.limits.turns and not self.session.over:
            self.broken_off = True

    # What everybody is told.

    def _count(self) -> None:
        self.version += 1
        if self.session.state is not self._board:
            self._board, self.moved = self.session.state, self.version

    def changed(self) -> None:
        """Tells everybody, and lets the programs go on."""
        self._count()
        self.run_clock()
        self.keep(self)
        before, self.counted = self.counted, self.points() if self.over else None
        if self.match is not None and before != self.counted:
            for points, times in ((before, -1), (self.counted, 1)):  # one that is taken up again counts no more
                if points is not None:
                    self.match.add(points, times)
        self.broadcast()
        if self.analyses is not None:
            self.analyses.restart()
        if self._driver is None or self._driver.done():
            self._driver = asyncio.create_task(self._drive())

    def broadcast(self) -> None:
        """Sends the state, or the score if boards are not displayed."""
        if not self.display and self.match is not None and self.is_watched:
            now = time.monotonic()
            if self.over and (now - self._scored > SCORE_INTERVAL or not self.goes_on):
                self._scored = now
                self.tell({"type": "score", "match": self.match.shown(), "over": self.result()})
            if not self.over or self.goes_on:
                return
        shared = self.shared()
        for client in list(self.clients):
            client.put({**shared, **self.personal(client)})

    def tell(self, message: dict[str, Any]) -> None:
        """Sends the same message to all."""
        text = to_text(message)
        for client in list(self.clients):
            client.put(text)

    def notice(self, text: str, kind: str = "info") -> None:
        """Sends a line to all."""
        self.tell({"type": "notice", "text": text, "kind": kind})

    def shared(self) -> dict[str, Any]:
        """The part of a state that is the same for all."""
        session, view, game = self.session, self.view, self.choice.game
        state, seat = session.state, self.to_move
        person = seat is not None and self.chairs[seat].is_person
        moves = view.moves(state, session.legal_actions(), self.acting(state)) if person else []
        return {
            "type": "state",
            "session": self.id,
            "version": self.version,
            "game": game.id,
            "options": dict(self.choice.options),
            "position": self.position(),
            "start": self.start_text,
            "to_move": seat,
            "board": self.board(state, session.turn_start),
            "moves": moves,
            "turn": {
                "steps": self.steps,
                "text": " ".join(step["text"] for step in self.steps),
                "confirm": session.turn_complete,
            },
            "last": self.turn_shown(len(session.turns) - 1) if session.turns else None,
            "over": self.result(),
            "ply": len(session.turns),
            "history": [self._entry(number) for number in range(len(session.turns))],
            "redo": len(session.undone),
            "seats": [
                chair.shown([one.name for one in self.clients if chair.is_of(one.token)], side, seconds)
                for chair, side, seconds in zip(self.chairs, view.sides, self.clock.seconds(), strict=True)
            ],
            "offer": None if self.offer is None else {"what": self.offer.what, "by": self.offer.by},
            "match": None if self.match is None else self.match.shown(),
            "speed": self.speed,
            "paused": self.paused,
            "display": self.display,
            "busy": self._busy(),
            "clock": self.clock.shown(),
            "spectators": sum(not self.knows(client.token) for client in self.clients),
        }

    def personal(self, client: Client) -> dict[str, Any]:
        """The part of a state that is for one client."""
        seats, session = self.seats_of(client.token), self.session
        changes, mine = self.knows(client.token), self.to_move in seats
        played = bool(session.turns or session.actions or session.end)
        can = {
            "undo": changes and played,
            "redo": changes and bool(session.undone) and not session.actions and not self.over,
            "undo_step": mine and bool(session.actions),
            "end_turn": mine and session.turn_complete,
            "draw": bool(seats) and not self.over and not self.choice.game.outcome_probabilities,
            "resign": bool(seats) and not self.over,
            "claim": bool(seats) and not self.over and self.is_left(seats),
            "swap": self.is_host(client.token) and not self.over,
        }
        if self.challenged:
            can |= dict.fromkeys(("undo", "redo", "hint", "swap"), False)
        you = {"host": self.is_host(client.token), "seats": seats, "name": client.name}
        return {"you": you, "can": can, "analysis": client.analyst is not None and not (seats and self.hides_values)}

    def position(self) -> str:
        """The position now, in the game's notation."""
        session = self.session
        if self.choice.game.id == "connect_four":  # the moves that were played, not others that lead there
            return self.start_text + "".join(turn.text for turn in session.turns)
        return self.choice.game.to_string(session.state)

    def board(self, state: State, began: State) -> dict[str, Any]:
        """The board of a state within the turn that began in another one."""
        board = self.view.board(state, self.acting(state))
        if board["kind"] == "backgammon":
            rolled = self.view.board(began, self.acting(began))["left"]
            board["dice"] = None if not rolled else rolled[:2] if len(rolled) > 1 else rolled * 2
            if state is not began and self.acting(state) != self.acting(began):
                board["left"] = []
        return board

    def result(self) -> dict[str, Any] | None:
        """How the game ended."""
        if not self.over:
            return None
        end = None if self.broken_off else self.session.end
        return ending(self.view, self.points(), end, self.choice.most_points)

    def turn_shown(self, number: int) -> dict[str, Any]:
        """What a turn moved."""
        turn = self.session.turns[number]
        seat = turn.seat ^ self.first
        steps, captured = self.view.steps(turn.before, turn.actions, turn.text, seat)
        return {"seat": seat, "text": turn.text, "steps": steps, "captured": captured}

    def _entry(self, number: int) -> dict[str, Any]:
        turn = self.session.turns[number]
        dice = [int(die) for die in turn.chance] if turn.chance.isdecimal() else None
        value = None if self.hides_values else self.values.get(number + 1)
        return {"seat": turn.seat ^ self.first, "text": turn.text, "dice": dice, "value": value}

    def _busy(self) -> dict[str, Any] | None:
        seat = self.to_move
        if seat is None or self.paused or (lane := self.chairs[seat].lane) is None:
            return None
        what = "thinks" if lane.is_ready() else "compiles"
        return {"seat": seat, "what": what, "player": self.chairs[seat].name}

    # What programs do.

    async def _drive(self) -> None:
        """Lets programs play while it is their turn and somebody is there."""
        while self.clients and not (self.paused and not self.one_turn):
            began = time.monotonic()
            if self.over:
                if not self.goes_on:
                    return
                await asyncio.sleep(0 if self.is_watched and self.speed == 0 else max(self.speed, 1.0))
                if self.over and self.goes_on:
                    await self._next_game()
                continue
            session, seat = self.session, self.to_move or 0
            chair, state = self.chairs[seat], self.session.state
            if chair.lane is None:
                return

            def under_way(now: tuple[Any, ...] = (session, state, chair), seat: int = seat) -> bool:
                here = (self.session, self.session.state, self.chairs[seat])
                return not self.over and all(one is other for one, other in zip(here, now, strict=True))

            self._thinks = chair.lane.is_ready()  # compiling takes no time from the clock
            self.run_clock()
            try:
                actions = await chair.lane.choose(state, self.engine.bits())
            except PlayerFailed as failure:
                if under_way():
                    self.session.resign(reason=str(failure))
                    self.changed()
                continue
            except ValueError as error:
                if not under_way():
                    continue
                self.paused = True
                self.notice(str(error), "error")
                self.changed_quietly()
                return
            finally:
                self._thinks = False
            if under_way() and self.check_time():
                self.changed()
                continue
            self.run_clock()
            pause = self.speed if not self.chairs[1 - seat].is_person else min(self.speed, 0.5)
            await asyncio.sleep(max(0.0, began + pause - time.monotonic()))
            if not under_way() or (self.paused and not self.one_turn):
                continue
            self.one_turn = False
            try:
                self.play(actions, confirmed=True)
            except ValueError as error:
                self.paused = True
                self.notice(f"{chair.name} cannot play: {error}", "error")
            self.changed()

    def changed_quietly(self) -> None:
        """Tells everybody, but lets no program go on."""
        self._count()
        self.keep(self)
        self.broadcast()

    async def _next_game(self) -> None:
        """The next one of games in a row, sides swapped; none if people have gone on otherwise meanwhile."""
        ended = self.session
        session, first = await self.engine.run("play", self.fresh)
        if self.session is ended and self.over and self.goes_on:
            self.exchange()
            self.begin(self.choice, session, first, self.drawn_start)
            self.changed()

    def exchange(self) -> None:
        """Has both sides change seats."""
        self.chairs.reverse()
        self.clock.exchange()
        if self.match is not None:
            self.match.swapped = not self.match.swapped

    def fresh(self) -> tuple[Session, int]:
        """A session from the same start as this one, or from a new opening roll; and who moves first."""
        seed = self.engine.bits()
        if self.drawn_start:
            chance = bool(self.choice.game.outcome_probabilities)
            return Session(self.choice.game, seed=seed), (seed & 1) * chance
        return Session(self.choice.game, self.start_text, seed), self.first

    async def close(self, reason: str) -> None:
        """Ends the room, with its times as they are now."""
        self.clock.run(None)
        self.keep(self)
        if self._driver is not None:
            self._driver.cancel()
            with contextlib.suppress(asyncio.CancelledError, Exception):
                await self._driver
        for client in list(self.clients):
            client.close(4000, reason)
