"""Evolution where each candidate plays two games: candidates per second, beside one network that plays all of them.

* Whole generations in Connect Four, each candidate against random moves once from each side: `OpenES`, which gives each
  candidate matrices of its own, and `LowRankES`, which gives them noise of rank 1 on shared ones; in networks of some
  hundred and of 78,599 weights, and a million candidates.
* Beside them one network that plays as many games without any evolution: the greatest possible speed.
* evosax's `Open_ES`, whose candidates play as many games of pgx against two fixed networks, beside both of ours:
  `OpenES` is the same algorithm, `LowRankES` another one.
* The memory of a generation of a million candidates of the large network, as the compiled program says it.
"""

import argparse
import sys
from collections.abc import Callable
from typing import Any

import jax
import jax.numpy as jnp
from _common import begin, compiled, finish, one_line_errors, parsed, parser, peer, rate
from _evolution import OURS, PEER, Generations, evosax, genomes, policy
from _figures import Comparison, Figure, Report
from _games_timing import in_turn
from _machine import cores
from jax.sharding import PartitionSpec

from jaxgames.algos.evolution import ByPlay, LowRankES, Networks, OpenES, RandomMoves, generation, play, population_mesh

TITLE = "Evolution with two games a candidate: candidates per second"
SMALL, LARGE = (16,), (256, 256)
MILLION = 2**20
LOW_RANK, PLAIN, ALONE = "low rank", "plain noise", "one network, no evolution"
BESIDE = {PLAIN: "plain noise in both", LOW_RANK: "noise of rank 1 beside the peer's plain noise"}
"""What stands beside the peer, and how its row is named."""
ROWS = ((SMALL, 4096), (LARGE, 512), (LARGE, 4096))
"""Hidden layers, candidates."""
WITH_PEER = ROWS[:2]
BARS = {(SMALL, 4096, PLAIN): 8 * 20_900, (LARGE, 4096, LOW_RANK): 20 * 489}
"""Asked for: 8 and 20 times what stood here when few games were padded to eight and each candidate had its matrices."""
BLOCKS = (64, 256, None)
"""Candidates that the peer's play is tried with at a time on a CPU; None: all, as on other devices."""
ALONE_BLOCKS = (64, 512)
"""Candidates whose games one network is tried with at a time, besides all."""
SHARE, SECONDS, GIB, TIMES = 80, 10, 1, 10


def main() -> int:
    """All sizes."""
    options = parser(TITLE)
    options.add_argument("--against", choices=("evosax", "none"), default="evosax", help="evosax or none")
    options = parsed(options)
    begin(cores())
    report = Report("few_games", TITLE)
    against = options.against == "evosax" and bool(peer("evosax")) and bool(peer("pgx"))
    for hidden, population in ((SMALL, 16),) if options.quick else ROWS:
        one_size(report, hidden, population, against and (hidden, population) in WITH_PEER, options)
    million(report, options)
    return finish(report, options, ("evosax", "pgx"))


def one_size(
    report: Report, hidden: tuple[int, ...], population: int, against: bool, options: argparse.Namespace
) -> None:
    """Generations by each strategy, and play alone; then games with two fixed networks, beside the peer."""
    what = f"42-{'-'.join(map(str, hidden))}-7, {population:,} x 2"
    by_random = [ours(kind, hidden, population) for kind in (PLAIN, LOW_RANK)]
    figures = measured(report, what, [alone(hidden, population), *by_random], hidden, population, options)
    best = figures[f"{OURS}, {LOW_RANK}"]
    report.comparisons.append(Comparison(what, best))
    share = 100 * best.value / figures[f"{OURS}, {ALONE}"].value
    bar = SHARE if hidden == LARGE and not options.quick else None
    named = f"{what}: of what one network alone plays"
    figure = report.add(Figure(named, best.by, "%", (share,), form=".0f", at_least=bar))
    report.comparisons.append(Comparison(named, figure))
    if against:
        what = f"{what}, against two networks"
        met = genomes("connect_four", 2, 1, hidden)
        tried = BLOCKS if jax.default_backend() == "cpu" else (None,)
        blocks = {block: evosax("connect_four", population, met, hidden, block) for block in tried}
        theirs = min(blocks.values(), key=lambda each: each.first.wall)  # the fastest of short runs
        speeds = ", ".join(f"{block}: {population / each.first.wall:,.0f}" for block, each in blocks.items())
        report.notes.append(f"{what}: {PEER}, candidates/s by candidates at a time in short runs: {speeds}")
        theirs.amount = population
        both = [ours(kind, hidden, population, met) for kind in (PLAIN, LOW_RANK)]
        figures = measured(report, what, [theirs, *both], (), 0, options)
        for kind, noise in BESIDE.items():
            report.comparisons.append(Comparison(f"{what}, {noise}", figures[f"{OURS}, {kind}"], figures[PEER]))


def measured(
    report: Report,
    what: str,
    runners: list[Generations],
    hidden: tuple[int, ...],
    population: int,
    options: argparse.Namespace,
) -> dict[str, Figure]:
    """Candidates per second of each, their repeats in turn."""
    figures: dict[str, Figure] = {}
    for runner, (timings, _) in zip(runners, in_turn(runners, options.repeats), strict=True):
        asked = None if options.quick else BARS.get((hidden, population, runner.by.removeprefix(f"{OURS}, ")))
        if PEER in figures and runner.by.endswith(LOW_RANK) and not options.quick:
            asked = TIMES * figures[PEER].value
        more: dict[str, Any] = {"compile_seconds": runner.compile_seconds, "at_least": asked}
        figures[runner.by] = report.add(rate(what, runner.by, "candidates/s", timings, **more))
    return figures


def algorithm(kind: str, hidden: tuple[int, ...], population: int) -> Any:
    """A strategy."""
    networks, mesh = policy("connect_four", hidden).genomes, population_mesh()
    if kind == LOW_RANK:
        return LowRankES(population, networks, mesh=mesh)
    return OpenES(population, networks.dimension, mesh=mesh)


def ours(kind: str, hidden: tuple[int, ...], population: int, met: jax.Array | None = None) -> Generations:
    """Generations of ours, each core of a CPU a device, as `jaxgames train` has it.

    Each candidate meets random moves from both sides, or each of two networks once.
    """
    strategy, how = algorithm(kind, hidden, population), policy("connect_four", hidden)
    first = how.genomes.init(jax.random.key(0), jnp.zeros(1, jnp.int32))[0]

    def run(state, met, key):
        opponents = Networks(how, met) if len(met) else RandomMoves(1)
        fitness = ByPlay(how, opponents, "points", "alternate" if len(met) else "both")
        return generation(strategy, fitness, state, key, mesh=strategy.mesh)[0]

    met = jnp.zeros((0, how.dimension), jnp.float32) if met is None else met
    return Generations(f"{OURS}, {kind}", run, strategy.start(jax.random.key(0), first), met, population)


def alone(hidden: tuple[int, ...], population: int) -> Generations:
    """As many games of one network, in the fastest way: a device for each core of a CPU, games at once or in blocks."""
    tried = [_alone(hidden, population, block) for block in (population, *ALONE_BLOCKS) if block <= population]
    return min(tried, key=lambda each: each.first.wall)


def _alone(hidden: tuple[int, ...], population: int, block: int) -> Generations:
    how, mesh = policy("connect_four", hidden), population_mesh()
    genome = how.genomes.init(jax.random.key(0), jnp.zeros(1, jnp.int32))
    blocks = -(-population // (block * mesh.size))
    size = -(-population // (blocks * mesh.size))

    def run(state, met, key):
        def play_block(number):
            points = play(
                how, genome, RandomMoves(size), jax.random.fold_in(key, number), jnp.zeros(1, jnp.int32)
            ).points
            return jnp.sum(points)

        def on_each():
            first = jax.lax.axis_index(mesh.axis_names[0]) * blocks
            found = jax.lax.map(play_block, first + jnp.arange(blocks, dtype=jnp.int32))
            return jax.lax.psum(jnp.sum(found), mesh.axis_names[0])

        return state + jax.shard_map(on_each, mesh=mesh, in_specs=(), out_specs=PartitionSpec(), check_vma=False)()

    return Generations(f"{OURS}, {ALONE}", run, jnp.float32(0), jnp.zeros(0), population)


def million(report: Report, options: argparse.Namespace) -> None:
    """A generation of a million candidates of the small network, and the memory of one of the large network."""
    population = 256 if options.quick else MILLION
    what, runner = f"42-16-7, {population:,} x 2: a generation", ours(LOW_RANK, SMALL, population)
    bar = None if options.quick else SECONDS
    report.add(Figure(what, runner.by, "seconds", (runner.first.wall,), (runner.first,), at_most=bar))
    strategy = algorithm(LOW_RANK, LARGE, population)
    state = jax.jit(strategy.init)(jax.random.key(0))
    program, _ = compiled(_generation(strategy), state, jax.random.key(0))
    memory = program.memory_analysis()
    taken = memory.temp_size_in_bytes + memory.argument_size_in_bytes + memory.output_size_in_bytes
    what = f"42-256-256-7, {population:,} x 2: memory"
    report.add(Figure(what, f"{OURS}, {LOW_RANK}", "GiB", (taken / 2**30,), at_most=GIB))


def _generation(strategy: Any) -> Callable[[Any, jax.Array], Any]:
    fitness = ByPlay(policy("connect_four", LARGE), RandomMoves(1))
    return lambda state, key: generation(strategy, fitness, state, key, mesh=strategy.mesh)


if __name__ == "__main__":
    with one_line_errors():
        sys.exit(main())
