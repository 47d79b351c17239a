"""Round robins: all pairs from few programs, ratings, records of every game that the rules confirm, times."""

import dataclasses
from importlib import import_module
from types import SimpleNamespace

import jax
import numpy as np
import pytest

import jaxgames
from jaxgames import players, records
from jaxgames.matches import match
from jaxgames.matches.game_log import GameLog
from jaxgames.matches.match import _play_plies
from jaxgames.matches.tournament import SCALE, bradley_terry, sample_positions, swap, time_per_move, tournament
from jaxgames.players import Player, generic
from jaxgames.players.host import HostTurn, take_forfeits
from jaxgames.sessions.session import Session
from tests.players.dash import GAME, Dash, Lead

LEADS = [players.greedy(GAME, f"lead {step}", np.float32(step), Lead().value) for step in (-0.1, 0.1, 0.3)]
POOL = [LEADS[0], generic.random(GAME), *LEADS[1:]]


@pytest.fixture(scope="module")
def result():
    told = []
    found = tournament(POOL, 40, seed=5, batch=16, finished=lambda *x: told.append(x))
    return found, told


def test_every_pair_is_a_match(result):
    found, told = result
    assert list(found.matches) == [(a, b) for a in range(4) for b in range(a + 1, 4)]
    assert [pair for pair, _, _ in told] == list(found.matches)
    for number, ((a, b), one) in enumerate(found.matches.items()):
        again = match(POOL[a], POOL[b], 40, 5 + 1_000_003 * number, 16)
        assert (one.a, one.b, one.ppg, one.win_rate) == (POOL[a].name, POOL[b].name, again.ppg, again.win_rate)
    table, margins, wins = found.table(), found.margins, found.wins
    np.testing.assert_allclose(table, -table.T)
    assert np.isnan(np.diagonal(table)).all() and table[0, 2] == found.matches[0, 2].ppg
    np.testing.assert_allclose(margins, margins.T)
    assert margins[0, 1] == pytest.approx((found.matches[0, 1].ppg_high - found.matches[0, 1].ppg_low) / 2)
    assert (wins + wins.T == 40 * (1 - np.eye(4))).all() and wins[0, 1] == 40 * found.matches[0, 1].win_rate


def test_players_of_one_kind_share_programs(result):
    """Random and three of one kind: three kinds of pairs, one compiled program each, whatever their order."""
    del result
    before = _play_plies._cache_size()
    more = [players.greedy(GAME, f"other {step}", np.float32(step), Lead().value) for step in (0.2, 0.4)]
    tournament([more[0], POOL[1], more[1]], 40, seed=1, batch=16)
    assert _play_plies._cache_size() == before


def test_known_matches_are_not_played_again(result):
    found, _ = result
    told, known = [], {pair: found.matches[pair] for pair in [(0, 1), (1, 3)]}
    again = tournament(POOL, 40, 5, 16, known=known, finished=lambda *x: told.append(x[0]))
    assert told == [(0, 2), (0, 3), (1, 2), (2, 3)]
    assert np.nan_to_num(again.table()).tolist() == np.nan_to_num(found.table()).tolist()


def test_a_match_seen_from_the_other_side():
    one, other = match(POOL[0], POOL[2], 40, seed=3), match(POOL[2], POOL[0], 40, seed=3)
    for name in ("a", "b", "ppg", "ppg_low", "ppg_high", "win_rate", "gammon_rate", "gammon_loss_rate", "loss_rate"):
        assert getattr(swap(one), name) == getattr(other, name), name


def test_ratings_of_known_strengths():
    """From the exact expectation of games the strengths come back; intervals hold 95 of 100 drawn tournaments."""
    strength = np.array([0.0, 0.5, -0.8, 1.5])
    chance = 1 / (1 + np.exp(strength[None, :] - strength[:, None]))
    names, games = list("abcd"), 400
    found = bradley_terry(names, games * chance * (1 - np.eye(4)), prior=1e-9)
    np.testing.assert_allclose([one.elo for one in found], SCALE * (strength - strength.mean()), atol=1e-3)
    random, inside = np.random.default_rng(0), []
    for _ in range(300):
        drawn = np.triu(random.binomial(games, chance), 1)
        drawn = drawn + np.tril((games - drawn).T, -1)
        for one, true in zip(bradley_terry(names, drawn), SCALE * (strength - strength.mean()), strict=True):
            inside.append(one.low <= true <= one.high)
    assert 0.93 < np.mean(inside) < 0.97
    lost = bradley_terry(["a", "b"], np.array([[0, 10], [0, 0]]))
    assert lost[0].elo == -lost[1].elo and 100 < lost[0].elo < 1000 and np.isfinite(lost[0].high)
    with pytest.raises(ValueError, match="2 x 2"):
        bradley_terry(["a", "b"], np.ones((2, 2)))


@pytest.mark.parametrize(
    ("name", "options", "form"),
    [
        ("tic_tac_toe", {}, "txt"),
        ("checkers", {"draw_after": 12}, "pdn"),
        pytest.param("backgammon", {}, "sgf", marks=pytest.mark.slow),  # its programs take 20 seconds to compile
    ],
)
def test_every_game_is_recorded_and_replayed_under_the_rules(name, options, form, tmp_path, monkeypatch):
    monkeypatch.setattr(
        import_module("jaxgames.matches.tournament"), "_times_per_move", lambda players, seed: (1.0, 1.0)
    )
    random = generic.random(jaxgames.make(name, **options))
    pool = [random, dataclasses.replace(random, name="other")]
    kept = []
    found = tournament(pool, 6, seed=2, batch=8, finished=lambda *x: kept.extend(x[2]), record=True)
    assert len(kept) == 6
    points = []
    for number, record in enumerate(kept):
        first = number % 2 == 0
        assert record.players == (("random", "other") if first else ("other", "random"))
        assert Session.replay(record).end.points == record.points
        points.append(record.points if first else -record.points)
    assert np.mean(points) == pytest.approx(found.matches[0, 1].ppg)
    assert sum(len(record.turns) for record in kept) <= 6 * found.matches[0, 1].plies_per_game + 1e-6
    path = tmp_path / f"games.{form}"
    records.save(path, kept)
    read = records.load(path)
    assert [(one.turns[1:], one.points, one.players) for one in read] == [
        (one.turns[1:], one.points, one.players) for one in kept
    ]


class NamedDash(Dash):
    """With names for positions and actions."""

    def unparse(self, position):
        return f"{int(position.own)} {int(position.other)} {int(position.roll)}"

    def action_to_string(self, state, action):
        return "abc"[action]


def test_rolls_are_recorded_and_turns_of_one_player_in_a_row():
    game, kept, in_a_row, checked = NamedDash(), [], 0, 0
    pool = [Player(name, game, generic.random(game).turn) for name in ("one", "other")]
    pool[1] = players.greedy(game, "other", np.float32(0.1), Lead().value)
    log = GameLog(*pool)
    result = match(*pool, 12, seed=4, batch=8, trace=log.add)
    for number, record in enumerate(log.records()):
        own, other, roll = map(int, record.start.split())
        togo, mover, points, sure = [own, other], 0, None, True
        for turn in record.turns:
            assert bool(turn.chance) == (turn is not record.turns[0]) and (points is None or not sure)
            roll = int(turn.chance or roll)
            # Level after one step, actions 1 and 2 lead to positions that look the same, to different players.
            sure = sure and not (roll == 3 and turn.text != "a" and togo[mover] - 1 == togo[1 - mover])
            togo[mover] -= roll if turn.text == "a" else 1
            if togo[mover] <= 0:
                points = (2 if togo[1 - mover] >= 4 else 1) * (-1 if mover else 1)
            in_a_row += turn.text == "c"
            mover ^= turn.text != "c"
        assert record.players == (("one", "other"), ("other", "one"))[number % 2]
        assert record.points == points or not sure
        checked += sure
        kept.append(record.points if number % 2 == 0 else -record.points)
    assert len(kept) == 12 and checked >= 6 and in_a_row and np.mean(kept) == pytest.approx(result.ppg) != 0


def test_time_per_move_is_that_of_one_position():
    positions = sample_positions(GAME, count=8)
    assert len(positions.own) == 8 and (positions.roll > 0).all()
    assert 0 < time_per_move(POOL[0], positions) < 1
    learns = players.make("lgr:2,keep=1", "tic_tac_toe")  # remembers something over a game
    assert 0 < time_per_move(learns, sample_positions(learns.game, count=8)) < 1


def test_the_time_of_a_move_where_all_games_end_at_once():
    game = jaxgames.make("connect_four", rows=2, cols=2, connect=3)
    positions = sample_positions(game, count=8)
    openings = jax.vmap(game.init_position)(jax.random.split(jax.random.key(0), 8))
    jax.tree.map(np.testing.assert_array_equal, positions, openings)


def test_forfeits_of_timing_are_no_later_game_s():
    player = Player("mine", GAME, HostTurn(GAME, lambda state: 1 // 0, "mine"))
    time_per_move(player, sample_positions(GAME, count=1))
    assert take_forfeits(player) == []


def test_what_makes_no_tournament():
    for pool, message in (
        (POOL[:1], "2 or more"),
        ([POOL[0], POOL[0]], "2 times"),
        ([POOL[0], players.make("random", jaxgames.make("tic_tac_toe"))], "one game"),
    ):
        with pytest.raises(ValueError, match=message):
            tournament(pool, 2)


def test_draws_are_half_a_win(result):
    found, _ = result
    drawn = dataclasses.replace(found.matches[0, 1], win_rate=0.5, loss_rate=0.2)
    wins = dataclasses.replace(found, matches={**found.matches, (0, 1): drawn}).wins
    assert (wins[0, 1], wins[1, 0]) == pytest.approx((40 * 0.65, 40 * 0.35))


def test_the_time_of_a_move_is_the_best_of_three_and_of_one_position(monkeypatch):
    module, ticks = import_module("jaxgames.matches.tournament"), iter((0, 100, 100, 108, 200, 204, 300, 316))
    monkeypatch.setattr(module, "time", SimpleNamespace(perf_counter=lambda: next(ticks)))
    monkeypatch.setattr(module, "_play_once", lambda player, positions, bits: None)
    assert time_per_move(POOL[1], np.zeros(2)) == 4 / 2
    monkeypatch.setattr(module, "time_per_move", lambda player, positions: 0.25)
    assert module._times_per_move([POOL[1]], 0) == (250,)
