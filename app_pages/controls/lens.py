"""Through which lens the maps of a page are seen: the box that chooses it, what it shows, and what is to be known of it."""

from dataclasses import dataclass
from functools import partial

import numpy as np
import streamlit as st

from app_pages.controls.map_controls import LENS, LENS_CLASS, PREDICTED
from app_pages.subject import state
from app_pages.subject.cache import Checkpoint, cached, loaded
from app_pages.toolkit.stoppable import in_steps
from model.config import ModelConfig
from model.inputs import Input
from model.lenses import (
    ATTENTION,
    LENSES,
    NORM_WEIGHTED,
    RELEVANCE,
    ROLLED_OUT,
    ROLLOUT,
    VALUE_ZEROING,
    WITH_RESIDUAL,
    Lens,
    through,
)
from model.lenses.norms import handed_over_by_head, mixing_ratio, read
from model.lenses.rollout import rollout
from model.lenses.value_zeroing import changes_in_layer, rolled_out, steps, zeroed
from model.measures.head_measures import summary
from model.measures.word_view import view
from model.record import AttentionRecord

Seen = tuple[AttentionRecord, dict[str, np.ndarray]]  # a record, and the measures [layer, head] of its maps
_NEED_ENCODER = (
    "The other lenses need the encoder and its input, which a record does not contain: choose Text or Digit."
)


@dataclass(frozen=True, kw_only=True)
class Through:
    """What was chosen."""

    lens: Lens = LENSES[ATTENTION]
    class_name: str | None = None  # for the lens that needs one; None for the predicted

    def class_number(self, config: ModelConfig) -> int | None:
        names = config.class_names
        return names.index(self.class_name) if self.class_name in names else None

    def why_unchecked(self, record: AttentionRecord) -> str | None:
        """Why knock-outs, which are measured on the predicted class, say nothing about this map; None where they do."""
        config = getattr(record, "config", None)
        number = None if config is None else self.class_number(config)
        if number is None or number == record.logits.argmax():
            return None
        return "Knock-outs are measured on the predicted class: choose that one to check this map."

    @property
    def notes(self) -> tuple[str, ...]:
        """For figures: which lens it is; nothing for the weights as they are."""
        if self.lens.name == ATTENTION:
            return ()
        of = "" if self.class_name is None else f", of the class {self.class_name}"
        return (f"lens: {self.lens.name}{of}",)

    def of(self, name: Checkpoint, given: Input) -> AttentionRecord:
        """What an encoder made of an input."""
        number = self.class_number(loaded(name).config)
        if self.lens.name in (VALUE_ZEROING, ROLLED_OUT):
            _zero_values(name, given)
        return _seen(name, given, self.lens.name, number)

    def measured(self, name: Checkpoint, given: Input) -> Seen:
        """The same, with its measures."""
        self.of(name, given)
        return _viewed(name, given, self.lens.name, self.class_number(loaded(name).config), False, False)

    def shown(self, chosen: state.Selection) -> AttentionRecord:
        """Of what a page is about, before a view merges or hides anything."""
        if self.lens.name == ATTENTION:
            return chosen.record
        if chosen.opened is None:
            return self.of(chosen.checkpoint, chosen.given)
        return self._of_opened(chosen, merged=False, hidden=False)[0]

    def viewed(self, chosen: state.Selection, *, merged: bool, hidden: bool) -> Seen:
        """The same with pieces `merged` into words and special tokens `hidden`, and its measures."""
        if self.lens.name == ATTENTION:
            return chosen.viewed(merged=merged, hidden=hidden)
        if chosen.opened is not None:
            return self._of_opened(chosen, merged=merged, hidden=hidden)
        self.of(chosen.checkpoint, chosen.given)
        number = self.class_number(loaded(chosen.checkpoint).config)
        return _viewed(chosen.checkpoint, chosen.given, self.lens.name, number, merged, hidden)

    def _of_opened(self, chosen: state.Selection, *, merged: bool, hidden: bool) -> Seen:
        kept, key = chosen.opened.views, (merged, hidden, self.lens.name)
        if key not in kept:
            seen = view(rollout(chosen.opened.record), merged=merged, hidden=hidden)
            kept[key] = seen, summary(seen)
        return kept[key]


def choose_lens(chosen: state.Selection, *others: Checkpoint, width: int = 250) -> Through:
    """The box, in the bar of the page; `others` are encoders on the same page, seen through the same lens."""
    with chosen.controls:
        if chosen.opened is not None and chosen.record.keys is not None:
            return Through()  # nothing but the weights can be shown
        names = LENSES if chosen.opened is None else (ATTENTION, ROLLOUT)
        lens = LENSES[LENS.choose(names, width=width)]
        if lens.name != RELEVANCE:
            return Through(lens=lens)
        configs = [loaded(name).config for name in (chosen.checkpoint, *others)]
        classes = configs[0].class_names
        if not classes or any(config.class_names != classes for config in configs):
            return Through(lens=lens)
        name = LENS_CLASS.choose((PREDICTED, *classes))
        return Through(lens=lens, class_name=None if name == PREDICTED else name)


def about_lens(chosen: state.Selection, lens: Lens) -> None:
    """Formula, what it says, its source, and behind the sign what it does not say."""
    said = f"${lens.formula}$ :gray[{lens.says} ({lens.source}).]"
    if lens.name == RELEVANCE and not loaded(chosen.checkpoint).config.n_classes:
        said += " :gray[Without classes, the gradient is of $p \\cdot p$ with one $p$ held fixed, $p$ the pooled state.]"
    if chosen.opened is not None:
        said += f" :gray[{_NEED_ENCODER}]"
    caution = lens.caution if lens.has_heads else f"{lens.caution} One map for all heads of a layer."
    with st.container(key="about_lens"):
        st.markdown(said, help=caution)


def number_beside(through_it: Through, chosen: state.HeadSelection) -> str:
    """Of the chosen map what its figures do not show, as a mean over the queries, in words; "" where there is no such number."""
    if chosen.opened is not None:
        return ""
    name, given, layer = chosen.checkpoint, chosen.given, chosen.layer
    if through_it.lens.name == NORM_WEIGHTED:
        lengths = _handed_over(name, given)
        most = lengths[layer].max()
        return (
            f"Before each row is divided by its sum, these sums are {lengths[layer, chosen.head]:.3g}; "
            f"{most:.3g} in the head of this layer that adds most."
        )
    if through_it.lens.name == WITH_RESIDUAL:
        ratio = _mixing_ratio(name, given)[layer]
        from_others = ratio[read(chosen.record)].mean()
        return f"Mixing ratio {from_others:.3f}: so much of the new state comes from other tokens, the rest from the token itself."
    return ""


@cached(spinner="Computing the maps …")
def _seen(name: Checkpoint, given: Input, lens: str, class_number: int | None) -> AttentionRecord:
    record = state.record(name, given)
    if lens not in (VALUE_ZEROING, ROLLED_OUT):
        return through(lens, loaded(name), given, class_number, record=record)
    config, changes = loaded(name).config, []
    for layer in range(config.n_layers):
        parts = [_changes(name, given, *part) for part in steps(config, len(record)) if part[0] == layer]
        changes.append(np.concatenate(parts, axis=1))
    found = zeroed(record, np.stack(changes))
    return rolled_out(found) if lens == ROLLED_OUT else found


def _zero_values(name: Checkpoint, given: Input) -> None:
    """Before `_seen`, and with a bar over it: of a large encoder and a long text it takes minutes."""
    parts = steps(loaded(name).config, len(state.record(name, given)))
    calls = [partial(_changes, name, given, *part) for part in parts]
    in_steps(calls, "Leaving out one value after another …", ("value zeroing", name, given))


@cached
def _changes(name: Checkpoint, given: Input, layer: int, keys: range) -> np.ndarray:
    return changes_in_layer(loaded(name).model, state.record(name, given), layer, keys)


@cached
def _viewed(
    name: Checkpoint, given: Input, lens: str, class_number: int | None, merged: bool, hidden: bool
) -> Seen:
    seen = view(_seen(name, given, lens, class_number), merged=merged, hidden=hidden)
    return seen, summary(seen)


@cached
def _handed_over(name: Checkpoint, given: Input) -> np.ndarray:
    return handed_over_by_head(loaded(name).model, state.record(name, given))


@cached
def _mixing_ratio(name: Checkpoint, given: Input) -> np.ndarray:
    return mixing_ratio(loaded(name).model, state.record(name, given))
