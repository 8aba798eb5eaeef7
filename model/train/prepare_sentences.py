"""Phrases and sentences, edited reviews and negation, to be learned beside reviews; and what is judged on."""

from pathlib import Path

import numpy as np
import pandas as pd
import torch
from tokenizers import Tokenizer

from ..files.writing import replacing
from .corpus import Corpus, tokenize
from .edits import changed_sentences
from .negation import JUDGED_ON, NEGATES, negation_sentences
from .task_reviews import Sentiment, TokenMasking
from .task_sentences import CombinedTask, EditedPairs, WeightedTask

# of being positive, for the treebank's ratings
POSITIVE = np.array([0.03, 0.17, 0.5, 0.83, 0.97], np.float32)
NEUTRAL_SHARE = 0.25  # of the neutral phrases; with all of them half of what is learned would say nothing
NEGATION_SHARE = 1.5  # made sentences of which negation is learned, for each of the phrases


def sentence_tasks(
    tokenizer: Tokenizer,
    treebank: pd.DataFrame,
    edited: pd.DataFrame,
    reviews: Sentiment,
    pieces: Sentiment,
    n_positions: int,
) -> dict[str, CombinedTask]:
    """`edited` holds the pairs that may be learned from (split train) and those that are judged on (split dev).

    `reviews` and their `pieces` are learned beside them.
    """
    learned = treebank[treebank.split == "train"]

    def labelled(texts: list[str], positive: np.ndarray) -> Sentiment:
        masking = TokenMasking(tokenizer.get_vocab_size(), share=0.0)
        train = tokenize(tokenizer, texts), torch.from_numpy(np.asarray(positive, np.float32))
        return Sentiment(train, reviews.held_out, masking, n_positions=n_positions, masked_token_weight=0.0)

    chosen = _phrases(learned)
    made = negation_sentences(int(NEGATION_SHARE * len(chosen)), learned, seed=0)
    phrases, whole = (
        labelled(table.text.tolist(), POSITIVE[table.rating])
        for table in (chosen, learned[learned.whole == 1])
    )
    negation = labelled([text for text, _ in made], np.array([positive for _, positive in made]))
    versions = edited[edited.split == "train"].pivot(index="pair", columns="label", values="text")
    pairs = _pairs(tokenizer, list(zip(versions[0], versions[1], strict=True)), n_positions)
    changed = [
        pair for texts in zip(versions[0], versions[1], strict=True) for pair in changed_sentences(*texts)
    ]
    edits = _pairs(tokenizer, changed, n_positions)
    parts = {
        "short sentences": [
            WeightedTask(phrases, weight=1.0, share=1.0),
            WeightedTask(whole, weight=0.7, share=1 / 4),
            WeightedTask(negation, weight=1.5, share=2.0),
            WeightedTask(reviews, weight=0.5, share=1 / 48),
        ],
        "sentences": [
            WeightedTask(phrases, weight=1.0, share=1.0),
            WeightedTask(whole, weight=0.7, share=3 / 8),
            WeightedTask(negation, weight=1.2, share=3 / 2),
            WeightedTask(pairs, weight=1.0, share=1 / 13),
            WeightedTask(reviews, weight=1.5, share=1 / 8),
        ],
        "sentences, more reviews": [
            WeightedTask(phrases, weight=1.0, share=1.0),
            WeightedTask(whole, weight=0.7, share=3 / 8),
            WeightedTask(negation, weight=1.0, share=1.0),
            WeightedTask(pairs, weight=1.0, share=1 / 16),
            WeightedTask(reviews, weight=2.0, share=1 / 4),
        ],
        "sentences and edits": [
            WeightedTask(phrases, weight=1.0, share=1.0),
            WeightedTask(whole, weight=0.7, share=1 / 2),
            WeightedTask(negation, weight=1.5, share=5 / 2),
            WeightedTask(edits, weight=1.0, share=1 / 2),
            WeightedTask(pairs, weight=1.0, share=1 / 8),
            WeightedTask(reviews, weight=1.5, share=1 / 6),
        ],
        "sentences, edits and reviews": [
            WeightedTask(phrases, weight=1.0, share=1.0),
            WeightedTask(whole, weight=0.7, share=1 / 2),
            WeightedTask(negation, weight=1.5, share=5 / 2),
            WeightedTask(edits, weight=1.0, share=3 / 4),
            WeightedTask(pairs, weight=1.0, share=1 / 4),
            WeightedTask(reviews, weight=1.5, share=1 / 2),
        ],
        "sentences, edits and pieces": [
            WeightedTask(phrases, weight=1.0, share=1.0),
            WeightedTask(whole, weight=0.7, share=1 / 2),
            WeightedTask(negation, weight=1.5, share=2.0),
            WeightedTask(edits, weight=1.0, share=1 / 2),
            WeightedTask(pairs, weight=1.0, share=1 / 24),
            WeightedTask(pieces, weight=1.0, share=1 / 2),
        ],
    }
    held_out = {name: _held_out(tokenizer, table) for name, table in held_out_sets(treebank, edited).items()}
    held_out["reviews"] = reviews.held_out
    return {
        name: CombinedTask(of_a_step, held_out, n_positions=n_positions) for name, of_a_step in parts.items()
    }


def held_out_sets(treebank: pd.DataFrame, edited: pd.DataFrame) -> dict[str, pd.DataFrame]:
    """What is held out, by name, each with the columns text and label: never learned from."""
    own = development_sentences(treebank)
    held_out = edited[edited.split == "dev"]
    return {
        "sentences": own,
        "sentences with negation": own[own.text.str.contains(r"\b(?:not|never|no)\b|n't", case=False)],
        "edited reviews": held_out[held_out.version == "edited"],
        "their originals": held_out[held_out.version == "original"],
        "negation": pd.read_csv(JUDGED_ON),
    }


def development_sentences(treebank: pd.DataFrame) -> pd.DataFrame:
    """The treebank's development sentences that are not neutral, with the column label: 0 negative, 1 positive."""
    own = treebank[(treebank.split == "dev") & (treebank.whole == 1) & (treebank.rating != 2)]
    return own.assign(label=(own.rating > 2).astype(int))


def write_evaluation_sets(folder: Path, held_out: dict[str, pd.DataFrame]) -> None:
    """Each set as a CSV that `python -m model.evaluate` reads."""
    for name, table in held_out.items():
        with replacing(folder / f"{name.replace(' ', '-')}.csv") as file:
            table[["text", "label"]].to_csv(file, index=False)


def _phrases(learned: pd.DataFrame) -> pd.DataFrame:
    """Each phrase once, twice with a negation in it; of the neutral ones some, and none of a single word."""
    parts = learned[learned.whole == 0].drop_duplicates("text")
    rated, neutral = parts[parts.rating != 2], parts[(parts.rating == 2) & parts.text.str.contains(" ")]
    negated = rated[rated.text.str.contains(NEGATES)]
    return pd.concat([rated, negated, neutral.sample(frac=NEUTRAL_SHARE, random_state=0)])


def _pairs(tokenizer: Tokenizer, texts: list[tuple[str, str]], n_positions: int) -> EditedPairs:
    """Of (negative, positive) texts."""
    negative, positive = (tokenize(tokenizer, list(versions)) for versions in zip(*texts, strict=True))
    return EditedPairs(negative, positive, n_positions=n_positions, contrast_weight=0.5)


def _held_out(tokenizer: Tokenizer, table: pd.DataFrame) -> tuple[Corpus, torch.Tensor]:
    return tokenize(tokenizer, table.text.tolist()), torch.tensor(table.label.tolist())
