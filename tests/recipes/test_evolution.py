"""What all recipes of evolution share: settings, populations on devices, opponents, resuming, players."""

import dataclasses
import itertools
import json
import shutil
import sys
from types import SimpleNamespace

import jax
import jax.numpy as jnp
import numpy as np
import pytest

import jaxgames
from jaxgames import cli
from jaxgames.algos.evolution.evolution import advance, mesh_of
from jaxgames.algos.evolution.operators import Cubic, FitnessWeighted, Multiplicative, Truncation
from jaxgames.algos.evolution.saved import ByValue, NetworkConfig, champions_template
from jaxgames.algos.evolution.strategies import config_of, content_of, with_changes
from jaxgames.algos.evolution.strategies import population as population_module
from jaxgames.algos.evolution.strategies.group_ga import GroupsConfig
from jaxgames.algos.evolution.strategies.hill_climb import HillClimbConfig
from jaxgames.algos.evolution.strategies.low_rank import LowRankConfig
from jaxgames.algos.evolution.strategies.map_elites import MapElitesConfig
from jaxgames.algos.evolution.strategies.neuroevolution import GeneticConfig
from jaxgames.algos.evolution.strategies.nsga2 import NSGA2Config
from jaxgames.algos.evolution.strategies.open_es import OpenESConfig
from jaxgames.algos.evolution.strategies.population import Population, PopulationConfig
from jaxgames.players import make as make_player
from jaxgames.players.from_folder import load_all
from jaxgames.players.generic import evolved
from jaxgames.recipes import RECIPES
from jaxgames.recipes import evolution as evolution_recipe
from jaxgames.recipes.evolution import EvolutionCheckpoint, EvolutionRecipe, Measures, evolution_of
from jaxgames.recipes.evolution_by_matches import ByMatches, show
from jaxgames.recipes.recipe import Plan
from jaxgames.recipes.report import Report
from jaxgames.runs import Run, checkpoints
from jaxgames.runs.processes import spread

EVOLUTION = ("backgammon-hill-climb", "tic-tac-toe-evolution", "checkers-evolution", "connect-four-evolution")
NETWORK = NetworkConfig("tic_tac_toe", "afterstate").replace(hidden=(4,), activation="tanh", output="tanh")
SHARED = {"generations": 6, "population": 8, "opponents": "hall*2+others*3", "hall_every": 2, "block": 2}
SEARCH = OpenESConfig(NETWORK, **SHARED)
LEAGUE = SHARED | {"opponents": "others*3+league*2", "league_size": 3, "most_plies": 9}
STYLES = MapElitesConfig(NETWORK, **LEAGUE, cells=4)
TINY = EvolutionRecipe(
    "tiny",
    "for tests",
    {
        "es": SEARCH,
        "genetic": GeneticConfig(NETWORK, **SHARED, keep=3, elites=2, crossover="layers"),
        "climb": HillClimbConfig(NETWORK, generations=6, duel=2),
        "low_rank": LowRankConfig(NETWORK, **SHARED),
        "league": OpenESConfig(NETWORK, **LEAGUE),
        "map_elites": STYLES,
        "nsga2": NSGA2Config(NETWORK, **SHARED),
    },
    ByMatches(("random",)).measures(),
    show,
    measured_games=20,
    final_games=20,
)


POPULATIONS = ("genetic", "low_rank", "league", "nsga2")  # as "es" is
SLOW = [pytest.param(name, marks=pytest.mark.slow) for name in ("climb", *POPULATIONS)]


@pytest.fixture(scope="module", params=["es", "map_elites", *SLOW])
def finished(request, tmp_path_factory):
    """A training that nobody disturbed, and what it returned."""
    path = tmp_path_factory.mktemp("runs") / request.param
    result = TINY.begin(Plan(setting=request.param, devices=1), str(path), Report(quiet=True)).run_to_end()
    return Run.open(path), json.loads(json.dumps(result))


def state_of(run):
    strategy = config_of(run.config).strategy(None)
    template = EvolutionCheckpoint(champions_template(run), jax.eval_shape(strategy.init, jax.random.key(0)))
    return run.restore(template)


def test_a_training_that_was_stopped_ends_with_the_same_bits(finished, tmp_path):
    whole, result = finished
    path = tmp_path / "stopped"
    shutil.copytree(whole.path, path)
    for step in whole.steps()[1:]:
        shutil.rmtree(path / "checkpoints" / f"step-{step}")
    kept = path / checkpoints.SNAPSHOTS
    if kept.exists():  # what is there of the generations after the checkpoint is written again
        kept.write_bytes(kept.read_bytes()[: 2 * 4 * 45] + bytes(4 * 50))
    (path / "archive.png").unlink(missing_ok=True)
    again = TINY.resume(Run.open(path), Report(quiet=True)).run_to_end()
    (step, one), (_, other) = state_of(whole), state_of(Run.open(path))
    assert step == 6
    for leaf, same in zip(checkpoints.to_numpy(one), checkpoints.to_numpy(other), strict=True):
        np.testing.assert_array_equal(leaf, same)
    timed = {"seconds", "games_per_second", "generations_per_second", "run", "curve", "archive"}
    assert {k: v for k, v in again.items() if k not in (*timed, "matches")} == {
        k: v for k, v in result.items() if k not in (*timed, "matches")
    }
    assert (path / "archive.png").exists() == ("archive" in result)
    assert again["matches"][0]["ppg"] == result["matches"][0]["ppg"]
    assert [line["step"] for line in Run.open(path).metrics()] == [line["step"] for line in whole.metrics()]
    if kept.exists():
        assert kept.read_bytes() == (whole.path / checkpoints.SNAPSHOTS).read_bytes()


@pytest.mark.parametrize("finished", ["es"], indirect=True)
def test_people_see_how_far_a_large_generation_is(finished, tmp_path, monkeypatch):
    """Between two lines of metrics, of every block of candidates; and the training is the same, bit for bit."""
    whole, _ = finished
    seen, seconds = [], itertools.count(0.0, 2.0)
    monkeypatch.setattr(evolution_recipe, "WATCHED", 1)
    monkeypatch.setattr(evolution_recipe, "time", SimpleNamespace(monotonic=lambda: next(seconds)))
    monkeypatch.setattr(Report, "moving", lambda report, done, text: seen.append((done, text)))
    TINY.begin(Plan(setting="es", devices=1), str(tmp_path / "seen"), Report()).run_to_end()
    assert [round(48 * done) for done, _ in seen] == [n for n in range(48) if n % 8 and not n % 2]
    assert seen[4][1] == "generation 2, 4 of 8, 1 candidates/s"
    (_, one), (_, other) = state_of(whole), state_of(Run.open(tmp_path / "seen"))
    for leaf, same in zip(checkpoints.to_numpy(one), checkpoints.to_numpy(other), strict=True):
        np.testing.assert_array_equal(leaf, same)


def test_a_run_leaves_metrics_a_curve_and_a_player(finished, capsys):
    run, result = finished
    metrics = run.metrics()
    config = config_of(run.config)
    per_generation = 2 if config.name == "hill_climb" else 8 * 5 * 2
    assert [line["games"] for line in metrics] == [per_generation * step for step in range(1, 7)]
    assert all(line["score_random_low"] <= line["score_random"] <= line["score_random_high"] for line in metrics)
    assert all(line["diversity"] >= 0 for line in metrics)
    assert config.name == "hill_climb" or any(line["fitness_mean"] < line["fitness"] for line in metrics)
    assert (run.path / "curve.png").read_bytes()[:4] == b"\x89PNG"
    assert (run.path / "archive.png").exists() == ("archive" in result) == (config.name in ("map_elites", "nsga2"))
    assert run.best_info()["strength"] == max(line["strength"] for line in metrics) == result["kept"]["strength"]
    game = jaxgames.make("tic_tac_toe")
    player = make_player(str(run.path), game)
    newest = make_player(f"{run.path}/checkpoints/step-6", game)
    assert player.params.shape == newest.params.shape == (config.network.genomes().dimension,)
    assert make_player(f"{run.path}@2", game).name.endswith("@2")  # it values positions, so it can look ahead
    TINY.show(result)
    said = capsys.readouterr().out
    assert "champion" in said and result.get("archive", "") in said


def test_former_champions_are_kept_and_play(finished):
    """Those that joined, by the games before; nothing is kept where none are met."""
    run, _ = finished
    game, kept = jaxgames.make("tic_tac_toe"), run.path / checkpoints.SNAPSHOTS
    if config_of(run.config).champion_every is None:
        assert not kept.exists()
        return
    players = load_all(run.path, game)
    assert [player.name for player in players] == [f"{run.path},games={games}" for games in (80, 240, 400)]
    np.testing.assert_array_equal(run.restore_leaf("champions", 5)[0], players[2].params)
    np.testing.assert_array_equal(make_player(f"{run.path},games=240", game).params, players[1].params)
    with pytest.raises(ValueError, match="snapshots every 160 games from 80 on up to 400, none after 160"):
        make_player(f"{run.path},games=160", game)


@pytest.mark.slow  # of an algorithm: algos/evolution/test_evaluate
@pytest.mark.parametrize("config", [SEARCH, STYLES], ids=["open_es", "map_elites"])
def test_devices_change_nothing(config):
    key = jax.random.key(5)
    found = []
    for devices in (1, 2):
        evolution = evolution_of(config.replace(block=3), devices)
        state = jax.jit(evolution.strategy.init)(key)
        state = state if devices == 1 else spread(state, mesh_of(devices))
        state, scores = advance(evolution, state, 3)
        drawn = state.algorithm._replace(key=None), state.hall, state.league
        found.append([np.asarray(leaf) for leaf in jax.tree.leaves((drawn, scores.mean, scores.champion))])
    for one, other in zip(*found, strict=True):
        np.testing.assert_allclose(one, other, rtol=1e-5, atol=1e-6)


def test_the_hall_of_fame_fills_up():
    evolution = evolution_of(SEARCH.replace(generations=3, hall_every=1))
    state = jax.jit(evolution.strategy.init)(jax.random.key(0))
    first = np.asarray(state.hall.genomes)
    state, _ = advance(evolution, state, 1)
    assert (np.asarray(state.hall.genomes) != first).any(axis=1).tolist() == [True, False]
    np.testing.assert_array_equal(state.hall.genomes[0], state.algorithm.mean)


def test_a_league_gives_who_is_hard_to_beat_more_games():
    """Its champions join in a bound, and its rates are those of the games: here members that always lose or win."""
    population = OpenESConfig(NETWORK, **LEAGUE | {"hall_every": 1}).strategy(None)
    evolution, rates = evolution_of(population.config), jnp.asarray([0.25, 0.75], jnp.float32)

    class Judge:
        """Games with the networks that are met: others, and two of the league."""

        def results(self, genomes, numbers, key):
            return jnp.broadcast_to(jnp.asarray([[0.5, 0.5, 0.5, *rates]]), (len(numbers), 5))

        def of_results(self, results):
            return jnp.mean(results, axis=1)

        def by_opponent(self, values):
            return values

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(Population, "_judges", lambda *_: [(Judge(), 5)])
        patch.setattr(population_module, "won", lambda results: results)

        @jax.jit
        def first_generation(key):
            state = population.init(key)
            key = jax.random.fold_in(state.key, 0)
            places = population._league_places(state.league, key)
            return state, places, population.networks_met(state, key), *population.generation(state, evolution)

        state, places, met, after, scores = first_generation(jax.random.key(0))
    places = np.asarray(places)
    assert state.league.met.tolist() == [0, 0, -1] and sorted(places.tolist()) == [0, 1]
    np.testing.assert_array_equal(met[3:], np.asarray(state.league.genomes)[places])
    np.testing.assert_array_equal(np.asarray(after.league.win_rates)[places], rates)
    assert after.league.met.tolist() == [1, 1, 0] and scores.best == scores.mean == 0.5
    np.testing.assert_array_equal(after.league.genomes[2], after.algorithm.mean)
    assert population.metrics(after)["won_against_league"] == 0.5, "nobody has met the third one"


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
    network = NetworkConfig("backgammon", "outcomes", encoding="tesauro").replace(
        hidden=(3,), activation="sigmoid", output="sigmoid"
    )
    game = jaxgames.make("backgammon")
    genomes = network.genomes()
    assert (genomes.dimension, genomes.outputs) == (199 * 3 + 4 * 4, 4)
    genome = genomes.init(jax.random.key(1), jnp.zeros(1, jnp.int32))[0]
    positions = jax.jit(jax.vmap(game.init_position))(jax.random.split(jax.random.key(0), 5))
    outputs = genomes.network.apply(genomes.params(genome), game.encodings["tesauro"](positions))
    expected = np.asarray(outputs) @ np.array([1, -1, 2, -2], np.float32)
    np.testing.assert_allclose(network.value(genome)(positions), expected, rtol=1e-5, atol=1e-6)


def test_settings_of_a_genetic_algorithm_reach_it():
    genetic = GeneticConfig(NETWORK, **SHARED)
    usual = genetic.algorithm(None)
    assert (usual.selection, usual.mutation, usual.crossover) == (Truncation(5), Multiplicative(0.2), None)
    changes = {"selection": "weighted", "mutation": "cubic", "rate": "0.5", "crossover": "layers"}
    changed = with_changes(genetic, changes).algorithm(None)
    assert (changed.selection, changed.mutation) == (FitnessWeighted(), Cubic(0.5))
    assert changed.crossover.sizes == (40, 5)  # 9 inputs to 4 units, 4 to 1, with their biases


def test_as_many_others_as_the_population_are_everyone():
    """Each once; fewer are drawn."""
    state = jax.jit(TINY.settings["genetic"].strategy(None).init)(jax.random.key(0))
    for opponents, everyone in (("others*8", True), ("others*7", False)):
        population = TINY.settings["genetic"].replace(opponents=opponents, hall_every=10).strategy(None)
        met = np.asarray(population.networks_met(state, jax.random.key(1)))
        whole = np.asarray(population.algorithm.ask(state.algorithm, jnp.arange(8, dtype=jnp.int32)))
        assert np.array_equal(met, whole) == everyone and len(met) == int(opponents[-1])
        assert all((row == whole).all(axis=1).any() for row in met)


@pytest.mark.parametrize("name", EVOLUTION)
def test_settings_make_sense(name):
    recipe = RECIPES[name]
    for setting, config in recipe.settings.items():
        recipe.check(Plan(setting=setting))
        evolution = evolution_of(config, 1, recipe.fitnesses)
        assert evolution.policy.dimension == config.network.genomes().dimension
        assert config_of(json.loads(json.dumps(content_of(config)))) == config
    assert recipe.name == name and recipe.game in name.replace("-", "_")


@pytest.mark.parametrize(
    ("arguments", "expected"),
    [
        ("connect-four-evolution --set factor=1", "unknown setting 'factor' of evolution; available: generations"),
        ("connect-four-evolution --set population=7", "expected an even number"),
        ("connect-four-evolution --set population=x", "expected a whole number"),
        ("connect-four-evolution --set opponents=pubeval*3", "pubeval plays backgammon, not connect_four"),
        ("connect-four-evolution --devices 99", "99 devices"),
        ("connect-four-evolution --set plays=best", "expected one of outputs, afterstate, outcomes"),
        ("connect-four-evolution --set strategy=foo", "unknown strategy 'foo'; available: groups, genetic, open_es"),
        ("connect-four-evolution --set strategy=foo", "hill_climb, map_elites, nsga2, ARS, "),
        ("connect-four-evolution --set strategy=CMA_ES --set sigma=0", "sigma='0': expected a number above 0"),
        ("connect-four-evolution --set strategy=CMA_ES --set step_size=1", "unknown setting 'step_size' of evolution"),
        ("connect-four-evolution --set strategy=PGPE --set population=9", "evosax refuses PGPE with population=9"),
        ("checkers-evolution --set strategy=hill_climb", "hill_climb needs networks that value positions"),
        ("tic-tac-toe-evolution --set strategy=genetic --set keep=300", "keep=300, elites=5 of a population of 200"),
        ("connect-four-evolution --set opponents=hall*2+hall*3", "expected hall once, with all that are met"),
        ("connect-four-evolution --set league_size=8", "league_size=8 has no effect without opponents such as league"),
        (
            "connect-four-evolution --set opponents=league*9 --set league_size=8",
            "league_size=8: expected at least the league*9",
        ),
        (
            "connect-four-evolution --set strategy=map_elites --set descriptors=length+plies",
            "unknown measure 'plies'; available: length",
        ),
        (
            "connect-four-evolution --set strategy=map_elites --set descriptors=captures",
            "captures is always 0 in connect_four, which takes no pieces",
        ),
        (
            "connect-four-evolution --set strategy=map_elites --set low=1,2,3",
            "low has 3 numbers: expected 2, one for each descriptor",
        ),
        (
            "connect-four-evolution --set strategy=map_elites --set low=9,0 --set high=9,1",
            "low=9, high=9 of length: expected low below high",
        ),
        (
            "evolution --game connect_four --set strategy=map_elites",
            "length has no usual range here: give low and high (or most_plies, the longest game)",
        ),
        (
            "checkers-evolution --set strategy=map_elites --set descriptors=material",
            "material has no usual range here: give low and high",
        ),
        ("connect-four-evolution --set strategy=nsga2 --set objectives=-wins", "others than score=wins"),
        ("connect-four-evolution --set strategy=nsga2 --set objectives=length*2", "expected names with a plus"),
        (
            "tic-tac-toe-evolution --setting best --set strategy=nsga2",
            "nsga2 needs games, and these play none",
        ),
        ("backgammon-hill-climb --set duel=3", "expected an even number"),
        ("backgammon-hill-climb --devices 2", "hill_climb runs on one device"),
        ("checkers-evolution --set head=foo", "unknown head 'foo' of checkers; available: highest, squares, target"),
        ("checkers-evolution --set elites=200", "elites=200"),
        ("checkers-evolution --set mutation=large", "mutation='large': expected one of uniform, cubic"),
        ("evolution", "evolution learns the game that is named: --game tic_tac_toe|connect_four"),
        ("evolution --game chess", "unknown game 'chess'"),
        ("evolution --game checkers --setting large --set rank=2", "rank=2: expected 1 to 1 for matrices of"),
        ("evolution --game checkers --setting large --set population=7", "expected an even number"),
        ("td-gammon --coordinator here", "several processes need"),
    ],
)
def test_bad_input_gets_one_line(arguments, expected, refused):
    assert expected in refused(*arguments.split())


def test_shares_that_are_not_equal_get_one_line(refused, monkeypatch):
    """Where devices are asked for, or several processes take part; by itself the last device may have less to do."""
    said = "population=5 cannot be split over 2 devices evenly"
    changes = {"strategy": "genetic", "population": "5", "keep": "2", "elites": "1"}
    given = (part for name, text in changes.items() for part in ("--set", f"{name}={text}"))
    assert said in refused("tic-tac-toe-evolution", *given, "--devices", "2")
    recipe, plan = RECIPES["tic-tac-toe-evolution"], Plan(changes=changes)
    assert recipe.details(plan)["devices"] == jax.device_count() == 2
    monkeypatch.setattr(jax, "process_count", lambda: 2)
    with pytest.raises(ValueError, match=said):
        recipe.details(plan)


def test_a_million_candidates_fit_or_say_what_would():
    SEARCH.replace(population=1_000_000, block=256).check_memory(1)
    with pytest.raises(ValueError, match=r"population=16000000 needs \d+ bytes .* fits"):
        SEARCH.replace(hidden=(800,), population=16_000_000, block=1 << 20).check_memory(2)


@pytest.mark.parametrize("name", EVOLUTION)
@pytest.mark.parametrize("strategy", ["CMA_ES", "PSO", "genetic"])
def test_any_strategy_can_be_named_in_any_recipe(name, strategy):
    """What it shares with the setting stays as it is there, the rest is the strategy's own."""
    recipe = RECIPES[name]
    for setting, usual in recipe.settings.items():
        config = recipe.config(Plan(setting=setting, changes={"strategy": strategy, "population": "30"}))
        assert (config.name, config.population, config.generations) == (strategy, 30, usual.generations)
        assert config.network == usual.network
        if isinstance(usual, PopulationConfig):
            assert (config.opponents, config.block) == (usual.opponents, usual.block)
        assert config_of(json.loads(json.dumps(content_of(config)))) == config
        assert config.algorithm(None).population == 30


def test_settings_of_a_strategy_reach_it():
    config = with_changes(SEARCH, {"strategy": "CMA_ES", "sigma": "0.3", "std_max": "2", "hidden": "5"})
    params = config.algorithm(None).params
    assert float(params.std_init) == pytest.approx(0.3) and float(params.std_max) == 2
    assert config.network.layers.hidden == (5,)
    assert with_changes(config, {"std_max": "3"}).values() == {**config.values(), "std_max": 3}
    assert with_changes(config, {"strategy": "SNES"}).values()["sigma"] == 0.05


def test_without_evosax_one_line_says_what_to_install(monkeypatch, tmp_path, capsys):
    monkeypatch.setitem(sys.modules, "evosax.algorithms", None)
    arguments = ["train", "connect-four-evolution", "--set", "strategy=CMA_ES", "--out", str(tmp_path / "out")]
    assert cli.main(arguments) == 2
    error = capsys.readouterr().err
    assert error.count("\n") == 1 and "strategies of evosax need evosax: pip install evosax" in error


@pytest.mark.slow  # strategies of evosax by themselves: algos/evolution/test_evosax
@pytest.mark.parametrize("strategy", ["CMA_ES", "PSO"])
def test_a_strategy_of_evosax_trains_resumes_and_is_split(strategy, tmp_path):
    recipe = dataclasses.replace(TINY, settings={"usual": with_changes(SEARCH, {"strategy": strategy})})
    path = tmp_path / "run"
    recipe.begin(Plan(devices=2), str(path), Report(quiet=True)).run_to_end()
    _, whole = state_of(Run.open(path))
    for step in Run.open(path).steps()[1:]:
        shutil.rmtree(path / "checkpoints" / f"step-{step}")
    recipe.resume(Run.open(path), Report(quiet=True)).run_to_end()
    _, again = state_of(Run.open(path))
    for one, other in zip(checkpoints.to_numpy(whole), checkpoints.to_numpy(again), strict=True):
        np.testing.assert_array_equal(one, other)


def settings_of(kind):
    """All settings of a strategy, by recipe."""
    return [
        pytest.param(recipe, config, id=f"{recipe.name}-{setting}")
        for recipe in (RECIPES[name] for name in EVOLUTION)
        for setting, config in recipe.settings.items()
        if isinstance(config, kind)
    ]


@pytest.mark.parametrize(("recipe", "config"), settings_of(OpenESConfig))
def test_steps_of_every_setting_are_of_the_size_of_its_noise(recipe, config):
    """The champion moves by a share of sigma that is seen in the games: in the first generation, and in the last one,
    where steps are shorter (a first step of Adam is as long as the step size, there 3 times as long).
    """
    algorithm = config.replace(population=8).algorithm(None)
    scores = jnp.arange(8, dtype=jnp.float32) ** 2
    for generation, least, most in ((0, 0.2, 1.5), (config.generations - 1, 0.05, 1.0)):
        state = algorithm.init(jax.random.key(0))
        counted = jax.tree.map(
            lambda x, number=generation: jnp.full_like(x, number) if x.dtype == jnp.int32 else x, state.optimizer
        )
        after = algorithm.tell(state._replace(optimizer=counted), scores)
        moved = float(jnp.max(jnp.abs(after.mean - state.mean)))
        assert least * config.sigma < moved < most * config.sigma


def test_a_short_training_improves():
    """The mean score of the candidates, against opponents that stay the same."""
    config = SEARCH.replace(generations=30, population=32, opponents="random*32", hall_every=10, block=32)
    evolution = evolution_of(config)
    _, scores = advance(evolution, jax.jit(evolution.strategy.init)(jax.random.key(0)), 30)
    assert np.mean(scores.mean[-3:]) > np.mean(scores.mean[:3]) + 0.05


def test_weights_that_become_infinite_end_in_one_line(tmp_path):
    """Nothing that is no number is measured or kept."""
    recipe = dataclasses.replace(TINY, settings={"usual": with_changes(SEARCH, {"initializer": "uniform:3e38"})})
    training = recipe.begin(Plan(devices=1), str(tmp_path / "run"), Report(quiet=True))
    with pytest.raises(ValueError, match=r"^the weights became infinite or NaN at generation 1: .*; try .*$"):
        training.run_to_end()
    run = Run.open(tmp_path / "run")
    assert run.best_info() is None and not run.steps() and not run.metrics()


def test_champions_are_judged_by_dice_that_did_not_choose_them(tmp_path):
    """And the one that was the best in a measurement stands first, whichever it was."""
    seeds, met = {"quick": [], "thorough": []}, []

    def measured(kind, result):
        return lambda network, champions, games, seed: met.append(champions) or seeds[kind].append(seed) or result

    panels = TINY.measures.panels
    measures = Measures(measured("quick", ({"strength": 1.0}, 1)), measured("thorough", {"matches": []}), panels)
    groups = GroupsConfig(NETWORK, generations=1, groups=2, members=2, keep=1, turn=1)
    recipe = dataclasses.replace(TINY, settings={"usual": groups}, measures=measures)
    recipe.begin(Plan(seed=5), str(tmp_path / "run"), Report(quiet=True)).run_to_end()
    assert len(seeds["quick"]) == 1 and not set(seeds["quick"]) & set(seeds["thorough"])
    run = Run.open(tmp_path / "run")
    best = run.load_best(champions_template(run))[1]
    last = state_of(run)[1].champions
    np.testing.assert_array_equal(best, last[::-1])
    np.testing.assert_array_equal(best, met[-1])
    dataclasses.replace(recipe, judged="last").resume(run, Report(quiet=True)).run_to_end()
    np.testing.assert_array_equal(last, met[-1])


def test_the_population_is_seen_in_the_run(tmp_path):
    """`--population` is a setting like others."""
    out = tmp_path / "out"
    arguments = "--population 6 --set generations=1 --set opponents=hall*1 --set most_plies=4 --json".split()
    few = ["--measured-games", "2", "--final-games", "2"]
    with pytest.MonkeyPatch.context() as patch:
        patch.setitem(RECIPES, TINY.name, TINY)
        assert cli.main(["train", TINY.name, "--out", str(out), *arguments, *few]) == 0
    run = Run.open(out)
    assert run.config["evolution"]["population"] == 6
    assert [line["games"] for line in run.metrics()] == [6 * 2]
