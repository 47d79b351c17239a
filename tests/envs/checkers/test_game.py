"""English draughts: the rules by name, each in a position, and random positions against the plain rule book."""

import random

import jax
import jax.numpy as jnp
import numpy as np
import pytest

import jaxgames
from jaxgames.envs.checkers.board import PLACE, Position
from tests.envs.checkers import reference

GAME = jaxgames.make("checkers")
step = jax.jit(lambda state, action: state._game.step(state, action))
mask = jax.jit(lambda state: state.legal_action_mask)


def actions(state):
    """The names of all legal actions."""
    return {GAME.action_to_string(state, action) for action in np.flatnonzero(mask(state)).tolist()}


def played(state, *names):
    for name in names:
        assert not state.terminated
        state = step(state, state._game.string_to_action(state, name))
    return state


FORCED = {
    "who can capture must": ("B:W18,32:B1,14", {"14x23"}),
    "any capture will do, not only the one of most pieces": ("B:W8,18,27:B4,14", {"4x11", "14x23"}),
    "of two captures either may be chosen": ("W:W22,31:B1,17,18,26,27", {"22x13", "22x15", "31x24"}),
    "men go forward only": ("B:W32:B14", {"14-17", "14-18"}),
    "men do not capture backward": ("B:W9,10,24:B14", {"14-17", "14-18"}),
    "white men go the other way": ("W:W18:BK1", {"18-14", "18-15"}),
    "kings go one square, in any direction": ("B:W32:BK14", {"14-9", "14-10", "14-17", "14-18"}),
    "kings capture in any direction, over the next square only": ("B:W9,18,27,30:BK14", {"14x5", "14x23"}),
    "there must be room behind": ("B:W18,23,32:B14", {"14-17"}),
    "nobody jumps over pieces of their own": ("B:W26,32:B14,18", {"14-17", "18-22", "18-23"}),
    "the edge of the board is no room": ("B:W21,32:B17", {"17-22"}),
}


@pytest.mark.parametrize("rule", FORCED)
def test_what_is_legal(rule):
    text, legal = FORCED[rule]
    assert actions(GAME.from_string(text)) == legal


def test_opening():
    state = GAME.init(jax.random.key(0))
    assert actions(state) == {"9-13", "9-14", "10-14", "10-15", "11-15", "11-16", "12-16"}
    white, black = ",".join(map(str, range(21, 33))), ",".join(map(str, [*range(1, 11), 12, 15]))
    assert GAME.to_string(played(state, "11-15")) == f"W:W{white}:B{black}:H1"


AFTER = {
    "a step": ("B:W32:B14,K20:H7", "14-18", "W:W32:B18,K20:H8"),
    "a step to the king row crowns": ("B:W32:B25", "25-30", "W:W32:BK30:H1"),
    "white men are crowned on 1 to 4": ("W:W7:B13", "7-3", "B:WK3:B13:H1"),
    "a capture takes the piece away and begins the count anew": ("B:W18,32:B14:H30", "14x23", "W:W32:B23"),
    "a king that is captured is gone": ("W:W22,30:BK18", "22x15", None),
    "the piece must go on jumping, and it alone": ("B:W18,26,10,32:B6,14", "14x23", "B:W10,26,32:B6,23:J23"),
    "a man that reaches the king row by a jump stops there": ("B:W26,27,8:B22", "22x31", "W:W8,27:BK31"),
    "a king goes on from the king row": ("B:W26,27,8:BK22", "22x31", "B:W8,27:BK31:J31"),
    "a man does not turn back on its way": ("B:W18,19,32:B14", "14x23", "W:W19,32:B23"),
    "a king may": ("B:W18,19,32:BK14", "14x23", "B:W19,32:BK23:J23"),
}


@pytest.mark.parametrize("what", AFTER)
def test_what_a_move_leads_to(what):
    text, name, after = AFTER[what]
    before = GAME.from_string(text)
    state = played(before, name)
    if after is None:
        assert state.terminated and GAME.to_string(state).endswith(":B")
    else:
        assert GAME.to_string(state) == after and not state.terminated
        assert (state.current_player == before.current_player) == (":J" in after)


def test_a_move_of_many_jumps():
    """A king jumps in a circle, back to where it began; it alone, and it must. All are actions of the same player."""
    state = GAME.from_string("W:WK22,32:B9,10,17,18,27")
    assert actions(state) == {"22x13", "22x15", "32x23"}
    for name, rest in [("22x13", {"13x6"}), ("13x6", {"6x15"}), ("6x15", {"15x22"})]:
        state = played(state, name)
        assert actions(state) == rest and state.current_player == 0
    state = played(state, "15x22")
    assert GAME.to_string(state) == "B:WK22,32:B27" and state.current_player == 1


END = {
    "who has no piece left has lost": ("B:W18:B14", "14x23", [1, -1]),
    "who cannot move has lost": ("B:W5:B1,20", "20-24", [1, -1]),
    "black too": ("W:W32,20:B28", "20-16", [1, -1]),
    "the hundredth single move without a capture draws": ("B:WK32:BK1:H99", "1-5", [0, 0]),
    "a man's move counts": ("B:WK32:B1:H99", "1-5", [0, 0]),
    "being crowned counts": ("B:WK1:B25:H99", "25-30", [0, 0]),
    "a move that draws does not win": ("B:W5:B1,20:H99", "20-24", [0, 0]),
    "a capture wins, whatever the count": ("B:W18:B14:H99", "14x23", [1, -1]),
}


@pytest.mark.parametrize("what", END)
def test_the_end(what):
    text, name, rewards = END[what]
    for player in range(2):
        state = played(GAME.from_string(text, player), name)
        assert state.terminated and not state.truncated
        assert state.rewards.tolist() == (rewards if player == 0 else rewards[::-1])
        again = step(state, jnp.int32(5))
        assert again.terminated and not again.rewards.any() and GAME.to_string(again) == GAME.to_string(state)


def test_the_count_before_a_draw():
    assert not played(GAME.from_string("B:WK32:BK1:H98"), "1-5").terminated
    assert not played(GAME.from_string("B:WK32,18:B14:H99"), "14x23").terminated
    sooner = jaxgames.make("checkers", draw_after=40)
    assert not played(sooner.from_string("B:WK32:BK1:H38"), "1-5").terminated
    assert played(sooner.from_string("B:WK32:BK1:H39"), "1-5").terminated


@pytest.mark.parametrize("text", ["B:W5:B", "W:W5:B1", "B:WK32:BK1:H100", "W:WK32:BK1:H123"])
def test_positions_that_are_over(text):
    state = GAME.from_string(text)
    assert state.terminated and not state.rewards.any() and mask(state).all()


def test_games_are_cut_off_after_max_moves():
    """The third action truncates, unless it ends the game."""
    game = jaxgames.make("checkers", max_moves=3)
    state = played(game.init(jax.random.key(0)), "11-15", "22-18")
    assert not state.truncated
    state = played(state, "15x22")
    assert state.truncated and not state.terminated and not state.rewards.any() and mask(state).all()
    again = step(state, jnp.int32(0))
    assert again.truncated and not again.terminated and not again.rewards.any()
    assert game.to_string(again) == game.to_string(state)
    state = game.from_string("B:W18:B5,14").replace(_step_count=jnp.int32(2))
    state = played(state, "14x23")
    assert state.terminated and not state.truncated and state.rewards.tolist() == [1, -1]


@pytest.mark.parametrize("options", [{"draw_after": 0}, {"draw_after": 2.5}, {"max_moves": True}, {"draw_after": None}])
def test_options_out_of_range(options):
    with pytest.raises(ValueError, match="expected a whole number from 1 to 100,000"):
        jaxgames.make("checkers", **options)


# Random positions


def words(positions):
    """Positions of the rule book as words."""
    plain = [reference.plain(position) for position in positions]
    white, jumper, quiet = (np.array([one[field] for one in plain], np.int64) for field in (1, 2, 3))
    squares = np.array([one[0] for one in plain]) * np.where(white, -1, 1)[:, None]
    place = np.where(jumper > 0, 64 + PLACE[jumper - 1].astype(int), 0)
    status = white | (place & 31) << 1 | (place & 64) | quiet << 8
    sets = [(chosen.astype(np.uint32) << PLACE).sum(axis=1) for chosen in (squares > 0, squares < 0, abs(squares) == 2)]
    return Position(*(word.astype(np.uint32) for word in (*sets, status)))


def test_random_positions_follow_the_rule_book():
    """Whole games, and pieces strewn over the board, many of them kings: legal actions, the next position, the end."""
    draw = random.Random(0)
    positions = [position for game in reference.random_games(draw, 12) for position in game[:-1]]
    strewn = [reference.random_position(draw, draw.randint(2, 14)) for _ in range(700)]
    positions += [one._replace(quiet=draw.choice([0, 50, 98, 99])) for one in strewn]
    positions = [one for one in positions if reference.returns(one) is None]
    before, chosen, after = [], [], []
    for number, position in enumerate(positions):
        legal = sorted(reference.legal(position))
        for action in legal if number % 4 == 0 else [draw.choice(legal)]:
            before.append(number)
            chosen.append(action)
            after.append(reference.apply(position, action))
            if after[-1].jumper and len(positions) < 5000:
                positions.append(after[-1])  # seen by this loop in its turn
    given = words(positions)
    legal = jax.jit(jax.vmap(GAME.legal))(given)
    allowed = np.zeros(legal.shape, bool)
    for number, position in enumerate(positions):
        allowed[number, list(reference.legal(position))] = True
    assert (legal == allowed).all()
    outcome = jax.jit(jax.vmap(GAME.play))(jax.tree.map(lambda x: x[before], given), np.array(chosen, np.int32))
    outcome = jax.device_get(outcome)
    for word, expected in zip(outcome.position, words(after), strict=True):
        assert (word == expected).all()
    results = [reference.returns(one) for one in after]
    white = np.array([positions[number].mover == "w" for number in before])
    assert (outcome.turn_passes == [one.jumper is None for one in after]).all()
    assert (outcome.over == [result is not None for result in results]).all()
    rewards = np.array([(0, 0) if result is None else result for result in results])
    assert (np.where(outcome.over, outcome.reward, 0) == rewards[np.arange(len(white)), white.astype(int)]).all()
    assert min((~white).sum(), white.sum()) > 500 and sum(one.jumper is not None for one in positions) > 100
    assert outcome.over.sum() > 50 and rewards.any() and sum(result == (0, 0) for result in results) > 20
