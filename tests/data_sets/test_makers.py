"""Makers of data: games that players play, files of games, solved positions; and the command `data`."""

import dataclasses
import json

import jax
import numpy as np
import pytest

import jaxgames
import jaxgames.data_sets.makers as module
from jaxgames.algos.imitation.data import load, open_of
from jaxgames.cli import main
from jaxgames.data_sets import (
    data_info,
    make_data,
    merge_data,
    played_games,
    recorded_games,
    solved_positions,
    solved_tests,
)
from jaxgames.data_sets.makers import OtherDraws
from jaxgames.matches.game_log import GameLog
from jaxgames.matches.match import PairedGames
from jaxgames.matches.solved import MOVE_SCORES
from jaxgames.players import make as make_player
from jaxgames.records import save

TTT = jaxgames.make("tic_tac_toe")


def text_of(game, rows, row):
    return game.unparse(jax.tree.map(lambda x: x[row], rows.position))


@pytest.fixture(scope="module")
def played():
    """Data of ten games, and the records of the same games."""
    a, b = make_player("random", TTT), make_player("uct:8", TTT)
    maker = played_games(a, b, 10, seed=np.int64(3), games_per_shard=np.int64(4), most_plies=np.int32(10_000))
    return maker, [maker.rows(shard) for shard in range(maker.shards)]


BACKGAMMON = pytest.param("backgammon", "mat", marks=pytest.mark.slow)  # compiles for 10 seconds


@pytest.mark.parametrize(("game_id", "ending"), [("tic_tac_toe", "txt"), ("checkers", "pdn"), BACKGAMMON])
def test_played_and_recorded_games_give_the_same_rows(game_id, ending, tmp_path):
    """The same games by two ways: turns as they are played, and replayed from a file under the rules."""
    game = jaxgames.make(game_id)
    player = make_player("random", game)
    rows = played_games(player, player, 2, seed=7, games_per_shard=2).rows(0)
    log = GameLog(player, player)
    # The maker draws each shard's games by a key of its own.
    other = dataclasses.replace(player, turn=OtherDraws(player.turn))
    PairedGames(player, other, 1, jax.random.fold_in(jax.random.key(7), 0), 2, 10_000, log.add).play_all()
    save(tmp_path / f"games.{ending}", log.records())
    recorded = recorded_games(game, [tmp_path / f"games.{ending}"]).rows(0)
    if game_id == "backgammon":  # the same turns, but a text does not say which checker moves first
        rows, recorded = (found._replace(position=(), mask=(), policy=()) for found in (rows, recorded))
    for one, other in zip(jax.tree.leaves(rows), jax.tree.leaves(recorded), strict=True):
        np.testing.assert_array_equal(one, other)
    assert len(rows.game) > 10 and set(rows.game) == {0, 1} and rows.value_weight.all()
    if game_id != "backgammon":
        assert np.take_along_axis(rows.mask, rows.policy.argmax(axis=1)[:, None], axis=1).all()


def test_values_are_those_of_the_player_to_act(played):
    """The last row of a won game is the winner's; players take turns in tic-tac-toe."""
    maker, shards = played
    assert maker.shards == 3 and [sorted(set(rows.game)) for rows in shards] == [[0, 1, 2, 3], [4, 5, 6, 7], [8, 9]]
    for rows in shards:
        for game in set(rows.game):
            value = rows.value[rows.game == game]
            assert value[-1] in (0, 1)
            np.testing.assert_array_equal(value, value[-1] * (-1.0) ** np.arange(len(value))[::-1] + 0.0)
    assert any(rows.value.any() for rows in shards)


def test_a_player_that_meets_itself_plays_no_game_twice():
    player = make_player("uct:4", TTT)
    rows = played_games(player, player, 8, games_per_shard=8).rows(0)
    games = {tuple(rows.policy[rows.game == game].argmax(axis=1)) for game in range(8)}
    assert len(games) == 8


def test_only_the_first_players_moves(played):
    _, shards = played
    players = make_player("random", TTT), make_player("uct:8", TTT)
    some = played_games(*players, 10, seed=3, games_per_shard=4, moves_of="first").rows(0)
    keys = [(text_of(TTT, shards[0], row), int(shards[0].game[row])) for row in range(len(shards[0].game))]
    found = [(text_of(TTT, some, row), int(some.game[row])) for row in range(len(some.game))]
    assert set(found) < set(keys) and 0.3 * len(keys) < len(found) < 0.7 * len(keys)
    # It begins the games of even numbers.
    np.testing.assert_array_equal(np.bitwise_count(some.position.cells) % 2, some.game % 2)


def test_stopped_games_have_no_value():
    game = jaxgames.make("checkers")
    player = make_player("random", game)
    rows = played_games(player, player, 2, most_plies=5).rows(0)
    assert len(rows.game) == 10 and not rows.value_weight.any() and rows.policy_weight.all()


def test_a_making_that_was_stopped_leads_to_the_same_bytes(played, tmp_path):
    maker, _ = played

    class Stopped(Exception):
        pass

    def stop(done, shards):
        if done == 2:
            raise Stopped

    with pytest.raises(Stopped):
        make_data(maker, tmp_path / "a", stop)
    with pytest.raises(ValueError, match="not complete"):
        open_of(tmp_path / "a", TTT, {})
    (tmp_path / "a" / ".saving-shard-00002.npz").write_bytes(b"half")
    make_data(maker, tmp_path / "a")
    make_data(maker, tmp_path / "b")
    for name in ("shard-00000.npz", "shard-00001.npz", "shard-00002.npz", "data.json"):
        assert (tmp_path / "a" / name).read_bytes() == (tmp_path / "b" / name).read_bytes()


def test_a_making_does_not_go_on_with_other_data_of_the_same_names(tmp_path):
    """Files of one name, a run that was trained on, and a merge: what is in a folder is what was asked for."""

    def recorded(text):
        (tmp_path / "games.txt").write_text(f"# game tic_tac_toe\n{text}\n")
        return recorded_games(TTT, [tmp_path / "games.txt"])

    def solved(line):
        (tmp_path / "solved.jsonl").write_text(MOVE_SCORES.read_text().splitlines()[line] + "\n")
        return solved_positions(jaxgames.make("connect_four"), [tmp_path / "solved.jsonl"])

    def played(weight):
        player = dataclasses.replace(make_player("random", TTT), params={"kernel": np.full(3, weight, np.float32)})
        return played_games(player, make_player("random", TTT), np.int64(2))

    for number, makers in enumerate(
        [map(recorded, ("14253 1-0", "36251 1-0")), map(solved, (0, 1)), map(played, "12")]
    ):
        one, other = makers
        folder = make_data(one, tmp_path / str(number))
        with pytest.raises(ValueError, match="was begun otherwise: made is"):
            make_data(other, folder.path)
        make_data(one, folder.path)
    sources = [make_data(recorded(text), tmp_path / f"source{text[0]}").path for text in ("14253 1-0", "36251 1-0")]
    merged, _ = merge_data(TTT, sources[:1], tmp_path / "merged", validation=0)
    with pytest.raises(ValueError, match="exists already and is never overwritten"):
        merge_data(TTT, sources[1:], merged.path, validation=0)
    merged.shard(0).unlink()
    with pytest.raises(ValueError, match="was begun otherwise: made is"):
        merge_data(TTT, sources[1:], merged.path, validation=0)
    merge_data(TTT, sources[:1], merged.path, validation=0)
    with pytest.raises(ValueError, match="no data to merge"):
        merge_data(TTT, [], tmp_path / "none")
    with pytest.raises(ValueError, match=r"source1/\.\./source1 is named twice; expected each file or folder once$"):
        merge_data(TTT, [*sources, sources[0] / ".." / sources[0].name], tmp_path / "none")


def test_solved_positions_have_their_best_moves():
    game = jaxgames.make("connect_four")
    maker = solved_positions(game, iter([MOVE_SCORES]))
    assert maker.made == solved_positions(game, [MOVE_SCORES]).made and maker.made["files"] == [MOVE_SCORES.name]
    rows = maker.rows(0)
    lines = [json.loads(line) for line in MOVE_SCORES.read_text().splitlines()]
    best = [np.array(line["move score"]) == line["score"] for line in lines]
    np.testing.assert_allclose(rows.policy, [row / row.sum() for row in best], atol=1e-3)
    np.testing.assert_array_equal(rows.value, [np.sign(line["score"]) for line in lines])
    np.testing.assert_array_equal(rows.mask, [np.array(line["move score"]) != -99 for line in lines])
    with pytest.raises(ValueError, match=r"holds positions of .*rows=6.*, not of .*rows=5"):
        solved_positions(jaxgames.make("connect_four", rows=5), [MOVE_SCORES])


@pytest.mark.parametrize(
    ("make", "line"),
    [
        (lambda p: played_games(p, p, 0), "games 0: expected a whole number from 1 to 10000000"),
        (lambda p: played_games(p, p, 4, moves_of="b"), "unknown moves-of 'b'; available: both, first"),
        (lambda p: played_games(p, p, 4, games_per_shard=0), "games_per_shard 0: expected a whole number from 1 on"),
        (lambda p: played_games(p, p, 4, most_plies=0), "most_plies 0: expected a whole number from 1 to 2147483647"),
        (lambda p: played_games(p, p, 4, most_plies=1 << 31), "most_plies 2147483648: expected a whole number"),
        (lambda p: played_games(p, make_player("random", jaxgames.make("checkers")), 4), "two players of one game"),
        (lambda p: solved_positions(jaxgames.make("connect_four"), []), "^no positions in no files$"),
        (lambda p: solved_tests(jaxgames.make("connect_four"), []), "^no positions in no files$"),
        (lambda p: solved_tests(jaxgames.make("connect_four"), [MOVE_SCORES] * 2), "jsonl is named twice"),
        (lambda p: recorded_games(TTT, ["a.txt", "./a.txt"]), "^./a.txt is named twice; expected each"),
    ],
)
def test_makers_refuse_what_makes_no_sense(make, line):
    with pytest.raises(ValueError, match=line):
        make(make_player("random", TTT))


def test_the_command_makes_tells_and_merges(tmp_path, capsys):
    make = "data make --game connect_four --players random uct:4 --games 60 --games-per-shard 32 --json".split()
    assert main([*make, "--out", str(tmp_path / "a")]) == 0
    made = json.loads(capsys.readouterr().out)
    assert made["games"] == 60 and made["shards"] == 2 and made["wins"] > 0 and made["validation"] == 0
    solved = ["--solved", str(MOVE_SCORES), "--out", str(tmp_path / "s")]
    assert main(["data", "make", "--game", "connect_four", *solved]) == 0
    assert "  positions                        500" in capsys.readouterr().out
    merge = ["data", "merge", *(str(tmp_path / name) for name in "as"), "--out", str(tmp_path / "m"), "--json"]
    assert main([*merge, "--without", str(MOVE_SCORES), "--validation", "0.2"]) == 0
    merged = json.loads(capsys.readouterr().out)
    counts = merged["made"]["counts"]
    assert counts["rows"] == made["positions"] + 500 and counts["tests"] >= 500
    assert merged["positions"] == counts["training"] + counts["validation"] < made["positions"]
    assert merged["validation"] == counts["validation"] > 0 and len(merged["made"]["sources"]) == 2
    rows = load(open_of(tmp_path / "m", jaxgames.make("connect_four"), {}), jaxgames.make("connect_four"))
    assert rows.policy_weight.max() >= 20  # the empty board of 60 games


@pytest.mark.parametrize(
    ("arguments", "line"),
    [
        ("data make --game checkers --players random --games 2 --out {0}/x --set rows=5", "unknown option 'rows'"),
        ("data make --game checkers --records {0}/a.mat --out {0}/x", "games of checkers are kept in files that end"),
        ("data make --game tic_tac_toe --players random random random --out {0}/x", "3 players"),
        ("data make --game checkers --players pubeval --out {0}/x", "pubeval plays backgammon, not checkers"),
        ("data info {0}/x", "does not exist; expected a folder of `jaxgames data make`"),
        ("data info {0}", "is not a data set: it has no data.json"),
        ("data merge {0}/x --out {0}/y", "does not exist"),
    ],
)
def test_bad_input_is_one_line(tmp_path, capsys, arguments, line):
    assert main(arguments.format(tmp_path).split()) == 2
    said = capsys.readouterr().err
    assert said.count("\n") == 1 and line in said
    assert not (tmp_path / "x").exists()


def recorded(folder, text):
    (folder / "games.txt").write_text(f"# game tic_tac_toe\n{text}\n")
    return recorded_games(TTT, [folder / "games.txt"])


def test_games_without_a_result_and_games_of_later_shards(tmp_path, monkeypatch):
    monkeypatch.setattr(module, "RECORDS_PER_SHARD", 1)
    maker = recorded(tmp_path, "14253 1-0\n- 0-1\n142 *")  # the second is given up without a move
    rows = [maker.rows(shard) for shard in range(maker.shards)]
    assert [one.game.tolist() for one in rows] == [[0] * 5, [], [2] * 3]
    assert [one.value_weight.tolist() for one in rows] == [[1] * 5, [], [0] * 3]
    assert data_info(make_data(maker, tmp_path / "d").path)["positions"] == 8
    with pytest.raises(ValueError, match=r"^no moves in the games of .*games.txt$"):
        recorded(tmp_path, "- 0-1")


def test_what_is_merged_into_several_shards_and_what_is_told_of_it(tmp_path, monkeypatch):
    monkeypatch.setattr(module, "ROWS_PER_SHARD", 4)
    source = make_data(recorded(tmp_path, "14253 1-0\n152374689 1/2"), tmp_path / "source")
    told = data_info(source.path)
    assert [told[name] for name in ("games", "policies", "wins", "draws", "losses")] == [2, 14, 3, 9, 2]
    merged, counts = merge_data(TTT, [source.path], tmp_path / "merged", validation=0)
    rows = load(merged, TTT)
    assert merged.shards > 1 and len(rows.game) == counts.training == len(np.unique(rows.position.cells))
    told = data_info(merged.path)  # of the empty board and of the first move it has the mean of both games
    assert [told[name] for name in ("values", "means", "wins", "draws", "losses")] == [12, 2, 2, 7, 1]
