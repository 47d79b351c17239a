"""Players loaded from the folders of trainings; `champion` stands for the folder of the player in the package."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import jax
import jax.numpy as jnp

from jaxgames.algos.alphazero.saved import holds_alphazero, load_network
from jaxgames.algos.evolution.saved import holds_champions, load_champion, network_of
from jaxgames.algos.evolution.saved import snapshots_of as champions_of
from jaxgames.algos.imitation.saved import holds_imitation
from jaxgames.algos.imitation.saved import load_network as load_imitation
from jaxgames.algos.self_play_saved import holds_self_play, load_self_play
from jaxgames.algos.td import load_player_value
from jaxgames.algos.td.saved import config_of, template
from jaxgames.envs.core import Game, Value
from jaxgames.players import champions
from jaxgames.players.generic import BoundMethod, GreedyTurn, LogitsTurn, by_policy, evolved, greedy, imitating
from jaxgames.players.player import Player
from jaxgames.players.self_play import self_play
from jaxgames.runs import Run
from jaxgames.runs.snapshots import Snapshots


def load(path: str | Path, game: Game, games: int | None = None) -> Player:
    """The best player of the run in folder `path`, or that of one of its checkpoints, `<run>/checkpoints/step-<n>`.

    With `games` that of the snapshot after so many games. Raises `ValueError` if the folder is no run, has no such
    player, or is of another game.
    """
    if path == champions.CHAMPION:
        return champions.load(game)
    run, step = _open(path)
    trained_on = _game_id(run) or game.id
    if trained_on != game.id:
        raise ValueError(f"{path} holds a player of {trained_on}, not of {game.id}")
    if games is not None:
        return _of_snapshot(run, game, games)
    if holds_alphazero(run):
        params, network, discount = load_network(run, game, step)
        return by_policy(str(path), game, network.apply, params, discount)
    if holds_imitation(run):
        return imitating(str(path), *load_imitation(run, game, step))
    if holds_champions(run):
        return evolved(str(path), *load_champion(run, step))
    if holds_self_play(run):
        if step is not None:
            raise ValueError(f"{path} holds many networks; the best one is the player {run.path}")
        return self_play(str(path), *load_self_play(run))
    return greedy(game, str(path), *load_player_value(run, step))


def snapshots_of(run: Run) -> tuple[int, Snapshots]:
    """The games between two of the networks that a run keeps at regular steps, and these networks.

    Raises `ValueError` if it keeps none.
    """
    every = 0
    if holds_champions(run):
        every = run.config["generations_per_line"] * run.config["evolution"].get("duel", 0)
        found = champions_of(run)
    elif not (holds_alphazero(run) or holds_imitation(run)):
        config = config_of(run.config["learner"])
        every = run.config["block"] * config.games if config.sequential else 0
        found = Snapshots(run.path, template(config).state.params)
    if not every or not len(found):
        raise ValueError(f"{run.path} keeps no snapshots; trainings with the setting ebert-2007 do")
    return every, found


def load_all(path: str | Path, game: Game) -> list[Player]:
    """The players of all snapshots of the run in folder `path` or, where it keeps none, of all its checkpoints.

    Raises `ValueError` as `load`, and if there is neither.
    """
    run, _ = _open(path)
    try:
        every, found = snapshots_of(run)
    except ValueError:
        if not run.steps():
            raise
        return [load(run.path / "checkpoints" / f"step-{step}", game) for step in run.steps()]
    return [_of_snapshot(run, game, (row + 1) * every) for row in range(len(found))]


def _of_snapshot(run: Run, game: Game, games: int) -> Player:
    every, found = snapshots_of(run)
    if games % every or not 1 <= games // every <= len(found):
        last = len(found) * every
        raise ValueError(f"{run.path} has snapshots every {every:,} games up to {last:,}, none after {games:,}")
    params = jax.tree.map(lambda x: jnp.asarray(x[0]), found.load([games // every - 1]))
    name = f"{run.path},games={games}"
    if holds_champions(run):
        return evolved(name, params, network_of(run.config["network"]))
    return greedy(game, name, params, config_of(run.config["learner"]).network().value)


def load_value(path: str, game: Game) -> tuple[Any, Callable[[Any], Value]]:
    """The parameters of a run's player, and the function that makes of them the value of positions.

    Raises `ValueError` as `load`, and if the player does not choose by the values of positions.
    """
    player = load(path, game)
    if isinstance(player.turn, LogitsTurn):
        return player.params, BoundMethod(player.turn, LogitsTurn.make_value)
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
    settings = next((run.config[name] for name in ("learner", "network", "self_play") if name in run.config), None)
    return settings.get("game") if isinstance(settings, dict) else None
