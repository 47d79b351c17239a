"""Puts a network of a text into the package, as a baseline: its weights, and a card with what is measured of it.

`python benchmarks/_baselines.py td-gammon-0.0 RUN,games=200000` takes the player that a spec names, of a training. A
file in place of it is one of networks that the original tic-tac-toe program wrote: the one that does best in games
against random moves is taken.
"""

import argparse
import hashlib
import json
from pathlib import Path
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np

import jaxgames
from jaxgames import baselines
from jaxgames.algos import evolution
from jaxgames.algos.imitation import load_network
from jaxgames.interop import softsign_norm
from jaxgames.matches import match
from jaxgames.players import PLAYERS, champions
from jaxgames.players import make as make_player
from jaxgames.recipes import recipe_named
from jaxgames.runs import Run

FOLDER = Path(__file__).parents[1] / "jaxgames" / "baselines"
SEED = 2026
OPPONENTS = {
    "tic_tac_toe": [("random", 10_000)],
    "checkers": [("random", 2_000), ("alphabeta:2", 400)],
    "backgammon": [("random", 2_000), ("pubeval", 10_000)],
}
"""Whom a network of each game meets, in how many games."""
KEPT = ("kind", "learner", "network", "self_play", "options")
"""What of a training's configuration says how its networks play."""


def main() -> None:
    """Makes one baseline."""
    names = [name for name in baselines.available_baselines() if name in PLAYERS]
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("name", choices=names)
    parser.add_argument("source", metavar="RUN", help="the player of a training, or a file of networks")
    options = parser.parse_args()
    name, game = options.name, PLAYERS[options.name].games[0]
    make = of_file if Path(options.source).is_file() else of_run
    params, facts = make(options.source, game)
    content = champions.pack(params)
    facts = {"name": name, "game": game, **facts, "sha256": hashlib.sha256(content).hexdigest(), "bytes": len(content)}
    (FOLDER / f"{name}.safetensors").write_bytes(content)
    write(name, facts)
    write(name, {**facts, "matches": [played(name, game, *opponent) for opponent in OPPONENTS[game]]})


def of_run(spec: str, game: str) -> tuple[Any, dict[str, Any]]:
    """The weights of a training, and what its card says."""
    run, _, games = spec.partition(",games=")
    config, best = Run.open(run).config, Run.open(run).best_info() or {}
    trained = {name: config[name] for name in ("recipe", "setting", "seed")}
    trained |= {"games": int(games)} if games else {name: best[name] for name in ("games", "step") if name in best}
    facts = {"trained": trained, **{name: config[name] for name in KEPT if name in config}}
    if config["kind"] == "imitation":
        trained["positions"] = config["data"]["training"]
        return load_network(Run.open(run), jaxgames.make(game))[0], facts
    params = make_player(spec, game).params
    return (params[None], {**facts, "champions": 1}) if config["kind"] == "evolution" else (params, facts)


def of_file(path: str, game: str) -> tuple[Any, dict[str, Any]]:
    """The best network of a file of the original program, and what its card says."""
    recipe: Any = recipe_named("tic-tac-toe-evolution")
    network = recipe.settings["original"].network
    rows = softsign_norm.to_rows(softsign_norm.load(Path(path)))
    key, numbers = jax.random.key(SEED), jnp.arange(len(rows), dtype=jnp.int32)
    results = evolution.play(network.policy(), jnp.asarray(rows), evolution.RandomMoves(5_000), key, numbers)
    best = int(np.argmax(results.points.mean(axis=1)))
    trained = {
        "recipe": "the original Java program", "setting": "20 groups of 10 networks, 240 seconds",
        "file": f"tests/data/tic_tac_toe/evolution/{Path(path).name}", "line": best + 1,
    }  # fmt: skip
    return rows[best : best + 1], {
        "trained": trained, "kind": "evolution", "network": network.to_json(), "champions": 1,
    }  # fmt: skip


def played(name: str, game: str, opponent: str, games: int) -> dict[str, Any]:
    """The result of a match."""
    result = match(make_player(name, game), make_player(opponent, game), games, seed=SEED)
    points = {key: round(getattr(result, key), 4) for key in ("ppg", "ppg_low", "ppg_high", "win_rate", "draw_rate")}
    print(name, opponent, points, flush=True)
    return {"opponent": opponent, "games": result.games, "seed": SEED, **points}


def write(name: str, facts: dict[str, Any]) -> None:
    """Writes the card."""
    (FOLDER / f"{name}.json").write_text(json.dumps(facts, indent=1) + "\n")


if __name__ == "__main__":
    main()
