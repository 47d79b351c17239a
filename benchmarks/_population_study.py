"""What does a population buy? Equal numbers of games, shared out among few or many candidates, many or few games each.

`python benchmarks/_population_study.py` evolves networks against random moves by `LowRankES`, for each size of the
population and number of games a candidate from five seeds, and lets them be judged exactly: by all lines of play that
there are (tic-tac-toe), by solved positions of others (Connect Four), by endings with four pieces, of which all are
known (checkers). The step size is the best of five for each setting, chosen on a seed of its own by the games won
against random moves and not by the judge.

`--part million` is the same with four times the games of tic-tac-toe, and so with a million candidates, too.
`--part memory` evolves networks against themselves, against former champions and against random moves, keeps 32 of
each, and lets them all meet: does evolution forget? `--part chance` lets random moves be judged. All parts write into
`docs/studies/population.json`, from which `docs/generate.py` makes the page's tables, and `python docs/population.py`
its picture.
"""

import argparse
import dataclasses
import functools
import json
import os
import tempfile
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import Any, NamedTuple

import jax
import jax.numpy as jnp
import numpy as np
import optax
from _common import names
from _evolution import MOST_PLIES, policy
from _machine import machine

import jaxgames
from jaxgames.algos.evolution import ByPlay, HallOfFame, LowRankES, Networks, Outputs, RandomMoves, generation, play
from jaxgames.matches import every_line
from jaxgames.matches import solved as solved_files
from jaxgames.players import Player
from jaxgames.players import make as make_player
from jaxgames.tables import CheckersEndings, Knowledge, build, known_turns, lookup_of

FILE = Path(__file__).parents[1] / "docs" / "studies" / "population.json"
TOTAL = {"tic_tac_toe": 2**21, "connect_four": 2**19, "checkers": 2**17}
"""Games of one evolution."""
MILLION_TOTAL, MILLION = 2**23, (2**7, 2**10, 2**13, 2**16, 2**20)
POPULATIONS, GAMES, RATES = (2**7, 2**10, 2**13, 2**16, 2**19), (2, 8, 32), (0.003, 0.01, 0.03, 0.1, 0.3)
SEEDS, TUNING_SEED = 5, 100
HIDDEN, SIGMA = (32,), 0.05
SIDE_BY_SIDE = 2**12
"""Up to so many candidates the evolutions of a setting run side by side, and not one after the other."""
ENDINGS, SAMPLED, JUDGED_ENDINGS = CheckersEndings(4), 2**15, 2**12
KEPT, HALL, MEMORY_GAMES, MEMORY_TOTAL, MEMORY_RATE = 32, 16, 32, 2**21, 0.03
JUDGED_BY_GAMES = 2**12


def main() -> None:
    """One part of the study, for some games."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--part", choices=PARTS, default="populations")
    parser.add_argument("--games", type=names(tuple(TOTAL)), help=",".join(TOTAL))
    parser.add_argument("--quick", action="store_true", help="a tiny run, to see that it works; nothing is saved")
    options = parser.parse_args()
    possible = OF_SOME_GAMES.get(options.part, tuple(TOTAL))
    if not set(options.games or ()) <= set(possible):
        parser.error(f"--part {options.part} is of {','.join(possible)}")
    for name in options.games or possible:
        rows = PARTS[options.part](name, options.quick)
        if not options.quick:
            found = json.loads(FILE.read_text("utf-8")) if FILE.exists() else {}
            kept = [row for row in found.get(options.part, []) if row["game"] != name]
            found |= {"machine": machine(), options.part: kept + rows}
            FILE.parent.mkdir(exist_ok=True)
            lines = ",\n".join(f' "{part}": {_lines(found[part])}' for part in ("machine", *PARTS) if part in found)
            FILE.write_text("{\n" + lines + "\n}\n", "utf-8")


def populations(name: str, quick: bool) -> list[dict[str, Any]]:
    """All sizes and numbers of games, each row one evolution."""
    if quick:
        return _shared_out(name, 2**12, POPULATIONS[:2], GAMES[:1])
    return _shared_out(name, TOTAL[name], POPULATIONS, GAMES)


def million(name: str, quick: bool) -> list[dict[str, Any]]:
    """More games, so that they are enough for a million candidates."""
    return _shared_out(name, 2**12 if quick else MILLION_TOTAL, MILLION[:2] if quick else MILLION, (2,))


def _shared_out(name: str, total: int, sizes: Iterable[int], games_of_each: Iterable[int]) -> list[dict[str, Any]]:
    rows = []
    for games in games_of_each:
        for population in sizes:
            if population * games > total // 2:  # fewer than two generations
                continue
            evolve, how = evolution(name, population, games, total), policy(name, HIDDEN)
            keys = jnp.stack([jax.random.key(TUNING_SEED)] * len(RATES))
            tried = evolve(keys, jnp.array(RATES, jnp.float32))
            rate = RATES[int(np.argmax(won_by(how, tried)))]
            found = evolve(jax.random.split(jax.random.key(0), SEEDS), jnp.full(SEEDS, rate, jnp.float32))
            for seed, won in enumerate(won_by(how, found)):
                row = {"game": name, "population": population, "games": games, "seed": seed}
                row |= {"generations": total // (population * games), "step_size": rate, "won": round(float(won), 4)}
                rows.append(row | judged(evolved(how, found[seed])))
            print(json.dumps(rows[-1]), flush=True)
    return rows


def evolution(name: str, population: int, games: int, total: int) -> Callable:
    """The compiled program: the networks found by keys and step sizes."""
    how = policy(name, HIDDEN)
    strategy, opponents = with_step_size(how, population), RandomMoves(games // 2)
    fitness = pairs_apart(ByPlay(how, opponents, "points", common=False, most_plies=MOST_PLIES[name]), games)

    def one(key: jax.Array, rate: jax.Array) -> jax.Array:
        first, key = jax.random.split(key)
        state = begun(strategy, how, first, rate)
        keys = jax.random.split(key, total // (population * games))
        state, _ = jax.lax.scan(lambda state, key: (generation(strategy, fitness, state, key)[0], None), state, keys)
        return strategy.champion(state)

    if population <= SIDE_BY_SIDE:
        return jax.jit(jax.vmap(one))
    return jax.jit(lambda keys, rates: jax.lax.map(lambda of: one(*of), (keys, rates)))


def pairs_apart(by_play: ByPlay, games: int) -> Callable:
    """The same fitness with this many games. Both candidates of a mirrored pair meet the same random moves; each pair
    meets others.
    """

    def fitness(candidates: Any, numbers: jax.Array, key: jax.Array) -> jax.Array:
        return by_play(candidates, numbers >> 1, key)

    fitness.games, fitness.opponent_bytes = games, by_play.opponent_bytes  # by which blocks have their size
    return fitness


def with_step_size(how: Outputs, population: int) -> LowRankES:
    """The strategy, whose step size is an array in its state."""
    return LowRankES(population, how.genomes, sigma=SIGMA, optimizer=optax.inject_hyperparams(optax.adam)(0.01))


def begun(strategy: LowRankES, how: Outputs, key: jax.Array, rate: jax.Array) -> Any:
    """The state before the first generation, at random weights."""
    state = strategy.start(key, how.genomes.init(key, jnp.arange(1, dtype=jnp.int32))[0])
    state.optimizer.hyperparams["learning_rate"] = rate
    return state


def won_by(how: Outputs, networks: jax.Array) -> np.ndarray:
    """Points a game of each network against the same random moves."""
    return np.asarray(_points_of_all(how, networks, jax.random.key(TUNING_SEED + 1)))


@functools.partial(jax.jit, static_argnums=0)
def _points_of_all(how: Outputs, networks: jax.Array, key: jax.Array) -> jax.Array:
    numbers = jnp.zeros(len(networks), jnp.int32)
    opponents = RandomMoves(JUDGED_BY_GAMES // 2)
    return play(how, networks, opponents, key, numbers, most_plies=MOST_PLIES[how.game.id]).points.mean(axis=1)


@dataclasses.dataclass(frozen=True)
class NetworkTurn:
    """A turn by one network."""

    how: Outputs

    def __call__(self, genome: jax.Array, positions: Any, bits: jax.Array) -> Any:
        """Plays a turn in each position."""
        found = self.how.turn(genome[None], *jax.tree.map(lambda x: x[None], (positions, bits))).outcome
        return jax.tree.map(lambda x: x[0], found)


def evolved(how: Outputs, genome: jax.Array) -> Player:
    """The player that a network is."""
    return Player("evolved", how.game, NetworkTurn(how), genome)


def judged(player: Player) -> dict[str, float]:
    """By what is known exactly."""
    if player.game.id == "tic_tac_toe":
        lines = every_line(player)
        return {"lines": lines.first.lines + lines.second.lines, "lost": lines.lost}
    if player.game.id == "checkers":
        return {"good": round(float(_kept(*endings(), player)), 4)}
    accuracy = solved_files.score(player, solved_positions())
    return {"perfect": accuracy.perfect, "good": accuracy.good}


@functools.cache
def solved_positions() -> list[solved_files.Solved]:
    """Positions of Connect Four with the exact score of every move."""
    return solved_files.read(solved_files.MOVE_SCORES)


def chance(name: str, quick: bool) -> list[dict[str, Any]]:
    """What random moves reach, by the judges that ask for one move a position."""
    del quick
    return [{"game": name} | judged(make_player("random", jaxgames.make(name)))]


class Endings(NamedTuple):
    """Positions of checkers that a wrong turn can spoil, the points of their best turns, and the table with them."""

    positions: Any
    best: jax.Array
    scores: Any


@functools.cache
def endings() -> tuple[Knowledge, Endings]:
    """A sample of the won and drawn positions with four pieces, by the player to act."""
    with tempfile.TemporaryDirectory() as folder:
        build(ENDINGS, Path(folder) / ENDINGS.name)
        os.environ["JAXGAMES_TABLES"] = folder
        lookup, load = lookup_of(ENDINGS.game)
        scores, rng = load(), np.random.default_rng(0)
    slices = [material for material in ENDINGS.slices if sum(material) == ENDINGS.pieces]
    sizes = np.array([material.size for material in slices])
    counts = rng.multinomial(SAMPLED, sizes / sizes.sum())
    drawn = [
        ENDINGS.positions(material, jnp.asarray(rng.integers(0, material.size, count), jnp.int32))
        for material, count in zip(slices, counts, strict=True)
    ]
    positions, exists = jax.tree.map(lambda *parts: jnp.concatenate(parts), *drawn)
    best, worst = _best_and_worst(lookup, scores, positions)
    chosen = rng.permutation(np.flatnonzero(exists & (best >= 0) & (worst < best)))[:JUDGED_ENDINGS]
    return lookup, Endings(jax.tree.map(lambda x: x[chosen], positions), best[chosen], scores)


@functools.partial(jax.jit, static_argnums=0)
def _best_and_worst(lookup: Knowledge, scores: Any, positions: Any) -> tuple[jax.Array, jax.Array]:
    """The points of the best turn and of the worst one."""
    worst = -ENDINGS.game.best_turn(positions, lambda after: -lookup.worth(scores, after))[1]
    return known_turns(ENDINGS.game, lookup, scores, positions).points, lookup.points(worst)


@functools.partial(jax.jit, static_argnums=0)
def _kept(lookup: Knowledge, of: Endings, player: Player) -> jax.Array:
    """The share of positions in which the player's turn keeps what the position is worth."""
    bits = jax.random.bits(jax.random.key(0), of.best.shape, jnp.uint32)
    after, switch, over, reward = player.turn(player.params, of.positions, bits)
    worth = lookup.points(jnp.where(switch, -1.0, 1.0) * lookup.worth(of.scores, after))
    return (jnp.where(over, reward, worth) >= of.best).mean()


def memory(name: str, quick: bool) -> list[dict[str, Any]]:
    """Three kinds of opponents: how well the networks that were kept on the way play against each other."""
    how, rows = policy(name, HIDDEN), []
    total = 2**17 if quick else MEMORY_TOTAL
    for kind, (opponents, games) in OPPONENTS.items():
        population = 2**7 * (MEMORY_GAMES // games)
        evolve = jax.jit(jax.vmap(_with_memory(how, population, games, total, opponents)))
        kept = evolve(jax.random.split(jax.random.key(0), SEEDS))
        meet = jax.jit(lambda networks: _all_meet(how, networks))
        for seed in range(SEEDS):
            points = np.asarray(meet(kept[seed]))
            later = points[np.tril_indices(KEPT, -1)]
            row = {"game": name, "opponents": kind, "seed": seed, "population": population, "games": games}
            row |= {"last_against_former": round(float(points[-1, :-1].mean()), 4)}
            row |= {"lost_to_former": int((points[-1, :-1] < 0).sum())}
            row |= {"later_against_earlier": round(float(later.mean()), 4)}
            rows.append(row | judged(evolved(how, kept[seed, -1])))
            rows[-1]["points"] = np.round(points, 2).tolist()
            print(json.dumps({key: value for key, value in rows[-1].items() if key != "points"}), flush=True)
    return rows


OPPONENTS = {
    "the present network": (lambda how, mean, hall: Networks(how, mean[None]), 2),
    "16 former champions": (lambda how, mean, hall: Networks(how, hall.genomes), MEMORY_GAMES),
    "random moves": (lambda how, mean, hall: RandomMoves(MEMORY_GAMES // 2), MEMORY_GAMES),
}
"""Who the candidates meet, and in how many games."""


def _with_memory(how: Outputs, population: int, games: int, total: int, opponents: Callable) -> Callable:
    """The networks that are kept by a key: `KEPT` on the way, the last one is the end."""
    strategy, parts = with_step_size(how, population), total // (population * games * KEPT)
    if parts < 1:
        raise ValueError("fewer generations than networks to keep")

    def one(key: jax.Array) -> jax.Array:
        first, key = jax.random.split(key)
        state = begun(strategy, how, first, jnp.float32(MEMORY_RATE))
        hall = HallOfFame.of(how.genomes.init(first, jnp.arange(HALL, dtype=jnp.int32)))

        def step(carry: Any, key: jax.Array) -> tuple[Any, None]:
            state, hall = carry
            fitness = ByPlay(how, opponents(how, state.mean, hall), "points")
            return (generation(strategy, fitness, state, key)[0], hall), None

        def part(carry: Any, key: jax.Array) -> tuple[Any, jax.Array]:
            (state, hall), _ = jax.lax.scan(step, carry, jax.random.split(key, parts))
            return (state, hall.with_champion(state.mean)), state.mean

        return jax.lax.scan(part, (state, hall), jax.random.split(key, KEPT))[1]

    return one


def _all_meet(how: Outputs, networks: jax.Array) -> jax.Array:
    """Points a game of each network against each other one, over one game from each side."""
    found = play(how, networks, Networks(how, networks), jax.random.key(0), jnp.zeros(len(networks), jnp.int32)).points
    return 0.5 * (found[:, : len(networks)] + found[:, len(networks) :])


PARTS: dict[str, Callable[[str, bool], list[dict[str, Any]]]] = {
    "populations": populations,
    "million": million,
    "memory": memory,
    "chance": chance,
}

OF_SOME_GAMES = {"million": ("tic_tac_toe",), "chance": ("connect_four", "checkers")}
"""The parts that are not of all games."""


def _lines(found: Any) -> str:
    if isinstance(found, list):
        return "[\n" + ",\n".join(f"  {json.dumps(row)}" for row in found) + "\n ]"
    return json.dumps(found)


if __name__ == "__main__":
    main()
