"""Boards as pictures: where each board of a grid stands; moving pictures show one after the other, each as long."""

import re
import xml.etree.ElementTree as ET

import jax
import pytest

import jaxgames
from jaxgames.envs import svg


@pytest.mark.parametrize("gap", [0, 5, 12])
def test_boards_of_a_grid_are_a_gap_apart(gap):
    grid = svg.grid_svg([svg.Picture(10, 20, [])] * 4, columns=2, gap=gap)
    places = [tuple(map(float, place)) for place in re.findall(r'<svg [^>]*\bx="([\d.]+)" y="([\d.]+)"', grid)]
    assert places == [(gap + column * (10 + gap), gap + row * (20 + gap)) for row in range(2) for column in range(2)]
    assert re.search(r'viewBox="0 0 (\d+) (\d+)"', grid).groups() == (str(20 + 3 * gap), str(40 + 3 * gap))


SVG = "{http://www.w3.org/2000/svg}"
GAME = jaxgames.make("connect_four")
STATES = [GAME.from_string(text) for text in ("4", "44", "445", "4453")]


def frames_of(file):
    """The frames, each with its change of visibility."""
    root = ET.fromstring(file.read_text("utf-8"))
    return [(group, group.find(f"{SVG}animate")) for group in root.findall(f"{SVG}g")]


def seen_at(frames, moment):
    """The numbers of the frames that are seen at a share of the whole time, by the rules of SVG for discrete values."""
    found = []
    for number, (_, change) in enumerate(frames):
        times = [float(time) for time in change.get("keyTimes").split(";")]
        values = change.get("values").split(";")
        assert change.get("calcMode") == "discrete" and times[0] == 0 and times == sorted(times)
        if [value for time, value in zip(times, values, strict=True) if time <= moment][-1] == "visible":
            found.append(number)
    return found


def test_one_board_after_the_other(tmp_path):
    file = tmp_path / "game.svg"
    jaxgames.save_svg_animation(STATES, file, "dark", frame_duration_seconds=0.25)
    frames = frames_of(file)
    assert [seen_at(frames, (step + 0.5) / 4) for step in range(4)] == [[0], [1], [2], [3]]
    assert all(change.get("dur") == "1s" and change.get("repeatCount") == "indefinite" for _, change in frames)
    assert [group.get("visibility") for group, _ in frames] == ["visible", "hidden", "hidden", "hidden"]
    for (group, _), state in zip(frames, STATES, strict=True):
        board = ET.fromstring(state.to_svg("dark"))
        assert [x.attrib for x in group.find(f"{SVG}svg").iter() if x.tag == f"{SVG}circle"] == [
            x.attrib for x in board.iter() if x.tag == f"{SVG}circle"
        ]


def test_times_are_written_in_full():
    boards = [STATES[0].to_svg()] * 2
    for seconds, written in ((0.002, "0.004s"), (0.000_01, "0.00002s"), (0.1 + 0.2, "0.6s"), (1e6, "2000000s")):
        assert f'dur="{written}"' in svg.animation_svg(boards, seconds)


def test_one_frame_is_always_seen(tmp_path):
    jaxgames.save_svg_animation(STATES[:1], str(tmp_path / "one.svg"))
    assert seen_at(frames_of(tmp_path / "one.svg"), 0.9) == [0]


def test_steps_in_front_are_frames_and_batches_are_grids(tmp_path):
    games = jax.jit(jax.vmap(GAME.init))(jax.random.split(jax.random.key(0), 2))
    _, moves = jaxgames.rollout(GAME, games, jax.random.key(1), 3)
    steps = [jax.tree.map(lambda x, step=step: x[step], moves.states) for step in range(3)]
    jaxgames.save_svg_animation(moves.states, tmp_path / "a.svg")
    jaxgames.save_svg_animation(steps, tmp_path / "b.svg")
    assert (tmp_path / "a.svg").read_text("utf-8") == (tmp_path / "b.svg").read_text("utf-8")
    assert len(frames_of(tmp_path / "a.svg")) == 3
    assert all(len(group.find(f"{SVG}svg").findall(f"{SVG}svg")) == 2 for group, _ in frames_of(tmp_path / "a.svg"))


def test_what_is_no_animation_writes_nothing(tmp_path):
    file = tmp_path / "game.svg"
    for states, error, line in [
        (STATES[0], ValueError, "one state is no animation: give a list of states"),
        ([], ValueError, "there are no boards to draw"),
        ([STATES[0], None], TypeError, r"states\[1\] None: expected what game.init"),
        (3, TypeError, "states 3: expected a list of states"),
    ]:
        with pytest.raises(error, match=line):
            jaxgames.save_svg_animation(states, file)
    for seconds in (0, -1, float("inf"), float("nan")):
        with pytest.raises(ValueError, match="expected a number above 0"):
            jaxgames.save_svg_animation(STATES, file, frame_duration_seconds=seconds)
    with pytest.raises(ValueError, match="unknown theme 'blue'"):
        jaxgames.save_svg_animation(STATES, file, "blue")
    with pytest.raises(TypeError, match="filename 3: expected a text"):
        jaxgames.save_svg_animation(STATES, 3)
    with pytest.raises(ValueError, match="there are no boards"):
        svg.animation_svg([], 1.0)
    assert not file.exists()
