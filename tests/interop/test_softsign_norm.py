"""The text form of the evolved tic-tac-toe networks: read, written, and turned into rows and back."""

import jax.numpy as jnp
import numpy as np
import pytest

from jaxgames.interop import softsign_norm
from jaxgames.nets import MLP

SIZES = (9, 18, 18, 9)
SMALL = "softsign_norm:{[[0.5, -2.0E-4], [1.0, 3.25]],[[0.25], [-1.0]]}{[[1.5, 1.0E7]],[[0.0]]}\n"


@pytest.fixture(scope="module")
def text(data_dir):
    return (data_dir / "tic_tac_toe/evolution/nets.txt").read_text()


def test_every_character_of_the_programs_networks_is_written_again(text, data_dir):
    networks = softsign_norm.load(text)
    assert [layer.kernel.shape for layer in networks[0]] == [(18, 9), (18, 18), (9, 18)] and len(networks) == 20
    assert softsign_norm.dump(networks) == text
    read = softsign_norm.load(data_dir / "tic_tac_toe/evolution/nets.txt")
    assert softsign_norm.dump(read) == text


def test_numbers_are_read_and_written_exactly():
    (network,) = softsign_norm.load("\ufeff\n" + SMALL + "\n")
    assert [part.tolist() for layer in network for part in layer] == [
        [[0.5, -2e-4], [1.0, 3.25]],
        [0.25, -1.0],
        [[1.5, 1e7]],
        [0.0],
    ]
    assert softsign_norm.dump([network]) == SMALL
    rng = np.random.default_rng(0)
    odd = rng.standard_normal((40, 9)) * 10.0 ** rng.integers(-300, 300, (40, 9))
    layer = softsign_norm.TextLayer(odd, np.nextafter(odd[:, 0], 1))
    ((again,),) = softsign_norm.load(softsign_norm.dump([(layer,)]))
    assert (again.kernel == odd).all() and (again.bias == layer.bias).all()


def test_rows_in_any_order_come_back():
    order = (1, 2, 3, 4, 5, 6, 7, 8, 0)  # not its own way back
    rows = np.arange(693, dtype=np.float32)[None]
    networks = softsign_norm.from_rows(rows, SIZES, order)
    np.testing.assert_array_equal(softsign_norm.to_rows(networks, order), rows)


@pytest.mark.parametrize("activated", ["text", "rows"])
def test_rows_play_on_boards_read_row_by_row(text, activated):
    """A row's outputs, in the order of a row's cells, are those of the text's network in the order of its own."""
    networks = softsign_norm.load(text)[:3]
    rows = softsign_norm.to_rows(networks)
    assert rows.dtype == np.float32 and rows.shape == (3, 693)
    boards = np.random.default_rng(1).integers(-1, 2, (50, 3, 3)).astype(np.float32)  # [row, column]
    columns_first = boards.transpose(0, 2, 1).reshape(-1, 9)
    for network, row in zip(networks, rows, strict=True):
        expected = softsign_norm.outputs(network, columns_first).reshape(-1, 3, 3).transpose(0, 2, 1).reshape(-1, 9)
        if activated == "text":
            (back,) = softsign_norm.from_rows(row[None], SIZES, order=None)
            found = softsign_norm.outputs(back, boards.reshape(-1, 9))
        else:
            found = mlp(row).apply_to(boards.reshape(-1, 9))
        np.testing.assert_allclose(found, expected, atol=1e-6)


class mlp:  # noqa: N801
    """The flax network of a row: its layers one after the other, each kernel unit after unit, then the biases."""

    def __init__(self, row):
        self.layers, start = {}, 0
        for number, (inputs, units) in enumerate(zip(SIZES[:-1], SIZES[1:], strict=True)):
            end = start + units * inputs
            kernel = jnp.asarray(row[start:end].reshape(units, inputs).T)
            self.layers[f"Dense_{number}"] = {"kernel": kernel, "bias": jnp.asarray(row[end : end + units])}
            start = end + units

    def apply_to(self, inputs):
        network = MLP(SIZES[1:], softsign_norm.ACTIVATION, softsign_norm.ACTIVATION)
        return network.apply({"params": self.layers}, jnp.asarray(inputs))


def test_rows_and_back(text):
    networks = softsign_norm.load(text)
    rows = softsign_norm.to_rows(networks)
    back = softsign_norm.from_rows(rows, SIZES)
    np.testing.assert_array_equal(softsign_norm.to_rows(back), rows)
    np.testing.assert_allclose(back[7][2].kernel, networks[7][2].kernel, rtol=1e-7)
    plain = softsign_norm.to_rows(networks, order=None)
    assert (plain[0, :9] == networks[0][0].kernel[0].astype(np.float32)).all() and not (plain == rows).all()
    # No digit of float32 is lost in the text.
    again = softsign_norm.load(softsign_norm.dump(back))
    np.testing.assert_array_equal(softsign_norm.to_rows(again), rows)


@pytest.mark.parametrize(
    ("wrong", "said"),
    [
        ("", "no networks; expected lines such as"),
        ("tanh:{[[1]],[[1]]}", "line 1: begins with 'tanh:.*expected softsign_norm:"),
        ("softsign_norm:", "line 1: the network has no layers"),
        (SMALL + SMALL[:60], "line 2: layer 1, character 15 of the line, is never closed by '}'"),
        (SMALL.replace("}{", "} {"), "line 1: layer 2, character 63 of the line, begins with ' '; expected '{'"),
        (SMALL.replace("[[0.0]]", "[0.0]"), "line 1: layer 2: the biases are no list of lists"),
        (SMALL.replace("0.5,", "0.5"), "line 1: layer 1: character 22 of the line is wrong .*; expected"),
        (SMALL.replace("1.0, 3.25", "1.0"), "line 1: layer 1: units with 1 and with 2 weights"),
        (SMALL.replace(", [-1.0]", ""), "line 1: layer 1: 2 units have weights, but the biases are 1 x 1"),
        (SMALL.replace("[1.5, 1.0E7]", "[1.5]"), "line 1: layer 2 has 1 weights for each unit, .* 1 has 2 units"),
        (SMALL.replace(",[[0.0]]", ""), "line 1: layer 2: 1 lists; expected two"),
        (SMALL.replace("3.25", "NaN"), "line 1: layer 1: NaN is no weight"),
        (SMALL.replace("3.25", "1E999"), "line 1: layer 1: a number among the weights is too large"),
        (SMALL.replace("3.25", '"3"'), "line 1: layer 1: '3' among the weights; expected numbers"),
    ],
)
def test_errors_point_at_what_is_wrong(wrong, said):
    with pytest.raises(ValueError, match=said) as error:
        softsign_norm.load(wrong)
    assert "\n" not in str(error.value)


def test_files_and_shapes_that_do_not_fit(tmp_path):
    with pytest.raises(ValueError, match=r"nets\.txt cannot be read: No such file"):
        softsign_norm.load(tmp_path / "nets.txt")
    (tmp_path / "nets.txt").write_bytes(b"\xff\xfe")
    with pytest.raises(ValueError, match=r"nets\.txt is no text"):
        softsign_norm.load(tmp_path / "nets.txt")
    (tmp_path / "nets.txt").write_text("softsign")
    with pytest.raises(ValueError, match=r"nets\.txt, line 1: begins with"):
        softsign_norm.load(tmp_path / "nets.txt")
    small = softsign_norm.load(SMALL)
    with pytest.raises(ValueError, match="2 inputs and 1 outputs cannot be put in an order of 9 cells"):
        softsign_norm.to_rows(small)
    assert softsign_norm.to_rows(small, order=None).shape == (1, 9)
    with pytest.raises(ValueError, match="rows of shape \\[1, 8\\]; networks 2-2-1 are \\[n, 9\\]"):
        softsign_norm.from_rows(np.zeros((1, 8), np.float32), (2, 2, 1), order=None)
    with pytest.raises(ValueError, match="networks of 2 different shapes"):
        softsign_norm.to_rows([*small, small[0][:1]], order=None)
