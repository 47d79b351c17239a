"""The form of a training on the page: the options of `jaxgames train`, and the settings of its recipes.

The entries become a command line, and are checked as one: errors are those of the command line.
"""

import argparse
import dataclasses
from collections.abc import Mapping
from typing import Any, NoReturn

from jaxgames.algos.td.methods import METHODS
from jaxgames.cli import train
from jaxgames.envs.registry import available_games
from jaxgames.ops.settings import Setting
from jaxgames.recipes import RECIPES, Plan, Recipe, recipe_named
from jaxgames.recipes.recipe import OfAnyGame

OPTIONS = ("game", "setting", "minutes", "games", "seed", "measured_games", "final_games")
"""The options that the page offers. Others name files or resources of the machine."""
KINDS = ("method",)
"""Settings that decide which other settings there are."""
NOT_OFFERED = ("opponents",)
"""Settings that may name files and programs."""
OFFERED = tuple(name for name, recipe in RECIPES.items() if not recipe.reads_data)


class TrainingForm:
    """What the page asks about a training, and the arguments of `jaxgames train` that follow from it."""

    verb = "train"

    def __init__(self) -> None:
        self._parser = _Parser(prog="jaxgames")
        commands = self._parser.add_subparsers()
        parser = commands.add_parser(self.verb)
        train.add(parser)
        self._help = {action.dest: action.help or "" for action in parser._actions}

    def form(self, asked: Mapping[str, Any]) -> dict[str, Any]:
        """The fields to fill in after the present choices, and what is wrong with these, if anything."""
        fields, changes = asked["fields"], asked["set"]
        chosen = fields.get("recipe") or OFFERED[0]
        recipe = RECIPES.get(chosen, RECIPES[OFFERED[0]])
        shown = [_choices("recipe", "the recipe by which it learns", OFFERED, chosen, recipe.summary)]
        game = None
        if isinstance(recipe, OfAnyGame):
            games = tuple(available_games())
            game = fields.get("game") or games[0]
            shown.append(_choices("game", self._help["game"], games, game))
            recipe = recipe.recipe(game if game in games else games[0])
        setting = fields.get("setting") or (recipe.names[0] if recipe.names else None)
        shown.append(_choices("setting", self._help["setting"], recipe.names, setting, recipe.length()))
        shown += [{"name": name, "help": self._help[name], "value": fields.get(name, "")} for name in OPTIONS[2:]]
        given = {**fields, "recipe": chosen} | ({"game": game} if game else {})
        settings, error = _settings(recipe, setting, changes), self._error({"fields": given, "set": changes})
        return {"name": chosen[:30], "fields": shown, "settings": settings, "error": error}

    def arguments(self, asked: Mapping[str, Any]) -> list[str]:
        """The arguments of the command, without the folder. Raises `ValueError` for an impossible training."""
        fields, changes = asked["fields"], asked["set"]
        given = {name: text for name, text in fields.items() if text}
        name = given.pop("recipe", "")
        if name not in OFFERED:
            recipe_named(name)
            raise ValueError(f"{name} learns from a data set: jaxgames train {name} --data FOLDER")
        for option in given:
            if option not in OPTIONS:
                raise ValueError(f"unknown option {option!r}; the page has {', '.join(OPTIONS)}")
        for setting in changes:
            if setting in NOT_OFFERED:
                raise ValueError(f"{setting} is of the command line: jaxgames train {name} --set {setting}=...")
        options = [f"--{option.replace('_', '-')}={text}" for option, text in given.items()]
        options += [f"--set={setting}={text}" for setting, text in changes.items() if text]
        arguments = [name, *options]
        parsed = self._parser.parse_args(["train", *arguments, "--out=FOLDER"])
        try:
            recipe_named(name).check(train.plan_of(parsed))
        except (TypeError, OverflowError, MemoryError) as error:
            raise ValueError(str(error) or "that is more than the memory holds") from None
        return arguments

    def _error(self, asked: Mapping[str, Any]) -> str | None:
        try:
            self.arguments(asked)
        except ValueError as error:
            return " ".join(str(error).split())
        return None


class _Parser(argparse.ArgumentParser):
    """Raises what is wrong."""

    def error(self, message: str) -> NoReturn:
        raise ValueError(message)


def _choices(name: str, help: str, choices: tuple[str, ...], value: str | None, note: str = "") -> dict[str, Any]:
    return {"name": name, "help": help, "choices": list(choices), "value": value, "note": note}


def _settings(recipe: Recipe, setting: str | None, changes: Mapping[str, str]) -> list[dict[str, Any]]:
    """The settings as forms; `idle` ones have no effect together with the others."""
    asked: dict[str, Any] = {"setting": setting if setting in recipe.names else None}
    try:
        declared = recipe.declared(Plan(**asked, changes={name: changes[name] for name in KINDS if changes.get(name)}))
    except ValueError:
        declared = recipe.declared(Plan(**asked))
    if "method" in declared:
        declared["method"] = dataclasses.replace(declared["method"], choices=tuple(METHODS), help="the way to learn")
    values = {name: _parsed(one, changes.get(name, "")) for name, one in declared.items()}
    return [
        {**one.form(), "value": changes.get(name, ""), "expected": one.expected, "idle": not one.has_meaning(values)}
        for name, one in declared.items()
        if name not in NOT_OFFERED
    ]


def _parsed(one: Setting, text: str) -> Any:
    try:
        return one.parse(text) if text else one.default
    except ValueError:
        return one.default
