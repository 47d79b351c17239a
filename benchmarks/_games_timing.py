"""Times the loops of `games.py`: compiled, warmed up until the games are in all their phases, then turn by turn."""

import dataclasses
import math
import re
import time
import warnings
from collections.abc import Callable, Sequence
from typing import Any, Protocol

import jax
import jax.numpy as jnp
from _common import compiled
from _figures import Figure, Report, Timing
from _games import Loop, new_games
from jax import lax

Rates = tuple[Figure, Figure | None]
"""Steps per second, and games per second where games were counted."""

SMALL = 256
"""The games that are mixed and then copied, where all of a batch would take minutes."""


class Runner(Protocol):
    """Something that plays, of a name and a library: each run plays for a while."""

    mode: str
    by: str
    unit: str
    compile_seconds: float | None

    def run(self) -> tuple[int, int | None]:
        """Plays on; how many steps it made and how many games ended (None if nobody counts)."""
        ...


class Compiled:
    """A loop as a compiled program that takes the number of its blocks, its games mixed."""

    def __init__(self, loop: Callable[[int], Loop], batch: int, mixed: int, seconds: float, seed: int, copies: bool):
        self.key, self.calls, self.blocks = jax.random.key(seed), 0, 1
        self.batch = min(batch, SMALL) if copies else batch
        self.loop = loop(self.batch)
        self.mode, self.by, self.unit = self.loop.mode, self.loop.by, self.loop.unit
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            self._begin(new_games(self.loop.fresh, self.key, self.batch))
            self._advance(-(-mixed // self.loop.steps))
            if self.batch < batch:
                copied = jnp.arange(batch) % self.batch
                self.batch, self.loop = batch, loop(batch)
                self._begin(jax.tree.map(lambda x: x[copied], self.carry[0]))
        self._calibrate(seconds)

    def run(self) -> tuple[int, int | None]:
        """Plays on for about as many seconds as was asked for."""
        ended = self._advance(self.blocks)
        return self.blocks * self.loop.steps * self.batch, ended

    def _begin(self, states: Any) -> None:
        self.carry = states, self.loop.more(states)
        self.program, self.compile_seconds = compiled(self._play, *self._arguments(1))
        self.text = self.program.as_text() or ""

    def _arguments(self, blocks: int) -> tuple[Any, jax.Array, jax.Array]:
        return self.carry, jax.random.fold_in(self.key, self.calls), jnp.int32(blocks)

    def _advance(self, blocks: int) -> int | None:
        self.calls += 1
        self.carry, ended = jax.block_until_ready(self.program(*self._arguments(blocks)))
        return None if ended is None else int(ended)

    def _play(self, carry: Any, key: jax.Array, blocks: jax.Array) -> tuple[Any, jax.Array | None]:
        def block(number, both):
            carry, total = both
            carry, ended = self.loop.block(carry, jax.random.fold_in(key, number))
            return carry, None if ended is None else total + ended

        _, ended = jax.eval_shape(self.loop.block, carry, key)
        return lax.fori_loop(0, blocks, block, (carry, None if ended is None else jnp.int32(0)))

    def _calibrate(self, seconds: float) -> None:
        """How many blocks take about so many seconds."""
        while True:
            start = time.perf_counter()
            self._advance(self.blocks)
            wall = time.perf_counter() - start
            if wall > seconds / 8 or wall * 8 > 1:
                self.blocks = max(1, round(self.blocks * seconds / wall))
                return
            self.blocks *= 4


def in_turn(runners: Sequence[Runner], repeats: int) -> list[tuple[list[Timing], int | None]]:
    """Timings of all runners, one after the other in each repeat, and the games that ended in all their repeats.

    So other work on the machine slows all of them alike.
    """
    timings: list[list[Timing]] = [[] for _ in runners]
    games: list[int | None] = [0 for _ in runners]
    for _ in range(repeats):
        for number, runner in enumerate(runners):
            wall, cpu = time.perf_counter(), time.process_time()
            steps, ended = runner.run()
            wall, cpu = time.perf_counter() - wall, time.process_time() - cpu
            timings[number].append(Timing(steps, wall, cpu))
            so_far = games[number]
            games[number] = None if ended is None or so_far is None else so_far + ended
    return list(zip(timings, games, strict=True))


def lengths(
    runners: Sequence[Runner], found: Sequence[tuple[list[Timing], int | None]]
) -> dict[tuple[str, str], float]:
    """How long a game is, by library and unit, over all runners that counted games: all of them play at random.

    Chance decides how many games end in one repeat, so one repeat alone cannot say how many end in a second.
    """
    totals: dict[tuple[str, str], tuple[float, int]] = {}
    for runner, (timings, games) in zip(runners, found, strict=True):
        if games is not None:
            steps, ended = totals.get((runner.by, runner.unit), (0.0, 0))
            totals[runner.by, runner.unit] = steps + sum(timing.amount for timing in timings), ended + games
    return {which: steps / ended for which, (steps, ended) in totals.items() if ended}


def figures(
    report: Report,
    what: str,
    runner: Runner,
    timings: list[Timing],
    length: dict[tuple[str, str], float],
    beside: Rates | None = None,
    times: float | None = None,
) -> Rates:
    """Steps per second and games per second, one of which must be so many `times` the peer's, `beside`."""
    rates = tuple(timing.amount / timing.wall for timing in timings)
    turns = runner.unit == "turns"
    peer = beside[turns] if beside else None
    asked = times * peer.value if times and peer else None
    steps = Figure(what, runner.by, f"{runner.unit}/s", rates, tuple(timings), runner.compile_seconds)
    steps = report.add(steps if turns else dataclasses.replace(steps, at_least=asked))
    each = length.get((runner.by, runner.unit))
    if each is None:
        return steps, None
    note = f"{each:.1f} {runner.unit} a game"
    games = Figure(what, runner.by, "games/s", tuple(rate / each for rate in rates), note=note)
    return steps, report.add(dataclasses.replace(games, at_least=asked) if turns else games)


def written_in_loop(program: str, kept: Sequence[jax.ShapeDtypeStruct]) -> bool:
    """Whether the text of a compiled program makes arrays like these, `[steps, batch, ...]`, in the body of a loop.

    An array counts as made if an operand is no constant: filling it does not count.
    """
    blocks = {block.split(" ", 1)[0].lstrip("%"): block for block in re.split(r"\n(?=%?[\w.\-]+ \()", program)}
    bodies = "".join(blocks.get(name, "") for name in set(re.findall(r"body=%?([\w.\-]+)", program)))
    computed = re.findall(r" = ([^=]*?)\b(?:fusion|call|dynamic-update-slice|custom-call)\(([^)]*)", bodies)
    made = {
        (kind, int(lengths[0]), math.prod(map(int, lengths)))
        for result, operands in computed
        if any("constant" not in operand for operand in re.findall(r"%[\w.\-]+", operands))
        for kind, dims in re.findall(r"(\w+)\[([\d,]+)\]", result)
        for lengths in [dims.split(",")]
    }
    kinds = {"bool": "pred", "float32": "f32", "int32": "s32", "uint8": "u8"}
    return all((kinds[str(array.dtype)], array.shape[0], math.prod(array.shape)) in made for array in kept)
