"""Perft: the numbers of games and positions, against published ones and against slow rule books."""

import json
import random

import jax
import numpy as np
import pytest

import jaxgames
from jaxgames.envs.testing.perft import PlyPositions, _merge, count_positions, divide, perft, plies
from jaxgames.envs.turns.expand import Expansion, single_actions, turns
from tests.envs.checkers import reference as reference_checkers
from tests.envs.othello import Othello

TIC_TAC_TOE, CONNECT_FOUR, CHECKERS = map(jaxgames.make, ("tic_tac_toe", "connect_four", "checkers"))
RESULTS = ("X", "O", "draw")
CIRCLE = "B:W9,10,17,18,32:BK22,5"  # the king may capture all around in either direction


@pytest.fixture(scope="module")
def tic_tac_toe(data_dir):
    return json.loads((data_dir / "tic_tac_toe" / "tictactoe.json").read_text())


@pytest.fixture(scope="module")
def connect_four(data_dir):
    return json.loads((data_dir / "connect_four" / "counts.json").read_text())


@pytest.fixture(scope="module")
def checkers(data_dir):
    return json.loads((data_dir / "checkers" / "perft.json").read_text())


@pytest.fixture(scope="module")
def all_plies():
    return list(plies(TIC_TAC_TOE, 20))


def winner(number, ply):
    """Who has won in the positions of a ply: X, O, draw, or nothing while the game goes on."""
    won = np.where(ply.reward > 0, "X" if number % 2 else "O", "draw")
    return np.where(ply.over, won, "")


def without_zeros(numbers):
    return {ply: {who: n for who, n in found.items() if n} for ply, found in numbers.items() if any(found.values())}


def test_tic_tac_toe_games(tic_tac_toe, all_plies):
    assert perft(TIC_TAC_TOE, 9) == tic_tac_toe["perft_by_ply"]
    assert [int(ply.ways.sum()) for ply in all_plies] == tic_tac_toe["perft_by_ply"]
    games = {who: [int(ply.ways[winner(n, ply) == who].sum()) for n, ply in enumerate(all_plies)] for who in RESULTS}
    complete = tic_tac_toe["complete_games"]
    assert {"total": sum(map(sum, games.values())), **{who: sum(numbers) for who, numbers in games.items()}} == complete
    ended = {str(n): sum(numbers) for n, numbers in enumerate(zip(*games.values(), strict=True)) if sum(numbers)}
    assert ended == tic_tac_toe["complete_games_by_ply"]
    # Every game of n plies has the same chance in random play: 1 / (9 * 8 * ... ), n factors.
    chance = np.cumprod([1, *(1 / np.arange(9, 0, -1))])
    expected = tic_tac_toe["random_play"]
    rates = {who: float(np.dot(numbers, chance)) for who, numbers in games.items()}
    assert [rates["X"], rates["O"], rates["draw"]] == pytest.approx(
        [expected["X_win"], expected["O_win"], expected["draw"]], abs=1e-6
    )
    plies_played = sum(np.dot(np.multiply(numbers, range(10)), chance) for numbers in games.values())
    assert plies_played == pytest.approx(expected["avg_plies"], abs=1e-5)


def test_tic_tac_toe_positions(tic_tac_toe, all_plies):
    assert [len(ply.ways) for ply in all_plies] == tic_tac_toe["distinct_states_by_ply"]
    assert count_positions(TIC_TAC_TOE, 11) == [*tic_tac_toe["distinct_states_by_ply"], 0, 0]
    assert sum(len(ply.ways) for ply in all_plies) == tic_tac_toe["reachable_states"]
    ends = {str(n): {who: int(np.sum(winner(n, ply) == who)) for who in RESULTS} for n, ply in enumerate(all_plies)}
    assert without_zeros(ends) == tic_tac_toe["terminal_states_by_ply"]
    totals = {who: sum(found[who] for found in ends.values()) for who in RESULTS}
    assert {"total": sum(totals.values()), **totals} == tic_tac_toe["terminal_states"]


def test_tic_tac_toe_up_to_symmetry(tic_tac_toe, all_plies):
    """The least of the eight images stands for a position; an image is again a position of the ply."""
    states, ends = [], []
    for number, ply in enumerate(all_plies):
        cells = np.stack([ply.position.cells >> bit & 1 for bit in (*range(9), *range(16, 25))], axis=1)
        seen = cells.reshape(-1, 2, 9).transpose(0, 2, 1).reshape(-1, 18)
        images = np.stack([seen[:, symmetry.elements] for symmetry in TIC_TAC_TOE.symmetries])
        codes = images @ (1 << np.arange(18))
        assert all(set(image) == set(codes[0]) for image in codes)
        least, first = np.unique(codes.min(axis=0), return_index=True)
        states.append(len(least))
        ends.append(winner(number, ply)[first])
    assert states == tic_tac_toe["states_up_to_symmetry_by_ply_A008907"]
    assert sum(states) == tic_tac_toe["states_up_to_symmetry"]
    assert [int((end != "").sum()) for end in ends] == tic_tac_toe["terminal_up_to_symmetry_by_ply"]
    totals = {who: sum(int((end == who).sum()) for end in ends) for who in RESULTS}
    assert {"total": sum(totals.values()), **totals} == tic_tac_toe["terminal_up_to_symmetry"]


def test_tic_tac_toe_is_a_draw(tic_tac_toe, all_plies):
    """Perfect play, solved backwards over all turns of all positions."""
    worth = {}
    for ply in reversed(all_plies):
        cells = ply.position.cells[~ply.over]
        if len(cells):
            after = turns(TIC_TAC_TOE, ply.position._replace(cells=cells))
            values = np.where(after.over, after.reward, [-worth.get(x, 0) for x in after.position.cells.tolist()])
            best = np.full(len(cells), -2.0)
            np.maximum.at(best, after.parent, values)
            worth = dict(zip(cells.tolist(), best.tolist(), strict=True))
    assert tic_tac_toe["value"] == "draw" and list(worth.values()) == [0]


def test_connect_four(connect_four):
    assert perft(CONNECT_FOUR, 9) == connect_four["perft_game_sequences_by_ply"][:10]
    found = list(plies(CONNECT_FOUR, 8))
    assert [len(ply.ways) for ply in found] == connect_four["distinct_positions_by_ply_A212693"][:9]
    assert [int(ply.ways.sum()) for ply in found] == connect_four["perft_game_sequences_by_ply"][:9]
    first = divide(CONNECT_FOUR, 8)
    assert list(first) == list("1234567") and first["1"] == first["7"] != first["4"]
    assert sum(first.values()) == connect_four["perft_game_sequences_by_ply"][8]


def test_checkers(checkers):
    assert perft(CHECKERS, 8) == checkers["perft_duplicates_counted"][:9]
    assert perft(CHECKERS, 7, distinct=True) == checkers["perft_unique_from_to_capturedset"][:8]
    state = CHECKERS.from_string(checkers["start_fen"])
    assert {depth: divide(CHECKERS, int(depth), state) for depth in checkers["divide"]} == checkers["divide"]


def test_conventions_of_checkers():
    state = CHECKERS.from_string(CIRCLE)
    assert perft(CHECKERS, 1, state) == [1, 4] and perft(CHECKERS, 1, state, distinct=True) == [1, 3]
    by_path, by_result = divide(CHECKERS, 3, state), divide(CHECKERS, 3, state, distinct=True)
    assert set(by_path) == {"5x14x21", "5x14x23", "22x13x6x15x22", "22x15x6x13x22"}
    assert by_path["22x13x6x15x22"] == by_path["22x15x6x13x22"]
    assert [len(by_result), by_result["22x13x6x15x22"]] == [3, by_path["22x13x6x15x22"]]
    assert sum(by_path.values()) == perft(CHECKERS, 3, state)[-1]
    assert sum(by_result.values()) == perft(CHECKERS, 3, state, distinct=True)[-1]


def rule_book_perft(position, depth, distinct):
    """Counts by ply; with `distinct` every position after a move once."""
    counts = [1] + [0] * depth
    if depth and reference_checkers.returns(position) is None:
        moves = reference_checkers.whole_moves(position)
        # (from, to, captured): of one player's pieces only the one that moves changes, and what is captured is gone.
        ways = {(line[0], line[-1], after.rows) if distinct else actions: after for actions, line, after in moves}
        for after in ways.values():
            for ply, number in enumerate(rule_book_perft(after, depth - 1, distinct), 1):
                counts[ply] += number
    return counts


def circled(rng):
    """A king with four pieces to capture all around, and others strewn over what is left of the board."""
    position = reference_checkers.random_position(rng, rng.randint(2, 8))
    rows = [list(row) for row in position.rows]
    row, column = rng.choice([(r, c) for r, c in reference_checkers.PLAYED_ON if r <= 3 and 2 <= c <= 5])
    for down, across in ((0, 0), (2, -2), (2, 2), (4, 0)):
        rows[row + down][column + across] = "."
    for down, across in ((1, -1), (1, 1), (3, -1), (3, 1)):
        rows[row + down][column + across] = "w"
    rows[row][column] = "B"
    return position._replace(rows=tuple(map("".join, rows)), mover="b")


def test_checkers_from_strewn_positions():
    """Many kings, many jumps; the conventions differ in some of them."""
    rng, differ = random.Random(3), 0
    for number in range(30):
        position = circled(rng) if number % 3 == 0 else reference_checkers.random_position(rng, rng.randint(6, 12))
        squares, white, jumper, quiet = reference_checkers.plain(position)
        state = CHECKERS.from_string(fen(squares, white))
        expected = [rule_book_perft(position, 3, distinct) for distinct in (False, True)]
        assert [perft(CHECKERS, 3, state, distinct=distinct) for distinct in (False, True)] == expected, position
        differ += expected[0] != expected[1]
    assert differ >= 5


def fen(squares, white_to_move):
    def side(sign):
        return ",".join(f"{'K' * (abs(p) == 2)}{n}" for n, p in enumerate(squares, 1) if p * sign > 0)

    return f"{'W' if white_to_move else 'B'}:W{side(-1)}:B{side(1)}"


def test_positions_in_the_middle_of_things():
    jumping = CHECKERS.from_string("B:W17,25:B13,14:J14")  # only the rest of the jump is left of this turn
    assert perft(CHECKERS, 1, jumping) == [1, 1] and list(divide(CHECKERS, 1, jumping)) == ["14x21x30"]
    ended = TIC_TAC_TOE.from_string("XXX/OO./...")
    assert perft(TIC_TAC_TOE, 3, ended) == [1, 0, 0, 0] and divide(TIC_TAC_TOE, 3, ended) == {}
    assert count_positions(TIC_TAC_TOE, 2, ended) == [1, 0, 0]
    assert perft(TIC_TAC_TOE, 0, ended) == [1]
    near_draw = CHECKERS.from_string("B:WK32:BK1:H98")  # a draw by its hundredth quiet move
    assert perft(CHECKERS, 4, near_draw) == [1, 2, perft(CHECKERS, 2, CHECKERS.from_string("B:WK32:BK1"))[2], 0, 0]


def test_small_batches_and_pages():
    """A batch is cut where pages end, and what waits is cut where batches end."""
    expected = [1, 9, 72, 504, 3024, 15120]
    seen = []
    assert perft(TIC_TAC_TOE, 5, size=8, report=lambda counts: seen.append(counts[-1])) == expected
    assert perft(TIC_TAC_TOE, 5, size=8, distinct=True) == expected
    assert seen == sorted(seen) and seen[-1] == 15120 and len(set(seen)) > 100
    assert count_positions(TIC_TAC_TOE, 5, size=8) == [1, 9, 72, 252, 756, 1260]
    with pytest.raises(ValueError, match="9 positions: expected at most 8"):
        Expansion(TIC_TAC_TOE, turns(TIC_TAC_TOE, start(TIC_TAC_TOE), 8).position, 8)


def start(game):
    return jax.tree.map(lambda x: np.asarray(x)[None], game.init_position(jax.random.key(0)))


def test_any_game_without_chance():
    """Othello, which no registry knows: perft as published (oeis.org/A124004), by rules with passes."""
    assert perft(Othello(), 5, size=512) == [1, 4, 12, 56, 244, 1396]
    assert [single_actions(game) for game in (TIC_TAC_TOE, CONNECT_FOUR, CHECKERS)] == [True, True, False]


def test_what_cannot_be_counted():
    with pytest.raises(ValueError, match="backgammon has chance"):
        perft(jaxgames.make("backgammon"), 2)
    for depth, count in ((-1, perft), (0, divide)):
        with pytest.raises(ValueError, match=f"depth {depth}: expected"):
            count(TIC_TAC_TOE, depth)
    ways, over = np.full(3, 2**62, np.uint64), np.zeros(3, bool)
    many = PlyPositions(np.zeros(3, np.uint32), ways, over, np.zeros(3, np.float32))
    with pytest.raises(OverflowError):
        _merge(many)


@pytest.mark.slow
@pytest.mark.parametrize(
    "distinct, name", [(False, "perft_duplicates_counted"), (True, "perft_unique_from_to_capturedset")]
)
def test_checkers_deep(checkers, distinct, name):
    """To where the two conventions differ."""
    assert perft(CHECKERS, 12, distinct=distinct) == checkers[name][:13]


@pytest.mark.slow
def test_connect_four_deep(connect_four):
    assert perft(CONNECT_FOUR, 11) == connect_four["perft_game_sequences_by_ply"][:12]
    found = list(plies(CONNECT_FOUR, 10))
    assert [len(ply.ways) for ply in found] == connect_four["distinct_positions_by_ply_A212693"][:11]
    assert [int(ply.ways.sum()) for ply in found] == connect_four["perft_game_sequences_by_ply"][:11]
