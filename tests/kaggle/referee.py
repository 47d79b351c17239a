"""Lets Kaggle's own referee play a submission: `make test-kaggle`.

Runs in a virtual environment with kaggle-environments; needs nothing of jaxgames but the submission. Prints a JSON
object and ends with status 1 unless all games went as they should: no time-out, no error, every game against `random`
won, at least 95 % of those against `negamax`.
"""

import argparse
import itertools
import json
import multiprocessing
import platform
import sys
import threading
import time
from importlib.metadata import version
from pathlib import Path

OPPONENTS = {"random": 1.0, "negamax": 0.95}
"""The referee's own players, and what share of the games has to be won."""
SECONDS = 2.0
"""What the referee allows for a move; beyond it, it takes from 60 seconds that a game has in reserve."""


class Stops:
    """Seconds in which this process did not run at all: stopped from outside, or the machine asleep."""

    def __init__(self) -> None:
        self.seconds, self.over = 0.0, False
        threading.Thread(target=self._watch, daemon=True).start()

    def _watch(self) -> None:
        while not self.over:
            wall, own = time.perf_counter(), time.process_time()
            time.sleep(0.1)
            passed = time.perf_counter() - wall
            if passed > 1 and time.process_time() - own < passed / 4:
                self.seconds += passed


def play(job: tuple[str, str, int]) -> dict:
    """One game; the submission begins those of even numbers."""
    from kaggle_environments import make

    submission, opponent, number = job
    seat, began, stops = number % 2, time.perf_counter(), Stops()
    environment = make("connectx", debug=False, configuration={"randomSeed": number})
    environment.run([submission, opponent] if seat == 0 else [opponent, submission])
    stops.over, last = True, environment.steps[-1]
    logs = [step[seat] for step in environment.logs if len(step) > seat and step[seat]]
    seconds = [log.get("duration", 0.0) for log in logs]
    return {
        "opponent": opponent,
        "number": number,
        "seat": seat,
        "status": last[seat].status,
        "reward": last[seat].reward,
        "opponent_status": last[1 - seat].status,
        "plies": len(environment.steps) - 1,
        "seconds": max(seconds, default=0.0),
        "too_slow": sum(taken > SECONDS for taken in seconds),
        "stopped": stops.seconds,
        "took": time.perf_counter() - began,
        "said": [log["stderr"] for log in logs if log.get("stderr")],
    }


def judge(games: list[dict], asked: int, processes: int, disturbed: int) -> dict:
    """What came out, and whether it is as it should be; `asked` games against each opponent."""
    result = {
        "referee": f"kaggle-environments {version('kaggle-environments')}",
        "python": platform.python_version(),
        "numpy": version("numpy"),
        "games": asked,
        "at_once": processes,
        "played_again_as_the_process_was_stopped": disturbed,
        "minutes": round(sum(game["took"] for game in games) / processes / 60, 1),
    }
    good = True
    for opponent, least in OPPONENTS.items():
        met = [game for game in games if game["opponent"] == opponent]
        good &= len(met) == asked
        won = sum(game["reward"] == 1 for game in met)
        faults = [game for game in met if game["status"] != "DONE" or game["said"]]
        result[opponent] = {
            "played": len(met),
            "won": won,
            "drawn": sum(game["reward"] == 0 for game in met),
            "lost": sum(game["reward"] == -1 for game in met),
            "won_as_first": sum(game["reward"] == 1 for game in met if game["seat"] == 0),
            "faults": len(faults),
            "mean_plies": round(sum(game["plies"] for game in met) / len(met), 1),
            "moves_beyond_2_seconds": sum(game["too_slow"] for game in met),
            "slowest_move_seconds": round(max(game["seconds"] for game in met), 3),
        }
        good &= won >= least * len(met) and not faults
    result["passed"] = good
    return result


def main() -> int:
    """Plays all games and judges them."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("submission")
    parser.add_argument("--games", type=int, default=200, help="against each opponent")
    parser.add_argument("--processes", type=int, default=1, help="games at once")
    parser.add_argument("--out", help="a file for the result")
    parser.add_argument("--log", type=Path, help="a file of all games, a line each; those in it are not played again")
    options = parser.parse_args()
    lines = options.log.read_text("utf-8").splitlines() if options.log and options.log.exists() else []
    games = [game for game in map(json.loads, lines) if not game["stopped"]]
    disturbed = len(lines) - len(games)
    over = {(game["opponent"], game["number"]) for game in games}
    jobs = [(options.submission, *job) for job in itertools.product(OPPONENTS, range(options.games)) if job not in over]
    total = len(games) + len(jobs)
    with multiprocessing.get_context("spawn").Pool(options.processes) as pool:
        while jobs:  # games in which the process was stopped say nothing of its moves' times: they are played again
            again = []
            for game in pool.imap_unordered(play, jobs):
                if game["stopped"]:
                    again.append((options.submission, game["opponent"], game["number"]))
                else:
                    games.append(game)
                print(f"{len(games)} of {total}: {game}", file=sys.stderr, flush=True)
                if options.log:
                    with options.log.open("a", encoding="utf-8") as file:
                        file.write(json.dumps(game) + "\n")
            jobs, disturbed = again, disturbed + len(again)
    result = judge(games, options.games, options.processes, disturbed)
    text = json.dumps(result, indent=1)
    print(text)
    if options.out:
        with open(options.out, "w", encoding="utf-8") as file:
            file.write(text + "\n")
    return not result["passed"]


if __name__ == "__main__":
    sys.exit(main())
