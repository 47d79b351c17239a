"""The search level by level, beside a slow one in plain Python; its parts, beside their definitions."""

import jax
import jax.numpy as jnp
import numpy as np
import pytest

import jaxgames
from jaxgames.algos import mcts
from jaxgames.algos.mcts import levels
from jaxgames.envs.backgammon import Position, board
from jaxgames.ops.random_bits import fold_in
from tests.algos.mcts.positions import compiled, middle_positions, network_of

N, C, DISCOUNT = 40, 0.7, 0.9
share_out, improved = jax.jit(levels.share_out), jax.jit(levels.improved)


def plain(game, position, bits, number, c, discount):
    """Value, policy and counts of one node: algorithm 2 of the paper, one node after another."""
    look, play, chance, fold = compiled(game)
    logits, own, legal, is_chance = look(position)
    legal, logits = np.asarray(legal), np.asarray(logits, np.float64)
    if bool(is_chance):
        policy = np.zeros(max(game.num_actions, len(game.outcome_probabilities)), np.float32)
        policy[: len(game.outcome_probabilities)] = game.outcome_probabilities
    else:
        policy = np.where(legal, np.exp(logits - logits[legal].max()), 0)
        policy = (policy / policy.sum()).astype(np.float32)
    start = np.float32(int(fold(bits, 1)) >> 8) / np.float32(2**24)
    counts = np.asarray(share_out(policy[None], np.int32([number - 1]), np.float32([start])))[0]
    if number == 1:
        return float(own), policy, counts
    values = np.zeros(len(policy))
    for edge in np.flatnonzero(counts):
        below = fold(bits, jnp.uint32(edge + 1))
        if bool(is_chance):
            worth, *_ = plain(game, chance(position, jnp.int32(edge)), below, int(counts[edge]), c, discount)
            values[edge] = worth  # a roll is no action
            continue
        after = play(position, jnp.int32(edge))
        if bool(after.over):
            values[edge] = float(after.reward)
            continue
        worth, *_ = plain(game, after.position, below, int(counts[edge]), c, discount)
        values[edge] = discount * (-worth if bool(after.turn_passes) else worth)
    tried = counts > 0
    better = counts / (number - 1) if bool(is_chance) else np.zeros(len(policy))
    if not bool(is_chance):
        better[tried] = solved(policy[tried], values[tried], c * game.max_reward / np.sqrt(number - 1))
    return float(own) / number + (1 - 1 / number) * float(better @ values), better, counts


def solved(policy, values, weight):
    """The policy of the equation, by bisection."""
    policy, values = policy.astype(np.float64), values.astype(np.float64)
    low, high = values.max(), values.max() + weight * policy.sum() + 1e-12
    for _ in range(200):
        middle = (low + high) / 2
        low, high = (middle, high) if np.sum(weight * policy / (middle - values)) > 1 else (low, middle)
    found = weight * policy / (high - values)
    return found / found.sum()


@pytest.mark.parametrize(("name", "plies", "count"), [("tic_tac_toe", 4, 6), ("backgammon", 9, 3)])
def test_results_are_those_of_a_plain_search(name, plies, count):
    game = jaxgames.make(name)
    states, bits = middle_positions(game, count, plies), jnp.arange(7, 7 + count, dtype=jnp.uint32)
    of = {"select": mcts.recursive(C), "evaluate": network_of(game), "discount": DISCOUNT}
    found = jax.device_get(mcts.search_positions(game, states._position, bits, N, **of))
    # In one tree the bits are those of the position and of the tree's number.
    of_tree, positions = jax.device_get((jax.jit(fold_in)(bits, jnp.uint32(0)), states._position))
    for lane in range(count):
        position = jax.tree.map(lambda x, lane=lane: x[lane], positions)
        value, policy, counts = plain(game, position, of_tree[lane], N, C, DISCOUNT)
        np.testing.assert_array_equal(found.visits[lane], counts[: game.num_actions])
        np.testing.assert_allclose(found.weights[lane], policy[: game.num_actions], atol=2e-5)
        np.testing.assert_allclose(found.values[lane], value, atol=1e-5)
        assert int(found.actions[lane]) == np.argmax(found.weights[lane])


def test_policies_solve_the_equation():
    rng = np.random.default_rng(0)
    policy = rng.dirichlet(np.full(9, 0.3), 500).astype(np.float32) * (rng.random((500, 9)) < 0.7)
    policy[:, 0] += np.float32(1e-6)
    values = rng.uniform(-3, 3, (500, 9)).astype(np.float32) * (rng.random((500, 1)) < 0.9)
    weight = np.float32(10) ** rng.uniform(-4, 1, 500).astype(np.float32)
    found = np.asarray(improved(policy, values, weight))
    for row, shares, worth, number in zip(found, policy, values, weight, strict=True):
        some = shares > 0
        np.testing.assert_allclose(row[some], solved(shares[some], worth[some], number), atol=1e-4)
        assert not row[~some].any()


def test_simulations_are_shared_by_the_policy_and_none_is_lost():
    rng = np.random.default_rng(1)
    policy = rng.dirichlet(np.full(156, 0.1), 2000).astype(np.float32)
    policy[rng.random(policy.shape) < 0.5] = 0
    policy[:, 3] += np.float32(0.01)
    policy /= policy.sum(axis=1, keepdims=True)
    number = rng.integers(0, 5000, 2000).astype(np.int32)
    counts = np.asarray(share_out(policy, number, rng.random(2000, np.float32)))
    assert (counts.sum(axis=1) == number).all() and (counts >= 0).all()
    assert not counts[policy == 0].any()
    assert np.abs(counts - policy * number[:, None]).max() < 1.01
    one = np.tile(np.float32([0.25, 0.1, 0.65]), (4096, 1))
    starts = ((np.arange(4096) + 0.5) / 4096).astype(np.float32)
    means = np.asarray(share_out(one, np.full(4096, 7, np.int32), starts)).mean(axis=0)
    np.testing.assert_allclose(means, 7 * one[0], atol=2e-3)


def test_positions_do_not_depend_on_their_neighbours_nor_on_the_kind_of_device(monkeypatch):
    game = jaxgames.make("tic_tac_toe")
    states, bits = middle_positions(game, 5, 4), jnp.arange(5, dtype=jnp.uint32)
    of = {"select": "recursive", "evaluate": network_of(game)}
    together = mcts.search_positions(game, states._position, bits, N, **of)
    some = jax.tree.map(lambda x: x[1:3], states._position)
    jax.clear_caches()
    monkeypatch.setattr(levels, "ON_CPU", levels.ELSEWHERE)
    apart = mcts.search_positions(game, some, bits[1:3], N, **of)
    np.testing.assert_array_equal(apart.visits, together.visits[1:3])
    np.testing.assert_allclose(apart.weights, together.weights[1:3], atol=1e-5)
    np.testing.assert_allclose(apart.values, together.values[1:3], atol=1e-5)
    jax.clear_caches()


def test_bear_offs_are_worth_what_they_are():
    game = jaxgames.make("backgammon")
    # One stone on the ace point each, on roll: won for certain; two stones on the deuce point: lost by 10 rolls of 36.
    counts = np.zeros((2, 25), np.int32)
    counts[0, 0], counts[1, 1] = 1, 2
    own, other = board.from_counts(jnp.asarray(counts)), board.from_counts(jnp.asarray(counts[[0, 0]]))
    positions = Position(own, other, jnp.zeros(2, jnp.uint32))
    evaluate = mcts.valued(lambda params: lambda positions: jnp.zeros(positions.dice.shape, jnp.float32), ())
    found = mcts.search_positions(game, positions, jnp.arange(2, dtype=jnp.uint32), 20_000, "recursive", evaluate)
    chance = 26 / 36
    np.testing.assert_allclose(found.values, [1, chance - (1 - chance)], atol=0.03)


def test_ended_games_and_faults_of_the_network_stay_in_their_lane():
    game = jaxgames.make("tic_tac_toe")
    states = jax.jit(jax.vmap(game.init))(jax.random.split(jax.random.key(0), 3))

    @jax.jit
    def with_step(states, actions, lane):
        return jax.tree.map(lambda x, y: x.at[lane].set(y[lane]), states, jax.vmap(game.step)(states, actions))

    for action in (0, 3, 1, 4, 2):
        states = with_step(states, np.full(3, action, np.int32), 1)
    states = with_step(states, np.int32([8, 5, 4]), 2)

    def broken(params, seen):
        logits, value = jnp.zeros((len(seen), 9)), jnp.zeros(len(seen))
        return logits, jnp.where(seen[:, 1, 1].any(-1), jnp.nan, value)

    def search(states, bad=broken):
        return mcts.search(game, states, jax.random.key(0), 20, select="recursive", evaluate=mcts.network(bad, ()))

    found, states = jax.device_get((search(states), states))
    assert np.isnan(found.values[2]) and not np.isnan(found.values[1])
    assert found.values[1] == states.rewards[1, states.current_player[1]] != 0
    assert not found.visits[1].any() and not found.weights[1].any() and found.tree is None
    assert (found.visits[2].sum(), found.weights[2].sum()) == (19, pytest.approx(1))


REFUSED = {
    "final": ({"final": "mean"}, "plays by its policy"),
    "depth": ({"max_depth": 3}, "leave out max_depth and capacity"),
    "room": ({"capacity": 20}, "leave out max_depth and capacity"),
    "trees": ({"num_trees": 2}, "expected num_trees 1"),
    "time": ({"seconds": 1.0}, "expected num_simulations, no seconds"),
    "learner": (
        {"evaluate": mcts.mixture(0.5, network_of(jaxgames.make("tic_tac_toe")), mcts.mast())},
        "learns nothing",
    ),
    "policy": ({"evaluate": mcts.rollout()}, "needs an evaluator with a policy"),
    "numbers": ({"numbers": {"c": 1.0}}, "has no number 'c'"),
}


@pytest.mark.parametrize("case", REFUSED)
def test_what_has_no_meaning_is_refused(case):
    changes, message = REFUSED[case]
    game = jaxgames.make("tic_tac_toe")
    states = jax.jit(jax.vmap(game.init))(jax.random.split(jax.random.key(0), 2))
    of = {"select": mcts.recursive(), "evaluate": network_of(game)} | changes
    count = {} if "seconds" in changes else {"num_simulations": 8}
    with pytest.raises(ValueError, match=message):
        mcts.search(game, states, jax.random.key(0), **count, **of)


def test_noise_is_of_the_root_alone():
    game = jaxgames.make("tic_tac_toe")
    states = jax.jit(jax.vmap(game.init))(jax.random.split(jax.random.key(0), 64))
    none = mcts.network(lambda params, seen: (jnp.zeros((len(seen), 9)), jnp.zeros(len(seen))), ())
    of = {"select": "recursive", "evaluate": none, "num_simulations": 90}
    plain = np.asarray(mcts.search(game, states, jax.random.key(1), **of).visits)
    noise = mcts.dirichlet(alpha=0.1, fraction=1.0)
    with_noise = np.asarray(mcts.search(game, states, jax.random.key(1), noise=noise, **of).visits)
    assert plain.max() - plain.min() <= 1 and with_noise.max() > 60  # shares of Dirichlet(0.1) are mostly one action's
    assert (with_noise.sum(axis=1) == 89).all()


def test_one_simulation_gives_what_the_network_says():
    game = jaxgames.make("tic_tac_toe")
    states = middle_positions(game, 5, 7)
    evaluate = network_of(game)
    found = mcts.search(game, states, jax.random.key(0), 1, select="recursive", evaluate=evaluate)
    logits, value = evaluate.apply(evaluate.params, states.observation)
    alive = ~np.asarray(states.terminated | states.truncated)
    policy = np.asarray(jax.nn.softmax(jnp.where(states.legal_action_mask, logits, -jnp.inf)))
    np.testing.assert_allclose(found.weights, policy * alive[:, None], atol=1e-6)
    np.testing.assert_allclose(np.asarray(found.values)[alive], np.asarray(value)[alive], atol=1e-6)
    legal = np.take_along_axis(np.asarray(states.legal_action_mask), np.asarray(found.actions)[:, None], axis=1)[:, 0]
    assert legal[alive].all() and alive.any()


def test_an_edge_of_hardly_any_share_breaks_nothing():
    policy = jnp.float32([[1e-30, 0.5, 0.5], [1e-30, 1, 0], [1e-30, 1e-30, 1]])
    values = jnp.float32([[1, -1, -1], [1, -1, 0], [-1, 1, -1]])
    found = np.asarray(improved(policy, values, jnp.float32([0.1, 0.1, 0.1])))
    # The others get weight share / (u - value), the best edge all that is left.
    np.testing.assert_allclose(found, [[0.95, 0.025, 0.025], [0.95, 0.05, 0], [0, 0.95, 0.05]], atol=0.01)
