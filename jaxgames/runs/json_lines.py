"""A file of JSON objects, one a line, appended, readable while it is written: measurements, results, cells."""

import os
from collections.abc import Callable
from pathlib import Path
from typing import Any

from jaxgames.ops import json_text
from jaxgames.runs.files import naming, replace, to_json


class JsonLines:
    """The lines of a file, which need not be there yet. A last line that was cut off by a crash counts as not written.

    Args:
        path: the file.
        number: the name of a whole number that every line has; none by default.
        synced: whether a line is on the disk when `append` returns, even if the machine fails.
    """

    def __init__(self, path: Path, number: str = "", synced: bool = False):
        self.path, self.number, self.synced = path, number, synced

    def append(self, line: dict[str, Any]) -> None:
        """Appends one line; NaN and infinities are written as null. A last line that was cut off is removed first.

        Raises `ValueError` if the line lacks its number or holds something that is no JSON.
        """
        content = to_json(line, "metrics")
        if not self._is_complete(json_text.loads(content)):
            raise ValueError(f"metrics need a whole number {self.number!r}, got {line.get(self.number)!r}")
        with naming(self.path), open(self.path, "ab+") as file:
            size = file.seek(0, os.SEEK_END)
            complete = _complete_length(file, size)
            if complete < size:
                file.truncate(complete)
            file.write(content)
            if self.synced:
                file.flush()
                os.fsync(file.fileno())

    def read(self) -> list[dict[str, Any]]:
        """All complete lines. Raises `ValueError` that names the line that is no JSON object or lacks its number."""
        if self.path.is_dir():
            raise ValueError(f"{self.path} is a folder; expected a file of lines: move the folder away to go on")
        if not self.path.exists():
            return []
        lines = self.path.read_bytes().split(b"\n")[:-1]
        return [self._parse(number, line) for number, line in enumerate(lines, 1)]

    def keep(self, wanted: Callable[[dict[str, Any]], bool]) -> None:
        """Keeps only some lines; the file is replaced atomically."""
        lines = self.read()
        kept = [line for line in lines if wanted(line)]
        if len(kept) < len(lines):
            replace(self.path, b"".join(to_json(line, "metrics") for line in kept))

    def _is_complete(self, entry: Any) -> bool:
        if not isinstance(entry, dict):
            return False
        value = entry.get(self.number)
        return not self.number or (isinstance(value, int) and not isinstance(value, bool))

    def _parse(self, number: int, line: bytes) -> dict[str, Any]:
        try:
            if self._is_complete(entry := json_text.loads(line)):
                return entry
        except ValueError:
            pass
        what = f"no JSON object with a whole number {self.number!r}" if self.number else "no JSON object"
        raise ValueError(f"line {number} of {self.path} is {what}; delete the line to go on")


def _complete_length(file: Any, size: int) -> int:
    """Bytes up to and with the last newline, searched backwards in blocks."""
    end = size
    while end > 0:
        start = max(0, end - 4096)
        file.seek(start)
        newline = file.read(end - start).rfind(b"\n")
        if newline >= 0:
            return start + newline + 1
        end = start
    return 0
