"""A training task whose labels are answers of a reading teacher and of both review encoders as they are shipped, together.

Encoders that err on different texts are right more often together than any of them (Hansen and Salamon 1990).
"""

import hashlib
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pandas as pd
import torch
from jaxtyping import Float, Int
from safetensors.numpy import load_file, save_file
from tokenizers import Tokenizer
from torch import Tensor

from ..checkpoint import load
from ..config import ModelConfig
from ..files.writing import replacing
from ..loaded import Loaded
from .corpus import Corpus, tokenize
from .datasets import edited_reviews, phrases
from .edits import SENTENCE_END, changed_sentences
from .negation import negation_sentences
from .prepare_reviews import make_setup, split_reviews, without_held_out_pairs
from .prepare_sentences import (
    NEGATION_SHARE,
    POSITIVE,
    held_out_sets,
    select_phrases,
    write_evaluation_sets,
)
from .reading_teacher import ReadingTeacher, rows_of, state_file
from .task_reviews import Sentiment, TokenMasking, pad_ends
from .task_sentences import CombinedTask, EditedPairs, WeightedTask
from .training_setup import TrainingSetup

TAUGHT = "taught by a reader"
PAIR = "imdb-pre-ln", "imdb-post-ln"
BATCH_SIZE = 32
UNLABELLED_REVIEWS = 8_000  # that the teacher labels; a run sees hardly more
REVIEW_SENTENCES = 60_000
WORDS = 4, 40  # fewest and most of a sentence of a review
SURE = 0.97  # probability of a true label
MASKED_TOKEN_WEIGHT = 0.2

LogOdds = Callable[[list[str]], Float[np.ndarray, " text"]]


def prepare_taught(
    config: ModelConfig, data: Path, runs: Path, device: torch.device, tokenizer: Tokenizer, encoder: Path
) -> TrainingSetup:
    """Setup with the one task whose labels are a teacher's: the imported encoder in the folder `encoder`, fine-tuned.

    Raises FileNotFoundError if it was not fine-tuned in the folder of runs.
    """
    state = state_file(runs.parent)
    if not state.exists():
        raise FileNotFoundError(
            f"{state} is missing: python -m model.train.fine_tune {encoder} trains the teacher"
        )
    edited, treebank = edited_reviews(data), phrases(data)
    table = split_reviews(data, runs.parent, excluded=edited.text[edited.split == "dev"])
    write_evaluation_sets(runs.parent, held_out_sets(treebank, edited))
    teacher = ReadingTeacher.trained(encoder, state)
    stamp = hashlib.sha256(state.read_bytes()).hexdigest()
    held_out = tokenize(tokenizer, table.held_out_texts), torch.from_numpy(table.held_out_labels)
    task = taught_task(
        tokenizer,
        table.texts,
        table.labels,
        held_out,
        treebank,
        without_held_out_pairs(edited, table),
        config.n_positions,
        stored(together(teacher, [load(name, "cpu") for name in PAIR]), state.parent, stamp),
    )
    names = (
        "phrases",
        "sentences",
        "review_sentences",
        "made_sentences",
        "edited_sentences",
        "edited_reviews",
    )
    n_labelled = int((table.labels >= 0).sum())
    counts = {"train": n_labelled, "unlabelled": task.parts[-1].task.n_examples - n_labelled}
    # the last part, whole reviews, is counted already
    counts |= {name: part.task.n_examples for name, part in zip(names, task.parts, strict=False)}
    return make_setup(config, {TAUGHT: task}, tokenizer, counts, table, runs, device)


def taught_task(
    tokenizer: Tokenizer,
    texts: list[str],
    labels: Int[np.ndarray, " review"],
    held_out: tuple[Corpus, Int[Tensor, " held_out"]],
    treebank: pd.DataFrame,
    edited: pd.DataFrame,
    n_positions: int,
    log_odds: LogOdds,
) -> CombinedTask:
    """The task on phrases, sentences, sentences of reviews, made sentences, edits and reviews.

    `texts` and `labels` (0, 1, or -1 if unknown) are the reviews, `log_odds` the teacher's answers. A rated phrase has the
    mean of its rating's and the teacher's probability as its label, a labelled review its label.
    """
    training = treebank[treebank.split == "train"]
    random = np.random.default_rng(0)

    def sentiment(texts: list[str], positive: np.ndarray, masked_share: float = 0.0) -> Sentiment:
        train = tokenize(tokenizer, texts), torch.from_numpy(np.asarray(positive, np.float32))
        masking = TokenMasking(tokenizer.get_vocab_size(), masked_share)
        weight = MASKED_TOKEN_WEIGHT if masked_share else 0.0
        return Sentiment(train, held_out, masking, n_positions=n_positions, masked_token_weight=weight)

    def taught(table: pd.DataFrame) -> Sentiment:
        texts = table.text.tolist()
        return sentiment(texts, (POSITIVE[table.rating] + _probability(log_odds(texts))) / 2)

    def pairs_of(texts: list[tuple[str, str]]) -> EditedPairs:
        negative, positive = (tokenize(tokenizer, list(versions)) for versions in zip(*texts, strict=True))
        return EditedPairs(negative, positive, n_positions=n_positions, contrast_weight=0.5)

    phrase_table = select_phrases(training)
    made = negation_sentences(int(NEGATION_SHARE * len(phrase_table)), training, seed=0)
    versions = edited[edited.split == "train"].pivot(index="pair", columns="label", values="text")
    pairs = list(zip(versions[0], versions[1], strict=True))
    unlabelled = np.flatnonzero(labels < 0)
    unlabelled = random.permutation(unlabelled)[:UNLABELLED_REVIEWS]
    unlabelled_texts = [texts[index] for index in unlabelled]
    sentences = sentences_of(unlabelled_texts, REVIEW_SENTENCES)
    labelled = np.flatnonzero(labels >= 0)
    reviews = sentiment(
        [*(texts[index] for index in labelled), *unlabelled_texts],
        np.concatenate(
            [np.where(labels[labelled] > 0, SURE, 1 - SURE), _probability(log_odds(unlabelled_texts))]
        ),
        masked_share=0.07,
    )
    parts: list[tuple[Sentiment | EditedPairs, float, float]] = [
        (taught(phrase_table), 1.0, 1.0),
        (taught(training[training.whole == 1]), 0.7, 1 / 2),
        (sentiment(sentences, _probability(log_odds(sentences))), 1.0, 1.5),
        (sentiment([text for text, _ in made], np.array([positive for _, positive in made])), 1.5, 1.5),
        (pairs_of([sentences for texts in pairs for sentences in changed_sentences(*texts)]), 1.0, 1 / 2),
        (pairs_of(pairs), 1.0, 1 / 16),
        (reviews, 2.0, 5 / 12),
    ]
    judged = {
        name: (tokenize(tokenizer, table.text.tolist()), torch.tensor(table.label.tolist()))
        for name, table in held_out_sets(treebank, edited).items()
    }
    return CombinedTask(
        [WeightedTask(*values) for values in parts], judged | {"reviews": held_out}, n_positions=n_positions
    )


def together(teacher: ReadingTeacher, encoders: list[Loaded]) -> LogOdds:
    """The mean of the teacher's log-odds and of the encoders' own mean log-odds."""
    precision = teacher.faster_precision()

    def log_odds(texts: list[str]) -> Float[np.ndarray, " text"]:
        of_encoders = np.mean([answers_of(loaded, texts) for loaded in encoders], axis=0)
        return ((teacher.log_odds(texts, precision, announced=True) + of_encoders) / 2).astype(np.float32)

    return log_odds


def answers_of(loaded: Loaded, texts: list[str]) -> Float[np.ndarray, " text"]:
    """Log-odds that each text is positive, by a review encoder; of long texts it reads the end."""
    assert loaded.tokenizer is not None, "encoders of reviews have a tokenizer"
    corpus = tokenize(loaded.tokenizer, texts)
    order = np.argsort(corpus.lengths, kind="stable")  # batches of similar length need little padding
    log_odds = np.empty(len(corpus), np.float32)
    with torch.inference_mode():
        for start in range(0, len(order), BATCH_SIZE):
            batch = order[start : start + BATCH_SIZE]
            logits = loaded.model(pad_ends(rows_of(corpus, batch), loaded.config.n_positions))
            log_odds[batch] = (logits[:, 1] - logits[:, 0]).numpy()
    return log_odds


def sentences_of(texts: list[str], at_most: int) -> list[str]:
    """Different sentences of the texts, of neither too few nor too many words; at most so many, chosen at random."""
    fewest, most = WORDS
    found = dict.fromkeys(
        sentence
        for text in texts
        for sentence in SENTENCE_END.split(text.replace("<br />", " ").strip())
        if fewest <= len(sentence.split()) <= most
    )
    sentences = list(found)
    chosen = np.random.default_rng(0).permutation(len(sentences))[:at_most]
    return [sentences[index] for index in chosen]


def stored(log_odds: LogOdds, folder: Path, teacher_stamp: str) -> LogOdds:
    """`log_odds`, whose results are kept in `folder` and computed once for each list of texts and each teacher."""

    def answers(texts: list[str]) -> Float[np.ndarray, " text"]:
        digest = hashlib.sha256("\n".join((teacher_stamp, *texts)).encode()).hexdigest()[:16]
        path = folder / f"{digest}.safetensors"
        if not path.exists():
            values = log_odds(texts)
            folder.mkdir(parents=True, exist_ok=True)
            with replacing(path) as temporary:
                save_file({"log_odds": values}, temporary)
        return load_file(path)["log_odds"]

    return answers


def _probability(log_odds: Float[np.ndarray, " text"]) -> Float[np.ndarray, " text"]:
    return 1 / (1 + np.exp(-log_odds))
