"""The networks of a training at regular steps, as rows of one file: a thousand cost no more than ten checkpoints.

Row i holds the parameters after (i + 1) times the interval, leaf after leaf as float32, little-endian. Only whole rows
count, so a write that was cut off is no harm; a training that is resumed writes over the rows that it makes again.
"""

import os
from pathlib import Path
from typing import Any

import jax
import numpy as np

from jaxgames.runs.files import naming

FILE = "snapshots.f32"


class Snapshots:
    """The snapshots in the run folder `folder`. `template` has the shapes of the parameters, all of them float32.

    Raises `ValueError` for leaves of another type.
    """

    def __init__(self, folder: Path, template: Any):
        leaves, self._structure = jax.tree.flatten(template)
        if any(leaf.dtype != np.float32 for leaf in leaves):
            raise ValueError("snapshots hold float32 parameters only")
        self._shapes = [leaf.shape for leaf in leaves]
        self._sizes = [int(np.prod(shape)) for shape in self._shapes]
        self.path = folder / FILE

    def __len__(self) -> int:
        """How many there are."""
        return self.path.stat().st_size // self._bytes if self.path.exists() else 0

    def put(self, row: int, params: Any) -> None:
        """Writes a row, and drops those after it. Raises `ValueError` if rows before it are missing."""
        if row > len(self):
            raise ValueError(f"{self.path} has {len(self)} snapshots, so number {row} cannot be added")
        leaves = [np.asarray(leaf, "<f4").ravel() for leaf in jax.tree.leaves(params)]
        with naming(self.path), open(self.path, "r+b" if self.path.exists() else "w+b") as file:
            file.truncate(row * self._bytes)
            file.seek(0, os.SEEK_END)
            file.write(np.concatenate(leaves).tobytes())

    def load(self, rows: Any) -> Any:
        """The parameters of some rows, with an axis of rows in front. Raises `ValueError` if one is not there."""
        rows = np.asarray(rows)
        if rows.size and not 0 <= rows.min() <= rows.max() < len(self):
            raise ValueError(f"{self.path} has {len(self)} snapshots, none with number {rows.max()}")
        table = np.memmap(self.path, "<f4", "r", shape=(len(self), sum(self._sizes)))
        parts = np.split(np.asarray(table[rows]), np.cumsum(self._sizes)[:-1], axis=1)
        found = [part.reshape(-1, *shape) for part, shape in zip(parts, self._shapes, strict=True)]
        return jax.tree.unflatten(self._structure, found)

    @property
    def _bytes(self) -> int:
        return 4 * sum(self._sizes)
