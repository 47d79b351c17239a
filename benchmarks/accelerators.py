"""Programs compiled for GPUs and TPUs, not run: kernels in their loops, bytes, seconds to compile, and the peers'.

A GPU needs some microseconds to start a kernel, however little it does. So the cost of small games is the number of
kernels in a step; `_accelerators.py` says what counts as one. Each row is a program and the loop that is counted:

* a step of the policy loop (`policy_loop.py`, 4,096 games): by `rollout` and by the driver that all libraries share;
* a step of `rollout` as it is by default, and one policy step alone, without a loop;
* PUCT and Gumbel with a linear network, 1,024 games: a simulation, and a level of the tree (all loops over levels
  together); the search level by level: a block of nodes on the way up; UCT with rollouts;
* an update of TD and of AlphaZero, a generation of evolution, in the same way;
* those three on several chips, with a share that does not depend on their number: what the chips tell one another.

Of several loops side by side the row names the one with the most loops nested in it. The last row of a program has the
kernels of the loops beside it, which may run once or as often.

Nothing here is a time on a device. `make accelerators` installs the compilers and runs this.
"""

import argparse
import sys
import warnings
from collections.abc import Callable, Iterator
from functools import partial
from typing import Any, NamedTuple

import _accelerators as compilers
import _games as loop
import _search as searches
import jax
import jax.numpy as jnp
import policy_loop as policy
from _accelerators import COLLECTIVES
from _common import finish, names, numbers, one_line_errors, parsed, parser, peer
from _evolution import fitness, genomes, with_pgx
from _figures import Figure, Report, say

import jaxgames
from jaxgames.algos import mcts, parallel, td
from jaxgames.algos.alphazero import AlphaZeroConfig
from jaxgames.algos.alphazero import make_learner as make_alphazero
from jaxgames.algos.evolution import LowRankES, OpenES, generation
from jaxgames.nets import NetworkSpec

TITLE = "Programs compiled for accelerators, not run: kernels, bytes, seconds to compile"
GAMES = ("tic_tac_toe", "connect_four", "checkers", "backgammon")
DEVICES = ("h200", "v5e", "v5p")
OURS, PGX, MCTX, EVOSAX = "jaxgames", "pgx", "mctx", "evosax with pgx's games"
BATCH, POSITIONS, SIMULATIONS = 4096, 1024, 128
POPULATION, OPPONENTS, CHIPS = 4096, 32, (1, 4, 16, 64, 256)
GAMES_OF_A_CHIP = 1024
PARTS = ("games", "search", "learning", "evolution", "chips")


class Program(NamedTuple):
    """A function with the shapes of its arguments, and what its loops are called, from the outermost on.

    A program without names of loops is counted as a whole.
    """

    what: str
    by: str
    make: Callable[[], tuple[Callable, tuple[Any, ...]]]
    loops: tuple[str, ...] = ()
    bars: tuple[int | None, ...] = ()
    """What is asked of each loop on an H200."""


def main() -> int:
    """All programs for all devices."""
    options = parser(TITLE, repeats=1)
    options.add_argument("--against", type=names(("pgx", "mctx", "evosax"), "none"), default=["pgx", "mctx", "evosax"])
    options.add_argument("--devices", type=names(DEVICES), help=f"some of {','.join(DEVICES)} (default: h200,v5e)")
    options.add_argument("--games", type=names(GAMES), default=list(GAMES), help=f"some of {','.join(GAMES)}")
    options.add_argument("--parts", type=names(PARTS), default=list(PARTS), help=f"some of {','.join(PARTS)}")
    options.add_argument("--chips", type=numbers, default=list(CHIPS), help="of a pod (default 1,4,16,64,256)")
    options.add_argument("--programs", default="", help="only programs that have this in their names")
    options.add_argument("--show", help="print the kernels of the loops of programs that have this in their names")
    options = parsed(options)
    compilers.prepare()
    warnings.simplefilter("ignore")  # those of the peers
    for name in options.devices or ():
        if not compilers.available(name):
            raise ValueError(f"there is no compiler for {name} here: make accelerators installs it")
    options.devices = options.devices or [name for name in ("h200", "v5e") if compilers.available(name)]
    if not options.devices:
        say("left out: there is no compiler for an accelerator here; make accelerators installs them")
        return 0
    if options.quick:
        options.games, options.parts, options.against = options.games[:1], options.parts[:1], []
    report = Report("accelerators", TITLE)
    for device in options.devices:
        for program in programs(device, options):
            if options.programs in program.what:
                one(report, device, program, options)
        if "chips" in options.parts and device != "h200":
            for chips in options.chips:
                many(report, device, chips, options.programs)
    report.notes.append("programs compiled, not run: no figure here is a time on a device")
    return finish(report, options, ("libtpu", "jax-cuda13-plugin", "nvidia-cuda-nvcc", "pgx", "mctx", "evosax"))


def one(report: Report, device: str, program: Program, options: argparse.Namespace) -> None:
    """A program for one device."""
    jax.clear_caches()
    function, shapes = program.make()
    found = compilers.compiled_for(device, function, shapes)
    text, tpu = found.text, device != "h200"
    counted = compilers.count(text, tpu)
    name = f"{device}, {program.what}"
    bars = iter(program.bars if program.by == OURS and not tpu else ())

    def add(unit: str, kernels: tuple[int, ...], steps: int = 1) -> None:
        note = " + ".join(map(str, kernels)) if len(kernels) > 1 else ""
        value = (sum(kernels) / steps,)
        what = f"{name}: kernels {unit}"
        report.add(Figure(what, program.by, "kernels", value, at_most=next(bars, None), form="g", note=note))

    if not program.loops:
        add("a call", (counted.kernels,))
    elif counted.loops:
        first, *inner = program.loops
        steps = compilers.steps_a_round(function, shapes) if first == "step" else 1
        add(f"a {first}", (counted.main.kernels,), steps)
        within = counted.main
        for unit in inner:
            add(f"a {unit}", tuple(loop.kernels for loop in within.loops))
            within = within.main if within.loops else within
        if counted.beside:
            add("in loops beside these", counted.beside)
    _bytes(report, name, program.by, found)
    if options.show and options.show in name:
        say(compilers.listing(text, tpu))


def _bytes(report: Report, name: str, by: str, found: Any) -> None:
    for kind, value in (("temporaries", found.temporaries), ("arguments", found.arguments)):
        report.add(Figure(f"{name}: {kind}", by, "MiB", (value / 2**20,)))
    report.add(Figure(f"{name}: tracing and compiling", by, "s", (found.seconds,), form=".1f"))


def many(report: Report, device: str, chips: int, asked: str = "") -> None:
    """Updates on several chips: what they cost each chip, and what the chips tell one another."""
    for what, repeats, make in chip_programs(device, chips):
        if asked not in what:
            continue
        jax.clear_caches()
        found = compilers.compiled_for(device, *make(), on_mesh=True)
        name = f"{device} x {chips}, {what}"
        _bytes(report, name, OURS, found)
        said = compilers.collectives(found.text, repeats)
        for kind in (kind for kind in COLLECTIVES if kind in said):
            times, size = said[kind]
            note = f"{times:,} collective" + "s" * (times > 1)
            report.add(Figure(f"{name}: {kind}", OURS, "KiB", (size / 2**10,), note=note))


def chip_programs(device: str, chips: int) -> Iterator[tuple[str, int, Callable[[], tuple[Callable, Any]]]]:
    """Updates that are split over chips: their names, how often their loops with collectives run, and what makes them.

    Each chip has as many candidates or games, whatever the number of chips.
    """
    over = compilers.mesh(device, chips, "population") if chips > 1 else None
    alone = compilers.mesh(device, 1, "all")
    for what, run, shapes in evolution_programs("connect_four", POPULATION * chips, over, constant=True):
        yield what, 1, lambda run=run, shapes=shapes: (run, compilers.placed(shapes, over or alone))
    for what, learner, repeats in chip_learners(chips):
        yield what, repeats, partial(split_update, learner, compilers.mesh(device, chips, parallel.AXIS))


def chip_learners(chips: int) -> Iterator[tuple[str, Any, int]]:
    """TD and AlphaZero with a share of the games for each chip; gradients are summed so often in an update."""
    batch, plies = GAMES_OF_A_CHIP * chips, 16
    of_td = td.make_learner(td.make_config("n_step", batch=batch, plies=plies))
    yield f"backgammon, TD by n steps, {batch:,} x {plies}", of_td, 1
    of_alphazero = alphazero_learner(batch)
    title = f"Connect Four, AlphaZero, MLP 256-256, {batch:,} games"
    yield title, of_alphazero, of_alphazero.config.steps


def split_update(learner: Any, over: Any) -> tuple[Callable, Any]:
    """The update of a learner on the devices of a mesh, as `parallel.place` makes it, and its arguments there."""
    function, (state, key) = update_of(learner if over.size == 1 else parallel.Parallel(learner, over))
    specs = None if over.size == 1 else learner._specs(state, parallel.AXIS)
    return function, (compilers.placed(state, over, specs), compilers.placed(key, over))


def programs(device: str, options: argparse.Namespace) -> Iterator[Program]:
    """All programs of one device, those of a peer after ours."""
    against = [name for name in options.against if peer(name)]
    for name in options.games:
        if "games" in options.parts:
            yield from of_games(name, "pgx" in against)
    for name in options.games:
        if "search" in options.parts:
            yield from of_search(name, "mctx" in against)
    if "learning" in options.parts:
        yield from of_learning()
    if "evolution" in options.parts:
        yield from of_evolution(device, "evosax" in against and "pgx" in against)


BARS = {
    policy.ROLLOUT: {"tic_tac_toe": 8, "connect_four": 10, "backgammon": 16},
    policy.SAME: {"tic_tac_toe": 11, "connect_four": 14, "backgammon": 20},
    "rollout": {"tic_tac_toe": 10, "connect_four": 12, "checkers": 12, "backgammon": 20},
    "step": {"tic_tac_toe": 7, "connect_four": 7, "checkers": 8, "backgammon": 14},
}
"""Kernels of a step that are asked for on an H200."""


def of_games(name: str, against: bool) -> Iterator[Program]:
    """Loops of a game."""
    game, title = loop.make(name), policy.TITLES.get(name, name)
    batch = f"{BATCH:,} games"
    pgx = searches.pgx_game(name) if against else None

    def bars(kind: str) -> tuple[int | None, ...]:
        return (BARS[kind].get(name),)

    def program(made: loop.Loop, by: str) -> Program:
        title_of = f"{title}, {made.mode}, {batch}"
        return Program(title_of, by, lambda: (made.block, _carried(made)), ("step",), bars(made.mode))

    yield program(policy.by_rollout(game, BATCH), OURS)
    yield program(policy.driver(OURS, game, BATCH), OURS)
    if pgx is not None:
        yield program(policy.driver(PGX, pgx, BATCH), PGX)
    yield Program(f"{title}, `rollout`, {batch}", OURS, partial(_random_play, game), ("step",), bars("rollout"))
    for by, env in ((OURS, game), (PGX, pgx)):
        if env is not None:
            yield Program(f"{title}, one policy step, {batch}", by, partial(_policy_step, env), (), bars("step"))


def of_search(name: str, against: bool) -> Iterator[Program]:
    """Searches of a game."""
    game, title = searches.make(name), policy.TITLES.get(name, name)
    size, loops = f"{POSITIONS:,} x {SIMULATIONS}", ("simulation", "level")
    chance = bool(game.outcome_probabilities)
    for kind in ("PUCT", "Gumbel"):
        what, bars = f"{title}, {kind}, linear network, {size}", (20, 6) if name == "connect_four" else ()
        yield Program(what, OURS, partial(_with_network, game, searches.ours, kind), loops, bars)
        if against and name in ("tic_tac_toe", "connect_four") and not chance:
            yield Program(what, MCTX, partial(_with_network, game, searches.mctx, kind), loops)
    what = f"{title}, Recursive, linear network, {size}"
    yield Program(what, OURS, partial(_with_network, game, searches.ours, "Recursive"), ("block up",))
    whole = mcts.one_round().most_simulations(game)
    what = f"{title}, one round, linear network, {POSITIONS:,} x {whole}"
    yield Program(what, OURS, partial(_with_network, game, searches.ours, "OneRound", whole))
    what = f"{title}, UCT with rollouts, {size}"
    yield Program(what, OURS, partial(_with_rollouts, game), ("simulation", "level and ply"))


def of_learning() -> Iterator[Program]:
    """Updates of learners."""
    yield Program("backgammon, TD(lambda) 198-40-4, 64 games", OURS, partial(_td, "exact"), ("ply", "loop in it"))
    yield Program("backgammon, TD by n steps, 64 x 16", OURS, partial(_td, "n_step"), ("loop", "loop in it"))
    loops, bars = ("ply", "simulation", "level"), (35, None, None, 30)  # the last one: learning
    yield Program("Connect Four, AlphaZero, MLP 256-256, 1,024 games", OURS, _alphazero, loops, bars)


def of_evolution(device: str, against: bool) -> Iterator[Program]:
    """Generations. A GPU takes so many games at once, a TPU blocks of candidates."""
    gpu = device == "h200"
    over = compilers.mesh(device, 1, "population") if gpu else None
    for name in ("tic_tac_toe", "connect_four"):
        for title, function, shapes in evolution_programs(name, POPULATION, over, constant=gpu):
            loops = ("ply",) if gpu else ("block of candidates", "ply")
            yield Program(title, OURS, lambda made=(function, shapes): made, loops)
        if against:
            what = f"{policy.TITLES[name]}, evolution by OpenES, {POPULATION:,} x {OPPONENTS}"
            yield Program(what, EVOSAX, partial(_evosax, name), ("ply",))


def _key() -> Any:
    return jax.eval_shape(lambda: jax.random.key(0))


def _states(env: Any, batch: int) -> Any:
    return jax.eval_shape(lambda key: loop.new_games(env.init, key, batch), _key())


def _carried(made: loop.Loop) -> tuple[Any, ...]:
    def carry(key: jax.Array) -> Any:
        states = loop.new_games(made.fresh, key, BATCH)
        return states, made.more(states)

    return jax.eval_shape(carry, _key()), _key()


def _random_play(game: Any) -> tuple[Callable, tuple[Any, ...]]:
    def play(states: Any, key: jax.Array) -> Any:
        return jaxgames.rollout(game, states, key, policy.STEPS, auto_reset=True)

    return play, (_states(game, BATCH), _key())


def _policy_step(env: Any) -> tuple[Callable, tuple[Any, ...]]:
    """The network, the draw and `step`."""

    def step(states: Any, params: Any, key: jax.Array) -> Any:
        policy_key, step_key = jax.random.split(key)
        actions = policy.act(params, policy_key, states.observation, states.legal_action_mask)
        return jax.vmap(env.step)(states, actions, jax.random.split(step_key, BATCH)), actions

    states = _states(env, BATCH)
    params = jax.eval_shape(lambda states: policy.weights(states.observation, states.legal_action_mask), states)
    return step, (states, params, _key())


def _with_network(
    game: Any, search: Callable, kind: str, simulations: int = SIMULATIONS
) -> tuple[Callable, tuple[Any, ...]]:
    params = jax.eval_shape(lambda key: searches.linear(game, key), _key())
    return search(game, simulations, policy=kind), (params, _states(game, POSITIONS), _key())


def _with_rollouts(game: Any) -> tuple[Callable, tuple[Any, ...]]:
    def search(states: Any, key: jax.Array) -> Any:
        return mcts.search(game, states, key, SIMULATIONS, select=mcts.uct(), evaluate=mcts.rollout()).visits

    return search, (_states(game, POSITIONS), _key())


def _td(method: str) -> tuple[Callable, tuple[Any, ...]]:
    return update_of(td.make_learner(td.make_config(method, batch=64)))


def _alphazero() -> tuple[Callable, tuple[Any, ...]]:
    return update_of(alphazero_learner())


def alphazero_learner(batch: int = 1024) -> Any:
    """AlphaZero with so many games of Connect Four."""
    spec = NetworkSpec(hidden=(256, 256))
    config = AlphaZeroConfig(
        spec, batch=batch, plies=8, simulations=32, opening_plies=0, buffer_plies=128, steps=8, minibatch=2 * batch
    )
    return make_alphazero(searches.make("connect_four"), config)


def update_of(learner: Any) -> tuple[Callable, tuple[Any, ...]]:
    """The update of a learner, with the shapes of its arguments."""
    alone = getattr(learner, "learner", learner)  # the shapes do not need the devices
    return learner.update, (jax.eval_shape(alone.init, _key()), _key())


def evolution_programs(
    name: str, population: int, over: Any = None, constant: bool = False
) -> Iterator[tuple[str, Callable, tuple[Any, ...]]]:
    """A generation of each strategy, with its arguments; on a mesh the opponents are to be constants."""
    how = fitness(name, jax.ShapeDtypeStruct((1, 1), jnp.float32)).policy
    kinds = {
        "OpenES": OpenES(population, how.dimension, mesh=over),
        "low rank": LowRankES(population, how.genomes, mesh=over),
    }
    opponents = jax.eval_shape(lambda: genomes(name, OPPONENTS, 1))
    for kind, algorithm in kinds.items():

        def run(state: Any, key: jax.Array, opponents: Any, algorithm: Any = algorithm) -> Any:
            return generation(algorithm, fitness(name, opponents), state, key, mesh=over)[0]

        state = jax.eval_shape(algorithm.init, _key())
        title = f"{policy.TITLES[name]}, evolution by {kind}, {population:,} x {OPPONENTS}"
        if not constant:
            yield title, run, (state, _key(), opponents)
        else:  # each device has the opponents as constants: arguments of a mesh may not be closed over
            yield title, partial(run, opponents=genomes(name, OPPONENTS, 1)), (state, _key())


def _evosax(name: str) -> tuple[Callable, tuple[Any, ...]]:
    from evosax.algorithms import Open_ES

    mean = genomes(name, 1, 0)[0]
    strategy = Open_ES(population_size=POPULATION, solution=mean)
    settings, play = strategy.default_params, with_pgx(name)

    def run(state: Any, opponents: Any, key: jax.Array) -> Any:
        asking, playing, telling = jax.random.split(key, 3)
        candidates, state = strategy.ask(asking, state, settings)
        scores = jnp.mean(play(candidates, opponents, playing), axis=1)
        return strategy.tell(telling, candidates, -scores, state, settings)[0]

    state = jax.eval_shape(lambda key: strategy.init(key, mean, settings), _key())
    return run, (state, jax.eval_shape(lambda: genomes(name, OPPONENTS, 1)), _key())


if __name__ == "__main__":
    with one_line_errors():
        sys.exit(main())
