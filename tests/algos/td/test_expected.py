"""Expected TD(lambda): targets against enumeration in plain Python, the replay, and what is learned from it."""

import functools

import jax
import jax.numpy as jnp
import numpy as np
import pytest

from jaxgames.algos.td import make_config, make_learner
from jaxgames.algos.td.expected import ExpectedTD, Replay, _put, expectation
from jaxgames.algos.td.methods import with_method
from jaxgames.algos.td.td_lambda import luck_adjusted_returns
from jaxgames.algos.td.value import apart, scale_outputs

CONFIG = make_config(
    "expected", game="dash", encoding="track", hidden=(7,), outputs=6, lambda_=0.5, batch=8,
    plies=4, replay=96, minibatch=16, steps=3, average=0.75, optimizer="sgd", schedule="constant", step_size=0.3,
    initializer="lecun_normal",
)  # fmt: skip


@pytest.fixture(scope="module")
def learner():
    return make_learner(CONFIG)


@pytest.fixture(scope="module")
def update(learner):
    return jax.jit(learner.update)


@pytest.fixture(scope="module")
def start(learner):
    return jax.jit(learner.init)(jax.random.key(0))


@pytest.fixture(scope="module")
def later(start, update):
    """The states after one, two, ... five updates; the replay has room for three."""
    states = [start]
    for number in range(5):
        states.append(update(states[-1], jax.random.key(number))[0])
    return states[1:]


@functools.cache
def compiled(network):
    """The rules of one position, and what the network says of a batch."""
    return *map(jax.jit, (network.game.chance, network.game.legal, network.game.play)), jax.jit(network.predict)


def enumerated(network, params, position, player):
    """What the first player may expect, action by action and number by number."""
    game, total = network.game, 0
    roll, legal, play, predict = compiled(network)
    for number, chance in enumerate(game.outcome_probabilities):
        rolled = roll(position, jnp.int32(number))
        best, most = None, -np.inf
        for action in np.flatnonzero(legal(rolled)):
            outcome = jax.device_get(play(rolled, jnp.int32(action)))
            mover = player
            after = jax.tree.map(lambda x: x[None], outcome.position)
            following = np.int32([1 - mover if outcome.turn_passes else mover])
            if outcome.over:
                reward = float(outcome.reward)
                found = network.outcomes.target(jnp.float32(reward if mover == 0 else -reward))
            else:
                found = np.asarray(predict(params, after, following))[0]
            worth = float(network.outcomes.expected(found)) * (1 if mover == 0 else -1)
            if worth > most + 1e-6:
                best, most = np.asarray(found), worth
        total = total + chance * best
    return total


def test_expectations_are_those_of_enumeration(learner, later):
    state, network = later[1], learner.network
    positions = jax.tree.map(lambda x: np.asarray(x)[:24], state.replay.positions)
    player = np.arange(24, dtype=np.int32) % 2
    found = np.asarray(jax.jit(lambda p: expectation(network, p, positions, player))(state.params))
    going_on = np.asarray(state.replay.weight[:24]) > 0
    assert 10 < going_on.sum()
    for index in np.flatnonzero(going_on):
        one = jax.tree.map(lambda x, i=index: x[i], positions)
        wanted = enumerated(network, state.params, one, int(player[index]))
        np.testing.assert_allclose(found[index], wanted, atol=1e-5)


@pytest.mark.parametrize("lambda_", [0.0, 0.6, 1.0])
def test_luck_is_subtracted(lambda_):
    """Each target is the expectation, and the steps from prediction to expectation further on, until the game ends."""
    rng = np.random.default_rng(0)
    expected, values = (rng.random((6, 5, 3)).astype(np.float32) for _ in range(2))
    ends = rng.random((6, 5)) < 0.3
    found = luck_adjusted_returns(expected, values, ends, lambda_)
    for ply in range(6):
        for game in range(5):
            wanted, weight = expected[ply, game].copy(), 1.0
            for further in range(ply + 1, 6):
                if ends[further - 1, game]:
                    break
                weight *= lambda_
                wanted += weight * (expected[further, game] - values[further, game])
            np.testing.assert_allclose(found[ply, game], wanted, atol=1e-5)


def test_the_replay_keeps_the_latest(later):
    size = CONFIG.batch * CONFIG.plies
    assert [int(state.replay.number) for state in later] == [size * n for n in (1, 2, 3, 4, 5)]
    third, fourth, fifth = (np.asarray(state.replay.targets) for state in later[2:])
    assert len(third) == 3 * size
    np.testing.assert_array_equal(fourth[size:], third[size:])
    assert np.abs(fourth[:size] - third[:size]).max() > 0.01
    np.testing.assert_array_equal(fifth[:size], fourth[:size])
    used = np.asarray(later[2].replay.weight) > 0
    assert 0 < (~used).sum() < len(used) / 2  # some games have ended


def test_the_replay_never_counts_too_far():
    """Three rounds of room, filled for seven rounds: each goes where the oldest one was, and the count stays small."""
    replay = Replay((jnp.zeros(6),), jnp.zeros((6, 1)), jnp.zeros(6), jnp.int32(0))
    numbers = []
    for number in range(1, 8):
        new = jnp.full(2, number, jnp.float32)
        replay = _put(replay, ((new,), new[:, None], new))
        numbers.append(int(replay.number))
    np.testing.assert_array_equal(replay.weight, [7, 7, 5, 5, 6, 6])
    assert numbers == [2, 4, 6, 8, 10, 6, 8]


def test_targets_are_from_the_players_own_view(learner, start, later):
    """The replay holds what the player to act may expect: with lambda 0 the expectation by the weights before."""
    plain = CONFIG.replace(lambda_=0.0)
    state = jax.jit(ExpectedTD(plain).update)(start, jax.random.key(7))[0]
    size, replay = CONFIG.batch * CONFIG.plies, state.replay
    positions = jax.tree.map(lambda x: x[:size], replay.positions)
    wanted = jax.jit(lambda p: expectation(learner.network, p, positions, jnp.zeros(size, jnp.int32)))(start.params)
    used = np.asarray(replay.weight[:size]) > 0
    np.testing.assert_allclose(np.asarray(replay.targets[:size])[used], np.asarray(wanted)[used], atol=1e-5)


def test_members_learn_side_by_side_and_the_player_is_their_mean(later):
    """Each member makes a step down the cross-entropy on positions that it draws alone."""
    config = CONFIG.replace(members=2, biases=False, average=0.0)
    learner = ExpectedTD(config)
    state = learner.init(jax.random.key(3))
    replay, key, weights = later[-1].replay, jax.random.key(4), state.weights
    after, _ = jax.jit(learner._learn)(weights, state.optimizer, replay, key)
    drawn = np.asarray(jax.random.randint(key, (2, CONFIG.minibatch), 0, len(replay.weight)))

    @jax.jit
    def descended(one, rows):
        positions, targets, weight = (
            jax.tree.map(lambda x: x[rows], part) for part in (replay.positions, replay.targets, replay.weight)
        )

        def loss(one):
            predicted = config.member().predict(one, positions, jnp.zeros(CONFIG.minibatch, jnp.int32))
            return -jnp.sum(weight[:, None] * targets * jnp.log(predicted)) / CONFIG.minibatch

        return jax.tree.map(lambda w, g: w - CONFIG.step_size * g, one, jax.grad(loss)(one))

    for number in range(2):
        own, found = (jax.tree.map(lambda x, n=number: x[n], apart(tree, 2)) for tree in (weights, after))
        wanted = descended(own, drawn[number])
        jax.tree.map(lambda f, w: np.testing.assert_allclose(f, w, atol=1e-6), found, wanted)
        assert max(float(jnp.abs(a - b).max()) for a, b in zip(*map(jax.tree.leaves, (own, found)), strict=True)) > 1e-4

    for one in (state, jax.jit(learner.update)(state, jax.random.key(5))[0]):
        mean = scale_outputs(one.weights, 1 / 2)
        jax.tree.map(lambda f, w: np.testing.assert_allclose(f, w, atol=1e-6), one.params, mean)


def test_the_teacher_plays_and_makes_the_targets(start):
    """Whatever is learned beside them, the first weights play the same games and make the same targets."""
    learner = ExpectedTD(CONFIG.replace(teacher=True))
    update, begun = jax.jit(learner.update), learner.begin(start.params, jax.random.key(0))._replace(games=start.games)
    others = jax.tree.map(lambda x: x + jnp.linspace(-1.0, 1.0, x.size).reshape(x.shape), start.weights)
    states = []
    for state in (begun, begun._replace(params=others, weights=others)):
        for number in range(2):
            state, metrics = update(state, jax.random.key(number))
        states.append((state, metrics))
    (state, metrics), (same, before) = states
    for one, other in (
        (state.games, same.games),
        (state.teacher, start.params),
        (state.replay.targets, same.replay.targets),
    ):
        jax.tree.map(np.testing.assert_array_equal, one, other)
    far = jax.tree.map(lambda a, b: float(jnp.abs(a - b).max()), state.params, start.params)
    assert max(jax.tree.leaves(far)) > 1e-3
    assert float(metrics.squared_error) != float(before.squared_error)  # it tells of what is learned


def test_the_player_is_the_average(start, update):
    """Weights move by steps down the cross-entropy; the player's follow them."""
    state = update(start, jax.random.key(0))[0]
    drawn, weights, average = jax.random.split(jax.random.key(0))[1], start.params, start.params
    learner = ExpectedTD(CONFIG)
    replay = state.replay
    for key in jax.random.split(drawn, CONFIG.steps):
        weights, _ = learner._learn(weights, state.optimizer, replay, key)
        average = jax.tree.map(lambda a, w: 0.75 * a + 0.25 * w, average, weights)
    for found, wanted in ((state.weights, weights), (state.params, average)):
        jax.tree.map(lambda f, w: np.testing.assert_allclose(f, w, atol=1e-6), found, wanted)
    assert (
        max(float(jnp.abs(a - b).max()) for a, b in zip(*map(jax.tree.leaves, (average, weights)), strict=True)) > 1e-4
    )


def test_steps_lead_to_the_targets(learner, later):
    state = later[-1]
    used = np.asarray(state.replay.weight) > 0

    @jax.jit
    def learned(weights, keys):
        def step(carry, key):
            return learner._learn(*carry, state.replay, key), None

        return jax.lax.scan(step, (weights, state.optimizer), keys)[0][0]

    def distance(weights):
        everyone = jnp.zeros(len(used), jnp.int32)
        predicted = learner.network.predict(weights, state.replay.positions, everyone)
        return np.abs(np.asarray(predicted - state.replay.targets))[used].mean()

    before = state.weights
    assert distance(learned(before, jax.random.split(jax.random.key(0), 400))) < 0.8 * distance(before)


def test_restarted_games_begin_where_the_look_ahead_differs(learner, later):
    """Only games that are over are restarted, where targets are far from predictions, with new dice."""
    state, games = later[-1], later[-1].games
    ever = CONFIG.replace(restarts=1.0)
    positions, weight = state.replay.positions, np.asarray(state.replay.weight)
    wide = np.asarray(positions.own) == 3
    assert 5 < (wide & (weight > 0)).sum() < 40
    predicted = learner.network.predict(state.params, positions, jnp.zeros(96, jnp.int32))
    targets = np.where(wide[:, None], np.eye(6, dtype=np.float32)[5], predicted)
    over = jnp.arange(8) % 4 != 0

    @jax.jit
    def restart(replay, key):
        return ExpectedTD(ever)._restart(games, over, state.params, replay, key).positions

    def begun(replay, number=30):
        found = [restart(replay, jax.random.key(seed)) for seed in range(number)]
        for one in found:
            kept = jax.tree.map(lambda x, y: np.asarray(x == y)[~np.asarray(over)].all(), one, games.positions)
            assert all(kept)
        return jax.tree.map(lambda *x: np.stack(x)[:, np.asarray(over)], *found)

    replay = state.replay._replace(targets=jnp.asarray(targets))
    found = begun(replay)
    assert (found.own == 3).mean() > 0.9  # 16 candidates of which a tenth or more are wide
    known = {(int(own), int(other)) for own, other in zip(positions.own, positions.other, strict=True)}
    assert {(int(a), int(b)) for a, b in zip(found.own.flat, found.other.flat, strict=True)} <= known
    assert set(found.die.flat) == {1, 2, 3}
    for nothing in (replay._replace(weight=jnp.zeros(96)), replay._replace(number=jnp.int32(0), weight=jnp.zeros(96))):
        same = begun(nothing, 2)
        jax.tree.map(lambda x, y: np.testing.assert_array_equal(x[0], y[np.asarray(over)]), same, games.positions)


def test_a_share_of_the_new_games_is_restarted(start, later):
    """A training with restarts plays other games from the second update on, when there are positions to begin at."""
    half, state = jax.jit(make_learner(CONFIG.replace(restarts=0.5)).update), start
    for number, plain in enumerate(later):
        state = half(state, jax.random.key(number))[0]
        same = jax.tree.map(lambda x, y: np.array_equal(x, y), state.games.positions, plain.games.positions)
        assert all(same) == (number == 0)


def test_softmax_learns_by_cross_entropy_in_n_step_too():
    """One step of TD(0) by hand, from the positions that two updates saw."""
    config = with_method(CONFIG, "n_step").replace(output="softmax", plies=1)
    learner = make_learner(config)
    update = jax.jit(learner.update)
    first = update(jax.jit(learner.init)(jax.random.key(0)), jax.random.key(1))[0]
    second = update(first, jax.random.key(2))[0]
    network, seen, after = learner.network, first.last, second.last
    following = network.predict(first.params, after.positions, after.player)
    targets = jnp.where(after.over[:, None], network.outcomes.target(after.result), following)

    def loss(params):
        logs = jnp.log(network.predict(params, seen.positions, seen.player))
        return -jnp.sum(jnp.where(seen.over[:, None], 0.0, targets * logs))

    wanted = jax.tree.map(lambda w, g: w - config.step_size * g, first.params, jax.grad(loss)(first.params))
    jax.tree.map(lambda f, w: np.testing.assert_allclose(f, w, atol=1e-5), second.params, wanted)
    assert not bool(seen.over.all())
