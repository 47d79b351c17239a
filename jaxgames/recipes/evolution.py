"""A training by evolution: its settings, plan and job. All recipes of evolution share it."""

import dataclasses
import time
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple

import jax
import numpy as np
from jaxtyping import Array, Float32
from typing_extensions import override

from jaxgames.algos.evolution.evolution import Evolution, EvolutionConfig, advance, summarize
from jaxgames.algos.evolution.saved import NetworkConfig, champions_template, snapshots_of
from jaxgames.algos.evolution.strategies import config_of, content_of, with_changes
from jaxgames.algos.evolution.strategies.population import PopulationConfig
from jaxgames.envs.core import Game
from jaxgames.ops.devices import check_shares, device_mesh
from jaxgames.players import make as make_player
from jaxgames.players.generic import evolved
from jaxgames.players.player import Player
from jaxgames.recipes.recipe import Plan, Recipe
from jaxgames.recipes.report import Report
from jaxgames.recipes.strength import after_test
from jaxgames.recipes.training import Block, Job, Training
from jaxgames.runs import Panel, Run
from jaxgames.runs.files import replace
from jaxgames.runs.processes import check_all_take_part, fetched, spread

WATCHED = 2**20
"""With at least so many games between two lines of metrics, the progress within a generation is shown."""
BLOCKS = 100  # and lines of metrics, of a whole training
MEASUREMENTS = 20  # and checkpoints, of a whole training, if it has as many blocks

OF_GAMES = ("score", "sides", "most_plies", "common")
"""Settings of the games by which candidates are judged."""

Champions = Float32[np.ndarray, "champions dimension"]


class EvolutionCheckpoint(NamedTuple):
    """All that a training needs to continue with the same bits, and its champions so far."""

    champions: Champions
    state: Any


class Measures(NamedTuple):
    """How a recipe measures its champions.

    `quick(network, champions, games, seed)` gives metrics during training, among them `strength`, by which champions
    are kept, and the number of the best of them; `thorough`, with the same arguments, what the results say of them;
    `panels(metrics)` the learning curve. Those that are `exact` draw nothing by lot, for any number of games.
    """

    quick: Callable[[NetworkConfig, Champions, int, int], tuple[dict[str, Any], int]]
    thorough: Callable[[NetworkConfig, Champions, int, int], dict[str, Any]]
    panels: Callable[[Sequence[Mapping[str, Any]]], list[Panel]]
    exact: bool = False


class TextForm(NamedTuple):
    """How networks are written to files and read again: `is_writable(network)` says which, `write(network, genomes)`
    makes the text, and `read(network, path)` the genomes of a file.
    """

    is_writable: Callable[[NetworkConfig], bool]
    write: Callable[[NetworkConfig, Champions], str]
    read: Callable[[NetworkConfig, Path], Float32[Array, "n dimension"]]


@dataclasses.dataclass(frozen=True)
class EvolutionRecipe(Recipe):
    """An evolution of networks for one game: named settings, the first of them the usual ones, and how champions are
    measured. `fitnesses` are those by which candidates may be judged without games, by name.
    """

    kind = "evolution"
    name: str
    summary: str
    settings: Mapping[str, EvolutionConfig]
    measures: Measures
    show_result: Callable[[Mapping[str, Any]], None]
    published: tuple[Mapping[str, Any], ...] = ()
    fitnesses: Mapping[str, Any] = dataclasses.field(default_factory=dict)
    judged: str = "best"
    """Which champions the results describe: the `best` of all that were measured, or the `last` ones."""
    text_form: TextForm | None = None
    """How each generation's networks are written into the run folder, if they are."""
    measured_games: int = 1_000
    final_games: int = 10_000
    several_processes: bool = True
    """Populations may be split over processes."""

    @property
    def game(self) -> str:
        """The game, by its id."""
        return next(iter(self.settings.values())).network.game

    @override
    def length(self) -> str:
        usual = next(iter(self.settings.values()))
        return f"{usual.generations:,} {usual.unit}"

    @override
    def config(self, plan: Plan) -> EvolutionConfig:
        setting = plan.setting_of(self.name, self.game, self.settings)
        config = with_changes(self.settings[setting], plan.changes)
        evolution = evolution_of(config, 1, self.fitnesses)
        one = evolution.games(1)
        for name in OF_GAMES:
            if not one and name in plan.changes:
                raise ValueError(f"{setting} plays no games while it evolves: {name} has no effect")
        for name in ("measured_games", "final_games"):
            if self.measures.exact and getattr(plan, name) is not None:
                raise ValueError(f"{self.name} measures networks exactly: --{name.replace('_', '-')} has no effect")
        if plan.games is not None:
            if "generations" in plan.changes:
                raise ValueError("give --games or --set generations=N, not both")
            if not one:
                raise ValueError(f"{setting} plays no games while it evolves: give --set generations=N, not --games")
            config = dataclasses.replace(config, generations=max(1, round(plan.games / one)))
        return config

    @property
    @override
    def reads_networks(self) -> bool:  # type: ignore[override]
        return self.text_form is not None

    @override
    def check(self, plan: Plan) -> None:
        config = self.config(plan)
        self._first_networks(plan, config)

    @override
    def begin(self, plan: Plan, path: str, report: Report) -> Training:
        # The networks that it begins with are written as those of generation 0.
        training, config = super().begin(plan, path, report), self.config(plan)
        networks = self._first_networks(plan, config)
        if networks is not None and self.text_form is not None:
            write_networks(training.run, 0, self.text_form.write(config.network, networks))
        return training

    def _first_networks(self, plan: Plan, config: EvolutionConfig) -> Champions | None:
        """The networks of the plan's file. Raises `ValueError` if it holds none, or others than the setting can begin
        with.
        """
        if plan.from_file is None or self.text_form is None:
            return None
        networks = self.text_form.read(config.network, Path(plan.from_file))
        try:
            jax.eval_shape(config.strategy(None).init_from, jax.random.key(0), networks)
        except ValueError as error:
            raise ValueError(f"{plan.from_file}: {error}") from None
        return np.asarray(networks)

    @override
    def details(self, plan: Plan) -> dict[str, Any]:
        # Generations are rounded up to whole blocks.
        config = self.config(plan)
        devices = check_devices(config, plan.devices)
        # By itself a training in one process takes all devices: the last of them may have less to do.
        if plan.devices is not None or jax.process_count() > 1:
            check_shares({"population": config.most_devices}, devices)
        per_line = config.generations_per_line or -(-config.generations // min(BLOCKS, config.generations))
        config = dataclasses.replace(config, generations=-(-config.generations // per_line) * per_line)
        config.check_memory(devices)
        kept, games = config.champion_every, evolution_of(config, 1, self.fitnesses).games
        return {
            "game": self.game,
            "devices": devices,
            **content_of(config),
            "from_file": plan.from_file,
            "champions": config.champions,
            "generations_per_line": per_line,
            **({"kept": {"first": games(1), "every": games(kept)}} if kept else {}),
        }

    @override
    def job(self, run: Run, report: Report) -> "EvolutionJob":
        return EvolutionJob(self, run, report)

    @override
    def show(self, result: Mapping[str, Any]) -> None:
        self.show_result(result)


class Watched:
    """Moves the progress bar, once a second, while the candidates of a generation play: devices call it, in threads of
    their own.
    """

    def __init__(self, population: int, generations: int, report: Report):
        self.population, self.generations, self.report = population, generations, report
        self.begin(0)

    def begin(self, step: int) -> None:
        """Of the generations after so many."""
        self.step, self.candidates, self.began, self.told = step, 0, 0.0, 0.0

    def __call__(self, candidates: int) -> None:
        """So many more begin to play."""
        now, done = time.monotonic(), self.candidates
        self.candidates += candidates
        if not done:  # before this everything was compiled
            self.began = self.told = now
        elif now > self.told + 1:
            self.told = now
            generation, within = divmod(done, self.population)
            text = f"generation {self.step + generation + 1:,}, {within:,} of {self.population:,}, "
            text += f"{done / (now - self.began):,.0f} candidates/s"
            self.report.moving((self.step + done / self.population) / self.generations, text)


class EvolutionJob(Job[EvolutionCheckpoint]):
    """A training by evolution: a step is a generation."""

    step_name = "generation"
    keys = ("generations_per_line",)
    recipe: EvolutionRecipe

    def __init__(self, recipe: EvolutionRecipe, run: Run, report: Report):
        super().__init__(recipe, run, report)
        self.config = config_of(self.settings)
        self.devices = check_devices(self.config, self.settings["devices"])
        self.per_line = self.settings["generations_per_line"]
        self.evolution = evolution_of(self.config, self.devices, recipe.fitnesses)
        self.watched: Watched | None = None
        seen = not report.quiet and jax.process_count() == 1 and self.evolution.games(self.per_line) >= WATCHED
        if seen and isinstance(self.config, PopulationConfig):
            self.watched = Watched(self.config.population, self.config.generations, report)
            self.evolution = dataclasses.replace(self.evolution, watch=self.watched)
        self.strategy = self.evolution.strategy
        self.snapshots = snapshots_of(run)
        self.more = tuple(jax.eval_shape(lambda key: self.strategy.metrics(self.strategy.init(key)), jax.random.key(0)))

    @override
    def template(self) -> EvolutionCheckpoint:
        state = jax.eval_shape(self.strategy.init, jax.random.key(0))
        return EvolutionCheckpoint(champions_template(self.run), state)

    @override
    def start(self, checkpoint: EvolutionCheckpoint | None) -> EvolutionCheckpoint:
        if checkpoint is None:
            checkpoint = EvolutionCheckpoint(np.zeros((0, 0), np.float32), self._first_state())
        mesh = self.evolution.mesh
        return checkpoint if mesh is None else checkpoint._replace(state=spread(checkpoint.state, mesh))

    def _first_state(self) -> Any:
        key, form = jax.random.key(self.settings["seed"]), self.recipe.text_form
        if form is None or not self.settings.get("from_file"):
            return jax.jit(self.strategy.init)(key)
        first = networks_file(self.run, 0)
        if not first.exists():
            raise ValueError(f"{self.run.path} was ended before its first networks were there: begin anew elsewhere")
        return jax.jit(self.strategy.init_from)(key, form.read(self.config.network, first))

    @override
    def advance(self, checkpoint: EvolutionCheckpoint, step: int) -> Block[EvolutionCheckpoint]:
        if self.watched:
            self.watched.begin(step)
        state, scores = advance(self.evolution, checkpoint.state, self.per_line)
        self._write_networks(scores.networks, step)
        self._keep_champions(scores.champion, step)
        step += self.per_line
        if self.config.generations_per_line:  # the champion meets the one 25,000 games younger
            champion = evolved("champion", state.champion, self.config.network)
            state = state._replace(tests=after_test(state.tests, champion))
        champions, diversity, more = fetched(summarize(self.evolution, state))
        if self.config.generations_per_line:
            self.snapshots.put(step // self.per_line - 1, champions[0])
        entry = {
            "step": step,
            "games": self.evolution.games(step),
            "fitness": float(np.asarray(scores.best)[-1]),
            "fitness_mean": float(np.asarray(scores.mean)[-1]),
            "diversity": float(diversity),
            **{name: float(value) for name, value in more.items()},
        }
        counts = {"games": self.evolution.games(self.per_line), "generations": self.per_line}
        return Block(EvolutionCheckpoint(champions, state), entry, counts, finite=bool(np.all(np.isfinite(champions))))

    def _keep_champions(self, champions: Array | None, step: int) -> None:
        """Keeps those champions of the generations after `step` that joined former ones, if any are met."""
        every = self.config.champion_every
        if every is None or champions is None:
            return
        joined = np.arange(-(-step // every) * every, step + self.per_line, every)
        rows = fetched(champions)[joined - step]
        if jax.process_index() == 0:
            for number, champion in zip(joined // every, rows, strict=True):
                self.snapshots.put(int(number), champion)

    def _write_networks(self, networks: Array | None, step: int) -> None:
        form = self.recipe.text_form
        if form is None or networks is None or not form.is_writable(self.config.network):
            return
        for number, of_generation in enumerate(np.asarray(networks), step + 1):
            write_networks(self.run, number, form.write(self.config.network, of_generation))

    @override
    def progress(self, checkpoint: EvolutionCheckpoint, step: int) -> float:
        return step / self.config.generations

    @override
    def is_measured(self, step: int) -> bool:
        blocks = self.config.generations // self.per_line
        return step // self.per_line % max(1, blocks // MEASUREMENTS) == 0

    @override
    def checkpoint(self, checkpoint: EvolutionCheckpoint) -> EvolutionCheckpoint:
        # All arrays on this process' own device.
        return checkpoint._replace(state=fetched(checkpoint.state))

    @override
    def measure(self, checkpoint: EvolutionCheckpoint, entry: Mapping[str, Any]) -> dict[str, Any]:
        # Champions are kept if none before were better, the best of them first.
        champions, games, seed = checkpoint.champions, self.settings["measured_games"], self.settings["seed"]
        measured, best = self.recipe.measures.quick(self.config.network, champions, games, seed)
        kept = self.run.best_info()
        if kept is None or measured["strength"] >= kept["strength"]:
            ordered = np.concatenate([champions[best : best + 1], np.delete(champions, best, axis=0)])
            info = {"step": entry["step"], "games": entry["games"], "strength": measured["strength"]}
            self.run.save_best(ordered, info)
        return measured

    @override
    def draw(self, checkpoint: EvolutionCheckpoint) -> None:
        x = "games" if self.evolution.games(1) else "step"
        more = [Panel(name.replace("_", " "), {name: name.replace("_", " ")}, from_zero=True) for name in self.more]
        self.run.draw_curve(x=x, panels=[*self.recipe.measures.panels(self.run.metrics()), *more])
        archive = self.strategy.archive(checkpoint.state)
        if archive is not None:
            self.run.draw_archive(archive)

    @override
    def results(self, checkpoint: EvolutionCheckpoint) -> dict[str, Any]:
        # The champions are measured with dice of their own.
        self.report.say("measuring the champions ...")
        if self.recipe.judged == "last":
            champions = np.asarray(self.run.restore(self.template())[1].champions)
        else:
            champions = np.asarray(self.run.load_best(champions_template(self.run))[1])
        games, seed = self.settings["final_games"], self.final_seed
        return {
            **{name: self.settings[name] for name in ("game", "seed", "devices")},
            "games": self.evolution.games(self.config.generations),
            "generations": self.config.generations,
            "kept": self.run.best_info(),
            **({"archive": str(archive)} if (archive := self.run.path / "archive.png").exists() else {}),
            **self.recipe.measures.thorough(self.config.network, champions, games, seed),
            "published": [dict(published) for published in self.recipe.published],
        }


def evolution_of(config: EvolutionConfig, devices: int = 1, fitnesses: Mapping[str, Any] | None = None) -> Evolution:
    """A setting at work, whose candidates meet players by their names and may be judged by these fitnesses.

    Raises `ValueError` for opponents that are not known, or that a compiled generation cannot ask.
    """
    return Evolution(config, devices, opponent, tuple(sorted((fitnesses or {}).items())))


def opponent(name: str, game: Game) -> Player:
    """A player that candidates meet. Raises `ValueError` for one in plain Python, and one that learns over a game."""
    player = make_player(name, game)
    if player.on_host:
        raise ValueError(f"opponent {name} runs as plain Python, which cannot be part of a compiled generation")
    if player.learns:
        raise ValueError(f"opponent {name} learns over a game, which opponents do not; leave out keep=1")
    return player


def networks_file(run: Run, generation: int) -> Path:
    """Where the networks of a generation are written."""
    return run.path / "networks" / f"generation-{generation:06d}.txt"


def write_networks(run: Run, generation: int, text: str) -> None:
    """Writes the networks of a generation."""
    path = networks_file(run, generation)
    path.parent.mkdir(exist_ok=True)
    replace(path, text.encode())


def check_devices(config: EvolutionConfig, asked: int | None) -> int:
    """The devices to use. Raises `ValueError` if there are not so many, or the strategy uses one only."""
    available = jax.device_count()
    if config.most_devices == 1:
        for place, more in (("process", jax.process_count() > 1), ("device", asked not in (None, 1))):
            if more:
                raise ValueError(f"{config.name} runs on one {place}; strategies of one population can be split")
        return 1
    devices = min(available, config.most_devices) if asked is None else asked
    device_mesh(devices, "population")  # raises if there are not so many
    check_all_take_part(devices)
    return devices
