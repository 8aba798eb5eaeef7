"""One input read twice: prediction, input and attention before and after a change."""

import streamlit as st

from app_pages.controls.control_bar import Slots
from app_pages.controls.head_choice import HeadChoice, choose_query
from app_pages.controls.positions_controls import BACK, DIFFERENCE, MAPS, ROWS, SIDE_BY_SIDE
from app_pages.show.changed_head import BOTH, CHANGE, draw_changed_input, draw_changed_maps
from app_pages.show.prediction import prediction
from app_pages.show.side_predictions import NUMBERS, beside, tell
from app_pages.subject.answer import whole_answer
from app_pages.subject.two_sides import Side


def draw_consequence(slots: Slots, chosen: HeadChoice, what: str, before: Side, after: Side) -> None:
    """Draws prediction and attention of the chosen head before and after; `what` names the change, `before` is not reordered."""
    with slots.view:
        query = choose_query(before.record)
    tell(whole_answer(before.record).change_sentence(what, after.subject))
    head, scale = (chosen.layer, chosen.head), chosen.of_head(before.record, after.record)
    for ordinal, side, column in zip(NUMBERS, (before, after), beside("positions_input"), strict=False):
        with column:
            if side.record.has_classes:
                prediction(side.record, side.subject.label, title=side.title)
            else:
                st.caption(side.title)
            draw_changed_input(
                before, side, head, query=query, scale=scale, key=f"positions_try_input_{ordinal}"
            )
    with slots.view:
        view = MAPS.choose()
        is_order_restored = view == SIDE_BY_SIDE and after.order is not None and ROWS.choose() == BACK
    draw_changed_maps(
        before,
        after,
        head,
        CHANGE if view == DIFFERENCE else BOTH,
        query=query,
        scale=scale,
        key="positions_try_map",
        is_order_restored=is_order_restored,
    )
