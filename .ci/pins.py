"""Pins what only checks: prints `name==version` of each such package that is installed here, for `.ci/constraints.txt`.

What only checks is what the extras `dev`, `docs` and `release` of pyproject.toml ask for, with all that these packages
need in their turn, but for what users install: the core dependencies and the other extras, with all that they need.
Users get the newest of everything.
"""

import re
import sys
import tomllib
from collections.abc import Iterable
from importlib.metadata import PackageNotFoundError, distribution
from pathlib import Path

CHECKS = ("dev", "docs", "release")


def name_of(requirement: str) -> str:
    """`jaxgames` of `JaxGames[cli]>=1; python_version > "3"`."""
    return re.split(r"[^\w.-]", requirement.strip(), maxsplit=1)[0].lower().replace("_", "-").replace(".", "-")


def closure(requirements: Iterable[str]) -> dict[str, str]:
    """All packages that these need, themselves too, as far as they are installed, and their versions."""
    found: dict[str, str] = {}
    left = [name_of(requirement) for requirement in requirements]
    while left:
        name = left.pop()
        if name in found or name == "jaxgames":
            continue
        try:
            package = distribution(name)
        except PackageNotFoundError:
            continue
        found[name] = package.version
        left += [name_of(one) for one in package.requires or () if "extra ==" not in one]
    return found


def asked(project: dict) -> tuple[list[str], list[str]]:
    """What checks ask for, and what users do."""
    extras = project["optional-dependencies"]
    checks = [one for name in CHECKS for one in extras[name]]
    users = [one for name, extra in extras.items() if name not in (*CHECKS, "bench", "examples") for one in extra]
    return checks, project["dependencies"] + users


def main() -> int:
    """Prints the pins."""
    project = tomllib.loads((Path(__file__).parents[1] / "pyproject.toml").read_text("utf-8"))["project"]
    checks, users = map(closure, asked(project))
    print("# What only checks, pinned: a release changes nothing here until `make newest` has written this file anew.")
    for name in sorted(checks.keys() - users.keys()):
        print(f"{name}=={checks[name]}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
