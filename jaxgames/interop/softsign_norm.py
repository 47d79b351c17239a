"""The text form of the evolved tic-tac-toe networks: one network a line, as the original program wrote and read them.

    softsign_norm:{[[w, w, ...], ...],[[b], ...]}{[[w, ...], ...],[[b], ...]}...

Between the braces is one layer: for each unit the weights of its inputs, then for each unit its bias. Every layer, the
last one included, is followed by the activation that the line begins with, which here is `softsign_unit`. Inputs are 1
for an own mark, -1 for the other player's, 0 for an empty cell; each output stands for a cell, and the highest of all
nine is the move. The program numbers cells column by column: `COLUMNS_FIRST`.

Weights are float64 there, and are read and written without any loss.
"""

import json
import re
from collections.abc import Sequence
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from jaxtyping import Float32, Float64

from jaxgames.ops import json_text

__all__ = ["TextLayer", "dump", "from_rows", "load", "outputs", "to_rows"]

NAME = "softsign_norm"
ACTIVATION = "softsign_unit"
"""The function of every layer, as `MLP` and `ACTIVATIONS` know it."""

COLUMNS_FIRST = (0, 3, 6, 1, 4, 7, 2, 5, 8)
"""For each cell of the program, column by column, the cell of a 3 x 3 board row by row; and the other way."""

_LAYER = re.compile(r"\{([^{}]*)\}")


class TextLayer(NamedTuple):
    """One layer of one network."""

    kernel: Float64[np.ndarray, "outputs inputs"]
    bias: Float64[np.ndarray, " outputs"]


Network = tuple[TextLayer, ...]


def load(source: str | Path) -> list[Network]:
    """The networks of a text, or of the file that a `Path` names.

    Raises `ValueError` that names the line, and says what is wrong there.
    """
    where = f"{source}, " if isinstance(source, Path) else ""
    try:
        text = source.read_text("utf-8") if isinstance(source, Path) else source
    except OSError as error:
        raise ValueError(f"{source} cannot be read: {error.strerror}; expected a file of networks") from None
    except UnicodeDecodeError:
        raise ValueError(f"{source} is no text; expected a file of networks") from None
    networks = []
    for number, line in enumerate(text.removeprefix("\ufeff").splitlines(), 1):
        if not line.strip():
            continue
        try:
            networks.append(_network(line.strip()))
        except ValueError as error:
            raise ValueError(f"{where}line {number}: {error}") from None
    if not networks:
        raise ValueError(f"{where}no networks; expected lines such as {NAME}:{{[[0.5]],[[0.1]]}}")
    return networks


def dump(networks: Sequence[Network]) -> str:
    """The text that `load` reads as these networks: for networks of the original program, the very same characters."""
    return "".join(f"{NAME}:{''.join(map(_layer_text, network))}\n" for network in networks)


def to_rows(
    networks: Sequence[Network], order: Sequence[int] | None = COLUMNS_FIRST
) -> Float32[np.ndarray, "n dimension"]:
    """The networks as rows of numbers: layer after layer the kernel, unit after unit, then the biases.

    By default they are reordered for boards read row by row; `order` lists which input and output of a row each input
    and output of the text becomes, and None keeps their order. Raises `ValueError` unless all networks have the same
    shape, which fits the order.
    """
    shapes = {tuple(layer.kernel.shape for layer in network) for network in networks}
    if len(shapes) != 1:
        raise ValueError(f"networks of {len(shapes)} different shapes; expected one or more of the same")
    return np.stack([_row(_reordered(network, order)) for network in networks]).astype(np.float32)


def from_rows(
    rows: Float32[np.ndarray, "n dimension"], sizes: Sequence[int], order: Sequence[int] | None = COLUMNS_FIRST
) -> list[Network]:
    """The networks of such rows; `sizes` are inputs and units, `(9, 18, 18, 9)`. `order` is that of `to_rows`.

    Raises `ValueError` for rows of another length.
    """
    shapes = list(zip(sizes[1:], sizes[:-1], strict=True))
    length = sum(outputs * (inputs + 1) for outputs, inputs in shapes)
    rows = np.asarray(rows, np.float64)
    if rows.ndim != 2 or rows.shape[1] != length:
        raise ValueError(f"rows of shape {list(rows.shape)}; networks {'-'.join(map(str, sizes))} are [n, {length}]")
    back = None if order is None else np.argsort(order).tolist()
    networks = []
    for row in rows:
        layers, start = [], 0
        for outputs, inputs in shapes:
            kernel, bias = np.split(row[start : start + outputs * (inputs + 1)], [outputs * inputs])
            layers.append(TextLayer(kernel.reshape(outputs, inputs), bias))
            start += outputs * (inputs + 1)
        networks.append(_reordered(tuple(layers), back))
    return networks


def outputs(network: Network, inputs: Float64[np.ndarray, "n inputs"]) -> Float64[np.ndarray, "n outputs"]:
    """What the original program computes, in its precision."""
    values = np.asarray(inputs, np.float64)
    for kernel, bias in network:
        values = values @ kernel.T + bias
        values = 0.5 * values / (1 + abs(values)) + 0.5
    return values


def _network(line: str) -> Network:
    name, colon, body = line.partition(":")
    if not colon or name != NAME:
        raise ValueError(f"begins with {line[:20]!r}; expected {NAME}: and the layers (a file is named by a Path)")
    layers: list[TextLayer] = []
    at = 0
    while at < len(body):
        match = _LAYER.match(body, at)
        if not match:
            begun = body[at] == "{"
            reason = "is never closed by '}'" if begun else f"begins with {body[at]!r}; expected '{{'"
            raise ValueError(f"layer {len(layers) + 1}, character {len(name) + 2 + at} of the line, {reason}")
        try:
            layers.append(_layer(match[1], len(name) + 2 + at))
        except ValueError as error:
            raise ValueError(f"layer {len(layers) + 1}: {error}") from None
        if len(layers) > 1 and layers[-1].kernel.shape[1] != len(layers[-2].bias):
            raise ValueError(
                f"layer {len(layers)} has {layers[-1].kernel.shape[1]} weights for each unit, but layer "
                f"{len(layers) - 1} has {len(layers[-2].bias)} units"
            )
        at = match.end()
    if not layers:
        raise ValueError("the network has no layers; expected {[[weights], ...],[[bias], ...]}")
    return tuple(layers)


def _layer(text: str, before: int) -> TextLayer:
    """The layer of a text that begins after `before` characters of the line."""
    try:
        parts = json_text.loads(f"[{text}]", parse_int=float, parse_constant=_no_number)
    except json.JSONDecodeError as error:
        reason = f"character {before + error.pos} of the line is wrong ({error.msg})"
        raise ValueError(f"{reason}; expected [[w, ...], ...],[[b], ...]") from None
    if len(parts) != 2:
        raise ValueError(f"{len(parts)} lists; expected two: the weights of each unit and the biases")
    kernel, bias = _matrix("weights", parts[0]), _matrix("biases", parts[1])
    if bias.shape != (len(kernel), 1):
        shape = " x ".join(map(str, bias.shape))
        raise ValueError(f"{len(kernel)} units have weights, but the biases are {shape}; expected {len(kernel)} x 1")
    return TextLayer(kernel, bias[:, 0])


def _no_number(text: str) -> None:
    raise ValueError(f"{text} is no weight; expected numbers")


def _matrix(what: str, rows: Any) -> Float64[np.ndarray, "rows columns"]:
    if not isinstance(rows, list) or not rows or not all(isinstance(row, list) and row for row in rows):
        raise ValueError(f"the {what} are no list of lists; expected one list of numbers a unit")
    lengths = {len(row) for row in rows}
    if len(lengths) > 1:
        raise ValueError(f"units with {min(lengths)} and with {max(lengths)} {what}; expected as many for each")
    wrong = [number for row in rows for number in row if type(number) is not float]
    if wrong:
        raise ValueError(f"{wrong[0]!r} among the {what}; expected numbers")
    matrix = np.array(rows, np.float64)
    if not np.isfinite(matrix).all():
        raise ValueError(f"a number among the {what} is too large")
    return matrix


def _layer_text(layer: TextLayer) -> str:
    parts = layer.kernel.tolist(), layer.bias[:, None].tolist()
    lists = ("[" + ", ".join("[" + ", ".join(map(_number_text, row)) + "]" for row in part) + "]" for part in parts)
    return "{" + ",".join(lists) + "}"


def _number_text(number: float) -> str:
    """The shortest digits that are read back as the number, as Java writes them."""
    if number == 0 or 1e-3 <= abs(number) < 1e7:
        return repr(number)
    digits, exponent = np.format_float_scientific(number, trim="0", exp_digits=1).split("e")
    return f"{digits}E{int(exponent)}"


def _reordered(network: Network, order: Sequence[int] | None) -> Network:
    """The network with input and output i moved to place `order[i]`."""
    if order is None:
        return network
    inputs, outputs = network[0].kernel.shape[1], len(network[-1].bias)
    if not inputs == outputs == len(order):
        raise ValueError(f"{inputs} inputs and {outputs} outputs cannot be put in an order of {len(order)} cells")
    from_place = np.argsort(order)
    layers = list(network)
    layers[0] = layers[0]._replace(kernel=layers[0].kernel[:, from_place])
    layers[-1] = TextLayer(layers[-1].kernel[from_place], layers[-1].bias[from_place])
    return tuple(layers)


def _row(network: Network) -> Float64[np.ndarray, " dimension"]:
    return np.concatenate([part.ravel() for layer in network for part in layer])
