"""A learner on one or several devices: each plays its share of the games, and all make the same steps.

learner = place(make_learner(config), devices)
state = learner.init(key)  # or learner.place(state), of a state that was saved
state, metrics = jax.jit(learner.update)(state, key)
"""

import dataclasses

import jax
from jax.sharding import Mesh, PartitionSpec
from jaxtyping import Array, Key

from jaxgames.algos.td.expected import Replay
from jaxgames.algos.td.learner import Learner, Metrics, TDState
from jaxgames.ops.devices import device_mesh
from jaxgames.runs.processes import EVERYWHERE, spread

AXIS = "games"
GAMES_PER_DEVICE = 128
"""With fewer games on each device, waiting for the others costs more than is gained."""


def devices_for(batch: int) -> int:
    """The most devices here that get equal shares of a batch, of at least `GAMES_PER_DEVICE` games each; else 1."""
    numbers = range(1, jax.device_count() + 1)
    return max(n for n in numbers if n == 1 or (batch % n == 0 and batch // n >= GAMES_PER_DEVICE))


def place(learner: Learner, devices: int = 1) -> "Learner | Parallel":
    """The learner on the first `devices` devices; `init`, `update` and `place(state)` are called alike on any number.

    Raises `ValueError` if there are not so many devices, or if they cannot get equal shares of the batch.
    """
    mesh = device_mesh(devices, AXIS)
    return learner if devices == 1 else Parallel(learner, mesh)


@dataclasses.dataclass(frozen=True)
class Parallel:
    """The same `init` and `update`, with the games of `learner` split over the devices of a mesh with one axis `games`.

    The batch is that of all devices together. Results depend on the number of devices: each draws its own random
    numbers, and sums are rounded differently. Raises `ValueError` if the batch cannot be split evenly.
    """

    learner: Learner
    mesh: Mesh

    def __post_init__(self) -> None:
        config = self.learner.config
        for name in ("batch", "minibatch") if config.method == "expected" else ("batch",):
            if getattr(config, name) % self.mesh.size:
                raise ValueError(f"{name}={getattr(config, name)} cannot be split over {self.mesh.size} devices evenly")

    def init(self, key: Key[Array, ""]) -> TDState:
        """The state before the first update, spread over the devices."""
        return self.place(self.learner.init(key))

    def place(self, state: TDState) -> TDState:
        """Any state of the learner, spread over the devices."""
        return spread(state, self.mesh, _specs(state))

    def update(self, state: TDState, key: Key[Array, ""]) -> tuple[TDState, Metrics]:
        """Plays and learns once."""
        config = self.learner.config
        share = dataclasses.replace(config, batch=config.batch // self.mesh.size)
        learner = dataclasses.replace(self.learner, config=share, axis=AXIS)

        def on_each(state, key):
            return learner.update(state, jax.random.fold_in(key, jax.lax.axis_index(AXIS)))

        specs = _specs(state)
        return jax.shard_map(
            on_each, mesh=self.mesh, in_specs=(specs, EVERYWHERE), out_specs=(specs, EVERYWHERE), check_vma=False
        )(state, key)


def _specs(state: TDState) -> TDState:
    """For each array, whether it is split over the devices (games, traces, positions) or the same on all of them."""
    everywhere = jax.tree.map(lambda _: EVERYWHERE, state)
    split = jax.tree.map(lambda _: PartitionSpec(AXIS), state)
    traces = split.traces
    if isinstance(traces, Replay):
        alike = everywhere.traces
        traces = traces._replace(weights=alike.weights, teacher=alike.teacher, number=alike.number)
    return everywhere._replace(games=split.games, last=split.last, traces=traces)
