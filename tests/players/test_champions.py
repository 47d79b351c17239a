"""The players that travel with the package: their files, cards and levels; and players made weaker."""

import dataclasses
import importlib
from importlib import resources
from pathlib import Path

import jax
import jax.numpy as jnp
import numpy as np
import pytest

import jaxgames
from jaxgames import players
from jaxgames.matches import every_line, match, solved
from jaxgames.players import champions
from jaxgames.players.generic import weak
from jaxgames.players.player import Player
from jaxgames.recipes import recipe_named
from jaxgames.recipes.recipe import Plan
from jaxgames.runs import safetensors

GAMES = ("tic_tac_toe", "connect_four", "checkers", "backgammon")
CARDS = {name: champions.card(name) for name in GAMES}
TIC_TAC_TOE = jaxgames.make("tic_tac_toe")
MOST_BYTES = 2_000_000
# Not backgammon, whose features are slow as `make test` compiles them.
QUICK = {("tic_tac_toe", level) for level in champions.LEVELS} | {
    (game, "easy") for game in GAMES if game != "backgammon"
}


def test_the_recipe_of_connect_four_is_that_of_its_champion():
    """The settings with which the champion was trained are the usual ones of the command that the docs name."""
    learner = CARDS["connect_four"]["learner"]
    usual = recipe_named("connect-four-alphazero").config(Plan(games=900_000))
    assert usual.replace(updates=learner["updates"]).to_json() == learner


@pytest.mark.parametrize("name", GAMES)
def test_weights_travel_with_the_package(name):
    file, game = resources.files("jaxgames") / "champions" / f"{name}.safetensors", jaxgames.make(name)
    assert len(file.read_bytes()) == CARDS[name]["bytes"] < MOST_BYTES
    arrays = safetensors.load(file.read_bytes()).values()
    assert all(array.dtype in (np.float32, np.float16) and np.isfinite(array).all() for array in arrays)
    assert {"recipe", "setting", "seed", "games"} <= CARDS[name]["trained"].keys()
    for level in champions.LEVELS:
        player = players.make(f"champion:{level}", game)
        assert player.name == f"champion:{level}" and player.game == game
    assert players.make("champion", game).turn == players.make("champion:hard", game).turn


def measured(slow):
    """The matches of all cards, each as game and row; those that need a search are slow."""
    for name in GAMES:
        for row in CARDS[name].get("matches", ()):
            if ((name, row["level"]) in QUICK and row["opponent"] == "random") != slow:
                yield pytest.param(name, row, id=f"{name}-{row['level']}-{row['opponent']}")


def replay(name, row, games):
    """Plays other games than the card tells of; both are samples of the same strength."""
    game = jaxgames.make(name)
    pair = players.make(f"champion:{row['level']}", game), players.make(row["opponent"], game)
    result = match(*pair, games, seed=row["seed"] + 1)
    spread = np.hypot(row["ppg_high"] - row["ppg_low"], result.ppg_high - result.ppg_low) / 2
    assert abs(result.ppg - row["ppg"]) < 2.5 * spread + 0.02, (result.ppg, row)


@pytest.mark.parametrize(("name", "row"), list(measured(slow=False)))
def test_figures_of_the_cards(name, row):
    replay(name, row, 400)


def test_backgammon_loses_little_by_gnu_backgammon(data_dir, monkeypatch):
    """The weights of the package choose as the card's player does: 0.004 points lost, where pubeval loses 0.042."""
    monkeypatch.syspath_prepend(Path(__file__).parents[2] / "benchmarks")
    choice = importlib.import_module("move_choice")
    decisions = choice.read(data_dir / "backgammon" / "decisions_gnubg2ply.jsonl.gz")[:256]
    chosen = choice.of_player(players.make("champion@1", jaxgames.make("backgammon")), decisions)
    assert np.mean(choice.losses(decisions, chosen)) < 0.01


@pytest.mark.slow
@pytest.mark.parametrize(("name", "row"), list(measured(slow=True)))
def test_all_other_figures_of_the_cards(name, row):
    replay(name, row, min(400, row["games"]))


def test_tic_tac_toe_loses_no_line():
    assert every_line(players.make("champion", TIC_TAC_TOE)).lost == CARDS["tic_tac_toe"]["lines_lost"] == 0


@pytest.mark.slow
@pytest.mark.parametrize("row", CARDS["connect_four"].get("solved", ()), ids=lambda row: row["level"])
def test_solved_positions_of_the_card(row):
    player = players.make(f"champion:{row['level']}", jaxgames.make("connect_four"))
    found = solved.score(player, solved.read(solved.MOVE_SCORES), seed=row["seed"])
    assert abs(found.perfect - row["perfect"]) < 0.03 and abs(found.good - row["good"]) < 0.03


def test_levels_differ():
    for name in GAMES:
        levels = [CARDS[name]["levels"][level] for level in champions.LEVELS]
        assert len(set(levels)) == 3
        points = [
            row["ppg"]
            for level in champions.LEVELS
            for row in CARDS[name]["matches"]
            if (row["level"], row["opponent"]) == (level, "random")
        ]
        assert points == sorted(points)


def test_other_boards_are_searched():
    small = jaxgames.make("connect_four", rows=4, cols=5)
    assert champions.spec(small, "normal") == CARDS["connect_four"]["levels_elsewhere"]["normal"]
    assert players.make("champion:easy", small).game == small
    with pytest.raises(ValueError, match=r"the champion of connect_four has learned on ConnectFour\(rows=6.*not on"):
        players.make("champion@1", small)


def test_a_game_without_a_champion(monkeypatch):
    @dataclasses.dataclass(frozen=True)
    class Other(type(TIC_TAC_TOE)):
        id = "other"

    with pytest.raises(ValueError, match="there is no champion of other; there are champions of backgammon, checkers"):
        players.make("champion", Other())


@dataclasses.dataclass(frozen=True)
class Leftmost:
    """Plays the first free cell."""

    def __call__(self, params, positions, bits):
        actions = jnp.argmax(jax.vmap(TIC_TAC_TOE.legal)(positions), axis=1).astype(jnp.int32)
        return jax.vmap(TIC_TAC_TOE.play)(positions, actions)


def test_weak_players_err_as_often_as_they_say():
    position = jax.tree.map(lambda x: jnp.broadcast_to(x, (9000,)), TIC_TAC_TOE.init_position(jax.random.key(0)))
    bits = jax.random.bits(jax.random.key(1), (9000,))
    shares = {}
    for probability in (0.0, 0.3, 1.0):
        player = weak(Player("leftmost", TIC_TAC_TOE, Leftmost()), "weak", probability)
        cells = np.asarray(jax.jit(player.turn)(player.params, position, bits).position.cells) >> 16
        shares[probability] = np.bincount(np.log2(cells).astype(int), minlength=9) / 9000
    assert shares[0.0].tolist() == [1] + [0] * 8
    for probability in (0.3, 1.0):
        expected = np.full(9, probability / 9) + [1 - probability, *[0] * 8]
        assert np.abs(shares[probability] - expected).max() < 0.02


@pytest.mark.parametrize(
    ("spec", "message"),
    [
        ("champion:best", "champions are champion:easy, champion:normal and champion:hard, not 'champion:best'"),
        ("champion:easy:3", "champions are .*, not 'champion:easy:3'"),
        ("champion,c=1", "player 'champion,c=1': no option 'c'; it has none"),
        ("weak", "weak needs a probability and a player: write weak:0.2:champion, not 'weak'"),
        ("weak:0.2", "weak needs a probability and a player: .*, not 'weak:0.2'"),
        ("weak:2:random", "player 'weak:2:random': probability '2': expected a number from 0 to 1"),
        ("weak:x:random", "probability 'x': expected a number from 0 to 1"),
        ("weak:0.1:weak:0.1:random", "is weak twice; give it a larger probability"),
        ("weak:0.1:nobody", "unknown player 'nobody'"),
        ("alphabeta:nowhere:3", "nowhere"),
        ("alphabeta:champion:0", "'0': expected a whole number from 1"),
    ],
)
def test_wrong_specs(spec, message):
    with pytest.raises(ValueError, match=message):
        players.make(spec, TIC_TAC_TOE)


def test_specs_with_players_in_them():
    player = players.make("weak:0.2:alphabeta:champion:2,ties=first", TIC_TAC_TOE)
    assert player.name == "weak:0.2:alphabeta:champion:2,ties=first"
    assert player.turn.turn == players.make("alphabeta:champion:2,ties=first", TIC_TAC_TOE).turn
    assert player.turn.turn.make_value is not None and player.turn.turn.search.ties == "first"
    assert players.game_of("weak:0.2:pubeval") == "backgammon" and players.game_of("champion@2") is None
    with pytest.raises(ValueError, match="pubeval plays backgammon, not tic_tac_toe"):
        players.make("weak:0.2:pubeval", TIC_TAC_TOE)
