"""Records of games that were stopped: by the match, or at the game's own limit."""

import numpy as np

import jaxgames
from jaxgames.matches import match
from jaxgames.matches.game_log import GameLog
from jaxgames.players import generic
from jaxgames.players.host import HostTurn
from jaxgames.players.player import Player
from jaxgames.sessions.session import Session

LIMIT = 40
SHORT = jaxgames.make("checkers", max_moves=LIMIT)


def python(jump_on):
    """Plays what comes first; all jumps of a turn at once, or one after the other."""

    def move(state):
        turn = SHORT.legal_turns(state)[0]
        return turn if jump_on else turn[0]

    return Player("mine", SHORT, HostTurn(SHORT, move, "mine"))


def test_a_game_stopped_in_the_middle_of_a_jump_ends_before_it():
    random = generic.random(jaxgames.make("checkers"))
    log = GameLog(random, random)
    stopped = match(random, random, 40, batch=80, most_plies=LIMIT, trace=log.add).stopped
    records = log.records()
    sessions = [Session.replay(record) for record in records]
    played = {sum(len(turn.actions) for turn in session.turns) for session in sessions}
    assert len(records) == 40 and LIMIT in played and played & {LIMIT - 1, LIMIT - 2}
    assert sum(record.points is None for record in records) == stopped
    assert sum(session.over for session in sessions) == 40 - stopped > 0


def test_a_game_is_stopped_at_its_own_limit():
    random = generic.random(SHORT)
    log = GameLog(random, random)
    result = match(random, random, 40, batch=80, trace=log.add)
    assert 30 < result.stopped < 40 and result.plies_per_game < LIMIT
    ends = [Session.replay(record).end for record in log.records()]
    assert {end and end.reason for end in ends} == {None, "too many moves", ""}  # None: in the middle of a jump


def test_jumps_of_one_turn_count_one_by_one():
    """A player in plain Python may give them at once: it plays the same games as by single ones."""
    ends = []
    for jump_on in (False, True):
        turns = []
        result = match(python(jump_on), python(jump_on), 2, trace=turns.append)
        assert (result.stopped, result.plies_per_game, dict(result.forfeits)) == (2, LIMIT, {})
        ends.append(([x.tolist() for x in turns[-1].target], len(turns)))
    assert ends[0][0] == ends[1][0] and ends[0][1] > ends[1][1]


def test_only_games_that_were_forfeited_say_so():
    game = jaxgames.make("tic_tac_toe")

    def move(state):
        free = np.flatnonzero(state.legal_action_mask)
        return int(free[0]) if len(free) > 3 else 1 // 0

    both = Player("fails", game, HostTurn(game, move, "fails")), generic.random(game)
    log = GameLog(*both)
    result = match(*both, 16, trace=log.add)
    reasons = [record.reason for record in log.records()]
    assert reasons.count("forfeit") == sum(result.forfeits.values()) > 0 < reasons.count("")
    assert len(reasons) == 16 and {*reasons} == {"forfeit", ""}
