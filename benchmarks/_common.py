"""What the benchmarks share: options, timing, and what becomes of the figures.

Every benchmark prints its peer's figure and ours from one run. `--json` prints everything, `--save` writes it to
`results/<subject>-<machine>-<jax>.json`, from which `table.py` makes the tables of the docs. `--merge` saves too, but
keeps the rows of the file that this run has not measured.
"""

import argparse
import concurrent.futures
import contextlib
import datetime
import importlib
import json
import multiprocessing
import os
import sys
import time
import warnings
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Any

from _figures import Figure, Report, Timing, say, show
from _machine import commit, cores, machine, machine_name, series, versions

RESULTS = Path(__file__).parent / "results"


def parser(title: str, repeats: int = 5) -> argparse.ArgumentParser:
    """The options that all benchmarks know."""
    options = argparse.ArgumentParser(description=title)
    options.add_argument("--json", action="store_true", help="everything as JSON on stdout; the table goes to stderr")
    options.add_argument("--save", action="store_true", help="write benchmarks/results/<subject>-<machine>-<jax>.json")
    options.add_argument("--merge", action="store_true", help="as --save, and keep the file's rows of other runs")
    options.add_argument("--repeats", type=_positive, default=repeats, help=f"of each measurement (default {repeats})")
    options.add_argument("--seed", type=int, default=0, help="of all random numbers (default 0)")
    options.add_argument("--quick", action="store_true", help="a tiny run, to see that it works; its figures are void")
    return options


def parsed(options: argparse.ArgumentParser) -> argparse.Namespace:
    """The command line. Refuses to save what is void."""
    found = options.parse_args()
    found.save = found.save or found.merge
    if found.save and found.quick:
        options.error("the figures of a --quick run are void: leave out --save or --quick")
    return found


def names(known: tuple[str, ...], nothing: str | None = None) -> Callable[[str], list[str]]:
    """The type of an option: some of the `known` names, with commas between them, or `nothing`."""

    def read(text: str) -> list[str]:
        found = [] if text == nothing else text.split(",")
        wrong = [name for name in found if name not in known]
        if wrong:
            raise argparse.ArgumentTypeError(f"unknown: {','.join(wrong)}; known: {','.join(known)}")
        return found

    return read


def numbers(text: str) -> list[int]:
    """The type of an option: numbers from 1 on, with commas between them."""
    if not all(part.isdecimal() and int(part) for part in text.split(",")):
        raise argparse.ArgumentTypeError(f"expected numbers such as 1024,8192, not {text}")
    return [int(part) for part in text.split(",")]


def _positive(text: str) -> int:
    value = int(text)
    if value < 1:
        raise argparse.ArgumentTypeError(f"expected 1 or more, not {text}")
    return value


def begin(devices: int = 1) -> None:
    """Prepares JAX for measuring, before its backend starts: CPU devices, no cache of compiled programs from disk."""
    import jax

    if "xla_force_host_platform_device_count" not in os.environ.get("XLA_FLAGS", ""):
        jax.config.update("jax_num_cpu_devices", devices)
    jax.config.update("jax_enable_compilation_cache", False)
    jax.block_until_ready(jax.numpy.zeros(1) + 1)  # the backend starts


def in_process(function: Callable, *arguments: Any) -> Any:
    """`function(*arguments)` in a fresh process, where cores and devices can still be chosen."""
    with concurrent.futures.ProcessPoolExecutor(1, multiprocessing.get_context("spawn")) as pool:
        return pool.submit(function, *arguments).result()


def bind_to_one_core() -> None:
    """Binds this process to one core, where the system can. Before JAX starts, as its threads inherit it."""
    if hasattr(os, "sched_setaffinity"):
        os.sched_setaffinity(0, sorted(os.sched_getaffinity(0))[:1])


def place() -> str:
    """What JAX computes on here: `1 core` if the process is bound to one, else the number of cores or devices."""
    import jax

    cpu = jax.default_backend() == "cpu"
    number, kind = (cores(), "core") if cpu else (jax.device_count(), "device")
    return f"{number} {kind}{'s' if number > 1 else ''}"


def compiled(function: Callable, *arguments: Any, **options: Any) -> tuple[Callable, float]:
    """`jax.jit(function, **options)` compiled for `arguments`, and the seconds for tracing and compiling it."""
    import jax

    start = time.perf_counter()
    program = jax.jit(function, **options).lower(*arguments).compile()
    return program, time.perf_counter() - start


def timed(
    run: Callable[[int], Any], amount: Callable[[Any], float] | float, repeats: int, warm_ups: int = 1
) -> list[Timing]:
    """Timings of `run(0)`, `run(1)`, ..., of which the first `warm_ups` do not count.

    `run` is told the number so that it can take other inputs each time; what it returns is waited for. `amount` is the
    number of units done, or finds it in what `run` returned, outside the time.
    """
    import jax

    timings = []
    for number in range(warm_ups + repeats):
        wall, cpu = time.perf_counter(), time.process_time()
        found = jax.block_until_ready(run(number))
        wall, cpu = time.perf_counter() - wall, time.process_time() - cpu
        timings.append(Timing(float(amount(found)) if callable(amount) else float(amount), wall, cpu))
    return timings[warm_ups:]


def rate(what: str, by: str, unit: str, timings: Sequence[Timing], **more: Any) -> Figure:
    """Units of work per second, from timings."""
    return Figure(what, by, unit, tuple(t.amount / t.wall for t in timings), tuple(timings), **more)


PACKAGES = {"pyspiel": "open_spiel"}
"""The packages of modules of other names."""


def peer(name: str) -> Any:
    """A peer's module, or None with a line that says how to get it."""
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            return importlib.import_module(name)
    except ImportError:
        package = PACKAGES.get(name, name.partition(".")[0])
        say(f"  {package} is not installed, so its figures are left out; to get it: pip install {package}")
        return None


def short_name(spec: str) -> str:
    """A player's spec without the folders that lead to a run: they say nothing on another machine."""
    path = Path(spec)
    if not path.is_dir():
        return spec
    path = path.resolve()
    return f"{path.parent.parent.name}/{path.name}" if path.parent.name == "checkpoints" else path.name


def finish(
    report: Report,
    options: argparse.Namespace,
    peers: Sequence[str] = (),
    covers: Callable[[str], bool] = lambda what: False,
) -> int:
    """Prints the table, and JSON or the file if asked for. The exit status is 1 if a check failed.

    `covers` says which rows of an earlier run this run replaces, besides those of the same name.
    """
    described = machine() | {"load_average": report.load} | report.machine
    content = {
        "subject": report.subject,
        "title": report.title,
        "date": datetime.datetime.now(datetime.UTC).date().isoformat(),
        **commit(),
        "machine": described,
        "versions": versions(*peers),
        "settings": {key: value for key, value in vars(options).items() if key not in ("json", "save", "merge")},
        "figures": [figure.to_dict() for figure in report.figures],
        "comparisons": [comparison.to_dict() for comparison in report.comparisons],
        "checks": report.checks,
        "notes": report.notes,
    }
    with contextlib.redirect_stdout(sys.stderr if options.json else sys.stdout):
        show(report, described)
    if options.json:
        print(json.dumps(content, indent=2))
    if options.save:
        RESULTS.mkdir(exist_ok=True)
        path = RESULTS / f"{report.subject}-{machine_name(described)}-{series(content).replace(' ', '-')}.json"
        if options.merge and path.exists():
            content = merged(json.loads(path.read_text("utf-8")), content, covers)
        path.write_text(json.dumps(content, indent=2) + "\n", "utf-8")
        say(f"written: benchmarks/results/{path.name}")
    return 0 if all(report.checks.values()) else 1


OF_A_RUN = ("date", "commit", "clean", "settings")
"""What a row that is kept from an earlier run says itself."""
WHERE = ("machine", "versions")
"""What it says, too, where they were others."""


def merged(old: dict[str, Any], new: dict[str, Any], covers: Callable[[str], bool]) -> dict[str, Any]:
    """The results of a run, and those of an earlier one that it has not measured again.

    Kept rows say when, on which commit and with which settings they were measured, and on what and with what if that
    was something else. Checks and notes stay, too, but for those of a row that was measured or of what new ones are of.
    """
    measured = {row["what"] for row in new["figures"] + new["comparisons"]}
    replaced = measured | {_subject(text) for text in (*new["checks"], *new["notes"])}
    run = {key: old.get(key) for key in OF_A_RUN}
    run |= {key: old.get(key) for key in WHERE if _of_a_place(old.get(key)) != _of_a_place(new.get(key))}

    def kept(rows: list[dict[str, Any]]) -> list[dict[str, Any]]:
        return [run | row for row in rows if row["what"] not in measured and not covers(row["what"])]

    def stays(text: str) -> bool:
        return not covers(text) and _subject(text) not in replaced

    return new | {
        "figures": kept(old["figures"]) + new["figures"],
        "comparisons": kept(old["comparisons"]) + new["comparisons"],
        "checks": {text: passed for text, passed in old["checks"].items() if stays(text)} | new["checks"],
        "notes": [*filter(stays, old["notes"]), *new["notes"]],
    }


def _subject(text: str) -> str:
    """What a check or a note is of: it stands before the colon."""
    return text.partition(": ")[0]


def _of_a_place(described: dict[str, Any] | None) -> dict[str, Any]:
    """Machine or versions without what differs from run to run."""
    return {key: value for key, value in (described or {}).items() if key != "load_average"}


@contextlib.contextmanager
def one_line_errors() -> Iterator[None]:
    """Bad input ends the program with one line."""
    try:
        yield
    except (ValueError, FileNotFoundError) as error:
        raise SystemExit(f"{Path(sys.argv[0]).name}: {' '.join(str(error).split())}") from None
