"""A line for each main program: its name, and a hash of what XLA makes of it for this machine's CPU.

Two checkouts whose lines are the same run the same programs, whatever their code says:

    diff <(cd OLD && python benchmarks/_same_programs.py) <(python benchmarks/_same_programs.py)

A file may then stand in `same_programs.json`.
"""

import argparse
import hashlib
import re
import sys
import tempfile
from collections.abc import Callable, Iterator
from functools import partial
from pathlib import Path
from typing import Any

import jax
from accelerators import GAMES, OURS, PARTS, programs
from backgammon_plays import all_plays

import jaxgames
from jaxgames.algos import minimax
from jaxgames.matches import match
from jaxgames.players import make

MATCHES = (("champion@1", "pubeval"), ("champion@2", "weak:0.5:simple:1"))


def main() -> None:
    """Prints the lines."""
    for what, function, shapes in main_programs():
        say(what, jax.jit(function).lower(*shapes).compile().as_text())
    for specs in MATCHES:
        say(f"backgammon, a match of {' and '.join(specs)}", of_a_match(specs))


def say(what: str, text: str) -> None:
    """Prints a line."""
    print(f"{hashlib.sha256(without_places(text).encode()).hexdigest()[:16]}  {what}", flush=True)


def main_programs() -> Iterator[tuple[str, Callable, tuple[Any, ...]]]:
    """Those of `accelerators.py`, and what is only measured on CPUs."""
    for program in programs("v5e", argparse.Namespace(against=[], games=list(GAMES), parts=list(PARTS))):
        if program.by == OURS:
            jax.clear_caches()
            yield program.what, *program.make()
    for name in GAMES:
        game = jaxgames.make(name)
        states = jax.eval_shape(lambda keys, game=game: jax.vmap(game.init)(keys), jax.random.split(jax.random.key(0)))
        if game.outcome_probabilities:
            yield f"{name}, all plays", partial(all_plays, boards=True), (states._position,)
        else:
            yield f"{name}, alpha-beta", partial(minimax.alphabeta, game, depth=3), (states,)


def of_a_match(specs: tuple[str, str]) -> str:
    """All that is compiled for a match of two players, before XLA works on it."""
    game = jaxgames.make("backgammon")
    players = [make(spec, game) for spec in specs]
    jax.clear_caches()
    with tempfile.TemporaryDirectory() as folder:
        jax.config.update("jax_dump_ir_to", folder)
        match(*players, 8)
        jax.config.update("jax_dump_ir_to", "")
        texts = [path.read_text("utf-8") for path in Path(folder).iterdir()]
    return "\n".join(sorted(re.sub(r'(?m)^#loc.*\n| loc\((#?\w+|"[^"]*")\)', "", text) for text in texts))


def without_places(text: str) -> str:
    """A program without the names of files and lines that its operations come from."""
    text = re.sub(r", metadata=\{[^}]*\}", "", text)
    return re.sub(r"(?m)^(FileNames|FunctionNames|FileLocations|StackFrames)\n(\d+ .*\n)*", "", text)


if __name__ == "__main__":
    sys.exit(main())
