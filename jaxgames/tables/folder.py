"""Tables on disk: two bits for each position, and the turns to the end, one file of each for each slice."""

import functools
import shutil
import zlib
from collections.abc import Callable
from io import BytesIO
from pathlib import Path
from typing import Any

import numpy as np

from jaxgames.ops import json_text
from jaxgames.runs.files import lock, replace, to_json
from jaxgames.tables.retrograde import Index, Values, solve

FORMAT = 1
MANIFEST, LOCK = "table.json", "table.lock"
KINDS = ("values", "turns")
_ROOM = 1.05
"""Files take a little more than their content."""


def build(index: Index, folder: Path, report: Callable[[str, int, int], None] = lambda *_: None) -> "EndingsTable":
    """Solves all slices of an index and keeps them in a folder. What a process that was killed has kept is not solved
    again.

    Args:
        index: Numbers the positions.
        folder: Where the files go; new, empty, or with a table of the same index that is not complete yet.
        report: Is told after each group its name, the positions done, and all positions.

    Raises `ValueError` if the folder holds anything else, or if the disk has no room for the table.
    """
    if folder.exists() and not (folder / MANIFEST).exists() and (not folder.is_dir() or any(folder.iterdir())):
        raise ValueError(f"{folder} is in use and holds no table; choose another")
    found = _manifest(folder, index) if (folder / MANIFEST).exists() else {}
    total = sum(part.size for part in index.slices)
    needed = int(sum(bytes_of(part.size) for part in index.slices if str(part) not in found) * _ROOM)
    parent = next(path for path in (folder, *folder.resolve().parents) if path.exists())
    if needed > (free := shutil.disk_usage(parent).free):
        raise ValueError(
            f"{index.name} needs {needed:,} bytes in {folder}, where {free:,} are free; choose another folder"
        )
    folder.mkdir(parents=True, exist_ok=True)
    held = lock(folder / LOCK)
    table, done = EndingsTable(index, folder, found), 0
    for group in index.groups:
        if any(str(part) not in found for part in group):
            for part, values in zip(group, solve(index, group, table.slice), strict=True):
                found[str(part)] = _write(folder, str(part), values)
            replace(folder / MANIFEST, to_json({"format": FORMAT, "table": index.name, "slices": found}, "table"))
        done += sum(part.size for part in group)
        report(str(group[0]), done, total)
    del held
    return table


def bytes_of(size: int) -> int:
    """What so many positions take on disk."""
    return -(-size // 4) + 2 * size


class EndingsTable:
    """The values of all positions of an index, read from a folder. Open one with `open_table`."""

    def __init__(self, index: Index, folder: Path, found: dict[str, Any]):
        self.index, self.folder, self._found = index, folder, found
        self.slice = functools.lru_cache(maxsize=64)(self._slice)
        """Returns the `Values` of a slice, by its index in `index.slices`."""

    @property
    def bytes(self) -> int:
        """Of all files."""
        return sum((self.folder / f"{name}.{kind}").stat().st_size for name in self._found for kind in KINDS)

    def _slice(self, number: int) -> Values:
        name, size = str(self.index.slices[number]), self.index.slices[number].size
        packed, turns = (self._file(name, kind) for kind in KINDS)
        if len(packed) != -(-size // 4) or len(turns) != size:
            raise ValueError(
                f"{self.folder / name}: the table has {len(turns)} positions, expected {size}; build it anew"
            )
        return Values(unpack(packed)[:size], turns)

    def _file(self, name: str, kind: str) -> np.ndarray:
        path = self.folder / f"{name}.{kind}"
        advice = "remove the folder and build it anew"
        try:
            mapped = np.load(path, mmap_mode="r", allow_pickle=False)
        except FileNotFoundError:
            raise ValueError(f"{path} is missing; {advice}") from None
        except (ValueError, EOFError):
            raise ValueError(f"{path} is no file of a table; {advice}") from None
        if zlib.crc32(mapped) != self._found[name][kind]:
            raise ValueError(f"{path} is broken: its checksum is not that of table.json; {advice}")
        return mapped


def open_table(index: Index, folder: Path) -> EndingsTable:
    """The complete table of an index. Raises `ValueError` if the folder holds none, or another one."""
    if not (folder / MANIFEST).is_file():
        raise ValueError(f"{folder} holds no table of {index.name}")
    found = _manifest(folder, index)
    missing = [part for part in index.slices if str(part) not in found]
    if missing:
        raise ValueError(
            f"{folder} is not complete: {len(missing)} of {len(index.slices)} slices are missing; build on"
        )
    return EndingsTable(index, folder, found)


def pack(values: np.ndarray) -> np.ndarray:
    """Values of two bits, four in a byte, the first one lowest."""
    rows = np.pad(values, (0, -len(values) % 4)).reshape(-1, 4)
    return rows[:, 0] | rows[:, 1] << 2 | rows[:, 2] << 4 | rows[:, 3] << 6


def unpack(packed: np.ndarray) -> np.ndarray:
    """As packed by `pack`, with up to three more at the end."""
    return (packed[:, None] >> np.arange(0, 8, 2, dtype=np.uint8) & 3).ravel()


def _write(folder: Path, name: str, values: Values) -> dict[str, int]:
    sums = {}
    for kind, array in zip(KINDS, (pack(values.value), values.turns), strict=True):
        buffer = BytesIO()
        np.save(buffer, array, allow_pickle=False)
        replace(folder / f"{name}.{kind}", buffer.getvalue())
        sums[kind] = zlib.crc32(array.tobytes())
    return sums


def _manifest(folder: Path, index: Index) -> dict[str, Any]:
    path = folder / MANIFEST
    try:
        found = json_text.loads(path.read_bytes())
        name, slices = found["table"], dict(found["slices"])
        complete = found["format"] == FORMAT and all(set(slices[part]) == set(KINDS) for part in slices)
    except (ValueError, KeyError, TypeError):
        complete = False
    if not complete:
        raise ValueError(f"{path} is broken; remove the folder and build it anew")
    if name != index.name:
        raise ValueError(f"{folder} holds {name!r}, expected {index.name!r}")
    if unknown := sorted(set(slices) - {str(part) for part in index.slices}):
        raise ValueError(f"{path} names a slice {unknown[0]!r}, not of {name}; remove the folder and build it anew")
    return slices
