"""The named trainings. A new recipe is one file here and one entry in this table."""

from jaxgames.recipes.alphazero import named as alphazero
from jaxgames.recipes.evolution import named as evolution
from jaxgames.recipes.evolution import tic_tac_toe as tic_tac_toe_evolution
from jaxgames.recipes.imitation import named as imitation
from jaxgames.recipes.plan import Plan
from jaxgames.recipes.recipe import Recipe
from jaxgames.recipes.report import Report
from jaxgames.recipes.td import named as td
from jaxgames.recipes.td import strong
from jaxgames.recipes.tic_tac_toe_self_play import recipe as tic_tac_toe_self_play
from jaxgames.recipes.training import Training

_ALL: tuple[Recipe, ...] = (
    td.TD_GAMMON,
    td.BACKGAMMON_BACKPROP,
    strong.BACKGAMMON_STRONG,
    evolution.BACKGAMMON,
    td.TD,
    tic_tac_toe_self_play.RECIPE,
    tic_tac_toe_evolution.RECIPE,
    evolution.CHECKERS,
    evolution.CONNECT_FOUR,
    evolution.ANY,
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
