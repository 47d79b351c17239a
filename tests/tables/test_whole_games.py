"""Games known as a whole, and players that know them."""

import jax
import jax.numpy as jnp
import numpy as np
import pytest

from jaxgames import make as make_game
from jaxgames.envs.connect_four.board import either
from jaxgames.envs.connect_four.game import ConnectFour
from jaxgames.envs.rollout import rollout
from jaxgames.matches import solved
from jaxgames.matches.match import match
from jaxgames.players import make
from jaxgames.tables.connect_four_solver import Solver
from jaxgames.tables.lookup import LATE
from jaxgames.tables.whole_games import SOON, UNKNOWN, SmallBoard, TicTacToeIndex, solve_whole

TIC_TAC_TOE = make_game("tic_tac_toe")
SMALL = ConnectFour(rows=4, cols=4)


def test_tic_tac_toe():
    """All 5,478 positions, by ply; the start is a draw, and an early mistake is not."""
    index = TicTacToeIndex()
    whole = solve_whole(index)
    assert whole.positions == (1, 9, 72, 252, 756, 1260, 1520, 1140, 390, 78)
    assert np.count_nonzero(whole.score != UNKNOWN) == sum(whole.positions)

    def score(text):
        return int(whole.score[int(index.key(TIC_TAC_TOE.parse(text)))])

    assert score(".../.../...") == score("X../.O./...") == 0
    assert score("X../.../.O.") == SOON - 5  # won with the third stone from now
    assert score("XX./OO./...") == SOON - 1 and score("XXX/OO./...") == -SOON


def test_a_small_board_and_the_solver_agree():
    """Every score of some positions, from every ply; Tromp counts 161,029 positions on this board."""
    index, random = SmallBoard(SMALL), np.random.default_rng(0)
    whole = solve_whole(index)
    assert sum(whole.positions) == 161_029 == np.count_nonzero(whole.score != UNKNOWN)
    keys = random.choice(np.flatnonzero(whole.score != UNKNOWN), 1024, replace=False).astype(np.uint32)
    positions = index.position(jnp.asarray(keys))
    np.testing.assert_array_equal(index.key(positions), keys)
    left = 16 - np.array([int(word).bit_count() for word in np.asarray(either(*positions)[0])])
    found, score = np.asarray(jax.jit(Solver(SMALL))(positions).scores), whole.score[keys].astype(int)
    plies = SOON - np.abs(score)
    wins, losses = (left + 1) // 2 - (plies + 1) // 2 + 1, -(left // 2 - plies // 2 + 1)
    np.testing.assert_array_equal(found, np.where(score > 0, wins, np.where(score < 0, losses, 0)))
    assert (found > 0).any() and (found < 0).any() and (found == 0).any() and len(set(left.tolist())) > 8


@pytest.mark.slow
@pytest.mark.parametrize(("rows", "cols", "count"), [(4, 5, 3_945_711), (5, 4, 1_706_255)])
def test_boards_of_published_sizes(rows, cols, count):
    index = SmallBoard(ConnectFour(rows=rows, cols=cols))
    whole = solve_whole(index)
    start = index.key(index.game.init_position(jax.random.key(0)))
    assert (sum(whole.positions), whole.score[int(start)]) == (count, 0)


@pytest.mark.parametrize("game", [TIC_TAC_TOE, SMALL], ids=lambda game: game.id)
def test_a_perfect_player_never_loses(game):
    perfect = make("perfect", game)
    against_random = match(perfect, make("random", game), 200, seed=1)
    assert against_random.loss_rate == 0 and against_random.win_rate > 0.5
    itself = game == TIC_TAC_TOE and match(perfect, make("exact:perfect", game), 20, seed=2)
    assert not itself or itself.draw_rate == 1


def test_what_is_not_known_as_a_whole():
    with pytest.raises(ValueError, match="perfect plays small boards of tic_tac_toe and connect_four, not this one"):
        make("perfect", make_game("connect_four"))
    with pytest.raises(ValueError, match="perfect plays tic_tac_toe and connect_four, not checkers"):
        make("perfect", make_game("checkers"))
    with pytest.raises(ValueError, match="a board of 6 x 7 has too many positions"):
        SmallBoard(ConnectFour())


def test_late_positions_are_played_exactly(data_dir):
    """By a player that moves at random before: perfect where at most 14 stones are left, and not before."""
    game = make_game("connect_four")
    positions = solved.read(data_dir / "connect_four" / "Test_L3_R1")
    late = [one for one in positions if np.count_nonzero(one.board == 0) <= LATE][:150]
    assert solved.score(make("exact:random", game), late).perfect == 1
    begun = jax.jit(jax.vmap(game.init))(jax.random.split(jax.random.key(0), 8))
    states = rollout(game, begun, jax.random.key(1), 5)[0]
    bits = jax.random.bits(jax.random.key(2), (8,))
    play = jax.jit(lambda player: player.play_once(states._position, bits).position)
    played = [play(make(spec, game)) for spec in ("exact:random", "random")]
    jax.tree.map(np.testing.assert_array_equal, *played)
