"""Plays a learner's games again, ply by ply, and writes them down for the reference."""

from collections.abc import Callable
from functools import cache, partial
from typing import Any, NamedTuple

import jax
import numpy as np

from jaxgames.algos.td import ExactTD, Learner, Metrics, MonteCarlo, NStepTD, TDConfig, ValueNetwork, eligibility_traces
from jaxgames.algos.td.learner import ExactState, MonteCarloState, NStepState
from jaxgames.algos.td.methods import with_method
from jaxgames.algos.td.self_play import Games, Ply, play_ply
from tests.algos.td import reference
from tests.algos.td.reference import Game, Layer, Seen

See = Callable[[Ply, int], Seen]
"""What the network sees of game number g after a ply."""


def layers_of(params) -> list[Layer]:
    layers = params["params"]
    names = [f"Dense_{i}" for i in range(len(layers))]
    return [Layer(*(np.asarray(layers[name][part], np.float64) for part in ("kernel", "bias"))) for name in names]


def params_of(layers: list[Layer]):
    """float32, as the learner has them."""
    named = {f"Dense_{i}": layer._asdict() for i, layer in enumerate(layers)}
    return jax.tree.map(lambda x: x.astype(np.float32), {"params": named})


def see_track(symmetric: bool) -> See:
    """One-hot distances of the player to act and the other one, or of the first player and the second one."""

    def see(ply: Ply, game: int) -> Seen:
        own, other, player = (int(x[game]) for x in (ply.positions.own, ply.positions.other, ply.player))
        second = player == 1
        if second and not symmetric:
            own, other = other, own
        turn = [1.0, 0.0] if symmetric or not second else [0.0, 1.0]
        inputs = np.concatenate([np.eye(10)[own], np.eye(10)[other], turn])
        return Seen(inputs, for_second=second and symmetric)

    return see


def counts(side, game: int) -> list[int]:
    """Checkers on points 1..24 and the bar, from bit-sliced words."""
    return [sum((int(plane[game]) >> point & 1) << k for k, plane in enumerate(side)) for point in range(1, 26)]


def see_backgammon(symmetric: bool) -> See:
    """Tesauro's inputs from the checkers, seen by the player about to roll or by the first player."""

    def see(ply: Ply, game: int) -> Seen:
        own, other = (counts(side, game) for side in (ply.positions.own, ply.positions.opponent))
        return see_checkers(own, other, int(ply.player[game]), symmetric)

    return see


def see_checkers(own, other, player: int, symmetric: bool) -> Seen:
    """The same for checkers on points 1..24 and the bar, those of the player about to roll first."""
    if symmetric:
        return Seen(reference.tesauro(own, other), for_second=player == 1)
    inputs = reference.tesauro(other, own, own_acts=False) if player == 1 else reference.tesauro(own, other)
    return Seen(inputs, for_second=False)


def begin(learner: Learner) -> Any:
    """What `learner.init(jax.random.key(1))` gives, compiled once for all learners with the same network and batch."""
    config = learner.config
    state = _begin(with_method(config, "n_step").replace(plies=1, step_size=0.1))
    if isinstance(learner, MonteCarlo):
        return MonteCarloState(state.params, state.optimizer, state.factor, state.updates)
    if not isinstance(learner, ExactTD):
        return state
    traces = eligibility_traces(config.lambda_).init(state.params, config.batch, config.outputs)
    return ExactState(**state._asdict(), traces=traces)


@cache
def _begin(config: TDConfig) -> NStepState:
    return jax.jit(NStepTD(config).init)(jax.random.key(1))


@partial(jax.jit, static_argnames="learner")
def update(learner: Learner, state: Any, key) -> tuple[Any, Metrics]:
    """`learner.update`, compiled once for the tests of a module."""
    return learner.update(state, key)


class Recorded(NamedTuple):
    """What a ply led to, and in which games it was a random one (None: in none)."""

    ply: Ply
    random: np.ndarray | None


@partial(jax.jit, static_argnames=("network", "epsilon"))
def play(network: ValueNetwork, params, games: Games, key, epsilon: float = 0.0) -> tuple[Games, Recorded]:
    """One ply of all games, chosen as a learner with this network does; compiled once for all learners that have it."""
    games, *ply = play_ply(network.game, games, network.value(params, 1 - games.player[0]), key, epsilon)
    return games, Recorded(*ply)


def written(plies: list[Recorded], see: See) -> list[Game]:
    """All games of a record, each with the positions that it went through.

    To learning a random turn is a cut: a record ends before it, without a result, and a new one begins after it.
    """
    found = []
    for slot in range(len(plies[0].ply.over) if plies else 0):
        start, positions = 0, []
        for number, (ply, random) in enumerate(plies):
            if random is not None and random[slot]:
                found.append(Game(start, positions, None))
                start, positions = number, []
                if ply.over[slot]:
                    start = number + 1
                    continue
            if ply.over[slot]:
                found.append(Game(start, positions, float(ply.result[slot])))
                start, positions = number + 1, []
            else:
                positions.append(see(ply, slot))
        found.append(Game(start, positions, None))
    return found


def goes_on_in(plies: list[Recorded]) -> bool:
    """Whether somewhere a player was to act twice in a row."""
    player, over = np.array([recorded.ply.player for recorded in plies]), over_in(plies)
    return bool(((player[1:] == player[:-1]) & ~over[1:]).any())


def over_in(plies: list[Recorded]) -> np.ndarray:
    """bool[plies, slots]: whether a game ended."""
    return np.array([recorded.ply.over for recorded in plies])


def random_in(plies: list[Recorded]) -> np.ndarray:
    """bool[plies, slots]: whether a turn was random."""
    return np.array([np.zeros_like(ply.over) if random is None else random for ply, random in plies])


def assert_close(params, layers: list[Layer], start, atol: float = 5e-6) -> None:
    """The weights are those of the reference, and have moved from `start` by far more than the tolerance."""
    moved = [abs(a - b).max() for x, y in zip(layers, layers_of(start), strict=True) for a, b in zip(x, y, strict=True)]
    assert min(moved) > 100 * atol, f"weights moved by {min(moved):.1e}: too little to compare"
    for found, wanted in zip(layers_of(params), layers, strict=True):
        for a, b in zip(found, wanted, strict=True):
            np.testing.assert_allclose(a, b, rtol=0, atol=atol)


def assert_same_games(found, wanted) -> None:
    """The same choices were made and the same dice rolled."""
    jax.tree.map(np.testing.assert_array_equal, found, wanted)
