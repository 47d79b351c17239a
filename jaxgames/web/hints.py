"""Evaluations for those who look: hints, analyses that grow while a person thinks, the curve of a game."""

import asyncio
import operator
from typing import Any

from jaxgames.envs.core import State
from jaxgames.players.generic import advisor
from jaxgames.players.player import Player
from jaxgames.sessions.session import PlayedTurn, Session
from jaxgames.web import analysis
from jaxgames.web.analysis import Finding, has_values
from jaxgames.web.connection import Client
from jaxgames.web.consent import decide, may_see_values
from jaxgames.web.engine import Lane
from jaxgames.web.games import analyst
from jaxgames.web.rooms import Room

MOST_ANALYSTS = 3
"""Different players that evaluate one session at a time."""
CURVE_STEP = 8


class Analyses:
    """The analyses of one room: one task for each player that is asked."""

    def __init__(self, room: Room):
        self._room, self._tasks = room, dict[str, asyncio.Task[None]]()
        self._place: tuple[Any, int] = (None, -1)
        self.newest: dict[str | None, Finding] = {}
        """What each player has found so far in the position before the present turn."""

    def restart(self) -> None:
        """Restarts if the position has changed; ends analyses that nobody looks at."""
        room = self._room
        place = (room.session, len(room.session.turns))
        wanted = {one.analyst for one in room.clients if one.analyst is not None and may_see_values(room, one)}
        for spec, task in list(self._tasks.items()):
            if place != self._place or spec not in wanted:
                task.cancel()
                del self._tasks[spec]
        if place != self._place:
            self.newest.clear()
        self._place = place
        for spec in wanted - set(self._tasks):
            self._tasks[spec] = room.engine.spawn(self._analyse(spec))

    def again(self, spec: str) -> None:
        """Restarts the analysis by one player, for somebody who has joined."""
        if task := self._tasks.pop(spec, None):
            task.cancel()
        self.restart()

    async def _analyse(self, spec: str) -> None:
        room = self._room
        state, ply = room.session.turn_start, len(room.session.turns)
        session, seat = room.session, room.acting(state)
        lane = await room.engine.lane(spec, room.choice.game)
        findings = analysis.analyse(room.engine.programs, lane.player, state, 0)
        while (finding := await room.engine.run("analysis", next, findings, None)) is not None:
            if room.session is not session or len(session.turns) != ply:
                return
            self.newest[spec] = finding
            _note(room, ply, seat, finding)
            message = _shown(room, finding, state, seat, ply, spec)
            for client in list(room.clients):
                if client.analyst == spec and may_see_values(room, client):
                    client.put({**message, "version": room.version})


async def set_analysis(room: Room, client: Client, message: dict[str, Any]) -> None:
    """Handles `analysis`."""
    if not message["on"]:
        client.analyst = None
        room.analyses.restart()
        return
    spec = message["spec"] or analyst(room.engine.offered, room.choice.game)
    lane = await room.engine.lane(spec, room.choice.game)
    if not has_values(lane.player):
        raise ValueError(f"{spec} does not say what positions are worth; choose another player, such as uct:800")
    others = {other.analyst for other in room.clients if other is not client and other.analyst not in (None, spec)}
    if len(others) >= MOST_ANALYSTS:
        raise ValueError(
            f"at most {MOST_ANALYSTS} players evaluate a game at a time; use one of {', '.join(map(str, others))}"
        )
    client.analyst = spec
    room.analyses.again(spec)


async def analyse_ply(room: Room, client: Client, message: dict[str, Any]) -> None:
    """Handles `analyse`."""
    spec, lane = await _analyst(room, client, message)
    ply, session = message["ply"], room.session
    state, before = room.state_at(ply), session.turns[:ply]
    seat = room.acting(state)
    finding = await _first(room, lane, state)
    _check(room, client, message, room.session is session and _begins_with(session, before))
    _note(room, ply, seat, finding)
    shown = _shown(room, finding, state, seat, ply, spec)
    client.put({**shown, "version": room.version, "id": message["id"], "final": True})


async def curve(room: Room, client: Client, message: dict[str, Any]) -> None:
    """Handles `curve`."""
    _, lane = await _analyst(room, client, message)
    session, before = room.session, room.session.turns[:]
    count = len(before) + 1
    for ply in range(count):
        if ply not in room.values:
            state = room.state_at(ply)
            seat = room.acting(state)
            finding = await _first(room, lane, state)
            _check(room, client, message, room.session is session and _begins_with(session, before))
            _note(room, ply, seat, finding)
        final = ply == count - 1
        if final or ply % CURVE_STEP == CURVE_STEP - 1:
            values = [room.values.get(number) for number in range(count)]
            client.put({"type": "curve", "id": message["id"], "values": values, "final": final})


async def hint(room: Room, client: Client, message: dict[str, Any]) -> None:
    """Handles `hint`: what the analyst would play, to the end of the turn."""
    if room.over:
        raise ValueError("the game is over")
    _, lane = await _analyst(room, client, message)
    session, now = room.session, room.session.state
    state = now if not session.turn_complete else session.turn_start
    trial = Session(room.choice.game, state)
    finding = None if session.actions and not session.turn_complete else room.analyses.newest.get(client.analyst)
    actions: list[int]
    if finding is not None and finding.turns:  # what is shown beside the board
        actions = list(finding.turns[0].actions)
        for action in actions:
            trial.play_action(action, hand_over=False)
    else:
        actions = await room.engine.run("analysis", _known_turn, lane.player, trial)
    if not actions and not lane.is_ready():
        text = f"{lane.player.name} is being compiled; the hint takes a moment the first time"
        client.put({"type": "notice", "kind": "compiling", "text": text})
    known = bool(actions) and finding is None
    while not known and not trial.turns and not trial.turn_complete:
        chosen = await lane.choose(trial.state, 0)
        for action in chosen:
            trial.play_action(action, hand_over=False)
        actions += chosen
    _check(room, client, message, room.session is session and session.state is now)
    text = room.choice.game.turn_to_string(state, actions)
    steps = room.view.steps(state, actions, text, room.acting(state)).steps
    client.put(
        {
            "type": "hint",
            "id": message["id"],
            "version": room.version,
            "text": text,
            "actions": actions,
            "steps": steps,
            "value": None,
        }
    )


async def _analyst(room: Room, client: Client, message: dict[str, Any]) -> tuple[str, Lane]:
    """The player that evaluates for a page, by its spec and itself."""
    session, spec = room.session, client.analyst or analyst(room.engine.offered, room.choice.game)
    lane = await room.engine.lane(spec, room.choice.game)
    _check(room, client, message, room.session is session)
    return spec, lane


def _begins_with(session: Session, turns: list[PlayedTurn]) -> bool:
    """Whether a game still has these turns: none was taken back, and another one played."""
    return len(session.turns) >= len(turns) and all(map(operator.is_, session.turns, turns))


def _check(room: Room, client: Client, message: dict[str, Any], same: bool) -> None:
    """Raises `ValueError` if the request is for a board that has changed, or may no longer be answered."""
    if client.room is not room or not same:
        raise ValueError("the board has changed meanwhile; look again")
    decide(room, client, message)


def _known_turn(player: Player, session: Session) -> list[int]:
    """The turn of a player that knows the position exactly, if there is one."""
    asked = advisor(player, session.state)
    return [] if asked is player else list(session.suggest(asked))


async def value_for(room: Room, lane: Lane, seat: int) -> float | None:
    """What a player thinks that the position is worth to the one on a seat; None if it does not say."""
    if not has_values(lane.player):
        return None
    state = room.session.turn_start
    value = (await _first(room, lane, state)).value
    return value if value is None or room.acting(state) == seat else -value


async def _first(room: Room, lane: Lane, state: State) -> Finding:
    """What a player thinks of a state at first."""
    findings = analysis.analyse(room.engine.programs, lane.player, state, 0, patient=False)
    return await room.engine.run("analysis", next, findings)


def _note(room: Room, ply: int, seat: int, finding: Finding) -> None:
    """Keeps the value for the history; at the end of the game it is the result."""
    if finding.value is not None:
        room.values[ply] = round(finding.value if seat == 0 else -finding.value, 4)
    elif room.over and ply == len(room.session.turns):
        room.values[ply] = float(room.points()[0])


def _shown(room: Room, finding: Finding, state: State, seat: int, ply: int, spec: str) -> dict[str, Any]:
    """An analysis as the page reads it."""
    moves = []
    for number, turn in enumerate(finding.turns):
        steps = room.view.steps(state, turn.actions, turn.text, seat).steps
        places = (steps[0]["from"], steps[-1]["to"]) if steps else (None, None)
        moves.append(
            {
                "text": turn.text,
                "actions": list(turn.actions),
                "from": places[0],
                "to": places[1],
                "steps": steps,
                "value": None if turn.value is None else round(turn.value, 4),
                "visits": turn.visits,
                "best": number == 0,
            }
        )
    return {
        "type": "analysis",
        "ply": ply,
        "spec": spec,
        "value": room.values.get(ply),
        "most": room.choice.most_points,
        "depth": finding.depth,
        "simulations": finding.simulations,
        "final": finding.final,
        "moves": moves,
        "line": finding.line,
    }
