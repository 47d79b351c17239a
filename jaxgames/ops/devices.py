"""The devices that a program runs on."""

from collections.abc import Mapping

import jax
from jax.sharding import AxisType, Mesh

from jaxgames.ops import checks


def device_mesh(number: int | None, axis: str) -> Mesh:
    """A mesh with one axis over the first `number` devices (None: over all, of all processes).

    Raises `ValueError` if there are fewer.
    """
    devices = jax.devices()
    if number is not None:
        number = checks.whole("devices", number)
    if number is not None and number > len(devices):
        raise ValueError(f"this runs on {number} devices, but {len(devices)} are here; use a machine with as many")
    return jax.make_mesh((number or len(devices),), (axis,), axis_types=(AxisType.Auto,), devices=devices[:number])


def check_shares(numbers: Mapping[str, int], devices: int) -> None:
    """Raises `ValueError` if devices would get unequal shares of one of these numbers, given by name."""
    for name, number in numbers.items():
        if number % devices:
            raise ValueError(f"{name}={number} cannot be split over {devices} devices evenly")
