"""Keywords of `jaxgames`, `jaxgames.envs` and the games: playing, counting, drawing."""

import functools
import tempfile
from pathlib import Path
from unittest import mock

import jax
import jax.numpy as jnp
import numpy as np

import jaxgames
from jaxgames.envs import as_game, backgammon, count_positions, divide, perft, svg
from jaxgames.envs.encodings import Cells, Marks
from jaxgames.envs.heads import ArgmaxHead
from jaxgames.envs.testing import conformance
from jaxgames.envs.turns import expand
from tests.keywords.rows import Heard, held, said, tried
from tests.players.dash import GAME as DASH
from tests.settings.traces import Program

GAMES = {name: jaxgames.make(name) for name in ("tic_tac_toe", "connect_four", "checkers", "backgammon")}
TTT, C4, CHECKERS, BACKGAMMON = GAMES.values()
KEY = jax.random.key(0)
START = jax.device_get(jax.jit(lambda key: {name: game.init_position(key) for name, game in GAMES.items()})(KEY))
STATE = TTT.state(START["tic_tac_toe"])
LATE = TTT.from_string("XOX/OX./OXO")
ALL_LATE = jax.tree.map(lambda x: np.asarray(x)[None, None], LATE._position)
STATES = jax.tree.map(lambda x: jnp.asarray(np.stack([x, x])), STATE)
MEN = [0, 0, 0, 0, 0, 5, 0, 3, 0, 0, 0, 0, 5, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 2, 0]


def written(save):
    """What a call writes into a file, as a function of its keywords."""

    def call(**keywords):
        with tempfile.TemporaryDirectory() as folder:
            save(Path(folder) / "file", **keywords)
            return (Path(folder) / "file").read_bytes()

    return call


def first_player(key, states):
    """A policy: the first action."""
    return jnp.zeros(len(states.terminated), jnp.int32)


def rewards_only(transition):
    """What is kept of a step."""
    return transition.rewards


def rolled_out(**keywords):
    """The program of a roll-out."""
    return Program(lambda key: {"all": jaxgames.rollout(TTT, STATES, key, 2, **keywords)}, KEY)


def conformance_begun(**keywords):
    """What the check plays, as it is begun."""
    left_out = {f"_check_{name}": mock.DEFAULT for name in ("types", "start", "symmetries")}
    begun = mock.Mock(side_effect=StopIteration)
    shapes = mock.Mock(side_effect=lambda function: functools.partial(jax.eval_shape, function))
    with mock.patch.multiple(conformance, _check_play=begun, _jit=shapes, **left_out):
        try:
            jaxgames.check_game(DASH, **keywords)
        except StopIteration:
            _, states, key, _, most = begun.call_args.args  # less the seed, which is only said in errors
            return states, key, most


def auto_reset_step(**keywords):
    """The program of a step with resets."""
    step = jaxgames.auto_reset(TTT.step, TTT.init, **keywords)
    return Program(lambda key: {"all": step(STATE, jnp.int32(0), key)}, KEY)


def listed(**keywords):
    """The program that lists plays."""
    two = jax.tree.map(lambda x: jnp.stack([x, x]), START["backgammon"])
    return Program(lambda positions: {"all": backgammon.plays(positions, **keywords)}, two)


def seen(encoding):
    """The program that reads positions, by an encoding with some keywords."""
    return lambda **keywords: Program(lambda one: {"all": encoding(TTT, **keywords)(one)}, STATES._position)


def drawn(name):
    """A game's board."""
    return lambda **keywords: GAMES[name].draw_board(START[name], "light", **keywords)


def played(game):
    """A first move."""
    return game.step(game.init(KEY), jnp.int32(0))


def counted(count):
    """A count to a depth of 2, with the sizes of the batches that were expanded."""

    def call(game=TTT, **keywords):
        with mock.patch.object(expand, "_programs", wraps=expand._programs) as programs:
            found = count(game, 2, **keywords)
        sizes = {call.args[1] for call in programs.call_args_list}
        assert len(sizes) == 1  # everywhere the same
        return found, sizes

    return call


PICTURE = svg.Picture(10, 10, [])
LIGHT = svg.THEMES["light"]
ROWS = {
    "envs.core.Game.draw_board": held(player="envs.tic_tac_toe.game.TicTacToe.draw_board"),
    "envs.core.Game.state": tried(lambda **k: TTT.state(START["tic_tac_toe"], **k).current_player, current_player=1),
    "envs.core.Game.step": tried(
        lambda **k: said(lambda: Program(lambda: {"all": DASH.step(DASH.init(KEY), jnp.int32(0), **k)})), key=KEY
    ),
    "envs.core.Game.observe": tried(lambda **k: TTT.observe(LATE, **k), player_id=jnp.int32(1)),
    "envs.core.Game.from_string": tried(lambda **k: TTT.from_string(".../.../...", **k), current_player=1),
    "envs.core.Game.to_svg": tried(lambda **k: TTT.to_svg(STATE, **k), theme="dark"),
    "envs.state.State.to_svg": tried(STATE.to_svg, theme="dark"),
    "envs.state.State.save_svg": tried(written(STATE.save_svg), theme="dark"),
    "envs.rollout.auto_reset": tried(auto_reset_step, with_final=True),
    "envs.testing.conformance.check_game": tried(conformance_begun, num_games=5, seed=1, max_actions=7),
    "envs.rollout.rollout": tried(rolled_out, policy=first_player, auto_reset=True, games_at_once=1, keep=rewards_only),
    "envs.svg.save_svg_animation": tried(
        written(lambda file, **k: jaxgames.save_svg_animation([STATE, LATE], file, **k)),
        theme="dark",
        frame_duration_seconds=1.0,
    ),
    "envs.heads.ActionHead.__call__": held(strict="envs.heads.ArgmaxHead.__call__"),
    "envs.heads.ArgmaxHead.__call__": tried(
        lambda **k: Program(lambda outputs: {"all": ArgmaxHead(TTT)(outputs, ALL_LATE, **k)}, jnp.zeros((1, 9, 1))),
        strict=True,
    ),
    "envs.encodings.Cells": tried(seen(Cells), empty=0.5, side=True),
    "envs.encodings.Marks": tried(seen(Marks), second=0.5, planes=True),
    "envs.registry.as_game": tried(lambda **k: said(lambda: as_game(3, **k)), name="board"),
    "envs.testing.perft.count_positions": tried(counted(count_positions), state=LATE, size=64),
    "envs.testing.perft.divide": tried(
        counted(divide),
        {"distinct": "tests/envs/testing/test_perft.py::test_conventions_of_checkers"},
        state=LATE,
        report=Heard(),
        size=64,
    ),
    "envs.testing.perft.perft": tried(
        counted(perft),
        {"distinct": "tests/envs/testing/test_perft.py::test_conventions_of_checkers"},
        state=LATE,
        report=Heard(),
        size=64,
    ),
    **{
        f"envs.{name}.game.{type(game).__name__}.draw_board": tried(drawn(name), player=1)
        for name, game in GAMES.items()
    },
    "envs.backgammon.game.make_position": tried(
        lambda **k: backgammon.make_position(MEN, MEN, [1, 2], **k).current_player, current_player=1
    ),
    "envs.backgammon.play_lists.plays": tried(listed, capacity=4096, wanted=jnp.asarray([True, False])),
    "envs.checkers.game.Checkers": tried(
        lambda **k: Program(lambda key: {"all": played(jaxgames.make("checkers", **k))}, KEY),
        draw_after=50,
        max_moves=9,
    ),
    "envs.connect_four.game.ConnectFour": tried(
        lambda **k: Program(lambda key: {"all": played(jaxgames.make("connect_four", **k))}, KEY),
        rows=5,
        cols=6,
        connect=3,
    ),
    "envs.svg.animation_svg": tried(lambda **k: svg.animation_svg([svg.document(PICTURE)], 1.0, **k), theme="dark"),
    "envs.svg.document": tried(lambda **k: svg.document(PICTURE, **k), theme="dark", size=30),
    "envs.svg.grid_svg": tried(lambda **k: svg.grid_svg([PICTURE] * 3, **k), columns=3, theme="dark", size=90, gap=3),
    "envs.svg.status_line": tried(lambda **k: list(svg.status_line(0, 9, 5, LIGHT, "to move", **k)), side=1, note="23"),
    "envs.svg.text": tried(lambda **k: svg.text(0, 0, "x", 9, "red", **k), anchor="end"),
}
