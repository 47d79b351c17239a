"""Games on disk: every session is kept as it changes, so that it continues after a restart of the server.

One SQLite file. A row is one game of a session; the newest one of a session is that which goes on.
"""

import asyncio
import concurrent.futures
import contextlib
import json
import logging
import os
import sqlite3
import time
from pathlib import Path
from typing import Any, NamedTuple

from jaxgames.ops import json_text

MOST_GAMES, MOST_CHALLENGES, CLEARED_EVERY = 20_000, 100_000, 1_000
"""The most rows, the oldest go; checked at the start, and after so many games."""
MOST_LISTED = 200
_UNLISTED_SECONDS = 7 * 86_400.0
"""After this time sessions that are nobody's game are deleted: games of programs, or without any move."""
_LOG = logging.getLogger("jaxgames.web")
_TABLE = """
CREATE TABLE IF NOT EXISTS games (
    session TEXT NOT NULL, number INTEGER NOT NULL, changed REAL NOT NULL, listed INTEGER NOT NULL,
    owner0 TEXT, owner1 TEXT, content TEXT NOT NULL, PRIMARY KEY (session, number)
);
CREATE INDEX IF NOT EXISTS by_owner0 ON games (owner0, changed);
CREATE INDEX IF NOT EXISTS by_owner1 ON games (owner1, changed);
CREATE TABLE IF NOT EXISTS challenges (
    session TEXT NOT NULL, number INTEGER NOT NULL, owner TEXT NOT NULL, game TEXT NOT NULL, spec TEXT NOT NULL,
    points INTEGER, began REAL NOT NULL, PRIMARY KEY (session, number)
);
CREATE INDEX IF NOT EXISTS by_challenger ON challenges (owner, began);
"""


class ChallengeGame(NamedTuple):
    """One game of a challenge; `points` are those of the person, None as long as it is played."""

    session: str
    number: int
    owner: str
    game: str
    spec: str
    points: int | None


class KeptGame(NamedTuple):
    """A row: `content` is what `rooms` need to go on, as JSON; `owners` are the keys of the browsers that play."""

    session: str
    number: int
    changed: float
    listed: bool
    owners: tuple[str | None, str | None]
    content: dict[str, Any]


def state_folder() -> Path:
    """The folder of what this package keeps for the user."""
    return user_folder("XDG_STATE_HOME", ".local/state")


def user_folder(variable: str, usual: str) -> Path:
    """This package's folder, named by a variable or below the user's home. Raises `ValueError` if there is neither."""
    try:
        return Path(os.environ.get(variable) or Path.home() / usual) / "jaxgames"
    except RuntimeError:
        raise ValueError(f"this user has no home folder; set {variable} to a folder that can be written") from None


def usual_file() -> Path:
    """Where games are kept."""
    return state_folder() / "games.db"


class KeptGames:
    """The games of a file, which a separate thread writes. Methods that return something wait for it.

    Raises `ValueError` if the file cannot be made, or is none of these.
    """

    def __init__(self, path: Path):
        self._written = 0
        self._thread = concurrent.futures.ThreadPoolExecutor(1, "jaxgames-keep")
        try:
            path.parent.mkdir(parents=True, exist_ok=True)
            with contextlib.suppress(FileExistsError):
                os.close(os.open(path, os.O_CREAT | os.O_EXCL, 0o600))  # who reads it could take people's seats
            self._base = sqlite3.connect(path, timeout=5.0, isolation_level=None, check_same_thread=False)
        except (sqlite3.Error, OSError) as error:
            raise _unusable(path, error) from None
        try:
            self._base.execute("PRAGMA journal_mode = WAL")
            self._base.execute("PRAGMA synchronous = NORMAL")
            self._base.executescript(_TABLE)
            self._clear()
        except sqlite3.Error as error:
            self.close()
            raise _unusable(path, error) from None

    async def put(self, game: KeptGame, challenge: ChallengeGame | None = None) -> None:
        """Replaces the kept version of a game. Disk errors are only logged: the game goes on.

        A game of a `challenge` is counted: that it has begun, and once, and for good, how it has ended.
        """
        try:
            await self._run(self._put, game, challenge)
        except sqlite3.Error as error:
            _LOG.warning("a game was not kept: %s", error)

    async def newest(self, session: str) -> KeptGame | None:
        """The game of a session that goes on."""
        games = await self._run(self._find, "session = ? ORDER BY number DESC LIMIT 1", session)
        return games[0] if games else None

    async def find(self, owner: str, session: str, number: int | None) -> KeptGame:
        """One of somebody's games, by default the newest of a session. Raises `ValueError` if it is none."""
        query = "session = ? AND number = ifnull(?, number) AND (owner0 = ? OR owner1 = ?) ORDER BY number DESC LIMIT 1"
        games = await self._run(self._find, query, session, number, owner, owner)
        if not games:
            raise ValueError("this is none of your games; it may have been deleted")
        return games[0]

    async def of(self, owner: str) -> list[KeptGame]:
        """Somebody's games, the newest ones first."""
        query = f"listed AND (owner0 = ? OR owner1 = ?) ORDER BY changed DESC LIMIT {MOST_LISTED}"
        return await self._run(self._find, query, owner, owner)

    async def forget(self, owner: str, session: str, number: int) -> None:
        """Removes a game from somebody's list; it is deleted when it is on no list."""
        await self._run(self._forget, owner, session, number)

    async def challenges_of(self, owner: str) -> list[ChallengeGame]:
        """All games of somebody's challenges, the newest first."""
        return await self._run(self._challenges, owner)

    def close(self) -> None:
        """Writes what waits, and ends."""
        self._thread.shutdown(wait=True)
        self._base.close()

    def _run(self, function: Any, *arguments: Any) -> Any:
        return asyncio.get_running_loop().run_in_executor(self._thread, function, *arguments)

    def _put(self, game: KeptGame, challenge: ChallengeGame | None) -> None:
        row = (game.session, game.number, game.changed, game.listed, *game.owners, json.dumps(game.content))
        self._base.execute("INSERT OR REPLACE INTO games VALUES (?, ?, ?, ?, ?, ?, ?)", row)
        # Of the games before this one only those stay that are somebody's.
        self._base.execute(
            "DELETE FROM games WHERE session = ? AND number < ? AND NOT listed", (game.session, game.number)
        )
        if challenge is not None:
            self._base.execute(
                "INSERT INTO challenges VALUES (?, ?, ?, ?, ?, ?, ?) "
                "ON CONFLICT DO UPDATE SET points = excluded.points WHERE challenges.points IS NULL",
                (*challenge, time.time()),
            )
        self._written += 1
        if self._written % CLEARED_EVERY == 0:
            self._clear()

    def _challenges(self, owner: str) -> list[ChallengeGame]:
        columns = ", ".join(ChallengeGame._fields)
        query = f"SELECT {columns} FROM challenges WHERE owner = ? ORDER BY began DESC LIMIT {MOST_GAMES}"
        return [ChallengeGame(*row) for row in self._base.execute(query, (owner,))]

    def _find(self, query: str, *values: Any) -> list[KeptGame]:
        games = []
        columns = "session, number, changed, listed, owner0, owner1, content"
        for session, number, changed, listed, *owners, content in self._base.execute(
            f"SELECT {columns} FROM games WHERE {query}", values
        ):
            with contextlib.suppress(ValueError):  # a row that somebody has damaged is none
                first, second = owners
                fields = json_text.loads(content)
                games.append(KeptGame(session, number, changed, bool(listed), (first, second), fields))
        return games

    def _forget(self, owner: str, session: str, number: int) -> None:
        where = "session = ? AND number = ?"
        for column in ("owner0", "owner1"):
            self._base.execute(
                f"UPDATE games SET {column} = NULL WHERE {where} AND {column} = ?", (session, number, owner)
            )
        self._base.execute(f"DELETE FROM games WHERE {where} AND owner0 IS NULL AND owner1 IS NULL", (session, number))

    def _clear(self) -> None:
        before = time.time() - _UNLISTED_SECONDS
        self._base.execute("DELETE FROM games WHERE NOT listed AND changed < ?", (before,))
        for table, age, most in (("games", "changed", MOST_GAMES), ("challenges", "began", MOST_CHALLENGES)):
            oldest = f"SELECT rowid FROM {table} ORDER BY {age} DESC LIMIT -1 OFFSET {most}"
            self._base.execute(f"DELETE FROM {table} WHERE rowid IN ({oldest})")


def _unusable(path: Path, error: Exception) -> ValueError:
    return ValueError(f"games cannot be kept in {path}: {error}; start with --no-keep")
