"""All heads on one input and the chosen one in large, linked; for a long input the chosen map once more, cell by cell."""

from collections.abc import Sequence

import numpy as np
import streamlit as st

from app_pages.attention.attributed_answer import (
    choice_callback,
    chosen_colouring,
    draw_verdict,
    token_and_verdict_containers,
)
from app_pages.attention.detail import draw_cells, matrix_figure
from app_pages.attention.sentence_links import NO_OUTLINES, Outlines
from app_pages.attention.shown_head import ShownHead, head_sentence
from app_pages.attention.window import LARGE
from app_pages.controls import compare_controls
from app_pages.controls.attention_controls import ON_PICTURE, SMALL_MAPS
from app_pages.controls.head_choice import open_weight
from app_pages.controls.lens import number_sentence_for
from app_pages.controls.pages import COMPARE, go_to
from app_pages.show.download import download
from app_pages.show.linked_view import AnswerColours, Choice, linked_view
from app_pages.subject.as_python import seen_picture
from app_pages.toolkit.expression import Expression, call, named
from app_pages.toolkit.markdown import plain
from model.lenses import ATTENTION
from model.measures.head_measures import head_summary
from viz.attention.head_overview import head_maxima, head_overview
from viz.attention.picture_patches import query_on_picture
from viz.builders.number_format import format_number
from viz.builders.palette import WeightScale


def draw_all_heads(shown: ShownHead, outlined: Outlines | None) -> None:
    """Draws the maps of all heads beside the chosen head's map in large, and the verdict whether that map explains the answer.
    The links between words in `outlined` are framed in the maps.
    """
    record, lens = shown.view.record, shown.lens
    is_own_scale = shown.chosen.scale == "own"
    picture = None if record.unit == "token" else seen_picture(shown.subject)
    is_on_picture = SMALL_MAPS.held(ON_PICTURE) == ON_PICTURE
    tokens, verdict = token_and_verdict_containers(record)
    linked, remarks = st.container(key=f"linked_{record.unit}"), st.container()

    def check() -> AnswerColours | None:
        """Draws the verdict on the chosen map; returns how the answer depends on each token."""
        with verdict:
            return draw_verdict(shown)

    with linked:
        linked_view(
            record,
            Choice(*shown.head, shown.query, chosen_colouring()),
            choice_callback(shown),
            key="all_heads",
            tokens=tokens,
            measures=shown.view.measures,
            about=sentences_about_heads(shown),
            by_layer=not lens.has_heads,
            scale=WeightScale(what=lens.quantity, shares=lens.sums_to_1),
            tops=head_maxima(record) if is_own_scale else None,
            reach="each map's own maximum" if is_own_scale else "1",
            picture=None if picture is None else picture(),
            on_picture=is_on_picture,
            links=None if outlined is None else outlined.links,
            answer_colours=check,
        )
        _draw_menu(shown, outlined or NO_OUTLINES, picture, is_on_picture=is_on_picture)
    notes = [*shown.notes, number_sentence_for(shown.subject, shown.chosen)]
    if any(notes):
        remarks.caption("  \n".join(map(plain, filter(None, notes))))
    if max(shown.pattern.shape) > LARGE and record.unit == "token":
        with st.expander("This head cell by cell", key="cell_by_cell", on_change="rerun") as cells:
            if cells.open:
                draw_cells(shown, (outlined or NO_OUTLINES).links)


def _draw_menu(
    shown: ShownHead, outlined: Outlines, picture: Expression | None, *, is_on_picture: bool
) -> None:
    """Draws the download menu: the chosen head's map with the `outlined` links, the overview of all heads (`is_on_picture` shows
    each on the picture) and, for a `picture`, its patches coloured by the chosen query's weights.
    """
    view, source = shown.view, shown.view.source
    others = {
        "overview": call(
            head_overview,
            source,
            selected=shown.head,
            measures=named("measures", call(head_summary, source), lambda: view.measures),
            colours=shown.chosen.scale,
            notes=view.notes,
            by_layer=not shown.lens.has_heads,
            picture=picture if is_on_picture else None,
            query=shown.query,
        )
    }
    if picture is not None:
        others["picture"] = call(
            query_on_picture,
            source,
            picture,
            shown.weights[shown.query],
            query=shown.query,
            scale=shown.scale,
            notes=[f"{shown.name}: what {view.record.tokens[shown.query]} attends to", *shown.notes],
        )
    download(matrix_figure(shown, outlined.links, links_note=outlined.note), "matrix", other_figures=others)


def link_to_steps(shown: ShownHead) -> None:
    """Draws a button that opens Inside a head at the chosen query and the key with its largest weight.

    Draws nothing under a lens other than attention weights, or where word pieces are merged into words: a merged weight is a sum
    over pieces.
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
    """A sentence for each head, in order of layer and head: its role and what most of its weight goes to."""
    n_layers, n_heads = shown.view.record.pattern.shape[:2]
    return [head_sentence(shown, layer, head) for layer, head in np.ndindex(n_layers, n_heads)]


def link_to_patches() -> None:
    """Draws a button that opens Side by side at the view that shows which patches resemble a chosen patch."""
    choices = (
        compare_controls.COMPARED.to(compare_controls.INPUTS),
        compare_controls.PART.to(compare_controls.SIMILARITY),
        compare_controls.SIMILARITY_VIEW.to(compare_controls.ONE_PATCH),
    )
    st.button(
        "Which patches are alike? →", type="tertiary", key="alike", on_click=go_to, args=(COMPARE, *choices)
    )
