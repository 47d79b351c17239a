"""The command line: `jaxgames train`, `match`, `score`, `perft`. Bad input gets one line that says what would be right.

A command is one module of this package with `add(commands)`, which adds its parser, and one entry in `COMMANDS`.
"""

import argparse
import os
import sys
from collections.abc import Sequence
from typing import NoReturn

from jaxgames.cli import match, perft, score, train

COMMANDS = (train, match, score, perft)


class _Parser(argparse.ArgumentParser):
    """One line for an error, without the usage."""

    def error(self, message: str) -> NoReturn:
        self.exit(2, f"{self.prog}: {message}\n")


def main(arguments: Sequence[str] | None = None) -> int:
    """Runs a command and returns the exit status."""
    options = _parser().parse_args(arguments)
    try:
        options.command(options)
    except KeyboardInterrupt:
        print("stopped", file=sys.stderr)
        return 130
    except (ValueError, ImportError) as error:
        if os.environ.get("JAXGAMES_TRACEBACK"):
            raise
        print(f"jaxgames: {' '.join(str(error).split())}", file=sys.stderr)
        return 2
    return 0


def _parser() -> argparse.ArgumentParser:
    parser = _Parser(prog="jaxgames", description="Board games in JAX: train players and let them play.")
    commands = parser.add_subparsers(required=True, metavar="COMMAND")
    for command in COMMANDS:
        command.add(commands)
    return parser
