"""`jaxgames reproduce SYSTEM`: a published system, its own tables beside ours."""

import argparse
from pathlib import Path
from typing import Any

from jaxgames.cli.common import command, print_json, seed


def add(parser: argparse.ArgumentParser) -> None:
    """Adds the options to the parser."""
    from jaxgames.recipes.reproduce import SYSTEMS

    parser.description = f"The published systems: {', '.join(SYSTEMS)}; all."
    parser.add_argument("system", metavar="SYSTEM", help="a published system, or all")
    parser.add_argument("--quick", action="store_true", help="small figures, only to see that everything runs")
    parser.add_argument("--out", metavar="FOLDER", help="where reports go (reproductions, or reproductions-quick)")
    parser.add_argument("--seed", type=seed, help="seed of all random numbers (0)")
    parser.add_argument("--resume", action="store_true", help="go on with a reproduction that was stopped")
    parser.add_argument("--parts", metavar="KEY,...", help="only these parts of the report; what it has already stays")
    parser.add_argument(
        "--again", metavar="FOLDER", nargs="+",
        help="only make the page anew from report.json in FOLDER, with the parts that reports in more folders have",
    )  # fmt: skip
    parser.add_argument("--json", action="store_true", help="reports as JSON, nothing else")
    parser.set_defaults(command=run)


def run(options: argparse.Namespace) -> None:
    """Measures and prints the tables, on one XLA device: small searches are faster by kernels, which need that."""
    from jaxgames.recipes.report import Report
    from jaxgames.recipes.reproduce import SYSTEMS, Study, system_named
    from jaxgames.recipes.reproduce.report import report_again
    from jaxgames.runs import check_extras

    if options.again:
        if options.quick or options.out or options.resume or options.parts or options.seed is not None:
            raise ValueError("--again makes a page from existing figures: give it only the system and FOLDER")
        folder, *newer = options.again
        again = report_again(system_named(options.system), folder, newer)
        if options.json:
            print_json(again)
        else:
            _show(again, Path(folder) / "index.md")
        return
    check_extras()
    keys = options.parts.split(",") if options.parts else ()
    systems = [system_named(name) for name in (SYSTEMS if options.system == "all" else [options.system])]
    out = Path(options.out or ("reproductions-quick" if options.quick else "reproductions"))
    report, reports = Report(quiet=options.json), []
    studies = []
    for system in systems:  # all are checked before the first system runs
        system.chosen(keys)
        folder = out / system.name
        begins = not options.resume or (options.system == "all" and not folder.exists())
        begin = Study.create if begins else Study.resume
        studies.append(begin(folder, system.name, options.quick, options.seed or 0, report))
    try:
        for system, study in zip(systems, studies, strict=True):
            reports.append(system.reproduce(study, keys))
            if not options.json:
                _show(reports[-1], study.path / "report.md")
    except KeyboardInterrupt as stop:
        said = [*(["--quick"] if options.quick else ()), *(["--parts", options.parts] if options.parts else ())]
        advice = command("reproduce", options.system, *said, "--out", str(out), "--resume")
        raise type(stop)(f"go on with: {advice}") from None
    if options.json:
        print_json(reports[0] if options.system != "all" else {"reports": reports})


def _show(report: dict[str, Any], page: Path) -> None:
    """Prints the tables of a report for people."""
    from jaxgames.recipes.reproduce.report import Row, cells_of
    from jaxgames.runs.console import ConsoleTable, show

    for part in report["parts"]:
        if not part["rows"]:
            continue
        table = ConsoleTable(("", "published", "ours", "95 %", "verdict"), (0, 4), part["title"])
        for row in part["rows"]:
            table.add_row(*cells_of(Row(**{name: row[name] for name in Row._fields})))
        show(table)
    show(f"report  {page}")
    if report["quick"]:
        show("These are quick figures: leave --quick out for those of the publication's size.")
