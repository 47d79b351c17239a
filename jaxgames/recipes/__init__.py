"""The named trainings. A new recipe is one file here and one entry in this table."""

from jaxgames.recipes import (
    backgammon_backprop,
    backgammon_hill_climb,
    checkers_evolution,
    connect_four_evolution,
    td,
    td_gammon,
    tic_tac_toe_evolution,
    tic_tac_toe_self_play,
)
from jaxgames.recipes.recipe import Plan, Recipe, Training

_ALL: tuple[Recipe, ...] = (
    td_gammon.RECIPE,
    backgammon_backprop.RECIPE,
    backgammon_hill_climb.RECIPE,
    td.RECIPE,
    tic_tac_toe_self_play.RECIPE,
    tic_tac_toe_evolution.RECIPE,
    checkers_evolution.RECIPE,
    connect_four_evolution.RECIPE,
)
RECIPES: dict[str, Recipe] = {recipe.name: recipe for recipe in _ALL}


def recipe_named(name: str) -> Recipe:
    """The recipe with this name; `ValueError` if there is none."""
    if name not in RECIPES:
        raise ValueError(f"unknown recipe {name!r}; available: {', '.join(RECIPES)}")
    return RECIPES[name]


__all__ = ["RECIPES", "Plan", "Recipe", "Training", "recipe_named"]
