"""`jaxgames solve connect_four TEXT`: the exact score of each column."""

import argparse
import time

from jaxgames.cli.common import add_shared, make_game, print_json

MOST_LEFT = 30
"""Squares left of positions that are solved without being told that it may take long."""


def add(parser: argparse.ArgumentParser) -> None:
    """Adds the options to the parser."""
    parser.add_argument("game", metavar="GAME", help="connect_four")
    parser.add_argument("position", metavar="POSITION", help="the columns played: 44455554221")
    add_shared(parser, "--set")
    parser.add_argument("--long", action="store_true", help="solve early positions, too, which may take hours")
    add_shared(parser, "--json")
    parser.set_defaults(command=run)


def run(options: argparse.Namespace) -> None:
    """Solves the position and prints the scores."""
    import jax

    from jaxgames.envs.connect_four.game import ConnectFour
    from jaxgames.tables.connect_four_solver import ENTRIES_OF_ONE, Solver

    game = make_game(options.game, options.set)
    if not isinstance(game, ConnectFour):
        raise ValueError(f"solve knows connect_four, not {game.id}")
    state = game.from_string(options.position)
    if state.terminated:
        raise ValueError(f"the game is over after {options.position!r}; expected a position with a move to play")
    left = game.rows * game.cols - sum(int(word).bit_count() for words in state._position for word in words)
    if left > MOST_LEFT and not options.long:
        raise ValueError(
            f"{left} squares are left, which may take hours; expected at most {MOST_LEFT} left, or --long to wait"
        )
    positions = jax.tree.map(lambda x: x[None], state._position)
    program = jax.jit(Solver(game, entries=ENTRIES_OF_ONE).moves).lower(positions).compile()
    begun = time.perf_counter()
    solved = jax.device_get(program(positions))
    seconds = time.perf_counter() - begun
    scores = [int(score) if legal else None for score, legal in zip(solved.scores[0], solved.legal[0], strict=True)]
    best = max(score for score in scores if score is not None)
    columns = [column for column, score in enumerate(scores, 1) if score == best]
    if options.json:
        result = {"game": game.id, "position": options.position, "score": best, "scores": scores, "best": columns}
        return print_json({**result, "nodes": int(solved.nodes), "seconds": seconds})
    print("column " + "".join(f"{column:>4}" for column in range(1, game.cols + 1)))
    print("score  " + "".join(f"{'-' if score is None else score:>4}" for score in scores))
    names = ", ".join(map(str, columns))
    print(f"best: {names} ({in_words(best, left)}); {int(solved.nodes):,} nodes in {seconds:.2f} s")


def in_words(score: int, left: int) -> str:
    """What a score means for the player to move, with so many stones left to play.

    >>> in_words(2, 7), in_words(-1, 7), in_words(0, 7)
    ('wins with stone 3 from now', "loses to the other's stone 3 from now", 'a draw')
    """
    if score > 0:
        return f"wins with stone {(left + 1) // 2 - score + 1} from now"
    return f"loses to the other's stone {left // 2 + score + 1} from now" if score else "a draw"
