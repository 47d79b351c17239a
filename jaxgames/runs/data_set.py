"""A data set on disk: a header and shards of NumPy arrays, complete or absent whatever kills the process.

data.json          format, game, options and version, how it was made, how many shards
shard-00000.npz    arrays of the same names and row counts in every shard, never pickled
"""

import io
import zipfile
import zlib
from collections.abc import Mapping
from pathlib import Path
from typing import Any, Self

import numpy as np
from typing_extensions import override

from jaxgames.runs.files import replace
from jaxgames.runs.folder import Folder

BROKEN = (OSError, ValueError, KeyError, EOFError, zipfile.BadZipFile, zlib.error)
"""What NumPy raises for a file that is cut off or no archive of arrays."""


class DataSetFolder(Folder):
    """One folder. Its header says `game`, `options`, `version`, `made` (how), `shards` (how many there will be)."""

    HEADER = "data.json"
    KIND = "a data set"
    EXPECTED = "a folder of `jaxgames data make`"
    RESTORE = "make the data again"
    FIELDS = {"game": str, "options": dict, "version": str, "made": dict, "shards": int}

    @override
    @classmethod
    def read_header(cls, path: str | Path) -> dict[str, Any]:
        header = super().read_header(path)
        if header["shards"] < 1:
            file = Path(path) / cls.HEADER
            raise ValueError(f"{file} says {header['shards']} shards: expected 1 or more; {cls.RESTORE}")
        return header

    @classmethod
    def open_complete(cls, path: str | Path) -> Self:
        """A data set with all of its shards. Raises `ValueError` if the folder is none, or shards are missing."""
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
