"""What a page is about: an encoder with an input (`LiveSubject`), or a record that was opened from a file (`FileSubject`).

Pages get the record, the maps of a lens and the measures from either in the same way.
"""

from collections.abc import Callable, Hashable, Mapping
from dataclasses import dataclass, field, replace
from functools import partial
from typing import TYPE_CHECKING, Any, NamedTuple, TypeVar

import numpy as np
import streamlit as st

from app_pages.subject import cache
from app_pages.subject.cache import Checkpoint, cached
from app_pages.toolkit.stoppable import in_steps
from model.capture import capture
from model.capture.intervention import Intervention
from model.capture.provenance import settings
from model.config import ModelConfig
from model.inputs import Input, Picture, Text
from model.inputs.text import Encoded, encode
from model.lenses import ATTENTION, LENSES, ROLLED_OUT, ROLLOUT, VALUE_ZEROING, Lens, through
from model.lenses.rollout import record_of_rolled_out_maps, rollout
from model.lenses.value_zeroing import changes_in_layer, steps, zeroing_record
from model.loaded import Loaded
from model.measures.head_measures import head_summary, odd_rows
from model.measures.word_view import view
from model.record import AttentionRecord, ForwardRecord
from model.record.record_file import HALF
from viz.builders.number_format import format_number

if TYPE_CHECKING:
    from model.atlas.results import HeadResults

LARGE_ENCODER = 50_000_000  # parameters; from here on a forward pass may take more than a second
OPENED = "opened_record"  # in the session: the `FileSubject` that is open
Value = TypeVar("Value")


@dataclass(frozen=True, kw_only=True)
class LensChoice:
    """A lens for the maps and, if the lens is about one class, the class's name; None means the predicted class."""

    lens: Lens = LENSES[ATTENTION]
    class_name: str | None = None

    def class_number(self, config: ModelConfig) -> int | None:
        """Index of the chosen class in this encoder; None for the predicted class."""
        names = config.class_names
        return names.index(self.class_name) if self.class_name in names else None

    def why_unchecked(self, record: AttentionRecord, *, of_masked_word: bool = False) -> str | None:
        """Sentence on why this map cannot be checked by knock-outs; None if it can. Knock-outs measure the predicted
        class or, with `of_masked_word`, log P of a word in place of [MASK].
        """
        if not isinstance(record, ForwardRecord):
            return None
        if of_masked_word and self.lens.needs == "gradients":
            return "This lens follows the answer to the whole input, not a word at [MASK]: choose “whole input” to check it."
        class_index = self.class_number(record.config)
        if class_index is None or class_index == record.logits.argmax():
            return None
        return "Knock-outs are measured on the predicted class: choose that one to check this map."

    @property
    def notes(self) -> tuple[str, ...]:
        """Lines for figures: ("lens: rollout",) for the lens of that name, () for plain attention weights."""
        if self.lens.name == ATTENTION:
            return ()
        of_class = "" if self.class_name is None else f", of the class {self.class_name}"
        return (f"lens: {self.lens.name}{of_class}",)


WEIGHTS = LensChoice()  # the attention weights themselves


class Measured(NamedTuple):
    """A record and the measures [layer, head] of its heads, by name."""

    record: AttentionRecord
    measures: dict[str, np.ndarray]


@dataclass(frozen=True)
class LiveSubject:
    """An encoder with an input and an `intervention` in its forward pass, by default none. Hashable, for cache keys."""

    checkpoint: Checkpoint
    model_input: Input
    label: int | None = field(default=None, compare=False)  # the right class, None where nobody knows it
    intervention: Intervention = field(default_factory=Intervention)

    @property
    def name(self) -> str:
        """Name of the encoder, used in titles and file names."""
        return self.checkpoint

    @property
    def loaded(self) -> Loaded:
        """The encoder in memory. Raises the errors of `model.checkpoint.load`."""
        return cache.loaded(self.checkpoint)

    @property
    def record(self) -> ForwardRecord:
        """Record of everything that the forward pass computed."""
        spinner = "Reading the input …" if n_parameters(self.checkpoint) > LARGE_ENCODER else None
        return self.compute(capture, self.intervention, spinner=spinner)

    @property
    def lenses(self) -> tuple[str, ...]:
        """Names of all lenses."""
        return tuple(LENSES)

    @property
    def settings(self) -> Mapping[str, Any]:
        """Origin of the record (encoder, input, intervention), as it is saved in its file."""
        return self.compute(settings, self.intervention)

    @property
    def picture(self) -> np.ndarray | None:
        """The picture that the encoder reads; None for a text."""
        return self.model_input.array if isinstance(self.model_input, Picture) else None

    @property
    def stored_heads(self) -> "HeadResults | None":
        """Stored measures of the encoder's heads over a data set; None if there are none."""
        # Here, since it imports pandas, for which a prediction does not wait.
        from app_pages.subject.stored_results import heads_of

        return heads_of(self.checkpoint)

    @property
    def left_out_phrase(self) -> str:
        """Which tokens are not read because the text is longer than the encoder's positions, such as "first 5 tokens:
        its tokenizer keeps the end"; "" if all are read.
        """
        if not isinstance(self.model_input, Text):
            return ""
        encoded = encoded_text(self.checkpoint, self.model_input)
        if not encoded.n_left_out:
            return ""
        tokens = "token" if encoded.n_left_out == 1 else f"{encoded.n_left_out:,} tokens"
        side, kept_side = ("first", "end") if encoded.from_start else ("last", "beginning")
        return f"{side} {tokens}: its tokenizer keeps the {kept_side}"

    @property
    def unknown_phrase(self) -> str:
        """How many tokens the vocabulary lacks, such as "14 of 49 tokens are unknown to this encoder"; "" if none."""
        if not isinstance(self.model_input, Text):
            return ""
        encoded = encoded_text(self.checkpoint, self.model_input)
        if not (n := encoded.n_unknown):
            return ""
        tokens, are = "token" if encoded.n_read == 1 else "tokens", "is" if n == 1 else "are"
        return f"{n:,} of {encoded.n_read:,} {tokens} {are} unknown to this encoder"

    def under(self, intervention: Intervention) -> "LiveSubject":
        """This subject under another intervention."""
        return replace(self, intervention=intervention)

    def compute(self, function: Callable[..., Value], *values: Any, **options: Any) -> Value:
        """Result of `function(encoder, input, *values, **options)`, cached; the option `spinner` is a text shown while it is
        computed.
        """
        return cache.of(function, self.checkpoint, self.model_input, *values, **options)

    def measure(self, function: Callable[..., Value], *values: Hashable) -> Value:
        """Result of `function(record, *values)`, cached."""
        return cache.keep(function, [self.checkpoint], (self, values), lambda: function(self.record, *values))

    def through(self, choice: LensChoice) -> AttentionRecord:
        """Maps of all heads as the lens shows them; a lens without heads has one map per layer."""
        if choice.lens.name == ATTENTION:
            return self.record
        if choice.lens.name in (VALUE_ZEROING, ROLLED_OUT):
            _zero_values(self)
        return _lens_maps(self, choice)

    def viewed(self, choice: LensChoice = WEIGHTS, *, merged: bool = False, hidden: bool = False) -> Measured:
        """Maps through the lens and their measures, with word pieces merged into words if `merged`, without special
        tokens if `hidden`.
        """
        if choice.lens.name == ATTENTION and not (merged or hidden):
            return Measured(self.record, self.measure(head_summary))
        self.through(choice)  # here, where a bar can be drawn
        return _viewed(self, choice, merged, hidden)


@dataclass(frozen=True, kw_only=True, eq=False)
class FileSubject:
    """A record from a file, kept until the session ends."""

    file_name: str
    record: AttentionRecord
    settings: Mapping[str, Any]
    picture: np.ndarray | None
    label: None = None
    stored_heads: None = None
    computed_results: dict[Hashable, Any] = field(default_factory=dict)

    @property
    def name(self) -> str:
        """Name of the file without its ending, used in titles and file names."""
        return self.file_name.rpartition(".")[0] or "attention"

    @property
    def model_input(self) -> Picture | None:
        """The picture of the record, blank if the file lacks its pixels; None for a text."""
        if self.record.patch_grid is None:
            return None
        blank = np.zeros([8 * side for side in self.record.patch_grid], np.uint8)
        return Picture.of(blank if self.picture is None else self.picture)

    @property
    def lenses(self) -> tuple[str, ...]:
        """Names of the lenses that need no encoder."""
        return (ATTENTION, ROLLOUT) if self.record.keys is None else (ATTENTION,)

    @property
    def limit_sentences(self) -> str:
        """Sentences on what the file lacks of a full record in single precision; "" if it lacks nothing."""
        sentences = []
        if not isinstance(self.record, ForwardRecord):
            beginning = f"The record holds attention and {self.record.units} alone"
            sentences.append(f"{beginning}: there is no prediction, and no state or score, to show.")
        if self.settings.get("precision") == HALF:
            sentences.append(
                "The numbers were saved in half precision: they, and the measures made of them, are right to about three digits."
            )
        return " ".join(sentences)

    @property
    def odd_rows_sentence(self) -> str:
        """Sentence on rows of attention weights that do not sum to 1; "" if all do."""
        odd = odd_rows(self.record.pattern, self.record.mask)
        if not len(odd):
            return ""
        smallest, largest = (format_number(float(end), ".3g") for end in (odd.min(), odd.max()))
        n_rows = int(self.record.mask.any(axis=-1).sum())
        sums = smallest if smallest == largest else f"{smallest} to {largest}"
        return f"{len(odd):,} of {n_rows:,} rows do not sum to 1 but to {sums}. They are shown as they are."

    def measure(self, function: Callable[..., Value], *values: Hashable) -> Value:
        """Result of `function(record, *values)`, computed once."""
        if (function, values) not in self.computed_results:
            self.computed_results[function, values] = function(self.record, *values)
        return self.computed_results[function, values]

    def through(self, choice: LensChoice) -> AttentionRecord:
        """Maps of all heads as the lens shows them; the lens is one of `lenses`."""
        return self.record if choice.lens.name == ATTENTION else self.measure(rollout)

    def viewed(self, choice: LensChoice = WEIGHTS, *, merged: bool = False, hidden: bool = False) -> Measured:
        """Maps through the lens and their measures, with word pieces merged into words if `merged`, without special
        tokens if `hidden`.
        """
        return self.measure(_viewed_through, choice.lens.name == ROLLOUT, merged, hidden)


Subject = LiveSubject | FileSubject


def open_subject() -> FileSubject | None:
    """The record that is open in this session; None if there is none."""
    return st.session_state.get(OPENED)


@cached
def n_parameters(name: Checkpoint) -> int:
    """Number of parameters of an encoder."""
    return cache.loaded(name).n_parameters


@cached
def encoded_text(name: Checkpoint, model_input: Text) -> Encoded:
    """Tokens of a text. Raises ValueError if the tokenizer cannot read it."""
    encoder = cache.loaded(name)
    assert encoder.tokenizer is not None, name
    return encode(encoder.tokenizer, model_input.text, encoder.config.padding_id, model_input.second)


@cached(spinner="Computing the maps …")
def _lens_maps(subject: LiveSubject, choice: LensChoice) -> AttentionRecord:
    record, loaded, lens = subject.record, subject.loaded, choice.lens.name
    if lens not in (VALUE_ZEROING, ROLLED_OUT):
        class_number = choice.class_number(loaded.config)
        return through(lens, loaded, subject.model_input, class_number, record=record)
    by_layer: list[list[np.ndarray]] = [[] for _ in range(loaded.config.n_layers)]
    for layer, keys in steps(loaded.config, len(record)):
        by_layer[layer].append(_zeroing_changes(subject, layer, keys))
    maps = zeroing_record(record, np.stack([np.concatenate(changes, axis=1) for changes in by_layer]))
    return record_of_rolled_out_maps(maps) if lens == ROLLED_OUT else maps


def _zero_values(subject: LiveSubject) -> None:
    """Computes the maps of the lens of zeroed values under a progress bar, ahead of `_lens_maps`: a large encoder takes minutes
    for a long text.
    """
    parts = steps(subject.loaded.config, len(subject.record))
    calls = [partial(_zeroing_changes, subject, layer, keys) for layer, keys in parts]
    in_steps(calls, "Leaving out one value after another …", ("value zeroing", subject))


@cached
def _zeroing_changes(subject: LiveSubject, layer: int, keys: range) -> np.ndarray:
    return changes_in_layer(subject.loaded.model, subject.record, layer, keys)


@cached
def _viewed(subject: LiveSubject, choice: LensChoice, merged: bool, hidden: bool) -> Measured:
    maps = subject.record if choice.lens.name == ATTENTION else _lens_maps(subject, choice)
    return _measured(maps, merged, hidden)


def _viewed_through(record: AttentionRecord, is_rollout: bool, merged: bool, hidden: bool) -> Measured:
    return _measured(rollout(record) if is_rollout else record, merged, hidden)


def _measured(record: AttentionRecord, merged: bool, hidden: bool) -> Measured:
    viewed = view(record, merged=merged, hidden=hidden)
    return Measured(viewed, head_summary(viewed))
