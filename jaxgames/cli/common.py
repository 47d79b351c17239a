"""What several commands share: options about games, plug-ins and seeds; JSON, a line of progress, errors as output."""

import argparse
import dataclasses
import errno
import json
import shlex
import sys
import time
from collections.abc import Iterable
from typing import Any, Self, get_type_hints

from jaxgames.ops.checks import MOST_SEED

ADVICE = {
    errno.ENOSPC: "free some space; a training goes on with --resume",
    errno.EDQUOT: "free some space; a training goes on with --resume",
    errno.EACCES: "choose another place, or change its permissions",
    errno.EPERM: "choose another place, or change its permissions",
    errno.EROFS: "choose a place that can be written",
    errno.EISDIR: "expected a file",
    errno.ENOTDIR: "expected a folder",
    errno.ENAMETOOLONG: "choose a shorter name",
}
"""Advice for errors of the system."""


def seed(text: str) -> int:
    """The seed that a text names. Raises `ArgumentTypeError` for one that JAX cannot use."""
    if not (text.isascii() and text.isdecimal() and len(text) <= 10 and int(text) <= MOST_SEED):
        raise argparse.ArgumentTypeError(f"{text[:40]!r}: expected a whole number from 0 to {MOST_SEED}")
    return int(text)


def print_json(result: dict[str, Any]) -> None:
    """Prints the result of a command with `--json`."""
    print(json.dumps(result, indent=2))


class ProgressLine:
    """One line on stderr, rewritten a few times a second, cleared at the end; nothing if `quiet` or not a terminal."""

    def __init__(self, quiet: bool):
        self._quiet, self._shown = quiet or not sys.stderr.isatty(), time.perf_counter()

    def show(self, text: str) -> None:
        """Shows a text, unless the last one is too recent."""
        if not self._quiet and time.perf_counter() > self._shown + 0.3:
            self._shown = time.perf_counter()
            print(f"\r{text}", end="", file=sys.stderr, flush=True)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *error: object) -> None:
        if not self._quiet:
            print("\r\x1b[K", end="", file=sys.stderr, flush=True)


def make_game(name: str, settings: list[str]) -> Any:
    """The game with its settings. Raises `ValueError` for unknown ones."""
    from jaxgames import make

    options: dict[str, Any] = {}
    for option, value in (_setting(make(name), text) for text in settings):
        if option in options:
            raise ValueError(f"--set {option} is there twice, with {options[option]} and {value}; expected once")
        options[option] = value
    return make(name, **options)


def _setting(usual: Any, text: str) -> tuple[str, Any]:
    """The name and the value of `NAME=VALUE`; the value has the type of the game's default."""
    from jaxgames.ops.settings import Setting

    name, equals, value = text.partition("=")
    if not equals or not value.strip():
        raise ValueError(f"--set {text!r}: expected NAME=VALUE, such as rows=5")
    if name not in {option.name for option in dataclasses.fields(usual)}:
        return name, value  # `make` says what there is
    before = getattr(usual, name)
    kind: Any = type(before) if before is not None else get_type_hints(type(usual))[name]
    if isinstance(before, tuple) and before:
        kind = tuple.__class_getitem__((type(before[0]), ...))
    return name, Setting(name, kind, before, "an option of the game").parse(value)


class _LoadPlugin(argparse.Action):
    """Loads a plug-in when its option is parsed; the namespace gets the names of its players and games, by its file."""

    def __call__(self, parser: Any, namespace: Any, values: Any, option_string: Any = None) -> None:
        from jaxgames.players.plugins import load

        setattr(namespace, self.dest, {**getattr(namespace, self.dest), values: load(values)})


SHARED: dict[str, dict[str, Any]] = {
    "--set": {
        "action": "append",
        "default": [],
        "metavar": "NAME=VALUE",
        "help": "an option of the game: rows=5, draw_after=80; of your own game also heaps=1,2,3",
    },
    "--plugin": {
        "action": _LoadPlugin,
        "default": {},
        "metavar": "FILE.py",
        "help": "a Python file with players or games (may be repeated)",
    },
    "--json": {"action": "store_true", "help": "results as JSON, nothing else"},
}
"""Options of several commands. The players and games of a plug-in are known as soon as its file is read."""


def add_shared(parser: argparse.ArgumentParser, *names: str) -> None:
    """Adds some of `SHARED` to a command."""
    for name in names:
        parser.add_argument(name, **SHARED[name])


def command(*words: str, plugins: Iterable[str] = ()) -> str:
    """A command of this package as typed into a shell; `plugins` are files."""
    return shlex.join(["jaxgames", *words, *(word for file in plugins for word in ("--plugin", file))])


def of_system(error: OSError) -> str:
    """An error of the system in words: which file, what, and what would be right."""
    parts = [str(error.filename)] if error.filename else []
    line = ": ".join([*parts, error.strerror or str(error)])
    advice = ADVICE.get(error.errno or 0)
    return f"{line}; {advice}" if advice else line
