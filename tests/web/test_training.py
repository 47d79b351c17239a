"""The page of the trainings: a run under way, and its players."""

import os
import time

import jax
import pytest

from jaxgames.algos.td import make_config
from jaxgames.runs import Run
from jaxgames.web.training import MOST_POINTS, Trainings, title
from tests.web.pages import PERSON, page, serving

CONFIG = make_config(game="tic_tac_toe", encoding="observation", hidden=(), outputs=2)


@pytest.fixture(scope="module")
def run(tmp_path_factory):
    content = {"kind": "td", "recipe": "td-gammon", "game": "tic_tac_toe", "learner": CONFIG.to_json()}
    run = Run.create(tmp_path_factory.mktemp("runs") / "mine", content)
    for step in range(3):
        run.log({"step": step, "games": 100 * step, "loss": 1 / (1 + step), "note": "text", "bad": float("nan")})
    run.save_best(CONFIG.network().init(jax.random.key(0)), {"games": 200, "ppg": 0.5})
    return run


@pytest.fixture(scope="module")
def server(run):
    with serving(runs=[str(run.path)]) as found:
        yield found


def test_a_run_as_the_page_reads_it(server, run):
    _, http = server
    found = http.get("/api/runs/mine").json()
    assert (found["game"], found["recipe"], found["x"], found["under_way"]) == (
        "tic_tac_toe",
        "td-gammon",
        "games",
        True,
    )
    assert found["measures"] == ["loss"] and found["best"] == {"games": 200, "ppg": 0.5}
    assert [line["games"] for line in found["metrics"]] == [0, 100, 200] and found["metrics"][0]["bad"] is None
    assert (found["player"], found["newest"], found["checkpoints"], found["error"]) == ("mine", None, [], None)
    listed = http.get("/api/runs").json()["runs"]
    assert [one["name"] for one in listed] == ["mine"] and "metrics" not in listed[0]
    assert http.get("/api/games").json()["runs"] == ["mine"]
    assert str(run.path) not in http.get("/api/runs").text + http.get("/api/games").text


def test_what_is_logged_later_is_shown_and_a_run_at_rest_is_said_to_be(server, run, monkeypatch):
    _, http = server
    run.log({"step": 3, "games": 300, "loss": 0.1})
    monkeypatch.setattr("jaxgames.web.training.KEPT_SECONDS", 0.0)
    assert http.get("/api/runs/mine").json()["last"] == {"step": 3, "games": 300, "loss": 0.1}
    old = time.time() - 600
    for entry in os.scandir(run.path):
        os.utime(entry.path, (old, old))
    found = http.get("/api/runs/mine").json()
    assert not found["under_way"] and 590 < found["updated"] < 700


def test_the_best_player_of_a_run_plays(server):
    _, http = server
    with page(http) as ann:
        ann.create("tic_tac_toe", [PERSON, {"kind": "player", "spec": "mine"}])
        ann.do("speed", seconds=0)
        ann.step()
        assert ann.wait(lambda s: s["ply"] == 2)["seats"][1]["name"] == "mine"
        assert "has no checkpoint yet" in ann.refuse("seat", seat=1, to={"kind": "player", "spec": "newest:mine"})


def test_measures_have_words_and_those_that_matter_come_first(tmp_path):
    run = Run.create(tmp_path / "long", {})
    names = (
        "games loss games_per_second plies_per_game score_random score_random_low score_random_high win_random bad_low"
    )
    run.log({"step": 1} | dict.fromkeys(names.split(), 1.0))
    found = Trainings({"long": run.path}).describe("long")
    assert found["measures"] == ["score_random", "loss", "bad_low", "games_per_second", "plies_per_game", "win_random"]
    words = [found["titles"][name] for name in found["measures"]]
    assert words[0] == "score against random, %" and words[3:] == [
        "games a second",
        "plies a game",
        "won against random, %",
    ]
    assert not [one for one in found["titles"].values() if "_" in one]
    assert title("validation_value_squared") == "value squared in validation"


def test_unknown_and_broken_runs(server, tmp_path):
    _, http = server
    assert http.get("/api/runs/other").status_code == 404
    assert http.get("/api/runs/other").json()["error"] == "unknown training; the server was started with: mine"
    folder = tmp_path / "broken"
    folder.mkdir()
    (folder / "config.json").write_text("{")
    found = Trainings({"broken": folder}).describe("broken")
    assert "no JSON" in found["error"] and str(tmp_path) not in found["error"]
    with (
        pytest.raises(ValueError, match="does not exist; expected the folder of a training"),
        serving(runs=["/no/run"]),
    ):
        pass


def test_long_runs_are_thinned(tmp_path):
    run = Run.create(tmp_path / "long", {})
    (run.path / "metrics.jsonl").write_text("".join(f'{{"step": {n}, "loss": 1.0}}\n' for n in range(5000)))
    found = Trainings({"long": run.path}).describe("long")
    steps = [line["step"] for line in found["metrics"]]
    assert len(steps) == MOST_POINTS and steps[0] == 0 and steps[-1] == 4999 and found["player"] is None
