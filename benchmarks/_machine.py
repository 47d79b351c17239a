"""The machine that figures were measured on, the versions of what took part, and the commit of this project."""

import ast
import collections
import contextlib
import datetime
import functools
import importlib.metadata
import json
import os
import platform
import re
import subprocess
import sys
from pathlib import Path
from typing import Any

VECTORS = (("avx512f", "AVX-512"), ("avx2", "AVX2"))
"""What Linux and people call them, the widest first."""


def cores() -> int:
    """The cores that this process may use."""
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


def load_average() -> float | None:
    """How many processes want a core, over the last minute; near 0 on an idle machine."""
    return round(os.getloadavg()[0], 2) if hasattr(os, "getloadavg") else None


def machine() -> dict[str, Any]:
    """What the figures were measured on."""
    described = {
        "cpu": _cpu_name(),
        "cores": os.cpu_count(),
        "cores_usable": cores(),
        "memory_gib": _memory_gib(),
        "os": _os_name(),
        "architecture": platform.machine(),
        "python": platform.python_version(),
    }
    if "jax" in sys.modules:
        import jax

        described["devices"] = [f"{device.platform}: {device.device_kind}" for device in jax.devices()]
    return described


def _cpu_name() -> str:
    """With its widest vectors: processors of one name, as a cloud shows them, differ in these."""
    with contextlib.suppress(OSError):
        told = Path("/proc/cpuinfo").read_text("utf-8")
        if found := re.search(r"^(?:model name|Model)\s*:\s*(.+)$", told, re.MULTILINE):
            vectors = next((f" ({name})" for flag, name in VECTORS if re.search(rf"\b{flag}\b", told)), "")
            return found[1].strip() + vectors
    return platform.processor() or platform.machine()


def _memory_gib() -> float | None:
    with contextlib.suppress(OSError, ValueError, AttributeError):
        return round(os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES") / 2**30, 1)
    return None


def _os_name() -> str:
    with contextlib.suppress(OSError, AttributeError):
        return f"{platform.system()}, {platform.freedesktop_os_release()['PRETTY_NAME']}"
    return f"{platform.system()} {platform.release()}"


def machine_name(described: dict[str, Any]) -> str:
    """A short name for files, such as `amd-epyc-7763-2-cores`; an accelerator goes before the processor."""
    devices = described.get("devices", [])
    kinds = sorted({device.split(": ", 1)[1] for device in devices if not device.startswith("cpu")})
    count = len(devices) if kinds else described["cores"]
    name = kinds[0] if kinds else re.sub(r"\(.*?\)|\bCPU\b|@.*|\d+-Core|\bProcessor\b", " ", described["cpu"])
    words = re.sub(r"[^a-z0-9]+", "-", name.lower()).strip("-")
    return f"{words}-{count}-{'devices' if kinds else 'cores'}"


def versions(*peers: str) -> dict[str, str | None]:
    """The versions of what took part; None for what is not installed."""
    found: dict[str, str | None] = {}
    for name in ("jax", "jaxlib", "numpy", "jaxgames", *peers):
        try:
            found[name] = importlib.metadata.version(name)
        except importlib.metadata.PackageNotFoundError:
            found[name] = None
    return found


def series(result: dict[str, Any]) -> str:
    """The releases of JAX among which that of a result is: `jax 0.12`."""
    return "jax " + ".".join(result["versions"]["jax"].split(".")[:2])


ROOT = Path(__file__).parent.parent
CODE = ("jaxgames", "benchmarks", ":!benchmarks/results", "pyproject.toml")
"""What has to be as committed for a tree to be clean; results may be new."""


SAME = json.loads((ROOT / "benchmarks" / "same_programs.json").read_text("utf-8"))
SAME_ON_CPUS: dict[str, list[str]] = SAME["on_cpus"]
"""Versions of a file, by git's numbers, with which XLA makes the same programs for CPUs: see `_same_programs.py`. The
number of no file is zeros. Two make other programs that are as fast: `rules/gumbel.py`, where illegal actions take no
share now (Connect Four, 1,024 x 128, one core, medians of three runs each: 147 ms before, 143 after), and `search.py`,
which sums the visits of a root otherwise where a game has chance. A third, not measured: `td/expected.py`, which now
chooses between two numbers in each update, so that the count of its replay never overflows.
"""
SAME_EVERYWHERE: dict[str, list[str]] = SAME["everywhere"]
"""The same for all devices."""


def commit() -> dict[str, Any]:
    """The commit that is measured, and whether the code is as it was committed; both None outside git."""
    found = git("rev-parse", "HEAD")
    changed = git("status", "--porcelain", "--", *CODE)
    return {"commit": found, "clean": None if found is None or changed is None else not changed}


def changed_since(sha: str, paths: tuple[str, ...], on_cpus: bool = True) -> str | None:
    """The day on which the code below `paths` changed last since a commit: `2026-11-24`.

    "" if it has not changed; None if git cannot tell. These are no changes: code that only moved from one of the files
    to another; what makes no program, such as comments, docstrings, annotations of functions, and where a name is
    imported from; and versions of a file that `SAME_EVERYWHERE` says make the same programs, or `SAME_ON_CPUS` for
    what runs `on_cpus`.
    """
    names = differing((sha,), paths, on_cpus)
    if not names:
        return names if names is None else ""
    for line in (git("log", "--format=%H %as", f"{sha}..", "--", *names) or "").splitlines():
        later, day = line.split()
        if differing((f"{later}~1", later), names, on_cpus):
            return day
    return datetime.date.today().isoformat()  # not committed yet


def differing(commits: tuple[str, ...], paths: tuple[str, ...], on_cpus: bool = True) -> tuple[str, ...] | None:
    """The files whose code differs between two commits, or between one and now; none where code only moved."""
    # A file that was renamed is listed twice: as gone and as new.
    listed = git("diff", "--raw", "--no-renames", "--no-abbrev", *commits, "--", *paths)
    if listed is None:
        return None
    before: collections.Counter[str] = collections.Counter()
    now: collections.Counter[str] = collections.Counter()
    names = []
    for line in listed.splitlines():
        found, name = line.split("\t")
        blobs = found.split()[2:4]
        old, new = (first_of_same(name, blob, on_cpus) for blob in blobs)
        in_git = len(commits) == 2 or blobs[1].strip("0") or new.strip("0")
        said, says = committed(name, old), committed(name, new) if in_git else present(name, ROOT)
        before.update(said)
        now.update(says)
        if said != says:
            names.append(name)
    return () if before == now else tuple(names)


def first_of_same(file: str, blob: str, on_cpus: bool) -> str:
    """Of all versions of a file that make the same programs as this one, the first; the file may have moved."""
    for name in SAME_EVERYWHERE | SAME_ON_CPUS if blob.strip("0") else (file,):
        same = [*(SAME_ON_CPUS.get(name, ()) if on_cpus else ()), *SAME_EVERYWHERE.get(name, ())]
        if blob in same:
            return same[0]
    return blob


@functools.cache
def committed(name: str, blob: str) -> tuple[str, ...]:
    """The statements of a file in git, by its hash there; none if it was not there yet, or is gone."""
    return statements(name, (git("cat-file", "blob", blob) or "") if blob.strip("0") else "")


@functools.cache
def present(name: str, root: Path) -> tuple[str, ...]:
    """The statements of a file now; none if it is gone."""
    return statements(name, (root / name).read_text("utf-8") if (root / name).exists() else "")


def statements(name: str, text: str) -> tuple[str, ...]:
    """The statements at the top level of a file, without imports, docstrings and annotations of functions. A file of
    data is one piece. Of a recipe only its settings count.
    """
    if not name.endswith(".py"):
        return (text,)
    tree = ast.parse(text)
    if name.startswith("jaxgames/recipes/"):
        tree.body = [node for node in tree.body if isinstance(node, ast.Assign | ast.AnnAssign)]
    for node in ast.walk(tree):
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef):
            node.decorator_list = [one for one in node.decorator_list if ast.unparse(one) != "override"]
            node.returns = None  # type: ignore[union-attr]  # a class has none
        elif isinstance(node, ast.arg):
            node.annotation = None
        for field in ("body", "orelse", "finalbody"):
            if isinstance(getattr(node, field, None), list):
                setattr(node, field, [one for one in map(counted, getattr(node, field)) if one is not None])
    return tuple(ast.dump(node) for node in tree.body)


def counted(node: ast.stmt) -> ast.stmt | None:
    """A statement as it counts; None for an import, a docstring and `__all__`.

    An import of ours under another name counts: another function may have that name now.
    """
    if isinstance(node, ast.ImportFrom) and (node.module or "").startswith("jaxgames"):
        names = [one for one in node.names if one.asname not in (None, one.name)]
        return ast.ImportFrom(None, names, 0) if names else None  # from where it is imported may change
    text = isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant) and isinstance(node.value.value, str)
    named = isinstance(node, ast.Assign) and ast.unparse(node.targets[0]) == "__all__"
    return None if text or named or isinstance(node, ast.Import | ast.ImportFrom) else node


def git(*arguments: str) -> str | None:
    """What a git command prints about this project; None without git, or where it fails."""
    try:
        run = subprocess.run(["git", *arguments], cwd=ROOT, capture_output=True, text=True, check=True, timeout=60)
    except (OSError, subprocess.SubprocessError):
        return None
    return run.stdout.strip()
