"""Ablation of heads, layers' attention, feed-forwards and tokens: the answer and the attention maps before and after."""

import re
from collections.abc import Iterable
from typing import NamedTuple

import numpy as np
import streamlit as st

from app_pages.controls.answer_choice import choose_answer
from app_pages.controls.control_bar import Slots, bar
from app_pages.controls.estimated_work import is_wanted
from app_pages.controls.head_choice import HeadChoice, choose_head, choose_query
from app_pages.controls.heads_controls import ABLATED, ABLATED_OVER, MEAN, OVER, REPLACED_BY
from app_pages.heads.effects import (
    answers_without_parts,
    as_hashable_means,
    n_forwards_of_heads,
)
from app_pages.heads.numbers import measuring_sentence
from app_pages.heads.prune import draw_pruning
from app_pages.inputs.row import choose_input
from app_pages.show.all_heads import draw_heads_overview
from app_pages.show.changed_head import draw_changed_maps
from app_pages.show.input_in_colours import Toggling, input_in_colours
from app_pages.show.show import toggled
from app_pages.show.side_predictions import beside, predictions, tell
from app_pages.subject import as_python
from app_pages.subject.answer import Answer
from app_pages.subject.stored_results import examples_phrase
from app_pages.subject.subject import LiveSubject
from app_pages.subject.two_sides import Side
from app_pages.toolkit.expression import Expression, call, named
from app_pages.toolkit.stoppable import until_done
from model.atlas.results import HeadResults
from model.atlas.running_moments import Spread
from model.experiments.ablation import ablated
from model.measures.head_measures import head_summary
from model.record import ForwardRecord
from viz.builders.number_format import format_number, head_name
from viz.heads.part_grids import ATTENTION, FEED_FORWARD, ablation_grid

HISTORY_KEY = "ablated_history"  # in the session: earlier codes of ABLATED, the last one at the end
MOST_STEPS_BACK = 50
_PART_CODE = re.compile("(h)([0-9]{1,4})-([0-9]{1,4})|([afp])([0-9]{1,6})")


class AblatedParts(NamedTuple):
    """The ablated parts of the encoder and tokens of the input, each kind sorted: heads (layer, head), layers whose attention is
    ablated, layers whose feed-forward is, and positions.
    """

    heads: tuple[tuple[int, int], ...]
    layers: tuple[int, ...]
    feed_forwards: tuple[int, ...]
    positions: tuple[int, ...]

    @property
    def codes(self) -> set[str]:
        """Codes of all ablated parts, as in the address: "h0-3" is a head, "a0" all heads of a layer, "f0" its feed-forward, "p0" a
        position.
        """
        others = zip("afp", (self.layers, self.feed_forwards, self.positions), strict=True)
        heads = {f"h{layer}-{head}" for layer, head in self.heads}
        return heads | {f"{kind}{index}" for kind, indices in others for index in indices}


def ablated_parts(record: ForwardRecord) -> AblatedParts:
    """The ablated parts in the address; ignores what cannot be parsed or does not exist in this encoder and input."""
    n_layers, n_heads, n, _ = record.pattern.shape
    ends = {"h": (n_layers, n_heads), "a": (n_layers,), "f": (n_layers,), "p": (n,)}
    by_kind: dict[str, set] = {kind: set() for kind in ends}
    for match in map(_PART_CODE.fullmatch, ABLATED.read().split(".")):
        if match is not None:
            kind, *numbers = (group for group in match.groups() if group is not None)
            index = tuple(map(int, numbers))
            if all(number < end for number, end in zip(index, ends[kind], strict=True)):
                by_kind[kind].add(index if kind == "h" else index[0])
    return AblatedParts(*(tuple(sorted(by_kind[kind])) for kind in ends))


def set_ablated_parts(codes: Iterable[str]) -> None:
    """Callback: ablates exactly the parts with these `codes`; `undo` restores those that were ablated before."""
    old_code, code = ABLATED.read(), ".".join(sorted(codes))
    if code != old_code:
        st.session_state[HISTORY_KEY] = [*st.session_state.get(HISTORY_KEY, ()), old_code][-MOST_STEPS_BACK:]
        ABLATED.take(code)


def undo() -> None:
    """Callback: ablates the parts again that were ablated before the last change, as a button Undo does."""
    if history := st.session_state.get(HISTORY_KEY):
        ABLATED.take(history[-1])
        st.session_state[HISTORY_KEY] = history[:-1]


def restore_tokens_of_other_text(record: ForwardRecord) -> None:
    """Restores positions that were ablated in another text than that of `record`."""
    if ABLATED.is_of_other_text(record.tokens):
        remaining = ablated_parts(record)._replace(positions=())
        if remaining != ablated_parts(record):
            set_ablated_parts(remaining.codes)


MEASURE = "ablation"
NO_PROOF = "One input is no proof that a head is redundant."
MOST_NAMED_PARTS = 4  # parts that are named one by one
_REPLACEMENT_HELP = (
    "What stands in the place of a head's output z: zeros, or its mean over the data set, which leaves out only what "
    "differs between inputs. The bias of W_O stays. What a feed-forward puts out is always made zero, its bias included."
)
_DATA_HELP = (
    "This input: take away any parts and see what becomes of its answer. Data set: which heads can go, one after the other, "
    "before the encoder makes more mistakes."
)


def draw_ablation() -> None:
    """Draws how the answer to an input changes without chosen parts of the encoder; over a data set, the pruning curves."""
    input_place = st.container()  # which the data set does not need
    containers = controls, _ = bar("controls")
    with controls:
        is_over_data = ABLATED_OVER.choose(help=_DATA_HELP) == OVER
    if is_over_data:
        draw_pruning(controls)
        return
    with input_place:
        subject, slots = choose_input(containers)
    chosen = choose_head(subject, slots, with_roles=False)
    stored = subject.stored_heads
    record = subject.record
    restore_tokens_of_other_text(record)
    with slots.controls:
        query = choose_query(record)
        ablated_now = ablated_parts(record)
        _choose_parts(record, ablated_now)
        answer = choose_answer(subject)
    means = _choose_means(slots, stored, record)
    intervention = ablated(*ablated_now, means=means)
    before, after = Side(subject, "Before"), Side(subject.under(intervention), "After")
    if any(ablated_now):
        headline = answer.change_sentence(_without_clause(ablated_now, record), after.subject)
    else:
        clause = answer.value_clause and f": {answer.value_clause}"
        headline = f"Nothing is taken away{clause}. Click a part, or a {record.unit}, to take it away."
    tell(headline, is_headline=True)
    if any(ablated_now):
        predictions(before, after, key="ablate_predictions")
    grid, input_column = beside("ablate")
    with grid:
        _draw_effects(subject, chosen, answer, ablated_now, stored, means)
    with input_column:
        _draw_input(chosen, before, after, ablated_now, query)
        if any(ablated_now) and (more := answer.change_details(after.subject)):
            st.caption(more)
    _draw_maps(chosen, before, after, query)


def _choose_means(slots: Slots, stored: HeadResults | None, record: ForwardRecord) -> np.ndarray | None:
    """Mean outputs z [layer, head, d_v] that replace those of ablated heads; None if zeros replace them."""
    config = record.config
    if stored is None or stored.z.shape != (config.n_layers, config.n_heads, config.d_v):
        return None
    help = f"{_REPLACEMENT_HELP} The data set is {examples_phrase(stored.source)}."
    with slots.view:
        return stored.z if REPLACED_BY.choose(help=help) == MEAN else None


def _choose_parts(record: ForwardRecord, ablated_now: AblatedParts) -> None:
    """Draws the list of all parts that can be ablated, and the buttons Undo and Reset."""
    n_layers, n_heads, *_ = record.pattern.shape
    names = {f"h{layer}-{head}": head_name(layer, head) for layer, head in np.ndindex(n_layers, n_heads)}
    names |= {f"a{layer}": f"L{layer}, all heads" for layer in range(n_layers)}
    names |= {f"f{layer}": f"L{layer} feed-forward" for layer in range(n_layers)}
    names |= {f"p{index}": label for index, label in enumerate(record.labels)}
    st.session_state["ablate_parts"] = sorted(ablated_now.codes)
    with st.popover("Parts", key="ablate_choose"):
        st.multiselect(
            f"Taken away: heads, layers, feed-forwards, {record.units}",
            list(names),
            format_func=lambda code: names.get(code, ""),
            key="ablate_parts",
            placeholder="choose here, or click below",
            select_all=False,
            wrap=True,
            on_change=lambda: set_ablated_parts(st.session_state["ablate_parts"]),
        )
    icon, has_history = ":material/undo:", bool(st.session_state.get(HISTORY_KEY))
    st.button("Undo", key="ablate_undo", on_click=undo, disabled=not has_history, type="tertiary", icon=icon)
    st.button(
        "Put all back",
        key="ablate_reset",
        on_click=set_ablated_parts,
        args=((),),
        disabled=not any(ablated_now),
        type="tertiary",
    )


def _without_clause(ablated_now: AblatedParts, record: ForwardRecord) -> str:
    """Beginning of a sentence that names the ablated parts, as plain text."""
    token = "“{}”" if record.unit == "token" else "{}"
    names = [head_name(layer, head) for layer, head in ablated_now.heads]
    names += [f"all heads of L{layer}" for layer in ablated_now.layers]
    names += [f"the feed-forward of L{layer}" for layer in ablated_now.feed_forwards]
    names += [token.format(record.tokens[index]) for index in ablated_now.positions]
    if len(names) > MOST_NAMED_PARTS:
        counts = [
            (len(ablated_now.heads), "head", "heads"),
            (len(ablated_now.layers), "whole layer of heads", "whole layers of heads"),
            (len(ablated_now.feed_forwards), "feed-forward", "feed-forwards"),
            (len(ablated_now.positions), record.unit, record.units),
        ]
        names = [f"{n} {singular if n == 1 else plural}" for n, singular, plural in counts if n]
    return "Without " + " and ".join(filter(None, (", ".join(names[:-1]), names[-1])))


def _draw_effects(
    subject: LiveSubject,
    chosen: HeadChoice,
    answer: Answer,
    ablated_now: AblatedParts,
    stored: HeadResults | None,
    means: np.ndarray | None,
) -> None:
    """Draws the effect of ablating each part alone; a click ablates the part, or restores it."""
    record = subject.record
    st.markdown("**Each part alone: how the answer changes without it**")
    vectors = None if means is None else as_hashable_means(means)
    work_key = ("ablate", subject, vectors is None, answer.word)
    n_layers, n_heads, *_ = record.pattern.shape
    label = f"Take away each of the {n_layers * n_heads} heads in turn"
    shape = n_layers, n_heads + 2
    effects: np.ndarray | Expression = np.full(shape, np.nan)
    if is_wanted(subject, work_key, n_forwards_of_heads(record), label, "ablate_all"):
        without = answers_without_parts(subject, vectors, answer.for_experiments)
        effects = named("effects", answer.falls_expression(as_python.record(subject), without))
        with until_done(work_key):
            effects()
    # What is stored over a data set is the change of the classes or of the pooled state.
    spread = (
        None if stored is None or answer.word else stored.spreads.get("zero" if means is None else "mean")
    )
    over_data = None
    if spread is not None and spread.mean.shape == (n_layers, n_heads):
        over_data = np.pad(spread.mean, ((0, 0), (0, 2)), constant_values=np.nan)
    codes = [
        {n_heads: f"a{layer}", n_heads + 1: f"f{layer}"}.get(column, f"h{layer}-{column}")
        for layer, column in np.ndindex(shape)
    ]
    is_gone = np.array([code in ablated_now.codes for code in codes]).reshape(shape)

    def take(marks: set[int]) -> None:
        set_ablated_parts(ablated_parts(record).codes - {*codes} | {codes[mark] for mark in marks})

    figure = call(
        ablation_grid, effects, is_gone, what=answer.fall_title, signed=answer.is_signed, over=over_data
    )
    toggled(
        figure,
        key="ablate_grid",
        on=np.flatnonzero(is_gone).tolist(),
        n=len(codes),
        take=take,
        stamp=subject.checkpoint,
        width="content",
    )
    data = "" if answer.word else f" {_over_data_sentence(subject, chosen, stored, spread)}"
    st.caption(
        f"{ATTENTION}: all heads of the layer at once (the bias of W_O stays); {FEED_FORWARD}: all that the layer's "
        "feed-forward puts out, its bias included. Framed: taken away now. "
        f"{NO_PROOF}{data}"
    )


def _over_data_sentence(
    subject: LiveSubject, chosen: HeadChoice, stored: HeadResults | None, spread: Spread | None
) -> str:
    """Sentence on the effect of ablating the chosen head over the data set, `spread` (mean and standard deviation)."""
    if stored is None or spread is None:
        return measuring_sentence(subject.checkpoint, f"--with {MEASURE}")
    index = chosen.layer, chosen.head
    return (
        f"The chosen head, {head_name(*index)}, over {examples_phrase(stored.source, MEASURE)}: without it the change has a mean size of "
        f"{format_number(float(spread.mean[index]), '#.2g')} ± {format_number(float(spread.sd[index]), '#.2g')} (standard deviation)."
    )


def _draw_input(chosen: HeadChoice, before: Side, after: Side, ablated_now: AblatedParts, query: int) -> None:
    """Draws the text or the picture; a click ablates a token or patch: no head can attend to it any more."""
    record, head, source = after.record, (chosen.layer, chosen.head), as_python.record(after.subject)
    unit = record.unit
    st.markdown(f"**The input: a click takes a {unit} away**")
    allowed = np.ones(len(record), bool)
    allowed[list(ablated_now.positions)] = False

    def take(positions: set[int]) -> None:
        others = ablated_parts(record)._replace(positions=()).codes
        set_ablated_parts(others | {f"p{position}" for position in positions})

    input_in_colours(
        None if unit == "token" else as_python.seen_picture(after.subject),
        source,
        source.pattern[head][query],
        query=query,
        scale=chosen.of_head(before.record, record),
        key="ablate_input",
        allowed=allowed,
        toggling=Toggling(ablated_now.positions, take),
    )
    st.caption(
        f"Colours: what the query attends to in {head_name(*head)}, after. No query attends to a {unit} that is taken "
        "away; its own state stays in the residual stream."
    )


def _draw_maps(chosen: HeadChoice, before: Side, after: Side, query: int) -> None:
    """Draws all heads before and after the ablation, then the chosen head's map before, after, and their difference."""
    sides, head = (before, after), (chosen.layer, chosen.head)
    for side, column in zip(sides, beside("ablate_all_maps"), strict=True):
        with column:
            record, when = side.record, side.title.lower()
            st.markdown(f"**All heads, {when}**")
            key = f"ablate_overview_{when}"
            source = as_python.record(side.subject)
            draw_heads_overview(source, head_summary(record), selected=head, scale=chosen.scale, key=key)
    st.caption("A click chooses the head that is shown below.")
    scale = chosen.of_head(*(side.record for side in sides))
    draw_changed_maps(before, after, head, query=query, scale=scale, key="ablate_map")
