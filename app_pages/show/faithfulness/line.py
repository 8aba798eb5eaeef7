"""The line beside a map, and what opens behind it."""

import numpy as np
import streamlit as st

from app_pages.controls.head_choice import take_query
from app_pages.controls.knock_out_choice import NAMES
from app_pages.controls.map_controls import FAITHFULNESS
from app_pages.show.faithfulness import words
from app_pages.show.faithfulness.checked import Checked, check, with_curves
from app_pages.show.faithfulness.over_data import held_over_data
from app_pages.show.show import clickable, show
from app_pages.subject.cache import Checkpoint
from app_pages.subject.subject import FileSubject, Subject
from app_pages.subject.two_sides import Side
from app_pages.toolkit.beside import beside
from model.experiments.faithfulness import area, other_attention
from model.experiments.knock_out import KnockOutKind
from viz.builders.number_format import format_number
from viz.faithfulness.removal_curve import removal_curve
from viz.faithfulness.score_effect import score_effect


def faithfulness(
    subject: Subject,
    pattern: np.ndarray,
    kind: KnockOutKind | None,
    *,
    lens: str,
    head: tuple[int, int] | None,
    query: int,
) -> None:
    """Of the map `pattern` [query, key] over all positions of the input, seen through `lens`.

    `head` is the layer and head whose map it is, None where it is of several. The position `query` is marked. Nothing can be
    knocked out, and `kind` is None, where the encoder is not there.
    """
    if isinstance(subject, FileSubject) or kind is None:
        st.caption(words.NO_ENCODER)
        return
    with st.container(horizontal=True, vertical_alignment="top", gap="small", key="faithfulness"):
        place = st.container(key="faithfulness_line", gap=None)
        is_open = FAITHFULNESS.choose()
    with place:
        checked = check(subject, pattern, kind, key="faithfulness_check")
        if checked is None:
            return
        line = st.container()
        checked = with_curves(subject, checked, key="faithfulness_curves", are_shown=is_open)
        other = words.attention(subject.compute(other_attention), checked.record)
        line.markdown(f"{_line(checked, subject.checkpoint, lens, head)} :small[:gray[{other}]]")
    if is_open:
        _details(checked, query)


def faithfulness_of_side(
    side: Side, pattern: np.ndarray, kind: KnockOutKind, *, lens: str, head: tuple[int, int], key: str
) -> None:
    """The line alone, for a side of a comparison; `key` begins those of its buttons."""
    checked = check(side.subject, pattern, kind, key=f"{key}_check", title=side.title)
    if checked is not None:
        line = st.container()
        checked = with_curves(side.subject, checked, key=f"{key}_curves", are_shown=False)
        line.markdown(_line(checked, side.checkpoint, lens, head))


def _line(checked: Checked, name: Checkpoint, lens: str, head: tuple[int, int] | None) -> str:
    found, record = checked.verdict, checked.record
    said = [words.agreement(found, checked.kind, record), words.conclusion(found, record)]
    held = held_over_data(name, lens, head) if checked.kind == "keys" else None  # which is what was measured
    if held is not None:
        said.append(words.over_data(held))
    return f":small[{' '.join(said)}]"


def _details(checked: Checked, query: int) -> None:
    record, found = checked.record, checked.verdict
    followed = record.class_names[record.logits.argmax()] if record.has_classes else None
    points, numbers = beside("faithful_points", "faithful_rule")
    with points:
        effect = "effect (cosine distance)" if followed is None else "effect (fall of the log-odds, nats)"
        tokens = [record.tokens[at] for at in checked.positions]
        figure = score_effect(
            checked.positions,
            tokens,
            checked.scores,
            checked.effects,
            kind=NAMES[checked.kind],
            effect=effect,
            selected=query,
        )
        clickable(
            figure,
            key="faithful_points",
            chosen=query,
            selection="token",
            take=lambda point: take_query(point["position"]),
        )
    with numbers:
        st.markdown(f":small[{words.uncertainty(found)} {words.areas(found)}]")
        with st.expander("The rule, the formulas and the papers", icon=":material/function:"):
            st.markdown(words.rule(record))
    if (drawn := checked.curves) is None:
        return
    what = "cosine distance" if followed is None else f"fall of the log-odds of {followed}, nats"
    places = beside("faithful_deletion", "faithful_insertion")
    both = (("deletion", drawn.deletion, drawn.random), ("insertion", drawn.insertion, drawn.random[:, ::-1]))
    for place, (kind, curve, random) in zip(places, both, strict=True):
        own, others = area(curve, found.n), area(random, found.n)
        mean, sd = format_number(float(others.mean()), ".3f"), format_number(float(others.std(ddof=1)), ".3f")
        reading = f"area {format_number(float(own), '.3f')}, random {mean} ± {sd}"
        with place:
            show(
                removal_curve(
                    kind, drawn.counts, curve, random, what=what, units=record.units, reading=reading
                ),
                key=f"faithful_{kind}",
            )
