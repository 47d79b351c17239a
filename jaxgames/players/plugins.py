"""Plug-ins: Python files with players and games of other people."""

import importlib.util
import shlex
import sys
import traceback
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from jaxgames.envs import registry as games
from jaxgames.ops.checks import describe
from jaxgames.players import registry as players

_PREFIX = "jaxgames_plugin_"
"""The prefix of their modules' names."""


def load(path: str | Path) -> list[str]:
    """Registers the players and games of a Python file by their names, and returns the names.

    A file has a function `move(state)`, which becomes a player named after the file, or `PLAYERS`, a dictionary of
    functions and entries by name, or `GAMES`, a list of classes. Raises `ValueError` for a file without any of these,
    one that cannot be run, and names that are taken.
    """
    path = Path(path)
    if not path.is_file():
        raise ValueError(f"plug-in {path}: there is no such file")
    module = _run(path)
    named, classes = getattr(module, "PLAYERS", {}), getattr(module, "GAMES", ())
    if not isinstance(named, Mapping):
        raise ValueError(f"plug-in {path}: PLAYERS is {describe(named)}; expected a dictionary: {{name: move}}")
    if not isinstance(classes, list | tuple):
        raise ValueError(f"plug-in {path}: GAMES is {describe(classes)}; expected a list of classes: [...]")
    if not named and hasattr(module, "move"):
        named = {path.stem: module.move}
    if not named and not classes:
        raise ValueError(f"plug-in {path} has no player: define move(state), PLAYERS = {{name: move}} or GAMES = [...]")
    try:
        for cls in classes:
            games.check_new(cls)
        entries = {name: players.new_entry(name, player) for name, player in named.items()}
        for cls in classes:  # only now: a file with an error must register nothing
            games.register(cls)
        for name, entry in entries.items():
            players.register(name, entry)
    except ValueError as error:
        raise ValueError(f"plug-in {path}: {error}") from None
    return [*(cls.id for cls in classes), *named]


def option_of(game_id: str) -> str:
    """The option by which a command knows a game: ` --plugin FILE` for one of a plug-in, else nothing."""
    module = type(games.make(game_id)).__module__
    return f" --plugin {shlex.quote(str(sys.modules[module].__file__))}" if module.startswith(_PREFIX) else ""


def _run(path: Path) -> Any:
    spec = importlib.util.spec_from_file_location(f"{_PREFIX}{path.stem}", path)
    if spec is None or spec.loader is None:
        raise ValueError(f"plug-in {path} is no Python file; expected a name that ends with .py")
    module = importlib.util.module_from_spec(spec)
    sys.modules[spec.name] = module  # dataclasses look their module up
    try:
        spec.loader.exec_module(module)
    except (Exception, SystemExit) as error:
        lines = [frame.lineno for frame in traceback.extract_tb(error.__traceback__) if frame.filename == str(path)]
        where = f", line {lines[-1]}" if lines else ""
        raise ValueError(f"plug-in {path}{where}: {type(error).__name__}: {error}") from error
    return module
