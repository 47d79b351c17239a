"""`jaxgames tables build GAME --pieces N` and `jaxgames tables info GAME --pieces N`: exact endings."""

import argparse
import time
from pathlib import Path
from typing import Any

from jaxgames.cli.common import ProgressLine, add_shared, print_json


def add(parser: argparse.ArgumentParser) -> None:
    """Adds the options to the parser."""
    from jaxgames.tables.lookup import TABLES

    kinds = parser.add_subparsers(required=True, metavar="KIND")
    for name, command, text in (
        ("build", _build, "solve all positions with few pieces; one that was stopped goes on"),
        ("info", _info, "totals of a table, after a check of its files"),
    ):
        kind = kinds.add_parser(name, help=text)
        kind.add_argument("game", metavar="GAME", help=", ".join(TABLES))
        kind.add_argument("--pieces", type=int, default=4, metavar="N", help="so many pieces at most (4)")
        kind.add_argument("--out", metavar="FOLDER", help="where the table is (tables/GAME-N)")
        add_shared(kind, "--json")
        kind.set_defaults(command=command)


def _build(options: argparse.Namespace) -> None:
    from jaxgames.tables.folder import build

    index, folder = _index_and_folder(options)
    begun = time.perf_counter()
    with ProgressLine(quiet=options.json) as line:
        table = build(index, folder, lambda part, done, total: line.show(f"{part}: {done:,} of {total:,} positions"))
    result = {"table": index.name, "folder": str(folder), "bytes": table.bytes, "seconds": time.perf_counter() - begun}
    if options.json:
        return print_json(result)
    print(f"{folder}: {table.bytes:,} bytes in {result['seconds']:.1f} s")


def _info(options: argparse.Namespace) -> None:
    from jaxgames.runs.console import ConsoleTable
    from jaxgames.tables.folder import open_table
    from jaxgames.tables.retrograde import totals

    index, folder = _index_and_folder(options)
    endings = open_table(index, folder)
    rows = [(str(part), totals(endings.slice(number))) for number, part in enumerate(index.slices)]
    if options.json:
        return print_json(
            {"table": index.name, "folder": str(folder), "slices": {name: counts for name, counts in rows}}
        )
    names = ("positions", "wins", "losses", "draws", "longest")
    table = ConsoleTable(("slice", *names))
    for name, counts in rows:
        table.add_row(name, *(f"{counts[column]:,}" for column in names))
    print(table)


def _index_and_folder(options: argparse.Namespace) -> tuple[Any, Path]:
    from jaxgames.tables.lookup import index_of, usual_folder

    index = index_of(options.game, options.pieces)
    return index, Path(options.out) if options.out else usual_folder(index)
