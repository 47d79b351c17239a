"""The players that search do what their specs say: rule, evaluator, trees, options, and the sign of a run's values."""

import itertools
import math
import re
import time

import jax
import jax.numpy as jnp
import numpy as np
import pytest

import jaxgames
from jaxgames import players
from jaxgames.algos import mcts
from jaxgames.algos.td import make_config
from jaxgames.players.mcts import KINDS
from jaxgames.runs import Run

GAME = jaxgames.make("tic_tac_toe")
CENTER = 4
REPLIES = mcts.last_good_reply(forget=False, path=False)

ROLLOUTS = {
    "uct": (mcts.uct(), mcts.rollout()),
    "uct,c=0.3": (mcts.uct(c=0.3), mcts.rollout()),
    "rave": (mcts.rave(), mcts.rollout()),
    "rave,k=7": (mcts.rave(k=7), mcts.rollout()),
    "rave,k=7,c=0.3": (mcts.rave(k=7, c=0.3), mcts.rollout()),
    "amaf": (mcts.amaf(), mcts.rollout()),
    "amaf,alpha=0.2": (mcts.amaf(alpha=0.2), mcts.rollout()),
    "amaf,alpha=0.2,c=0.3": (mcts.amaf(alpha=0.2, c=0.3), mcts.rollout()),
    "lgr": (mcts.uct(), REPLIES),
    "lgr,c=0.3": (mcts.uct(c=0.3), REPLIES),
    "lgr,forget=1": (mcts.uct(), mcts.last_good_reply(forget=True, path=False)),
    "lgr,path=1": (mcts.uct(), mcts.last_good_reply(forget=False, path=True)),
    "rave+lgr": (mcts.rave(k=50), REPLIES),
    "rave+lgr,k=7": (mcts.rave(k=7), REPLIES),
    "rave+lgr,c=0.3": (mcts.rave(k=50, c=0.3), REPLIES),
    "rave+lgr,forget=1": (mcts.rave(k=50), mcts.last_good_reply(forget=True, path=False)),
    "rave+lgr,path=1": (mcts.rave(k=50), mcts.last_good_reply(forget=False, path=True)),
    "amaf+lgr,forget=1": (mcts.amaf(), mcts.last_good_reply(forget=True, path=False)),
    "amaf+lgr,path=1": (mcts.amaf(), mcts.last_good_reply(forget=False, path=True)),
    "amaf+lgr": (mcts.amaf(), REPLIES),
    "amaf+lgr,alpha=0.2": (mcts.amaf(alpha=0.2), REPLIES),
    "amaf+lgr,c=0.3": (mcts.amaf(c=0.3), REPLIES),
    "mast": (mcts.uct(), mcts.mast()),
    "mast,c=0.3": (mcts.uct(c=0.3), mcts.mast()),
    "mast,temperature=0.3": (mcts.uct(), mcts.mast(0.3)),
    "ucd": (mcts.ucd(), mcts.rollout()),
    "ucd,c=0.3": (mcts.ucd(c=0.3), mcts.rollout()),
    "ucd,d1=inf": (mcts.ucd(distances=(math.inf, 0, 0)), mcts.rollout()),
    "ucd,d2=2": (mcts.ucd(distances=(1, 2, 0)), mcts.rollout()),
    "ucd,d3=3": (mcts.ucd(distances=(1, 0, 3)), mcts.rollout()),
    "ucd,update=all": (mcts.ucd(update="all"), mcts.rollout()),
    "ucd,symmetries=1": (mcts.ucd(symmetries=True), mcts.rollout()),
    "uct1": (mcts.uct1(), mcts.rollout()),
    "uct1,c=0.3": (mcts.uct1(c=0.3), mcts.rollout()),
    "uct2": (mcts.uct2(), mcts.rollout()),
    "uct2,c=0.3": (mcts.uct2(c=0.3), mcts.rollout()),
    "uct3": (mcts.uct3(), mcts.rollout()),
    "uct3,c=0.3": (mcts.uct3(c=0.3), mcts.rollout()),
    "uct1,symmetries=1": (mcts.uct1(symmetries=True), mcts.rollout()),
    "uct1,update=all": (mcts.uct1(update="all"), mcts.rollout()),
    "uct2,symmetries=1": (mcts.uct2(symmetries=True), mcts.rollout()),
    "uct2,update=all": (mcts.uct2(update="all"), mcts.rollout()),
    "uct3,symmetries=1": (mcts.uct3(symmetries=True), mcts.rollout()),
    "bounded": (mcts.bounded(mcts.uct()), mcts.rollout()),
    "bounded,c=0.3": (mcts.bounded(mcts.uct(c=0.3)), mcts.rollout()),
}
GUIDED = {
    "puct": mcts.puct(),
    "puct,c_init=2": mcts.puct(c_init=2),
    "puct,c_base=99": mcts.puct(c_base=99),
    "gumbel": mcts.gumbel(),
    "gumbel,considered=3": mcts.gumbel(3),
    "gumbel,scale=0": mcts.gumbel(scale=0),
    "recursive": mcts.recursive(),
    "recursive,c=2": mcts.recursive(c=2),
    "one-round": mcts.one_round(),
    "one-round,scale=0": mcts.one_round(scale=0),
}


def told(text, *arguments):
    """The spec of a name with options, with arguments in between."""
    name, _, options = text.partition(",")
    return ":".join([name, *arguments]) + (f",{options}" if options else "")


def test_rules_differ():
    """So that the next two tests tell them apart; the tables have all names and all options. UCT3 is a case of UCD."""
    rollouts = {name: pair[0] for name, pair in ROLLOUTS.items() if not re.search("lgr|mast", name)}
    for rules in (rollouts, GUIDED):
        equal = [pair for pair in itertools.combinations(rules, 2) if rules[pair[0]] == rules[pair[1]]]
        assert equal == ([("ucd,d1=inf", "uct3")] if rules is rollouts else [])
    kinds = [
        mcts.rollout(),
        mcts.mast(),
        mcts.mast(0.3),
        *(mcts.last_good_reply(forget=f, path=p) for f in (False, True) for p in (False, True)),
    ]
    assert all(one != other for number, one in enumerate(kinds) for other in kinds[:number])
    named = {name.split(",")[0] for name in (*ROLLOUTS, *GUIDED)}
    assert named == set(KINDS)
    for name, kind in KINDS.items():
        for option in {*kind.options, *kind.evaluator_options} - {"rollouts"}:  # tested with a network of AlphaZero's
            assert any(text.startswith(f"{name},") and f",{option}=" in text for text in (*ROLLOUTS, *GUIDED))


@pytest.mark.parametrize("text", ROLLOUTS)
def test_rule_and_rollouts_of_a_spec(text):
    for trees in (1, 3):
        spec = told(text, "17") + (f",trees={trees}" if trees > 1 else "")
        player = players.make(spec, GAME)
        turn = player.turn
        assert (turn.rule, player.params) == ROLLOUTS[text]
        assert (player.name, turn.game, turn.simulations, turn.trees) == (spec, GAME, 17, trees)


@pytest.mark.parametrize(
    ("spec", "message"),
    [
        ("uct:8,trees=257", "trees '257': expected a whole number from 1 to 256"),
        ("uct:8,c=1000001", "c '1000001': expected a number from 0 to 1,000,000"),
        ("uct:8,c=nan", "c 'nan': expected a number"),
        ("uct:8,k=3", "no option 'k'; it has: c, trees, leaves, final"),
        ("uct:8,final=best", "final 'best': expected one of visits, mean"),
        ("rave:8,k=0", "k '0': expected a number above 0, at most 1,000,000"),
        ("mast:8,temperature=0", "temperature '0': expected a number from 0.01 to 1,000,000"),
    ],
)
def test_options_out_of_range(spec, message):
    with pytest.raises(ValueError) as error:
        players.make(spec, GAME)
    said = str(error.value)
    assert said.startswith(f"player '{spec}': ") and message in said and "\n" not in said


@pytest.mark.parametrize(
    ("spec", "rule", "evaluator", "simulations", "trees"),
    [
        ("uct:40,c=3", mcts.uct(c=3), mcts.rollout(), 40, 1),
        ("lgr:40", mcts.uct(), REPLIES, 40, 1),
        ("uct:30,trees=2", mcts.uct(), mcts.rollout(), 30, 2),
    ],
)
def test_a_player_plays_what_its_search_finds(spec, rule, evaluator, simulations, trees):
    positions = jax.jit(jax.vmap(GAME.init_position))(jax.random.split(jax.random.key(0), 48))
    bits = jax.random.bits(jax.random.key(1), (48,))
    found = mcts.search_positions(GAME, positions, bits, simulations, rule, evaluator, num_trees=trees)
    player = players.make(spec, GAME)
    played = player.turn(player.params, positions, bits)
    right = jax.jit(jax.vmap(GAME.play))(positions, found.actions)
    for one, other in zip(jax.tree.leaves(played), jax.tree.leaves(right), strict=True):
        np.testing.assert_array_equal(one, other)


@pytest.fixture(scope="module")
def run(tmp_path_factory):
    """A run whose network says that whoever has the center wins."""
    config = make_config(game="tic_tac_toe", encoding="observation", hidden=(), outputs=2)
    content = {"kind": "td", "game": "tic_tac_toe", "learner": config.to_json()}
    run = Run.create(tmp_path_factory.mktemp("runs") / "center", content)
    value = np.zeros((9, 2, 2), np.float32)  # square, own or other mark, chance to win and to lose
    value[CENTER] = [[10, -10], [-10, 10]]
    shapes = config.network().init(jax.random.key(0))
    run.save_best(jax.tree.map(lambda x: jnp.asarray(value.reshape(x.shape) if x.ndim == 2 else 0 * x), shapes), {})
    return str(run.path)


@pytest.mark.parametrize("text", GUIDED)
def test_rule_of_a_search_that_a_run_guides(run, text):
    spec = told(text, run, "12")
    player = players.make(spec, GAME)
    turn, one_ply = player.turn, players.make(run, GAME)
    assert (player.name, turn.rule, turn.simulations, turn.trees) == (spec, GUIDED[text], 12, 1)
    assert player.params.make_value == one_ply.turn.make_value
    jax.tree.map(np.testing.assert_array_equal, player.params.params, one_ply.params)
    assert players.make(f"puct:{run}:12,trees=2", GAME).turn.trees == 2
    with pytest.raises(ValueError, match="no option 'trees'; it has: considered, scale"):
        players.make(f"gumbel:{run}:12,trees=2", GAME)


@pytest.mark.parametrize(
    "form",
    [
        "{run}",
        "{run}@2",
        "puct:{run}:60",
        "one-round:{run}:12,scale=0",
        *(pytest.param(form, marks=pytest.mark.slow) for form in ("gumbel:{run}:12", "recursive:{run}:60")),
    ],
)
def test_a_network_steers_to_what_it_thinks_is_won(run, form):
    """The center is taken where it is free; with the sign of the values turned, it would be taken nowhere."""
    player = players.make(form.format(run=run), GAME)
    texts = [".../.../...", "X../.../...", "XO./.../...", "XOX/O../.X."]
    positions = jax.tree.map(lambda *x: np.stack(x), *map(GAME.parse, texts))
    bits = jax.random.bits(jax.random.key(2), (len(texts),))
    after = jax.jit(player.turn)(player.params, positions, bits).position
    center = jax.jit(jax.vmap(lambda position: GAME.play(position, jnp.int32(CENTER)).position))(positions)
    for one, other in zip(jax.tree.leaves(after), jax.tree.leaves(center), strict=True):
        np.testing.assert_array_equal(one, other)


def test_replies_are_kept_over_a_game_only_if_asked():
    """The second turn's search begins with what the first one learned."""
    positions = jax.jit(jax.vmap(GAME.init_position))(jax.random.split(jax.random.key(0), 8))
    bits, games = jax.random.bits(jax.random.key(1), (8,)), jnp.arange(8, dtype=jnp.int32)
    forgets, keeps = players.make("lgr:30", GAME), players.make("lgr:30,keep=1", GAME)
    assert forgets.begin(games) == ()
    nothing = keeps.begin(games)
    assert nothing.shape[0] == 8 and not nothing.any()
    first, learned = keeps.play(positions, bits, nothing)
    jax.tree.map(np.testing.assert_array_equal, first, forgets.play(positions, bits, ())[0])
    found = mcts.search_positions(GAME, positions, bits, 30, mcts.uct(), REPLIES)
    np.testing.assert_array_equal(learned, found.memory.reshape(-1, 8).T)
    again = mcts.search_positions(GAME, positions, bits + 1, 30, mcts.uct(), REPLIES, memory=found.memory)
    second, later = keeps.play(positions, bits + 1, learned)
    right = jax.jit(jax.vmap(GAME.play))(positions, again.actions)
    jax.tree.map(np.testing.assert_array_equal, second, right)
    np.testing.assert_array_equal(later, again.memory.reshape(-1, 8).T)
    assert (np.asarray(later) != np.asarray(keeps.play(positions, bits + 1, nothing)[1])).any()


@pytest.mark.parametrize("spec", ["uct:0.2s", "alphabeta:0.2s"])
def test_a_budget_of_time_is_used_and_kept(spec):
    """The best of a few tries, as other processes may take the machine away."""
    game = jaxgames.make("connect_four")
    player, position = players.make(spec, game), game.parse("4444")
    assert player.name == spec
    play = jax.jit(lambda bits: player.play(jax.tree.map(lambda x: x[None], position), bits, ())[0])
    jax.block_until_ready(play(jnp.zeros(1, jnp.uint32)))
    took = []
    for number in range(6):
        began = time.perf_counter()
        jax.block_until_ready(play(jnp.full(1, number, jnp.uint32)))
        took.append(time.perf_counter() - began)
    assert 0.1 < min(took) < 0.2 * 1.05


def test_no_time_is_enough_for_one_simulation_and_one_depth():
    position = jax.tree.map(lambda x: x[None], GAME.parse("XX./OO./..."))
    bits = jnp.zeros(1, jnp.uint32)
    found = mcts.search_positions(GAME, position, bits, 1, mcts.uct(), mcts.rollout(), seconds=1e-6)
    assert found.visits.sum() >= 1
    # A depth that was not finished does not count: nothing is known of the empty board but that nobody has won.
    both = jax.tree.map(lambda *x: jnp.stack(x), GAME.parse("XX./OO./..."), GAME.parse(".../.../..."))
    best = players.make("alphabeta:0.000001s", GAME).turn.search(both, jnp.zeros(2, jnp.uint32))
    assert best.actions[0] == 2 and best.values[1] == 0


@pytest.mark.parametrize(
    ("spec", "message"),
    [
        ("uct:0s", "player 'uct:0s': '0s': expected a time above 0 s, at most 3600 s"),
        ("uct:0.000s", "expected a time above 0 s"),
        ("alphabeta:0s", "player 'alphabeta:0s': '0s': expected a time above 0 s, at most 3600 s"),
        ("uct:4000s", "expected a time above 0 s, at most 3600 s"),
        ("uct:2m", "player 'uct:2m': '2m': expected a whole number from 1 to"),
        ("minimax:1s", "player 'minimax:1s': '1s': expected a whole number from 1 to"),
        ("lgr:8,keep=2", "keep '2': expected one of 0, 1"),
        ("ucd:8,d1=17", "d1 '17': expected one of 0, 1, "),
    ],
)
def test_budgets_and_words_that_cannot_be(spec, message):
    with pytest.raises(ValueError) as error:
        players.make(spec, GAME)
    assert message in str(error.value) and "\n" not in str(error.value)


@pytest.mark.parametrize(
    ("changes", "line"),
    [
        ({"game": "tic_tac_toe"}, "game 'tic_tac_toe': expected"),
        ({"rule": "puct"}, "rule 'puct': expected a rule, such as"),
        ({"evaluate": 3}, "evaluate 3: expected an evaluator"),
        ({"simulations": 2.5}, "simulations 2.5: expected a whole number from 1 on"),
        ({"discount": 5.0}, "discount 5.0: expected a number above 0, at most 1"),
        ({"name": 3}, "name 3: expected a text"),
    ],
)
def test_a_player_by_a_search_says_what_is_wrong(changes, line):
    of = {"game": GAME, "rule": mcts.uct(), "evaluate": mcts.rollout(), "simulations": 2} | changes
    with pytest.raises((TypeError, ValueError), match=line):
        players.by_search(**{"name": "mine", **of})
