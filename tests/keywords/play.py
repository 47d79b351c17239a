"""Keywords of players, matches, records, runs, data sets, sessions, tables, and of what other programs play."""

import contextlib
import dataclasses
import functools
import shutil
import tempfile
from importlib import import_module
from pathlib import Path
from unittest import mock

import jax
import jax.numpy as jnp
import numpy as np

import jaxgames
from jaxgames import players, runs
from jaxgames.algos import mcts
from jaxgames.data_sets import make_data, merge_data, played_games
from jaxgames.envs import backgammon
from jaxgames.envs.connect_four import ConnectFour
from jaxgames.interop import gnubg, gymnasium, hub, openspiel, pettingzoo, softsign_norm
from jaxgames.matches import bradley_terry, every_line, host_games, knockout, solved, tournament
from jaxgames.matches.knockout import Meeting
from jaxgames.players import backgammon as measures
from jaxgames.players import generic
from jaxgames.records import format_for, load, loads
from jaxgames.runs.figures import Panel
from jaxgames.sessions import Session
from jaxgames.tables import BearOffs, TicTacToeIndex, bearoff, build, folder, one_sided, solve_whole, whole_games
from jaxgames.tables.connect_four_solver import Solver
from jaxgames.tables.retrograde import Values
from tests.keywords.rows import Heard, beside, held, in_folder, said, several, tried
from tests.players.dash import GAME as DASH
from tests.players.dash import Lead
from tests.settings.traces import Program

MATCH, KNOCKOUT, ROLLOUT, TOURNAMENT = (
    import_module(f"jaxgames.matches.{name}") for name in ("match", "knockout", "rollout", "tournament")
)
KEY = jax.random.key(0)
TTT, C4, CHECKERS = (jaxgames.make(name) for name in ("tic_tac_toe", "connect_four", "checkers"))
STATE = TTT.init(KEY)
STATES = jax.tree.map(lambda x: x[None], STATE)
SMALL = ConnectFour(rows=4, cols=4, connect=3)
RANDOM = [dataclasses.replace(generic.random(TTT), name=name) for name in "abc"]


@dataclasses.dataclass(frozen=True)
class WrittenDash(type(DASH)):
    """The game with a notation, which results of roll-outs have."""

    def unparse(self, position):
        """The numbers."""
        return " ".join(map(str, position))


LEAD = players.greedy(WrittenDash(), "lead", jnp.float32(1), Lead().value)


def first_action(state):
    """A player in plain Python."""
    return int(np.argmax(state.legal_action_mask))


def last_action(state):
    """Another one."""
    return int(np.flatnonzero(state.legal_action_mask)[-1])


def lowest(states, bits):
    """A player of JAX."""
    return jnp.argmax(states.legal_action_mask, axis=-1).astype(jnp.int32)


BOTH = RANDOM[0], players.jax_player(lowest).make(TTT, "lowest")
HOST, LAST = (
    players.Player("it", TTT, players.python_player(move).make(TTT, "it").turn) for move in (first_action, last_action)
)


TOLD = {"seconds", "games_per_second", "compile_seconds", "milliseconds", "seed", "behind", "most_games", "truncate"}
"""Fields of results that are times, or only say what was asked for."""


def played(found):
    """What is in a result by the games that were played."""
    if isinstance(found, str):
        return found
    found = dataclasses.replace(found, **dict.fromkeys(TOLD & set(found.__dataclass_fields__), 0))
    if hasattr(found, "matches"):
        found = dataclasses.replace(found, matches={pair: played(one) for pair, one in found.matches.items()})
    return found


@contextlib.contextmanager
def spied(module, name):
    """The arguments with which something is called."""
    with mock.patch.object(module, name, wraps=getattr(module, name)) as spy:
        calls: list = []
        yield calls
        calls += [(*call.args, *call.kwargs.values()) for call in spy.call_args_list]


# Matches.


def matched(a=BOTH[0], b=BOTH[1], games=8, **keywords):
    """A match, with what decides how many games are played at once."""
    with spied(MATCH, "PairedGames") as paired, spied(host_games, "play") as hosted:
        found = played(said(lambda: MATCH.match(a, b, games, **keywords)))
    return found, [one[4] for one in paired], [one[5] for one in hosted]


def by_name(function, *arguments):
    """What is made of players that are only named."""
    return lambda game=None: said(lambda: function(*arguments, game=game))


def met(records=None, **keywords):
    """A tournament of three players, the records of its games, and how many games were played at once."""
    log: list = []
    keywords.setdefault("finished", lambda pair, found, games: log.append((pair, len(games))))
    with spied(TOURNAMENT, "match") as matches, mock.patch.object(TOURNAMENT, "_times_per_move", lambda *_: ()):
        names, given = keywords.pop("players", RANDOM), {"games": 8, "batch": 16, **keywords}
        found = played(said(lambda: tournament(names, **given)))
    return found, log, [one[4] for one in matches]


def knocked_out(**keywords):
    """A knock-out of two players, and how it was played."""
    with spied(KNOCKOUT, "PairedGames") as paired, spied(KNOCKOUT, "ThreadPoolExecutor") as pools:
        names, given = keywords.pop("players", BOTH), {"behind": 50, "most_games": 16, "slots": 8, **keywords}
        found = played(said(lambda: knockout(names, **given)))
    return found, [one[4] for one in paired], pools


def rolled_out(**keywords):
    """A roll-out of a position."""
    return played(ROLLOUT.rollout(LEAD, LEAD.game.init(KEY), 16, **keywords))


def judged(judge):
    """The moves of a player in solved positions, and how many are played at once; or what is said where it fails."""
    positions, player = solved.read(solved.MOVE_SCORES, 8), generic.random(C4)

    def call(fails=False, **keywords):
        sizes, choose = [], solved._choose
        seen = mock.Mock(side_effect=lambda *given: sizes.append(len(given[2])) or choose(*given), __name__="choose")
        with mock.patch.multiple(solved, _choose=seen, take_forfeits=lambda player: ["lost"] * fails):
            found = said(lambda: judge(player, positions, **keywords))
        return found[:1] if isinstance(found, tuple) else played(found), sizes

    return call


MET = MATCH.MatchResult("tic_tac_toe", "a", "b", 0, 8, 0.5, 0.2, 0.9, *[0.0] * 7, 0, 5.0, 1.0, 1.0, 1)
TOURED = TOURNAMENT.TournamentResult("tic_tac_toe", ("a", "b"), 8, 0, 1, {(0, 1): MET}, (1.0, 1.0))

# Players.


def network(params, observation):
    """A network that knows nothing."""
    return jnp.zeros((len(observation), 9)), params


def of_entry(make):
    """What an entry says of its player, in games with and without dice."""

    def call(**keywords):
        entry = make(**keywords)
        player = entry.make(TTT, "one")
        return entry.help, entry.games, entry.chance, [entry.plays(game) for game in (TTT, C4, DASH)], player.params

    return call


# Runs, data, records.


@functools.cache
def kept():
    """A run with four checkpoints, in a folder that is there until the end."""
    folder = tempfile.TemporaryDirectory()
    run = runs.Run.create(Path(folder.name) / "run", {})
    for step in range(4):
        run.save(step, {"step": np.int32(step)}, keep=9)
    return folder, run.path


def begun(path):
    """A copy of it."""
    return runs.Run.open(shutil.copytree(kept()[1], path / "run"))


def saved(path, **keywords):
    """The checkpoints that stay."""
    run = begun(path)
    run.save(4, {"step": np.int32(4)}, **keywords)
    return run.steps()


def drawn(path, **keywords):
    """What a curve is made of."""
    run = runs.Run.create(path / "run", {})
    run.log({"step": 1, "games": 5})
    with mock.patch.object(runs.run.figures, "draw") as draw:
        run.draw_curve(**keywords)
    return draw.call_args.kwargs


def made(**keywords):
    """Data of games that players play: the rows of a shard."""
    maker = played_games(RANDOM[0], RANDOM[1], 16, **{"games_per_shard": 8, **keywords})
    return maker.shards, maker.rows(0)


def made_on_disk(path, **keywords):
    """A data set's rows."""
    return make_data(sources()[0], path / "data", **keywords).read_all()


@functools.cache
def sources():
    """A maker of data."""
    return (played_games(RANDOM[0], RANDOM[1], 32, games_per_shard=16),)


MERGED = ("sources", "validation", "split", "seed", "counts")
"""What data that are merged only say of what was asked for."""


def merged(path, **keywords):
    """Data that are split, and what is said of them."""
    make_data(sources()[0], path / "one")
    folder, counts = merge_data(TTT, [path / "one"], path / "two", **{"validation": 0.3, **keywords})
    return counts, {**folder.header["made"], **dict.fromkeys(MERGED)}, folder.read_all()


def some_arrays(read):
    """Arrays of a data set."""
    return in_folder(lambda path, **k: read(make_data(sources()[0], path / "data"), **k))


RECORD = '{"game": "tic_tac_toe", "turns": ["a1"]}'

# Sessions.


def rolled(outcome=None):
    """A roll, given or drawn."""
    session = Session("backgammon", rolls=False)
    session.play(next(iter(session.legal_turns())))
    return session.roll(outcome)


def handed_over(**keywords):
    """Whether a turn is over."""
    session = Session(TTT)
    session.play_action(0, **keywords)
    return session.turn_complete


def begun_session(**keywords):
    """A game that begins."""
    session = Session("backgammon", **keywords)
    seats = [None if one is None else one.name for one in session.seats]
    start = session.game.to_string(session.start)
    session.play(next(iter(session.legal_turns())))
    return start, seats, session.chance


def replayed(**keywords):
    """A game of a record, up to the roll after it."""
    game = jaxgames.make("backgammon")
    session = Session(game, seed=3)
    session.play(next(iter(session.legal_turns())))
    again = Session.replay(session.record(), **keywords)
    return again.chance, [one and one.name for one in again.seats]


# Tables.


def one_roll(**keywords):
    """Bear-offs of which all lead to the end by any roll."""
    rolls = len(backgammon.game.ROLLS)
    level = np.arange(1, 3), bearoff.Replies(np.arange(rolls + 1) + [[0], [rolls]], np.zeros(2 * rolls, int))
    with mock.patch.object(bearoff, "_levels", return_value=[level]):
        return one_sided(BearOffs(1, 2), **keywords)


def no_moves(**keywords):
    """A game that is over before it begins."""
    ended = np.full((1, 9), whole_games._NO_KEY, np.uint32), np.zeros((1, 9), bool), np.zeros((1, 9))
    with mock.patch.object(whole_games, "_expand", return_value=ended):
        return solve_whole(TicTacToeIndex(), **keywords)


def built(path, **keywords):
    """A table of one position."""
    part = mock.MagicMock(size=1, __str__=lambda part: "one")
    values = Values(np.zeros(1, np.uint8), np.zeros(1, np.uint16))
    with mock.patch.object(folder, "solve", return_value=[values]):
        index = mock.Mock(slices=[part], groups=[[part]])
        index.name = "x"
        return build(index, path / "table", **keywords).bytes


# Programs of others.


def asked_program(**keywords):
    """How a program is begun."""
    with mock.patch.object(hub, "HubProgram") as program:
        hub.hub_player(CHECKERS, "x", **keywords)
    return program.call_args.args


def served(**keywords):
    """Where a server listens, and how many connections it takes of three that come."""
    server = mock.MagicMock()
    server.getsockname.return_value = (0, 7)
    server.accept.side_effect = [(mock.MagicMock(), 0) for _ in range(3)]
    with mock.patch.object(gnubg.socket, "create_server") as create:
        create.return_value.__enter__.return_value = server
        with contextlib.suppress(StopIteration):
            gnubg.serve(players.make("random", "backgammon"), 1, **{"say": lambda line: None, **keywords})
    return create.call_args.args, server.accept.call_count


def agent_alone(**keywords):
    """A game against a player, from the agent's seat."""
    env = gymnasium.env(TTT, **{"opponent": HOST, **keywords})
    seen = []
    for seed in range(4):
        env.reset(seed=seed)
        seen.append(env.state._position)
    return seen, env.render()


def bot_made(**keywords):
    """How a bot is made."""
    with mock.patch.dict(openspiel.BOTS, {"mcts": mock.MagicMock()}):
        openspiel.openspiel_player(TTT, "mcts", 10, **keywords)
        return openspiel.BOTS["mcts"].call_args.args[2:]


NETWORKS = softsign_norm.from_rows(np.arange(90.0)[None], (9, 9), None)
TURNED = (1, 2, 3, 4, 5, 6, 7, 8, 0)
ROWS = {
    "matches.match.match": tried(
        matched,
        seed=1,
        batch=several(4, beside(4, a=HOST)),
        most_plies=several(3, beside(3, a=HOST)),
        progress=several(Heard(), beside(Heard(), a=HOST)),
        trace=several(Heard(), beside(Heard(), a=HOST)),
        game=beside("tic_tac_toe", a="random", b="random", games=2),
    ),
    "matches.tournament.tournament": tried(
        met,
        games=4,
        seed=1,
        batch=32,
        known={(0, 1): MET},
        finished=Heard(),
        progress=Heard(),
        record=True,
        game=beside("tic_tac_toe", players=["random", "weak:0.5:random"]),
    ),
    "matches.tournament.TournamentResult.table": tried(TOURED.table, low="ppg_low", high="ppg_high"),
    "matches.tournament.bradley_terry": tried(
        lambda **k: bradley_terry(["a", "b"], np.array([[0, 3], [1, 0]]), **k), prior=2.0
    ),
    "matches.exhaustive.every_line": tried(
        by_name(every_line, "random"),
        {"most_positions": "tests/matches/test_exhaustive.py::test_what_cannot_be_counted"},
        game="tic_tac_toe",
    ),
    "matches.knockout.knockout": tried(
        knocked_out,
        behind=1,
        most_games=4,
        seed=1,
        slots=4,
        threads=1,
        known={(0, a, 1 - a): Meeting(a, 1 - a, 2, 9.0, a) for a in range(2)},
        progress=Heard(),
        game=beside("tic_tac_toe", players=["random", "weak:0.5:random"]),
    ),
    "matches.rollout.rollout": tried(rolled_out, seed=1, truncate=2, progress=Heard()),
    "matches.solved.judge_moves": tried(
        judged(solved.judge_moves), file=beside("x", fails=True), seed=1, batch=4, progress=Heard()
    ),
    "matches.solved.score": tried(judged(solved.score), file="x", seed=1, batch=4, progress=Heard()),
    "matches.solved.read": tried(lambda **k: len(solved.read(solved.MOVE_SCORES, **k)), limit=3),
    "baselines.network.load": held(game="tests/baselines/test_network.py::test_players_that_are_networks_and_others"),
    "players.registry.as_players": tried(by_name(players.as_players, "random"), game="tic_tac_toe"),
    "players.registry.available_players": tried(players.available_players, game="checkers"),
    "players.generic.by_policy": tried(
        lambda **k: players.by_policy("p", TTT, network, jnp.float32(1), **k).policy, discount=0.5
    ),
    "players.mcts.by_search": tried(
        lambda **k: players.by_search("p", TTT, mcts.uct(), mcts.rollout(), 2, **k).turn, discount=0.5
    ),
    "players.host.jax_player": tried(
        of_entry(lambda **k: players.jax_player(lowest, **k)), params=3.0, help="mine", game="tic_tac_toe", chance=False
    ),
    "players.host.python_player": tried(
        of_entry(lambda **k: players.python_player(first_action, **k)), help="mine", game="tic_tac_toe", chance=False
    ),
    "players.backgammon.simple.pips": tried(
        lambda **k: measures.pips(jaxgames.make("backgammon").init_position(KEY).own, **k), to=6
    ),
    "records.format_for": tried(lambda **k: said(lambda: format_for("a.pdn", **k)), game_id="backgammon"),
    "records.load": tried(
        in_folder(lambda path, **k: (path / "a.txt").write_text("44\n") and said(lambda: load(path / "a.txt", **k))),
        game_id="checkers",
    ),
    "records.loads": tried(lambda **k: loads("44", "txt", **k), accept=Heard()),
    "runs.run.Run.save": tried(in_folder(saved), keep=several(1, 2)),
    "runs.run.Run.restore": tried(in_folder(lambda path, **k: begun(path).restore({"step": np.int32(0)}, **k)), step=0),
    "runs.run.Run.restore_leaf": tried(in_folder(lambda path, **k: begun(path).restore_leaf("step", **k)), step=0),
    "runs.run.Run.draw_curve": tried(
        in_folder(drawn), x="step", panels=[Panel("p", {})], references=[("r", 1.0)], title="t"
    ),
    "runs.folder.DataSetFolder.read": tried(some_arrays(lambda data, **k: data.read(0, **k)), names=("value",)),
    "runs.folder.DataSetFolder.read_all": tried(some_arrays(lambda data, **k: data.read_all(**k)), names=("value",)),
    "data_sets.makers.make_data": tried(in_folder(made_on_disk), progress=Heard()),
    "data_sets.makers.merge_data": tried(
        in_folder(merged),
        tests=(STATES._position, np.ones((1, 9), bool)),
        validation=0.5,
        split="position",
        seed=1,
        note={"of": "x"},
    ),
    "data_sets.makers.played_games": tried(made, seed=1, moves_of="first", games_per_shard=6, most_plies=4),
    "sessions.session.Session": tried(
        begun_session,
        start="4HPwATDgc/ABMA",
        seed=1,
        players=(None, players.make("random", "backgammon")),
        rolls=False,
    ),
    "sessions.session.Session.roll": tried(rolled, outcome=several(0, 1, 2)),
    "sessions.session.Session.play_action": tried(handed_over, hand_over=False),
    "sessions.session.Session.resign": tried(
        lambda **k: Session("backgammon").resign(**k), seat=1, points=2, reason="lost on time"
    ),
    "sessions.session.Session.suggest": tried(
        lambda **k: said(lambda: Session(TTT).suggest(**k)), player=generic.random(TTT)
    ),
    "sessions.session.Session.record": tried(
        lambda **k: Session(TTT).record(**k), names=("Ann", "Ben"), tags={"event": "cup"}
    ),
    "sessions.session.Session.replay": tried(
        replayed, seed=1, players=(None, players.make("random", "backgammon")), chance=several("61", "52")
    ),
    "tables.bearoff.BearOffs": tried(lambda **k: BearOffs(**k).size, points=2, checkers=3),
    "tables.bearoff.one_sided": tried(one_roll, report=Heard()),
    "tables.folder.build": tried(in_folder(built), report=Heard()),
    "tables.whole_games.solve_whole": tried(no_moves, report=Heard()),
    "tables.connect_four_solver.Solver": tried(
        lambda **k: Program(lambda p: {"all": Solver(SMALL, **k)(p)}, positions(SMALL, 8)), lanes=2, entries=1 << 9
    ),
    "tables.connect_four_solver.Solver.__call__": tried(
        lambda **k: Program(lambda p: {"all": Solver(SMALL)(p, **k)}, positions(SMALL, 2)),
        where=jnp.asarray([True, False]),
    ),
    "interop.gnubg.serve": tried(served, host="0.0.0.0", say=Heard(), connections=several(1, 2)),
    "interop.gymnasium.env": tried(
        agent_alone, opponent=LAST, seat=several("first", "second"), render_mode=several("ansi", "svg")
    ),
    "interop.hub.hub_player": tried(asked_program, time=several(2.5, beside(2.5, depth=3)), depth=3),
    "interop.openspiel.openspiel_player": tried(bot_made, c=0.5, seed=7),
    "interop.pettingzoo.env": tried(
        lambda **k: said(lambda: shown(pettingzoo.env(TTT, **k))), render_mode=several("ansi", "svg")
    ),
    "interop.softsign_norm.from_rows": tried(
        lambda **k: softsign_norm.from_rows(np.arange(90.0)[None], (9, 9), **k), order=several(None, TURNED)
    ),
    "interop.softsign_norm.to_rows": tried(
        lambda **k: softsign_norm.to_rows(NETWORKS, **k), order=several(None, TURNED)
    ),
}


def positions(game, number):
    """Some positions."""
    return jax.tree.map(lambda x: jnp.stack([x] * number), game.init_position(KEY))


def shown(env):
    """A picture of a game."""
    env.reset(seed=0)
    return env.render()
