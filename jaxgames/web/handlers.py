"""What the messages of a page do: one function each, in `HANDLERS`. A `ValueError` is the answer to a bad one.

What takes time is awaited first; then a room is changed at once.
"""

import asyncio
import math
import time
from collections.abc import Awaitable, Callable
from typing import Any

from jaxgames.envs.core import Game
from jaxgames.sessions.session import Session
from jaxgames.web import consent, hints, keeping
from jaxgames.web.boards import VIEWS
from jaxgames.web.clocks import TIME_UP, control_of
from jaxgames.web.connection import Client
from jaxgames.web.games import GameChoice, choose_game
from jaxgames.web.rooms import Room
from jaxgames.web.seats import Chair, MatchScore, Offer, new_token

Message = dict[str, Any]
Handler = Callable[[Room, Client, Message], Awaitable[None]]


def _seat(room: Room, client: Client) -> int:
    """The seat that a client plays now: the one to move if it has both."""
    seats = room.seats_of(client.token)
    if not seats:
        raise ValueError("you only watch; ask for the link of a seat to play")
    if room.check_time():
        room.changed()
    if room.over:
        raise ValueError("the game is over")
    if room.to_move not in seats:
        raise ValueError(f"it is the turn of {room.view.sides[1 - seats[0]]}")
    return room.to_move or 0


def _seats(room: Room, client: Client, what: str) -> list[int]:
    """The seats of somebody who plays in a game that goes on; `what` is what they may do."""
    seats = room.seats_of(client.token)
    if not seats or room.over:
        raise ValueError("the game is over" if room.over else f"you only watch; who plays may {what}")
    return seats


def _agreed(room: Room, client: Client, message: Message, act: Callable[[], None]) -> None:
    """Does what a message says, and tells everybody: at once, or when the other person has agreed."""

    def agreed() -> None:
        act()
        room.offer = None
        room.changed()

    if consent.decide(room, client, message) is consent.Verdict.OFFER:
        _propose(room, client, message["type"], agreed)
    else:
        agreed()


def _propose(room: Room, client: Client, what: str, act: Callable[[], None]) -> None:
    seats = room.seats_of(client.token)
    if room.offer is not None and room.offer.by in seats:
        raise ValueError(f"you have offered something already ({room.offer.what}); wait for the answer")
    room.offer = Offer(what, seats[0], act)
    room.changed_quietly()


async def _step(room: Room, client: Client, message: Message) -> None:
    _seat(room, client)
    if message["version"] is not None and not room.moved <= message["version"] <= room.version:
        raise ValueError("the board has changed meanwhile; look again")
    before = len(room.session.actions)
    try:
        room.play(message["actions"])
    except ValueError:
        while len(room.session.actions) > before:
            room.session.undo_action()
            room.steps.pop()
        raise
    room.changed()


async def _undo_step(room: Room, client: Client, message: Message) -> None:
    _seat(room, client)
    if room.session.actions[-1:] == (0,):  # the pass that followed by itself
        room.session.undo_action()
        if len(room.steps) > len(room.session.actions):
            room.steps.pop()
    room.session.undo_action()
    room.steps.pop()
    room.changed()


async def _hand_over(room: Room, client: Client, message: Message) -> None:
    _seat(room, client)
    room.hand_over(message.get("text"))
    room.changed()


async def _undo(room: Room, client: Client, message: Message) -> None:
    if room.session.end is not None and room.session.end.reason == TIME_UP:
        raise ValueError("the time is up, and cannot be taken back; begin another game")
    session, mine, watched = room.session, room.seats_of(client.token) or [0, 1], room.is_watched
    alone = watched or (all(chair.is_person for chair in room.chairs) and not room.between_people)
    target = session.turns_before([0, 1] if alone else [seat ^ room.first for seat in mine])

    def act() -> None:
        if room.session is not session or len(session.turns) < target:
            return
        session.undo_to(target)
        room.broken_off, room.steps = False, []
        room.paused = room.paused or watched

    _agreed(room, client, message, act)


async def _redo(room: Room, client: Client, message: Message) -> None:
    session = room.session
    if not session.undone:
        raise ValueError("no turn has been taken back that could be played again")

    def act() -> None:
        if room.session is not session or not session.undone:
            return
        if session.actions:
            raise ValueError("finish your turn or take its steps back first")
        session.redo_to([seat ^ room.first for seat, chair in enumerate(room.chairs) if chair.is_person])
        room.steps = []

    _agreed(room, client, message, act)


async def _resign(room: Room, client: Client, message: Message) -> None:
    seats = _seats(room, client, "resign")
    seat = message["seat"] if message["seat"] is not None else room.to_move if len(seats) == 2 else seats[0]
    if seat not in seats:
        raise ValueError("this is not your seat")
    room.lose(seat)
    room.changed()


async def _claim(room: Room, client: Client, message: Message) -> None:
    seats = _seats(room, client, "claim a win")
    if not room.is_left(seats):
        raise ValueError("nobody has left the game: a win can be claimed from a person who is gone")
    wait = room.chairs[1 - seats[0]].gone + room.limits.away_seconds - time.monotonic()
    if wait > 0:
        raise ValueError(f"they may come back: a win can be claimed in {math.ceil(wait)} s")
    room.lose(1 - seats[0], "left the game")
    room.changed()


async def _offer(room: Room, client: Client, message: Message) -> None:
    seats = _seats(room, client, "offer a draw")
    if room.choice.game.outcome_probabilities:
        raise ValueError(f"there are no draws in {room.view.title}")
    session, other = room.session, room.chairs[1 - seats[0]]

    def act() -> None:
        if room.session is not session or room.over:
            return
        room.take_turn_back()
        session.agree_draw()
        room.offer = None
        room.changed()

    if len(seats) == 2 or (other.is_person and not room.between_people):
        act()
    elif other.lane is not None:
        start = session.turn_start
        value = await hints.value_for(room, other.lane, 1 - seats[0])
        if value is None or value > 0:
            raise ValueError(f"{other.name} declines the draw")
        if room.session is not session or room.over or session.turn_start is not start:
            raise ValueError("the board has changed meanwhile; offer again")
        act()
    else:
        _propose(room, client, "draw", act)


async def _answer(room: Room, client: Client, message: Message) -> None:
    offer = room.offer
    if offer is None or 1 - offer.by not in room.seats_of(client.token):
        raise ValueError("nothing has been offered to you")
    room.offer = None
    try:
        if message["accept"]:
            offer.accept()
        else:
            room.notice(f"{room.view.sides[1 - offer.by]} declines: {offer.what}")
    finally:
        room.changed_quietly()


async def _new(room: Room, client: Client, message: Message) -> None:
    same_game = message["game"] in (None, room.choice.game.id)
    choice = room.choice
    if not same_game or message["options"] is not None:
        choice = choose_game(message["game"] or room.choice.game.id, message["options"] or {})
    position, to_move = message["position"], message["to_move"]
    if message["from_ply"] is not None:
        if position is not None or not same_game:
            raise ValueError("from_ply starts from a position of the game shown: leave game and position out")
        state = room.state_at(message["from_ply"])
        position, to_move = choice.game.to_string(state), room.acting(state)
    await _begin(room, client, message, choice, position, to_move, message["seats"])


async def _setup(room: Room, client: Client, message: Message) -> None:
    position, seat = await _set_up(room, message)
    await _begin(room, client, message, room.choice, position, seat, None)


async def _check_setup(room: Room, client: Client, message: Message) -> None:
    game = room.choice.game
    position, _ = await _set_up(room, message)
    await room.engine.prepare(game)
    await room.engine.run("play", check_start, game, position, 0)
    client.put({"type": "setup", "id": message["id"], "position": position})


async def _set_up(room: Room, message: Message) -> tuple[str, int]:
    game, view = room.choice.game, VIEWS[room.choice.game.id]
    dice = message["dice"]
    if dice is not None and not game.outcome_probabilities:
        raise ValueError(f"there are no dice in {view.title}")
    seat = message["to_move"] or 0
    try:  # whether moves lead to a large board of Connect X may take very long to find out
        checking = room.engine.run("setup", view.text, message["board"], game, seat, dice)
        position = await asyncio.wait_for(checking, room.limits.setup_seconds)
    except TimeoutError:
        raise ValueError("the board takes too long to check; give the moves that lead to it instead") from None
    return position, seat


def check_start(game: Game, position: str, seed: int) -> Session:
    """A session from a position. Raises `ValueError` where the game is over already."""
    session = Session(game, position, seed)
    if session.over:
        raise ValueError(f"position {position!r}: the game is over there; start from one in which it goes on")
    return session


async def start(room: Room, choice: GameChoice, position: str | None, to_move: int | None) -> tuple[Session, int, bool]:
    """A session for `Room.begin`, and who moves first in it; its rules are compiled if need be."""
    game, view = choice.game, VIEWS[choice.game.id]
    if not room.engine.is_prepared(game):
        for client in room.clients:
            client.put({"type": "notice", "kind": "compiling", "text": f"preparing {view.title}"})
    await room.engine.prepare(game)
    if position is None:
        bits = room.engine.bits()
        session = await room.engine.run("play", lambda: Session(game, seed=bits))
        drawn = (bits & 1) * bool(game.outcome_probabilities)
        return session, drawn if to_move is None or not game.outcome_probabilities else to_move, True
    session = await room.engine.run("play", check_start, game, position, room.engine.bits())
    first = view.first(session.start)
    if first is not None and to_move not in (None, first):
        raise ValueError(f"in this position it is the turn of {view.sides[first]}")
    return session, (to_move or 0) if first is None else first, False


async def _begin(
    room: Room,
    client: Client,
    message: Message,
    choice: GameChoice,
    position: str | None,
    to_move: int | None,
    seats: list[Message] | None,
) -> None:
    session, first, drawn = await start(room, choice, position, to_move)
    chairs = await chairs_for(room, client, choice.game, seats)
    control = room.control if message.get("clock") is None else control_of(message["clock"])

    def act() -> None:
        room.control = control
        room.begin(choice, session, first, drawn)
        room.chairs = chairs
        room.match = room.match if room.goes_on else None
        if message.get("exchange"):
            room.exchange()

    _agreed(room, client, message, act)


async def chairs_for(room: Room, client: Client, game: Game, seats: list[Message] | None) -> list[Chair]:
    """Who sits on the seats: as requested, otherwise as before, with the players made for this game."""
    chairs = []
    for number, before in enumerate(room.chairs):
        wanted = {"kind": "person", "spec": None} if before.is_person else {"kind": "player", "spec": before.spec}
        chairs.append(await _chair(room, client, game, number, seats[number] if seats else wanted))
    return chairs


async def _chair(room: Room, client: Client, game: Game, number: int, wanted: Message) -> Chair:
    before = room.chairs[number]
    if wanted["kind"] == "person":
        if wanted["spec"] is not None:
            raise ValueError("a person has no spec")
        if before.is_person:
            return before
        return Chair(token=client.token, name=client.name, came=True, owner=client.owner)
    if wanted["spec"] is None:
        raise ValueError("a player needs a spec, such as champion")
    lane = await room.engine.lane(wanted["spec"], game)
    await lane.begin()  # it goes on while people think
    return Chair(lane, wanted["spec"])


async def _swap(room: Room, client: Client, message: Message) -> None:
    if room.over:
        raise ValueError("the game is over: sides are swapped in one that goes on; begin another")
    _agreed(room, client, message, room.exchange)


async def _seat_to(room: Room, client: Client, message: Message) -> None:
    seat, session = message["seat"], room.session
    chair = room.chairs[seat]
    new_chair = await _chair(room, client, room.choice.game, seat, message["to"])

    def act() -> None:
        if room.session is not session or room.chairs[seat] is not chair:
            raise ValueError("another game has begun meanwhile")
        room.chairs[seat] = new_chair

    _agreed(room, client, message, act)


async def _invite(room: Room, client: Client, message: Message) -> None:
    seat = message["seat"]
    token = new_token()
    room.chairs[seat], room.offer = Chair(token=token), None
    client.put({"type": "invitation", "id": message["id"], "seat": seat, "token": token, "session": room.id})
    room.changed()


async def _load(room: Room, client: Client, message: Message) -> None:
    record = await keeping.read(room, message["text"], message["format"], message["game_number"])
    choice, session, first = await keeping.replay(room, record)
    chairs = await chairs_for(room, client, choice.game, None)

    def act() -> None:
        room.begin(choice, session, first, False)
        room.chairs = chairs
        room.paused = room.is_watched

    _agreed(room, client, message, act)


async def _save(room: Room, client: Client, message: Message) -> None:
    client.put({"type": "file", "id": message["id"], **await keeping.write(room, message["format"])})


async def _match(room: Room, client: Client, message: Message) -> None:
    games, before = message["games"], room.session
    session, first = await room.engine.run("play", room.fresh)

    def act() -> None:
        if room.session is not before:
            raise ValueError("another game has begun meanwhile")
        room.match = MatchScore(games) if games else None
        if games and (room.over or room.session.turns):
            room.begin(room.choice, session, first, room.drawn_start)

    _agreed(room, client, message, act)


async def _speed(room: Room, client: Client, message: Message) -> None:
    room.chosen_speed = message["seconds"]
    room.changed()


async def _pause(room: Room, client: Client, message: Message) -> None:
    room.paused, room.one_turn = message["on"], False
    room.changed()


async def _play_on(room: Room, client: Client, message: Message) -> None:
    if room.to_move is None or room.chairs[room.to_move].is_person:
        raise ValueError("no program is to move")
    room.paused, room.one_turn = True, True
    room.changed()


async def _display(room: Room, client: Client, message: Message) -> None:
    room.display = message["on"]
    room.changed()


async def _name(room: Room, client: Client, message: Message) -> None:
    client.name = message["name"]
    for seat in room.seats_of(client.token):
        room.chairs[seat].name = client.name
    room.changed_quietly()


async def _chat(room: Room, client: Client, message: Message) -> None:
    seats = room.seats_of(client.token)
    line = {
        "name": client.name or (room.view.sides[seats[0]] if seats else "a spectator"),
        "seat": seats[0] if len(seats) == 1 else None,
        "text": message["text"],
        "at": int(time.time()),
    }
    room.chats.append(line)
    room.tell({"type": "chat", **line})


async def _look(room: Room, client: Client, message: Message) -> None:
    ply = message["ply"]
    state = room.state_at(ply)
    client.put(
        {
            "type": "look",
            "id": message["id"],
            "ply": ply,
            "position": room.choice.game.to_string(state),
            "to_move": room.acting(state),
            "board": room.board(state, state),
            "last": room.turn_shown(ply - 1) if ply else None,
            "value": None if room.hides_values else room.values.get(ply),
        }
    )


async def _ping(room: Room, client: Client, message: Message) -> None:
    client.put({"type": "pong", "id": message["id"]})


HANDLERS: dict[str, Handler] = {
    "step": _step,
    "turn": _hand_over,
    "undo_step": _undo_step,
    "end_turn": _hand_over,
    "undo": _undo,
    "redo": _redo,
    "resign": _resign,
    "claim": _claim,
    "offer": _offer,
    "answer": _answer,
    "hint": hints.hint,
    "look": _look,
    "analysis": hints.set_analysis,
    "analyse": hints.analyse_ply,
    "curve": hints.curve,
    "new": _new,
    "swap": _swap,
    "seat": _seat_to,
    "invite": _invite,
    "setup": _setup,
    "check_setup": _check_setup,
    "load": _load,
    "save": _save,
    "match": _match,
    "speed": _speed,
    "pause": _pause,
    "play_on": _play_on,
    "display": _display,
    "name": _name,
    "chat": _chat,
    "ping": _ping,
}

ANSWERED = ("hint", "look", "analyse", "check_setup", "invite", "save", "ping", "curve")
"""Messages whose answer is a separate message; the others are answered by `ok`."""
EVALUATIONS = ("hint", "analyse", "curve")
"""Messages that need a player's thought, which takes long."""
