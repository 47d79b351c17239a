"""Networks of the Hugging Face Hub, from a hub that is a folder: no network is needed."""

import json
import shutil
import sys
import types
from importlib import resources

import jax
import numpy as np
import pytest

from jaxgames import baselines

NAME = "tic-tac-toe-evolved"
ADDRESS = f"hf://somebody/networks/{NAME}.safetensors"


@pytest.fixture
def hub(tmp_path, monkeypatch):
    """The repository `somebody/networks`, which holds one network."""

    def download(repository, file):
        if repository != "somebody/networks" or not (tmp_path / file).is_file():
            raise OSError(f"404 Client Error.\n\nEntry Not Found for {repository}/{file}.")
        return str(tmp_path / file)

    (tmp_path / "deep").mkdir()
    for kind in (".json", ".safetensors"):
        source = resources.files("jaxgames") / "baselines" / f"{NAME}{kind}"
        shutil.copy(str(source), tmp_path)
        shutil.copy(str(source), tmp_path / "deep")
    monkeypatch.setitem(sys.modules, "huggingface_hub", types.SimpleNamespace(hf_hub_download=download))
    return tmp_path


@pytest.mark.parametrize("address", [ADDRESS, ADDRESS.replace("networks/", "networks/deep/")])
def test_it_is_the_network_of_its_files(hub, address):
    (apply, params), (known, others) = baselines.load(address), baselines.load(NAME)
    assert apply == known
    jax.tree.map(np.testing.assert_array_equal, params, others)


def test_what_cannot_be_had_gets_one_line(hub):
    for name, why in {
        "hf://somebody/networks": "expected hf://OWNER/REPOSITORY/NAME.safetensors$",
        "hf://somebody/networks/x.npz": "expected hf://OWNER/REPOSITORY/NAME.safetensors$",
        "hf://somebody/x.safetensors": "expected hf://OWNER/REPOSITORY/NAME.safetensors$",
        "hf://somebody/networks/x.safetensors": "cannot be fetched: 404 Client Error. Entry Not Found for .*x.json.$",
    }.items():
        with pytest.raises(ValueError, match=f"^{name}:? {why}"):
            baselines.load(name)
    with pytest.raises(ValueError, match=f"^{ADDRESS} holds a player of tic_tac_toe, not of checkers$"):
        baselines.load(ADDRESS, "checkers")


def test_foreign_files_get_one_line(hub):
    card = json.loads((hub / f"{NAME}.json").read_text())
    for text, why in {
        json.dumps(card | {"sha256": "0"}): "does not hold the weights .*; ask somebody for both files$",
        json.dumps(card | {"kind": "x"}): "unknown kind 'x' of training",
        json.dumps({"architectures": ["Bert"]}): f"^{ADDRESS}: {NAME}.json is no card of .* .KeyError: 'game'.$",
        json.dumps(card | {"network": 3}): "the settings of evolved networks are 3; expected names with values",
        "[1]": "is no card of a baseline .TypeError",
        "<html>": "is no card of a baseline .JSONDecodeError",
    }.items():
        (hub / f"{NAME}.json").write_text(text)
        with pytest.raises(ValueError, match=why) as caught:
            baselines.load(ADDRESS)
        assert "\n" not in str(caught.value)


def test_without_the_extra_one_line_says_which(monkeypatch):
    monkeypatch.setitem(sys.modules, "huggingface_hub", None)
    with pytest.raises(ImportError, match=r"^not installed: huggingface_hub; .*'jaxgames\[huggingface\]'$"):
        baselines.load(ADDRESS)
