"""Players loaded from the folders of trainings; `champion` stands for the folder of the player in the package."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

from jaxgames.algos.alphazero.saved import holds_alphazero, load_network
from jaxgames.algos.evolution.saved import holds_champions, load_champion
from jaxgames.algos.td import load_player_value
from jaxgames.envs.core import Game, Value
from jaxgames.players import champions
from jaxgames.players.generic import GreedyTurn, by_policy, evolved, greedy
from jaxgames.players.player import Player
from jaxgames.runs import Run


def load(path: str | Path, game: Game) -> Player:
    """The best player of the run in folder `path`, or that of one of its checkpoints, `<run>/checkpoints/step-<n>`.

    Raises `ValueError` if the folder is no run, has no player yet, or is of another game.
    """
    if path == champions.CHAMPION:
        return champions.load(game)
    run, step = _open(path)
    trained_on = _game_id(run) or game.id
    if trained_on != game.id:
        raise ValueError(f"{path} holds a player of {trained_on}, not of {game.id}")
    if holds_alphazero(run):
        params, network = load_network(run, game, step)
        return by_policy(str(path), game, network.apply, params)
    if holds_champions(run):
        return evolved(str(path), *load_champion(run, step))
    return greedy(game, str(path), *load_player_value(run, step))


def load_value(path: str, game: Game) -> tuple[Any, Callable[[Any], Value]]:
    """The parameters of a run's player, and the function that makes of them the value of positions.

    Raises `ValueError` as `load`, and if the player does not choose by the values of positions.
    """
    player = load(path, game)
    if not isinstance(player.turn, GreedyTurn):
        raise ValueError(f"{path} does not value positions, so no search can be guided by it")
    return player.params, player.turn.make_value


def game_of(path: str | Path) -> str | None:
    """The id of the game of the run in folder `path`, or of one of its checkpoints; None if it does not say.

    Raises `ValueError` if the folder is no run.
    """
    if path == champions.CHAMPION:
        return None
    return _game_id(_open(path)[0])


def _open(path: str | Path) -> tuple[Run, int | None]:
    """The run, and the number of the checkpoint if one is named."""
    path = Path(path)
    name, _, step = path.name.rpartition("-")
    if path.parent.name == "checkpoints" and name == "step" and step.isdecimal():
        return Run.open(path.parent.parent), int(step)
    return Run.open(path), None


def _game_id(run: Run) -> str | None:
    settings = run.config.get("learner", run.config.get("network"))
    return settings.get("game") if isinstance(settings, dict) else None
