"""Players scored, and data labeled, by what is known exactly."""

import dataclasses
import json

import jax
import numpy as np
import pytest

from jaxgames import make as make_game
from jaxgames.cli import main
from jaxgames.data_sets import endings, exact_labels, played_games
from jaxgames.data_sets.endings import score_endings
from jaxgames.ops.pytrees import take
from jaxgames.players import make
from jaxgames.tables.lookup import KnownTurns, lookup_of

TIC_TAC_TOE = make_game("tic_tac_toe")


@pytest.mark.parametrize("game", ["tic_tac_toe", "checkers", pytest.param("backgammon", marks=pytest.mark.slow)])
def test_exact_players_lose_nothing_and_others_do(game, capsys):
    assert main(["score", game, "exact:random", "--endings", "64", "--json"]) == 0
    result = json.loads(capsys.readouterr().out)
    assert (result["perfect"] if game == "backgammon" else result["good"]) == 1 and abs(result["lost"]) < 1e-6
    found = score_endings(make("random", make_game(game)), 64)
    assert found.perfect < 1 and found.lost > 0 < found.error and found.positions == 64


def test_tic_tac_toe_for_people(capsys):
    assert main("score tic_tac_toe alphabeta:9 --endings 300".split()) == 0
    assert "good     100.0 %" in capsys.readouterr().out
    random = score_endings(make("random", TIC_TAC_TOE), np.int64(300), np.int64(0))
    assert json.loads(json.dumps(random.to_dict()))["positions"] == 300
    assert 0.3 < random.good < 0.9 and random.lost > 0.2
    assert main("score tic_tac_toe alphabeta:9 --endings 1".split()) == 0
    assert "standard error unknown" in capsys.readouterr().out


@pytest.mark.parametrize(
    "arguments, words",
    [
        ("checkers random --endings 0", "number 0: expected a whole number from 1 on"),
        ("tic_tac_toe random --endings 100000", "ask for fewer"),
        ("checkers random --endings 5 --limit 3", "--limit is for --positions"),
    ],
)
def test_bad_input_gets_one_line(arguments, words, capsys, monkeypatch):
    monkeypatch.setattr("jaxgames.data_sets.endings.MOST_ROUNDS", 2)
    assert main(["score", *arguments.split()]) == 2
    error = capsys.readouterr().err
    assert words in error and error.count("\n") == 1


def test_labels_are_exact(compilations):
    """Values are those of best play; actions that lose something are replaced by some that do not."""
    random = make("random", TIC_TAC_TOE)
    played = played_games(random, random, 64)
    before, rows = played.rows(0), exact_labels(played).rows(0)
    lookup, load = lookup_of(TIC_TAC_TOE)
    scores = load()
    worth = np.asarray(lookup.worth(scores, rows.position))
    np.testing.assert_array_equal(rows.value, np.sign(worth))
    assert (rows.value_weight == 1).all() and (before.value != rows.value).any()
    action = rows.policy.argmax(axis=1)
    after = jax.jit(jax.vmap(TIC_TAC_TOE.play))(rows.position, action)
    reached = np.where(after.over, after.reward, -np.asarray(lookup.worth(scores, after.position)))
    shorter = np.abs(reached - worth) < 0.02  # one turn more or less
    assert shorter.all() and (rows.policy.sum(axis=1) == 1).all()
    kept = (before.policy == rows.policy).all(axis=1)
    assert 0.3 < kept.mean() < 0.9
    jax.tree.map(np.testing.assert_array_equal, before.position, rows.position)
    compilations.clear()
    for number in (0, 5, 9):  # shards of any size, by the same programs
        part = exact_labels(dataclasses.replace(played, rows=lambda _, n=number: take(before, slice(n)))).rows(0)
        jax.tree.map(np.testing.assert_array_equal, part, take(rows, slice(number)))
    assert not compilations
    # Where no move was known each gets one.
    bare = before._replace(policy=np.zeros_like(rows.policy), policy_weight=np.zeros_like(rows.policy_weight))
    found = exact_labels(dataclasses.replace(played, rows=lambda shard: bare)).rows(0)
    assert (found.policy.sum(axis=1) == 1).all() and found.policy_weight.all() and (found.policy <= found.mask).all()


def test_the_command_labels(tmp_path, capsys):
    make_ = "data make --game tic_tac_toe --players random --games 16 --exact --json --out".split()
    assert main([*make_, str(tmp_path / "exact")]) == 0
    found = json.loads(capsys.readouterr().out)
    assert found["made"]["exact"] and found["values"] == found["positions"]


def test_figures_of_turns_that_are_known(monkeypatch):
    """The best turn, a slower win, a draw that is lost, and the slowest loss, a hundred times each."""
    worth, chosen = (np.float32(100 * x).ravel() for x in ([[0.98, 0.98, 0, -0.9]], [[0.98, 0.9, -0.9, -0.9]]))
    monkeypatch.setattr(endings, "_known_positions", lambda *_: (None, np.arange(400)))
    monkeypatch.setattr(endings, "_judge", lambda *_: (KnownTurns(None, None, worth, np.sign(worth)), chosen))
    found = score_endings(make("random", TIC_TAC_TOE), 400)
    assert (found.perfect, found.good, found.lost) == (0.5, 0.75, 0.25)
    assert found.error == pytest.approx(np.std([0, 0, 1, 0]) / 400**0.5, rel=0.01)
    monkeypatch.setattr(endings, "_known_positions", lambda *_: (None, np.arange(400) % 4))
    assert score_endings(make("random", TIC_TAC_TOE), 400).error == pytest.approx(0.25)  # four pairs of games


def test_positions_are_different_and_leave_a_choice():
    found, pairs = endings._known_positions(make("random", TIC_TAC_TOE), lookup_of(TIC_TAC_TOE)[0], 300, 0)
    assert len(pairs) == 300 > 50 > len(np.unique(pairs)) and (np.diff(pairs) >= 0).all()
    assert len(np.unique(found.cells)) == 300 and np.bitwise_count(found.cells).max() == 7
