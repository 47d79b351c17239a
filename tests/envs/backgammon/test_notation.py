import gzip
import json
import warnings

import hypothesis
import hypothesis.strategies as st
import pytest

from jaxgames.envs.backgammon import notation
from tests.envs.backgammon import reference
from tests.envs.backgammon.reference import START
from tests.oracles import oracle


@pytest.fixture(scope="module")
def gnubg():
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # whatever an extension module says when it is imported
        return oracle("gnubg")


@pytest.fixture(scope="module")
def rows(data_dir):
    """Positions from GNU Backgammon's play with a roll: `(mover, opponent, roll)`."""
    with gzip.open(data_dir / "backgammon" / "legal_moves.jsonl.gz", "rt") as file:
        data = [json.loads(line) for line in file]
    return [(*reference.board_from_hex(row["pos"]), tuple(row["dice"])) for row in data]


def dice_of(roll):
    return tuple(roll) * 2 if roll[0] == roll[1] else tuple(roll)


def played(board, steps):
    for source, die in steps:
        assert (source, die) in reference.single_steps(*board, (die,))
        board = reference.apply_step(*board, source, die)
    return board


def side(**checkers):
    return tuple(checkers.get(f"p{point}", 0) for point in range(1, 26))


@st.composite
def boards(draw):
    """Any board that passes for a position: up to 15 checkers each, never both on one point."""
    owners = draw(st.lists(st.integers(0, 1), min_size=24, max_size=24))
    sides = [[0] * 25, [0] * 25]
    for player in range(2):
        places = [index for index in range(24) if owners[index] == player] + [24]
        for place in draw(st.lists(st.sampled_from(places), min_size=1, max_size=15)):
            sides[player][place if player == 0 or place == 24 else 23 - place] += 1
    return sides[0], sides[1]


# Position ids


def test_published_ids():
    assert notation.position_id(START, START) == "4HPwATDgc/ABMA"
    made_five_point, _ = played((START, START), [(8, 3), (6, 1)])
    # GNU Backgammon 1.07 after `set dice 3 1`, `move 8/5 6/5`: the player who is now on roll comes second.
    assert notation.position_id(mover=START, opponent=made_five_point) == "sGfwATDgc/ABMA"


def test_ids_agree_with_gnubg(rows, gnubg):
    for mover, opponent, _ in rows:
        text = notation.position_id(mover, opponent)
        assert text == gnubg.position_id((opponent, mover))
        assert notation.parse_position_id(text) == (list(mover), list(opponent))


def test_the_mover_is_the_player_on_roll_for_gnubg(gnubg):
    one_left, far_behind = side(p1=1), side(p20=1, p2=14)
    for mover, opponent, chance in ((one_left, far_behind, 1.0), (far_behind, one_left, 0.0)):
        board = gnubg.position_from_id(notation.position_id(mover, opponent))
        assert gnubg.evaluate(board)[0] == pytest.approx(chance)


@hypothesis.given(boards())
def test_ids_and_states_read_back(board):
    mover, opponent = board
    closed = mover[24] and opponent[24] and min(mover[:6]) > 1 and min(opponent[:6]) > 1
    hypothesis.assume(not closed)
    assert notation.parse_position_id(notation.position_id(mover, opponent)) == board
    for dice in (None, (6,), (6, 1), (3, 3), (2, 2, 2), (5, 5, 5, 5)):
        assert notation.from_text(notation.to_text(mover, opponent, dice)) == (mover, opponent, dice)


def test_state_text():
    assert notation.to_text(START, START) == "4HPwATDgc/ABMA"
    assert notation.to_text(START, START, (1, 3)) == "4HPwATDgc/ABMA:31"
    assert notation.from_text("4HPwATDgc/ABMA:13")[2] == (3, 1)
    assert notation.to_text(START, START, (4, 4)) == "4HPwATDgc/ABMA:44"


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("", "has 0 characters; it must have 14"),
        ("4HPwATDgc/ABM", "has 13 characters"),
        ("4HPwATDgc/ABMAA", "has 15 characters"),
        ("4HPw!TDgc/ABMA", r"character 5 \('!'\)"),
        ("4HPwATDgc/ABMB", r"character 14 \('B'\): the last character must be A, Q, g or w"),
        ("//8AAAAAAAAAAA", r"character 2 .*more than 15 checkers of the opponent"),
        ("DAAAgP/+AAAAAA", r"character 7 \('/'\): more than 15 checkers of the mover"),
        ("AACADAAAAAAAAA", r"character 5 \('D'\): both players on point 1 of the mover"),
        ("4AMAAPgAAIAAAA", r"character 10 \('I'\): only A"),
        ("AAAAAAAAAAAAAA", "both players have borne off"),
        ("4HPwATDgc/ABMA:", r"character 15 \(':'\): after the colon stand the dice left"),
        ("4HPwATDgc/ABMA:7", r"character 16 \('7'\): .* digits 1 to 6$"),
        ("4HPwATDgc/ABMA:312", r"character 18 \('2'\): two different dice or up to four equal"),
        ("4HPwATDgc/ABMA:3313", r"character 18 \('1'\)"),
        ("4HPwATDgc/ABMA:33333", r"character 20 \('3'\)"),
        ("4HPwATDgc/ABMA:cAkAAAAAAAAA", r"character 16 \('c'\).*a match id of GNU Backgammon is not read"),
    ],
)
def test_bad_states_point_at_the_character(text, message):
    with pytest.raises(ValueError, match=message) as error:
        notation.from_text(text)
    assert "\n" not in str(error.value)


@pytest.mark.parametrize(
    ("mover", "opponent", "message"),
    [
        (START[:24], START, "mover has 24 places; there must be 25"),
        (START, side(p6=16), "opponent has 16 checkers; there are at most 15"),
        (side(p6=-1), START, "mover has -1 checkers on 6"),
        (side(p6=0.5), START, "mover has 0.5 checkers on 6"),
        (side(p20=1), side(p5=2), r"both players are on point 20 of the mover \(point 5 of the opponent\)"),
        (side(), side(), "both players have borne off"),
        (*(side(p1=2, p2=2, p3=2, p4=2, p5=2, p6=2, p25=1),) * 2, "nobody could ever move"),
    ],
)
def test_impossible_positions(mover, opponent, message):
    with pytest.raises(ValueError, match=message):
        notation.position_id(mover, opponent)


@pytest.mark.parametrize("dice", [(0, 1), (7,), (1, 2, 3), (1, 1, 2), (4,) * 5])
def test_impossible_dice(dice):
    with pytest.raises(ValueError, match="di(e|ce)"):
        notation.to_text(START, START, dice)


# Plays


def test_plays_are_written_as_gnubg_writes_them_and_read_back(rows, gnubg):
    for mover, opponent, roll in rows[::3]:
        for result, steps in reference.plays(mover, opponent, roll).items():
            text = notation.format_play(steps, mover, opponent)
            moves = [place for source, die in steps for place in (source, max(source - die, 0))]
            ordered = sorted(zip(moves[::2], moves[1::2], strict=True), reverse=True)
            flat = tuple(place for move in ordered for place in move)
            assert text == gnubg.move_tuple_to_string(flat, (opponent, mover))
            again = notation.parse_play(text, mover, opponent, dice_of(roll))
            assert played((mover, opponent), again) == result, (mover, opponent, roll, text)


def test_positions_without_a_play_read_only_pass(rows):
    stuck = [row for row in rows if not reference.legal_steps(*row[:2], dice_of(row[2]))]
    assert len(stuck) > 10
    for mover, opponent, roll in stuck:
        assert notation.parse_play("pass", mover, opponent, dice_of(roll)) == []
        assert notation.parse_play("", mover, opponent, dice_of(roll)) == []
        assert notation.parse_step("pass", mover, opponent, dice_of(roll)) is None
    assert notation.format_play([], START, START) == "pass"


def test_the_opening_books_can_be_read(data_dir):
    folder = data_dir / "backgammon"
    openings = json.loads((folder / "opening_plays.json").read_text())["openings"]
    for row in openings:
        texts = [best["move"] for best in row["best_0ply"] + row["best_2ply"]]
        results = set()
        for text in texts[: len(row["best_0ply"])]:
            steps = notation.parse_play(text, START, START, dice_of(row["roll"]))
            results.add(played((START, START), steps))
        assert len(results) == len(row["best_0ply"])
        assert results <= set(reference.plays(START, START, row["roll"]))
        for text in texts[len(row["best_0ply"]) :]:
            notation.parse_play(text, START, START, dice_of(row["roll"]))
    replies = json.loads((folder / "opening_replies_2ply.json").read_text())["replies"]
    assert len(replies) == 441
    for row in replies:
        first = notation.parse_play(row["opening_move"], START, START, dice_of(row["opening_roll"]))
        opponent, mover = played((START, START), first)
        legal = reference.plays(mover, opponent, row["reply_roll"])
        assert len(legal) == row["distinct_plays"]
        steps = [notation.parse_play(best["move"], mover, opponent, dice_of(row["reply_roll"])) for best in row["best"]]
        results = {played((mover, opponent), way) for way in steps}
        assert len(results) == len(row["best"]) and results <= set(legal)


@pytest.mark.parametrize(
    ("text", "dice", "steps"),
    [
        ("24/13", (6, 5), [(24, 6), (18, 5)]),
        ("24/18/13", (6, 5), [(24, 6), (18, 5)]),
        ("24/18 18/13", (6, 5), [(24, 6), (18, 5)]),
        ("18/13, 24/18", (6, 5), [(24, 6), (18, 5)]),
        ("6/5 8/5", (3, 1), [(6, 1), (8, 3)]),
        ("8/5(2) 6/3 (2)", (3, 3, 3, 3), [(8, 3), (8, 3), (6, 3), (6, 3)]),
        ("6/5", (1,), [(6, 1)]),
    ],
)
def test_forms_of_a_play(text, dice, steps):
    assert notation.parse_play(text, START, START, dice) == steps


def test_stars_tell_plays_apart():
    mover, opponent = side(p24=2, p6=13), side(p7=1, p2=14)  # 24/13 by 18 hits, by 19 does not
    by_18, by_19 = [(24, 6), (18, 5)], [(24, 5), (19, 6)]
    assert notation.format_play(by_18, mover, opponent) == "24/18*/13"
    assert notation.format_play(by_19, mover, opponent) == "24/13"
    assert notation.parse_play("24/18*/13", mover, opponent, (6, 5)) == by_18
    assert notation.parse_play("24/18/13", mover, opponent, (6, 5)) == by_18
    assert notation.parse_play("24/13", mover, opponent, (6, 5)) == by_19
    two_blots = side(p7=1, p6=1, p2=13)
    with pytest.raises(ValueError, match="can be played in several ways; name the points between"):
        notation.parse_play("24/13", mover, two_blots, (6, 5))


def test_bar_and_off():
    mover, opponent = side(p25=2, p6=13), side(p3=1, p6=14)
    assert notation.format_play([(25, 3), (25, 1)], mover, opponent) == "bar/24 bar/22*"
    assert notation.parse_play("25/22 Bar/24", mover, opponent, (3, 1)) == [(25, 3), (25, 1)]
    home = side(p6=1, p2=2)
    assert notation.format_play([(6, 6), (2, 5)], home, START) == "6/off 2/off"
    assert notation.parse_play("2/0 6/OFF", home, START, (6, 5)) == [(6, 6), (2, 5)]
    assert notation.parse_play("6/off 2/off(2)", home, START, (6,) * 4) == [(6, 6), (2, 6), (2, 6)]


@pytest.mark.parametrize(
    ("text", "dice", "message"),
    [
        ("8/5 6/4", (3, 1), r"part '6/4': 2 cannot be played from 6 to 4 \(dice left: 1\)"),
        ("8/5 7/6", (3, 1), "part '7/6': there is no checker on 7"),
        ("8/5* 6/5", (3, 1), r"part '8/5\*': there is no blot to hit on 5"),
        ("8/5", (3, 1), "is not a whole legal turn: 2 dice can be played"),
        ("24/4", (5, 5, 5, 5), "its way is blocked"),
        ("6/1 8/5", (5, 3), "part '6/1': point 1 is held by 2 checkers"),
        ("8/5(4)", (3, 3, 3, 3), r"part '8/5\(4\)': there is no checker on 8 left"),
        ("8/5(2) 6/3(3)", (3, 3, 3, 3), "moves more than 4 checkers"),
        ("8/5(0)", (3, 3, 3, 3), "the count in brackets must be 1 to 4"),
        ("6/off 6/5", (6, 1), "part '6/off': no checker bears off while one is on 24"),
        ("5/8", (3, 1), "checkers move to lower points, not from 5 to 8"),
        ("26/23", (3, 1), "26 is no point"),
        ("8-5", (3, 1), "part '8-5' is not understood; write from/to"),
        ("pass", (3, 1), "only who cannot move passes; 6 can move by 3"),
        ("8/5 6/5", None, "awaits a roll"),
    ],
)
def test_bad_plays_name_the_part(text, dice, message):
    with pytest.raises(ValueError, match=message) as error:
        notation.parse_play(text, START, START, dice)
    assert "\n" not in str(error.value)


def test_bad_plays_elsewhere():
    bar, home = side(p25=1, p6=14), side(p6=1, p5=1, p2=1)
    with pytest.raises(ValueError, match="part '6/5': a checker on the bar must enter first"):
        notation.parse_play("6/5", bar, side(p3=2), (3, 1))
    with pytest.raises(ValueError, match="part '2/off': a larger die bears off only the rearmost checker, on 5"):
        notation.parse_play("6/5 2/off", home, START, (4, 1))
    with pytest.raises(ValueError, match="only one die can be played, and it must be the 6"):
        notation.parse_play("20/19", side(p20=1), side(p12=2), (6, 1))


# Steps and actions


def test_names_of_steps_are_distinct_and_read_back(rows):
    several_bear_off = 0
    for mover, opponent, roll in rows[::2]:
        start = (mover, opponent, dice_of(roll))
        way = next(iter(reference.plays(mover, opponent, roll).values()), [])[:1]
        after = (*played((mover, opponent), way), reference.without(start[2], way[0][1])) if way else start
        for own, other, dice in (start, after):
            legal = reference.legal_steps(own, other, dice)
            names = {notation.format_step(*step, own, other, dice): step for step in legal}
            assert len(names) == len(legal)
            several_bear_off += any("[" in name for name in names)
            for name, step in names.items():
                assert notation.parse_step(name, own, other, dice) == step
                assert notation.parse_step(name.replace("*", ""), own, other, dice) == step
    assert several_bear_off > 0


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("8/4", r"4 cannot be played from 8 to 4 \(dice left: 3 1\)"),
        ("8/5 6/5", "is not understood; write from/to"),
        ("8/5*", "no blot to hit on 5"),
        ("pass", "only who cannot move passes"),
    ],
)
def test_bad_steps(text, message):
    with pytest.raises(ValueError, match=message):
        notation.parse_step(text, START, START, (3, 1))


def test_an_illegal_step_says_what_the_turn_must_do():
    with pytest.raises(ValueError, match="it must be the 6"):
        notation.parse_step("20/19", side(p20=1), side(p12=2), (6, 1))
    with pytest.raises(ValueError, match="2 dice can be played"):
        notation.parse_step("2/1", side(p9=1, p2=1), side(p22=2), (6, 1))


def test_action_numbers():
    assert notation.action_of(25, 1) == 6
    assert notation.action_of(24, 6) == 17
    assert notation.action_of(1, 6) == 155
    assert notation.step_of(0) is None
    assert [notation.action_of(*notation.step_of(action)) for action in range(6, 156)] == list(range(6, 156))
    for action in (-1, 5, 156):
        with pytest.raises(ValueError, match="moves no checker"):
            notation.step_of(action)
    for source, die in ((0, 1), (26, 1), (6, 0), (6, 7)):
        with pytest.raises(ValueError, match="is n"):
            notation.action_of(source, die)
