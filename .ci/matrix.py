"""Installs the wheel alone on each Python of this machine, with the oldest and the newest versions, and tests it there.

In each virtual environment come, one after the other: the core, `[cli]`, `[web]`. Tests of each run against what is
installed, in a folder without the checkout's package. `--save` writes `docs/matrix.json`.
"""

import argparse
import datetime
import json
import os
import shutil
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import Any

ROOT = Path(__file__).parents[1]
RESULT = ROOT / "docs" / "matrix.json"
OLDEST = ROOT / ".ci" / "oldest.txt"
TOOLS = ("pytest", "pytest-xdist", "hypothesis", "httpx", "httpx2")
TESTS = {
    "core": (
        "tests/envs/test_rollout.py",
        "tests/nets",
        "tests/algos/mcts/test_kernel.py",
        "tests/algos/evolution/test_open_es.py",
        "tests/test_import.py",
    ),
    "cli": ("tests/runs/test_run.py", "tests/cli/test_perft.py", "tests/recipes/test_td.py"),
    "web": ("tests/web/test_messages.py", "tests/web/test_handlers.py"),
}
"""What is tested after the installation of each extra."""
SHOWN = ("jax", "flax", "numpy")


def main() -> int:
    """Tries all combinations; 1 if one failed."""
    options = argparse.ArgumentParser(description=__doc__)
    options.add_argument("--save", action="store_true", help="write docs/matrix.json")
    options.add_argument("--only", default="", help="such as 3.13, or 3.13-newest")
    asked = options.parse_args()
    rows = []
    with tempfile.TemporaryDirectory(prefix="matrix-") as folder:
        wheel = build(Path(folder))
        for python in pythons():
            for versions in ("oldest", "newest"):
                name = f"{python.name.removeprefix('python')}-{versions}"
                if name.startswith(asked.only):
                    rows.append(tried(python, versions, wheel, Path(folder)))
    if asked.save and not asked.only:
        found = {"date": datetime.datetime.now(datetime.UTC).date().isoformat(), "rows": rows}
        RESULT.write_text(json.dumps(found, indent=1) + "\n", "utf-8")
    return int(not all(row["passed"] for row in rows))


def pythons() -> list[Path]:
    """One Python of each series."""
    run = subprocess.run([ROOT / ".ci" / "pythons"], check=True, capture_output=True, text=True)
    series: dict[str, Path] = {}
    for line in run.stdout.split():
        ask = "import sys; print('python%d.%d' % sys.version_info[:2])"
        name = subprocess.run([line, "-c", ask], check=True, capture_output=True, text=True).stdout.strip()
        series[name] = Path(line).with_name(name)
    return [path for path in series.values() if path.exists()]


def build(folder: Path) -> Path:
    """The wheel."""
    shell([sys.executable, "-m", "pip", "wheel", "--quiet", "--no-deps", "-w", str(folder), str(ROOT)])
    (wheel,) = folder.glob("jaxgames-*.whl")
    return wheel


def tried(python: Path, versions: str, wheel: Path, folder: Path) -> dict[str, Any]:
    """Installs and tests one combination, and says what happened."""
    began, place = time.monotonic(), folder / f"{python.name}-{versions}"
    shell([str(python), "-m", "venv", str(place / "venv")])
    shutil.copytree(ROOT / "tests", place / "tests")
    shutil.copy(ROOT / "pyproject.toml", place)
    own, passed = str(place / "venv" / "bin" / "python"), True
    pins = ["-c", str(ROOT / ".ci" / "constraints.txt"), *(["-c", str(OLDEST)] if versions == "oldest" else [])]
    pip = [own, "-m", "pip", "install", "--quiet", "--disable-pip-version-check", *pins]
    said: dict[str, str] = {}
    for extra, tests in TESTS.items():
        what = str(wheel) if extra == "core" else f"{wheel}[{extra}]"
        try:
            shell([*pip, what, *(TOOLS if extra == "core" else ())])
            old = ["-W", "ignore::DeprecationWarning"] if versions == "oldest" else []
            command = [own, "-m", "pytest", "-q", "-n", "2", "-m", "not slow", "-p", "no:cacheprovider", *old, *tests]
            said[extra] = shell(command, cwd=place).strip().splitlines()[-1].strip("= ")
        except subprocess.CalledProcessError as error:
            passed, said[extra] = False, "failed"
            print((error.stdout or "")[-2000:], (error.stderr or "")[-1000:], sep="\n", file=sys.stderr)
            break
    ask = "import json, importlib.metadata as m, platform; "
    ask += f"print(json.dumps({{'python': platform.python_version(), **{{n: m.version(n) for n in {SHOWN}}}}}))"
    row = json.loads(shell([own, "-c", ask])) | {"versions": versions, "passed": passed, "said": said}
    print(json.dumps(row), f"{time.monotonic() - began:.0f} s", flush=True)
    shutil.rmtree(place)
    return row


def shell(command: list[str], cwd: Path | None = None) -> str:
    """What a command prints. Raises `CalledProcessError` if it fails."""
    flags = f"--xla_backend_optimization_level=0 {os.environ.get('XLA_FLAGS', '')}"
    environment = os.environ | {"XLA_FLAGS": flags}
    environment.pop("PYTHONPATH", None)
    return subprocess.run(command, cwd=cwd, env=environment, check=True, capture_output=True, text=True).stdout


if __name__ == "__main__":
    sys.exit(main())
