"""Champions: trained players that come with the package, in `jaxgames/champions`.

Each game has a card, `GAME.json`, and weights, `GAME.safetensors` (arrays only). The card says how the weights were
trained, which player each level is, and how strong each was measured to be. `spec` reads the levels, `Champion` the
weights.
"""

from importlib import resources
from typing import Any

from jaxgames.envs.core import Game
from jaxgames.envs.registry import make
from jaxgames.players.packaged import Packaged, pack, read_card, unpack

__all__ = ["CHAMPION", "LEVELS", "Champion", "card", "champion_games", "pack", "spec", "unpack"]

CHAMPION = "champion"
"""Stands for a run folder in specs: `champion@2`, `puct:champion:800`."""
LEVELS = ("easy", "normal", "hard")
FOLDER = resources.files("jaxgames") / "champions"


def champion_games() -> list[str]:
    """The ids of the games that have a champion."""
    return sorted(entry.name.removesuffix(".json") for entry in FOLDER.iterdir() if entry.name.endswith(".json"))


def card(game_id: str) -> dict[str, Any]:
    """What is known of the champion of a game. Raises `ValueError` if there is none, or its card cannot be read."""
    file = FOLDER / f"{game_id}.json"
    if not file.is_file():
        known = ", ".join(champion_games()) or "no game"
        raise ValueError(f"there is no champion of {game_id}; there are champions of {known}")
    return read_card(file)


def spec(game: Game, level: str) -> str:
    """The spec of a level. On boards other than the one it was trained on, it is a search without the weights.

    Raises `ValueError` for an unknown level.
    """
    if level not in LEVELS:
        raise ValueError(f"champions are champion:easy, champion:normal and champion:hard, not {f'champion:{level}'!r}")
    facts = card(game.id)
    return facts["levels" if game == make(game.id) else "levels_elsewhere"][level]


class Champion(Packaged):
    """The champion of a game as the run that it comes from: the card is its configuration.

    Raises `ValueError` for a game without a champion, and for non-default rules.
    """

    def __init__(self, game: Game):
        facts = card(game.id)
        if game != make(game.id):
            raise ValueError(f"the champion of {game.id} has learned on {make(game.id)}, not on {game}")
        super().__init__(FOLDER, game.id, facts)
