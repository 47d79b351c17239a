"""The settings: what is refused, what comes of them, and how they are saved; and the step sizes of the comparison."""

import json
from types import SimpleNamespace

import jax
import jax.numpy as jnp
import numpy as np
import pytest

from jaxgames.algos.td import (
    METHODS,
    ExactTD,
    ExpectedTD,
    MonteCarlo,
    NStepTD,
    SequentialBackprop,
    SequentialTD,
    TDConfig,
    load_player_value,
    make_config,
    make_learner,
)
from jaxgames.algos.td import config as td
from jaxgames.algos.td.methods import config_of, with_method


@pytest.mark.parametrize(
    ("method", "changes", "message"),
    [
        ("windows", {}, "method='windows': expected one of n_step, exact, monte_carlo"),
        ("n_step", {"optimizer": "rmsprop"}, "optimizer 'rmsprop': expected one of sgd, adam"),
        ("n_step", {"schedule": "linear"}, "schedule 'linear': expected one of constant, cosine, exponential, tested"),
        ("expected", {"schedule": "tested"}, "schedule 'tested': expected one of constant, cosine, exponential"),
        ("exact", {"outputs": 5}, "outputs 5: expected one of 2, 4, 6"),
        ("exact", {"lambda_": 1.1}, "lambda_ 1.1: expected a number from 0 to 1"),
        ("n_step", {"lambda_": float("nan")}, "lambda_ nan: expected a number from 0 to 1"),
        ("monte_carlo", {"lambda_": 0.5}, "unknown setting 'lambda_' of method=monte_carlo; available: method, "),
        ("n_step", {"epsilon": 1.5}, "epsilon 1.5: expected a number from 0 to 1"),
        ("n_step", {"restarts": 0.5}, "unknown setting 'restarts' of method=n_step"),
        ("n_step", {"members": 2}, "unknown setting 'members' of method=n_step"),
        ("expected", {"members": 2, "hidden": (9, 9)}, "members=2: needs one hidden layer"),
        ("n_step", {"teacher": True}, "unknown setting 'teacher' of method=n_step"),
        ("n_step", {"weight_decay": 0.5}, "weight_decay=0.5 has no effect without optimizer=adamw"),
        ("n_step", {"weight_decay": -1, "optimizer": "adamw"}, "weight_decay -1: expected a number from 0 to"),
        ("n_step", {"batch": 0}, "batch 0: expected a whole number from 1 to"),
        ("n_step", {"plies": 0}, "plies 0: expected a whole number from 1 to"),
        ("n_step", {"step_size": -0.1}, "step_size -0.1: expected a number from 0 to"),
        ("n_step", {"last_step_size": -1}, "last_step_size -1: expected a number from 0 to"),
        ("n_step", {"last_step_size": 0.5, "schedule": "constant"}, "last_step_size=0.5 has no effect without sched"),
        ("n_step", {"step_size": 0.1, "schedule": "tested"}, "step_size=0.1 has no effect without schedule=con"),
        ("n_step", {"lambda_": 0.5, "plies": 1}, "lambda_=0.5 has no effect without plies above 1"),
        ("expected", {"lambda_": 0.5, "plies": 1}, "lambda_=0.5 has no effect without plies above 1"),
        ("exact", {"cumulative": True, "outputs": 2}, "cumulative=true has no effect without outputs=4 or 6"),
        ("n_step", {"updates": -1}, "updates -1: expected a whole number from 0 to"),
        ("exact", {"output": "softmax"}, "unknown setting 'output' of method=exact"),
        ("n_step", {"output": "softmax", "cumulative": True}, "cumulative=true has no effect without output=sigmoid"),
        ("monte_carlo", {"by_class": True}, "unknown setting 'by_class' of method=monte_carlo"),
        ("expected", {"symmetric": False}, "unknown setting 'symmetric' of method=expected"),
        ("expected", {"average": 1.1}, "average 1.1: expected a number from 0 to 1"),
        ("n_step", {"step_size": 0, "updates": 9, "schedule": "cosine"}, "step_size=0: the schedule cosine needs a n"),
        ("exact", {"last_step_size": 0, "updates": 9}, "last_step_size=0: the schedule exponential needs a number abo"),
        ("expected", {"updates": 2**23, "plies": 2}, "updates 8,388,608 of 256 positions: expected at most 8,388,607"),
    ],
)
def test_settings_that_make_no_sense(method, changes, message):
    with pytest.raises(ValueError) as error:
        make_config(method, **changes)
    assert message in str(error.value) and "\n" not in str(error.value)


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"encoding": "raw"}, "unknown encoding 'raw' of dash; available: observation, track"),
        ({"game": "dashes"}, "unknown game 'dashes'; available: "),
        ({"activation": "gauss"}, "activation 'gauss': expected one of sigmoid, "),
        ({"initializer": "random"}, "unknown initializer 'random'; available: "),
        ({"by_class": True}, "by_class=True: the encoding track of dash tells no classes apart"),
        ({"hidden": (40, 0)}, "hidden 0: expected whole numbers from 1 on"),
    ],
)
def test_networks_that_cannot_be(changes, message):
    with pytest.raises(ValueError) as error:
        config = make_config(**{"game": "dash", "encoding": "track", **changes})
        make_learner(config).init(jax.random.key(0))
    assert message in str(error.value) and "\n" not in str(error.value)


def test_games_that_are_cut_off_are_refused():
    with pytest.raises(ValueError, match=r"^game='short_relay': TD plays games to their ends, .* after 5 actions"):
        make_learner(make_config(game="short_relay", encoding="track")).init(jax.random.key(0))


def test_the_first_players_view_needs_turns_that_alternate():
    config = make_config(game="relay", encoding="track", symmetric=False)
    with pytest.raises(ValueError, match="^symmetric=False: a player of relay may act twice in a row; use symmetric"):
        make_learner(config).init(jax.random.key(0))
    for fine in (config.replace(symmetric=True), config.replace(game="dash")):
        assert fine.network().symmetric == fine.symmetric


@pytest.mark.parametrize("method", METHODS)
def test_settings_survive_json(method):
    config = make_config(method, hidden=(40, 20), biases=False, step_size=0.3)
    found = json.loads(json.dumps(config.to_json()))
    assert config_of(found) == config and found["method"] == method
    assert found.keys() == {name for name, one in config.declarations().items() if one.has_meaning(config.values())}
    assert hash(config) == hash(config.replace())
    assert config.net.hidden == make_config(method, hidden=[40, 20]).net.hidden


def test_another_method_keeps_what_it_has():
    config = make_config("n_step", hidden=(7,), epsilon=0.2, batch=16, schedule="tested", cumulative=True)
    assert with_method(config, "exact") == make_config(
        "exact", hidden=(7,), epsilon=0.2, batch=16, schedule="tested", cumulative=True
    )
    assert with_method(config, "expected") == make_config("expected", hidden=(7,), epsilon=0.2, batch=16)
    assert with_method(config, "sequential_td") == make_config(
        "sequential_td", hidden=(7,), schedule="tested", cumulative=True
    )
    short = config.replace(plies=8)
    assert with_method(short, "exact").plies == 8
    assert with_method(short, "monte_carlo").plies == 1024 and with_method(short, "monte_carlo").batch == 16
    assert with_method(make_config("monte_carlo"), "n_step").plies == 4


def test_whole_games_fit_into_the_usual_plies():
    learner = make_learner(make_config("monte_carlo", game="dash", encoding="track", outputs=6, batch=8))
    metrics = jax.jit(learner.update)(learner.init(jax.random.key(0)), jax.random.key(1))[1]
    assert metrics.games == 8 and metrics.truncated == 0 and metrics.positions > 0


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (lambda s: s | {"lambda": 0.7}, "unknown setting 'lambda' of a TD learner; available: method, game, "),
        (lambda s: s | {"minibatch": 9}, "unknown setting 'minibatch' of a TD learner; available: method, game, "),
        (
            lambda s: {n: s[n] for n in s if n != "hidden"},
            "setting 'hidden' of a TD learner is missing; expected all of method, game, ",
        ),
        (lambda s: {n: s[n] for n in s if n != "method"}, "method=None: expected one of n_step, exact, "),
        (lambda s: s | {"hidden": 40}, "hidden 40: expected whole numbers from 1 on, such as "),
        (lambda s: s | {"batch": "128"}, "batch '128': expected a whole number"),
        (lambda s: s | {"symmetric": 1}, "symmetric 1: expected true or false"),
        (lambda s: s | {"step_size": None}, "step_size None: expected a number from 0 to 100"),
        (lambda s: s | {"outputs": 5}, "outputs 5: expected one of 2, 4, 6"),
        (lambda s: [s], "the settings of a TD learner are a list; expected"),
    ],
)
def test_configs_that_cannot_be_read(change, message):
    settings = change(make_config().to_json())
    with pytest.raises(ValueError) as error:
        load_player_value(SimpleNamespace(path="runs/x", config={"learner": settings}))
    assert str(error.value).startswith(f"runs/x/config.json: {message}") and "\n" not in str(error.value)


def test_a_run_without_a_player():
    with pytest.raises(ValueError, match="^runs/x holds no TD player; expected a run of "):
        load_player_value(SimpleNamespace(path="runs/x", config={}))


def sizes(config: TDConfig, steps: int) -> list[float]:
    """The lengths of steps along a gradient of 1."""
    optimizer = config.optimizer_for()
    params, found = jnp.float32(0), []
    state = optimizer.init(params)
    with jax.numpy_dtype_promotion("standard"):  # optax mixes int32 counts with float32
        for _ in range(steps):
            update, state = optimizer.update(jnp.float32(1), state, params)
            found.append(-float(update))
    return found


@pytest.mark.parametrize(("method", "steps"), [("n_step", 3), ("monte_carlo", 3), ("exact", 12)])
def test_schedules_end_with_the_training(method, steps):
    """Exact TD makes a step after each ply, the others one in each update."""
    config = make_config(method=method, optimizer="sgd", step_size=0.5, last_step_size=0.0625, updates=3, plies=4)
    powers = [0.5 * 0.125 ** (min(step / steps, 1)) for step in range(steps + 2)]
    np.testing.assert_allclose(sizes(config, steps + 2), powers, rtol=1e-5)
    cosine = [0.0625 + 0.4375 * (1 + np.cos(np.pi * min(step / steps, 1))) / 2 for step in range(steps + 2)]
    np.testing.assert_allclose(sizes(config.replace(schedule="cosine"), steps + 2), cosine, rtol=1e-5)
    for constant in ({"schedule": "constant"}, {"updates": 0}):
        assert sizes(config.replace(**constant), 3) == [0.5] * 3
    assert sizes(config.replace(schedule="tested"), 2) == [1.0] * 2  # times the factor in the state


@pytest.mark.parametrize("weight_decay", [0.0001, 0.25])
def test_weights_decay_without_slopes(weight_decay):
    config = make_config(optimizer="adamw", schedule="constant", step_size=0.5, weight_decay=weight_decay)
    optimizer, weights = config.optimizer_for(), jnp.float32([2.0, -4.0])
    with jax.numpy_dtype_promotion("standard"):  # as above
        change, _ = optimizer.update(jnp.zeros_like(weights), optimizer.init(weights), weights)
    np.testing.assert_allclose(change, -0.5 * weight_decay * np.asarray(weights), rtol=1e-6)


@pytest.mark.parametrize("optimizer", ["sgd", "adam"])
def test_the_factor_multiplies_steps(optimizer):
    """Those of Adam too, which would not notice longer gradients."""
    config = make_config(game="nim", encoding="observation", hidden=(2,), outputs=2, batch=2, optimizer=optimizer)
    learner = make_learner(config)
    state = learner.init(jax.random.key(0))
    slopes = jax.tree.map(jnp.ones_like, state.params)
    steps = []
    for factor in (1.0, 0.25):
        params, _ = learner.step(state.params, state.optimizer, slopes, jnp.float32(factor))
        steps.append(jax.tree.leaves(jax.tree.map(lambda a, b: np.asarray(b - a), params, state.params)))
    for whole, part in zip(*steps, strict=True):
        np.testing.assert_allclose(whole, config.step_size, rtol=1e-3)
        np.testing.assert_allclose(part, whole / 4, rtol=1e-3)


def test_each_method_has_its_learner():
    kinds = {"n_step": NStepTD, "exact": ExactTD, "monte_carlo": MonteCarlo, "expected": ExpectedTD}
    kinds |= {"sequential_td": SequentialTD, "sequential_backprop": SequentialBackprop}
    assert {method: type(make_learner(make_config(method))) for method in METHODS} == kinds


def test_step_sizes_fall_when_25_tests_in_a_row_are_lost():
    schedule = td.TestedStepSizes()
    assert schedule.step_size == 0.25
    for _ in range(24):
        schedule = schedule.after_test(-10.0)
    assert schedule.step_size == 0.25  # not 25 tests yet
    schedule = schedule.after_test(240.0)
    assert schedule.step_size == 0.25 and sum(schedule.recent) == 0  # not less than zero
    schedule = schedule.after_test(-11.0)  # the first of the 25 is forgotten
    assert schedule.step_size == 0.1 and schedule.recent == ()  # 25 new tests decide about the next one


def test_step_sizes_stay_while_the_player_gets_better():
    schedule = td.TestedStepSizes()
    for number in range(100):
        schedule = schedule.after_test(30.0 if number % 3 == 0 else -14.0)
    assert schedule.step_size == 0.25 and len(schedule.recent) == 25


def test_the_last_step_size_stays():
    schedule, seen = td.TestedStepSizes(), []
    for _ in range(12 * 25):
        seen.append(schedule.step_size)
        schedule = schedule.after_test(-1.0)
    assert tuple(dict.fromkeys(seen)) == td.STEP_SIZES and seen[-1] == 0.001
    assert [seen.count(size) for size in td.STEP_SIZES[:-1]] == [25] * 7
