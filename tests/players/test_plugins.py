"""Players and games of other people: plug-in files, entry points, players in plain Python, and how they fail."""

import dataclasses
import json
import re
import shutil
import threading
import tomllib
from concurrent.futures import ThreadPoolExecutor
from importlib.metadata import EntryPoint
from pathlib import Path

import jax
import jax.numpy as jnp
import numpy as np
import pytest

import jaxgames
from jaxgames import cli, players
from jaxgames.envs import registry as games
from jaxgames.matches import host_games, match
from jaxgames.matches.host_games import _openings
from jaxgames.players import jax_player, plugins, registry
from jaxgames.players.generic import exact, weak
from jaxgames.players.host import HostTurn, PlayerFailed, take_forfeits
from jaxgames.players.player import Player
from jaxgames.sessions.session import Session
from tests.algos.small_games import Nim

ROOT = Path(__file__).parents[2]
EXAMPLE = ROOT / "docs" / "play" / "plugin_example.py"
TIC_TAC_TOE = jaxgames.make("tic_tac_toe")
NO_NUMBER = "mine: ValueError: move(state) gave ['x']; expected the number of an action"
TIMES = ("a", "b", "seconds", "games_per_second", "compile_seconds")


@pytest.fixture(autouse=True)
def own_registries(monkeypatch):
    """What is registered here is forgotten."""
    monkeypatch.setattr(registry, "PLAYERS", dict(registry.PLAYERS))
    monkeypatch.setattr(games, "GAMES", dict(games.GAMES))


def python(move, game=TIC_TAC_TOE, name="mine"):
    return Player(name, game, HostTurn(game, move, name))


def first(state):
    return int(np.argmax(state.legal_action_mask))


def without_times(result):
    return {name: value for name, value in result.to_dict().items() if name not in TIMES}


def test_threads_have_their_own_forfeits():
    """Matches at once with one player tell of their own games only."""
    player = python(lambda state: 9)
    positions = jax.tree.map(lambda x: x[None], TIC_TAC_TOE.init(jax.random.key(0))._position)

    def lost(number):
        for _ in range(number):
            player.turn((), positions, np.zeros(1, np.uint32))
        everybody.wait(60)
        return len(take_forfeits(player)), len(take_forfeits(player))

    everybody = threading.Barrier(2)
    with ThreadPoolExecutor(2) as pool:
        assert list(pool.map(lost, (1, 3))) == [(1, 0), (3, 0)]


CASES = [
    ("tic_tac_toe", ("random", "random"), 6),
    pytest.param("backgammon", ("random", "simple:2"), 70, marks=pytest.mark.slow),  # compiles for 10 seconds
]


@pytest.mark.parametrize(("game", "names", "most_plies"), CASES)
def test_games_outside_of_jit_are_those_inside(monkeypatch, game, names, most_plies):
    """Two compiled players in the loop of plain Python: the same openings, dice, seats and limits."""
    game = jaxgames.make(game)
    pair = [players.make(name, game) for name in names]
    usual = match(*pair, 70, seed=3, most_plies=most_plies)
    asked = iter([True])  # by the match; in its loop the players are what they are
    monkeypatch.setattr(Player, "on_host", property(lambda self: next(asked, False)))
    told = []
    plain = match(*pair, 70, seed=3, most_plies=most_plies, progress=told.append)
    assert next(asked, None) is None and told == [64, 70]
    assert without_times(plain) == without_times(usual) and 0 < usual.stopped < 70


def test_python_and_jax_players_agree():
    registry.register("slow", first)
    registry.register("fast", jax_player(lambda states, bits: jnp.argmax(states.legal_action_mask, axis=-1)))
    champion = players.make("champion@1", TIC_TAC_TOE)
    slow, fast = (match(players.make(name, TIC_TAC_TOE), champion, 40) for name in ("slow", "fast"))
    assert without_times(slow) == without_times(fast) and slow.loss_rate > 0.5


def test_a_plug_in_that_fails_loses_its_game_and_says_why():
    calls = []

    def fails(state):
        calls.append(state)
        if len(calls) % 5 == 0:
            raise ZeroDivisionError("division\nby zero")
        return first(state) if len(calls) % 7 else 99

    good = python(first, name="good")
    result = match(python(fails), good, 20)
    assert result.games == 20 and sum(result.forfeits.values()) > 5
    assert any(reason == "mine: ZeroDivisionError: division by zero" for reason in result.forfeits)
    assert any(reason.startswith("mine: ValueError: illegal action 99 in ") for reason in result.forfeits)
    lost = match(python(lambda state: 1 / 0), good, 6)
    assert lost.loss_rate == 1 and lost.forfeits == {"mine: ZeroDivisionError: division by zero": 6}
    won = match(good, python(lambda state: "x"), 6)
    assert won.win_rate == 1 and list(won.forfeits) == [NO_NUMBER]


def test_every_forfeit_is_told():
    """The most common reasons by name, all others together."""
    numbers = iter(range(1000))
    result = match(python(lambda state: 100 + next(numbers)), python(first, name="good"), 60)
    assert len(result.forfeits) == 21 and result.forfeits["other reasons"] == 40
    assert sum(result.forfeits.values()) == 60 == result.loss_rate * 60


def test_openings_are_compiled_once():
    """Not for each 64 games; a game without texts has reasons, too."""
    _openings.clear_cache()
    game = Nim()
    reasons = match(
        Player("bad", game, HostTurn(game, lambda state: 3, "bad")), players.make("random", game), 130
    ).forfeits
    assert _openings._cache_size() == 1
    assert all("bad: ValueError: illegal action 3 in .left" in reason for reason in reasons)


@pytest.mark.parametrize("wrap", [lambda one: weak(one, "weak", 0.5), lambda one: exact(one, "exact")])
def test_all_is_compiled_before_the_time_runs_and_nobody_is_asked(wrap, compilations, monkeypatch):
    asked, after = [], []

    def act(states, bits):
        jax.debug.callback(lambda: asked.append(1))
        return jnp.argmax(states.legal_action_mask, axis=-1)

    def free(state):  # compiles nothing itself
        cells = int(state._position.cells)
        return next(square for square in range(9) if not (cells | cells >> 16) >> square & 1)

    def compiles(games):
        compile_(games)
        after.append((len(compilations), len(asked)))

    compile_ = host_games._Pairs.compile
    monkeypatch.setattr(host_games._Pairs, "compile", compiles)
    other = jax_player(act).make(TIC_TAC_TOE, "other")
    result = match(wrap(python(free)), other, 8)
    jax.effects_barrier()
    assert after == [(len(compilations), 0)] and asked and result.forfeits == {}


def test_a_jax_player_s_next_checkpoint_is_not_compiled_again():
    traces = []

    def act(weights, states, bits):
        traces.append(1)
        return jnp.argmax(jnp.where(states.legal_action_mask, weights, -1.0), axis=-1)

    game, random = jaxgames.make("tic_tac_toe"), players.make("random", jaxgames.make("tic_tac_toe"))
    won = []
    for number, weights in enumerate((jnp.arange(9.0), 9.0 - jnp.arange(9.0), jnp.zeros(9))):
        registry.register(f"checkpoint{number}", jax_player(act, weights))
        won.append(match(players.make(f"checkpoint{number}", game), random, 16).win_rate)
    assert len(set(won)) > 1 and len(traces) <= 2  # of the first one: shapes, and the program


def test_illegal_actions_of_jax_players_lose():
    registry.register("zero", jax_player(lambda states, bits: jnp.zeros(bits.shape, jnp.int32)))
    zero = players.make("zero", TIC_TAC_TOE)
    result = match(zero, players.make("random", TIC_TAC_TOE), 40)
    assert result.loss_rate == 1 and result.plies_per_game <= 4
    session = Session(TIC_TAC_TOE, players=(zero, zero))
    assert session.play_on().text and session.play_on() is None
    assert session.end == (1.0, "zero: illegal action")
    states, memory = jax.vmap(TIC_TAC_TOE.init)(jax.random.split(jax.random.key(0), 2)), zero.init_memory(2)
    for action in (0, -1):
        actions, memory = zero.act(states, jax.random.key(1), memory)
        assert actions.tolist() == [action] * 2 and actions.dtype == np.int32 and not memory.pending.any()
        states = jax.vmap(TIC_TAC_TOE.step)(states, actions)


def test_a_turn_of_several_actions_is_played_whole():
    """A jump and the next one, as a list or one after the other."""
    game = jaxgames.make("checkers")
    start = game.from_string("B:W9,17,25,32:B6,K30")
    asked = []

    def jumps(state):
        asked.append(game.to_string(state))
        return game.string_to_turn(state, "6x13x22x29")

    session = Session(game, start, players=(python(jumps, game), None))
    assert session.play_on().text == "6x13x22x29" and len(asked) == 1


def test_a_session_goes_on_without_a_player_that_fails():
    session = Session(TIC_TAC_TOE, players=(python(lambda state: 1 / 0), None))
    with pytest.raises(PlayerFailed, match="mine: ZeroDivisionError: division by zero"):
        session.suggest()
    player = python(first)
    player.turn.forfeits.append("of another game")
    assert Session(TIC_TAC_TOE, players=(player, None)).play_on() is not None
    assert session.play_on() is None
    assert session.end == (-1.0, "mine: ZeroDivisionError: division by zero")


def test_the_example_of_the_docs(capsys):
    page = (ROOT / "docs" / "play" / "plugins.md").read_text("utf-8")
    assert '--8<-- "docs/play/plugin_example.py"' in page
    command = f"match replies first --plugin {EXAMPLE} --game tic_tac_toe --games 20 --json"
    assert cli.main(command.split()) == 0
    result = json.loads(capsys.readouterr().out)
    assert result["a"] == "replies" and not result["forfeits"]
    assert (result["win_rate"], result["plies_per_game"]) == (0.5, 5.0), "both are fixed: who begins wins in five plies"
    game = jaxgames.make("small_connect")
    assert game.cols == 5 and "small_connect" in jaxgames.available_games()
    assert match(players.make("highest", game), players.make("random", game), 20).games == 20
    with pytest.raises(ValueError, match="replies plays games without chance, not backgammon"):
        players.make("replies", jaxgames.make("backgammon"))


REFUSED = {
    "no file": (None, "plug-in {path}: there is no such file"),
    "nothing in it": ("x = 1", "plug-in {path} has no player: define move(state), PLAYERS = {{name: move}} or"),
    "syntax": ("def move(:", "plug-in {path}: SyntaxError"),
    "raises": ("x = 1\nx / 0", "plug-in {path}, line 2: ZeroDivisionError: division by zero"),
    "exits": ("import sys; sys.exit(3)", "plug-in {path}, line 1: SystemExit: 3"),
    "taken": ("PLAYERS = {'random': len}", "plug-in {path}: there is a player 'random' already"),
    "name": ("PLAYERS = {'a:b': len}", "plug-in {path}: 'a:b' is no name of a player"),
    "no function": ("PLAYERS = {'a': 3}", "plug-in {path}: player 'a' is int; expected a function move(state)"),
    "a list": ("PLAYERS = [len]", "plug-in {path}: PLAYERS is a list; expected a dictionary: {{name: move}}"),
    "a number as name": ("PLAYERS = {1: len}", "plug-in {path}: 1 is no name of a player"),
    "no list": ("GAMES = 3", "plug-in {path}: GAMES is 3; expected a list of classes"),
    "no game": ("GAMES = [int]", "plug-in {path}: <class 'int'> is no game; expected a dataclass"),
}


@pytest.mark.parametrize("name", REFUSED)
def test_bad_plug_ins_get_one_line(tmp_path, capsys, name):
    text, message = REFUSED[name]
    path = tmp_path / "plug.py"
    if text is not None:
        path.write_text(text)
    assert cli.main(["match", "random", "random", "--plugin", str(path), "--games", "2"]) == 2
    said = capsys.readouterr()
    assert said.out == "" and said.err.count("\n") == 1 and message.format(path=path) in said.err


def test_of_a_plug_in_that_is_wrong_nothing_is_known(tmp_path):
    path = tmp_path / "plug.py"
    path.write_text(f"{EXAMPLE.read_text('utf-8')}\nPLAYERS = {{'fresh': len, 'random': len}}\n")
    with pytest.raises(ValueError, match="there is a player 'random' already"):
        plugins.load(path)
    assert "fresh" not in registry.PLAYERS and "small_connect" not in games.GAMES


def test_blank_lines_are_no_help(tmp_path):
    path = tmp_path / "quiet.py"
    path.write_text('def move(state):\n    """\n\n    """\n    return 0\n')
    assert plugins.load(path) == ["quiet"] and registry.PLAYERS["quiet"].help == "a player of a plug-in"


def test_the_file_name_is_the_player(tmp_path):
    shutil.copy(EXAMPLE, tmp_path / "other.py")
    (tmp_path / "bot.py").write_text("def move(state):\n    return 0\n")
    assert plugins.load(tmp_path / "bot.py") == ["bot"]
    assert players.make("bot", TIC_TAC_TOE).name == "bot"
    with pytest.raises(ValueError, match="bot has no options: write bot, not 'bot:3'"):
        players.make("bot:3", TIC_TAC_TOE)


def test_entry_points_of_other_packages(monkeypatch):
    @dataclasses.dataclass(frozen=True)
    class Renamed(type(TIC_TAC_TOE)):
        id = "renamed"

    offered = {"jaxgames.players": {"theirs": first}, "jaxgames.games": {"renamed": Renamed, "wrong": Renamed}}

    def entry_points(group, name=None):
        points = [EntryPoint(key, "somewhere", group) for key in offered[group] if name in (None, key)]
        for point in points:
            object.__setattr__(point, "load", lambda point=point: offered[group][point.name])
        return points

    monkeypatch.setattr(registry, "entry_points", entry_points)
    monkeypatch.setattr(games, "entry_points", entry_points)
    game = jaxgames.make("renamed")
    assert game.id == "renamed" and "renamed" in jaxgames.available_games()
    assert match(players.make("theirs", game), players.make("random", game), 4).games == 4
    with pytest.raises(ValueError, match="entry point wrong of jaxgames.games leads to .*; expected the game"):
        jaxgames.make("wrong")
    with pytest.raises(ValueError, match="unknown game 'nothing'; available: tic_tac_toe"):
        jaxgames.make("nothing")


def test_our_own_entry_points_lead_somewhere():
    project = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
    for name, place in project["entry-points"]["jaxgames.players"].items():
        entry = EntryPoint(name, place, "jaxgames.players").load()
        assert registry.entry_of(name, entry).examples and re.match(name, entry.examples[0])


def test_a_player_in_python_is_no_part_of_a_program():
    with pytest.raises(ValueError, match="runs as plain Python: it plays, but cannot be part of a compiled program"):
        jax.jit(python(first).turn)((), np.zeros(1), np.zeros(1, np.uint32))
