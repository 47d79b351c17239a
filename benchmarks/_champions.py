"""Makes the champions: copies the best player of a run into the package, measures its levels, and writes its card.

`python benchmarks/_champions.py RUN` for a new one, `python benchmarks/_champions.py GAME` to measure one again. The
levels are in `LEVELS`, what is measured in `MEASURED`.
"""

import argparse
import hashlib
import json
import time
from pathlib import Path

import jax
import numpy as np

import jaxgames
from jaxgames.algos.alphazero import load_network
from jaxgames.algos.td import load_player_value
from jaxgames.matches import every_line, match, solved
from jaxgames.players import Player, champions
from jaxgames.players import make as make_player
from jaxgames.runs import Run

ROOT = Path(__file__).parents[1]
FOLDER = ROOT / "jaxgames" / "champions"
SOLVED = "jaxgames/matches/move_scores_500.jsonl"

LEVELS = {
    "tic_tac_toe": ("weak:0.5:champion@1", "weak:0.15:champion@1", "champion@1"),
    "connect_four": ("weak:0.2:champion@1", "puct:champion:50", "puct:champion:800"),
    "checkers": ("weak:0.2:champion@1", "alphabeta:champion:3", "alphabeta:champion:7"),
    "backgammon": ("weak:0.3:champion@1", "champion@1", "champion@2,keep=8,within=0.16"),
}
"""What easy, normal and hard are."""

ELSEWHERE = {
    "connect_four": ("weak:0.2:alphabeta:2", "alphabeta:4", "bounded:4000"),
    "checkers": ("weak:0.2:alphabeta:2", "alphabeta:3", "alphabeta:7"),
}
"""What they are on other boards and under other rules, where the network has learned nothing."""

MEASURED = {
    "tic_tac_toe": [("easy", "random", 10_000), ("normal", "random", 10_000), ("hard", "random", 10_000)],
    "connect_four": [
        ("easy", "random", 1_000),
        ("normal", "random", 1_000),
        ("normal", "uct:200", 400),
        ("hard", "uct:800", 200),
        ("hard", "champion:normal", 200),
    ],
    "checkers": [
        ("easy", "random", 1_000),
        ("normal", "random", 1_000),
        ("normal", "alphabeta:3", 400),
        ("hard", "alphabeta:5", 200),
        ("hard", "alphabeta:7", 200),
    ],
    "backgammon": [
        ("easy", "random", 4_000),
        ("easy", "pubeval", 4_000),
        ("normal", "pubeval", 20_000),
        ("hard", "pubeval", 400),
    ],
}
SEED = 2026
LARGE = 50_000
"""More weights than that are kept in half precision. All figures are of those."""


def main() -> None:
    """Makes or measures one champion."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("what", help="the folder of a training, or a game whose champion is measured again")
    parser.add_argument("--share", type=float, default=1.0, help="of the games of each match")
    options = parser.parse_args()
    what = options.what
    game_id = what if what in jaxgames.available_games() else install(what)
    card = json.loads((FOLDER / f"{game_id}.json").read_text())
    game = jaxgames.make(game_id)
    card["levels"] = dict(zip(champions.LEVELS, LEVELS[game_id], strict=True))
    if game_id in ELSEWHERE:
        card["levels_elsewhere"] = dict(zip(champions.LEVELS, ELSEWHERE[game_id], strict=True))
    write(game_id, card)
    champions.card.cache_clear()
    if not options.share:
        return
    card["moves"] = {level: timed(game, level) for level in champions.LEVELS}
    card["matches"] = [
        played(game, level, opponent, round(games * options.share)) for level, opponent, games in MEASURED[game_id]
    ]
    if game_id == "tic_tac_toe":
        card["lines_lost"] = every_line(make_player("champion", game)).lost
    if game_id == "connect_four":
        card["solved"] = [scored(game, level) for level in champions.LEVELS]
    card["machine"] = jax.devices()[0].device_kind
    write(game_id, card)
    print(json.dumps(card, indent=1))


def install(run_folder: str) -> str:
    """Copies the weights of a run into the package; returns the game."""
    run = Run.open(run_folder)
    game_id = run.config["game"]
    if run.config["kind"] == "alphazero":
        params = load_network(run, jaxgames.make(game_id))[0]
    else:
        params, _ = load_player_value(run)
    params = jax.tree.map(np.asarray, params)
    if sum(leaf.size for leaf in jax.tree.leaves(params)) > LARGE:
        params = jax.tree.map(lambda leaf: leaf.astype(np.float16), params)
    content = champions.pack(params)
    (FOLDER / f"{game_id}.safetensors").write_bytes(content)
    info = run.best_info() or {}
    named = {name: run.config[name] for name in ("recipe", "setting", "seed", "goal")}
    trained = named | {name: info[name] for name in ("games", "step") if name in info}
    card = {
        "game": game_id,
        "trained": trained,
        "kind": run.config["kind"],
        "learner": run.config["learner"],
        "sha256": hashlib.sha256(content).hexdigest(),
        "bytes": len(content),
    }
    write(game_id, card | {"levels": dict(zip(champions.LEVELS, LEVELS[game_id], strict=True))})
    return game_id


def write(game_id: str, card: dict) -> None:
    (FOLDER / f"{game_id}.json").write_text(json.dumps(card, indent=1) + "\n")


def timed(game: jaxgames.Game, level: str) -> dict:
    """Seconds to the first move, with compilation, and milliseconds of the moves of a game after it."""
    starts = [jax.vmap(game.init)(jax.random.split(jax.random.key(number), 1)) for number in range(11)]
    began, moves = time.perf_counter(), []
    player = make_player(f"champion:{level}", game)
    act, memory = jax.jit(Player.act), player.init_memory(1)
    for number, states in enumerate(starts):
        began = time.perf_counter() if number else began
        jax.block_until_ready(act(player, states, jax.random.key(number), memory))
        moves.append(time.perf_counter() - began)
    return {"first_seconds": round(moves[0], 2), "milliseconds": round(1000 * sorted(moves[1:])[5], 1)}


def played(game: jaxgames.Game, level: str, opponent: str, games: int) -> dict:
    """The result of a match."""
    result = match(make_player(f"champion:{level}", game), make_player(opponent, game), games, seed=SEED)
    points = {name: round(getattr(result, name), 4) for name in ("ppg", "ppg_low", "ppg_high", "win_rate", "draw_rate")}
    print(level, opponent, games, points, round(result.seconds), "s", flush=True)
    return {"level": level, "opponent": opponent, "games": result.games, "seed": SEED, **points}


def scored(game: jaxgames.Game, level: str) -> dict:
    """The shares of perfect and good moves on solved positions."""
    result = solved.score(make_player(f"champion:{level}", game), solved.read(ROOT / SOLVED, None), SOLVED, SEED)
    print(level, result.perfect, result.good, round(result.seconds), "s", flush=True)
    return {"level": level, "file": SOLVED, "seed": SEED, "perfect": result.perfect, "good": result.good}


if __name__ == "__main__":
    main()
