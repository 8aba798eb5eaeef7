"""What a page is about, and what all pages know of it."""

import json
from dataclasses import dataclass

import numpy as np
import streamlit as st
from streamlit.delta_generator import DeltaGenerator

from app_pages.subject import session_encoders
from app_pages.subject.cache import Checkpoint, cached, loaded, of
from app_pages.subject.opened import Opened
from model import checkpoint, inputs
from model.capture import capture
from model.capture.intervention import Intervention
from model.checkpoint.seeds import seed_of
from model.config import DIGITS, ModelConfig
from model.inputs import Input, Text, digits
from model.inputs.text import Encoded, encode, knows_characters_alone
from model.inputs.text import with_spaces_between as with_spaces
from model.lenses import ATTENTION, LENSES, Lens
from model.measures.head_measures import summary
from model.measures.word_view import view
from model.record import AttentionRecord, ForwardRecord
from viz.builders.palette import ColourScale, WeightScale, weight_scale

LARGE = 50_000_000  # parameters of an encoder that may read for more than a second
TEXT, DIGIT, RECORD = session_encoders.TEXT, session_encoders.DIGIT, "Record"


@dataclass(frozen=True, kw_only=True)
class Selection:
    """What a page is about, and the places beside and below its input that the page fills."""

    checkpoint: Checkpoint  # "" for a record that was opened from a file
    given: Input | None  # None where a file does not hold what was read
    label: int | None  # which class is right, None where nobody knows it
    beside: DeltaGenerator  # next to the input: for another one
    answer: DeltaGenerator  # at the end of the row: for the prediction, where it matters
    controls: DeltaGenerator  # the bar below it; see `app_pages.controls.head_choice`
    more: DeltaGenerator  # the end of that bar
    opened: Opened | None = None  # a record from a file, in the place of an encoder and its input

    @property
    def record(self) -> AttentionRecord:
        """What the encoder made of the input: a `ForwardRecord`, unless a file holds less."""
        return record(self.checkpoint, self.given) if self.opened is None else self.opened.record

    def viewed(self, *, merged: bool, hidden: bool) -> tuple[AttentionRecord, dict[str, np.ndarray]]:
        """The record with pieces `merged` into words and special tokens `hidden`, and the measures of its heads."""
        if self.opened is not None:
            return self.opened.viewed(merged=merged, hidden=hidden)
        if not (merged or hidden):
            return self.record, head_measures(self.checkpoint, self.given)
        return _viewed(self.checkpoint, self.given, merged, hidden)


@dataclass(frozen=True, kw_only=True)
class HeadSelection(Selection):
    """With the head that a page, or a part of it, is about."""

    layer: int
    head: int
    scale: ColourScale
    view: DeltaGenerator | None  # for what is rarely changed, behind a button; None where no map is drawn
    lens: Lens = LENSES[
        ATTENTION
    ]  # through which the maps of the page are seen; one without heads has head 0 alone

    def weights_to(self, whose: str, *weights: np.ndarray) -> WeightScale:
        """What the colours of figures of these weights reach to: all those that are compared share it."""
        of = {"what": self.lens.quantity, "shares": self.lens.sums_to_1}
        return weight_scale(self.scale, whose, *weights, **of)

    def of_head(self, *records: ForwardRecord) -> WeightScale:
        """The same, of the chosen head in one record, or in all that are compared."""
        whose = "this head's own maximum" if len(records) == 1 else "this head's maximum on all sides"
        return self.weights_to(whose, *(each.pattern[self.layer, self.head] for each in records))


def select(selection: Selection) -> None:
    st.session_state["selection"] = selection


def record(name: Checkpoint, given: Input, changed: Intervention | None = None) -> ForwardRecord:
    is_large = loaded(name).n_parameters > LARGE
    return of(
        capture, name, given, changed or Intervention(), spinner="Reading the input …" if is_large else None
    )


@cached
def head_measures(name: Checkpoint, given: Input) -> dict[str, np.ndarray]:
    """What the overview shows on hover: by name, [layer, head]."""
    return summary(record(name, given))


@cached
def _viewed(
    name: Checkpoint, given: Input, merged: bool, hidden: bool
) -> tuple[AttentionRecord, dict[str, np.ndarray]]:
    seen = view(record(name, given), merged=merged, hidden=hidden)
    return seen, summary(seen)


def encoded_text(name: Checkpoint, given: Text) -> Encoded:
    encoder = loaded(name)
    return encode(encoder.tokenizer, given.text, encoder.config.padding_id, given.second)


def reads_pairs(name: Checkpoint) -> bool:
    """Whether the encoder reads a second text behind the first; not where it cannot be opened."""
    if (config := config_of(name)) is None or not config.is_imported:
        return False  # known without its weights
    try:
        return inputs.reads_pairs(loaded(name))
    except (ValueError, OSError):
        return False


def left_out(name: Checkpoint, given: Input) -> str:
    """Which tokens of a text are too many for the encoder's positions, and why these; "" where none.

    Such as "first 5 tokens: its tokenizer keeps the end".
    """
    if not isinstance(given, Text) or not (encoded := encoded_text(name, given)).n_left_out:
        return ""
    tokens = "token" if encoded.n_left_out == 1 else f"{encoded.n_left_out:,} tokens"
    side, kept = ("first", "end") if encoded.from_start else ("last", "beginning")
    return f"{side} {tokens}: its tokenizer keeps the {kept}"


def unknown(name: Checkpoint, given: Input) -> str:
    """How many tokens of a text the vocabulary lacks, such as "14 of 49 tokens are unknown to this tokenizer"; "" where none."""
    if not isinstance(given, Text) or not (n := (encoded := encoded_text(name, given)).n_unknown):
        return ""
    tokens, are = "token" if encoded.n_read == 1 else "tokens", "is" if n == 1 else "are"
    return f"{n:,} of {encoded.n_read:,} {tokens} {are} unknown to this tokenizer"


def with_spaces_between(name: Checkpoint, given: Text) -> Text | None:
    """The text with its characters separated, where that makes more of it known to an encoder of characters; else None."""
    if not _knows_characters_alone(name):
        return None
    tokenizer = loaded(name).tokenizer
    parts = (part and with_spaces(tokenizer, part) for part in (given.text, given.second))
    separated = Text(*parts)
    before, after = (encoded_text(name, each) for each in (given, separated))
    fewer = after.n_unknown * before.n_read < before.n_unknown * after.n_read
    return separated if fewer else None


@cached
def _knows_characters_alone(name: Checkpoint) -> bool:
    return knows_characters_alone(loaded(name).tokenizer)


@cached
def test_digits() -> tuple[np.ndarray, np.ndarray]:
    """Images uint8 [digit, row, column] and labels uint8 [digit]."""
    return digits.examples()


@cached
def predictions(name: Checkpoint) -> dict[str, np.ndarray] | None:
    """As `model.checkpoint.predictions`, but a file that is damaged or of other digits counts as none."""
    try:
        found = checkpoint.predictions(name)
    except ValueError:
        return None
    return found if found and found["loss"].shape == test_digits()[1].shape else None


def sentences() -> dict[str, str]:
    """Texts to begin with, by title; none where the file is missing or damaged."""
    try:
        return _sentences()
    except (OSError, ValueError, TypeError, LookupError):
        return {}


@cached
def _sentences() -> dict[str, str]:
    return {str(sentence["title"]): str(sentence["text"]) for sentence in _examples()}


@cached
def _examples() -> list[dict]:
    return json.loads((digits.EXAMPLES / "sentences.json").read_text(encoding="utf-8"))


def correct_class(name: Checkpoint, given: Input) -> int | None:
    """Of one of `sentences` the class that a person would choose; None for other inputs, and where it is none of the encoder's."""
    config = loaded(name).config
    if not config.chooses or not isinstance(given, Text) or given.text not in sentences().values():
        return None
    answer = next((each.get("answer") for each in _examples() if each["text"] == given.text), None)
    return config.class_names.index(answer) if answer in config.class_names else None


def checkpoints(kind: str) -> list[str]:
    """Those that take this kind of input, pairs first, then what the session has opened.

    Damaged ones too, which say what is wrong when chosen.
    """
    names = checkpoint.available()
    paired = {name: _paired(name, names) or (name,) for name in names}
    shipped = sorted(names, key=lambda name: (len(paired[name]) == 1, paired[name], paired[name].index(name)))
    return [
        name
        for name in (*shipped, *session_encoders.opened())
        if session_encoders.kind_of(name) in (kind, None)
    ]


@cached
def _config(name: Checkpoint) -> ModelConfig | None:
    """None where the configuration is damaged."""
    try:
        return checkpoint.read_config(name)
    except (ValueError, OSError):
        return None


def config_of(name: str | None) -> ModelConfig | None:
    """What an encoder is, without its weights; None where there is none, or where its configuration is damaged."""
    return None if name is None else _config(name)


def label_for(name: str | None, label: int | None) -> int | None:
    """The right class of a test digit; None where digits are not what the encoder tells apart.

    The project's own may call them as they like; of encoders from elsewhere the names alone say it.
    """
    config = config_of(name)
    return label if config is None or not config.is_imported or config.class_names == DIGITS else None


def pair(name: str) -> tuple[str, str] | None:
    """The pre-LN and the post-LN checkpoint that `name` is one of, None where either is missing."""
    return _paired(name, checkpoint.available())


def _paired(name: str, names: list[str]) -> tuple[str, str] | None:
    seedless = seed_of(name)[0]
    stem, seed = seedless.removesuffix("-pre-ln").removesuffix("-post-ln"), name.removeprefix(seedless)
    both = (f"{stem}-pre-ln{seed}", f"{stem}-post-ln{seed}")
    return both if name in both and set(both) <= set(names) else None
