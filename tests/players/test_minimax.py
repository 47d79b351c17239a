"""The players that search to a fixed depth."""

import jax
import jax.numpy as jnp
import numpy as np
import pytest

import jaxgames
from jaxgames import players
from jaxgames.matches.match import match
from jaxgames.players import generic, minimax

TIC_TAC_TOE = jaxgames.make("tic_tac_toe")


def test_alpha_beta_never_loses_at_tic_tac_toe():
    found = match(minimax.alphabeta(TIC_TAC_TOE, 9), generic.random(TIC_TAC_TOE), 200, batch=64)
    assert found.loss_rate == 0 and 0.75 < found.win_rate < 1 == pytest.approx(found.win_rate + found.draw_rate)


def test_options():
    player = players.make("alphabeta:3,ties=first", TIC_TAC_TOE)
    assert player.name == "alphabeta:3,ties=first"
    assert player.turn == minimax.alphabeta(TIC_TAC_TOE, 3, ties="first").turn != minimax.minimax(TIC_TAC_TOE, 3).turn


def test_kings_are_worth_more_by_material_only():
    """Black may crown a man, which comes last in the order of its moves, or step with another one."""
    game = jaxgames.make("checkers")
    state = game.from_string("B:W29:B2,28")
    position = jax.tree.map(lambda x: jnp.asarray(x)[None], state._position)
    kings = []
    for value in ("material", "pieces"):
        turn = jax.jit(minimax.alphabeta(game, 1, ties="first", value=value).turn)
        kings.append(int(turn((), position, jnp.zeros(1, jnp.uint32)).position.kings[0]) != 0)
    assert kings == [True, False]


@pytest.mark.parametrize(
    ("game", "depth", "message"),
    [
        ("checkers", 0, "depth 0: expected a whole number from 1 to 500"),
        ("checkers", 501, "depth 501: expected a whole number from 1 to 500"),
        ("backgammon", 3, "backgammon has chance: minimax and alpha-beta search games without"),
    ],
)
def test_depths_and_games_that_cannot_be_searched(game, depth, message):
    with pytest.raises(ValueError) as error:
        minimax.alphabeta(jaxgames.make(game), depth)
    assert message in str(error.value) and "\n" not in str(error.value)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ("order=random", "no option 'order'; it has: ties, value"),
        ("value=kings", "value 'kings': expected one of material, pieces, exact"),
        ("ties=last", "ties 'last': expected one of random, first"),
    ],
)
def test_bad_options(options, message):
    with pytest.raises(ValueError) as error:
        players.make(f"alphabeta:3,{options}", TIC_TAC_TOE)
    assert message in str(error.value) and "\n" not in str(error.value)


def test_forced_wins_count_in_points_and_material_as_a_share():
    """In tic-tac-toe X or O wins at once, or O loses after the next turn, which is not looked at."""
    for game, depth, texts, expected in (
        ("checkers", 1, ("B:W32,31:B1,2,3,4,5", "W:W32,31:B1,2,3,4,5"), np.tanh([3 / 4, -3 / 4])),
        ("tic_tac_toe", 2, ("XX./O../..O", "XX./OO./X..", "X.X/.O./X.O"), (1, 1, 0)),
    ):
        player = minimax.alphabeta(jaxgames.make(game), depth)
        positions = jax.tree.map(lambda *x: jnp.stack(x), *map(player.game.parse, texts))
        found = jax.jit(player.values)(positions, jnp.zeros(len(texts), jnp.uint32))
        np.testing.assert_allclose(found, expected, rtol=1e-5)
