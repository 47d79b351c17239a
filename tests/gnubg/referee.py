"""Lets GNU Backgammon itself play against a player of ours, by `jaxgames serve-gnubg`: `make test-gnubg`.

gnubg turns what is no legal move into a pass without a word. So all games are read back from the file that it saves,
under our rules, which allow a pass only where nothing can be moved. Prints a JSON object, with the same match by the
Python package of gnubg beside it; ends with status 1 unless all games were played to their ends without such a pass.
"""

import argparse
import json
import re
import shutil
import subprocess
import sys
import time
from pathlib import Path

import numpy as np

from jaxgames import records
from jaxgames.matches.match import interval
from jaxgames.sessions.record import GameRecord

OURS, THEIRS = "jaxgames", "gnubg"
SETTINGS = """
set automatic game off
set automatic roll on
set cube use off
set jacoby off
set display off
set sound enable off
set confirm default yes
set rng mersenne
set seed {seed}
set player 0 external 127.0.0.1:{port}
set player 0 name {ours}
set player 1 gnubg
set player 1 name {theirs}
set player 1 chequer evaluation plies {plies}
set player 1 chequer evaluation cubeful off
set player 1 chequer evaluation prune off
set player 1 chequer evaluation noise 0
new session
"""


def play(program: str, spec: str, plies: int, games: int, seed: int, file: Path) -> str:
    """Some games, which gnubg saves as SGF. Returns what it and the server have said."""
    command = [sys.executable, "-m", "jaxgames", "serve-gnubg", spec, "--port", "0"]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as server:
        try:
            said = server.stdout.readline()
            settings = SETTINGS.format(
                seed=seed, port=said.rpartition(":")[2].strip(), plies=plies, ours=OURS, theirs=THEIRS
            )
            script = settings + "new game\n" * (games - 1) + f"save match {file}\n"
            done = subprocess.run([program, "-t", "-q"], input=script, text=True, capture_output=True, check=False)
        finally:
            server.terminate()
        return said + done.stdout + done.stderr


def judge(games: list[GameRecord]) -> dict:
    """What came out, for our player."""
    points, turns, passes = [], 0, 0
    for game in games:
        first = game.players[0] == OURS
        own = [turn.text for turn in game.turns[0 if first else 1 :: 2]]
        turns, passes = turns + len(own), passes + own.count("pass")
        if game.points is not None:
            points.append(game.points if first else -game.points)
    low, high = interval(np.array(points), 3)
    return {
        "finished": len(points),
        "ppg": float(np.mean(points)),
        "ppg_low": low,
        "ppg_high": high,
        "won": sum(x > 0 for x in points),
        "gammons_won": sum(x > 1 for x in points),
        "gammons_lost": sum(x < -1 for x in points),
        "turns": turns,
        "forced_passes": passes,
    }


def main() -> int:
    """Plays, judges, and plays the same match by gnubg's Python package."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("spec", nargs="?", default="champion@1")
    parser.add_argument("--games", type=int, default=1000)
    parser.add_argument("--plies", type=int, default=0, help="how far gnubg looks ahead")
    parser.add_argument("--at-once", type=int, default=100, help="games of one start of gnubg")
    parser.add_argument("--folder", type=Path, default=Path("build/gnubg"), help="where the games are kept")
    parser.add_argument("--out", type=Path, help="a file for the result")
    options = parser.parse_args()
    program = shutil.which("gnubg") or shutil.which("gnubg", path="/usr/games")
    if program is None:
        parser.error("gnubg is not installed; on Debian: apt install gnubg")
    options.folder.mkdir(parents=True, exist_ok=True)
    version = re.search(r"[0-9]\S+", subprocess.run([program, "--version"], capture_output=True, text=True).stdout)[0]
    games, unasked, begun = [], [], time.perf_counter()
    for seed in range(1, 1 + -(-options.games // options.at_once)):
        file = options.folder / f"{seed}.sgf"
        if not file.exists():  # of an earlier run
            number = min(options.at_once, options.games - (seed - 1) * options.at_once)
            said = play(program, options.spec, options.plies, number, seed, file)
            if "Error" in said or not file.exists():
                print(said, file=sys.stderr)
        try:
            games += records.loads(file.read_text("utf-8"), "sgf")
        except ValueError as error:  # such as a pass where something can be moved
            unasked.append(f"{file.name}, {error}")
        print(
            f"{len(games)} of {options.games} games, {time.perf_counter() - begun:.0f} s", file=sys.stderr, flush=True
        )
    match = ["match", options.spec, f"gnubg:{options.plies}", "--games", str(options.games), "--json"]
    done = subprocess.run([sys.executable, "-m", "jaxgames", *match], capture_output=True, text=True, check=True)
    result = {
        "program": f"GNU Backgammon {version}",
        "player": options.spec,
        "opponent": f"gnubg, {options.plies} plies, no cube, no Jacoby rule",
        "games": options.games,
        **judge(games),
        "unasked_passes": unasked,
        "python_package": json.loads(done.stdout),
    }
    text = json.dumps(result, indent=1)
    print(text)
    if options.out:
        options.out.write_text(text + "\n", "utf-8")
    return 0 if result["finished"] == options.games and not result["unasked_passes"] else 1


if __name__ == "__main__":
    sys.exit(main())
