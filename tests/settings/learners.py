"""Settings of learners: AlphaZero, TD by each of its methods, imitation, self-play by backprop."""

import zlib
from pathlib import Path
from types import SimpleNamespace
from typing import Any
from unittest import mock

import jax
import jax.numpy as jnp
import numpy as np

import jaxgames
from jaxgames.algos import alphazero, imitation, mcts, td
from jaxgames.algos.self_play_backprop import CYCLE, SelfPlayConfig, SelfPlaySettings, SquareFeatures
from jaxgames.algos.td.methods import first_checkpoint
from jaxgames.nets import NetworkSpec
from jaxgames.players.generic import imitating
from jaxgames.recipes import Plan
from jaxgames.recipes import imitation as imitation_recipe
from jaxgames.recipes import tic_tac_toe_self_play as self_play
from jaxgames.recipes.self_play_population import Populations, Variant
from tests.settings.tables import KEPT, Table, refused, row
from tests.settings.traces import Program

GAME = jaxgames.make("tic_tac_toe")
KEY = jax.random.key(0)

# Networks.


def network_of(config: NetworkSpec) -> Program:
    """A network with a policy and a value; for what only layers alone have, these."""
    if config.form == "mlp" and config.dtype == "float32":
        return _applied(config.mlp(3), (1, 5))
    return _applied(config.policy_value(9, (5, 6, 2), 1.0), (1, 5, 6, 2))


def _applied(network: Any, shape: tuple[int, ...]) -> Program:
    def run(key, seen):
        params = network.init(key, seen)
        return {"params": params, "outputs": network.apply(params, seen)}

    return Program(run, KEY, jnp.zeros(shape, jnp.float32))


NETWORK_ROWS = {
    "form": row("residual", "network"),
    "hidden": row((3,), "network"),
    "activation": row("softsign", "network"),
    "output": row("identity", "network"),
    "initializer": row("glorot_uniform", "network"),
    "biases": row(False, "network"),
    "blocks": row(1, "network", form="residual"),
    "channels": (row(4, "network", form="residual"), row(4, "network", form="windows", window=2)),
    "window": row(2, "network.outputs", form="windows", window=3),
    "convolutions": row((2,), "network", form="conv"),
    "dtype": row("bfloat16", "network", form="windows", window=2),
}


def network_rows(*names: str) -> dict[str, Any]:
    """Rows of the settings that a group has."""
    return {name: NETWORK_ROWS[name] for name in names}


MLP = ("hidden", "activation", "initializer", "biases")
POLICY_VALUE = ("form", "hidden", "blocks", "channels", "window", "dtype")
NETWORK = Table(NetworkSpec(hidden=(4,)), {"network": network_of}, NETWORK_ROWS)

# AlphaZero.


def searched(game: Any, states: Any, key: Any, simulations: int, *, evaluate: Any, tree: Any, **asked: Any) -> Any:
    """In the place of `mcts.search`: what it is asked for becomes a number in the program of what it gives.

    That searches do as they are asked is for the tables of searches; tracing one takes ten times all else.
    """
    number: Any = zlib.crc32(repr((simulations, sorted(asked.items()))).encode()) / 2**32
    number = number if tree is None else number + tree.used.astype(jnp.float32)
    logits, values = evaluate.apply(evaluate.params, states.observation)
    weights = jax.nn.softmax(logits * number)
    return SimpleNamespace(
        weights=weights, values=values * number, actions=jnp.argmax(weights, axis=1).astype(jnp.int32), tree=tree
    )


def alphazero_update(config: alphazero.AlphaZeroConfig) -> Program:
    """The first state, and an update: what was played and what was learned."""
    learner = alphazero.make_learner(GAME, config)

    def run(key):
        first = learner.init(key)
        state, metrics = learner.update(first, key)
        plies = state.buffer.plies
        return {
            "first": first.states, "states": state.states, "policy": plies.policy, "root_value": plies.root_value,
            "is_target": plies.is_target, "result": plies.result, "known": plies.known, "params": state.params,
            "mean_params": state.mean_params, "metrics": metrics,
        }  # fmt: skip

    with mock.patch.object(mcts, "search", searched):
        return Program(run, KEY)


def alphazero_later(config: alphazero.AlphaZeroConfig) -> Program:
    """Where games stand after an update. Its state is given, so an opening shows only where a game follows another."""
    learner = alphazero.make_learner(GAME, config)

    def run(state, key):
        return {"states": learner.update(state, key)[0].states}

    with mock.patch.object(mcts, "search", searched):
        return Program(run, jax.eval_shape(learner.init, KEY), KEY)


def alphazero_network(config: alphazero.AlphaZeroConfig) -> Program:
    """The network for a board on which a window fits."""
    return _applied(config.make_network(jaxgames.make("connect_four")), (1, 6, 7, 2))


ALPHAZERO = Table(
    alphazero.AlphaZeroConfig(
        NetworkSpec(hidden=(4,)), batch=2, plies=2, simulations=4, considered=3, opening_plies=1, buffer_plies=4,
        steps=2, minibatch=3,
    ),
    {"update": alphazero_update, "later": alphazero_later, "network": alphazero_network},
    {
        **network_rows(*POLICY_VALUE),
        "batch": row(3, "update.first", "update.metrics"),
        "plies": row(1, "update.states", "update.policy"),
        "simulations": row(5, "update.policy", "update.root_value"),
        "search": row("puct", "update.policy"),
        "considered": row(4, "update.policy"),
        "noise_alpha": row(0.5, "update.policy", search="puct"),
        "noise_fraction": row(0.5, "update.policy", search="puct"),
        "reuse": row(True, "update.states", search="puct"),
        "played": row("choice", "update.states"),
        "temperature": row(0.5, "update.states"),
        "opening_plies": row(2, "update.first", "later.states"),
        "fast_share": row(0.5, "update.policy", "update.is_target", "update.params"),
        "fast_simulations": row(3, "update.policy", fast_share=0.5),
        "result_share": row(0.5, "update.params", "update.metrics"),
        "exact": row(True, "update.result", "update.known"),
        "discount": row(0.5, "update.root_value", "update.result"),
        "buffer_plies": row(2, "update.params"),
        "steps": row(3, "update.params"),
        "minibatch": row(4, "update.params"),
        "symmetries": row(False, "update.params"),
        "step_size": row(0.1, "update.params"),
        "last_step_size": row(0.001, "update.params"),
        "weight_decay": row(0.1, "update.params"),
        "value_weight": row(2.0, "update.params"),
        "ema": row(0.5, "update.mean_params"),
        "updates": row(7, "update.params"),
    },
    {"fast_share": refused(1.0, "fast_share 1.0: expected a share from 0 to below 1")},
)  # fmt: skip

# TD.


def td_update(config: td.TDConfig) -> Program:
    """The first state, and an update."""
    learner = td.make_learner(config)

    def run(key):
        first = learner.init(key)
        state, metrics = learner.update(first, key)
        return {"first": first, "state": state, "params": state.params, "metrics": metrics}

    return Program(run, KEY)


def td_network(config: td.TDConfig) -> Program:
    """Weights, and predictions of positions."""
    network = config.network()

    def run(key):
        params, positions = network.init(key), jax.vmap(network.game.init_position)(jax.random.split(key, 2))
        return {
            "params": params, "predicted": network.predict(params, positions, jnp.zeros(2, jnp.int32)),
            "value": network.value(params)(positions),
        }  # fmt: skip

    return Program(run, KEY)


def td_checkpoint(config: td.TDConfig) -> Program:
    """What a training begins with."""
    learner = td.make_learner(config)
    return Program(lambda key: {"state": first_checkpoint(learner, learner.init(key)).state}, KEY)


TD_PARTS = {"update": td_update, "network": td_network, "checkpoint": td_checkpoint}
TD_ROWS = {
    **network_rows(*MLP),
    "game": row("connect_four", "network"),
    "encoding": row("cells_0.01", "network.predicted"),
    "outputs": row(2, "network"),
    "step_size": row(0.1, "update.params"),
    "symmetric": row(False, "network.predicted", "network.value"),
    "cumulative": row(True, "update.params", "network.value"),
}
BATCH_ROWS = {
    "epsilon": row(0.25, "update.state", "update.params"),
    "batch": row(3, "update.first", "update.metrics"),
    "plies": row(3, "update.params"),
    "optimizer": row("sgd", "update.params"),
    "weight_decay": row(0.1, "update.params", optimizer="adamw"),
    "schedule": (row("cosine", "update.params", updates=7), row("constant", "update.params", updates=7)),
    "last_step_size": row(0.001, "update.params", updates=7),
    "updates": row(7, "update.params"),
}
LAMBDA = {"lambda_": row(0.25, "update.params")}
BY_CLASS = {"by_class": row(True, "network.params", "network.predicted", game="backgammon", encoding="strategic")}
"""Only there are classes of positions told apart."""
OF_GAMES = {"batch": row(3, "update.params", "update.metrics")}
"""Of a method that keeps no games from update to update."""
TESTED = {"schedule": (*BATCH_ROWS["schedule"], row("tested", "update.params"))}


def _td(method: str, rows: dict[str, Any], **settings: Any) -> Table:
    usual = td.make_config(method, game="tic_tac_toe", encoding="cells", hidden=(4,), **settings)
    return Table(usual, TD_PARTS, rows)


N_STEP = _td(
    "n_step",
    {**TD_ROWS, **BATCH_ROWS, **TESTED, **LAMBDA, **BY_CLASS, "output": row("softmax", "update.params", "network")},
    batch=2, plies=2,
)  # fmt: skip
EXACT = _td("exact", {**TD_ROWS, **BATCH_ROWS, **TESTED, **LAMBDA}, batch=2, plies=2)
MONTE_CARLO = _td("monte_carlo", {**TD_ROWS, **BATCH_ROWS, **TESTED, **OF_GAMES}, batch=2, plies=2)
EXPECTED = _td(
    "expected",
    {
        **{name: found for name, found in TD_ROWS.items() if name not in ("symmetric", "cumulative")},
        **BATCH_ROWS, **LAMBDA, **BY_CLASS,
        "members": row(2, "update.params", "network.params"),
        "restarts": row(0.5, "update.state"),
        "teacher": row(True, "update.params"),
        "replay": row(8, "update.params"),
        "minibatch": row(4, "update.params"),
        "steps": row(3, "update.params"),
        "average": row(0.5, "update.params"),
    },
    batch=2, plies=2, minibatch=3, steps=2, replay=4,
)  # fmt: skip
SEQUENTIAL = _td(
    "sequential_td",
    {
        **TD_ROWS, **LAMBDA,
        "method": row("sequential_backprop", "update.params"),
        "games": row(3, "update.params"),
        "schedule": row("tested", "checkpoint"),
        "updates": row(7, KEPT),
    },
    games=2,
)  # fmt: skip

# Imitation.

ROWS = imitation.LabeledPositions(
    jax.tree.map(lambda x: np.repeat(np.asarray(x)[None], 8, 0), GAME.init_position(KEY)),
    np.ones((8, 9), bool), np.full((8, 9), 1 / 9, np.float16), np.ones(8, np.float32), np.ones(8, np.float32),
    np.ones(8, np.float32), np.arange(8), np.arange(8) > 5,
)  # fmt: skip


def imitation_update(config: imitation.ImitationConfig) -> Program:
    """An optimizer step."""
    learner = imitation.make_learner(GAME, config)

    def run(key, rows):
        state, metrics = learner.update(learner.init(key, rows), key)
        return {"params": state.params, "metrics": metrics}

    return Program(run, KEY, ROWS)


def imitation_network(config: imitation.ImitationConfig) -> Program:
    """Weights, and what they say of positions."""
    network = imitation.make_learner(GAME, config).network

    def run(key, positions):
        params = network.init(key)
        return {"params": params, "outputs": network.outputs(params, network.inputs(positions))}

    return Program(run, KEY, ROWS.position)


def imitation_of_draughts(config: imitation.ImitationConfig) -> Program:
    """The move that outputs name, where there are several ways to name one."""
    game = jaxgames.make("checkers")
    network = imitation.make_learner(game, config).network

    def run(key):
        position = jax.tree.map(lambda x: x[None], game.init_position(key))
        outputs, _ = network.outputs(network.init(key), network.inputs(position))
        return {"move": network.chosen(outputs, position, jnp.ones((1, game.num_actions), bool))}

    return Program(run, KEY)


def imitation_play(config: imitation.ImitationConfig) -> Program:
    """A turn of the player."""
    network = imitation.make_learner(GAME, config).network

    def run(key, positions):
        player = imitating("trained", network.init(key), network)
        return {"turn": player.turn(player.params, positions, jnp.zeros(8, jnp.uint32))}

    return Program(run, KEY, ROWS.position)


def imitation_training(config: imitation.ImitationConfig) -> dict[str, Any]:
    """What the training makes of its data, how long it is, and when it ends early: not parts of any program."""
    recipe = imitation_recipe.ImitationRecipe("test", "", {"usual": config})
    folder = SimpleNamespace(path=Path("data"), header={"made": {}})
    asked = []

    def split(*arguments):
        asked.append(arguments[2:4])
        return ROWS

    with (
        mock.patch.object(imitation_recipe, "_split_rows", split),
        mock.patch.object(imitation_recipe.ImitationRecipe, "_data", lambda self, plan: (GAME, folder)),
    ):
        content = recipe.content(Plan(game=GAME.id))
    progress = imitation_recipe.ImitationProgress(None, 0.0, 3)
    ends = imitation_recipe.ImitationJob.progress(SimpleNamespace(config=config), progress, 1)
    return {"split": asked, "content": {**content, "learner": content["learner"]["steps"]}, "ends": ends}


HEAD: dict[str, Any] = {
    "learns": "policy", "policy_loss": "squared", "encoding": "cells", "symmetries": False, "head": "highest"
}  # fmt: skip
IMITATION = Table(
    imitation.ImitationConfig(NetworkSpec(hidden=(4,)), minibatch=3),
    {
        "update": imitation_update,
        "network": imitation_network,
        "play": imitation_play,
        "draughts": imitation_of_draughts,
        "training": imitation_training,
    },
    {
        **network_rows("form", "hidden", "activation", "output", "initializer", "blocks", "convolutions"),
        "channels": row(4, "network", form="residual"),
        "head": row("target", "draughts", **HEAD | {"encoding": "pieces", "head": "squares"}),
        "encoding": row("cells_0.01", "update.params", "network.outputs", **HEAD),
        "learns": (row("policy", "update.params"), row("value", "update.params", plays="value")),
        "plays": row("value", "play"),
        "policy_loss": (row("squared", "update.params"), row("absolute", "update.params", **HEAD)),
        "value_loss": row("absolute", "update.params"),
        "value_weight": row(2.0, "update.params"),
        "value_range": row("unit", "update.params", "update.metrics"),
        "counts": row(True, "update.params"),
        "symmetries": row(False, "update.params"),
        "positions": row(4, "training.content"),
        "validation": row(0.25, "training.split"),
        "split": row("position", "training.split"),
        "minibatch": row(4, "update.params"),
        "optimizer": (row("adam", "update.params"), row("sgd", "update.params"), row("momentum", "update.params")),
        "step_size": row(0.1, "update.params"),
        "last_step_size": row(0.001, "update.params"),
        "weight_decay": row(0.1, "update.params"),
        "epochs": row(7, "training.content"),
        "blocks_per_epoch": row(2, "training.content"),
        "patience": row(3, "training.ends"),
        "steps": row(7, "update.params"),
    },
    {
        "last_step_size": refused(0.2, "last_step_size=0.2: expected at most step_size=0.1", step_size=0.1),
        "output": refused("identity", "output=identity has no effect without learns=both or value", learns="policy"),
    },
)

# Self-play by backprop.


def self_play_update(config: SelfPlayConfig) -> Program:
    """A game of two networks, and what they learn of it."""
    learner = config.learner(2)
    features = SquareFeatures(*map(jnp.float32, (0.01, 0, 1)))
    settings = SelfPlaySettings(jnp.float32(0.1), jnp.zeros(CYCLE, jnp.int32), jnp.bool_(True), features)

    def run(key):
        state, metrics = learner.update(learner.init(key, settings), key)
        return {"params": state.params, "metrics": metrics}

    return Program(run, KEY)


SELF_PLAY = Table(
    SelfPlayConfig("tic_tac_toe").replace(hidden=(3,)),
    {"update": self_play_update},
    {
        "game": row("connect_four", "update.params"),
        "most_plies": row(5, "update.params"),
        "hidden": row((2,), "update.params"),
        "activation": row("tanh", "update.params"),
        "output": row("identity", "update.params"),
        "initializer": row("uniform:2", "update.params"),
    },
)


def variant_update(variant: Variant) -> Program:
    """A game of a population, and what it learns of it: its settings are arrays, which the update has to read."""
    populations = Populations((variant,), 2)

    def run(key):
        state = jax.tree.map(lambda x: x[0], populations.init(key))
        after, _ = populations.learner.update(state, key)
        return {"params": after.params}

    return Program(run, KEY)


def variant_label(variant: Variant) -> dict[str, Any]:
    """What the diagram calls it."""
    job = SimpleNamespace(variants={"one": variant}, run=SimpleNamespace(metrics=list, path=Path("run")))
    with mock.patch.object(self_play, "draw_diagrams") as draw:
        self_play.SelfPlayJob.draw(job, None)
    return {"labels": [diagram.title for diagram in draw.call_args.args[0]]}


VARIANT = Table(
    Variant(),
    {"update": variant_update, "diagram": variant_label},
    {
        "label": row("another", "diagram.labels"),
        "empty": row(0.5),
        "absolute": row(True),
        "side": row(True),
        "step_size": row(0.1),
        "weights": row((-1.0, 1.0)),
        "cycle": row(("second", "first")),
    },
)


def seeds_of(config: self_play.SeedsConfig) -> dict[str, Any]:
    """The populations of a plan with so many."""
    plan = Plan(setting="faithful", changes={"seeds": str(config.seeds)}, devices=1)
    return {"seeds": self_play.RECIPE.content(plan)["seeds"]}


SEEDS = Table(self_play.SeedsConfig(), {"content": seeds_of}, {"seeds": row(3, "content.seeds")})
