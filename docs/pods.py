"""A model of the time of updates on pods of TPUs: the tables of `cluster.md`, of programs that were compiled for them.

Bytes and collectives are those of the compiled programs (`benchmarks/accelerators.py`). Work is counted here, from the
sizes of networks and the number of their evaluations, as XLA's own estimate counts a loop once. All divided by rates
that the maker publishes is a time that small kernels in long loops do not come near: what a loop, a kernel and a
collective cost to begin is in no data sheet, and not in here. What stays on the chip is counted as if it went through
memory.
"""

import json
import math
import re
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any, NamedTuple

from markdown_table import markdown

RESULTS = Path(__file__).parent.parent / "benchmarks" / "results"
DEVICE, CHIPS, FIXED = "v5e", (1, 4, 16, 64, 256), 16
"""The chip, how many, and the number whose work is also divided among fewer and more."""


class Rates(NamedTuple):
    """What a chip does in a second."""

    flops: float
    memory: float
    links: float
    """Bytes that it sends to all neighbours together, while it gets as many."""


RATES = Rates(flops=197e12, memory=819e9, links=1600e9 / 8)
"""Of a TPU v5e, peak: bfloat16, HBM, interconnect ("1600 Gbps", now "bidirectional, 400 GBps").

Google Cloud, "TPU v5e", https://cloud.google.com/tpu/docs/v5e
"""
FLOAT = 4


class Work(NamedTuple):
    """What a chip does in an update: its share, and in `alike` bytes for what all chips do of the whole."""

    flops: float = 0
    bytes: float = 0
    alike: float = 0

    def __add__(self, other: "Work") -> "Work":  # type: ignore[override]
        return Work(*(a + b for a, b in zip(self, other, strict=True)))


class Said(NamedTuple):
    """Collectives of an update: how many, and the bytes of their results."""

    times: int
    bytes: float


def evaluations(sizes: tuple[int, ...], batch: float, times: float = 1, passes: int = 1) -> Work:
    """Evaluations of a perceptron, `times` batches one after the other: two FLOPs for a weight.

    Each number of each layer is written and read once in a pass, the weights are read once for a batch. Learning is
    three passes: forward, and backward to the layers and to the weights.
    """
    weights = sum(a * b for a, b in zip(sizes, sizes[1:], strict=False))
    numbers = 2 * batch * sum(sizes) + weights + sum(sizes[1:])
    return Work(2 * passes * times * batch * weights, FLOAT * passes * times * numbers)


GAMES, PLIES, CONNECT_FOUR = 32, 42, (42, 16, 7)
"""Games of a candidate, the plies until the longest game is over, and its network."""
POSITION, BACKGAMMON, NODE = 16, 36, 144
"""Bytes of a position of Connect Four, of backgammon, and of a node of Gumbel's search in Connect Four."""
PLAYS = 15
"""Plays of a position of backgammon that a learned network chooses from (`benchmarks/td_speed.py`, 15.0)."""


def sorting(number: float) -> float:
    """Bytes by which all scores are sorted: each stage reads and writes all words."""
    bits = max(1, math.ceil(math.log2(number)))
    return bits * (bits + 1) / 2 * 2 * FLOAT * number


def evolution(share: float, chips: int, low_rank: bool = False) -> Work:
    """A generation: half of the evaluations are the candidate's, with weights of its own; all chips sort all scores."""
    layers = list(zip(CONNECT_FOUR, CONNECT_FOUR[1:], strict=False))
    own = sum(a * b + b for a, b in layers)
    if low_rank:  # factors for each matrix, and what they take besides the product that all candidates share
        own = sum(a + b + b for a, b in layers)
    games = share * GAMES
    extra = 2 * sum(2 * (a + b) for a, b in layers) * games / 2 if low_rank else 0
    played = evaluations(CONNECT_FOUR, games, PLIES)
    per_ply = 2 * POSITION * games + FLOAT * own * share
    return played + Work(PLIES * extra, PLIES * per_ply, sorting(share * chips))


def td(share: float, chips: int) -> Work:
    """16 plies of backgammon, all plays valued, then a step on what was seen."""
    layers, plies = (198, 40, 4), 16
    plays = PLAYS * share
    seen = evaluations(layers, share * (plies + 1), passes=3)
    return evaluations(layers, plays, plies) + seen + Work(0, 2 * BACKGAMMON * plays * plies)


def alphazero(share: float, chips: int) -> Work:
    """8 plies by a search of 32 simulations, 8 steps on two positions a game. A simulation makes a node."""
    layers, plies, simulations, steps = (84, 256, 256, 8), 8, 32, 8
    played = evaluations(layers, share, plies * (simulations + 1))
    tree = Work(0, 2 * (POSITION + NODE) * share * plies * simulations)
    return played + tree + evaluations(layers, 2 * share, steps, passes=3)


class Program(NamedTuple):
    """What is modelled: how the rows of a chip begin, with the number of chips in their sizes."""

    title: str
    rows: Callable[[int], str]
    share: int
    work: Callable[[float, int], Work]


PROGRAMS = (
    Program(
        "`OpenES`, 4,096 candidates a chip",
        lambda n: f"Connect Four, evolution by OpenES, {4096 * n:,} x 32",
        4096,
        evolution,
    ),
    Program(
        "low rank, 4,096 candidates a chip",
        lambda n: f"Connect Four, evolution by low rank, {4096 * n:,} x 32",
        4096,
        lambda share, chips: evolution(share, chips, low_rank=True),
    ),
    Program("TD, 1,024 games a chip", lambda n: f"backgammon, TD by n steps, {1024 * n:,} x 16", 1024, td),
    Program(
        "AlphaZero, 1,024 games a chip",
        lambda n: f"Connect Four, AlphaZero, MLP 256-256, {1024 * n:,} games",
        1024,
        alphazero,
    ),
)


class Seconds(NamedTuple):
    """An update of a chip, by what it waits for. Products and memory go on at once, the rest one after the other."""

    flops: float
    memory: float
    alike: float
    links: float

    @property
    def share(self) -> float:
        """For the work that is divided."""
        return max(self.flops, self.memory)

    @property
    def all(self) -> float:
        """Of all."""
        return self.share + self.alike + self.links

    @property
    def on_chip(self) -> float:
        """Of all, if nothing passed through memory: products and links."""
        return self.flops + self.links

    @property
    def limit(self) -> str:
        """What takes the most."""
        parts = {"FLOPs": self.flops, "memory": self.memory, "the sort": self.alike, "links": self.links}
        return max(parts, key=lambda name: parts[name])


def seconds(work: Work, said: dict[str, Said], chips: int, rates: Rates = RATES) -> Seconds:
    """The time of an update. In a ring a chip sends what it has got: of an all-reduce each part twice."""
    turns = {"all-reduce": 2, "reduce-scatter": chips}
    sent = sum(turns.get(kind, 1) * one.bytes * (chips - 1) / chips for kind, one in said.items())
    return Seconds(work.flops / rates.flops, work.bytes / rates.memory, work.alike / rates.memory, sent / rates.links)


def compiled(results: Path = RESULTS) -> dict[str, dict[str, Any]]:
    """The compiled rows by name, of all result files, the newest last."""
    files = [json.loads(path.read_text("utf-8")) for path in results.glob("accelerators-*.json")]
    files = sorted(files, key=lambda result: result["date"])
    return {figure["what"]: figure for result in files for figure in result["figures"] if figure["by"] == "jaxgames"}


def said_of(found: dict[str, dict[str, Any]], name: str) -> dict[str, Said]:
    """The collectives of a program."""
    kinds = {what.removeprefix(f"{name}: "): one for what, one in found.items() if what.startswith(f"{name}: ")}
    return {
        kind: Said(int(one["note"].split()[0].replace(",", "")), 2**10 * one["value"])
        for kind, one in kinds.items()
        if one["unit"] == "KiB"
    }


def rows(program: Program, found: dict[str, dict[str, Any]]) -> Iterator[list[object]]:
    """A program on each number of chips, as far as it was compiled for them."""
    alone = seconds(program.work(program.share, 1), {}, 1)
    for chips in CHIPS:
        name = f"{DEVICE} x {chips}, {program.rows(chips)}"
        if f"{name}: arguments" not in found:
            continue
        said = said_of(found, name)
        memory = sum(found[f"{name}: {part}"]["value"] for part in ("arguments", "temporaries"))
        one = seconds(program.work(program.share, chips), said, chips)
        times, size = sum(part.times for part in said.values()), sum(part.bytes for part in said.values())
        waits = f"{1e6 * one.all / 9 / times:.0f}" if times else "-"
        heard = f"{times}, {size / 2**10:,.0f} KiB" if times else "-"
        parts = (f"{1e3 * part:.{digits}f}" for part, digits in zip(one, (3, 2, 2, 3), strict=True))
        kept = (f"{100 * a / b:.0f} %" for a, b in ((alone.all, one.all), (alone.on_chip, one.on_chip)))
        yield [chips, f"{memory:.1f} MiB", heard, *parts, one.limit, *kept, waits]


def strong(program: Program, found: dict[str, dict[str, Any]]) -> list[str]:
    """The efficiency with the work of `FIXED` chips divided among others: the links' bytes are those of `FIXED`."""
    said = said_of(found, f"{DEVICE} x {FIXED}, {program.rows(FIXED)}")
    total = program.share * FIXED
    alone = seconds(program.work(total, 1), {}, 1).all
    times = [seconds(program.work(total / n, n), said if n > 1 else {}, n).all for n in CHIPS]
    return [f"{1e3 * one:.2f} ms, {100 * alone / (n * one):.0f} %" for n, one in zip(CHIPS, times, strict=True)]


def pods_table() -> str:
    """Each program with the same work for each chip."""
    times = (f"{part}, ms" for part in ("products", "memory", "sort", "links"))
    head = "chips", "bytes of a chip", "collectives", *times, "limit", "efficiency", "on chip"
    found, table = compiled(), []
    for program in PROGRAMS:
        table += [[program.title if not number else "", *row] for number, row in enumerate(rows(program, found))]
    return markdown([("an update of", *head, "may wait, µs"), *table])


def pods_strong_table() -> str:
    """Each program with one amount of work, divided among more chips."""
    found = compiled()
    head = ("an update of", *(f"{n} chip{'s' * (n > 1)}" for n in CHIPS))
    titles = (program.title.replace(f"{program.share:,}", f"{program.share * FIXED:,}") for program in PROGRAMS)
    told = ((title.removesuffix(" a chip"), *strong(one, found)) for title, one in zip(titles, PROGRAMS, strict=True))
    return markdown([head, *told])


def processes_table(results: Path = RESULTS) -> str:
    """Processes of one machine with the same share each: what they tell one another, and how long they compute."""
    head = "an update of", "processes", "collectives", "processor of each, ms", "more for a collective, ms", "clock, ms"
    table: list[tuple] = [head]
    for path in sorted(results.glob("processes-*.json")):
        result = json.loads(path.read_text("utf-8"))
        machine = result["machine"]
        used = f"{machine['cpu']}, {machine['cores_usable']} cores; jax {result['versions']['jax']}; {result['date']}"
        table.append((f"*{used}*", *("" for _ in head[1:])))
        figures = {figure["what"]: figure for figure in result["figures"]}
        for name in (what.removesuffix(": clock") for what in figures if what.endswith(": clock")):
            program, number = name.rsplit(", ", 1)
            said, count = said_of(figures, name).values(), re.sub(" process(es)?", "", number)
            told = f"{sum(one.times for one in said)}, {sum(one.bytes for one in said) / 2**10:.1f} KiB"
            processor, clock = (figures[f"{name}: {kind}"]["value"] for kind in ("processor", "clock"))
            heard = more = "-"
            if said and count != "1":
                over = processor - figures[f"{program}, 1 process: processor"]["value"]
                heard, more = told, f"{over / sum(one.times for one in said):.1f}"
            table.append((program, count, heard, f"{processor:.1f}", more, f"{clock:.1f}"))
    return markdown(table)


TABLES: dict[str, Callable[[], str]] = {
    "pods": pods_table,
    "pods_strong": pods_strong_table,
    "pods_processes": processes_table,
}
