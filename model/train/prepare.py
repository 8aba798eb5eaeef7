"""From a recipe and a data folder to what the loop needs."""

from pathlib import Path

import torch

from model.config import preset
from model.train.prepare_digits import prepare_digits
from model.train.prepare_reviews import prepare_reviews, prepare_words
from model.train.recipe import Recipe
from model.train.setting import Setting


def prepare(recipe: Recipe, data: Path, runs: Path, device: torch.device) -> Setting:
    """`data` is the folder of the data sets, `runs` that of the run's own state."""
    config = preset(recipe.preset)
    if not config.is_text:
        make = prepare_digits
    elif config.masked_token_output:
        make = prepare_reviews
    else:
        make = prepare_words
    return make(config, data, runs, device)
