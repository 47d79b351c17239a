"""A tournament on disk: what was asked for, and a line for each match or meeting as soon as it is over."""

import json
import os
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from jaxgames.ops import json_text
from jaxgames.runs.files import WriteLock, lock, plain, replace, to_json

CONFIG = "tournament.json"
LINES = "results.jsonl"


class TournamentFolder:
    """The folder of a tournament. A line that was cut off when the process was killed is dropped."""

    def __init__(self, path: str | Path, config: Mapping[str, Any]):
        self.path, self.config = Path(path), config
        self._lock: WriteLock = lock(self.path / ".lock")
        self._drop_cut_line()

    @classmethod
    def begin(cls, path: str | Path, config: Mapping[str, Any]) -> "TournamentFolder":
        """A new one. Raises `ValueError` if there is something in the folder."""
        folder = Path(path)
        if folder.exists() and any(folder.iterdir()):
            raise ValueError(f"{folder} is not empty; go on there with --resume, or choose another folder")
        folder.mkdir(parents=True, exist_ok=True)
        replace(folder / CONFIG, to_json(dict(config), CONFIG, indent=2))
        return cls(folder, config)

    @classmethod
    def resume(cls, path: str | Path) -> "TournamentFolder":
        """One that was begun. Raises `ValueError` if the folder holds none, or its file is broken."""
        file = Path(path) / CONFIG
        if not file.exists():
            raise ValueError(f"{path} holds no tournament; expected a folder of `jaxgames tournament --out`")
        try:
            config = json_text.loads(file.read_text("utf-8"))
        except ValueError as error:
            raise ValueError(f"{file}: {error}") from None
        if not isinstance(config, dict):
            raise ValueError(f"{file} is no JSON object")
        return cls(path, config)

    def lines(self) -> list[dict[str, Any]]:
        """All results so far. Raises `ValueError` that names the line that is broken."""
        file, found = self.path / LINES, []
        for number, line in enumerate(file.read_text("utf-8").splitlines() if file.exists() else (), 1):
            try:
                found.append(json_text.loads(line))
            except ValueError as error:
                raise ValueError(f"{file}, line {number}: {error}") from None
        return found

    def add(self, line: Mapping[str, Any]) -> None:
        """Adds a result, which is on the disk when this returns."""
        with open(self.path / LINES, "a", encoding="utf-8") as file:
            file.write(json.dumps(plain(dict(line), "a result")) + "\n")
            file.flush()
            os.fsync(file.fileno())

    def write(self, name: str, result: Mapping[str, Any]) -> Path:
        """Writes a file of JSON into the folder, replaced atomically."""
        replace(self.path / name, to_json(dict(result), name, indent=2))
        return self.path / name

    def _drop_cut_line(self) -> None:
        file = self.path / LINES
        if file.exists() and not (text := file.read_bytes()).endswith(b"\n"):
            os.truncate(file, text.rfind(b"\n") + 1)
