"""Both reproductions of tic-tac-toe: the published numbers, and every part on small made-up runs."""

import itertools
from pathlib import Path

import numpy as np
import pytest

from jaxgames.envs.tic_tac_toe.notation import LINES
from jaxgames.recipes.evolution import networks_file
from jaxgames.recipes.report import Report
from jaxgames.recipes.reproduce import Study, self_taught_tic_tac_toe, tic_tac_toe_evolution
from jaxgames.recipes.self_play_population import SETTINGS
from jaxgames.recipes.tic_tac_toe_evolution import RERUN, all_positions
from jaxgames.recipes.tic_tac_toe_self_play import RECIPE as SELF_PLAY
from jaxgames.runs import Run

DATA = Path(__file__).parents[2] / "data"
NETS = (DATA / "tic_tac_toe/evolution/nets.txt").read_text("utf-8")


def test_the_printed_games_are_games_with_the_printed_results():
    published = tic_tac_toe_evolution.PUBLISHED
    results = {"won": 0, "drawn": 0, "lost": 0}
    for number, game in enumerate(published["5.1 games, X is the network"]):
        for ply, (before, after) in enumerate(itertools.pairwise([".../.../...", *game])):
            (new,) = [new for old, new in zip(before, after, strict=True) if old != new]
            assert new == "XO"[(ply + number) % 2], "the network begins every other game"
        last = game[-1].replace("/", "")
        winner = {last[a] for a, b, c in LINES if last[a] == last[b] == last[c] != "."}
        results["won" if "X" in winner else "lost" if "O" in winner else "drawn"] += 1
    assert results == published["results of the network"]


def test_moves_of_the_printed_games():
    moves, every = tic_tac_toe_evolution.played_moves(), all_positions()
    assert len(moves) == 5 + 3 + 3 + 4 + 4 + 4
    positions, cells = (np.array(column) for column in zip(*moves, strict=True))
    assert (every.after[every.open][positions, cells] >= 0).all()
    wins, blocks = every.wins[every.open], every.blocks[every.open]
    assert (int(wins[positions].any(axis=1).sum()), int(wins[positions, cells].sum())) == (3, 2)
    assert (int(blocks[positions].any(axis=1).sum()), int(blocks[positions, cells].sum())) == (6, 3)


@pytest.fixture
def study(tmp_path):
    return Study.create(tmp_path / "study", "x", True, 0, Report(quiet=True))


def made_up_run(path, config, metrics):
    run = Run.create(path, config)
    for line in metrics:
        run.log(line)
    return run


def test_parts_of_the_evolution(study, monkeypatch):
    """The networks of every round are the program's own, so that its figures come out again."""
    names = [*tic_tac_toe_evolution.MEASURES]
    metrics = [{"step": step} | {name: 10.0 * step for name in names} for step in range(1, 9)]
    settings = ("original", "illegal-loses", "crossover")
    runs = {name: made_up_run(study.path / "runs" / name, {}, metrics) for name in settings}
    for run in runs.values():
        (run.path / "networks").mkdir()
        for number in range(1, 9):
            networks_file(run, number).write_text(NETS)
    begun = []
    monkeypatch.setattr(
        Study, "train", lambda self, name, *of: begun.append((name, *of)) or runs[name.split(",")[0]].path
    )
    monkeypatch.setattr(Study, "seconds_of", lambda self, name: 2.0)
    monkeypatch.setattr(tic_tac_toe_evolution, "ROUNDS", 8)
    monkeypatch.setattr(tic_tac_toe_evolution, "SIDE_ROUNDS", 4)
    times = tic_tac_toe_evolution._times
    monkeypatch.setattr(tic_tac_toe_evolution, "_times", lambda repeats: times(4))
    whole = Study.create(study.path.parent / "whole", "x", False, 0, Report(quiet=True))
    with monkeypatch.context() as fast:
        nothing = {name: np.zeros(2) for name in (*names, "illegal")}
        fast.setattr(tic_tac_toe_evolution, "measured", lambda network, rows: nothing)
        rows = tic_tac_toe_evolution.for_whole_trainings(whole)
    assert len(rows) == 7 + 8 and all("after 8 rounds" in row.what for row in rows)
    assert {(name, setting): changes for name, _, setting, changes in begun} == {
        (name, name.split(",")[0]): {"generations": "8"}
        for name in ("illegal-loses, whole", "original", "crossover, whole")
    }  # fmt: skip
    report = tic_tac_toe_evolution.SYSTEM.reproduce(study)
    parts = {part["key"]: part for part in report["parts"]}
    rerun = parts["rerun"]["rows"]
    assert len(rerun) == 7 and all(row["verdict"] == "agrees" for row in rerun)
    assert [row["ours"] for row in rerun] == pytest.approx([row["published"] for row in rerun], abs=0.06)
    assert [row["high"] - row["ours"] for row in rerun] == pytest.approx([*_margins(rerun)], abs=0.06)
    assert all(row["verdict"] == "set" for row in parts["settings"]["rows"])
    games = {row["what"].split(",")[0]: row for row in parts["games"]["rows"]}
    assert games["wins at hand that are taken"]["published"] == pytest.approx(200 / 3)
    assert games["threats of the other player that are met"]["published"] == 50
    loses, legal = (row["ours"] for row in parts["illegal"]["rows"][:2])
    assert loses < legal
    for part in report["parts"]:
        assert all(row["verdict"] not in ("differs", "not done") or row["why"] for row in part["rows"]), part["key"]
        assert part["picture"] is None or (study.path / part["picture"]).read_bytes()[:4] == b"\x89PNG"


def _margins(rows):
    names = {text: name for name, text in tic_tac_toe_evolution.MEASURES.items()}
    return [RERUN["margins"][names[row["what"].split(",")[0]]] for row in rows]


def test_parts_of_the_self_taught_network(study, monkeypatch):
    names, rng = SETTINGS["all"], np.random.default_rng(0)
    level = {"faithful": 95, "only-random": 90, "only-self-play": 100, "large-steps": 60}

    def line(step):
        found = {"step": step, "games": 100 * step}
        for name in names:
            each = (level.get(name, 80) + rng.random(4) * (name != "only-self-play")).tolist()
            for kind in ("training", "random", "measured"):
                found |= {f"{name}/{kind}": each[0], f"{name}/{kind}/low": min(each), f"{name}/{kind}/high": max(each)}
                found[f"{name}/{kind}/each"] = each
            found[f"{name}/one"] = [95]
        return found

    run = made_up_run(study.path / "runs" / "all", {"games": 2000}, [line(step) for step in range(1, 21)])
    monkeypatch.setattr(Study, "train", lambda self, *_, **__: run.path)
    whole = Study.create(study.path.parent / "whole", "x", False, 0, Report(quiet=True))
    gains = {row.what: row for row in self_taught_tic_tac_toe.long(whole)}
    assert len(gains) == 2 * len(names) and 4 < gains["gain by self-play"].ours < 6
    assert gains["empty squares 0: gain"].verdict == "agrees", "far below, as the text says"
    report = self_taught_tic_tac_toe.SYSTEM.reproduce(study)
    rows = {row["what"]: row for part in report["parts"] for row in part["rows"]}
    assert rows["good results per 100 games at the end, mean"]["verdict"] == "agrees"
    assert rows["drawn with itself at the end, mean"]["verdict"] == "agrees"
    assert rows["step size 0.1: networks with 90 or more"]["ours"] == 0
    assert 4 < rows["gain by self-play"]["ours"] < 6 and rows["gain by self-play"]["low"] > 3
    assert rows["games after which the median first reaches 90"]["ours"] == 100
    for part in report["parts"]:
        assert part["picture"] is None or (study.path / part["picture"]).read_bytes()[:4] == b"\x89PNG"


def test_settings_of_the_self_taught_network_are_those_of_the_text(study):
    rows = self_taught_tic_tac_toe.settings(study)
    assert len(rows) == 10 and all(row.verdict == "set" for row in rows)
    assert self_taught_tic_tac_toe.RECIPE is SELF_PLAY
