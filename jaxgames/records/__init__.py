"""Game records in files: PDN (checkers), MAT and SGF (backgammon), move strings, JSON (every game); read and written.

A new format is one module with `read(text, accept)` and `write(records)`, and one line in `FORMATS`.
"""

from collections.abc import Callable, Iterable, Sequence
from pathlib import Path
from typing import NamedTuple

from jaxgames.ops import checks
from jaxgames.records import json_lines, mat, move_strings, pdn, sgf
from jaxgames.runs.files import replace
from jaxgames.sessions.record import Accept, GameRecord, RecordedTurn, any_game

__all__ = ["FORMATS", "GameRecord", "RecordFormat", "RecordedTurn", "dumps", "format_for", "load", "loads", "save"]


class RecordFormat(NamedTuple):
    """A format: how texts are read and written, and which games it knows (None for all)."""

    read: Callable[[str, Accept], list[GameRecord]]
    write: Callable[[Sequence[GameRecord]], str]
    games: tuple[str, ...] | None = None


FORMATS: dict[str, RecordFormat] = {
    "pdn": RecordFormat(pdn.read, pdn.write, ("checkers",)),
    "mat": RecordFormat(mat.read, mat.write, ("backgammon",)),
    "sgf": RecordFormat(sgf.read, sgf.write, ("backgammon",)),
    "txt": RecordFormat(move_strings.read, move_strings.write, ("connect_four", "tic_tac_toe")),
    "json": RecordFormat(json_lines.read, json_lines.write),
}
"""The formats by the end of a file's name."""


def format_for(path: str | Path, game_id: str | None = None) -> str:
    """The format of a file by the end of its name. Raises `ValueError` for an unknown one, or one of other games."""
    name = Path(path).suffix.lower().lstrip(".")
    known = [name for name, one in FORMATS.items() if game_id is None or one.games is None or game_id in one.games]
    if name not in known:
        ends = " or ".join(f".{name}" for name in known)
        raise ValueError(f"{path}: games{f' of {game_id}' if game_id else ''} are kept in files that end in {ends}")
    return name


def loads(text: str, name: str, accept: Accept = any_game) -> list[GameRecord]:
    """The games of a text in one of `FORMATS`, in their order.

    Every turn is checked under the rules. Before that, `accept` is called with the game and the options of each record;
    it may raise `ValueError` to bound the work. Raises `ValueError` with the line and column of an error, and for an
    unknown format.
    """
    return FORMATS[checks.choice("format", name, FORMATS)].read(text.removeprefix("\ufeff"), accept)


def dumps(records: Iterable[GameRecord], name: str) -> str:
    """The games as text in one of `FORMATS`; `loads` reads it. Raises `ValueError` for what the format cannot express.

    Only two things are silently left out if a format has no place for them: `tags`, which PDN and JSON keep, and the
    `reason` of an end (MAT knows resignations; SGF knows `resigned`, `forfeit` and `time forfeit`).
    """
    games, records = FORMATS[checks.choice("format", name, FORMATS)].games, list(records)
    for record in records:
        if games is not None and record.game not in games:
            raise ValueError(f"{name} files hold games of {' and '.join(games)}, not of {record.game}")
    return FORMATS[name].write(records)


def load(path: str | Path, game_id: str | None = None) -> list[GameRecord]:
    """The games of a file. Raises `ValueError` that names the file and the place of what is wrong, and `OSError`."""
    name = format_for(path, game_id)
    try:
        return loads(Path(path).read_text("utf-8"), name)
    except ValueError as error:
        raise ValueError(f"{path}, {error}") from None


def save(path: str | Path, records: Sequence[GameRecord]) -> None:
    """Writes games into a file, in the format of its name. The file is replaced atomically."""
    name = format_for(path, records[0].game if records else None)
    replace(Path(path), dumps(records, name).encode())
