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
from jaxgames.players.generic import LogitsTurn
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
    """What a player's name stands for: a selection rule, made by `rule(**options)`, and an evaluator of leaves.

    `evaluate` makes the rollouts; None if the network of a run is the evaluator. `options` are those of the rule.
    """

    help: str
    rule: Callable[..., Rule]
    options: tuple[str, ...] = ("c",)
    evaluate: Callable[[], Evaluator] | None = mcts.rollout
    merges_trees: bool = True


def _bounded(**numbers: float) -> Rule:
    return mcts.bounded(mcts.uct(**numbers))


KINDS: Mapping[str, SearchKind] = {
    "uct": SearchKind("UCT with random rollouts", mcts.uct),
    "rave": SearchKind("RAVE: what a move brings later counts too, at first", mcts.rave, ("k", "c")),
    "amaf": SearchKind("alpha-AMAF: what a move brings later counts too", mcts.amaf, ("alpha", "c")),
    "lgr": SearchKind("UCT with rollouts by last good replies", mcts.uct, evaluate=mcts.last_good_reply),
    "rave+lgr": SearchKind("RAVE with rollouts by last good replies", mcts.rave, ("k", "c"), mcts.last_good_reply),
    "uct1": SearchKind("UCT on a graph: equal positions share their edges", mcts.uct1),
    "uct2": SearchKind("as uct1, and edges are worth what the position they lead to is worth", mcts.uct2),
    "uct3": SearchKind("as uct2, values made anew from below", mcts.uct3),
    "bounded": SearchKind("UCT that proves wins, losses and draws, and prunes by them", _bounded),
    "puct": SearchKind(
        "AlphaZero's search, with the values of a trained network", mcts.puct, ("c_init", "c_base"), evaluate=None
    ),
    "gumbel": SearchKind(
        "Gumbel MuZero's search, with the values of a trained network",
        mcts.gumbel,
        ("considered", "scale"),
        evaluate=None,
        merges_trees=False,
    ),
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

LARGEST = {"trees": 256, "considered": 1024}
"""The options that are whole numbers. A search's program grows with its trees, a table in it with `considered`."""


def options(name: str) -> dict[str, str]:
    """The options that a player of this name has, with a line about each."""
    kind = KINDS[name]
    return {option: HELP[option] for option in (*kind.options, *(["trees"] if kind.merges_trees else []))}


def mcts_player(name: str, game: Game, simulations: int, run: str | None = None, **given: str) -> Player:
    """The player `NAME:N` or `NAME:RUN:N`, which takes the action that N simulations prefer.

    Raises `ValueError` for options that are no numbers or out of range, and for a run whose player values no positions.
    """
    kind, spec = KINDS[name], ":".join(filter(None, (name, run, str(simulations))))
    text = spec + "".join(f",{option}={value}" for option, value in given.items())
    numbers: dict[str, Any] = {}
    for option, value in given.items():
        what = f"player {text!r}: {option}"
        whole = option in LARGEST
        numbers[option] = specs.whole_number(value, what, LARGEST[option]) if whole else specs.number(value, what)
    if numbers.get("c_base", 1) < 1:
        raise ValueError(f"player {text!r}: c_base {given['c_base']!r}: expected a number of visits from 1 on")
    trees = numbers.pop("trees", 1)
    evaluate = _load_value(str(run), game) if kind.evaluate is None else kind.evaluate()
    return Player(text, game, MCTSTurn(game, kind.rule(**numbers), simulations, trees), evaluate)


def _load_value(run: str, game: Game) -> Evaluator:
    player = from_folder.load(run, game)
    if isinstance(player.turn, LogitsTurn):
        return mcts.network(player.turn.apply, player.params)
    params, make_value = from_folder.load_value(run, game)
    return mcts.valued(make_value, params)
