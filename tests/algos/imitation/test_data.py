"""Data sets: what is written is read, broken ones say so, equal positions and mirror images become one."""

import jax
import numpy as np
import pytest

import jaxgames
from jaxgames.algos.imitation import data as data_module
from jaxgames.algos.imitation.data import (
    LabeledPositions,
    canonical,
    header_of,
    joined,
    load,
    load_each,
    open_of,
    prepare,
    to_arrays,
)
from jaxgames.data_sets.makers import legal_actions
from jaxgames.ops.pytrees import take
from jaxgames.runs.folder import DataSetFolder

GAME = jaxgames.make("connect_four")


def rows(texts, games=None, policies=None, values=None, weights=None):
    """Rows of positions in move strings; each a game of its own, column 1 played, worth 0."""
    stacked = jax.tree.map(lambda *leaves: np.stack(leaves), *(GAME.parse(text) for text in texts))
    number = len(texts)
    if policies is None:
        policies = np.eye(7)[np.zeros(number, int)]
    ones = np.ones(number, np.float32)
    return LabeledPositions(
        stacked,
        legal_actions(GAME, stacked),
        np.asarray(policies, np.float16),
        ones if weights is None else np.asarray(weights, np.float32),
        np.asarray(values if values is not None else np.zeros(number), np.float32),
        ones,
        np.asarray(range(number) if games is None else games, np.int64),
        np.zeros(number, bool),
    )


def write(path, parts, **changes):
    header = header_of(GAME, {}, {"by": "test"}, len(parts)) | changes
    folder = DataSetFolder.begin_or_go_on(path, header)
    for number, part in enumerate(parts):
        folder.write(number, to_arrays(part))
    return folder


def texts_of(found):
    return [GAME.unparse(jax.tree.map(lambda x, i=i: x[i], found.position)) for i in range(len(found.game))]


def test_what_is_written_is_read(tmp_path):
    parts = [rows(["", "4", "1111112"], values=[1, -1, 0]), rows(["44"], policies=[[0, 0.25, 0.75, 0, 0, 0, 0]])]
    write(tmp_path / "d", parts)
    found = load(open_of(tmp_path / "d", GAME, {}), GAME)
    assert [text for part in parts for text in texts_of(part)] == texts_of(found)
    np.testing.assert_array_equal(found.mask[2], [False, *[True] * 6])
    np.testing.assert_array_equal(found.policy[3], parts[1].policy[0])
    np.testing.assert_array_equal(found.value, [1, -1, 0, 0])


def test_a_making_goes_on_only_as_it_was_begun(tmp_path):
    folder = write(tmp_path / "d", [rows(["4"]), rows(["3"])])
    folder.shard(1).unlink()
    header = folder.header
    with pytest.raises(ValueError, match=r"not complete: shard-00001.npz"):
        DataSetFolder.open_complete(tmp_path / "d")
    assert DataSetFolder.begin_or_go_on(tmp_path / "d", header).missing() == [1]
    with pytest.raises(ValueError, match=r"begun otherwise: made is .*test.*, not .*other"):
        DataSetFolder.begin_or_go_on(tmp_path / "d", header | {"made": {"by": "other"}})
    (tmp_path / "full").mkdir()
    (tmp_path / "full" / "x").touch()
    with pytest.raises(ValueError, match="never overwritten"):
        DataSetFolder.begin_or_go_on(tmp_path / "full", header)


def test_broken_data_say_so_in_one_line(tmp_path):
    folder = write(tmp_path / "d", [rows(["4", "3", "2"])])
    content = folder.shard(0).read_bytes()
    for size in (0, 10, len(content) // 2, len(content) - 30):
        folder.shard(0).write_bytes(content[:size])
        with pytest.raises(ValueError, match=r"shard-00000.npz is broken: it is cut off"):
            load(folder, GAME)
    flipped = bytearray(content)
    flipped[len(content) // 2] ^= 255
    folder.shard(0).write_bytes(bytes(flipped))
    with pytest.raises(ValueError, match="shard-00000.npz is broken"):
        load(folder, GAME)
    arrays = to_arrays(rows(["4"]))
    for changed, line in (
        ({"value": arrays["value"].astype(np.float64)}, "array 'value' is float64.n., expected float32.n."),
        ({"policy": arrays["policy"][:, :5]}, r"array 'policy' is float16.n, 5., expected float16.n, 7."),
    ):
        folder.write(0, arrays | changed)
        with pytest.raises(ValueError, match=line):
            load(folder, GAME)
    with pytest.raises(ValueError, match="one length"):
        folder.write(0, arrays | {"game": np.zeros(5, np.int64)})
    (tmp_path / "d" / "data.json").write_text("{")
    with pytest.raises(ValueError, match="broken: it is no JSON"):
        DataSetFolder.open_complete(tmp_path / "d")


@pytest.mark.parametrize(
    ("changes", "line"),
    [
        ({"game": "checkers"}, "data of game 'checkers', not 'connect_four'"),
        ({"version": "v0"}, "data of version 'v0', not 'v1'"),
        ({"options": {"rows": 5}}, "data of options {'rows': 5}, not {}"),
        ({"shards": 0}, "says 0 shards"),
        ({"shards": 300_000_000}, "says 300000000 shards: expected 1 to 10,000,000"),
        ({"made": None}, "lacks 'made'"),
    ],
)
def test_data_of_something_else_are_refused(tmp_path, changes, line):
    header = header_of(GAME, {}, {"by": "test"}, 1) | changes
    (tmp_path / "d").mkdir()
    DataSetFolder.begin_or_go_on(tmp_path / "d", header)
    if not line.startswith(("says", "lacks")):
        DataSetFolder(tmp_path / "d", header).write(0, to_arrays(rows(["4"])))
    with pytest.raises(ValueError, match=line):
        open_of(tmp_path / "d", GAME, {})


def test_no_room_in_memory_is_said_before_it_starts(tmp_path, monkeypatch):
    folder = write(tmp_path / "d", [rows(["4", "3"])])
    monkeypatch.setattr(data_module, "free_bytes", lambda: 200)
    with pytest.raises(ValueError, match=r"GiB are free; about 1 of the 2 positions would fit"):
        load(folder, GAME)
    monkeypatch.setattr(data_module, "free_bytes", lambda: 600)  # for each, but not for both
    load_each([folder], GAME)
    with pytest.raises(ValueError, match=r"^\S+, \S+: .* are free; about 3 of the 4 positions would fit$"):
        load_each([folder, folder], GAME)


def test_mirror_images_have_one_key(monkeypatch):
    texts = ["12", "76", "21", "4", "44", "", "1111112", "7777776", "222222", "111111"]
    found = canonical(GAME, rows(texts).position, rows(texts).mask)
    keys = found.key.tolist()
    assert keys[0] == keys[1] and keys[6] == keys[7] and len(set(keys)) == 8
    assert found.symmetry[0] != found.symmetry[1]
    monkeypatch.setattr(data_module, "CHUNK", 4)
    jax.tree.map(np.testing.assert_array_equal, canonical(GAME, rows(texts).position, rows(texts).mask), found)


def test_equal_positions_are_merged_by_their_weights():
    """Three times one position, once as its mirror image; the mean is that of the first one's side."""
    play = np.eye(7)
    one = rows(["12", "3", "12", "76"], policies=play[[0, 3, 1, 6]], values=[1, 0, 0, -1], weights=[1, 1, 1, 2])
    merged, counts = prepare(GAME, one, validation=0)
    assert texts_of(merged) == ["12", "3"] and counts.merged == 2
    np.testing.assert_allclose(merged.policy[0], [0.75, 0.25, 0, 0, 0, 0, 0])  # column 7 is 1 in the mirror
    np.testing.assert_allclose([merged.value[0], merged.value_weight[0], merged.policy_weight[0]], [0, 3, 4])
    mirrored, _ = prepare(GAME, take(one, [3, 0, 1, 2]), validation=0)
    np.testing.assert_allclose(mirrored.policy[0], [0, 0, 0, 0, 0, 0.25, 0.75])


def keys_of(found):
    return set(canonical(GAME, found.position, found.mask).key.tolist())


def many():
    texts = ["".join(str(1 + (game * 7 + ply * 3) % 7) for ply in range(k)) for game in range(40) for k in range(4)]
    extra = [f"{1 + game % 7}{1 + game // 7 % 7}" for game in range(40)]
    return rows(texts + extra, games=[game for game in range(40) for _ in range(4)] + list(range(40)))


@pytest.mark.parametrize("split", ["game", "position"])
def test_validation_shares_no_position_with_training(split):
    found, counts = prepare(GAME, many(), validation=0.3, split=split)
    held = take(found, found.validation), take(found, ~found.validation)
    assert not keys_of(held[0]) & keys_of(held[1])
    assert counts.training + counts.validation + counts.merged + counts.shared == counts.rows == 200
    assert counts.validation and (counts.shared > 0) == (split == "game")
    if split == "game":
        assert not set(held[0].game) & set(held[1].game)


def test_tests_and_their_images_are_taken_out():
    tests = rows(["7", "12"])
    found, counts = prepare(GAME, many(), (tests.position, tests.mask), validation=0.3)
    before, _ = prepare(GAME, many(), validation=0.3)
    out = keys_of(rows(["1"])) | keys_of(rows(["76"]))
    assert out & keys_of(before) and not out & keys_of(found) and counts.tests > 0


@pytest.mark.parametrize(
    ("changes", "line"),
    [
        ({"validation": 0.01}, "no position is left for validation: 2 games, 0.01 of them"),
        ({"validation": 0.99}, "no position is left for training: 2 games"),
        ({"validation": 1.5}, "expected a share from 0 to below 1"),
        ({"split": "ply"}, "unknown split 'ply'; available: game, position"),
    ],
)
def test_an_empty_split_is_an_error(changes, line):
    with pytest.raises(ValueError, match=line):
        prepare(GAME, rows(["4", "3"]), **changes)


def test_games_of_joined_data_stay_apart():
    found = joined([rows(["4", "3"], games=[5, 9]), rows(["2", "1"], games=[5, 5])])
    assert found.game.tolist() == [0, 1, 2, 2]
