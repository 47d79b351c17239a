"""Players that search by simulations; names such as `uct:800`, `gumbel:RUN:32` stand for a rule and an evaluator."""

import dataclasses
import math
from collections.abc import Callable, Mapping
from typing import Any, NamedTuple

import jax
from jaxtyping import Array, Int32, UInt32

from jaxgames.algos import mcts
from jaxgames.algos.mcts import Evaluator, Rule
from jaxgames.algos.mcts.evaluators.evaluator import check_evaluator
from jaxgames.algos.mcts.rules.rule import check_rule
from jaxgames.envs.checks import a_game
from jaxgames.envs.core import Game, Outcome
from jaxgames.ops import checks
from jaxgames.ops.settings import Setting
from jaxgames.players import from_folder, specs
from jaxgames.players.player import Player
from jaxgames.players.specs import PlayerEntry, number_option
from jaxgames.tables.lookup import leaf_lookup


@dataclasses.dataclass(frozen=True)
class MCTSTurn:
    """One action in each position, by a separate search; the parameters are the evaluator."""

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
        """One action in each position, and what the evaluator learned; `numbers` replace constants of the rule."""
        result = mcts.search_positions(
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
        return jax.vmap(self.game.play)(positions, result.actions), result.memory


@dataclasses.dataclass(frozen=True)
class LearningMCTSTurn(MCTSTurn):
    """As `MCTSTurn`; what the evaluator learns is kept over a game.

    The memory of an evaluator is arrays of places x lanes; here there is a row for each game.
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
    `evaluator_options` those of the rollouts. `learns` says whether they learn, so that `keep=1` has a meaning;
    `keeps_tree` whether there is a tree with means, so that `final` has a meaning; `usual` is a usual number of
    simulations.
    """

    help: str
    rule: Callable[..., Rule]
    options: tuple[str, ...] = ("c",)
    evaluate: Callable[..., Evaluator] | None = mcts.rollout
    merges_trees: bool = True
    evaluator_options: tuple[str, ...] = ()
    learns: bool = False
    keeps_tree: bool = True
    usual: int = 800

    @property
    def takes_time(self) -> bool:
        """Whether a time budget is possible: not if a schedule must know the number of simulations in advance."""
        return self.merges_trees


def _bounded(**numbers: float) -> Rule:
    return mcts.bounded(mcts.uct(**numbers))


def _ucd(
    c: float = 0.5, d1: float = 1, d2: float = 0, d3: float = 0, update: str = "descend", symmetries: bool = False
) -> Rule:
    one, two, three = (int(d) if math.isfinite(d) else d for d in (d1, d2, d3))
    return mcts.ucd(c, (one, two, three), update=update, symmetries=symmetries)


def _rave_with_replies(k: float = 50.0, c: float = 0.1) -> Rule:
    return mcts.rave(k, c)


def _replies(forget: bool = False, path: bool = False) -> Evaluator:
    return mcts.last_good_reply(forget=forget, path=path)


def _lgr(help: str, rule: Callable[..., Rule], options: tuple[str, ...]) -> SearchKind:
    return SearchKind(help, rule, options, _replies, evaluator_options=("forget", "path"), learns=True)


_GRAPH = ("c", "symmetries", "update")

KINDS: Mapping[str, SearchKind] = {
    "uct": SearchKind("UCT with random rollouts", mcts.uct),
    "rave": SearchKind("RAVE: at first, what a move brings later counts too", mcts.rave, ("k", "c")),
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
    "uct2": SearchKind("as uct1, and an edge is worth what the position after it is worth", mcts.uct2, _GRAPH),
    "uct3": SearchKind("as uct2, but values are recomputed from below", mcts.uct3, ("c", "symmetries")),
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
    "recursive": SearchKind(
        "RMCTS: the tree of a trained network's policy, level by level, in few large batches",
        mcts.recursive,
        evaluate=None,
        merges_trees=False,
        evaluator_options=("rollouts",),
        keeps_tree=False,
    ),
    "one-round": SearchKind(
        "one round of sequential halving: two calls of a trained network; at most 3 simulations for 2 actions",
        mcts.one_round,
        ("scale",),
        evaluate=None,
        merges_trees=False,
        evaluator_options=("rollouts",),
        keeps_tree=False,
        usual=10,
    ),
}

DISTANCES = (*range(17), math.inf)

OPTIONS = specs.by_name(
    number_option("c", "how much is explored"),
    Setting(
        "k", float, None, "visits after which an edge's own mean and that of all moves as first count the same",
        above=0, high=specs.MOST_NUMBER,
    ),
    number_option("alpha", "how much the mean of all moves as first counts, 0 to 1", most=1),
    number_option("c_init", "how much the policy counts"),
    number_option("c_base", "visits after which the policy counts more", least=1),
    # A search's program grows with its trees, a table in it with `considered`.
    specs.whole_option("considered", "actions drawn at the root", 1024),
    number_option("scale", "size of the noise by which actions are drawn; 0 for none"),
    specs.flag_option("keep", "1: replies are kept from move to move of a game; 0: each move begins with none"),
    specs.flag_option("forget", "1: a reply that lost is forgotten; 0: it stays until a better one comes"),
    specs.flag_option("path", "1: replies are learned from moves in the tree, too; 0: from rollouts only"),
    Setting(
        "update", str, "descend",
        "`descend`: a simulation counts for the edges of its path; `all`: for all that lead to its leaf",
        choices=("descend", "all"),
    ),
    Setting(
        "d1", float, 1, "how far down an edge's mean looks: 0 to 16, or inf for any distance", choices=DISTANCES
    ),
    Setting("d2", float, 0, "how far down the count of the node looks, as d1", choices=DISTANCES),
    Setting("d3", float, 0, "how far down the count of the edge looks, as d1", choices=DISTANCES),
    number_option("temperature", "temperature of the probabilities by which moves are drawn", least=0.01),
    specs.flag_option("symmetries", "1: mirror images are one position, too"),
    number_option(
        "rollouts",
        "how much random rollouts count in the value of a leaf, beside the network's: 0 to 1, 0.5 in AlphaGo",
        most=1,
    ),
    Setting(
        "leaves", str, "evaluated", "`exact`: leaves that a table knows have their exact value; `evaluated`, the "
        "default: no leaves do",
        choices=("evaluated", "exact"),
    ),
    Setting(
        "final", str, "visits", "`visits`: plays the move with the most visits; `mean`: the one with the greatest mean",
        choices=("visits", "mean"),
    ),
    specs.whole_option("trees", "trees for each position, merged at the root; each makes all simulations", 256),
)  # fmt: skip
"""All options of searches by simulations; a rule has some of them."""


def mcts_player(
    kind: SearchKind,
    game: Game,
    budget: int | float,
    run: str = "",
    *,
    trees: int = 1,
    final: str = "visits",
    keep: bool = False,
    leaves: str = "evaluated",
    **options: Any,
) -> Player:
    """The player `NAME:N` or `NAME:RUN:N`, which takes the action that N simulations prefer, or those that fit into a
    time: `NAME:2s`, where the budget is a float. `options` are those of the rule and of the evaluator.

    Raises `TypeError` for options that the rule does not take, `ValueError` for mirror images in games that have none,
    and for a run whose player values no positions.
    """
    of_evaluator = {option: options.pop(option) for option in kind.evaluator_options if option in options}
    discount = 1.0
    if kind.evaluate is None:
        evaluate, discount = _load_value(run, game)
        if "rollouts" in of_evaluator:
            weight = of_evaluator["rollouts"]
            evaluate = mcts.mixture(1 - weight, evaluate, mcts.rollout())
    else:
        evaluate = kind.evaluate(**of_evaluator)
    if leaves == "exact":
        lookup, load = leaf_lookup(game)
        evaluate = mcts.exact_leaves(evaluate, lookup, load())
    simulations, seconds = (1, budget) if isinstance(budget, float) else (budget, None)
    kind_of_turn, rule = LearningMCTSTurn if keep else MCTSTurn, kind.rule(**options)
    if rule.transpositions == "symmetries" and len(game.symmetries) < 2:
        raise ValueError(f"{game.id} has no mirror images: leave out symmetries=1")
    turn = kind_of_turn(game, rule, simulations, trees, final, seconds, discount)
    return Player("search", game, turn, evaluate)


def by_search(
    name: str, game: Game, rule: Rule, evaluate: Evaluator, simulations: int, discount: float = 1.0
) -> Player:
    """The player that takes the action its search prefers, for example a search by your own network.

    Args:
        name: of the player.
        game: that it plays.
        rule: by which edges are selected, such as `mcts.puct()`.
        evaluate: values leaves, such as `mcts.network(apply, params)`. Players with other weights of the same `apply`
            share compiled programs.
        simulations: of each move.
        discount: of the values, for each turn that passes.

    Raises `ValueError` or `TypeError` for wrong arguments. Combinations that `mcts.search` refuses are
    refused when the player moves.
    """
    checks.text("name", name)
    a_game(game)
    check_rule("rule", rule)
    check_evaluator("evaluate", evaluate)
    simulations, discount = checks.whole("simulations", simulations), checks.discount(discount)
    return Player(name, game, MCTSTurn(game, rule, simulations, discount=discount), evaluate)


def _load_value(run: str, game: Game) -> tuple[Evaluator, float]:
    """The network of a run as evaluator, and the discount of its values."""
    player = from_folder.load_named(run, game)
    if player.policy is not None:
        return mcts.network(player.policy.apply, player.params), player.policy.discount
    params, make_value = from_folder.load_value(run, game)
    return mcts.valued(make_value, params), 1.0


def _entry(name: str, kind: SearchKind) -> PlayerEntry:
    """The players of a name: with rollouts, or guided by the network of a run."""

    def make(game: Game, *arguments: Any, **options: Any) -> Player:
        *run, budget = arguments
        return mcts_player(kind, game, budget, *run, **options)

    needs, amount = "a number of simulations or a time such as 2s", "BUDGET"
    if not kind.takes_time:
        needs, amount = "a number of simulations", "N"
    arguments: tuple[str, ...] = (amount,)
    example = f"{name}:{kind.usual}"
    if kind.evaluate is None:
        example, needs, arguments = f"{name}:RUN:{kind.usual}", f"a run folder and {needs}", ("RUN", amount)
    own = (*kind.options, *kind.evaluator_options, *(["keep"] if kind.learns else []))
    names = (*own, *(["trees"] if kind.merges_trees else []), "leaves", *(["final"] if kind.keeps_tree else []))
    usage = f"{name} needs {needs}: write {example}"
    return PlayerEntry(make, kind.help, usage, (example,), arguments, {option: OPTIONS[option] for option in names})


PLAYERS = {name: _entry(name, kind) for name, kind in KINDS.items()}
