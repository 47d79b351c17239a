"""Networks of trainings as ONNX files, for programs without JAX."""

import json
from collections.abc import Callable
from importlib.metadata import version
from pathlib import Path
from typing import Any

import jax
import jax.numpy as jnp

from jaxgames.interop.networks import network_of, policy_network_of
from jaxgames.players.player import Player
from jaxgames.runs.files import replace

__all__ = ["export"]


def export(player: Player, file: str | Path) -> dict[str, Any]:
    """Writes the network of a player, and returns the metadata in the file.

    The input `positions` is float32[n, inputs], the player's encoding of positions; the output, float32[n, outputs], is
    the network's; expected points are the sum of outputs times `points`. A policy and value network takes
    `observations` float32[n, *shape] and gives `logits` and `values`.

    Raises `ValueError` for a player without a network and if jax2onnx fails with this JAX, `ImportError`
    if it is missing.
    """
    policy = policy_network_of(player)
    network = network_of(player) if policy is None else None
    function: Callable[[Any], Any]
    if policy is not None:
        weights = jax.tree.map(jnp.asarray, policy.params)
        function, shape, more = lambda seen: policy.apply(weights, seen), player.game.observation_shape, {}
        inputs, outputs = ["observations"], ["logits", "values"]
    elif network is not None:
        function, shape = network.apply, (network.encoding.size,)
        more = {"points": [float(x) for x in network.points]}
        inputs, outputs = ["positions"], ["outputs"]
    else:
        raise ValueError(f"{player.name} has no network to export; expected the folder of a training, or champion@1")
    try:
        import onnx
        from jax2onnx import to_onnx
    except ImportError as error:
        raise ImportError(f"not installed: {error.name}; install with: pip install 'jaxgames[interop]'") from None
    try:
        with jax.disable_jit():  # traces through jitted functions: jax2onnx may not know this JAX's jit
            model = to_onnx(
                function,
                inputs=[("n", *shape)],  # float32
                input_names=inputs,
                output_names=outputs,
                model_name=player.game.id,
            )
    except (AttributeError, ImportError, NotImplementedError) as error:
        told = f"jax2onnx {version('jax2onnx')} cannot export {player.name} with jax {jax.__version__}"
        raise ValueError(f"{told}: {' '.join(str(error).split())}") from error
    said = {"game": player.game.id, "player": player.name, "shape": list(shape), **more}
    onnx.helper.set_model_props(model, {"jaxgames": json.dumps(said)})
    onnx.checker.check_model(model)
    replace(Path(file), model.SerializeToString())
    return said
