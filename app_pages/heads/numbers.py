"""Numbers of every head: on this input and, where measured, over a data set."""

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np
import streamlit as st

from app_pages.controls.control_bar import Slots
from app_pages.controls.estimated_work import wanted
from app_pages.controls.heads_controls import HERE, NUMBERS_OF
from app_pages.heads.columns import COLUMNS
from app_pages.heads.effects import as_vectors, each_head, forwards_of_heads
from app_pages.subject.cache import of
from app_pages.subject.stored_results import over
from app_pages.subject.subject import LiveSubject, Subject
from app_pages.toolkit.markdown import plain
from app_pages.toolkit.stoppable import until_done
from model.atlas.data_source import Spread
from model.atlas.results import HeadResults
from model.checkpoint import available, read_config
from model.experiments import knock_out
from model.experiments.importance import importance
from model.measures.head_roles import ON_ONE_INPUT, HeadRole, possible_roles, roles_from_numbers
from model.measures.head_statistics import statistics, statistics_of_even_weights
from model.record import AttentionRecord, ForwardRecord
from viz.builders.number_format import percent

BACKWARD = 3  # forwards that a forward with gradients and its backward take, about


@dataclass(frozen=True, kw_only=True)
class Numbers:
    record: AttentionRecord
    here: Mapping[str, np.ndarray]  # [layer, head], by the names of `COLUMNS`
    spreads: Mapping[str, Spread]  # the same over a data set; empty where nothing is stored
    data: str  # such as "256 MNIST test digits", in Markdown
    samples: Mapping[str, int]  # of what was measured on fewer of them, on how many
    chance: Mapping[str, np.ndarray] | None  # what even weights would give here; None over a data set
    unknown: float  # share of the tokens of the data set that the vocabulary lacks
    first: str  # which of the two is compared and gives names, `HERE` or `OVER`

    @property
    def values(self) -> dict[str, np.ndarray]:
        """The compared numbers [layer, head] by column name, in the order of `COLUMNS`."""
        by_name = (
            self.here if self.first == HERE else {name: each.mean for name, each in self.spreads.items()}
        )
        return {name: by_name[name] for name in COLUMNS if name in by_name}

    @property
    def shape(self) -> tuple[int, int]:
        return self.record.pattern.shape[:2]

    def roles(self, layer: int, head: int) -> tuple[HeadRole, ...]:
        return roles_from_numbers(self.record, self.values, layer, head, self.chance)


def choose_numbers(subject: Subject, slots: Slots) -> Numbers:
    """Numbers of all heads; draws the control that chooses between this input and the data set, where both are known."""
    stored = subject.stored_heads
    shape = subject.record.pattern.shape[:2]
    spreads = (
        {} if stored is None else {k: each for k, each in stored.spreads.items() if each.mean.shape == shape}
    )
    first, data, samples, unknown = HERE, "", {}, 0.0
    if spreads:
        data, samples = plain(over(stored.source)), stored.source.samples
        unknown = stored.source.unknown or 0.0
        with slots.controls:
            first = NUMBERS_OF.choose(help=f"The data set is {data}.")
    here = subject.measure(statistics)
    if isinstance(subject, LiveSubject):
        here = here | effects(subject, stored)
    return Numbers(
        record=subject.record,
        here=here,
        spreads=spreads,
        data=data,
        samples=samples,
        chance=statistics_of_even_weights(subject.record) if first == HERE else None,
        unknown=unknown,
        first=first,
    )


def say_source(subject: Subject, numbers: Numbers) -> None:
    """Writes why there are no numbers over a data set, or on how much of it they were measured."""
    if numbers.unknown:
        share = percent(numbers.unknown, below="<")
        st.caption(f"Of the tokens of {numbers.data}, {share} are unknown to this tokenizer.")
    if not isinstance(subject, LiveSubject):
        st.caption("A record holds one input, so these are the numbers of that input alone.")
    elif numbers.spreads and not {"importance", "zero"} <= set(numbers.spreads):
        st.caption(
            f"What a head is worth: {how_to_measure(subject.checkpoint, '--with importance,ablation')}"
        )
    elif numbers.samples:
        names: dict[int, list[str]] = {}
        for name, n in numbers.samples.items():
            if name in COLUMNS:
                names.setdefault(n, []).append(COLUMNS[name].title)
        counts = [f"{n:,} of them: {', '.join(titles)}" for n, titles in names.items()]
        st.caption(f"Not measured on all of the data set, but on {'; on '.join(counts)}.")
    elif not numbers.spreads:
        st.caption(f"These are the numbers of this input alone. {how_to_measure(subject.checkpoint)}")


def explained(numbers: Numbers) -> None:
    """Draws a folded explanation of each column, with its formula, and of each role."""
    with st.expander("What the numbers mean", icon=":material/function:"):
        st.markdown("$A_{ij}$ is the attention weight of query $i$ on key $j$.")
        st.markdown(
            "\n".join(
                f"- **{COLUMNS[name].title}**: {in_words(numbers, name)}. :gray[{_formula(numbers, name)}.]"
                for name in numbers.values
            )
        )
        st.markdown(
            f"Roles are names for what these numbers say, each by a rule of this app's own thresholds; {ON_ONE_INPUT}:"
        )
        st.markdown("\n".join(f"- **{role.name}**: {role.rule}." for role in possible_roles(numbers.record)))


def in_words(numbers: Numbers, name: str) -> str:
    """Description of the column `name`, as plain text."""
    return COLUMNS[name].words.replace("{units}", numbers.record.units)


def _formula(numbers: Numbers, name: str) -> str:
    answer, record = "cosine distance of the pooled state", numbers.record
    loss = r"here $\ln |p|$ of the pooled state $p$"
    if isinstance(record, ForwardRecord) and (predicted := record.predicted_class) is not None:
        answer = f"size of the change of the log-odds of {plain(record.class_names[predicted])}"
        loss = "here the cross-entropy with the predicted class (Michel et al. take the right one)"
    formula = COLUMNS[name].formula.replace("{answer}", answer).replace("{loss}", loss)
    return formula.replace("{units}", record.units)


def how_to_measure(name: str, *options: str) -> str:
    """Sentence with the command that stores the missing numbers; for an encoder from elsewhere the user fills in its folder."""
    clause = "this was not measured" if options else "nothing is stored"
    return f"Over a data set {clause} for this encoder: `{command(name, *options)}` measures it."


def command(name: str, *options: str) -> str:
    words = ["python -m model.atlas", name if name in available() else "FOLDER"]
    words += ["--data FILE.csv"] if read_config(name).is_text else []
    return " ".join([*words, *options])


def effects(subject: LiveSubject, stored: HeadResults | None) -> dict[str, np.ndarray]:
    """Importance, and size of the answer's change with each head ablated, each [layer, head].

    If that takes long, draws a button and returns {} until it is pressed.
    """
    before = subject.record
    means = None if stored is None else stored.z
    if means is not None and means.shape != before.z.shape[:2] + before.z.shape[-1:]:
        means = None
    n_ablations = 1 if means is None else 2
    n_forwards = BACKWARD + n_ablations * forwards_of_heads(before)
    work_key = ("effects", subject, n_ablations)
    label = f"Measure what each of the {before.pattern.shape[0] * before.pattern.shape[1]} heads is worth on this input"
    if not wanted(subject, work_key, n_forwards, label, "heads_effects"):
        return {}
    with until_done(work_key):
        result = {"importance": of(importance, subject.checkpoint, (subject.given,))[0]}
        result["zero"] = knock_out.effects(before, each_head(subject, None))
        if means is not None:
            result["mean"] = knock_out.effects(before, each_head(subject, as_vectors(means)))
    return result
