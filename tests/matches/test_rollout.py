"""Rollouts against exact bear-offs: with the exact values nothing is left to chance, with others little."""

import dataclasses
import json
from importlib import import_module

import jax
import jax.numpy as jnp
import numpy as np
import pytest

from jaxgames.cli import main
from jaxgames.envs.backgammon import make_position
from jaxgames.envs.backgammon.game import Backgammon
from jaxgames.envs.checkers.game import Checkers
from jaxgames.matches.rollout import rollout
from jaxgames.players import make
from jaxgames.players.generic import greedy
from jaxgames.tables.bearoff import BearOffs, two_sided
from jaxgames.tables.lookup import BearOffLookup

module = import_module("jaxgames.matches.rollout")
GAME = Backgammon()
CHECKERS = Checkers()
TWO = jax.tree.map(lambda leaf: np.stack([leaf, leaf]), GAME.from_string("4HPwATDgc/ABMA:31"))
LOOKUP = BearOffLookup(BearOffs(points=3, checkers=3))
TRIALS = 500


@dataclasses.dataclass(frozen=True)
class Warped:
    """Values that have the right order but not the right size, unless `warp` is 0."""

    def value(self, params):
        scores, warp = params

        def worth(positions):
            exact = LOOKUP.worth(scores, positions)
            return exact + warp * 0.4 * (exact**3 - exact)

        return worth


@pytest.fixture(scope="module")
def table():
    return two_sided(LOOKUP.offs)


@pytest.fixture(scope="module")
def player_of(table):
    def make_player(warp):
        return greedy(GAME, "warped", (LOOKUP.scores(table), jnp.float32(warp)), Warped().value)

    return make_player


def waiting(own, other):
    """The state before the roll, and the numbers of both sides in the table."""
    padded = [[*side, *[0] * (25 - len(side))] for side in (own, other)]
    state = make_position(*padded, (2, 1))
    state = state.replace(_position=state._position._replace(dice=jnp.uint32(0)))
    return state, [int(jax.jit(LOOKUP.offs.number)(np.int32(side))) for side in padded]


def test_exact_values_leave_no_luck(table, player_of):
    state, (own, other) = waiting([1, 1, 1], [2, 0, 1])
    exact = 2 * table[own, other] - 1
    found = rollout(player_of(0), state, TRIALS)
    assert found.equity == pytest.approx(exact, abs=1e-5)
    assert found.standard_error < 1e-6 and found.variance_factor is None
    assert abs(found.plain_equity - exact) < 4 * found.plain_standard_error and found.plain_standard_error > 0.02
    assert found.win_rate == pytest.approx((1 + found.plain_equity) / 2)
    assert found.truncated == found.gammon_rate == 0 and found.trials == TRIALS


def test_numbers_may_be_numpy_s(player_of):
    state, _ = waiting([1, 1, 1], [2, 0, 1])
    found = rollout(player_of(0), state, np.int64(TRIALS), np.int64(1), np.int64(2))
    assert found == rollout(player_of(0), state, TRIALS, 1, 2) and json.loads(json.dumps(found.to_dict()))["seed"] == 1


def test_each_batch_has_dice_of_its_own(player_of, monkeypatch):
    asked = []
    monkeypatch.setattr(module, "BATCH", 2)
    monkeypatch.setattr(module, "_play", lambda player, position, key, *_: asked.append(key) or [np.zeros(2)] * 4)
    rollout(player_of(0), waiting([1, 1, 1], [2, 0, 1])[0], 6)
    assert len({jax.random.key_data(key).tobytes() for key in asked}) == len(asked) == 3


def test_luck_by_other_values_is_subtracted_too(table, player_of):
    state, (own, other) = waiting([0, 1, 2], [1, 1, 1])
    exact = 2 * table[own, other] - 1
    found = rollout(player_of(1), state, TRIALS, seed=1)
    assert 0 < found.standard_error < found.plain_standard_error / 1.4
    assert abs(found.equity - exact) < 4 * found.standard_error
    assert found.variance_factor == pytest.approx((found.plain_standard_error / found.standard_error) ** 2)
    assert rollout(player_of(1), state, TRIALS, seed=2).equity != found.equity


def test_truncated_games_count_as_the_players_value(table, player_of):
    state, (own, other) = waiting([0, 0, 3], [0, 0, 3])
    found = rollout(player_of(0), state, TRIALS, truncate=2)
    assert found.equity == pytest.approx(2 * table[own, other] - 1, abs=1e-5)
    assert found.truncated > 0.5 and found.plies <= 2


def test_a_roll_is_played_first(table, player_of):
    state, (_, other) = waiting([0, 1, 1], [0, 2, 0])
    rolled = make_position([0, 1, 1, *[0] * 22], [0, 2, *[0] * 23], (2, 1))
    found = rollout(player_of(0), rolled, TRIALS)
    numbers = [waiting(own, [1])[1][0] for own in ([0, 1], [2])]  # 3/2 2/off, or 3/1 2/1
    assert found.equity == pytest.approx(max(1 - 2 * table[other, number] for number in numbers), abs=1e-5)
    found = rollout(player_of(0), rolled, TRIALS, truncate=1)
    assert (found.plies, found.truncated, found.standard_error) == (1, 1, 0)
    assert found.equity == pytest.approx(max(1 - 2 * table[other, number] for number in numbers), abs=1e-5)
    assert 1 < rollout(player_of(0), rolled, TRIALS, truncate=2).plies <= 2
    won = make_position([1, *[0] * 24], [0, 2, *[0] * 23], (2, 1))
    found = rollout(player_of(0), won, TRIALS)
    assert (found.equity, found.standard_error, found.win_rate) == (1, 0, 1)


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"trials": 1}, "trials 1: expected a number from 2"),
        ({"trials": 2.5}, "trials 2.5: expected a whole number"),
        ({"truncate": True}, "truncate True: expected a whole number"),
        ({"truncate": 0}, "truncate 0: expected a number of plies from 1"),
        ({"player": make("pubeval", GAME)}, "pubeval does not value positions; roll out with a run or champion@1"),
        ({"player": "pubeval"}, "player 'pubeval': expected a Player"),
        ({"state": "4HPwATDgc/ABMA:31"}, "'4HPwATDgc/ABMA:31': expected what game.init(key) returns"),
        ({"state": CHECKERS.from_string("B:W30:B1")}, "this state is of checkers, this game is backgammon"),
        ({"state": TWO}, "one state is needed here, not a batch of 2"),
    ],
)
def test_what_makes_no_sense(player_of, changes, message):
    state, _ = waiting([1], [1])
    with pytest.raises((TypeError, ValueError)) as error:
        rollout(**{"player": player_of(0), "state": state, "trials": TRIALS, **changes})
    assert message in str(error.value) and "\n" not in str(error.value)


def test_states_that_are_over(player_of):
    state, _ = waiting([1], [1])
    with pytest.raises(ValueError, match="the game is over there"):
        rollout(player_of(0), state.replace(terminated=jnp.bool_(True)), TRIALS)


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["4HPwATDgc"], "jaxgames: "),
        (["4HPwATDgc/ABMA", "--player", "pubeval"], "pubeval does not value positions"),
        (["4HPwATDgc/ABMA", "--trials", "0"], "trials 0: expected"),
        (["4HPwATDgc/ABMA", "--game", "checkers"], "jaxgames: "),
    ],
)
def test_bad_input_gets_one_line(capsys, arguments, message):
    assert main(["rollout", *arguments]) == 2
    found = capsys.readouterr().err
    assert message in found and found.count("\n") == 1


def test_the_command(capsys, monkeypatch, player_of, tmp_path):
    state, _ = waiting([1, 1, 1], [2, 0, 1])
    monkeypatch.setattr("jaxgames.players.make", lambda spec, game: player_of(0))
    text = GAME.to_string(state)
    (tmp_path / "positions.txt").write_text(f"{text}\n{text}\n")
    assert main(["rollout", str(tmp_path / "positions.txt"), "--trials", str(TRIALS), "--json"]) == 0
    found = json.loads(capsys.readouterr().out)["rollouts"]
    assert len(found) == 2 and found[0] == found[1]
    assert found[0] == rollout(player_of(0), state, TRIALS).to_dict()
    assert main(["rollout", text, "--trials", str(TRIALS)]) == 0
    assert f"{found[0]['equity']:+9.4f}" in capsys.readouterr().out
    shares = []
    for truncate in ("1", "900"):  # the second one stops no game
        assert main(["rollout", text, "--trials", str(TRIALS), "--truncate", truncate]) == 0
        shares.append("%" in capsys.readouterr().out)
    assert shares == [False, True]


def test_rates_are_shares_of_the_trials(player_of, monkeypatch):
    results = np.float32([3, 2, 1, -1, -2, -2, -3, 2.5]), np.zeros(8), np.arange(8) == 7, np.full(8, 9)
    monkeypatch.setattr(module, "_play", lambda *_: results)  # the last one is truncated
    found = rollout(player_of(0), waiting([1], [1])[0], 8)
    rates = [found.win_rate, found.gammon_rate, found.backgammon_rate]
    losses = [found.gammon_loss_rate, found.backgammon_loss_rate]
    assert [8 * rate for rate in (*rates, *losses, found.truncated)] == [3, 2, 1, 3, 1, 1]
