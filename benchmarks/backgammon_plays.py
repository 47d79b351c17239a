"""Distinct plays of backgammon positions and rolls: positions per second, beside GNU Backgammon and pgx.

GNU Backgammon's call lists all plays too, but also evaluates them with its network. The second time it need not: the
evaluations come from its cache. pgx has no plays, only the legal moves of single checkers, so we compare those with
ours. For one core a process is bound to that core; for all cores there is one XLA device for each.
"""

import argparse
import functools
import sys
import warnings
from typing import Any

from _common import begin, bind_to_one_core, compiled, finish, in_process, parsed, parser, peer, place, rate, timed
from _figures import Comparison, Figure, Report, Timing
from _machine import cores, machine

TITLE = "Backgammon: distinct plays of positions and rolls"
BATCH = 2048
BATCHES = 16  # of which one repeat is made
CHECKED = 1000  # positions of each kind whose plays gnubg counts too
ASKED = 0.4e6  # positions per second and core
KINDS = ("random play", "sensible play")
LISTS, BOARDS, PLAYS, MASKS = "all plays, as lists", "and the boards after them", "plays(): boards, actions", "masks"
EVALUATED, CACHED = f"{LISTS}, evaluated", f"{LISTS}, from its cache"


def main() -> int:
    """One core in a process of its own, then all in another."""
    options = parser(TITLE)
    options.add_argument("--batch", type=int, default=BATCH, help=f"positions at once on each core (default {BATCH})")
    options = parsed(options)
    if options.quick:
        options.batch, options.repeats = 64, 1
    report = Report("backgammon_plays", TITLE)
    report.merge(in_process(measure, options, 1))
    if cores() > 1 and not options.quick:
        report.merge(in_process(measure, options, cores()))
    report.machine["cores_usable"] = cores()
    return finish(report, options, ("gnubg", "pgx"))


def measure(options: argparse.Namespace, number: int) -> Report:
    """Our figures on so many cores; those of the peers on one."""
    report = Report("", "")
    if number == 1:
        bind_to_one_core()
    begin(number)
    import jax

    report.machine = machine()
    devices = jax.device_count()
    if devices < number:
        return report  # an accelerator, which the first process had already
    batches = {kind: make_batches(options, devices, kind) for kind in KINDS[: 1 if options.quick else None]}
    programs = ours(report, options, devices, batches)
    if number == 1:
        masks(report, options, batches[KINDS[0]])
        beside_gnubg(report, options, batches, programs[LISTS])
        report.comparisons = comparisons(report.figures)
    return report


def make_batches(options: argparse.Namespace, number: int, kind: str) -> list[Any]:
    """Batches of positions of random play or of pubeval's play against itself; one repeat goes through all of them."""
    import jax
    from _backgammon import positions_of_play

    import jaxgames
    from jaxgames import players

    game = jaxgames.make("backgammon")
    player = players.make("random" if kind == KINDS[0] else "pubeval", game)
    turn = functools.partial(player.turn, player.params)
    key = jax.random.key(options.seed)
    batches, before = (2, 10) if options.quick else (BATCHES, 100)
    found = positions_of_play(game, turn, key, options.batch * number, batches, before)
    split = jax.sharding.NamedSharding(mesh_of(number), jax.sharding.PartitionSpec("games"))
    return [jax.device_put(jax.tree.map(lambda x, i=i: x[i], found), split) for i in range(batches)]


def on_devices(function: Any, number: int) -> Any:
    """`function` of a batch, an equal part of it on each device."""
    import jax
    from jax.sharding import PartitionSpec

    spec = PartitionSpec("games")
    return jax.shard_map(function, mesh=mesh_of(number), in_specs=spec, out_specs=spec, check_vma=False)


def mesh_of(number: int) -> Any:
    """So many devices, in a row."""
    import jax

    return jax.sharding.Mesh(jax.devices()[:number], ("games",))


def all_plays(positions: Any, boards: bool) -> tuple[Any, Any]:
    """The number of plays of each position, and the lists of the last round: one round, unless a list is too short."""
    import jax
    import jax.numpy as jnp

    from jaxgames.envs.backgammon.play_lists import MOST_PAIRS, MOST_REPEATS, after, pairs, repeats

    batch = len(positions.dice)

    def lists(wanted):
        two_dice = pairs(positions, wanted, max(MOST_PAIRS, 20 * batch))
        double = repeats(positions, wanted, max(MOST_REPEATS[-1], 12 * batch))
        moved = ((two_dice, 2), (double, 4)) if boards else ()
        return two_dice, double, [after(positions, one.game, one.code, moves) for one, moves in moved]

    def a_round(carry):
        wanted, counts, _ = carry
        found = lists(wanted)
        done = wanted & found[0].complete & found[1].complete
        number = sum(one.first[1:] - one.first[:-1] for one in found[:2])
        return wanted & ~done, jnp.where(done, number, counts), found

    empty = jax.tree.map(lambda x: jnp.zeros(x.shape, x.dtype), jax.eval_shape(lists, jnp.ones(batch, bool)))
    start = jnp.ones(batch, bool), jnp.zeros(batch, jnp.int32), empty
    return jax.lax.while_loop(lambda carry: jnp.any(carry[0]), a_round, start)[1:]


def ours(report: Report, options: argparse.Namespace, number: int, batches: dict[str, list[Any]]) -> dict[str, Any]:
    """Positions per second of the lists, with and without the boards they lead to, and of the public function.

    Returns the compiled programs.
    """
    import jax.numpy as jnp

    from jaxgames.envs.backgammon import plays

    functions = {
        LISTS: lambda positions: all_plays(positions, boards=False),
        BOARDS: lambda positions: all_plays(positions, boards=True),
        PLAYS: lambda positions: plays.__wrapped__(positions),
    }
    programs = {}
    for name, function in functions.items():
        program, seconds = compiled(on_devices(function, number), batches[KINDS[0]][0])
        for kind in batches:
            timings = through(program, batches[kind], options.repeats)
            asked = ASKED * number if name == LISTS and kind == KINDS[0] else None
            what = where(f"{kind}: {name}")
            report.add(rate(what, "jaxgames", "positions/s", timings, compile_seconds=seconds, at_least=asked))
        programs[name] = program
    mean = {kind: float(jnp.mean(programs[LISTS](batches[kind][0])[0])) for kind in batches}
    of_each = ", ".join(f"{mean[kind]:.1f} in {kind}" for kind in batches)
    report.notes.append(f"{place()}: distinct plays per position: {of_each}")
    complete = all(programs[PLAYS](batch).complete.all() for of_kind in batches.values() for batch in of_kind)
    report.checks[f"{place()}: plays() lists all plays of all positions at its usual capacity"] = complete
    return programs


def through(program: Any, batches: list[Any], repeats: int) -> list[Timing]:
    """Timings of a program that goes through all batches in each repeat."""
    import jax

    amount = sum(len(jax.tree.leaves(batch)[0]) for batch in batches)
    return timed(lambda _: [program(batch) for batch in batches], amount, repeats)


def masks(report: Report, options: argparse.Namespace, batches: list[Any]) -> None:
    """Legal moves of single checkers, ours and pgx's, from positions at the start of a turn."""
    import jax
    import jax.numpy as jnp

    import jaxgames
    from jaxgames.envs.backgammon import board
    from jaxgames.envs.backgammon.board import high_low

    legal = jax.vmap(jaxgames.make("backgammon").legal)
    program, seconds = compiled(legal, batches[0])
    timings = through(program, batches, options.repeats)
    what = where(f"{KINDS[0]}: {MASKS}")
    report.add(rate(what, "jaxgames", "masks/s", timings, compile_seconds=seconds))
    pgx = peer("pgx.backgammon")
    if pgx is None:
        return

    @jax.jit
    def theirs(positions):
        own, opponent = board.to_counts(positions.own), board.to_counts(positions.opponent)
        points = own[:, :24][:, ::-1] - opponent[:, :24]
        off = [15 - own.sum(axis=1), opponent.sum(axis=1) - 15]
        high, low = (die.astype(jnp.int32) - 1 for die in high_low(positions.dice))
        double, none = high == low, jnp.full_like(high, -1)
        dice = [high, low, jnp.where(double, high, none), jnp.where(double, high, none)]
        boards = jnp.concatenate([points, jnp.stack([own[:, 24], -opponent[:, 24], *off], axis=1)], axis=1)
        return boards.astype(jnp.int32), jnp.stack(dice, axis=1)

    inputs = [theirs(positions) for positions in batches]
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        program, seconds = compiled(lambda both: jax.vmap(pgx._legal_action_mask)(*both), inputs[0])
    timings = through(program, inputs, options.repeats)
    note = "legal_action_mask looks at one die at a time; ours sees to it that the whole turn stays legal"
    report.add(rate(what, "pgx", "masks/s", timings, compile_seconds=seconds, note=note))


def beside_gnubg(report: Report, options: argparse.Namespace, batches: dict[str, list[Any]], program: Any) -> None:
    """GNU Backgammon's plays of some of the positions: how fast, and whether there are as many."""
    import numpy as np
    from _backgammon import gnubg, plain

    engine = gnubg()
    if engine is None:
        return
    asked = min(CHECKED, options.batch)
    for kind in batches:
        inputs = [list(zip(*plain(positions), strict=True))[:asked] for positions in batches[kind][: options.repeats]]
        counts = []

        def run(number, inputs=inputs, counts=counts):
            counts.append([len(engine.plays(*row)) for row in inputs[number]])

        for name in (EVALUATED, CACHED):
            report.add(rate(where(f"{kind}: {name}"), "gnubg", "positions/s", timed(run, asked, len(inputs), 0)))
        ours = np.concatenate([np.asarray(program(positions)[0])[:asked] for positions in batches[kind][: len(inputs)]])
        # Where no checker can move we have one play, which moves none, and gnubg has none.
        differ = int((np.maximum(np.concatenate(counts[: len(inputs)]), 1) != ours).sum())
        report.checks[f"{kind}: as many plays as gnubg in {len(ours):,} positions ({differ} differ)"] = differ == 0
    call = 1e6 * engine.call_seconds(*inputs[0][0][:2])
    report.notes.append(f"gnubg is called from Python; a call that only reads the board takes {call:.1f} microseconds")


def where(what: str) -> str:
    """The name of a figure."""
    return f"{what} ({place()})"


def comparisons(figures: list[Figure]) -> list[Comparison]:
    """What the README shows."""
    found = {(figure.what, figure.by): figure for figure in figures}
    rows = []
    for kind in KINDS:
        lists = found.get((where(f"{kind}: {LISTS}"), "jaxgames"))
        if lists is None:
            continue
        theirs = found.get((where(f"{kind}: {CACHED}"), "gnubg"))
        rows.append(Comparison(f"distinct plays, positions of {kind} ({place()})", lists, theirs))
    mask = where(f"{KINDS[0]}: {MASKS}")
    rows.append(
        Comparison(f"legal moves of single checkers ({place()})", found[mask, "jaxgames"], found.get((mask, "pgx")))
    )
    return rows


if __name__ == "__main__":
    sys.exit(main())
