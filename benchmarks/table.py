"""The README's table of measured figures, in Markdown, from the result files that `--save` wrote."""

import argparse
import json
import sys
from pathlib import Path
from typing import Any

from _common import RESULTS
from _machine import machine_name


def main() -> int:
    """Prints a table for each machine."""
    options = argparse.ArgumentParser(description=__doc__)
    options.add_argument("files", nargs="*", type=Path, help="result files (default: all in benchmarks/results)")
    files = options.parse_args().files or sorted(RESULTS.glob("*.json"))
    if not files:
        print("there are no results yet; each benchmark writes them with --save", file=sys.stderr)
        return 0
    print("\n\n".join(tables([json.loads(path.read_text("utf-8")) for path in files])))
    return 0


def tables(results: list[dict[str, Any]]) -> list[str]:
    """A table for each machine: every comparison of every subject, our figure beside the peer's."""
    machines: dict[str, list[dict[str, Any]]] = {}
    for result in results:
        machines.setdefault(machine_name(result["machine"]), []).append(result)
    return [table(of_one) for of_one in machines.values()]


def table(results: list[dict[str, Any]]) -> str:
    """The table of one machine."""
    lines = ["| measured | jaxgames | peer | ratio |", "|---|--:|--:|--:|"]
    for result in results:
        lines += [row(comparison) for comparison in result["comparisons"]]
    return "\n".join([*lines, "", conditions(results)])


def row(comparison: dict[str, Any]) -> str:
    """One comparison: `| what | 1,234 games/s | 56 games/s (pgx) | 22x |`."""
    unit = comparison["unit"]
    ours = f"{comparison['ours_text']} {unit}"
    theirs = []
    if comparison["peer"] is not None:
        theirs.append(f"{comparison['peer_text']} {unit} ({comparison['peer_name']})")
    if comparison["published"]:
        theirs.append(f"published: {comparison['published']}")
    return f"| {comparison['what']} | {ours} | {'; '.join(theirs) or '-'} | {times(comparison['ratio'])} |"


def times(ratio: float | None) -> str:
    """`0.85x`, `3.2x`, `22x`; nothing where there is no ratio."""
    if ratio is None:
        return ""
    return f"{ratio:.0f}x" if ratio >= 10 else f"{ratio:.2g}x"


def conditions(results: list[dict[str, Any]]) -> str:
    """Machine, versions and dates, in one sentence."""
    first = results[0]["machine"]
    versions: dict[str, str] = {}
    for result in results:
        versions |= {name: version for name, version in result["versions"].items() if version}
    dates = sorted({result["date"] for result in results})
    days = dates[0] if len(dates) == 1 else f"{dates[0]} to {dates[-1]}"
    used = ", ".join(f"{name} {version}" for name, version in versions.items())
    machine = f"{first['cpu']}, {first['cores']} cores, {first['memory_gib']} GiB, {first['os']}"
    return (
        f"Measured on {days}: {machine}, Python {first['python']}; {used}. Medians; all repeats: `benchmarks/results`."
    )


if __name__ == "__main__":
    sys.exit(main())
