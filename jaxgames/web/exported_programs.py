"""Programs on the disk: what has been traced once on this machine is only compiled at the next start.

Tracing is the larger part of a start with a warm compile cache, and plain Python. So the module of a program is kept
as JAX exports it (StableHLO, no pickle), named by a hash of all that it is made of.
"""

import contextlib
import hashlib
import os
import re
from collections.abc import Callable, Hashable
from functools import cache
from pathlib import Path
from typing import Any

import jax

import jaxgames

MOST_FILES = 64
_ADDRESS = re.compile(r"<function ([\w.]+) at 0x[0-9a-f]+>")


class ExportedProgram:
    """A function of pytrees that gives one array, compiled for each set of shapes.

    Args:
        function: what is compiled.
        kind: what the function depends on besides its arguments' shapes.
        folder: where modules are kept; None: nowhere.
    """

    def __init__(self, function: Callable[..., Any], kind: Hashable, folder: Path | None = None):
        self._function, self._folder = function, folder
        self._name = _ADDRESS.sub(r"\1", repr((function, kind)))
        if " at 0x" in self._name or "<l" in self._name:  # lambdas and locals: no name says what they do
            self._folder = None
        self._lowered: dict[Hashable, Any] = {}
        self._compiled: dict[Hashable, Any] = {}

    def __call__(self, *arguments: Any) -> Any:
        """The function's array."""
        return self.compile(*arguments)(*jax.tree.leaves(arguments))

    def compile(self, *arguments: Any) -> Any:
        """The program for arguments of these shapes; it takes their leaves."""
        shapes = _shapes(arguments)
        if shapes not in self._compiled:
            self._compiled[shapes] = self.lower(*arguments).compile()
            self._lowered.pop(shapes, None)
        return self._compiled[shapes]

    def lower(self, *arguments: Any) -> Any:
        """The part of compiling that is Python; several threads may do the same."""
        leaves, tree = jax.tree.flatten(arguments)
        shapes = _shapes(arguments)
        lowered = self._lowered.get(shapes)
        if lowered is None:
            lowered = self._lowered[shapes] = self._load(leaves, tree, shapes).trace(*leaves).lower()
        return lowered

    def clear_cache(self) -> None:
        """Frees what is compiled."""
        self._lowered.clear()
        self._compiled.clear()

    def _load(self, leaves: list[Any], tree: Any, shapes: tuple[str, ...]) -> Any:
        """The function of the leaves, for `jit`."""

        def flat(*leaves: Any) -> Any:
            return self._function(*jax.tree.unflatten(tree, leaves))

        if self._folder is None:
            return jax.jit(flat)
        words = (self._name, *shapes, fingerprint(), jax.default_backend())
        path = self._folder / f"{hashlib.sha256(repr(words).encode()).hexdigest()[:40]}.stablehlo"
        try:
            with contextlib.suppress(OSError, ValueError):
                return jax.jit(jax.export.deserialize(bytearray(path.read_bytes())).call)
            exported = jax.export.export(jax.jit(flat))(*leaves)
            _write(path, bytes(exported.serialize()))
            return jax.jit(exported.call)
        except Exception:  # what JAX cannot export, or a file that is none: it is traced at every start
            return jax.jit(flat)


def _shapes(arguments: Any) -> tuple[str, ...]:
    return tuple(jax.typeof(leaf).str_short() for leaf in jax.tree.leaves(arguments))


@cache
def fingerprint() -> str:
    """What changes with JAX and with every edit of this package."""
    root, digest = Path(jaxgames.__file__).parent, hashlib.sha256(jax.__version__.encode())
    for path in sorted(root.rglob("*.py")):
        about = path.stat()
        digest.update(f"{path.relative_to(root)} {about.st_size} {about.st_mtime_ns};".encode())
    return digest.hexdigest()


def _write(path: Path, content: bytes) -> None:
    """Keeps a file, all of it or none; of many the oldest goes."""
    with contextlib.suppress(OSError):
        path.parent.mkdir(parents=True, exist_ok=True)
        written = path.with_suffix(f".{os.getpid()}")
        written.write_bytes(content)
        written.replace(path)
        files = sorted(path.parent.glob("*.stablehlo"), key=lambda file: file.stat().st_mtime)
        for old in files[:-MOST_FILES]:
            old.unlink()
