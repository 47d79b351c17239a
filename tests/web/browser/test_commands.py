"""The page in a real browser as the command line: trainings and tournaments are set, started, watched, stopped."""

import os
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

from tests.web.browser.conftest import Server
from tests.web.browser.table import opened, picture

PICTURES = os.environ.get("JAXGAMES_SCREENSHOTS")


@contextmanager
def form(browser: Any, server: Server, address: str, title: str) -> Iterator[tuple[Any, Any, Callable[[str], Any]]]:
    """A page whose form is open: the table, its page, and a function that finds a field."""
    with opened(browser, server.url, viewport={"width": 1200, "height": 720}) as table:
        table.page.goto(f"{server.url}/{address}")
        table.page.get_by_text(title).click()
        yield table, table.page, lambda name: table.page.locator(f"#start-card [data-name={name}]")


def test_a_training_is_set_started_and_stopped(browser: Any, server: Server) -> None:
    with form(browser, server, "train", "New training") as (table, page, field):
        field("recipe").select_option("td")
        table.wait_for("document.querySelector('[data-name=game]')")
        field("game").select_option("connect_four")
        page.get_by_text("Numbers of the setting").click()
        field("hidden").fill("many")
        table.wait_for("document.querySelector('.verdict').textContent.includes(arg)", "expected whole numbers")
        picture(table, PICTURES, "new-training")
        start = page.get_by_role("button", name="Start")
        assert start.is_disabled()
        field("hidden").fill("8")
        page.get_by_label("Name").fill("four")
        table.wait_for("!document.querySelector('#start-card [type=submit]').disabled")
        start.click()
        page.get_by_role("heading", name="The training four").wait_for()
        page.get_by_role("button", name="Stop").click()
        page.locator(".pill", has_text="stopped").wait_for()


def test_a_tournament_is_played(browser: Any, server: Server) -> None:
    with form(browser, server, "tournaments", "New tournament") as (table, page, _):
        page.get_by_label("Games of each pair").fill("20")
        page.get_by_label("Leave out player 1").click()
        page.get_by_label("Player 1", exact=True).select_option("random")
        table.wait_for("document.querySelector('.verdict').textContent.includes(arg)", "player random is there 2 times")
        page.get_by_label("Player 1", exact=True).select_option("weak")
        page.locator(".entrants").get_by_label("Player", exact=True).fill("random")
        page.get_by_label("Name").fill("cup")
        table.wait_for("!document.querySelector('#start-card [type=submit]').disabled")
        page.get_by_role("button", name="Start").click()
        table.wait_for("document.querySelector('#tournaments')?.textContent.includes(arg)", "1 of 1 matches")
        rows = page.get_by_role("region", name="Cross-table of cup").get_by_role("row")
        assert rows.count() == 3
        names = [rows.nth(number).get_by_role("rowheader").inner_text() for number in (1, 2)]
        assert sorted(names) == ["random", "weak:0.2:random"]
        table.wait_for("![...document.querySelectorAll('.pill')].some((pill) => pill.textContent === 'under way')")
        picture(table, PICTURES, "tournament")


def test_a_knockout_of_a_training_is_played(browser: Any, server: Server) -> None:
    with form(browser, server, "tournaments", "New tournament") as (table, page, field):
        field("game").select_option("tic_tac_toe")
        field("kind").select_option("knock-out of a training")
        field("behind").fill("2")
        field("most_games").fill("8")
        assert page.locator(".entrants").is_hidden()
        page.get_by_role("textbox", name="Name").fill("last-one")
        table.wait_for("!document.querySelector('#start-card [type=submit]').disabled")
        page.get_by_role("button", name="Start").click()
        page.get_by_text("Best: first-steps", exact=False).wait_for()
        assert page.get_by_role("region", name="Rounds of last-one").get_by_role("row").count() == 2
