"""What is measured of a player in training: matches, and in small games every line of play."""

from collections.abc import Mapping, Sequence
from typing import Any

from jaxgames.arena import every_line, match
from jaxgames.players.player import Player
from jaxgames.recipes.td.recipe import TDRecipe
from jaxgames.runs.curves import Panel


def measure(recipe: TDRecipe, player: Player, opponent: Player, games: int, seed: int) -> dict[str, Any]:
    """The metrics of a player: PPG against the opponent; in games of single points win, draw and loss instead, in
    percent, and the score, where a draw is half a win. With `every_line` also the lines that are lost.
    """
    result = match(player, opponent, games, seed=seed)
    found: dict[str, Any] = {}
    if result.max_reward > 1:
        found |= {f"ppg_{opponent.name}{end}": getattr(result, f"ppg{end}") for end in ("", "_low", "_high")}
    else:
        found |= {f"score_{opponent.name}{end}": 100 * getattr(result, f"score{end}") for end in ("", "_low", "_high")}
        for name in ("win", "draw", "loss"):
            found[f"{name}_{opponent.name}"] = 100 * getattr(result, f"{name}_rate")
    if recipe.every_line:
        found["lines_lost"] = every_line(player).lost
    return found


def is_kept(recipe: TDRecipe, measured: Mapping[str, Any], best: Mapping[str, Any] | None) -> bool:
    """Whether a player takes the place of the best one before, of whom `remembered` was saved.

    It does unless it is clearly worse: the newer one has learned more. What counts first is how many lines are lost.
    """
    if best is None:
        return True
    lost, lost_before = measured.get("lines_lost", 0), best.get("lines_lost", 0)
    if lost != lost_before:
        return lost < lost_before
    name = "ppg" if f"ppg_{recipe.watched}" in measured else "score"
    return measured[f"{name}_{recipe.watched}_high"] >= best[name]


def remembered(recipe: TDRecipe, measured: Mapping[str, Any]) -> dict[str, Any]:
    """What is remembered of the best player."""
    name = "ppg" if f"ppg_{recipe.watched}" in measured else "score"
    lines = {"lines_lost": measured["lines_lost"]} if "lines_lost" in measured else {}
    return {"opponent": recipe.watched, name: measured[f"{name}_{recipe.watched}"], **lines}


def panels(recipe: TDRecipe, metrics: Sequence[Mapping[str, Any]]) -> list[Panel] | None:
    """The diagrams of the learning curve; None for those of PPG, which are the usual ones."""
    if not any(f"score_{recipe.watched}" in line for line in metrics):
        return None
    watched = recipe.watched
    lines = {f"{name}_{watched}": name for name in ("score", "win", "draw", "loss")}
    found = [Panel(f"% against {watched}", lines, height=2.6)]
    if recipe.every_line:
        found.append(Panel("lines lost", {"lines_lost": "lines of play that are lost"}, from_zero=True))
    found.append(Panel("loss", {"loss": "loss"}))
    found.append(Panel("games / s", {"games_per_second": "games per second"}, from_zero=True))
    return found
