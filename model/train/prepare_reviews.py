"""IMDB's training reviews; 2,500 labelled ones are held out, from vocabulary and pre-training as well."""

import hashlib
import inspect
import re
from collections.abc import Callable, Iterable
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import torch
from jaxtyping import Int
from safetensors.torch import load_file, save_file
from tokenizers import Tokenizer
from torch import Tensor

from ..config import ModelConfig
from ..files.writing import new_folder, replacing
from ..inputs.text import train_tokenizer, train_word_tokenizer
from .corpus import Corpus, tokenize
from .datasets import edited_reviews, phrases, reviews
from .prepare_sentences import held_out_sets, sentence_tasks, write_evaluation_sets
from .task_reviews import MaskedTokens, Sentiment, TokenMasking, TrueLabels, end_of_review
from .training_setup import TrainingSetup

PROBES = (
    "It is not a bad film.",
    "The actors are good, but the story is dull and far too long.",
    "I expected nothing, and yet I laughed, I cried and I want to see it again.",
)
SHORT_WINDOW, WINDOW = 32, 128
PIECE = 16, 96  # tokens, from and up to
CONTRACTION = re.compile(r" ' (?=(?:t|s|m|d|re|ve|ll)\b)")  # what the tokenizer makes of "don't"


@dataclass(frozen=True, slots=True)
class Reviews:
    """Texts and labels (0 negative, 1 positive, -1 unknown) to learn from, and those to be judged on."""

    texts: list[str]
    labels: np.ndarray
    held_out_texts: list[str]
    held_out_labels: np.ndarray


def prepare_reviews(
    config: ModelConfig, data: Path, runs: Path, device: torch.device, tokenizer: Tokenizer | None = None
) -> TrainingSetup:
    """For masked tokens first and the sentiment after, with a teacher's labels for what has none; sentences last.

    A run that goes on from a checkpoint brings its tokenizer along.
    """
    edited = edited_reviews(data)
    table = split_reviews(data, runs.parent, left_out=edited.text[edited.split == "dev"])
    make = train_tokenizer if tokenizer is None else lambda *_: tokenizer
    tokenizer, corpus = _tokenized(table.texts, config, runs.parent, make)
    pieces = corpus.pieces(*PIECE)
    positive = _soft_labels(table, tokenizer, corpus, pieces, runs.parent)
    unseen = tokenize(tokenizer, table.held_out_texts)
    hiding = {share: TokenMasking(config.vocab_size or 0, share) for share in (0.15, 0.07)}
    judged_on = (unseen, torch.from_numpy(table.held_out_labels))

    def sentiment(texts: Corpus, positive: Tensor) -> Sentiment:
        return Sentiment(
            (texts, positive),
            judged_on,
            hiding[0.07],
            n_positions=config.n_positions,
            masked_token_weight=0.2,
        )

    tasks: dict[str, Any] = {
        "masked tokens, short windows": MaskedTokens(corpus, unseen, hiding[0.15], window=SHORT_WINDOW),
        "masked tokens": MaskedTokens(corpus, unseen, hiding[0.15], window=WINDOW),
        "sentiment of pieces": sentiment(pieces, positive["pieces"]),
        "sentiment": sentiment(corpus, positive["by words"]),
        "sentiment, two teachers": sentiment(corpus, positive["by both"]),
    }
    known = int((table.labels >= 0).sum())
    counts = {"train": known, "unlabelled": len(table.labels) - known}
    treebank = phrases(data)
    write_evaluation_sets(runs.parent, held_out_sets(treebank, edited))
    unseen_openings = set(map(opening, table.held_out_texts))
    met = edited.pair.isin(edited.pair[edited.text.map(opening).isin(unseen_openings)])
    tasks |= sentence_tasks(
        tokenizer,
        treebank,
        edited[~met | (edited.split == "dev")],
        tasks["sentiment, two teachers"],
        tasks["sentiment of pieces"],
        config.n_positions,
    )
    of_a_step = ("phrases", "sentences", "made_sentences", "edited_sentences", "edited_reviews")
    # the reviews, which come after these, are counted already
    for name, part in zip(of_a_step, tasks["sentences and edits"].parts, strict=False):
        counts[name] = part.task.n_examples
    return _setting(config, tasks, tokenizer, counts, table, runs, device)


def prepare_words(config: ModelConfig, data: Path, runs: Path, device: torch.device) -> TrainingSetup:
    """For an encoder that learns from the labelled reviews alone, word by word."""
    table = split_reviews(data, runs.parent)
    known = np.random.default_rng(0).permutation(np.flatnonzero(table.labels >= 0))
    tenth, rest = np.split(known, [len(known) // 10])
    beside_rest = {"label": table.labels[tenth], "text": [table.texts[place] for place in tenth]}
    with replacing(runs.parent / "imdb-random-tenth.csv") as file:
        pd.DataFrame(beside_rest).to_csv(file, index=False)
    texts = [table.texts[place] for place in rest]
    tokenizer, corpus = _tokenized(texts, config, runs.parent, train_word_tokenizer)
    beside = tokenize(tokenizer, [table.texts[place] for place in tenth])
    unseen = tokenize(tokenizer, table.held_out_texts)
    task = TrueLabels(
        (corpus, torch.from_numpy(table.labels[rest])),
        (unseen, torch.from_numpy(table.held_out_labels)),
        (beside, torch.from_numpy(table.labels[tenth])),
        n_positions=config.n_positions,
    )
    counts = {"train": len(rest), "random_tenth": len(tenth)}
    return _setting(config, {"true labels": task}, tokenizer, counts, table, runs, device)


def split_reviews(data: Path, folder: Path, left_out: Iterable[str] = ()) -> Reviews:
    """The same split every time; what is held out is also left in `folder`, to be evaluated on.

    Reviews that begin like one of `left_out` are in neither part.

    Reviews of one film stand together in the set, and mostly agree. Whole stretches are held out, so that
    no film's name gives its label away: the labelled test reviews are of other films as well.
    """
    table = reviews(data)
    labels = table.label.to_numpy()
    held_out = np.concatenate([_stretches(np.flatnonzero(labels == label)) for label in (0, 1)])
    held_out = np.random.default_rng(0).permutation(held_out)  # so that the first ones are of both classes
    # Some reviews stand in the set twice.
    elsewhere = table.text.isin(table.text[held_out]) | table.text.map(opening).isin(
        set(map(opening, left_out))
    )
    kept = np.flatnonzero(~elsewhere)
    folder.mkdir(parents=True, exist_ok=True)
    with replacing(folder / "imdb-held-out.csv") as file:
        table.loc[held_out].to_csv(file, index=False)
    return Reviews(table.text[kept].tolist(), labels[kept], table.text[held_out].tolist(), labels[held_out])


def opening(text: str) -> str:
    """The first forty letters and digits: by these a review is known again when its spacing was changed."""
    return re.sub(r"<br />|[\W_]", "", text.lower())[:40]


def _stretches(places: Int[np.ndarray, " review"]) -> Int[np.ndarray, " held_out"]:
    """The first tenth of each fifth."""
    return np.concatenate([fifth[: len(fifth) // 10] for fifth in np.array_split(places, 5)])


def _setting(
    config: ModelConfig,
    tasks: dict,
    tokenizer: Tokenizer,
    counts: dict[str, int],
    table: Reviews,
    runs: Path,
    device: torch.device,
) -> TrainingSetup:
    return TrainingSetup(
        config=config,
        tasks=tasks,
        probes=PROBES,
        probe_names=PROBES,
        tokenizer=tokenizer,
        data={"name": "IMDB", **counts, "held_out": len(table.held_out_labels)},
        state=runs / "state.safetensors",
        device=device,
    )


def _tokenized(
    texts: list[str], config: ModelConfig, runs: Path, make: Callable[..., Tokenizer]
) -> tuple[Tokenizer, Corpus]:
    """Tokenizer and token ids, made once in `runs` and shared by a pair of runs."""

    def fill(folder: Path) -> None:
        tokenizer = make(texts, config.vocab_size, config.n_positions)
        tokenizer.save(str(folder / "words.json"))
        tokenize(tokenizer, texts).save(folder / "ids")

    sizes = f"{config.vocab_size}-{config.n_positions}"
    folder = _prepared(runs, texts, f"{sizes}-tokens", fill)
    return Tokenizer.from_file(str(folder / "words.json")), Corpus.read(folder / "ids")


def _soft_labels(
    table: Reviews, tokenizer: Tokenizer, corpus: Corpus, pieces: Corpus, runs: Path
) -> dict[str, Tensor]:
    """Of each review and piece the probability of being positive: its label, or else what a teacher says.

    Of reviews also what both teachers say, as the mean of their log-odds; a piece is too short for a document
    vector. They read no more of a review than the encoder does.
    """

    def fill(folder: Path) -> None:
        # As late as this: scikit-learn and SciPy take two and a half seconds, which labels that are there can do without.
        from scipy.special import expit

        from . import teacher

        whole = _in_words(tokenizer, corpus)
        truncation = tokenizer.truncation
        assert truncation is not None, "tokenizers of encoders cut long texts"
        read = _in_words(tokenizer, corpus, truncation["max_length"] - 2)
        words, documents = (
            kind.fit(whole, table.labels) for kind in (teacher.WordTeacher, teacher.DocumentTeacher)
        )
        by_words = words.log_odds(read)
        by_both = (by_words + documents.log_odds(read)) / 2
        positive = {
            "pieces": expit(words.log_odds(_in_words(tokenizer, pieces))),
            "by words": np.where(table.labels < 0, expit(by_words), table.labels),
            "by both": np.where(table.labels < 0, expit(by_both), table.labels),
        }
        save_file(
            {name: torch.from_numpy(values).float() for name, values in positive.items()}, folder / "positive"
        )

    judged_by = Path(__file__).with_name("teacher.py").read_text(encoding="utf-8") + inspect.getsource(fill)
    all_that_counts = (*table.texts, str(table.labels.tolist()), str(PIECE), tokenizer.to_str(), judged_by)
    return load_file(_prepared(runs, all_that_counts, "soft-labels", fill) / "positive")


def _prepared(runs: Path, made_of: Iterable[str], what: str, fill: Callable[[Path], None]) -> Path:
    """A folder that `fill` fills if it is not there; what is made of something else has another name.

    Two runs may begin at the same time: the folder of the first to be done counts for both.
    """
    digest = hashlib.sha256("\n".join(made_of).encode()).hexdigest()[:8]
    folder = runs / f"imdb-{digest}-{what}"
    if not folder.exists():
        with new_folder(folder) as new:
            fill(new)
            with suppress(OSError):  # it is there by now
                new.rename(folder)
    return folder


def _in_words(tokenizer: Tokenizer, corpus: Corpus, n_words: int | None = None) -> list[str]:
    """Each review or piece, or as much of it as is read of `n_words`, in the words that the teacher counts."""
    rows = (corpus[place] for place in range(len(corpus)))
    read = [(row if n_words is None else end_of_review(row, n_words)).tolist() for row in rows]
    return [CONTRACTION.sub("'", text) for text in tokenizer.decode_batch(read)]
