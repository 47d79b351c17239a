"""Measurements of a run: one JSON object a line, appended, readable while the run goes on."""

import os
from pathlib import Path
from typing import Any

from jaxgames.ops import json_text
from jaxgames.runs.files import naming, replace, to_json

Metrics = list[dict[str, Any]]


def append(path: Path, line: dict[str, Any]) -> None:
    """Appends one line; NaN and infinities are written as null. A last line cut by a crash is removed first.

    Raises ValueError if `line` has no whole number "step" or holds something that is no JSON.
    """
    content = to_json(line, "metrics")
    step = json_text.loads(content).get("step")
    if not isinstance(step, int) or isinstance(step, bool):
        raise ValueError(f"metrics need a whole number 'step', got {line.get('step')!r}")
    with naming(path), open(path, "ab+") as file:
        size = file.seek(0, os.SEEK_END)
        complete = _complete_length(file, size)
        if complete < size:
            file.truncate(complete)
        file.write(content)


def read(path: Path) -> Metrics:
    """All complete lines; a last line without its end is left out. ValueError if another line is no JSON object."""
    if path.is_dir():
        raise ValueError(f"{path} is a folder; expected a file of measurements: move the folder away to go on")
    if not path.exists():
        return []
    lines = path.read_bytes().split(b"\n")[:-1]
    return [_parse(path, number, line) for number, line in enumerate(lines, 1)]


def drop_after(path: Path, step: int) -> None:
    """Keeps only the lines whose "step" is at most `step`; the file is replaced atomically."""
    lines = read(path)
    kept = [line for line in lines if line["step"] <= step]
    if len(kept) < len(lines):
        replace(path, b"".join(to_json(line, "metrics") for line in kept))


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


def _parse(path: Path, number: int, line: bytes) -> dict[str, Any]:
    try:
        entry = json_text.loads(line)
        if isinstance(entry, dict) and isinstance(entry.get("step"), int):
            return entry
    except ValueError:
        pass
    raise ValueError(f"line {number} of {path} is no JSON object with a whole number 'step'; delete the line to go on")
