"""What a device does while our programs run, by its own trace: kernels a step, how long they take, its busy share.

A GPU starts every kernel in some microseconds, however little it does. A loop that keeps the device busy for a small
share of the time waits for these starts: fewer kernels make it faster, faster kernels don't. The programs are warm, and
run once between the marks of `jax.profiler`. On a CPU the threads of XLA stand for the device.
"""

import argparse
import sys
import tempfile
import time
import warnings
from collections.abc import Callable, Iterator
from functools import partial
from pathlib import Path
from typing import Any, NamedTuple

import _evolution as evolution
import _games as loop
import _search as searches
import accelerators
import jax
import policy_loop as policy
import search_networks as networks
from _common import begin, finish, names, one_line_errors, parsed, parser
from _figures import Comparison, Figure, Report
from _games_timing import Compiled

from jaxgames.algos import td

TITLE = "Programs on a device: kernels, how long they take, how long the device is busy"
OURS = "jaxgames"
PARTS = ("games", "search", "learning", "evolution")
RULES = ("PUCT", "Gumbel", "Recursive")
SECONDS = 0.05
"""Of a traced run, about: a trace has a line for each kernel."""


class Traced(NamedTuple):
    """A program that is warm: what it is, what its steps are called, a run of it, and the steps of that."""

    what: str
    unit: str
    run: Callable[[], Any]
    steps: float


class Busy(NamedTuple):
    """What a trace says: kernels, the seconds of all of them, and those in which at least one ran."""

    kernels: int
    seconds: float
    busy: float


def main() -> int:
    """All programs."""
    options = parser(TITLE, repeats=1)
    options.add_argument("--parts", type=names(PARTS), default=list(PARTS), help=f"some of {','.join(PARTS)}")
    options.add_argument("--batch", type=int, default=4096, help="games of the policy loop (default 4096)")
    options = parsed(options)
    options.batch = 16 if options.quick else options.batch
    begin()
    report = Report("device_trace", TITLE)
    for part in options.parts:
        for program in OF_PART[part](options):
            one(report, program)
    report.notes.append("a kernel is what the device's trace has as one, a launch of a whole graph of kernels, too")
    return finish(report, options)


def one(report: Report, program: Traced) -> None:
    """A run with its trace, and one without, which is timed."""
    program.run()
    start = time.perf_counter()
    program.run()
    wall = time.perf_counter() - start
    with tempfile.TemporaryDirectory() as folder:
        with jax.profiler.trace(folder):
            program.run()
        found = busy(Path(folder))
    microseconds = 1e6 * wall / program.steps

    def add(what: str, value: float, unit: str) -> Figure:
        return report.add(Figure(f"{program.what}: {what}", OURS, unit, (value,)))

    rows = [
        add(f"a {program.unit}", microseconds, "microseconds"),
        add(f"kernels a {program.unit}", found.kernels / program.steps, "kernels"),
        add("a kernel", 1e6 * found.seconds / max(found.kernels, 1), "microseconds"),
        add("the device is busy", 100 * found.busy / wall, "% of the time"),
    ]
    report.comparisons += [Comparison(row.what, row) for row in rows]


def busy(folder: Path) -> Busy:
    """Reads the trace in a folder."""
    (path,) = folder.rglob("*.xplane.pb")
    planes = list(jax.profiler.ProfileData.from_file(str(path)).planes)
    devices = [line for plane in planes if plane.name.startswith("/device:") for line in plane.lines]
    lines = [line for line in devices if line.name.startswith(("Stream", "XLA Ops"))]
    lines = lines or [line for plane in planes for line in plane.lines if line.name.startswith("tf_XLA")]
    spans = sorted((event.start_ns, event.start_ns + event.duration_ns) for line in lines for event in line.events)
    together, reached = 0.0, 0.0
    for begun, ended in spans:
        together += max(0.0, ended - max(begun, reached))
        reached = max(reached, ended)
    return Busy(len(spans), 1e-9 * sum(ended - begun for begun, ended in spans), 1e-9 * together)


def games(options: argparse.Namespace) -> Iterator[Traced]:
    """The policy loop of all games by `rollout`."""
    for name in policy.GAMES[:1] if options.quick else policy.GAMES:
        made = partial(policy.by_rollout, loop.make(name))
        runner = Compiled(made, options.batch, loop.MIXED[name], SECONDS, options.seed, name in loop.SLOW)
        what = f"{policy.TITLES.get(name, name)}, policy loop, `rollout`, {options.batch:,} games"
        yield Traced(what, "step", runner.run, runner.blocks * runner.loop.steps)


def search(options: argparse.Namespace) -> Iterator[Traced]:
    """Connect Four by an MLP."""
    batch, simulations = (8, 8) if options.quick else (1024, 32)
    game, key = searches.make("connect_four"), jax.random.key(options.seed)
    states, _ = jax.jit(lambda key: searches.actions_played(game, key, batch))(key)
    for rule in RULES[:1] if options.quick else RULES:
        function = searches.ours(game, simulations, networks.apply_mlp, rule)
        found = searches.Search(OURS, function, (networks.mlp(game, key), states), batch * simulations, SECONDS)
        what = f"Connect Four, {rule}, MLP 256-256, {batch:,} x {simulations}"
        yield Traced(what, "simulation", found.run, found.calls * simulations)


def learning(options: argparse.Namespace) -> Iterator[Traced]:
    """Updates of TD in backgammon and of AlphaZero in Connect Four."""
    size = {"batch": 8, "plies": 2} if options.quick else {"batch": 1024, "plies": 16}
    yield update(
        "backgammon, TD by n steps, {batch:,} games".format(**size), td.make_learner(td.make_config("n_step", **size))
    )
    if not options.quick:
        yield update("Connect Four, AlphaZero, MLP 256-256, 1,024 games", accelerators.alphazero_learner())


def update(what: str, learner: Any) -> Traced:
    """Updates of a learner, one after the other."""
    program = jax.jit(learner.update, donate_argnums=0)
    state = [jax.jit(learner.init)(jax.random.key(0))]

    def run() -> None:
        state[0], _ = jax.block_until_ready(program(state[0], jax.random.key(1)))

    run()
    return Traced(what, "ply", run, learner.config.plies)


def of_evolution(options: argparse.Namespace) -> Iterator[Traced]:
    """A generation by OpenES."""
    population, opponents = (16, 4) if options.quick else (4096, 64)
    name = "connect_four"
    runner = evolution.ours(name, population, evolution.genomes(name, opponents, 1))
    runner.calls = 1
    yield Traced(f"Connect Four, OpenES, {population:,} x {opponents}", "generation", runner.run, 1)


OF_PART = {"games": games, "search": search, "learning": learning, "evolution": of_evolution}
"""The programs of each part."""


if __name__ == "__main__":
    warnings.simplefilter("ignore")
    with one_line_errors():
        sys.exit(main())
