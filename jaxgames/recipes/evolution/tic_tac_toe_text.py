"""Networks of a training in the text form of the original program: what it wrote after each round, and reads again."""

from pathlib import Path

import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Float32

from jaxgames.algos.evolution.saved import NetworkConfig
from jaxgames.nets import softsign_norm


def is_writable(network: NetworkConfig) -> bool:
    """Whether the form can tell such networks: it has one activation, for all layers, and an output for each cell."""
    return {network.activation, network.output} == {softsign_norm.ACTIVATION} and network.plays == "outputs"


def write(network: NetworkConfig, genomes: Float32[np.ndarray, "n dimension"]) -> str:
    """The text of networks, one a line; read again they are the same bits."""
    # The shortest digits of a float32, since those of the float64 would say the same in twice as many.
    digits = np.asarray(genomes, np.float32).astype(str).astype(np.float64)
    return softsign_norm.dump(softsign_norm.from_rows(digits, _sizes(network)))


def read(network: NetworkConfig, path: Path) -> Float32[Array, "n dimension"]:
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
