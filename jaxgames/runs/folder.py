"""A folder on disk that one process writes and any number read: runs, data sets, tournaments, tables, reproductions.

It holds a header, a JSON file that says what the folder is, and files that are complete or absent whatever
kills the process. A kind of folder is a subclass of `Folder`; that of data sets, which here are nothing but arrays, is
also in this file.
"""

import io
import os
import shutil
import zipfile
import zlib
from collections.abc import Mapping
from pathlib import Path
from typing import Any, ClassVar, Self

import numpy as np
from typing_extensions import override

from jaxgames.ops import json_text
from jaxgames.runs.files import LEFTOVERS, WriteLock, lock, plain, remove_leftovers, replace, to_json

LOCK = ".lock"
LEAST_FREE = 1 << 16
"""Bytes that must be free to begin a folder."""


class Folder:
    """One folder. Make one with `begin`, or open one that was begun with `open`."""

    HEADER: ClassVar[str]
    """The name of the header's file."""
    KIND: ClassVar[str]
    """What the folder is, with an article: `a run`."""
    EXPECTED: ClassVar[str]
    """For errors: what was expected if there is no such folder."""
    RESTORE: ClassVar[str]
    """For errors: what to do if the header is broken."""
    ANOTHER: ClassVar[str] = "choose another folder"
    """For errors: what to do if the folder is not empty."""
    FORMAT: ClassVar[int] = 1
    FIELDS: ClassVar[Mapping[str, type]] = {}
    """What every header has besides its format."""

    def __init__(self, path: str | Path, header: Mapping[str, Any]):
        self._given, self._at = Path(path), Path(path).absolute()
        file = self.path / self.HEADER
        self.header: dict[str, Any] = _Header.of({"format": self.FORMAT, **header}, file, self.RESTORE)
        self._lock: WriteLock | None = None

    def __getstate__(self) -> dict[str, Any]:
        """A copy, here or in another process, has no right to write that it has not taken itself."""
        return self.__dict__ | {"_lock": None}

    @property
    def path(self) -> Path:
        """Where it is: as it was given, for names and messages, in full when the process works in another folder."""
        return self._given if self._given.absolute() == self._at else self._at

    @classmethod
    def begin(cls, path: str | Path, header: Mapping[str, Any]) -> Self:
        """Begins a new or empty folder, which this process then writes.

        Raises `ValueError` if there is anything in it, if it cannot be made, or if JSON cannot hold the header.
        """
        header = plain(dict(header), "header", finite=True)
        cls.check_place(path)
        Path(path).mkdir(parents=True, exist_ok=True)
        folder = cls(path, header)
        folder.claim()
        remove_leftovers(folder.path)
        folder.write_header()
        return folder

    @classmethod
    def begin_or_go_on(cls, path: str | Path, header: Mapping[str, Any]) -> Self:
        """As `begin`; or opens the folder to continue if it was begun with the same header."""
        if not cls.is_at(path):
            return cls.begin(path, header)
        folder = cls(path, cls.read_header(path))
        folder.check_begun_with(plain(dict(header), "header", finite=True))
        folder.claim()
        remove_leftovers(folder.path)
        return folder

    @classmethod
    def open(cls, path: str | Path) -> Self:
        """Opens an existing folder. Raises `ValueError` if it is not of this kind, or its header is broken."""
        return cls(path, cls.read_header(path))

    @classmethod
    def is_at(cls, path: str | Path) -> bool:
        """Whether there is such a folder."""
        return (Path(path) / cls.HEADER).exists()

    @classmethod
    def check_place(cls, path: str | Path) -> None:
        """Raises `ValueError` if `begin` would fail there: nothing is overwritten, and the folder must be writable."""
        path = Path(path)
        try:
            str(path.resolve()).encode()
        except UnicodeEncodeError:
            raise ValueError(f"{path} is no UTF-8; choose another name") from None
        if path.is_file() or (path.is_dir() and any(not _left_by_begin(entry) for entry in path.iterdir())):
            raise ValueError(f"{path} exists already and is never overwritten; {cls.ANOTHER}")
        above = _nearest(path)
        if not above.is_dir():
            raise ValueError(f"{path} cannot be made, as {above} is no folder; choose another name")
        if not os.access(above, os.W_OK | os.X_OK):
            raise ValueError(f"{path} cannot be made, as {above} cannot be written; choose another folder")
        check_room(path, LEAST_FREE)

    @classmethod
    def read_header(cls, path: str | Path) -> dict[str, Any]:
        """The header of a folder. Raises `ValueError` if there is none, or it is of another kind."""
        path = Path(path)
        file = path / cls.HEADER
        if file.exists() and not (file.is_file() or file.is_dir()):  # a pipe would be waited for
            raise ValueError(f"{file} is no file; {cls.RESTORE}")
        try:
            header = json_text.loads(file.read_bytes())
        except (FileNotFoundError, NotADirectoryError):
            what = "does not exist" if not path.exists() else f"is not {cls.KIND}: it has no {cls.HEADER}"
            raise ValueError(f"{path} {what}; expected {cls.EXPECTED}") from None
        except IsADirectoryError:
            raise ValueError(f"{file} is a folder; {cls.RESTORE}") from None
        except ValueError:
            raise ValueError(f"{file} is broken: it is no JSON; {cls.RESTORE}") from None
        if not isinstance(header, dict):
            raise ValueError(f"{file} is broken: it is no JSON object; {cls.RESTORE}")
        if header.get("format") != cls.FORMAT:
            raise ValueError(
                f"{file} has format {header.get('format')!r}; this version of jaxgames reads format {cls.FORMAT}"
            )
        for name, kind in cls.FIELDS.items():
            if type(header.get(name)) is not kind:
                raise ValueError(f"{file} lacks {name!r}; {cls.RESTORE}")
        return header

    def check_begun_with(self, header: Mapping[str, Any]) -> None:
        """Raises `ValueError` if the folder was begun with another header."""
        header = {"format": self.FORMAT, **header}
        for name in sorted(header.keys() | self.header.keys()):
            there, here = self.header.get(name), header.get(name)
            if there != here:
                what = f"{name} is {there} there, not {here}"
                raise ValueError(f"{self.path} was begun otherwise: {what}; {self.ANOTHER}")

    def claim(self) -> None:
        """Takes the right to write the folder, as long as this object lives. Raises `ValueError` if another process has
        it, or if the folder was replaced since this object claimed it.
        """
        if self._lock is None or not self._lock.alive:
            self._lock = lock(self.path / LOCK)
        elif not self._lock.is_at(self.path / LOCK):
            raise ValueError(f"{self.path} was removed or begun anew by another process; {self.ANOTHER}")

    def write_header(self) -> None:
        """Writes the header, replaced atomically."""
        self.write_json(self.HEADER, self.header)

    def write_json(self, name: str, content: Mapping[str, Any]) -> Path:
        """Writes a file of JSON into the folder, replaced atomically."""
        self.claim()
        replace(self.path / name, to_json(dict(content), name, indent=2))
        return self.path / name


def check_room(path: Path, needed: int) -> None:
    """Raises `ValueError` if the disk has no room for so many bytes in a folder, which need not exist yet."""
    disk = shutil.disk_usage(_nearest(path))
    if disk.free < needed and disk.total:
        raise ValueError(
            f"{path} needs {needed:,} bytes, but the disk has {disk.free:,}; free some space or choose another disk"
        )


def _nearest(path: Path) -> Path:
    """The part of a path that exists."""
    return next(parent for parent in (path, *path.absolute().parents) if os.path.lexists(parent))


def _left_by_begin(entry: Path) -> bool:
    """What a killed `begin` leaves in an otherwise empty folder."""
    return entry.name == LOCK or entry.name.startswith(LEFTOVERS)


class _Header(dict[str, Any]):
    """A header whose errors say which key is missing, and in which file."""

    file: Path
    restore: str

    @classmethod
    def of(cls, content: Any, file: Path, restore: str) -> Any:
        """`content` with all dictionaries in it replaced."""
        if not isinstance(content, dict):
            return content
        header = cls({key: cls.of(value, file, restore) for key, value in content.items()})
        header.file, header.restore = file, restore
        return header

    def __missing__(self, key: str) -> Any:
        raise ValueError(f"{self.file} lacks {key!r}; {self.restore}")


BROKEN = (OSError, ValueError, KeyError, EOFError, zipfile.BadZipFile, zlib.error)
"""What NumPy raises for a file that is truncated or not an archive of arrays."""


MOST_SHARDS = 10**7
"""Of a data set."""


class DataSetFolder(Folder):
    """A data set: its header says `game`, `options`, `version`, `made` (how), `shards` (how many there will be).

    `shard-00000.npz` and the others hold arrays, never pickled: of the same names in every shard, of one length in a
    shard.
    """

    HEADER = "data.json"
    KIND = "a data set"
    EXPECTED = "a folder of `jaxgames data make`"
    RESTORE = "make the data again"
    FIELDS = {"game": str, "options": dict, "version": str, "made": dict, "shards": int}

    @override
    @classmethod
    def read_header(cls, path: str | Path) -> dict[str, Any]:
        header = super().read_header(path)
        if not 1 <= header["shards"] <= MOST_SHARDS:
            file = Path(path) / cls.HEADER
            raise ValueError(f"{file} says {header['shards']} shards: expected 1 to {MOST_SHARDS:,}; {cls.RESTORE}")
        return header

    @classmethod
    def open_complete(cls, path: str | Path) -> Self:
        """A data set with all of its shards. Raises `ValueError` if the folder is not one, or shards are missing."""
        folder = cls.open(path)
        missing = folder.missing()
        if missing:
            raise ValueError(
                f"{path} is not complete: {folder.shard(missing[0]).name} and {len(missing) - 1} more of "
                f"{folder.shards} shards are missing; run the command that makes it again, and it goes on"
            )
        return folder

    @property
    def shards(self) -> int:
        """How many there are when it is complete."""
        return int(self.header["shards"])

    @staticmethod
    def _shard_name(number: int) -> str:
        return f"shard-{number:05}.npz"

    def shard(self, number: int) -> Path:
        """The file of a shard."""
        return self.path / self._shard_name(number)

    def missing(self) -> list[int]:
        """The shards that do not exist yet."""
        there = set(os.listdir(self.path))
        return [number for number in range(self.shards) if self._shard_name(number) not in there]

    def write(self, number: int, arrays: Mapping[str, np.ndarray]) -> None:
        """Writes a shard; when this returns it is on disk. Raises `ValueError` for arrays of different lengths."""
        if len({len(array) for array in arrays.values()}) != 1:
            raise ValueError(f"arrays of one shard need one length: { ({k: len(v) for k, v in arrays.items()}) }")
        self.claim()
        buffer = io.BytesIO()
        np.savez_compressed(buffer, **arrays)  # type: ignore[arg-type]
        replace(self.shard(number), buffer.getvalue())

    def read(self, number: int, names: tuple[str, ...] | None = None) -> dict[str, np.ndarray]:
        """The arrays of a shard, or some of them. Raises `ValueError` if it is truncated or lacks an array."""
        path = self.shard(number)
        try:
            # From memory: NumPy leaves a broken file open.
            with np.load(io.BytesIO(path.read_bytes()), allow_pickle=False) as file:
                arrays = {name: file[name] for name in (names or file.files)}
        except BROKEN as error:
            reason = f"it lacks the array {error}" if isinstance(error, KeyError) else "it is cut off or no data"
            raise ValueError(f"{path} is broken: {reason}; delete it and make it again") from None
        if len({len(array) for array in arrays.values()}) != 1:
            raise ValueError(f"{path} is broken: its arrays differ in length; delete it and make it again")
        return arrays

    def read_all(self, names: tuple[str, ...] | None = None) -> dict[str, np.ndarray]:
        """The arrays of all shards, one after another. Raises `ValueError` as `read`."""
        parts = [self.read(number, names) for number in range(self.shards)]
        for number, part in enumerate(parts):
            shapes = {name: (array.shape[1:], array.dtype) for name, array in part.items()}
            if shapes != {name: (array.shape[1:], array.dtype) for name, array in parts[0].items()}:
                raise ValueError(f"{self.shard(number)} holds other arrays than {self.shard(0).name}")
        return {name: np.concatenate([part[name] for part in parts]) for name in parts[0]}

    def bytes_on_disk(self) -> int:
        """Of all shards."""
        return sum(self.shard(number).stat().st_size for number in range(self.shards))
