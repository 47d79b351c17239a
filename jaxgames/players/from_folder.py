"""Players loaded from the folders of trainings. A new kind of training is one entry of `LOADERS`."""

import dataclasses
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any, NamedTuple

import jax
import jax.numpy as jnp

from jaxgames.algos.alphazero import load_network
from jaxgames.algos.evolution import saved as evolution_saved
from jaxgames.algos.imitation import load_network as load_imitation
from jaxgames.algos.self_play_backprop import load_self_play
from jaxgames.algos.td import SequentialConfig, load_player_value, make_learner
from jaxgames.algos.td.methods import config_of, template
from jaxgames.envs.core import Game, Value
from jaxgames.players import champions, packaged
from jaxgames.players.generic import by_policy, evolved, greedy, imitating, self_play
from jaxgames.players.player import Player
from jaxgames.runs import Run
from jaxgames.runs.checkpoints import Snapshots


def _td(run: Run, game: Game, step: int | None) -> Player:
    return greedy(game, str(run.path), *load_player_value(run, step))


def _alphazero(run: Run, game: Game, step: int | None) -> Player:
    params, network, discount = load_network(run, game, step)
    return by_policy(str(run.path), game, network.apply, params, discount)


def _imitation(run: Run, game: Game, step: int | None) -> Player:
    return imitating(str(run.path), *load_imitation(run, game, step))


def _evolution(run: Run, game: Game, step: int | None) -> Player:
    return evolved(str(run.path), *evolution_saved.load_champion(run, step))


def _self_play(run: Run, game: Game, step: int | None) -> Player:
    if step is not None:
        raise ValueError(f"{run.path} holds many networks in step {step}; the best one is the player {run.path}")
    return self_play(str(run.path), *load_self_play(run))


LOADERS: Mapping[str, Callable[[Run, Game, int | None], Player]] = {
    "td": _td,
    "alphazero": _alphazero,
    "imitation": _imitation,
    "evolution": _evolution,
    "self_play": _self_play,
}
"""By the `kind` in a run's configuration: the best player of a run, or that of a checkpoint."""


def kind_of(run: Run) -> str:
    """What kind of training a run is, a key of `LOADERS`. Raises `ValueError` if it does not say."""
    kind = run.config["kind"]
    if not isinstance(kind, str) or kind not in LOADERS:
        raise ValueError(f"{run.path}/config.json: unknown kind {kind!r} of training; expected {', '.join(LOADERS)}")
    return kind


def load(path: str | Path, game: Game, games: int | None = None) -> Player:
    """The best player of the run in folder `path`, or that of one of its checkpoints, `<run>/checkpoints/step-<n>`.

    With `games` that of the snapshot after so many games. Raises `ValueError` if the folder is no run, has no such
    player, or is of another game.
    """
    run, step = _open(path)
    return load_run(run, str(path), game, step, games)


def load_named(name: str, game: Game, games: int | None = None) -> Player:
    """The player of a run as specs name it: its folder, `champion`, or a published network. Raises as `load`."""
    if name == champions.CHAMPION:
        return load_run(champions.Champion(game), name, game, games=games)
    if name in packaged.PUBLISHED:
        return load_run(packaged.published(name), name, game, games=games)
    return load(name, game, games)


def load_run(run: Run, name: str, game: Game, step: int | None = None, games: int | None = None) -> Player:
    """The best player of an open run, under this name; otherwise as `load`."""
    trained_on = run.config.get("game", game.id)
    if trained_on != game.id:
        raise ValueError(f"{name} holds a player of {trained_on}, not of {game.id}")
    if games is not None:
        return _of_snapshot(run, snapshots_of(run), game, games)
    return dataclasses.replace(LOADERS[kind_of(run)](run, game, step), name=name)


class KeptNetworks(NamedTuple):
    """The networks that a run keeps: one after `first` games, then one after every further `every` games."""

    first: int
    every: int
    snapshots: Snapshots

    def games(self, row: int) -> int:
        """The games before the network of a row."""
        return self.first + row * self.every

    def row(self, games: int) -> int | None:
        """The row of the network after so many games; None if none was kept then."""
        row, rest = divmod(games - self.first, self.every)
        return None if rest or not 0 <= row < len(self.snapshots) else row


def snapshots_of(run: Run) -> KeptNetworks:
    """The networks that a run keeps at regular steps, or as they became former champions.

    Raises `ValueError` if it keeps none.
    """
    first = every = 0
    kind = kind_of(run)
    if kind == "evolution":
        first, every = evolution_saved.snapshot_games(run)
        snapshots = evolution_saved.snapshots_of(run)
    elif kind == "td":
        config = config_of(run.config["learner"])
        first = every = run.config["block"] * config.games if isinstance(config, SequentialConfig) else 0
        snapshots = Snapshots(run.path, template(make_learner(config)).state.params)
    if not every or not len(snapshots):
        raise ValueError(
            f"{run.path} keeps no snapshots; trainings with the setting ebert-2007 do, and evolutions with opponents "
            "hall or league"
        )
    return KeptNetworks(first, every, snapshots)


def load_all(path: str | Path, game: Game) -> list[Player]:
    """The players of all snapshots of the run in folder `path` or, where it keeps none, of all its checkpoints.

    Raises `ValueError` as `load`, and if there is neither.
    """
    run, _ = _open(path)
    try:
        kept = snapshots_of(run)
    except ValueError:
        if not run.steps():
            raise
        return [load(run.path / "checkpoints" / f"step-{step}", game) for step in run.steps()]
    return [_of_snapshot(run, kept, game, kept.games(row)) for row in range(len(kept.snapshots))]


def _of_snapshot(run: Run, kept: KeptNetworks, game: Game, games: int) -> Player:
    row = kept.row(games)
    if row is None:
        first, last = kept.first, kept.games(len(kept.snapshots) - 1)
        begin = "" if first == kept.every else f"from {first:,} on "
        said = f"every {kept.every:,} games {begin}up to {last:,}, none after {games:,}"
        raise ValueError(f"{run.path} has snapshots {said}")
    params = jax.tree.map(lambda x: jnp.asarray(x[0]), kept.snapshots.load([row]))
    name = f"{run.path},games={games}"
    if kind_of(run) == "evolution":
        return evolved(name, params, evolution_saved.NetworkConfig.from_json(run.config["network"]))
    return greedy(game, name, params, config_of(run.config["learner"]).network().value)


def load_value(name: str, game: Game) -> tuple[Any, Callable[[Any], Value]]:
    """The parameters of a run's player, and the function that turns them into a value of positions.

    Raises `ValueError` as `load_named`, and if the player does not choose by the values of positions.
    """
    player = load_named(name, game)
    if player.value is None:
        raise ValueError(f"{name} does not value positions, so no search can be guided by it")
    return player.params, player.value


def game_of(path: str | Path) -> str | None:
    """The id of the game of the run in folder `path`, or of one of its checkpoints; None if it does not say.

    Raises `ValueError` if the folder is no run.
    """
    game = _open(path)[0].config.get("game")
    return game if isinstance(game, str) else None


def _open(path: str | Path) -> tuple[Run, int | None]:
    """The run, and the number of the checkpoint if one is named."""
    path = Path(path)
    name, _, step = path.name.rpartition("-")
    if path.parent.name == "checkpoints" and name == "step" and step.isdecimal():
        return Run.open(path.parent.parent), int(step)
    return Run.open(path), None
