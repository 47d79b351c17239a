"""Whole turns: every distinct play, against GNU Backgammon, the rule book, and the steps themselves."""

import functools
import json

import hypothesis
import hypothesis.strategies as st
import jax
import jax.numpy as jnp
import numpy as np
import pytest

import jaxgames
from jaxgames.envs.backgammon import list_plays, make_position, plays
from jaxgames.envs.backgammon.board import to_plain
from jaxgames.envs.backgammon.play_lists import MOST_PLAYS
from tests.envs.backgammon import boards as boards_of
from tests.envs.backgammon.boards import (
    ROLLS,
    all_plays,
    as_bytes,
    crowded_boards,
    gnubg_rows,
    left_of,
    play_actions,
    positions,
    random_boards,
    reached_by_steps,
    rule_book_plays,
)
from tests.envs.backgammon.reference import START

GAME = jaxgames.make("backgammon")
apply = jax.jit(GAME.apply)

START_BOARD = np.array([START, START])


@pytest.fixture(scope="module")
def rows(data_dir):
    return gnubg_rows(data_dir)


@pytest.fixture(scope="module")
def made_up():
    rng = np.random.default_rng(0)
    boards = random_boards(rng, 4000)
    return boards, [ROLLS[number] for number in rng.integers(0, 21, len(boards))]


@pytest.fixture(scope="module")
def crowded():
    """64 positions and doubles with more than 1,000 plays each."""
    boards = crowded_boards(np.random.default_rng(0), 512)
    dice = [(1, 1, 1, 1), (2, 2, 2, 2)] * 256
    listed = all_plays(boards, dice)
    many = [index for index, found in enumerate(listed) if len(found.boards) > 1000][:64]
    assert len(many) == 64
    return boards[many], [dice[index] for index in many], [listed[index] for index in many]


def side(**checkers):
    return [checkers.get(f"p{point}", 0) for point in range(1, 26)]


# Certification


def test_all_plays_of_2000_positions(rows):
    boards, rolls, results = rows
    listed = all_plays(boards, [left_of(roll) for roll in rolls])
    for both, found, expected in zip(boards, listed, results, strict=True):
        own = as_bytes(found.boards)
        assert len(own) == len(set(own))
        assert set(own) == (expected or set(as_bytes(both)))


def test_list_plays_of_500_positions(rows):
    for both, roll, expected in zip(*(column[::4] for column in rows), strict=True):
        found = list_plays(make_position(*both, roll))
        assert (found.mover.dtype, found.opponent.dtype, found.actions.dtype) == (np.int32,) * 3
        assert found.mover.shape == found.opponent.shape == (len(expected), 25)
        assert found.actions.shape == (len(expected), 4)
        assert set(as_bytes(np.stack([found.mover, found.opponent], axis=1))) == expected


def test_the_actions_lead_to_the_plays(rows):
    boards, rolls, _ = rows
    dice = [left_of(roll) for roll in rolls]
    listed = all_plays(boards, dice)
    owner = np.repeat(np.arange(len(boards)), [len(found.boards) for found in listed])
    actions = np.concatenate([found.actions for found in listed])
    played = play_actions(boards[owner], [dice[index] for index in owner], actions)
    assert len(owner) > 20_000
    assert played.legal.all()
    assert (played.over | played.turn_passes).all()
    assert (played.boards == np.concatenate([found.boards for found in listed])).all()


def test_opening_plays(data_dir):
    openings = json.loads((data_dir / "backgammon" / "opening_plays.json").read_text())["openings"]
    counts = {tuple(row["roll"]): len(list_plays(make_position(START, START, row["roll"])).actions) for row in openings}
    assert counts == {tuple(row["roll"]): row["distinct_plays"] for row in openings}
    assert len(counts) == 21 and sum(counts.values()) == 447


@pytest.mark.slow
def test_replies_to_openings(data_dir):
    """441 positions after an opening play, given in words: how many replies there are; the best ones are legal."""
    replies = json.loads((data_dir / "backgammon" / "opening_replies_2ply.json").read_text())["replies"]
    assert len(replies) == 441

    @functools.cache
    def opened_by(roll, move):
        actions = list(GAME.string_to_turn(make_position(START, START, roll), move)) + [-1] * 4
        return play_actions(START_BOARD[None], [left_of(roll)], np.array(actions[:4])[None])

    for reply in replies:
        opened = opened_by(tuple(reply["opening_roll"]), reply["opening_move"])
        state = make_position(opened.boards[0, 1], opened.boards[0, 0], reply["reply_roll"])
        found = list_plays(state)
        assert len(found.actions) == reply["distinct_plays"]
        for best in reply["best"]:
            best_actions = (list(GAME.string_to_turn(state, best["move"])) + [-1] * 4)[:4]
            result = play_actions(opened.boards[:, ::-1], [left_of(reply["reply_roll"])], np.array(best_actions)[None])
            assert (np.stack([found.mover, found.opponent], axis=1) == result.boards).all(axis=(1, 2)).sum() == 1


def test_made_up_positions_against_the_rule_book(made_up):
    boards, rolls = made_up[0][:800], made_up[1][:800]
    listed = all_plays(boards, [left_of(roll) for roll in rolls])
    for both, roll, found in zip(boards, rolls, listed, strict=True):
        assert set(as_bytes(found.boards)) == rule_book_plays(both, roll)


def test_steps_reach_exactly_the_plays(rows, made_up):
    boards = np.concatenate([rows[0], made_up[0]])
    dice = [left_of(roll) for roll in rows[1] + made_up[1]]
    listed, reached = all_plays(boards, dice), reached_by_steps(boards, dice)
    assert all(len(found.boards) == len(steps) for found, steps in zip(listed, reached, strict=True))
    assert all(set(as_bytes(found.boards)) == steps for found, steps in zip(listed, reached, strict=True))


def test_steps_reach_exactly_the_plays_in_the_middle_of_a_turn(made_up):
    boards, rolls = made_up
    dice = [(max(roll),) * (1 + number % 3) for number, roll in enumerate(rolls)]
    listed, reached = all_plays(boards, dice), reached_by_steps(boards, dice)
    assert all(set(as_bytes(found.boards)) == steps for found, steps in zip(listed, reached, strict=True))


def test_list_plays_in_the_middle_of_a_turn(rows):
    """What the first actions leave to play, taken together, is what there was to play."""
    game = jaxgames.make("backgammon")
    for both, roll in zip(rows[0][:30], rows[1], strict=False):
        state = make_position(*both, roll)
        whole, parts = game.plays(state), set()
        for action in np.flatnonzero(state.legal_action_mask) if len(whole.actions) else []:
            left = apply(state, action)
            found = list_plays(left)
            if left.current_player == state.current_player and len(found.actions):
                parts |= set(as_bytes(np.stack([found.mover, found.opponent], axis=1)))
            else:
                own, opponent, _ = to_plain(left._position)
                parts.add(bytes(opponent + own if left.current_player else own + opponent))
        assert parts == set(as_bytes(np.stack([whole.mover, whole.opponent], axis=1)))


# Very many plays


def test_more_than_1000_plays(crowded):
    boards, dice, listed = crowded
    assert max(len(found.boards) for found in listed) > 1900
    for found, steps in zip(listed, reached_by_steps(boards, dice), strict=True):
        assert len(found.boards) == len(steps)
        assert set(as_bytes(found.boards)) == steps
    for index in range(2):
        both, die, found = boards[index], dice[index][0], listed[index]
        assert set(as_bytes(found.boards)) == rule_book_plays(both, (die, die))
        single = list_plays(make_position(*both, (die, die)))
        assert len(single.actions) == len(found.boards)
        assert set(as_bytes(np.stack([single.mover, single.opponent], axis=1))) == set(as_bytes(found.boards))


def test_a_list_that_overflows_says_so(crowded):
    boards, dice, listed = crowded
    few = np.minimum(np.arange(boards_of.CHUNK), len(boards) - 1)
    batch = positions(boards[few], [dice[index] for index in few])
    found = plays(batch, wanted=few >= 0)
    complete = np.asarray(found.complete)
    assert 0 < complete.sum() < len(complete)
    assert (np.diff(found.first)[complete] == [len(listed[index].boards) for index in few[complete]]).all()
    last = np.arange(boards_of.CHUNK) == boards_of.CHUNK - 1
    again = plays(batch, wanted=last)
    assert again.complete[-1] and again.first[-1] == len(listed[-1].boards) and again.first[-2] == 0


def test_a_list_too_short_for_one_position():
    batch = jax.tree.map(lambda x: x[None], make_position(START, START, (3, 1))._position)
    with pytest.raises(ValueError, match=f"capacity 100 is too small: one position may have {MOST_PLAYS} plays"):
        plays(batch, capacity=100)


# What the functions take and give


def test_the_order_of_the_dice_does_not_matter(rows):
    for both, (first, second) in zip(rows[0][:50], rows[1], strict=False):
        one, other = make_position(*both, (first, second)), make_position(*both, (second, first))
        assert all((x == y).all() for x, y in zip(jax.tree.leaves(one), jax.tree.leaves(other), strict=True))


def test_no_legal_play():
    closed = side(p1=2, p2=2, p3=2, p4=2, p5=2, p6=5)
    found = list_plays(make_position(side(p25=1, p6=14), closed, (6, 5)))
    assert found.actions.shape == (0, 4) and found.mover.shape == found.opponent.shape == (0, 25)


def test_a_forced_pass_ends_the_actions():
    state = make_position(side(p20=1), side(p12=2), (6, 1))  # 13 is held: only the 6 can be played
    assert list_plays(state).actions.tolist() == [[(26 - 20) * 6 + 5, 0, -1, -1]]
    assert GAME.turn_to_string(state, list_plays(state).actions[0]) == "20/14"
    assert GAME.string_to_turn(state, "20/14") == ((26 - 20) * 6 + 5, 0)


def test_bearing_off_the_last_checker_needs_no_pass():
    state = make_position(side(p1=1), side(p1=15), (4, 4))
    assert list_plays(state).actions.tolist() == [[(26 - 1) * 6 + 3, -1, -1, -1]]
    assert GAME.string_to_turn(state, "1/off") == ((26 - 1) * 6 + 3,)


def test_games_that_have_ended_or_await_a_roll_have_no_plays():
    state, awaiting = make_position(START, START, (3, 1)), GAME.from_string("4HPwATDgc/ABMA")
    ended = [state.replace(**{end: jnp.bool_(True)}) for end in ("terminated", "truncated")]
    assert [list_plays(one).actions.shape for one in ended] == [(0, 4)] * 2
    batch = jax.tree.map(lambda *x: jnp.stack(x), *ended, awaiting, state)
    assert GAME.plays(batch).first.tolist() == [0, 0, 0, 0, 16]


def test_list_plays_needs_one_state_and_a_roll():
    game = jaxgames.make("backgammon")
    with pytest.raises(ValueError, match="awaits a roll"):
        list_plays(game.from_string("4HPwATDgc/ABMA"))
    with pytest.raises(ValueError, match=r"a batch with one axis is needed here, not of shape \(\); use list_plays"):
        plays(make_position(START, START, (3, 1)))
    with pytest.raises(ValueError, match=r"one state is needed here, not a batch of 1; for a batch: plays"):
        list_plays(jax.tree.map(lambda x: x[None], make_position(START, START, (3, 1))))
    with pytest.raises(ValueError, match="a batch of 0: expected one or more"):
        plays(jax.tree.map(lambda x: x[None][:0], make_position(START, START, (3, 1))))
    other = jaxgames.make("tic_tac_toe").init(jax.random.key(0))
    for listed in (list_plays, game.plays):
        with pytest.raises(TypeError, match="states 'x': expected what game.init"):
            listed("x")
        with pytest.raises(ValueError, match="this state is of tic_tac_toe, this game is backgammon"):
            listed(other)


@pytest.mark.parametrize(
    ("mover", "opponent", "dice", "message"),
    [
        (START[:24], START, (3, 1), "mover_points must be 25 numbers"),
        (START, [START], (3, 1), "opponent_points must be 25 numbers"),
        (["a"] * 25, START, (3, 1), "mover_points must be 25 numbers"),
        (START, START, (3,), "dice must be two numbers from 1 to 6"),
        (START, START, (3, 1, 1), "dice must be two numbers from 1 to 6"),
        (START, START, (7, 1), "dice must be two numbers from 1 to 6"),
        (START, START, (0, 1), "dice must be two numbers from 1 to 6"),
        (START, START, (1.5, 1), "dice must be two numbers from 1 to 6"),
        (side(p1=16), START, (3, 1), "mover has 16 checkers"),
        (side(p1=-1), START, (3, 1), "-1 checkers on 1"),
        (side(p1=0.5), START, (3, 1), "0.5 checkers on 1"),
        (side(), START, (3, 1), "mover has no checkers left"),
        (START, side(), (3, 1), "opponent has no checkers left"),
        (side(p1=1), side(p24=1), (3, 1), "both players are on point 1"),
    ],
)
def test_impossible_positions(mover, opponent, dice, message):
    with pytest.raises(ValueError, match=message) as error:
        make_position(mover, opponent, dice)
    assert "\n" not in str(error.value)


def test_impossible_player():
    with pytest.raises(ValueError, match="current_player must be 0 or 1, not 2"):
        make_position(START, START, (3, 1), current_player=2)


@hypothesis.given(st.data())
def test_plays_are_written_and_read_back(rows, data):
    number = data.draw(st.integers(0, 1999))
    state = make_position(*rows[0][number], rows[1][number])
    found = list_plays(state)
    if len(found.actions):
        index = data.draw(st.integers(0, len(found.actions) - 1))
        again = list(GAME.string_to_turn(state, GAME.turn_to_string(state, found.actions[index])))
        result = play_actions(rows[0][number][None], [left_of(rows[1][number])], np.array([(again + [-1] * 4)[:4]]))
        assert (result.boards[0] == [found.mover[index], found.opponent[index]]).all()
