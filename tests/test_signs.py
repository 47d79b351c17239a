"""Wherever a value changes its owner: the same game with the players exchanged gives exactly the exchanged result."""

import asyncio
import dataclasses
import re
from pathlib import Path
from types import SimpleNamespace

import jax
import jax.numpy as jnp
import numpy as np
import pytest

import jaxgames
from jaxgames import players, records
from jaxgames.algos import alphazero, evolution, mcts, td
from jaxgames.algos.alphazero import self_play
from jaxgames.algos.alphazero.learner import examples_of
from jaxgames.algos.evolution.fitness import SCORES
from jaxgames.algos.td.self_play import Games, play_ply
from jaxgames.cli.terminal import PointsMatch
from jaxgames.matches import match
from jaxgames.matches.knockout import _decide
from jaxgames.nets import MLP, NetworkSpec
from jaxgames.sessions import Session
from jaxgames.web import hints
from jaxgames.web.seats import MatchScore
from tests.matches.test_knockout import Script
from tests.players.dash import GAME as DASH
from tests.players.dash import Lead

GAME = jaxgames.make("tic_tac_toe")
KEYS = jax.random.split(jax.random.key(3), 12)


@jax.jit
def six_plies_later():
    """States after six random actions."""

    def step(states, key):
        return jax.vmap(GAME.step)(states, jaxgames.random_action(key, states)), None

    return jax.lax.scan(step, jax.vmap(GAME.init)(KEYS), KEYS[:6])[0]


STATES = six_plies_later()

ELSEWHERE = {
    "matches": "tests/matches/test_match.py::test_swapped_players_get_the_negated_result",
    "tournaments": "tests/matches/test_tournament.py::test_a_match_seen_from_the_other_side",
    "records of matches": "tests/matches/test_tournament.py::test_every_game_is_recorded_and_replayed_under_the_rules",
    "lines of play": "tests/matches/test_exhaustive.py::test_lines_are_those_followed_one_by_one",
    "rollouts": "tests/matches/test_rollout.py::test_a_roll_is_played_first",
    "bars of the page": "tests/web/test_analysis.py::test_a_page_gets_analyses_of_each_position_for_seat_0",
    "forced wins of alpha-beta": (
        "tests/web/test_analysis.py::test_alpha_beta_counts_forced_wins_in_points_and_material_as_a_share"
    ),
}
"""Tests that exchange the sides already."""


def exchanged(states):
    """The same states with the players' ids exchanged."""
    return states.replace(current_player=1 - states.current_player, rewards=states.rewards[..., ::-1])


def same(one, other):
    """Fails unless two trees are equal."""
    jax.tree.map(np.testing.assert_array_equal, one, other)


@pytest.mark.parametrize("place", ELSEWHERE)
def test_the_other_tests_are_there(place):
    file, name = ELSEWHERE[place].split("::")
    assert re.search(rf"^ *def {name}\b", (Path(__file__).parents[1] / file).read_text("utf-8"), re.MULTILINE)


@pytest.mark.parametrize("action", [0, 4, 9])
def test_rewards_of_a_step(action):
    """Of a legal action, an illegal one and none at all."""
    actions = jnp.full(len(KEYS), action, jnp.int32)
    step = jax.jit(jax.vmap(GAME.step))
    same(step(exchanged(STATES), actions), exchanged(step(STATES, actions)))


def no_network(params, observation):
    """Of a search that is not asked."""
    raise AssertionError


@pytest.mark.parametrize("exact", [False, True])
def test_targets_of_alphazero(exact, monkeypatch):
    """Of the games under way: new ones draw who begins."""

    def first_legal(game, config, evaluate, states, key, fast_key, tree):
        mask = states.legal_action_mask.astype(jnp.float32)
        policy = mask / jnp.sum(mask, axis=1, keepdims=True)
        choice = jnp.argmax(states.legal_action_mask, axis=1).astype(jnp.int32)
        return (policy, jnp.full(len(choice), 0.25), choice, None), jnp.bool_(True)

    monkeypatch.setattr(self_play, "_search", first_legal)
    config = alphazero.AlphaZeroConfig(
        NetworkSpec(hidden=(2,)), batch=12, plies=6, played="choice", opening_plies=0, exact=exact, buffer_plies=12
    )
    begun = STATES.replace(terminated=jnp.zeros(12, bool))
    run = jax.jit(lambda states, key: self_play.play(GAME, config, no_network, (), states, key)[1])
    one, other = jax.device_get((run(begun, KEYS[0]), run(exchanged(begun), KEYS[0])))
    number = jax.jit(jax.vmap(jax.vmap(lambda position: jnp.sum(GAME.legal(position)))))(one.position)
    first = np.cumsum(np.diff(np.asarray(number), axis=0, prepend=99) > 0, axis=0) == 0  # of the first game
    assert first.any() and (np.asarray(one.result)[first] != 0).any()
    same(np.asarray(other.result)[first], -np.asarray(one.result)[first])
    same(np.asarray(other.player)[first], 1 - np.asarray(one.player)[first])
    for share in (1.0, 0.5):
        of = jax.jit(lambda plies, share=share: examples_of(GAME, plies, share))
        targets = [of(jax.tree.map(lambda x: x[first], plies)) for plies in (one, other)]
        assert len(np.unique(targets[0].value)) > 1
        same(*targets)


def test_searches():
    """Finished games, too, where the value is a reward."""
    assert STATES.terminated.any() and not STATES.terminated.all()
    search = jax.jit(lambda states: mcts.search(GAME, states, KEYS[0], 8))
    one, other = search(STATES), search(exchanged(STATES))
    same((one.actions, one.values, one.weights), (other.actions, other.values, other.weights))


def test_a_ply_of_td():
    games = Games(jax.vmap(DASH.init_position)(KEYS), jnp.arange(12, dtype=jnp.int32) % 2)
    ply_of, over = jax.jit(lambda games, key: play_ply(DASH, games, Lead().value(jnp.float32(1)), key)), 0
    for key in KEYS:
        other = games._replace(player=1 - games.player)
        games, ply, _ = ply_of(games, key)
        swapped, seen, _ = ply_of(other, key)
        same((swapped.player, seen.player, seen.result), (1 - games.player, 1 - ply.player, -ply.result))
        over += int(jnp.sum(ply.over & (ply.result != 0), dtype=jnp.int32))
    assert over


@pytest.mark.parametrize("method", ["n_step", "exact", "expected"])
def test_targets_of_td(method):
    """A symmetric network learns the same of a game, whoever is called the first player."""
    more = {"steps": 1, "minibatch": 4, "replay": 64} if method == "expected" else {"lambda_": 0.7}
    learner = td.make_learner(
        td.make_config(
            method, game="tic_tac_toe", encoding="observation", hidden=(3,), outputs=2, batch=4, plies=7, **more
        )
    )
    state, update = learner.init(KEYS[0]), jax.jit(learner.update)
    other = state._replace(games=state.games._replace(player=1 - state.games.player))
    if hasattr(state, "last"):
        other = other._replace(last=state.last._replace(player=1 - state.last.player))
    one, two = update(state, KEYS[1])[0], update(other, KEYS[1])[0]
    jax.tree.map(lambda a, b: np.testing.assert_allclose(a, b, rtol=1e-5, atol=1e-7), one.params, two.params)
    assert any(jax.tree.leaves(jax.tree.map(lambda a, b: bool((a != b).any()), state.params, one.params)))


@pytest.mark.parametrize("cumulative", [False, True])
def test_outcomes_of_td(cumulative):
    outcomes = td.Outcomes(cumulative=cumulative)
    points = jnp.asarray([-2.0, -1.0, 1.0, 2.0])
    same(outcomes.target(-points), outcomes.flip(outcomes.target(points)))
    same(outcomes.expected(outcomes.flip(outcomes.target(points))), -outcomes.expected(outcomes.target(points)))


def test_scores_of_evolution():
    genomes = evolution.Genomes(MLP((9,), biases=False), 9)
    policy = evolution.Outputs(GAME, genomes, "cells")
    numbers = jnp.arange(3, dtype=jnp.int32)
    one, other = (genomes.init(key, numbers) for key in KEYS[:2])
    scores = jax.jit(
        lambda a, b: evolution.ByPlay(policy, evolution.Networks(policy, b), "points").matrix(a, numbers, KEYS[2])
    )
    ours, theirs = scores(one, other), scores(other, one)
    assert np.asarray(ours).any()
    same(ours, -theirs.T)
    results = evolution.Results(jnp.asarray([[1.0, 0.0, -1.0, -2.0]]), jnp.zeros((1, 4), bool), None)
    lost = results._replace(points=-results.points)
    same(SCORES["points"](results), -SCORES["points"](lost))
    same(SCORES["wins"](results) + SCORES["wins"](lost), jnp.ones((1, 4)))


def test_duels():
    run = jax.jit(lambda a, b: evolution.duel(DASH, Lead().value, a, b, KEYS[0], 6))
    one, other = run(jnp.float32(0.1), jnp.float32(-0.1)), run(jnp.float32(-0.1), jnp.float32(0.1))
    begun_by_the_other = np.r_[6:12, 0:6]
    assert np.asarray(one.points).any()
    same((one.points, one.plies), (-other.points[begun_by_the_other], other.plies[begun_by_the_other]))


def test_matches_in_plain_python():
    """As `match` does, and by the same games."""
    fast, slow = (players.greedy(DASH, name, jnp.float32(lead), Lead().value) for name, lead in (("f", 1), ("s", -1)))
    turn = jax.jit(fast.turn)

    class Host:
        """A turn of `fast`, on the host."""

        on_host = True

        def __call__(self, params, positions, bits):
            return jax.device_get(turn(params, positions, bits))

    host = dataclasses.replace(fast, turn=Host())
    one, other, compiled = match(host, slow, 8), match(slow, host, 8), match(fast, slow, 8)
    assert one.ppg == -other.ppg == compiled.ppg != 0
    assert (one.win_rate, one.gammon_rate) == (other.loss_rate, other.gammon_loss_rate)


@pytest.mark.parametrize("points", [((3, 3), (1, 0), (-4, -2)), ((3, 3), (1, 0), (1, 0))])
def test_knock_outs(points):
    """The same games under exchanged names: the same one goes on."""
    one = _decide(Script(*points), (7, 8), 6)
    assert one.winner == (8 if one.points < 0 else 7)
    other = _decide(Script(*((-a, -b) for a, b in points)), (8, 7), 6)
    assert (other.a, other.b, other.games, other.points, other.winner) == (8, 7, one.games, -one.points, one.winner)


def test_games_of_people():
    start = jax.tree.map(np.asarray, GAME.from_string(".../.../..."))
    for state in (start, GAME.from_string(".../.../...", current_player=1)):
        session = Session(GAME, state)
        for turn in "14253":
            session.play(turn)
        assert session.end.points == 1 and session.record().points == 1
    for seat in (0, 1):
        assert Session(GAME).resign(seat).points == (-1, 1)[seat]
    scores = []
    for first in (0, 1):
        series = PointsMatch(("a", "b"), (None, None), 5)
        series.first = first
        series.count(session)
        scores.append(series.score)
    assert scores == [[1.0, 0.0], [0.0, 1.0]]


@pytest.mark.parametrize("form", records.FORMATS)
def test_records(form):
    """Of games that were given up, by either seat."""
    of = (records.FORMATS[form].games or ("tic_tac_toe",))[-1]
    points = []
    for seat in (0, 1):
        session = Session(jaxgames.make(of), seed=1)
        session.resign(seat)
        points.append(records.loads(records.dumps([session.record(("a", "b"))], form), form)[0].points)
    assert points == [-1, 1]


@pytest.mark.parametrize("seat", [0, 1])
def test_bars_of_the_page(seat, monkeypatch):
    """A value is that of the player to act; a bar is that of seat 0, an answer that of who asks."""
    room = SimpleNamespace(values={}, over=False, session=SimpleNamespace(turns=[], turn_start=None))
    room.acting = lambda state: seat
    finding = SimpleNamespace(value=0.5)
    hints._note(room, 0, seat, finding)
    assert room.values == {0: (0.5, -0.5)[seat]}

    async def found(room, lane, state):
        return finding

    monkeypatch.setattr(hints, "_first", found)
    monkeypatch.setattr(hints, "has_values", lambda player: True)
    lane = SimpleNamespace(player=None)
    assert [asyncio.run(hints.value_for(room, lane, asked)) for asked in (seat, 1 - seat)] == [0.5, -0.5]
    room.over, room.points = True, lambda: (2.0, -2.0)
    hints._note(room, 0, seat, SimpleNamespace(value=None))
    assert room.values == {0: 2.0}


@pytest.mark.parametrize("points", [[2, -2], [-1, 1], [0, 0]])
def test_games_in_a_row(points):
    """The score is that of players: a game after the seats were exchanged counts as the exchanged game before."""
    before, after = MatchScore(5), MatchScore(5)
    before.add(points)
    after.swapped = True
    after.add(points[::-1])
    assert before.shown() == {**after.shown(), "swapped": False}
    assert before.points == [max(one, 0) for one in points] and before.draws == (points == [0, 0])
    assert before.wins == [one > 0 for one in points]
