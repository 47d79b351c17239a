"""How strong a backgammon player is, and how fast: beside GNU Backgammon, by its equities, and by exact bear-offs.

Decisions: how much a player's choices lose by GNU Backgammon's 2-ply equities. Matches: points per game, with the same
dice for both sides. Bear-offs: what its choices lose by the exact chances of two sides with few checkers. Speed:
positions valued in a second of one core, with all that the network sees of them. Nothing tells how long compiling
takes, so compiled programs may come from the cache.
"""

import functools
import sys
import time
from pathlib import Path
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
from _backgammon import gnubg
from _common import finish, names, one_line_errors, parsed, parser, short_name
from _figures import Figure, Report, Timing
from move_choice import add, losses, of_player, read

import jaxgames
from jaxgames import players
from jaxgames.envs.backgammon import ROLLS, Position, board
from jaxgames.envs.backgammon.best import score_by
from jaxgames.envs.backgammon.encoding import FirstLayer, score_first_layer
from jaxgames.envs.backgammon.play_lists import pairs
from jaxgames.interop.gnubg import gnubg_player
from jaxgames.matches import match
from jaxgames.tables import BearOffs, two_sided
from jaxgames.tables.lookup import BearOffLookup

TITLE = "Backgammon: strength beside GNU Backgammon"
DATA = Path(__file__).parents[1] / "tests" / "data" / "backgammon"
DECISIONS = DATA / "decisions_gnubg2ply.jsonl.gz"
PARTS = ("decisions", "matches", "plies", "gnubg", "bearoffs", "speed")
GNUBG_0_PLY = 0.0034
"""What gnubg's choices without look-ahead lose by the notes of the data set."""


def main() -> int:
    """The parts that are asked for, for each player."""
    options = parser(TITLE)
    options.add_argument("--player", nargs="+", default=["champion@1"], metavar="SPEC", help="players (champion@1)")
    options.add_argument("--parts", type=names(PARTS), default=list(PARTS), help=f"of {','.join(PARTS)} (all)")
    options.add_argument("--games", type=int, default=100_000, help="against pubeval (100,000)")
    options.add_argument("--gnubg-games", type=int, default=2_000, help="against gnubg:0 (2,000)")
    options.add_argument("--plies-games", type=int, default=2_000, help="of 2 plies against 1 (2,000)")
    options = parsed(options)
    if options.quick:
        options.games = options.gnubg_games = options.plies_games = 20
    report = Report("strong_backgammon", TITLE)
    with one_line_errors():
        game = jaxgames.make("backgammon")
        asked = {short_name(spec): players.make(spec, game) for spec in options.player}
    for name, player in asked.items():
        for part in options.parts:
            globals()[f"measure_{part}"](report, name, player, options)
    if "decisions" in options.parts and not options.quick:
        decisions = read(DECISIONS)
        add(
            report,
            "decisions: pubeval",
            "jaxgames",
            losses(decisions, of_player(players.make("pubeval", game), decisions)),
        )
    options.player = list(asked)
    return finish(report, options, ("gnubg",))


def measure_decisions(report: Report, name: str, player: Any, options: Any) -> None:
    """The mean loss on the decisions."""
    decisions = read(DECISIONS)[: 20 if options.quick else None]
    add(report, f"decisions: {name}", "jaxgames", losses(decisions, of_player(player, decisions)), 0.0045)


def measure_matches(report: Report, name: str, player: Any, options: Any) -> None:
    """Points per game against pubeval."""
    of_match(
        report, f"against pubeval: {name}", player, players.make("pubeval", player.game), options.games, 0.6, options
    )


def measure_gnubg(report: Report, name: str, player: Any, options: Any) -> None:
    """Points per game against GNU Backgammon without look-ahead."""
    if gnubg():
        other = gnubg_player(player.game, "0")
        of_match(report, f"against gnubg:0: {name}", player, other, options.gnubg_games, -0.05, options)


def measure_plies(report: Report, name: str, player: Any, options: Any) -> None:
    """Points per game of two plies against one."""
    deeper = players.generic.look_ahead(player, f"{name}, 2 plies", 2, 8, 0.16)
    of_match(report, f"2 plies against 1: {name}", deeper, player, options.plies_games, None, options)


def of_match(report: Report, what: str, one: Any, other: Any, games: int, at_least: float | None, options: Any) -> None:
    result = match(one, other, games, seed=1_000 + options.seed)
    shares = f"{100 * result.win_rate:.1f} % won, {100 * result.gammon_rate:.1f} % gammons, "
    lost = f"{100 * result.gammon_loss_rate:.1f} % gammons lost"
    turn = 1000 * result.seconds / (result.games * result.plies_per_game / 2)
    note = f"{result.games:,} games in {result.seconds:.0f} s, {turn:.2f} ms a turn of both; {shares}{lost}"
    interval = (result.ppg_low, result.ppg_high)
    report.add(
        Figure(what, "jaxgames", "PPG", (result.ppg,), interval=interval, at_least=at_least, form="+.3f", note=note)
    )


def measure_bearoffs(report: Report, name: str, player: Any, options: Any) -> None:
    """The mean loss in bear-offs of at most five checkers on six points each, with every roll as likely as it is."""
    lookup = BearOffLookup(BearOffs(points=6, checkers=2 if options.quick else 5))
    scores = lookup.scores(two_sided(lookup.offs))
    rng = np.random.default_rng(options.seed)
    number = 20 if options.quick else 20_000
    own, other = rng.integers(1, lookup.offs.size, (2, number))
    high, low = (jnp.asarray(rng.integers(1, 7, number), jnp.uint32) for _ in range(2))
    sides = (np.pad(lookup.offs.counts[side], ((0, 0), (0, 19))) for side in (own, other))
    positions = Position(
        *map(board.from_counts, sides), board.dice_of_roll(jnp.maximum(high, low), jnp.minimum(high, low))
    )

    @jax.jit
    def lost(params, positions):
        chosen = player.turn(params, positions, positions.dice)
        best = player.game.best_turn(positions, lambda after: lookup.worth(scores, after))[1]
        found = jnp.where(chosen.over, chosen.reward, -lookup.worth(scores, chosen.position))
        return best - found

    add(report, f"bear-offs: {name}", "jaxgames", np.asarray(lost(player.params, positions)).tolist(), 0.0005)


def measure_speed(report: Report, name: str, player: Any, options: Any) -> None:
    """Positions valued in a second of processor time, play by play as in self-play, and by GNU Backgammon."""
    rows = read(DECISIONS)
    sides = np.array([[int(digit, 16) for digit in row.board] for row in rows], np.int32)[:256]
    dice = jnp.full(len(sides), board.dice_of_roll(jnp.uint32(ROLLS[10][0]), jnp.uint32(ROLLS[10][1])), jnp.uint32)
    positions = Position(board.from_counts(sides[:, :25]), board.from_counts(sides[:, 25:]), dice)
    capacity = 8_192

    @functools.partial(jax.jit, static_argnames="valued")
    def score(params, positions, valued):
        listed = pairs(positions, jnp.ones(len(dice), bool), capacity)
        value = player.turn.make_value(params)
        count = score_first_layer if isinstance(value, FirstLayer) else score_by
        chunks = jnp.arange(valued, dtype=jnp.int32) % (capacity // 1024)

        def chunk(start):
            part = (jax.lax.dynamic_slice_in_dim(x, start * 1024, 1024) for x in (listed.game, listed.code))
            return count(positions, value)(*part, 2)

        return jax.lax.map(chunk, chunks), listed.first[-1]

    valued = 4 if options.quick else 64
    total = int(jax.block_until_ready(score(player.params, positions, valued))[1])
    assert total > capacity / 2, total
    timings = []
    for _ in range(options.repeats):
        wall, cpu = time.perf_counter(), time.process_time()
        jax.block_until_ready(score(player.params, positions, valued))
        timings.append(Timing(1024 * valued, time.perf_counter() - wall, time.process_time() - cpu))
    rates = tuple(timing.amount / timing.cpu for timing in timings)
    engine = gnubg()
    theirs = engine and of_gnubg(engine, sides[: 20 if options.quick else None])
    report.add(
        Figure(
            f"speed: {name}",
            "jaxgames",
            "positions/s of processor time",
            rates,
            tuple(timings),
            at_least=3 * theirs if theirs else None,
        )
    )
    if theirs:
        report.add(Figure("speed: 0-ply", "gnubg", "positions/s of processor time", (theirs,)))


def of_gnubg(engine: Any, sides: np.ndarray) -> float:
    """Positions that GNU Backgammon values in a second of processor time, without the cost of a call from Python."""
    boards = [(row[:25].tolist(), row[25:].tolist()) for row in sides]
    engine.forget()
    began = time.process_time()
    for own, other in boards:
        engine.equity(own, other)
    seconds = time.process_time() - began - len(boards) * engine.call_seconds(*boards[0], calls=2_000)
    return len(boards) / seconds


if __name__ == "__main__":
    sys.exit(main())
