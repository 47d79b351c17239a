"""The page in a real browser as the command line: trainings are set, started and stopped."""

from typing import Any

from tests.web.browser.conftest import Server
from tests.web.browser.table import opened


def test_a_training_is_set_started_and_stopped(browser: Any, server: Server) -> None:
    with opened(browser, server.url) as table:
        page = table.page
        page.goto(f"{server.url}/train")
        page.get_by_text("New training").click()
        field = lambda name: page.locator(f"#start-card [data-name={name}]")  # noqa: E731
        field("recipe").select_option("td")
        table.wait_for("document.querySelector('[data-name=game]')")
        field("game").select_option("connect_four")
        page.get_by_text("Numbers of the setting").click()
        field("hidden").fill("many")
        table.wait_for("document.querySelector('.verdict').textContent.includes(arg)", "expected whole numbers")
        start = page.get_by_role("button", name="Start")
        assert start.is_disabled()
        field("hidden").fill("8")
        page.get_by_label("Name").fill("four")
        table.wait_for("!document.querySelector('#start-card [type=submit]').disabled")
        start.click()
        page.get_by_role("heading", name="The training four").wait_for()
        page.get_by_role("button", name="Stop").click()
        page.get_by_text("stopped", exact=True).wait_for()
