"""Data from solved positions of Connect Four: the best moves, all as likely, and the result with best play."""

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import jax
import numpy as np

from jaxgames.algos.imitation.data import LabeledPositions
from jaxgames.data_sets.played import legal_actions
from jaxgames.envs.connect_four.board import from_plain
from jaxgames.envs.core import Game
from jaxgames.matches import solved


class SolvedPositions:
    """The positions of files that `jaxgames.matches.solved` reads, each a game of its own.

    Raises `ValueError` for files that are none, and of another board than the game's.
    """

    shards = 1

    def __init__(self, game: Game, files: Sequence[str | Path]):
        self.game, self.files = game, [str(file) for file in files]
        self.positions = [one for file in self.files for one in solved.read(file)]
        for file in self.files:
            board = solved.board_of(solved.read(file, 1))
            if board != game:
                raise ValueError(f"{file} holds positions of {board}, not of {game}")

    @property
    def made(self) -> Mapping[str, Any]:
        """As `Maker.made`."""
        return {"by": "solved", "files": [Path(file).name for file in self.files], "positions": len(self.positions)}

    def tests(self) -> tuple[Any, np.ndarray]:
        """The positions, and their legal actions."""
        stacked = jax.tree.map(lambda *leaves: np.stack(leaves), *(from_plain(one.board) for one in self.positions))
        return stacked, legal_actions(self.game, stacked)

    def rows(self, shard: int) -> LabeledPositions:
        """As `Maker.rows`."""
        positions, mask = self.tests()
        number = len(self.positions)
        policy = np.zeros((number, self.game.num_actions), np.float16)
        weight = np.zeros(number, np.float32)
        for row, one in enumerate(self.positions):
            if one.moves is not None:
                best = np.array(one.moves) == one.score
                policy[row], weight[row] = best / best.sum(), 1
        value = np.sign([one.score for one in self.positions]).astype(np.float32)
        ones = np.ones(number, np.float32)
        rows = np.arange(number, dtype=np.int64)
        return LabeledPositions(positions, mask, policy, weight, value, ones, rows, np.zeros(number, bool))
