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
        with one.progress(1.0) as update:
            one.moving(0.5, "half of a generation")
            update(0.6, {"games": 3, "games_per_second": 2.0, "loss": None})
        one.moving(0.9, "after it")
    assert told == [(1.0, 0.5, "half of a generation"), (1.0, 0.6, "3 games, 2 games/s, nothing learned yet")]


def test_an_interval_to_one_side_is_shown_as_far_as_it_goes():
    """All games won: the interval is below the score only."""
    match = {"b": "random", "games": 20, "ppg": 1.0, "ppg_low": 0.6, "ppg_high": 1.0}
    rates = {"win_rate": 1.0, "draw_rate": 0.0, "loss_rate": 0.0}
    (row,) = report._score_rows({"matches": [match | rates]})
    assert row[2] == "100.0 ± 20.0"


def test_a_row_has_the_figures_of_its_opponent():
    match = {"b": "pubeval", "ppg": 0.5, "ppg_low": 0.4, "ppg_high": 0.6, "win_rate": 0.6}
    match |= {"gammon_rate": 0.2, "gammon_loss_rate": 0.1}
    published = [{"opponent": opponent} for opponent in ("random", "pubeval", "pubeval")]
    (row,) = report._points_rows({"matches": [match], "published": published})
    assert row == ("pubeval", "+0.500", "+0.400 .. +0.600", "60.0", "20.0/10.0", "b, c")


def test_a_drawn_line_of_play_is_half_a_win():
    tally = {"lines": 10, "won": 5, "drawn": 4, "lost": 1}
    first, second = report._score_rows({"matches": [], "every_line": {"first": tally, "second": tally | {"won": 6}}})
    assert first == ("all lines, first", "10", "70.0", "50.0", "40.0", "10.0") and second[3] == "60.0"


def test_the_command_that_measures_can_be_pasted(capsys):
    result = {"games": 9, "games_per_second": None, "run": f"my {'long ' * 30}run", "curve": "curve.png", "seed": 7}
    show_results(result, "td", ["against"], [["random"]], [], "random --games 10")
    assert capsys.readouterr().out.endswith(f"jaxgames match '{result['run']}' random --games 10 --seed 9\n")
