"""Examples that the networks of a reproduction learn from: games of a player against itself."""

import shutil
from collections.abc import Mapping
from typing import Any

from jaxgames.data_sets import make_data, merge_data, played_games
from jaxgames.envs.core import Game
from jaxgames.players import make
from jaxgames.recipes.reproduce.study import Study


def examples(
    study: Study,
    cell: str,
    game: Game,
    teacher: str,
    games: int,
    games_per_shard: int,
    split: str = "game",
    tests: Any = None,
) -> Mapping[str, Any]:
    """The folder of the data set (`folder`), and how many positions there are to learn and to test with.

    Args:
        study: keeps the cell, and the data in its folder `data`.
        cell: its name.
        game: the game.
        teacher: the player, as text.
        games: how many it plays.
        games_per_shard: how many are made at once; what is stopped goes on with the next of them.
        split: by `game` or by `position`, see `prepare`.
        tests: positions that must not be learned, and their legal actions; None for none.
    """
    raw, merged = (study.folder / "data" / name for name in ("raw", "merged"))

    def make_them() -> Mapping[str, Any]:
        player = make(teacher, game)
        make_data(played_games(player, player, games, study.seed, games_per_shard=games_per_shard), raw)
        shutil.rmtree(merged, ignore_errors=True)  # one that was not finished
        _, counts = merge_data(game, [raw], merged, tests, split=split, seed=study.seed)
        return counts._asdict()

    settings = {"teacher": teacher, "games": games, "seed": study.seed}
    return {**study.cell(cell, settings, make_them), "folder": merged}
