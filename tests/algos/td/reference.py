"""Temporal-difference learning in plain NumPy, slow and obvious: what the learners must equal.

Networks are lists of sigmoid layers in float64. A game is the sequence of positions that its plies led to; whatever a
network sees of them, predictions are turned into those for the first player.
"""

from typing import NamedTuple

import numpy as np

OUTCOMES = (1, -1, 2, -2, 3, -3)


class Layer(NamedTuple):
    """Weights float64[inputs, units] and biases float64[units]."""

    kernel: np.ndarray
    bias: np.ndarray


class Seen(NamedTuple):
    """What the network sees of a position, and whether it predicts for the second player there."""

    inputs: np.ndarray
    for_second: bool


class Game(NamedTuple):
    """Ply number `start + i` led to `positions[i]`; the ply after the last of them ended the game.

    `result` is that of the first player; None if the record ends before the game does. So it does where a random turn
    is taken, from which nothing is learned about the positions before it; those after it are another record.
    """

    start: int
    positions: list[Seen]
    result: float | None


# The network.


def sigmoid(x):
    return 1 / (1 + np.exp(-x))


def forward(layers: list[Layer], inputs: np.ndarray) -> list[np.ndarray]:
    """The inputs and the activations of each layer."""
    activations = [np.asarray(inputs, np.float64)]
    for layer in layers:
        activations.append(sigmoid(activations[-1] @ layer.kernel + layer.bias))
    return activations


def gradient(layers: list[Layer], inputs: np.ndarray, output: int) -> list[Layer]:
    """Backpropagation: the derivatives of one output by all weights and biases."""
    activations = forward(layers, inputs)
    delta = np.zeros_like(activations[-1])
    delta[output] = 1
    found = []
    for number in reversed(range(len(layers))):
        above, below = activations[number + 1], activations[number]
        delta = delta * above * (1 - above)
        found.append(Layer(np.outer(below, delta), delta))
        delta = layers[number].kernel @ delta
    return found[::-1]


def add(first: list[Layer], second: list[Layer], times: float = 1.0) -> list[Layer]:
    """first + times * second."""
    pairs = zip(first, second, strict=True)
    return [Layer(a.kernel + times * b.kernel, a.bias + times * b.bias) for a, b in pairs]


def zeros(layers: list[Layer]) -> list[Layer]:
    return [Layer(np.zeros_like(layer.kernel), np.zeros_like(layer.bias)) for layer in layers]


# Predictions for the first player; outcomes in the order of `OUTCOMES`, so that the other player's stand beside them.


def exchange(outputs: np.ndarray) -> np.ndarray:
    """The same prediction for the other player."""
    return np.array([outputs[k ^ 1] for k in range(len(outputs))])


def predict(layers: list[Layer], seen: Seen) -> np.ndarray:
    outputs = forward(layers, seen.inputs)[-1]
    return exchange(outputs) if seen.for_second else outputs


def gradients(layers: list[Layer], seen: Seen) -> list[list[Layer]]:
    """For each outcome, the gradient of its prediction."""
    number = len(layers[-1].bias)
    return [gradient(layers, seen.inputs, k ^ 1 if seen.for_second else k) for k in range(number)]


def target(result: float, number: int) -> np.ndarray:
    """1 for the outcome that happened; results too large for the network count as its largest, draws as nothing."""
    most = OUTCOMES[number - 2]
    return np.array([float(min(max(result, -most), most) == points) for points in OUTCOMES[:number]])


def expected(outputs: np.ndarray) -> float:
    """Expected points."""
    return sum(points * p for points, p in zip(OUTCOMES, outputs, strict=False))


# Learning. All methods return the weights after learning, and the sum of squared errors.


def td_lambda(layers, games: list[Game], plies: int, lambda_: float, step_size: float):
    """TD(lambda) with eligibility traces, a step after each ply; games in lock-step make the sum of their steps.

    Delta w_t = alpha sum_k (Y^k_{t+1} - Y^k_t) e^k_t with e^k_t = lambda e^k_{t-1} + grad Y^k_t (Sutton 1988, eq. 4;
    Tesauro 1992, eq. 1), one trace for each output k.
    """
    traces = [[zeros(layers) for _ in layers[-1].bias] for _ in games]
    squared_error = 0.0
    for ply in range(plies):
        step = zeros(layers)
        for game, game_traces in zip(games, traces, strict=True):
            now = ply - game.start  # the ply led to this position of the game
            if not 1 <= now <= len(game.positions):
                continue
            if now < len(game.positions):
                following = predict(layers, game.positions[now])
            elif game.result is not None:
                following = target(game.result, len(layers[-1].bias))
            else:
                continue
            before = game.positions[now - 1]
            errors = following - predict(layers, before)
            squared_error += float((errors**2).sum())
            for k, slope in enumerate(gradients(layers, before)):
                game_traces[k] = add(slope, game_traces[k], lambda_)
                step = add(step, game_traces[k], errors[k])
        layers = add(layers, step, step_size)
    return layers, squared_error


def lambda_return(values: list[np.ndarray], result: np.ndarray | None, lambda_: float) -> np.ndarray:
    """The mean of all n-step returns with weights (1 - lambda) lambda^(n-1), the last of them with what is left of 1.

    `values` are the predictions of the following positions as far as they are known, `result` is how the game ended, if
    it did. (Sutton and Barto 2018, eq. 12.3; without rewards on the way, the n-step return is the value after n plies.)
    """
    returns = values if result is None else [*values, result]
    last = len(returns) - 1
    weights = [(1 - lambda_) * lambda_**n for n in range(last)] + [lambda_**last]
    return sum(weight * value for weight, value in zip(weights, returns, strict=True))


def n_step(layers, games: list[Game], begin: int, end: int, lambda_: float, step_size: float):
    """One step towards the lambda-returns as known after ply `end - 1`.

    It is made for the positions that plies `begin - 1` .. `end - 2` led to.
    """
    step, squared_error = zeros(layers), 0.0
    for game in games:
        ended = game.result is not None and game.start + len(game.positions) < end
        result = target(game.result, len(layers[-1].bias)) if ended else None
        known = [predict(layers, seen) for seen in game.positions[: max(0, end - game.start)]]
        for number, seen in enumerate(game.positions):
            if begin - 1 <= game.start + number <= end - 2 and (ended or known[number + 1 :]):
                errors = lambda_return(known[number + 1 :], result, lambda_) - known[number]
                squared_error += float((errors**2).sum())
                for k, slope in enumerate(gradients(layers, seen)):
                    step = add(step, slope, errors[k])
    return add(layers, step, step_size), squared_error


def monte_carlo(layers, games: list[Game], step_size: float):
    """One step of all positions of all finished games towards the final result."""
    step, squared_error = zeros(layers), 0.0
    for game in games:
        for seen in game.positions if game.result is not None else []:
            errors = target(game.result, len(layers[-1].bias)) - predict(layers, seen)
            squared_error += float((errors**2).sum())
            for k, slope in enumerate(gradients(layers, seen)):
                step = add(step, slope, errors[k])
    return add(layers, step, step_size), squared_error


# Backgammon inputs, from checkers on points 1..24 and the bar of two players, each in the own numbering.


def tesauro(own, other, own_acts: bool = True) -> np.ndarray:
    """Tesauro's 198: units for 1, 2, 3 checkers and half of those above three, point by point; bar, off, turn."""
    units = []
    for side in (own, other):
        for least in (1, 2, 3):
            units += [float(side[point] >= least) for point in range(24)]
        units += [(side[point] - 3) / 2 if side[point] > 3 else 0.0 for point in range(24)]
    units += [own[24] / 2, other[24] / 2, (15 - sum(own)) / 15, (15 - sum(other)) / 15]
    return np.array(units + ([1.0, 0.0] if own_acts else [0.0, 1.0]))


def extra(own, other, own_acts: bool = True) -> np.ndarray:
    """The 198, two race flags (contact, race), and the length of each side's longest block as six units."""
    rearmost = [max([point + 1 for point in range(25) if side[point]], default=0) for side in (own, other)]
    contact = all(rearmost) and rearmost[0] > 25 - rearmost[1]
    units = [float(contact), float(not contact)]
    for side in (own, other):
        longest = length = 0
        for point in range(24):
            length = length + 1 if side[point] >= 2 else 0
            longest = max(longest, length)
        units += [float(longest >= size) for size in range(1, 7)]
    return np.concatenate([tesauro(own, other, own_acts), units])
