"""The page of players and the help of `jaxgames match` say what there is."""

import re
from pathlib import Path

import pytest

from jaxgames.cli import main
from jaxgames.players import available_players
from jaxgames.players.registry import PLAYERS, TRAINED

PAGE = Path(__file__).parents[2] / "docs" / "players.md"


def test_the_page_lists_exactly_the_players():
    rows = PAGE.read_text("utf-8").partition("<!-- table: players -->\n")[2].partition("<!--")[0].splitlines()[2:]
    listed = [re.findall("`([^`]+)`", row.split(" | ")[0]) for row in rows]
    assert listed == [list(entry.examples) for entry in (*PLAYERS.values(), TRAINED)]
    assert {spec for row in listed for spec in row if "RUN" not in spec} == set(available_players())
    for row, entry in zip(rows, (*PLAYERS.values(), TRAINED), strict=True):
        assert entry.help and re.findall("`([a-z_]+)`: ", row.split(" | ", 3)[3]) == list(entry.options)


def test_so_does_the_help_of_matches(capsys):
    with pytest.raises(SystemExit):
        main(["match", "--help"])
    out = capsys.readouterr().out
    assert all(f"  {', '.join(entry.examples)}  " in out for entry in (*PLAYERS.values(), TRAINED))
