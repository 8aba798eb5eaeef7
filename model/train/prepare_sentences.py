"""Training tasks on rated phrases and sentences, edited reviews and generated negations, and the evaluation sets for them."""

import re
from difflib import SequenceMatcher
from pathlib import Path

import numpy as np
import pandas as pd
import torch
from tokenizers import Tokenizer

from ..files.content import replacement_file
from .corpus import tokenize
from .negation import HELD_OUT_SENTENCES, NEGATION, negation_sentences
from .task_reviews import Sentiment, TokenMasking
from .task_sentences import CombinedTask, EditedPairs, WeightedTask

SENTENCE_END = re.compile(r"(?<=[.!?])\s+")
LONGEST = 60  # words of a sentence; a longer one is mostly a list or lacks its full stops
ALIKE = 0.4  # smallest similarity of two sentences, by words; below it they are unrelated


def changed_sentences(first: str, second: str) -> list[tuple[str, str]]:
    """Pairs of a sentence of the first text and the sentence that replaces it in the second, in order.

    If n sentences replace n others, they are paired in order; sentences that were only added or removed are left out.
    """
    old_sentences, new_sentences = (
        SENTENCE_END.split(text.replace("<br />", " ").strip()) for text in (first, second)
    )
    pairs: list[tuple[str, str]] = []
    for kind, start, end, new_start, new_end in SequenceMatcher(
        None, old_sentences, new_sentences, autojunk=False
    ).get_opcodes():
        if kind == "replace" and end - start == new_end - new_start:
            pairs += zip(old_sentences[start:end], new_sentences[new_start:new_end], strict=True)
    return [(old, new) for old, new in pairs if _is_edit(old.split(), new.split())]


def _is_edit(old: list[str], new: list[str]) -> bool:
    """Whether the short text `new` is an edited version of `old`: their words (a list each) are alike enough."""
    are_short = max(len(old), len(new)) <= LONGEST
    return are_short and SequenceMatcher(None, old, new, autojunk=False).ratio() >= ALIKE


POSITIVE = np.array([0.03, 0.17, 0.5, 0.83, 0.97], np.float32)  # probability of being positive, by rating
NEUTRAL_SHARE = 0.25  # share of the neutral phrases used; all of them would be half of the phrases
NEGATION_SHARE = 1.5  # generated sentences with a negation, for each phrase


def sentence_tasks(
    tokenizer: Tokenizer,
    treebank: pd.DataFrame,
    edited: pd.DataFrame,
    reviews: Sentiment,
    pieces: Sentiment,
    n_positions: int,
) -> dict[str, CombinedTask]:
    """Training tasks by name, each a combination of tasks on phrases, sentences, negations, edits, and reviews or pieces of
    them.

    `edited` holds the edited reviews and their originals; those whose split is "dev" are only in the evaluation sets.
    `reviews` and `pieces` are the tasks on whole reviews and on pieces of reviews; texts are cut to `n_positions` tokens.
    """
    training = treebank[treebank.split == "train"]

    def labelled(texts: list[str], positive: np.ndarray) -> Sentiment:
        masking = TokenMasking(tokenizer.get_vocab_size(), share=0.0)
        train = tokenize(tokenizer, texts), torch.from_numpy(np.asarray(positive, np.float32))
        return Sentiment(train, reviews.held_out, masking, n_positions=n_positions, masked_token_weight=0.0)

    def pairs_of(texts: list[tuple[str, str]]) -> EditedPairs:
        negative, positive = (tokenize(tokenizer, list(versions)) for versions in zip(*texts, strict=True))
        return EditedPairs(negative, positive, n_positions=n_positions, contrast_weight=0.5)

    phrase_table = select_phrases(training)
    generated_sentences = negation_sentences(int(NEGATION_SHARE * len(phrase_table)), training, seed=0)
    phrase_task, sentence_task = (
        labelled(table.text.tolist(), POSITIVE[table.rating])
        for table in (phrase_table, training[training.whole == 1])
    )
    negation_task = labelled(
        [text for text, _ in generated_sentences], np.array([positive for _, positive in generated_sentences])
    )
    versions = edited[edited.split == "train"].pivot(index="pair", columns="label", values="text")
    review_pairs = list(zip(versions[0], versions[1], strict=True))
    pair_task = pairs_of(review_pairs)
    edit_task = pairs_of([sentences for texts in review_pairs for sentences in changed_sentences(*texts)])
    # Besides the phrases: task, weight of its loss, and examples for each phrase.
    other_parts: dict[str, list[tuple[Sentiment | EditedPairs, float, float]]] = {
        "short sentences": [(sentence_task, 0.7, 1 / 4), (negation_task, 1.5, 2.0), (reviews, 0.5, 1 / 48)],
        "sentences": [
            (sentence_task, 0.7, 3 / 8),
            (negation_task, 1.2, 3 / 2),
            (pair_task, 1.0, 1 / 13),
            (reviews, 1.5, 1 / 8),
        ],
        "sentences, more reviews": [
            (sentence_task, 0.7, 3 / 8),
            (negation_task, 1.0, 1.0),
            (pair_task, 1.0, 1 / 16),
            (reviews, 2.0, 1 / 4),
        ],
        "sentences and edits": [
            (sentence_task, 0.7, 1 / 2),
            (negation_task, 1.5, 5 / 2),
            (edit_task, 1.0, 1 / 2),
            (pair_task, 1.0, 1 / 8),
            (reviews, 1.5, 1 / 6),
        ],
        "sentences, edits and reviews": [
            (sentence_task, 0.7, 1 / 2),
            (negation_task, 1.5, 5 / 2),
            (edit_task, 1.0, 3 / 4),
            (pair_task, 1.0, 1 / 4),
            (reviews, 1.5, 1 / 2),
        ],
        "sentences, edits and pieces": [
            (sentence_task, 0.7, 1 / 2),
            (negation_task, 1.5, 2.0),
            (edit_task, 1.0, 1 / 2),
            (pair_task, 1.0, 1 / 24),
            (pieces, 1.0, 1 / 2),
        ],
    }
    held_out = {
        name: (tokenize(tokenizer, table.text.tolist()), torch.tensor(table.label.tolist()))
        for name, table in held_out_sets(treebank, edited).items()
    }
    held_out["reviews"] = reviews.held_out
    return {
        name: CombinedTask(
            [WeightedTask(phrase_task, 1.0, 1.0), *(WeightedTask(*values) for values in parts)],
            held_out,
            n_positions=n_positions,
        )
        for name, parts in other_parts.items()
    }


def held_out_sets(treebank: pd.DataFrame, edited: pd.DataFrame) -> dict[str, pd.DataFrame]:
    """Evaluation sets by name, each a table with the columns text and label (0 negative, 1 positive)."""
    sentences = development_sentences(treebank)
    held_out = edited[edited.split == "dev"]
    return {
        "sentences": sentences,
        "sentences with negation": sentences[
            sentences.text.str.contains(r"\b(?:not|never|no)\b|n't", case=False)
        ],
        "edited reviews": held_out[held_out.version == "edited"],
        "their originals": held_out[held_out.version == "original"],
        "negation": pd.read_csv(HELD_OUT_SENTENCES),
    }


def development_sentences(treebank: pd.DataFrame) -> pd.DataFrame:
    """Sentences of the treebank's development split, without neutral ones, with a column label (0 negative, 1 positive)."""
    sentences = treebank[(treebank.split == "dev") & (treebank.whole == 1) & (treebank.rating != 2)]
    return sentences.assign(label=(sentences.rating > 2).astype(int))


def write_evaluation_sets(folder: Path, held_out: dict[str, pd.DataFrame]) -> None:
    """Writes each evaluation set as a CSV that `python -m model.evaluate` reads."""
    for name, table in held_out.items():
        with replacement_file(folder / f"{name.replace(' ', '-')}.csv") as file:
            table[["text", "label"]].to_csv(file, index=False)


def select_phrases(training: pd.DataFrame) -> pd.DataFrame:
    """Positive and negative phrases, those with a negation twice, and a sample of the neutral phrases of several words."""
    phrases = training[training.whole == 0].drop_duplicates("text")
    rated = phrases[phrases.rating != 2]
    neutral = phrases[(phrases.rating == 2) & phrases.text.str.contains(" ")]
    negated = rated[rated.text.str.contains(NEGATION)]
    return pd.concat([rated, negated, neutral.sample(frac=NEUTRAL_SHARE, random_state=0)])
