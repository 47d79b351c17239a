"""Tree search with real networks in Connect Four: simulations per second beside mctx, and beside the network alone.

Gumbel, PUCT and the search level by level, which mctx has not, with an MLP of 256-256 units and with a residual tower
of 3 blocks of 32 channels. Every simulation evaluates one new position, so the limit is the network alone: as many
evaluations of the same batch, nothing else. mctx is measured by blocks of its best size, and with the faster of pgx's
game and ours. All searches are of the same positions, a few random actions from the opening, and the visits at the root
are compared. Programs: `_search.py`.
"""

import argparse
import sys
from collections.abc import Callable
from typing import Any, NamedTuple

import _search as programs
import jax
import jax.numpy as jnp
import numpy as np
from _common import begin, finish, names, numbers, one_line_errors, parsed, parser, peer, rate
from _figures import Comparison, Figure, Report
from _search import MCTX, MCTX_PGX, OURS, Search, measured

from jaxgames.nets import InBlocks

TITLE = "Tree search with networks: simulations per second"
GAME = "connect_four"
POLICIES = tuple(policy for policy in programs.POLICIES if policy != "OneRound")  # which makes few simulations only
LIMIT = "the network alone"
BLOCKS = {"linear": (4, 16, 64, 256, 1024), "mlp": (4, 16, 64, 256, 1024), "residual": (16, 64, 256)}
"""Sizes of blocks that mctx is tried with on a CPU. Other devices search all positions at once."""
LEFT_OUT = {"residual": ((1024, 128),)}
"""Positions x simulations that would take minutes."""
LEAVES = 256
"""Ours searches all positions at once, and on a CPU the tower sees so many leaves at once; alone it does, too."""
HIDDEN, CHANNELS, TOWER = 256, 32, 3


def main() -> int:
    """All policies, networks and sizes."""
    options = parser(TITLE, repeats=3)
    options.add_argument("--against", type=names(("mctx",), "none"), default=["mctx"], help="mctx or none")
    options.add_argument("--policies", type=names(POLICIES), default=list(POLICIES), help=f"of {','.join(POLICIES)}")
    options.add_argument(
        "--networks", type=names(tuple(NETWORKS)), default=["mlp", "residual"], help="linear,mlp,residual"
    )
    options.add_argument("--batch", type=numbers, default=[64, 256, 1024], help="positions (default 64,256,1024)")
    options.add_argument("--simulations", type=numbers, default=[32, 128], help="of each position (default 32,128)")
    options.add_argument("--seconds", type=float, default=0.5, help="of each repeat, at least (default 0.5)")
    options = parsed(options)
    if options.quick:
        options.repeats, options.seconds, options.batch, options.simulations = 1, 0.01, [8], [8]
        options.policies, options.networks = options.policies[:1], options.networks[:1]
    begin()
    report = Report("search_networks", TITLE)
    options.against = [name for name in options.against if peer(name)]
    for network in options.networks:
        for simulations in options.simulations:
            batches = [batch for batch in options.batch if (batch, simulations) not in LEFT_OUT.get(network, ())]
            for batch in sorted(set(options.batch) - set(batches)):
                report.notes.append(f"{NETWORKS[network][0]}, {batch:,} x {simulations} is left out for its time")
            if batches:
                one_length(report, network, batches, simulations, options)
    report.notes.append("Gumbel is without noise for both, so that root visits can be compared")
    report.notes.append("the residual tower has no normalisation: 3 x 3 convolutions, skips, a policy and a value head")
    return finish(report, options, ("mctx", "pgx"))


def one_length(report: Report, network: str, batches: list[int], simulations: int, options: argparse.Namespace) -> None:
    """All batches, with as many simulations of each position."""
    setting = Setting.of(network, max(batches), simulations, options)
    forms = block_speeds(report, setting) if options.against else {}
    for batch in batches:
        states = {by: programs.first(states, batch) for by, states in setting.states.items()}
        one_size(report, setting._replace(states=states), forms, options)


class Setting(NamedTuple):
    """What is searched: the games and the same positions in each, by library, and the network."""

    name: str
    network: Callable
    params: Any
    simulations: int
    games: dict[str, Any]
    states: dict[str, Any]

    @classmethod
    def of(cls, network: str, batch: int, simulations: int, options: argparse.Namespace) -> "Setting":
        """Positions after a few random actions, and weights."""
        game, key = programs.make(GAME), jax.random.key(options.seed)
        states, actions = jax.jit(lambda key: programs.actions_played(game, key, batch))(key)
        games, found = {OURS: game}, {OURS: states}
        if options.against:
            games[MCTX], found[MCTX] = game, states
            if (env := programs.pgx_game(GAME)) is not None:
                games[MCTX_PGX], found[MCTX_PGX] = env, jax.jit(lambda x: programs.replayed(env, x))(actions)
        make, apply = NETWORKS[network][1:]
        return cls(network, apply, make(game, key), simulations, games, found)

    def mctx(self, by: str, policy: str) -> Callable:
        """mctx's search of one of the games."""
        return programs.mctx(self.games[by], self.simulations, self.network, policy)


def block_speeds(report: Report, setting: Setting) -> dict[tuple[str, int], float]:
    """Simulations/s of mctx's Gumbel search by game and block size, from short runs.

    All sizes are tried with one game, and the best of them with the other.
    """
    found: dict[tuple[str, int], float] = {}
    for by in (MCTX_PGX, MCTX):
        if by in setting.games:
            whole = len(setting.states[by].terminated)
            tried = BLOCKS[setting.name] if jax.default_backend() == "cpu" else (whole,)
            sizes = [max(found, key=found.__getitem__)[1]] if found else tried
            search, states = setting.mctx(by, "Gumbel"), setting.states[by]
            rates = programs.best_blocks(search, setting.params, states, setting.simulations, sizes)
            found |= {(by, block): speed for block, speed in rates.items()}
    tried = ", ".join(f"{block} ({by.removeprefix('mctx with ')}) {speed:,.0f}" for (by, block), speed in found.items())
    report.notes.append(f"{title(setting)}, x {setting.simulations}: mctx's simulations/s by blocks of {tried}")
    return found


def one_size(
    report: Report, setting: Setting, forms: dict[tuple[str, int], float], options: argparse.Namespace
) -> None:
    """The network alone, and both policies beside mctx."""
    simulations, batch = setting.simulations, len(setting.states[OURS].terminated)
    amount, size = batch * simulations, f"{batch:,} x {simulations}"
    arguments = setting.params, setting.states[OURS]
    blocked = setting.name == "residual" and jax.default_backend() == "cpu"
    network = InBlocks(setting.network, LEAVES) if blocked else setting.network
    alone = Search(LIMIT, evaluations(network, simulations), arguments, amount, options.seconds)
    fitting = [form for form in forms if form[1] <= batch] or list(forms)
    for policy in options.policies:
        searches = [alone]
        if fitting and policy not in programs.OURS_ALONE:
            by, block = max(fitting, key=forms.__getitem__)
            theirs = setting.mctx(by, policy), setting.params, setting.states[by]
            searches.append(programs.by_blocks(by, *theirs, simulations, block, forms[by, block], options.seconds))
        ours = programs.ours(setting.games[OURS], simulations, network, policy)
        searches.append(Search(OURS, ours, arguments, amount, options.seconds))
        row, figures, shares = f"Connect Four, {policy}, {title(setting)}, {size}", [], []
        for search, timings in zip(searches, measured(searches, options.repeats), strict=True):
            more = {"compile_seconds": search.compile_seconds}
            figures.append(report.add(rate(row, search.name, "simulations/s", timings, **more)))
            pairs = zip(figures[-1].values, figures[0].values, strict=True)
            values = tuple(100 * value / most for value, most in pairs)
            shares.append(report.add(Figure(f"{row}: of what {LIMIT} does", search.name, "%", values, form=".0f")))
        for of_one in (figures[1:], shares[1:]):
            report.comparisons.append(Comparison(of_one[-1].what, of_one[-1], of_one[0] if len(of_one) > 1 else None))
        for theirs in searches[1:-1]:
            programs.compare_visits(report, row, searches[-1], theirs)


def title(setting: Setting) -> str:
    """The network as people call it."""
    return NETWORKS[setting.name][0]


def evaluations(apply: Any, simulations: int) -> Any:
    """As many evaluations of a batch as a search makes, one after the other."""

    def run(params, states, key):
        observation = states.observation

        def evaluate(number, total):
            logits, value = apply(params, observation ^ (total[0] > 1e30))  # never, but the compiler does not know
            return total + value + jnp.max(logits, axis=1)

        return (jax.lax.fori_loop(0, simulations, evaluate, jnp.zeros(len(observation))),)

    return run


def mlp(game: Any, key: jax.Array) -> list[tuple[jax.Array, jax.Array]]:
    """Weights and biases of a network with two hidden layers: logits and, last, the value."""
    sizes = (int(np.prod(game.observation_shape)), HIDDEN, HIDDEN, game.num_actions + 1)
    keys = jax.random.split(key, 3)
    return [
        (jax.random.normal(each, shape) * (2 / shape[0]) ** 0.5, jnp.zeros(shape[1]))
        for each, shape in zip(keys, zip(sizes, sizes[1:], strict=False), strict=True)
    ]


def apply_mlp(params: Any, observation: jax.Array) -> tuple[jax.Array, jax.Array]:
    """Logits and values of a batch of observations."""
    x = observation.reshape(len(observation), -1).astype(jnp.float32)
    for kernel, bias in params[:-1]:
        x = jax.nn.relu(x @ kernel + bias[None])
    x = x @ params[-1][0] + params[-1][1][None]
    return x[:, :-1], jnp.tanh(x[:, -1])


def residual(game: Any, key: jax.Array) -> dict[str, Any]:
    """The weights of a tower of convolutions with a policy and a value head."""
    rows, columns, planes = game.observation_shape
    keys = iter(jax.random.split(key, 2 * TOWER + 5))

    def kernel(*shape):
        return jax.random.normal(next(keys), shape) * (2 / np.prod(shape[:-1])) ** 0.5

    return {
        "stem": kernel(3, 3, planes, CHANNELS),
        "tower": [(kernel(3, 3, CHANNELS, CHANNELS), kernel(3, 3, CHANNELS, CHANNELS)) for _ in range(TOWER)],
        "policy": (kernel(1, 1, CHANNELS, 2), kernel(2 * rows * columns, game.num_actions)),
        "value": (kernel(1, 1, CHANNELS, 1), kernel(rows * columns, 1)),
    }


def apply_residual(params: Any, observation: jax.Array) -> tuple[jax.Array, jax.Array]:
    """Logits and values of a batch of observations."""

    def convolve(x, kernel):
        return jax.lax.conv_general_dilated(x, kernel, (1, 1), "SAME", dimension_numbers=("NHWC", "HWIO", "NHWC"))

    x = jax.nn.relu(convolve(observation.astype(jnp.float32), params["stem"]))
    for one, other in params["tower"]:
        x = jax.nn.relu(x + convolve(jax.nn.relu(convolve(x, one)), other))

    def head(planes, dense):
        return jax.nn.relu(convolve(x, planes)).reshape(len(x), -1) @ dense

    return head(*params["policy"]), jnp.tanh(head(*params["value"])[:, 0])


NETWORKS: dict[str, tuple[str, Callable, Callable]] = {
    "linear": ("linear network", programs.linear, programs.apply),
    "mlp": ("MLP 256-256", mlp, apply_mlp),
    "residual": ("residual 3 x 32", residual, apply_residual),
}
"""Title, weights and evaluation of the networks."""


if __name__ == "__main__":
    with one_line_errors():
        sys.exit(main())
