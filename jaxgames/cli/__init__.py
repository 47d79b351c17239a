"""The command line, `jaxgames COMMAND`. Bad input gets one line that says what would be right.

A command is one module of this package with `add(parser)`, which adds its options, and one entry in `COMMANDS`. It is
imported when it is asked for. Of `serve-hub` it is `add_hub` in `serve`.
"""

import argparse
import contextlib
import io
import os
import signal
import sys
from collections.abc import Iterable, Iterator, Sequence
from importlib import import_module
from typing import Any, NoReturn

from jaxgames.cli.common import of_system

COMMANDS = {
    "train": "train a player",
    "data": "make, look at and merge data to learn from",
    "match": "let two players play",
    "tournament": "a round robin with ratings, or a knock-out of a run's networks",
    "play": "play a game in the terminal",
    "score": "the share of perfect and of good moves on solved positions",
    "rollout": "what a position is worth, by rollouts without the luck of the dice",
    "perft": "count the games of a given number of turns (a multiple jump is one turn)",
    "reproduce": "measure a published system again, table by table",
    "export": "write a player as a file for other programs",
    "serve-gnubg": "let GNU Backgammon play against a player",
    "serve-hub": "act as a draughts program that speaks the Hub protocol",
    "solve": "the exact score of each column of a Connect Four position",
    "tables": "solve endings exactly, or look at a table of them",
    "web": "play in the browser",
}
_TOO_MUCH = {
    MemoryError: "the memory is used up; ask for less",
    RecursionError: "what was read is nested too deeply",
}
"""Python errors without a useful message."""


class _Parser(argparse.ArgumentParser):
    """One line for an error, without the usage."""

    def error(self, message: str) -> NoReturn:
        self.exit(2, f"{self.prog}: {message}\n")


class _Version(argparse.Action):
    """Prints the versions that this runs with, and ends."""

    def __call__(self, parser: Any, namespace: Any, values: Any, option_string: Any = None) -> NoReturn:
        from jaxgames import __version__
        from jaxgames.cli.common import print_json
        from jaxgames.runs.run import made_with

        versions = {"jaxgames": __version__} | made_with()
        if values not in ([], ["--json"]):
            parser.error("--version stands alone, or with --json")
        if values:
            print_json(versions)
        else:
            print(", ".join(f"{name} {value}" for name, value in versions.items()))
        raise SystemExit(0)


class _Terminated(KeyboardInterrupt):
    """SIGTERM: ends a command as Ctrl-C does."""


EXPECTED = (
    ValueError, TypeError, ImportError, OSError, MemoryError, OverflowError, RecursionError, NotImplementedError
)  # fmt: skip
"""Errors that are reported in one line."""
_NO_ROOM = "RESOURCE_EXHAUSTED"
"""How XLA's error of a device without enough memory begins."""


def main(arguments: Sequence[str] | None = None) -> int:
    """Runs a command and returns the exit status: 0, 2 after bad input or an error of the system, 130 after Ctrl-C, 143
    after SIGTERM, 141 if nobody reads the output any more.
    """
    for name in ("stdin", "stdout", "stderr"):
        if getattr(sys, name) is None:  # closed: nothing comes from there, and nobody reads it
            setattr(sys, name, open(os.devnull, "r" if name == "stdin" else "w"))
    if isinstance(sys.stdout, io.TextIOWrapper):
        sys.stdout.reconfigure(errors="replace")  # a result is not lost by a sign that the terminal has not
    try:
        with _sigterm_raises():
            options = _parser(sys.argv[1:] if arguments is None else arguments).parse_args(arguments)
            options.command(options)
            sys.stdout.flush()
    except KeyboardInterrupt as stop:
        print(f"stopped; {stop}" if str(stop) else "stopped", file=sys.stderr)
        return _ended(143 if isinstance(stop, _Terminated) else 130)
    except BrokenPipeError:
        _discard_stdout()
        return 141
    except (*EXPECTED, RuntimeError) as error:
        kind = MemoryError if str(error).startswith(_NO_ROOM) else type(error)
        if os.environ.get("JAXGAMES_TRACEBACK") or not issubclass(kind, EXPECTED):
            raise
        line = of_system(error) if isinstance(error, OSError) else _TOO_MUCH.get(kind) or str(error)
        print(f"jaxgames: {' '.join(line.split())}", file=sys.stderr)
        return 2
    return 0


def _ended(status: int) -> int:
    """The exit status. If XLA is still computing, the process ends here: Python's normal exit would take XLA away."""
    computing = sys.modules.get("jaxgames.runs.interruptible")
    if computing is not None and computing.is_computing():
        sys.stdout.flush()
        sys.stderr.flush()
        os._exit(status)
    return status


@contextlib.contextmanager
def _sigterm_raises() -> Iterator[None]:
    """SIGTERM raises `_Terminated` here, where signals can be caught: in the main thread."""

    def end(*_: Any) -> NoReturn:
        raise _Terminated

    try:
        before = signal.signal(signal.SIGTERM, end)
    except ValueError:
        yield
        return
    try:
        yield
    finally:
        signal.signal(signal.SIGTERM, before)


def _discard_stdout() -> None:
    """Discards output that is still to be written, so that the interpreter's exit does not complain."""
    with contextlib.suppress(OSError, ValueError):
        nowhere = os.open(os.devnull, os.O_WRONLY)
        os.dup2(nowhere, sys.stdout.fileno())
        os.close(nowhere)


def _parser(asked: Iterable[str] = COMMANDS) -> argparse.ArgumentParser:
    """Knows all commands, and the options of those that are used."""
    parser = _Parser(prog="jaxgames", description="Board games in JAX: train players and let them play.")
    parser.add_argument(
        "--version", action=_Version, nargs=argparse.REMAINDER, help="what this runs with; --version --json"
    )
    commands = parser.add_subparsers(required=True, metavar="COMMAND")
    for command, text in COMMANDS.items():
        verb = commands.add_parser(command, help=text)
        if command in asked:
            module, _, rest = command.partition("-")
            getattr(import_module(f"jaxgames.cli.{module}"), f"add_{rest}" if rest else "add")(verb)
    return parser
