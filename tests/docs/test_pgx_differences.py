"""Where pgx leaves the rules or defines things otherwise: every row of the table in docs/pgx.md, played in both."""

import re
import warnings
from pathlib import Path

import jax
import jax.numpy as jnp
import numpy as np
import pytest

import jaxgames
from jaxgames.envs.backgammon.board import to_plain
from tests.oracles import oracle

PAGE = Path(__file__).parents[2] / "docs" / "pgx.md"
ROWS = re.findall(
    r"^\| `(\w+)` \| `(.+?)` \| `(-?\d+)` \| (.+?) \| (.+?) \| (.+?) \|$", PAGE.read_text("utf-8"), re.MULTILINE
)
GAMES = ("tic_tac_toe", "connect_four", "backgammon")
UNOPTIMIZED = {"xla_backend_optimization_level": "0"}  # compiled quickly, as each program runs a few times
STEPS = {name: jax.jit(jaxgames.make(name).step, compiler_options=UNOPTIMIZED) for name in GAMES}
KEY = jax.random.key(0)


@pytest.fixture(scope="module")
def theirs():
    """pgx's games and their steps."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        pgx = oracle("pgx")
        envs = {name: pgx.make(name) for name in GAMES}
    return {name: (env, jax.jit(env.step, compiler_options=UNOPTIMIZED)) for name, env in envs.items()}


def set_up(env, step, name, state):
    """The same position in pgx, player 0 to act."""
    if name == "backgammon":
        from pgx import backgammon

        mover, opponent, dice = to_plain(state._position)
        points = np.array(mover[:24])[::-1] - np.array(opponent[:24])
        board = jnp.asarray([*points, mover[24], -opponent[24], 15 - sum(mover), sum(opponent) - 15], jnp.int32)
        dice = jnp.array(dice, jnp.int32) - 1
        playable = backgammon._set_playable_dice(dice)
        return jax.jit(env.init)(KEY).replace(
            current_player=jnp.int32(0),
            _board=board,
            _dice=dice,
            _playable_dice=playable,
            legal_action_mask=jax.jit(backgammon._legal_action_mask)(board, playable),
        )
    text = jaxgames.make(name).to_string(state)
    if name == "tic_tac_toe":
        cells = text.replace("/", "")
        crosses, noughts = ([i for i, cell in enumerate(cells) if cell == mark] for mark in "XO")
        moves = [cell for pair in zip(crosses, [*noughts, None], strict=False) for cell in pair if cell is not None]
    else:
        moves = [int(column) - 1 for column in text]
    after = env.init(KEY).replace(current_player=jnp.int32(len(moves) % 2))
    for move in moves:
        after = step(after, move, KEY)
    return after


def what_happens(before, after):
    """What an action did to the player who took it, in the words of the table."""
    assert before.current_player == 0
    points = int(after.rewards[0])
    if not after.terminated:
        return "legal"
    if points > 0:
        return f"wins {points}"
    stays = after.current_player == 0 and (after.observation == before.observation).all()
    return f"illegal, {points}, board {'stays' if stays else 'changes'}"


@pytest.mark.parametrize("row", ROWS, ids=lambda row: " ".join(row[:3]))
def test_row(theirs, row):
    name, text, action, in_pgx, here, _ = row
    game, action = jaxgames.make(name), int(action)
    state = game.from_string(text)
    assert game.to_string(state) == text
    assert what_happens(state, STEPS[name](state, action, KEY)) == here
    with warnings.catch_warnings(), jax.numpy_dtype_promotion("standard"), jax.numpy_rank_promotion("allow"):
        warnings.simplefilter("ignore")
        env, step = theirs[name]
        before = set_up(env, step, name, state)
        before = before.replace(observation=jax.jit(env.observe)(before))
        assert (before.observation == state.observation).all()
        assert what_happens(before, step(before, action, KEY)) == in_pgx
    assert in_pgx != here


def test_the_table_is_there():
    lines = PAGE.read_text("utf-8").split("## Where they differ")[1].split("\n## ")[0].splitlines()
    assert len(ROWS) == sum(line.startswith("| `") for line in lines) == 9


def test_six_names_for_the_pass(theirs):
    """All of them are legal in pgx where only action 0 is here: the fourth row."""
    game = jaxgames.make("backgammon")
    state = game.from_string(ROWS[3][1])
    ended = [bool(STEPS["backgammon"](state, action, KEY).terminated) for action in range(6)]
    assert ended == [False] + [True] * 5
    env, step = theirs["backgammon"]
    with warnings.catch_warnings(), jax.numpy_dtype_promotion("standard"), jax.numpy_rank_promotion("allow"):
        warnings.simplefilter("ignore")
        before = set_up(env, step, "backgammon", state)
        assert np.flatnonzero(before.legal_action_mask).tolist() == list(range(6))
