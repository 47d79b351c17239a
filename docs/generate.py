"""Writes what the docs take from the code: `python docs/generate.py`, and with `--check` only says what is stale.

A table stands between `<!-- table: NAME -->` and `<!-- /table -->`, where NAME is the id of a game or one of `TABLES`;
the README has one, too. Figures come from the saved results of the benchmarks. Pictures are `images/NAME.svg`. All of
it is part of the repository, so pages can be read without building anything.
"""

import dataclasses
import functools
import json
import math
import re
import sys
from collections.abc import Iterable
from pathlib import Path

import jax

import jaxgames
from jaxgames import baselines
from jaxgames.algos import mcts
from jaxgames.envs import Game
from jaxgames.players import FROM_FOLDER, PLAYERS, champions

DOCS = Path(__file__).parent
RESULTS = DOCS.parent / "benchmarks" / "results"
sys.path += [str(DOCS), str(DOCS.parent / "benchmarks")]

import exact_tables  # noqa: E402
import imitation  # noqa: E402
import pictures  # noqa: E402
import pods  # noqa: E402
import population  # noqa: E402
import reliability  # noqa: E402
import strong  # noqa: E402
import table as measured  # noqa: E402
from markdown_table import markdown  # noqa: E402

TABLE = re.compile(r"(<!-- table: (\w+) -->\n).*?(<!-- /table -->)", re.DOTALL)

PICTURES = {
    "backgammon": ("backgammon", "4HPwATDgc/ABMA:31"),
    "tic-tac-toe": ("tic_tac_toe", "X.O/.X./..O"),
    "connect-four": ("connect_four", "444453356"),
    "checkers": ("checkers", "W:W15,22,24,29,30,K2:B1,3,8,11,K26"),
}
"""The positions that are shown: games and texts."""


def stale(docs: Path = DOCS, write: bool = False) -> list[str]:
    """The files that are not what the code says, with `write` brought up to date."""
    found = []
    for path, fresh in expected(docs).items():
        # Marks of rows whose code has changed come and go with the code: they alone make no page stale.
        if not path.exists() or unmarked(path.read_text("utf-8")) != unmarked(fresh):
            found.append(path.relative_to(docs).as_posix() if docs in path.parents else path.name)
        if write:
            path.write_text(fresh, "utf-8")
    return sorted(found)


def unmarked(text: str) -> str:
    """A page without the marks of stale rows."""
    return re.sub(measured.MARKED, "", text)


def expected(docs: Path) -> dict[Path, str]:
    """The content of all pages and pictures, with what comes from the code."""
    files = {}
    readme = docs.parent / "README.md"
    for page in [*docs.rglob("*.md"), *([readme] if readme.exists() else [])]:
        files[page] = TABLE.sub(lambda found: found[1] + table(found[2]) + found[3], page.read_text("utf-8"))
    for name, (game_id, text) in PICTURES.items():
        files[docs / "images" / f"{name}.svg"] = jaxgames.make(game_id).from_string(text).to_svg() + "\n"
    results = measured.read()
    strength = next(result for result in results if result["subject"] == "td_strength")
    files[docs / "images" / "overview.svg"] = pictures.overview(strength)
    files[docs / "images" / "speed.svg"] = pictures.speed(speed_rows(results))
    return files


def speed_rows(results: list[dict]) -> list[tuple[str, float, str]]:
    """The rows of the picture: what, ratio, peer."""
    rows = [(what, row) for what, row, _ in measured.chosen(measured.of_processors(results), measured.DRAWN)]
    return [(what, row["ratio"], row["peer_name"].split(",")[0]) for what, row in rows]


def table(name: str) -> str:
    """The Markdown table of this name; `ValueError` if there is none."""
    return TABLES[name]() if name in TABLES else game_table(jaxgames.make(name))


def games_table() -> str:
    """All games of the registry, a row for each."""
    rows = [("game", "version", "actions", "observation", "bytes a state", "chance", "points")]
    for name in jaxgames.available_games():
        game = jaxgames.make(name)
        page = f"{name.replace('_', '-')}.md"
        chance = f"{len(game.outcome_probabilities)} outcomes" if game.outcome_probabilities else "none"
        shape = _observation(game)
        rows.append(
            (f"[`{name}`]({page})", game.version, game.num_actions, shape, _bytes(game), chance, game.max_reward)
        )
    return markdown(rows)


def baselines_table() -> str:
    """What networks of texts come with the package, and what they reached."""
    rows: list[tuple] = [("name", "game", "what it is", "learned by", "points per game")]
    for name in filter(PLAYERS.__contains__, baselines.available_baselines()):
        card, of = baselines.card(name), PLAYERS[name]
        trained = card["trained"]
        amount = "".join(f", {trained[of]:,} {of}" for of in ("games", "positions") if of in trained)
        figures = (
            f"{row['ppg']:+.3f} ± {(row['ppg_high'] - row['ppg_low']) / 2:.3f} against `{row['opponent']}`"
            for row in card["matches"]
        )
        learned = f"{trained['recipe']}, {trained['setting']}{amount}"
        rows.append((f"`{name}`", of.games[0], of.help, learned, ", ".join(figures)))
    return markdown(rows)


def champions_table() -> str:
    """What the levels of the champions are, and what they reached."""
    rows: list[tuple] = [("game", "level", "is", "points per game")]
    for name in filter(champions.champion_games().__contains__, jaxgames.available_games()):
        card = champions.card(name)
        for level, spec in card["levels"].items():
            met = [row for row in card.get("matches", ()) if row["level"] == level]
            figures = (
                f"{row['ppg']:+.3f} ± {(row['ppg_high'] - row['ppg_low']) / 2:.3f} against `{row['opponent']}`"
                for row in met
            )
            rows.append((name, f"`{level}`", f"`{spec}`", ", ".join(figures)))
    return markdown(rows)


def players_table() -> str:
    """All players of the registry, a row for each."""
    rows: list[tuple] = [("player", "games", "what it does", "options")]
    for entry in (*PLAYERS.values(), FROM_FOLDER):
        games = " and ".join(entry.games) or ("any" if entry.chance else "without chance")
        rows.append((_codes(entry.examples), games, entry.help, _codes(entry.options) or "none"))
    return markdown(rows)


def options_table() -> str:
    """All options that players have, a row for each."""
    lines: dict[tuple[str, str, str], list[str]] = {}
    for name, entry in (*PLAYERS.items(), ("RUN@2", FROM_FOLDER)):
        for option in entry.options.values():
            number = "" if option.choices else option.expected
            lines.setdefault((option.name, option.help, number), []).append(name)
    rows: list[tuple] = [("option", "of", "what it is", "if it is a number")]
    rows += [(f"`{name}`", _codes(players), *said) for (name, *said), players in lines.items()]
    return markdown(rows)


def game_table(game: Game) -> str:
    """What can be said of one game in numbers."""
    options = [f"`{field.name}={field.default!r}`" for field in dataclasses.fields(game)]
    rows = [
        ("id", f"`{game.id}`"),
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
    return markdown(rows)


def search_bytes_table() -> str:
    """Bytes that search trees take for each position and simulation, by game and selection rule."""
    rules = {
        "`uct`, `uct1`": mcts.uct(),
        "`uct2`, `uct3`": mcts.uct2(),
        "`puct`, `gumbel`": mcts.puct(),
        "`rave`, `amaf`, `bounded(uct())`": mcts.rave(),
    }
    rows: list[tuple] = [("game", "A", "position", *rules, "1,024 x 800 by `puct`")]
    for name in jaxgames.available_games():
        layouts = [mcts.Layout(jaxgames.make(name), rule) for rule in rules.values()]
        sizes, columns = [layout.bytes_per_node for layout in layouts], [layout.columns for layout in layouts]
        whole = f"{1024 * 802 * sizes[2] / 1e9:.2f} GB"
        rows.append((f"`{name}`", layouts[0].num_edges, sizes[0] - 4 * columns[0], *sizes, whole))
    return markdown(rows, "l" + 7 * "r")


def speed_table(subject: str, peers: tuple[str, ...]) -> str:
    """Our figures beside the peers', from all results of a benchmark."""
    rows: list[tuple] = [("measured", "jaxgames", "peer", "ratio")]
    for path in sorted(RESULTS.glob(f"{subject}-*.json")):
        result = json.loads(path.read_text("utf-8"))
        machine, versions = result["machine"], result["versions"]
        used = ", ".join(f"{name} {versions[name]}" for name in ("jax", *peers) if versions.get(name))
        rows.append((f"*{machine['cpu']}, {machine['cores']} cores; {used}; {result['date']}*", "", "", ""))
        for row in result["comparisons"]:
            peer = f"{row['peer_text']} ({row['peer_name']})" if row["peer"] is not None else row["published"]
            ratio = f"{row['ratio']:.3g}x" if row["ratio"] is not None else ""
            what = row["what"] + measured.mark(row, result)
            rows.append((what, f"{row['ours_text']} {row['unit']}", peer, ratio))
    return markdown(rows, "lrrr")


def alphazero_trials_table() -> str:
    """Short AlphaZero trainings, one setting changed after the other, on the solved positions that only report."""
    found = json.loads((DOCS / "algorithms" / "alphazero.json").read_text("utf-8"))
    head = "trial (steps: with all above)", "games", "moves", "CPU seconds", "policy alone", "800 simulations"
    rows: list[tuple] = [head]
    for name, trial in found["trials"].items():
        shares = [f"{100 * one['perfect']:.1f} / {100 * one['good']:.1f}" for one in trial["solved"][:2]]
        alone, search = shares if len(shares) == 2 else (*shares, "-")
        name = f"{name} ({trial['note']})" if "note" in trial else name
        rows.append((name, f"{trial['games']:,}", f"{trial['moves']:,}", f"{trial['cpu_seconds']:.0f}", alone, search))
    return markdown(rows, "lrrrrr")


def alphazero_trainings_table() -> str:
    """Whole AlphaZero trainings: perfect and good moves in solved positions, and games that the policy alone won."""

    def shares(row):
        return f"{100 * row['perfect']:.1f} / {100 * row['good']:.1f}"

    found = json.loads((DOCS / "algorithms" / "alphazero.json").read_text("utf-8"))["trainings"]
    cells: dict[tuple, dict[str, str]] = {}
    for name, one in found.items():
        for row in one["solved"]:
            cells.setdefault((f"solved positions, `{row['player']}`", row["positions"]), {})[name] = shares(row)
        for row in one["pons"]:
            cells.setdefault((f"`{row['file']}`, `{row['player']}`", row["positions"]), {})[name] = shares(row)
        for row in one["matches"]:
            won = f"{100 * row['win_rate']:.1f} won"
            cells.setdefault((f"`RUN` against `{row['b']}`", row["games"]), {})[name] = won
    rows: list[tuple] = [("measured, %", "positions, games", *found)]
    rows += [(*what, *(of.get(name, "") for name in found)) for what, of in cells.items()]
    return markdown(rows, "l" + (1 + len(found)) * "r")


def alphazero_beside_table() -> str:
    """Trainings of other games: points a game against players that have not learned, or otherwise."""
    found = json.loads((DOCS / "algorithms" / "alphazero.json").read_text("utf-8"))["beside"]
    rows: list[tuple] = [("training", "games learned", "minutes", "player", "against", "games", "points a game")]
    for name, training in found.items():
        for match in training["matches"]:
            margin = (match["ppg_high"] - match["ppg_low"]) / 2
            told = f"{training['games']:,}", f"{training['seconds'] / 60:.0f}", f"`{match['a']}`", f"`{match['b']}`"
            rows.append((name, *told, f"{match['games']:,}", f"{match['ppg']:+.3f} ± {margin:.3f}"))
    return markdown(rows, "lrrllrr")


def draughts_programs_table() -> str:
    """Players of checkers against a draughts program of others, every move of which was checked."""
    rows: list[tuple] = [("player", "against", "games", "won", "drawn", "lost", "points a game")]
    for match in json.loads((DOCS / "play" / "py-draughts.json").read_text("utf-8"))["matches"]:
        counts = (round(match["games"] * match[name]) for name in ("win_rate", "draw_rate", "loss_rate"))
        margin = (match["ppg_high"] - match["ppg_low"]) / 2
        rows.append(
            (f"`{match['a']}`", match["opponent"], match["games"], *counts, f"{match['ppg']:+.2f} ± {margin:.2f}")
        )
    return markdown(rows, "llrrrrr")


def matrix_table() -> str:
    """On which Pythons and with which versions the installed wheel passed its tests."""
    found = json.loads((DOCS / "matrix.json").read_text("utf-8"))
    names = [name for name in found["rows"][0] if name not in ("versions", "passed", "said")]
    parts = list(found["rows"][0]["said"])
    rows: list[tuple] = [(*names, "versions", *parts)]
    for row in found["rows"]:
        rows.append((*(row[name] for name in names), row["versions"], *(row["said"].get(part, "-") for part in parts)))
    return markdown(rows) + f"\nMade on {found['date']}.\n"


def accelerators_table() -> str:
    """Kernels in the loops of programs that were compiled for accelerators, and not run: ours, the peer's, the bar."""
    rows: list[tuple] = [("compiled for", "counted", "jaxgames", "peer", "asked")]
    for path in sorted(RESULTS.glob("accelerators-*.json")):
        result = json.loads(path.read_text("utf-8"))
        used = ", ".join(f"{name} {version}" for name, version in result["versions"].items() if version)
        rows.append((f"*{used}; {result['date']}*", "", "", "", ""))
        found: dict[str, dict[str, dict]] = {}
        for figure in result["figures"]:
            found.setdefault(figure["what"], {})[figure["by"]] = figure
        for what, by in found.items():
            program, _, counted = what.rpartition(": ")
            if "jaxgames" not in by or counted.startswith(("arguments", "tracing")):
                continue
            ours, *peers = (_counted(by[name], name) for name in sorted(by, key=lambda name: name != "jaxgames"))
            asked = by["jaxgames"]["at_most"]
            mark = measured.mark(by["jaxgames"], result)
            rows.append((program + mark, counted, ours, ", ".join(peers), f"{asked:.0f}" if asked else ""))
    return markdown(rows, "llrrr")


def _counted(figure: dict, by: str) -> str:
    unit = "" if figure["unit"] == "kernels" else f" {figure['unit']}"
    number = f"{figure['value']:g}" if figure["unit"] == "kernels" else f"{figure['value']:.3g}"
    note = f" ({figure['note']})" if figure["note"] else ""
    return number + unit + note + ("" if by == "jaxgames" else f" ({by})")


TABLES = {
    "accelerators": accelerators_table,
    "alphazero_beside": alphazero_beside_table,
    "alphazero_trials": alphazero_trials_table,
    "alphazero_trainings": alphazero_trainings_table,
    "benchmarks": lambda: "\n\n".join(measured.tables(measured.read())) + "\n",
    "draughts_programs": draughts_programs_table,
    "matrix": matrix_table,
    "measured_on": lambda: measured.commits(measured.read()) + "\n",
    "missed": lambda: measured.missed(measured.read()) + "\n",
    "short": lambda: measured.short(measured.read()) + "\n",
    "games": games_table,
    "champions": champions_table,
    "baselines": baselines_table,
    "players": players_table,
    "options": options_table,
    "search_bytes": search_bytes_table,
    "search_speed": functools.partial(speed_table, "search", ("mctx", "pgx")),
    "evolution_speed": functools.partial(speed_table, "evolution", ("evosax", "pgx")),
    "few_games_speed": functools.partial(speed_table, "few_games", ("evosax", "pgx")),
    **imitation.TABLES,
    **pods.TABLES,
    **population.TABLES,
    **reliability.TABLES,
    **strong.TABLES,
    **exact_tables.TABLES,
}


def _observation(game: Game) -> str:
    seen = jax.eval_shape(lambda key: game.init(key).observation, jax.random.key(0))
    return f"{seen.dtype}{list(seen.shape)}"


def _bytes(game: Game) -> int:
    leaves = jax.tree.leaves(jax.eval_shape(game.init, jax.random.key(0)))
    return sum(math.prod(leaf.shape) * leaf.dtype.itemsize for leaf in leaves)


def _codes(names: Iterable[str]) -> str:
    return ", ".join(f"`{name}`" for name in names)


def main() -> int:
    """Write it all, or with `--check` fail if any is stale."""
    check = sys.argv[1:] == ["--check"]
    if sys.argv[1:] and not check:
        print("usage: python docs/generate.py [--check]", file=sys.stderr)
        return 2
    files = stale(write=not check)
    print("\n".join(files) or "tables and pictures are up to date")
    return int(check and bool(files))


if __name__ == "__main__":
    sys.exit(main())
