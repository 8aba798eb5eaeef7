"""Masks: hide keys from queries, and see how the chosen head's map, all heads and the answer change."""

from collections.abc import Callable
from functools import partial

import numpy as np
import streamlit as st

from app_pages.controls.answer_choice import choose_answer
from app_pages.controls.control_bar import Slots, bar
from app_pages.controls.head_choice import choose_head, choose_query, take_query
from app_pages.controls.lens import score_formula
from app_pages.controls.masks_controls import (
    BLOCKED_CELLS,
    HEAD,
    LOST_BY,
    PART,
    SHOWN,
    STEP_BY_STEP,
    WAYS,
    block,
    blocked,
)
from app_pages.inputs.row import choose_input
from app_pages.masks.choose_mask import block_at_first, choose_kind, choose_mask, is_example
from app_pages.masks.mask_sentences import NOTHING, explained, has_own_mask, named, without_or_with
from app_pages.masks.methods import draw_methods, draw_worked_example
from app_pages.masks.word_stroke import MaskedInput, draw_word_stroke
from app_pages.show.all_heads import clickable_heads
from app_pages.show.input_in_colours import Toggling, input_in_colours
from app_pages.show.prediction import before_and_after
from app_pages.show.show import heading, show, toggled
from app_pages.show.side_predictions import beside, predictions, tell
from app_pages.subject import as_python
from app_pages.subject.answer import Answer, whole_answer
from app_pages.subject.head_name import head_names
from app_pages.subject.two_sides import Side, difference
from app_pages.toolkit.expression import Expression, call
from app_pages.toolkit.markdown import plain
from model.capture.intervention import MaskChoice, masked
from model.measures.changes import LostWeight, weight_lost_to_mask
from model.measures.head_measures import combine_heads, mean_entropy
from model.measures.head_statistics import can_depend_on_input
from model.record import ForwardRecord
from viz.attention.token_heatmaps import MapOptions, attention_heatmap, score_heatmap
from viz.builders.cells import entropy_change
from viz.builders.heatmap import compact_heatmap
from viz.builders.number_format import format_number, head_name, percent
from viz.builders.palette import WEIGHTS
from viz.masks.cell_board import attention_shift, cell_board

LEGIBLE = 64  # positions; of more, a part is shown to begin with
MOST_DRAWN = 512  # positions; with three maps of 1,370 × 1,370 cells a browser was busy for minutes
TITLES = {"scores": "Scores", "pattern": "Weights", "change": "Change"}
LARGEST_BOARD = 64  # positions; beyond, cells are too small to be hit

NAMED = 3  # keys that are named one by one


def draw() -> None:
    part = PART.choose()
    subject, slots = choose_input(with_answer=part == WAYS)
    record = subject.record
    block_at_first(subject, record)
    mask_place = slots.view if part == WAYS else slots.controls
    with mask_place:
        kind = choose_kind(record)
    chosen = choose_head(subject, slots, with_colours=part != WAYS, with_roles=False)
    with slots.controls:
        query = choose_query(record)
    mask = choose_mask(kind, record, query, controls_in=mask_place, more_in=slots.view)
    with slots.controls:
        answer = choose_answer(subject)

    changed = masked(mask)
    if changed.n_padding(record.config):
        before = Side(subject, "Without padding")
        unmasked = Side(subject.under(masked(mask, "ignored")), "Padding, not masked")
        after = Side(subject.under(changed), "Padding, masked")
    else:
        before = unmasked = Side(subject, "Without the mask")
        after = Side(subject.under(changed), "With the mask")
    view = MaskedInput(subject, chosen, unmasked, after, mask, query)
    if part == WAYS:
        draw_methods(view, answer, slots)
        draw_worked_example(subject, chosen)
        st.stop()
    with slots.controls, st.container(key="masks_effect"):
        say_answers(slots, before, after, mask, answer)
    is_board = has_board(view)
    is_beside = part == STEP_BY_STEP and (is_board or record.unit != "token")
    layout = "beside" if is_beside else "above"
    with st.container(horizontal=True, key=f"masks_body_{layout}"):
        target = st.container(key=f"masks_target_{layout}", width="content" if is_beside else "stretch")
        result = st.container(key=f"masks_result_{layout}")
    with target:
        draw_click_target(view)
    with result:
        if part == STEP_BY_STEP:
            draw_maps(view, with_pattern=not is_board)
        elif view.changes_nothing:
            tell("What follows for every head stands here as soon as a mask hides something.")
        else:
            entropies, loss = beside("consequences")
            with entropies:
                _draw_entropies(view)
            with loss:
                _draw_lost_weight(view)
        if unmasked is not before:
            draw_padded_answers(before, unmasked, after, answer)
    st.caption(explained(mask, record))


def say_answers(slots: Slots, before: Side, after: Side, choice: MaskChoice, answer: Answer) -> None:
    """Writes the effect on the chosen `answer`, and draws the predictions before and after into the input row.

    `before` is the plain input, `after` is under the mask.
    """
    mask = without_or_with(choice, before.record)
    if is_example(choice):
        mask = f"For example: {mask[0].lower()}{mask[1:]}"
    if mask == NOTHING:
        own = " besides what the encoder masks itself" if has_own_mask(before.record) else ""
        clause = answer.value_clause and f": {answer.value_clause}"
        sentence = f"Nothing is masked{own}{clause}."
    elif answer.word or can_depend_on_input(after.record):
        sentence = answer.change_sentence(mask, after.subject)
    else:
        sentence = _independent_sentence(mask, after)
    tell(sentence, is_headline=True)
    if after.record.has_classes:
        with slots.answer:
            before_and_after(before.record, after.record, after.subject.label)


def draw_padded_answers(before: Side, unmasked: Side, after: Side, answer: Answer) -> None:
    """Draws the predictions for a text without padding, with masked padding, and with unmasked padding."""
    predictions(before, after, unmasked, key="masks_probabilities")
    masked_change, unmasked_change = (
        format_number(answer.change_to(side.subject), "+.2g" if answer.is_signed else ".2g")
        for side in (after, unmasked)
    )
    change = plain(answer.change_title)
    st.caption(
        f"{change[0].upper()}{change[1:]}, from the text without padding: {masked_change} where the padding is masked, {unmasked_change} where it is not."
    )


def _independent_sentence(mask: str, after: Side) -> str:
    """Sentence for a mask under which the answer no longer depends on the input, since no other token reaches the class token."""
    unit = "text" if after.is_text else "digit"
    clause = whole_answer(after.record).value_clause
    so = clause and f", so {clause} for every {unit}"
    return f"{mask}, the answer no longer depends on the {unit}: nothing else reaches the class token{so}."


def _draw_entropies(view: MaskedInput) -> None:
    """Draws the change of each head's entropy by the mask."""
    heading("Entropy of every head, with the mask minus without", key="masks_entropy_heading")
    sources = (as_python.record(side.subject) for side in (view.unmasked, view.after))
    entropies = (call(mean_entropy, source.pattern, source.mask) for source in sources)
    chart = call(entropy_change, *entropies, selected=view.head)
    clickable_heads(chart, key="masks_entropy", chosen=view.head)
    st.markdown(
        r"Mean over queries of $H_i / \ln n_i$ with $H_i = -\sum_j A_{ij} \ln A_{ij}$; $n_i$ counts the "
        "keys that query $i$ may attend to, so fewer allowed keys alone do not make a head look focused. A "
        "query with one key or none counts as 0. A click chooses the head."
    )


def _draw_lost_weight(view: MaskedInput) -> None:
    """Draws what the class token or, without one, the query attends to before and after, and says how much of it the mask hides."""
    has_class_token = view.after.record.has_class_token
    position, name = (0, "the class token") if has_class_token else (view.query, f"query {view.query}")
    heading(f"What {name} attends to, before and after", key="masks_shift_heading")
    controls, _ = bar("masks_lost")
    with controls:
        choice = LOST_BY.choose()
    layer, head = view.head
    heads = slice(head, head + 1) if choice == HEAD else slice(None)
    row_before, row_after = (
        call(combine_heads, as_python.record(side.subject).pattern[layer, heads, position])
        for side in (view.unmasked, view.after)
    )
    source = as_python.record(view.after.subject)
    allowed = call(np.any, source.mask[layer, heads, position], axis=0)
    if allowed().all():
        tell(
            f"No key is masked here for {name} in every head; what changes comes from masks in some heads or elsewhere."
        )
    else:
        tell(_lost_sentence(name, weight_lost_to_mask(row_before(), allowed()), view.after.record))
    show(call(attention_shift, row_before, row_after, source.tokens, allowed=allowed), key="masks_shift")


def _lost_sentence(name: str, loss: LostWeight, after: ForwardRecord) -> str:
    """Sentence on the share of attention that went to keys that are now masked, and which of these keys had most of it."""
    largest = list(zip(loss.keys, loss.weights, strict=True))[:NAMED]
    names = ", ".join(f"{named(after, key)} {percent(weight)}" for key, weight in largest)
    if len(loss.keys) == 1:  # whose share is the whole
        names = named(after, loss.keys[0])
    rest = " and others" if len(loss.keys) > len(largest) else ""
    return f"{name.capitalize()} cannot look any more where {percent(loss.total)} of its attention went: {names}{rest}."


def has_board(view: MaskedInput) -> bool:
    """Whether the page draws a board of cells [query, key]: cells are blocked, and the input's positions are few enough that the
    cells can be clicked.
    """
    return view.choice.kind == "cells" and view.n <= LARGEST_BOARD


def draw_click_target(view: MaskedInput) -> None:
    """Draws a board of cells if cells are blocked and large enough to click; otherwise the text or the picture."""
    after, query, n, scale = view.after.record, view.query, view.n, view.scale
    source = as_python.record(view.after.subject)
    if has_board(view):
        rows = {
            "scores": after.scores[view.head].astype(float).round(4).tolist(),
            "allowed": view.unmasked.record.mask[view.head].tolist(),
            "largest": scale.largest,
            "colours": list(WEIGHTS),
            "exact": view.chosen.layer == 0,
        }
        toggled(
            call(
                cell_board,
                source.pattern[view.head],
                source.tokens,
                mask=source.mask[view.head],
                query=query,
                scale=scale,
            ),
            key="masks_board",
            on=[n * of_query + key for of_query, key in blocked(BLOCKED_CELLS, n)],
            n=n * n,
            take=lambda cells: block(BLOCKED_CELLS, (divmod(cell, n) for cell in cells)),
            stamp=" ".join(after.tokens),
            width="content",
            rows=rows if view.choice.applies_to(*view.head) else None,
        )
        return
    if view.choice.kind == "cells":
        st.caption(
            f"{n} × {n} cells are too small to click: here a click blocks the {after.unit} for query {query} alone."
        )
    if after.unit == "token":
        draw_word_stroke(view)
        return
    if view.hides:
        st.caption("Click a patch to hide it, and again to show it.")
    input_in_colours(
        as_python.seen_picture(view.subject),
        source,
        source.pattern[view.head][query],
        query=query,
        scale=scale,
        key="masks_patches",
        take=lambda key: take_query(min(key, n - 1)),
        chosen=(view.choice, query),
        allowed=source.mask[view.head][query],
        toggling=Toggling(set(view.blocked_keys()), view.block_keys) if view.hides else None,
    )


def draw_maps(view: MaskedInput, *, with_pattern: bool) -> None:
    """Draws three heatmaps of the chosen head: masked scores, pattern, and the change of the pattern by the mask. Without
    `with_pattern`, for a page that shows the pattern elsewhere, that one is left out.
    """
    after, head, n = view.after, view.head, len(view.after.record)
    name = head_name(*head)
    first, last = 0, n - 1  # position in all maps
    if n > LEGIBLE:
        first, last = SHOWN.choose(most=n - 1, default=(0, LEGIBLE - 1))
    if last - first >= MOST_DRAWN:
        last = first + MOST_DRAWN - 1
        st.caption(f"The maps have room for {MOST_DRAWN} positions, here {first} to {last}.")
    whole: MapOptions = {"query": view.query, "zoom": (first, last)}
    part = range(
        first, last + 1
    )  # of more positions than `MOST_DRAWN`, that part alone is sent to the browser
    on_screen: MapOptions = whole if n <= MOST_DRAWN else {"query": view.query, "window": (part, part)}
    source = as_python.record(after.subject)
    drawn: dict[str, Callable[..., Expression]] = {
        "scores": partial(
            call,
            score_heatmap,
            source.scores[head],
            source.tokens,
            mask=source.mask[head],
            title=f"Scores of {name}",
        ),
        "pattern": partial(
            call,
            attention_heatmap,
            source,
            *head,
            scale=view.scale,
            title=f"Pattern of {name}",
            description=f"Attention of {name} under the mask, queries down, keys across",
            beside=not after.is_text,  # the picture itself takes room from the maps
        ),
        "change": partial(
            difference,
            view.unmasked,
            after,
            head,
            names=("unmasked", "masked"),
            title=f"Change of the pattern of {name}",
            description=f"Change of the attention of {name} by the mask, queries down, keys across",
        ),
    }
    if not with_pattern:
        del drawn["pattern"]
    with st.container(key=f"masks_maps{'_of_two' * (len(drawn) == 2)}", horizontal=True, gap=None):
        for number, (figure_name, draw) in enumerate(drawn.items(), start=1):
            with st.container(key=f"mask_map_{figure_name}"):
                show(
                    call(compact_heatmap, draw(**on_screen), f"<b>{number} {TITLES[figure_name]}</b>"),
                    key=f"masks_map_{figure_name}",
                    height="stretch",
                    in_file=draw(**whole),
                )
    if not after.is_text:
        st.caption("r2c1: the patch in row 2, column 1, counted from 0.")
    scores = score_formula(after.record.config)
    role = head_names(view.subject, *head).short_text
    with st.expander("How these maps come about", icon=":material/function:"):
        st.markdown(
            rf"{name}{role and f' ({role})'}: where a query (a row) may not see a key (a column), hatched, $-\infty$ is added to "
            "the score. The softmax then gives that key the weight 0, and the other weights of the row grow until they add up to 1. "
            "Framed: the query. ▲ on the colour bar: the same weight for all allowed keys."
        )
        st.markdown(
            r"$A_{ij} = \operatorname{softmax}_j(s_{ij} + m_{ij})$, with "
            rf"$s_{{ij}} = {scores.tex}$, $\;m_{{ij}} = 0$ where query $i$ sees key $j$, and $-\infty$ where not. {scores.meanings}"
        )
        st.markdown(
            "The change is the pattern with the mask minus the pattern without. In later layers the scores change too: they come "
            "from states that the mask has already changed."
        )
