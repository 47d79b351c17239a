"""A data set on disk: a header and shards of NumPy arrays, complete or absent whatever kills the process.

data.json          format, game, options and version, how it was made, how many shards
shard-00000.npz    arrays of the same names and row counts in every shard, never pickled
"""

import io
import zipfile
import zlib
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np

from jaxgames.ops import json_text
from jaxgames.runs.files import WriteLock, lock, plain, remove_leftovers, replace, to_json

HEADER = "data.json"
FORMAT = 1
BROKEN = (OSError, ValueError, KeyError, EOFError, zipfile.BadZipFile, zlib.error)
"""What NumPy raises for a file that is cut off or no archive of arrays."""


class DataSetFolder:
    """One folder. Make one with `begin`, or open one that is complete with `open`."""

    def __init__(self, path: Path, header: dict[str, Any]):
        self.path, self.header = path, header
        self._lock: WriteLock | None = None

    @classmethod
    def begin(cls, path: str | Path, header: Mapping[str, Any]) -> "DataSetFolder":
        """A new data set, or one whose making was stopped and goes on.

        Args:
            path: a new or empty folder, or one that was begun with the same header.
            header: `game`, `options`, `version`, `made` (how), `shards` (how many there will be).

        Raises `ValueError` if there is anything else in the folder.
        """
        path = Path(path)
        header = {"format": FORMAT, **plain(dict(header), "header", finite=True)}
        if (path / HEADER).exists():
            found = _read_header(path)
            for name in sorted(header.keys() | found.keys()):
                if found.get(name) != header.get(name):
                    raise ValueError(
                        f"{path} was begun otherwise: {name} is {found.get(name)} there, not {header.get(name)}; "
                        f"choose another folder"
                    )
        elif path.is_file() or (path.is_dir() and any(path.iterdir())):
            raise ValueError(f"{path} exists already and is never overwritten; choose another folder")
        path.mkdir(parents=True, exist_ok=True)
        folder = cls(path, header)
        folder._lock = lock(path / ".lock")
        remove_leftovers(path)
        if not (path / HEADER).exists():
            replace(path / HEADER, to_json(header, "header", indent=2))
        return folder

    @classmethod
    def open(cls, path: str | Path) -> "DataSetFolder":
        """A data set with all of its shards. Raises `ValueError` if the folder is none, or shards are missing."""
        path = Path(path)
        folder = cls(path, _read_header(path))
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

    def shard(self, number: int) -> Path:
        """The file of a shard."""
        return self.path / f"shard-{number:05}.npz"

    def missing(self) -> list[int]:
        """The shards that are not there yet."""
        return [number for number in range(self.shards) if not self.shard(number).exists()]

    def write(self, number: int, arrays: Mapping[str, np.ndarray]) -> None:
        """Writes a shard; when this returns it is on the disk. Raises `ValueError` for arrays of different lengths."""
        if len({len(array) for array in arrays.values()}) != 1:
            raise ValueError(f"arrays of one shard need one length: { ({k: len(v) for k, v in arrays.items()}) }")
        buffer = io.BytesIO()
        np.savez_compressed(buffer, **arrays)  # type: ignore[arg-type]
        replace(self.shard(number), buffer.getvalue())

    def read(self, number: int, names: tuple[str, ...] | None = None) -> dict[str, np.ndarray]:
        """The arrays of a shard, or some of them. Raises `ValueError` for one that is cut off or lacks an array."""
        path = self.shard(number)
        try:
            # From memory: NumPy leaves a broken file open.
            with np.load(io.BytesIO(path.read_bytes()), allow_pickle=False) as file:
                found = {name: file[name] for name in (names or file.files)}
        except BROKEN as error:
            reason = f"it lacks the array {error}" if isinstance(error, KeyError) else "it is cut off or no data"
            raise ValueError(f"{path} is broken: {reason}; delete it and make it again") from None
        if len({len(array) for array in found.values()}) != 1:
            raise ValueError(f"{path} is broken: its arrays differ in length; delete it and make it again")
        return found

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


def _read_header(path: Path) -> dict[str, Any]:
    """The header of a data set. Raises `ValueError` if there is none, or it is of another format."""
    file = path / HEADER
    try:
        header = json_text.loads(file.read_bytes())
    except (FileNotFoundError, NotADirectoryError):
        what = "does not exist" if not path.exists() else f"is no data set: it has no {HEADER}"
        raise ValueError(f"{path} {what}; expected a folder of `jaxgames data make`") from None
    except ValueError:
        raise ValueError(f"{file} is broken: it is no JSON; make the data again") from None
    if not isinstance(header, dict) or header.get("format") != FORMAT:
        found = header.get("format") if isinstance(header, dict) else header
        raise ValueError(f"{file} has format {found!r}; this version of jaxgames reads format {FORMAT}")
    for name, kind in (("game", str), ("options", dict), ("version", str), ("made", dict), ("shards", int)):
        if type(header.get(name)) is not kind:
            raise ValueError(f"{file} lacks {name!r}; make the data again")
    if header["shards"] < 1:
        raise ValueError(f"{file} says {header['shards']} shards: expected 1 or more; make the data again")
    return header
