"""What is known exactly, in searches and in the targets of AlphaZero."""

import dataclasses
from types import SimpleNamespace

import jax
import jax.numpy as jnp
import numpy as np
import pytest

from jaxgames import make as make_game
from jaxgames.algos.alphazero import AlphaZeroConfig
from jaxgames.algos.alphazero.self_play import begin_games, play
from jaxgames.data_sets.endings import score_endings
from jaxgames.envs.backgammon.board import from_plain
from jaxgames.players import make
from jaxgames.tables import lookup as lookup_module
from jaxgames.tables.checkers import CheckersEndings
from jaxgames.tables.lookup import leaf_lookup, lookup_of

TIC_TAC_TOE = make_game("tic_tac_toe")


def test_alpha_beta_with_a_table_at_its_horizon():
    """One turn deep it loses nothing: all positions behind the turn are known."""
    assert score_endings(make("alphabeta:1,value=exact", TIC_TAC_TOE), 300).good == 1
    assert score_endings(make("alphabeta:1", TIC_TAC_TOE), 300).good < 0.9


def test_simulations_with_a_table_at_their_leaves():
    exact, usual = (score_endings(make(f"uct:32{text}", TIC_TAC_TOE), 300).good for text in (",leaves=exact", ""))
    assert exact > 0.98 > 0.95 > usual


def test_a_horizon_of_checkers():
    """Two kings against one in the double corner: material says ahead, the table says drawn."""
    game = make_game("checkers")
    lookup, load = leaf_lookup(game)
    scores, index = load(), CheckersEndings(3)
    assert lookup.index == index
    value = make("alphabeta:1,value=exact", game).turn.make_value(scores)
    material = jax.vmap(game.material)
    texts = ("W:WK1:BK32,K28", "B:W10:B1,2,3,4")  # known, and not: five pieces
    positions = jax.tree.map(lambda *x: jnp.stack(x), *(game.parse(text) for text in texts))
    known, worth = lookup.at_leaf(scores, positions)
    assert known.tolist() == [True, False]
    found = value(positions)
    assert float(found[0]) == pytest.approx(9000 * float(worth[0])) and float(found[1]) == float(material(positions)[1])
    between, total = lookup.covers(positions), lookup.worth(scores, positions)
    assert between.tolist() == [True, False] and float(total[0]) == float(worth[0])


def test_a_bear_off_is_known_at_a_leaf_before_the_roll():
    """The chances of who is to roll are not those of who has rolled."""
    lookup, own = lookup_of(make_game("backgammon"))[0], [2] + [0] * 24
    positions = jax.tree.map(lambda *x: jnp.stack(x), *(from_plain(own, own, dice) for dice in (None, (2, 1))))
    known, _ = lookup.at_leaf(jnp.zeros(lookup.offs.size**2), positions)
    assert lookup.covers(positions).tolist() == [True, True] and known.tolist() == [True, False]


def test_no_search_at_the_leaves_of_a_search():
    with pytest.raises(ValueError, match="connect_four has no table for the leaves of a search, except on boards up"):
        make("uct:8,leaves=exact", make_game("connect_four"))
    small = make_game("connect_four", rows=4, cols=4)
    assert leaf_lookup(small)[0].index.bits == 20


def test_targets_of_alphazero():
    """Every target is what best play brings, and the same games are played."""
    config = AlphaZeroConfig(batch=16, plies=6, simulations=4, buffer_plies=6)

    def apply(params, observation):
        return jnp.zeros((len(observation), 9)), jnp.zeros(len(observation))

    def played(config):
        states = begin_games(TIC_TAC_TOE, jax.random.key(0), 16, 3)
        return jax.jit(lambda key: play(TIC_TAC_TOE, config, apply, (), states, key))(jax.random.key(1))

    (_, usual, counts), (_, exact, same) = played(config), played(dataclasses.replace(config, exact=True))
    jax.tree.map(np.testing.assert_array_equal, (usual.position, counts), (exact.position, same))
    assert exact.known.all() and not usual.known.all() and int(counts["games"]) > 0
    lookup, load = lookup_of(TIC_TAC_TOE)
    flat = jax.tree.map(lambda x: x.reshape(-1), exact.position)
    points = lookup.points(lookup.worth(load(), flat)).reshape(exact.result.shape)
    np.testing.assert_array_equal(exact.result, np.where(exact.player == 0, points, -points))
    assert (exact.result != usual.result)[usual.known].any()


def test_late_positions_of_connect_four(monkeypatch):
    """With 14 stones to play they are covered; a win with the k-th last of 21 stones is worth k of 22."""
    game, full = make_game("connect_four"), "121212212121343434434343565656656565777777"  # nobody has a line
    positions = jax.tree.map(lambda *x: jnp.stack(x), *(game.parse(full[:length]) for length in (28, 27)))
    assert lookup_module.LateLookup(game).covers(positions).tolist() == [True, False]
    solved = SimpleNamespace(scores=jnp.array([-1, 7], jnp.int32))
    monkeypatch.setattr(lookup_module, "Solver", lambda game, entries: lambda positions, where: solved)
    np.testing.assert_allclose(lookup_module.LateLookup(game).worth((), positions), [-1 / 22, 7 / 22], rtol=1e-6)
