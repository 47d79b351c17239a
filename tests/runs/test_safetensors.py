"""Arrays as safetensors: the bytes are those of the format's own package, and nothing that is broken is read."""

import json

import numpy as np
import pytest

from jaxgames.runs import safetensors

ARRAYS = {
    "params/Dense_0/kernel": np.arange(6, dtype=np.float32).reshape(2, 3),
    "params/Dense_0/bias": np.array([0.5, -1, 2], np.float16),
    "flags": np.array([True, False]),
    "count": np.array(7, np.int32),
}
"""Those in the file that the package has written."""
WRITTEN = safetensors.dump(ARRAYS)


def with_header(change, content=WRITTEN):
    """A file whose header is changed, as long as it says."""
    length = int.from_bytes(content[:8], "little")
    header = json.loads(content[8 : 8 + length])
    text = json.dumps(change(header)).encode()
    return len(text).to_bytes(8, "little") + text + content[8 + length :]


def test_the_packages_own_file(data_dir):
    assert (data_dir / "safetensors/package.safetensors").read_bytes() == WRITTEN
    found = safetensors.load(WRITTEN)
    assert found.keys() == ARRAYS.keys()
    for name, array in ARRAYS.items():
        assert (found[name].dtype, found[name].shape) == (array.dtype, array.shape)
        np.testing.assert_array_equal(found[name], array)


def test_every_type_and_shape():
    arrays = {
        f"{kind}-{rows}": np.arange(3 * rows).reshape(rows, 3).astype(kind)
        for kind in safetensors.TYPES.values()
        for rows in (0, 1, 2)
    }
    arrays |= {"swapped": np.array([1, 2.5], ">f8"), "turned": np.arange(6, dtype=np.int64).reshape(2, 3).T}
    found = safetensors.load(safetensors.dump(arrays))
    for name, array in arrays.items():
        np.testing.assert_array_equal(found[name], array)
        assert found[name].dtype == array.dtype.newbyteorder("<")


def test_words_about_the_file_are_no_array():
    content = with_header(lambda header: {"__metadata__": {"by": "me"}, **header})
    assert safetensors.load(content).keys() == ARRAYS.keys()


def entry(**changes):
    return lambda header: header | {"flags": header["flags"] | changes}


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (b"", "no safetensors: 0 bytes cannot hold its header"),
        (WRITTEN[:20], "no safetensors: 20 bytes cannot hold its header"),
        (b"PK\x03\x04" + bytes(40), "cannot hold its header"),  # an .npz
        (bytes(40), "no safetensors: its header is no JSON"),
        ((2).to_bytes(8, "little") + b"[]", "its header is no JSON object"),
        (WRITTEN[:-1], "the file was cut off: it ends within flags"),
        (WRITTEN + b"x", "there are bytes that belong to no array"),
        (with_header(lambda header: header | {"flags": 3}), "flags lacks one of data_offsets, dtype, shape"),
        (with_header(entry(dtype="F8")), "flags is of type 'F8'; expected one of U64, I64"),
        (with_header(entry(dtype=[])), "flags is of type"),
        (with_header(entry(shape=[-2])), "shape or place of flags is no list of whole numbers"),
        (with_header(entry(shape=[3])), "flags has not as many bytes as its shape wants"),
        (with_header(entry(data_offsets=[0, 2])), "there are bytes that belong to no array, or to several"),
        (with_header(entry(data_offsets=[0])), "flags has not as many bytes as its shape wants"),
    ],
)
def test_what_is_broken_gets_one_line(content, message):
    with pytest.raises(ValueError) as error:
        safetensors.load(content)
    assert message in str(error.value) and "\n" not in str(error.value)


def test_what_cannot_be_kept():
    with pytest.raises(ValueError, match="x: complex64 cannot be kept; expected one of U64"):
        safetensors.dump({"x": np.zeros(2, np.complex64)})
