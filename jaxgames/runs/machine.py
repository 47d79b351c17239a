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


def made_with() -> dict[str, str]:
    """What the bits of a training depend on besides its configuration: a run notes it when it begins."""
    return {
        "Python": platform.python_version(),
        **{name: version(name) for name in ("jax", "jaxlib")},
        "device": jax.devices()[0].device_kind,
    }
