"""Spec strings: what may be said of players, and the one line that answers what may not."""

import re

import jax
import numpy as np
import pytest

import jaxgames
from jaxgames import players
from jaxgames.algos.td import make_config
from jaxgames.ops.settings import Setting
from jaxgames.players import registry, specs
from jaxgames.players.player import Player
from jaxgames.players.specs import PlayerEntry
from jaxgames.runs import Run

GAMES = [jaxgames.make(name) for name in jaxgames.available_games()]
TIC_TAC_TOE = jaxgames.make("tic_tac_toe")
BACKGAMMON = jaxgames.make("backgammon")


def make_told(game, *arguments, **options):
    """A player that says what it was told."""
    return Player("", game, None, (arguments, options))


OPTIONS = specs.by_name(Setting("c", str, "", ""), Setting("k", str, "", ""))


TOLD = {
    "plain": PlayerEntry(make_told, "", "plain has no options: write plain", ("plain",)),
    "deep": PlayerEntry(make_told, "", "deep needs a depth: write deep:3", ("deep:3",), ("N",), OPTIONS),
    "net": PlayerEntry(
        make_told, "", "net needs a run and a number: write net:RUN:8", ("net:RUN:8",), ("RUN", "N"), OPTIONS
    ),
    "board": PlayerEntry(make_told, "", "board needs a depth: write board:3", ("board:3",), ("N",), chance=False),
}


@pytest.fixture
def told(monkeypatch):
    """Players that tell what was said."""
    monkeypatch.setattr(registry, "PLAYERS", registry.PLAYERS | TOLD)


@pytest.mark.parametrize(
    ("spec", "arguments", "options"),
    [
        ("plain", (), {}),
        ("deep:3", (3,), {}),
        ("deep:800,c=1.0", (800,), {"c": "1.0"}),
        ("deep:800,k=a b,c=-1", (800,), {"k": "a b", "c": "-1"}),
        ("net:runs/a:32", ("runs/a", 32), {}),
        ("net:/a:b/c,d:32,c=2", ("/a:b/c,d", 32), {"c": "2"}),
        ("net:runs/a,c=1:32", ("runs/a,c=1", 32), {}),
    ],
)
def test_what_a_spec_says(told, spec, arguments, options):
    player = players.make(spec, TIC_TAC_TOE)
    assert (player.name, player.game, player.params) == (spec, TIC_TAC_TOE, (arguments, options))


@pytest.mark.parametrize(
    ("spec", "message"),
    [
        ("deep", "deep needs a depth: write deep:3, not 'deep'"),
        ("deep:", "deep needs a depth: write deep:3, not 'deep:'"),
        ("deep:3:4", "player 'deep:3:4': '3:4': expected a whole number from 1 to 1,000,000,000"),
        ("deep:0", "player 'deep:0': '0': expected a whole number from 1 to 1,000,000,000"),
        ("deep:-1", "player 'deep:-1': '-1': expected a whole number"),
        ("deep:x", "player 'deep:x': 'x': expected a whole number"),
        ("deep:1e3", "player 'deep:1e3': '1e3': expected a whole number"),
        ("deep:99999999999", "expected a whole number from 1 to 1,000,000,000"),
        ("deep:3,d=1", "player 'deep:3,d=1': no option 'd'; it has: c, k"),
        ("deep:3,C=1", "player 'deep:3,C=1': no option 'C'; it has: c, k"),
        ("deep:3,c=", "player 'deep:3,c=': option 'c' has no value; write c=VALUE"),
        ("deep:3,c=1,c=2", "option 'c' is given twice"),
        ("deep:3,", "player 'deep:3,': '3,': expected a whole number"),
        ("plain,c=1", "player 'plain,c=1': no option 'c'; it has none"),
        ("plain:3", "plain has no options: write plain, not 'plain:3'"),
        ("net:800", "net needs a run and a number: write net:RUN:8, not 'net:800'"),
        ("net::800", "net needs a run and a number: write net:RUN:8, not 'net::800'"),
        ("net:runs/a", "net needs a run and a number: write net:RUN:8, not 'net:runs/a'"),
        ("board:3", "board plays games without chance, not backgammon"),
        ("runs/none@2", "unknown player 'runs/none@2'; expected the folder of a training, or one of: random, "),
        ("@2", "unknown player '@2'; expected the folder of a training"),
        ("chess\n:3", "unknown player 'chess\\n:3'; expected"),
    ],
)
def test_what_no_spec_says(told, spec, message):
    with pytest.raises(ValueError) as error:
        players.make(spec, BACKGAMMON)
    assert message in str(error.value) and "\n" not in str(error.value)


def test_listings_are_true(told):
    """Every name is listed, for the games it plays; what is listed can be made (in `test_every_listed_player`)."""
    for game in (TIC_TAC_TOE, BACKGAMMON):
        with pytest.raises(ValueError) as error:
            players.make("nobody", game)
        listed = str(error.value).partition("one of: ")[2].split(", ")
        assert [spec for spec in listed if "RUN" not in spec] == list(players.available_players(game))
        names = {re.split("[:@]", spec)[0] for spec in listed}
        assert names == {"RUN"} | {name for name, entry in registry.PLAYERS.items() if entry.plays(game)}
    assert "board:3" not in listed and "net:RUN:8" in listed
    assert set(players.available_players()) >= {"random", "simple:3", "deep:3", "board:3"}


@pytest.mark.parametrize("game", GAMES, ids=lambda game: game.id)
def test_every_listed_player(game):
    for spec in players.available_players(game):
        player = players.make(spec, game)
        assert (player.name, player.game) == (spec, game)
        assert player.turn == players.make(spec, game).turn  # so nothing compiles for the second


def test_numbers():
    assert specs.number("1.5", "c") == 1.5 and specs.number("0", "c") == 0
    for text in ("-1", "nan", "inf", "x", "", "1e30"):
        with pytest.raises(ValueError, match=f"player 'p': c {text!r}: expected a number from 0 to 1,000,000"):
            specs.number(text, "player 'p': c")


CONFIG = make_config(game="tic_tac_toe", encoding="observation", hidden=(3,))


@pytest.fixture(scope="module", params=["a", "b:c,d=1@2"])
def path(request, tmp_path_factory):
    """A run in a folder with any name."""
    content = {"kind": "td", "game": "tic_tac_toe", "learner": CONFIG.to_json()}
    run = Run.create(tmp_path_factory.mktemp("runs") / request.param, content)
    run.save_best(CONFIG.network().init(jax.random.key(0)), {"games": 0})
    return str(run.path)


class TestRuns:
    def test_plies(self, path, told):
        """As many as named; one is the player itself."""
        player = players.make(path, TIC_TAC_TOE)
        assert players.make(f"{path}@1", TIC_TAC_TOE).turn == player.turn
        positions = jax.tree.map(lambda x: x[None], TIC_TAC_TOE.parse("XX./O../O.."))
        for spec, search in ((f"{path}@2", (2, None, None)), (f"{path}@3,keep=4,within=0.2", (3, 4, 0.2))):
            deep = players.make(spec, TIC_TAC_TOE)
            assert deep.name == spec
            assert (deep.turn.search.plies, deep.turn.search.keep, deep.turn.search.within) == search
            assert deep.turn == players.make(spec, TIC_TAC_TOE).turn
            jax.tree.map(np.testing.assert_array_equal, deep.params, player.params)
            assert jax.jit(deep.turn)(deep.params, positions, np.zeros(1, np.uint32)).over.all()
        assert [players.game_of(f"{path}{more}") for more in ("", "@2", "@2,keep=3")] == ["tic_tac_toe"] * 3
        assert players.game_of(f"net:{path}:8") == "tic_tac_toe" == players.game_of(f"net:{path}:8,c=1")
        assert players.game_of("pubeval") == "backgammon" and players.game_of("deep:3") is None

    @pytest.mark.parametrize(
        ("more", "message"),
        [
            ("@0", "plies '0': expected a whole number from 1 to 5"),
            ("@6", "plies '6': expected a whole number from 1 to 5"),
            ("@two", "plies 'two': expected a whole number from 1 to 5"),
            ("@2,keep=0", "keep '0': expected a whole number from 1"),
            ("@2,keep=3,within=-1", "within '-1': expected a number from 0 to 1,000,000"),
            ("@2,within=1", "within needs keep"),
            ("@2,c=1", "no option 'c'; it has: games, keep, within"),
            (",keep=3", "a run has options with plies only; write"),
            (":3", "unknown player"),
        ],
    )
    def test_plies_that_are_none(self, path, more, message):
        with pytest.raises(ValueError) as error:
            players.make(path + more, TIC_TAC_TOE)
        assert message in str(error.value) and "\n" not in str(error.value)

    def test_of_another_game(self, path):
        with pytest.raises(ValueError, match="holds a player of tic_tac_toe, not of backgammon"):
            players.make(f"{path}@2", BACKGAMMON)
