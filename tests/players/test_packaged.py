"""Players that travel with the package: what is spoilt or foreign in their files gets one line."""

import json
import shutil
from typing import NamedTuple

import pytest

import jaxgames
from jaxgames import baselines, cli, players
from jaxgames.players import champions, packaged


class Kind(NamedTuple):
    """A player of a folder, another one whose weights do not fit it, the name of a spec, and what does not fit."""

    folder: str
    name: str
    other: str
    spec: str
    lacks: str


KINDS = {
    "champions": Kind("FOLDER", "tic_tac_toe", "checkers", "champion@1", r"params/Dense_0/kernel, float32\[18, 64\]"),
    "baselines": Kind(
        "PUBLISHED_FOLDER",
        "tic-tac-toe-evolved",
        "checkers-evolved",
        "tic-tac-toe-evolved",
        r"weights, float32\[1, 693\]",
    ),
}


@pytest.fixture(params=KINDS)
def copied(request, tmp_path, monkeypatch):
    """A copy of a folder of the package, to be spoilt, and which kind it is."""
    room = champions if request.param == "champions" else packaged
    kind = KINDS[request.param]
    shutil.copytree(str(getattr(room, kind.folder)), tmp_path / request.param)
    monkeypatch.setattr(room, kind.folder, tmp_path / request.param)
    return tmp_path / request.param, kind


@pytest.mark.parametrize(
    ("file", "spoil", "message"),
    [
        ("safetensors", lambda content: content[:-50], "does not hold the weights that its card tells of; install"),
        ("safetensors", lambda content: content[:-1] + b"\0", "does not hold the weights that its card tells of"),
        ("safetensors", lambda content: b"", "does not hold the weights that its card tells of; install jaxgames"),
        ("safetensors", lambda content: None, "does not hold the weights that its card tells of; install jaxgames"),
        ("json", lambda content: content[:-50], "is no card: "),
    ],
)
def test_a_spoilt_file_gets_one_line(copied, capsys, file, spoil, message):
    folder, kind = copied
    path = folder / f"{kind.name}.{file}"
    content = spoil(path.read_bytes())
    path.unlink() if content is None else path.write_bytes(content)
    assert cli.main(f"match {kind.spec} random --game tic_tac_toe --games 2".split()) == 2
    said = capsys.readouterr().err
    assert said.count("\n") == 1 and str(path) in said and message in said
    with pytest.raises(ValueError, match=message):
        baselines.load(kind.name)


def test_foreign_weights_get_one_line(copied):
    """Those of another player, under a card that knows them."""
    folder, kind = copied
    card = json.loads((folder / f"{kind.name}.json").read_text())
    other = json.loads((folder / f"{kind.other}.json").read_text())
    shutil.copy(folder / f"{kind.other}.safetensors", folder / f"{kind.name}.safetensors")
    (folder / f"{kind.name}.json").write_text(json.dumps(card | {"sha256": other["sha256"]}))
    with pytest.raises(ValueError, match=f"the weights lack {kind.lacks}"):
        players.make(kind.spec, jaxgames.make("tic_tac_toe"))
    with pytest.raises(ValueError, match=f"the weights lack {kind.lacks}"):
        baselines.load(kind.name)


def test_a_baseline_without_its_card_gets_one_line(tmp_path, monkeypatch):
    monkeypatch.setattr(packaged, "PUBLISHED_FOLDER", tmp_path)
    with pytest.raises(ValueError, match=r"tic-tac-toe-evolved\.json is no card: "):
        baselines.load("tic-tac-toe-evolved")


@pytest.mark.parametrize("name", ["tic_tac_toe", "tic-tac-toe-evolved"])
def test_a_card_may_be_changed(name):
    """It is who asked that has it: players are made of what the file says."""
    before = json.dumps(baselines.card(name))
    card = baselines.card(name)
    card.pop("sha256")
    card["trained"].clear()
    card.setdefault("levels", {})["hard"] = "random"
    assert json.dumps(baselines.card(name)) == before
