"""Writes the tables of the docs from the code: `python docs/tables.py`, and with `--check` only says which are stale.

A table stands between `<!-- table: NAME -->` and `<!-- /table -->`, where NAME is the id of a game, or `games` for the
table of all of them. The pages hold the tables themselves, so that they can be read without building anything.
"""

import dataclasses
import math
import re
import sys
from pathlib import Path

import jax

import jaxgames
from jaxgames.envs import Game

DOCS = Path(__file__).parent
TABLE = re.compile(r"(<!-- table: (\w+) -->\n).*?(<!-- /table -->)", re.DOTALL)


def stale_pages(docs: Path = DOCS, write: bool = False) -> list[str]:
    """The pages whose tables are not those of the code, after `write` brought up to date."""
    stale = []
    for page in sorted(docs.rglob("*.md")):
        text = page.read_text("utf-8")
        fresh = TABLE.sub(lambda found: found[1] + table(found[2]) + found[3], text)
        if fresh != text:
            stale.append(str(page.relative_to(docs)))
            if write:
                page.write_text(fresh, "utf-8")
    return stale


def table(name: str) -> str:
    """The Markdown table of this name; `ValueError` if there is none."""
    return games_table() if name == "games" else game_table(jaxgames.make(name))


def games_table() -> str:
    """All games of the registry, a row for each."""
    rows = [("game", "version", "actions", "observation", "bytes a state", "chance", "points"), ("---",) * 7]
    for name in jaxgames.available_games():
        game = jaxgames.make(name)
        page = f"{name.replace('_', '-')}.md"
        chance = f"{len(game.outcome_probabilities)} outcomes" if game.outcome_probabilities else "none"
        shape = _observation(game)
        rows.append(
            (f"[`{name}`]({page})", game.version, game.num_actions, shape, _bytes(game), chance, game.max_reward)
        )
    return _markdown(rows)


def game_table(game: Game) -> str:
    """What can be said of one game in numbers."""
    options = [f"`{field.name}={field.default!r}`" for field in dataclasses.fields(game)]
    rows = [
        ("id", f"`{game.id}`"),
        ("---", "---"),
        ("version", game.version),
        ("options", ", ".join(options) or "none"),
        ("actions", game.num_actions),
        ("observation", _observation(game)),
        ("a state", f"{_bytes(game)} bytes"),
        ("outcomes of chance", len(game.outcome_probabilities) or "none"),
        ("a game is worth", f"1 to {game.max_reward} points" if game.max_reward > 1 else "1 point"),
        ("ends undecided (`truncated`)", f"after {game.step_limit} actions" if game.step_limit else "never"),
        ("`encodings`", ", ".join(f"`{name}` ({code.size})" for name, code in game.encodings.items()) or "none"),
        ("`symmetries`", ", ".join(symmetry.name for symmetry in game.symmetries)),
    ]
    return _markdown(rows)


def _observation(game: Game) -> str:
    seen = jax.eval_shape(lambda key: game.init(key).observation, jax.random.key(0))
    return f"{seen.dtype}{list(seen.shape)}"


def _bytes(game: Game) -> int:
    leaves = jax.tree.leaves(jax.eval_shape(game.init, jax.random.key(0)))
    return sum(math.prod(leaf.shape) * leaf.dtype.itemsize for leaf in leaves)


def _markdown(rows: list[tuple]) -> str:
    return "".join(f"| {' | '.join(map(str, row))} |\n" for row in rows)


def main() -> int:
    """Write the tables, or with `--check` fail if any is stale."""
    check = sys.argv[1:] == ["--check"]
    if sys.argv[1:] and not check:
        print("usage: python docs/tables.py [--check]", file=sys.stderr)
        return 2
    stale = stale_pages(write=not check)
    print("\n".join(stale) or "all tables are up to date")
    return int(check and bool(stale))


if __name__ == "__main__":
    sys.exit(main())
