"""The named trainings. A new recipe is one file here and one entry in this table."""

from jaxgames.recipes import backgammon_backprop, td_gammon
from jaxgames.recipes.recipe import Published, TDRecipe

RECIPES: dict[str, TDRecipe] = {recipe.name: recipe for recipe in (td_gammon.RECIPE, backgammon_backprop.RECIPE)}


def recipe_named(name: str) -> TDRecipe:
    """The recipe with this name; `ValueError` if there is none."""
    if name not in RECIPES:
        raise ValueError(f"unknown recipe {name!r}; available: {', '.join(RECIPES)}")
    return RECIPES[name]


__all__ = ["RECIPES", "Published", "TDRecipe", "recipe_named"]
