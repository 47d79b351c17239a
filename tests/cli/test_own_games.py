"""A game of somebody's own on the command line: counted, played and learned as the games of this package are."""

import json
from pathlib import Path

import pytest

from jaxgames import cli
from jaxgames.cli.common import command
from jaxgames.envs import registry
from jaxgames.players.plugins import option_of
from jaxgames.runs import Run, processes

NIM = ["--plugin", str(Path(__file__).with_name("nim.py"))]


@pytest.fixture(autouse=True)
def own_registry(monkeypatch):
    """What is registered here is forgotten."""
    monkeypatch.setattr(registry, "GAMES", dict(registry.GAMES))


def test_counted_with_options_of_its_own(capsys):
    assert cli.main(["perft", "nim", "2", *NIM, "--set", "heaps=1,2,3", "--json"]) == 0
    assert json.loads(capsys.readouterr().out)["counts"] == [1, 6, 26]
    assert cli.main(["perft", "nim", "2", "--set", "heaps=x"]) == 2
    assert capsys.readouterr().err == "jaxgames: heaps='x': expected whole numbers, such as 1,2\n"


def test_played(capsys):
    assert cli.main(["match", "random", "random", "--game", "nim", *NIM, "--games", "8", "--json"]) == 0
    assert json.loads(capsys.readouterr().out)["game"] == "nim"


def test_learned(tmp_path, monkeypatch):
    configs, known = [], []
    mine = tmp_path / "my games" / "nim.py"
    mine.parent.mkdir()
    mine.write_text(Path(NIM[1]).read_text())

    def stop(path, config):
        configs.append(config)
        raise KeyboardInterrupt

    monkeypatch.setattr(Run, "create", stop)
    monkeypatch.setattr(processes, "join", lambda *_: known.append("nim" in registry.GAMES))
    asked = f"train td --game nim --set encoding=observation --games 200 --out {tmp_path}/a"
    assert cli.main([*asked.split(), "--plugin", str(mine)]) == 130
    assert configs[0]["learner"]["game"] == "nim"
    assert known == [False]  # a plug-in may use the devices, which are told before
    assert option_of("nim") == f" --plugin '{mine}'"
    assert command("train", "--resume", plugins=[str(mine)]) == f"jaxgames train --resume --plugin '{mine}'"
