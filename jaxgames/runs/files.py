"""Files that are complete or absent, whatever kills the process: atomic writes, removal, one writer at a time.

And files of JSON objects, one per line, appended, readable while they are written: measurements, results, cells.
"""

import contextlib
import errno
import hashlib
import json
import math
import os
import secrets
import shutil
import weakref
from collections.abc import Callable, Iterable, Iterator
from pathlib import Path
from typing import Any

import numpy as np

from jaxgames.ops import json_text

LEFTOVERS = (".saving-", ".removing-")  # prefixes of names that only a killed process leaves behind


@contextlib.contextmanager
def naming(path: Path) -> Iterator[None]:
    """Adds `path` to an `OSError` that names no file, such as that of a write to a full disk."""
    try:
        yield
    except OSError as error:
        error.filename = error.filename or str(path)
        raise


def sync(path: Path) -> None:
    """Flushes a file, or a folder's list of names, to the disk."""
    descriptor = os.open(path, os.O_RDONLY)
    try:
        with naming(path):
            os.fsync(descriptor)
    finally:
        os.close(descriptor)


def replace(path: Path, content: bytes) -> None:
    """Writes `content` to `path` so that at any moment either the old or the new file is there, complete.

    If several processes write it at once, one of the versions stays. A link stays a link, and the new file has the
    old one's read permissions.
    """
    target = path.resolve()
    temporary = target.with_name(f".saving-{os.getpid()}-{secrets.token_hex(8)}")
    try:
        with open(temporary, "wb") as file:
            file.write(content)
            file.flush()
            os.fsync(file.fileno())
        with contextlib.suppress(FileNotFoundError):
            shutil.copymode(target, temporary)
        os.replace(temporary, target)
    except OSError as error:
        with contextlib.suppress(OSError):
            temporary.unlink(missing_ok=True)  # it would take room on a full disk
        error.filename = str(path)  # the temporary name means nothing to users
        raise
    sync(target.parent)


def remove_folder(folder: Path) -> None:
    """Removes a folder so that it is never seen half empty under its own name."""
    doomed = folder.with_name(f".removing-{folder.name}")
    shutil.rmtree(doomed, ignore_errors=True)
    os.rename(folder, doomed)
    shutil.rmtree(doomed)


def remove_leftovers(folder: Path) -> None:
    """Removes what a killed `replace`, `remove_folder` or save left in `folder`."""
    for path in folder.iterdir():
        if path.name.startswith(LEFTOVERS):
            shutil.rmtree(path) if path.is_dir() else path.unlink()


class WriteLock:
    """The right of this process to write a run. The system ends it when the last object of the file's lock is gone or
    the process ends. All users of a lock in one process share one object: `lock` makes it.
    """

    held: weakref.WeakValueDictionary[tuple[int, int], "WriteLock"] = weakref.WeakValueDictionary()
    """By device and inode of the file, so that no process opens a file that it has locked already: where `flock` is
    that of records (NFS), closing any descriptor of the file would free the lock.
    """

    def __init__(self, descriptor: int):
        self.file = _identity(os.fstat(descriptor))
        self._close = weakref.finalize(self, os.close, descriptor)
        self.held[self.file] = self

    @property
    def alive(self) -> bool:
        """Whether it is this process that has it; a fork has none of its parent's."""
        return self._close.alive

    def is_at(self, path: Path) -> bool:
        """Whether the locked file still exists under this name."""
        with contextlib.suppress(FileNotFoundError, NotADirectoryError):
            return _identity(os.stat(path)) == self.file
        return False


def _let_go() -> None:
    """In a fork: the locks are its parent's, and would outlive it with these descriptors."""
    for held in list(WriteLock.held.values()):
        held._close()
    WriteLock.held.clear()


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_let_go)


def lock(path: Path) -> WriteLock:
    """Locks the file `path` for this process, as long as the result lives.

    If the file system has no locks, or the system no `fcntl` (Windows), two writers are not noticed. Raises
    ValueError if another process holds the lock.
    """
    with contextlib.suppress(FileNotFoundError, KeyError):
        return WriteLock.held[_identity(os.stat(path))]
    descriptor = os.open(path, os.O_RDWR | os.O_CREAT, 0o666)
    try:
        import fcntl

        fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except ImportError:
        pass
    except OSError as error:
        if error.errno not in (errno.ENOLCK, errno.ENOTSUP, errno.ENOSYS):
            os.close(descriptor)
            raise ValueError(
                f"{path.parent} is being written by another process; wait until it ends or stop it"
            ) from None
    return WriteLock(descriptor)


def _identity(status: os.stat_result) -> tuple[int, int]:
    return status.st_dev, status.st_ino


Fingerprint = tuple[int, str]
"""What identifies a file: its number of bytes, and their SHA-256."""


def fingerprint(path: Path) -> Fingerprint:
    """The fingerprint of a file as it is now."""
    with open(path, "rb") as file:
        return path.stat().st_size, hashlib.file_digest(file, "sha256").hexdigest()


def digest(arrays: Iterable[Any]) -> str:
    """The SHA-256 of the numbers of some arrays, one after the other."""
    return hashlib.sha256(b"".join(np.asarray(array).tobytes() for array in arrays)).hexdigest()


def damage(path: Path, expected: Fingerprint, name: str) -> str | None:
    """In words, what is wrong with the file `name` if it no longer has this fingerprint; None if nothing is."""
    size, digest = expected
    if not path.is_file():
        return f"{name} is missing"
    if (now := path.stat().st_size) != size:
        return f"{name} has {now} bytes instead of {size}"
    return None if fingerprint(path)[1] == digest else f"the contents of {name} have changed"


def plain(value: Any, name: str, finite: bool = False) -> Any:
    """`value` for JSON: arrays as lists, scalars as Python numbers, NaN and infinities as None.

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


class JsonLines:
    """The lines of a file, which need not exist yet. A last line that a crash cut off counts as not written.

    Args:
        path: the file.
        number: the name of a whole number that every line has; none by default.
        synced: whether a line is on the disk when `append` returns, even if the machine fails.
    """

    def __init__(self, path: Path, number: str = "", synced: bool = False):
        self.path, self.number, self.synced = path, number, synced

    def append(self, line: dict[str, Any]) -> None:
        """Appends one line; NaN and infinities are written as null. A last line that was cut off is removed first.

        Raises `ValueError` if the line lacks its number or JSON cannot hold a value in it.
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
        """All complete lines. Raises `ValueError` that names a line that is not a JSON object or lacks its number."""
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
    """The number of bytes up to and including the last newline, searched backwards in blocks."""
    end = size
    while end > 0:
        start = max(0, end - 4096)
        file.seek(start)
        newline = file.read(end - start).rfind(b"\n")
        if newline >= 0:
            return start + newline + 1
        end = start
    return 0
