"""Pubeval against the scores and choices that others published."""

import functools
import gzip
import json

import jax
import jax.numpy as jnp
import numpy as np
import pytest

import jaxgames
from jaxgames import players
from jaxgames.envs.backgammon import Position, board
from jaxgames.envs.backgammon.board import dice_of_roll
from jaxgames.players.backgammon import pubeval
from jaxgames.players.backgammon.simple import contact

BATCH = 512
WEIGHTS = {name: np.array(w, np.float64) for name, w in pubeval.tesauro_weights()._asdict().items()}


def rows_of(path):
    with gzip.open(path, "rt") as file:
        return [json.loads(line) for line in file]


def boards(texts):
    """Checkers of the two sides, each [n, 25]."""
    counts = np.array([[int(digit, 16) for digit in text] for text in texts], np.int32)
    return counts[:, :25], counts[:, 25:]


def score_as_published(mover, opponent, race):
    """The published description read literally, one board at a time."""
    if mover.sum() == 0:
        return 99999999.0
    x = np.zeros(122)
    for j in range(1, 25):
        point = 25 - j
        n = mover[point - 1] or -opponent[25 - point - 1]
        first = 5 * (j - 1)
        x[first : first + 5] = [n == -1, n == 1, n >= 2, n == 3, (n - 3) / 2 if n >= 4 else 0]
    x[120], x[121] = opponent[24] / 2, (15 - mover.sum()) / 15
    return float(WEIGHTS["race" if race else "contact"] @ x)


@functools.cache
def compiled_turn():
    """The afterstates of pubeval's plays in `BATCH` positions, the mover's checkers first."""
    player = players.make("pubeval", jaxgames.make("backgammon"))

    @jax.jit
    def turn(params, mover, opponent, dice):
        position = Position(board.from_counts(mover), board.from_counts(opponent), dice_of_roll(dice[:, 0], dice[:, 1]))
        after = player.turn(params, position, jnp.zeros(len(dice), jnp.uint32)).position
        return board.to_counts(after.opponent), board.to_counts(after.own)

    return functools.partial(turn, player.params)


def chosen(rows):
    """The board after pubeval's play for each row with `pos` and `dice`."""
    fill = BATCH - len(rows)
    sides = [np.pad(side, ((0, fill), (0, 0))) for side in boards([row["pos"] for row in rows])]
    dice = np.sort(np.array([row["dice"] for row in rows] + [[2, 1]] * fill, np.uint32))[:, ::-1]
    return [np.asarray(side)[: len(rows)] for side in compiled_turn()(*sides, dice)]


def test_scores_of_5000_boards(data_dir):
    rows = rows_of(data_dir / "backgammon" / "gnubg_pubeval_evals.jsonl.gz")
    assert len(rows) == 5000
    own, opponent = (board.from_counts(side) for side in boards([row["pos"] for row in rows]))
    scores = jax.jit(pubeval.evaluate)(pubeval.tesauro_weights(), own, opponent)
    for name, score in zip(("pubeval_contact", "pubeval_race"), scores, strict=True):
        np.testing.assert_allclose(score, [row[name] for row in rows], rtol=0, atol=0.00006)  # data: four decimals
    race = ~np.asarray(contact(own, opponent))
    np.testing.assert_array_equal(race, [row["race"] for row in rows])


def test_the_best_of_all_plays(data_dir):
    """Contact before the move chooses the weights, a won game beats everything."""
    rows = rows_of(data_dir / "backgammon" / "legal_moves.jsonl.gz")
    movers, opponents = boards([row["pos"] for row in rows])
    last = [max((point for point in range(25) if side[point]), default=-1) + 1 for side in (*movers, *opponents)]
    race = np.add(last[: len(rows)], last[len(rows) :]) < 25
    order = np.argsort(~race, kind="stable")[:BATCH]  # all races, then others
    assert 100 < race.sum() < BATCH - 100
    for number, mover, opponent in zip(order, *chosen([rows[i] for i in order]), strict=True):
        results = boards(rows[number]["results"] or [rows[number]["pos"]])
        scores = [score_as_published(*result, race[number]) for result in zip(*results, strict=True)]
        score = score_as_published(mover, opponent, race[number])
        assert any((mover == m).all() and (opponent == o).all() for m, o in zip(*results, strict=True)), number
        assert score >= max(scores) - 1e-4, number


def test_equity_lost_against_gnu_backgammon(data_dir):
    """0.041 points a decision, measured with the original program."""
    rows = rows_of(data_dir / "backgammon" / "move_choice_gnubg2ply.jsonl.gz")
    losses = []
    for row, mover, opponent in zip(rows, *chosen(rows), strict=True):
        text = "".join(f"{n:x}" for n in (*mover, *opponent))
        equities = dict(row["cands"])
        losses.append(max(equities.values()) - equities[text])
    assert np.mean(losses) == pytest.approx(0.041, abs=0.005)  # theirs from twice as many decisions
