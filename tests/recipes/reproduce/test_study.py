"""The frame of the reproductions: cells kept, verdicts, reports, and the command's errors."""

import json
from pathlib import Path

import jax
import numpy as np
import pytest

import jaxgames
from jaxgames.algos.imitation.data import load, open_of
from jaxgames.cli import main
from jaxgames.recipes.report import Report
from jaxgames.recipes.reproduce import SYSTEMS, Part, Row, Study, System, system_named
from jaxgames.recipes.reproduce.report import cells_of, read_report, report_again, tables_of
from jaxgames.recipes.reproduce.rows import pooled, published, range_row

QUIET = Report(quiet=True)


@pytest.mark.parametrize(
    ("row", "verdict"),
    [
        (Row("within our interval", 10.0, 11.0, 9.5, 12.5), "agrees"),
        (Row("within the published margin", 10.0, 11.0, published_margin=1.0), "agrees"),
        (Row("the margins add as squares", 10.0, 15.1, 12.1, 18.1, published_margin=4.0), "differs"),
        (Row("just within both", 10.0, 14.9, 11.9, 17.9, published_margin=4.0), "agrees"),
        (Row("higher is better", 10.0, 12.0, 11.9, 12.1, best="high"), "better"),
        (Row("lower is not", 10.0, 8.0, 7.9, 8.1, best="high"), "differs"),
        (Row("lower is better", 10.0, 8.0, 7.9, 8.1, best="low"), "better"),
        (Row("neither is better", 10.0, 12.0, 11.9, 12.1), "differs"),
        (Row("an end of an interval that is not even", 0.67, 0.0, 0.0, 0.76, best="low"), "agrees"),
        (Row("the other end", 10.0, 11.0, 10.5, 19.0, best="high"), "better"),
        (Row("the published interval is not even, either", 10.0, 12.0, published_margin=(0.5, 2.5)), "agrees"),
        (Row("below it", 10.0, 8.0, published_margin=(0.5, 2.5)), "differs"),
        (Row("holds zero and twice the figure", 75.0, 126.0, 0.0, 323.0), "too wide"),
        (Row("holds zero, not twice the figure", 0.02, 0.01, 0.0, 0.02, published_margin=0.01), "agrees"),
        (Row("below nothing", -0.0154, 0.0, -0.5, 0.5), "agrees"),
        (Row("an input", 10.0, 10.0, is_set=True), "set"),
        (Row("another input", 10.0, 9.0, is_set=True), "differs"),
        (Row("a claim", None, 1.0, 0.5, 1.5, claim="above"), "agrees"),
        (Row("a claim that is open", None, 1.0, -0.5, 2.5, claim="above"), "not confirmed"),
        (Row("a claim that is wrong", None, 1.0, 0.5, 1.5, claim="below"), "not confirmed"),
        (Row("nothing published", None, 12.0), "-"),
        (Row("nothing measured", 10.0, why="no data"), "not done"),
    ],
    ids=lambda value: value.what if isinstance(value, Row) else "",
)
def test_verdicts(row: Row, verdict: str):
    assert row.verdict == verdict


def test_a_row_as_texts():
    row = Row("UCT", 61.6, 1234.5, 1200.0, 1269.0, "%", "low", why="reason", learner="fast")
    assert cells_of(row) == ("UCT (fast)", "61.6 %", "1,234.5 %", "1,200.0 to 1,269.0", "differs: reason")
    assert cells_of(Row("UCT", None, None, why="reason")) == ("UCT", "–", "–", "", "not done: reason")


def test_ranges_and_claims_as_texts():
    assert cells_of(range_row("moves", [50, 70], 62.5, unit="plies"))[1] == "50 to 70 plies"
    row = Row("gain", None, -3.0, -7.5, 1.5, "%", claim="above", text="self-play helps")
    assert cells_of(row)[1:] == ("self-play helps", "-3.0 %", "-7.5 to 1.5", "not confirmed")


def test_rows_that_agree_may_differ_as_a_whole():
    rows = [Row(f"{i}", 50.0, 51.0, 49.5, 52.5, "%", "high") for i in range(9)]
    assert all(row.verdict == "agrees" for row in rows)
    count, mean, low, high = pooled(rows)
    assert (count, mean, low, high) == (9, 1.0, pytest.approx(0.5), pytest.approx(1.5))
    assert pooled(rows[:8]) is None and pooled([*rows, rows[0]._replace(unit="PPG")]) is None
    assert pooled([*rows, Row("left out", 50.0, unit="%", best="high", why="no time")])[0] == 9


def test_a_page_is_made_anew_from_its_figures(tmp_path: Path, capsys, monkeypatch):
    rows = [Row("a", 1.0, 1.0, is_set=True), Row("b", 1.0, 2.0, 1.5, 2.5, "%", "high", (0.1, 0.2), why="because")]
    study = Study.create(tmp_path / "a", "x", False, 0, QUIET)
    system = System("x", "A System", "A. Author, *A Title*, 2001", (Part("t", "T", lambda _: rows),))
    report = system.reproduce(study)
    page, stored = (study.path / "report.md").read_text(), (study.path / "report.json").read_text()
    (study.path / "report.json").write_text(stored.replace('"set"', '"agrees"'))  # by an older rule
    monkeypatch.setattr("jaxgames.recipes.reproduce.system_named", lambda name: system)
    assert main(["reproduce", "x", "--again", str(study.path), "--json"]) == 0
    assert json.loads(capsys.readouterr().out)["parts"] == json.loads(stored)["parts"]
    assert (study.path / "index.md").read_text() == page and (study.path / "report.json").read_text() == stored
    assert "1 better, 1 set" in page and report["parts"][0]["rows"][1]["verdict"] == "better"
    (study.path / "report.json").write_text(json.dumps(report | {"note": "A remark."}))
    assert "\nA remark.\n" in (report_again(system, study.path), (study.path / "index.md").read_text())[1]


@pytest.fixture
def parts(tmp_path: Path):
    """A system of two parts, whose figures a list says; makes a report of some of them in a folder."""
    ours = [2.0, 2.0]

    def draw(study, rows, path):
        path.write_text(f"picture of {rows[0].ours}")

    made = tuple(
        Part(key, f"Part {key}", lambda _, i=i: [Row("it", 1.0, ours[i]), Row("that", 1.0, 3.0)], draw,
             reasons={"i*": "because"}, takes="an hour")
        for i, key in enumerate("ab")
    )  # fmt: skip
    system = System("x", "A System", "A. Author, *A Title*, 2001", made)

    def measure(folder: str, *keys: str):
        place = tmp_path / folder
        study = (Study.resume if place.exists() else Study.create)(place, "x", False, 0, QUIET)
        return system.reproduce(study, keys)

    return system, ours, measure, tmp_path


def test_parts_are_measured_one_by_one(parts):
    """What a report has stays; what it has not is said, with the command; each difference has its reason."""
    _, ours, measure, path = parts
    report = measure("a", "b")
    assert [part["key"] for part in report["parts"]] == ["b"]
    page = (path / "a" / "report.md").read_text()
    assert "Not measured: `jaxgames reproduce x --parts a` does, in an hour." in page
    assert "1 of 2 parts not measured" in page
    assert [row["why"] for row in report["parts"][0]["rows"]] == ["because", "the reason is not known"]
    ours[:] = 5.0, 6.0
    assert [part["rows"][0]["ours"] for part in measure("a", "a")["parts"]] == [5.0, 2.0]
    assert "Not measured" not in (path / "a" / "report.md").read_text()
    with pytest.raises(ValueError, match="x has no part 'c'; expected some of a, b"):
        measure("a", "c")


def test_newer_parts_take_the_place_of_older_ones(parts):
    system, ours, measure, path = parts
    measure("old")
    ours[:] = 5.0, 6.0
    measure("new", "b")
    other = (path / "new" / "report.json").read_text()
    (path / "new" / "report.json").write_text(other.replace('"jax": "', '"jax": "9'))
    report = report_again(system, path / "old", [path / "new"])
    assert [part["rows"][0]["ours"] for part in report["parts"]] == [2.0, 6.0]
    assert (path / "old" / "a.png").read_text() == "picture of 2.0"
    assert (path / "old" / "b.png").read_text() == "picture of 6.0"
    jax_of = [part["environment"]["versions"]["jax"] for part in report["parts"]]
    assert jax_of[1] == "9" + jax_of[0] == "9" + report["environment"]["versions"]["jax"]
    page = (path / "old" / "index.md").read_text()
    assert page.count(f"jax {jax_of[0]}") == page.count(f"jax {jax_of[1]}") == 1
    (path / "new" / "report.json").write_text(other.replace('"quick": false', '"quick": true'))
    with pytest.raises(ValueError, match="has a report of quick True; expected False"):
        report_again(system, path / "old", [path / "new"])


def test_tables_that_belong_together_are_tested_together(tmp_path: Path):
    rows = [Row(f"{i}", 50.0, 51.0, 49.5, 52.5, "%", "high") for i in range(5)]
    made = tuple(Part(key, key, lambda _: rows, whole="Both tables") for key in "ab")
    study = Study.create(tmp_path / "s", "x", False, 0, QUIET)
    System("x", "A System", "A. Author, *A Title*, 2001", made).reproduce(study)
    page = (study.path / "report.md").read_text()
    assert "Both tables: over these 10 rows ours is 1.00 % higher" in page and page.count("rows ours is") == 1


@pytest.mark.parametrize("name", SYSTEMS)
def test_committed_reports_leave_nothing_unsaid(name: str):
    """Every difference and all that is missing has its reason; verdicts, pages and pictures are those of the code."""
    folder, system = Path(__file__).parents[3] / "docs" / "reproductions" / name, system_named(name)
    report = read_report(folder)
    fresh = system.report({table.key: table for table in tables_of(report)}, report)
    assert fresh == report and system.to_markdown(report) == (folder / "index.md").read_text("utf-8")
    for part in report["parts"]:
        assert part["picture"] is None or (folder / part["picture"]).exists()
        for row in part["rows"]:
            assert row["why"] or row["verdict"] in ("agrees", "set", "-", "too wide"), (part["key"], row["what"])


def test_cells_are_measured_once(tmp_path: Path):
    measured = []

    def measure():
        measured.append(1)
        return {"value": len(measured)}

    study = Study.create(tmp_path / "a", "td-gammon", False, 0, QUIET)
    assert study.cell("x", {"games": 10}, measure)["value"] == 1
    assert study.cell("x", {"games": 10}, measure)["value"] == 1
    assert study.cell("y", {"games": 10}, measure)["value"] == 2
    del study
    with open(tmp_path / "a" / "cells.jsonl", "a") as file:
        file.write('{"step": 3, "cell": "z"')  # a killed process
    study = Study.resume(tmp_path / "a", "td-gammon", False, 0, QUIET)
    assert study.cell("x", {"games": 10}, measure)["value"] == 1 and len(measured) == 2
    assert study.cell("x", {"games": 20}, measure)["value"] == 3, "other settings are measured again"
    assert study.cell("z", {}, measure)["value"] == 4
    assert study.seconds == pytest.approx(study.seconds_of("x") + study.seconds_of("z"), abs=0.01)


def test_a_study_of_another_plan_is_told(tmp_path: Path):
    Study.create(tmp_path / "a", "td-gammon", True, 0, QUIET)
    for plan in (("td-gammon", False, 0), ("td-gammon", True, 1), ("checkers-simulation", True, 0)):
        with pytest.raises(ValueError, match="was begun otherwise: .*; choose another with --out"):
            Study.resume(tmp_path / "a", *plan, QUIET)
    with pytest.raises(ValueError, match="exists already"):
        Study.create(tmp_path / "a", "td-gammon", True, 0, QUIET)


def test_trainings_are_begun_resumed_or_taken(tmp_path: Path):
    study = Study.create(tmp_path / "a", "x", True, 3, QUIET)
    asked = {"games": 1000, "final_games": 2, "measured_games": 2, "game": "tic_tac_toe"}
    folder = study.train("net", "td", "fast", {"batch": "64", "hidden": "16"}, **asked)
    config = json.loads((folder / "config.json").read_text())["config"]
    assert (config["seed"], config["recipe"], config["learner"]["batch"]) == (3, "td", 64)
    before = (folder / "metrics.jsonl").read_bytes()
    assert study.train("net", "td", "fast", {"batch": "64", "hidden": "16"}, **asked) == folder
    assert (folder / "metrics.jsonl").read_bytes() == before
    (study.path / "cells.jsonl").unlink()  # killed before the cell was written: the run is resumed, which ends at once
    study = Study.resume(study.path, "x", True, 3, QUIET)
    study.train("net", "td", "fast", {"batch": "64", "hidden": "16"}, **asked)
    with pytest.raises(ValueError, match=r"net was begun with .*'hidden': '16'.*; remove it, or choose another --out"):
        study.train("net", "td", "fast", {"batch": "64", "hidden": "8"}, **asked)
    assert (folder / "metrics.jsonl").read_bytes() == before


def test_a_study_that_was_moved_trains_nothing_again(tmp_path: Path, monkeypatch):
    study = Study.create(tmp_path / "a", "x", True, 3, QUIET)
    cells = []
    monkeypatch.setattr(study, "cell", lambda name, settings, measure: cells.append(settings))
    for data in (study.path / "data" / "merged", tmp_path / "other"):
        study.train("net", "imitation", "mlp", data=str(data))
    assert [settings["data"] for settings in cells] == [str(Path("data", "merged")), str(tmp_path / "other")]


def test_examples_are_made_once_and_hold_no_test(tmp_path: Path, monkeypatch):
    game = jaxgames.make("tic_tac_toe")
    study = Study.create(tmp_path / "a", "x", False, 3, QUIET)
    asked = "games", game, "random", 6, 4, "position"
    found = study.examples(*asked)
    everything = load(open_of(found["folder"], game, {}), game)
    assert found["training"] + found["validation"] == len(everything.game) and found["tests"] == 0
    monkeypatch.setattr("jaxgames.recipes.reproduce.study.make_data", None)  # called no more
    assert study.examples(*asked) == found
    monkeypatch.undo()
    opening = jax.tree.map(lambda x: np.asarray(x)[None], game.init_position(jax.random.key(0)))
    other = Study.create(tmp_path / "b", "x", False, 3, QUIET)
    without = other.examples(*asked, tests=(opening, np.ones((1, 9), bool)))
    assert without["tests"] == 6 and without["training"] + without["validation"] == len(everything.game) - 1
    sources = {path.name for path in (other.path / "data" / "raw").iterdir()}
    assert {"shard-00000.npz", "shard-00001.npz"} <= sources


def test_a_report_holds_every_row_and_picture(tmp_path: Path):
    def draw(study, rows, path):
        path.write_bytes(b"PNG")

    rows = [Row("a", 1.0, 1.0), Row("b | c", 1.0, why="no room")]
    parts = (
        Part("table-1", "Table 1", lambda study: rows, draw, "A note."),
        Part("figure-2", "Figure 2", lambda _: []),
    )
    study = Study.create(tmp_path / "a", "x", True, 0, QUIET)
    report = System("x", "A System", "A. Author, *A Title*, 2001", parts).reproduce(study)
    page = (tmp_path / "a" / "report.md").read_text()
    assert json.loads((tmp_path / "a" / "report.json").read_text()) == report
    for text in (
        "# A System",
        "A. Author",
        "Quick figures",
        "1 agrees, 1 not done",
        "A note.",
        "(table-1.png)",
        "b \\| c",
    ):
        assert text in page, text
    assert (tmp_path / "a" / "table-1.png").exists() and "figure-2.png" not in page


def test_every_system_says_who_wrote_it():
    for name in SYSTEMS:
        system = system_named(name)
        assert system.citation == published(SYSTEMS[name])["citation"]
        assert system.name == name and any(year in system.citation for year in ("2007", "2018", "2020", "article"))
        assert len({part.key for part in system.parts}) == len(system.parts) > 1


@pytest.mark.parametrize(
    ("arguments", "line"),
    [
        (["reproduce", "td-gamon"], "unknown system 'td-gamon'; available:"),
        (["reproduce", "td-gammon", "--out", "used"], "used/td-gammon exists already"),
        (
            ["reproduce", "td-gammon", "--out", "empty", "--resume"],
            "empty/td-gammon does not exist; expected one that was begun, without --resume",
        ),
        (["reproduce", "td-gammon", "--again", "empty"], "empty holds no report.json"),
        (
            ["reproduce", "td-gammon", "--parts", "table-5"],
            "td-gammon has no part 'table-5'; expected some of step-sizes, table-5-1",
        ),
        (["reproduce", "td-gammon", "--seed", "-1"], "expected a whole number"),
    ],
)
def test_errors_are_one_line(arguments, line, tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "used" / "td-gammon").mkdir(parents=True)
    (tmp_path / "used" / "td-gammon" / "file").write_text("")
    try:
        status = main(arguments)
    except SystemExit as stop:
        status = stop.code
    error = capsys.readouterr().err
    assert status == 2 and line in error and error.count("\n") == 1
