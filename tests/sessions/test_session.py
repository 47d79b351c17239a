"""A game under way for people: turns by text and by action, undo and redo, chance, seats, ends, suggestions."""

import dataclasses
import itertools
from typing import ClassVar, NamedTuple

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from jaxtyping import Array, Int32

import jaxgames
from jaxgames import players
from jaxgames.envs import Game, Outcome
from jaxgames.envs.backgammon import make_position
from jaxgames.sessions.session import Session, after_actions

GAMES = {name: jaxgames.make(name) for name in jaxgames.available_games()}
START = "4HPwATDgc/ABMA"


def state_text(session):
    return session.game.to_string(session.state), session.seat


@pytest.mark.parametrize("name", GAMES)
def test_a_random_game_by_text_is_undone_and_redone_turn_by_turn(name):
    session, random = Session(GAMES[name], seed=3), np.random.default_rng(1)
    seen = [state_text(session)]
    while not session.over and len(session.turns) < 30:
        turns = session.legal_turns()
        text = list(turns)[random.integers(len(turns))]
        played = session.play(text)
        assert (played.text, len(played.actions), played.seat) == (text, len(turns[text]), len(session.turns) % 2 ^ 1)
        seen.append(state_text(session))
    record = session.record()
    while session.turns:
        session.undo()
        assert state_text(session) == seen[len(session.turns)]
    with pytest.raises(ValueError, match="nothing has been played"):
        session.undo()
    while session.undone:
        session.redo()
        assert state_text(session) == seen[len(session.turns)]
    assert session.record() == record
    assert state_text(Session.replay(record, seed=3)) == seen[-1]


def test_every_state_is_looked_at_once(monkeypatch):
    """What is legal comes with the state: sessions of a server ask for it again and again."""
    moves = Session(GAMES["backgammon"], seed=3)
    moves.play(next(iter(moves.legal_turns())))
    session = Session(GAMES["backgammon"], seed=3)
    monkeypatch.setattr(type(session.state), "legal_action_mask", property(lambda state: pytest.fail("asked again")))
    for action in moves.turns[0].actions:
        assert action in session.legal_actions()
        assert not session.awaits_chance
        session.play_action(action, hand_over=False)
    session.hand_over()
    assert (session.legal_actions(), state_text(session)) == (moves.legal_actions(), state_text(moves))


def test_turns_of_backgammon_are_all_plays_of_the_roll():
    """As the lists of self-play have them: in the start position with each roll, and after some more turns."""
    game = GAMES["backgammon"]
    session, random = Session(game, seed=5), np.random.default_rng(2)
    for number in range(40):
        state = session.state
        found = game.legal_turns(state)
        expected = game.plays(state)
        after = {tuple(map(tuple, _boards(game, state, turn))) for turn in found}
        wanted = {
            (tuple(a), tuple(b)) for a, b in zip(expected.mover.tolist(), expected.opponent.tolist(), strict=True)
        }
        assert len(session.legal_turns()) == len(found) == max(len(wanted), 1), game.to_string(state)
        assert after == wanted if wanted else found == [(0,)], game.to_string(state)
        session.play(found[random.integers(len(found))])
        if session.over:
            session = Session(game, seed=number)


def _boards(game, state, actions):
    """The checkers after some actions, in plain Python."""
    from jaxgames.envs.backgammon.board import to_plain
    from jaxgames.envs.backgammon.notation import step_of
    from jaxgames.envs.backgammon.turn import Turn

    turn = Turn.start(*to_plain(state._position))
    for action in filter(None, actions):
        turn = turn.step(*step_of(action))
    return turn.mover, turn.opponent


def test_single_checkers_are_taken_back_before_the_turn_is_handed_over():
    session = Session(GAMES["backgammon"], f"{START}:31")
    session.play_action("8/5", hand_over=False)
    assert list(session.legal_turns()) and not session.turn_complete and session.seat == 0
    session.undo_action()
    assert state_text(session) == (f"{START}:31", 0)
    for step in ("6/5", "8/5"):
        session.play_action(step, hand_over=False)
    assert session.turn_complete and session.seat == 0 and session.legal_actions() == []
    with pytest.raises(ValueError, match="finished"):
        session.play_action("24/23")
    session.undo_action()
    assert list(session.legal_turns())  # the three is still to be played
    session.play("8/5")
    assert [turn.text for turn in session.turns] == ["8/5 6/5"] and session.seat == 1
    with pytest.raises(ValueError, match="no action"):
        session.undo_action()


def test_the_larger_die_is_played_where_only_one_can_be():
    mover, opponent = np.zeros(25, int), np.zeros(25, int)
    mover[19], opponent[[25 - 20 + 5 + 1 - 1]] = 1, 0
    opponent[25 - 13 - 1 + 1 - 1] = 2  # holds 13: after either die the other one is blocked
    session = Session(GAMES["backgammon"], make_position(mover, opponent, (6, 1)))
    assert list(session.legal_turns()) == ["20/14"]


def test_jumps_step_by_step_and_as_a_whole():
    text = "B:W18,26,32:B15,1"
    whole, steps = Session(GAMES["checkers"], text), Session(GAMES["checkers"], text)
    assert list(whole.legal_turns()) == ["15x22x31"]
    whole.play("15x31")
    steps.play_action("15x22")
    assert steps.actions and steps.seat == 0 and list(steps.legal_turns()) == ["22x31"]
    steps.play_action("22x31")
    assert state_text(whole) == state_text(steps) and steps.turns[0].text == whole.turns[0].text == "15x22x31"


def test_a_turn_that_is_wrong_changes_nothing():
    session = Session(GAMES["backgammon"], f"{START}:31")
    for wrong, message in (
        ("8/5", "must be"),
        ("8/4 6/3", "cannot be"),
        ("nonsense", "understood"),
        ([96, 1], "legal"),
        ([110], "whole"),
    ):
        with pytest.raises(ValueError, match=message):
            session.play(wrong)
        assert state_text(session) == (f"{START}:31", 0) and session.actions == ()
    for neither in (3, np.int32(3), None, {96: 0}, {96}):
        with pytest.raises(TypeError, match="^turn .*: expected a text such as '4', or actions such as"):
            session.play(neither)
    for wrong in ([96.0, 110], ["96", 110], [True], np.array([96.5])):
        with pytest.raises((TypeError, ValueError), match="^action .*: expected a whole number$"):
            session.play(wrong)
    for wrong in (96.0, True, None, [96]):
        with pytest.raises((TypeError, ValueError), match="^action .*: expected a whole number$"):
            session.play_action(wrong)
    assert state_text(session) == (f"{START}:31", 0) and session.actions == ()
    with pytest.raises(ValueError, match="no position|position id"):
        Session(GAMES["backgammon"], "nonsense")


def test_chance_is_given_or_drawn_the_same_again():
    session = Session(GAMES["backgammon"], START, rolls=False)
    assert session.awaits_chance and session.legal_turns() == {} and session.legal_actions() == []
    with pytest.raises(ValueError, match="roll first"):
        session.play("8/5 6/5")
    for wrong in ("7 1", "3", ""):
        with pytest.raises(ValueError, match="no roll"):
            session.roll(wrong)
    assert session.roll("1-3") == "31"
    session.play("8/5 6/5")
    assert session.awaits_chance and session.roll("66") == "66"
    assert session.turns[0].chance == "31"
    one, other, third = (Session(GAMES["backgammon"], START, seed=seed) for seed in (7, 7, 8))
    rolls = []
    for game in (one, other, third):
        rolls.append([game.play(next(iter(game.legal_turns()))).chance for _ in range(6)])
    assert rolls[0] == rolls[1] != rolls[2] and all(rolls[0])
    before = state_text(one)
    one.undo(), one.play(one.turns and next(iter(one.legal_turns())))
    assert state_text(one) == before


def test_chance_of_a_record_comes_again():
    """It was given, so the session's own seed would draw another."""
    played = Session(GAMES["backgammon"], START, seed=1)
    for _ in range(4):
        played.play(next(iter(played.legal_turns())))
    record = played.record()
    session = Session.replay(record, seed=5, chance="31")
    now = state_text(session)
    for turns in (3, 1):
        session.undo_to(turns)
        session.redo()
        assert len(session.turns) == turns + 1
        assert session.chance == (*(turn.chance for turn in record.turns), "31")[turns + 1]
        while session.undone:
            session.redo()
        assert (session.chance, state_text(session), session.record()) == ("31", now, record)
    session = Session.replay(record, seed=5, chance="31")
    session.rolls = False
    session.play(next(iter(session.legal_turns())))
    session.undo(), session.redo()
    assert session.awaits_chance and session.chance == ""


def test_seats_points_and_players_that_there_are_not():
    session = Session(GAMES["backgammon"])
    for arguments, message in (
        ({"seat": 5}, "seat 5: expected a whole number from 0 to 1"),
        ({"points": 1.5}, "points 1.5: expected a whole number"),
        ({"points": 4}, "is worth 1 to 3 points, not 4"),
    ):
        with pytest.raises(ValueError, match=message):
            session.resign(**arguments)
    assert not session.over and session.resign(np.int32(1), np.int32(2)) == (2.0, "resigned")
    for seats in (("random",), ("random",) * 3, "random"):
        with pytest.raises(ValueError, match="^players .*: expected two, such as"):
            Session(GAMES["tic_tac_toe"], players=seats)


def test_ends_by_the_rules_by_resigning_and_by_agreement():
    session = Session(GAMES["tic_tac_toe"])
    for cell in "14253":
        session.play(cell)
    assert session.end == (1.0, "") and session.legal_turns() == {}
    with pytest.raises(ValueError, match="over"):
        session.resign()
    session.undo()
    assert not session.over and session.seat == 0
    assert session.resign() == (-1.0, "resigned")
    session.undo()
    assert session.agree_draw() == (0.0, "draw agreed") and session.over
    session.undo()
    assert session.resign(seat=1).points == 1.0
    backgammon = Session(GAMES["backgammon"])
    with pytest.raises(ValueError, match="1 to 3 points, not 4"):
        backgammon.resign(points=4)
    assert backgammon.resign(points=2).points == -2.0


@pytest.mark.parametrize("seed", range(3))
def test_players_play_to_the_end_of_backgammon(seed):
    """Whoever bears off last: with the last of the dice, or with dice left."""
    game = GAMES["backgammon"]
    random, few = players.make("random", game), [1, 1, 1] + [0] * 22
    session = Session(game, make_position(few, few, (2, 1)), seed=seed, players=(random, random))
    while not session.over:
        session.play_on()
    assert session.end.reason == "" and abs(session.end.points) == 1


def test_points_are_those_of_seat_0():
    three, one = np.zeros(25, int), np.zeros(25, int)
    three[0], one[0] = 3, 1
    session = Session(GAMES["backgammon"], make_position(three, one, (2, 1)), rolls=False)
    session.play("1/off(2)")
    assert session.end is None and session.seat == 1
    session.roll("11")
    assert session.play("1/off").seat == 1 and session.end == (-1.0, "")


def test_a_start_in_which_the_other_colour_moves():
    session = Session(GAMES["connect_four"], "445")
    assert session.seat == 0
    session.play("5")
    assert session.seat == 1 and session.record().start == session.game.to_string(session.start)
    session = Session(GAMES["checkers"], "W:W18:B9,1")
    session.play("18-15")
    assert session.seat == 1


@pytest.mark.parametrize(
    ("name", "spec", "start", "turn"),
    [
        ("tic_tac_toe", "alphabeta:9", "XX./OO./...", "3"),
        ("connect_four", "alphabeta:3", "112233", "4"),
        ("checkers", "alphabeta:3", "B:W18,26,32:B15,1", "15x22x31"),
        ("backgammon", "pubeval", f"{START}:31", "8/5 6/5"),
    ],
)
def test_players_suggest_whole_turns(name, spec, start, turn):
    game = GAMES[name]
    session = Session(game, start, players=(players.make(spec, game), None))
    assert game.turn_to_string(session.state, session.suggest()) == turn
    assert session.play_on().text == turn
    if not session.over:
        assert session.player is None
        with pytest.raises(ValueError, match="person"):
            session.play_on()


def test_players_go_on_with_a_turn_that_a_person_began():
    game = GAMES["backgammon"]
    session = Session(game, f"{START}:31")
    session.play_action("6/5")
    assert game.turn_to_string(session.state, session.suggest(players.make("pubeval", game))) == "8/5"
    other = players.make("random", GAMES["checkers"])
    for wrong in (lambda: Session(game, players=(other, None)), lambda: session.suggest(other)):
        with pytest.raises(ValueError, match="^random plays checkers, the game is backgammon"):
            wrong()
    for wrong in (lambda: Session(game, players=(None, 3)), lambda: session.suggest(3)):
        with pytest.raises(TypeError, match="^player 3: expected a player or its name"):
            wrong()
    with pytest.raises(ValueError, match="^random plays Checkers.*draw_after=100.*, the game is Checkers.*after=9"):
        Session(jaxgames.make("checkers", draw_after=9), players=(other, None))
    assert session.suggest("pubeval") == session.suggest(players.make("pubeval", game))


def test_a_session_begins_with_a_state_of_its_game():
    small = jaxgames.make("connect_four", rows=5)
    state = GAMES["connect_four"].from_string("44")
    assert state_text(Session(GAMES["connect_four"], state)) == ("44", 0)
    for game, of in (
        (small, r"ConnectFour\(rows=6.*ConnectFour\(rows=5"),
        (GAMES["checkers"], "connect_four.*checkers"),
    ):
        with pytest.raises(ValueError, match=f"^this state is of {of}"):
            Session(game, state)
    with pytest.raises(ValueError, match="^one state is needed here, not a batch of 2"):
        Session(GAMES["connect_four"], jax.tree.map(lambda leaf: np.stack([leaf, leaf]), state))


def test_all_actions_of_a_turn_are_played():
    """Of states outside of jitted code: none is left out, and chance does not act after the last one."""
    game = GAMES["backgammon"]
    state = game.from_string("4HPwATDgc/ABMA:11")
    turn = max(game.legal_turns(state), key=len)
    assert len(turn) > 1
    expected, apply = state, jax.jit(game.apply)
    for action in turn:
        assert bool(expected.legal_action_mask[action])
        expected = apply(expected, jnp.int32(action))
    found = after_actions(state, turn)
    assert all(map(np.array_equal, *map(jax.tree.leaves, (found, expected))))
    assert all(isinstance(leaf, np.ndarray | np.generic) for leaf in jax.tree.leaves(found))
    assert after_actions(state, ()) is state


def test_a_game_that_is_stopped_within_a_jump():
    """The half turn has no name and is in no record; the record is the same after a replay."""
    game = jaxgames.make("checkers", max_moves=1)
    start = "B:W14,19,21,22,24,26,27,28,29,31,32:B1,2,3,4,5,6,7,8,11,16"
    for play in (lambda session: session.play("16x23x30"), lambda session: session.play_action(60)):
        session = Session(game, start)
        play(session)
        assert session.over and session.end.reason == "too many moves" and session.turns[-1].actions == (60,)
        record = session.record()
        assert record.turns == () and record.points == 0 and Session.replay(record).record() == record
        session.undo()
        assert not session.over and list(session.legal_turns()) == ["16x23x30"]
        session.redo()
        assert session.over


def test_a_game_of_one_point_says_so():
    with pytest.raises(ValueError, match="is worth 1 point, not 2"):
        Session(GAMES["checkers"]).resign(points=2)


class Pot(NamedTuple):
    """What both have, what the one to act has thrown, and the die: 0 before the first throw, -1 to be thrown."""

    own: Int32[Array, "..."]
    other: Int32[Array, "..."]
    thrown: Int32[Array, "..."]
    die: Int32[Array, "..."]


@dataclasses.dataclass(frozen=True)
class Pig(Game[Pot]):
    """Throw (1) as often as you dare, a 1 loses what was thrown; keep it (0). Who has 12 wins. Without any texts."""

    id: ClassVar[str] = "pig"
    num_actions: ClassVar[int] = 2
    observation_shape: ClassVar[tuple[int, ...]] = (4,)
    outcome_probabilities: ClassVar[tuple[float, ...]] = (1 / 6,) * 6

    def init_position(self, key):
        return Pot(*(jnp.int32(0) for _ in range(4)))

    def legal(self, position):
        return jnp.stack([position.die > 0, position.die != 1])

    def play(self, position, action):
        own = position.own + position.thrown
        kept, thrown = Pot(position.other, own, jnp.int32(0), jnp.int32(0)), position._replace(die=jnp.int32(-1))
        over = (action == 0) & (own >= 12)
        after = jax.tree.map(lambda x, y: jnp.where(action == 0, x, y), kept, thrown)
        return Outcome(after, action == 0, over, over.astype(jnp.float32))

    def chance(self, position, outcome):
        awaits, die = position.die < 0, outcome + 1
        thrown = jnp.where(die == 1, 0, position.thrown + die)
        return position._replace(
            die=jnp.where(awaits, die, position.die), thrown=jnp.where(awaits, thrown, position.thrown)
        )

    def observe_position(self, position, acting):
        return jnp.stack(position)


def test_a_player_who_acts_again_after_chance_begins_another_turn():
    """And a game without texts is shown by its fields, its actions by their numbers."""
    game = Pig()
    session = Session(game, game.state(game.init_position(jax.random.key(0))), seed=2)
    assert game.board_text(session.state).splitlines() == [".own 0", ".other 0", ".thrown 0", ".die 0"]
    assert session.legal_turns() == {"1": (1,)}
    with pytest.raises(ValueError, match="'0' is no action here; expected one of 1"):
        session.play("0")
    session.seats = [players.make("random", game), None]
    while not session.over:
        session.play_on() if session.player else session.play(min(session.legal_turns()))
    assert {turn.seat for turn in session.turns} == {0, 1} and all(len(turn.actions) == 1 for turn in session.turns)
    assert any(one.seat == other.seat for one, other in itertools.pairwise(session.turns))
