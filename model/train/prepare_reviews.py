"""Training tasks on IMDB reviews; 2,500 labelled reviews are held out, also from the vocabulary and the pre-training."""

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
from ..files.content import new_folder, replacement_file
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
PIECE = 16, 96  # smallest and largest number of tokens
CONTRACTION = re.compile(r" ' (?=(?:t|s|m|d|re|ve|ll)\b)")  # in decoded text: "don ' t"


@dataclass(frozen=True, slots=True)
class Reviews:
    """Texts and labels (0 negative, 1 positive, -1 unknown) of the reviews for training, and of the held-out reviews."""

    texts: list[str]
    labels: np.ndarray
    held_out_texts: list[str]
    held_out_labels: np.ndarray


def prepare_reviews(
    config: ModelConfig, data: Path, runs: Path, device: torch.device, tokenizer: Tokenizer | None = None
) -> TrainingSetup:
    """Setup with three kinds of tasks: masked tokens, sentiment with labels from teachers, and sentences.

    `tokenizer` is that of the checkpoint to train further; if it is None, a tokenizer is trained on the reviews.
    """
    edited = edited_reviews(data)
    table = split_reviews(data, runs.parent, excluded=edited.text[edited.split == "dev"])
    make = train_tokenizer if tokenizer is None else lambda *_: tokenizer
    tokenizer, corpus = _tokenizer_and_corpus(table.texts, config, runs.parent, make)
    pieces = corpus.pieces(*PIECE)
    positive = _teacher_probabilities(table, tokenizer, corpus, pieces, runs.parent)
    held_out = tokenize(tokenizer, table.held_out_texts)
    frequent, rare = (TokenMasking(config.vocab_size or 0, share) for share in (0.15, 0.07))

    def sentiment(reviews: Corpus, labels: Tensor) -> Sentiment:
        return Sentiment(
            (reviews, labels),
            (held_out, torch.from_numpy(table.held_out_labels)),
            rare,
            n_positions=config.n_positions,
            masked_token_weight=0.2,
        )

    tasks: dict[str, Any] = {
        "masked tokens, short windows": MaskedTokens(corpus, held_out, frequent, window=SHORT_WINDOW),
        "masked tokens": MaskedTokens(corpus, held_out, frequent, window=WINDOW),
        "sentiment of pieces": sentiment(pieces, positive["pieces"]),
        "sentiment": sentiment(corpus, positive["by words"]),
        "sentiment, two teachers": sentiment(corpus, positive["by both"]),
    }
    n_labelled = int((table.labels >= 0).sum())
    counts = {"train": n_labelled, "unlabelled": len(table.labels) - n_labelled}
    treebank = phrases(data)
    write_evaluation_sets(runs.parent, held_out_sets(treebank, edited))
    tasks |= sentence_tasks(
        tokenizer,
        treebank,
        without_held_out_pairs(edited, table),
        tasks["sentiment, two teachers"],
        tasks["sentiment of pieces"],
        config.n_positions,
    )
    names = ("phrases", "sentences", "made_sentences", "edited_sentences", "edited_reviews")
    # the last part, whole reviews, is counted already
    for name, part in zip(names, tasks["sentences and edits"].parts, strict=False):
        counts[name] = part.task.n_examples
    return make_setup(config, tasks, tokenizer, counts, table, runs, device)


def prepare_words(config: ModelConfig, data: Path, runs: Path, device: torch.device) -> TrainingSetup:
    """Data, task and files to train an encoder whose tokens are words on the true labels of reviews, without teachers.

    In addition to the held-out reviews, a random tenth of the others is held out.
    """
    table = split_reviews(data, runs.parent)
    labelled = np.random.default_rng(0).permutation(np.flatnonzero(table.labels >= 0))
    tenth_indices, training_indices = np.split(labelled, [len(labelled) // 10])
    tenth_texts, texts = (
        [table.texts[index] for index in indices] for indices in (tenth_indices, training_indices)
    )
    with replacement_file(runs.parent / "imdb-random-tenth.csv") as file:
        pd.DataFrame({"label": table.labels[tenth_indices], "text": tenth_texts}).to_csv(file, index=False)
    tokenizer, corpus = _tokenizer_and_corpus(texts, config, runs.parent, train_word_tokenizer)
    task = TrueLabels(
        (corpus, torch.from_numpy(table.labels[training_indices])),
        (tokenize(tokenizer, table.held_out_texts), torch.from_numpy(table.held_out_labels)),
        (tokenize(tokenizer, tenth_texts), torch.from_numpy(table.labels[tenth_indices])),
        n_positions=config.n_positions,
    )
    counts = {"train": len(training_indices), "random_tenth": len(tenth_indices)}
    return make_setup(config, {"true labels": task}, tokenizer, counts, table, runs, device)


def split_reviews(data: Path, folder: Path, excluded: Iterable[str] = ()) -> Reviews:
    """Training and held-out reviews, always split in the same way; the held-out reviews are also written into `folder`.

    Reviews that begin like one of `excluded` are in neither set.

    Reviews of one film follow one another in the data set, and mostly agree. Consecutive reviews are held out, so that the
    name of a film does not give the label away; in the test data, the films are others than in training, too.
    """
    table = reviews(data)
    labels = table.label.to_numpy()
    held_out = np.concatenate([_held_out_stretches(np.flatnonzero(labels == label)) for label in (0, 1)])
    held_out = np.random.default_rng(0).permutation(held_out)  # so that the first ones are of both classes
    is_held_out = table.text.isin(table.text[held_out])  # by text: some reviews occur twice
    is_excluded = table.text.map(review_opening).isin(set(map(review_opening, excluded)))
    train_indices = np.flatnonzero(~(is_held_out | is_excluded))
    folder.mkdir(parents=True, exist_ok=True)
    with replacement_file(folder / "imdb-held-out.csv") as file:
        table.loc[held_out].to_csv(file, index=False)
    return Reviews(
        table.text[train_indices].tolist(),
        labels[train_indices],
        table.text[held_out].tolist(),
        labels[held_out],
    )


def without_held_out_pairs(edited: pd.DataFrame, table: Reviews) -> pd.DataFrame:
    """The table `edited` without those training pairs (original and edited review) one of which is a held-out review."""
    openings = set(map(review_opening, table.held_out_texts))
    overlapping = edited.pair.isin(edited.pair[edited.text.map(review_opening).isin(openings)])
    return edited[~overlapping | (edited.split == "dev")]


def review_opening(text: str) -> str:
    """The first forty letters and digits of a text, which identify a review even if its spacing was changed."""
    return re.sub(r"<br />|[\W_]", "", text.lower())[:40]


def _held_out_stretches(indices: Int[np.ndarray, " review"]) -> Int[np.ndarray, " held_out"]:
    """The first tenth of each fifth of the indices: consecutive reviews to hold out."""
    return np.concatenate([fifth[: len(fifth) // 10] for fifth in np.array_split(indices, 5)])


def make_setup(
    config: ModelConfig,
    tasks: dict,
    tokenizer: Tokenizer,
    counts: dict[str, int],
    table: Reviews,
    runs: Path,
    device: torch.device,
) -> TrainingSetup:
    """Setup of a run on reviews; `counts` holds the numbers of training examples by kind, for the checkpoint's history."""
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


def _tokenizer_and_corpus(
    texts: list[str], config: ModelConfig, runs: Path, make: Callable[..., Tokenizer]
) -> tuple[Tokenizer, Corpus]:
    """Tokenizer, which `make` trains on the texts, and token ids of the texts.

    They are computed once in the folder `runs`, and shared by all runs of the same vocabulary size and number of positions.
    """

    def fill(folder: Path) -> None:
        tokenizer = make(texts, config.vocab_size, config.n_positions)
        tokenizer.save(str(folder / "words.json"))
        tokenize(tokenizer, texts).save(folder / "ids")

    folder = _cached_folder(runs, texts, f"{config.vocab_size}-{config.n_positions}-tokens", fill)
    return Tokenizer.from_file(str(folder / "words.json")), Corpus.read(folder / "ids")


def _teacher_probabilities(
    table: Reviews, tokenizer: Tokenizer, corpus: Corpus, pieces: Corpus, runs: Path
) -> dict[str, Tensor]:
    """Probability of being positive, of each review ("by words", "by both") and of each piece ("pieces").

    For a labelled review it is the label; for others it comes from the word teacher, or from the mean log-odds of both
    teachers. Pieces are too short for the document teacher. Teachers read no more of a review than the encoder does.
    """

    def fill(folder: Path) -> None:
        # Imported late: scikit-learn and SciPy take two and a half seconds, which a run with stored labels can save.
        from scipy.special import expit

        from .teacher import document_teacher, word_teacher

        review_texts = _decoded_texts(tokenizer, corpus)
        truncation = tokenizer.truncation
        assert truncation is not None, "tokenizers of encoders truncate long texts"
        ends = _decoded_texts(tokenizer, corpus, truncation["max_length"] - 2)
        words, documents = (fit(review_texts, table.labels) for fit in (word_teacher, document_teacher))
        by_words = words.log_odds(ends)
        by_both = (by_words + documents.log_odds(ends)) / 2
        positive = {
            "pieces": expit(words.log_odds(_decoded_texts(tokenizer, pieces))),
            "by words": np.where(table.labels < 0, expit(by_words), table.labels),
            "by both": np.where(table.labels < 0, expit(by_both), table.labels),
        }
        save_file(
            {name: torch.from_numpy(values).float() for name, values in positive.items()}, folder / "positive"
        )

    code = Path(__file__).with_name("teacher.py").read_text(encoding="utf-8") + inspect.getsource(fill)
    inputs = (*table.texts, str(table.labels.tolist()), str(PIECE), tokenizer.to_str(), code)
    return load_file(_cached_folder(runs, inputs, "soft-labels", fill) / "positive")


def _cached_folder(runs: Path, inputs: Iterable[str], name: str, fill: Callable[[Path], None]) -> Path:
    """Folder with the results of `fill`, which is called only if there are no results for these `inputs`.

    If two runs compute them at the same time, the folder of the run that finishes first is kept.
    """
    digest = hashlib.sha256("\n".join(inputs).encode()).hexdigest()[:8]
    folder = runs / f"imdb-{digest}-{name}"
    if not folder.exists():
        with new_folder(folder) as new_path:
            fill(new_path)
            with suppress(OSError):  # another run was faster
                new_path.rename(folder)
    return folder


def _decoded_texts(tokenizer: Tokenizer, corpus: Corpus, n_tokens: int | None = None) -> list[str]:
    """Text of each review or piece, or of its last `n_tokens` tokens, as the teachers read it."""
    rows = (corpus[index] for index in range(len(corpus)))
    ids = [(row if n_tokens is None else end_of_review(row, n_tokens)).tolist() for row in rows]
    return [CONTRACTION.sub("'", text) for text in tokenizer.decode_batch(ids)]
