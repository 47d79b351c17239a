"""Players and matches from Python: a run as a function, the champion's network in a search of ours, a tournament.

    python examples/tournament_of_runs.py [RUN ...]

RUN is the folder of an AlphaZero training of Connect Four (`jaxgames train connect-four-alphazero --out RUN`); without
one a small training is run here. A player is a text, as on the command line, or made of any function of ours.
"""

import argparse
import tempfile
from pathlib import Path

import jax
import matplotlib.pyplot as plt

import jaxgames
from jaxgames.algos import mcts
from jaxgames.algos.alphazero import AlphaZeroConfig, load_network, make_learner
from jaxgames.matches import match, tournament
from jaxgames.nets import NetworkSpec
from jaxgames.players import by_policy, champions, jax_player
from jaxgames.recipes import Plan, Report, recipe_named
from jaxgames.runs import Run


def train_by_recipe(folder, seed):
    """What `jaxgames train connect-four-alphazero --games 10000 --set hidden=128,128 --out FOLDER` does."""
    plan = Plan(games=10_000, seed=seed, changes={"hidden": "128,128"})
    recipe_named("connect-four-alphazero").begin(plan, folder, Report(quiet=True)).run_to_end()


def train_by_hand(game, parts, updates, batch, seed):
    """The same learner in your own loop, measured as it learns: its player after each part."""
    config = AlphaZeroConfig(NetworkSpec(hidden=(64, 64)), batch=batch, simulations=16, updates=parts * updates)
    learner = make_learner(game, config)
    state, update = jax.jit(learner.init)(jax.random.key(seed)), jax.jit(learner.update, donate_argnums=0)
    for part in range(parts):
        for number in range(part * updates, (part + 1) * updates):
            state, _ = update(state, jax.random.fold_in(jax.random.key(seed), number))
        # Players of the same function share a program, whatever their parameters: only the first one is compiled.
        player = by_policy("by hand", game, learner.network.apply, state.mean_params)
        result = match(player, "random", games=100)
        print(f"part {part + 1}: {result.win_rate:.0%} won against random; compiled in {result.compile_seconds:.1f} s")
    return player


def with_network(name, game, network, params, simulations):
    """Your own search with somebody's network, as a player."""

    def act(evaluate, states, bits):  # 32 random bits for each state
        found = mcts.search(game, states, jax.random.key(bits[0]), simulations, select=mcts.puct(), evaluate=evaluate)
        return found.actions

    return jax_player(act, mcts.network(network.apply, params)).make(game, name)


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0], usage=argparse.SUPPRESS)
    parser.add_argument("runs", nargs="*", metavar="RUN", help="the folder of a training; none: a small one is run")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--out", type=Path, default="tournament_of_runs.png", help="the picture")
    parser.add_argument("--quick", action="store_true", help="a tiny run, to see that it works")
    options = parser.parse_args()
    if options.out.suffix not in (".png", ".svg") or not options.out.resolve().parent.is_dir():
        parser.error(f"--out {options.out}: expected a .png or .svg in a folder that exists")
    game = jaxgames.make("connect_four")
    parts, updates, batch, games = (2, 1, 4, 2) if options.quick else (4, 100, 128, 200)

    with tempfile.TemporaryDirectory() as folder:
        if not options.runs and not options.quick:
            options.runs = [str(Path(folder) / "run")]
            train_by_recipe(options.runs[0], options.seed)
        players = ["random" if options.quick else "uct:200"]  # a player by its text
        for path in options.runs:
            try:
                params, network, discount = load_network(Run.open(path), game)
            except (OSError, ValueError) as error:
                parser.error(str(error))
            logits, value = network.apply(params, game.from_string("4453").observation[None])  # the run as a function
            print(f"{Path(path).name}: after 4453 column {int(logits[0].argmax()) + 1}, worth {float(value[0]):+.2f}")
            players.append(by_policy(Path(path).name, game, network.apply, params, discount))
    players.append(train_by_hand(game, parts, updates, batch, options.seed))
    params, network, _ = load_network(champions.Champion(game), game)
    players.append(by_policy("champion's policy", game, network.apply, params))
    if not options.quick:
        players.append(with_network("our search, its network", game, network, params, 64))

    result = tournament(players, games=games, seed=1, game=game)
    for rating in result.ratings:
        print(f"{rating.player:24} {rating.elo:+5.0f} Elo ({rating.low:+.0f} to {rating.high:+.0f})")
    score = 100 * result.wins / games  # of the row's player against the column's; a draw is half a win
    figure, axes = plt.subplots(figsize=(6, 4.5), layout="constrained")
    axes.imshow(score, cmap="RdYlGn", vmin=0, vmax=100)
    for row, column in ((i, j) for i in range(len(players)) for j in range(len(players)) if i != j):
        axes.text(column, row, f"{score[row, column]:.0f}", ha="center", va="center")
    axes.set_xticks(range(len(players)), result.players, rotation=30, ha="right")
    axes.set_yticks(range(len(players)), result.players)
    axes.set_title(f"Games of Connect Four won, %, of {games} a pair")
    figure.savefig(options.out, dpi=100)


if __name__ == "__main__":
    main()
