"""Solved positions of Connect Four: the solver, the files, and the shares of right moves."""

import dataclasses
import json

import jax
import jax.numpy as jnp
import numpy as np
import pytest

from jaxgames import make, players
from jaxgames.envs.connect_four.board import from_plain
from jaxgames.matches import solved
from jaxgames.matches.solved import judge
from jaxgames.players.host import ActionTurn, HostTurn
from tests.matches.plain_solver import Solver

GAME = make("connect_four")
PONS = ("Test_L3_R1", "Test_L2_R1")


@dataclasses.dataclass(frozen=True)
class Leftmost:
    """Plays the leftmost column that is not full."""

    def __call__(self, params, positions, words):
        columns = jnp.argmax(jax.vmap(GAME.legal)(positions), axis=1).astype(jnp.int32)
        return jax.vmap(GAME.play)(positions, columns)


LEFTMOST = players.Player("leftmost", GAME, Leftmost())


def stack(positions):
    """The boards of solved positions as a batch."""
    boards = [from_plain(one.board) for one in positions]
    return jax.tree.map(lambda *x: np.stack(x), boards[0], *boards[1:])


def place(solver, moves):
    position = (0, 0)
    for column in moves:
        position = solver.after(*position, int(column) - 1)
    return position


@pytest.mark.parametrize("name", PONS)
def test_scores_of_pons_positions(data_dir, name):
    solver, lines = Solver(6, 7), (data_dir / "connect_four" / name).read_text().splitlines()
    assert len(lines) >= 400
    for line in lines:
        moves, score = line.split()
        assert solver.score(*place(solver, moves)) == int(score), line


def test_every_score_of_a_small_board():
    """Against minimax over all games from random positions on a board of 4 x 5."""
    solver, random = Solver(4, 5), np.random.default_rng(0)

    def minimax(own, taken):
        left, scores = 20 - taken.bit_count(), []
        for column in range(5):
            if not taken >> (5 * column + 3) & 1:
                after = solver.after(own, taken, column)
                if solver.has_line(after[0] ^ after[1]):
                    scores.append((left + 1) // 2)
                else:
                    scores.append(0 if left == 1 else -minimax(*after))
        return max(scores)

    seen = set()
    while len(seen) < 60:
        position, over = (0, 0), False
        for _ in range(11 + len(seen) % 8):
            free = [column for column in range(5) if not position[1] >> (5 * column + 3) & 1]
            position = solver.after(*position, int(random.choice(free)))
            over |= solver.has_line(position[0] ^ position[1])
        if not over and position not in seen:
            seen.add(position)
            assert solver.score(*position) == minimax(*position), position


@pytest.mark.slow
def test_scores_of_moves():
    """Moves judged by solving what they lead to, and by the scores of another solver."""
    positions = solved.read(solved.MOVE_SCORES)
    late = [one for one in positions if np.count_nonzero(one.board) == 16][:30]
    for one in late:
        columns = [column for column, score in enumerate(one.moves) if score != solved.ILLEGAL]
        unknown = [one._replace(moves=None)] * len(columns)
        assert judge(unknown, columns, stack(unknown)) == judge([one] * len(columns), columns, stack(unknown))


def test_what_is_perfect_and_good():
    """Every move of some late positions, by known scores and by solving the position after it."""
    solver, cases, expected = Solver(6, 7), [], []
    games = ("2252576253462244111563365343671351441", "7422341735647741166133573473242566")
    for moves in (game[:length] for game in games for length in range(len(game) - 4, len(game))):
        (own, taken), left, scores = place(solver, moves), 42 - len(moves), [solved.ILLEGAL] * 7
        free = [column for column in range(7) if not taken >> (7 * column + 5) & 1]
        for column in free:
            after = solver.after(own, taken, column)
            scores[column] = (left + 1) // 2 if solver.has_line(after[0] ^ after[1]) else -solver.score(*after)
        best = max(scores)
        unknown = solved._from_moves(f"{moves} {best}")
        for column in free:
            cases.append((unknown, unknown._replace(moves=tuple(scores)), column))
            expected.append((scores[column] == best, np.sign(scores[column]) == np.sign(best)))
    unknown, known, columns = zip(*cases, strict=True)
    assert judge(unknown, columns, stack(unknown)) == judge(known, columns, stack(unknown)) == expected
    assert set(expected) == {(True, True), (False, True), (False, False)}


def test_shares():
    path = solved.MOVE_SCORES
    rows = [json.loads(line) for line in path.read_text().splitlines()]
    first = [next(score for score in row["move score"] if score != -99) for row in rows]
    positions = solved.read(path)
    result = solved.score(LEFTMOST, positions, "file", batch=200)
    assert result.perfect == pytest.approx(np.mean([a == row["score"] for a, row in zip(first, rows, strict=True)]))
    sign = [np.sign(a) == np.sign(row["score"]) for a, row in zip(first, rows, strict=True)]
    assert result.good == pytest.approx(np.mean(sign)) and result.good > result.perfect
    assert (result.player, result.file, result.positions) == ("leftmost", "file", 500)

    random = players.make("random", GAME)
    done = []
    results = [solved.score(random, positions, seed=3, batch=n, progress=done.append) for n in (500, 170)]
    assert results[0].perfect == results[1].perfect and results[0].good == results[1].good
    assert done == 2 * list(range(1, 501))
    share = [np.mean(np.array(row["move score"])[np.array(row["move score"]) != -99] == row["score"]) for row in rows]
    assert results[0].perfect == pytest.approx(np.mean(share), abs=4 * np.sqrt(0.25 / 500))
    assert solved.score(random, positions, seed=4, batch=500).perfect != results[0].perfect


@pytest.mark.parametrize("column", [0, -2])
def test_an_illegal_action_is_no_move(column):
    def act(states, words):
        return jnp.full(len(words), column, jnp.int32)

    player = players.Player("stubborn", GAME, ActionTurn(GAME, act), None)
    full = next(one for one in solved.read(solved.MOVE_SCORES) if one.moves[0] == solved.ILLEGAL)
    with pytest.raises(ValueError, match=r"^no move in a position of the positions: stubborn: illegal action$"):
        solved.judge_moves(player, [full])


def test_old_failures_are_none_of_these_positions(compilations):
    player = players.Player("plain", GAME, HostTurn(GAME, lambda s: int(np.argmax(s.legal_action_mask)), "plain"))
    player.turn.forfeits.append("of another game")
    assert len(solved.judge_moves(player, solved.read(solved.MOVE_SCORES, 3))[0]) == 3
    assert "jit(_columns)" in compilations and "jit(left_shift)" not in compilations  # the game's part is one program


def test_boards_of_any_size(tmp_path):
    path = tmp_path / "small"
    path.write_text(json.dumps({"board": [0] * 12 + [1, 0, 0, 2], "score": 2, "move score": [2, 0, 0, 0]}))
    (one,) = solved.read(path)
    game = solved.board_of([one])
    assert (game.rows, game.cols, one.moves) == (4, 4, (2, 0, 0, 0))
    assert solved.score(players.make("random", game), [one]).positions == 1
    with pytest.raises(ValueError, match="leftmost plays .*rows=6.*the positions are of .*rows=4"):
        solved.score(LEFTMOST, [one])


GOOD = '{"board": [0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0], "score": 0, "move score": [0,0,0,0]}'
FULL = "121212212121343434434343565656656565777777"  # nobody has a line


@pytest.mark.parametrize(
    ("line", "words"),
    [
        (GOOD[:-9], "line 2: no complete JSON object"),
        (GOOD.replace("score", "value", 1), "no 'score'; expected"),
        (GOOD.replace("[0,0,0,0]", "4"), "'move score' is 4; expected whole numbers"),
        (GOOD.replace("[0,0,0,0]", "[]"), r"'move score' is \[\]; expected"),
        (GOOD.replace("[0,0,0,0]", "[0,0,0]"), "16 squares and 3 move scores"),
        (GOOD.replace("[0,0,0,0]", "[0,1,0,0]"), "the score is 0, that of the best move 1"),
        (GOOD.replace("[0,0,0,0]", "[0,-99,0,0]"), "column 2 is not full, but its move score is -99"),
        (GOOD.replace("[0,", "[1,", 1), "a stone in column 1 lies above a free cell"),
        (GOOD.replace("0], ", "2], ", 1), "0 X and 1 O; X begins"),
        (GOOD.replace("0], ", "7], ", 1), "row 4 of column 4 is 7"),
        ('{"board": [0,0,0,0,0,0], "score": 0, "move score": [0,0,0]}', "a board of 2 x 3; expected 4 x 4"),
        ("4453", "'4453': expected moves and a score, such as: 4453 -1"),
        ("4853 -1", r"position '4853', character 2 \('8'\): no such column"),
        ("4453 -1.5", "score '-1.5': expected a whole number from -19 to 19"),
        ("4453 20", "score '20': expected a whole number from -19 to 19"),
        ("4141414 0", "the game is over there"),
        (f"{FULL} 0", "the game is over there"),
    ],
)
def test_bad_lines(tmp_path, line, words):
    path = tmp_path / "positions"
    path.write_text(f"{GOOD}\n{line}\n{GOOD}\n")
    with pytest.raises(ValueError, match=f"positions, line 2: .*{words}|positions, {words}") as error:
        solved.read(path)
    assert "\n" not in str(error.value)
    assert len(solved.read(path, limit=1)) == 1


def test_bad_files(tmp_path):
    (tmp_path / "empty").write_text("\n\n")
    (tmp_path / "packed").write_bytes(b"\x1f\x8b\x08\xff\xfe")
    for name, words in (
        ("none", "cannot be read: No such file or directory; expected"),
        ("", "cannot be read: Is a directory"),
        ("empty", "holds no positions; expected lines such as: 4453 -1"),
        ("packed", "is no text; expected a file of solved positions, unpacked"),
    ):
        with pytest.raises(ValueError, match=words):
            solved.read(tmp_path / name)
    with pytest.raises(ValueError, match="cannot take 0 positions; expected 1 or more"):
        solved.read(tmp_path / "empty", limit=0)
    with pytest.raises(ValueError, match="there are no positions to score"):
        solved.score(LEFTMOST, [])
