"""Endings of checkers, against two published endgame databases, and against play."""

import csv
import gzip
import itertools
from pathlib import Path

import jax
import jax.numpy as jnp
import numpy as np
import pytest

from jaxgames.envs.checkers import board
from jaxgames.envs.checkers.board import Position
from jaxgames.envs.turns.expand import turns
from jaxgames.ops.pytrees import select
from jaxgames.players import make
from jaxgames.tables.checkers import CheckersEndings, Material
from jaxgames.tables.retrograde import DRAW, LOSS, NOTHING, WIN, solve_all, totals

DATA = Path(__file__).parents[1] / "data" / "checkers"
ENDINGS = CheckersEndings(3)
EACH = 16
BATCH = EACH * len(ENDINGS.slices)
LETTERS = np.array(["D", "W", "L"])


@pytest.fixture(scope="module")
def solved():
    return solve_all(ENDINGS)


@pytest.fixture(scope="module")
def play():
    """A turn of the exact player in each of `BATCH` positions, compiled once."""
    player = make("exact:random", ENDINGS.game)
    return jax.jit(lambda positions, bits: player.play_once(positions, bits))


def of_totals(endings, solved):
    """Wins, losses and draws with either side to move."""
    slices = {part: totals(values) for part, values in zip(endings.slices, solved, strict=True)}
    with open(DATA / "endings_totals.csv", encoding="utf-8") as file:
        rows = [row for row in csv.DictReader(file) if int(row["pieces"]) <= endings.pieces]
    for row in rows:
        material = Material(*(int(row[name]) for name in ("bm", "bk", "wm", "wk")))
        sides = [slices[material], slices[material.turned]]
        found = [sum(side[name] for side in sides) for name in ("wins", "losses", "draws")]
        assert found == [int(row[f"all_{name}"]) for name in ("win", "loss", "draw")], material
        assert sides[0]["positions"] == int(row["placements"])
    return len(rows)


def test_the_totals_are_those_of_published_databases(solved):
    assert of_totals(ENDINGS, solved) == 16


@pytest.mark.slow
def test_the_totals_of_four_pieces(solved):
    endings = CheckersEndings(4)
    found = solve_all(endings)
    assert of_totals(endings, found) == 41
    lengths_follow(endings, found)


def lengths_follow(endings, solved, each=100):
    """Lost positions last a turn longer than their longest turn says, won ones than their shortest lost one."""
    rng, compared = np.random.default_rng(2), 0
    for part, values in zip(endings.slices, solved, strict=True):
        ends = np.flatnonzero((values.value != DRAW) & (values.turns > 0))
        numbers = rng.choice(ends, min(each, len(ends)), replace=False).astype(np.int32)
        found = turns(endings.game, jax.tree.map(np.asarray, endings.positions(part, numbers)[0]))
        lost = found.over.copy()  # after each turn, for the other player
        length = np.zeros(len(lost), int)
        for row, (slice_number, number) in enumerate(np.stack(endings.locate(found.position), axis=1).tolist()):
            if not lost[row]:
                child = solved[slice_number]
                lost[row], length[row] = child.value[number] == LOSS, child.turns[number]
        for row, number in enumerate(numbers):
            mine = found.parent == row
            if values.value[number] == LOSS:
                assert not lost[mine].any() and length[mine].max() + 1 == values.turns[number]
            else:
                assert length[mine & lost].min() + 1 == values.turns[number]
            compared += 1
    assert compared > 1000


def positions_of(texts):
    """Positions of PDN FEN, read fast."""
    words = np.zeros((4, len(texts)), np.uint32)
    for place, text in enumerate(texts):
        to_move, *sides = text.split(":")
        for side in sides:
            for square in side[1:].split(","):
                king, number = square.startswith("K"), int(square.lstrip("K"))
                bit = np.uint32(1 << int(board.PLACE[number - 1]))
                words[0 if side[0] == to_move else 1, place] |= bit
                words[2, place] |= bit if king else 0
        words[3, place] = to_move == "W"
    return Position(*words)


def test_each_position_of_two_published_databases_has_their_value(solved):
    with gzip.open(DATA / "endings_2_3_pieces.csv.gz", "rt", encoding="utf-8") as file:
        rows = list(csv.DictReader(file, delimiter=";"))
    parts, numbers = map(np.asarray, ENDINGS.locate(positions_of([row["fen"] for row in rows])))
    found = np.zeros(len(rows), np.uint8)
    for part in np.unique(parts):
        found[parts == part] = solved[part].value[numbers[parts == part]]
    assert len(rows) > 20_000
    np.testing.assert_array_equal(LETTERS[found], [row["result_for_side_to_move"] for row in rows])


def test_numbers_and_positions_belong_together():
    endings, rng = CheckersEndings(5), np.random.default_rng(0)
    for part, turned in itertools.product(endings.slices, (False, True)):
        numbers = rng.integers(0, part.size, 16).astype(np.int32)
        positions, exist = jax.tree.map(np.asarray, endings.positions(part, numbers))
        counts = [positions.own & ~positions.kings, positions.own & positions.kings]
        counts += [positions.opponent & ~positions.kings, positions.opponent & positions.kings]
        assert {tuple(map(int, row)) for row in np.bitwise_count(np.array(counts)).T[exist]} <= {part}
        if turned:  # with White to move the same position stands on the board turned round
            words = [board.turn_board(jnp.asarray(word), jnp.bool_(True)) for word in positions[:3]]
            positions = Position(*words, positions.status + np.uint32(1))
        slices, again = jax.tree.map(np.asarray, endings.locate(positions))
        assert (slices[exist] == endings.slices.index(part)).all() and (again[exist] == numbers[exist]).all()


def first_jump(text):
    state = ENDINGS.game.from_string(text)
    return state, jnp.argmax(state.legal_action_mask).astype(jnp.int32)


def test_what_is_no_ending_has_no_number():
    start = ENDINGS.game.from_string("B:W21,22:B1,2")._position
    jumping = ENDINGS.game.step(*first_jump("B:W6,14:BK1"))._position
    batch = jax.tree.map(lambda *x: jnp.stack(x), start, jumping, jumping._replace(opponent=jnp.uint32(0)))
    assert jax.jit(ENDINGS.locate)(batch)[0].tolist() == [-1, -1, -1]
    assert jax.jit(ENDINGS.covers)(batch).tolist() == [False, True, False]


def test_both_sides_play_to_the_end_in_as_many_turns_as_the_table_says(solved, play):
    """Winner and loser take the table's turns: the game lasts exactly so long, and draws do not end."""
    rng, chosen, expected = np.random.default_rng(1), [], []
    for part, values in zip(ENDINGS.slices, solved, strict=True):
        numbers = rng.choice(np.flatnonzero(values.value != NOTHING), EACH).astype(np.int32)
        chosen.append(jax.tree.map(np.asarray, ENDINGS.positions(part, numbers)[0]))
        expected.append(np.stack([values.value[numbers], values.turns[numbers]], axis=1))
    positions = jax.tree.map(lambda *x: np.concatenate(x), *chosen)
    value, turns = np.concatenate(expected).T
    assert {DRAW, WIN, LOSS} == set(value.tolist()) and turns.max() > 30
    states = ENDINGS.game.state(positions, jnp.zeros(len(value), jnp.int32))
    states = states.replace(terminated=jax.vmap(ENDINGS.game.ended)(states._position))
    ended, result = np.where(states.terminated, 0, -1), np.where(states.terminated, -1, 0)

    @jax.jit
    def advance(states, outcome):
        after = select(states.terminated, states._position, outcome.position)
        passes = outcome.turn_passes & ~states.terminated
        player = jnp.where(passes, 1 - states.current_player, states.current_player)
        over = states.terminated | outcome.over
        reward = jnp.where(states.current_player == 0, outcome.reward, -outcome.reward)
        return states.replace(_position=after, current_player=player, terminated=over), passes, reward

    turn = np.zeros(len(value), int)
    for _ in range(int(turns.max()) + 8):
        bits = jnp.asarray(rng.integers(0, 2**32, len(value), np.uint32))
        before = np.asarray(states.terminated)
        states, passes, reward = advance(states, play(states._position, bits))
        turn += np.asarray(passes)
        now = np.asarray(states.terminated) & ~before
        ended, result = np.where(now, turn, ended), np.where(now, reward, result)
    np.testing.assert_array_equal(ended, turns)
    np.testing.assert_array_equal(result, np.array([0, 1, -1])[value])


def test_a_draw_is_kept_by_the_other_players_turn(solved, play):
    part = ENDINGS.slices.index(Material(0, 1, 0, 1))
    drawn = np.flatnonzero(solved[part].value == DRAW)[:BATCH].astype(np.int32)
    positions = ENDINGS.positions(ENDINGS.slices[part], drawn)[0]
    played = [play(positions, jnp.full(BATCH, bits, jnp.uint32)).position for bits in (1, 2**31)]
    parts, numbers = map(np.asarray, ENDINGS.locate(played[0]))
    assert (parts == part).all() and (solved[part].value[numbers] == DRAW).all()
    different = np.asarray(played[0].opponent) != np.asarray(played[1].opponent)
    assert different.sum() > BATCH // 4  # it is the random player's turn, not always the table's first
