"""Players that search by simulations: every selection rule and evaluator under a name, `uct:800` or `gumbel:RUN:32`."""

import dataclasses
import math
from collections.abc import Callable, Mapping
from typing import Any, NamedTuple

import jax
from jaxtyping import Array, Int32, UInt32

from jaxgames.algos import mcts
from jaxgames.algos.mcts import Evaluator, Rule
from jaxgames.envs.core import Game, Outcome
from jaxgames.players import from_folder, specs
from jaxgames.players.generic import LogitsTurn
from jaxgames.players.player import Player
from jaxgames.tables.registry import leaf_lookup


@dataclasses.dataclass(frozen=True)
class MCTSTurn:
    """One action in each position, by a search of its own; the parameters are the evaluator."""

    game: Game
    rule: Rule
    simulations: int
    trees: int = 1
    final: str = "visits"
    seconds: float | None = None
    discount: float = 1.0

    def __call__(self, params: Evaluator, positions: Any, bits: UInt32[Array, " batch"]) -> Outcome:
        """Plays one action in each position."""
        return self.search(params, positions, bits, None)[0]

    def search(
        self,
        params: Evaluator,
        positions: Any,
        bits: UInt32[Array, " batch"],
        memory: Any,
        numbers: Mapping[str, Array] | None = None,
    ) -> tuple[Outcome, Any]:
        """One action in each position, and what the evaluator learned; `numbers` are other constants of the rule."""
        found = mcts.search_positions(
            self.game,
            positions,
            bits,
            self.simulations,
            self.rule,
            params,
            num_trees=self.trees,
            memory=memory,
            final=self.final,
            numbers=numbers,
            seconds=self.seconds,
            discount=self.discount,
        )
        return jax.vmap(self.game.play)(positions, found.actions), found.memory


@dataclasses.dataclass(frozen=True)
class LearningMCTSTurn(MCTSTurn):
    """As `MCTSTurn`; what the evaluator learns is kept over a game.

    The memory of an evaluator are arrays of places x lanes; here a row for each game.
    """

    def begin(self, params: Evaluator, games: Int32[Array, " batch"]) -> Any:
        """Nothing learned yet."""
        return self._to_games(params.init(self.game, self.trees * len(games)), len(games))

    def __call__(  # type: ignore[override]
        self, params: Evaluator, positions: Any, bits: UInt32[Array, " batch"], memory: Any
    ) -> tuple[Outcome, Any]:
        """Plays one action in each position."""
        lanes = self.trees * len(bits)
        known = jax.tree.map(lambda x: x.T.reshape(-1, lanes), memory)
        outcome, learned = self.search(params, positions, bits, known)
        return outcome, self._to_games(learned, len(bits))

    def _to_games(self, memory: Any, games: int) -> Any:
        return jax.tree.map(lambda x: x.reshape(-1, games).T, memory)


class SearchKind(NamedTuple):
    """What a player's name stands for: a selection rule, made by `rule(**options)`, and an evaluator of leaves.

    `evaluate` makes the rollouts; None if the network of a run is the evaluator. `options` are those of the rule, and
    `evaluator_options` those of the rollouts. `learns` says whether `keep=1` keeps what they learn over a game.
    """

    help: str
    rule: Callable[..., Rule]
    options: tuple[str, ...] = ("c",)
    evaluate: Callable[..., Evaluator] | None = mcts.rollout
    merges_trees: bool = True
    evaluator_options: tuple[str, ...] = ()
    learns: bool = False

    @property
    def takes_time(self) -> bool:
        """Whether a budget of time will do: not where a schedule wants the number of simulations first."""
        return self.merges_trees


def _bounded(**numbers: float) -> Rule:
    return mcts.bounded(mcts.uct(**numbers))


def _ucd(
    c: float = 0.5, d1: float = 1, d2: float = 0, d3: float = 0, update: str = "descend", symmetries: bool = False
) -> Rule:
    return mcts.ucd(c, (d1, d2, d3), update=update, symmetries=symmetries)


def _rave_with_replies(k: float = 50.0, c: float = 0.1) -> Rule:
    return mcts.rave(k, c)


def _replies(forget: bool = False, path: bool = False) -> Evaluator:
    return mcts.last_good_reply(forget=forget, path=path)


def _lgr(help: str, rule: Callable[..., Rule], options: tuple[str, ...]) -> SearchKind:
    return SearchKind(help, rule, options, _replies, evaluator_options=("forget", "path"), learns=True)


_GRAPH = ("c", "symmetries", "update")

KINDS: Mapping[str, SearchKind] = {
    "uct": SearchKind("UCT with random rollouts", mcts.uct),
    "rave": SearchKind("RAVE: what a move brings later counts too, at first", mcts.rave, ("k", "c")),
    "amaf": SearchKind("alpha-AMAF: what a move brings later counts too", mcts.amaf, ("alpha", "c")),
    "lgr": _lgr("UCT with rollouts by last good replies", mcts.uct, ("c",)),
    "rave+lgr": _lgr("RAVE with rollouts by last good replies", _rave_with_replies, ("k", "c")),
    "amaf+lgr": _lgr("alpha-AMAF with rollouts by last good replies", mcts.amaf, ("alpha", "c")),
    "mast": SearchKind(
        "UCT with rollouts by move averages (MAST)", mcts.uct, evaluate=mcts.mast, evaluator_options=("temperature",)
    ),
    "ucd": SearchKind(
        "UCD: UCT on a graph, looking further down", _ucd, ("c", "d1", "d2", "d3", "update", "symmetries")
    ),
    "uct1": SearchKind("UCT on a graph: equal positions share their edges", mcts.uct1, _GRAPH),
    "uct2": SearchKind("as uct1, and edges are worth what the position they lead to is worth", mcts.uct2, _GRAPH),
    "uct3": SearchKind("as uct2, values made anew from below", mcts.uct3, ("c", "symmetries")),
    "bounded": SearchKind("UCT that proves wins, losses and draws, and prunes by them", _bounded),
    "puct": SearchKind(
        "AlphaZero's search, with the values of a trained network",
        mcts.puct,
        ("c_init", "c_base"),
        evaluate=None,
        evaluator_options=("rollouts",),
    ),
    "gumbel": SearchKind(
        "Gumbel MuZero's search, with the values of a trained network",
        mcts.gumbel,
        ("considered", "scale"),
        evaluate=None,
        merges_trees=False,
        evaluator_options=("rollouts",),
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
    "keep": "1: replies are kept over a game, from move to move; 0: each move begins with none",
    "forget": "1: a reply that lost is forgotten; 0: it stays until a better one comes",
    "path": "1: replies are learned from moves in the tree, too; 0: from rollouts only",
    "update": "`descend`: a simulation counts for the edges of its path; `all`: for all that lead to its leaf",
    "d1": "how far down an edge's mean looks: 0 to 16, or inf for any distance",
    "d2": "the same for the count of the node",
    "d3": "the same for the count of the edge",
    "temperature": "of the probabilities by which moves are drawn",
    "symmetries": "1: mirror images are one position, too",
    "rollouts": "how much random rollouts count in the value of a leaf, beside the network's: 0 to 1, 0.5 in AlphaGo",
    "leaves": "`exact`: leaves that a table knows have their exact value; `evaluated`: none, as if nothing is said",
    "final": "`visits`: plays the move with the most visits; `mean`: that of the greatest mean",
    "trees": "trees for each position, merged at the root, each of all simulations",
}

DISTANCES: Mapping[str, int | float] = {**{str(number): number for number in range(17)}, "inf": math.inf}

CHOICES: Mapping[str, Mapping[str, Any]] = {
    "final": {"visits": "visits", "mean": "mean"},
    "leaves": {"evaluated": False, "exact": True},
    "update": {"descend": "descend", "all": "all"},
    **{option: DISTANCES for option in ("d1", "d2", "d3")},
    **{option: {"0": False, "1": True} for option in ("keep", "forget", "path", "symmetries")},
}
"""The options that are one of a few words."""

LARGEST = {"trees": 256, "considered": 1024}
"""The options that are whole numbers. A search's program grows with its trees, a table in it with `considered`."""


def options(name: str) -> dict[str, str]:
    """The options that a player of this name has, with a line about each."""
    kind = KINDS[name]
    own = (*kind.options, *kind.evaluator_options, *(["keep"] if kind.learns else []))
    return {option: HELP[option] for option in (*own, *(["trees"] if kind.merges_trees else []), "leaves", "final")}


def mcts_player(name: str, game: Game, budget: int | float, run: str | None = None, **given: str) -> Player:
    """The player `NAME:N` or `NAME:RUN:N`, which takes the action that N simulations prefer, or those that fit into a
    time: `NAME:2s`, where the budget is a float.

    Raises `ValueError` for options that are no numbers or out of range, and for a run whose player values no positions.
    """
    kind, spec = KINDS[name], ":".join(filter(None, (name, run, specs.budget_text(budget))))
    text = spec + "".join(f",{option}={value}" for option, value in given.items())
    numbers: dict[str, Any] = {}
    for option, value in given.items():
        what = f"player {text!r}: {option}"
        if option in CHOICES:
            numbers[option] = specs.choice(value, what, CHOICES[option])
        elif option in LARGEST:
            numbers[option] = specs.whole_number(value, what, LARGEST[option])
        else:
            numbers[option] = specs.number(value, what)
    if numbers.get("c_base", 1) < 1:
        raise ValueError(f"player {text!r}: c_base {given['c_base']!r}: expected a number of visits from 1 on")
    usual = {"trees": 1, "final": "visits", "keep": False, "leaves": False}
    trees, final, keep, exact = (numbers.pop(option, value) for option, value in usual.items())
    of_rollouts = {option: numbers.pop(option) for option in kind.evaluator_options if option in numbers}
    discount = 1.0
    if kind.evaluate is None:
        evaluate, discount = _load_value(str(run), game)
        if "rollouts" in of_rollouts:
            evaluate = _mixed(evaluate, of_rollouts["rollouts"], text)
    else:
        evaluate = kind.evaluate(**of_rollouts)
    if exact:
        lookup, load = leaf_lookup(game)
        evaluate = mcts.exact_leaves(evaluate, lookup, load())
    simulations, seconds = (1, budget) if isinstance(budget, float) else (budget, None)
    kind_of_turn, rule = LearningMCTSTurn if keep else MCTSTurn, kind.rule(**numbers)
    turn = kind_of_turn(game, rule, simulations, trees, final, seconds, discount)
    return Player(text, game, turn, evaluate)


def _mixed(network: Evaluator, weight: float, text: str) -> Evaluator:
    if not 0 <= weight <= 1:
        raise ValueError(f"player {text!r}: rollouts {weight:g}: expected a number from 0 to 1")
    return mcts.mixture(1 - weight, network, mcts.rollout())


def _load_value(run: str, game: Game) -> tuple[Evaluator, float]:
    """The network of a run as evaluator, and the discount that its values were learned with."""
    player = from_folder.load_named(run, game)
    if isinstance(player.turn, LogitsTurn):
        return mcts.network(player.turn.apply, player.params), player.turn.discount
    params, make_value = from_folder.load_value(run, game)
    return mcts.valued(make_value, params), 1.0
