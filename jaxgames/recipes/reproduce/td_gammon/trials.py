"""Sections 4.3, 5.2.2 and 5.3: trials of step sizes, the best programs of the time, people against the network.

And what its testers complained of, measured: bear-off errors, and backgammons that are not saved.
"""

import functools
from collections.abc import Mapping
from typing import Any

import jax
import jax.numpy as jnp
from jax import lax

from jaxgames.envs.backgammon import board
from jaxgames.envs.backgammon.best import best_plays
from jaxgames.envs.backgammon.play_lists import after
from jaxgames.ops.pytrees import select
from jaxgames.players import Player, make
from jaxgames.players.backgammon.simple import checkers_off, contact
from jaxgames.recipes.reproduce.rows import Row, points_row, share_row
from jaxgames.recipes.reproduce.study import Study
from jaxgames.recipes.reproduce.td_gammon.tables import OURS, games_of, meet_ours, train_ours
from jaxgames.recipes.reproduce.td_gammon.trained import BATCH, LEARNER, LEFT_OUT, PUBLISHED, RECIPES, meet, player
from jaxgames.recipes.td import TD_GAMMON

STEP_SIZE: Mapping[str, str] = {"td": "step_size", "backprop": "step_size", "mutation": "factor"}
"""What the step size of a method is called."""
GAMES, MATCH = 50_000, 2_000
"""Of each training, which the text does not say, and of the match after it."""


def step_sizes(study: Study) -> list[Row]:
    """Section 4.3: each method with several step sizes, which stay as they are."""
    if study.quick:
        return [Row("a lower step size: gain", None, unit="PPG", why=LEFT_OUT)]
    rows: list[Row] = []
    for method, name in STEP_SIZE.items():
        recipe, setting, _ = RECIPES[method]
        met = []
        for size in PUBLISHED["4.3"]["step sizes tried"]:
            training, changes = f"{method}, step size {size}", {"schedule": "constant", name: str(size)}
            study.train(training, recipe, setting, changes, games=GAMES, measured_games=200, final_games=MATCH)
            matches = study.result_of(f"training {training}")["matches"]
            met.append(next(match for match in matches if match["b"] == "pubeval"))
            rows.append(points_row(f"{training}, {GAMES:,} games, against pubeval", met[-1], learner=LEARNER))
        high = met[-1]
        margin = high["ppg"] - high["ppg_low"], high["ppg_high"] - high["ppg"]
        gain = points_row("", met[0], high["ppg"], published_margin=margin).difference
        rows.append(
            Row(
                f"{method}: gain by the lowest step size over the highest", None, *gain, "PPG",
                learner=LEARNER, digits=3, claim="above", text="a lower one plays better",
            )
        )  # fmt: skip
    return rows


PROGRAM, PROGRAM_GAMES = "gnubg:0", 2_000


def programs(study: Study) -> list[Row]:
    """Section 5.2.2: what the best programs make of pubeval; here the only one that is installed."""
    theirs = PUBLISHED["5.2.2 best programs, about PPG against pubeval"]
    if study.quick:
        return [Row(f"{PROGRAM} against pubeval", theirs, unit="PPG", why=LEFT_OUT)]
    game = TD_GAMMON.settings[LEARNER].network().game
    cell, seed = f"{PROGRAM} against pubeval", study.seed + 1
    result = study.match(cell, lambda: (PROGRAM, "pubeval"), PROGRAM_GAMES, seed, batch=BATCH, game=game)
    row = points_row(f"{cell}, {PROGRAM_GAMES:,} games", result, theirs, best="high")
    return [row._replace(published_margin=0.005, seconds=result["seconds"])]


def people(study: Study) -> list[Row]:
    """Section 5.3: games of people against the best network of TD."""
    told = PUBLISHED["5.3 people, games and PPG against td"]
    rows = [Row(f"{who}, {games} games", ppg, unit="PPG", digits=3) for who, (games, ppg) in told.items()]
    low, high = PUBLISHED["5.3 good players in the long run, PPG"]
    return [*rows, Row("good players in the long run", (low + high) / 2, unit="PPG", text=f"{low:g} to {high:g}")]


AT_ONCE, PLIES = 256, 400
"""Games of bear-off turns, and plies of each."""


@functools.partial(jax.jit, static_argnames=("plies",))
def bear_off(a: Player, key: Any, plies: int) -> tuple[Any, Any]:
    """Turns of a player with all checkers home and no contact, in self-play, and those that took fewer checkers off
    than the most that the roll allows.
    """
    rules = a.game
    positions = jax.vmap(rules.init_position)(jax.random.split(key, AT_ONCE))

    def ply(carry: Any, key: Any) -> Any:
        positions, turns, errors = carry
        bits = jax.random.bits(key, (3, AT_ONCE), jnp.uint32)
        own, opponent = positions.own, positions.opponent
        home = ((board.occupied(own) >> jnp.uint32(7)) == 0) & ~contact(own, opponent)

        def score(game: Any, code: Any, moves: int) -> Any:
            return checkers_off(after(positions, game, code, moves)[0]).astype(jnp.float32)

        most = best_plays(positions, score).score.astype(jnp.int32)
        outcome = a.turn(a.params, positions, bits[0])
        fewer = checkers_off(outcome.position.opponent) < most
        turns += jnp.sum(home, dtype=jnp.int32)
        errors += jnp.sum(home & fewer, dtype=jnp.int32)
        rolled = jax.vmap(rules.chance)(outcome.position, rules.draw_outcome(bits[1]))
        fresh = jax.vmap(rules.init_position)(jax.random.split(jax.random.fold_in(key, 1), AT_ONCE))
        return (select(outcome.over, fresh, rolled), turns, errors), None

    start = positions, jnp.int32(0), jnp.int32(0)
    return lax.scan(ply, start, jax.random.split(jax.random.fold_in(key, 1), plies))[0][1:]


def _bear_off_of(study: Study, name: str) -> Mapping[str, int]:
    """The turns of a player by name, and its errors among them."""
    plies = study.amount(PLIES, 100)

    def measure() -> Mapping[str, int]:
        game = player(study, "pubeval").game
        one = make(str(train_ours(study, name)), game) if name in OURS else player(study, name)
        turns, errors = bear_off(one, jax.random.key(study.seed), plies)
        return {"turns": int(turns), "errors": int(errors)}

    return study.cell(f"bear-off of {name}", {"plies": plies}, measure)


def complaints(study: Study) -> list[Row]:
    """Bear-off turns that leave a checker on the board, and backgammons among lost games."""
    ours: tuple[str, ...] = study.amount(OURS, ())
    outputs = {"pubeval": "a linear player", "six": "six outputs"}
    rows = []
    for name in ("td", "pubeval", *ours):
        cell = _bear_off_of(study, name)
        what = f"{name}, {outputs.get(name, FOUR)}: bear-off turns that take off fewer checkers than they could"
        learner = {"td": LEARNER, "pubeval": ""}.get(name, name)
        rows.append(share_row(what, cell["errors"], cell["turns"], learner=learner, digits=2))
    matches = {"td": meet(study, "td", "pubeval", games_of(study))}
    matches |= {name: meet_ours(study, name, "pubeval") for name in ours}
    for name, result in matches.items():
        gammons, backgammons = (
            round(result[kind] * result["games"]) for kind in ("gammon_loss_rate", "backgammon_loss_rate")
        )
        what = f"{name}, {outputs.get(name, FOUR)}: backgammons among the gammons lost to pubeval"
        learner = LEARNER if name == "td" else name
        rows.append(share_row(what, backgammons, gammons, learner=learner, digits=2))
    return rows


FOUR = "four outputs"
