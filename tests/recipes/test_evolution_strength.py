"""Every recipe of evolution becomes strong: its setting, trained briefly.

The bounds lie below the learning curves in `benchmarks/results/recipes/evolution.json` at as many games, far above
random play.
"""

import dataclasses

import pytest

from jaxgames.recipes import RECIPES
from jaxgames.recipes.evolution_by_matches import ByMatches
from jaxgames.recipes.recipe import Plan
from jaxgames.recipes.report import Report

pytestmark = pytest.mark.slow


def trained(tmp_path, name, setting, changes, opponent=None):
    """The results of a short training, in a match with one opponent where one is named."""
    recipe = RECIPES[name]
    if opponent is not None:
        recipe = dataclasses.replace(recipe, measures=ByMatches((opponent,), (opponent,)).measures())
    games = {} if recipe.measures.exact else {"measured_games": 200, "final_games": 1_000}
    plan = Plan(setting=setting, changes=changes, devices=1, **games)
    return recipe.begin(plan, str(tmp_path / "run"), Report(quiet=True)).run_to_end()


BRIEF = {"generations": "4"}


@pytest.mark.parametrize(
    ("setting", "changes", "won", "kept", "lost"),
    [
        ("original", BRIEF, 62, 57, 30),
        ("parallel", BRIEF, 62, 57, 30),
        ("crossover", BRIEF, 62, 57, 30),
        ("best", {"generations": "600", "last_step_size": "0.08"}, 80, 78, 14),  # the first tenth, with its step sizes
    ],
)
def test_tic_tac_toe(setting, changes, won, kept, lost, tmp_path):
    """Random moves win 43.6 % and lose 43.6 % of the games with random moves."""
    mean = trained(tmp_path, "tic-tac-toe-evolution", setting, changes)["mean"]
    assert mean["win_random"] >= won and mean["kept"] >= kept and mean["loss_random"] <= lost


@pytest.mark.parametrize(
    ("name", "setting", "changes", "opponent", "ppg"),
    [
        ("checkers-evolution", "self-play", {"generations": "20"}, "random", 0.3),
        ("checkers-evolution", "best", {"generations": "12"}, "random", 0.65),
        ("connect-four-evolution", "usual", {"generations": "20", "population": "128"}, "random", 0.85),
        ("backgammon-hill-climb", "faithful", {"generations": "1500"}, "random", 0.7),
        ("backgammon-hill-climb", "best", {"generations": "8"}, "pubeval", -1.8),
    ],
)
def test_matches(name, setting, changes, opponent, ppg, tmp_path):
    """Random moves make 0 points a game against themselves, and -2.5 in backgammon against pubeval."""
    (match,) = trained(tmp_path, name, setting, changes, opponent)["matches"]
    assert match["ppg"] >= ppg
