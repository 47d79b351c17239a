"""Exact knowledge: what it takes to solve Connect Four positions, small boards, endings of checkers and bear-offs.

    python benchmarks/exact.py PART ... [--out docs/algorithms/tables.json]

Each part replaces its own results in the file. Seconds are processor time of all threads, without compilation where a
program is compiled before it runs; `bind_to_one_core` keeps all to one core.
"""

import argparse
import dataclasses
import json
import math
import os
import resource
import sys
import time
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

from _common import begin, bind_to_one_core
from _machine import commit, machine, versions

ROOT = Path(__file__).parent.parent
DATA = ROOT / "tests" / "data"
OUT = ROOT / "docs" / "algorithms" / "tables.json"
ENTRIES = 1 << 22
PUBLISHED = {2: 6_972, 3: 261_224, 4: 7_092_774, 5: 148_688_232}
"""Positions of checkers by the number of pieces, those with pieces of one side alone, too: OEIS A055213."""


def main() -> int:
    """Measures the parts that are named."""
    options = argparse.ArgumentParser(description="Exact knowledge: times, sizes and totals")
    options.add_argument("parts", nargs="+", choices=PARTS, metavar="PART", help=", ".join(PARTS))
    options.add_argument("--pons", type=Path, default=DATA / "connect_four", help="the folder of Pons' test sets")
    options.add_argument("--tables", type=Path, default=Path("tables"), help="the folder for tables of checkers")
    options.add_argument("--games", type=int, default=2000, help="of a match (2000)")
    options.add_argument("--out", type=Path, default=OUT, help="where the results are kept")
    chosen = options.parse_args()
    bind_to_one_core()
    begin()
    for name in chosen.parts:
        start = time.process_time()
        found = PARTS[name](chosen)
        kept = json.loads(chosen.out.read_text("utf-8")) if chosen.out.exists() else {}
        of_all = {
            "seconds_of_all": time.process_time() - start,
            **commit(),
            "machine": machine(),
            "versions": versions(),
        }
        kept[name] = found | {"measured": of_all}
        chosen.out.write_text(json.dumps(kept, indent=1) + "\n", "utf-8")
        print(name, json.dumps(found, indent=1))
    return 0


def solver(options: argparse.Namespace) -> dict[str, Any]:
    """Scores of published positions: how many differ, nodes, and seconds."""
    import jax
    import numpy as np

    from jaxgames.envs.connect_four import ConnectFour
    from jaxgames.envs.connect_four.board import from_plain
    from jaxgames.matches.solved import MOVE_SCORES
    from jaxgames.tables import Solver

    game, rows = ConnectFour(), []

    def measure(name: str, positions: Sequence[Any], want: Any, moves: bool = False) -> None:
        batch = jax.tree.map(lambda *x: np.stack([np.asarray(word) for word in x]), positions[0], *positions[1:])
        solver = Solver(game, entries=ENTRIES)
        program = jax.jit(solver.moves if moves else solver.__call__).lower(batch).compile()
        seconds = []
        for _ in range(3):
            began = time.process_time()
            found = jax.block_until_ready(program(batch))
            seconds.append(time.process_time() - began)
        scores = np.where(found.legal, found.scores, -99) if moves else np.asarray(found.scores)
        rows.append(
            {
                "positions": name,
                "count": len(positions),
                "what": "moves" if moves else "score",
                "wrong": int((scores != want).sum()),
                "nodes": int(found.nodes),
                "seconds": sorted(seconds)[1],
            }
        )
        print(rows[-1], flush=True)

    for name in ("Test_L3_R1", "Test_L2_R1"):
        lines = [line.split() for line in (options.pons / name).read_text().splitlines()]
        measure(name, [game.parse(moves) for moves, _ in lines], np.array([int(score) for _, score in lines]))
    sets = [json.loads(line) for line in MOVE_SCORES.read_text().splitlines()]
    for low, high, moves in ((14, 16, False), (16, 16, False), (16, 16, True)):
        chosen = [row for row in sets if low <= np.count_nonzero(row["board"]) <= high]
        positions = [from_plain(np.array(row["board"]).reshape(6, 7)) for row in chosen]
        want = np.array([row["move score" if moves else "score"] for row in chosen])
        measure(f"{low} to {high} stones" if low < high else f"{low} stones", positions, want, moves)
    return {"rows": rows, "entries": ENTRIES}


def boards(options: argparse.Namespace) -> dict[str, Any]:
    """All positions of small boards, four in a row."""
    import numpy as np

    from jaxgames.envs.connect_four import ConnectFour
    from jaxgames.tables import SmallBoard, solve_whole
    from jaxgames.tables.whole_games import UNKNOWN

    rows = []
    for height, width in ((4, 4), (5, 4), (4, 5), (5, 5)):
        index = SmallBoard(ConnectFour(rows=height, cols=width))
        began = time.process_time()
        whole = solve_whole(index, lambda ply, count: print(f"ply {ply}: {count:,}", flush=True))
        seconds, score = time.process_time() - began, whole.score
        start = int(score[int(index.key(index.game.init_position(None)))])
        counts = {
            "wins": int(np.count_nonzero(score > 0)),
            "draws": int(np.count_nonzero(score == 0)),
            "losses": int(np.count_nonzero((score < 0) & (score != UNKNOWN))),
        }
        row = {"rows": height, "cols": width, "positions": sum(whole.positions), **counts, "start": int(np.sign(start))}
        rows.append(row | {"seconds": seconds, "memory_gib": _memory()})
        print(rows[-1], flush=True)
    return {"rows": rows}


def starts(options: argparse.Namespace) -> dict[str, Any]:
    """The empty boards up to 5 x 5 and a little beyond, by the solver."""
    import jax

    from jaxgames.envs.connect_four import ConnectFour
    from jaxgames.tables import Solver

    rows = []
    for height, width in ((4, 4), (5, 4), (4, 5), (5, 5), (6, 4), (4, 6), (6, 5)):
        game = ConnectFour(rows=height, cols=width)
        batch = jax.tree.map(lambda x: x[None], game.init_position(jax.random.key(0)))
        program = jax.jit(Solver(game, entries=ENTRIES).__call__).lower(batch).compile()
        began = time.process_time()
        found = jax.block_until_ready(program(batch))
        seconds = time.process_time() - began
        row = {"rows": height, "cols": width, "score": int(found.scores[0]), "nodes": int(found.nodes)}
        rows.append(row | {"seconds": seconds})
        print(rows[-1], flush=True)
    return {"rows": rows}


def checkers(options: argparse.Namespace) -> dict[str, Any]:
    """Tables of checkers, built from nothing, and the totals of five pieces beside the published number."""
    from jaxgames.tables import CheckersEndings, build, open_table
    from jaxgames.tables.retrograde import totals

    rows = []
    for pieces in (3, 4, 5):
        index = CheckersEndings(pieces)
        began = time.process_time()
        table = build(index, options.tables / index.name)
        seconds = time.process_time() - began
        table = open_table(index, options.tables / index.name)
        found = [(part, totals(table.slice(number))) for number, part in enumerate(index.slices) if sum(part) == pieces]
        row = {name: int(sum(one[name] for _, one in found)) for name in ("positions", "wins", "draws", "losses")}
        row |= {"longest": int(max(one["longest"] for _, one in found)), "seconds": seconds, "memory_gib": _memory()}
        alone = 2 * sum(math.comb(28, men) * math.comb(32 - men, pieces - men) for men in range(pieces + 1))
        row |= {"pieces": pieces, "numbers": sum(part.size for part in index.slices), "bytes": table.bytes}
        row |= {"published": PUBLISHED[pieces], "published_of_both_sides": PUBLISHED[pieces] - alone}
        rows.append(row)
        print(row, flush=True)
    return {"rows": rows}


def bearoff(options: argparse.Namespace) -> dict[str, Any]:
    """Bear-offs: one side on 6 and on 10 points, two sides of 6 checkers on 6 points."""
    import numpy as np

    from jaxgames.tables import BearOffs, one_sided, two_sided

    rows = []
    for points in (6, 10):
        offs = BearOffs(points=points)
        began = time.process_time()
        found = one_sided(offs)
        row = {"sides": 1, "points": points, "checkers": offs.checkers, "positions": offs.size}
        rows.append(
            row | {"seconds": time.process_time() - began, "memory_gib": _memory(), "most": float(found.mean.max())}
        )
        print(rows[-1], flush=True)
        del found
    offs = BearOffs(points=6, checkers=6)
    began = time.process_time()
    win = two_sided(offs)
    row = {"sides": 2, "points": 6, "checkers": 6, "positions": offs.size**2, "seconds": time.process_time() - began}
    rows.append(row | {"memory_gib": _memory(), "most": float(np.max(win))})
    return {"rows": rows}


AGAINST = (
    ("exact:alphabeta:7", "alphabeta:7", 1.0),
    ("alphabeta:7,value=exact", "alphabeta:7", 1.0),
    ("uct:100,leaves=exact", "uct:100", 0.1),
)
"""Players, and the share of the games asked for: searches by rollouts are slow."""


def against(options: argparse.Namespace) -> dict[str, Any]:
    """What the table of four pieces adds to searches in checkers: to their play, or to their leaves only."""
    os.environ["JAXGAMES_TABLES"] = str(options.tables)
    from jaxgames import make
    from jaxgames.matches import match
    from jaxgames.players import make as make_player

    game = make("checkers")
    pieces = make_player("exact:alphabeta:7", game).turn.lookup.index.pieces
    matches = []
    for one, other, share in AGAINST:
        found = match(make_player(one, game), make_player(other, game), round(options.games * share), seed=0)
        matches.append(dataclasses.asdict(found))
        print(one, found.ppg, found.seconds, flush=True)
    return {"pieces": pieces, "matches": matches}


def _memory() -> float:
    """The most memory of this process so far, in GiB."""
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 2**20


PARTS: dict[str, Callable[[argparse.Namespace], dict[str, Any]]] = {
    "solver": solver,
    "boards": boards,
    "starts": starts,
    "checkers": checkers,
    "bearoff": bearoff,
    "against": against,
}

if __name__ == "__main__":
    sys.exit(main())
