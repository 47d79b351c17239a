"""Builds what is published, in `dist`, and tests it: `python .ci/release.py TESTS...`, or `make release`.

The wheel is built from the sdist. `twine check` reads the metadata of both. Then, in a virtual environment that has the
wheel and what tests need, the tests run twice: against the installed wheel, in a folder without the source, and in the
unpacked sdist against the source that is there.
"""

import argparse
import shutil
import subprocess
import sys
import tarfile
import tempfile
from pathlib import Path

ROOT = Path(__file__).parents[1]
DIST = ROOT / "dist"
PINS = ROOT / ".ci" / "constraints.txt"
TOOLS = ("pytest", "pytest-xdist", "hypothesis")


def main() -> int:
    """Builds and tests; the first command that fails ends it."""
    options = argparse.ArgumentParser(description=__doc__)
    options.add_argument("tests", nargs="*", help="files of tests; without any nothing is installed and run")
    asked = options.parse_args()
    shutil.rmtree(DIST, ignore_errors=True)
    shell([sys.executable, "-m", "build", "--outdir", str(DIST), str(ROOT)])
    (sdist,), (wheel,) = DIST.glob("jaxgames-*.tar.gz"), DIST.glob("jaxgames-*.whl")
    shell([sys.executable, "-m", "twine", "check", "--strict", str(sdist), str(wheel)])
    if asked.tests:
        with tempfile.TemporaryDirectory(prefix="release-") as folder:
            try_out(sdist, wheel, asked.tests, Path(folder))
    print(f"{sdist.relative_to(ROOT)} and {wheel.relative_to(ROOT)} are ready")
    return 0


def try_out(sdist: Path, wheel: Path, tests: list[str], folder: Path) -> None:
    """Runs tests against the installed wheel, and in the unpacked sdist."""
    with tarfile.open(sdist) as archive:
        archive.extractall(folder, filter="data")
    source = folder / sdist.name.removesuffix(".tar.gz")
    bare = folder / "bare"
    shutil.copytree(source / "tests", bare / "tests")
    shutil.copy(source / "pyproject.toml", bare)
    shell([sys.executable, "-m", "venv", str(folder / "venv")])
    python = str(folder / "venv" / "bin" / "python")
    shell([python, "-m", "pip", "install", "--quiet", "--disable-pip-version-check", "-c", str(PINS), *TOOLS,
           f"{wheel}[cli]"])  # fmt: skip
    for place in (bare, source):
        print(f"== {place.name}", flush=True)
        shell([python, "-m", "pytest", "-n", "2", "--dist", "worksteal", "-m", "not slow", *tests], place)


def shell(command: list[str], place: Path | None = None) -> None:
    """Runs a command. Raises `CalledProcessError` if it fails."""
    subprocess.run(command, cwd=place, check=True)


if __name__ == "__main__":
    sys.exit(main())
