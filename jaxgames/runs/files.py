"""Files that are complete or absent, whatever kills the process: atomic writes, removal, one writer at a time."""

import json
import math
import os
import shutil
import weakref
from pathlib import Path
from typing import Any

LEFTOVERS = (".saving-", ".removing-")  # beginnings of names that only a killed process leaves behind


def sync(path: Path) -> None:
    """Flushes a file, or a folder's list of names, to the disk."""
    descriptor = os.open(path, os.O_RDONLY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)


def replace(path: Path, content: bytes) -> None:
    """Writes `content` to `path` so that at any moment either the old or the new file is there, complete."""
    temporary = path.with_name(f".saving-{path.name}")
    with open(temporary, "wb") as file:
        file.write(content)
        file.flush()
        os.fsync(file.fileno())
    os.replace(temporary, path)
    sync(path.parent)


def remove_folder(folder: Path) -> None:
    """Removes a folder so that it is never seen half empty under its own name."""
    doomed = folder.with_name(f".removing-{folder.name}")
    shutil.rmtree(doomed, ignore_errors=True)
    os.rename(folder, doomed)
    shutil.rmtree(doomed)


def remove_leftovers(folder: Path) -> None:
    """Removes what a killed `replace`, `remove_folder` or save has left in `folder`."""
    for path in folder.iterdir():
        if path.name.startswith(LEFTOVERS):
            shutil.rmtree(path) if path.is_dir() else path.unlink()


def lock(path: Path, owner: object) -> None:
    """Holds the file `path` for this process as long as `owner` lives; the system frees it when the process ends.

    Raises ValueError if another process holds it. Within one process several owners may hold it.
    """
    descriptor = os.open(path, os.O_RDWR | os.O_CREAT, 0o666)
    weakref.finalize(owner, os.close, descriptor)
    try:
        import fcntl

        fcntl.lockf(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except ImportError:  # Windows has no fcntl; there two writers are not told apart
        pass
    except (BlockingIOError, PermissionError):
        raise ValueError(f"{path.parent} is being written by another process; wait until it ends or stop it") from None


def plain(value: Any, name: str, finite: bool = False) -> Any:
    """`value` as JSON can hold it: arrays as lists, scalars as Python numbers, NaN and infinities as None.

    Raises ValueError, naming the entry, for anything that is not made of texts, numbers, lists and dictionaries, and
    with `finite` for NaN and infinities.
    """
    if value is None or isinstance(value, str | bool | int):
        return value
    if isinstance(value, float):
        if finite and not math.isfinite(value):
            raise ValueError(f"{name} is {value}; expected a finite number")
        return float(value) if math.isfinite(value) else None
    if isinstance(value, dict):
        wrong = [key for key in value if not isinstance(key, str)]
        if wrong:
            raise ValueError(f"{name} has the key {wrong[0]!r}; keys must be texts")
        return {key: plain(entry, f"{name}[{key!r}]", finite) for key, entry in value.items()}
    if isinstance(value, list | tuple):
        return [plain(entry, f"{name}[{i}]", finite) for i, entry in enumerate(value)]
    if hasattr(value, "tolist") and getattr(value, "dtype", None) is not None:
        listed = value.tolist()
        if type(listed) is not type(value):
            return plain(listed, name, finite)
        return plain(float(value), name, finite)  # bfloat16 and its like stay themselves in tolist()
    raise ValueError(
        f"{name} is of type {type(value).__name__}; only texts, numbers, lists and dictionaries are written"
    )


def to_json(value: dict[str, Any], name: str, indent: int | None = None) -> bytes:
    """A dictionary as JSON text with a final newline; see `plain`."""
    return (json.dumps(plain(value, name), indent=indent, allow_nan=False) + "\n").encode()
