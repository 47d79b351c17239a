"""Networks on the Hugging Face Hub: the two files of a baseline, `NAME.safetensors` and its card `NAME.json`."""

from json import JSONDecodeError
from pathlib import Path

from jaxgames.envs.core import Game
from jaxgames.envs.registry import as_game
from jaxgames.ops import json_text
from jaxgames.players import from_folder
from jaxgames.players.packaged import Packaged
from jaxgames.players.player import Player

ADDRESS, WEIGHTS = "hf://", ".safetensors"


def load(name: str, game: Game | str | None = None) -> Player:
    """The player whose weights are `hf://OWNER/REPOSITORY/NAME.safetensors`; what was fetched before is not again.

    Raises `ImportError` without `huggingface_hub`, `ValueError` where there are no such files, no way to them, or they
    are not those of a baseline.
    """
    owner, _, rest = name.removeprefix(ADDRESS).removesuffix(WEIGHTS).partition("/")
    repository, _, file = rest.partition("/")
    if not (owner and repository and file and name.endswith(WEIGHTS)):
        raise ValueError(f"{name}: expected hf://OWNER/REPOSITORY/NAME.safetensors")
    try:
        from huggingface_hub import hf_hub_download
    except ImportError:
        raise ImportError("not installed: huggingface_hub; install with: pip install 'jaxgames[huggingface]'") from None
    try:
        card, weights = (Path(hf_hub_download(f"{owner}/{repository}", file + kind)) for kind in (".json", WEIGHTS))
    except (OSError, ValueError) as error:
        reason = " ".join(str(error).split()) or type(error).__name__
        raise ValueError(f"{name} cannot be had: {reason}") from None
    try:
        facts = json_text.loads(card.read_bytes())
        run = Packaged(weights.parent, weights.name.removesuffix(WEIGHTS), facts, f"ask {owner} for both files")
        return from_folder.load_run(run, name, as_game(facts["game"] if game is None else game))
    except (KeyError, TypeError, AttributeError, JSONDecodeError) as error:
        raise ValueError(f"{name}: {card.name} is no card of a baseline ({type(error).__name__}: {error})") from None
