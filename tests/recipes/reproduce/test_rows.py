"""Figures that become rows."""

import pytest

from jaxgames.recipes.reproduce.rows import layer_rows, mean_row, range_row, result_rows, setting_rows, share_row


def test_results_have_the_intervals_of_wilson():
    theirs = {"games": 10_000, "won": 5291, "lost": 2000, "drawn": 1461}
    match = {"games": 400, "win_rate": 0.53, "loss_rate": 0.32, "draw_rate": 0.15}
    won, lost, drawn = result_rows(match, "random", theirs, "why")
    assert (won.verdict, lost.verdict, drawn.verdict) == ("agrees", "differs", "agrees")
    assert result_rows(match | {"win_rate": 0.63}, "random", theirs, "why")[0].verdict == "better"
    assert {row.verdict for row in result_rows(match, "random", None, "why")} == {"-"}


def test_means_and_shares():
    row = mean_row("x", [1.0, 2.0, 3.0], 2.5, unit="%")
    assert (row.ours, row.high - row.low) == (2, pytest.approx(2 * 1.959964 / 3**0.5))
    assert mean_row("x", [1.0]).low is None
    row = share_row("x", 1, 10)
    assert (row.ours, row.low, row.high) == pytest.approx((10, 1.787, 40.415), abs=1e-3)
    assert share_row("x", 0, 12).high == pytest.approx(24.25, abs=0.01)
    row = share_row("x", 0, 0)
    assert (row.ours, row.verdict, row.why) == (None, "not done", "none came up")
    row = range_row("x", [50, 70], 71.0)
    assert (row.published, row.published_margin, row.verdict) == (60, 10, "differs")


def test_settings_and_layers():
    rows = setting_rows({"a": 2, "b": 0.5, "c": 1}, {"b": 0.25, "a": 2})
    assert [(row.what, row.verdict, row.digits) for row in rows] == [("b", "differs", 3), ("a", "set", 0)]
    assert [row.what for row in layer_rows([9, 3, 1], [9, 3, 1])] == ["inputs", "units of layer 1", "units of layer 2"]
