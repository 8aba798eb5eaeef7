"""What the tasks of a training run are, in a sentence each."""

from collections.abc import Iterable, Sequence
from itertools import pairwise

import streamlit as st

TASKS = {
    "digits": "which digit is it? Each comes turned, sheared, scaled, shifted and bent anew every time.",
    "gently changed digits": "the same, changed half as far: closer to the digits that the encoder will meet.",
    "unchanged digits": "which digit is it? As the data set has them.",
    "masked tokens, short windows": "in windows of a sentence or two some tokens are hidden as in BERT (Devlin et al. 2019), "
    "and the encoder says what they were. Neighbours are all there is to go by, so it soon learns that they matter.",
    "masked tokens": "the same in windows of a paragraph.",
    "sentiment of pieces": "is the review positive? For pieces of a few sentences; how likely each is positive, a teacher "
    "says: a linear classifier on words and runs of two or three, trained on the labelled reviews.",
    "sentiment": "is the whole review positive? The labelled reviews have their label, the others the probability that "
    "the same teacher gives them. Some masked tokens are asked for beside it, so that they are not forgotten.",
    "sentiment, two teachers": "the same, with the mean log-odds of two teachers; the second is a linear classifier on "
    "document vectors (latent semantic analysis).",
    "short sentences": "is the sentence positive? Phrases with people's ratings, whole sentences, and made ones in which a "
    "“not” decides; a few reviews beside them.",
    "sentences": "the same, with more reviews, and with reviews that a person edited until their sentiment turned: what is "
    "each version, and which of the two is the positive one?",
    "sentences, more reviews": "the same, with twice as many whole reviews.",
    "sentences and edits": "the same, with more sentences in which a “not” decides, and with the sentences that differ "
    "between a review and its edited version.",
    "sentences, edits and pieces": "phrases, sentences and edits as the review encoders learn them, and pieces of reviews.",
    "true labels": "is the review positive? By its label alone, with no pre-training.",
}

# Held-out examples behind an accuracy of the film, as `n_glance` of the tasks has them. Of masked tokens there are as many
# as a few texts hide.
GLANCES = {
    **dict.fromkeys(("digits", "gently changed digits", "unchanged digits"), 500),
    **dict.fromkeys(("sentiment of pieces", "sentiment", "sentiment, two teachers", "true labels"), 200),
    **dict.fromkeys(
        (
            "short sentences",
            "sentences",
            "sentences, more reviews",
            "sentences and edits",
            "sentences, edits and pieces",
        ),
        40,
    ),
}


def judged_on(tasks: Iterable[str]) -> str:
    """What a run's accuracies on the way are of: where every training digit is learned, nothing is held out."""
    return "training digits" if set(tasks) == {"unchanged digits"} else "held-out data"


def explain(tasks: Iterable[str]) -> None:
    """An entry each, folded; nothing where none is known."""
    known = [task for task in dict.fromkeys(tasks) if task in TASKS]
    if known:
        with st.expander("What was learned"):
            st.markdown("\n".join(f"- **{task}**: {TASKS[task]}" for task in known))


def in_words(tasks: Sequence[str]) -> str:
    """What was learned, one after the other."""
    named = [f"{task} again" if task == before else task for before, task in pairwise(["", *tasks])]
    return "; then ".join(named)
