"""How evolved champions are measured in most games: by matches with players."""

import dataclasses
from collections.abc import Mapping, Sequence
from typing import Any

import jax.numpy as jnp

from jaxgames.algos.evolution.saved import NetworkConfig
from jaxgames.recipes.evolution.recipe import Champions, Measures
from jaxgames.recipes.report import published_marks, show_results
from jaxgames.runs import Panel


@dataclasses.dataclass(frozen=True)
class ByMatches:
    """Matches of the champion with `opponents` at the end, and with those `watched` now and then; the first of these
    decides which champion is kept.
    """

    opponents: tuple[str, ...]
    watched: tuple[str, ...] = ("random",)
    references: tuple[tuple[str, float], ...] = ()
    """Published figures in the diagram: of won games in percent, or points per game."""

    def measures(self) -> Measures:
        """As `Measures`."""
        return Measures(self.quick, self.thorough, self.panels)

    def quick(self, network: NetworkConfig, champions: Champions, games: int, seed: int) -> tuple[dict[str, Any], int]:
        """Points per game, or where a game is worth one point, the games won, drawn and lost and the score in percent,
        where a draw is half a win.
        """
        found: dict[str, Any] = {}
        for name in self.watched:
            result = self._match(network, champions, name, games, seed)
            kind = "ppg" if result.max_reward > 1 else "score"
            scale = 1 if kind == "ppg" else 100
            found |= {f"{kind}_{name}{end}": scale * getattr(result, kind + end) for end in ("", "_low", "_high")}
            for rate in ("win", "draw", "loss"):
                found[f"{rate}_{name}"] = 100 * getattr(result, f"{rate}_rate")
            found.setdefault("strength", found[f"{kind}_{name}"])
        return found, 0

    def thorough(self, network: NetworkConfig, champions: Champions, games: int, seed: int) -> dict[str, Any]:
        """The matches."""
        return {"matches": [self._match(network, champions, name, games, seed).to_dict() for name in self.opponents]}

    def panels(self, metrics: Sequence[Mapping[str, Any]]) -> list[Panel]:
        """The learning curve."""
        points = any(f"ppg_{self.watched[0]}" in line for line in metrics)
        found = []
        for name in self.watched:
            lines = {f"{rate}_{name}": label for rate, label in (("win", "won"), ("draw", "drawn"), ("loss", "lost"))}
            references = self.references if name == self.watched[0] else ()
            if points:
                found.append(Panel("points per game", {f"ppg_{name}": f"against {name}"}, references, 2.0, signed=True))
            found.append(Panel(f"% against {name}", lines, () if points else references, height=1.6))
        found.append(Panel("fitness", {"fitness_mean": "mean", "fitness": "best"}))
        found.append(Panel("diversity", {"diversity": "diversity"}, from_zero=True))
        return found

    @staticmethod
    def _match(network: NetworkConfig, champions: Champions, name: str, games: int, seed: int) -> Any:
        from jaxgames.matches import match
        from jaxgames.players import make as make_player
        from jaxgames.players.generic import evolved

        champion = evolved("champion", jnp.asarray(champions[0]), network)
        fewer = games if not name.startswith(SLOW) else max(2, games // 10)
        return match(champion, make_player(name, champion.game), fewer, seed=seed)


RATES = ("win_rate", "draw_rate", "loss_rate")
SLOW = ("uct", "alphabeta", "minimax")
"""Players that are met in a tenth of the games."""


def show(result: Mapping[str, Any]) -> None:
    """Prints the matches of a champion, beside what is published."""
    points = any(match["max_reward"] > 1 for match in result["matches"])

    def row(player: str, match: Mapping[str, Any], sign: str = "+.3f") -> tuple[str, ...]:
        rates = [f"{100 * match[rate]:.1f}" if rate in match else "-" for rate in RATES]
        ppg = [f"{match['ppg']:{sign}}"] if points else []
        return player, match["b"], f"{match['games']:,}" if "games" in match else "-", *ppg, *rates

    marks = published_marks(result)
    rows = [row("champion", match) for match in result["matches"]]
    rows += [row(f"published: {mark}", published, "+.2f") for mark, published in marks.items()]
    columns = ("player", "against", "games", *(("PPG",) if points else ()), "won %", "drawn %", "lost %")
    title = f"{result['recipe']} ({result['setting']}): {result['games']:,} games"
    notes = [f"{mark}: {published['source']}" for mark, published in marks.items()]
    play = f"{result['run']} {result['matches'][-1]['b']} --games 1000"
    show_results(result, title, columns, rows, notes, play, texts=2)
