"""The named trainings. A new recipe is one file here and one entry in this table."""

from jaxgames.recipes import (
    alphazero,
    backgammon_strong,
    evolution_by_matches,
    imitation,
    td,
    tic_tac_toe_evolution,
    tic_tac_toe_self_play,
)
from jaxgames.recipes.recipe import Plan, Recipe
from jaxgames.recipes.report import Report
from jaxgames.recipes.training import Training

_ALL: tuple[Recipe, ...] = (
    td.TD_GAMMON,
    td.BACKGAMMON_BACKPROP,
    backgammon_strong.BACKGAMMON_STRONG,
    evolution_by_matches.BACKGAMMON,
    td.TD,
    tic_tac_toe_self_play.RECIPE,
    tic_tac_toe_evolution.RECIPE,
    evolution_by_matches.CHECKERS,
    evolution_by_matches.CONNECT_FOUR,
    evolution_by_matches.ANY,
    alphazero.TIC_TAC_TOE,
    alphazero.CONNECT_FOUR,
    alphazero.CHECKERS,
    alphazero.BACKGAMMON,
    imitation.IMITATION,
    imitation.CHECKERS,
    imitation.CONNECT_FOUR,
)
RECIPES: dict[str, Recipe] = {recipe.name: recipe for recipe in _ALL}


def recipe_named(name: str) -> Recipe:
    """The recipe with this name; `ValueError` if there is none."""
    if name not in RECIPES:
        raise ValueError(f"unknown recipe {name!r}; available: {', '.join(RECIPES)}")
    return RECIPES[name]


__all__ = ["RECIPES", "Plan", "Recipe", "Report", "Training", "recipe_named"]
