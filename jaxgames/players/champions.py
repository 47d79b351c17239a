"""Champions: trained players that travel with the package, in `jaxgames/champions`.

Each game has a card, `GAME.json`, and weights, `GAME.npz` (arrays only, no pickle). The card says how the weights were
learned, which player each level is, and what was measured of it. `spec` reads the levels, `Champion` the weights.
"""

import functools
import hashlib
import io
from importlib import resources
from pathlib import Path
from typing import Any

import jax
import numpy as np
from typing_extensions import override

from jaxgames.envs.core import Game
from jaxgames.envs.registry import make
from jaxgames.ops import json_text
from jaxgames.runs import Run

__all__ = ["CHAMPION", "LEVELS", "Champion", "card", "champion_games", "pack", "spec", "unpack"]

CHAMPION = "champion"
"""Stands for a run folder in specs: `champion@2`, `puct:champion:800`."""
LEVELS = ("easy", "normal", "hard")
FOLDER = resources.files("jaxgames") / "champions"


def champion_games() -> list[str]:
    """The ids of the games that have a champion."""
    return sorted(entry.name.removesuffix(".json") for entry in FOLDER.iterdir() if entry.name.endswith(".json"))


@functools.cache
def card(game_id: str) -> dict[str, Any]:
    """What is known of the champion of a game. Raises `ValueError` if there is none, or its card cannot be read."""
    file = FOLDER / f"{game_id}.json"
    if not file.is_file():
        known = ", ".join(champion_games()) or "no game"
        raise ValueError(f"there is no champion of {game_id}; there are champions of {known}")
    try:
        return json_text.loads(file.read_text("utf-8"))
    except ValueError as error:
        raise ValueError(f"{file} is no card: {error}; install jaxgames again") from None


def spec(game: Game, level: str) -> str:
    """The spec of a level. On other boards than the one learned on it is a search without the weights.

    Raises `ValueError` for an unknown level.
    """
    if level not in LEVELS:
        raise ValueError(f"champions are champion:easy, champion:normal and champion:hard, not {f'champion:{level}'!r}")
    facts = card(game.id)
    return facts["levels" if game == make(game.id) else "levels_elsewhere"][level]


class Champion(Run):
    """The champion of a game as the run that it comes from: the card is its configuration.

    Raises `ValueError` for a game without a champion, and for other rules than the usual ones.
    """

    def __init__(self, game: Game):
        facts = card(game.id)
        if game != make(game.id):
            raise ValueError(f"the champion of {game.id} has learned on {make(game.id)}, not on {game}")
        super().__init__(Path(str(FOLDER)), {"config": facts})

    @override
    def load_best(self, template: Any) -> tuple[dict[str, Any], Any]:
        content = _weights(f"{self.config['game']}.npz", self.config["sha256"])
        return self.config["trained"], unpack(template, content)


def pack(params: Any) -> bytes:
    """Parameters as a file of weights: an array for each, named by its place."""
    named = {_name(path): np.asarray(leaf) for path, leaf in jax.tree_util.tree_leaves_with_path(params)}
    file = io.BytesIO()
    np.savez_compressed(file, allow_pickle=False, **named)
    return file.getvalue()


def unpack(shapes: Any, content: bytes) -> Any:
    """The parameters in a file of weights. Raises `ValueError` if they are not of these shapes."""
    with np.load(io.BytesIO(content), allow_pickle=False) as arrays:
        weights = dict(arrays)
    wanted = {_name(path): leaf for path, leaf in jax.tree_util.tree_leaves_with_path(shapes)}
    for name, leaf in wanted.items():
        if name not in weights or (weights[name].shape, weights[name].dtype) != (leaf.shape, leaf.dtype):
            raise ValueError(f"the weights lack {name}, {leaf.dtype}{list(leaf.shape)}")
    return jax.tree_util.tree_map_with_path(lambda path, _: weights[_name(path)], shapes)


def _weights(name: str, sha256: str) -> bytes:
    file = FOLDER / name
    content = file.read_bytes() if file.is_file() else b""
    if hashlib.sha256(content).hexdigest() != sha256:
        raise ValueError(f"{file} does not hold the weights that its card tells of; install jaxgames again")
    return content


def _name(path: Any) -> str:
    return "/".join(str(key.key) for key in path)
