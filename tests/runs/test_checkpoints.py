"""Checkpoints: round trips, and one line of plain words for everything that can be wrong with one."""

import errno
import json
import os
import pickle
import resource
import shutil
from typing import NamedTuple

import flax.struct
import jax
import jax.numpy as jnp
import numpy as np
import optax
import pytest

from jaxgames.nets import MLP
from jaxgames.runs import Run, checkpoints, files
from jaxgames.runs.checkpoints import Snapshots


class Counters(NamedTuple):
    games: object
    plies: object


@flax.struct.dataclass
class Learner:
    params: dict
    optimizer: tuple
    key: jax.Array
    counters: Counters
    rate: float


def small(value):
    return {"weights": jnp.full((3, 2), value, jnp.float32), "count": jnp.int32(value)}


def everything():
    params = MLP((5, 4)).init(jax.random.key(1), np.zeros((1, 7), np.float32))
    odd = np.array([np.nan, -0.0, np.inf, 1e-45, np.float32(0.1)], np.float32)
    words = np.random.default_rng(0).integers(0, 2**32, (6, 5), np.uint32)
    state = {
        "learner": Learner(
            params,
            optax.chain(optax.clip(1.0), optax.adam(1e-3)).init(params),
            jax.random.split(jax.random.key(5), 3),
            Counters(np.int64(2**40 + 1), 2**60 + 1),
            0.1,
        ),
        "odd": jnp.asarray(odd),
        "words": jnp.asarray(words),
        "others": [
            jnp.ones(3, jnp.bfloat16),
            jnp.arange(4, dtype=jnp.int8),
            jnp.array([True, False]),
            jnp.float16(0.1),
        ],
        "numpy": (np.arange(4.0), np.asarray(1 + 2j), np.bool_(True)),
        "other generator": jax.random.key(2, impl="rbg"),
        "old key": jax.random.PRNGKey(3),
        "flag": True,
        "nothing": None,
        "empty": (jnp.zeros((0, 4)), ()),
    }
    return state


def assert_identical(one, other):
    assert jax.tree.structure(one) == jax.tree.structure(other)
    for a, b in zip(jax.tree.leaves(one), jax.tree.leaves(other), strict=True):
        assert type(a) is type(b)
        if hasattr(a, "dtype"):
            assert a.dtype == b.dtype and a.shape == b.shape
            if jax.dtypes.issubdtype(a.dtype, jax.dtypes.prng_key):
                a, b = jax.random.key_data(a), jax.random.key_data(b)
            assert np.asarray(a).tobytes() == np.asarray(b).tobytes()
        else:
            assert a == b


@pytest.fixture
def run(tmp_path):
    return Run.create(tmp_path / "a", {})


def one_line(error):
    text = str(error.value)
    assert "\n" not in text
    return text


def test_round_trip_is_bit_identical(run):
    state = everything()
    run.save(7, state)
    step, restored = Run.open(run.path).restore(jax.tree.map(lambda leaf: leaf, state))
    assert step == 7
    assert_identical(restored, state)
    # What is restored is alive: it can be computed with and saved again.
    jax.random.uniform(restored["learner"].key[0])
    run.save(8, restored)


def test_a_template_of_shapes_needs_no_arrays(run):
    def init(key):
        params = MLP((5, 4)).init(key, jnp.zeros((1, 7)))
        return {"params": params, "opt": optax.adam(1e-3).init(params), "key": key}

    state = init(jax.random.key(9))
    run.save(1, state)
    _, restored = run.restore(jax.eval_shape(init, jax.random.key(0)))
    assert_identical(restored, state)


def test_restored_arrays_go_where_the_template_is(run):
    device = jax.devices()[1]
    sharding = jax.sharding.NamedSharding(jax.make_mesh((2,), ("games",)), jax.sharding.PartitionSpec("games"))
    state = {
        "pinned": jax.device_put(jnp.ones(4), device),
        "sharded": jax.device_put(jnp.arange(6), sharding),
        "keys": jax.device_put(jax.random.split(jax.random.key(0), 4), sharding),
        "free": jnp.ones(4),
    }
    run.save(1, state)
    _, restored = run.restore(state)
    assert_identical(restored, state)
    assert {name: leaf.sharding for name, leaf in restored.items()} == {n: leaf.sharding for n, leaf in state.items()}
    assert restored["pinned"].committed and not restored["free"].committed


def test_training_goes_on_as_if_never_interrupted(run):
    optimizer = optax.adam(1e-2)

    @jax.jit
    def update(state):
        key, draw = jax.random.split(state["key"])
        gradient = jax.grad(lambda w: jnp.sum((w - jax.random.normal(draw, w.shape)) ** 2))(state["w"])
        with jax.numpy_dtype_promotion("standard"):  # optax's bias correction mixes integers and floats
            change, opt = optimizer.update(gradient, state["opt"])
        return {"w": optax.apply_updates(state["w"], change), "opt": opt, "key": key}

    w = jnp.zeros(5)
    state = {"w": w, "opt": optimizer.init(w), "key": jax.random.key(0)}
    straight = state
    for step in range(6):
        straight = update(straight)
        if step == 2:
            run.save(3, straight)
    _, resumed = run.restore(state)
    for _ in range(3):
        resumed = update(resumed)
    assert_identical(resumed, straight)


def test_the_newest_are_kept(run):
    assert run.steps() == []
    for step in (0, 5, 10, 15):
        run.save(np.int64(step), small(step))
    assert run.steps() == [5, 10, 15]
    assert run.restore(small(0))[0] == 15
    step, state = run.restore(small(0), step=5)
    assert step == 5 and int(state["count"]) == 5
    run.save(20, small(20), keep=1)
    assert run.steps() == [20]


def test_saving_a_step_again_replaces_it(run):
    for value in (1, 2, 3):
        run.save(10, small(value))
    assert run.steps() == [10]
    assert int(run.restore(small(0))[1]["count"]) == 3
    assert len(list((run.path / "checkpoints").iterdir())) == 1


def test_resuming_from_an_older_step_removes_the_abandoned_ones(run):
    for step in (5, 10, 15):
        run.save(step, small(step))
    run.restore(small(0), step=5)
    run.save(8, small(8))
    assert run.steps() == [5, 8]


def test_no_pickles(run, monkeypatch):
    def refuse(*_args, **_kwargs):
        raise AssertionError("a pickle")

    for name in ("dump", "dumps", "load", "loads", "Pickler", "Unpickler"):
        monkeypatch.setattr(pickle, name, refuse)
    run.save(1, everything())
    run.restore(everything())
    contents = [path.read_bytes() for path in (run.path / "checkpoints").rglob("*") if path.is_file()]
    assert not any(content.startswith(b"\x80") for content in contents)


def test_arrays_only(run, monkeypatch):
    leaves = {"str": "text", "object": object(), "ndarray": np.array(["a"]), "int": 2**70}
    wrong = [(leaf, f"type {name}; a checkpoint holds only arrays and numbers") for name, leaf in leaves.items()]
    wrong += [(np.zeros(2, dtype), "dtype .* no checkpoint holds; conv") for dtype in (np.longdouble, jnp.uint2, ">f4")]
    for leaf, said in wrong:
        with pytest.raises(ValueError, match=f"'a/1' is of {said}"):
            run.save(1, {"a": [1, leaf]})
    for step, keep in ((-1, 1), (1, 0)):
        with pytest.raises(ValueError, match="expected step >= 0 and keep >= 1"):
            run.save(step, small(0), keep)
    monkeypatch.setattr(checkpoints, "to_json", lambda *_: [][0])
    with pytest.raises(IndexError):  # whatever goes wrong leaves nothing
        run.save(1, small(0))
    assert run.steps() == [] and not list((run.path / "checkpoints").iterdir())


@pytest.mark.parametrize(
    ("template", "message"),
    [
        (
            {"weights": jnp.zeros((4, 2)), "count": jnp.int32(0)},
            r"'weights' is float32\[3, 2\], expected float32\[4, 2\]",
        ),
        ({"weights": jnp.zeros((3, 2)), "count": jnp.uint32(0)}, r"'count' is int32\[\], expected uint32\[\]"),
        ({"weights": jnp.zeros((3, 2)), "count": jax.random.key(0)}, r"'count' is int32\[\], expected key<fry>\[\]"),
        ({"weights": jnp.zeros((3, 2))}, "it has 'count', which is not expected"),
        ({**small(0), "extra": {"a": 1}}, "it lacks 'extra/a'"),
        ([jnp.zeros((3, 2))], "it lacks '0' and it has 'count', which is not expected"),
    ],
)
def test_templates_that_do_not_fit(run, template, message):
    run.save(10, template if isinstance(template, list) else {**template, "weights": jnp.ones((1, 1))})
    run.save(20, small(1))
    with pytest.raises(ValueError, match=rf"checkpoint of step 20 in .* does not fit: {message}") as error:
        run.restore(template)
    expected = "step 10 is still good" if isinstance(template, list) else "no other step is good"
    assert one_line(error).endswith(expected)


def largest_file(folder):
    return max(
        (path for path in (folder / "arrays").rglob("*") if path.is_file()), key=lambda path: path.stat().st_size
    )


def truncate(folder):
    path = largest_file(folder)
    os.truncate(path, path.stat().st_size // 2)


def flip_a_bit(folder):
    path = largest_file(folder)
    content = bytearray(path.read_bytes())
    content[len(content) // 2] ^= 1
    path.write_bytes(content)


def remove_a_file(folder):
    largest_file(folder).unlink()


def make_foreign(folder):
    shutil.rmtree(folder)
    folder.mkdir()
    (folder / "weights.npy").write_bytes(b"x")


def cut_the_manifest(folder):
    os.truncate(folder / "manifest.json", 100)


def change_the_manifest(folder, **entries):
    manifest = json.loads((folder / "manifest.json").read_text())
    (folder / "manifest.json").write_text(json.dumps({**manifest, **entries}))


def change_the_format(folder):
    change_the_manifest(folder, format=99)


def list_no_files(folder):
    change_the_manifest(folder, files={})


def lose_all_files(folder):
    shutil.rmtree(folder / "arrays")
    list_no_files(folder)


def list_a_file_elsewhere(folder):
    path = folder.parent / "secret"
    path.write_bytes(b"x")
    manifest = json.loads((folder / "manifest.json").read_text())
    entry = list(files.fingerprint(path))
    change_the_manifest(folder, files={"../secret": entry, **manifest["files"]})


def list_what_is_no_file(folder):
    change_the_manifest(folder, files={"arrays": 3})


DAMAGE = {
    list_no_files: "is damaged: its manifest.json does not list arrays/",
    lose_all_files: "is damaged: its arrays lack 'count'",
    list_a_file_elsewhere: "is damaged: its manifest.json names a file outside of it: ../secret",
    list_what_is_no_file: "is damaged: its manifest.json is broken",
    truncate: r"is damaged: arrays/.* has \d+ bytes instead of \d+",
    flip_a_bit: "is damaged: the contents of arrays/.* have changed",
    remove_a_file: "is damaged: arrays/.* is missing",
    make_foreign: "is foreign or damaged: it has no manifest.json",
    cut_the_manifest: "is damaged: its manifest.json is broken",
    change_the_format: "has a manifest of format 99; this version reads format 1",
}


@pytest.mark.parametrize("damage", DAMAGE, ids=lambda function: function.__name__)
def test_damage_is_named_with_the_step_that_is_still_good(run, damage):
    for step in (10, 20, 30):
        run.save(step, small(step))
    damage(run.path / "checkpoints" / "step-30")
    with pytest.raises(ValueError, match=rf"checkpoint of step 30 in .*a {DAMAGE[damage]}") as error:
        run.restore(small(0))
    assert one_line(error).endswith("step 20 is still good")
    truncate(run.path / "checkpoints" / "step-20")
    with pytest.raises(ValueError, match="step 10 is still good"):
        run.restore(small(0))
    with pytest.raises(ValueError, match="checkpoint of step 20 .* step 10 is still good"):
        run.restore(small(0), step=20)
    damage(run.path / "checkpoints" / "step-10")
    with pytest.raises(ValueError, match="no other step is good"):
        run.restore(small(0))
    run.save(40, small(40))
    with pytest.raises(ValueError, match="checkpoint of step 20 .* step 40 is still good"):
        run.restore(small(0), step=20)


def test_every_byte_counts(run):
    """Whatever file of a checkpoint loses its last byte, restore notices."""
    run.save(1, small(1))
    folder = run.path / "checkpoints" / "step-1"
    paths = [path for path in folder.rglob("*") if path.is_file() and path.stat().st_size]
    assert len(paths) > 3
    for path in paths:
        content = path.read_bytes()
        path.write_bytes(content[:-2] if path.name == "manifest.json" else content[:-1])
        with pytest.raises(ValueError, match="is damaged"):
            run.restore(small(0))
        path.write_bytes(content)
    run.restore(small(0))


def test_what_is_no_checkpoint_is_left_alone(run):
    with pytest.raises(ValueError, match="a has no checkpoint yet"):
        run.restore(small(0))
    run.save(1, small(1))
    with pytest.raises(ValueError, match="has no checkpoint of step 2; available: 1"):
        run.restore(small(0), step=2)
    for name in ("step-x", "notes", "step-9.orbax-checkpoint-tmp"):
        (run.path / "checkpoints" / name).mkdir()
    run.save(2, small(2))
    assert run.steps() == [1, 2]
    assert (run.path / "checkpoints" / "notes").is_dir()


def test_the_best_player(run):
    assert run.best_info() is None
    with pytest.raises(ValueError, match="has no best player yet"):
        run.load_best(small(0))
    run.save_best(small(1), {"games": 100, "ppg": 0.1})
    run.save_best(small(2), {"games": np.int64(200), "ppg": jnp.float32(0.25), "low": float("nan")})
    assert run.best_info() == {"games": 200, "ppg": 0.25, "low": None}
    info, state = Run.open(run.path).load_best(small(0))
    assert info["games"] == 200 and int(state["count"]) == 2
    assert len(list((run.path / "best").iterdir())) == 1 and run.steps() == []
    truncate(run.path / "best" / "best-2")
    with pytest.raises(ValueError, match=r"best player in .*a is damaged: .*; checkpoints are there of steps \[\]"):
        run.load_best(small(0))


def test_reading_while_another_process_replaces_what_is_read(run, monkeypatch):
    writer, real, writes = Run.open(run.path), checkpoints.read, [2, 3]

    def read(folder, template):
        if writes:
            value = writes.pop(0)
            writer.save(value, small(value), keep=1)
            writer.save_best(small(value), {})
        return real(folder, template)

    run.save(1, small(1))
    run.save_best(small(1), {})
    monkeypatch.setattr(checkpoints, "read", read)
    assert run.restore(small(0))[0] == 3
    writes.append(4)
    assert int(run.load_best(small(0))[1]["count"]) == 4


class Crash(BaseException):
    """Stands for the end of the process: nothing below it cleans up."""


def test_a_crash_at_any_call_leaves_the_old_or_the_new(run, monkeypatch):
    run.save(1, small(1))
    calls, limit = 0, 0

    def crashing(original):
        def call(*args, **kwargs):
            nonlocal calls
            calls += 1
            if calls > limit:
                raise Crash
            return original(*args, **kwargs)

        return call

    # On a busy machine orbax writes a file or two less now and then: one save that ends before the limit is no end.
    saved, outcomes, whole = 1, set(), 0
    for limit in range(200):  # noqa: B007 (read by the closure)
        calls = 0
        with monkeypatch.context() as patch:
            for module, name in [(checkpoints, "sync"), (checkpoints, "replace"), (files, "sync")]:
                patch.setattr(module, name, crashing(getattr(module, name)))
            patch.setattr(checkpoints.os, "rename", crashing(os.rename))
            patch.setattr(checkpoints.os, "replace", crashing(os.replace))
            try:
                run.save(saved + 1, small(saved + 1), keep=1)
                crashed = False
            except Crash:
                crashed = True
        step, state = run.restore(small(0))
        assert step in (saved, saved + 1) and int(state["count"]) == step
        outcomes.add((crashed, step - saved))
        saved = step
        whole = 0 if crashed else whole + 1
        if whole == 5:
            break
    assert outcomes == {(True, 0), (True, 1), (False, 1)}
    assert run.steps() == [saved]
    assert [path.name for path in (run.path / "checkpoints").iterdir()] == [f"step-{saved}"]


def test_a_crash_while_removing_an_old_checkpoint(run, monkeypatch):
    run.save(1, small(1))
    real = shutil.rmtree

    def half(path, **kwargs):
        if (path / "manifest.json").exists():
            (path / "manifest.json").unlink()
            raise Crash
        real(path, **kwargs)

    with monkeypatch.context() as patch:
        patch.setattr(files.shutil, "rmtree", half)
        with pytest.raises(Crash):
            run.save(2, small(2), keep=1)
    assert run.steps() == [2] and len(list((run.path / "checkpoints").iterdir())) == 2
    run.save(3, small(3), keep=1)
    assert [path.name for path in (run.path / "checkpoints").iterdir()] == ["step-3"]


def test_a_disk_that_takes_no_more(run, caplog):
    """The system refuses to write, here files of more than 20 kB: the old checkpoint stays, and nothing else."""
    run.save(1, small(1))
    whole = {"words": np.random.default_rng(0).integers(0, 2**32, 40_000, np.uint32)}
    before = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (20_000, before[1]))
    try:
        with pytest.raises(OSError) as error:
            run.save(2, whole)
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, before)
    told = (error.value.errno, error.value.filename, caplog.records)
    assert told == (errno.EFBIG, f"{run.path}/checkpoints/step-2", [])
    assert [path.name for path in (run.path / "checkpoints").iterdir()] == ["step-1"]
    run.save(2, whole)
    assert run.steps() == [1, 2] and run.restore(small(0), 1)[0] == 1


SNAPSHOT = {"a": np.zeros((2, 3), np.float32), "b": np.zeros(4, np.float32)}


def weights(number):
    return {"a": np.full((2, 3), number, np.float32), "b": np.arange(4, dtype=np.float32) + number}


def test_rows_are_kept_cut_off_and_written_again(tmp_path):
    snapshots = Snapshots(tmp_path, SNAPSHOT)
    for row in range(3):
        snapshots.put(row, weights(row))
    snapshots.path.write_bytes(snapshots.path.read_bytes() + b"half a row")  # a write that was cut off
    assert len(snapshots) == 3
    snapshots.put(1, weights(7))  # a training that was resumed
    assert len(Snapshots(tmp_path, SNAPSHOT)) == 2
    for part, found in snapshots.load([1, 0]).items():
        np.testing.assert_array_equal(found, np.stack([weights(7)[part], weights(0)[part]]))
    with pytest.raises(ValueError, match="has 2 snapshots, so number 3 cannot be added"):
        snapshots.put(3, weights(3))
    for rows, number in (([2], 2), ([0, -1, 1], -1)):
        with pytest.raises(ValueError, match=f"has 2 snapshots, none with number {number}"):
            snapshots.load(rows)
    np.testing.assert_array_equal(snapshots.load(1)["a"], [weights(7)["a"]])
    for template in ({"a": np.zeros(2, np.int32)}, {}):
        with pytest.raises(ValueError, match="float32 parameters only"):
            Snapshots(tmp_path, template)
