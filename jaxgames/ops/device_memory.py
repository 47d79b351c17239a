"""How much memory there is: of the device that JAX uses if it reports this (GPUs do), otherwise of this machine."""

import os
from pathlib import Path

import jax


def free_bytes() -> int | None:
    """Free bytes of the device that JAX uses, or of the machine; None if not reported."""
    stats = jax.local_devices()[0].memory_stats()
    if stats and "bytes_limit" in stats:
        return stats["bytes_limit"] - stats.get("bytes_in_use", 0)
    try:
        with open("/proc/meminfo", encoding="ascii") as file:
            return 1024 * next(int(line.split()[1]) for line in file if line.startswith("MemAvailable"))
    except (OSError, StopIteration):
        pages = getattr(os, "sysconf_names", {}).get("SC_AVPHYS_PAGES")
        return None if pages is None else os.sysconf("SC_AVPHYS_PAGES") * os.sysconf("SC_PAGE_SIZE")


def machine_bytes() -> int:
    """All bytes of a device, if it reports them; otherwise those of this machine, or what its control group allows."""
    stats = jax.local_devices()[0].memory_stats() or {}
    if "bytes_limit" in stats:
        return int(stats["bytes_limit"])
    total = os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES")
    for name in ("memory.max", "memory/memory.limit_in_bytes"):
        path = Path("/sys/fs/cgroup") / name
        if path.exists() and (allowed := path.read_text().strip()).isdecimal():
            total = min(total, int(allowed))
    return total
