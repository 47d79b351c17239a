"""How a player's strength is measured in training: matches, and in small games every line of play."""

import dataclasses
from abc import abstractmethod
from collections.abc import Mapping, Sequence
from typing import Any

import jax
from typing_extensions import override

from jaxgames.algos.td.config import GAMES_PER_TEST, Tests
from jaxgames.envs.core import Game
from jaxgames.matches import MatchResult, every_line, match
from jaxgames.matches.solved import Solved
from jaxgames.players import make as make_player
from jaxgames.players.player import Player
from jaxgames.recipes import solved
from jaxgames.recipes.report import Report
from jaxgames.recipes.training import Job
from jaxgames.runs.figures import Panel


def measure(player: Player, opponent: Player, games: int, seed: int, lines: bool) -> dict[str, Any]:
    """The metrics of a player in a match of `games` games.

    They are the points per game; in games worth one point, win, draw and loss instead, in percent, and the score,
    where a draw is half a win. With `lines` also the number of lines of play that it loses.
    """
    result = match(player, opponent, games, seed=seed)
    measured = points_of(result, opponent.name)
    if kind_of(opponent.name, measured) == "score":
        measured |= rates_of(result, opponent.name)
    if lines:
        measured["lines_lost"] = every_line(player).lost
    return measured


def points_of(result: MatchResult, opponent: str) -> dict[str, Any]:
    """The points per game of a match, or in games worth one point the score in percent, with the 95 % interval."""
    kind, scale = ("ppg", 1) if result.max_reward > 1 else ("score", 100)
    return {f"{kind}_{opponent}{end}": scale * getattr(result, kind + end) for end in ("", "_low", "_high")}


def rates_of(result: MatchResult, opponent: str) -> dict[str, Any]:
    """How many games of a match were won, drawn and lost, in percent."""
    return {f"{name}_{opponent}": 100 * getattr(result, f"{name}_rate") for name in ("win", "draw", "loss")}


def kind_of(watched: str, measured: Mapping[str, Any]) -> str:
    """How a match with `watched` was measured: `ppg` or `score`."""
    return "ppg" if f"ppg_{watched}" in measured else "score"


def final_matches(
    player: Player, game: Game, opponents: Sequence[str], games: int, seed: int, report: Report
) -> list[dict[str, Any]]:
    """Matches of so many games against each opponent, ready for JSON."""
    matches = []
    for name in opponents:
        report.say(f"playing {games:,} games against {name} ...")
        matches.append(match(player, make_player(name, game), games, seed=seed).to_dict())
    return matches


def is_kept(watched: str, measured: Mapping[str, Any], best: Mapping[str, Any] | None) -> bool:
    """Whether a player replaces the best one before, whose `remembered` was saved: by the half of the solved positions
    that chooses, where they were measured, else by the match with `watched`.

    By the match it does unless it is clearly worse: the newer one has learned more. Fewer lost lines count first.
    """
    if best is None:
        return True
    if solved.CHOOSING[0] in measured:
        return sum(measured[name] for name in solved.CHOOSING) >= sum(best[name] for name in solved.CHOOSING)
    lost, lost_before = measured.get("lines_lost", 0), best.get("lines_lost", 0)
    if lost != lost_before:
        return lost < lost_before
    name = kind_of(watched, measured)
    return measured[f"{name}_{watched}_high"] >= best[name]


def remembered(watched: str, measured: Mapping[str, Any]) -> dict[str, Any]:
    """What is remembered of the best player."""
    name = kind_of(watched, measured)
    choosing = {name: measured[name] for name in solved.CHOOSING if name in measured}
    lines = {"lines_lost": measured["lines_lost"]} if "lines_lost" in measured else {}
    return {**choosing, "opponent": watched, name: measured[f"{name}_{watched}"], **lines}


def panels(watched: str, metrics: Sequence[Mapping[str, Any]]) -> list[Panel] | None:
    """The diagrams of the learning curve; None for those of points per game, which are the usual ones."""
    if not any(f"score_{watched}" in line for line in metrics):
        return None
    lines = {f"{name}_{watched}": name for name in ("score", "win", "draw", "loss")}
    panels = [Panel(f"% against {watched}", lines, height=2.6)]
    if any("lines_lost" in line for line in metrics):
        panels.append(Panel("lines lost", {"lines_lost": "lines of play that are lost"}, from_zero=True))
    panels.append(Panel("loss", {"loss": "loss"}))
    panels.append(Panel("games / s", {"games_per_second": "games per second"}, from_zero=True))
    return panels


def after_test(tests: Tests, player: Player) -> Tests:
    """The tests after a block of about 1,000 games: the player meets its younger self, if there is one."""
    points = None
    if tests.has_younger:
        younger = dataclasses.replace(player, name="younger", params=jax.tree.map(lambda x: x[0], tests.younger))
        result = match(player, younger, GAMES_PER_TEST, seed=int(tests.number), batch=GAMES_PER_TEST)
        points = result.ppg * GAMES_PER_TEST
    return tests.after_block(player.params, points)


class LearnerJob(Job[Any]):
    """A training by a learner, for a number of games or updates; a step is an update. Matches measure its player."""

    step_name = "update"
    keys: tuple[str, ...] = ("learner", "goal", "block", "measure_every")
    advice = "a smaller step_size"
    weights = "params"
    """The weights that play, an entry of the learner's state."""
    positions: Sequence[Solved] = ()
    """Solved positions, half of which chooses the best player; without them the matches choose it."""
    shapes: Any
    """The metrics of a checkpoint, which has a learner's `state`, and the number of finished `games`."""

    @abstractmethod
    def player(self, params: Any, name: str = "trained") -> Player:
        """The player with these weights."""

    def for_play(self, params: Any) -> Any:
        """The player's weights as the run has them."""
        return params

    def more_results(self, player: Player, params: Any) -> dict[str, Any]:
        """What is said of the best player besides its matches."""
        return {}

    @override
    def template(self) -> Any:
        return self.shapes

    @override
    def progress(self, checkpoint: Any, step: int) -> float:
        goal = self.settings["goal"]
        return int(checkpoint.games) / goal["games"] if goal["games"] else step / goal["updates"]

    @override
    def measure(self, checkpoint: Any, entry: Mapping[str, Any]) -> dict[str, Any]:
        params, watched = self.for_play(getattr(checkpoint.state, self.weights)), self.recipe.watched
        player = self.player(params)
        games, seed = self.settings["measured_games"], self.settings["seed"]
        measured = measure(player, make_player(watched, player.game), games, seed, self.recipe.every_line)
        measured |= solved.measure(player, self.positions)
        if is_kept(watched, measured, self.run.best_info()):
            info = {"step": entry["step"], "games": entry["games"]}
            self.run.save_best(params, info | remembered(watched, measured))
        return measured

    @override
    def results(self, checkpoint: Any) -> dict[str, Any]:
        # Matches of the best player with dice of their own.
        info, params = self.run.load_best(getattr(self.shapes.state, self.weights))
        player = self.player(params, str(self.run.path))
        games, seed = self.settings["final_games"], self.final_seed
        matches = final_matches(player, player.game, self.recipe.opponents, games, seed, self.report)
        lines = {"every_line": every_line(player).to_dict()} if self.recipe.every_line else {}
        published = [dataclasses.asdict(published) for published in self.recipe.published]
        result = {"game": player.game.id, "games": info["games"], "published": published, "matches": matches}
        return result | lines | self.more_results(player, params)
