"""OpenSpiel's bots as players: they see our positions, and their actions are ours."""

import warnings

import jax
import pytest

import jaxgames
from jaxgames import players
from jaxgames.interop import openspiel as bots
from jaxgames.matches import match
from tests.oracles import oracle


@pytest.fixture(scope="module", autouse=True)
def openspiel():
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # whatever an extension module says when it is imported
        return oracle("pyspiel")


@pytest.mark.parametrize(
    ("game", "position", "action"),
    [
        (jaxgames.make("tic_tac_toe"), "XX./OO./...", 2),  # wins
        (jaxgames.make("tic_tac_toe"), "XX./O../...", 2),  # prevents it
        (jaxgames.make("connect_four"), "445566", 2),  # one end of an open three, or the other: 3 and 7
        (jaxgames.make("connect_four"), "121314", 0),
        (jaxgames.make("connect_four", rows=4, cols=5, connect=3), "1525", 2),
    ],
)
def test_it_wins_and_prevents_a_loss(game, position, action):
    player = players.make("openspiel:mcts:400", game)
    chosen = player.turn.move(game.from_string(position))
    assert chosen in (action, 6) if position == "445566" else chosen == action


def test_the_numbers_count():
    """More simulations are stronger; the constant of exploration and the seed are handed on."""
    game = jaxgames.make("tic_tac_toe")
    strong, weak = (players.make(f"openspiel:mcts:{number}", game) for number in (200, 1))
    result = match(strong, weak, 20)
    assert result.ppg > 0.4 and result.forfeits == {} and result.a == "openspiel:mcts:200"
    game = jaxgames.make("connect_four")

    def moves(options, simulations=30):
        player = players.make(f"openspiel:mcts:{simulations},{options}", game)
        return [player.turn.move(game.from_string(line)) for line in LINES]

    assert moves("c=0") != moves("c=9")
    assert moves("c=2") == moves("seed=1") != moves("seed=2")
    assert moves("seed=1", 1) != moves("seed=2", 1)  # one random game changes nothing: the search itself draws
    with pytest.raises(ValueError, match="seed '0': expected a whole number from 1 to 2,147,483,647"):
        moves("seed=0")


def test_checkers_is_followed_from_the_first_move():
    """No action is illegal to one of both, in games side by side with jumps, kings and draws; none begins later."""
    game = jaxgames.make("checkers", draw_after=40)
    strong, weak = (players.make(f"openspiel:mcts:{number}", game) for number in (30, 2))
    for a, b in ((strong, players.make("random", game)), (strong, weak)):
        result = match(a, b, 8)
        assert result.forfeits == {} and result.plies_per_game > 30 and result.ppg > 0.5
    begun = game.init(jax.random.key(0))
    assert game.is_legal(begun._position, strong.turn.move(begun))
    with pytest.raises(ValueError, match="cannot begin checkers in the middle: expected a game from its first move on"):
        strong.turn.move(game.from_string("B:W18,24:B6,K10"))


def test_checkers_that_ends_by_max_moves_is_no_game_of_openspiel():
    game = jaxgames.make("checkers", draw_after=40, max_moves=100)
    with pytest.raises(ValueError, match="checkers knows no max_moves=100: leave that option out"):
        players.make("openspiel:mcts:9", game)


def test_it_remembers_so_many_states_and_the_first_ones(openspiel, monkeypatch):
    monkeypatch.setattr(bots, "MOST_STATES", 20)
    game = jaxgames.make("checkers", draw_after=40)
    followed = bots.FollowedGames(game, openspiel.load_game("checkers"))
    begun = game.init(jax.random.key(0))
    position = begun._position
    for number in range(12):
        passes = False
        while not passes:
            if number % 2 == 0:
                action = followed.act(position, followed.find(position).legal_actions()[0])
            else:
                action = int(game.legal(position).argmax())
            position, passes, over, _ = game.play(position, action)
            assert not over
    assert len(followed._states) <= 20 and len(followed._first) == 8  # the start, and what seven first moves lead to
    assert followed.find(begun._position).history() == []


LINES = ("4", "45", "4444", "1234567", "73", "36415")


@pytest.mark.parametrize(
    ("spec", "game", "message"),
    [
        ("openspiel:mcts:100", "backgammon", "openspiel plays tic_tac_toe.*connect_four.*checkers, not backgammon"),
        ("openspiel:azero:100", "connect_four", "bot 'azero': expected mcts"),
        ("openspiel:mcts:100", "checkers", "drawn after 40 moves without a capture, this game is not: add --set draw_"),
        ("openspiel:mcts:0", "connect_four", "'0': expected a whole number from 1"),
        ("openspiel:mcts", "connect_four", "openspiel needs a bot and a number of simulations"),
        ("openspiel:mcts:9,k=1", "connect_four", "no option 'k'; it has: c"),
    ],
)
def test_others_get_one_line(spec, game, message):
    with pytest.raises(ValueError, match=message):
        players.make(spec, jaxgames.make(game))
