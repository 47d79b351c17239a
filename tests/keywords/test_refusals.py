"""What would have no effect beside the rest of a call is refused in one line.

Of settings that others switch off, options of players and of verbs the tables are in `tests/settings`, `tests/players`
and `tests/cli`.
"""

import jax
import numpy as np
import pytest

import jaxgames
from jaxgames.algos import alphazero, imitation, mcts, td
from jaxgames.algos.evolution.saved import NetworkConfig
from jaxgames.algos.evolution.strategies.evosax import UNREAD, Evosax, config_named, number_types, strategies
from jaxgames.algos.td.sequential import SequentialTD
from jaxgames.matches import tournament
from jaxgames.nets import NetworkSpec, PolicyValueNet
from jaxgames.recipes import Plan
from jaxgames.recipes import imitation as imitation_recipe
from jaxgames.sessions import GameRecord, Session
from tests.settings.traces import Program

CHECKERS = jaxgames.make("checkers")
KEY = jax.random.key(0)
SHAPES = jax.eval_shape(lambda: jax.vmap(CHECKERS.init)(jax.random.split(KEY, 2)))
STATES = jax.tree.map(lambda leaf: np.zeros(leaf.shape, leaf.dtype), SHAPES)
NO_LAYERS = "^activation=tanh has no effect without hidden layers: leave it out$"
REFUSED = {
    "activation without hidden layers": (lambda: NetworkSpec().replace(hidden=(), activation="tanh"), NO_LAYERS),
    "the same of plain convolutions": (
        lambda: NetworkSpec(form="conv", hidden=(), convolutions=()).replace(activation="tanh"), NO_LAYERS,
    ),
    "the same of TD": (lambda: td.make_config(hidden=()).change({"activation": "tanh"}), NO_LAYERS),
    "the same of evolution": (
        lambda: NetworkConfig("tic_tac_toe").change({"hidden": "", "activation": "tanh"}), NO_LAYERS,
    ),
    "mirror images of a graph": (
        lambda: searched(select=mcts.ucd(symmetries=True)),
        "^UCD with symmetries: checkers has no mirror images; leave symmetries out$",
    ),
    "mirror images of what is learned": (
        lambda: Plan(changes={"symmetries": "true"}).check_symmetries(CHECKERS),
        "^symmetries=true has no effect: checkers has no mirror images; leave it out$",
    ),
    "simulations of a search for a time": (
        lambda: searched(num_simulations=50, seconds=1.0),
        "^num_simulations=50: seconds says how many there are; leave one of them out$",
    ),
    "records that nobody is given": (
        lambda: tournament(["random", "weak:0.5:random"], game=CHECKERS, record=True),
        "^record=True needs finished, which gets the records: pass it, or leave record out$",
    ),
    "numbers of evosax that nothing reads": (
        lambda: Evosax("MA_ES", 4, 3, {"c_c": 0.5}), "^evosax's MA_ES reads no number 'c_c'; available: sigma, ",
    ),
    "the same as settings": (
        lambda: config_named("MA_ES")(NetworkConfig("tic_tac_toe")).change({"c_c": "0.5"}),
        "^unknown setting 'c_c' of ",
    ),
    "devices of games that are played one after the other": (
        lambda: SequentialTD(td.make_config("sequential_td"), "games"),
        "^axis='games': games one after the other are not split over devices; leave it out$",
    ),
    "features without windows": (
        lambda: PolicyValueNet(7, channels=3).init(KEY, np.zeros((1, 6, 7, 2), np.float32)),
        "^window=0 with channels=3; expected both above 0, or both 0 for no windows",
    ),
    "dice that nothing waits for": (
        lambda: Session.replay(GameRecord("tic_tac_toe", ".../.../..."), chance="31"),
        "^chance '31': no turn after the record begins with one; leave it out$",
    ),
}  # fmt: skip


def searched(**keywords):
    """A search in a game without mirror images."""
    return mcts.search(CHECKERS, STATES, KEY, **keywords)


@pytest.mark.parametrize("what", REFUSED)
def test_what_would_have_no_effect_is_refused(what):
    call, line = REFUSED[what]
    with pytest.raises(ValueError, match=line) as caught:
        call()
    assert "\n" not in str(caught.value)


def test_what_a_run_says_is_read_nevertheless():
    """A configuration that was written with it: nobody says it anew."""
    for kind in (NetworkSpec, imitation.ImitationConfig, alphazero.AlphaZeroConfig):
        found = kind().replace(hidden=()).to_json()
        found |= {"activation": "tanh"} if "activation" in found else {}
        assert kind.from_json(found).values()["hidden"] == ()


@pytest.mark.parametrize("recipe", ["imitation", "connect-four-alphazero"])
def test_recipes_ask_for_symmetries(recipe, monkeypatch):
    """Before anything else of the game."""
    asked = []
    monkeypatch.setattr(Plan, "check_symmetries", lambda plan, game: asked.append(game) or 1 / 0)
    monkeypatch.setattr(imitation_recipe.ImitationRecipe, "_data", lambda recipe, plan: (CHECKERS, None))
    with pytest.raises(ZeroDivisionError):
        jaxgames.recipes.recipe_named(recipe).check(Plan(data="x" if recipe == "imitation" else None))


def program(name, numbers):
    """The first three generations of a strategy."""
    made, scores = Evosax(name, 8, 6), jax.numpy.arange(8, dtype="float32")
    object.__setattr__(made, "params", made.params.replace(**numbers))

    def run(key):
        first = made.init(key)
        second = made.tell(first, scores)
        return {"all": (first, second, made.tell(second, scores))}

    return Program(run, KEY).of()


@pytest.mark.parametrize("name", UNREAD)
def test_evosax_does_not_read_them(name):
    usual = Evosax(name, 8, 6).params
    unread = {number: getattr(usual, number) + 1 for number in UNREAD[name]}
    assert program(name, unread) == program(name, {})


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore::DeprecationWarning")  # of optax, by evosax
@pytest.mark.parametrize("name", sorted(strategies()))
def test_evosax_reads_all_others(name):
    usual = Evosax(name, 8, 6).params
    for number in number_types(name).keys() - {"sigma", "step_size"}:
        value = getattr(usual, number)
        other = not value if isinstance(value, bool) else 3 if isinstance(value, int) else 0.37
        assert program(name, {number: other}) != program(name, {}), number
