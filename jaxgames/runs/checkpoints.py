"""Checkpoints: any pytree of arrays on disk, complete and verified or absent; and snapshots.

A checkpoint is a folder with `arrays/` (written by orbax, which never pickles) and `manifest.json`: the description of
the leaves, and the size and SHA-256 of every file. It is written under another name and renamed when all is on disk.
"""

import contextlib
import logging
import math
import os
import re
import shutil
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any, NamedTuple

import jax
import jax.numpy as jnp
import numpy as np

from jaxgames.ops import json_text
from jaxgames.runs.files import (
    Fingerprint,
    damage,
    fingerprint,
    naming,
    remove_folder,
    remove_leftovers,
    replace,
    sync,
    to_json,
)

MANIFEST = "manifest.json"
ARRAYS = "arrays"
SNAPSHOTS = "snapshots.f32"
FORMAT = 1


def write(folder: Path, state: Any, info: dict[str, Any]) -> None:
    """Writes `state` and the JSON dictionary `info` as the new folder `folder`, atomically.

    Raises ValueError for a leaf that cannot be saved, and OSError if writing fails; an error leaves nothing behind.
    """
    leaves, arrays = leaf_specs(state), to_numpy(state)
    for leaf, array in zip(leaves, arrays, strict=True):
        _check_saved(leaf.path, array.dtype)
    temporary = folder.with_name(f".saving-{folder.name}")
    shutil.rmtree(temporary, ignore_errors=True)
    try:
        temporary.mkdir(parents=True)
        _write_files(temporary, leaves, arrays, info)
        os.rename(temporary, folder)
    except Exception as error:
        shutil.rmtree(temporary, ignore_errors=True)  # it would take room on a full disk
        if isinstance(error, OSError):
            error.filename = str(folder)  # the temporary name means nothing to users
        raise
    sync(folder.parent)


def _check_saved(path: str, dtype: np.dtype) -> None:
    """Raises `ValueError` for dtypes that would not come back unchanged: orbax has no name for them."""
    import tensorstore

    try:
        if dtype.isnative and tensorstore.dtype(dtype).numpy_dtype == dtype:
            return
    except ValueError:
        pass
    raise ValueError(
        f"'{path}' is of dtype {dtype}, which no checkpoint holds; convert it, such as to float32 or int32"
    )


def _write_files(temporary: Path, leaves: list["LeafSpec"], arrays: list[np.ndarray], info: dict[str, Any]) -> None:
    # orbax refuses arrays without elements; their shape is all there is to know.
    items = {str(i): array for i, array in enumerate(arrays) if array.size}
    if items:
        try:
            with _checkpointer(temporary) as (checkpointer, path):
                checkpointer.save(path, items)
        except Exception as error:  # orbax gives errors of the system another type, with their number in the text
            match = re.search(r"os_error_code='(\d+)'", str(error))
            if not match:
                raise
            raise OSError(int(match[1]), os.strerror(int(match[1]))) from error
    files = sorted(path for path in temporary.rglob("*") if path.is_file())
    manifest = {
        "format": FORMAT,
        "info": info,
        "leaves": [list(leaf) for leaf in leaves],
        "files": {path.relative_to(temporary).as_posix(): list(fingerprint(path)) for path in files},
    }
    for path in files:
        sync(path)
    for path in temporary.rglob("*"):
        if path.is_dir():
            sync(path)
    replace(temporary / MANIFEST, to_json(manifest, "checkpoint"))


def read(folder: Path, template: Any) -> tuple[dict[str, Any], Any]:
    """The `info` and the state of a checkpoint, in the structure of `template`, bit-identical.

    Raises ValueError that says what is wrong if a file is missing or altered, or the template does not fit.
    """
    manifest = read_manifest(folder)
    leaves = manifest["leaves"]
    problem = difference(leaves, leaf_specs(template))
    if problem:
        raise ValueError(f"does not fit: {problem}")
    items = _items(folder, manifest["files"])
    arrays = [_array(items, number, leaf) for number, leaf in enumerate(leaves)]
    return manifest["info"], from_numpy(template, leaves, arrays)


def read_leaf(folder: Path, place: str) -> np.ndarray:
    """One array of a checkpoint, by its place in the tree such as "state/params"; for callers without a template.

    Raises ValueError if there is none, or a file is missing or altered.
    """
    manifest = read_manifest(folder)
    places = [leaf.path for leaf in manifest["leaves"]]
    items = _items(folder, manifest["files"])
    if place not in places:
        raise ValueError(f"does not fit: it lacks {place!r}")
    number = places.index(place)
    return _array(items, number, manifest["leaves"][number])


def read_manifest(folder: Path) -> dict[str, Any]:
    """A checkpoint's manifest: `info`, `leaves` as `LeafSpec`, and `files` as (bytes, SHA-256) by their names.

    Raises ValueError if there is none or it is broken.
    """
    try:
        manifest = json_text.loads((folder / MANIFEST).read_bytes())
        number = manifest["format"]
        if number == FORMAT:
            manifest["leaves"] = [
                LeafSpec(path, dtype, tuple(shape), impl) for path, dtype, shape, impl in manifest["leaves"]
            ]
            manifest["files"] = {name: (int(size), str(digest)) for name, (size, digest) in manifest["files"].items()}
            return {name: manifest[name] for name in ("info", "leaves", "files")}
    except FileNotFoundError:
        raise ValueError(f"is foreign or damaged: it has no {MANIFEST}") from None
    except (ValueError, KeyError, TypeError, AttributeError):
        raise ValueError(f"is damaged: its {MANIFEST} is broken") from None
    raise ValueError(f"has a manifest of format {number}; this version reads format {FORMAT}")


class CheckpointDir:
    """Numbered checkpoints in one folder: `<name>-<number>`, or `<name>-<number>.1` if a number is saved again.

    One folder cannot replace another atomically. A new name, and then removing the old folder, leaves no gap.
    """

    def __init__(self, folder: Path, name: str):
        self.folder = folder
        self._pattern = re.compile(rf"{name}-(\d+)(?:\.(\d+))?")
        self.name = name

    def numbers(self) -> list[int]:
        """Numbers of the complete checkpoints, in increasing order."""
        return sorted({number for number, _ in self._entries()})

    def put(self, number: int, state: Any, info: dict[str, Any], keep: int) -> None:
        """Saves `state`, then removes all numbers above `number` and all but the `keep` highest that remain."""
        if not self.folder.exists():
            self.folder.mkdir()
            sync(self.folder.parent)
        remove_leftovers(self.folder)
        old = self._entries()
        again = max((generation + 1 for other, generation in old if other == number), default=0)
        write(self.folder / (f"{self.name}-{number}" + (f".{again}" if again else "")), state, info)
        kept = sorted({other for other, _ in old if other < number}, reverse=True)[: keep - 1]
        for (other, _), path in old.items():
            if other not in kept:
                remove_folder(path)

    def path(self, number: int) -> Path:
        """The folder of checkpoint `number`; KeyError if there is none."""
        return {number: path for (number, _), path in sorted(self._entries().items())}[number]

    def _entries(self) -> dict[tuple[int, int], Path]:
        """(number, generation) -> folder."""
        if not self.folder.is_dir():
            return {}
        matches = ((self._pattern.fullmatch(path.name), path) for path in self.folder.iterdir() if path.is_dir())
        return {(int(match[1]), int(match[2] or 0)): path for match, path in matches if match}


class Snapshots:
    """The networks of a training at regular steps, as rows of one file: a thousand cost no more than ten checkpoints.

    Row i holds the parameters after (i + 1) times the interval, leaf after leaf as float32, little-endian. Only whole
    rows count, so an interrupted write does no harm; a resumed training overwrites the rows that it makes
    again. The file is in the run folder `folder`; `template` has the shapes of the parameters, all float32.

    Raises `ValueError` for leaves of another type, and if there are none.
    """

    def __init__(self, folder: Path, template: Any):
        leaves, self._structure = jax.tree.flatten(template)
        self._shapes = [leaf.shape for leaf in leaves]
        self._sizes = [int(np.prod(shape)) for shape in self._shapes]
        if any(leaf.dtype != np.float32 for leaf in leaves) or not sum(self._sizes):
            raise ValueError("snapshots hold float32 parameters only, one or more")
        self.path = folder.absolute() / SNAPSHOTS

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
        rows = np.atleast_1d(rows)
        wrong = rows[(rows < 0) | (rows >= len(self))]
        if wrong.size:
            raise ValueError(f"{self.path} has {len(self)} snapshots, none with number {wrong[0]}")
        table = np.memmap(self.path, "<f4", "r", shape=(len(self), sum(self._sizes)))
        parts = np.split(np.asarray(table[rows]), np.cumsum(self._sizes)[:-1], axis=1)
        leaves = [part.reshape(-1, *shape) for part, shape in zip(parts, self._shapes, strict=True)]
        return jax.tree.unflatten(self._structure, leaves)

    @property
    def _bytes(self) -> int:
        return 4 * sum(self._sizes)


def _array(items: dict[str, Any], number: int, leaf: "LeafSpec") -> np.ndarray:
    """The array of a leaf; those without elements are not among the `items`."""
    if str(number) in items:
        return np.array(items[str(number)])
    if math.prod(leaf.shape):
        raise ValueError(f"is damaged: its arrays lack '{leaf.path}'")
    return np.zeros(leaf.shape, jnp.dtype(leaf.dtype))


def _items(folder: Path, files: dict[str, Fingerprint]) -> dict[str, Any]:
    """The arrays by their numbers, once every file has been verified."""
    _verify(folder, files)
    if not files:
        return {}
    try:
        with _checkpointer(folder) as (checkpointer, path):
            return checkpointer.restore(path)
    except Exception as error:  # whatever orbax raises on undamaged files, for example of a later version
        raise ValueError(f"cannot be read by orbax: {' '.join(str(error).split())}") from error


@contextlib.contextmanager
def _checkpointer(folder: Path) -> Iterator[tuple[Any, Path]]:
    """Saves and restores, and the place of a checkpoint's arrays. It does not also log the errors that it raises."""
    # The synchronous one. A 198-40-4 network with Adam's state is saved in about 40 ms (2 CPU cores), 30 of them here.
    import orbax.checkpoint as ocp

    # In a run by several processes one writes, and each reads independently: none waits for the others.
    this = jax.process_index()
    alone = ocp.options.MultiprocessingOptions(
        primary_host=this, active_processes={this}, barrier_sync_key_prefix=f"process-{this}"
    )
    handler = ocp.StandardCheckpointHandler(multiprocessing_options=alone)
    log = logging.getLogger("absl")
    log.addFilter(_has_no_traceback)
    try:
        with ocp.Checkpointer(handler, multiprocessing_options=alone) as checkpointer, _plain(folder) as path:
            yield checkpointer, path / ARRAYS
    finally:
        log.removeFilter(_has_no_traceback)


def _has_no_traceback(record: logging.LogRecord) -> bool:
    """Whether a log record has no traceback: orbax logs pages for each error, once for each of its threads."""
    return not record.exc_info


@contextlib.contextmanager
def _plain(folder: Path) -> Iterator[Path]:
    """A folder's path, made literal: orbax reads brackets as a pattern, tensorstore a backslash as a slash."""
    folder = folder.resolve()
    if not re.search(r"[\[\\]", folder.as_posix()):
        yield folder
        return
    with tempfile.TemporaryDirectory() as other:
        link = Path(other) / "checkpoint"
        link.symlink_to(folder, target_is_directory=True)
        yield link


def _verify(folder: Path, files: dict[str, Fingerprint]) -> None:
    """Raises ValueError unless the checkpoint has exactly these files, unaltered."""
    for name, expected in files.items():
        path = folder / name
        if not path.resolve().is_relative_to(folder.resolve()):
            raise ValueError(f"is damaged: its {MANIFEST} names a file outside of it: {name}")
        if wrong := damage(path, expected, name):
            raise ValueError(f"is damaged: {wrong}")
    for path in (folder / ARRAYS).rglob("[!.]*"):
        name = path.relative_to(folder).as_posix()
        if path.is_file() and name not in files:
            raise ValueError(f"is damaged: its {MANIFEST} does not list {name}")


class LeafSpec(NamedTuple):
    """Describes a leaf: its place in the tree, dtype and shape, and for typed PRNG keys the generator's name."""

    path: str
    dtype: str
    shape: tuple[int, ...]
    key_impl: str | None = None

    def __str__(self) -> str:
        return f"{self.dtype}{list(self.shape)}"


def leaf_specs(tree: Any) -> list[LeafSpec]:
    """The leaves of `tree` in order; ValueError for a leaf that is neither array nor number."""
    return [_leaf_spec(path, leaf) for path, leaf in jax.tree_util.tree_leaves_with_path(tree)]


def to_numpy(tree: Any) -> list[np.ndarray]:
    """The leaves of `tree` in order as NumPy arrays, typed PRNG keys as their words."""
    return [np.asarray(jax.random.key_data(leaf) if is_key(leaf) else leaf) for leaf in jax.tree.leaves(tree)]


def from_numpy(template: Any, leaves: list[LeafSpec], arrays: list[np.ndarray]) -> Any:
    """The tree that `to_numpy` took apart, with each leaf of the same kind as in `template`.

    JAX arrays go where the template's are; a `jax.ShapeDtypeStruct` stands for a JAX array on the default device.
    """
    wanted, structure = jax.tree.flatten(template)
    return jax.tree.unflatten(structure, map(_restore, wanted, leaves, arrays))


def difference(leaves: list[LeafSpec], wanted: list[LeafSpec]) -> str | None:
    """In words, the first leaf in which two trees differ; None if both have the same leaves."""
    paths, wanted_paths = [leaf.path for leaf in leaves], [leaf.path for leaf in wanted]
    if paths != wanted_paths:
        missing = [path for path in wanted_paths if path not in paths]
        surplus = [path for path in paths if path not in wanted_paths]
        parts = [f"it lacks '{missing[0]}'"] if missing else []
        parts += [f"it has '{surplus[0]}', which is not expected"] if surplus else []
        return " and ".join(parts) or "its leaves are in another order"
    for one, other in zip(leaves, wanted, strict=True):
        if (one.dtype, one.shape) != (other.dtype, other.shape):
            return f"'{one.path}' is {one}, expected {other}"
    return None


def is_key(leaf: Any) -> bool:
    """Whether a leaf is an array of typed PRNG keys, or stands for one."""
    return hasattr(leaf, "dtype") and jax.dtypes.issubdtype(leaf.dtype, jax.dtypes.prng_key)


def _leaf_spec(key_path: Any, leaf: Any) -> LeafSpec:
    path = jax.tree_util.keystr(key_path, simple=True, separator="/")
    if is_key(leaf):
        if not leaf.size:
            raise ValueError(f"'{path}' is an array of no PRNG keys; leave it out of the checkpoint")
        impl = str(jax.random.key_impl(leaf)) if isinstance(leaf, jax.Array) else None
        return LeafSpec(path, str(leaf.dtype), leaf.shape, impl)
    array = np.asarray(leaf) if isinstance(leaf, bool | int | float | complex) else leaf
    if isinstance(array, jax.Array | np.ndarray | np.generic | jax.ShapeDtypeStruct):
        if jnp.issubdtype(array.dtype, np.number) or array.dtype == np.bool_:
            return LeafSpec(path, str(array.dtype), array.shape)
    raise ValueError(f"'{path}' is of type {type(leaf).__name__}; a checkpoint holds only arrays and numbers")


def _restore(template: Any, leaf: LeafSpec, array: np.ndarray) -> Any:
    if isinstance(template, bool | int | float | complex):
        return array.item()
    if isinstance(template, np.generic):
        return array[()]
    if isinstance(template, np.ndarray):
        return array
    value = jnp.array(array)  # a copy, since JAX on CPU may otherwise share NumPy's memory
    if value.dtype != array.dtype:
        raise ValueError(
            f"does not fit: '{leaf.path}' is {leaf}, which JAX holds only with jax_enable_x64: "
            "give an array of NumPy as its template"
        )
    if leaf.key_impl is not None:
        value = jax.random.wrap_key_data(value, impl=leaf.key_impl)
    if isinstance(template, jax.Array) and template.committed:
        return jax.device_put(value, template.sharding)
    return value
