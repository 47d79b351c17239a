"""`jaxgames tournament SPEC...`: a round robin with ratings; or a knock-out over the networks that a run has saved."""

import argparse
from collections.abc import Callable
from pathlib import Path
from typing import Any

from jaxgames.cli.common import ProgressLine, add_shared, command, make_game, print_json, seed

GAMES = 1000
_PLANNED = ("players", "game", "games", "seed", "knockout", "behind", "most_games", "set", "games_out")


def add(parser: argparse.ArgumentParser) -> None:
    """Adds the options to the parser."""
    parser.add_argument("players", nargs="*", metavar="SPEC", help="two or more players, as for match")
    parser.add_argument("--game", help="the game (that of the run folders, else backgammon)")
    parser.add_argument("--games", type=int, help=f"games of each pair of players ({GAMES}); pairs of the same dice")
    parser.add_argument("--seed", type=seed, help="seed of all random numbers (0)")
    add_shared(parser, "--set", "--plugin")
    parser.add_argument("--knockout", metavar="RUN", help="a knock-out over all networks that a run has saved")
    parser.add_argument("--behind", type=float, help="knock-out: a player drops out so many points behind (50)")
    parser.add_argument("--most-games", type=int, help="knock-out: after so many games the leader goes on (2,000)")
    parser.add_argument("--games-out", metavar="FILE", help="records of all games, as .pdn, .mat, .sgf, .txt or .json")
    parser.add_argument("--png", metavar="FILE", help="the cross-table and the ratings as a picture")
    parser.add_argument("--out", metavar="FOLDER", help="keeps every result, the JSON and the picture")
    parser.add_argument("--resume", action="store_true", help="goes on with the tournament in --out")
    add_shared(parser, "--json")
    parser.set_defaults(command=run)


def run(options: argparse.Namespace) -> None:
    """Plays what is still to be played, and prints the results."""
    from jaxgames.matches.tournament import TournamentFolder
    from jaxgames.runs import check_extras

    if options.png or options.out:
        check_extras("matplotlib")
    if options.png and not Path(options.png).parent.is_dir():
        raise ValueError(f"{options.png} cannot be made: there is no folder {Path(options.png).parent}")
    if options.png and Path(options.png).is_dir():
        raise ValueError(f"{options.png} is a folder; expected a file, such as {Path(options.png) / 'table.png'}")
    plan = {name: getattr(options, name) for name in _PLANNED}
    folder = None
    if options.resume:
        if any(value not in (None, []) for value in plan.values()) or options.out is None:
            raise ValueError("--resume continues the tournament as planned: give it only --out FOLDER")
        folder = TournamentFolder.open(options.out)
        folder.claim()
        plan |= {name: value for name, value in folder.header.items() if name in plan}
    else:
        _check(plan)

    def opened() -> Any:
        """The folder, made once all players are known to exist."""
        return folder or (TournamentFolder.begin(options.out, plan) if options.out else None)

    try:
        (_knockout if plan["knockout"] else _round_robin)(plan, options, opened)
    except KeyboardInterrupt as stop:
        if not options.out:
            raise type(stop)("nothing was kept") from None
        advice = command("tournament", "--out", options.out, "--resume", plugins=options.plugin)
        raise type(stop)(f"go on with: {advice}") from None


def _round_robin(plan: dict[str, Any], options: argparse.Namespace, opened: Any) -> None:
    from jaxgames import records
    from jaxgames.matches.match import MatchResult
    from jaxgames.matches.report import draw_tournament, tournament_tables
    from jaxgames.matches.tournament import tournament
    from jaxgames.players import make as make_player
    from jaxgames.runs.console import show

    game = _game(plan, plan["players"])
    players = [make_player(spec, game) for spec in plan["players"]]
    file, pairs = plan["games_out"], len(players) * (len(players) - 1) // 2
    form = records.format_for(file, game.id) if file else ""
    if file:
        _check_file(Path(file), options)
    folder, written = opened(), 0

    def played(saved: dict[str, Any]) -> tuple[tuple[int, ...], MatchResult]:
        nonlocal written
        written = saved["bytes"]  # of the last line, all records so far
        return tuple(saved["pair"]), MatchResult(**saved["match"])

    known = _known(folder, played)
    if file:
        _cut(Path(file), written)

    def finished(pair: tuple[int, int], result: Any, games: Any) -> None:
        size = 0
        if file:
            with open(file, "a", encoding="utf-8", newline="") as out:
                out.write(records.dumps(games, form) + ("\n" if form == "pdn" else ""))
            size = Path(file).stat().st_size
        if folder:
            folder.claim()
            folder.results.append({"pair": list(pair), "match": result.to_dict(), "bytes": size})

    def progress(pair: tuple[int, int], done: int) -> None:
        names = " against ".join(players[number].name for number in pair)
        line.show(f"{names}: {done:,} of {plan['games']:,} games ({pairs} pairs)")

    with ProgressLine(quiet=options.json) as line:
        result = tournament(
            players, plan["games"], plan["seed"], known=known, finished=finished, progress=progress, record=bool(file)
        )
    if folder:
        folder.write_json("result.json", result.to_dict())
    print_json(result.to_dict()) if options.json else show(*tournament_tables(result))
    if folder:  # pictures come last: whatever happens to them, the result has been told
        draw_tournament(result, folder.path / "tournament.png")
    if options.png:
        draw_tournament(result, options.png)


def _knockout(plan: dict[str, Any], options: argparse.Namespace, opened: Any) -> None:
    from jaxgames.matches.knockout import Meeting, knockout
    from jaxgames.matches.report import knockout_table
    from jaxgames.players.from_folder import load_all
    from jaxgames.runs.console import show

    if options.png:
        raise ValueError("--png draws a round robin: leave it out with --knockout")
    game = _game(plan, [plan["knockout"]])
    players, folder = load_all(plan["knockout"], game), opened()

    def met(saved: dict[str, Any]) -> tuple[tuple[int, int, int], Meeting]:
        meeting = Meeting(**saved["meeting"])
        return (saved["round"], meeting.a, meeting.b), meeting

    known, played = _known(folder, met), 0

    def progress(number: int, meeting: Any) -> None:
        nonlocal played
        played += 1
        if folder and (number, meeting.a, meeting.b) not in known:
            folder.claim()
            folder.results.append({"round": number, "meeting": meeting._asdict()})
        line.show(f"round {number + 1}: {played:,} of {len(players) - 1:,} meetings")

    with ProgressLine(quiet=options.json) as line:
        result = knockout(players, plan["behind"], plan["most_games"], plan["seed"], known=known, progress=progress)
    if folder:
        folder.write_json("result.json", result.to_dict())
    if options.json:
        return print_json(result.to_dict())
    show(knockout_table(result), f"best: {result.players[result.winner]}")


def _known(folder: Any, of: Callable[[dict[str, Any]], tuple[Any, Any]]) -> dict[Any, Any]:
    """The results in the lines of a folder, if there is one. Raises `ValueError` for a line that is not a result."""
    known = {}
    for number, line in enumerate(folder.results.read() if folder else (), 1):
        try:
            name, result = of(line)
        except (KeyError, TypeError):
            file = folder.results.path
            raise ValueError(f"line {number} of {file} is no result of a tournament; delete it to go on") from None
        known[name] = result
    return known


def _check(plan: dict[str, Any]) -> None:
    """Fills in defaults. Raises `ValueError` for options that do not go together."""
    from jaxgames.matches.knockout import BEHIND, MOST_GAMES

    if plan["knockout"]:
        if plan["players"] or plan["games"] or plan["games_out"]:
            raise ValueError("--knockout RUN takes neither players nor --games nor --games-out")
    elif len(plan["players"]) < 2:
        raise ValueError("a tournament needs two players or more: jaxgames tournament random uct:100 --game checkers")
    elif plan["behind"] is not None or plan["most_games"] is not None:
        raise ValueError("--behind and --most-games are those of a knock-out: add --knockout RUN")
    usual = {"games": GAMES, "seed": 0, "behind": BEHIND, "most_games": MOST_GAMES}
    plan |= {name: value for name, value in usual.items() if plan[name] is None}


def _game(plan: dict[str, Any], specs: list[str]) -> Any:
    from jaxgames.players import game_of

    game = plan["game"] or next(filter(None, map(game_of, specs)), "backgammon")
    return make_game(game, plan["set"])


def _check_file(file: Path, options: argparse.Namespace) -> None:
    """Raises `ValueError` where no records can be written, before there is a folder of results."""
    if not options.resume and file.exists() and (file.is_dir() or file.stat().st_size):
        raise ValueError(f"{file} is there already; choose another file, or remove it")
    if not file.parent.is_dir() and not (options.out and file.parent == Path(options.out)):
        raise ValueError(f"{file} cannot be made: there is no folder {file.parent}")


def _cut(file: Path, size: int) -> None:
    """Drops the games of a match that was unfinished when the process was killed."""
    with open(file, "ab") as out:
        if out.tell() < size:
            raise ValueError(f"{file} is shorter than it was; the tournament cannot go on writing it")
        out.truncate(size)
