"""What is learned from: positions with the moves and results to be learned, read from and written to data sets."""

from pathlib import Path
from typing import Any, NamedTuple

import jax
import numpy as np
from jaxtyping import Bool, Float, Int

from jaxgames.envs.core import Game
from jaxgames.ops.device_memory import free_bytes
from jaxgames.ops.pytrees import concatenate
from jaxgames.runs.data_set import DataSetFolder


class LabeledPositions(NamedTuple):
    """Positions of the player to act, each a row.

    Attributes:
        position: a pytree of arrays.
        mask: the legal actions.
        policy: how likely each action is to be played, rows that sum up to 1.
        policy_weight: how much the policy counts; 0 where none is known.
        value: points of the player to act at the end of the game.
        value_weight: how much the value counts; 0 where none is known.
        game: the number of the game it is from.
        validation: whether the row is kept for validation; all False where nobody has split the rows yet.
    """

    position: Any
    mask: Bool[np.ndarray, "n actions"]
    policy: Float[np.ndarray, "n actions"]
    policy_weight: Float[np.ndarray, " n"]
    value: Float[np.ndarray, " n"]
    value_weight: Float[np.ndarray, " n"]
    game: Int[np.ndarray, " n"]
    validation: Bool[np.ndarray, " n"]


def header_of(game: Game, options: dict[str, Any], made: dict[str, Any], shards: int) -> dict[str, Any]:
    """The header of a data set of a game with these options."""
    return {"game": game.id, "options": options, "version": game.version, "made": made, "shards": shards}


def to_arrays(rows: LabeledPositions) -> dict[str, np.ndarray]:
    """The rows as the arrays of a shard: masks as bits, policies as float16."""
    leaves = {f"position_{number}": np.asarray(leaf) for number, leaf in enumerate(jax.tree.leaves(rows.position))}
    arrays = {name: np.asarray(array) for name, array in rows._asdict().items() if name != "position"}
    return leaves | arrays | {"mask": np.packbits(rows.mask, axis=1), "policy": rows.policy.astype(np.float16)}


def of_arrays(game: Game, arrays: dict[str, np.ndarray], where: str) -> LabeledPositions:
    """The rows in a shard's arrays. Raises `ValueError` for positions of another shape than the game's."""
    shapes, structure = jax.tree.flatten(jax.eval_shape(game.init_position, jax.random.key(0)))
    names = [f"position_{number}" for number in range(len(shapes))]
    expected = {name: (shape.shape, np.dtype(shape.dtype)) for name, shape in zip(names, shapes, strict=True)}
    expected |= {
        "mask": ((-(-game.num_actions // 8),), np.dtype(np.uint8)),
        "policy": ((game.num_actions,), np.dtype(np.float16)),
        "policy_weight": ((), np.dtype(np.float32)),
        "value": ((), np.dtype(np.float32)),
        "value_weight": ((), np.dtype(np.float32)),
        "game": ((), np.dtype(np.int64)),
        "validation": ((), np.dtype(bool)),
    }
    found = {name: (array.shape[1:], array.dtype) for name, array in arrays.items()}
    for name in sorted(expected.keys() | found.keys()):
        if expected.get(name) != found.get(name):
            raise ValueError(
                f"{where} holds no positions of {game.id}: the array {name!r} is {_text(found.get(name))}, "
                f"expected {_text(expected.get(name))}"
            )
    fields = {name: array for name, array in arrays.items() if not name.startswith("position_")}
    fields["mask"] = np.unpackbits(arrays["mask"], axis=1, count=game.num_actions).astype(bool)
    return LabeledPositions(position=jax.tree.unflatten(structure, [arrays[name] for name in names]), **fields)


def open_of(path: str | Path, game: Game, options: dict[str, Any]) -> DataSetFolder:
    """The data set in a folder. Raises `ValueError` for one of another game, of other options or another version."""
    folder = DataSetFolder.open_complete(path)
    for name, own in (("game", game.id), ("version", game.version), ("options", options)):
        if folder.header[name] != own:
            raise ValueError(f"{path} holds data of {name} {folder.header[name]!r}, not {own!r}")
    return folder


def load(folder: DataSetFolder, game: Game) -> LabeledPositions:
    """All rows of a data set.

    Raises `ValueError` for shards that are broken, and for more rows than there is memory for.
    """
    _check_memory(folder, game)
    return of_arrays(game, folder.read_all(), str(folder.path))


def joined(parts: list[LabeledPositions]) -> LabeledPositions:
    """Rows one after another, the games of each part numbered on from those of the parts before."""
    numbered, first = [], 0
    for part in parts:
        _, games = np.unique(part.game, return_inverse=True)
        numbered.append(part._replace(game=games.astype(np.int64) + first))
        first += int(np.max(games, initial=-1)) + 1
    return concatenate(numbered)


def _check_memory(folder: DataSetFolder, game: Game) -> None:
    """Raises `ValueError` if the arrays of a data set need more memory than is free."""
    position = jax.eval_shape(game.init_position, jax.random.key(0))
    of_position = sum(int(np.prod(leaf.shape)) * leaf.dtype.itemsize for leaf in jax.tree.leaves(position))
    each = of_position + 3 * game.num_actions + 25
    free = free_bytes()
    counts = [len(folder.read(number, ("game",))["game"]) for number in range(folder.shards)]
    need = 3 * each * sum(counts)  # as read, joined, and shuffled
    if free is not None and need > free:
        fits = int(free / (3 * each))
        raise ValueError(
            f"{folder.path} needs {need / 2**30:.1f} GiB of memory, {free / 2**30:.1f} GiB are free; "
            f"about {fits:,} of its {sum(counts):,} positions would fit"
        )


def _text(shape: tuple[Any, Any] | None) -> str:
    return "missing" if shape is None else f"{shape[1]}[n{''.join(f', {size}' for size in shape[0])}]"
