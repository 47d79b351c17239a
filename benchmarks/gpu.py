"""The benchmarks at sizes for a GPU or TPU, in pieces: games, searches, learning, evolution, and a trace of the device.

A piece is a few of the other scripts, each with the peers in the same run. It ends within 8 minutes on an H100, or is
stopped then; the files that its scripts have saved stay. Result files have the device in their names, and keep the rows
that a run has not measured.

`make bench-gpu` runs all pieces; `python benchmarks/gpu.py --piece search` runs one. With `--quick` the sizes are tiny
and nothing is saved: to see on any machine that it works.
"""

import argparse
import os
import subprocess
import sys
import time
from pathlib import Path

MODES = "--modes rules,written,same --repeats 3"
PIECES: dict[str, tuple[str, ...]] = {
    "policy-loop": ("policy_loop.py --batch 4096,65536 --repeats 3",),
    "games": (
        f"games.py --games tic_tac_toe,connect_four --batch 4096,262144 --against pgx {MODES}",
        f"games.py --games checkers --batch 4096,262144 --against none {MODES}",
        f"games.py --games backgammon --batch 4096 --against pgx {MODES}",
    ),
    "search": (
        "search_networks.py --networks linear,mlp --batch 1024 --simulations 32,128",
        "search_networks.py --networks mlp,residual --batch 8192 --simulations 32 --policies Gumbel,Recursive",
    ),
    "alphazero": ("alphazero.py --batch 1024,4096 --repeats 2",),
    "evolution": (
        "evolution.py --games tic_tac_toe,connect_four --sizes 4096x64,65536x64 --repeats 3",
        "few_games.py --repeats 3",
    ),
    "td": ("td_speed.py --batch 1024,4096 --against none",),
    "trace": ("device_trace.py",),
}
"""The scripts of each piece, with their options."""
LIMIT = 480.0
"""Seconds for a piece."""


def main() -> int:
    """All pieces, or those that are named."""
    options = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    options.add_argument(
        "--piece", choices=tuple(PIECES), action="append", help="only this one; may be said repeatedly"
    )
    options.add_argument("--quick", action="store_true", help="tiny sizes, nothing saved: to see that it works")
    asked = options.parse_args()
    failed = [piece for piece in asked.piece or PIECES if not run(piece, asked.quick)]
    if failed:
        print(f"gpu.py: not all scripts ended well: {', '.join(failed)}", file=sys.stderr)
    return 1 if failed else 0


def run(piece: str, quick: bool) -> bool:
    """Whether all scripts of a piece ended well and in time."""
    end, well = time.monotonic() + LIMIT, True
    for line in PIECES[piece]:
        print(f"== {piece}: {line}", file=sys.stderr, flush=True)
        command = [sys.executable, *arguments(line, quick)]
        try:
            # A script may start another process on the device: none takes all of its memory.
            free = os.environ | {"XLA_PYTHON_CLIENT_PREALLOCATE": "false"}
            found = subprocess.run(command, env=free, timeout=max(end - time.monotonic(), 1))
        except subprocess.TimeoutExpired:
            print(f"gpu.py: {piece}: stopped after {LIMIT:.0f} s", file=sys.stderr)
            return False
        well = well and found.returncode == 0
    return well


def arguments(line: str, quick: bool) -> list[str]:
    """The script of a line and its options. Options of size mean nothing in a quick run, so they may stay."""
    script, *options = line.split()
    return [str(Path(__file__).parent / script), *options, "--quick" if quick else "--merge"]


if __name__ == "__main__":
    sys.exit(main())
