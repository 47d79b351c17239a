"""Tables of the measured figures, in Markdown, from the result files that `--save` wrote.

By default all of them, as in `docs/benchmarks.md`; `--short` prints the few of the README. A row is marked stale where
git says that its code has changed since the commit on which it was measured.
"""

import argparse
import functools
import json
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from _common import RESULTS
from _machine import changed_since, machine_name

STALE = " *(stale)*"
CODE = {
    "alpha_beta": ("jaxgames/algos/minimax", "jaxgames/players/minimax.py"),
    "alphazero": ("jaxgames/algos/mcts", "jaxgames/algos/alphazero", "jaxgames/nets"),
    "backgammon_plays": (),
    "backgammon_plies": ("jaxgames/algos/expectimax.py", "jaxgames/players", "jaxgames/arena"),
    "backgammon_random_play": (),
    "evolution": ("jaxgames/algos/evolution", "jaxgames/nets"),
    "games": (),
    "move_choice": ("jaxgames/players", "jaxgames/nets"),
    "policy_loop": (),
    "search": ("jaxgames/algos/mcts",),
    "search_networks": ("jaxgames/algos/mcts",),
    "strong_backgammon": ("jaxgames/algos/td", "jaxgames/nets", "jaxgames/players", "jaxgames/arena"),
    "td_speed": ("jaxgames/algos/td", "jaxgames/nets"),
    "td_strength": ("jaxgames/algos/td", "jaxgames/nets", "jaxgames/players", "jaxgames/arena"),
}
"""The code that the figures of a subject depend on, besides games, `ops` and the benchmark itself."""
GAMES = {
    "tic-tac-toe": "tic_tac_toe",
    "Connect Four": "connect_four",
    "checkers": "checkers",
    "backgammon": "backgammon",
}
"""Games as rows name them, and their folders: a row that names one does not depend on the rules of the others."""
UNTIMED = ":(exclude)jaxgames/ops/device_memory.py"
"""Asked while a program is traced, never while it runs."""
SHORT = (
    ("policy_loop", "Connect Four, policy loop, batch 1,024", "Connect Four, policy loop (MLP 64), 1,024 games"),
    ("policy_loop", "backgammon, policy loop, batch 1,024", "backgammon, policy loop (MLP 64), 1,024 games"),
    ("search_networks", "Connect Four, Gumbel, MLP 256-256, 1,024 x 32", "Gumbel search, MLP 256-256, 1,024 x 32"),
    ("search_networks", "Connect Four, Gumbel, residual 3 x 32, 1,024 x 32", "Gumbel search, residual net, 1,024 x 32"),
    ("games", "Connect Four, written, batch 1,024", "Connect Four, random play; *favourable*: our draw is cheap"),
    ("search", "Connect Four, PUCT, 1,024 x 800", "PUCT, 1,024 x 800; *favourable*: a linear network"),
    ("evolution", "tic-tac-toe, 4,096 x 64", "evolving 4,096 tic-tac-toe networks, 64 opponents each"),
    ("td_speed", "self-play with learning: fast", "backgammon self-play with learning"),
    ("alpha_beta", "alpha-beta, checkers, depth 7, batch 256", "alpha-beta, checkers, depth 7, batch 256"),
    ("td_strength", "PPG against pubeval: td-gammon fast", "TD-Gammon against pubeval, worst of 3 trainings"),
)
"""The rows of the README: subject, how the row begins (the first such one with this subject), and what it is called."""


def main() -> int:
    """Prints a table for each machine."""
    options = argparse.ArgumentParser(description=__doc__)
    options.add_argument("files", nargs="*", type=Path, help="result files (default: all in benchmarks/results)")
    options.add_argument("--short", action="store_true", help="only the rows of the README")
    asked = options.parse_args()
    results = read(asked.files)
    if not results:
        print("there are no results yet; each benchmark writes them with --save", file=sys.stderr)
        return 0
    print("\n\n".join(tables(results, short if asked.short else table)))
    return 0


def read(files: list[Path] | None = None) -> list[dict[str, Any]]:
    """The results in some files, or in all."""
    return [json.loads(path.read_text("utf-8")) for path in files or sorted(RESULTS.glob("*.json"))]


def tables(results: list[dict[str, Any]], make: Any = None) -> list[str]:
    """A table for each machine: every comparison of every subject, our figure beside the peer's."""
    machines: dict[str, list[dict[str, Any]]] = {}
    for result in results:
        machines.setdefault(machine_name(result["machine"]), []).append(result)
    return [(make or table)(of_one) for of_one in machines.values()]


def table(results: list[dict[str, Any]]) -> str:
    """The table of one machine."""
    rows = [row(comparison, result) for result in results for comparison in result["comparisons"]]
    return "\n".join([*HEAD, *rows, "", conditions(results)])


HEAD = ("| measured | jaxgames | peer | ratio |", "|---|--:|--:|--:|")


def short(results: list[dict[str, Any]]) -> str:
    """The table of the README."""
    rows = [row(comparison, result, title) for title, comparison, result in chosen(results)]
    return "\n".join([*HEAD, *rows, "", conditions(results)])


def chosen(results: list[dict[str, Any]]) -> Iterator[tuple[str, dict[str, Any], dict[str, Any]]]:
    """Titles, comparisons and results of the README's rows, as far as they are measured."""
    for subject, begins, title in SHORT:
        for result in (result for result in results if result["subject"] == subject):
            rows = [row for row in result["comparisons"] if row["what"].startswith(begins)]
            exact = [row for row in rows if row["what"] == begins]
            for comparison in (exact or rows[-1:])[:1]:
                yield title, comparison, result


def row(comparison: dict[str, Any], result: dict[str, Any], title: str | None = None) -> str:
    """One comparison, by its own name or a title: `| what | 1,234 games/s | 56 games/s (pgx) | 22x |`."""
    unit = comparison["unit"]
    ours = f"{comparison['ours_text']} {unit}"
    theirs = []
    if comparison["peer"] is not None:
        theirs.append(f"{comparison['peer_text']} {unit} ({comparison['peer_name']})")
    if comparison["published"]:
        theirs.append(f"published: {comparison['published']}")
    what = (title or comparison["what"]) + mark(comparison, result)
    return f"| {what} | {ours} | {'; '.join(theirs) or '-'} | {times(comparison['ratio'])} |"


def mark(comparison: dict[str, Any], result: dict[str, Any]) -> str:
    """A mark where the code of a row has changed since it was measured; none where git cannot tell."""
    sha = comparison.get("commit") or result.get("commit")
    name = f"{result['subject']} {comparison.get('what', '')}"
    games = tuple(folder for game, folder in GAMES.items() if game in name)
    return STALE if sha and is_stale(result["subject"], games, sha) else ""


@functools.cache
def is_stale(subject: str, games: tuple[str, ...], sha: str) -> bool:
    """Whether the code of a subject is not as it was at a commit; without `games`, with the rules of all games."""
    code = ("jaxgames/envs", "jaxgames/ops", f"benchmarks/{subject}.py", *CODE.get(subject, ("jaxgames",)))
    others = [f":(exclude)jaxgames/envs/{folder}" for folder in GAMES.values() if games and folder not in games]
    return bool(changed_since(sha, (*code, *others, UNTIMED)))


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
    dates = sorted({row.get("date") or result["date"] for result in results for row in result["comparisons"]})
    dates = dates or [results[0]["date"]]
    days = dates[0] if len(dates) == 1 else f"{dates[0]} to {dates[-1]}"
    used = ", ".join(f"{name} {version}" for name, version in versions.items())
    machine = f"{first['cpu']}, {first['cores']} cores, {first['memory_gib']} GiB, {first['os']}"
    return (
        f"Measured on {days}: {machine}, Python {first['python']}; {used}. Medians; all repeats: `benchmarks/results`."
    )


def commits(results: list[dict[str, Any]]) -> str:
    """When and on which commit each subject was measured."""
    lines = ["| benchmark | measured on | commit | tree |", "|---|---|---|---|"]
    for result in results:
        seen = {(row.get("date") or result["date"], *state(row, result)) for row in result["comparisons"]}
        seen = seen or {(result["date"], *state({}, result))}
        for date, sha, tree in sorted(seen):
            lines.append(f"| `{result['subject']}` | {date} | {f'`{sha[:7]}`' if sha else '-'} | {tree} |")
    return "\n".join(lines)


def state(row: dict[str, Any], result: dict[str, Any]) -> tuple[str, str]:
    """The commit of a row, and how the tree was."""
    source = row if row.get("commit") else result
    clean = {True: "clean", False: "changed", None: "not noted"}[source.get("clean")]
    return source.get("commit") or "", clean


def missed(results: list[dict[str, Any]]) -> str:
    """What the project asks of itself and has not reached."""
    lines = ["| asked for, not reached | measured | asked |", "|---|--:|--:|"]
    for result in results:
        for figure in result["figures"]:
            if figure["reached"] is False:
                sign, bound = ("at least", figure["at_least"]) if figure["at_least"] else ("at most", figure["at_most"])
                unit = figure["unit"]
                lines.append(
                    f"| {figure['what']} | {_number(figure['value'])} {unit} | {sign} {_number(bound)} {unit} |"
                )
    return "\n".join(lines)


def _number(value: float) -> str:
    return f"{float(f'{value:.4g}'):,.0f}" if abs(value) >= 1000 else f"{value:.3g}"


if __name__ == "__main__":
    sys.exit(main())
