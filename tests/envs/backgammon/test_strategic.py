"""The strategic numbers against plain Python, on boards from play and on boards that no game need ever see."""

import dataclasses

import jax
import jax.numpy as jnp
import numpy as np
import pytest

from jaxgames.algos.td import make_config
from jaxgames.envs.backgammon import strategic
from jaxgames.envs.backgammon.best import score_by
from jaxgames.envs.backgammon.encoding import Strategic, score_first_layer
from jaxgames.envs.backgammon.play_lists import pairs
from jaxgames.ops.pytrees import equal, take
from tests.envs.backgammon import reference_strategic as reference
from tests.envs.backgammon.boards import gnubg_rows, positions, random_boards
from tests.envs.backgammon.test_best import tail

NUMBER = 400
NAMES = [*strategic.SIDE, *(f"other's {name}" for name in strategic.SIDE), *strategic.BOTH]


@pytest.fixture(scope="module")
def boards(data_dir):
    return np.concatenate([gnubg_rows(data_dir)[0][:NUMBER], random_boards(np.random.default_rng(3), NUMBER)])


@pytest.fixture(scope="module")
def found(boards):
    waiting = positions(boards, [()] * len(boards))
    return jax.tree.map(np.asarray, jax.jit(lambda p: (strategic.features(p), strategic.position_class(p)))(waiting))


def test_numbers_are_those_of_plain_python(boards, found):
    wanted = np.array([list(reference.numbers(*both)) for both in boards])
    assert found[0].shape == wanted.shape == (len(boards), len(NAMES))
    wrong = np.abs(found[0] - wanted).max(axis=0) > 1e-5
    assert not wrong.any(), [name for name, one in zip(NAMES, wrong, strict=True) if one]
    idle = wanted.std(axis=0) == 0
    assert not idle.any(), [name for name, one in zip(NAMES, idle, strict=True) if one]  # else nothing is tested


def test_classes_are_those_of_plain_python(boards, found):
    wanted = [reference.kind(*both) for both in boards]
    assert np.bincount(wanted, minlength=3).min() > 20
    np.testing.assert_array_equal(found[1], wanted)


def test_rolls_that_escape():
    table = strategic.escapes()
    assert table[0] == 36  # nothing closed
    assert table[0b111111_000000] == 0  # a full prime right ahead: no first die can be played
    assert table[0b000000_000001] == 35  # only the place 12 ahead is closed: not 6-6
    assert table[0b100000_000000] == 35  # one ahead: 1-1 goes over it, other rolls go over the other die
    assert table[0b000100_000000] == 36 - 3 - 1  # four ahead: not 3-1 and 2-2; 4-4 cannot begin


def test_a_play_updates_the_value_as_if_it_were_counted_anew(boards):
    """The sums of Tesauro's inputs change play by play; the strategic numbers are those after the play."""
    encoding = Strategic()
    rng = np.random.default_rng(0)
    kernel, bias = (rng.normal(0, 0.3, shape).astype(np.float32) for shape in ((encoding.size, 8), (8,)))
    some = positions(boards[:32], [(6, 3)] * 32)

    @jax.jit
    def scores(some, kernel):
        value = encoding.value(kernel, jnp.asarray(bias), tail)
        listed = pairs(some, jnp.ones(32, bool), 1024)
        rest = listed.game, listed.code, 2
        dense = score_by(some, lambda after: tail(encoding(after) @ kernel + bias[None]))
        return score_first_layer(some, value)(*rest), dense(*rest), listed.first[-1]

    fast, dense, number = scores(some, kernel)
    assert 100 < number < 1024
    np.testing.assert_allclose(fast[:number], dense[:number], atol=1e-4)
    without, _, _ = scores(some, np.where(np.arange(len(kernel))[:, None] < 198, kernel, 0))
    assert np.abs(fast[:number] - without[:number]).max() > 0.1


@pytest.fixture(scope="module")
def by_class():
    """A network for each class, and their weights."""
    made = make_config(encoding="strategic", hidden=(6,), outputs=6, output="softmax", by_class=True).network()
    keys = jax.random.split(jax.random.key(0), strategic.CLASSES)
    return made, jax.vmap(dataclasses.replace(made, by_class=False).init)(keys)


def test_each_class_has_its_network(boards, found, by_class):
    """Position by position the network of its class, play by play and counted anew; with outputs in their order."""
    made, params = by_class
    waiting, everyone = positions(boards, [()] * len(boards)), jnp.zeros(len(boards), jnp.int32)
    wanted = np.zeros(len(boards))
    apply = jax.jit(lambda own: made.network.apply(own, made.encoding(waiting)))
    for number in range(strategic.CLASSES):
        outputs = np.asarray(apply(jax.tree.map(lambda x, n=number: x[n], params)))
        wanted = np.where(found[1] == number, outputs @ [1, -1, 2, -2, 3, -3], wanted)
    chances, worth = jax.jit(lambda p: (made.predict(p, waiting, everyone), made.value(p)(waiting)))(params)
    chances = np.asarray(chances)
    np.testing.assert_allclose(chances @ [1, -1, 2, -2, 3, -3], wanted, atol=1e-5)
    np.testing.assert_allclose(chances.sum(axis=1), 1, atol=1e-5)
    np.testing.assert_allclose(worth, wanted, atol=1e-4)
    some = positions(boards[::10], [(6, 3)] * len(boards[::10]))

    @jax.jit
    def scores(params, some):
        listed = pairs(some, jnp.ones(len(boards[::10]), bool), 2048)
        rest = listed.game, listed.code, 2
        after = score_by(some, lambda p: made.outcomes.expected(made.predict(params, p, jnp.zeros(2048, jnp.int32))))
        return score_first_layer(some, made.value(params))(*rest), after(*rest), listed.first[-1]

    fast, dense, number = scores(params, some)
    np.testing.assert_allclose(fast[:number], dense[:number], atol=1e-4)


def test_best_turns_are_the_same_in_any_order(boards, found, by_class):
    """A batch is put in order by class, and its turns come back in the order of the batch."""
    made, params = by_class
    kinds = found[1][::10]
    assert (np.diff(kinds) < 0).any() and len(set(kinds)) == strategic.CLASSES
    rolls = [(6, 3), (2, 2, 2, 2), (5, 4)]
    some = positions(boards[::10], [rolls[number % 3] for number in range(len(kinds))])
    best = jax.jit(lambda params, some: made.game.best_turn(some, made.value(params)))
    order = np.argsort(kinds, kind="stable")
    (outcome, worth), (in_order, its_worth) = (best(params, one) for one in (some, take(some, order)))
    np.testing.assert_allclose(worth[order], its_worth, atol=1e-5)
    same = equal(take(outcome.position, order), in_order.position)
    assert np.asarray(same).mean() > 0.95  # turns that are worth the same but for rounding may differ
