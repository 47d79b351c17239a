"""Keywords of searches and learners, networks, and recipes; hardly any of their programs is compiled."""

import contextlib
import io
from types import SimpleNamespace
from unittest import mock

import jax
import jax.numpy as jnp

import jaxgames
from jaxgames import nets
from jaxgames.algos import alphazero, imitation, mcts, minimax, parallel, td
from jaxgames.algos.self_play_backprop import FIRST, PopulationMLP, SelfPlayBackprop, SelfPlaySettings, encode_with
from jaxgames.algos.td import lambda_returns
from jaxgames.algos.td.config import TestedStepSizes
from jaxgames.algos.td.methods import load_player_value
from jaxgames.algos.td.value import Outcomes, ValueNetwork
from jaxgames.recipes import Plan
from jaxgames.recipes.report import Report
from jaxgames.recipes.reproduce import Part, Study, System, study
from tests.keywords.rows import beside, held, in_folder, said, tried
from tests.settings.traces import Program

TTT = jaxgames.make("tic_tac_toe")
KEY = jax.random.key(0)
STATES = jax.jit(jax.vmap(TTT.init))(jax.random.split(KEY, 2))
BITS = jnp.arange(2, dtype=jnp.uint32)


def program(function, *arguments):
    """The program of a function of some arrays, by default of a key."""
    return Program(lambda *given: {"all": function(*given)}, *(arguments or (KEY,)))


# Searches.


def network(params, observation):
    """A network that knows nothing."""
    return jnp.zeros((len(observation), 9)), params * jnp.ones(len(observation))


NETWORK = mcts.network(network, jnp.zeros(()))


def searched(tree=None, memory=None, **keywords):
    """A search, after another one where its tree or what it learned is asked for."""

    def run(key):
        given = {"num_simulations": 3, **keywords}
        if tree or memory:
            before = mcts.search(TTT, STATES, key, **given)
            given |= {"tree": mcts.advance(before.tree, STATES)} if tree else {"memory": before.memory}
        return mcts.search(TTT, STATES, key, **given)

    return program(run)


def searched_positions(rule=None, evaluator=None, memory=None, **keywords):
    """The same of positions."""

    def run(bits):
        given = TTT, STATES._position, bits, 3, rule or mcts.uct(), evaluator or mcts.rollout()
        more = {"memory": mcts.search_positions(*given, **keywords).memory} if memory else {}
        return mcts.search_positions(*given, **keywords, **more)

    return program(run, BITS)


def fixed_depth(search):
    """The program of a search to a fixed depth."""
    return lambda **k: program(lambda key: search(TTT, STATES, 2, **(k | ({"key": key} if "key" in k else {}))))


# Learners.


def on_devices(sums):
    """The program of a sum on each of two devices."""
    return program(lambda numbers: jax.vmap(sums, axis_name="games")(numbers), jnp.ones(2))


SMALL_NET = nets.NetworkSpec(hidden=(2,))
ALPHAZERO = alphazero.AlphaZeroConfig(
    SMALL_NET, batch=2, plies=1, simulations=2, buffer_plies=2, steps=1, minibatch=2, opening_plies=0
)


def td_config(method, **more):
    """A small configuration."""
    sizes = {"games": 2} if "sequential" in method else {"batch": 2, "plies": 2}
    toy = {"game": "tic_tac_toe", "encoding": "observation", "hidden": (2,), "outputs": 2}
    return td.make_config(method, **toy, **sizes, **more)


def td_learner(method):
    """A learner by a method, as a function of its keywords."""
    made = td.make_learner(td_config(method))
    return lambda **k: said(lambda: on_devices(type(made)(made.config, **k).psum))


def restored(load):
    """Whether the best weights are loaded, or those of a checkpoint."""

    def call(**keywords):
        run = mock.MagicMock()
        run.config = {"learner": mock.MagicMock(), "options": {}}
        with contextlib.ExitStack() as stack:
            for patch in (
                mock.patch("jaxgames.algos.alphazero.learner.AlphaZeroConfig.from_json", return_value=ALPHAZERO),
                mock.patch(
                    "jaxgames.algos.imitation.learner.ImitationConfig.from_json",
                    return_value=imitation.ImitationConfig(SMALL_NET),
                ),
                mock.patch("jaxgames.algos.td.methods.config_of", return_value=td_config("n_step")),
            ):
                stack.enter_context(patch)
            load(run, **keywords)
        return [(name, arguments[1:]) for name, arguments, _ in run.method_calls]

    return call


BACKPROP = SelfPlayBackprop(TTT, PopulationMLP(nets.MLP((2, 1)), 9), encode_with(TTT.encodings["cells"]), 2, 9)
SELF_PLAY = SelfPlaySettings(jnp.float32(0.5), jnp.asarray([FIRST], jnp.int32), jnp.bool_(True))
BACKGAMMON = jaxgames.make("backgammon")
FIRST_POSITIONS = jax.jit(jax.vmap(BACKGAMMON.init_position))(jax.random.split(KEY, 2))
ASYMMETRIC = td.make_config("n_step", hidden=(2,), symmetric=False).network()


def valued(**keywords):
    """What a network predicts."""
    net = ValueNetwork(BACKGAMMON, BACKGAMMON.encodings["strategic"], nets.MLP((2, 4)), **keywords)
    players = jnp.asarray([0, 1], jnp.int32)
    return program(lambda key: net.predict(net.init(key), FIRST_POSITIONS, players))


# Networks.


def applied(kind, seen=(2, 5, 6, 2), **fixed):
    """A network's first weights, and what it gives."""

    def call(**keywords):
        net = kind(**{**fixed, **keywords})
        inputs = jnp.zeros(seen, bool if len(seen) == 4 else net.dtype if hasattr(net, "dtype") else jnp.float32)
        with jax.numpy_dtype_promotion("standard"):  # flax promotes where it normalises
            return program(lambda key: (net.init(key, inputs), net.apply(net.init(key, inputs), inputs)))

    return call


# Reproductions.


def with_study(call):
    """A call with a study in an empty folder."""
    return in_folder(lambda path, **k: call(Study.create(path / "study", "x", True, 0, Report(quiet=True)), **k))


def measured_again(one, **keywords):
    """How often a match is played that is asked for twice, the second time with other settings."""
    with mock.patch.object(study, "match") as played:
        played.return_value.to_dict.return_value = {"ppg": 0.5}
        one.match("cell", lambda: (None, None), 2, 0)
        one.match("cell", lambda: (None, None), 2, 0, **keywords)
    return played.call_count


def examples_made(one, **keywords):
    """How examples are split."""
    with mock.patch.multiple(study, make_data=mock.DEFAULT, merge_data=mock.DEFAULT) as made:
        made["merge_data"].return_value = None, SimpleNamespace(_asdict=lambda: {"training": 1})
        one.examples("cell", TTT, "random", 2, 2, **keywords)
    call = made["merge_data"].call_args
    return call.args[3:], call.kwargs


def plan_begun(one, **keywords):
    """What a training is asked for."""
    with mock.patch.object(study, "recipe_named") as recipe:
        recipe.return_value.begin.return_value.run_to_end.return_value = {"ppg": 0.5}
        (one.path / "runs").mkdir()
        one.train("training", "td-gammon", "fast", **keywords)
    return recipe.return_value.begin.call_args.args[0]


SYSTEM = System("x", "A System", "A. Author, *A Title*, 2001", tuple(Part(x, x, lambda _: []) for x in "ab"))


def told_about(**keywords):
    """What a report says."""
    with contextlib.redirect_stderr(io.StringIO()) as errors:
        Report(**keywords).say("something")
    return errors.getvalue()


MAPS = {"select": "puct", "evaluate": NETWORK}
UCD = {"c": 0.1, "symmetries": True}
ROWS = {
    "algos.mcts.search.search": tried(
        searched,
        num_simulations=2,
        select="rave",
        evaluate="mast",
        max_depth=1,
        noise=beside(mcts.dirichlet(), **MAPS),
        temperature=1.0,
        num_trees=2,
        capacity=2,
        tree=True,
        memory=beside(True, evaluate="last_good_reply"),
        final="mean",
        numbers={"c": jnp.float32(0.1)},
        seconds=beside(0.1, num_simulations=800),
        discount=0.5,
    ),
    "algos.mcts.search.search_positions": tried(
        searched_positions,
        num_trees=2,
        memory=beside(True, evaluator=mcts.last_good_reply()),
        final="mean",
        numbers={"c": jnp.float32(0.1)},
        seconds=0.1,
        capacity=2,
        discount=0.5,
    ),
    "algos.mcts.evaluators.mast.mast": tried(
        lambda **k: searched(evaluate=mcts.mast(**k)), temperature=0.5, max_plies=3
    ),
    "algos.mcts.rules.ucd.uct1": tried(mcts.uct1, **UCD, update="all"),
    "algos.mcts.rules.ucd.uct2": tried(mcts.uct2, **UCD, update="all"),
    "algos.mcts.rules.ucd.uct3": tried(mcts.uct3, **UCD),
    "algos.minimax.alphabeta": tried(
        fixed_depth(minimax.alphabeta), key=KEY, evaluate=lambda positions: jnp.ones(len(positions.cells))
    ),
    "algos.minimax.minimax": tried(
        fixed_depth(minimax.minimax), key=KEY, evaluate=lambda positions: jnp.ones(len(positions.cells))
    ),
    "algos.alphazero.learner.AlphaZeroLearner": tried(
        lambda **k: on_devices(alphazero.AlphaZeroLearner(TTT, ALPHAZERO.make_network(TTT), ALPHAZERO, **k)._mean),
        axis="games",
    ),
    "algos.alphazero.learner.make_learner": tried(
        lambda **k: alphazero.make_learner(TTT, **k),
        config=ALPHAZERO,
        network=nets.PolicyValueNet(9, (3,)),
    ),
    "algos.alphazero.learner.load_network": tried(
        restored(lambda run, **k: alphazero.load_network(run, TTT, **k)), step=3
    ),
    "algos.imitation.learner.load_network": tried(
        restored(lambda run, **k: imitation.load_network(run, TTT, **k)), step=3
    ),
    "algos.td.methods.load_player_value": tried(restored(load_player_value), step=3),
    "algos.imitation.learner.make_learner": tried(
        lambda **k: imitation.make_learner(TTT, **k), config=imitation.ImitationConfig(SMALL_NET)
    ),
    "algos.imitation.data.prepare": held(
        **dict.fromkeys(("tests", "validation", "split", "seed"), "data_sets.makers.merge_data")
    ),
    "algos.self_play_backprop.SelfPlayBackprop.init": tried(
        lambda **k: program(lambda key: BACKPROP.init(key, **k)),
        settings=SELF_PLAY,
    ),
    "algos.self_play_backprop.SelfPlayBackprop.play": tried(
        lambda **k: program(
            lambda key: BACKPROP.play(BACKPROP.init(key).params, SELF_PLAY, jnp.int32(FIRST), key, **k)
        ),
        games=2,
    ),
    "algos.td.learner.Learner": held(axis="algos.td.learner.NStepTD"),
    "algos.td.learner.NStepTD": tried(td_learner("n_step"), axis="games"),
    "algos.td.learner.ExactTD": tried(td_learner("exact"), axis="games"),
    "algos.td.learner.MonteCarlo": tried(td_learner("monte_carlo"), axis="games"),
    "algos.td.expected.ExpectedTD": tried(td_learner("expected"), axis="games"),
    "algos.td.sequential.SequentialTD": tried(td_learner("sequential_td"), axis="games"),
    "algos.td.sequential.SequentialBackprop": tried(td_learner("sequential_backprop"), axis="games"),
    "algos.td.learner.Learner.init": tried(
        lambda **k: program(lambda key: td.make_learner(td_config("n_step")).init(key, **k)),
        params=jax.jit(td_config("n_step").network().init)(jax.random.key(1)),
    ),
    "algos.td.value.Outcomes": tried(
        lambda **k: (Outcomes(**k).target(jnp.asarray([2.0, -1.0])), Outcomes(**k).worths),
        points=(1, -1),
        cumulative=True,
    ),
    "algos.td.value.ValueNetwork": tried(valued, outcomes=Outcomes((1, 2, -1, -2)), symmetric=False, by_class=True),
    "algos.td.value.ValueNetwork.value": tried(
        lambda **k: program(lambda key: ASYMMETRIC.value(ASYMMETRIC.init(key), **k)(FIRST_POSITIONS)),
        player=1,
    ),
    "algos.td.td_lambda.lambda_returns": tried(
        lambda **k: lambda_returns(
            jnp.arange(6.0).reshape(3, 1, 2), jnp.ones((2, 1, 2)), jnp.zeros((2, 1), bool), 0.5, **k
        ),
        explored=jnp.asarray([[False], [True]]),
    ),
    "algos.td.methods.make_config": tried(lambda **k: td.make_config(**k), method="exact"),
    "algos.parallel.place": tried(lambda **k: parallel.place(td.make_learner(td_config("n_step")), **k), devices=2),
    "algos.td.config.TestedStepSizes": tried(
        lambda **k: ((one := TestedStepSizes(**k)).step_size, one.after_test(1.0)), index=1, recent=(2.0,)
    ),
    "nets.convolutions.convolution": tried(
        lambda **k: said(lambda: nets.convolution(jnp.ones((1, 3, 3, 1)), jnp.ones((2, 2, 1, 1)), **k)),
        strides=(2, 2),
        padding="VALID",
    ),
    "nets.mlp.MLP": tried(
        applied(nets.MLP, (2, 5)), sizes=(3, 2), activation="tanh", output="tanh", initializer="zeros", biases=False
    ),
    "nets.policy_value.PolicyValueNet": tried(
        applied(nets.PolicyValueNet, num_actions=3, hidden=(2,), window=2, channels=2),
        hidden=(3,),
        max_value=2.0,
        dtype="bfloat16",
        window=3,
        channels=3,
        convolutions=(3,),
        activation="tanh",
        output="identity",
        initializer="glorot_uniform",
    ),
    "nets.policy_value.ResidualTower": tried(
        applied(nets.ResidualTower, num_actions=3), blocks=1, channels=3, max_value=2.0, dtype="bfloat16"
    ),
    "nets.policy_value.Windows": tried(
        applied(nets.Windows, (2, 60), size=2, channels=3, shape=(5, 6, 2)), dtype="bfloat16"
    ),
    "recipes.recipe.Plan.setting_of": tried(
        lambda **k: said(lambda: Plan(minutes=1.0).setting_of("x", "checkers", {"fast": 0}, **k)), minutes=True
    ),
    "recipes.report.Report": tried(told_about, quiet=True),
    "recipes.reproduce.study.Study.match": tried(with_study(measured_again), settings={"depth": 2}),
    "recipes.reproduce.study.Study.examples": tried(with_study(examples_made), split="position", tests=(1, 2)),
    "recipes.reproduce.study.Study.train": tried(with_study(plan_begun), changes={"hidden": "2"}),
    "recipes.reproduce.report.System.chosen": tried(lambda **k: [part.key for part in SYSTEM.chosen(**k)], keys=("b",)),
    "recipes.reproduce.report.System.reproduce": tried(
        with_study(lambda one, **k: [part["key"] for part in SYSTEM.reproduce(one, **k)["parts"]]), keys=("b",)
    ),
}
