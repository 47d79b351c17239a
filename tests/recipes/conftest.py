"""Short trainings that several files look at."""

import json
from types import SimpleNamespace

import pytest

from jaxgames import cli
from jaxgames.runs import Run

TIC_TAC_TOE = (
    "td --game tic_tac_toe --games 20000 --devices 1 --set hidden=16 --set batch=64 --measured-games 40 "
    "--final-games 40 --json"
).split()


def one_line(capsys) -> str:
    """The only line that was printed: an error."""
    out, error = capsys.readouterr()
    assert out == "" and error.count("\n") == 1, error
    return error


@pytest.fixture
def refused(tmp_path, capsys):
    """`refused(*arguments)` is the line by which `train` refuses these, before it makes a folder."""

    def line(*arguments: str) -> str:
        try:
            status = cli.main(["train", *arguments, "--out", str(tmp_path / "out")])
        except SystemExit as stop:
            status = stop.code
        assert status == 2 and not (tmp_path / "out").exists()
        return one_line(capsys)

    return line


@pytest.fixture(scope="session")
def tic_tac_toe(tmp_path_factory):
    """A training that nobody disturbed, and what its command printed."""
    path = tmp_path_factory.mktemp("runs") / "tic_tac_toe"
    with pytest.MonkeyPatch.context() as patch:
        printed = []
        patch.setattr("builtins.print", lambda text, **_: printed.append(text))
        assert cli.main(["train", *TIC_TAC_TOE, "--out", str(path)]) == 0
    (text,) = printed
    return SimpleNamespace(run=Run.open(path), result=json.loads(text))
