"""Evolution: generations of networks that play opponents, beside an evosax strategy that plays pgx's games.

* A generation of OpenAI's evolution strategy with all of its games: games per second, and the time to compile it. The
  networks are the same on both sides, and so are the games; that is checked, game by game.
* Generations without play: how a genetic algorithm breeds, and the gradient of the evolution strategy, with the memory
  that it takes. The programs are in `_evolution.py`.
"""

import argparse
import re
import sys

import jax
import jax.numpy as jnp
import numpy as np
from _common import begin, compiled, finish, names, one_line_errors, parsed, parser, peer, rate, timed
from _evolution import OURS, PEER, evosax, fitness, genomes, ours, with_pgx
from _figures import Comparison, Figure, Report
from _games_timing import in_turn
from _machine import cores

from jaxgames.algos.evolution import Neuroevolution, OpenES, evaluate, generation, population_mesh
from jaxgames.algos.evolution.operators import Multiplicative, Truncation, candidate_bits, fractions
from jaxgames.ops.random_bits import fold_in

TITLE = "Evolution: games per second of whole generations"
GAMES = ("tic_tac_toe", "connect_four", "checkers")
TITLES = {"tic_tac_toe": "tic-tac-toe", "connect_four": "Connect Four", "checkers": "checkers"}
PGX = ("tic_tac_toe", "connect_four")
ROWS = ((200, 38), (4096, 64), (16384, 64))
"""Candidates x opponents."""
TIMES, COMPILE_SECONDS = 5, 5
ORIGINAL = {"tic_tac_toe": "38,400 games/s by the Java program of 2018, run again"}
LARGE, DIMENSION, KEPT = 65_536, 693, 0.2
GA_MS, GRADIENT_MS, MEMORY_BLOCKS = 150, 30, 3
AGREEING, FEW = 0.999, 64
LONG = 4.0


def main() -> int:
    """All games."""
    options = parser(TITLE)
    options.add_argument("--against", type=names(("evosax",), "none"), default=["evosax"], help="evosax or none")
    options.add_argument("--games", type=names(GAMES), default=list(GAMES), help=f"some of {','.join(GAMES)}")
    options.add_argument(
        "--sizes", type=sizes, default=list(ROWS), help="candidates x opponents, such as 200x38,4096x64"
    )
    options = parsed(options)
    begin(cores())
    report = Report("evolution", TITLE)
    against = options.against and all(peer(name) for name in ("evosax", "pgx"))
    for name in options.games:
        for population, opponents in ((16, 4),) if options.quick else options.sizes:
            with_play(report, name, population, opponents, bool(against) and name in PGX, options)
    without_play(report, options)
    return finish(report, options, ("evosax", "pgx"))


def sizes(text: str) -> list[tuple[int, int]]:
    """The type of an option: sizes such as 200x38, with commas between them."""
    if not re.fullmatch(r"[1-9]\d*x[1-9]\d*(,[1-9]\d*x[1-9]\d*)*", text):
        raise argparse.ArgumentTypeError(f"expected sizes such as 200x38,4096x64, not {text}")
    return [tuple(map(int, part.split("x"))) for part in text.split(",")]


def with_play(
    report: Report, name: str, population: int, opponents: int, against: bool, options: argparse.Namespace
) -> None:
    """Whole generations of one size, ours and the peer's in turn."""
    what = f"{TITLES[name]}, {population:,} x {opponents}"
    met = genomes(name, opponents, 1)
    runners = [evosax(name, population, met)] if against else []
    runners.append(ours(name, population, met))
    long = any(runner.first.wall > LONG for runner in runners)
    found = in_turn(runners, 2 if long and options.repeats > 2 else options.repeats)
    beside = None
    for runner, (timings, _) in zip(runners, found, strict=True):
        mine = runner.by == OURS
        asked = TIMES * beside.value if mine and beside else None
        figure = rate(what, runner.by, "games/s", timings, compile_seconds=runner.compile_seconds, at_least=asked)
        report.add(figure)
        if mine:
            report.comparisons.append(Comparison(what, figure, beside, published=ORIGINAL.get(name, "")))
            seconds = (runner.compile_seconds,)
            report.add(Figure(f"{what}: compile", OURS, "s", seconds, at_most=COMPILE_SECONDS))
        beside = figure
    if against and (population, opponents) in (options.sizes[0], (16, 4)):
        agree(report, name, met)


def agree(report: Report, name: str, met: jax.Array) -> None:
    """Checks that both libraries find the same results. If the two best outputs of a network differ only by rounding,
    it may play another game.
    """
    some, key = genomes(name, FEW, 2), jax.random.key(0)
    numbers = jnp.arange(FEW, dtype=jnp.int32)
    mine = jax.jit(lambda some, met: fitness(name, met).matrix(some, numbers, key))(some, met)
    theirs = jax.jit(with_pgx(name))(some, met, key)
    same = float(np.mean(np.asarray(mine) == np.asarray(theirs)))
    report.checks[f"{TITLES[name]}: {same:.2%} of {mine.size:,} games end as with {PEER}"] = same >= AGREEING


def without_play(report: Report, options: argparse.Namespace) -> None:
    """What the algorithms themselves cost, with scores that are drawn."""
    population = 256 if options.quick else LARGE
    mesh, key = population_mesh(), jax.random.key(options.seed)
    genetic = Neuroevolution(
        population,
        DIMENSION,
        _first,
        Truncation(round(KEPT * population)),
        Multiplicative(0.2),
    )
    strategy = OpenES(population, DIMENSION, mesh=mesh)
    weights = jax.random.normal(key, (DIMENSION,), jnp.float32)

    def score(genomes, numbers, key):
        return genomes @ weights  # reads every gene of every candidate

    def breed(state, key):
        return generation(genetic, score, state, key, mesh=mesh)[0]

    what = f"genetic algorithm without play, {population:,} x {DIMENSION}"
    once(report, what, breed, jax.jit(genetic.init)(key), key, GA_MS, options)
    scores = jax.random.normal(key, (population,), jnp.float32)
    what = f"OpenES gradient without play, {population:,} x {DIMENSION}"
    once(report, what, strategy.gradient, jax.jit(strategy.init)(key), scores, GRADIENT_MS, options)
    memory(report, strategy, score, key)


def _first(key: jax.Array, numbers: jax.Array) -> jax.Array:
    """First genomes: genes uniform in [-1, 1). Only the key and its number decide a row."""
    bits = fold_in(candidate_bits(key, numbers)[:, None], jax.lax.iota(jnp.uint32, DIMENSION)[None])
    return fractions(bits) * np.float32(2) - np.float32(1)


def once(report: Report, what: str, function, state, argument, most: float, options: argparse.Namespace) -> None:
    """Milliseconds of one generation."""
    program, seconds = compiled(function, state, argument)
    timings = timed(lambda _: program(state, argument), 1, 3 * options.repeats)
    values = tuple(1000 * timing.wall for timing in timings)
    report.add(Figure(what, OURS, "ms", values, tuple(timings), seconds, at_most=None if options.quick else most))


def memory(report: Report, strategy: OpenES, score, key: jax.Array) -> None:
    """The most memory that a generation of the strategy takes besides its state, in blocks of genomes."""
    block = 256
    state = jax.jit(strategy.init)(key)
    program, _ = compiled(lambda state, key: evaluate(score, strategy, state, key, block, strategy.mesh), state, key)
    analysis = program.memory_analysis()
    blocks = analysis.temp_size_in_bytes / (4 * DIMENSION * block)
    what = f"OpenES, population {strategy.population:,}: memory of a device, in blocks of {block} genomes"
    report.add(Figure(what, OURS, "blocks", (blocks,), at_most=MEMORY_BLOCKS))


if __name__ == "__main__":
    with one_line_errors():
        sys.exit(main())
