"""The option `--plugin FILE.py` of commands that take players."""

import argparse
from typing import Any


def add_plugins(parser: argparse.ArgumentParser) -> None:
    """Adds the option to a command. The players and games of a file are known as soon as it is read."""
    parser.add_argument(
        "--plugin",
        action=_LoadPlugin,
        default=[],
        metavar="FILE.py",
        help="a Python file with players or games (may be repeated)",
    )


class _LoadPlugin(argparse.Action):
    """Loads a plug-in when its option is met; the namespace has the names of all their players and games."""

    def __call__(self, parser: Any, namespace: Any, values: Any, option_string: Any = None) -> None:
        from jaxgames.players.plugins import load

        setattr(namespace, self.dest, [*getattr(namespace, self.dest), *load(values)])
