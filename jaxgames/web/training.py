"""The page of the trainings: a run's measurements so far, and its newest checkpoint as a player."""

import math
import os
import re
import time
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import Any

from jaxgames.envs.registry import GAMES
from jaxgames.players.from_folder import game_of
from jaxgames.runs import Run
from jaxgames.runs.files import plain
from jaxgames.web.boards import VIEWS
from jaxgames.web.offered_players import NEWEST

MOST_POINTS = 2000
FRESH_SECONDS = 90.0
"""A training that has written something so lately is under way."""
X_AXES = ("games", "generation", "step")
CLOCKS = (*X_AXES, "progress")
KEPT_SECONDS = 1.0


class Trainings:
    """The runs of a server; results are cached for a second, however many pages ask.

    Args:
        runs: their folders by name; more may come.
        running: whether a folder is being written, None where that is not known.
    """

    def __init__(self, runs: dict[str, Path], running: Callable[[Path], bool | None] = lambda path: None):
        self._runs, self._running = runs, running
        self._read: dict[str, tuple[float, dict[str, Any]]] = {}

    def describe(self, name: str, metrics: bool = True) -> dict[str, Any] | None:
        """A run as the page reads it; None for an unknown name. What cannot be read is an `error` in it."""
        if name not in self._runs:
            return None
        at, description = self._read.get(name, (-math.inf, {}))
        if time.monotonic() - at > KEPT_SECONDS:
            description = _describe(name, self._runs[name])
            running = self._running(self._runs[name])
            if running is not None:
                ended = description["error"] or (description["progress"] or 0.0) >= 1
                description |= {"under_way": running, "goes_on": not running and not ended}
            self._read[name] = (time.monotonic(), description)
        return description if metrics else {key: value for key, value in description.items() if key != "metrics"}


def _describe(name: str, path: Path) -> dict[str, Any]:
    error = None
    try:
        run = Run.open(path)
        config, lines, steps, best = run.config, run.metrics(), run.steps(), run.best_info()
        game, updated = game_of(path), _seconds_since(path)
    except (ValueError, OSError) as wrong:  # it is shown as one that has nothing yet
        error = " ".join(str(wrong).replace(str(path), name).split())
        config, lines, steps, best, game, updated = {}, [], [], None, None, None
    measures = sorted({key for line in lines for key, value in line.items() if _is_number(value)} - set(CLOCKS))
    last = _numbers(lines[-1]) if lines else None
    # A run of tournaments or of other kinds may have no player that sits on a seat.
    plays = game in GAMES
    return {
        "name": name,
        "game": game,
        "title": VIEWS[game].title if game is not None and game in VIEWS else game,
        "recipe": config.get("recipe") if isinstance(config.get("recipe"), str) else None,
        "under_way": updated is not None and updated < FRESH_SECONDS,
        "goes_on": False,
        "progress": last.get("progress") if last else None,
        "error": error,
        "x": next((axis for axis in X_AXES if any(axis in line for line in lines)), "step"),
        "last": last,
        "best": plain(best, "best"),
        "checkpoints": steps,
        "updated": updated,
        "player": name if plays and (best is not None or steps) else None,
        "newest": f"{NEWEST}:{name}" if plays and steps else None,
        "measures": ordered(measures),
        "titles": {name: title(name) for name in dict.fromkeys(name for line in (*lines, best or {}) for name in line)},
        "metrics": _thinned([_numbers(line) for line in lines]),
    }


def _thinned(lines: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """At most `MOST_POINTS` of the lines, evenly taken, with the last one."""
    if len(lines) <= MOST_POINTS:
        return lines
    return [lines[round(place * (len(lines) - 1) / (MOST_POINTS - 1))] for place in range(MOST_POINTS)]


def _numbers(line: dict[str, Any]) -> dict[str, Any]:
    return {key: value for key, value in line.items() if _is_number(value) or value is None}


def _is_number(value: Any) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool) and math.isfinite(value)


def _seconds_since(path: Path) -> float | None:
    """How long ago the run wrote something."""
    times = [entry.stat().st_mtime for entry in os.scandir(path)]
    return round(max(0.0, time.time() - max(times)), 1) if times else None


# The measures of a training in words, and which of them matter first.

ENDS = ("_low", "_high")
"""The suffixes of a measure's name for the two ends of its interval."""
FIRST = ("ppg_", "score_", "choosing_", "fitness", "lines_lost", "points", "validation_loss", "loss")
"""Measures by importance, the first most: names, or their beginnings."""
_WORDS = (
    (r"ppg_(.+)", r"points a game against \1"),
    (r"score_(.+)", r"score against \1, %"),
    (r"win_(.+)", r"won against \1, %"),
    (r"draw_(.+)", r"drawn against \1, %"),
    (r"loss_(.+)", r"lost against \1, %"),
    (r"choosing_(.+)", r"\1 moves, positions to choose by, %"),
    (r"reporting_(.+)", r"\1 moves, positions to report by, %"),
    (r"validation_(.+)", r"\1 in validation"),
    (r"(.+)_per_(.+)", r"\1 a \2"),
    (r"lines_lost", "lines of play lost"),
    (r"ppg", "points a game"),
    (r"fitness_mean", "mean fitness"),
    (r"fitness", "best fitness"),
)


def title(name: str) -> str:
    """The name of a measure in words."""
    for pattern, words in _WORDS:
        if match := re.fullmatch(pattern, name):
            name = match.expand(words)
            break
    return name.replace("_", " ")


def ordered(names: Iterable[str]) -> list[str]:
    """The measures among the names, the important ones first, without ends of intervals."""
    known = set(names)
    measures = [name for name in known if not any(name.endswith(end) and name[: -len(end)] in known for end in ENDS)]
    return sorted(measures, key=lambda name: (_rank(name), name))


def _rank(name: str) -> int:
    fits = (name.startswith(first) if first.endswith("_") else name == first for first in FIRST)
    return next((place for place, one in enumerate(fits) if one), len(FIRST))
