"""Where results were made: the machine and the versions."""

import os
import platform
from importlib.metadata import version
from typing import Any

import jax

PACKAGES = ("jax", "jaxlib", "flax", "optax", "numpy", "jaxgames")


def environment() -> dict[str, Any]:
    """Cores, devices, system and versions, ready for JSON: without them a time says nothing."""
    return {
        "machine": {
            "cores": os.cpu_count(),
            "devices": [device.device_kind for device in jax.devices()],
            "system": f"{platform.system()} {platform.machine()}",
            "python": platform.python_version(),
        },
        "versions": {name: version(name) for name in PACKAGES},
    }
