"""What the commands have in common: a seed as input, JSON and a line of progress as output."""

import argparse
import json
import sys
import time
from typing import Any

MOST_SEED = 2**32 - 1
"""JAX uses 32 bits of a seed, unless it runs with 64-bit numbers; larger ones would mean the same as small ones."""


def seed(text: str) -> int:
    """The seed that a text names. Raises `ArgumentTypeError` for one that JAX cannot use."""
    if not (text.isascii() and text.isdecimal() and len(text) <= 10 and int(text) <= MOST_SEED):
        raise argparse.ArgumentTypeError(f"{text[:40]!r}: expected a whole number from 0 to {MOST_SEED}")
    return int(text)


def print_json(result: dict[str, Any]) -> None:
    """Prints the result of a command with `--json`."""
    print(json.dumps(result, indent=2))


class ProgressLine:
    """One line on stderr, written anew a few times a second; nothing if `quiet` or if stderr is no terminal."""

    def __init__(self, quiet: bool):
        self._quiet, self._shown = quiet or not sys.stderr.isatty(), time.perf_counter()

    def show(self, text: str) -> None:
        """Shows a text, unless the last one is too recent."""
        if not self._quiet and time.perf_counter() > self._shown + 0.3:
            self._shown = time.perf_counter()
            print(f"\r{text}", end="", file=sys.stderr, flush=True)

    def clear(self) -> None:
        """Clears the line."""
        if not self._quiet:
            print("\r\x1b[K", end="", file=sys.stderr, flush=True)
