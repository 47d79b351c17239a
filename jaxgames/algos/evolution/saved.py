"""The networks that a training by evolution saves, and how they play."""

import dataclasses
from typing import Any

import jax
import jax.numpy as jnp
from jaxtyping import Array, Float32, UInt32

from jaxgames.algos.evolution.games.policies import FEW_ACTIONS, Afterstate, Decision, Outputs, Policy, Positions
from jaxgames.algos.evolution.genomes import Genomes
from jaxgames.algos.td import Outcomes
from jaxgames.envs.core import Game, Outcome, Value
from jaxgames.envs.heads import heads_of
from jaxgames.envs.registry import make
from jaxgames.nets import MLP, first_layer
from jaxgames.runs import Run
from jaxgames.runs.checkpoints import Snapshots

PLAYS = ("outputs", "afterstate", "outcomes")
OUTCOMES = Outcomes((1, -1, 2, -2))


@dataclasses.dataclass(frozen=True)
class NetworkConfig:
    """How evolved networks see positions and play. Raises `ValueError` for values that make no sense."""

    game: str
    """The game, by its id."""
    plays: str = "outputs"
    """`outputs`: an output names an action. Else the network values the position after a turn for the player to act:
    `afterstate` by one output; `outcomes` by four, the chances to win, to lose, to win a gammon, to lose one.
    """
    encoding: str = "cells"
    """The network's inputs: a name from `game.encodings`."""
    head: str = "highest"
    """How its outputs name actions: a name from `heads_of(game)`. Networks that value positions do not use it."""
    strict: bool = False
    """Whether it may name an illegal action, and then loses. Networks that value positions do not use it."""
    hidden: tuple[int, ...] = (18, 18)
    """Units of each hidden layer; none for a linear network."""
    activation: str = "softsign_unit"
    """Of the hidden layers (`jaxgames.nets.ACTIVATIONS`)."""
    output: str = "identity"
    """Of the last layer."""
    initializer: str = "uniform:1"
    """Of the first weights (`jaxgames.nets.INITIALIZERS`)."""
    biases: bool = True
    """Whether units have biases."""
    cumulative: bool = False
    """Whether, with `outcomes`, the chance to win counts gammons too. Other networks do not use it."""

    def __post_init__(self) -> None:
        object.__setattr__(self, "hidden", tuple(self.hidden))
        if self.plays not in PLAYS:
            raise ValueError(f"plays={self.plays!r}: expected one of {', '.join(PLAYS)}")
        for name, known in (("encoding", make(self.game).encodings), ("head", heads_of(make(self.game)))):
            if getattr(self, name) not in known:
                raise ValueError(
                    f"unknown {name} {getattr(self, name)!r} of {self.game}; available: {', '.join(known)}"
                )

    def genomes(self) -> Genomes:
        """The networks as rows of numbers."""
        game = make(self.game)
        outputs = {"outputs": heads_of(game)[self.head].size, "afterstate": 1, "outcomes": len(OUTCOMES)}[self.plays]
        network = MLP((*self.hidden, outputs), self.activation, self.output, self.initializer, self.biases)
        return Genomes(network, game.encodings[self.encoding].size)

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
class ByValue:
    """As `Policy`, for any game: networks that value positions play the best turn (`Game.best_turn`), one network after
    the other, each in all of its games at once.
    """

    network: NetworkConfig

    @property
    def game(self) -> Game:
        """As `Policy.game`."""
        return make(self.network.game)

    @property
    def dimension(self) -> int:
        """As `Policy.dimension`."""
        return self.network.genomes().dimension

    def turn(
        self, genomes: Float32[Array, "n dimension"], positions: Positions, bits: UInt32[Array, "n games"]
    ) -> Decision:
        """As `Policy.turn`; no random bits are used."""

        def of_one(rows: Any) -> Outcome:
            genome, positions = rows
            return self.game.best_turn(positions, self.network.value(genome))[0]

        return Decision(jax.lax.map(of_one, (genomes, positions)), jnp.ones(bits.shape, bool))


def network_of(settings: dict[str, Any]) -> NetworkConfig:
    """How networks play, read from JSON. Raises `ValueError` for a name it does not know."""
    known = {field.name for field in dataclasses.fields(NetworkConfig)}
    for name in settings:
        if name not in known:
            raise ValueError(f"unknown setting {name!r} of evolved networks; known: {', '.join(sorted(known))}")
    return NetworkConfig(**settings)


def champions_template(run: Run) -> Any:
    """The shape of what a run saves as its best players: networks as rows, the best one first."""
    dimension = network_of(run.config["network"]).genomes().dimension
    return jax.ShapeDtypeStruct((run.config["champions"], dimension), jnp.float32)


def snapshots_of(run: Run) -> Snapshots:
    """The champions that a run keeps at regular steps, as rows."""
    dimension = network_of(run.config["network"]).genomes().dimension
    return Snapshots(run.path, jax.ShapeDtypeStruct((dimension,), jnp.float32))


def load_champion(run: Run, step: int | None = None) -> tuple[Float32[Array, " dimension"], NetworkConfig]:
    """The best network of a run, or that of checkpoint `step`, and how it plays. Raises `ValueError` if the run holds
    none.
    """
    saved = run.load_best(champions_template(run))[1] if step is None else run.restore_leaf("champions", step)
    return jnp.asarray(saved[0]), network_of(run.config["network"])
