"""The players by spec string. A new player is one entry of `PLAYERS`.

Players of other packages are found by their entry points in the group `jaxgames.players`.
"""

import functools
import os
import re
from importlib.metadata import entry_points
from typing import Any

from jaxgames.envs.core import Game
from jaxgames.envs.registry import GAMES, as_game, available_games
from jaxgames.envs.registry import make as make_game
from jaxgames.ops import checks
from jaxgames.players import backgammon, champions, from_folder, generic, mcts, minimax, specs
from jaxgames.players.generic import exact, perfect, weak
from jaxgames.players.host import entry_of
from jaxgames.players.packaged import PUBLISHED
from jaxgames.players.player import Player
from jaxgames.players.specs import REST, PlayerEntry
from jaxgames.tables.lookup import LOOKUPS, is_small

MOST_PLIES = 5
GROUP = "jaxgames.players"


def _champion(game: Game, level: str) -> Player:
    return make(champions.spec(game, level or champions.LEVELS[-1]), game)


def _weak(game: Game, probability: str, spec: str) -> Player:
    name = f"weak:{probability}:{spec}"
    if spec.startswith("weak:"):
        raise ValueError(f"player {name!r} is weak twice; give it a larger probability")
    share = specs.number(probability, f"player {name!r}: probability", most=1)
    return weak(make(spec, game), name, share)


def _exact(game: Game, spec: str) -> Player:
    if spec.startswith("exact:"):
        raise ValueError(f"player 'exact:{spec}' is exact twice; write {spec}")
    return exact(make(spec, game), f"exact:{spec}")


PLAYERS: dict[str, PlayerEntry] = {
    "random": PlayerEntry(
        generic.random,
        "any turn with the same probability",
        "random has no options: write random",
        ("random",),
    ),
    **backgammon.PLAYERS,
    "champion": PlayerEntry(
        _champion,
        "the trained player that comes with the package, at its best or as `easy`, `normal`, `hard`; on other "
        "boards of Connect X a search",
        "champions are champion:easy, champion:normal and champion:hard",
        ("champion", *(f"champion:{level}" for level in champions.LEVELS)),
        ("LEVEL",),
        usual=("",),
    ),
    "weak": PlayerEntry(
        _weak,
        "another player, but with this probability a random turn",
        "weak needs a probability and a player: write weak:0.2:champion",
        ("weak:0.2:champion",),
        ("P", REST),
    ),
    "exact": PlayerEntry(
        _exact,
        "another player, but exact in known positions: tic-tac-toe, the last 14 stones of Connect Four, bear-offs "
        "and endings of checkers (tables in `tables`, or else of 3 pieces)",
        "exact needs a player: write exact:champion",
        ("exact:champion",),
        (REST,),
        games=tuple(LOOKUPS),
    ),
    "perfect": PlayerEntry(
        perfect,
        "knows every position: tic-tac-toe, and boards of Connect X up to 4 x 5",
        "perfect has no options: write perfect",
        ("perfect",),
        games=("tic_tac_toe", "connect_four"),
        only=is_small,
    ),
    **{
        name: PlayerEntry(
            functools.partial(from_folder.load_named, name),
            of.help,
            f"{name} has no options: write {name}",
            (name,),
            games=(of.game,),
        )
        for name, of in PUBLISHED.items()
    },
    **minimax.PLAYERS,
    **mcts.PLAYERS,
}


FROM_FOLDER = PlayerEntry(
    from_folder.load,
    "the best player of a training, or that of a checkpoint; with `@2` it looks 2 plies ahead",
    "a run folder stands for itself, with plies after an @: write RUN or RUN@2",
    ("RUN", "RUN@2"),
    options=specs.by_name(
        specs.whole_option(
            "games",
            "the network after so many games, for a training that keeps one every 1,000 games (`ebert-2007`), or an "
            "evolution that keeps former champions (opponents `hall` or `league`)",
        ),
        specs.whole_option("keep", "with plies: how many of the best turns by the network are searched"),
        specs.number_option(
            "within", "with keep: skips turns that seem worse than the best by more than so many points"
        ),
    ),
)
"""The players of specs that begin with the folder of a run instead of a name."""


def available_players(game: Game | str | None = None) -> tuple[str, ...]:
    """Example specs of the players of one game, or of all games; without those that need a run folder."""
    game = None if game is None else as_game(game)
    return tuple(spec for spec in _examples(game) if "RUN" not in re.split("[:@,]", spec))


def make(spec: str, game: Game | str) -> Player:
    """The player named by `spec`: a built-in one such as `simple:3`, or the folder of a training such as `runs/a`.

    The game may be a name, too: `make("random", "connect_four")`. Raises `ValueError` for an unknown name or option, a
    player of another game, and a folder that is no run; `TypeError` for what is neither text nor game.
    """
    if _is_swapped(spec, game):
        given = spec.id if isinstance(spec, Game) else spec
        kind = TypeError if isinstance(spec, Game) else ValueError
        raise kind(f"the player comes first, then the game: write make('random', {given!r})")
    checks.text("player", spec, "random")
    game = as_game(game)
    if _is_folder(spec):
        return from_folder.load(spec, game)
    parsed = specs.parse(spec)
    if entry := _entry(parsed.name):
        return specs.make(parsed, entry, game)
    path, _, plies = parsed.start.rpartition("@")
    if _is_folder(parsed.start):
        path, plies = parsed.start, "1"
        if set(parsed.options) - {"games"}:
            raise ValueError(f"player {spec!r}: a run has options with plies only; write {parsed.start}@2,keep=8")
    if not _is_run(path):
        expected = ", ".join(_examples(game))
        raise ValueError(f"unknown player {spec!r}; expected the folder of a training, or one of: {expected}")
    options = specs.read_options(parsed, FROM_FOLDER.options)
    number = specs.whole_number(plies, f"player {spec!r}: plies", MOST_PLIES)
    player = from_folder.load_named(path, game, options.pop("games", None))
    return generic.look_ahead(player, spec, number, **options)


def _is_swapped(spec: Any, game: Any) -> bool:
    """Whether a game was passed as the player. Searching all packages for it is slow, so this comes last."""
    if isinstance(spec, Game):
        return True
    if isinstance(game, Game):
        return spec in tuple(GAMES)
    return game not in tuple(GAMES) and spec in available_games() and game not in available_games()


def as_players(*players: Player | str, game: Game | str | None = None) -> tuple[Player, ...]:
    """The players that were passed, themselves or by their names: every function that takes players accepts both.

    The game is `game`, otherwise that of the players, or the only one that a name stands for. Raises `ValueError`
    if no game is given or players are of different games, `TypeError` for anything but players and texts.
    """
    for player in players:
        if not isinstance(player, Player | str):
            raise TypeError(f"player {checks.describe(player)}: expected a player or its name, such as 'random'")
    games: dict[Game, Player | None] = {player.game: player for player in players if isinstance(player, Player)}
    if game is not None:
        games[as_game(game)] = None
    elif not games and (
        known := next(filter(None, (game_of(player) for player in players if isinstance(player, str))), None)
    ):
        games[make_game(known)] = None
    if not games:
        names = ", ".join(map(repr, players))
        raise ValueError(f"no game is named for {names}: say which, such as game='connect_four'")
    if len(games) > 1:
        alike = len({of.id for of in games}) == 1  # but for their options
        said = [
            f"{player.name if player else 'the game'} {'plays' if player else 'is'} {of if alike else of.id}"
            for of, player in games.items()
        ]
        raise ValueError(f"{', '.join(said)}; expected two players of one game")
    only = next(iter(games))
    return tuple(make(player, only) if isinstance(player, str) else player for player in players)


def game_of(spec: str) -> str | None:
    """The id of the game that a run was trained for, or of the only game that a player plays; None for other players.

    Raises `ValueError` if the folder is no run.
    """
    if _is_folder(spec):
        return from_folder.game_of(spec)
    parsed = specs.parse(spec)
    if entry := _entry(parsed.name):
        if entry.arguments[-1:] == (REST,):
            return game_of(str(specs.read_arguments(parsed, entry)[-1]))
        run = specs.folder(parsed, entry)
        if run is not None:
            return _game_of_run(run)
        return entry.games[0] if len(entry.games) == 1 else None
    path = parsed.start if _is_folder(parsed.start) else parsed.start.rpartition("@")[0]
    return _game_of_run(path) if _is_run(path) else None


def register(name: str, player: Any) -> None:
    """Makes a player known to `make`: a `PlayerEntry`, or a function `move(state) -> action`.

    Raises `ValueError` for anything else, and for a name that is taken.
    """
    PLAYERS[name] = new_entry(name, player)


def new_entry(name: str, player: Any) -> PlayerEntry:
    """What `register` makes known, with its checks."""
    entry = entry_of(name, player)
    if name in PLAYERS:
        raise ValueError(f"there is a player {name!r} already; give this one another name")
    return entry


def _entry(name: str) -> PlayerEntry | None:
    """The entry of a name, here or in another package; None if there is none."""
    if name in PLAYERS:
        return PLAYERS[name]
    # Not kept in `PLAYERS`: lists of players must not change when somebody names a player of another package.
    if "@" not in name:  # a run with plies; to ask all packages takes a while
        for point in entry_points(group=GROUP, name=name):
            return entry_of(name, point.load())
    return None


def _game_of_run(text: str) -> str | None:
    """The id of a run's game, given its spec; None for the champion, which plays any game."""
    if text in PUBLISHED:
        return PUBLISHED[text].game
    return None if text == champions.CHAMPION else from_folder.game_of(text)


def _is_run(text: str) -> bool:
    """Whether a text before an @ stands for a run."""
    return text == champions.CHAMPION or text in PUBLISHED or _is_folder(text)


def _is_folder(text: str) -> bool:
    """Whether a text is the folder of a run and begins with no player's name; False if too long for a path."""
    return bool(text) and re.split("[:,]", text)[0] not in PLAYERS and os.path.isdir(text)


def _examples(game: Game | None) -> list[str]:
    entries = [entry for entry in (*PLAYERS.values(), FROM_FOLDER) if game is None or entry.plays(game)]
    return [example for entry in entries for example in entry.examples if example != "RUN"]
