"""The making of data sets: shard by shard, and of several one that is merged and split."""

from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from jaxgames.algos.imitation.data import SplitCounts, header_of, joined, load, open_of, prepare, to_arrays
from jaxgames.data_sets.makers import Maker
from jaxgames.envs.core import Game
from jaxgames.ops.pytrees import take
from jaxgames.runs.data_set import DataSetFolder
from jaxgames.sessions.record import game_options

ROWS_PER_SHARD = 65_536
"""Of merged data."""


def make_data(
    maker: Maker, path: str | Path, progress: Callable[[int, int], None] = lambda done, shards: None
) -> DataSetFolder:
    """Makes a data set, or goes on with one. `progress` is told how many shards of how many are done.

    Raises `ValueError` if there is anything else in the folder.
    """
    header = header_of(maker.game, game_options(maker.game), dict(maker.made), maker.shards)
    folder = DataSetFolder.begin_or_go_on(path, header)
    for number in folder.missing():
        folder.write(number, to_arrays(maker.rows(number)))
        progress(maker.shards - len(folder.missing()), maker.shards)
    return folder


def merge_data(
    game: Game,
    sources: Sequence[str | Path],
    path: str | Path,
    tests: Any = None,
    validation: float = 0.05,
    split: str = "game",
    seed: int = 0,
    note: Mapping[str, Any] | None = None,
) -> tuple[DataSetFolder, SplitCounts]:
    """One data set of several, as `prepare` makes it of their rows.

    Args:
        game: the game.
        sources: folders of data sets of this game.
        path: the new folder.
        tests: positions and their legal actions that are taken out, with their images; None for none.
        validation: the share of the rows that is kept for validation.
        split: by `game` or by `position`.
        seed: of the split.
        note: is added to how the data were made.

    Raises `ValueError` as `prepare`, and for data of another game.
    """
    options = game_options(game)
    folders = [open_of(source, game, options) for source in sources]
    rows, counts = prepare(game, joined([load(folder, game) for folder in folders]), tests, validation, split, seed)
    made = {
        "by": "merge", "validation": validation, "split": split, "seed": seed, **(note or {}),
        "counts": counts._asdict(), "sources": [folder.header["made"] for folder in folders],
    }  # fmt: skip
    shards = -(-len(rows.game) // ROWS_PER_SHARD)
    folder = DataSetFolder.begin_or_go_on(path, header_of(game, options, made, shards))
    for number in range(shards):
        part = slice(number * ROWS_PER_SHARD, (number + 1) * ROWS_PER_SHARD)
        folder.write(number, to_arrays(take(rows, part)))
    return folder, counts


def info(path: str | Path) -> dict[str, Any]:
    """What is in a data set, ready for JSON. Raises `ValueError` if it is none, or broken."""
    folder = DataSetFolder.open_complete(path)
    columns = folder.read_all(("policy_weight", "value", "value_weight", "game", "validation"))
    known = columns["value"][columns["value_weight"] > 0]
    return {
        "data": str(folder.path),
        **{name: folder.header[name] for name in ("game", "options", "version", "made", "shards")},
        "positions": len(columns["game"]),
        "games": len(np.unique(columns["game"])),
        "policies": int((columns["policy_weight"] > 0).sum()),
        "values": len(known),
        "wins": int((known > 0).sum()),
        "draws": int((known == 0).sum()),
        "losses": int((known < 0).sum()),
        "validation": int(columns["validation"].sum()),
        "bytes": folder.bytes_on_disk(),
    }
