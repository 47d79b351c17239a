"""The table at the end of a TD training."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any

from jaxgames.recipes.report import published_marks, show_results


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
        share = f"perfect {100 * one['perfect']:.1f} %, good {100 * one['good']:.1f} %"
        notes.append(f"{one['positions']} solved positions, {one['player']}: {share}")
    if "every_line" in result:
        notes.append("all lines: against all replies there are, moving first or second")
    play = f"{result['run']} {result['matches'][-1]['b']} --games 10000"
    show_results(result, title, columns, rows, [*more, *notes], play)


def _points_rows(result: Mapping[str, Any]) -> Iterator[tuple[str, ...]]:
    """For games of several points."""
    for match in result["matches"]:
        published = [mark for mark, one in published_marks(result).items() if one["opponent"] == match["b"]]
        yield (
            match["b"],
            f"{match['ppg']:+.3f}",
            f"{match['ppg_low']:+.3f} .. {match['ppg_high']:+.3f}",
            f"{100 * match['win_rate']:.1f}",
            f"{100 * match['gammon_rate']:.1f}/{100 * match['gammon_loss_rate']:.1f}",
            ", ".join(published) or "-",
        )


def _score_rows(result: Mapping[str, Any]) -> Iterator[tuple[str, ...]]:
    """For games that are won, drawn or lost."""
    for match in result["matches"]:
        margin = 25 * (match["ppg_high"] - match["ppg_low"])
        score = f"{50 * (1 + match['ppg']):.1f} ± {margin:.1f}"
        rates = (match[name] for name in ("win_rate", "draw_rate", "loss_rate"))
        yield match["b"], f"{match['games']:,}", score, *_percent(rates)
    for side in ("first", "second") if "every_line" in result else ():
        tally = result["every_line"][side]
        won, drawn, lost = (tally[kind] / tally["lines"] for kind in ("won", "drawn", "lost"))
        score = f"{100 * (won + drawn / 2):.1f}"
        yield f"all lines, {side}", f"{tally['lines']:,}", score, *_percent((won, drawn, lost))


def _percent(rates: Iterable[float]) -> list[str]:
    return [f"{100 * rate:.1f}" for rate in rates]
