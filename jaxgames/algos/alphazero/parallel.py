"""AlphaZero on several devices, of one process or many: each plays and keeps its games, and all make the same steps."""

import dataclasses
from typing import Any

import jax
from jax.sharding import Mesh, PartitionSpec
from jaxtyping import Array, Key

from jaxgames.algos.alphazero.config import AlphaZeroConfig
from jaxgames.algos.alphazero.learner import AlphaZeroLearner, AlphaZeroState
from jaxgames.ops.devices import device_mesh
from jaxgames.runs.processes import spread

AXIS = "games"


def place(learner: AlphaZeroLearner, devices: int = 1) -> "AlphaZeroLearner | ParallelAlphaZero":
    """The learner on the first `devices` devices; called alike on any number of them.

    Of several processes all devices must take part.

    Raises `ValueError` if there are not so many devices, or if they cannot get equal shares.
    """
    mesh = device_mesh(devices, AXIS)
    return learner if devices == 1 else ParallelAlphaZero(learner, mesh)


@dataclasses.dataclass(frozen=True)
class ParallelAlphaZero:
    """The same `begin` and `update`, with games, buffer and minibatches split over a mesh with one axis `games`.

    Batch and minibatch are those of all devices together. A step is the mean of the devices' gradients. Results depend
    on the number of devices, as each draws its own random numbers. Raises `ValueError` for sizes that cannot be split.
    """

    learner: AlphaZeroLearner
    mesh: Mesh

    def __post_init__(self) -> None:
        for name in ("batch", "minibatch"):
            if (size := getattr(self.learner.config, name)) % self.mesh.size:
                raise ValueError(f"{name}={size} cannot be split over {self.mesh.size} devices evenly")

    @property
    def config(self) -> AlphaZeroConfig:
        """Of all devices together."""
        return self.learner.config

    @property
    def network(self) -> Any:
        """The learner's."""
        return self.learner.network

    def begin(self, key: Key[Array, ""]) -> AlphaZeroState:
        """The state before the first update, spread over the devices."""
        return self.place(jax.jit(self.learner.init)(key))

    def place(self, state: AlphaZeroState) -> AlphaZeroState:
        """Any state of the learner, spread over the devices."""
        return spread(state, self.mesh, _specs(state))

    def shared(self, key: Key[Array, ""]) -> Key[Array, ""]:
        """A key that all devices know."""
        return spread(key, self.mesh)

    def update(self, state: AlphaZeroState, key: Key[Array, ""]) -> tuple[AlphaZeroState, dict[str, Array]]:
        """Plays, remembers and learns once."""
        config, number = self.learner.config, self.mesh.size
        share = dataclasses.replace(config, batch=config.batch // number, minibatch=config.minibatch // number)
        learner = dataclasses.replace(self.learner, config=share, axis=AXIS)

        def on_each(state, key):
            return learner.update(state, jax.random.fold_in(key, jax.lax.axis_index(AXIS)))

        specs, everywhere = _specs(state), PartitionSpec()
        return jax.shard_map(
            on_each, mesh=self.mesh, in_specs=(specs, everywhere), out_specs=(specs, everywhere), check_vma=False
        )(state, key)


def _specs(state: AlphaZeroState) -> AlphaZeroState:
    """For each array, whether it is split over the devices or the same on all of them."""
    everywhere = jax.tree.map(lambda _: PartitionSpec(), state)
    states = jax.tree.map(lambda _: PartitionSpec(AXIS), state.states)
    plies = jax.tree.map(lambda _: PartitionSpec(None, AXIS), state.buffer.plies)
    return everywhere._replace(states=states, buffer=everywhere.buffer._replace(plies=plies))
