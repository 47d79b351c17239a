"""What all recipes of evolution share: settings, populations on devices, opponents, resuming, players."""

import dataclasses
import json
import shutil

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from jaxgames.recipes.evolution.config import EvolutionConfig
from jaxgames.recipes.evolution.methods import advance, make_method, mesh_of
from jaxgames.recipes.evolution.training import check_memory

import jaxgames
from jaxgames import cli
from jaxgames.algos.evolution.evaluate import replicated
from jaxgames.algos.evolution.saved import ByValue, NetworkConfig, champions_template
from jaxgames.players import make as make_player
from jaxgames.players.generic import evolved
from jaxgames.recipes import RECIPES
from jaxgames.recipes.evolution.matches import ByMatches, show
from jaxgames.recipes.evolution.recipe import Checkpoint, EvolutionRecipe, config_of
from jaxgames.recipes.recipe import Plan
from jaxgames.recipes.report import Report
from jaxgames.runs import Run, checkpoints

EVOLUTION = ("backgammon-hill-climb", "tic-tac-toe-evolution", "checkers-evolution", "connect-four-evolution")
NETWORK = NetworkConfig("tic_tac_toe", "afterstate", hidden=(4,), activation="tanh", output="tanh")
SEARCH = EvolutionConfig(
    NETWORK, "open_es", generations=6, population=8, opponents="hall*2+others*3", hall_every=2, block=2
)
TINY = EvolutionRecipe(
    "tiny",
    "for tests",
    {
        "es": SEARCH,
        "genetic": dataclasses.replace(SEARCH, method="genetic", keep=3, elites=2, crossover="layers"),
        "climb": EvolutionConfig(NETWORK, "hill_climb", generations=6, duel=2),
    },
    ByMatches(("random",)).measures(),
    show,
    measured_games=20,
    final_games=20,
)


@pytest.fixture(scope="module", params=["es", pytest.param("genetic", marks=pytest.mark.slow), "climb"])
def finished(request, tmp_path_factory):
    """A training that nobody disturbed, and what it returned."""
    path = tmp_path_factory.mktemp("runs") / request.param
    result = TINY.begin(Plan(setting=request.param, devices=1), str(path), Report(quiet=True)).run_to_end()
    return Run.open(path), json.loads(json.dumps(result))


def state_of(run):
    method = make_method(config_of(run.config), 1, {})
    template = Checkpoint(champions_template(run), jax.eval_shape(method.init, jax.random.key(0)))
    return run.restore(template)


def test_a_training_that_was_stopped_ends_with_the_same_bits(finished, tmp_path):
    whole, result = finished
    path = tmp_path / "stopped"
    shutil.copytree(whole.path, path)
    for step in whole.steps()[1:]:
        shutil.rmtree(path / "checkpoints" / f"step-{step}")
    again = TINY.resume(Run.open(path), Report(quiet=True)).run_to_end()
    (step, one), (_, other) = state_of(whole), state_of(Run.open(path))
    assert step == 6
    for leaf, same in zip(checkpoints.to_numpy(one), checkpoints.to_numpy(other), strict=True):
        np.testing.assert_array_equal(leaf, same)
    timed = {"seconds", "games_per_second", "generations_per_second", "run", "curve"}
    assert {k: v for k, v in again.items() if k not in (*timed, "matches")} == {
        k: v for k, v in result.items() if k not in (*timed, "matches")
    }
    assert again["matches"][0]["ppg"] == result["matches"][0]["ppg"]


def test_a_run_leaves_metrics_a_curve_and_a_player(finished, capsys):
    run, result = finished
    metrics = run.metrics()
    config = config_of(run.config)
    per_generation = 2 if config.method == "hill_climb" else 8 * 5 * 2
    assert [line["games"] for line in metrics] == [per_generation * step for step in range(1, 7)]
    assert all(line["score_random_low"] <= line["score_random"] <= line["score_random_high"] for line in metrics)
    assert all(line["diversity"] >= 0 for line in metrics)
    assert (run.path / "curve.png").read_bytes()[:4] == b"\x89PNG"
    assert run.best_info()["strength"] == max(line["strength"] for line in metrics) == result["kept"]["strength"]
    game = jaxgames.make("tic_tac_toe")
    player = make_player(str(run.path), game)
    newest = make_player(f"{run.path}/checkpoints/step-6", game)
    assert player.params.shape == newest.params.shape == (config.network.genomes().dimension,)
    assert make_player(f"{run.path}@2", game).name.endswith("@2")  # it values positions, so it can look ahead
    TINY.show(result)
    assert "champion" in capsys.readouterr().out


def test_devices_change_nothing():
    key = jax.random.key(5)
    found = []
    for devices in (1, 2):
        method = make_method(dataclasses.replace(SEARCH, block=3), devices, {})
        state = jax.jit(method.init)(key)
        state = state if devices == 1 else replicated(state, mesh_of(devices))
        state, scores = advance(method, state, 3)
        found.append((np.asarray(state.algorithm.mean), np.asarray(state.hall.genomes), np.asarray(scores.mean)))
    for one, other in zip(*found, strict=True):
        np.testing.assert_allclose(one, other, rtol=1e-5, atol=1e-6)


def test_the_hall_of_fame_fills_up():
    method = make_method(dataclasses.replace(SEARCH, generations=3, hall_every=1), 1, {})
    state = jax.jit(method.init)(jax.random.key(0))
    first = np.asarray(state.hall.genomes)
    state, _ = advance(method, state, 1)
    assert (np.asarray(state.hall.genomes) != first).any(axis=1).tolist() == [True, False]
    np.testing.assert_array_equal(state.hall.genomes[0], state.algorithm.mean)


def test_a_value_plays_alike_in_populations_and_as_a_player():
    game = jaxgames.make("tic_tac_toe")
    genomes = NETWORK.genomes().init(jax.random.key(2), jnp.arange(3, dtype=jnp.int32))
    openings = [game.parse(text) for text in ("X../.O./...", "XO./.X./..O", ".../.../...", "XOX/.O./...")]
    positions = jax.tree.map(lambda *x: jnp.broadcast_to(jnp.stack(x)[None], (3, 4)), *openings)
    words = jnp.zeros((3, 4), jnp.uint32)
    all_at_once = jax.jit(NETWORK.policy().turn)(genomes, positions, words).outcome.position.cells
    one_by_one = jax.jit(ByValue(NETWORK).turn)(genomes, positions, words).outcome.position.cells
    np.testing.assert_array_equal(all_at_once, one_by_one)
    player = evolved("x", genomes[1], NETWORK)
    alone = player.turn(player.params, jax.tree.map(lambda x: x[1], positions), words[1]).position.cells
    np.testing.assert_array_equal(all_at_once[1], alone)


def test_four_outcomes_are_worth_their_points():
    network = NetworkConfig(
        "backgammon", "outcomes", encoding="tesauro", hidden=(3,), activation="sigmoid", output="sigmoid"
    )
    game = jaxgames.make("backgammon")
    genomes = network.genomes()
    assert (genomes.dimension, genomes.outputs) == (199 * 3 + 4 * 4, 4)
    genome = genomes.init(jax.random.key(1), jnp.zeros(1, jnp.int32))[0]
    positions = jax.vmap(game.init_position)(jax.random.split(jax.random.key(0), 5))
    outputs = genomes.network.apply(genomes.params(genome), game.encodings["tesauro"](positions))
    expected = np.asarray(outputs) @ np.array([1, -1, 2, -2], np.float32)
    np.testing.assert_allclose(network.value(genome)(positions), expected, rtol=1e-5, atol=1e-6)


@pytest.mark.parametrize("name", EVOLUTION)
def test_settings_make_sense(name):
    recipe = RECIPES[name]
    for setting, config in recipe.settings.items():
        recipe.check(Plan(setting=setting))
        method = make_method(config, 1, recipe.fitnesses)
        assert method.policy.dimension == config.network.genomes().dimension
        assert (
            config_of({"network": dataclasses.asdict(config.network), "evolution": config.used()}).used()
            == config.used()
        )
    assert recipe.name == name and recipe.game in name.replace("-", "_")


@pytest.mark.parametrize(
    ("arguments", "expected"),
    [
        ("connect-four-evolution --set factor=1", "unknown setting 'factor'; available: generations, score"),
        ("connect-four-evolution --set population=7", "expected an even number"),
        ("connect-four-evolution --set population=x", "expected a whole number"),
        ("connect-four-evolution --set opponents=pubeval*3", "pubeval plays backgammon, not connect_four"),
        ("connect-four-evolution --devices 99", "99 devices"),
        ("connect-four-evolution --set plays=best", "expected one of outputs, afterstate, outcomes"),
        ("backgammon-hill-climb --set duel=3", "expected an even number"),
        ("backgammon-hill-climb --devices 2", "hill_climb runs on one device"),
        ("checkers-evolution --set head=foo", "unknown head 'foo' of checkers; available: highest, squares"),
        ("checkers-evolution --set elites=200", "elites=200"),
        ("td-gammon --coordinator here", "several processes need"),
    ],
)
def test_bad_input_gets_one_line(arguments, expected, tmp_path, capsys):
    assert cli.main(["train", *arguments.split(), "--out", str(tmp_path / "out")]) == 2
    captured = capsys.readouterr()
    assert captured.err.count("\n") == 1 and expected in captured.err, captured.err
    assert not (tmp_path / "out").exists()


def test_a_million_candidates_fit_or_say_what_would():
    method = make_method(dataclasses.replace(SEARCH, population=1_000_000, block=256), 1, {})
    check_memory(method, 1)
    with pytest.raises(ValueError, match=r"population=16000000 needs \d+ bytes .* fits"):
        wide = dataclasses.replace(SEARCH, network=dataclasses.replace(NETWORK, hidden=(800,)))
        check_memory(make_method(dataclasses.replace(wide, population=16_000_000, block=1 << 20), 1, {}), 2)
