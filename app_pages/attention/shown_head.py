"""The state that the figures of Attention share: the chosen head of an input seen through a lens, and one of its queries."""

from dataclasses import dataclass
from functools import cached_property

import numpy as np
import streamlit as st

from app_pages.controls.attention_controls import HEAD, HIDE_SPECIAL, WORDS
from app_pages.controls.control_bar import Slots
from app_pages.controls.head_choice import HeadChoice
from app_pages.subject import as_python
from app_pages.subject.answer import Answer
from app_pages.subject.head_name import head_names
from app_pages.subject.subject import LensChoice, Subject
from app_pages.toolkit.expression import Expression, call
from app_pages.toolkit.markdown import plain
from model.experiments.knock_out import KnockOutKind
from model.lenses import ATTENTION, Lens
from model.measures.head_measures import combine_heads, weight_sums
from model.measures.head_statistics import AttentionByKind, attention_by_kind
from model.measures.word_view import hidden_positions
from model.record import AttentionRecord
from viz.builders.heatmap import position_labels
from viz.builders.number_format import head_name, percent
from viz.builders.palette import WeightScale
from viz.builders.token_label import patch_in_words

MUCH = 0.3  # of the weight: with less, no single kind of key describes the head
HALF = 0.5  # of the weight: with as much on the query and its neighbours together, a head is local
ROUNDING = 1e-4  # of two ways to add up the weight of one key


@dataclass(frozen=True, kw_only=True)
class RecordView:
    """A record as it is shown (pieces merged, tokens hidden), with the measures [layer, head] of its heads and the notes for its
    figures.
    """

    record: AttentionRecord
    source: Expression  # of the record
    measures: dict[str, np.ndarray]  # [layer, head]
    notes: tuple[str, ...]  # a line each; none where the record is shown as it is
    hides_weight: bool  # whether special tokens are missing from rows that sum to 1

    def notes_on(self, pattern: np.ndarray) -> tuple[str, ...]:
        """The notes and, where tokens are hidden, how much of the weight in `pattern` [query, key] is still shown."""
        if not self.hides_weight:
            return self.notes
        share = percent(float(weight_sums(pattern).mean()), 0)
        return (
            *self.notes,
            f"{share} of the weight is shown (mean over the queries), without renormalising",
        )


def choose_view(subject: Subject, slots: Slots, through: LensChoice) -> RecordView:
    """Draws the toggles that merge word pieces into words and hide special tokens, where the input has any; returns the record as
    they show it.
    """
    record = subject.record
    position_sets = (record, record.attended)
    merged = hidden = False
    with slots.view:
        if any(positions.positions_with_role("continuation") for positions in position_sets):
            merged = WORDS.choose()
        if any(hidden_positions(positions) for positions in position_sets):
            hidden = HIDE_SPECIAL.choose()
    viewed = subject.viewed(through, merged=merged, hidden=hidden)
    notes = [*through.notes]
    if merged:
        notes.append("pieces merged into words: attention to a word is their sum, from a word their mean")
    if hidden:
        names = dict.fromkeys(
            positions.tokens[index] for positions in position_sets for index in hidden_positions(positions)
        )
        notes.append(f"special tokens hidden: {', '.join(names)}")
    return RecordView(
        record=viewed.record,
        source=as_python.maps(subject, through, merged=merged, hidden=hidden),
        measures=viewed.measures,
        notes=tuple(notes),
        hides_weight=hidden and through.lens.sums_to_1,
    )


@dataclass(frozen=True, kw_only=True)
class ShownHead:
    """One chosen head with everything that selects its figures: the input, the lens, the view of the record, the query, and the
    knock-out and answer by which the map is checked.
    """

    subject: Subject
    chosen: HeadChoice
    through: LensChoice
    view: RecordView  # its record, with words merged or tokens hidden
    part: str  # of the chosen layer: HEAD, or the MEAN or MAXIMUM over its heads
    query: int  # index in the view's record
    kind: KnockOutKind | None  # how tokens are knocked out; None for a record from a file
    answer: Answer  # that the head is checked against

    @property
    def head(self) -> tuple[int, int]:
        """Layer and head."""
        return self.chosen.layer, self.chosen.head

    @property
    def lens(self) -> Lens:
        return self.through.lens

    @property
    def has_heads(self) -> bool:
        """Whether a single head is shown, and not a map of its whole layer."""
        return self.part == HEAD and self.lens.has_heads

    @property
    def name(self) -> str:
        """Name of what is shown, such as "L0 H1" or "L0, mean over its heads"."""
        return (
            head_name(*self.head)
            if self.part == HEAD
            else f"L{self.chosen.layer}, {self.part} over its heads"
        )

    @cached_property
    def maps(self) -> AttentionRecord:
        """The maps of all heads over the whole input, seen through the lens."""
        return self.subject.through(self.through)

    def map_of(self, record: Expression) -> Expression:
        """The map [query, key] that is shown, in `record`: the chosen head's or, by `part`, the mean or maximum over its layer."""
        if self.part == HEAD:
            return record.pattern[self.head]
        return call(combine_heads, record.pattern[self.chosen.layer], self.part)

    @cached_property
    def weights(self) -> Expression:
        """The shown map in the view [query, key]."""
        return self.map_of(self.view.source)

    @property
    def pattern(self) -> np.ndarray:
        """The shown map in the view [query, key], as an array."""
        return self.weights()

    @property
    def scale(self) -> WeightScale:
        """Colour scale of the shown map."""
        return self.chosen.weights_to("this map's own maximum", self.pattern)

    @property
    def notes(self) -> tuple[str, ...]:
        """What was done to the weights of the shown map, a line each."""
        return self.view.notes_on(self.pattern)


def say_what_it_attends_to(shown: ShownHead) -> None:
    """Writes the name of the chosen head, or layer, and what it attends to; the name is always that of its attention weights."""
    layer, head = shown.head
    name = f"**{head_name(layer, head) if shown.lens.has_heads else f'L{layer}'}**"
    help = head_names(shown.subject, layer, head).help_text if shown.lens.name == ATTENTION else None
    if sentence := head_sentence(shown, layer, head):
        name += f" · :gray[{plain(sentence)}]"
    st.markdown(name, help=help)


def head_sentence(shown: ShownHead, layer: int, head: int) -> str:
    """The role of this `head` of the `layer`, and what most of its weight goes to, as plain text on one line."""
    lens, maps = shown.lens, shown.maps
    role = head_names(shown.subject, layer, head).short_text if lens.name == ATTENTION else ""
    shares = attention_by_kind(maps, layer, head if lens.has_heads else 0) if lens.sums_to_1 else None
    if shares is None:
        return role
    sentence = most_weight_sentence(shares, maps, "its weight" if lens.name == ATTENTION else "each row")
    return f"{role}: {sentence}" if role else sentence


def most_weight_sentence(shares: AttentionByKind, maps: AttentionRecord, whole: str) -> str:
    """Sentence on where most of the weight goes, as plain text. `shares` are means over queries, and `whole` names what they are
    shares of.
    """
    kind, share = max(shares.kinds.items(), key=lambda item: item[1])
    attended = maps.attended
    unit = "word" if maps.merged else "token"
    near = [
        shares.kinds.get(name, 0) for name in ("the query itself", f"the {unit} before", f"the next {unit}")
    ]
    if sum(near) >= HALF > max(near):
        return (
            f"on average {percent(sum(near), 0)} of {whole} goes to the query itself and its two neighbours"
        )
    if shares.largest > max(share + ROUNDING, MUCH):
        token = position_labels(attended.tokens, attended.numbers)[shares.key]
        is_patch = shares.key in attended.positions_with_role("patch")
        key = f"{patch_in_words(token)}, from 0" if is_patch else f"“{token}”"
        return f"on average {percent(shares.largest, 0)} of {whole} goes to {key}"
    if share >= MUCH:
        return f"on average {percent(share, 0)} of {whole} goes to {kind}"
    *other_names, last_name = shares.short_names
    kinds = f" each to {', '.join(other_names)} and {last_name}" if other_names else f" to {last_name}"
    return f"no favourite: on average at most {percent(share, 0)}{kinds}"
