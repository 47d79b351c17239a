"""Lets Kaggle's own referee play a submission: `make test-kaggle`.

Runs in a virtual environment with kaggle-environments; needs nothing of jaxgames but the submission. Prints a JSON
object and ends with status 1 unless all games went as they should: no time-out, no error, every game against `random`
won, at least 95 % of those against `negamax`.
"""

import argparse
import json
import multiprocessing
import platform
import sys
import time
from importlib.metadata import version

OPPONENTS = {"random": 1.0, "negamax": 0.95}
"""The referee's own players, and what share of the games has to be won."""


def play(job: tuple[str, str, int]) -> dict:
    """One game; the submission begins those of even numbers."""
    from kaggle_environments import make

    submission, opponent, number = job
    seat = number % 2
    environment = make("connectx", debug=False, configuration={"randomSeed": number})
    environment.run([submission, opponent] if seat == 0 else [opponent, submission])
    last = environment.steps[-1]
    logs = [step[seat] for step in environment.logs if len(step) > seat and step[seat]]
    return {
        "opponent": opponent,
        "seat": seat,
        "status": last[seat].status,
        "reward": last[seat].reward,
        "opponent_status": last[1 - seat].status,
        "plies": len(environment.steps) - 1,
        "seconds": max((log.get("duration", 0.0) for log in logs), default=0.0),
        "said": [log["stderr"] for log in logs if log.get("stderr")],
    }


def main() -> int:
    """Plays all games and judges them."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("submission")
    parser.add_argument("--games", type=int, default=200, help="against each opponent")
    parser.add_argument(
        "--processes", type=int, default=1, help="games at once"
    )
    parser.add_argument("--out", help="a file for the result")
    options = parser.parse_args()
    jobs = [(options.submission, opponent, n) for opponent in OPPONENTS for n in range(options.games)]
    began, games = time.time(), []
    with multiprocessing.get_context("spawn").Pool(options.processes) as pool:
        for game in pool.imap_unordered(play, jobs):
            games.append(game)
            print(f"{len(games)} of {len(jobs)}: {game}", file=sys.stderr, flush=True)
    result = {
        "referee": f"kaggle-environments {version('kaggle-environments')}",
        "python": platform.python_version(),
        "numpy": version("numpy"),
        "games": options.games,
        "at_once": options.processes,
        "minutes": round((time.time() - began) / 60, 1),
    }
    good = True
    for opponent, least in OPPONENTS.items():
        met = [game for game in games if game["opponent"] == opponent]
        won = sum(game["reward"] == 1 for game in met)
        faults = [game for game in met if game["status"] != "DONE" or game["said"]]
        result[opponent] = {
            "won": won,
            "drawn": sum(game["reward"] == 0 for game in met),
            "lost": sum(game["reward"] == -1 for game in met),
            "won_as_first": sum(game["reward"] == 1 for game in met if game["seat"] == 0),
            "faults": len(faults),
            "mean_plies": round(sum(game["plies"] for game in met) / len(met), 1),
            "slowest_move_seconds": round(max(game["seconds"] for game in met), 3),
        }
        good &= won >= least * len(met) and not faults
    result["passed"] = good
    text = json.dumps(result, indent=1)
    print(text)
    if options.out:
        with open(options.out, "w", encoding="utf-8") as file:
            file.write(text + "\n")
    return not good


if __name__ == "__main__":
    sys.exit(main())
