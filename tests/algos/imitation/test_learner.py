"""Learning from examples: losses by their equations, inputs and targets of networks, what a learner learns."""

import dataclasses

import jax
import jax.numpy as jnp
import numpy as np
import pytest

import jaxgames
from jaxgames.algos.imitation import ImitationConfig, LabeledPositions, make_learner
from jaxgames.algos.imitation import learner as learner_module
from jaxgames.algos.imitation.config import ImitationNetwork
from jaxgames.algos.imitation.learner import _times_modulo, metrics_of, weighted_sums
from jaxgames.envs.heads import heads_of
from jaxgames.nets import NetworkSpec

FOUR, CHECKERS = jaxgames.make("connect_four"), jaxgames.make("checkers")


def random_rows(game, number=48, seed=1):
    """Positions after some random actions, with targets drawn at random."""
    draws = np.random.default_rng(seed)
    states = jax.jit(jax.vmap(game.init))(jax.random.split(jax.random.key(seed), number))
    step = jax.jit(jax.vmap(game.step))
    for ply in range(18):
        legal = np.asarray(states.legal_action_mask)
        actions = np.array([draws.choice(np.flatnonzero(row)) for row in legal], np.int32)
        after = step(states, actions)
        over = np.asarray(after.terminated)
        moves = ~over & (draws.random(number) < 0.9 - ply / 40)
        states = jax.tree.map(lambda a, b, m=moves: jnp.where(m.reshape(-1, *(1,) * (a.ndim - 1)), a, b), after, states)
    mask = np.asarray(states.legal_action_mask)
    policy = mask * draws.random(mask.shape)
    policy = (policy / policy.sum(axis=1, keepdims=True)).astype(np.float16)
    value = draws.choice([-1.0, 0.0, 1.0], number).astype(np.float32)
    weights = draws.integers(0, 3, (2, number)).astype(np.float32)
    position = states._position
    games = np.arange(number, dtype=np.int64)
    return LabeledPositions(position, mask, policy, weights[0], value, weights[1], games, np.zeros(number, bool))


@pytest.fixture(scope="module")
def four():
    return random_rows(FOUR)


@pytest.fixture(scope="module")
def checkers():
    return random_rows(CHECKERS)


def observed(game, positions):
    """What the players to act see."""
    return jax.jit(jax.vmap(lambda position: game.observe_position(position, jnp.bool_(True))))(positions)


SMALL = ImitationConfig(NetworkSpec(hidden=(8,)), minibatch=16)
SIGMOID = {"activation": "bipolar_sigmoid", "output": "bipolar_sigmoid", "initializer": "glorot_uniform"}


@pytest.mark.parametrize("counts", [False, True])
@pytest.mark.parametrize("unit", [False, True])
def test_metrics_are_those_of_their_equations(four, counts, unit):
    config = dataclasses.replace(
        SMALL, counts=counts, value_range="unit" if unit else "points", value_loss="absolute", value_weight=0.5
    )
    network = ImitationNetwork(FOUR, config)
    params = jax.tree.map(lambda x: 3 * x, network.init(jax.random.key(3)))
    sums = jax.jit(lambda params, rows: weighted_sums(network, params, rows, None))(params, four)
    metrics = metrics_of(network, jax.device_get(sums))
    observation = observed(FOUR, four.position)
    logits, value = map(np.asarray, jax.jit(network.apply)(params, observation))
    weights = [w if counts else (w > 0).astype(float) for w in (four.policy_weight, four.value_weight)]
    logits = np.where(four.mask, logits, -np.inf)
    log_policy = logits - np.log(np.exp(logits).sum(axis=1, keepdims=True))
    policy = four.policy.astype(np.float64)
    cross = -np.where(four.mask, policy * np.where(four.mask, log_policy, 0), 0).sum(axis=1)
    right = policy[np.arange(len(policy)), logits.argmax(axis=1)] >= policy.max(axis=1)
    error = (value - four.value) / (2 if unit else 1)
    expected = {
        "policy_loss": np.average(cross, weights=weights[0]),
        "predicted": np.average(right, weights=weights[0]),
        "value_squared": np.average(error**2, weights=weights[1]),
        "value_absolute": np.average(np.abs(error), weights=weights[1]),
    }
    expected["loss"] = expected["policy_loss"] + 0.5 * expected["value_absolute"]
    assert metrics.keys() == expected.keys()
    for name, one in expected.items():
        np.testing.assert_allclose(metrics[name], one, rtol=2e-3, err_msg=name)


def test_a_mirrored_batch_is_worth_the_same_to_a_network_of_both_images(four):
    """The symmetry turns inputs, masks and targets alike: the loss of the mirrored position is that of the mirror."""
    network = ImitationNetwork(FOUR, SMALL)
    params = network.init(jax.random.key(0))
    mirror = np.ones(len(four.game), np.int32)
    one = weighted_sums(network, params, four, mirror)
    flipped = four._replace(mask=four.mask[:, ::-1], policy=four.policy[:, ::-1])
    observed = network.inputs(four.position, mirror)
    logits, _ = network.outputs(params, observed)
    log_policy = jax.nn.log_softmax(jnp.where(flipped.mask, logits, -1e9), axis=1)
    cross = -jnp.sum(jnp.where(flipped.mask, flipped.policy.astype(np.float32) * log_policy, 0), axis=1)
    np.testing.assert_allclose(one["policy"], np.sum(np.asarray(cross)[four.policy_weight > 0]), rtol=1e-5)
    plain = weighted_sums(network, params, four, np.zeros(len(four.game), np.int32))
    np.testing.assert_allclose(plain["policy"], weighted_sums(network, params, four, None)["policy"], rtol=1e-6)
    assert abs(float(plain["policy"] - one["policy"])) > 1e-4
    np.testing.assert_array_equal(observed, network.inputs(four.position)[:, :, ::-1])


@pytest.mark.parametrize("head", ["target", "squares"])
def test_targets_of_squares_name_the_action(checkers, head):
    """Outputs that are the targets of an action make the head choose it."""
    draws = np.random.default_rng(0)
    actions = np.array([draws.choice(np.flatnonzero(row)) for row in checkers.mask], np.int32)
    policy = np.eye(128, dtype=np.float32)[actions]
    reading = heads_of(CHECKERS)[head]
    targets_of = jax.jit(reading.targets)
    targets = targets_of(policy, checkers.position)
    np.testing.assert_array_equal(np.asarray(targets).sum(axis=1), 2)
    rows = jax.tree.map(lambda x: x[None], checkers.position)
    for strict in (False, True):
        found, legal = jax.jit(reading, static_argnums=2)(targets.T[None], rows, strict)
        np.testing.assert_array_equal(found[0], actions)
        assert np.all(legal)
    several = targets_of(checkers.policy.astype(np.float32), checkers.position)
    assert np.asarray(several).sum(axis=1) == pytest.approx(2, abs=1e-2)
    assert np.asarray(several).max(axis=1).min() < 0.9


@pytest.mark.parametrize(("game", "name"), [("checkers", "pieces"), ("connect_four", "cells")])
def test_encodings_of_observations_are_those_of_positions(request, game, name):
    rules = jaxgames.make(game)
    rows = request.getfixturevalue("checkers" if game == "checkers" else "four")
    encoding = rules.encodings[name]
    inputs = np.asarray(jax.jit(encoding)(rows.position))
    np.testing.assert_array_equal(jax.jit(encoding.from_observation)(observed(rules, rows.position)), inputs)
    assert np.abs(inputs).sum() > 100


def test_marks_are_those_of_the_player_who_began():
    both = [FOUR.parse("445"), FOUR.parse("44")]
    positions = jax.tree.map(lambda *x: jnp.stack(x), *both)
    found = {name: np.asarray(FOUR.encodings[name](positions)) for name in ("marks", "marks_12", "marks_planes")}
    assert found["marks"].reshape(2, 6, 7)[:, 5, 3:5].tolist() == [[1, 1], [1, 0]]
    assert found["marks"].reshape(2, 6, 7)[:, 4, 3].tolist() == [-1, -1]
    assert found["marks_12"].reshape(2, 6, 7)[:, 4, 3].tolist() == [2, 2]
    planes = found["marks_planes"].reshape(2, 6, 7, 3)
    assert planes[0, 5, 3].tolist() == [1, 0, 0] and planes[1, 5, 3].tolist() == [1, 0, 1]
    swapped = np.asarray(FOUR.encodings["marks_planes"].swap(found["marks_planes"])).reshape(planes.shape)
    assert swapped[0, 5, 3].tolist() == [0, 1, 1] and swapped[1, 5, 3].tolist() == [0, 1, 0]
    for name, encoding in FOUR.encodings.items():
        if name.startswith("marks"):
            twice = encoding.swap(encoding.swap(found[name]))
            np.testing.assert_array_equal(twice, found[name])


@pytest.mark.parametrize(
    ("changes", "game"),
    [
        ({"form": "mlp", "optimizer": "adam"}, FOUR),
        ({"form": "conv", "convolutions": (8,), "encoding": "marks_planes", "learns": "value", "plays": "value"}, FOUR),
        ({**SIGMOID, "encoding": "pieces", "head": "target", "learns": "policy", "policy_loss": "squared",
          "optimizer": "momentum", "step_size": 0.01}, CHECKERS),
    ],
)  # fmt: skip
def test_a_network_learns_its_examples_by_heart(request, changes, game):
    """Where the loss of all rows together falls, and the best moves are found."""
    rows = request.getfixturevalue("four" if game is FOUR else "checkers")
    settings = {"hidden": (32,), "minibatch": 16, "steps": 400, "step_size": 0.01} | changes
    learner = make_learner(game, ImitationConfig().replace(**settings))
    state = jax.jit(learner.init)(jax.random.key(0), rows)
    before = learner.evaluate(state.params, rows)
    keys = jax.random.split(jax.random.key(1), 400)
    state, _ = jax.jit(lambda state: jax.lax.scan(learner.update, state, keys))(state)
    after = learner.evaluate(state.params, rows)
    assert int(state.updates) == 400
    name = "value_squared" if settings.get("learns") == "value" else "policy_loss"
    assert after[name] < 0.7 * before[name] or after.get("predicted", 0) > 0.9, (before, after)


def test_the_delta_rule_is_a_step_down_half_the_squared_error(checkers):
    """One hidden layer of the published network, one move: dw = -mu delta o, delta = (o - t) (1 - o^2) / 2."""
    rows = jax.tree.map(lambda x: x[:1], checkers)._replace(policy_weight=np.ones(1, np.float32))
    config = ImitationConfig(
        NetworkSpec(hidden=(5,), **SIGMOID), encoding="pieces", head="target", learns="policy", policy_loss="squared",
        optimizer="sgd", minibatch=1, step_size=0.05, last_step_size=0.05, steps=10,
    )  # fmt: skip
    learner = make_learner(CHECKERS, config)
    state = jax.jit(learner.init)(jax.random.key(0), rows)
    after, _ = jax.jit(learner.update)(state, jax.random.key(1))
    layers = [jax.tree.map(np.asarray, state.params["params"][f"Dense_{i}"]) for i in (0, 1)]
    x = np.asarray(CHECKERS.encodings["pieces"](rows.position))[0]
    sigmoid = [None, None]
    sigmoid[0] = 2 / (1 + np.exp(-(x @ layers[0]["kernel"] + layers[0]["bias"]))) - 1
    sigmoid[1] = 2 / (1 + np.exp(-(sigmoid[0] @ layers[1]["kernel"] + layers[1]["bias"]))) - 1
    target = 2 * np.asarray(heads_of(CHECKERS)["target"].targets(jnp.float32(rows.policy), rows.position))[0] - 1
    deltas = [None, (sigmoid[1] - target) * (1 - sigmoid[1] ** 2) / 2]
    deltas[0] = (layers[1]["kernel"] @ deltas[1]) * (1 - sigmoid[0] ** 2) / 2
    for number, came in ((0, x), (1, sigmoid[0])):
        # The error adds up squares, without the half: twice the step of the rule with the same mu.
        moved = layers[number]["kernel"] - 2 * 0.05 * np.outer(came, deltas[number])
        np.testing.assert_allclose(after.params["params"][f"Dense_{number}"]["kernel"], moved, atol=1e-5)


def test_no_positions_cannot_be_measured(four):
    none = jax.tree.map(lambda x: x[:0], four)
    with pytest.raises(ValueError, match="^rows: no positions to measure: expected one or more$"):
        make_learner(FOUR, SMALL).evaluate({}, none)


def test_a_state_holds_no_array_of_the_caller(four):
    """Whoever donates it keeps the rows."""
    rows = jax.tree.map(jnp.asarray, four)
    state = make_learner(FOUR, SMALL).init(jax.random.key(3), rows)
    held, kept = ({x.unsafe_buffer_pointer() for x in jax.tree.leaves(tree)} for tree in (state, rows))
    assert not held & kept


def test_minibatches_go_through_all_rows_in_turn():
    for number, factor, modulus in ((5, 7, 9), (2**31 - 1, 1000, 999_983), (123_456_789, 256, 2**30 - 1)):
        found = jax.jit(_times_modulo, static_argnums=(1, 2))(jnp.int32(number), factor, modulus)
        assert int(found) == number * factor % modulus


@pytest.mark.parametrize(
    ("changes", "game", "line"),
    [
        ({"form": "residual", "encoding": "cells"}, FOUR, r"needs inputs .rows, columns, planes.; cells .*42"),
        ({"encoding": "tesauro"}, FOUR, "unknown encoding 'tesauro' of connect_four; available: observation, cells"),
        ({"encoding": "board64", "symmetries": False}, CHECKERS, "'board64' of checkers is not made of observations"),
        ({"head": "target", "learns": "policy", "policy_loss": "squared"}, FOUR, "head=target needs an encoding"),
        ({"head": "target", "learns": "policy", "policy_loss": "squared", "encoding": "cells"}, FOUR,
         "unknown head 'target' of connect_four"),
    ],
)  # fmt: skip
def test_a_network_of_the_wrong_shape_is_one_line(changes, game, line):
    with pytest.raises(ValueError, match=line):
        make_learner(game, ImitationConfig().replace(**changes))


def weights_of(rows):
    return {"policy": rows.policy_weight.sum(), "value": rows.value_weight.sum()}


def test_each_row_is_measured_once(four, monkeypatch):
    """By chunks, the last of which is not full."""
    monkeypatch.setattr(learner_module, "CHUNK", 20)
    monkeypatch.setattr(learner_module, "_sums", lambda learner, params, rows: weights_of(rows))
    monkeypatch.setattr(learner_module, "metrics_of", lambda network, sums: sums)
    assert make_learner(FOUR, SMALL).evaluate((), four) == weights_of(four)
