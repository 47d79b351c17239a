"""The page of players and the help of `jaxgames match` say what there is."""

import re
from pathlib import Path

import pytest

from jaxgames.cli import main
from jaxgames.players import available_players
from jaxgames.players.registry import FROM_FOLDER, PLAYERS

PAGE = Path(__file__).parents[2] / "docs" / "players.md"


def rows(name):
    """The cells of a table of the page, without its heading."""
    text = PAGE.read_text("utf-8").partition(f"<!-- table: {name} -->\n")[2].partition("<!--")[0]
    return [[re.findall("`([^`]+)`", cell) for cell in row.split(" | ")] for row in text.splitlines()[2:]]


def test_the_page_lists_exactly_the_players():
    entries = (*PLAYERS.values(), FROM_FOLDER)
    assert [(row[0], row[3]) for row in rows("players")] == [(list(e.examples), list(e.options)) for e in entries]
    assert {spec for row in rows("players") for spec in row[0] if "RUN" not in spec} == set(available_players())
    listed = {(option, name) for (option,), names, *_ in rows("options") for name in names}
    assert listed == {(o, n) for n, e in (*PLAYERS.items(), ("RUN@2", FROM_FOLDER)) for o in e.options}


def test_so_does_the_help_of_matches(capsys):
    with pytest.raises(SystemExit):
        main(["match", "--help"])
    out = capsys.readouterr().out
    assert all(f"  {', '.join(entry.examples)}  " in out for entry in (*PLAYERS.values(), FROM_FOLDER))
