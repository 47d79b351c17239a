"""What people see of a training: lines and a progress bar while it runs, a table of results at its end."""

import shlex
import sys
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import Any

from jaxgames.ops import checks
from jaxgames.players.plugins import option_of
from jaxgames.runs.console import ConsoleTable, percent, progress_bar, show


class Report:
    """Writes to the terminal; if `quiet`, errors and warnings only (`--json`)."""

    def __init__(self, quiet: bool = False):
        self.quiet = quiet
        self._bar: Callable[[float, str], bool] | None = None

    def say(self, text: str) -> None:
        """One line."""
        if not self.quiet:
            print(text, file=sys.stderr, flush=True)

    def warn(self, text: str) -> None:
        """One line, also if `quiet`."""
        print(f"warning: {text}", file=sys.stderr, flush=True)

    @contextmanager
    def progress(self, total: float) -> Iterator[Callable[[float, Mapping[str, Any]], None]]:
        """A progress bar; yields a function of how much of `total` is done, and of the latest metrics."""
        if self.quiet:
            yield lambda done, line: None
            return
        with progress_bar(total) as bar:
            strength, self._bar = "", bar

            def update(done: float, line: Mapping[str, Any]) -> None:
                nonlocal strength
                measured, counted = _strength(line), next(name for name in ("games", "positions") if name in line)
                if measured:
                    strength = f", {measured}"
                rates = f"{line[counted]:,} {counted}, {line[f'{counted}_per_second']:,.0f} {counted}/s, "
                learned = next((name for name in ("loss", "fitness") if line.get(name) is not None), None)
                rates += f"{learned} {line[learned]:.4f}" if learned else "nothing learned yet"
                if not bar(done, rates + strength) and measured:
                    self.say(f"{line[counted]:,} {counted}{strength}")

            try:
                yield update
            finally:
                self._bar = None

    def moving(self, done: float, text: str) -> None:
        """Moves the progress bar, if there is one, between two lines of metrics."""
        if self._bar is not None:
            self._bar(done, text)


def show_results(
    result: Mapping[str, Any],
    title: str,
    columns: Sequence[str],
    rows: Iterable[Sequence[str]],
    notes: Iterable[str],
    play: str = "",
    texts: int = 1,
) -> None:
    """Prints the table of a training's results, and where its files are.

    Args:
        result: as `Training.run_to_end` returns it.
        title: what was trained; the speed is added.
        columns: their names; the first `texts` of them hold texts, the others numbers.
        rows: the cells, a text each.
        notes: lines below the table.
        play: what follows the run in a `jaxgames match` that measures the player, if it can play.
    """
    counted = next(name for name in ("games", "positions") if f"{name}_per_second" in result)
    rate = result[f"{counted}_per_second"]
    speed = f"{rate:,.0f} {counted}/s" if rate else "resumed when it was done"
    table = ConsoleTable(columns, range(texts), f"{title}, {speed}")
    for row in rows:
        table.add_row(*row)
    files = [f"run folder      {result['run']}", f"learning curve  {result['curve']}"]
    files += [f"archive         {result['archive']}"] if "archive" in result else []
    plugin = option_of(result["game"]) if "game" in result else ""
    if play:  # by other dice than those by which the best player was chosen, and those of the matches at the end
        seed = (result["seed"] + 2) % (checks.MOST_SEED + 1)
        files.append(f"measure it      jaxgames match {shlex.quote(result['run'])} {play} --seed {seed}{plugin}")
    show(table, *notes)
    print("\n".join(files))  # as they are, to be pasted


def show_training(result: Mapping[str, Any], more: Sequence[str] = ()) -> None:
    """Prints the results of a training, and `more` lines below the table."""
    game = f"{result['game']}, " if result["recipe"] in ("td", "imitation") else ""
    counted = next(name for name in ("games", "positions") if name in result)
    title = f"{result['recipe']} ({game}{result['setting']}): {result[counted]:,} {counted}"
    if any(match["max_reward"] > 1 for match in result["matches"]):
        columns: tuple[str, ...] = ("against", "PPG", "95 % interval", "wins %", "gammons %", "published")
        rows = _points_rows(result)
        notes = [f"{mark}: {one['ppg']:+.2f} {one['source']}" for mark, one in published_marks(result).items()]
        notes.append("PPG: points per game of the trained player; gammons: won/lost")
    else:
        columns, rows = ("against", "games", "score %", "won %", "drawn %", "lost %"), _score_rows(result)
        notes = ["score: won games and half of the drawn ones, with its 95 % interval"]
    for one in result.get("solved", ()):
        share = f"perfect {percent(one['perfect'])} %, good {percent(one['good'])} %"
        notes.append(f"{one['positions']} solved positions, {one['player']}: {share}")
    if "every_line" in result:
        notes.append("all lines: against all replies there are, moving first or second")
    play = f"{result['matches'][-1]['b']} --games 10000"
    show_results(result, title, columns, rows, [*more, *notes], play)


def published_marks(result: Mapping[str, Any]) -> dict[str, Any]:
    """The published results, each by the letter that stands for it in the table."""
    return dict(zip("abcdefgh", result["published"], strict=False))


def _strength(line: Mapping[str, Any]) -> str:
    """The strength in a line of metrics, if any."""
    strengths = []
    for key, value in line.items():
        kind, _, opponent = key.partition("_")
        if f"{key}_low" in line:
            figure = f"{value:+.3f} PPG" if kind == "ppg" else f"{value:.1f} %"
            strengths.append(f"{figure} against {opponent}")
        elif key == "lines_lost":
            strengths.append(f"{value:,} lines lost")
        elif key == "validation_loss":
            strengths.append(f"{value:.4f} in validation")
    return ", ".join(strengths)


def _points_rows(result: Mapping[str, Any]) -> Iterator[tuple[str, ...]]:
    """For games of several points."""
    for match in result["matches"]:
        published = [mark for mark, one in published_marks(result).items() if one["opponent"] == match["b"]]
        yield (
            match["b"],
            f"{match['ppg']:+.3f}",
            f"{match['ppg_low']:+.3f} .. {match['ppg_high']:+.3f}",
            percent(match["win_rate"]),
            f"{percent(match['gammon_rate'])}/{percent(match['gammon_loss_rate'])}",
            ", ".join(published) or "-",
        )


def _score_rows(result: Mapping[str, Any]) -> Iterator[tuple[str, ...]]:
    """For games that are won, drawn or lost."""
    for match in result["matches"]:
        margin = 50 * max(match["ppg_high"] - match["ppg"], match["ppg"] - match["ppg_low"])
        score = f"{50 * (1 + match['ppg']):.1f} ± {margin:.1f}"
        rates = (match[name] for name in ("win_rate", "draw_rate", "loss_rate"))
        yield match["b"], f"{match['games']:,}", score, *map(percent, rates)
    for side in ("first", "second") if "every_line" in result else ():
        tally = result["every_line"][side]
        won, drawn, lost = (tally[kind] / tally["lines"] for kind in ("won", "drawn", "lost"))
        score = percent((tally["won"] + tally["drawn"] / 2) / tally["lines"])
        yield f"all lines, {side}", f"{tally['lines']:,}", score, *map(percent, (won, drawn, lost))
