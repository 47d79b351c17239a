"""Players that search by simulations: every selection rule and evaluator under a name, `uct:800` or `gumbel:RUN:32`."""

import dataclasses
from collections.abc import Callable, Mapping
from typing import Any, NamedTuple

import jax
from jaxtyping import Array, UInt32

from jaxgames.algos import mcts
from jaxgames.algos.mcts import Evaluator, Rule
from jaxgames.envs.core import Game, Outcome
from jaxgames.players import from_folder, specs
from jaxgames.players.generic import GreedyTurn
from jaxgames.players.player import Player


@dataclasses.dataclass(frozen=True)
class MCTSTurn:
    """One action in each position, by a search of its own; the parameters are the evaluator."""

    game: Game
    rule: Rule
    simulations: int
    trees: int

    def __call__(self, params: Evaluator, positions: Any, bits: UInt32[Array, " batch"]) -> Outcome:
        """Plays one action in each position."""
        found = mcts.search_positions(
            self.game, positions, bits, self.simulations, self.rule, params, num_trees=self.trees
        )
        return jax.vmap(self.game.play)(positions, found.actions)


class SearchKind(NamedTuple):
    """What a name stands for: `rule(**numbers)` of these options, and the rollouts it uses without a run."""

    rule: Callable[..., Rule]
    numbers: tuple[str, ...] = ("c",)
    evaluate: Callable[[], Evaluator] = mcts.rollout


def _bounded(**numbers: float) -> Rule:
    return mcts.bounded(mcts.uct(**numbers))


def _gumbel(considered: float = 16, **numbers: float) -> Rule:
    return mcts.gumbel(int(considered), **numbers)


KINDS: Mapping[str, SearchKind] = {
    "uct": SearchKind(mcts.uct),
    "rave": SearchKind(mcts.rave, ("k", "c")),
    "amaf": SearchKind(mcts.amaf, ("alpha", "c")),
    "lgr": SearchKind(mcts.uct, ("c",), mcts.last_good_reply),
    "rave+lgr": SearchKind(mcts.rave, ("k", "c"), mcts.last_good_reply),
    "uct1": SearchKind(mcts.uct1),
    "uct2": SearchKind(mcts.uct2),
    "uct3": SearchKind(mcts.uct3),
    "bounded": SearchKind(_bounded),
    "puct": SearchKind(mcts.puct, ("c_init", "c_base")),
    "gumbel": SearchKind(_gumbel, ("considered", "scale")),
}

HELP = {
    "c": "how much is explored",
    "k": "visits after which an edge's own mean counts as much as that of all moves as first",
    "alpha": "how much that of all moves as first counts, 0 to 1",
    "c_init": "how much the policy counts",
    "c_base": "visits after which it counts more",
    "considered": "actions drawn at the root",
    "scale": "of the noise by which they are drawn; 0 for none",
    "trees": "trees for each position, merged at the root, each of all simulations",
}


def options(name: str) -> dict[str, str]:
    """The options that a player of this name has, with a line about each."""
    return {option: HELP[option] for option in (*KINDS[name].numbers, "trees")}


def mcts_player(name: str, game: Game, simulations: int, run: str | None = None, **given: str) -> Player:
    """The player `NAME:N` or `NAME:RUN:N`, which takes the action that N simulations prefer.

    Raises `ValueError` for options that are no numbers or out of range, and for a run whose player values no positions.
    """
    kind, spec = KINDS[name], ":".join(filter(None, (name, run, str(simulations))))
    text = spec + "".join(f",{option}={value}" for option, value in given.items())
    what = f"player {text!r}:"
    trees = specs.whole_number(given["trees"], f"{what} trees") if "trees" in given else 1
    numbers = {option: specs.number(given[option], f"{what} {option}") for option in kind.numbers if option in given}
    evaluate = kind.evaluate() if run is None else _load_value(run, game)
    return Player(text, game, MCTSTurn(game, kind.rule(**numbers), simulations, trees), evaluate)


def _load_value(run: str, game: Game) -> Evaluator:
    player = from_folder.load(run, game)
    if not isinstance(player.turn, GreedyTurn):
        raise ValueError(f"{run} does not value positions, so no search can be guided by it")
    return mcts.valued(player.turn.make_value, player.params)
