"""The player that a training saved in its run folder."""

from pathlib import Path

from jaxgames.envs.core import Game
from jaxgames.players.generic import greedy
from jaxgames.players.player import Player
from jaxgames.runs import Run


def load(path: str | Path, game: Game) -> Player:
    """The best player of the run in folder `path`, or that of one of its checkpoints, `<run>/checkpoints/step-<n>`.

    Raises `ValueError` if the folder is no run, has no player yet, or is of another game.
    """
    from jaxgames.algos.td import load_player_value

    path = Path(path)
    name, _, step = path.name.rpartition("-")
    if path.parent.name == "checkpoints" and name == "step" and step.isdecimal():
        run, which = Run.open(path.parent.parent), int(step)
    else:
        run, which = Run.open(path), None
    settings = run.config.get("learner")
    trained_on = settings.get("game", game.id) if isinstance(settings, dict) else game.id
    if trained_on != game.id:
        raise ValueError(f"{path} holds a player of {trained_on}, not of {game.id}")
    return greedy(game, str(path), *load_player_value(run, which))
