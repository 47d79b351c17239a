"""The options of commands about one game: its name and its settings."""

import argparse
from typing import Any


def add_settings(parser: argparse.ArgumentParser) -> None:
    """Adds `--set NAME=VALUE`, the settings of a game."""
    parser.add_argument(
        "--set", action="append", default=[], metavar="NAME=NUMBER", help="an option of the game: rows=5, draw_after=80"
    )


def make_game(name: str, settings: list[str]) -> Any:
    """The game with its settings. Raises `ValueError` for unknown ones."""
    from jaxgames import make

    return make(name, **dict(_setting(text) for text in settings))


def _setting(text: str) -> tuple[str, int]:
    name, equals, value = text.partition("=")
    if not equals or not value.strip().lstrip("-").isdigit():
        raise ValueError(f"--set {text!r}: expected NAME=NUMBER, such as rows=5")
    return name, int(value)
