"""Players of any game."""

import jax
import jax.numpy as jnp
import numpy as np
import pytest

import jaxgames
from jaxgames.envs.backgammon.best import FEW
from jaxgames.envs.turns.best import best_of_legal
from jaxgames.matches import match
from jaxgames.ops.pytrees import add_batch_axis, take
from jaxgames.players import generic
from jaxgames.players.host import ActionTurn, HostTurn, take_forfeits
from jaxgames.players.player import Player

BACKGAMMON = jaxgames.make("backgammon")
TIC_TAC_TOE = jaxgames.make("tic_tac_toe")


def test_a_player_of_one_position_has_no_program_of_few():
    """Backgammon's programs for few positions would be compiled beside the usual ones."""
    assert generic.ROWS == FEW + 1
    seen = []

    def best_turn(positions, value):
        seen.append(positions.dice.shape)
        return positions, None

    one = add_batch_axis(jax.jit(BACKGAMMON.init)(jax.random.key(0))._position)
    for positions, rows in ((one, FEW + 1), (jax.tree.map(lambda x: np.repeat(x, 20, axis=0), one), 20)):
        found = generic._with_rows(best_turn, positions, None)
        assert seen.pop() == (rows,)
        assert all(map(np.array_equal, jax.tree.leaves(found), jax.tree.leaves(positions)))


@pytest.mark.parametrize("worst", [-np.inf, np.nan])
def test_a_network_that_likes_nothing_still_plays_by_the_rules(worst):
    def network(params, observation):
        rows = len(observation)
        return jnp.full((rows, 9), worst, jnp.float32).at[:, 8].set(params), jnp.zeros(rows, jnp.float32)

    for last, action in ((worst, 1), (-1e30, 8)):
        player = generic.by_policy("worst", TIC_TAC_TOE, network, np.float32(last))
        state = TIC_TAC_TOE.step(TIC_TAC_TOE.init(jax.random.key(0)), 0)
        positions = add_batch_axis(state._position)
        outcome = player.play_once(positions, jnp.zeros(1, jnp.uint32))
        expected = TIC_TAC_TOE.play(state._position, jnp.int32(action)).position
        assert int(outcome.position.cells[0]) == int(expected.cells)


@pytest.mark.parametrize(
    ("logits", "value"), [((1,), ()), ((8,), ()), ((9,), (1,)), (None, ())], ids=["one", "eight", "values", "no logits"]
)
def test_what_a_network_gives_is_looked_at(logits, value):
    def network(params, observation):
        rows = len(observation)
        found = jnp.zeros((rows, *value), jnp.float32)
        return found if logits is None else (jnp.zeros((rows, *logits), jnp.float32), found)

    with pytest.raises((TypeError, ValueError), match="^the network gives .*: expected apply"):
        match(generic.by_policy("wrong", TIC_TAC_TOE, network, ()), "random", games=2)
    with pytest.raises(TypeError, match="^apply .*: expected a function"):
        generic.by_policy("wrong", TIC_TAC_TOE, (), network)
    with pytest.raises(ValueError, match="^discount 5: expected a number above 0, at most 1$"):
        generic.by_policy("wrong", TIC_TAC_TOE, network, (), discount=5)
    with pytest.raises(TypeError, match="^make_value .*: expected a function"):
        generic.greedy(TIC_TAC_TOE, "wrong", network, ())


def failing():
    """Fails from the third stone on."""

    def move(state):
        free = np.flatnonzero(state.legal_action_mask)
        return int(free[0]) if len(free) > 7 else 1 // 0

    return Player("fails", TIC_TAC_TOE, HostTurn(TIC_TAC_TOE, move, "fails"))


def test_weak_players_of_weak_ones_err_by_luck_of_their_own():
    """`weak:0.5:champion:easy` is one, as that level is weak."""

    def first(states, bits):
        return jnp.argmax(states.legal_action_mask, axis=1).astype(jnp.int32)

    one = generic.weak(Player("first", TIC_TAC_TOE, ActionTurn(TIC_TAC_TOE, first), None), "weak", 0.5)
    bits, opening = jax.random.bits(jax.random.key(0), (4096,), jnp.uint32), TIC_TAC_TOE.init_position(None)
    positions = jax.tree.map(lambda x: jnp.broadcast_to(x, (4096, *x.shape)), opening)
    for player, random in ((one, 0.5), (generic.weak(one, "weak", 0.5), 0.75)):
        played = jax.jit(player.play_once)(positions, bits).position
        others = np.asarray(played.cells) != np.asarray(TIC_TAC_TOE.play(opening, jnp.int32(0)).position.cells)
        assert others.mean() == pytest.approx(random * 8 / 9, abs=0.03)


def test_a_turn_that_is_not_taken_is_no_forfeit():
    random, failed = generic.random(TIC_TAC_TOE), "fails: ZeroDivisionError: integer division or modulo by zero"
    result = match(generic.weak(failing(), "weak", 1.0), random, 16)
    assert result.forfeits == {} and result.plies_per_game > 5
    result = match(generic.weak(failing(), "weak", 0.5), random, 16)
    assert 0 < sum(result.forfeits.values()) <= result.loss_rate * 16 and set(result.forfeits) == {failed}
    player = generic.exact(failing(), "exact")
    result = match(player, random, 16)
    assert result.forfeits == {} and result.loss_rate == 0 and take_forfeits(player) == []
    assert result.compile_seconds > 0


def test_what_a_wrapped_player_in_python_plays_is_what_the_compiled_one_plays():
    def move(state):
        return int(np.argmax(state.legal_action_mask))

    def network(params, observation):
        return jnp.zeros((len(observation), 9), jnp.float32), jnp.zeros(len(observation), jnp.float32)

    plain = Player("first", TIC_TAC_TOE, HostTurn(TIC_TAC_TOE, move, "first"))
    compiled = generic.by_policy("first", TIC_TAC_TOE, network, ())
    random = generic.random(TIC_TAC_TOE)
    for wrap in (lambda player: generic.weak(player, "made", 0.3), lambda player: generic.exact(player, "made")):
        one, other = (match(wrap(player), random, 40) for player in (plain, compiled))
        assert (one.win_rate, one.draw_rate, one.plies_per_game) == (
            other.win_rate,
            other.draw_rate,
            other.plies_per_game,
        )
        with pytest.raises(ValueError, match="first runs as plain Python"):
            jax.jit(wrap(plain).play_once)(
                *jax.tree.map(
                    np.asarray, (add_batch_axis(TIC_TAC_TOE.init_position(jax.random.key(0))), np.zeros(1, np.uint32))
                )
            )


class Looping(type(TIC_TAC_TOE)):
    """Loops over its positions, as the turns of checkers and backgammon do."""

    def best_turn(self, positions, value):
        return best_of_legal(self, positions, value)

    def random_turn(self, positions, bits):
        return one_by_one(super().random_turn, positions, bits)

    def turn_actions(self, *arguments):
        return one_by_one(super().turn_actions, *arguments)


def one_by_one(function, *batch):
    def of_row(row):
        return take(function(*take(batch, row[None])), 0)

    return jax.lax.map(of_row, jnp.arange(len(jax.tree.leaves(batch)[0])))


def test_a_player_in_python_is_asked_between_programs_of_one_size(compilations):
    """Nothing of the game runs outside of them: a new player and other sizes of batches compile nothing."""
    game, texts = Looping(), ("XX./OO./...", ".../.O./X..", "XOX/OO./X..", ".../.../...", "X.O/.../...")
    positions = jax.tree.map(lambda *rows: np.stack(rows), *map(TIC_TAC_TOE.parse, texts * 2))
    key = jax.random.key(1)
    bits = np.asarray(jax.random.bits(key, (10,), jnp.uint32))

    def player():
        turn = HostTurn(game, lambda state: int(np.argmax(state.legal_action_mask)), "first")
        return generic.exact(generic.weak(Player("first", game, turn), "weak", 0.5), "exact")

    asked = jax.device_get(game.state(positions, np.zeros(10, np.int32))), key, player().init_memory(10)
    expected = player().turn(player().params, positions, bits)
    actions = player().act(*asked)[0]
    compilations.clear()
    for rows in (1, 7):
        found = player().turn(player().params, *take((positions, bits), slice(rows)))
        jax.tree.map(np.testing.assert_array_equal, found, take(expected, slice(rows)))
    assert player().act(*asked)[0].tolist() == actions.tolist() and not compilations
    reached = jax.jit(jax.vmap(game.play))(positions, actions).position
    np.testing.assert_array_equal(reached.cells, expected.position.cells)


def test_values_of_a_look_ahead_are_those_that_it_goes_by():
    """The best turn is worth as much as the best of the values after all turns."""

    def make_value(params):
        return lambda positions: params * positions.cells.astype(jnp.float32) / 2**20

    player = generic.look_ahead(generic.greedy(TIC_TAC_TOE, "any", jnp.float32(0.001), make_value), "two", 2)
    position = TIC_TAC_TOE.parse("X../.O./...")

    @jax.jit
    def both():
        free = jnp.flatnonzero(TIC_TAC_TOE.legal(position), size=7).astype(jnp.int32)
        after = jax.vmap(lambda action: TIC_TAC_TOE.play(position, action).position)(free)
        _, worth = player.turn.search.best_turn(add_batch_axis(position), make_value(player.params))
        return worth[0], -player.values(after, jnp.zeros(7, jnp.uint32))

    worth, values = both()
    assert float(worth) == pytest.approx(float(values.max()), rel=1e-6)
