"""From a recipe and a data folder to what the loop needs."""

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import torch
from safetensors.torch import load_file, save_file
from tokenizers import Tokenizer
from torch import Tensor

from model.config import ModelConfig, preset
from model.digits import examples, read_mnist, to_input, to_labels
from model.text import train_tokenizer
from model.train.corpus import Corpus, tokenize
from model.train.recipe import Recipe
from model.train.sources import mnist_folder, reviews
from model.train.task_digits import Digits
from model.train.task_reviews import MaskedTokens, Masking, Sentiment
from model.train.tasks import Task
from model.train.teacher import soft_labels

HELD_OUT = 2500  # or a tenth, of less than 25,000
DIGIT_PROBES = (3, 18)  # test digits by index: a plain 0, and a 3 that is easily misread
REVIEW_PROBES = (
    "It is not a bad film.",
    "The actors are good, but the story is dull and far too long.",
    "I expected nothing, and yet I laughed, I cried and I want to see it again.",
)
WINDOW = 128


@dataclass(frozen=True, slots=True, kw_only=True)
class Setting:
    """What a run needs besides its recipe."""

    config: ModelConfig
    tasks: dict[str, Task]  # by Phase.task
    probes: Sequence[str | np.ndarray]  # the inputs of the film
    probe_names: Sequence[str]
    tokenizer: Tokenizer | None
    data: dict  # which data set, how much of it
    state: Path
    device: torch.device


def setting(recipe: Recipe, data: Path, runs: Path, device: torch.device) -> Setting:
    """`data` is the folder of the data sets, `runs` that of the run's own state."""
    make = _reviews if preset(recipe.preset).is_text else _digits
    return make(recipe, data, runs, device)


def _digits(recipe: Recipe, data: Path, runs: Path, device: torch.device) -> Setting:
    """MNIST's training digits; the last 2,500 are held out."""
    config = preset(recipe.preset)
    images, labels = read_mnist(mnist_folder(data), "train")
    images, labels = to_input(images, config), to_labels(labels)
    n = len(labels) - min(HELD_OUT, len(labels) // 10)
    parts = (images[:n], labels[:n]), (images[n:], labels[n:])
    probes = examples()[0]
    return Setting(
        config=config,
        tasks={"digits": Digits(*parts, strength=1.0), "gently changed digits": Digits(*parts, strength=0.5)},
        probes=[probes[index] for index in DIGIT_PROBES],
        probe_names=[f"test digit {index}" for index in DIGIT_PROBES],
        tokenizer=None,
        data={"name": "MNIST", "train": n, "held_out": len(labels) - n},
        state=runs / "state.safetensors",
        device=device,
    )


def _reviews(recipe: Recipe, data: Path, runs: Path, device: torch.device) -> Setting:
    """IMDB's training reviews; 2,500 labelled ones are held out, from vocabulary and pre-training as well."""
    config = preset(recipe.preset)
    table = reviews(data)
    labels = table.label.to_numpy()
    labelled = np.random.default_rng(0).permutation(np.flatnonzero(labels >= 0))
    held_out = labelled[: min(HELD_OUT, len(labelled) // 10)]
    # Some reviews stand in the set twice.
    kept = np.flatnonzero(~table.text.isin(table.text[held_out]))
    texts = table.text[kept].tolist()
    tokenizer, corpus, positive = _prepared(texts, labels[kept], config, runs.parent)
    table.loc[held_out].to_csv(runs.parent / "imdb-held-out.csv", index=False)
    unseen = tokenize(tokenizer, table.text[held_out].tolist())
    hiding = {share: Masking(corpus, config.vocab_size, share) for share in (0.15, 0.07)}
    return Setting(
        config=config,
        tasks={
            "masked tokens": MaskedTokens(corpus, unseen, hiding[0.15], window=WINDOW),
            "sentiment": Sentiment(
                (corpus, positive),
                (unseen, torch.tensor(labels[held_out])),
                hiding[0.07],
                n_positions=config.n_positions,
                masked_token_weight=0.2,
            ),
        },
        probes=REVIEW_PROBES,
        probe_names=REVIEW_PROBES,
        tokenizer=tokenizer,
        data={
            "name": "IMDB",
            "train": int((labels[kept] >= 0).sum()),
            "unlabelled": int((labels[kept] < 0).sum()),
            "held_out": len(held_out),
        },
        state=runs / "state.safetensors",
        device=device,
    )


def _prepared(
    texts: list[str], labels: np.ndarray, config: ModelConfig, folder: Path
) -> tuple[Tokenizer, Corpus, Tensor]:
    """Tokenizer, token ids and soft labels, made once in `folder` and shared by a pair of runs."""
    stem = f"imdb-{config.vocab_size}"
    words, ids, positive = (folder / f"{stem}-{part}" for part in ("words.json", "ids", "positive"))
    folder.mkdir(parents=True, exist_ok=True)
    if not positive.exists():
        tokenizer = train_tokenizer(texts, config.vocab_size, config.n_positions)
        tokenizer.save(str(words))
        tokenize(tokenizer, texts).save(ids)
        beside = positive.with_suffix(".new")  # comes last and whole, and says that all is there
        save_file({"positive": torch.from_numpy(soft_labels(texts, labels))}, beside)
        beside.replace(positive)
    return Tokenizer.from_file(str(words)), Corpus.read(ids), load_file(positive)["positive"]
