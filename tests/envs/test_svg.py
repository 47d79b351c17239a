"""Grids of boards: where each board stands."""

import re

import pytest

from jaxgames.envs import svg


@pytest.mark.parametrize("gap", [0, 5, 12])
def test_boards_of_a_grid_are_a_gap_apart(gap):
    grid = svg.grid_svg([svg.Picture(10, 20, [])] * 4, columns=2, gap=gap)
    places = [tuple(map(float, place)) for place in re.findall(r'<svg [^>]*\bx="([\d.]+)" y="([\d.]+)"', grid)]
    assert places == [(gap + column * (10 + gap), gap + row * (20 + gap)) for row in range(2) for column in range(2)]
    assert re.search(r'viewBox="0 0 (\d+) (\d+)"', grid).groups() == (str(20 + 3 * gap), str(40 + 3 * gap))
