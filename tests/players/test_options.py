"""Every option of every player in `PLAYERS` makes another player and another program, or is refused."""

import functools
import re
from pathlib import Path

import jax
import jax.numpy as jnp
import pytest

import jaxgames
from jaxgames import players
from jaxgames.players import champions
from jaxgames.players.registry import FROM_FOLDER, PLAYERS

TTT = jaxgames.make("tic_tac_toe")
OTHER = {
    "c": "0.3", "k": "7", "alpha": "0.2", "c_init": "2", "c_base": "99", "considered": "3", "scale": "0", "keep": "1",
    "forget": "1", "path": "1", "update": "all", "d1": "2", "d2": "2", "d3": "3", "temperature": "0.3",
    "symmetries": "1", "rollouts": "0.5", "leaves": "exact", "final": "mean", "trees": "2", "ties": "first",
    "value": "exact",
}  # fmt: skip
"""Another value of each option than the usual one."""
BASES = {
    "minimax": "minimax:2",
    "alphabeta": "alphabeta:2",
    "puct": "puct:champion:3",
    "gumbel": "gumbel:champion:3",
    "recursive": "recursive:champion:3",
    "one-round": "one-round:champion:3",
}
"""Where it is not `NAME:3`."""
ARGUMENTS = {
    "simple": ("simple:1", "simple:2", "simple:3"), "tidy": ("tidy:1", "tidy:2", "tidy:3"),
    "champion": ("champion:easy", "champion:normal"), "weak": ("weak:0.2:random", "weak:0.3:random", "weak:0.2:uct:3"),
    "exact": ("exact:random", "exact:uct:3"), "minimax": ("minimax:2", "minimax:3", "minimax:champion:2"),
    "alphabeta": ("alphabeta:2", "alphabeta:3", "alphabeta:1s", "alphabeta:champion:2"),
    "puct": ("puct:champion:3", "puct:champion:4", "puct:champion:1s"),
    "gumbel": ("gumbel:champion:3", "gumbel:champion:4"),
    "recursive": ("recursive:champion:3", "recursive:champion:4"),
    "one-round": ("one-round:champion:3", "one-round:champion:4"),
}  # fmt: skip
"""Specs with other arguments."""
OF_RUNS = {
    "games": "tests/players/test_from_folder.py::test_a_snapshot_is_a_player",
    "keep": "tests/players/test_specs.py::TestRuns::test_plies",
    "within": "tests/players/test_specs.py::TestRuns::test_plies",
}
"""What `RUN` has, and the tests of its effects."""
SPECIAL = {("gumbel", "final"), ("bounded", "final")}
"""Kinds of search whose programs see to an option in a way of their own; else that of the first kind is enough."""

REFUSED = {
    ("checkers", "uct1:3,symmetries=1"): "checkers has no mirror images: leave out symmetries=1",
    ("backgammon", "ucd:3,symmetries=1"): "backgammon has no mirror images",
    ("connect_four", "alphabeta:3,value=pieces"): "connect_four takes no pieces",
    ("tic_tac_toe", "minimax:3,value=pieces"): "tic_tac_toe takes no pieces",
    ("tic_tac_toe", "weak:0.2:lgr:3,keep=1"): "lgr:3,keep=1 learns over a game",
    ("tic_tac_toe", "exact:lgr:3,keep=1"): "lgr:3,keep=1 learns over a game",
    ("backgammon", "champion@1,keep=3"): "keep and within leave turns out at 2 plies or more",
    ("connect_four", "champion@1,keep=3"): "keep and within leave turns out at 2 plies or more",
    ("backgammon", "champion@2,within=1"): "within needs keep",
    ("tic_tac_toe", "minimax:champion:2,value=exact"): "leave out value=exact",
    ("tic_tac_toe", "random,c=1"): "it has none",
}  # fmt: skip
"""What would have no effect: in a game, beside another option."""


def base_of(name: str) -> str:
    """A spec without options."""
    return BASES.get(name, f"{name}:3")


def cases() -> list[tuple[str, str]]:
    """All options of all players."""
    return [(name, option) for name, entry in PLAYERS.items() for option in entry.options]


@functools.cache
def program(spec: str) -> str:
    """What a player does in two positions."""
    player = players.make(spec, TTT)
    positions = jax.jit(jax.vmap(TTT.init_position))(jax.random.split(jax.random.key(0), 2))
    text = str(jax.make_jaxpr(lambda bits: player.play_once(positions, bits))(jnp.zeros(2, jnp.uint32)))
    return re.sub("0x[0-9a-f]+", "", text)


def equal(one: players.Player, other: players.Player) -> bool:
    """Whether two players are the same in all but the name."""
    leaves = [jax.tree.leaves(player.params) for player in (one, other)]
    if jax.tree.structure(one.params) != jax.tree.structure(other.params) or one.turn != other.turn:
        return False
    return all(a is b or bool(jnp.array_equal(a, b)) for a, b in zip(*leaves, strict=True))


def test_every_option_has_a_row():
    assert not {option for _, option in cases()} - OTHER.keys()
    assert FROM_FOLDER.options.keys() == OF_RUNS.keys()
    for file, *names in (node.split("::") for node in OF_RUNS.values()):
        text = (Path(__file__).parents[2] / file).read_text("utf-8")
        assert all(re.search(rf"^ *(def|class) {name}\b", text, re.MULTILINE) for name in names)
    assert (
        not {name for name, entry in PLAYERS.items() if entry.arguments}
        - ARGUMENTS.keys()
        - {name for name, entry in PLAYERS.items() if entry.arguments == ("BUDGET",)}
    )


def test_every_option_makes_another_player():
    for name, option in cases():
        one, other = (players.make(spec, TTT) for spec in (base_of(name), f"{base_of(name)},{option}={OTHER[option]}"))
        assert not equal(one, other), (name, option)


def test_every_option_makes_another_program():
    done = set()
    for name, option in cases():
        if option not in done or (name, option) in SPECIAL:
            done.add(option)
            assert program(base_of(name)) != program(f"{base_of(name)},{option}={OTHER[option]}"), (name, option)


@pytest.mark.parametrize("name", [name for name, entry in PLAYERS.items() if entry.arguments])
def test_every_argument_makes_another_player(name):
    specs = ARGUMENTS.get(name, (f"{name}:3", f"{name}:4", f"{name}:1s"))
    made = [players.make(spec, jaxgames.make((PLAYERS[name].games or ("tic_tac_toe",))[0])) for spec in specs]
    assert not [(a, b) for a, one in enumerate(made) for b, other in enumerate(made[:a]) if equal(one, other)]


@pytest.mark.parametrize("game", champions.champion_games())
def test_every_level_is_another_player(game):
    specs = [champions.spec(jaxgames.make(game), level) for level in champions.LEVELS]
    assert len(set(specs)) == len(specs)


@pytest.mark.parametrize(("game", "spec"), REFUSED)
def test_what_would_have_no_effect_is_refused(game, spec):
    with pytest.raises(ValueError) as error:
        players.make(spec, game)
    assert REFUSED[game, spec] in str(error.value) and "\n" not in str(error.value)
