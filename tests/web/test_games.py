"""What the page is told of games, and what it may choose."""

import pytest

from jaxgames.players.champions import card
from jaxgames.web.boards import VIEWS
from jaxgames.web.games import choose_game, describe_game
from jaxgames.web.offered_players import OfferedPlayers


@pytest.mark.parametrize("game", VIEWS)
def test_the_strengths_of_champions_are_those_of_their_cards(game):
    found = describe_game(game, OfferedPlayers())["strengths"]
    assert [one["level"] for one in found] == ["easy", "normal", "hard"]
    for one in found:
        last = [match for match in card(game)["matches"] if match["level"] == one["level"]][-1]
        assert (one["opponent"], one["ppg"]) == (last["opponent"], last["ppg"])
        assert one["low"] <= one["ppg"] <= one["high"]


def test_a_board_may_have_one_direction_in_which_somebody_can_win():
    assert choose_game("connect_four", {"rows": 4, "cols": 7, "connect": 6}).game.connect == 6
    with pytest.raises(ValueError, match="expected at most 7"):
        choose_game("connect_four", {"rows": 4, "cols": 7, "connect": 8})
