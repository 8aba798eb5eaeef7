"""`python -m tests.model.train.small ...` is `python -m model.train ...` with small encoders of the same kinds.

Their recipes are short: half of the epochs, and each task once.
"""

from dataclasses import replace

from model import config
from model.train import recipes
from model.train.__main__ import main

PAIRS = ("mnist-pre-ln", "mnist-post-ln", "imdb-pre-ln", "imdb-post-ln")
PRESETS = {
    name: replace(config.preset(name), d_model=32, n_heads=2, d_k=16, d_v=16, d_ff=64, n_layers=2)
    for name in PAIRS
}


def short(full: recipes.Recipe) -> recipes.Recipe:
    once = {phase.task: replace(phase, epochs=phase.epochs / 2) for phase in full.phases}
    return replace(full, phases=tuple(once.values()))


RECIPES = {name: short(recipes.recipe(name)) for name in PAIRS}

if __name__ == "__main__":
    config._PRESETS |= PRESETS
    recipes._RECIPES |= RECIPES
    main()
