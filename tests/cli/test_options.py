"""Every option of every verb changes what the verb hands over or prints; what has no effect is refused in one line.

Nothing is played or trained here: what verbs call is watched. That a seed, a limit, a file has its effect there is
tested where the function is.
"""

import argparse
import contextlib
import dataclasses
import io
import re
from collections.abc import Iterator
from importlib import import_module
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
import pytest

import jaxgames
from jaxgames import cli
from jaxgames.envs.core import Game
from jaxgames.matches import MatchResult, RolloutResult
from jaxgames.players import Player
from jaxgames.records import GameRecord
from jaxgames.sessions import Session
from jaxgames.tables import MoveScores

TTT, FOUR = "--game tic_tac_toe", "--game connect_four"

VERBS: dict[str, tuple[str, dict[str, str | tuple[str, str]]]] = {
    "": ("perft tic_tac_toe 1", {"--version": ("perft tic_tac_toe 1", "--version")}),
    "train": (
        "train td --out O",
        {
            "recipe": ("train td --out O", "train td-gammon --out O"), "--out": "--out P", "--game": TTT,
            "--minutes": "--minutes 2", "--games": "--games 7", "--seed": "--seed 1", "--from": "--from f",
            "--data": "--data d", "--setting": "--setting fast", "--set": "--set a=1", "--population": "--population 4",
            "--devices": "--devices 2", "--measured-games": "--measured-games 4", "--final-games": "--final-games 4",
            "--coordinator": "--coordinator h:1", "--processes": "--processes 2", "--process": "--process 1",
            "--tensorboard": "--tensorboard", "--resume": ("train td --out O", "train --out O --resume"),
        },
    ),
    "data make": (
        f"data make --out O --players random {TTT}",
        {
            "--game": FOUR, "--out": "--out P", "--players": "--players random uct:2",
            "--records": (f"data make --out O {TTT} --records a.txt", f"data make --out O {TTT} --records b.txt"),
            "--solved": (f"data make --out O {FOUR} --solved a", f"data make --out O {FOUR} --solved b"),
            "--exact": "--exact", "--games": "--games 5", "--moves-of": "--moves-of first",
            "--most-plies": "--most-plies 9", "--games-per-shard": "--games-per-shard 2", "--seed": "--seed 1",
            "--set": (
                f"data make --out O --players random {FOUR}", f"data make --out O --players random {FOUR} --set rows=5"
            ),
        },
    ),
    "data info": ("data info O", {"data": ("data info O", "data info P")}),
    "data merge": (
        "data merge A B --out O",
        {
            "data": ("data merge A B --out O", "data merge A C --out O"), "--out": "--out P",
            "--without": "--without solved.txt", "--validation": "--validation 0.1", "--split": "--split position",
            "--seed": "--seed 1",
        },
    ),
    "match": (
        f"match random random {TTT}",
        {
            "a": (f"match random random {TTT}", f"match uct:2 random {TTT}"),
            "b": (f"match random random {TTT}", f"match random uct:2 {TTT}"),
            "--game": FOUR, "--games": "--games 4", "--seed": "--seed 1",
            "--set": (f"match random random {FOUR}", f"match random random {FOUR} --set rows=5"),
        },
    ),
    "tournament": (
        f"tournament random uct:2 {TTT}",
        {
            "players": (f"tournament random uct:2 {TTT}", f"tournament random uct:3 {TTT}"),
            "--game": FOUR, "--games": "--games 4", "--seed": "--seed 1",
            "--set": (f"tournament random uct:2 {FOUR}", f"tournament random uct:2 {FOUR} --set rows=5"),
            "--knockout": (f"tournament --knockout A {TTT}", f"tournament --knockout B {TTT}"),
            "--behind": (f"tournament --knockout A {TTT}", f"tournament --knockout A {TTT} --behind 5"),
            "--most-games": (f"tournament --knockout A {TTT}", f"tournament --knockout A {TTT} --most-games 5"),
            "--games-out": "--games-out games.txt", "--png": "--png a.png", "--out": "--out O",
            "--resume": (f"tournament random uct:2 {TTT} --out O", "tournament --out O --resume --json"),
        },
    ),
    "play": (
        "play tic_tac_toe --against person --seed 3",
        {
            "game": ("play tic_tac_toe --against person --seed 3", "play connect_four --against person --seed 3"),
            "--against": "--against random", "--from": "--from X../.../...", "--hints": "--hints random",
            "--seat": ("play tic_tac_toe --against random", "play tic_tac_toe --against random --seat second"),
            "--points": "--points 3", "--seed": "--seed 4",
            "--set": ("play connect_four --against person", "play connect_four --against person --set rows=5"),
        },
    ),
    "score": (
        "score connect_four random --positions a",
        {
            "game": ("score tic_tac_toe random --endings 4", "score connect_four random --endings 4"),
            "player": ("score connect_four random --positions a", "score connect_four uct:2 --positions a"),
            "--endings": ("score tic_tac_toe random --endings 4", "score tic_tac_toe random --endings 5"),
            "--positions": "--positions b", "--limit": "--limit 3", "--seed": "--seed 1",
        },
    ),
    "rollout": (
        "rollout 4HPwATDgc/ABMA",
        {
            "position": ("rollout 4HPwATDgc/ABMA", "rollout 4HPwATDgc/ABMA:31"), "--player": "--player pubeval",
            "--trials": "--trials 9", "--truncate": "--truncate 3", "--seed": "--seed 1",
            "--game": ("rollout 44 --game connect_four", "rollout 44 --game backgammon"),
        },
    ),
    "perft": (
        "perft checkers 2",
        {
            "game": ("perft checkers 2", "perft tic_tac_toe 2"), "depth": ("perft checkers 2", "perft checkers 3"),
            "--from": "--from B:W29:B2,28", "--divide": "--divide", "--distinct": "--distinct",
            "--set": ("perft connect_four 2", "perft connect_four 2 --set rows=5"),
        },
    ),
    "reproduce": (
        "reproduce td-gammon",
        {
            "system": ("reproduce td-gammon", "reproduce all"), "--out": "--out P",
            "--quick": ("reproduce td-gammon --out P", "reproduce td-gammon --out P --quick"),
            "--seed": "--seed 1", "--resume": "--resume", "--again": "--again A", "--parts": "--parts a,b",
        },
    ),
    "export onnx": (
        f"export onnx random --out F {TTT}",
        {
            "player": (f"export onnx random --out F {TTT}", f"export onnx uct:2 --out F {TTT}"), "--out": "--out G",
            "--game": FOUR,
        },
    ),
    "export kaggle": (
        "export kaggle random --out F",
        {"player": ("export kaggle random --out F", "export kaggle uct:2 --out F"), "--out": "--out G", "--game": TTT},
    ),
    "serve-gnubg": (
        "serve-gnubg random",
        {"player": ("serve-gnubg random", "serve-gnubg pubeval"), "--port": "--port 9", "--host": "--host ::1"},
    ),
    "serve-hub": ("serve-hub random", {"player": ("serve-hub random", "serve-hub uct:2")}),
    "solve": (
        "solve connect_four 44 --set rows=4 --set cols=4",
        {
            "game": ("solve connect_four 44 --set rows=4 --set cols=4", "solve tic_tac_toe 44"),
            "position": (
                "solve connect_four 44 --set rows=4 --set cols=4", "solve connect_four 43 --set rows=4 --set cols=4"
            ),
            "--set": (
                "solve connect_four 44 --set rows=4 --set cols=4", "solve connect_four 44 --set rows=4 --set cols=5"
            ),
            "--long": ("solve connect_four 44", "solve connect_four 44 --long"),
        },
    ),
    "tables build": (
        "tables build checkers",
        {"game": ("tables build checkers", "tables build go"), "--pieces": "--pieces 2", "--out": "--out O"},
    ),
    "tables info": (
        "tables info checkers --pieces 2",
        {"game": ("tables info checkers", "tables info go"), "--pieces": "--pieces 3", "--out": "--out O"},
    ),
    "web": (
        "web A",
        {
            "runs": ("web A", "web A B"), "--host": "--host ::1", "--port": "--port 9", "--open": "--open",
            "--no-keep": "--no-keep", "--trust-guests": "--trust-guests",
        },
    ),
}  # fmt: skip
"""For each verb a command, and for each of its options what is added to it, or two commands that differ by it."""
COMMON = {"--json": "--json", "--plugin": "--plugin p.py"}
"""Of all verbs that have them."""

PRINTED = {("export kaggle", "--out")}
"""What is seen in the output only, besides --json and all of `solve`."""

REFUSED = {
    f"data make --out O {TTT} --records a.txt --games 5": "--games: of games that players play",
    f"data make --out O {FOUR} --solved a --seed 1 --moves-of first": "--seed, --moves-of: of games that players play",
    f"tournament --knockout A {TTT} --png a.png": "--png draws a round robin",
    "tournament --out O --resume --seed 0": "give it only --out FOLDER",
    "reproduce td-gammon --again A --seed 0": "--again makes a page from existing figures",
    "reproduce td-gammon --again A --quick": "--again makes a page from existing figures",
    "reproduce td-gammon --again A --parts a": "--again makes a page from existing figures",
    "train td --out O --set a=1 --set a=2": "a is set twice, to 1 and 2; expected once",
    "train td --out O --set population=4 --population 5": "population is set twice, to 4 and 5",
    "train --out O --resume --seed 1": "give it only --out",
    f"match random random {FOUR} --set rows=5 --set rows=6": "--set rows is there twice, with 5 and 6",
    "play tic_tac_toe --against person --seat first": "--seat and --against person: people sit on both seats",
    "play tic_tac_toe --points 3 --from X../.../...": "a match begins at the usual start",
    "score tic_tac_toe random --endings 4 --limit 3": "--limit is for --positions",
}
"""What would have no effect beside something else."""


def parsers(parser: argparse.ArgumentParser, name: str = "") -> Iterator[tuple[str, set[str]]]:
    """The verbs, each with its options and arguments."""
    options = set()
    for action in parser._actions:
        if isinstance(action, argparse._SubParsersAction):
            for verb, inner in action.choices.items():
                yield from parsers(inner, f"{name} {verb}".strip())
        elif not isinstance(action, argparse._HelpAction):
            options.add(action.option_strings[-1] if action.option_strings else action.dest)
    if options:
        yield name, options


def seen(value: Any) -> Any:
    """What a function was given, as something that can be compared."""
    if isinstance(value, Player):
        return value.name, seen(value.game)
    if isinstance(value, Game):
        return repr(value)
    if isinstance(value, Session):
        seats = [player and player.name for player in value.seats]
        return seen(value.game), value.game.to_string(value.state), seats, jax.random.key_data(value._key).tolist()
    if isinstance(value, jaxgames.State):
        return value._game.to_string(value)
    if isinstance(value, tuple | list):
        return [seen(one) for one in value]
    if isinstance(value, dict):
        return {name: seen(one) for name, one in value.items()}
    if isinstance(value, str | Path | int | float | bool | np.ndarray | None) or dataclasses.is_dataclass(value):
        return repr(value)
    return getattr(value, "name", getattr(value, "__name__", type(value).__name__))


NOTHING = dict.fromkeys("ppg ppg_low ppg_high win_rate gammon_rate backgammon_rate loss_rate".split(), 0.0)
PLAYED = MatchResult(
    **{field.name: 0 for field in dataclasses.fields(MatchResult)} | NOTHING | {"game": "g", "a": "a", "b": "b"}
    | {"forfeits": {}, "max_reward": 1, "games": 2, "seconds": 1.0}
)  # fmt: skip
ROLLED_OUT = RolloutResult(
    **{field.name: 0.0 for field in dataclasses.fields(RolloutResult)} | {"position": "p", "player": "a", "trials": 2}
)
FACTS = dict.fromkeys("positions games policies values means wins draws losses validation shards bytes".split(), 1) | {
    "game": "g", "version": "1", "made": {},
}  # fmt: skip
RESULT = SimpleNamespace(
    to_dict=lambda: {"result": 1}, players=("a",), winner=0, player="a", positions=1, file="f", perfect=1.0, good=1.0,
    seconds=1.0, game="g", lost=0.0, error=0.0, bytes=1,
)  # fmt: skip
REPORT = {"parts": [], "quick": False}


@pytest.fixture
def observe(monkeypatch, capsys, tmp_path):
    """Runs a command in a folder of its own: its status, what it hands over, what it prints."""
    calls: list[Any] = []

    def watch(place: str, result: Any = None) -> None:
        module, _, name = place.rpartition(".")

        def called(*arguments: Any, **named: Any) -> Any:
            calls.append((place, seen(arguments), seen(named)))
            return result(*arguments) if callable(result) else result

        monkeypatch.setattr(import_module(module), name, called)

    class Table:
        """Stands for a game in a terminal."""

        done = True

        def __init__(self, session, write, colour, advisor, match, width, kept):
            of_match = match and (match.names, match.to, match.seed)
            calls.append(("table", seen(session), write is print, seen(advisor), of_match))

        def go_on(self):
            """Nothing."""

        keep = go_on

        def records(self):
            """One game."""
            return [GameRecord("tic_tac_toe", "")]

    class Solved:
        """Stands for a solver."""

        def __init__(self, game, entries):
            self.game = game

        def moves(self, positions):
            """Scores that depend on the position."""
            score = sum(jnp.sum(word, dtype=jnp.uint32) for word in (*positions.own, *positions.opponent)) % 97
            scores = jnp.full((1, self.game.cols), score.astype(jnp.int32))
            return MoveScores(scores, scores > -1, jnp.uint32(0))

    def begin(plan, out, report):
        calls.append(("begin", repr(plan), out))
        return SimpleNamespace(run_to_end=lambda: {"trained": 1})

    def written(player, out):
        Path(out).write_text("network")
        return {"of": 1}

    four = jaxgames.make("connect_four")
    recipe = {"begin": begin, "resume": lambda run, report: begin("resumed", run, report), "show": print}
    system = {
        "reproduce": lambda study, keys: calls.append(("parts", seen(keys))) or REPORT,
        "chosen": lambda keys: None,
    }
    for place, result in {
        "jaxgames.players.plugins.load": lambda path: ["mine"],
        "jaxgames.matches.match": PLAYED,
        "jaxgames.matches.tournament.tournament": RESULT,
        "jaxgames.matches.knockout.knockout": RESULT,
        "jaxgames.matches.rollout.rollout": ROLLED_OUT,
        "jaxgames.matches.report.tournament_tables": (),
        "jaxgames.matches.report.knockout_table": "",
        "jaxgames.matches.report.draw_tournament": None,
        "jaxgames.players.from_folder.load_all": [],
        "jaxgames.matches.solved.read": [1],
        "jaxgames.matches.solved.board_of": four,
        "jaxgames.matches.solved.score": RESULT,
        "jaxgames.data_sets.endings.score_endings": RESULT,
        "jaxgames.envs.testing.perft.perft": [1, 9],
        "jaxgames.envs.testing.perft.divide": {"1": 9},
        "jaxgames.data_sets.make_data": None,
        "jaxgames.data_sets.played_games": "played",
        "jaxgames.data_sets.recorded_games": "recorded",
        "jaxgames.data_sets.solved_positions": "solved",
        "jaxgames.data_sets.exact_labels": "exact",
        "jaxgames.data_sets.merge_data": None,
        "jaxgames.data_sets.solved_tests": (np.zeros(1), np.zeros(1)),
        "jaxgames.data_sets.data_info": lambda path: {**FACTS, "data": str(path)},
        "jaxgames.recipes.recipe_named": lambda name: SimpleNamespace(**recipe),
        "jaxgames.runs.processes.join": 1,
        "jaxgames.runs.processes.ending_together": lambda advice: contextlib.nullcontext(),
        "jaxgames.recipes.reproduce.system_named": lambda name: SimpleNamespace(name=name, **system),
        "jaxgames.recipes.reproduce.report.report_again": REPORT,
        "jaxgames.interop.onnx.export": written,
        "jaxgames.interop.kaggle.submission": "text",
        "jaxgames.interop.gnubg.serve": 0,
        "jaxgames.interop.hub.serve": 0,
        "jaxgames.tables.folder.build": RESULT,
        "jaxgames.tables.folder.open_table": SimpleNamespace(slice=lambda number: number),
        "jaxgames.tables.retrograde.totals": dict.fromkeys("positions wins losses draws longest".split(), 1),
        "jaxgames.web.server.serve": None,
    }.items():
        watch(place, result)
    begun = SimpleNamespace(header={"game": "connect_four", "options": {}}, config={"recipe": "td"})
    for kind, name in (("DataSetFolder", "open_complete"), ("Run", "open")):
        monkeypatch.setattr(f"jaxgames.runs.{kind}.{name}", lambda path: begun)
    study = SimpleNamespace(
        create=lambda *of: calls.append(("create", seen(of))) or SimpleNamespace(path=of[0]),
        resume=lambda *of: calls.append(("resume", seen(of))) or SimpleNamespace(path=of[0]),
    )
    monkeypatch.setattr("jaxgames.recipes.reproduce.Study", study)
    monkeypatch.setattr("jaxgames.cli.terminal.TerminalGame", Table)
    monkeypatch.setattr("jaxgames.tables.connect_four_solver.Solver", Solved)

    def run(command: str, folder: str = "") -> tuple[Any, list[Any], str, str]:
        calls.clear()
        (tmp_path / folder).mkdir(exist_ok=True)
        monkeypatch.chdir(tmp_path / folder)
        monkeypatch.setattr("sys.stdin", io.StringIO(""))
        try:
            status: Any = cli.main(command.split())
        except SystemExit as end:
            status = end.code
        out, err = capsys.readouterr()
        return status, list(calls), re.sub(r"[0-9.]+ s\b", "some s", out), err

    return run


def test_every_option_has_a_row():
    missing = {
        verb: options - VERBS.get(verb, ("", {}))[1].keys() - COMMON.keys() for verb, options in parsers(cli._parser())
    }
    assert not {verb: options for verb, options in missing.items() if options}


@pytest.mark.parametrize("verb", VERBS)
def test_every_option_has_an_effect(observe, verb):
    base, rows = VERBS[verb]
    known = dict(parsers(cli._parser()))[verb]
    rows = rows | {name: more for name, more in COMMON.items() if name in known and name not in rows}
    failed = []
    for number, (option, row) in enumerate(rows.items()):
        before, after = row if isinstance(row, tuple) else (base, f"{base} {row}")
        same = option == "--resume"
        first = observe(before, f"{number}a")
        second = observe(after, f"{number}{'a' if same else 'b'}")
        printed = option in ("--json", "--version") or verb == "solve" or (verb, option) in PRINTED
        if first[:3] == second[:3] or (first[1] == second[1] and not printed):
            failed.append(f"{option}: no effect: {after}")
        if second[0] != 0 and not (option in ("game", "--game") and second[3].count("\n") == 1):
            failed.append(f"{option}: {after}: {second[3]}")
    assert not failed, "\n".join(failed)


@pytest.mark.parametrize("command", REFUSED)
def test_what_would_have_no_effect_is_refused(observe, command):
    status, _, _, err = observe(command)
    assert status == 2 and REFUSED[command] in err and err.count("\n") == 1
