"""Networks of trainings as ONNX files, for programs without JAX."""

import json
from pathlib import Path
from typing import Any

import jax
import jax.numpy as jnp

from jaxgames.interop.networks import network_of
from jaxgames.players.player import Player


def export(player: Player, file: str | Path) -> dict[str, Any]:
    """Writes the network of a player, and returns what is said of it in the file.

    The input `positions` is float32[n, inputs], the player's encoding of positions; the output float32[n, outputs] are
    the network's outputs, whose products with `points` add up to expected points.

    Raises `ValueError` for a player without a network, `ImportError` where jax2onnx is missing.
    """
    network = network_of(player)
    if network is None:
        raise ValueError(f"{player.name} has no network to export; expected the folder of a training, or champion@1")
    try:
        import onnx
        from jax2onnx import to_onnx
    except ImportError as error:
        raise ImportError(f"not installed: {error.name}; install with: pip install 'jaxgames[interop]'") from None
    params = jax.tree.map(jnp.asarray, network.params)
    model = to_onnx(
        lambda inputs: network.mlp.apply(params, inputs),
        inputs=[jax.ShapeDtypeStruct(("n", network.encoding.size), jnp.float32)],
        input_names=["positions"],
        output_names=["outputs"],
        model_name=player.game.id,
    )
    said = {
        "game": player.game.id,
        "player": player.name,
        "inputs": network.encoding.size,
        "points": [float(x) for x in network.points],
    }
    onnx.helper.set_model_props(model, {"jaxgames": json.dumps(said)})
    onnx.checker.check_model(model)
    onnx.save(model, str(file))
    return said
