"""Training data: positions with the moves and results to learn, read from and written to data sets."""

from functools import partial
from pathlib import Path
from typing import Any, NamedTuple

import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Bool, Float, Int, UInt8

from jaxgames.envs.core import Game
from jaxgames.ops.device_memory import free_bytes
from jaxgames.ops.pytrees import concatenate, num_rows, take
from jaxgames.runs.folder import DataSetFolder


class LabeledPositions(NamedTuple):
    """Positions of the player to act, each a row.

    Attributes:
        position: a pytree of arrays.
        mask: the legal actions.
        policy: the probability of each action; rows sum to 1.
        policy_weight: how much the policy counts; 0 where none is known.
        value: points of the player to act at the end of the game.
        value_weight: how much the value counts; 0 where none is known.
        game: the number of the game it is from.
        validation: whether the row is kept for validation; all False if the rows are not split yet.
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
    stored = {name: (array.shape[1:], array.dtype) for name, array in arrays.items()}
    for name in sorted(expected.keys() | stored.keys()):
        if expected.get(name) != stored.get(name):
            raise ValueError(
                f"{where} holds no positions of {game.id}: the array {name!r} is {_text(stored.get(name))}, "
                f"expected {_text(expected.get(name))}"
            )
    fields = {name: array for name, array in arrays.items() if not name.startswith("position_")}
    fields["mask"] = np.unpackbits(arrays["mask"], axis=1, count=game.num_actions).astype(bool)
    return LabeledPositions(position=jax.tree.unflatten(structure, [arrays[name] for name in names]), **fields)


def open_of(path: str | Path, game: Game, options: dict[str, Any]) -> DataSetFolder:
    """The data set in a folder. Raises `ValueError` for one of another game, other options or another version."""
    folder = DataSetFolder.open_complete(path)
    for name, own in (("game", game.id), ("version", game.version), ("options", options)):
        if folder.header[name] != own:
            raise ValueError(f"{path} holds data of {name} {folder.header[name]!r}, not {own!r}")
    return folder


def load(folder: DataSetFolder, game: Game) -> LabeledPositions:
    """All rows of a data set.

    Raises `ValueError` for broken shards, and for more rows than fit into memory.
    """
    return load_each([folder], game)[0]


def load_each(folders: list[DataSetFolder], game: Game) -> list[LabeledPositions]:
    """The rows of each data set. Raises `ValueError` as `load`, also if all of them do not fit together."""
    _check_memory(folders, game)
    return [of_arrays(game, folder.read_all(), str(folder.path)) for folder in folders]


def joined(parts: list[LabeledPositions]) -> LabeledPositions:
    """Joined rows; the numbers of games go on from part to part."""
    numbered, first = [], 0
    for part in parts:
        _, games = np.unique(part.game, return_inverse=True)
        numbered.append(part._replace(game=games.astype(np.int64) + first))
        first += int(np.max(games, initial=-1)) + 1
    return concatenate(numbered)


def _check_memory(folders: list[DataSetFolder], game: Game) -> None:
    """Raises `ValueError` if the arrays of data sets need more memory than is free."""
    position = jax.eval_shape(game.init_position, jax.random.key(0))
    of_position = sum(int(np.prod(leaf.shape)) * leaf.dtype.itemsize for leaf in jax.tree.leaves(position))
    each = of_position + 3 * game.num_actions + 25
    free = free_bytes()
    shards = ((folder, number) for folder in folders for number in range(folder.shards))
    count = sum(len(folder.read(number, ("game",))["game"]) for folder, number in shards)
    need = 3 * each * count  # as read, joined, and shuffled
    if free is not None and need > free:
        fits = int(free / (3 * each))
        raise ValueError(
            f"{', '.join(str(folder.path) for folder in folders)}: {need / 2**30:.1f} GiB of memory are needed, "
            f"{free / 2**30:.1f} GiB are free; about {fits:,} of the {count:,} positions would fit"
        )


def _text(shape: tuple[Any, Any] | None) -> str:
    return "missing" if shape is None else f"{shape[1]}[n{''.join(f', {size}' for size in shape[0])}]"


# Merging equal positions and mirror images, keeping training and validation apart, removing test positions.

CHUNK = 8192
"""Positions observed at once."""
SPLITS = ("game", "position")


class Canonical(NamedTuple):
    """For each position the key that it shares with its mirror images, and the symmetry that leads there."""

    key: Any
    symmetry: Int[np.ndarray, " n"]


class SplitCounts(NamedTuple):
    """Counts of positions: `rows` read, `tests` removed, `merged` into equal ones, `shared` with training
    and so not used for validation, and how many are left for `training` and `validation`.
    """

    rows: int
    tests: int
    merged: int
    shared: int
    training: int
    validation: int


def canonical(game: Game, positions: Any, mask: Bool[np.ndarray, "n actions"]) -> Canonical:
    """Two positions have the same key if one is an image of the other by `game.symmetries`: if they are observed alike
    and allow the same actions there.
    """
    number = num_rows(positions)
    keys, symmetries = [], []
    for start in range(0, number, CHUNK):
        rows = np.minimum(np.arange(start, start + CHUNK), number - 1)
        observed = np.asarray(_observe(game, take(positions, rows)))[: number - start]
        best, which = _smallest(game, observed.reshape(len(observed), -1), mask[start : start + CHUNK])
        keys.append(best)
        symmetries.append(which)
    if not keys:
        return Canonical(np.zeros(0, "V1"), np.zeros(0, np.int64))
    key_bytes = np.concatenate(keys)
    return Canonical(key_bytes.view(np.dtype((np.void, key_bytes.shape[1]))).ravel(), np.concatenate(symmetries))


def prepare(
    game: Game,
    rows: LabeledPositions,
    tests: Any = None,
    validation: float = 0.05,
    split: str = "game",
    seed: int = 0,
) -> tuple[LabeledPositions, SplitCounts]:
    """The rows to learn from: tests removed, split into training and validation, equal positions and images merged.

    A merged row has the weighted means of values and policies and the sums of weights. A validation position is
    never a training position, nor a mirror image of one.

    Args:
        game: the game.
        rows: the data as made.
        tests: `(positions, mask)` that must not be learned, nor their images; None for none.
        validation: the share of games (or positions) that is kept for validation.
        split: by `game`; then validation leaves out positions that also occur in training. Or by `position`;
            then a game's positions may be on both sides.
        seed: of the split.

    Raises `ValueError` for an unknown split, a share outside 0..1, and if nothing is left on one side.
    """
    if split not in SPLITS:
        raise ValueError(f"unknown split {split!r}; available: {', '.join(SPLITS)}")
    if not 0 <= validation < 1:
        raise ValueError(f"validation {validation}: expected a share from 0 to below 1")
    number = len(rows.game)
    images = canonical(game, rows.position, rows.mask)
    if tests is not None:
        kept = ~np.isin(images.key, canonical(game, *tests).key)
        rows, images = take(rows, kept), Canonical(*(x[kept] for x in images))
    left = len(rows.game)
    _, first, kind = np.unique(images.key, return_index=True, return_inverse=True)
    draws = np.random.default_rng(seed)
    if split == "game":
        games, of_game = np.unique(rows.game, return_inverse=True)
        held = (draws.random(len(games)) < validation)[of_game]
    else:
        held = (draws.random(len(first)) < validation)[kind]
    learned = np.zeros(len(first), bool)
    learned[kind[~held]] = True
    shared = held & learned[kind]
    rows, images, held, kind = (
        take(rows, ~shared), Canonical(*(x[~shared] for x in images)), held[~shared], kind[~shared],
    )  # fmt: skip
    merged = _merge(game, rows._replace(validation=held), kind, images.symmetry)
    counts = SplitCounts(
        number, number - left, len(rows.game) - len(merged.game), int(shared.sum()),
        int((~merged.validation).sum()), int(merged.validation.sum()),
    )  # fmt: skip
    check_split(counts.training, counts.validation, validation, len(np.unique(rows.game)))
    return merged, counts


def check_split(training: int, held: int, share: float, games: int) -> None:
    """Raises `ValueError` if nothing is left on one side."""
    if not training:
        raise ValueError(f"no position is left for training: {games:,} games, {share:g} of them for validation")
    if not held and share > 0:
        raise ValueError(
            f"no position is left for validation: {games:,} games, {share:g} of them for validation; take more of "
            f"them, or more games"
        )


def _merge(
    game: Game, rows: LabeledPositions, kind: Int[np.ndarray, " n"], symmetry: Int[np.ndarray, " n"]
) -> LabeledPositions:
    """One merged row for each kind, in the order of their first rows."""
    kinds, first, kind = np.unique(kind, return_index=True, return_inverse=True)
    to_canonical = np.stack([one.actions for one in game.symmetries])

    def sums(values: np.ndarray) -> np.ndarray:
        return np.bincount(kind, values, len(kinds))

    policy_weight, value_weight = sums(rows.policy_weight), sums(rows.value_weight)
    policy = np.empty((len(kinds), game.num_actions), np.float16)
    for action in range(game.num_actions):  # one after the other: all of them would take eight times the memory
        turned = rows.policy[np.arange(len(kind)), to_canonical[symmetry, action]].astype(np.float64)
        policy[:, action] = sums(turned * rows.policy_weight) / np.maximum(policy_weight, 1e-9)
    value = sums(rows.value.astype(np.float64) * rows.value_weight) / np.maximum(value_weight, 1e-9)
    back = np.argsort(to_canonical, axis=1)[symmetry[first]]
    merged = take(rows, first)._replace(
        policy=np.take_along_axis(policy, back, axis=1),
        policy_weight=policy_weight.astype(np.float32),
        value=value.astype(np.float32),
        value_weight=value_weight.astype(np.float32),
    )
    return take(merged, np.argsort(first))


def _smallest(
    game: Game, observed: np.ndarray, mask: Bool[np.ndarray, "n actions"]
) -> tuple[UInt8[np.ndarray, "n bytes"], Int[np.ndarray, " n"]]:
    """Of each position's images the first in the order of bytes, and the number of its symmetry."""
    best, which = None, np.zeros(len(observed), np.int64)
    for number, symmetry in enumerate(game.symmetries):
        image = np.concatenate(
            [_bytes(observed[:, symmetry.elements]), np.packbits(mask[:, symmetry.actions], axis=1)], axis=1
        )
        if best is None:
            best = image
            continue
        differs = image != best
        place = np.argmax(differs, axis=1)[:, None]
        smaller = np.take_along_axis(image, place, 1)[:, 0] < np.take_along_axis(best, place, 1)[:, 0]
        best, which = np.where(smaller[:, None], image, best), np.where(smaller, number, which)
    assert best is not None
    return np.ascontiguousarray(best), which


def _bytes(observed: np.ndarray) -> UInt8[np.ndarray, "n bytes"]:
    if observed.dtype == bool:
        return np.packbits(observed, axis=1)
    return np.ascontiguousarray(observed).view(np.uint8).reshape(len(observed), -1)


@partial(jax.jit, static_argnums=0)
def _observe(game: Game, positions: Any) -> Array:
    return jax.vmap(lambda position: game.observe_position(position, jnp.bool_(True)))(positions)
