"""Trained players that come with the package: a card, `NAME.json`, and weights, `NAME.safetensors`.

The card is the configuration of the run that the weights come from, with measurements and their checksum.
"""

import hashlib
from importlib import resources
from importlib.resources.abc import Traversable
from pathlib import Path
from typing import Any, NamedTuple

import jax
import numpy as np
from typing_extensions import override

from jaxgames.ops import json_text
from jaxgames.runs import Run, safetensors

PUBLISHED_FOLDER = resources.files("jaxgames") / "baselines"


class PublishedNetwork(NamedTuple):
    """A network of one of the publications that this package reproduces: its game, and what it is."""

    game: str
    help: str


PUBLISHED: dict[str, PublishedNetwork] = {
    "tic-tac-toe-evolved": PublishedNetwork("tic_tac_toe", "a network 9-18-18-9 evolved by Keller's program (2018)"),
    "tic-tac-toe-self-taught": PublishedNetwork(
        "tic_tac_toe", "a network 9-18-9-3-1 that taught itself, as in the article with its C# program"
    ),
    "checkers-evolved": PublishedNetwork(
        "checkers", "a network 64-64-64 evolved as in Checkers-Simulation (Adamczyk, Brinkmann and Ward, 2018)"
    ),
    "checkers-evolved-deep": PublishedNetwork("checkers", "the same with ten hidden layers"),
    "checkers-backprop": PublishedNetwork(
        "checkers", "a network 64-64-64 that learned moves of alpha-beta by back-propagation, as in the same text"
    ),
    "checkers-backprop-deep": PublishedNetwork("checkers", "the same with ten hidden layers, by back-propagation"),
    "td-gammon-0.0": PublishedNetwork(
        "backgammon", "TD-Gammon 0.0, a network 198-40-4 that learned as in Ebert's comparison (2007)"
    ),
}
"""The players from publications, by their names in specs."""


class Packaged(Run):
    """A trained player of the package as the run that it comes from: the card is its configuration."""

    def __init__(self, folder: Traversable, name: str, card: dict[str, Any], advice: str = "install jaxgames again"):
        super().__init__(Path(str(folder)), {"config": card})
        self._file, self._advice = folder / f"{name}.safetensors", advice

    @override
    def load_best(self, template: Any) -> tuple[dict[str, Any], Any]:
        content = self._file.read_bytes() if self._file.is_file() else b""
        if hashlib.sha256(content).hexdigest() != self.config["sha256"]:
            raise ValueError(f"{self._file} does not hold the weights that its card tells of; {self._advice}")
        return self.config["trained"], unpack(template, content)


def published(name: str) -> Packaged:
    """One of `PUBLISHED`. Raises `ValueError` if its card cannot be read."""
    return Packaged(PUBLISHED_FOLDER, name, published_card(name))


def published_card(name: str) -> dict[str, Any]:
    """What is known of one of `PUBLISHED`. Raises `ValueError` if its card cannot be read."""
    return read_card(PUBLISHED_FOLDER / f"{name}.json")


def read_card(file: Traversable) -> dict[str, Any]:
    """The card in a file. Raises `ValueError` if it cannot be read."""
    try:
        card: dict[str, Any] = json_text.loads(file.read_text("utf-8"))
    except (OSError, ValueError) as error:
        raise ValueError(f"{file} is no card: {error}; install jaxgames again") from None
    return card


def pack(params: Any) -> bytes:
    """Parameters as a file of weights: an array for each, named by its place."""
    return safetensors.dump({_name(path): leaf for path, leaf in jax.tree_util.tree_leaves_with_path(params)})


def unpack(shapes: Any, content: bytes) -> Any:
    """The parameters in a file of weights; half precision is widened to the dtypes of `shapes`.

    Raises `ValueError` if they are not of these shapes.
    """
    weights = safetensors.load(content)

    def read(path: Any, leaf: Any) -> np.ndarray:
        array = weights.get(name := _name(path))
        if array is None or array.shape != leaf.shape or array.dtype not in (leaf.dtype, np.float16):
            raise ValueError(f"the weights lack {name}, {leaf.dtype}{list(leaf.shape)}")
        return array.astype(leaf.dtype)

    return jax.tree_util.tree_map_with_path(read, shapes)


def _name(path: Any) -> str:
    return jax.tree_util.keystr(path, simple=True, separator="/") or "weights"
