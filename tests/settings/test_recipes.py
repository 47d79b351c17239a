"""Whatever can be asked of a training is in its configuration, by which it is made: each `--set`, and each option."""

from pathlib import Path
from types import SimpleNamespace
from unittest import mock

import pytest

from jaxgames.envs.registry import make
from jaxgames.ops.settings import own
from jaxgames.recipes import RECIPES, Plan, imitation
from jaxgames.recipes.alphazero import AlphaZeroRecipe
from jaxgames.recipes.backgammon_strong import UPDATES, StrongRecipe
from jaxgames.recipes.evolution import EvolutionRecipe
from jaxgames.recipes.recipe import OfAnyGame, Recipe
from jaxgames.recipes.self_play_population import Variant
from jaxgames.recipes.td import TDRecipe
from jaxgames.recipes.tic_tac_toe_self_play import SeedsConfig
from tests.settings import learners

GAME = "tic_tac_toe"
OPTIONS = {"games": 5_000_000, "seed": 7, "devices": 2, "measured_games": 7, "final_games": 7}
"""Other values of what may be asked for. Minutes become updates by the speed of the machine, as other tests see."""


@pytest.fixture(autouse=True)
def data():
    """A data set for those that learn from one, read without files."""
    folder = SimpleNamespace(path=Path("data"), header={"made": {}})
    with (
        mock.patch.object(imitation.ImitationRecipe, "_data", lambda self, plan: (make(self.game or GAME), folder)),
        mock.patch.object(imitation, "_split_rows", lambda *arguments: learners.ROWS),
    ):
        yield folder


def content(recipe: Recipe, plan: Plan):
    """The configuration of a plan, but for the name of its setting."""
    if not isinstance(recipe, AlphaZeroRecipe):  # whose check traces a search
        recipe.check(plan)
    return {name: value for name, value in recipe.content(plan).items() if name != "setting"}


def usual(recipe: Recipe, **more) -> Plan:
    """A plan that needs no measurement of the machine."""
    asked = {"devices": 1} | ({"game": GAME} if isinstance(recipe, OfAnyGame) else {})
    if isinstance(recipe, AlphaZeroRecipe) or type(recipe) is TDRecipe or recipe.name == "td":
        asked["games"] = 100_000
    return Plan(**asked | more)


def named(recipe: Recipe) -> dict[str, object]:
    """What `--set` can say of the recipe's settings, of each kind the first one: by setting, declarations by name."""
    if isinstance(recipe, OfAnyGame):
        recipe = recipe.recipe(GAME)
    if recipe is RECIPES["tic-tac-toe-self-play"]:
        return {"faithful": {"seeds": own(SeedsConfig)["seeds"], "weights": own(Variant)["weights"]}}
    first = {type(config): setting for setting, config in reversed(recipe.settings.items())}
    return {setting: recipe.settings[setting].declarations() for setting in first.values()}


def another(one) -> str | None:
    """The text of another value that a setting may have; None where there is none."""
    if one.choices:
        return next((str(choice) for choice in one.choices if choice != one.default), None)
    if one.base is bool:
        return str(not one.default).lower()
    if one.is_tuple:
        return ",".join(str(value + 1) for value in one.default or (3,))
    if one.base is str:
        return {"initializer": "uniform:0.7", "encoding": "cells_0.01", "opponents": "random*2"}.get(one.name, "cells")
    if one.default is None:
        return "7"
    for value in map(one.base, (one.default * 2, one.default / 2, one.default + 1)):
        if value != one.default and (one.high is None or value <= one.high) and (one.low is None or value >= one.low):
            return str(value)
    return None


@pytest.mark.parametrize("name", RECIPES)
def test_every_name_of_set_is_in_the_configuration(name):
    """Or refused in one line, as what others switch off is; the settings of a recipe switch off no more than half."""
    recipe = RECIPES[name]
    for setting, declared in named(recipe).items():
        before, refused = content(recipe, usual(recipe, setting=setting)), []
        asked = [one for one in declared.values() if not one.derived and another(one) is not None]
        for one in asked:
            try:
                after = content(recipe, usual(recipe, setting=setting, changes={one.name: another(one)}))
            except ValueError as error:
                assert "\n" not in str(error)
                refused.append(one.name)
            else:
                assert before != after, f"{name} {setting}: --set {one.name}={another(one)} changes nothing"
        assert 2 * len(refused) <= len(asked), refused


@pytest.mark.parametrize("name", RECIPES)
def test_every_option_is_in_the_configuration(name):
    """Or refused in one line."""
    recipe, refused = RECIPES[name], set()
    before = content(recipe, usual(recipe))
    for option, value in OPTIONS.items():
        try:
            assert content(recipe, usual(recipe, **{option: value})) != before, f"{name}: {option} changes nothing"
        except ValueError as error:
            assert "\n" not in str(error)
            refused.add(option)
    assert "seed" not in refused
    for option in ("measured_games", "final_games"):
        exact = isinstance(recipe, EvolutionRecipe) and recipe.measures.exact
        losses = isinstance(recipe, imitation.ImitationRecipe) and option == "measured_games"
        assert (option in refused) == (exact or losses)


def test_updates_of_stages_are_in_the_configuration():
    recipe = next(one for one in RECIPES.values() if isinstance(one, StrongRecipe))
    before = content(recipe, Plan(setting="hours"))
    for name in UPDATES:
        assert content(recipe, Plan(setting="hours", changes={name: "300"})) != before


def test_what_has_no_effect_on_a_training_is_refused(data):
    networks = RECIPES["tic-tac-toe-evolution"]
    for name, text in {"score": "points", "sides": "both", "most_plies": "5", "common": "false"}.items():
        with pytest.raises(ValueError, match=f"^best plays no games while it evolves: {name} has no effect$"):
            content(networks, Plan(setting="best", changes={name: text}))
    for option in ("measured_games", "final_games"):
        with pytest.raises(ValueError, match=f"measures networks exactly: --{option.replace('_', '-')} has no effect"):
            content(networks, Plan(**{option: 100}))
    data.header["made"]["by"] = "merge"
    for name, text in {"validation": "0.5", "split": "position"}.items():
        with pytest.raises(ValueError, match=f"data was split when it was merged: {name} has no effect"):
            content(RECIPES["imitation"], Plan(changes={name: text}))
    with pytest.raises(ValueError, match="validation loss on the way: --measured-games has no effect"):
        content(RECIPES["imitation"], Plan(measured_games=3))
    climb = RECIPES["backgammon-hill-climb"]
    for name in ("score", "sides"):
        with pytest.raises(ValueError, match=f"unknown setting '{name}' of evolution; available: "):
            content(climb, Plan(setting="faithful", changes={name: "points"}))
