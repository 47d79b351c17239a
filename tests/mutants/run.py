"""Breaks the code on purpose, one small edit at a time, and fails unless a test notices each: `make mutants`.

The edits are listed in `edits.toml`. Each is made in a copy of the project, in which the tests named beside it are run.
All programs that are compiled are kept for the other edits, as most of them stay the same.
"""

import argparse
import concurrent.futures
import contextlib
import os
import queue
import re
import shutil
import signal
import subprocess
import sys
import tempfile
import time
import tomllib
from collections.abc import Sequence
from pathlib import Path
from typing import NamedTuple

ROOT = Path(__file__).parents[2]
LIST = Path(__file__).with_name("edits.toml")
COPIED = (
    ".ci",
    ".github",
    ".gitignore",
    ".pre-commit-config.yaml",
    "CHANGELOG.md",
    "CITATION.cff",
    "CONTRIBUTING.md",
    "LICENSE",
    "Makefile",
    "README.md",
    "SECURITY.md",
    "benchmarks",
    "docs",
    "examples",
    "jaxgames",
    "mkdocs.yml",
    "pyproject.toml",
    "tests",
)
"""All that belongs to the project: what tests read."""
LIMIT = 300
"""Seconds: an edit that makes its tests run on for longer is noticed, too."""
_running: set[int] = set()
"""The processes of tests, by their numbers."""


class Edit(NamedTuple):
    """A text in a file of the package, what is put in its place, and the tests that should fail then."""

    name: str
    file: str
    old: str
    new: str
    tests: tuple[str, ...]

    def broken(self, source: str) -> str:
        """The file with the edit. Raises `ValueError` unless the text is there exactly once."""
        if (count := source.count(self.old)) != 1:
            raise ValueError(f"{self.name}: {self.file} has the text {count} times, expected once: {self.old!r}")
        return source.replace(self.old, self.new)


def read(path: Path = LIST) -> list[Edit]:
    """The edits of a list. Raises `ValueError` where two bear the same name, or something else is no TOML."""
    edits = [
        Edit(name, entry["file"], entry["from"], entry["to"], tuple(entry["tests"]))
        for name, entry in tomllib.loads(path.read_text("utf-8")).items()
    ]
    return edits


def copy_project(root: Path, to: Path) -> None:
    """What tests need of a project."""
    ignored = shutil.ignore_patterns("__pycache__")
    for name in COPIED:
        if (root / name).is_dir():
            shutil.copytree(root / name, to / name, ignore=ignored)
        elif (root / name).exists():
            shutil.copy(root / name, to / name)


def passes(project: Path, tests: Sequence[str], cache: Path, limit: float | None) -> tuple[bool, str]:
    """Whether the tests pass in a project, and what pytest said. Raises `ValueError` if it could not run them."""
    environment = {
        **os.environ,
        "PYTHONPATH": str(project),
        "PYTHONDONTWRITEBYTECODE": "1",  # edits of one second and of the same size would not be told apart
        "JAX_COMPILATION_CACHE_DIR": str(cache),
        "JAX_PERSISTENT_CACHE_MIN_COMPILE_TIME_SECS": "0",
        "JAX_PERSISTENT_CACHE_MIN_ENTRY_SIZE_BYTES": "-1",
        "JAXGAMES_PATIENCE": "60",  # seconds that a test of the page waits; what it plays was compiled before
    }
    # Where all tests are named they run in any case; beside a whole file only quick ones do.
    marks = () if all("::" in test for test in tests) else ("-m", "not slow")
    command = [sys.executable, "-m", "pytest", "-x", "-q", "-p", "no:cacheprovider", *marks, *tests]
    pipes = {"stdout": subprocess.PIPE, "stderr": subprocess.PIPE}
    with subprocess.Popen(command, cwd=project, env=environment, text=True, start_new_session=True, **pipes) as running:
        _running.add(running.pid)
        try:
            said, complaints = running.communicate(timeout=limit)
        except subprocess.TimeoutExpired:
            return False, f"still running after {limit} seconds"
        finally:
            _running.discard(running.pid)
            if running.returncode is None:
                os.killpg(running.pid, signal.SIGKILL)  # and the servers that it has started
    if running.returncode not in (0, 1):  # 1: tests failed; else there are none, or they could not be read
        raise ValueError(f"{' '.join(tests)}: pytest ended with {running.returncode}\n{said[-3000:]}{complaints}")
    return running.returncode == 0, said


def survivors(edits: Sequence[Edit], root: Path, jobs: int) -> list[str]:
    """Tries all edits, `jobs` at a time, and returns the names of those that no test noticed.

    Raises `ValueError` if a text is not there exactly once, and if tests fail without any edit.
    """
    with tempfile.TemporaryDirectory(prefix="mutants-") as folder:
        cache, projects = Path(folder) / "cache", queue.SimpleQueue[Path]()
        for job in range(jobs):
            copy_project(root, Path(folder) / str(job))
            projects.put(Path(folder) / str(job))

        def run(edit: Edit | None, tests: Sequence[str]) -> bool:
            project, start = projects.get(), time.monotonic()
            try:
                if edit is None:
                    passed, said = passes(project, tests, cache, None)
                    if not passed:
                        raise ValueError(f"these tests fail without any edit\n{said[-3000:]}")
                    return True
                path = project / edit.file
                source = path.read_text("utf-8")
                path.write_text(edit.broken(source), "utf-8")
                try:
                    passed, _ = passes(project, tests, cache, LIMIT)
                    outcome, said = ("SURVIVED" if passed else "noticed"), ""
                except ValueError as error:  # what cannot even be imported is no test's merit
                    passed, outcome, said = True, "BROKEN", f"\n{error}"
                finally:
                    path.write_text(source, "utf-8")
                print(f"{outcome:8} {time.monotonic() - start:5.0f} s  {edit.name}{said}", flush=True)
                return passed
            finally:
                projects.put(project)

        for edit in edits:
            edit.broken((root / edit.file).read_text("utf-8"))
        with concurrent.futures.ThreadPoolExecutor(jobs) as pool:
            tests = sorted({test for edit in edits for test in edit.tests})
            shares = [tests[job::jobs] for job in range(jobs)]
            try:
                list(pool.map(lambda share: run(None, share), filter(None, shares)))
                found = list(pool.map(lambda edit: run(edit, edit.tests), edits))
            except KeyboardInterrupt:
                pool.shutdown(wait=False, cancel_futures=True)
                for pid in list(_running):
                    with contextlib.suppress(ProcessLookupError):
                        os.killpg(pid, signal.SIGKILL)
                raise
    return [edit.name for edit, passed in zip(edits, found, strict=True) if passed]


def main(arguments: Sequence[str] | None = None) -> int:
    """Prints each edit as it is tried; 1 if any survived."""
    parser = argparse.ArgumentParser(prog="python tests/mutants/run.py", description=__doc__.splitlines()[0])
    parser.add_argument("--only", metavar="PATTERN", default="", help="only edits whose name or file has this pattern")
    parser.add_argument("--jobs", metavar="N", type=int, default=2, help="so many at a time (default 2)")
    options = parser.parse_args(arguments)
    try:
        edits = [edit for edit in read() if re.search(options.only, f"{edit.name} {edit.file}")]
    except re.error as error:
        parser.error(f"--only {options.only!r} is no pattern: {error}")
    if not edits:
        parser.error(f"no edit has {options.only!r} in its name or file")
    try:
        unnoticed = survivors(edits, ROOT, options.jobs)
    except KeyboardInterrupt:
        print("stopped", file=sys.stderr)
        return 130
    except ValueError as error:
        print(error, file=sys.stderr)
        return 1
    print(f"{len(edits) - len(unnoticed)} of {len(edits)} edits noticed" + "".join(f"\n  not: {x}" for x in unnoticed))
    return 1 if unnoticed else 0


if __name__ == "__main__":
    sys.exit(main())
