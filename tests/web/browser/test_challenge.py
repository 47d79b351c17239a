"""The page of the challenges in a real browser: begun, played without help, counted."""

import os
from typing import Any

from tests.web.browser.conftest import Server
from tests.web.browser.table import opened, picture

PICTURES = os.environ.get("JAXGAMES_SCREENSHOTS")


def test_a_challenge_is_played_and_counted(browser: Any, server: Server) -> None:
    with opened(browser, server.url, viewport={"width": 1200, "height": 720}) as table:
        page = table.page
        page.goto(f"{server.url}/challenge")
        page.locator("#challenge-game").select_option("tic_tac_toe")
        page.locator(".picker .who").select_option("random")
        page.get_by_role("button", name="Begin ten games").click()
        table.wait_for("document.getElementById('board')?.dataset.mine === 'true'")
        assert page.locator("#hint").is_disabled() and page.locator("#undo").is_disabled()
        assert "0 of 10 games" in page.locator("#score").inner_text()
        for _ in range(2):
            page.locator("#resign").click()
        table.wait_for("document.getElementById('score').textContent.includes('1 of 10')")
        page.goto(f"{server.url}/challenge")
        row = page.locator("#standings-rows tr")
        row.wait_for()
        assert row.get_by_role("cell").all_inner_texts()[1:3] == ["0 / 0 / 1", "−1"]
        assert row.get_by_role("rowheader").inner_text() == "Tic-tac-toe: random"
        picture(table, PICTURES, "challenge")
        row.get_by_role("button", name="Go on with Tic-tac-toe against random").click()
        table.wait_for("document.getElementById('score')?.textContent.includes('1 of 10')")
