"""Data from files of games: PDN, MAT, SGF, move strings, JSON lines."""

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import jax
import numpy as np

from jaxgames.algos.imitation.data import LabeledPositions
from jaxgames.data_sets.played import labeled
from jaxgames.envs.core import Game
from jaxgames.envs.registry import make
from jaxgames.records import load
from jaxgames.sessions.record import GameRecord
from jaxgames.sessions.session import PlayedTurn, Session, after_actions

GAMES_PER_SHARD = 1024


class RecordedGames:
    """The games of files, every action a row.

    Args:
        game: the game; its options are those of the records.
        files: in the formats of `jaxgames.records`.

    Raises `ValueError` for files of other games or options, and where there is no game at all.
    """

    def __init__(self, game: Game, files: Sequence[str | Path]):
        self.game, self.files = game, [str(file) for file in files]
        self.records: list[GameRecord] = []
        for file in self.files:
            found = load(file, game.id)
            for number, record in enumerate(found, 1):
                if make(record.game, **record.options) != game:
                    options = dict(record.options) or "usual ones"
                    raise ValueError(f"{file}, game {number}: {record.game} with options {options}, not {game}")
            self.records += found
        if not self.records:
            raise ValueError(f"no games in {', '.join(self.files) or 'no files'}")

    @property
    def shards(self) -> int:
        """As `Maker.shards`."""
        return -(-len(self.records) // GAMES_PER_SHARD)

    @property
    def made(self) -> Mapping[str, Any]:
        """As `Maker.made`."""
        return {"by": "files", "files": [Path(file).name for file in self.files], "games": len(self.records)}

    def rows(self, shard: int) -> LabeledPositions:
        """As `Maker.rows`."""
        first = shard * GAMES_PER_SHARD
        positions, actions, values, known, numbers = [], [], [], [], []
        for number, record in enumerate(self.records[first : first + GAMES_PER_SHARD], first):
            for turn in Session.replay(record).turns:
                points = record.points or 0.0
                for position, action in _steps(turn):
                    positions.append(position)
                    actions.append(action)
                    values.append(points if turn.seat == 0 else -points)
                    known.append(record.points is not None)
                    numbers.append(number)
        if not positions:
            raise ValueError(f"no moves in the games of {', '.join(self.files)}")
        stacked = jax.tree.map(lambda *leaves: np.stack(leaves), *positions)
        columns = (np.array(actions), np.array(values) + 0.0, np.array(known), np.array(numbers))
        return labeled(self.game, stacked, *columns)


def _steps(turn: PlayedTurn) -> list[tuple[Any, int]]:
    """The positions and actions of a turn."""
    state, found = turn.before, []
    for action in turn.actions:
        found.append((jax.device_get(state._position), action))
        if len(found) < len(turn.actions):
            state = after_actions(state, [action])
    return found
