"""All heads on one input and the chosen one in large, linked; for a long input the chosen map once more, cell by cell."""

from collections.abc import Callable, Sequence
from functools import partial

import numpy as np
import streamlit as st

from app_pages.attention.attributed_answer import attribute, colouring_of
from app_pages.attention.attribution_target import can_attribute, choose_attribution
from app_pages.attention.detail import draw_cells
from app_pages.attention.head_summary import head_sentence
from app_pages.attention.record_view import RecordView
from app_pages.attention.sentence_links import Outlines
from app_pages.attention.shown_head import ShownHead
from app_pages.attention.window import LARGE
from app_pages.controls.attention_controls import (
    ATTRIBUTION,
    BY_ANSWER,
    BY_ATTENTION,
    COLOURED_BY,
    COLOURINGS,
    KNOCKED_OUT,
    ON_PICTURE,
    SMALL_MAPS,
)
from app_pages.controls.head_choice import open_weight, take_head, take_layer, take_query
from app_pages.controls.lens import number_sentence_for
from app_pages.show.download import download
from app_pages.show.faithfulness.checked import Checked
from app_pages.show.faithfulness.line import faithfulness
from app_pages.show.linked_view import Choice, Hiding, linked_view
from app_pages.subject.subject import Subject
from app_pages.toolkit.markdown import plain
from model.inputs import Picture, preprocessed_picture
from model.lenses import ATTENTION
from viz.attention.head_overview import head_maxima, head_overview
from viz.attention.matrix_links import with_outlines
from viz.attention.picture_patches import query_on_picture
from viz.attention.token_heatmaps import weight_heatmap
from viz.builders.figure import Figure
from viz.builders.number_format import format_number, head_name
from viz.builders.palette import WeightScale


def draw_all_heads(shown: ShownHead, outlined: Outlines | None = None) -> None:
    """Draws the linked chart of all heads, with the `outlined` links of the sentence, and the line on whether the shown map
    explains the answer.
    """
    record, lens = shown.view.record, shown.lens
    is_own_scale = shown.chosen.scale == "own"
    tokens, maps = st.container(key="linked_words"), st.container(key="linked")
    verdict = st.container(key="linked_verdict", gap=None)

    def take(choice: Choice) -> None:
        (take_head if lens.has_heads else take_layer)(choice.layer, choice.head)
        take_query(record.number(choice.query))
        if choice.coloured_by != COLOURED_BY.held():
            COLOURED_BY.take(choice.coloured_by)

    def check() -> Hiding | None:
        with verdict:
            return _draw_verdict(shown)

    with maps:
        linked_view(
            record,
            Choice(*shown.head, shown.query, _colouring()),
            take,
            key="all_heads",
            tokens=tokens,
            measures=shown.view.measures,
            about=sentences_about_heads(shown),
            by_layer=not lens.has_heads,
            scale=WeightScale(what=lens.quantity, shares=lens.sums_to_1),
            tops=head_maxima(record) if is_own_scale else None,
            reach="each map's own maximum" if is_own_scale else "1",
            picture=_picture(shown.subject),
            on_picture=SMALL_MAPS.held(ON_PICTURE) == ON_PICTURE,
            links=None if outlined is None else outlined.links,
            hiding=check,
        )
    if max(shown.pattern.shape) > LARGE and record.unit == "token":
        with st.expander("This head cell by cell", key="cell_by_cell", on_change="rerun") as cells:
            if cells.open:
                draw_cells(shown, [] if outlined is None else outlined.links)


def _colouring() -> str:
    """What colours the tokens. The address always says it: who has chosen a method by which to see what the answer hangs on
    sees that, even in a link that does not say so.
    """
    if (colouring := COLOURED_BY.read()) not in COLOURINGS:
        method = ATTRIBUTION.held(st.query_params.get(ATTRIBUTION.key, KNOCKED_OUT))
        colouring = BY_ATTENTION if method == KNOCKED_OUT else BY_ANSWER
        COLOURED_BY.begin(colouring)
    return colouring


def _draw_verdict(shown: ShownHead) -> Hiding | None:
    """Draws the remarks on the chosen map and the line on whether it explains the answer; returns the second colouring of the
    tokens: how the answer changes when each is hidden, or its attribution to each.
    """
    subject, view, answer, record = shown.subject, shown.view, shown.answer, shown.view.record
    remarks = [*view.notes_on(shown.pattern), number_sentence_for(subject, shown.chosen)]
    if any(remarks):
        st.caption("  \n".join(map(plain, filter(None, remarks))))
    checked, choose_method = None, partial(choose_attribution, subject, answer)
    if (why := shown.why_unchecked) is None:
        checked = faithfulness(
            subject,
            subject.through(shown.through).pattern[shown.head],
            shown.kind,
            answer,
            lens=shown.lens.name,
            head=shown.head,
            query=record.number(shown.query),
            beside_line=choose_method if can_attribute(subject, record) else None,
        )
    else:
        with st.container(horizontal=True, vertical_alignment="top", gap="small"):
            st.caption(why)
            if can_attribute(subject, record):
                choose_method()
    attributed = attribute(shown, checked)
    return _hiding(checked, view) if attributed is None else colouring_of(subject, attributed)


def download_buttons(shown: ShownHead, outlined: Outlines | None = None) -> None:
    """Draws the menu that makes files of the chosen head's map with the `outlined` links, of the overview, and of the picture
    with its patches where the input is one.
    """
    chosen, view, record = shown.chosen, shown.view, shown.view.record
    picture = _picture(shown.subject)
    others: dict[str, Callable[[], Figure]] = {
        "overview": lambda: head_overview(
            record,
            selected=shown.head,
            measures=view.measures,
            colours=chosen.scale,
            notes=view.notes,
            by_layer=not chosen.lens.has_heads,
            picture=picture if SMALL_MAPS.held(ON_PICTURE) == ON_PICTURE else None,
            query=shown.query,
        )
    }
    if picture is not None:
        others["picture"] = lambda: query_on_picture(
            record,
            picture,
            shown.pattern[shown.query],
            query=shown.query,
            scale=chosen.of_head(record),
            notes=[
                f"{head_name(*shown.head)}: what {record.tokens[shown.query]} attends to",
                *view.notes_on(shown.pattern),
            ],
        )
    links, note = outlined or Outlines([], "")
    download(
        lambda: with_outlines(
            weight_heatmap(
                shown.pattern,
                record.tokens,
                query=shown.query,
                mask=record.mask[shown.head],
                scale=chosen.of_head(record),
                keys=None if record.keys is None else record.keys.tokens,
                numbers=record.numbers,
                notes=[*view.notes_on(shown.pattern), *filter(None, [note])],
            ),
            links,
            shown.head,
        ),
        "matrix",
        others=others,
    )


def _picture(subject: Subject) -> np.ndarray | None:
    """The picture as the encoder reads it, a blank one where a record of patches has none; None for a text."""
    read = subject.model_input
    return preprocessed_picture(read.array, subject.record) if isinstance(read, Picture) else None


def link_to_steps(shown: ShownHead) -> None:
    """Draws a link from the largest weight of the query to the steps that it comes from, in Inside a head.

    There is none where a lens shows something else, or where words are merged: such a weight is a sum over pieces.
    """
    record = shown.view.record
    if shown.lens.name != ATTENTION or record.merged or record.keys is not None:
        return
    weights = shown.pattern[shown.query]
    key = int(weights.argmax())
    st.button(
        f"Where does {format_number(float(weights[key]), '.3f')} come from? →",
        type="tertiary",
        key="origin",
        on_click=open_weight,
        args=(*shown.head, record.number(shown.query), record.number(key)),
    )


def sentences_about_heads(shown: ShownHead) -> Sequence[str]:
    """For each head, layer by layer, its role and what most of its weight goes to."""
    maps = shown.subject.through(shown.through)
    n_layers, n_heads = shown.view.record.pattern.shape[:2]
    return [
        head_sentence(shown.subject, maps, shown.lens, layer, head)
        for layer, head in np.ndindex(n_layers, n_heads)
    ]


def _hiding(checked: Checked | None, view: RecordView) -> Hiding | None:
    """The changes of the answer by token; None where they are not computed, or the tokens shown are not those of the input."""
    record = view.record
    if checked is None or record.keys is not None or len(record) != len(checked.record):
        return None
    effects: list[float | None] = [None] * len(record)
    for position, effect in zip(checked.positions, checked.effects.tolist(), strict=True):
        effects[position] = effect
    answer, read = checked.answer, checked.record
    if answer.is_masked_word:
        return Hiding(
            changes=effects,
            unit=f"nats, log P({answer.name})",
            note=(
                f"Purple: without this {record.unit}, {answer.name} gets less likely; gold: more likely. What a head looks at is "
                "not what the answer hangs on: compare the two."
            ),
        )
    if not read.has_classes:
        return Hiding(
            changes=effects,
            unit="cosine distance",
            note="The darker a token, the further the pooled state moves when it is hidden (cosine distance).",
        )
    name = read.class_names[read.logits.argmax()]
    return Hiding(
        changes=effects,
        unit=f"log-odds of {name}",
        note=(
            f"Purple: without this {record.unit}, “{name}” gets less likely; gold: more likely. What a head looks at is "
            "not what the answer hangs on: compare the two."
        ),
    )
