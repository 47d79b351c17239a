"""Groups of 9-18-18-9 networks that evolve against each other's best, as published; and better ways to evolve them."""

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Float32

from jaxgames.algos.evolution.saved import NetworkConfig
from jaxgames.algos.evolution.strategies.group_ga import GroupsConfig
from jaxgames.algos.evolution.strategies.open_es import OpenESConfig
from jaxgames.envs.tic_tac_toe import Position
from jaxgames.interop import softsign_norm
from jaxgames.matches.intervals import mean_margin
from jaxgames.recipes.evolution.recipe import Champions, EvolutionRecipe, Measures, TextForm
from jaxgames.recipes.evolution.tic_tac_toe_exact import all_positions, measured
from jaxgames.recipes.report import show_results
from jaxgames.runs import Panel

RERUN: dict[str, Any] = {
    "source": "our rerun of the original program for 4 minutes, 9.2 million games: its 20 champions",
    "games": 9_200_000,
    "win_random": 67.4,
    "draw_random": 8.4,
    "loss_random": 24.2,
    "kept": 61.4,
    "perfect_draw": 18.9,
    "wins": 48.3,
    "blocks": 47.5,
    "margins": {
        "win_random": 2.8,
        "draw_random": 1.9,
        "loss_random": 2.4,
        "kept": 1.1,
        "perfect_draw": 8.5,
        "wins": 1.4,
        "blocks": 1.8,
    },
}
"""Means of the 20 champions, in percent, with half their 95 % intervals."""

_NETWORK = NetworkConfig("tic_tac_toe").replace(output="softsign_unit")
_ORIGINAL = GroupsConfig(_NETWORK, generations=900, sides="alternate", most_plies=9)
"""As in Keller 2018: almost 900 rounds. A round is 20 groups x (10 + 99 x 5) networks x 38 games: 383,800."""


def kept_moves(policy: Any, count: int, genomes: Array, numbers: Array, key: Array) -> Float32[Array, " n"]:
    """The share of `count` positions, drawn anew in each generation, in which a network's move keeps the result.

    Half of them are drawn as often as games of random moves come to them, half from all alike.
    """
    every = all_positions()
    often = every.reached[every.open]
    weights = np.cumsum(often / often.sum() + 1 / len(often)) / 2
    fractions = jax.random.uniform(key, (count,), jnp.float32)
    drawn = jnp.searchsorted(jnp.asarray(weights[:-1], jnp.float32), fractions).astype(jnp.int32)
    cells = jnp.asarray(every.cells[every.open], jnp.uint32)[drawn]
    inputs = policy.game.encodings[policy.encoding](Position(cells)).T
    inputs = jnp.broadcast_to(inputs[None], (len(genomes), *inputs.shape))
    outputs = policy.genomes.apply(genomes, inputs, monotone=True)

    def highest(actions: Any) -> Float32[Array, "n positions"]:
        allowed = jnp.asarray(actions[every.open])[drawn].T
        return jnp.max(jnp.where(allowed[None], outputs, -jnp.inf), axis=1)

    return jnp.mean((highest(every.keeps) >= highest(every.after >= 0)).astype(jnp.float32), axis=1)


def quick(network: NetworkConfig, champions: Champions, games: int, seed: int) -> tuple[dict[str, Any], int]:
    """Exact shares in percent, means over the champions: nothing is drawn by lot."""
    found = measured(network, champions)
    score = found["win_random"] + found["draw_random"] / 2
    return {name: float(values.mean()) for name, values in found.items()} | {"strength": float(score.mean())}, int(
        (score + found["kept"]).argmax()
    )


def thorough(network: NetworkConfig, champions: Champions, games: int, seed: int) -> dict[str, Any]:
    """The same with 95 % intervals of the mean, and for each champion."""
    found = measured(network, champions)
    margins = {name: mean_margin(values) if len(values) > 1 else 0.0 for name, values in found.items()}
    return {
        "mean": {name: round(float(values.mean()), 3) for name, values in found.items()},
        "margin": {name: round(margin, 3) for name, margin in margins.items()},
        "champions": {name: [round(float(value), 3) for value in values] for name, values in found.items()},
    }


def panels(metrics: Sequence[Mapping[str, Any]]) -> list[Panel]:
    """The learning curve."""
    against_random = {"win_random": "won", "draw_random": "drawn", "loss_random": "lost"}
    published = [(f"original {name.removesuffix('_random')}", RERUN[name]) for name in ("win_random", "kept")]
    return [
        Panel("% against random", against_random, published[:1], height=2.0),
        Panel("% of moves", {"kept": "keep the result"}, published[1:], height=1.4),
        Panel("% against perfect", {"perfect_draw": "drawn"}, from_zero=True),
        Panel("diversity", {"diversity": "diversity"}, from_zero=True),
    ]


def show(result: Mapping[str, Any]) -> None:
    """Prints how good the champions are, beside the original program's."""
    rows = [
        (
            label,
            f"{result['mean'][name]:.1f} ± {result['margin'][name]:.1f}",
            f"{RERUN[name]:.1f}" if name in RERUN else "-",
        )
        for name, label in LABELS.items()
        if name in result["mean"]
    ]
    count = len(result["champions"]["kept"])
    notes = (
        f"{count} champion{'s' if count > 1 else ''}; all figures exact, ± the 95 % interval of the mean",
        f"original: {RERUN['source']}",
    )
    title = f"{result['recipe']} ({result['setting']}): {result['games']:,} games"
    columns = ("mean of the champions", "here", "original")
    show_results(result, title, columns, rows, notes, f"{result['run']} random --games 10000")


# Networks in the text form of the original program: what it wrote after each round, and reads again.


def is_writable(network: NetworkConfig) -> bool:
    """Whether the form can tell such networks: it has one activation, for all layers, and an output for each cell."""
    return {network.layers.activation, network.layers.output} == {
        softsign_norm.ACTIVATION
    } and network.plays == "outputs"


def write_text(network: NetworkConfig, genomes: Float32[np.ndarray, "n dimension"]) -> str:
    """The text of networks, one a line; read again they are the same bits."""
    # The shortest digits of a float32, since those of the float64 would say the same in twice as many.
    digits = np.asarray(genomes, np.float32).astype(str).astype(np.float64)
    return softsign_norm.dump(softsign_norm.from_rows(digits, _sizes(network)))


def read_text(network: NetworkConfig, path: Path) -> Float32[Array, "n dimension"]:
    """The networks of a file. Raises `ValueError` if it holds none, or others than this training's."""
    if not is_writable(network):
        form = f"activation={softsign_norm.ACTIVATION} and output={softsign_norm.ACTIVATION}"
        raise ValueError(f"files of networks are of networks with {form}; these have other ones")
    networks = softsign_norm.load(path)
    wanted = _sizes(network)
    for line, layers in enumerate(networks, 1):
        found = (layers[0].kernel.shape[1], *(len(layer.bias) for layer in layers))
        if found != wanted:
            sizes, expected = ("-".join(map(str, these)) for these in (found, wanted))
            raise ValueError(f"{path}: network {line} is {sizes}; expected {expected} (--set hidden=N,N changes that)")
    return jnp.asarray(softsign_norm.to_rows(networks))


def _sizes(network: NetworkConfig) -> tuple[int, ...]:
    genomes = network.genomes()
    return (genomes.inputs, *(outputs for outputs, _ in genomes.shapes))


LABELS = {
    "win_random": "won against random, %",
    "draw_random": "drawn against random, %",
    "loss_random": "lost against random, %",
    "kept": "moves that keep the result, %",
    "perfect_draw": "drawn against perfect play, %",
    "wins": "wins at hand that are taken, %",
    "blocks": "threats that are met, %",
    "illegal": "illegal choices, which lose, %",
}

RECIPE = EvolutionRecipe(
    name="tic-tac-toe-evolution",
    summary="20 groups of 10 networks 9-18-18-9 that evolve against each other's best",
    settings={
        "original": _ORIGINAL,
        "parallel": _ORIGINAL.replace(schedule="parallel"),
        "crossover": _ORIGINAL.replace(crossover="segments"),
        "illegal-loses": _ORIGINAL.replace(strict=True),
        "best": OpenESConfig(
            _NETWORK, generations=6_000, population=256, sigma=0.1, step_size=0.1, last_step_size=0.01,
            opponents="positions*512", sides="alternate", most_plies=9, block=32,
        ),
    },
    measures=Measures(quick, thorough, panels, exact=True),
    show_result=show,
    published=(RERUN,),
    fitnesses={"positions": kept_moves},
    judged="last",
    text_form=TextForm(is_writable, write_text, read_text),
)  # fmt: skip
