"""TD(lambda) by self-play for every game, with settings that suit each."""

import dataclasses
from collections.abc import Mapping
from typing import Any

from jaxgames.algos.td import TDConfig
from jaxgames.envs.registry import available_games, make
from jaxgames.recipes.recipe import Plan, Training
from jaxgames.recipes.report import Report
from jaxgames.recipes.td import td_gammon
from jaxgames.recipes.td.recipe import TDRecipe
from jaxgames.runs import Run

NAME = "td"


def _recipe(config: TDConfig, **settings: Any) -> TDRecipe:
    return TDRecipe(NAME, f"TD(lambda) by self-play: {config.game}", {"fast": config}, measured_early=True, **settings)


_DEEP: dict[str, Any] = {
    "encoding": "observation",
    "hidden": (64, 32),
    "activation": "relu",
    "initializer": "lecun_normal",
    "outputs": 2,
    "batch": 128,
}
TIC_TAC_TOE = _recipe(
    TDConfig(**_DEEP, game="tic_tac_toe", lambda_=0.3, epsilon=0.5, plies=4, step_size=0.005, last_step_size=0.0002),
    minutes=None,
    games=300_000,
    plies_per_game=7,
    plies_per_measurement=200_000,
    every_line=True,
)
CONNECT_FOUR = _recipe(
    TDConfig(**_DEEP, game="connect_four", epsilon=0.3, plies=8, step_size=0.002),
    minutes=3.0,
    plies_per_game=25,
)
CHECKERS = _recipe(
    TDConfig(**{**_DEEP, "encoding": "pieces"}, game="checkers", epsilon=0.1, plies=8, step_size=0.002),
    minutes=3.0,
    plies_per_game=75,
)
BACKGAMMON = dataclasses.replace(td_gammon.RECIPE, name=NAME)

BY_GAME: dict[str, TDRecipe] = {recipe.game: recipe for recipe in (TIC_TAC_TOE, CONNECT_FOUR, CHECKERS, BACKGAMMON)}


def recipe_for(game_id: str) -> TDRecipe:
    """The recipe for a game; one that has no settings of its own gets some that suit many. `ValueError` if there is
    no such game.
    """
    if game_id in BY_GAME:
        return BY_GAME[game_id]
    game = make(game_id)
    epsilon = 0.0 if game.outcome_probabilities else 0.1
    outputs = 2 * min(game.max_reward, 3)
    return _recipe(TDConfig(**{**_DEEP, "outputs": outputs}, game=game_id, epsilon=epsilon, plies=8, step_size=0.002))


@dataclasses.dataclass(frozen=True)
class TDOfAnyGame:
    """The recipe `td`, which asks for a game."""

    name: str = NAME

    def recipe(self, game: str | None) -> TDRecipe:
        """The recipe for a game that has to be named."""
        if game is None:
            raise ValueError(f"td learns the game that is named: --game {'|'.join(available_games())}")
        return recipe_for(game)

    def help(self) -> str:
        """The games with their settings."""
        games = (f"{'':24}--game {game}: {', '.join(r.settings)}; {r.length()}" for game, r in BY_GAME.items())
        return "\n".join(["TD(lambda) by self-play, for the game named with --game", *games])

    def check(self, plan: Plan) -> None:
        """As `Recipe.check`."""
        self.recipe(plan.game).check(plan)

    def begin(self, plan: Plan, path: str, report: Report) -> Training:
        """As `Recipe.begin`."""
        return self.recipe(plan.game).begin(plan, path, report)

    def resume(self, run: Run, report: Report) -> Training:
        """As `Recipe.resume`."""
        return self.recipe(run.config["game"]).resume(run, report)

    def show(self, result: Mapping[str, Any]) -> None:
        """As `Recipe.show`."""
        self.recipe(result["game"]).show(result)


RECIPE = TDOfAnyGame()
