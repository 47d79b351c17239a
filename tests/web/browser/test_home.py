"""The start page in a real browser: games are chosen from pictures, by keys too, and the way back leads there."""

import os
from typing import Any

from tests.web.browser.conftest import Server
from tests.web.browser.table import opened, picture

PICTURES = os.environ.get("JAXGAMES_SCREENSHOTS")


def test_a_game_is_chosen_from_the_pictures(browser: Any, server: Server) -> None:
    with opened(browser, server.url) as table:
        page = table.page
        page.goto(server.url)
        page.wait_for_selector(".game-card")
        picture(table, PICTURES, "start")
        titles = page.locator(".game-card h2").all_text_contents()
        assert titles == ["Tic-tac-toe", "Connect Four", "Checkers", "Backgammon"]
        pieces = [len(card.query_selector_all("svg > g[transform]")) for card in page.query_selector_all(".game-card")]
        assert pieces == [4, 10, 24, 30]
        assert "hard +0.75 ± 0.13 points a game against pubeval" in page.locator(".levels").nth(3).inner_text()
        assert not page.locator("#board").is_visible()
        page.locator("[data-game=tic_tac_toe]").focus()
        page.keyboard.press("Tab")
        page.keyboard.press("Enter")
        page.locator("#board").wait_for()
        page.locator(".skip").focus()
        page.keyboard.press("Enter")
        table.wait_for("document.activeElement.id === 'board-area'")
        assert "game=connect_four" in page.url and not page.locator(".game-card").count()
        page.go_back()
        page.wait_for_selector(".game-card")
