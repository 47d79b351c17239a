"""Tables of the measured figures, in Markdown, from the result files that `--save` wrote.

By default all of them, as in `docs/benchmarks.md`: a table for each machine, in it a column for each series of JAX
(`jax 0.12`); peer and ratio of a row are those of its newest. `--short` prints the few rows of the README, of the
processor that measured most of them. A row is marked stale where its code has changed since the commit on which it was
measured, with the day of the last change; code that only moved to another file has not changed.
"""

import argparse
import functools
import json
import re
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from _common import RESULTS
from _machine import ROOT, changed_since, machine_name, series

STALE = " *(stale: its code changed on {day})*"
MARKED = r" \*\(stale.*?\)\*"
DENSE = ("jaxgames/nets", *(f":!jaxgames/nets/{name}.py" for name in ("policy_value", "in_blocks", "convolution*")))
"""Networks of dense layers alone."""
MATCH = tuple(f"jaxgames/matches/{name}.py" for name in ("match", "host_games", "intervals"))
"""A match of two players."""
SEARCH = ("jaxgames/algos/mcts", ":!jaxgames/algos/mcts/evaluators/mast.py")
"""The searches of which there are rows."""
EVOLUTION = ("jaxgames/algos/evolution", ":!jaxgames/algos/evolution/strategies/nsga2.py")
"""The strategies of which there are rows."""
ALPHAZERO = (*SEARCH, "jaxgames/algos/alphazero", "jaxgames/algos/parallel.py", "jaxgames/nets")
CODE: dict[str, tuple[str, ...]] = {
    "accelerators": ("jaxgames/algos", "jaxgames/nets"),
    "alpha_beta": ("jaxgames/algos/minimax", "jaxgames/players/minimax.py"),
    "alphazero": ALPHAZERO,
    "backgammon_plays": (),
    "backgammon_plies": ("jaxgames/algos/expectimax.py", "jaxgames/players", *MATCH),
    "backgammon_random_play": (),
    "convolution": ("jaxgames/nets/convolutions.py",),
    "device_trace": ("jaxgames/algos", "jaxgames/nets"),
    "evolution": (*EVOLUTION, *DENSE),
    "few_games": (*EVOLUTION, *DENSE),
    "games": (),
    "move_choice": ("jaxgames/players", "jaxgames/champions/*.json", *DENSE),
    "policy_loop": (),
    "ppo": (),
    "processes": (*EVOLUTION, "jaxgames/algos/td", *ALPHAZERO, "jaxgames/runs/processes.py"),
    "search": SEARCH,
    "search_networks": (*SEARCH, "jaxgames/nets/in_blocks.py"),
    "strong_backgammon": ("jaxgames/algos/td", *DENSE, "jaxgames/players", *MATCH),
    "td_speed": ("jaxgames/algos/td", "jaxgames/algos/parallel.py", *DENSE, "jaxgames/recipes/td.py"),
    "td_strength": ("jaxgames/algos/td", *DENSE, "jaxgames/players", *MATCH, "jaxgames/recipes/td.py"),
}
"""The code that the figures of a subject depend on, besides games, `ops` and the benchmark itself."""
OF_COMPILED = {
    "policy": (),
    "`rollout`": (),
    "evolution": CODE["evolution"],
    "TD": CODE["td_speed"],
    "AlphaZero": CODE["alphazero"],
    "": SEARCH,
}
"""The same for what was only compiled, by the first of these words in the name of a row: the rest are searches."""
GAMES = {
    "tic-tac-toe": "tic_tac_toe",
    "Connect Four": "connect_four",
    "checkers": "checkers",
    "backgammon": "backgammon",
}
"""Games as rows name them, and their folders: a row that names one does not depend on the rules of the others."""
COMPILED = "accelerators"
"""The subject that has no times."""
HERE = Path(__file__).parent
OF_REPORTS = ("_common", "_figures", "_machine")
"""Files of the benchmarks that write down what was measured."""
UNTIMED = ("checks", "device_memory", "json_text", "settings")
"""Modules of `ops` that are asked while a program is traced or files are read, never while a program runs."""
SHORT = {
    ("policy_loop", "Connect Four, policy loop, batch 1,024"): "a network plays 1,024 games of Connect Four",
    ("ppo", "Connect Four, PPO, batch 1,024"): "the same network plays and learns them by PPO",
    ("search_networks", "Connect Four, Gumbel, MLP 256-256, 1,024 x 32"): (
        "a network searches 1,024 positions, 32 simulations each"
    ),
}
"""The rows of the README: subject and name, and what a newcomer reads."""
DRAWN = SHORT | {
    ("policy_loop", "backgammon, policy loop, batch 1,024"): "a network plays 1,024 games of backgammon",
    ("search_networks", "Connect Four, Gumbel, residual 3 x 32, 1,024 x 32"): "the same search with a residual network",
    ("games", "Connect Four, written, batch 1,024"): "Connect Four, random play; *favourable*: our draw is cheap",
    ("search", "Connect Four, PUCT, 1,024 x 800"): "PUCT, 1,024 x 800; *favourable*: a linear network",
    ("evolution", "tic-tac-toe, 4,096 x 64"): "evolving 4,096 tic-tac-toe networks, 64 opponents each",
    ("alpha_beta", "alpha-beta, checkers, depth 7, batch 256"): "alpha-beta, checkers, depth 7, batch 256",
}
"""Those of the picture."""


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
    print(short(results) if asked.short else "\n\n".join(tables(results)))
    return 0


def read(files: list[Path] | None = None) -> list[dict[str, Any]]:
    """The results in some files, or in all: subject by subject, the newest first.

    Programs that were only compiled are left out: they say nothing of the machine, and have a table of their own.
    """
    found = [json.loads(path.read_text("utf-8")) for path in files or sorted(RESULTS.glob("*.json"))]
    timed = [result for result in found if result["subject"] != COMPILED]
    return sorted(newest_first(timed), key=lambda result: result["subject"])


def newest_first(results: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """The same results, those of the newest JAX first, of one JAX those of the last day."""

    def age(result):
        return [int(number) for number in series(result).removeprefix("jax ").split(".")], result["date"]

    return sorted(results, key=age, reverse=True)


def tables(results: list[dict[str, Any]]) -> list[str]:
    """A table for each machine: every comparison of every subject, our figure beside the peer's."""
    return [table(of_one) for of_one in by_machine(results)]


def by_machine(results: list[dict[str, Any]]) -> list[list[dict[str, Any]]]:
    """The results of each machine, the machine that measured last first."""
    machines: dict[str, list[dict[str, Any]]] = {}
    for result in results:
        machines.setdefault(machine_name(result["machine"]), []).append(result)
    return sorted(machines.values(), key=lambda found: max(result["date"] for result in found), reverse=True)


def table(results: list[dict[str, Any]]) -> str:
    """The table of one machine: a column for each series of JAX, the newest first."""
    names = list(dict.fromkeys(series(result) for result in newest_first(results)))
    titles = [f"jaxgames, {name}" for name in names] if len(names) > 1 else ["jaxgames"]
    rows = [row(found, names) for found in by_row(results, "comparisons").values()]
    return "\n".join([*head(titles), *rows, "", conditions(results)])


Row = dict[str, tuple[dict[str, Any], dict[str, Any]]]
"""Of each series of JAX, what was measured, and in which result."""


def by_row(results: list[dict[str, Any]], kind: str) -> dict[tuple[str, ...], Row]:
    """All `comparisons` or `figures` by subject and name, the newest JAX first in each."""
    rows: dict[tuple[str, ...], Row] = {}
    for result in results:
        for one in result[kind]:
            key = (result["subject"], one["what"], one["unit"], one.get("by", ""))
            rows.setdefault(key, {}).setdefault(series(result), (one, result))
    return rows


def head(titles: list[str]) -> tuple[str, str]:
    """The first two lines of a table."""
    return f"| measured | {' | '.join(titles)} | peer | ratio |", f"|---|{'--:|' * len(titles)}--:|--:|"


def short(results: list[dict[str, Any]]) -> str:
    """The table of the README, of the processor that measured most of its rows; of several, the one used last."""
    found = max((list(chosen(one, SHORT)) for one in by_machine(of_processors(results))), key=len)
    rows = [row({(name := series(result)): (one, result)}, [name], title) for title, one, result in found]
    used = [result for result in results if any(result is one for _, _, one in found)]
    return "\n".join([*head(["jaxgames"]), *rows, "", conditions(used)])


def chosen(
    results: list[dict[str, Any]], rows: dict[tuple[str, str], str]
) -> Iterator[tuple[str, dict[str, Any], dict[str, Any]]]:
    """Titles, comparisons and results of some rows, as far as they are measured, with the newest JAX."""
    measured: dict[tuple[str, ...], Row] = {}
    for key, row_of_series in by_row(results, "comparisons").items():
        measured.setdefault(key[:2], row_of_series)  # the first one, where several units were measured
    for what, title in rows.items():
        if what in measured:
            yield title, *next(iter(measured[what].values()))


def row(found: Row, names: list[str], title: str | None = None) -> str:
    """A row, by its own name or a title: `| what | 1,234 games/s | 56 games/s (pgx) | 22x |`."""
    comparison, result = next(found[name] for name in names if name in found)
    unit = comparison["unit"]
    ours = " | ".join(f"{found[name][0]['ours_text']} {unit}" if name in found else "-" for name in names)
    theirs = []
    if comparison["peer"] is not None:
        theirs.append(f"{comparison['peer_text']} {unit} ({comparison['peer_name']})")
    if comparison["published"]:
        theirs.append(f"published: {comparison['published']}")
    what = (title or comparison["what"]) + mark(comparison, result)
    return f"| {what} | {ours} | {'; '.join(theirs) or '-'} | {times(comparison['ratio'])} |"


def mark(comparison: dict[str, Any], result: dict[str, Any]) -> str:
    """A mark if the code of a row has changed since it was measured; none if git cannot tell."""
    sha = comparison.get("commit") or result.get("commit")
    name = f"{result['subject']} {comparison.get('what', '')}"
    games = tuple(folder for game, folder in GAMES.items() if game in name)
    on_cpus = result["subject"] != COMPILED and not on_device(result)
    day = changed(result["subject"], games, sha, code_of(result["subject"], name), on_cpus) if sha else None
    return STALE.format(day=day) if day else ""


def code_of(subject: str, name: str) -> tuple[str, ...]:
    """The code that a row depends on."""
    if subject == COMPILED:
        return next(paths for word, paths in OF_COMPILED.items() if word in name)
    return CODE.get(subject, ("jaxgames",))


@functools.cache
def changed(subject: str, games: tuple[str, ...], sha: str, paths: tuple[str, ...], on_cpus: bool) -> str | None:
    """When the code of a subject changed last since a commit, see `changed_since`.

    Without `games` with the rules of all games.
    """
    code = ("jaxgames/envs", *paths)
    others = [f":(exclude)jaxgames/envs/{folder}" for folder in GAMES.values() if games and folder not in games]
    others.append(":(exclude)jaxgames/envs/testing")
    return changed_since(sha, (*code, *ops_of(code), *benchmark(subject), *others), on_cpus)


@functools.cache
def benchmark(subject: str) -> tuple[str, ...]:
    """The file that measures a subject, and the files beside it that it uses."""
    files, left = [], [subject]
    while left:
        path = HERE / f"{left.pop()}.py"
        if path.exists() and path not in files and path.stem not in OF_REPORTS:
            files.append(path)
            left += re.findall(r"(?m)^\s*(?:from|import) (\w+)", path.read_text("utf-8"))
    return tuple(f"benchmarks/{path.name}" for path in sorted(files))


@functools.cache
def ops_of(paths: tuple[str, ...]) -> tuple[str, ...]:
    """The modules of `ops` that code uses, and those that these use."""
    files = [file for path in map(ROOT.joinpath, paths) for file in ([path] if path.is_file() else path.rglob("*.py"))]
    ops = {file.stem: file for file in sorted((ROOT / "jaxgames" / "ops").glob("*.py")) if file.stem not in UNTIMED}
    used: list[str] = []
    while files:
        text = files.pop().read_text("utf-8")
        named = set(re.findall(r"\w+", " ".join(re.findall(r"jaxgames\.ops(?:\.| import )(.*)", text))))
        for name in sorted(named & ops.keys() - set(used)):
            used.append(name)
            files.append(ops[name])
    return tuple(f"jaxgames/ops/{name}.py" for name in sorted(used))


def of_processors(results: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """The results of CPUs: the others have a table of their own."""
    return [result for result in results if not on_device(result)]


def on_device(result: dict[str, Any]) -> bool:
    """Whether a GPU or TPU did the work."""
    return any(not device.startswith("cpu") for device in result["machine"].get("devices", ()))


def times(ratio: float | None) -> str:
    """`0.85x`, `3.2x`, `22x`; nothing where there is no ratio."""
    if ratio is None:
        return ""
    return f"{ratio:.0f}x" if ratio >= 10 else f"{ratio:.2g}x"


def conditions(results: list[dict[str, Any]]) -> str:
    """Machines, versions and dates, in one sentence; of several versions all, the newest first."""
    machines: list[str] = []
    versions: dict[str, dict[str, list[str]]] = {}
    for result in newest_first(results):
        for one in (result, *result["comparisons"]):
            machine = one.get("machine") or result["machine"]
            machines.append(_machine_text(machine))
            of_series = versions.setdefault(series(result), {})
            used = {"Python": machine["python"]} | (one.get("versions") or result["versions"])
            for name, version in used.items():
                if version and version not in of_series.setdefault(name, []):
                    of_series[name].append(version)
    dates = sorted({row.get("date") or result["date"] for result in results for row in result["comparisons"]})
    dates = dates or [results[0]["date"]]
    days = dates[0] if len(dates) == 1 else f"{dates[0]} to {dates[-1]}"
    lines = (", ".join(f"{name} {' and '.join(of)}" for name, of in found.items() if of) for found in versions.values())
    on = "; or ".join(dict.fromkeys(machines))
    return f"Measured on {days}: {on}; {'; '.join(lines)}. Medians; all repeats: `benchmarks/results`."


def _machine_text(machine: dict[str, Any]) -> str:
    usable = machine.get("cores_usable", machine["cores"])
    cores = f"{machine['cores']} cores" if usable == machine["cores"] else f"{usable} of {machine['cores']} cores"
    text = f"{machine['cpu']}, {cores}, {machine['memory_gib']} GiB, {machine['os']}"
    if on_device({"machine": machine}):
        text = f"{', '.join(device.partition(': ')[2] for device in machine['devices'])}; {text}"
    return text


def commits(results: list[dict[str, Any]]) -> str:
    """When and on which commit each subject was measured."""
    lines = ["| benchmark | with | on | measured on | commit | tree |", "|---|---|---|---|---|---|"]
    for result in results:
        seen = {(row.get("date") or result["date"], *state(row, result)) for row in result["comparisons"]}
        seen = seen or {(result["date"], *state({}, result))}
        for date, sha, tree in sorted(seen):
            named = f"`{sha[:7]}`" if sha else "-"
            where = f"{series(result)} | {machine_name(result['machine'])}"
            lines.append(f"| `{result['subject']}` | {where} | {date} | {named} | {tree} |")
    return "\n".join(lines)


def state(row: dict[str, Any], result: dict[str, Any]) -> tuple[str, str]:
    """The commit of a row, and how the tree was."""
    source = row if row.get("commit") else result
    clean = {True: "clean", False: "changed", None: "not noted"}[source.get("clean")]
    return source.get("commit") or "", clean


def missed(results: list[dict[str, Any]]) -> str:
    """What the project asks of itself, on two cores of a CPU, and has not reached."""
    lines = ["| asked for, not reached | measured | asked |", "|---|--:|--:|"]
    for found in by_row(of_processors(results), "figures").values():
        figure = next(iter(found.values()))[0]
        if figure["reached"] is False:
            sign, bound = ("at least", figure["at_least"]) if figure["at_least"] else ("at most", figure["at_most"])
            unit = figure["unit"]
            lines.append(f"| {figure['what']} | {_number(figure['value'])} {unit} | {sign} {_number(bound)} {unit} |")
    return "\n".join(lines)


def _number(value: float) -> str:
    return f"{float(f'{value:.4g}'):,.0f}" if abs(value) >= 1000 else f"{value:.3g}"


if __name__ == "__main__":
    sys.exit(main())
