"""What is measured of a player in training: matches, and in small games every line of play."""

import dataclasses
from collections.abc import Mapping, Sequence
from typing import Any

import jax

from jaxgames.algos.td.config import GAMES_PER_TEST, Tests
from jaxgames.matches import every_line, match
from jaxgames.players.player import Player
from jaxgames.recipes.report import Report
from jaxgames.runs.figures import Panel


def measure(player: Player, opponent: Player, games: int, seed: int, lines: bool) -> dict[str, Any]:
    """The metrics of a player in a match of `games` games.

    They are the points per game; in games worth one point, win, draw and loss instead, in percent, and the score,
    where a draw is half a win. With `lines` also the number of lines of play that it loses.
    """
    result = match(player, opponent, games, seed=seed)
    found: dict[str, Any] = {}
    if result.max_reward > 1:
        found |= {f"ppg_{opponent.name}{end}": getattr(result, f"ppg{end}") for end in ("", "_low", "_high")}
    else:
        found |= {f"score_{opponent.name}{end}": 100 * getattr(result, f"score{end}") for end in ("", "_low", "_high")}
        for name in ("win", "draw", "loss"):
            found[f"{name}_{opponent.name}"] = 100 * getattr(result, f"{name}_rate")
    if lines:
        found["lines_lost"] = every_line(player).lost
    return found


def final_matches(
    player: Player, opponents: Mapping[str, Player], games: int, seed: int, report: Report
) -> list[dict[str, Any]]:
    """Matches of so many games against each opponent, ready for JSON."""
    found = []
    for name, opponent in opponents.items():
        report.say(f"playing {games:,} games against {name} ...")
        found.append(match(player, opponent, games, seed=seed).to_dict())
    return found


def is_kept(watched: str, measured: Mapping[str, Any], best: Mapping[str, Any] | None) -> bool:
    """Whether a player replaces the best one before, whose `remembered` was saved, by the match with `watched`.

    It does unless it is clearly worse: the newer one has learned more. Fewer lost lines count first.
    """
    if best is None:
        return True
    lost, lost_before = measured.get("lines_lost", 0), best.get("lines_lost", 0)
    if lost != lost_before:
        return lost < lost_before
    name = "ppg" if f"ppg_{watched}" in measured else "score"
    return measured[f"{name}_{watched}_high"] >= best[name]


def remembered(watched: str, measured: Mapping[str, Any]) -> dict[str, Any]:
    """What is remembered of the best player."""
    name = "ppg" if f"ppg_{watched}" in measured else "score"
    lines = {"lines_lost": measured["lines_lost"]} if "lines_lost" in measured else {}
    return {"opponent": watched, name: measured[f"{name}_{watched}"], **lines}


def panels(watched: str, metrics: Sequence[Mapping[str, Any]]) -> list[Panel] | None:
    """The diagrams of the learning curve; None for those of points per game, which are the usual ones."""
    if not any(f"score_{watched}" in line for line in metrics):
        return None
    lines = {f"{name}_{watched}": name for name in ("score", "win", "draw", "loss")}
    found = [Panel(f"% against {watched}", lines, height=2.6)]
    if any("lines_lost" in line for line in metrics):
        found.append(Panel("lines lost", {"lines_lost": "lines of play that are lost"}, from_zero=True))
    found.append(Panel("loss", {"loss": "loss"}))
    found.append(Panel("games / s", {"games_per_second": "games per second"}, from_zero=True))
    return found


def after_test(tests: Tests, player: Player) -> Tests:
    """The tests after a block of about 1,000 games: the player meets its younger self, if there is one."""
    points = None
    if tests.has_younger:
        younger = dataclasses.replace(player, name="younger", params=jax.tree.map(lambda x: x[0], tests.younger))
        result = match(player, younger, GAMES_PER_TEST, seed=int(tests.number), batch=GAMES_PER_TEST)
        points = result.ppg * GAMES_PER_TEST
    return tests.after_block(player.params, points)
