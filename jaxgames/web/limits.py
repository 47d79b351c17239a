"""The server's limits, all in one place. A request that exceeds one gets an error."""

import dataclasses
import time
from typing import Any


@dataclasses.dataclass(frozen=True)
class Limits:
    """The bounds of a server. Sizes in bytes or characters, times in seconds unless the name says otherwise.

    Attributes:
        message_bytes: of one message from a page.
        messages_per_second: of one connection, for long; `burst` at once.
        faults: messages with an error, or too many, in a minute, after which the connection is closed.
        sessions: games under way on the server.
        creations_per_minute: new sessions of one connection.
        connections: open at once; `watchers`: of one session.
        chat: characters of a line; `chat_lines`: lines that are kept.
        name: characters of a name.
        spec: characters of a player's spec; `text`: of a position; `file`: of saved games.
        games: in a row.
        simulations: of a search, times its trees.
        plies: of an alpha-beta search; `plain_plies`: of one without cuts; `look_ahead`: of one over chance.
        think_seconds: of a search that is given a time.
        programs: different players that are kept compiled.
        turns: of a game, after which it is broken off.
        move_seconds: that a program may take for a turn before it is stopped.
        setup_seconds: that a board set up by hand may take to be checked; `load_seconds`: the games of a file.
        queue: messages that wait for a slow reader; `queue_bytes`: their size, of all in a session together.
        away_seconds: without a connection, after which the seat of a person may be given to another one.
        idle_minutes: without a message though pages are open, after which a session ends; `left_minutes`: without
            a connection; `left_seconds_if_full`: the same when there is no room for a new one.
        folders: of trainings that the page has started, and of tournaments; `forms`: plans that are checked, or wait
            for it; `plan_text`: characters of one answer in a form.
        entrants: players of a tournament; `tournament_games`: of each pair of them.
    """

    message_bytes: int = 262_144
    messages_per_second: int = 20
    burst: int = 60
    faults: int = 100
    sessions: int = 400
    creations_per_minute: int = 30
    connections: int = 1000
    watchers: int = 16
    chat: int = 500
    chat_lines: int = 200
    name: int = 40
    spec: int = 120
    text: int = 2000
    file: int = 65_536
    games: int = 1000
    simulations: int = 5000
    plies: int = 8
    plain_plies: int = 5
    think_seconds: float = 5.0
    look_ahead: int = 2
    programs: int = 24
    turns: int = 2000
    move_seconds: float = 30.0
    setup_seconds: float = 5.0
    load_seconds: float = 10.0
    queue: int = 512
    queue_bytes: int = 8_388_608
    away_seconds: float = 60.0
    idle_minutes: float = 24 * 60.0
    left_minutes: float = 10.0
    left_seconds_if_full: float = 5.0
    folders: int = 200
    forms: int = 8
    plan_text: int = 100
    entrants: int = 12
    tournament_games: int = 10_000

    def shown(self) -> dict[str, Any]:
        """What the page is told."""
        return {name: getattr(self, name) for name in _SHOWN}


_SHOWN = (
    "message_bytes",
    "messages_per_second",
    "sessions",
    "connections",
    "watchers",
    "chat",
    "file",
    "games",
    "simulations",
    "plies",
    "think_seconds",
    "idle_minutes",
    "entrants",
)
USUAL_LIMITS = Limits()


class Rate:
    """A bucket of tokens: `burst` at once, `per_second` for long."""

    def __init__(self, per_second: float, burst: float):
        self._per_second, self._burst = per_second, burst
        self._tokens, self._at = burst, time.monotonic()

    def allows(self) -> bool:
        """Takes a token; False if there is none."""
        now = time.monotonic()
        self._tokens = min(self._burst, self._tokens + (now - self._at) * self._per_second)
        self._at = now
        if self._tokens < 1:
            return False
        self._tokens -= 1
        return True
