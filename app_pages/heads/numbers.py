"""Numbers of every head: on this input and, where measured, over a data set."""

from collections.abc import Iterable, Mapping
from contextlib import suppress
from dataclasses import dataclass, replace
from functools import partial
from typing import Any, NamedTuple

import numpy as np
import streamlit as st
from streamlit.delta_generator import DeltaGenerator

from app_pages.controls.answer_choice import choose_answer
from app_pages.controls.control_bar import Slots
from app_pages.controls.estimated_work import is_wanted
from app_pages.controls.head_choice import HeadChoice
from app_pages.controls.heads_controls import HERE, NUMBERS_OF, OVER
from app_pages.controls.map_controls import HEAD, LAYER
from app_pages.controls.pages import ATTENTION, INSIDE_A_HEAD, Page, go_to
from app_pages.heads.columns import COLUMNS
from app_pages.heads.effects import answers_without_each_head, as_hashable_means, n_forwards_of_heads
from app_pages.inputs.row import choose_usable_encoder
from app_pages.subject import as_python
from app_pages.subject.answer import DISTANCE_HEADING, Answer, WordAnswer, whole_answer
from app_pages.subject.cache import Checkpoint, loaded, of
from app_pages.subject.head_name import head_names
from app_pages.subject.stored_results import examples_phrase, results_expression, table_of
from app_pages.subject.subject import LiveSubject, Subject
from app_pages.toolkit.expression import Expression, call, named
from app_pages.toolkit.markdown import plain
from app_pages.toolkit.stoppable import until_done
from model.atlas.results import HEADS, PARTS, HeadResults, read_heads, read_rows
from model.atlas.running_moments import Spread
from model.checkpoint import available, read_config
from model.config import ModelConfig
from model.decompositions.answer_parts import answer_parts
from model.experiments.ablation import ablate_heads, importance
from model.measures.head_roles import (
    ON_ONE_INPUT,
    HeadRole,
    has_too_few_positions,
    possible_roles,
    roles_from_numbers,
)
from model.measures.head_statistics import statistics, statistics_of_even_weights
from model.record import AttentionRecord
from viz.builders.number_format import fall_in_words, format_number, head_name, percent
from viz.heads.part_grids import effect_decimals
from viz.heads.relation_charts import BestHead

LINKS = {ATTENTION: "Open in Attention", INSIDE_A_HEAD: "Step by step"}
ABLATION_COLUMNS = ("zero", "mean")  # columns that say what becomes of the answer without a head
ANSWER_COLUMNS = ("adds", "importance", *ABLATION_COLUMNS)
FORWARDS_OF_IMPORTANCE = 3  # forwards that a forward with gradients and its backward take, about


class Head(NamedTuple):
    """A head as a row of the table, with its roles and the relations between words that it follows."""

    layer: int
    head: int
    roles: tuple[HeadRole, ...]
    relations: tuple[BestHead, ...] = ()  # which it follows beyond a fixed offset

    @property
    def name(self) -> str:
        return head_name(self.layer, self.head)

    @property
    def role_names(self) -> list[str]:
        return [role.name for role in self.roles]

    @property
    def relation_names(self) -> list[str]:
        return [followed.relation for followed in self.relations]


@dataclass(frozen=True, kw_only=True)
class HeadNumbers:
    """Measures of all heads, each an array [layer, head] under its name in `COLUMNS`: those on this input, and, in `stored`,
    those over a data set, None if there are none.
    """

    record: AttentionRecord
    on_this_input: Mapping[str, np.ndarray]
    stored: HeadResults | None
    chance: Mapping[str, np.ndarray] | None  # what even weights would give here; None over a data set
    chosen_data: str  # which of the two is compared and gives names, `HERE` or `OVER`
    answer: Answer  # whose change without a head is measured on this input
    quantity: str = ""  # the number of the answer that is divided into parts; "" where none is

    @property
    def spreads(self) -> Mapping[str, Spread]:
        """Means and standard deviations over the data set, of the columns that mean the same there as on this input; empty if
        nothing is stored.

        For a masked word, columns on the answer are left out: stored ones are about classes or the pooled state.
        """
        spreads = {} if self.stored is None else self.stored.spreads
        if self.answer.word is None:
            return spreads
        return {name: spread for name, spread in spreads.items() if name not in ANSWER_COLUMNS}

    @property
    def data(self) -> str:
        """Name of the data set, such as "256 MNIST test digits", in Markdown; "" if nothing is stored."""
        return "" if self.stored is None else plain(examples_phrase(self.stored.source))

    @property
    def values(self) -> dict[str, np.ndarray]:
        """The measures [layer, head] on the chosen data (this input or the data set) by name, in the order of `COLUMNS`."""
        means = {name: spread.mean for name, spread in self.spreads.items()}
        values = self.on_this_input if self.chosen_data == HERE else means
        return {name: values[name] for name in COLUMNS if name in values}

    @property
    def heads(self) -> list[tuple[int, int]]:
        """Layer and head of every head, in order."""
        n_layers, n_heads, *_ = self.record.pattern.shape
        return list(np.ndindex(n_layers, n_heads))

    def is_signed(self, name: str) -> bool:
        """Whether the numbers of the column `name` have a sign. They have one if they are parts or falls of the answer, and
        none if they are sizes of changes, as over a data set.
        """
        return name == "adds" or (
            name in ABLATION_COLUMNS and self.chosen_data == HERE and self.answer.is_signed
        )

    def as_text(self, name: str, value: float) -> str:
        """A number of the column `name` as text; effects of an ablation on this input have as many decimals as on the tab
        Ablate, and say whether the answer falls or rises.
        """
        if name not in ABLATION_COLUMNS or self.chosen_data != HERE:
            return COLUMNS[name].as_text(value, signed=self.is_signed(name))
        spec = f".{effect_decimals(self.on_this_input[name])}f"
        return fall_in_words(value, spec) if self.is_signed(name) else format_number(value, spec)

    def filled_in(self, name: str, text: str) -> str:
        """A `text` that describes the column `name`, with its braces, such as "{units}", replaced by the words for this input and
        answer.
        """
        is_signed, nats = self.is_signed(name), "nats" if self.answer.is_signed else "cosine distance"
        size = (
            f"size of the {plain(self.answer.change_title)}," if self.answer.is_signed else DISTANCE_HEADING
        )
        words = {
            "units": self.record.units,
            "nats": nats,
            "change": "the answer" if is_signed else "size of change",
            "answer": f"{plain(self.answer.fall_title)}," if is_signed else size,
            "loss": f"here {self.answer.loss_phrase}",
            "quantity": plain(self.quantity),
        }
        for field, value in words.items():
            text = text.replace(f"{{{field}}}", value)
        return text

    def roles(self, layer: int, head: int) -> tuple[HeadRole, ...]:
        return roles_from_numbers(self.record, self.values, layer, head, self.chance)


def choose_numbers(subject: Subject, slots: Slots) -> HeadNumbers:
    """Draws the control that chooses between this input and the data set, if both have numbers; returns the numbers of all
    heads.
    """
    stored, record = subject.stored_heads, subject.record
    if stored is not None and stored.z.shape[:2] != record.pattern.shape[:2]:
        stored = None
    chosen_data, quantity = HERE, ""
    if stored is not None:
        stored = _with_answer_parts(stored, subject.name)
        with slots.controls:
            chosen_data = NUMBERS_OF.choose(help=f"The data set is {plain(examples_phrase(stored.source))}.")
    input_measures = subject.measure(statistics)
    answer: Answer = whole_answer(record)
    if isinstance(subject, LiveSubject):
        if chosen_data == HERE:  # over a data set, the answer is that of the whole input
            with slots.controls:
                answer = choose_answer(subject)
        input_measures = input_measures | effects_by_head(subject, stored, answer)
        with suppress(ValueError):  # of an encoder with a layer that cannot be divided
            parts = subject.compute(answer_parts, answer.for_parts)
            input_measures["adds"] = _by_head(parts.frame, "value")()
            quantity = f"the {parts.quantity}" if chosen_data == HERE else "the number that each answer is"
    chance = statistics_of_even_weights(record) if chosen_data == HERE else None
    return HeadNumbers(
        record=record,
        on_this_input=input_measures,
        stored=stored,
        chance=chance,
        chosen_data=chosen_data,
        answer=answer,
        quantity=quantity,
    )


def _with_answer_parts(stored: HeadResults, name: Checkpoint) -> HeadResults:
    """The stored measures with, if it was measured over the same data, what each head adds to the answer."""
    table = table_of(name, PARTS)
    if table is None or table.source.data != stored.source.data:
        return stored
    mean, sd = (_by_head(table.rows, column)() for column in ("mean", "sd"))
    samples = stored.source.samples
    if table.source.n < stored.source.n:
        samples = {**samples, "adds": table.source.n}
    return replace(
        stored,
        source=replace(stored.source, samples=samples),
        spreads={**stored.spreads, "adds": Spread(mean=mean, sd=sd)},
    )


def say_head(subject: Subject, chosen: HeadChoice) -> None:
    """Draws the name and the roles of the chosen head, and links to the pages that show its maps on an input."""
    names = head_names(subject, chosen.layer, chosen.head)
    attended = subject.record.attended
    roles = f"too few {attended.units} for a role" if has_too_few_positions(attended) else "no role"
    name = f"**{head_name(chosen.layer, chosen.head)}** · {names.full_text or f':gray[{roles}]'}"
    link_head(name, LINKS if isinstance(subject, LiveSubject) else (ATTENTION,))


def link_head(name: str = "", pages: Iterable[Page] = LINKS) -> None:
    """Draws links to the `pages` that show a head's maps on an input, after its `name` (Markdown) if that is given."""
    with st.container(
        horizontal=True, vertical_alignment="center", gap="small", width="content", key="head_line"
    ):
        if name:
            st.markdown(name, width="content")
        for page in pages:
            key = f"heads_to_{page.name}"
            st.button(f"{LINKS[page]} →", type="tertiary", key=key, on_click=go_to, args=(page,))


def choose_head_of_encoder(
    controls: DeltaGenerator,
) -> tuple[Checkpoint, ModelConfig, HeadChoice]:
    """Draws into `controls` the choice of an encoder and of one of its heads, for tabs without an input; returns name,
    configuration and choice.
    """
    name = choose_usable_encoder(controls)
    config = loaded(name).config
    with controls:
        layer, head = LAYER.choose(range(config.n_layers)), HEAD.choose(range(config.n_heads))
    return name, config, HeadChoice(layer=layer, head=head)


def say_source(subject: Subject, numbers: HeadNumbers) -> None:
    """Writes why there are no numbers over a data set, or on how many examples they were measured."""
    source = None if numbers.stored is None else numbers.stored.source
    if source is not None and source.unknown:
        share = percent(source.unknown)
        st.caption(f"Of the tokens of {numbers.data}, {share} are unknown to this encoder.")
    if not isinstance(subject, LiveSubject):
        st.caption("A record holds one input, so these are the numbers of that input alone.")
    elif source is None:
        st.caption(f"These are the numbers of this input alone. {measuring_sentence(subject.checkpoint)}")
    elif isinstance(numbers.answer, WordAnswer):
        st.caption(
            f"What a head is worth for {plain(numbers.answer.quoted_answer)} is measured on this input alone, not over the data set."
        )
    elif not {"importance", "zero"} <= set(numbers.spreads):
        st.caption(
            f"What a head is worth: {measuring_sentence(subject.checkpoint, '--with importance,ablation')}"
        )
    elif numbers.chosen_data == OVER:
        titles: dict[int, list[str]] = {}
        for name, n in source.samples.items():
            if name in COLUMNS:
                titles.setdefault(n, []).append(COLUMNS[name].title)
        fewer = [f"{', '.join(measured)} on {n:,}" for n, measured in titles.items()]
        if fewer:
            st.caption(f"Some numbers were measured on fewer examples: {'; '.join(fewer)}.")


def explain_numbers(numbers: HeadNumbers) -> None:
    """Draws a folded explanation of each column, with its formula, and of each role."""
    with st.expander("What the numbers mean", icon=":material/function:"):
        st.markdown("$A_{ij}$ is the attention weight of query $i$ on key $j$.")
        st.markdown(
            "\n".join(
                f"- **{COLUMNS[name].title}**: {numbers.filled_in(name, COLUMNS[name].description)}. :gray[{numbers.filled_in(name, COLUMNS[name].formula)}.]"
                for name in numbers.values
            )
        )
        st.markdown(
            f"Roles are names for what these numbers say, each by a rule of this app's own thresholds; {ON_ONE_INPUT}:"
        )
        st.markdown("\n".join(f"- **{role.name}**: {role.rule}." for role in possible_roles(numbers.record)))


def numbers_expression(subject: Subject, numbers: HeadNumbers) -> Mapping[str, Expression]:
    """For each measure in `numbers.values`, by its name, the expression that computes it as an array [layer, head]."""
    if numbers.chosen_data == OVER:
        stored = results_expression(subject.name, HEADS, read_heads)
        parts = results_expression(subject.name, PARTS, read_rows)
        return {name: stored.spreads[name].mean for name in numbers.values} | {
            "adds": _by_head(parts.rows, "mean")
        }
    source = named("numbers", call(statistics, as_python.record(subject)))
    written = {name: source[name] for name in numbers.values}
    if isinstance(subject, LiveSubject):
        answer, loaded = numbers.answer, as_python.encoder(subject.checkpoint)
        inputs, record = [as_python.model_input(subject)], as_python.record(subject)
        parts = as_python.computed(subject, answer_parts, answer.for_parts)
        written["adds"] = _by_head(parts.frame, "value")
        written["importance"] = call(importance, loaded, inputs, None, answer.word)[0]
        kinds = {"zero": "zero", "mean": results_expression(subject.name, HEADS, read_heads).z}
        for name, kind in kinds.items():
            answers = call(ablate_heads, loaded, inputs, kind, answer.for_experiments)[0]
            written[name] = answer.falls_expression(record, answers)
    return {name: source.with_value(partial(numbers.values.get, name)) for name, source in written.items()}


def _by_head(rows: Any, column: str) -> Expression:
    """The `column` of a table of heads and other parts, as an expression of an array [layer, head]."""
    of_heads = call(call(rows.query, "kind == 'head'").pivot, index="layer", columns="head", values=column)
    return call(of_heads.to_numpy, float)


def measuring_sentence(name: str, *options: str) -> str:
    """Sentence with the command that measures the missing numbers, for encoders from elsewhere with a placeholder for the
    folder.
    """
    missing = "this was not measured" if options else "nothing is stored"
    return f"Over a data set {missing} for this encoder: `{measuring_command(name, *options)}` measures it."


def measuring_command(name: str, *options: str) -> str:
    """The command that measures the encoder `name` over a data set and stores the results."""
    words = ["python -m model.atlas", name if name in available() else "FOLDER"]
    words += ["--data FILE.csv"] if read_config(name).is_text else []
    return " ".join([*words, *options])


def effects_by_head(
    subject: LiveSubject, stored: HeadResults | None, answer: Answer
) -> dict[str, np.ndarray]:
    """Importance of each head, and how far the answer falls when it is ablated, each [layer, head], by name of the column.

    If that takes long, draws a button and returns {} until it is pressed.
    """
    record = subject.record
    means = None if stored is None else stored.z
    if means is not None and means.shape != record.z.shape[:2] + record.z.shape[-1:]:
        means = None
    n_ablations = 1 if means is None else 2
    n_forwards = FORWARDS_OF_IMPORTANCE + n_ablations * n_forwards_of_heads(record)
    work_key = ("effects", subject, n_ablations, answer.word)
    n_heads = record.pattern.shape[0] * record.pattern.shape[1]
    label = f"Measure what each of the {n_heads} heads is worth on this input"
    if not is_wanted(subject, work_key, n_forwards, label, "heads_effects"):
        return {}
    with until_done(work_key):
        inputs = (subject.model_input,)
        values = {"importance": of(importance, subject.checkpoint, inputs, None, answer.word)[0]}
        without = answers_without_each_head(subject, None, answer.for_experiments)
        values["zero"] = answer.falls(without)
        if means is not None:
            without = answers_without_each_head(subject, as_hashable_means(means), answer.for_experiments)
            values["mean"] = answer.falls(without)
    return values
