"""Our games in the loops of PettingZoo and Gymnasium, by their own conformance tests."""

import dataclasses
import warnings
from typing import Any, ClassVar, NamedTuple

import jax
import jax.numpy as jnp
import numpy as np
import pytest

import jaxgames
from jaxgames.envs import Game, Outcome
from jaxgames.interop import gymnasium as single
from jaxgames.interop import pettingzoo as pair
from jaxgames.ops.pytrees import select
from jaxgames.players.host import HostTurn
from jaxgames.players.player import Player

GAMES = ("tic_tac_toe", "connect_four", "checkers", "backgammon")


# Advice: masks of the agent that waits are zeros, and observations with masks are dictionaries, as in its own games.
@pytest.mark.filterwarnings("ignore:Observation:UserWarning")
@pytest.mark.parametrize("name", GAMES)
def test_pettingzoo_api(name, capsys):
    from pettingzoo.test import api_test, seed_test

    api_test(pair.env(name), num_cycles=60)
    if name == "backgammon":
        seed_test(lambda: pair.env(name), num_cycles=40)


def test_pettingzoo_game():
    env = pair.env("connect_four", render_mode="ansi")
    env.reset(seed=3)
    first = env.agent_selection
    for column in (0, 1, 0, 1, 0, 1, 0):
        seen, reward, over, _, _ = env.last()
        assert reward == 0 and not over and seen["action_mask"].all()
        (waits,) = set(env.agents) - {env.agent_selection}
        assert not env.observe(waits)["action_mask"].any()
        env.step(column)
    assert sorted(env.render()) == list("1111222") and env.rewards[first] == 1 and sum(env.rewards.values()) == 0
    assert all(env.terminations.values())
    seen = env.observe(first)["observation"]
    assert seen.dtype == np.int8 and seen[:, 0, 0].sum() == 4 and seen[:, 1, 1].sum() == 3
    env.reset(seed=3)
    assert env.agent_selection == first
    env.step(0)
    for _ in range(5):
        env.step(0)
    env.step(0)  # the column is full
    assert env.rewards[first] == -1


@pytest.mark.parametrize("name", ("connect_four", "backgammon"))
def test_gymnasium_checks(name):
    from gymnasium.utils.env_checker import check_env

    env = single.env(name)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # advice about spaces and vectors of environments
        check_env(env, skip_render_check=False)
    assert env.reset(seed=0)[0].flags.writeable


@pytest.mark.parametrize("seat", [None, "first", "second"])
def test_gymnasium_game(seat):
    env = single.env("tic_tac_toe", "champion", seat=seat, render_mode="ansi")
    random, rewards, began = np.random.default_rng(0), [], set()
    for number in range(12):
        seen, info = env.reset(seed=number)
        stones = int(seen.sum())
        began.add("second" if stones else "first")
        over = False
        while not over:
            assert info["action_mask"].dtype == np.int8 and (info["action_mask"] == env.action_masks()).all()
            action = random.choice(np.flatnonzero(info["action_mask"]))
            seen, reward, over, truncated, info = env.step(action)
            assert not truncated and (reward == 0 or over)
        rewards.append(reward)
        assert env.step(0)[1] == 0  # nothing follows
    assert began == ({"first", "second"} if seat is None else {seat})
    assert max(rewards) <= 0 and min(rewards) == -1  # the champion never loses


def test_illegal_actions_lose():
    env = single.env("tic_tac_toe", seat="first")
    env.reset(seed=0)
    env.step(4)
    _, reward, over, _, _ = env.step(4)
    assert reward == -1 and over


def test_floats_are_no_actions():
    one, two = single.env("tic_tac_toe", seat="first"), pair.env("tic_tac_toe")
    for env in (one, two):
        env.reset(seed=0)
        with pytest.raises(ValueError, match="^action 3.7: expected a whole number$"):
            env.step(3.7)
    assert not two.observe(two.agent_selection)["observation"].any() and one.action_masks().all()


def test_opponents_in_plain_python():
    game = jaxgames.make("tic_tac_toe")
    player = Player("mine", game, HostTurn(game, lambda state: int(np.argmax(state.legal_action_mask)), "mine"))
    env = single.env(game, player, seat="second")
    seen, _ = env.reset(seed=0)
    assert seen[0, 0, 1] == 1 and seen.sum() == 1


class Two(NamedTuple):
    """What both have said in their last turn, the one to act first; 1 and the first word of the present turn, or 0."""

    own: Any
    other: Any
    begun: Any


@dataclasses.dataclass(frozen=True)
class Words(Game[Two]):
    """Each says two words, 0 or 1, in a turn."""

    id: ClassVar[str] = "words"
    num_actions: ClassVar[int] = 2
    observation_shape: ClassVar[tuple[int, ...]] = (3,)

    def init_position(self, key):
        return Two(jnp.int32(-1), jnp.int32(-1), jnp.int32(0))

    def legal(self, position):
        return jnp.ones(2, bool)

    def play(self, position, action):
        ends, said = position.begun > 0, 2 * (position.begun - 1) + action
        after = select(ends, Two(position.other, said, jnp.int32(0)), position._replace(begun=action + 1))
        return Outcome(after, ends, jnp.bool_(False), jnp.float32(0))

    def observe_position(self, position, acting):
        return jnp.stack(position)


def test_an_opponent_ends_the_turn_that_it_began():
    """It is asked before each action, and would choose otherwise in the middle of a turn."""
    begun = []

    def move(state):
        begun.append(int(state._position.begun))
        return [1] if begun[-1] else [0, 0]

    game = Words()
    env = single.env(game, Player("mine", game, HostTurn(game, move, "mine")), seat="second")
    env.reset(seed=0)
    assert begun == [0, 1] and jax.device_get(env.state._position) == (-1, 0, 0)


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: pair.env("chess"), "unknown game 'chess'"),
        (lambda: pair.env("checkers", "human"), "render_mode 'human': expected ansi, svg or None"),
        (lambda: single.env("checkers", seat="third"), "seat 'third': expected first, second or None"),
        (lambda: single.env("checkers", "pubeval"), "pubeval plays backgammon, not checkers"),
    ],
)
def test_wrong_arguments(call, message):
    with pytest.raises(ValueError, match=message):
        call()


def test_a_missing_package_gets_one_line(monkeypatch):
    monkeypatch.setitem(__import__("sys").modules, "pettingzoo", None)
    with pytest.raises(ImportError, match=r"not installed: pettingzoo; install with: pip install 'jaxgames"):
        pair.env("tic_tac_toe")
