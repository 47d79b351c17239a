"""Every use of random bits has bits of its own, and always the same ones: paths from the key to each, in `keys.txt`.

Whoever changes them changes what a seed means: trainings, matches and searches then give other bits. If that should be,
remove `keys.txt`, and this test writes it anew. How a seed becomes a key or the bits of NumPy, and that whatever has a
seed or a key uses it, is in `test_seeds.py`.
"""

import dataclasses
import difflib
from collections.abc import Callable, Iterator
from importlib import import_module
from pathlib import Path
from typing import Any, NamedTuple

import jax
import jax.numpy as jnp
import numpy as np
import pytest

import jaxgames
from jaxgames import players
from jaxgames.algos import alphazero, evolution, imitation, mcts, minimax, td
from jaxgames.algos.alphazero.self_play import begin_games
from jaxgames.algos.evolution import operators
from jaxgames.algos.evolution.evolution import Evolution
from jaxgames.algos.evolution.saved import NetworkConfig
from jaxgames.algos.evolution.strategies.open_es import OpenESConfig
from jaxgames.algos.self_play_backprop import PopulationMLP, SelfPlayBackprop, encode_with
from jaxgames.algos.td.self_play import init_games, play_ply
from jaxgames.envs.rollout import step_batch
from jaxgames.matches import host_games
from jaxgames.nets import MLP, NetworkSpec
from jaxgames.recipes.training import run_updates
from jaxgames.sessions import session
from tests import key_paths
from tests.players.dash import GAME as DASH
from tests.players.dash import Lead

FILE = Path(__file__).with_name("keys.txt")
matches, rollouts = (import_module(f"jaxgames.matches.{name}") for name in ("match", "rollout"))
HEAD = "# Which random bits every part uses, by program: how they are made of a key > where. See test_keys.py.\n"

TTT, BACKGAMMON = jaxgames.make("tic_tac_toe"), jaxgames.make("backgammon")
KEY = jax.random.key(0)
NET = NetworkSpec(hidden=(2,))
TOY = {"game": "tic_tac_toe", "encoding": "observation", "hidden": (2,), "outputs": 2, "epsilon": 0.1}
MLP_9 = MLP((9,), biases=False)
GENOMES = evolution.Genomes(MLP_9, 9)
POLICY = evolution.Outputs(TTT, GENOMES, "cells")
BITS = jnp.zeros(2, jnp.uint32)

Program = tuple[Callable[..., Any], ...]
"""A function, and the arguments besides the last one, a key or random bits, which is given here."""


def states_of(game: Any) -> Any:
    """Two states."""
    return jax.vmap(game.init)(jax.random.split(KEY, 2))


def positions_of(game: Any) -> Any:
    """Two positions."""
    return states_of(game)._position


def network(params: Any, observation: Any) -> Any:
    """A network of tic-tac-toe that knows nothing."""
    return jnp.zeros((len(observation), 9)), jnp.zeros(len(observation))


NETWORK = mcts.network(network, jnp.zeros(()))


def searched(game: Any, rule: Any, evaluator: Any, **options: Any) -> Callable[..., Any]:
    """A search of two positions."""

    def search(bits):
        return mcts.search_positions(game, positions_of(game), bits, 3, rule, evaluator, **options).actions

    return search


def programs() -> Iterator[tuple[str, Callable[..., Any], tuple[Any, ...]]]:
    """Name, function, and arguments: keys and bits are followed."""
    # games
    yield "init", TTT.init, (KEY,)
    yield "init of backgammon", BACKGAMMON.init, (KEY,)
    yield "step", lambda key: DASH.step(DASH.init(KEY), 1, key), (KEY,)
    yield "random_action", lambda key: jaxgames.random_action(key, states_of(TTT)), (KEY,)
    yield "step_batch", lambda key: step_batch(DASH, states_of(DASH), BITS.astype(jnp.int32), key), (KEY,)
    for resets in (False, True):
        options = {"auto_reset": resets, "games_at_once": 1}
        yield f"rollout, {resets}", lambda key, o=options: jaxgames.rollout(DASH, states_of(DASH), key, 2, **o), (KEY,)
    resets = jaxgames.auto_reset(DASH.step, DASH.init)
    yield "auto_reset", lambda key: resets(DASH.init(KEY), 1, key), (KEY,)
    yield "random turns", lambda bits: TTT.random_turn(positions_of(TTT), bits), (BITS,)
    yield "outcomes", lambda bits: BACKGAMMON.draw_outcome(bits), (BITS,)
    # searches
    for name, rule, evaluator, game, options in (
        ("uct", mcts.uct(), mcts.rollout(), DASH, {"num_trees": 2}),
        ("rave", mcts.rave(), mcts.rollout(), TTT, {}),
        ("last good replies", mcts.uct(), mcts.last_good_reply(), TTT, {}),
        ("mast", mcts.uct(), mcts.mast(), TTT, {}),
        ("mixture", mcts.uct(), mcts.mixture(0.5, mcts.rollout(), mcts.rollout()), TTT, {}),
        ("gumbel", mcts.gumbel(3), NETWORK, TTT, {}),
        ("puct", mcts.puct(), NETWORK, TTT, {}),
        ("transpositions", mcts.ucd(distances=(2, 0, 0)), mcts.rollout(), TTT, {}),
        ("bounded", mcts.bounded(mcts.uct()), mcts.rollout(), TTT, {}),
    ):
        yield f"search: {name}", searched(game, rule, evaluator, **options), (BITS,)
    options = {"select": "puct", "evaluate": NETWORK, "noise": mcts.dirichlet(), "temperature": 1.0}
    yield "search: noise", lambda key: mcts.search(TTT, states_of(TTT), key, 2, **options).actions, (KEY,)
    yield "alphabeta", lambda key: minimax.alphabeta(TTT, states_of(TTT), 2, key).actions, (KEY,)
    # players
    for spec in ("random", "weak:0.5:random", "exact:random", "lgr:3,keep=1"):
        yield f"player {spec}", player_turn(spec, TTT), (BITS,)
    yield "player simple:3", player_turn("simple:3", BACKGAMMON), (BITS,)
    memory = players.make("random", TTT).init_memory(2)
    yield "act", lambda key: players.make("random", TTT).act(states_of(TTT), key, memory)[0], (KEY,)
    # learners
    for search in ("gumbel", "puct"):
        config = alphazero.AlphaZeroConfig(
            NET, batch=2, plies=2, simulations=3, search=search, opening_plies=2, buffer_plies=4, steps=2, minibatch=2
        )
        config = config.replace(fast_share=0.5, fast_simulations=2)
        learner = alphazero.make_learner(TTT, config)
        yield f"AlphaZero: {search}: init", learner.init, (KEY,)
        yield f"AlphaZero: {search}: update", learner.update, (jax.eval_shape(learner.init, KEY), KEY)
    yield "AlphaZero: openings", lambda key: begin_games(DASH, key, 2, 1), (KEY,)
    for method in td.METHODS:
        more = {"restarts": 0.5, "members": 2} if method == "expected" else {}
        toy = {name: value for name, value in TOY.items() if name != "epsilon"} if "sequential" in method else TOY
        sizes = {"games": 2} if "sequential" in method else {"batch": 2, "plies": 2}
        learner = td.make_learner(td.make_config(method, **toy, **sizes, **more))
        yield f"TD: {method}: init", learner.init, (KEY,)
        yield f"TD: {method}: update", learner.update, (jax.eval_shape(learner.init, KEY), KEY)
    learner = td.make_learner(td.make_config("sequential_td", hidden=(2,), games=2))
    yield "TD: sequential, with dice", learner.update, (jax.eval_shape(learner.init, KEY), KEY)
    yield "TD: ply", td_ply, (KEY,)
    learner = imitation.make_learner(TTT, imitation.ImitationConfig(NET, minibatch=2))
    yield "imitation: init", lambda key: learner.init(key, rows()), (KEY,)
    yield "imitation: update", learner.update, (jax.eval_shape(learner.init, KEY, rows()), KEY)
    population = PopulationMLP(MLP((2, 1)), 9)
    backprop = SelfPlayBackprop(TTT, population, encode_with(TTT.encodings["cells"]), 2, 9)
    yield "self-play backprop: init", backprop.init, (KEY,)
    yield "self-play backprop: update", backprop.update, (jax.eval_shape(backprop.init, KEY), KEY)
    # evolution
    strategies = {
        "neuroevolution": evolution.Neuroevolution(
            4, 81, GENOMES.init, operators.Tournament(2), operators.Gaussian(), operators.Segments()
        ),
        "fitness weighted": evolution.Neuroevolution(
            4, 81, GENOMES.init, operators.FitnessWeighted(), operators.Cubic(), operators.WholeLayers((40, 41))
        ),
        "open_es": evolution.OpenES(4, 81),
        "evosax": evolution.Evosax("CMA_ES", 4, 81),
        "map_elites": evolution.MapElites(4, 81, GENOMES.init, (0.0,), (1.0,), 3),
        "nsga2": evolution.NSGA2(4, 81, GENOMES.init),
    }
    for name, strategy in strategies.items():
        yield f"evolution: {name}: init", strategy.init, (KEY,)
        state = jax.eval_shape(strategy.init, KEY)
        yield f"evolution: {name}: ask", lambda state, one=strategy: one.ask(state, FOUR), (state,)
        yield (
            f"evolution: {name}: tell",
            lambda state, one=strategy: one.tell(state, scores_for(one)),
            (state,),
        )
    es = strategies["open_es"]
    fitness = evolution.ByPlay(POLICY, evolution.RandomMoves(2))
    both = (jax.eval_shape(es.init, KEY), KEY)
    yield "evolution: generation", lambda state, key: evolution.generation(es, fitness, state, key, 4), both
    for schedule in ("sequential", "parallel"):
        group = evolution.GroupGA(81, GENOMES.init, 3, 4, 2, 1, 2, schedule=schedule, crossover=operators.Segments())
        state = jax.eval_shape(group.init, KEY)
        yield f"evolution: groups: {schedule}", lambda state, one=group: one.update(state, points), (state,)
    climb = evolution.HillClimb(81)
    yield "evolution: hill climbing", lambda state: climb.update(state, drawn_match), (jax.eval_shape(climb.init, KEY),)
    yield "evolution: genomes", lambda key: GENOMES.init(key, jnp.arange(2, dtype=jnp.int32)), (KEY,)
    yield "evolution: play", against_networks, (KEY,)
    yield "evolution: duel", lambda key: evolution.duel(DASH, Lead().value, *LEADS, key, 2, 3).points, (KEY,)
    population = Evolution(OpenESConfig(SMALL_NETWORK, population=4, opponents="hall*1+others*2+random*2"))
    state = jax.eval_shape(population.strategy.init, KEY)
    yield "evolution: population: init", population.strategy.init, (KEY,)
    yield "evolution: population", lambda state: population.strategy.generation(state, population), (state,)
    with_league = Evolution(OpenESConfig(SMALL_NETWORK, population=4, opponents="league*1+random*2", league_size=2))
    state = jax.eval_shape(with_league.strategy.init, KEY)
    yield "evolution: population with a league: init", with_league.strategy.init, (KEY,)
    yield "evolution: population with a league", lambda one: with_league.strategy.generation(one, with_league), (state,)
    league = evolution.League.of(jnp.zeros((2, 1)), 3)
    yield "evolution: league", lambda key: league.draw(key, 2), (KEY,)
    # matches, sessions, recipes
    pair = (players.make("random", TTT), players.greedy(DASH, "lead", jnp.float32(1), Lead().value))
    pair = (dataclasses.replace(players.random(DASH)), pair[1])
    yield "match", lambda key: matches._play_plies(pair, matches._init(pair, 2), key, *LIMITS), (KEY,)
    yield "match on the host", lambda key: host_games._bits(key, NUMBERS, NUMBERS), (KEY,)
    yield (
        "match on the host: openings",
        lambda key: host_games._openings(DASH, key, np.arange(2, dtype=np.int32)),
        (KEY,),
    )
    leader = pair[1]
    yield (
        "rollout of a position",
        lambda key: rollouts._play(leader, DASH.init(KEY)._position, key, 2, LIMITS[1]),
        (KEY,),
    )
    yield "session: begin", lambda key: session._init(DASH, key), (KEY,)
    yield "session: roll", lambda key: session._roll(DASH.init(KEY), key, LIMITS[0])[0], (KEY,)
    yield "session: turn", lambda key: session._player_bits(key, LIMITS[0], LIMITS[1]), (KEY,)
    yield "updates", lambda key: run_updates(Counted(), Counts(jnp.int32(0)), key, 2), (KEY,)


def player_turn(spec: str, game: Any) -> Callable[..., Any]:
    """The turns of a player in two positions."""
    player = players.make(spec, game)
    return lambda bits: player.play_once(positions_of(game), bits)


SMALL_NETWORK = NetworkConfig("tic_tac_toe", "afterstate").replace(hidden=(2,))
LEADS = jnp.float32(1), jnp.float32(-1)
LIMITS = jnp.int32(1), jnp.int32(9)
NUMBERS, FOUR = jnp.arange(2, dtype=jnp.int32), jnp.arange(4, dtype=jnp.int32)


def scores_for(strategy: Any) -> jax.Array:
    """What is told of four candidates."""
    columns = getattr(strategy, "columns", None)
    return FOUR.astype(jnp.float32) if columns is None else jnp.zeros((4, columns))


def points(genomes: Any, met: Any, numbers: Any, key: Any) -> Any:
    """Games of networks with each other, by lot."""
    return jax.random.uniform(key, (len(genomes), len(met)), jnp.float32)


def drawn_match(champion: Any, mutant: Any, key: Any) -> Any:
    """A match by lot."""
    return jax.random.uniform(key, (4,), jnp.float32)


def against_networks(key: Any) -> Any:
    """Games of networks with networks and with random moves."""
    genomes = jnp.zeros((2, GENOMES.dimension))
    met = (evolution.Networks(POLICY, genomes), evolution.RandomMoves(2))
    return [evolution.play(POLICY, genomes, one, key, NUMBERS, most_plies=9) for one in met]


def td_ply(key: Any) -> Any:
    """A ply in a game of chance."""
    return play_ply(DASH, init_games(DASH, key, 2), Lead().value(jnp.float32(1)), key, 0.1)


def rows() -> imitation.LabeledPositions:
    """Two examples."""
    none, one = np.zeros(2), np.ones((2, 9), np.float16) / 9
    mask = np.ones((2, 9), bool)
    numbers = np.arange(2)
    return imitation.LabeledPositions(
        positions_of(TTT), mask, one, *(none.astype(np.float32) for _ in range(3)), numbers, none > 0
    )


class Counts(NamedTuple):
    """Stands for a state."""

    updates: jax.Array


@dataclasses.dataclass(frozen=True)
class Counted:
    """Stands for a learner: it needs bits."""

    def update(self, state: Any, key: Any) -> Any:
        """Counts, and draws."""
        return state, jax.random.bits(key, dtype=jnp.uint32)


def found() -> dict[str, list[str]]:
    """The paths of every program."""
    with key_paths.hashes_named():
        return {name: key_paths.paths(program, *arguments) for name, program, arguments in programs()}


def text(found: dict[str, list[str]]) -> str:
    """As in the file."""
    return HEAD + "".join(f"\n{name}\n" + "".join(f"    {one}\n" for one in lines) for name, lines in found.items())


@pytest.fixture(scope="module")
def now():
    return found()


def test_every_use_has_the_bits_it_has_always_had(now):
    """Exchange two keys of a split, leave one out, draw twice by one: another line."""
    if not FILE.exists():
        FILE.write_text(text(now), "utf-8")
        pytest.fail("keys.txt is written anew: read what has changed")
    kept, here = FILE.read_text("utf-8").splitlines(), text(now).splitlines()
    changed = list(difflib.unified_diff(kept, here, "keys.txt", "now", lineterm="", n=0))
    assert not changed, "\n".join(
        ["other random bits are used; if they should, remove tests/keys.txt and run this test again", *changed]
    )


def test_no_bits_are_used_twice(now):
    twice = {name: lines for name, of in now.items() if (lines := key_paths.reused(of))}
    assert twice == {}


class TestPaths:
    """The helper sees what it is for."""

    @staticmethod
    def two(key, exchanged=False, again=False):
        one, other = jax.random.split(key)
        first, second = (other, one) if exchanged else (one, one) if again else (one, other)
        return jax.random.uniform(first, (2,), jnp.float32), _another(second)

    def test_an_exchange_and_a_second_use(self):
        plain = key_paths.paths(self.two, KEY)
        assert len(plain) == 2 and not key_paths.reused(plain)
        assert key_paths.paths(lambda key: self.two(key, exchanged=True), KEY) != plain
        assert key_paths.paths(lambda key: self.two(key, again=True), KEY) != plain


def _another(key):
    return jax.random.bits(key, (2,), jnp.uint32)
