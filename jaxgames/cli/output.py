"""What the commands have in common: JSON, and a line of progress."""

import json
import sys
import time
from typing import Any


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
