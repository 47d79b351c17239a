"""Puts a network of a text into the package, as a baseline: its weights, and a card with what is measured of it.

`python benchmarks/_baselines.py td-gammon-0.0 RUN` takes the last network of a training, or its best one where it keeps
only that. A file in place of RUN is one of networks that the original tic-tac-toe program wrote: the one that does best
in all games against random moves is taken.
"""

import argparse
import hashlib
import json
from pathlib import Path
from typing import Any

import jax
import numpy as np

from jaxgames.algos.evolution.saved import champions_template
from jaxgames.algos.self_play_backprop import load_self_play
from jaxgames.matches import match
from jaxgames.players import from_folder, packaged
from jaxgames.players import make as make_player
from jaxgames.recipes.evolution.tic_tac_toe import RECIPE, read_text
from jaxgames.recipes.evolution.tic_tac_toe_exact import measured
from jaxgames.runs import Run

FOLDER = Path(__file__).parents[1] / "jaxgames" / "baselines"
SEED = 2026
OPPONENTS = {
    "tic_tac_toe": [("random", 10_000)],
    "checkers": [("random", 2_000), ("alphabeta:2", 400)],
    "backgammon": [("random", 2_000), ("pubeval", 10_000)],
}
"""Whom a network of each game meets, in how many games."""
KEPT = ("kind", "learner", "network", "champions", "self_play")
"""What of a training's configuration says how its networks play."""


def main() -> None:
    """Makes one baseline."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("name", choices=packaged.PUBLISHED)
    parser.add_argument("source", type=Path, metavar="RUN", help="the folder of a training, or a file of networks")
    options = parser.parse_args()
    params, facts = of_file(options.source) if options.source.is_file() else of_run(options.source)
    content = packaged.pack(params)
    game = packaged.PUBLISHED[options.name].game
    card = {"name": options.name, "game": game, **facts, "sha256": hashlib.sha256(content).hexdigest()}
    card["bytes"] = len(content)
    (FOLDER / f"{options.name}.safetensors").write_bytes(content)
    write(options.name, card)
    card["matches"] = [played(options.name, game, opponent, games) for opponent, games in OPPONENTS[game]]
    write(options.name, card)


def of_run(folder: Path) -> tuple[Any, dict[str, Any]]:
    """The weights of a training, and what its card says."""
    run = Run.open(folder)
    config = run.config
    facts = {name: config[name] for name in KEPT if name in config}
    trained = {name: config[name] for name in ("recipe", "setting", "seed")}
    if config["kind"] == "td":
        every, snapshots = from_folder.snapshots_of(run)
        params = jax.tree.map(lambda x: x[0], snapshots.load([len(snapshots) - 1]))
        trained["games"] = every * len(snapshots)
    else:
        info = run.best_info() or {}
        trained |= {name: info[name] for name in ("games", "step") if name in info}
        if config["kind"] == "evolution":
            params = run.load_best(champions_template(run))[1][:1]
            facts["champions"] = 1
        else:
            params = load_self_play(run)[:2]
    return params, {"trained": trained, **facts}


def of_file(path: Path) -> tuple[Any, dict[str, Any]]:
    """The best network of a file of the original program, and what its card says."""
    network = RECIPE.settings["original"].network
    genomes = np.asarray(read_text(network, path))
    exact = measured(network, genomes)
    best = int(np.argmax(exact["win_random"] - exact["loss_random"]))
    trained = {
        "recipe": "the original Java program", "setting": "20 groups of 10 networks, 240 seconds",
        "file": f"tests/data/tic_tac_toe/evolution/{path.name}", "line": best + 1,
        "exactly": {name: round(float(exact[name][best]), 2) for name in ("win_random", "draw_random", "loss_random")},
    }  # fmt: skip
    facts = {"trained": trained, "kind": "evolution", "network": network.to_json(), "champions": 1}
    return genomes[best : best + 1], facts


def played(name: str, game: str, opponent: str, games: int) -> dict[str, Any]:
    """The result of a match."""
    result = match(make_player(name, game), make_player(opponent, game), games, seed=SEED)
    points = {key: round(getattr(result, key), 4) for key in ("ppg", "ppg_low", "ppg_high", "win_rate", "draw_rate")}
    print(name, opponent, points, flush=True)
    return {"opponent": opponent, "games": result.games, "seed": SEED, **points}


def write(name: str, card: dict[str, Any]) -> None:
    """Writes the card."""
    (FOLDER / f"{name}.json").write_text(json.dumps(card, indent=1) + "\n")
    packaged.published_card.cache_clear()


if __name__ == "__main__":
    main()
