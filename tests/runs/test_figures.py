"""Learning curves: what is drawn where. How it looks, people judge."""

import struct

import numpy as np
import pytest

from jaxgames.runs import Panel, Run
from jaxgames.runs.figures import _value, default_panels, draw, new_figure, save, tidy


def measured(lines=30):
    metrics = []
    for i in range(lines):
        ppg = 0.3 - np.exp(-i / 8)
        metrics.append(
            {"step": i, "games": 1000 * i, "loss": None if i == 3 else 0.1 / (i + 1), "games_per_second": 2e3}
        )
        if i % 5 == 0:
            metrics[-1] |= {"ppg_pubeval": ppg, "ppg_pubeval_low": ppg - 0.05, "ppg_pubeval_high": ppg + 0.05}
            metrics[-1] |= {"ppg_random": ppg + 1}
    return metrics


def png_size(path):
    content = path.read_bytes()
    assert content.startswith(b"\x89PNG\r\n")
    return struct.unpack(">II", content[16:24])


def test_default_panels_show_what_was_measured():
    points, loss, speed = default_panels(measured(), [("thesis", 0.26)])
    assert points.lines == {"ppg_pubeval": "against pubeval", "ppg_random": "against random"}
    assert points.references == [("thesis", 0.26)]
    assert list(loss.lines) == ["loss"] and list(speed.lines) == ["games_per_second"]
    assert [panel.label for panel in default_panels([{"step": 1, "loss": 1.0}])] == ["loss"]


def test_lines_bands_references_and_labels(tmp_path, drawn):
    metrics = measured()
    draw(metrics, tmp_path / "curve.png", references=[("thesis", 0.26)], title="td-gammon")
    width, height = png_size(tmp_path / "curve.png")
    assert width > 1000 and height > 800
    points, loss, speed = drawn[0].axes

    tested = [line for line in metrics if "ppg_pubeval" in line]
    curve = points.lines[0]
    np.testing.assert_allclose(curve.get_xdata(), [line["games"] for line in tested])
    np.testing.assert_allclose(curve.get_ydata(), [line["ppg_pubeval"] for line in tested])
    band = points.collections[0].get_paths()[0].vertices
    for line in tested:
        assert [line["games"], line["ppg_pubeval_low"]] in band.tolist()
        assert [line["games"], line["ppg_pubeval_high"]] in band.tolist()
    assert any(list(line.get_ydata()) == [0.26, 0.26] for line in points.lines)
    labels = {text.get_text() for text in points.texts}
    last = tested[-1]["ppg_pubeval"]
    assert labels == {f"against pubeval  {last:+.3f}", f"against random  {last + 1:+.3f}", "thesis  +0.260"}

    assert np.isnan(loss.lines[0].get_ydata()[3]) and not np.isnan(np.delete(loss.lines[0].get_ydata(), 3)).any()
    assert speed.get_ylim()[0] == 0 and speed.get_xlabel() == "games"


def test_names_with_dollars_are_no_formulas(tmp_path):
    """A training in a folder of any name, against players of any name."""
    name = "a$^$b"
    panels = [Panel(name, {"loss": name, "games": name}, [(name, 0.1)])]
    draw([{name: 1.0, **line} for line in measured(2)], tmp_path / "curve.png", x=name, panels=panels, title=name)
    figure = new_figure(4, 3, name)
    axis = figure.subplots()
    axis.set_xscale("log")
    axis.plot([1, 1000], [0, 1], label=name)
    axis.legend()
    tidy(axis, name, name, name)
    save(figure, tmp_path / "other.png")
    assert "10^{3}" in [text.get_text() for text in axis.get_xticklabels()][-2]
    assert all(text.get_parse_math() for text in axis.get_xticklabels())


def test_labels_do_not_cover_each_other(tmp_path, drawn):
    references = [(name, value) for name, value in zip("abcd", (0.30, 0.301, 0.302, 0.9), strict=True)]
    draw(measured(), tmp_path / "curve.png", references=references)
    figure = drawn[0]
    boxes = [text.get_window_extent(figure.canvas.get_renderer()) for text in figure.axes[0].texts]
    assert len(boxes) == 6
    assert not any(a.overlaps(b) for i, a in enumerate(boxes) for b in boxes[:i])


@pytest.mark.parametrize("lines", [1, 2])
def test_few_measurements(tmp_path, lines):
    draw(measured(lines), tmp_path / "curve.png")
    png_size(tmp_path / "curve.png")


def test_own_panels_over_another_axis_from_a_run(tmp_path, drawn):
    run = Run.create(tmp_path / "evolution", {})
    with pytest.raises(ValueError, match="nothing to draw: no metrics over 'games' yet"):
        run.draw_curve()
    for step in range(3):
        run.log({"step": step, "generation": step, "fitness": 2.0 * step})
    with pytest.raises(ValueError, match="nothing to draw: no metrics over 'games' yet"):
        run.draw_curve()
    path = run.draw_curve(x="generation", panels=[Panel("fitness", {"fitness": "best"}, [("goal", 5.0)])])
    assert path == run.path / "curve.png" and png_size(path)
    assert drawn[0].axes[0].lines[0].get_ydata().tolist() == [0, 2, 4]
    assert [entry.name for entry in run.path.glob(".saving*")] == []


def test_figures_in_print():
    assert [_value(x, Panel("", {})) for x in (0.02138, 99.0, 2055.4)] == ["0.0214", "99", "2,055"]
    assert _value(0.30241, Panel("", {}, signed=True)) == "+0.302"
