"""One sentence on each training task."""

from collections.abc import Iterable, Mapping, Sequence
from itertools import groupby

import streamlit as st

from app_pages.toolkit.markdown import plain
from model.checkpoint.training_history import tasks as training_tasks
from viz.builders.number_format import percent_with_error, standard_error

TASKS = {
    "digits": "which digit is it? Each picture is rotated, sheared, scaled, shifted and bent at random every time.",
    "gently changed digits": "the same with changes half as large, so closer to the test digits.",
    "unchanged digits": "which digit is it? Pictures as in the data set.",
    "masked tokens, short windows": "predict tokens hidden as in BERT (Devlin et al. 2019), in windows of a "
    "sentence or two: the neighbours are the only evidence.",
    "masked tokens": "the same in windows of a paragraph.",
    "sentiment of pieces": "is this piece of a review positive? The target is the probability given by a "
    "teacher: a linear classifier on runs of one to three words, trained on the labelled reviews.",
    "sentiment": "is the whole review positive? The target is the label, or for unlabelled reviews the "
    "probability given by the same teacher. Masked tokens are still predicted, so that this is not forgotten.",
    "sentiment, two teachers": "the same, with the mean log-odds of two teachers for the unlabelled reviews; the second is a linear "
    "classifier on document vectors (latent semantic analysis).",
    "short sentences": "is the sentence positive? Phrases and sentences rated by people, generated sentences "
    "in which a “not” decides, and a few reviews.",
    "sentences": "the same with more reviews, and with reviews that a person edited to reverse their "
    "sentiment: is each version positive, and which of the two is?",
    "sentences, more reviews": "the same with twice as many whole reviews.",
    "sentences and edits": "the same with more sentences in which a “not” decides, and with the sentences that "
    "differ between a review and its edited version.",
    "sentences, edits and reviews": "the same with more edits and reviews, and with sentences that were written one by "
    "one. It begins at the mean of the weights of three earlier encoders.",
    "sentences, edits and pieces": "phrases, sentences and edits as the review encoders learn them, and pieces "
    "of reviews.",
    "true labels": "is the review positive? By its label alone, with no pre-training.",
}

# Names in plain words, where the one in the recording takes some explaining.
_TITLES = {
    "masked tokens, short windows": "hidden words, short texts",
    "masked tokens": "hidden words",
    "sentiment of pieces": "pieces of reviews",
    "sentiment": "whole reviews",
    "sentiment, two teachers": "whole reviews, better labels",
}

# Held-out examples behind an accuracy of the film: how many of what, as `n_glance` of the tasks has them. Of masked tokens there
# are as many as a few texts hide.
GLANCES = {
    **dict.fromkeys(("digits", "gently changed digits", "unchanged digits"), (500, "digits")),
    **dict.fromkeys(
        ("sentiment of pieces", "sentiment", "sentiment, two teachers", "true labels"), (200, "reviews")
    ),
    **dict.fromkeys(
        (
            "short sentences",
            "sentences",
            "sentences, more reviews",
            "sentences and edits",
            "sentences, edits and reviews",
            "sentences, edits and pieces",
        ),
        (40, "sentences"),
    ),
}


def title_of(task: str) -> str:
    """The name of a recorded task, as the page shows it."""
    return _TITLES.get(task, task)


def judged_on(tasks: Iterable[str]) -> str:
    """Name of the data that a run's accuracies were measured on: the training digits if the run used all of them, else held-out
    data.
    """
    return "training digits" if set(tasks) == {"unchanged digits"} else "held-out data"


def results_sentence(histories: Mapping[str, dict]) -> str:
    """Share of the test examples that each encoder classifies correctly after training, by its name, as Markdown."""
    results = (f"**{name}** {_result_text(history)}" for name, history in histories.items())
    return f"After training, correctly classified: {', '.join(results)}."


def _result_text(history: dict) -> str:
    figures = history.get("figures")
    if not figures:
        return "not measured"
    share, n = figures["accuracy"], figures["n"]
    return f"{percent_with_error(share, standard_error(share, n), 2)} of {n:,} {plain(figures['data'])}"


def why_curves_end_elsewhere(histories: Iterable[dict]) -> str:
    """A sentence on accuracies during training that are not of the examples of the final result; "" if all are."""
    for history in histories:
        figures, last = history.get("figures"), (history.get("evaluations") or [{}])[-1]
        task = [*training_tasks(history)][-1:]
        if figures and task and task[0] in GLANCES and (n := last.get("n", figures["n"])) != figures["n"]:
            return (
                f"The accuracy curves end at other numbers: during training other examples were tested, in the last task {n:,} "
                f"{GLANCES[task[0]][1]}."
            )
    return ""


def explain(tasks: Iterable[str]) -> None:
    """Draws a folded list that explains the training tasks; nothing if none of them is known."""
    explained = [task for task in dict.fromkeys(tasks) if task in TASKS]
    if explained:
        with st.expander("What the tasks are"):
            st.markdown("\n".join(f"- **{title_of(task)}**: {TASKS[task]}" for task in explained))


def task_names_text(tasks: Sequence[str]) -> str:
    """Names of the tasks, numbered in order of training; consecutive phases with the same task are named once."""
    titles = [title_of(task) for task, _ in groupby(tasks)]
    return " · ".join(f"{number} {title}" for number, title in enumerate(titles, 1))
