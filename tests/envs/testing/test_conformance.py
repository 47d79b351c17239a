"""`check_game` passes the games of the registry and a game written here, and finds what is wrong with broken ones."""

import dataclasses
import inspect
import textwrap
from typing import ClassVar, NamedTuple

import jax
import jax.numpy as jnp
import numpy as np
import pytest

import jaxgames
from jaxgames.envs import ConformanceError, Game, Outcome, available_games, check_game
from jaxgames.envs.symmetry import Symmetry, identity


class Stones(NamedTuple):
    left: jax.Array
    waits: jax.Array


@dataclasses.dataclass(frozen=True)
class Nim(Game[Stones]):
    """Take 1, 2 or 3 stones; who takes the last one wins. A coin may put one back while some are left."""

    stones: int = 9

    id: ClassVar[str] = "nim"
    num_actions: ClassVar[int] = 3
    observation_shape: ClassVar[tuple[int, ...]] = (1,)
    outcome_probabilities: ClassVar[tuple[float, ...]] = (0.75, 0.25)

    def init_position(self, key):
        return Stones(jnp.int32(self.stones), jnp.bool_(False))

    def legal(self, position):
        return jnp.arange(1, 4, dtype=jnp.int32) <= position.left

    def play(self, position, action):
        left = position.left - action - 1
        over = left == 0
        return Outcome(Stones(left, ~over), jnp.bool_(True), over, jnp.float32(1))

    def chance(self, position, outcome):
        back = jnp.where(position.waits, outcome, 0)
        return Stones(position.left + back, jnp.bool_(False))

    def ended(self, position):
        return position.left == 0

    def observe_position(self, position, acting):
        return position.left[None]

    def parse(self, text):
        return Stones(jnp.int32(int(text)), jnp.bool_(False))

    def unparse(self, position):
        return str(position.left)

    def action_to_string(self, state, action):
        return f"take {action + 1}"

    def string_to_action(self, state, text):
        return int(text.removeprefix("take ")) - 1


def test_a_game_of_ones_own():
    report = check_game(Nim(), num_games=16)
    assert report.games == report.ended == 16
    assert 16 * 3 <= report.actions <= 16 * 40


class OneAction(Nim):
    num_actions = 1

    def legal(self, position):
        return position.left[None] >= 1


def test_a_game_of_one_action():
    assert check_game(OneAction(), num_games=4).ended == 4


class ShortNim(Nim):
    step_limit = 4


def test_a_game_that_is_cut_off():
    report = check_game(ShortNim(), num_games=16)
    assert report.games == report.ended == 16
    assert 16 * 3 <= report.actions <= 16 * 4


@pytest.mark.parametrize("game_id", available_games())
def test_games_of_the_registry(game_id):
    report = check_game(jaxgames.make(game_id))
    assert report.ended == report.games == 64


class NoAction(Nim):
    def legal(self, position):
        return super().legal(position) & (position.left != 2)


class OtherIsLegal(Nim):
    def is_legal(self, position, action):
        return (action >= 0) & (action < 2)


class LegalOutside(Nim):
    def is_legal(self, position, action):
        return action + 1 <= position.left


class OtherStep(Nim):
    def step(self, state, action, key=None):
        after = super().step(state, action, key)
        return after.replace(_position=self.init_position(key))


class RollsAgain(Nim):
    def chance(self, position, outcome):
        return Stones(position.left + outcome, jnp.bool_(False))


class BothWin(Nim):
    def apply(self, state, action):
        after = super().apply(state, action)
        return after.replace(rewards=jnp.abs(after.rewards))


class EarlyReward(Nim):
    def apply(self, state, action):
        after = super().apply(state, action)
        return after.replace(rewards=jnp.where(state.terminated, 0.0, jnp.array([1.0, -1.0], jnp.float32)))


class TooMuch(Nim):
    def play(self, position, action):
        return super().play(position, action)._replace(reward=jnp.float32(2))


class GoesOn(Nim):
    def apply(self, state, action):
        after = super().apply(state, action)
        return after.replace(current_player=1 - state.current_player)


class MildPenalty(Nim):
    def apply(self, state, action):
        after = super().apply(state, action)
        legal = self.is_legal(state._position, action)
        return after.replace(rewards=jnp.where(legal, after.rewards, 0.5 * after.rewards))


class ThirdPlayer(Nim):
    def apply(self, state, action):
        after = super().apply(state, action)
        return after.replace(current_player=after.current_player + 1)


class NotANumber(Nim):
    def observe_position(self, position, acting):
        return jnp.log(position.left.astype(jnp.float32) - 5)[None]


class NeverEnds(Nim):
    def play(self, position, action):
        return super().play(position, action)._replace(over=jnp.bool_(False), position=position)


class NeverCutOff(ShortNim):
    def apply(self, state, action):
        return super().apply(state, action).replace(truncated=state.truncated)


class TakesOrPasses(Nim):
    """One stone is taken by 0, and by 1, after which the same player goes on."""

    outcome_probabilities = ()

    def play(self, position, action):
        outcome = super().play(position, jnp.where(action == 1, 0, action))
        return outcome._replace(position=outcome.position._replace(waits=jnp.bool_(False)), turn_passes=action != 1)


class GivesUp(Nim):
    """The third action ends the game."""

    outcome_probabilities = ()

    def play(self, position, action):
        outcome, up = super().play(position, action), action == 2
        kept = jax.tree.map(lambda x, y: jnp.where(up, x, y), position, outcome.position)
        reward = jnp.where(up, jnp.float32(-1), outcome.reward)
        return Outcome(kept._replace(waits=jnp.bool_(False)), jnp.bool_(True), outcome.over | up, reward)


class DrawsTooMany(Nim):
    def draw_action(self, position, word):
        return (word % 3).astype(jnp.int32)


class DrawsTheFirst(Nim):
    def draw_action(self, position, word):
        return jnp.int32(0)


class TurnsAround(Nim):
    symmetries = (identity(3, (1,)), Symmetry("mirror", np.arange(2, -1, -1), np.arange(1), (1,)))


class TurnsTwoIntoOne(Nim):
    symmetries = (identity(3, (1,)), Symmetry("mirror", np.array([0, 0, 1]), np.arange(1), (1,)))


class TurnsAtOnce(Nim):
    symmetries = TurnsAround.symmetries[1:]


class OtherOdds(Nim):
    outcome_probabilities = (0.75, 0.2)


class OtherDraws(Nim):
    def draw_outcome(self, word):
        return (word & jnp.uint32(1)).astype(jnp.int32)


class OtherShape(Nim):
    observation_shape = (2,)


class NeedsNoKey(Nim):
    def step(self, state, action, key=None):
        return super().step(state, action, jax.random.key(0) if key is None else key)


class OtherType(Nim):
    def init(self, key):
        return super().init(key).replace(rewards=jnp.zeros(2, jnp.float16))


class AlwaysFirst(Nim):
    def init(self, key):
        return super().init(key).replace(current_player=jnp.int32(0))


class EachIsNew(Nim):
    __eq__ = object.__eq__
    __hash__ = object.__hash__


class LegacyKeysDiffer(Nim):
    def step(self, state, action, key=None):
        after = super().step(state, action, key)
        legacy = not jnp.issubdtype(key.dtype, jax.dtypes.prng_key)
        return after.replace(_step_count=after._step_count + int(legacy))


class LastTurn(Nim):
    def best_turn(self, positions, value):
        outcome = self.random_turn(positions, jnp.zeros_like(positions.left, jnp.uint32))
        return outcome, jnp.where(outcome.over, outcome.reward, -value(outcome.position))


class VainTurn(Nim):
    def best_turn(self, positions, value):
        outcome, score = super().best_turn(positions, value)
        return outcome, score + 1


class Forgets(Nim):
    def parse(self, text):
        return super().parse(str(min(int(text), 2)))


class ReadsAnEnd(Nim):
    def ended(self, position):
        return position.left <= 4


class ReadsNoEnd(Nim):
    def ended(self, position):
        return jnp.bool_(False)


class ReadsAll(Nim):
    def parse(self, text):
        return super().parse(text if text.isdigit() else "9")


class OtherNames(Nim):
    def string_to_action(self, state, text):
        return 1 - super().string_to_action(state, text)


class NoDrawing(Nim):
    def draw_board(self, position, theme, player=0):
        return "two stones"


FAULTS = {
    NoAction: "has no legal action",
    OtherIsLegal: "`legal_action_mask` that is not what `is_legal` says",
    LegalOutside: "out of range",
    OtherStep: "steps otherwise than `resolve",
    RollsAgain: "changes a state that awaits no chance",
    BothWin: "rewards that do not sum to zero",
    EarlyReward: "rewards before the end",
    TooMuch: "more than `max_reward`",
    GoesOn: "changes an ended game",
    MildPenalty: r"-1 and \+1 at an illegal action",
    ThirdPlayer: "current player who is not 0 or 1",
    NotANumber: "observation that is not finite",
    NeverEnds: "ends none of 32 games in 100 actions",
    NeverCutOff: "truncated at other times than `step_limit` says",
    TakesOrPasses: "legal actions that lead to one position, but not to the same end of the turn",
    GivesUp: "ends at a legal action that changes nothing",
    DrawsTooMany: "draws an action in `draw_action` that is not legal",
    DrawsTheFirst: "draws some legal actions in `draw_action` more often",
    TurnsAround: "symmetry 'mirror' after which it plays otherwise",
    TurnsTwoIntoOne: "symmetry 'mirror' that is not an order of 0 to 2",
    TurnsAtOnce: "first does not leave the board",
    OtherOdds: "outcome probabilities with sum 0.95",
    OtherDraws: "draws outcomes with other probabilities",
    OtherShape: r"observation of shape \(1,\) at batch rank 0",
    NeedsNoKey: "steps without a key",
    OtherType: "steps to a state of other types",
    AlwaysFirst: "same player begin",
    EachIsNew: "is not equal to its copy",
    LegacyKeysDiffer: "legacy keys",
    LastTurn: "worse than a random turn",
    VainTurn: "not worth the value it gives",
    Forgets: "writes a state otherwise",
    ReadsAnEnd: "reads a game in play as one that is over",
    ReadsNoEnd: "reads '0', where a game has ended, as one in play",
    ReadsAll: r"reads '\?' as a position",
    OtherNames: "reads the names",
    NoDrawing: "no SVG document",
}


@pytest.mark.parametrize("broken", FAULTS, ids=lambda broken: broken.__name__)
def test_a_broken_game_is_named(broken):
    with pytest.raises(ConformanceError, match=f"nim .*{FAULTS[broken]}") as error:
        check_game(broken(), num_games=32, max_actions=100)
    assert "\n" not in str(error.value)


def test_too_few_games():
    with pytest.raises(ValueError, match="num_games 3 is too few; at least 4 are needed"):
        check_game(Nim(), num_games=3)


@pytest.mark.parametrize("name", ["tic_tac_toe", "connect_four", "checkers", "backgammon"])
def test_the_class_of_a_game_says_what_it_is(name):
    """Shapes and dtypes are as it says, and its lines run."""
    game = jaxgames.make(name)
    text, _, lines = inspect.getdoc(type(game)).partition("Lines that run:\n")
    facts = {part.split(":")[0]: part for part in text.split("\n- ")[1:]}
    assert {"Observation", "Action", "Reward", "End", "State"} <= set(facts)
    observation = game.init(jax.random.key(0)).observation
    sizes = "rows, cols, 2" if name == "connect_four" else ", ".join(map(str, observation.shape))
    assert f"{observation.dtype}[{sizes}]" in facts["Observation"]
    last = "cols - 1" if name == "connect_four" else str(game.num_actions - 1)
    assert f"int32 from 0 to {last}" in facts["Action"]
    code = "\n".join(line for line in lines.splitlines() if line.startswith("    "))
    exec(textwrap.dedent(code), {"jax": jax, "jnp": jnp, "jaxgames": jaxgames})
