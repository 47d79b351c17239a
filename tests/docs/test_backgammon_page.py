"""The page about backgammon says what is true."""

import re
from pathlib import Path

import jaxgames
from jaxgames.envs.backgammon import ROLLS

PAGE = (Path(__file__).parents[2] / "docs" / "games" / "backgammon.md").read_text()


def test_the_code_runs_as_pasted(capsys):
    code = re.search(r"```python\n(.*?)```", PAGE, re.DOTALL)[1]
    exec(compile(code, "backgammon.md", "exec"), {})
    out = capsys.readouterr().out
    assert "4HPwATDgc/ABMA:31" in out and "8/5 6/5\n" in out
    assert out.rstrip().endswith("True")


def test_the_numbers():
    game = jaxgames.make("backgammon")
    assert f"{game.num_actions} actions, {len(ROLLS)} outcomes" in PAGE
    assert f"Version `{game.version}`" in PAGE
    assert f"int32{list(game.observation_shape)}" in PAGE
