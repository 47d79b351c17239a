"""Tables on disk: two bits for each position, and the turns to the end, one file of each for each slice."""

import functools
from collections.abc import Callable
from io import BytesIO
from pathlib import Path
from typing import Any

import numpy as np

from jaxgames.runs.files import damage, fingerprint, replace
from jaxgames.runs.folder import Folder, check_room
from jaxgames.tables.retrograde import Index, Values, solve

KINDS = ("values", "turns")
_ROOM = 1.05
"""Files take a little more space than their content."""


class TableFolder(Folder):
    """The folder of a table. Its header has `table`, the name of the index, and `slices`: for each slice's name the
    fingerprints of its files.
    """

    HEADER = "table.json"
    KIND = "a table"
    EXPECTED = "a folder of `jaxgames tables build`"
    RESTORE = "remove the folder and build it anew"
    FIELDS = {"table": str, "slices": dict}

    def check_index(self, index: Index) -> None:
        """Raises `ValueError` if the table is of another index, or its header makes no sense."""
        name, slices = self.header["table"], self.header["slices"]
        if name != index.name:
            raise ValueError(f"{self.path} holds {name!r}, expected {index.name!r}")
        file = self.path / self.HEADER
        if unknown := sorted(set(slices) - {str(part) for part in index.slices}):
            raise ValueError(f"{file} names a slice {unknown[0]!r}, not of {name}; {self.RESTORE}")
        if not all(_has_fingerprints(files) for files in slices.values()):
            raise ValueError(f"{file} is broken: a slice lacks its files; {self.RESTORE}")

    def missing(self, index: Index) -> list[str]:
        """The names of the slices that the header does not name, or that lack a file."""
        known, there = self.header["slices"], {path.name for path in self.path.iterdir()}
        names = [str(part) for part in index.slices]
        return [name for name in names if name not in known or not {f"{name}.{kind}" for kind in KINDS} <= there]

    def add(self, group: dict[str, Values]) -> None:
        """Writes the files of slices by their names, and when all are on disk records them in the header."""
        self.claim()
        for name, values in group.items():
            fingerprints = {}
            for kind, array in zip(KINDS, (pack(values.value), values.turns), strict=True):
                buffer, path = BytesIO(), self.path / f"{name}.{kind}"
                np.save(buffer, array, allow_pickle=False)
                replace(path, buffer.getvalue())
                fingerprints[kind] = list(fingerprint(path))
            self.header["slices"][name] = fingerprints
        self.write_header()

    def array(self, name: str, kind: str) -> np.ndarray:
        """One of the arrays of a slice. Raises `ValueError` if its file has changed since it was written."""
        path = self.path / f"{name}.{kind}"
        size, digest = self.header["slices"][name][kind]
        if wrong := damage(path, (size, digest), str(path)):
            raise ValueError(f"{wrong}; {self.RESTORE}")
        return np.load(path, mmap_mode="r", allow_pickle=False)


class EndingsTable:
    """The values of all positions of an index, read from a folder. Open one with `open_table`."""

    def __init__(self, index: Index, folder: TableFolder):
        self.index, self.folder = index, folder
        self.slice = functools.lru_cache(maxsize=64)(self._slice)
        """Returns the `Values` of a slice, by its index in `index.slices`."""

    def __reduce__(self) -> tuple[Any, ...]:
        """Without what it has read."""
        return type(self), (self.index, self.folder)

    @property
    def bytes(self) -> int:
        """Of all files."""
        return sum(size for files in self.folder.header["slices"].values() for size, _ in files.values())

    def _slice(self, number: int) -> Values:
        name, size = str(self.index.slices[number]), self.index.slices[number].size
        packed, turns = (self.folder.array(name, kind) for kind in KINDS)
        if len(packed) != -(-size // 4) or len(turns) != size:
            raise ValueError(
                f"{self.folder.path / name}: the table has {len(turns)} positions, expected {size}; build it anew"
            )
        value = unpack(packed)[:size]
        value.flags.writeable = False  # all who ask for this slice get the same
        return Values(value, turns)


def build(index: Index, path: str | Path, report: Callable[[str, int, int], None] = lambda *_: None) -> EndingsTable:
    """Solves all slices of an index and keeps them in a folder. Slices that a killed process has kept are not solved
    again.

    Args:
        index: Numbers the positions.
        path: Where the files go; new, empty, or with a table of the same index that is not complete yet.
        report: Is told after each group its name, the positions done, and all positions.

    Raises `ValueError` if the folder holds anything else, or if the disk has no room for the table.
    """
    folder = _folder(index, path) if TableFolder.is_at(path) else None
    missing = folder.missing(index) if folder else [str(part) for part in index.slices]
    total = sum(part.size for part in index.slices)
    needed = int(sum(bytes_of(part.size) for part in index.slices if str(part) in missing) * _ROOM)
    check_room(Path(path), needed)
    folder = folder or TableFolder.begin(path, {"table": index.name, "slices": {}})
    folder.claim()
    table, done = EndingsTable(index, folder), 0
    for group in index.groups:
        if any(str(part) in missing for part in group):
            solved = solve(index, group, table.slice)
            folder.add({str(part): values for part, values in zip(group, solved, strict=True)})
        done += sum(part.size for part in group)
        report(str(group[0]), done, total)
    return table


def open_table(index: Index, path: str | Path) -> EndingsTable:
    """The complete table of an index. Raises `ValueError` if the folder holds none, or another one."""
    folder = _folder(index, path)
    if missing := folder.missing(index):
        raise ValueError(f"{path} is not complete: {len(missing)} of {len(index.slices)} slices are missing; build on")
    return EndingsTable(index, folder)


def bytes_of(size: int) -> int:
    """The bytes that so many positions take on disk."""
    return -(-size // 4) + 2 * size


def pack(values: np.ndarray) -> np.ndarray:
    """Values of two bits, four in a byte, the first one lowest."""
    rows = np.pad(values, (0, -len(values) % 4)).reshape(-1, 4)
    return rows[:, 0] | rows[:, 1] << 2 | rows[:, 2] << 4 | rows[:, 3] << 6


def unpack(packed: np.ndarray) -> np.ndarray:
    """As packed by `pack`, with up to three more at the end."""
    return (packed[:, None] >> np.arange(0, 8, 2, dtype=np.uint8) & 3).ravel()


def _has_fingerprints(files: Any) -> bool:
    """Whether it has the form of a slice in a header."""
    if not isinstance(files, dict) or files.keys() != set(KINDS):
        return False
    return all(isinstance(each, list) and [*map(type, each)] == [int, str] for each in files.values())


def _folder(index: Index, path: str | Path) -> TableFolder:
    folder = TableFolder.open(path)
    folder.check_index(index)
    return folder
