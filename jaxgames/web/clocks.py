"""Clocks: how much time a game gives both sides, and how much of it is left."""

import asyncio
import math
import time
from collections.abc import Callable, Mapping
from typing import Any, NamedTuple

TIME_UP = "time forfeit"
"""How a record says that a game was lost on time, in PGN's word."""
KINDS = ("none", "sudden death", "increment", "delay")
FREE_TURNS = 2
"""Free turns at the beginning of a game: the first turn of each side takes no time, so that both have arrived."""


class TimeControl(NamedTuple):
    """`seconds` for all turns of a side; `bonus` seconds more after each (increment), or free in each (delay)."""

    kind: str
    seconds: float
    bonus: float = 0.0

    def __str__(self) -> str:
        """As PGN writes it, `300`, `300+3`; `300d3` for a delay."""
        sign = {"increment": "+", "delay": "d"}.get(self.kind)
        return f"{self.seconds:g}" + (f"{sign}{self.bonus:g}" if sign else "")


def control_of(asked: Mapping[str, Any] | None) -> TimeControl | None:
    """What a page asks for; None for no clock. Raises `ValueError` for numbers that do not fit the kind."""
    if asked is None or asked["kind"] == "none":
        return None
    if asked["seconds"] is None:
        raise ValueError(f"clock: {asked['kind']} needs seconds, such as 300")
    if (asked["kind"] == "sudden death") != (asked["bonus"] == 0):
        right = "no bonus" if asked["bonus"] else "a bonus of at least a second a turn"
        raise ValueError(f"clock: {asked['kind']} has {right}")
    return TimeControl(asked["kind"], asked["seconds"], asked["bonus"])


class Clock:
    """How long both seats have thought in a game, and their remaining time; it runs for one seat at a time.

    Args:
        control: the time that there is; None: without bound.
        now: the seconds of a monotonic clock.

    Attributes:
        spent: seconds of thought by seat, up to the last change; `left`: those that are left.
        free: seconds of the present turn that are still not counted.
        seat: for whom it runs, None for nobody; `counts`: whether what is left runs down.
    """

    def __init__(self, control: TimeControl | None = None, now: Callable[[], float] = time.monotonic):
        self.control = control
        self.spent = [0.0, 0.0]
        self.left = [math.inf if control is None else control.seconds] * 2
        self.seat: int | None = None
        self.counts = False
        self._now, self._since = now, now()
        self._timer: asyncio.TimerHandle | None = None
        self.free = self._delay

    @property
    def _delay(self) -> float:
        return self.control.bonus if self.control is not None and self.control.kind == "delay" else 0.0

    def run(self, seat: int | None, counts: bool = True) -> None:
        """Runs on for a seat, and nobody waits for its flag any more."""
        self._book()
        self.seat, self.counts = seat, counts and self.control is not None
        if self._timer is not None:
            self._timer.cancel()
            self._timer = None

    def watch(self, falls: Callable[[], None]) -> None:
        """Makes the event loop call `falls` when the flag falls, unless `run` is called before."""
        if (seconds := self.until_flag()) < math.inf:
            self._timer = asyncio.get_running_loop().call_later(max(seconds, 0.0), falls)

    def _book(self) -> None:
        now = self._now()
        if self.seat is not None:
            elapsed = now - self._since
            self.spent[self.seat] += elapsed
            if self.counts:
                self.left[self.seat] -= max(0.0, elapsed - self.free)
                self.free = max(0.0, self.free - elapsed)
        self._since = now

    def end_turn(self, seat: int, earns: bool) -> None:
        """Books a finished turn: its bonus, and that of the next one. Then the clock stands still."""
        self.run(None)
        if earns and self.control is not None and self.control.kind == "increment":
            self.left[seat] += self.control.bonus
        self.free = self._delay

    def exchange(self) -> None:
        """Both sides change seats, with their times."""
        self.run(None)
        self.spent.reverse()
        self.left.reverse()

    def until_flag(self) -> float:
        """Seconds until the flag falls of the seat it runs for; infinite where none can fall."""
        if self.seat is None or not self.counts:
            return math.inf
        return self.left[self.seat] + self.free - (self._now() - self._since)

    def seconds(self) -> list[float]:
        """How long both have thought, including the present turn."""
        now = self._now() - self._since
        return [spent + now * (self.seat == seat) for seat, spent in enumerate(self.spent)]

    def shown(self) -> dict[str, Any] | None:
        """What the page gets: the remaining times at this moment, and for whom the clock runs; None without a limit."""
        if self.control is None:
            return None
        self._book()
        running = self.seat if self.counts else None
        left = [round(max(0.0, seconds), 2) for seconds in self.left]
        return {**self.control._asdict(), "left": left, "free": round(self.free, 2), "running": running}
