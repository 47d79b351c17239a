"""What people see of a training while it runs."""

from contextlib import contextmanager

from jaxgames.recipes import report
from jaxgames.recipes.report import Report, show_results


def test_a_bar_moves_between_two_lines_of_metrics(monkeypatch):
    told = []

    @contextmanager
    def bar(total):
        yield lambda done, text: told.append((total, done, text))

    monkeypatch.setattr(report, "progress_bar", bar)
    for one in (Report(), Report(quiet=True)):
        one.moving(0.1, "before there is a bar")
        with one.progress(1.0):
            one.moving(0.5, "half of a generation")
        one.moving(0.9, "after it")
    assert told == [(1.0, 0.5, "half of a generation")]


def test_the_command_that_measures_can_be_pasted(capsys):
    result = {"games": 9, "games_per_second": None, "run": f"my {'long ' * 30}run", "curve": "curve.png"}
    show_results(result, "td", ["against"], [["random"]], [], "random --games 10")
    assert capsys.readouterr().out.endswith(f"jaxgames match '{result['run']}' random --games 10\n")
