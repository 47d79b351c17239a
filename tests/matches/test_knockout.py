"""Knock-outs: who meets whom and how long, against a plain replay; better ones stay; what is known is not played."""

import json

import jax
import numpy as np
import pytest

import jaxgames
from jaxgames import players
from jaxgames.matches import knockout
from jaxgames.matches.knockout import _decide
from jaxgames.matches.match import PairedGames, _play_plies
from jaxgames.players import generic
from tests.players.dash import GAME, Lead

STEPS = (0.3, -0.1, 0.1, -0.3, 0.2, -0.2, 0.15)
POOL = [players.greedy(GAME, f"lead {step}", np.float32(step), Lead().value) for step in STEPS]
SLOTS = 16


@pytest.fixture(scope="module")
def result():
    return knockout(POOL, behind=6, most_games=40, seed=3, slots=SLOTS)


def test_meetings_end_when_one_is_behind(result):
    """Each against all games of the pair, played one batch after the other."""
    key = jax.random.key(3)
    assert [len(meetings) for meetings in result.rounds] == [3, 2, 1]
    short = 0
    for number, meetings in enumerate(result.rounds):
        for a, b, games, points, winner in meetings:
            all_games = PairedGames(POOL[a], POOL[b], 20, jax.random.fold_in(jax.random.fold_in(key, number), a), SLOTS)
            all_games.play_all()
            sums = all_games.points.sum(axis=1).cumsum()
            last = next((i for i, total in enumerate(sums) if abs(total) >= 6), 19)
            assert (games, points) == (2 * last + 2, sums[last])
            assert winner == (a if points > 0 else b if points < 0 else max(a, b))
            short += last < 19
    assert 0 < short < 6  # some were decided by points and some by the limit


class Script:
    """Three pairs of games that end in a given order: the longest is the first."""

    def __init__(self, *points):
        self.points, self.done = np.zeros((3, 2)), np.zeros((3, 2), bool)
        self.rest = list(zip((1, 2, 0), points, strict=True))

    def play(self):
        pair, points = self.rest.pop(0)
        self.points[pair], self.done[pair] = points, True
        return int(self.done.sum())


def test_the_first_games_to_begin_count_and_not_the_first_to_end():
    for points, expected in (
        (((3, 3), (1, 0), (-4, -2)), (2, -6, 8)),  # the first pair ends last and decides
        (((3, 3), (1, 0), (-1, 0)), (6, 6, 7)),  # -1 + 6 is too little; with the third pair it is enough
        (((3, 3), (1, 0), (1, 0)), (4, 7, 7)),  # no further than the pair that is enough
    ):
        assert _decide(Script(*points), (7, 8), 6)[2:] == expected


def test_each_round_is_played_by_those_who_are_left(result):
    left = set(range(len(POOL)))
    for meetings in result.rounds:
        met = [player for meeting in meetings for player in meeting[:2]]
        assert len(set(met)) == len(met) and set(met) <= left and len(left) - len(met) <= 1
        left -= {meeting.a + meeting.b - meeting.winner for meeting in meetings}
    assert left == {result.winner} and STEPS[result.winner] > 0
    assert result.games == sum(meeting.games for meetings in result.rounds for meeting in meetings)
    assert result.to_dict()["best"] == POOL[result.winner].name


def test_one_program_for_all_and_the_same_result_from_known_meetings(result):
    compiled, told = _play_plies._cache_size(), []
    known = {(0, *meeting[:2]): meeting for meeting in result.rounds[0]}
    again = knockout(POOL, 6, 40, seed=3, slots=SLOTS, threads=1, known=known, progress=lambda *x: told.append(x))
    assert again.rounds == result.rounds and _play_plies._cache_size() == compiled
    assert told == [(number, meeting) for number, meetings in enumerate(result.rounds) for meeting in meetings]
    forged = {key: meeting._replace(winner=meeting.b) for key, meeting in known.items()}
    assert knockout(POOL, 6, 40, seed=3, slots=SLOTS, known=forged).rounds != result.rounds
    assert knockout(POOL, 6, 40, seed=4, slots=SLOTS).rounds != result.rounds


def test_equal_players_end_at_the_limit_and_the_later_one_goes_on():
    (meeting,) = knockout([POOL[0], POOL[0]], 1, 20, slots=SLOTS).rounds[0]
    assert (meeting.games, meeting.points, meeting.winner) == (20, 0, 1)


def test_an_odd_number_of_slots_is_rounded_up_and_numbers_may_be_numpy_s(result):
    again = knockout(POOL, np.float32(6), np.int64(40), seed=np.int64(3), slots=np.int32(SLOTS - 1))
    assert again.rounds == result.rounds and json.loads(json.dumps(again.to_dict()))["seed"] == 3


def test_numbers_that_make_no_sense():
    for arguments, message in (
        ((POOL[:1],), "2 or more"),
        ((POOL, 0), "above 0"),
        ((POOL, 5, 1), "most_games 1: expected a whole number from 2 on"),
        ((POOL, 5, 2.5), "most_games 2.5: expected a whole number from 2 on"),
        ((POOL, 5, 4, 0, 0), "slots 0: expected a whole number from 1 on"),
        ((POOL, 5, 4, 0, 2, 0), "threads 0: expected a whole number from 1 on"),
        (([POOL[0], generic.random(jaxgames.make("tic_tac_toe"))],), "plays tic_tac_toe"),
    ):
        with pytest.raises(ValueError, match=message):
            knockout(*arguments)
