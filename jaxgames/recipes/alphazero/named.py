"""The AlphaZero trainings by name."""

from jaxgames.algos.alphazero import AlphaZeroConfig
from jaxgames.nets import NetworkSpec
from jaxgames.recipes.alphazero.recipe import AlphaZeroRecipe

_FAST = AlphaZeroConfig(batch=256, plies=8, simulations=32, steps=8, minibatch=512, buffer_plies=256)

_CONNECT_FOUR = AlphaZeroConfig(
    network=NetworkSpec("windows", (256, 256), channels=64),
    batch=512,
    plies=8,
    simulations=32,
    search="puct",
    reuse=True,
    opening_plies=12,
    result_share=0.5,
    discount=0.98,
    buffer_plies=1024,
    steps=16,
    minibatch=1024,
    ema=0.999,
    last_step_size=0.0003,
)


def _recipe(game: str, config: AlphaZeroConfig, opponents: tuple[str, ...], **others: object) -> AlphaZeroRecipe:
    tower = config.replace(form="residual", channels=32)
    settings = {
        "fast": config,
        "tower": tower,
        "gpu": tower.replace(batch=1024, dtype="bfloat16", channels=64, blocks=6),
    }
    name = f"{game.replace('_', '-')}-alphazero"
    return AlphaZeroRecipe(name, game, f"AlphaZero by search ({config.search}): {game}", settings, opponents, **others)  # type: ignore[arg-type]


TIC_TAC_TOE = _recipe(
    "tic_tac_toe",
    _FAST.replace(hidden=(128, 128), buffer_plies=64, simulations=16, opening_plies=6, result_share=0.5),
    ("random",),
    watched="random",
    minutes=5.0,
    every_line=True,
)
CONNECT_FOUR = _recipe("connect_four", _CONNECT_FOUR, ("random", "uct:100", "uct:800"), watched="uct:100")
CHECKERS = _recipe("checkers", _FAST, ("random", "alphabeta:3", "alphabeta:5"), watched="alphabeta:3")
BACKGAMMON = _recipe(
    "backgammon",
    _FAST.replace(simulations=16, opening_plies=0),
    ("random", "simple:3", "pubeval"),
    watched="pubeval",
)
