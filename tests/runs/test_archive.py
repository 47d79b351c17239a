"""The picture of an archive or of fronts: what is drawn where. How it looks, people judge."""

import numpy as np
import pytest
from matplotlib.colors import to_rgba

from jaxgames.runs import Run
from jaxgames.runs.archive import COLORS, FIRST, Archive, Fronts
from jaxgames.runs.figures import LIGHT

EMPTY = -np.inf


@pytest.fixture
def axes_of(drawn, tmp_path):
    """Draws into a run's folder; the axes of the figure."""

    def draw(found):
        path = Run.create(tmp_path / "run", {}).draw_archive(found)
        assert path.name == "archive.png" and path.read_bytes().startswith(b"\x89PNG\r\n")
        assert drawn[-1].get_suptitle() == "run"
        return drawn[-1].axes

    return draw


def texts(axis):
    return axis.get_title(loc="left"), axis.get_xlabel(), axis.get_ylabel()


def test_cells_over_two_descriptors(axes_of):
    """The first goes to the right, the second up; what is empty has the colour of the background."""
    scores = np.array([[0.0, EMPTY], [0.5, EMPTY], [EMPTY, 1.0]], np.float32)
    axis, scale = axes_of(Archive("wins", ("length", "draws"), (5.0, 0.0), (9.0, 0.5), scores))
    assert texts(axis) == ("3 of 6 cells filled; grey: empty", "length, 5 to 9", "draws, 0 to 0.5")
    assert scale.get_ylabel() == "wins" and axis.get_facecolor() == to_rgba(LIGHT)
    (cells,) = axis.images
    assert cells.get_extent() == [5, 9, 0, 0.5] and cells.origin == "lower"
    np.testing.assert_array_equal(np.ma.filled(cells.get_array(), EMPTY), scores.T)
    assert (cells.get_clim(), cells.get_cmap().name) == ((0, 1), COLORS)


def test_bars_over_one_descriptor(axes_of):
    """A score of 0 is no empty cell: it is white up to the top."""
    scores = np.array([EMPTY, 0.0, -1.0, 2.0], np.float32)
    (axis,) = axes_of(Archive("points", ("length",), (0.0,), (8.0,), scores))
    assert texts(axis) == ("3 of 4 cells filled; grey: empty", "length, 0 to 8", "points")
    white, bars = axis.containers
    assert [(bar.get_x(), bar.get_width(), bar.get_height()) for bar in bars] == [(2, 2, 0), (4, 2, -1), (6, 2, 2)]
    assert [(bar.get_x(), bar.get_height(), bar.get_facecolor()) for bar in white] == [
        (x, 1, to_rgba("white")) for x in (2, 4, 6)
    ]
    assert len({bar.get_facecolor() for bar in bars}) == 3 and axis.get_facecolor() == to_rgba(LIGHT)
    assert axis.get_xlim() == (0, 8) and axis.get_ylim() == pytest.approx((-1.05, 2.1))


@pytest.mark.parametrize("sides", [1, 2])
@pytest.mark.parametrize("score", [EMPTY, 0.5])
def test_archives_that_are_empty_or_all_alike(sides, score, axes_of):
    names, ends = ("length", "draws")[:sides], np.ones(sides)
    axis = axes_of(Archive("wins", names, 0 * ends, ends, np.full((3,) * sides, score)))[0]
    filled = 0 if score == EMPTY else 3**sides
    assert texts(axis)[0] == f"{filled} of {3**sides} cells filled; grey: empty"


@pytest.mark.parametrize("more", [(), ("draws", "captures")])
def test_fronts(more, axes_of):
    """Less of an objective is drawn as people count it; of more than two objectives the picture says which it shows."""
    scores = np.array([[1, -9], [0, -9], [0, -5], [EMPTY, -1], [0.5, -7]], np.float32)
    scores = np.pad(scores, ((0, 0), (0, len(more))))
    (axis,) = axes_of(Fronts(("wins", "-length", *more), scores, np.array([0, 1, 0, 2, 0])))
    assert texts(axis) == (
        "3 of 4 networks in the first front", "wins (more is better)", "length (less is better)"
    )  # fmt: skip
    (first,), (later,) = axis.lines, axis.collections
    assert sorted(map(tuple, first.get_xydata().tolist())) == [(0, 5), (0.5, 7), (1, 9)]
    assert first.get_color() == FIRST and later.get_offsets().tolist() == [[0, 9]]
    assert [text.get_text() for text in axis.get_legend().get_texts()] == ["later fronts  1", "first front  3"]
    assert first.get_linestyle() == ("None" if more else "-") and np.all(np.diff(first.get_ydata()) > 0)
    note = axis.figure.get_supxlabel()
    assert note == ("the first two of 4 objectives; fronts count draws, captures, too" if more else "")
