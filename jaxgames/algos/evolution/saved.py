"""The networks that a training by evolution saves, and how they play."""

import dataclasses
from typing import Any

import jax
import jax.numpy as jnp
from jaxtyping import Array, Float32, UInt32
from typing_extensions import override

from jaxgames.algos.evolution.genomes import Genomes
from jaxgames.algos.evolution.policies import FEW_ACTIONS, Afterstate, Decision, Outputs, Policy, Positions
from jaxgames.algos.td import Outcomes
from jaxgames.envs.core import Game, Outcome, Value
from jaxgames.envs.heads import heads_of
from jaxgames.envs.registry import make
from jaxgames.nets import first_layer
from jaxgames.nets.spec import MLP_ONLY, NetworkSpec
from jaxgames.ops.settings import Settings, group, setting
from jaxgames.runs import Run
from jaxgames.runs.checkpoints import Snapshots

PLAYS = ("outputs", "afterstate", "outcomes")
OUTCOMES = Outcomes((1, -1, 2, -2))


@dataclasses.dataclass(frozen=True)
class NetworkConfig(Settings):
    """How evolved networks see positions and play. Raises `ValueError` for values that make no sense."""

    of = "evolved networks"
    game: str = setting("", "the game, by its id; without one there is nothing to play yet")
    plays: str = setting(
        "outputs",
        "outputs: the outputs name an action. Otherwise the network values the positions after each turn, for the "
        "player to act; afterstate: by one output; outcomes: by four, the chances to win, to lose, to win a gammon, to "
        "lose one",
        choices=PLAYS,
    )
    encoding: str = setting("cells", "the network's inputs: one of the game's encodings")
    head: str = setting("highest", "how outputs name actions: one of the game's heads", when={"plays": "outputs"})
    strict: bool = setting(
        False, "whether a network may name an illegal action, and then loses", when={"plays": "outputs"}
    )
    cumulative: bool = setting(False, "whether the chance to win counts gammons too", when={"plays": "outcomes"})
    layers: NetworkSpec = group(
        NetworkSpec(hidden=(18, 18), activation="softsign_unit", output="identity", initializer="uniform:1"), MLP_ONLY
    )

    def __post_init__(self) -> None:
        super().__post_init__()
        if not self.game:
            return
        for name, known in (("encoding", make(self.game).encodings), ("head", heads_of(make(self.game)))):
            if getattr(self, name) not in known:
                raise ValueError(
                    f"unknown {name} {getattr(self, name)!r} of {self.game}; available: {', '.join(known)}"
                )

    def genomes(self) -> Genomes:
        """The networks as rows of numbers."""
        game = make(self.game)
        outputs = {"outputs": heads_of(game)[self.head].size, "afterstate": 1, "outcomes": len(OUTCOMES)}[self.plays]
        return Genomes(self.layers.mlp(outputs), game.encodings[self.encoding].size)

    @property
    def outcomes(self) -> Outcomes:
        """What the outputs of `outcomes` predict."""
        return dataclasses.replace(OUTCOMES, cumulative=self.cumulative)

    def policy(self) -> Policy:
        """How they play."""
        game = make(self.game)
        if self.plays == "outputs":
            return Outputs(game, self.genomes(), self.encoding, self.head, self.strict)
        if self.plays == "afterstate" and not game.outcome_probabilities and game.num_actions <= FEW_ACTIONS:
            return Afterstate(game, self.genomes(), self.encoding)
        return ByValue(self)

    def value(self, genome: Float32[Array, " dimension"]) -> Value:
        """The values that a network gives to positions, for the player to act."""
        genomes, encoding = self.genomes(), make(self.game).encodings[self.encoding]
        params = genomes.params(genome)

        def points(outputs: Float32[Array, "n outputs"]) -> Float32[Array, " n"]:
            return self.outcomes.expected(outputs) if self.plays == "outcomes" else outputs[:, 0]

        if hasattr(encoding, "value"):
            kernel, bias = first_layer(params)
            return encoding.value(
                kernel, bias, lambda sums: points(genomes.network.apply(params, sums, method="from_first_layer"))
            )
        return lambda positions: points(genomes.network.apply(params, encoding(positions)))


@dataclasses.dataclass(frozen=True)
class ByValue(Policy):
    """For any game: networks that value positions play the best turn (`Game.best_turn`), one network after
    the other, each in all of its games at once.
    """

    network: NetworkConfig

    @property
    @override
    def game(self) -> Game:
        return make(self.network.game)

    @property
    @override
    def dimension(self) -> int:
        return self.network.genomes().dimension

    @override
    def turn(
        self, genomes: Float32[Array, "n dimension"], positions: Positions, bits: UInt32[Array, "n games"]
    ) -> Decision:

        def of_one(rows: Any) -> Outcome:
            genome, positions = rows
            return self.game.best_turn(positions, self.network.value(genome))[0]

        return Decision(jax.lax.map(of_one, (genomes, positions)), jnp.ones(bits.shape, bool))


def champions_template(run: Run) -> Any:
    """The shape of what a run saves as its best players: networks as rows, the best one first."""
    dimension = NetworkConfig.from_json(run.config["network"]).genomes().dimension
    return jax.ShapeDtypeStruct((run.config["champions"], dimension), jnp.float32)


def snapshots_of(run: Run) -> Snapshots:
    """The champions that a run keeps at regular steps, or as they join former ones, as rows."""
    dimension = NetworkConfig.from_json(run.config["network"]).genomes().dimension
    return Snapshots(run.path, jax.ShapeDtypeStruct((dimension,), jnp.float32))


def snapshot_games(run: Run) -> tuple[int, int]:
    """The games before the first of these champions was kept, and between two of them; 0 if none are kept."""
    kept = run.config.get("kept")
    if kept is not None:
        return kept["first"], kept["every"]
    every = run.config["generations_per_line"] * run.config["evolution"].get("duel", 0)
    return every, every


def load_champion(run: Run, step: int | None = None) -> tuple[Float32[Array, " dimension"], NetworkConfig]:
    """The best network of a run, or that of checkpoint `step`, and how it plays. Raises `ValueError` if the run holds
    none.
    """
    saved = run.load_best(champions_template(run))[1] if step is None else run.restore_leaf("champions", step)
    return jnp.asarray(saved[0]), NetworkConfig.from_json(run.config["network"])
