"""Who may do what: one table of all messages by role and state, from which the server decides.

In a game of two people everything that changes the game, the seats or what one of them knows needs the other's consent.
"""

import time
from collections.abc import Mapping
from enum import StrEnum
from typing import Any, NamedTuple

from jaxgames.web.clocks import control_of
from jaxgames.web.connection import Client
from jaxgames.web.rooms import Room

Message = Mapping[str, Any]


class Verdict(StrEnum):
    """What is done with a message."""

    YES = "yes"
    OFFER = "offer"
    NO = "no"


class Role(StrEnum):
    """Who asks: somebody who plays no other person; one of two who play, who made the session or not; who made it and
    only watches others; anybody else. A challenger is somebody alone who plays a challenge.
    """

    ALONE = "alone"
    HOST = "host"
    GUEST = "guest"
    OWNER = "owner"
    SPECTATOR = "spectator"
    CHALLENGER = "challenger"


class Phase(StrEnum):
    """How far the game is."""

    FRESH = "fresh"
    GOING = "going"
    OVER = "over"


class Verdicts(NamedTuple):
    """The verdicts on a message by role; three, by state, if they differ. `why` is the error if the verdict is no."""

    alone: str
    host: str
    guest: str
    owner: str
    spectator: str
    why: str
    challenger: str = "no"

    def verdict(self, role: Role, state: Phase) -> Verdict:
        """The verdict on somebody in a state of the game."""
        words = getattr(self, role.value).split()
        return Verdict(words[0] if len(words) == 1 else words[list(Phase).index(state)])


_WATCH = "you only watch; ask for the link of a seat to play"
_CHANGE = "you only watch; only players may change the game"
_NO_HELP = "no evaluations while two people play; they are shown when the game is over"
_OTHERS = "another person sits there"
_PROVES = "a challenge allows no help and no changes; leave it, or play it to its end"
_GIVES = "only the person who sits there can give the seat away"

FREE = Verdicts("yes", "yes", "yes", "yes", "yes", "", "yes")
MOVE = Verdicts("yes", "yes", "yes", "no", "no", _WATCH, "yes")
CHANGE = Verdicts("yes", "offer offer yes", "offer offer yes", "yes no yes", "no", _CHANGE)
REOPEN = Verdicts("yes", "offer", "offer", "no", "no", _CHANGE)
SHOW = Verdicts("yes", "yes", "yes", "yes no yes", "no", _CHANGE, "yes")
HELP = Verdicts("yes", "no no yes", "no no yes", "yes", "yes", _NO_HELP)

RULES: Mapping[str, Verdicts] = {
    "step": MOVE,
    "turn": MOVE,
    "undo_step": MOVE,
    "end_turn": MOVE,
    "resign": MOVE,
    "claim": MOVE,
    "offer": MOVE,
    "answer": MOVE,
    "undo": REOPEN,
    "redo": REOPEN,
    "new": CHANGE,
    "new with another clock": Verdicts("yes", "offer", "offer", "yes no yes", "no", _CHANGE),
    "setup": CHANGE,
    "load": CHANGE,
    "swap": CHANGE,
    "match": CHANGE,
    "seat": CHANGE,
    "seat of another person": Verdicts("no", "no", "no", "no", "no", _OTHERS),
    "seat of somebody away": Verdicts("yes", "yes", "no", "yes", "no", _OTHERS),
    "invite": Verdicts("yes", "yes no yes", "yes no yes", "yes no yes", "no", _GIVES),
    "invite of another person": Verdicts("no", "no", "no", "no", "no", _GIVES),
    "invite of somebody away": Verdicts("yes", "yes", "no", "yes", "no", _GIVES),
    "speed": SHOW,
    "pause": SHOW,
    "play_on": SHOW,
    "display": SHOW,
    "hint": HELP,
    "analysis": HELP,
    "analysis off": FREE,
    "analyse": HELP,
    "curve": HELP,
    "check_setup": FREE,
    "look": FREE,
    "save": FREE,
    "name": FREE,
    "chat": FREE,
    "ping": FREE,
}
"""Every message in a session. `seat` and `invite` have separate rules if another person has the seat."""


def role_of(room: Room, client: Client) -> Role:
    """Who somebody is. A person is there once the link of the seat has been opened, not before."""
    plays, host = bool(room.seats_of(client.token)), room.is_host(client.token)
    if not plays and not host:
        return Role.SPECTATOR
    if not any(chair.is_person and chair.came and not chair.is_of(client.token) for chair in room.chairs):
        return Role.CHALLENGER if room.challenged else Role.ALONE
    if plays:
        return Role.HOST if host else Role.GUEST
    return Role.OWNER


def state_of(room: Room) -> Phase:
    """How far the game of a room is."""
    if room.over:
        return Phase.OVER
    return Phase.GOING if room.session.turns or room.session.actions else Phase.FRESH


def rule_of(room: Room, client: Client, message: Message) -> str:
    """Which rule a message falls under."""
    kind: str = message["type"]
    if kind == "analysis" and not message["on"]:
        return "analysis off"
    if kind == "new" and message["clock"] is not None and control_of(message["clock"]) != room.control:
        return "new with another clock"
    if kind in ("seat", "invite"):
        chair = room.chairs[message["seat"]]
        if chair.is_person and not chair.is_of(client.token):
            gone = time.monotonic() - chair.gone > room.limits.away_seconds
            here = any(chair.is_of(other.token) for other in room.clients)
            return f"{kind} of {'somebody away' if not here and (gone or not chair.came) else 'another person'}"
    return kind


def decide(room: Room, client: Client, message: Message) -> Verdict:
    """Whether a message takes effect at once, or becomes an offer. Raises `ValueError` if neither."""
    rule = RULES[rule_of(room, client, message)]
    role = role_of(room, client)
    verdict = rule.verdict(role, state_of(room))
    if verdict is Verdict.NO and role is Role.CHALLENGER:
        raise ValueError(_PROVES)
    if verdict is Verdict.NO:
        only_they = rule.why is _CHANGE and role is Role.OWNER
        raise ValueError("people play here; only they may change the game" if only_they else rule.why)
    return verdict


def may_see_values(room: Room, client: Client) -> bool:
    """Whether somebody may see evaluations now."""
    return HELP.verdict(role_of(room, client), state_of(room)) is Verdict.YES
