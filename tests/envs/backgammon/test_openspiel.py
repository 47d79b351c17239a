"""Every legal turn of games played by OpenSpiel's rules, against ours.

OpenSpiel moves two checkers in one action, plays a double in two such turns, and of two orders of the same moves keeps
one.
"""

import re
import warnings
from typing import NamedTuple

import numpy as np
import pytest

from tests.envs.backgammon import reference
from tests.envs.backgammon.boards import all_plays, as_bytes, masks, play_actions
from tests.oracles import oracle

BAR = 100
POINTS = [[24 - point for point in range(1, 25)] + [BAR], [*range(24), BAR]]  # of players 0 and 1, by their own numbers


class Decision(NamedTuple):
    """One choice in OpenSpiel: the board of the player to move, the dice, and everything that can be done."""

    board: np.ndarray
    dice: tuple[int, ...]
    moves: list[list[tuple[int, int]]]  # of each action: (source, die), up to two
    results: list[bytes]  # of each action
    returns: list[float]  # of each action: points for the player to move if it ends the game, else 0
    whole: set[bytes] | None  # of the first half of a double: all results of both halves


@pytest.fixture(scope="module")
def openspiel():
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # whatever an extension module says when it is imported
        pyspiel = oracle("pyspiel")
        return pyspiel.load_game("backgammon(hyper_backgammon=false,scoring_type=full_scoring)")


def roll_of(state, outcome: int) -> tuple[int, int]:
    """The dice that `chance outcome 17 (roll: 41)` names."""
    first, second = re.search(r"roll: ([1-6])([1-6])", state.action_to_string(outcome)).groups()
    return int(first), int(second)


def board_of(state, player: int) -> np.ndarray:
    return np.array([[state.board(side, place) for place in POINTS[side]] for side in (player, 1 - player)], np.int32)


def moves_of(state, player: int, action: int) -> list[tuple[int, int]]:
    moves = [(move.pos, move.num) for move in state.spiel_move_to_checker_moves(player, action)]
    return [(POINTS[player].index(place) + 1, die) for place, die in moves if place >= 0]


def decision(state, dice: tuple[int, ...], whole: bool) -> Decision:
    player, actions = state.current_player(), state.legal_actions()
    children = [state.child(action) for action in actions]
    boards = [board_of(child, player) for child in children]
    halves = whole and dice[0] == dice[1] and len(dice) == 4
    return Decision(
        board_of(state, player),
        dice,
        [moves_of(state, player, action) for action in actions],
        as_bytes(np.stack(boards)),
        [child.player_return(player) if child.is_terminal() else 0.0 for child in children],
        {end for child in children for end in ends(child, player)} if halves else None,
    )


def ends(child, player: int) -> list[bytes]:
    """What the second half of a double leads to; the board itself if there is none."""
    if child.is_terminal() or child.current_player() != player:
        return as_bytes(board_of(child, player)[None])
    return [as_bytes(board_of(child.child(action), player)[None])[0] for action in child.legal_actions()]


def sensible(before: np.ndarray, results: list[bytes], rng: np.random.Generator) -> int:
    """The action that hits, makes points and leaves few blots, in this order of importance; else runs home."""
    after = np.frombuffer(b"".join(results), np.uint8).reshape(-1, 2, 25).astype(np.int32)
    mine = after[:, 0, :24]
    hits = after[:, 1, 24] - before[1, 24]
    score = 3.0 * hits + (mine > 1).sum(axis=1) + (mine[:, :6] > 1).sum(axis=1) - (mine == 1).sum(axis=1)
    score -= 0.05 * (after[:, 0] * np.arange(1, 26)).sum(axis=1)
    return int(np.argmax(score + 1e-3 * rng.random(len(score))))


def decisions(game, number: int, seed: int, players: tuple[bool, bool]) -> list[Decision]:
    """At least `number` different decisions of whole games; `players` says who plays sensibly, not at random."""
    rng = np.random.default_rng(seed)
    found: dict[tuple, Decision] = {}
    while len(found) < number:
        state, dice, again = game.new_initial_state(), (0, 0), False
        while not state.is_terminal():
            if state.is_chance_node():
                outcome = int(rng.choice([outcome for outcome, _ in state.chance_outcomes()]))
                dice, again = roll_of(state, outcome), False
                state.apply_action(outcome)
                continue
            left = dice * (2 - again) if dice[0] == dice[1] else dice
            one = decision(state, left, whole=len(found) % 8 == 0)
            found[one.board.tobytes(), left] = one
            if players[state.current_player()]:
                choice = sensible(one.board, one.results, rng)
            else:
                choice = int(rng.integers(len(one.results)))
            state.apply_action(state.legal_actions()[choice])
            again = True
    return list(found.values())


def first_actions(one: Decision) -> set[int]:
    """Our numbers of the checkers that may move first, from OpenSpiel's actions in either order."""
    mover, opponent = (tuple(map(int, side)) for side in one.board)
    first = set()
    for moves in one.moves:
        first.update(moves[:1])
        if len(moves) == 2:
            (source, die), (later, other) = moves
            if reference.can_move(mover, opponent, later, other):
                after = reference.apply_step(mover, opponent, later, other)
                if reference.can_move(*after, source, die):
                    first.add((later, other))
    return {(26 - source) * 6 + die - 1 for source, die in first} or {0}


def certify(found: list[Decision]) -> set[float]:
    boards = np.stack([one.board for one in found])
    whole = [tuple(sorted(one.dice, reverse=True)) for one in found]
    half = [dice[:2] for dice in whole]
    for one, mask in zip(found, masks(boards, whole), strict=True):
        assert set(np.flatnonzero(mask)) == first_actions(one)
    listed = all_plays(boards, half)
    for one, plays in zip(found, listed, strict=True):
        assert set(as_bytes(plays.boards)) == set(one.results)
        assert len(plays.boards) == len(set(one.results))
    doubles = [index for index, one in enumerate(found) if one.whole is not None]
    for index, plays in zip(doubles, all_plays(boards[doubles], [whole[i] for i in doubles]), strict=True):
        assert set(as_bytes(plays.boards)) == found[index].whole
    assert len(doubles) > len(found) / 100
    return certify_returns(found, listed, boards, half)


def certify_returns(found, listed, boards, dice) -> set[float]:
    """The results of all turns that end the game; gives the points that were won."""
    rows, actions, returns = [], [], []
    for index, (one, plays) in enumerate(zip(found, listed, strict=True)):
        if any(one.returns):
            points = dict(zip(one.results, one.returns, strict=True))
            rows += [index] * len(plays.boards)
            actions += list(plays.actions)
            returns += [points[result] for result in as_bytes(plays.boards)]
    played = play_actions(boards[rows], [dice[row] for row in rows], np.stack(actions))
    assert played.legal.all()
    assert (played.reward == returns).all()
    assert (played.over == (np.array(returns) > 0)).all()
    return set(returns)


@pytest.mark.parametrize("players", [(False, False), (True, False)], ids=["random", "mixed"])
def test_turns_and_masks(openspiel, players):
    assert certify(decisions(openspiel, 3500, seed=0, players=players)) - {0} == {1, 2, 3}


@pytest.mark.slow
@pytest.mark.parametrize("players", [(False, False), (True, True), (True, False)], ids=["random", "sensible", "mixed"])
def test_turns_and_masks_of_many_games(openspiel, players):
    assert certify(decisions(openspiel, 35_000, seed=1, players=players)) - {0} == {1, 2, 3}
