"""What `make`, CI and a release say they do: pins, the core of the tests, the Python that is taken, what is built."""

import os
import re
import shutil
import subprocess
import sys
import tomllib
from importlib.metadata import version
from pathlib import Path

import pytest
import yaml

import jaxgames

ROOT = Path(__file__).parents[1]
MAKEFILE = (ROOT / "Makefile").read_text("utf-8")
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))["project"]
PINS = dict(
    line.split("==") for line in (ROOT / ".ci" / "constraints.txt").read_text("utf-8").splitlines() if line[0] != "#"
)


@pytest.fixture
def pins(monkeypatch):
    """The script that writes them."""
    monkeypatch.setattr(sys, "path", [str(ROOT / ".ci"), *sys.path])
    import pins

    yield pins
    sys.modules.pop("pins")


def test_what_only_checks_is_pinned_and_nothing_that_users_install(pins):
    checks, users = pins.asked(PROJECT)
    names, free = {pins.name_of(one) for one in checks} - {"jaxgames"}, {pins.name_of(one) for one in users}
    assert names and names - free <= PINS.keys()
    assert not free & PINS.keys() and not pins.closure(users).keys() & PINS.keys()


def test_set_up_takes_the_pins():
    """Here, too: the linter and pytest are those of the file."""
    recipe = re.search(r"^\$\(READY\): (.*)\n((?:\t.*\n)+)", MAKEFILE, re.MULTILINE)
    assert "$(PINS)" in recipe[1] and "-c $(PINS) -e" in recipe[2]
    assert {name: version(name) for name in ("pytest", "ruff", "mypy")}.items() <= PINS.items()


def test_users_have_no_upper_bounds():
    extras = PROJECT["optional-dependencies"]
    wanted = PROJECT["dependencies"] + [one for name in ("cli", "web", "interop") for one in extras[name]]
    assert all(re.fullmatch(r"[\w-]+>=[\d.a]+", one) for one in wanted)


def test_the_compilers_environment_has_all_peers():
    """`make accelerators` and `make bench-gpu` install the extra `bench` alone; a peer that lacks is left out there."""
    program = (ROOT / "benchmarks" / "accelerators.py").read_text("utf-8")
    peers = re.findall(r'"(\w+)"', re.search(r'"--against", type=names\(\((.*?)\)', program)[1])
    there = {one.split(">=")[0] for one in PROJECT["optional-dependencies"]["bench"]}
    assert {"pgx", "mctx", "evosax"} <= set(peers) <= there


def test_the_oldest_are_the_lower_bounds():
    oldest = dict(re.findall(r"^([\w-]+)==([\d.]+)", (ROOT / ".ci" / "oldest.txt").read_text("utf-8"), re.MULTILINE))
    bounds = PROJECT["dependencies"] + PROJECT["optional-dependencies"]["cli"]
    for name, least in (one.split(">=") for one in bounds):
        found = [int(part) for part in oldest[name].split(".")]
        assert found[: len(least.split("."))] >= [int(part) for part in least.split(".")], name


def test_the_core_is_there():
    core = re.search(r"^CORE := (.*?[^\\])\n", MAKEFILE, re.MULTILINE | re.DOTALL)[1].replace("\\", "").split()
    assert len(core) > 10 and all((ROOT / path).exists() for path in core)
    matrix = re.findall(r'"(tests/[^"]+)"', (ROOT / ".ci" / "matrix.py").read_text("utf-8"))
    assert matrix and all((ROOT / path).exists() for path in matrix)


def test_tests_do_not_lint_and_ci_does_both():
    assert re.search(r"^test: \$\(READY\)$", MAKEFILE, re.MULTILINE)
    run = (ROOT / ".ci" / "run").read_text("utf-8")
    for target in ("lint", "test", "test-oldest", "test-core"):
        assert re.search(rf"^ *step .* make PYTHON=\S+ {target}$", run, re.MULTILINE), target


def test_the_newest_python_is_taken(tmp_path):
    """Not a pre-release, and not one that cannot make virtual environments."""

    def fake(folder, version, level="final", imports="0"):
        path = tmp_path / folder / "bin" / "python3"
        path.parent.mkdir(parents=True)
        code = f"""#!/bin/sh
exec {sys.executable} -c "
import sys, types, collections
V = collections.namedtuple('V', 'major minor micro releaselevel serial')
sys.version_info, sys.argv = V({version}, '{level}', 0), sys.argv[1:]
if {imports}: sys.modules['venv'] = None
exec(sys.stdin.read())" "$@"
"""
        path.write_text(code)
        path.chmod(0o755)

    fake("a", "3, 12, 4")
    fake("b", "3, 99, 0", level="candidate")
    fake("c", "3, 98, 0", imports="1")
    fake("d", "3, 97, 1")
    fake("e", "3, 9, 1")

    def taken(*series):
        environment = {"PATH": "/usr/bin:/bin", "PYENV_ROOT": str(tmp_path / "pyenv")}
        run = [str(ROOT / ".ci" / "pythons"), *series]
        return subprocess.run(run, env=environment, capture_output=True, text=True, check=True).stdout.split()

    (tmp_path / "pyenv").mkdir()
    (tmp_path / "pyenv" / "versions").symlink_to(tmp_path)
    assert taken()[-1].endswith("/d/bin/python3") and not any("/b/" in x or "/c/" in x or "/e/" in x for x in taken())
    assert taken("3.12")[-1].endswith("/a/bin/python3")


@pytest.mark.parametrize("target", ["setup", "test-oldest", "test-core", "bench"])
def test_installations_for_checks_take_the_pins(target, tmp_path):
    places = [f"{name}={tmp_path / name}" for name in ("VENV", "OLDEST", "NEWEST_CORE")]
    said = subprocess.run(["make", "-n", *places, target], cwd=ROOT, check=True, capture_output=True, text=True)
    installed = [line for line in said.stdout.splitlines() if "pip install" in line]
    assert installed and all("-c .ci/constraints.txt" in line for line in installed)


@pytest.fixture
def release(monkeypatch):
    """The script that builds what is published."""
    monkeypatch.setattr(sys, "path", [str(ROOT / ".ci"), *sys.path])
    import release

    yield release
    sys.modules.pop("release")


def test_a_release_is_tested_from_both_files(release, monkeypatch, tmp_path):
    """The commands in their order, with those that build and install left out."""
    dist, ran = tmp_path / "dist", []

    def note(command, place=None):
        ran.append(([Path(part).name if "/" in part else part for part in command[1:]], place and place.name))
        if "build" in command:
            dist.mkdir()
            (dist / "jaxgames-9-py3-none-any.whl").touch()
            source = tmp_path / "jaxgames-9"
            (source / "tests").mkdir(parents=True)
            (source / "pyproject.toml").touch()
            shutil.make_archive(str(dist / "jaxgames-9"), "gztar", tmp_path, "jaxgames-9")

    monkeypatch.setattr(release, "ROOT", tmp_path)
    monkeypatch.setattr(release, "DIST", dist)
    monkeypatch.setattr(release, "shell", note)
    monkeypatch.setattr(sys, "argv", ["release.py", "one_test.py"])
    assert release.main() == 0
    built, checked, _, installed, bare, source = ran
    assert built[0][:2] == ["-m", "build"] and checked[0][:4] == ["-m", "twine", "check", "--strict"]
    assert len(checked[0]) == 6  # both files
    assert {"constraints.txt", "jaxgames-9-py3-none-any.whl[cli]"} <= set(installed[0])
    assert [place for _, place in (bare, source)] == ["bare", "jaxgames-9"]
    assert bare[0] == source[0] and bare[0][-1] == "one_test.py"
    monkeypatch.setattr(sys, "argv", ["release.py"])
    ran.clear(), shutil.rmtree(dist), shutil.rmtree(tmp_path / "jaxgames-9")
    assert release.main() == 0 and len(ran) == 2


def test_the_sdist_has_what_tests_read():
    """Each file of the root that a test opens; folders whole."""
    build = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))["tool"]["hatch"]["build"]["targets"]
    named = build["sdist"]["include"]
    own = {"pyproject.toml", ".gitignore", "LICENSE"}  # hatchling adds these itself
    listed = subprocess.run(["git", "ls-files"], cwd=ROOT, capture_output=True, text=True).stdout.split()
    for name in {path.split("/")[0] for path in listed} - own:
        assert any(Path(name).match(pattern) for pattern in named), name


def test_one_version_everywhere():
    citation = yaml.safe_load((ROOT / "CITATION.cff").read_text("utf-8"))
    assert citation["version"] == jaxgames.__version__ and "version" in PROJECT["dynamic"]
    assert f"## [{jaxgames.__version__}]" in (ROOT / "CHANGELOG.md").read_text("utf-8")
    assert citation["cff-version"] == "1.2.0" and {"title", "message", "authors"} <= citation.keys()


def test_the_five_texts_are_cited():
    """Each publication that the reports name, by its author and year."""
    reports = (ROOT / "docs" / "reproductions" / "index.md").read_text("utf-8")
    cited = yaml.safe_load((ROOT / "CITATION.cff").read_text("utf-8"))["references"]
    assert len(cited) == 5
    for text in cited:
        system = text["notes"].split("rebuilt as ")[1]
        (row,) = (line for line in reports.splitlines() if line.startswith(f"| `{system}`"))
        families = [author["family-names"] for author in text["authors"] if "family-names" in author]
        assert all(name in row for name in [*families, *([str(text["year"])] if "year" in text else [])])


def test_workflows_call_what_anybody_can_call():
    steps = {}
    for path in (ROOT / ".github" / "workflows").glob("*.yml"):
        (job,) = yaml.safe_load(path.read_text("utf-8"))["jobs"].values()
        steps[path.stem] = [step.get("run", "") for step in job["steps"]]
    assert ".ci/run" in steps["check"] and "make test-matrix" in steps["matrix"]
    (hook,) = yaml.safe_load((ROOT / ".pre-commit-config.yaml").read_text("utf-8"))["repos"]
    assert hook["rev"] == f"v{PINS['ruff']}"


COMPILER = ".venv/tpu/.ready"
STEPS = ("lint", "test", COMPILER, "test-tpu", "test-oldest", "test-core")


@pytest.mark.parametrize("broken", ["", *STEPS])
def test_ci_fails_with_each_of_its_steps(tmp_path, broken):
    """In a copy, where `make` only notes what it is asked for, and two Pythons are found."""
    shutil.copytree(ROOT / ".ci", tmp_path / ".ci")
    programs = {
        "make": 'for target; do :; done; echo "$*" >> made; [ "$target" != "$BROKEN" ]',
        "chromium": "",  # is there: nothing is installed
        "python3.97": "echo Python 3.97.0",
    }
    for name, code in programs.items():
        path = tmp_path / "bin" / name
        path.parent.mkdir(exist_ok=True)
        path.write_text(f"#!/bin/sh\n{code}\n")
        path.chmod(0o755)
    old, new = "/old/python3.11", tmp_path / "bin" / "python3.97"
    (tmp_path / ".ci" / "pythons").write_text(f'#!/bin/sh\necho {old}\n[ "$1" = 3.11 ] || echo {new}\n')
    environment = os.environ | {"PATH": f"{tmp_path / 'bin'}:/usr/bin:/bin", "BROKEN": broken}
    done = subprocess.run([tmp_path / ".ci" / "run"], env=environment, capture_output=True, text=True)
    made = (tmp_path / "made").read_text().splitlines()
    asked = [f"PYTHON={python} {step}" for python, step in zip((new, new, new, new, old, old), STEPS, strict=True)]
    if broken == COMPILER:  # it cannot be installed everywhere
        assert made == [step for step in asked if not step.endswith("test-tpu")]
        assert not done.returncode and "libtpu could not be installed" in done.stderr
    else:
        assert made == (asked[: STEPS.index(broken) + 1] if broken else asked)
        assert (done.returncode == 0) == (not broken), done.stderr
    assert f"newest Python here: {new} (Python 3.97.0)" in done.stdout
