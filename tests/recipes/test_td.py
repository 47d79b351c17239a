"""The recipe `td`: every game, its results in its own terms, and the player of tic-tac-toe that loses no line."""

import json
from types import SimpleNamespace

import jax
import jax.numpy as jnp
import numpy as np
import pytest

import jaxgames
from jaxgames import cli
from jaxgames.algos.td import Metrics, make_config, make_learner
from jaxgames.algos.td import config as td_config
from jaxgames.algos.td.config import STEP_SIZES, TESTS
from jaxgames.algos.td.methods import template
from jaxgames.envs.registry import available_games
from jaxgames.matches import every_line, match
from jaxgames.players import make as make_player
from jaxgames.players.generic import greedy
from jaxgames.recipes import RECIPES, Plan, strength, td
from jaxgames.recipes.report import Report
from jaxgames.recipes.td import after_block
from jaxgames.recipes.training import run_updates
from tests.recipes.conftest import one_line


@pytest.fixture
def finished(tic_tac_toe):
    """The short training of tic-tac-toe."""
    return tic_tac_toe


def test_results_are_those_of_the_player_that_was_kept(finished):
    result, run = finished.result, finished.run
    assert (result["recipe"], result["game"]) == ("td", "tic_tac_toe")
    (final,) = result["matches"]
    assert final["b"] == "random" and final["games"] == 40
    player = make_player(str(run.path), jaxgames.make("tic_tac_toe"))
    assert result["every_line"] == every_line(player).to_dict()
    measured = [line for line in run.metrics() if "lines_lost" in line]
    assert len(measured) >= 2
    assert run.best_info()["lines_lost"] == min(line["lines_lost"] for line in measured)
    assert result["every_line"]["lost"] == run.best_info()["lines_lost"]
    for line in measured:
        assert line["win_random"] + line["draw_random"] + line["loss_random"] == pytest.approx(100)
        assert line["score_random"] == pytest.approx(line["win_random"] + line["draw_random"] / 2)
        assert 0 <= line["score_random_low"] <= line["score_random"] <= line["score_random_high"] <= 100
    assert (run.path / "curve.png").read_bytes()[:4] == b"\x89PNG"


def test_even_a_short_training_makes_a_better_player(finished):
    metrics = finished.run.metrics()
    lost = [line["lines_lost"] for line in metrics if "lines_lost" in line]
    assert lost[-1] < 0.8 * lost[0]
    assert metrics[-1]["loss"] < 0.9 * metrics[0]["loss"]


def test_lengths_are_of_games_that_ended(finished, monkeypatch):
    """Truncated games teach nothing, and their plies are of no game."""
    job = td.TD.job(finished.run, Report(quiet=True))

    def lengths(**found):
        metrics = Metrics(**{name: np.float32([found.get(name, 0)]) for name in Metrics._fields})
        monkeypatch.setattr(td, "run_updates", lambda *_: (SimpleNamespace(updates=1), metrics))
        entry = job.advance(job.shapes._replace(games=np.int64(0), tests=None), 0).entry
        return entry["plies_per_game"], entry["points_per_game"]

    assert lengths(plies=64) == (None, None)
    assert lengths(plies=64, games=8, points=4) == (8, 0.5)
    job.config = make_config("monte_carlo", game="tic_tac_toe", plies=6)
    assert lengths(plies=6 * 30 + 5 * 2, games=2, truncated=30) == (5, 0)


def test_a_length_is_made_of_the_speed_of_the_machine_or_of_games(monkeypatch):
    monkeypatch.setattr(td, "make_learner", lambda config: SimpleNamespace(init=lambda key: 0))
    monkeypatch.setattr(td, "place", lambda learner, devices: SimpleNamespace(place=lambda state: state))
    monkeypatch.setattr(td, "seconds_per_update", lambda *_: 0.5)
    assert td.CONNECT_FOUR.prepared(Plan(minutes=3.0), Report(quiet=True)).updates == 360
    assert td.CONNECT_FOUR.prepared(Plan(games=3), Report(quiet=True)).updates is None
    plies = td.CONNECT_FOUR.config(Plan()).plies_per_update(td.CONNECT_FOUR.plies_per_game)
    details = td.CONNECT_FOUR.details(Plan(games=1_000_000, devices=1))
    planned = details["goal"]["updates"] * plies / td.CONNECT_FOUR.plies_per_game
    assert planned == pytest.approx(1_000_000, rel=0.01)
    with pytest.raises(ValueError, match="either a number of minutes or a number of games"):
        td.CONNECT_FOUR.check(Plan(minutes=3.0, games=3))


def test_blocks_do_not_repeat_their_games():
    """Two blocks of an update each are one block of two: else every block would play with the same random numbers."""
    network = {"game": "tic_tac_toe", "encoding": "observation", "hidden": (2,), "outputs": 2}
    learner, key = make_learner(make_config(**network, batch=2, plies=2, epsilon=0.5)), jax.random.key(1)

    def trained(*blocks):
        state = learner.init(jax.random.key(0))
        for number in blocks:
            state, _ = run_updates(learner, state, key, number)
        return jax.tree.leaves(state.params)

    for one, other in zip(trained(2), trained(1, 1), strict=True):
        np.testing.assert_array_equal(one, other)


def test_the_final_match_has_dice_of_its_own(finished):
    """Those that chose the player would flatter it."""
    run, (final,) = finished.run, finished.result["matches"]
    player = make_player(str(run.path), jaxgames.make("tic_tac_toe"))
    opponent = make_player("random", player.game)
    chosen_by = match(player, opponent, 40, seed=run.config["seed"])
    assert 100 * chosen_by.score == pytest.approx(run.best_info()["score"])
    assert final["seed"] != chosen_by.seed
    assert final["ppg"] == match(player, opponent, 40, seed=final["seed"]).ppg


@pytest.mark.parametrize(("now", "younger", "place"), [(1.0, 2.0, 1), (2.0, 1.0, 0), (1.0, 1.0, 0)])
def test_a_worse_player_than_its_younger_self_lowers_the_step_size(now, younger, place, monkeypatch):
    """Here a player is as strong as its weights are large."""

    def strength_of(player):
        return float(jax.tree.leaves(player.params)[0].mean())

    def match(a, b, games, seed, batch):
        return SimpleNamespace(ppg=np.sign(strength_of(a) - strength_of(b)))

    monkeypatch.setattr(strength, "match", match)
    config = make_config(game="tic_tac_toe", encoding="observation", outputs=2, hidden=(2,), schedule="tested")
    learner = make_learner(config)
    network, shapes = learner.network, template(learner)

    def weights(size, *lead):
        return jax.tree.map(lambda x: jnp.full((*lead, *x.shape), size, x.dtype), shapes.state.params)

    tests = td_config.Tests(
        younger=weights(younger, TESTS),
        points=jnp.zeros(TESTS, jnp.float32),
        known=jnp.int32(TESTS - 1),
        number=jnp.int32(TESTS),
        place=jnp.int32(0),
    )
    checkpoint = shapes._replace(state=shapes.state._replace(params=weights(now), factor=jnp.float32(1)), tests=tests)
    player = greedy(network.game, "now", weights(now), network.value)
    after = after_block(checkpoint, player, learner)
    assert after.tests.place == place
    assert after.state.factor == np.float32(STEP_SIZES[place] / config.batch)
    for leaf in jax.tree.leaves(after.tests.younger):
        assert np.all(leaf[-1] == now) and np.all(leaf[:-1] == younger)


def test_weights_that_explode_end_the_training_in_one_line(tmp_path, capsys):
    arguments = "td --game tic_tac_toe --games 3000 --devices 1 --measured-games 20 --final-games 20 --json".split()
    arguments += ["--set", f"hidden={','.join(16 * ['8'])}", "--set", "activation=identity", "--set", "step_size=100"]
    assert cli.main(["train", *arguments, "--out", str(tmp_path / "run")]) == 2
    line = one_line(capsys)
    assert "infinite or NaN at update" in line and "no player was kept; try a smaller step_size" in line


def test_the_table_fits_80_columns(finished, capsys):
    RECIPES["td"].show({**finished.result, "run": "runs/x", "curve": "runs/x/curve.png"})
    text = capsys.readouterr().out
    assert max(map(len, text.splitlines())) <= 80
    row = next(line for line in text.splitlines() if "all lines, second" in line)
    assert f"{finished.result['every_line']['second']['lines']:,}" in row and "…" not in text


def test_a_match_finds_the_game_in_the_run_folder(finished, capsys):
    path = str(finished.run.path)
    for players in ((path, "random"), ("random", path)):
        assert cli.main(["match", *players, "--games", "20", "--json"]) == 0
        assert json.loads(capsys.readouterr().out)["game"] == "tic_tac_toe"
    for arguments, message in (
        ([path, "pubeval"], "pubeval plays backgammon, not tic_tac_toe"),
        ([path, "random", "--game", "connect_four"], "holds a player of tic_tac_toe, not of connect_four"),
    ):
        assert cli.main(["match", *arguments]) == 2
        assert message in one_line(capsys)


@pytest.mark.parametrize(
    ("arguments", "expected"),
    [
        ("td", "td learns the game that is named: --game tic_tac_toe|connect_four|"),
        ("td --game chess", "unknown game 'chess'; available: tic_tac_toe"),
        ("td-gammon --game checkers", "td-gammon learns backgammon, not checkers; for other games: jaxgames train td"),
        ("td --game connect_four --setting foo", "unknown setting 'foo' of td; available: fast"),
        ("td --game connect_four --set encoding=foo --games 9", "unknown encoding 'foo' of connect_four"),
        (
            "td --game connect_four --set game=checkers",
            "unknown setting 'game' of a TD learner; available: method",
        ),
        ("td --game connect_four --games 99999999999999999", "games 99999999999999999: expected a whole number from 1"),
        ("td --game connect_four --games 999999999999999", "expected at most"),
        ("td --game connect_four --minutes nan", "minutes nan: expected a number above 0"),
        ("td --game connect_four --minutes inf", "minutes inf: expected a number above 0"),
        ("td --game connect_four --set epsilon=2", "epsilon='2': expected a number from 0 to 1"),
    ],
)
def test_bad_input_gets_one_line(arguments, expected, refused):
    assert expected in refused(*arguments.split())


def test_every_game_has_settings_that_make_sense(monkeypatch):
    from jaxgames.envs import registry
    from tests.envs.othello import Othello

    monkeypatch.setitem(registry.GAMES, Othello.id, Othello)
    for game in (*available_games(), Othello.id):
        recipe = td.recipe_for(game)
        RECIPES["td"].check(Plan(game=game))
        assert recipe.game == game
        assert (recipe.minutes is None) != (recipe.games is None)
        for config in recipe.settings.values():
            network = config.network()
            assert network.game == jaxgames.make(game)
            explores = config.values().get("epsilon", 0.0) > 0
            assert explores == (not network.game.outcome_probabilities)  # else all games are the same
            assert len(network.outcomes) == 2 or network.game.max_reward > 1


def measured(lost: int | None, score: float) -> dict:
    lines = {} if lost is None else {"lines_lost": lost}
    return {"score_random": score, "score_random_low": score - 1, "score_random_high": score + 1, **lines}


@pytest.mark.parametrize(
    ("before", "now", "kept"),
    [
        ((None, 90.0), (None, 89.5), True),  # not clearly worse, and it has learned more
        ((None, 90.0), (None, 88.5), False),
        ((3, 90.0), (2, 50.0), True),  # lines count first
        ((2, 50.0), (3, 90.0), False),
        ((0, 90.0), (0, 88.0), False),
        ((0, 90.0), (0, 91.0), True),
    ],
)
def test_the_player_that_is_kept(before, now, kept):
    assert strength.is_kept("random", measured(*before), None)
    remembered = strength.remembered("random", measured(*before))
    assert strength.is_kept("random", measured(*now), remembered) == kept


def test_backgammon_is_measured_in_points():
    metrics = [{"ppg_pubeval": 0.1, "loss": 0.1}]
    assert strength.panels("pubeval", metrics) is None
    panels = strength.panels("random", [measured(None, 90.0)])
    assert list(panels[0].lines) == ["score_random", "win_random", "draw_random", "loss_random"]
    panels = strength.panels("random", [measured(0, 90.0)])
    assert "lines_lost" in {key for panel in panels for key in panel.lines}


@pytest.mark.slow
@pytest.mark.parametrize("seed", range(5))
def test_no_line_is_lost(seed, tmp_path, capsys):
    arguments = f"train td --game tic_tac_toe --out {tmp_path / 'run'} --seed {seed} --json"
    assert cli.main(arguments.split()) == 0
    result = json.loads(capsys.readouterr().out)
    assert result["every_line"]["lost"] == 0
    assert np.isclose(result["matches"][0]["loss_rate"], 0)


@pytest.mark.slow
def test_td_gammon_holds_its_own_against_pubeval_after_a_short_training(tmp_path, capsys):
    """Random moves lose 2.5 points a game to pubeval; after 60,000 games the network has caught up with it."""
    arguments = f"train td-gammon --out {tmp_path / 'run'} --games 60000 --final-games 4000 --json"
    assert cli.main(arguments.split()) == 0
    ppg = {match["b"]: match["ppg"] for match in json.loads(capsys.readouterr().out)["matches"]}
    assert ppg["pubeval"] > -0.2 and ppg["random"] > 1.5
