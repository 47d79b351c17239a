"""The options of commands about one game: its name and its settings."""

import argparse
from typing import Any


def add_settings(parser: argparse.ArgumentParser) -> None:
    """Adds `--set NAME=VALUE`, the settings of a game."""
    parser.add_argument(
        "--set",
        action="append",
        default=[],
        metavar="NAME=VALUE",
        help="an option of the game: rows=5, draw_after=80; of your own game also heaps=1,2,3",
    )


def make_game(name: str, settings: list[str]) -> Any:
    """The game with its settings. Raises `ValueError` for unknown ones."""
    from jaxgames import make

    return make(name, **dict(_setting(make(name), text) for text in settings))


def _setting(usual: Any, text: str) -> tuple[str, Any]:
    """The name and the value of `NAME=VALUE`, a value of the kind that this game usually has."""
    from jaxgames.recipes.overrides import parse_overrides

    name, equals, value = text.partition("=")
    if not equals or not value.strip():
        raise ValueError(f"--set {text!r}: expected NAME=VALUE, such as rows=5")
    if not hasattr(usual, name):
        return name, value  # `make` says what there is
    before = getattr(usual, name)
    kind: Any = type(before)
    if isinstance(before, tuple) and before:
        kind = tuple.__class_getitem__((type(before[0]), ...))
    return name, parse_overrides({name: kind}, {name: value})[name]
