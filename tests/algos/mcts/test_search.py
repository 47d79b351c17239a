"""What a search is asked for and what it says: settings that cannot be, ends of games, full trees, trees used again."""

import functools
import re
import sys
from types import SimpleNamespace

import jax
import jax.numpy as jnp
import numpy as np
import pytest

import jaxgames
from jaxgames.algos import mcts
from jaxgames.algos.mcts.tree import UNEXPANDED
from jaxgames.envs.rollout import rollout

BATCH, SIMULATIONS, CAPACITY = 16, 60, 62


def linear(params, observation):
    """A network of one layer."""
    outputs = observation.reshape(len(observation), -1).astype(jnp.float32) @ params
    return outputs[:, 1:], jnp.tanh(outputs[:, 0])


@pytest.fixture(scope="module")
def game():
    return jaxgames.make("tic_tac_toe")


@pytest.fixture(scope="module")
def states(game):
    """After two moves; the last four after a move that won."""
    fresh = jax.jit(jax.vmap(game.init))(jax.random.split(jax.random.key(0), BATCH - 4))
    begun = rollout(game, fresh, jax.random.key(1), 2, keep=lambda transition: ())[0]
    won = game.step(game.from_string("XX./OO./..."), jnp.int32(2))
    return jax.tree.map(lambda x, y: jnp.concatenate([x, jnp.stack([y] * 4)]), begun, won)


@pytest.fixture(scope="module")
def result(game, states):
    return mcts.search(game, states, jax.random.key(2), SIMULATIONS, capacity=CAPACITY)


@pytest.fixture(scope="module")
def net(game):
    return mcts.network(linear, jax.random.normal(jax.random.key(3), (18, 10)) * 0.3)


def test_every_simulation_counts_once_and_weights_are_a_policy(states, result):
    alive = ~np.asarray(states.terminated)
    visits, weights = np.asarray(result.visits), np.asarray(result.weights)
    assert alive.any() and not alive.all()
    np.testing.assert_array_equal(visits.sum(1), np.where(alive, SIMULATIONS, 0))
    np.testing.assert_allclose(weights.sum(1), alive, atol=1e-6)
    assert not visits[~np.asarray(states.legal_action_mask)].any()
    chosen = visits[np.arange(BATCH), np.asarray(result.actions)]
    np.testing.assert_array_equal(chosen, visits.max(1))


def test_a_finished_root_keeps_its_value(states, result):
    over = np.asarray(states.terminated)
    mine = np.asarray(states.rewards)[np.arange(BATCH), np.asarray(states.current_player)]
    assert (mine[over] == -1).all() and over.sum() == 4
    np.testing.assert_array_equal(np.asarray(result.values)[over], mine[over])


def test_advanced_trees_keep_the_visits_below_the_move(game, states, result):
    after = jax.jit(jax.vmap(game.step))(states, result.actions)
    kept = mcts.advance(result.tree, after)
    alive = ~np.asarray(after.terminated)
    taken = np.asarray(result.visits)[np.arange(BATCH), np.asarray(result.actions)]
    # The first visit of the edge made the node, the others went on from it.
    np.testing.assert_array_equal(np.asarray(kept.root("visits")).sum(1)[alive], taken[alive] - 1)
    more = mcts.search(game, after, jax.random.key(4), SIMULATIONS, tree=kept)
    assert int(more.tree.used) == CAPACITY  # full, and nothing is lost:
    np.testing.assert_array_equal(np.asarray(more.visits).sum(1)[alive], taken[alive] - 1 + SIMULATIONS)
    check_tree(game, after, more.tree)


def test_a_position_that_is_not_in_the_tree_begins_a_new_one(game, states, result):
    fresh = jax.jit(jax.vmap(game.init))(jax.random.split(jax.random.key(9), BATCH))
    begun = mcts.advance(result.tree, fresh)
    assert not np.asarray(begun.root("visits")).any() and (np.asarray(begun.root("child")) == UNEXPANDED).all()


def test_a_full_tree_stays_whole_and_all_simulations_count(game, states):
    found = mcts.search(game, states, jax.random.key(2), SIMULATIONS, capacity=5)
    alive = ~np.asarray(states.terminated)
    np.testing.assert_array_equal(np.asarray(found.visits).sum(1)[alive], SIMULATIONS)
    check_tree(game, states, found.tree)


def check_tree(game, states, tree):
    """Every child is where playing its edge leads, and has as many visits as its edge, but for the first one."""
    layout, slots = tree.layout, int(tree.used)
    rows = np.asarray(tree.edges).reshape(-1, tree.batch, layout.columns)
    cells = np.asarray(tree.position.cells).reshape(-1, tree.batch)
    place = {name: slice(layout.column(name), layout.column(name) + 9) for name in ("visits", "child")}
    play = jax.jit(jax.vmap(lambda cell, action: game.play(type(tree.position)(cell), action).position.cells))
    legal = np.asarray(jax.vmap(game.legal)(tree.position)).reshape(-1, tree.batch, 9)
    parents = [
        (slot, lane, action, int(child))
        for slot in range(slots)
        for lane in np.flatnonzero(np.asarray(tree.alive))
        for action, child in enumerate(rows[slot, lane, place["child"]])
        if child >= 0 and rows[slot, lane, place["visits"]].sum() > 0
    ]
    assert parents
    slot, lane, action, child = np.array(parents).T
    assert (child < slots).all() and (child > slot).all() and legal[slot, lane, action].all()
    np.testing.assert_array_equal(cells[child, lane], play(cells[slot, lane], action))
    taken = rows[slot, lane][:, place["visits"]][np.arange(len(slot)), action]
    np.testing.assert_array_equal(rows[child, lane][:, place["visits"]].sum(1), taken - 1)


def test_trees_of_one_position_are_merged_at_the_root(game, states):
    one = jax.tree.map(lambda x: x[:1], game.state(states._position, states.current_player))
    one = jax.jit(jax.vmap(game.init))(jax.random.split(jax.random.key(0), 1))
    found = mcts.search(game, one, jax.random.key(2), SIMULATIONS, num_trees=8)
    assert found.visits.shape == (1, 9) and float(found.visits.sum()) == 8 * SIMULATIONS
    trees = np.asarray(found.tree.root("visits"))
    assert len(np.unique(trees, axis=0)) > 1  # they do differ
    np.testing.assert_array_equal(found.visits[0], trees.sum(0))
    with pytest.raises(ValueError, match=r"expected \[8\]"):
        mcts.advance(found.tree, one)


def test_noise_and_temperature(game, net):
    fresh = jax.jit(jax.vmap(game.init))(jax.random.split(jax.random.key(0), 512))
    calm = mcts.search(game, fresh, jax.random.key(2), 8, select=mcts.puct(), evaluate=net)
    assert len(np.unique(calm.visits, axis=0)) == 1
    noisy = mcts.search(
        game, fresh, jax.random.key(2), 8, select=mcts.puct(), evaluate=net, noise=mcts.dirichlet(), temperature=1.0
    )
    prior = np.asarray(noisy.tree.root("prior"))
    np.testing.assert_allclose(prior.sum(1), 1, atol=1e-5)
    # The mean of Dirichlet noise is that of equal chances.
    expected = 0.75 * np.asarray(calm.tree.root("prior"))[0] + 0.25 / 9
    np.testing.assert_allclose(prior.mean(0), expected, atol=0.015)
    drawn = np.asarray(noisy.weights)[np.arange(512), np.asarray(noisy.actions)]
    assert (drawn > 0).all() and len(np.unique(noisy.actions)) > 3
    expected = (np.asarray(noisy.weights) ** 2).sum(1).mean()  # of the weight of an action drawn by weights
    assert abs(drawn.mean() - expected) < 0.05


def test_a_mixture_has_the_policy_of_the_network_and_both_values(game, states, net):
    mixed = mcts.mixture(0.0, net, mcts.rollout())
    found = mcts.search(game, states, jax.random.key(2), SIMULATIONS, select=mcts.puct(), evaluate=mixed)
    alive = ~np.asarray(states.terminated)
    assert np.isin(np.asarray(found.values)[alive] * SIMULATIONS, np.arange(-SIMULATIONS, SIMULATIONS + 1)).all()


BAD = {
    "num_simulations 0": dict(num_simulations=0),
    "num_simulations 2.5": dict(num_simulations=2.5),
    "max_depth 0": dict(max_depth=0),
    "capacity 0": dict(capacity=0),
    "num_trees 0": dict(num_trees=0),
    "temperature -1.0: expected 0 or more": dict(temperature=-1.0),
    "PUCT needs an evaluator with a policy": dict(select=mcts.puct()),
    "noise is added to a policy, and UCT uses none": dict(noise=mcts.Noise(0.3, 0.25)),
    "expected at most 16,777,216": dict(num_simulations=2**24),
    "trees of .* slots are too many for one search": dict(num_simulations=2**23),
    r"memory float32\[3\]: Rollout learns nothing": dict(memory=np.zeros(3, np.float32)),
    r"memory a tuple: .* of a search by LastGoodReply in 16 trees": dict(evaluate="last_good_reply", memory=()),
}


@pytest.mark.parametrize("message", BAD)
def test_settings_that_cannot_be(game, states, message):
    settings = {"num_simulations": 4, **BAD[message]}
    with pytest.raises(ValueError, match=message) as error:
        mcts.search(game, states, jax.random.key(0), **settings)
    assert "\n" not in str(error.value)


def test_a_search_that_does_not_fit_says_so(game, states, monkeypatch):
    monkeypatch.setattr("jaxgames.algos.mcts.tree.free_bytes", lambda: 100_000)
    with pytest.raises(ValueError, match=r"needs 0\.0 GB \(16 positions x 902 slots x 132 bytes\)"):
        mcts.search(game, states, jax.random.key(0), 900)


def test_more_bad_input(game, states, result, net):
    key = jax.random.key(0)
    with pytest.raises(ValueError, match="a batch of shape .n. is needed here, not one state"):
        mcts.search(game, jax.tree.map(lambda x: x[0], states), key, 4)
    with pytest.raises(ValueError, match="this state is of tic_tac_toe, this game is connect_four"):
        mcts.search(jaxgames.make("connect_four"), states, key, 4)
    with pytest.raises(ValueError, match="search alike"):
        mcts.search(game, states, key, 4, select=mcts.rave(), tree=result.tree)
    with pytest.raises(ValueError, match="the tree is of 16 positions: expected 4"):
        mcts.search(game, jax.tree.map(lambda x: x[:4], states), key, 4, tree=result.tree)
    with pytest.raises(ValueError, match="Gumbel schedules the visits of one tree"):
        mcts.search(game, states, key, 4, select=mcts.gumbel(), evaluate=net, num_trees=2)
    with pytest.raises(ValueError, match=r"the network gives .*float32\[16, 5\].*: expected apply\(params, obs"):
        bad = mcts.network(linear, jnp.zeros((18, 6)))
        mcts.search(game, states, key, 4, select=mcts.puct(), evaluate=bad)
    for make, message in (
        (lambda: mcts.rave(0), "k 0: expected"),
        (lambda: mcts.amaf(2), "alpha 2: expected"),
        (lambda: mcts.gumbel(0), "considered 0: expected"),
        (lambda: mcts.bounded(mcts.gumbel()), "cannot be bounded"),
        (lambda: mcts.mixture(2, net, net), "weight 2: expected"),
        (lambda: mcts.dirichlet(1e-39), "alpha 1e-39: expected a number from 1e-06 to 1,000,000"),
        (lambda: mcts.last_good_reply(limit=0), "limit 0: expected"),
        (lambda: mcts.puct(c_base=0), "c_base 0: expected"),
        (lambda: mcts.puct(c_base=1e39), r"c_base 1e\+39: expected a number from 1e-06 to 1e\+09"),
        (lambda: mcts.puct(qtransform="siblings"), "expected one of min_max, parent_and_siblings"),
    ):
        with pytest.raises(ValueError, match=message):
            make()


@pytest.mark.parametrize("c", [1e30, -1e30, np.inf, np.nan])
@pytest.mark.parametrize("rule", ["uct", "puct", "rave", "amaf", "uct1", "uct2", "uct3"])
def test_constants_of_exploration_that_cannot_be(rule, c):
    name = "c_init" if rule == "puct" else "c"
    expected = "expected a number from -1,000,000 to 1,000,000"
    with pytest.raises(ValueError, match=rf"^{name} {re.escape(str(c))}: {expected}$"):
        getattr(mcts, rule)(**{name: c})


@pytest.mark.parametrize(("option", "number"), [("num_trees", 10**9), ("capacity", 10**12)])
def test_searches_that_no_machine_can_hold_are_refused_at_once(game, states, option, number, monkeypatch):
    def make(*args, **options):
        raise AssertionError("something was made")

    for name in ("init_tree", "random_bits", "fold_in"):
        monkeypatch.setattr(sys.modules["jaxgames.algos.mcts.search"], name, make)
    with pytest.raises(ValueError, match="(too many for one search|too large): (at|expected at) most") as error:
        mcts.search(game, states, jax.random.key(0), 10, **{option: number})
    assert "\n" not in str(error.value)
    if option == "num_trees":
        bits = jnp.zeros(BATCH, jnp.uint32)
        with pytest.raises(ValueError, match="too many for one search"):
            mcts.search_positions(game, states._position, bits, 10, mcts.uct(), mcts.rollout(), num_trees=number)


def test_the_move_of_the_greatest_mean(game, states):
    """Of those visited; for RAVE the mixed mean, not that of the edge alone."""
    alive = ~np.asarray(states.terminated)
    for rule, k in ((mcts.uct(), 0.0), (mcts.rave(k=50, c=0.05), 50.0)):
        found = mcts.search(game, states, jax.random.key(4), SIMULATIONS, select=rule, final="mean")
        visits = np.asarray(found.visits)
        means = np.asarray(found.tree.root("value_sums")) / np.maximum(visits, 1)
        if k:
            amaf = found.tree.root("amaf_value_sums") / np.maximum(found.tree.root("amaf_visits"), 1)
            beta = np.sqrt(k / (3 * visits + k))
            mixed = (1 - beta) * means + beta * np.asarray(amaf)
            assert (np.where(visits > 0, mixed, -9).argmax(1) != np.where(visits > 0, means, -9).argmax(1))[alive].any()
            means = mixed
        best = np.where(visits > 0, means, -9)
        chosen = best[np.arange(BATCH), np.asarray(found.actions)]
        np.testing.assert_allclose(chosen[alive], best.max(1)[alive], atol=1e-6)
    most = mcts.search(game, states, jax.random.key(4), SIMULATIONS, select=rule)
    np.testing.assert_array_equal(most.visits, found.visits)
    assert (np.asarray(most.actions) != np.asarray(found.actions))[alive].any()
    nodes = SimpleNamespace(layout=SimpleNamespace(game=game))
    lost = SimpleNamespace(visits=np.float32([0, 3, 2]), q=np.float32([0, -0.9, -0.8]))
    assert np.argmax(mcts.uct().mean_preference(nodes)(lost)) == 2  # nothing is known of the first one
    with pytest.raises(ValueError, match="final 'best': expected one of visits, mean"):
        mcts.search(game, states, jax.random.key(4), 8, final="best")


def test_constants_of_a_rule_may_be_arrays_with_a_number_for_each_tree(game, states):
    c, k = jnp.where(jnp.arange(BATCH) % 2, 0.1, 1.0), jnp.where(jnp.arange(BATCH) % 2, 10.0, 200.0)
    both = mcts.search(game, states, jax.random.key(5), 40, select=mcts.rave(), numbers={"c": c, "k": k})
    for odd, rule in ((1, mcts.rave(10, 0.1)), (0, mcts.rave(200, 1.0))):
        one = mcts.search(game, states, jax.random.key(5), 40, select=rule)
        lanes = np.arange(BATCH) % 2 == odd
        same = (np.asarray(both.visits) == np.asarray(one.visits)).all(1)
        assert same[lanes].mean() > 0.9  # rounding decides between equal scores now and then
        assert not same[~lanes & ~np.asarray(states.terminated)].all()
    with pytest.raises(ValueError, match="UCT has no number 'k'; it has: c"):
        mcts.search(game, states, jax.random.key(5), 40, numbers={"k": k})


@pytest.mark.parametrize(
    "number", [np.nan, -np.inf, 1e39, pytest.param(10**400, id="huge"), np.float32(np.inf), np.full(BATCH, np.nan)]
)
def test_constants_that_are_no_numbers_are_refused(game, states, number):
    with pytest.raises(ValueError, match="^numbers c .*: expected numbers from -1e15 to 1e15$"):
        mcts.search(game, states, jax.random.key(5), SIMULATIONS, capacity=CAPACITY, numbers={"c": number})


def test_a_temperature_of_almost_nothing_is_none(game, states, result):
    found = mcts.search(game, states, jax.random.key(2), SIMULATIONS, capacity=CAPACITY, temperature=1e-39)
    np.testing.assert_array_equal(found.actions, result.actions)


def test_a_number_of_simulations_in_an_array(game, states, net):
    """It is one whole number, and of a search that is scheduled it has to be known."""
    search = functools.partial(mcts.search_positions, game, states._position, jnp.arange(BATCH, dtype=jnp.uint32))
    with pytest.raises(ValueError, match=r"^num_simulations uint32\[\]: Gumbel schedules so many: expected a whole n"):
        search(jnp.uint32(20), "gumbel", net, capacity=400)
    with pytest.raises(ValueError, match=r"^num_simulations float32\[\]: expected int32\[\]$"):
        search(jnp.float32(20.5), "puct", net, capacity=400)


def test_a_tree_of_other_positions_is_refused_or_marked(game, states, result):
    """Whoever forgets `advance` gets no moves of the position before."""
    alive = ~np.asarray(states.terminated)
    after = jax.jit(jax.vmap(game.step))(states, result.actions)
    search = functools.partial(mcts.search, game, num_simulations=4)
    with pytest.raises(ValueError, match=rf"this tree is of other positions than {alive.sum()} of the 16 given"):
        search(after, jax.random.key(3), tree=result.tree)
    marked = jax.jit(lambda states, tree: search(states, jax.random.key(3), tree=tree))(after, result.tree)
    np.testing.assert_array_equal(np.asarray(marked.actions)[alive], -1)
    assert np.isnan(np.asarray(marked.values)[alive]).all() and not np.asarray(marked.visits)[alive].any()
    assert not np.asarray(marked.weights)[alive].any()
    again = search(states, jax.random.key(3), tree=result.tree)  # more simulations in the same positions
    assert (np.asarray(again.visits).sum(1)[alive] > np.asarray(result.visits).sum(1)[alive]).all()
    advanced = search(after, jax.random.key(3), tree=mcts.advance(result.tree, after))
    assert (np.asarray(advanced.actions) >= 0).all() and not np.isnan(np.asarray(advanced.values)).any()


def test_a_compiled_search_asks_its_evaluator_nothing(game, states, monkeypatch):
    """Each further search only runs: to trace a part of the evaluator takes as long as many simulations."""
    evaluator, asked = mcts.rollout(), []
    mcts.search(game, states, jax.random.key(3), 4, evaluate=evaluator)
    for name in ("init", "__call__"):
        monkeypatch.setattr(type(evaluator), name, lambda *given, name=name: asked.append(name))
    mcts.search(game, states, jax.random.key(5), 4, evaluate=evaluator)
    assert not asked


def test_names_stand_for_rules_and_evaluators(game, states):
    named = mcts.search(game, states, jax.random.key(3), 4, select="rave", evaluate="rollout")
    made = mcts.search(game, states, jax.random.key(3), 4, select=mcts.rave(), evaluate=mcts.rollout())
    jax.tree.map(np.testing.assert_array_equal, named, made)


def test_noise_leaves_a_policy():
    legal, prior = np.array([[True, True, False, True]]), np.float32([[0.5, 0.25, 0, 0.25]])
    found = np.asarray(jax.jit(mcts.dirichlet(0.3, 0.25).mix)(prior, legal, np.uint32([3])))
    assert found.sum() == pytest.approx(1) and (found >= 0.75 * prior).all() and found[0, 2] == 0
