"""CONTRIBUTING.md does what it says: its files and lines, in a copy of the package, are a game, a rule, a verb, ..."""

import json
import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
SECTIONS = dict(re.findall(r"^## (.*?)\n(.*?)(?=^## |\Z)", (ROOT / "CONTRIBUTING.md").read_text("utf-8"), re.M | re.S))
TOUCHED = {
    "A game": (1, 1),
    "A search rule": (1, 1),
    "A verb of the command line": (1, 1),
    "A recipe": (1, 1),
    "A player": (1, 1),
    "A metric of AlphaZero": (0, 1),
    "A setting of TD": (0, 1),
}
"""New files and changed files of each."""
RUN = """
import contextlib, io, json, sys, traceback
found = {}
for name, code in json.load(sys.stdin).items():
    try:
        with contextlib.redirect_stdout(io.StringIO()):
            exec(compile(code, name, "exec"), {})
        found[name] = ""
    except BaseException:
        found[name] = traceback.format_exc()
print(json.dumps(found))
"""


def blocks(section: str, kind: str) -> dict[str, str]:
    """The blocks of code of a section by title, those without one as an empty title."""
    found = re.findall(rf'^```{kind}(?: title="(.*?)")?\n(.*?)^```$', SECTIONS[section], re.M | re.S)
    return {title: code for title, code in found}


def change(text: str, difference: str) -> str:
    """A file after a difference, whose parts are separated by `@@`: the old lines of each are there once, in a row."""
    for part in difference.split("@@\n"):
        old, new = (
            "".join(line[1:] for line in part.splitlines(keepends=True) if line[0] in signs) for signs in (" -", " +")
        )
        assert text.count(old) == 1, old
        text = text.replace(old, new)
    return text


@pytest.fixture(scope="module")
def outcomes(tmp_path_factory):
    """What happens when all is in the copy: for each section nothing, or the error."""
    place = tmp_path_factory.mktemp("copy")
    shutil.copytree(ROOT / "jaxgames", place / "jaxgames", ignore=shutil.ignore_patterns("__pycache__"))
    for section in SECTIONS:
        for path, code in blocks(section, "python").items():
            if path:
                (place / path).write_text(code, "utf-8")
        for path, difference in blocks(section, "diff").items():
            (place / path).write_text(change((place / path).read_text("utf-8"), difference), "utf-8")
    code = json.dumps({section: blocks(section, "python")[""] for section in SECTIONS})
    environment = os.environ | {"PYTHONPATH": str(place)}
    command = [sys.executable, "-c", RUN]
    run = subprocess.run(command, input=code, cwd=place, env=environment, capture_output=True, text=True, timeout=300)
    assert run.returncode == 0, run.stderr
    return json.loads(run.stdout)


@pytest.mark.parametrize("section", TOUCHED)
def test_what_people_add_works_as_it_is_shown(section, outcomes):
    assert outcomes[section] == ""


def test_each_touches_as_few_files_as_is_said():
    assert SECTIONS.keys() == TOUCHED.keys()
    for section, expected in TOUCHED.items():
        new = [path for path in blocks(section, "python") if path]
        assert (len(new), len(blocks(section, "diff"))) == expected
        assert not any((ROOT / path).exists() for path in new)
