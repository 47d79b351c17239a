"""Who may do what: the whole table is walked, by every role in every state."""

import asyncio
import json

import pytest

from jaxgames.web import consent
from jaxgames.web.connection import Client
from jaxgames.web.consent import RULES, Phase, Role, Verdict, decide, role_of, rule_of, state_of
from jaxgames.web.engine import Engine
from jaxgames.web.handlers import HANDLERS
from jaxgames.web.limits import Limits
from jaxgames.web.lobby import Lobby
from jaxgames.web.offered_players import OfferedPlayers
from jaxgames.web.seats import MatchScore

RECORD = '{"game": "tic_tac_toe", "start": ".../.../...", "turns": ["1", "2"]}'
CLOCK = {"kind": "increment", "seconds": 300, "bonus": 3}
PERSON, RANDOM = {"kind": "person"}, {"kind": "player", "spec": "random"}
MESSAGES = {
    "step": [{"actions": [8]}],
    "turn": [{"text": "8"}],
    "undo_step": [{}],
    "end_turn": [{}],
    "resign": [{}, {"seat": 0}, {"seat": 1}],
    "claim": [{}],
    "offer": [{"what": "draw"}],
    "answer": [{"accept": True}],
    "undo": [{}],
    "redo": [{}],
    "new": [{}, {"game": "tic_tac_toe", "options": {}}, {"from_ply": 0}, {"seats": [PERSON, PERSON]}, {"clock": CLOCK}],
    "setup": [{"board": {"cells": [1, 0, 0, 0, 0, 0, 0, 0, 0]}, "to_move": 1}],
    "load": [{"text": RECORD}],
    "swap": [{}],
    "match": [{"games": 0}, {"games": 2}],
    "seat": [{"seat": 0, "to": RANDOM}, {"seat": 1, "to": RANDOM}],
    "invite": [{"seat": 0}, {"seat": 1}],
    "speed": [{"seconds": 1}],
    "pause": [{"on": False}],
    "play_on": [{}],
    "display": [{"on": True}],
    "hint": [{}],
    "analysis": [{"on": True}, {"on": False}],
    "analyse": [{"ply": 0}],
    "curve": [{}],
    "check_setup": [{"board": {"cells": [0] * 9}}],
    "look": [{"ply": 0}],
    "save": [{"format": "json"}],
    "name": [{"name": "Ann"}],
    "chat": [{"text": "hello"}],
    "ping": [{}],
}
OWN = ("step", "turn", "resign")
"""What one does alone in a game of two."""
CHANGES = ("undo", "redo", "new", "setup", "load", "swap", "match", "seat", "invite")
ASKED = ("hint", "analysis", "curve", "analyse")


class Table:
    """A session, who is in it, and what each was told."""

    def __init__(self, lobby):
        self.lobby, self.people = lobby, {}

    async def say(self, who, kind, **fields):
        """What somebody is told after a message."""
        client = self.people.setdefault(who, Client(self.lobby.limits))
        await self.lobby.handle(client, json.dumps({"type": kind, "id": 7, **fields}))
        told = []
        while client._queue.qsize():
            told.append(json.loads(await client.next()))
        return told

    async def invite(self, who, seat, by="ann"):
        """Gives a seat to somebody, who comes."""
        link = next(m for m in await self.say(by, "invite", seat=seat) if m["type"] == "invitation")
        await self.say(who, "join", session=link["session"], token=link["token"])

    @property
    def room(self):
        return self.people["ann"].room

    def seen(self):
        """The game, the seats and the score."""
        room = self.room
        turns = [turn.text for turn in room.session.turns]
        chairs = [(chair.spec, chair.token) for chair in room.chairs]
        match = room.match and room.match.shown()
        game = id(room.session), room.choice.game.id, room.start_text, turns, room.session.actions, room.over
        return *game, chairs, match


async def begun(lobby, role, state):
    """A table at which somebody has this role, in this state, and who it is."""
    table = Table(lobby)
    await table.say("ann", "create", game="tic_tac_toe")
    first, second = "ann", "ann"
    if role is Role.OWNER:
        first = "bob"
        second = "carl"
        await table.invite("bob", 0)
        await table.invite("carl", 1)
    elif role not in (Role.ALONE, Role.CHALLENGER):
        second = "bob"
        await table.invite("bob", 1)
    if role is Role.SPECTATOR:
        await table.say("eve", "join", session=table.room.id)
    if state is not Phase.FRESH:
        await table.say(first, "turn", text="5")
        await table.say(second, "turn", text="1")
    if state is Phase.OVER:
        await table.say(first, "resign")
    who = {Role.GUEST: "bob", Role.SPECTATOR: "eve"}.get(role, "ann")
    other = {"ann": second if role is not Role.OWNER else "bob", "bob": "ann", "eve": "ann"}[who]
    if role is Role.CHALLENGER:
        table.room.match = MatchScore(10, challenge=True)
    table.room.paused = True  # a program on a seat need not be compiled
    assert (role_of(table.room, table.people[who]), state_of(table.room)) == (role, state)
    return table, who, other


@pytest.mark.parametrize("role", Role)
def test_every_message_by_every_role_in_every_state(role, monkeypatch):
    async def no_program(self):
        return None

    monkeypatch.setattr("jaxgames.web.engine.Lane.begin", no_program)

    async def walk():
        lobby = Lobby(Engine(OfferedPlayers(), Limits(creations_per_minute=1000)))
        rules = set()
        for state in Phase:
            table = None
            for kind, choices in MESSAGES.items():
                for fields in choices:
                    if table is None:
                        table, who, other = await begun(lobby, role, state)
                    rules.add(await one(table, who, other, kind, fields))
                    if table.room.clients and table.room.offer is None and table.seen() == table.before:
                        continue
                    table = None
        await lobby.close()
        lobby.engine.close()
        return rules

    async def one(table, who, other, kind, fields):
        """Sends a message and looks at what it did; the rule that it falls under."""
        room, client = table.room, table.people[who]
        table.before = before = table.seen()
        pace = room.chosen_speed, room.paused, room.display
        checked = table.lobby._messages.check({"type": kind, **fields})
        name = rule_of(room, client, checked)
        rule, state = RULES[name], state_of(room)
        verdict = rule.verdict(role, state)
        case = f"{role} sends {kind} {fields} when {state}"
        if verdict is Verdict.YES and kind in ASKED and fields.get("on", True):
            assert decide(room, client, checked) is Verdict.YES, case  # what is computed then is tested elsewhere
            return name
        told = await table.say(who, kind, **fields)
        errors = [message["message"] for message in told if message["type"] == "error"]
        if verdict is Verdict.NO:
            whys = [rule.why], ["people play here; only they may change the game"], [consent._PROVES]
            assert errors == whys[2] if role is Role.CHALLENGER else errors in whys[:2], case
            assert table.seen() == before and room.offer is None, case
        elif verdict is Verdict.OFFER and not errors:
            assert room.offer.what == kind and table.seen() == before, case
            await table.say(other, "answer", accept=True)
            assert room.offer is None, case
        elif verdict is Verdict.OFFER:
            assert kind in ("undo", "redo", "new"), (case, errors)  # where there is nothing to go back to
        else:
            assert rule.why not in errors or not rule.why, (case, errors)
        watches = role is Role.SPECTATOR or (role is Role.OWNER and state is Phase.GOING)
        if watches or (role is Role.CHALLENGER and kind in CHANGES):  # whatever the table says
            assert table.seen() == before, case
            assert not watches or (room.chosen_speed, room.paused, room.display) == pace, case
        if role in (Role.HOST, Role.GUEST) and state is not Phase.OVER:
            if verdict is not Verdict.OFFER and kind not in OWN and kind != "invite":
                assert table.seen() == before, case
            assert not [m for m in told if m["type"] in ASKED], case
            if kind == "invite" and state is Phase.GOING:
                assert errors and table.seen() == before, case
        return name

    met = asyncio.run(walk())
    assert {name.partition(" ")[0] for name in met} == set(MESSAGES)


def test_the_table_holds_every_message_and_no_other():
    assert set(MESSAGES) == set(HANDLERS) == {name.partition(" ")[0] for name in RULES}


def test_a_seat_may_be_given_on_when_its_person_is_gone():
    async def run():
        lobby = Lobby(Engine(OfferedPlayers()))
        table, _, _ = await begun(lobby, Role.HOST, Phase.GOING)
        asked = lobby._messages.check({"type": "seat", "seat": 1, "to": PERSON})
        chair, ann, bob = table.room.chairs[1], table.people["ann"], table.people["bob"]
        names = [rule_of(table.room, ann, asked)]
        lobby.leave(bob)
        names.append(rule_of(table.room, ann, asked))  # he may come back
        chair.gone -= 61
        names.append(rule_of(table.room, ann, asked))
        names.append(rule_of(table.room, bob, asked))
        await lobby.close()
        lobby.engine.close()
        return names

    assert asyncio.run(run()) == ["seat of another person"] * 2 + ["seat of somebody away", "seat"]


def test_what_spectators_find_is_not_told_to_those_who_play():
    async def run():
        lobby = Lobby(Engine(OfferedPlayers()))
        table, _, _ = await begun(lobby, Role.SPECTATOR, Phase.GOING)
        table.room.values = {0: 0.5, 1: 0.25, 2: -1.0}
        playing = await table.say("bob", "look", ply=1), table.room.shared()["history"]
        await table.say("ann", "resign")
        over = await table.say("bob", "look", ply=1), table.room.shared()["history"]
        await lobby.close()
        lobby.engine.close()
        return playing, over

    playing, over = asyncio.run(run())
    for (told, history), values in ((playing, [None] * 3), (over, [0.25, 0.25, -1.0])):
        looked = next(message for message in told if message["type"] == "look")
        assert [looked["value"], *(entry["value"] for entry in history)] == values
