"""What a player thinks of a position: its value, that of every turn, the line it expects; in ever better versions.

Runs in a thread, plain Python around compiled programs, and yields a `Finding` whenever it knows more.
"""

from collections.abc import Iterator, Sequence
from typing import Any, NamedTuple

import numpy as np

from jaxgames.envs.core import State
from jaxgames.players.generic import GreedyTurn, look_ahead, sighted
from jaxgames.players.player import Player
from jaxgames.sessions.session import Session, after_actions
from jaxgames.web.programs import MOST_SIMULATIONS, SIMULATIONS, ProgramCache, grows

MOST_TURNS = 40
LINE = 4
DEEPER = 10
"""How many of the best turns of a game with chance are searched one ply deeper."""


class RatedTurn(NamedTuple):
    """A turn, or the first action of one, and what it is worth to the player to move; `visits` of a search."""

    actions: tuple[int, ...]
    text: str
    value: float | None
    visits: int | None


class Finding(NamedTuple):
    """What is known so far. `value` is in points of the player to move, turns are in order, the best one first."""

    value: float | None
    turns: list[RatedTurn]
    line: list[str]
    depth: str
    simulations: int
    final: bool


def analyse(cache: ProgramCache, player: Player, state: State, bits: int, patient: bool = True) -> Iterator[Finding]:
    """What a player thinks of a state at the beginning of a turn, in ever better versions; only one if not `patient`.

    A state that is over has no value and no turns.
    """
    player = _by_its_network(sighted(player))
    if bool(state.terminated | state.truncated):
        yield Finding(None, [], [], "", 0, True)
        return
    if player.rule is not None or player.policy is not None:
        yield from _searched(cache, player, state, bits, patient)
        return
    if not player.has_values:
        yield Finding(None, _unrated(state), [], "", 0, True)
        return
    rated = _rated(cache, player, state, state._game.legal_turns(state), bits)
    yield rated._replace(final=not patient)
    if not patient:
        return
    if (two_plies := _two_plies(player)) is not None:
        yield _looked_into(cache, two_plies, state, bits, rated)._replace(final=True)
    elif grows(player) and len(rated.turns) > 1:
        yield from _searched(cache, player, state, bits, patient)
    else:
        yield rated._replace(line=_line_of(cache, player, state, bits, rated), final=True)


def has_values(player: Player) -> bool:
    """Whether a player can say what positions are worth."""
    player = sighted(player)
    return player.has_values or player.rule is not None or player.policy is not None


def _by_its_network(player: Player) -> Player:
    """The player that takes the best turn by the network of a player that looks ahead; itself if it has none."""
    if player.value is None or not player.has_values:
        return player
    return Player(player.name, player.game, GreedyTurn(player.game, player.value), player.params)


def _depth(player: Player) -> str:
    """How far the player looks, in words."""
    if player.plies is None:
        return ""
    seconds = getattr(player.turn, "seconds", None)
    return f"{player.plies} {'ply' if player.plies == 1 else 'plies'}" if seconds is None else f"{seconds:g} s"


def _looked_into(cache: ProgramCache, player: Player, state: State, bits: int, finding: Finding) -> Finding:
    """The best turns of a finding again, by a player that looks further; the others keep their order after them."""
    better = _rated(cache, player, state, [turn.actions for turn in finding.turns[:DEEPER]], bits)
    return better._replace(turns=[*better.turns, *(turn._replace(value=None) for turn in finding.turns[DEEPER:])])


def _rated(cache: ProgramCache, player: Player, state: State, turns: Sequence[tuple[int, ...]], bits: int) -> Finding:
    """Turns by what the positions after them are worth to the player to move."""
    after = [after_actions(state, turn) for turn in turns]
    worth = -cache.of(player).values(player, [reached._position for reached in after], bits)
    for index, reached in enumerate(after):
        if bool(reached.terminated | reached.truncated):
            worth[index] = reached.rewards[int(state.current_player)]
    order = np.argsort(-np.nan_to_num(worth, nan=-1e9), kind="stable")[:MOST_TURNS].tolist()
    texts = [state._game.turn_to_string(state, turns[index]) for index in order]
    rated = [RatedTurn(tuple(turns[i]), text, _plain(worth[i]), None) for i, text in zip(order, texts, strict=True)]
    return Finding(rated[0].value, rated, [rated[0].text], _depth(player), 0, False)


def _searched(cache: ProgramCache, player: Player, state: State, bits: int, patient: bool) -> Iterator[Finding]:
    """Every action by a continuing search; if all turns are single actions, these are the turns."""
    programs, tree = cache.of(player), None
    rounds = MOST_SIMULATIONS // SIMULATIONS if patient and grows(player) else 1
    single = {turn[0]: turn for turn in state._game.legal_turns(state) if len(turn) == 1}
    for number in range(1, rounds + 1):
        report, tree = programs.search(player, state, bits + number, tree)
        tried = np.flatnonzero(report.visits > 0).tolist()
        tried.sort(key=lambda action: (-report.visits[action], -report.values[action]))
        turns = []
        for action in tried[:MOST_TURNS]:
            text = state._game.action_to_string(state, action)
            turns.append(
                RatedTurn(
                    single.get(action, (action,)), text, _plain(report.values[action]), int(report.visits[action])
                )
            )
        line = _texts(state, [int(action) for action in report.line if action >= 0])
        yield Finding(_plain(report.value), turns, line, "", number * SIMULATIONS, number == rounds)


def _line_of(cache: ProgramCache, player: Player, state: State, bits: int, finding: Finding) -> list[str]:
    """The best turn and, in a game without chance, what the player would play after it."""
    game = state._game
    session = Session(game, state)
    session.play(finding.turns[0].actions)
    while not game.outcome_probabilities and len(session.turns) < LINE and not session.over:
        while not session.turn_complete:
            for action in cache.of(player).choose(player, [session.state._position], [bits], 1)[0]:
                session.play_action(action, hand_over=False)
        session.hand_over()
    return [turn.text for turn in session.turns]


def _texts(state: State, actions: list[int]) -> list[str]:
    """A line of actions as turns; the last one may be unfinished."""
    session = Session(state._game, state, rolls=False)
    for action in actions:
        if action not in session.legal_actions():
            break
        session.play_action(action)
    texts = [turn.text for turn in session.turns]
    if session.actions and session.game.outcome_probabilities:  # in backgammon a turn can be written that goes on
        texts.append(session.game.turn_to_string(session.turn_start, session.actions))
    return texts


def _two_plies(player: Player) -> Player | None:
    """In a game with chance, the player that looks one ply further; None if there is none."""
    if not player.game.outcome_probabilities or player.value is None or player.plies != 1:
        return None
    return look_ahead(player, player.name, 2)


def _unrated(state: State) -> list[RatedTurn]:
    turns = state._game.legal_turns(state)[:MOST_TURNS]
    return [RatedTurn(turn, state._game.turn_to_string(state, turn), None, None) for turn in turns]


def _plain(value: Any) -> float | None:
    number = float(value)
    return number if np.isfinite(number) else None
