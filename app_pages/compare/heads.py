"""Heads side by side: all of them, and one pair of them in detail."""

from collections.abc import Callable, Sequence
from html import escape

import numpy as np
import streamlit as st

from app_pages.compare.pairing import (
    choose_furthest_pair,
    map_name,
    pairing_expression,
    say_pair,
    warn_of_pairs,
    why_cells_differ,
    why_not_measured,
)
from app_pages.compare.stored_comparisons import draw_distances_beside_seeds, stored_comparison
from app_pages.controls import head_choice
from app_pages.controls.answer_choice import choose_answers
from app_pages.controls.compare_controls import ALL_HEADS, DIFFERENCE, DISTANCES, VIEW
from app_pages.controls.control_bar import Slots
from app_pages.controls.head_choice import HeadChoice, take_head
from app_pages.controls.knock_out_choice import choose_kind
from app_pages.show.all_heads import clickable_heads
from app_pages.show.changed_head import say_visible_window, visible_window
from app_pages.show.download import download
from app_pages.show.faithfulness.line import draw_faithfulness_of_side
from app_pages.show.linked_view import Choice, linked_view
from app_pages.show.measures_note import measures_note
from app_pages.show.prediction import answer_in_words
from app_pages.show.show import clickable, show
from app_pages.show.side_predictions import NUMBERS, beside, predictions
from app_pages.subject import as_python, two_sides
from app_pages.subject.head_name import head_names
from app_pages.subject.stored_results import examples_phrase
from app_pages.subject.subject import LensChoice
from app_pages.subject.two_sides import Side, corresponding_position
from app_pages.toolkit.expression import Expression, call
from app_pages.toolkit.gestures import Blinking, blink
from model.atlas.results import EncoderComparison
from model.inputs import preprocessed_picture
from model.lenses import ATTENTION
from model.measures.head_matching import HeadIndex, Pairing
from model.measures.head_measures import head_summary
from model.record import AttentionRecord
from viz.attention.head_overview import head_maxima
from viz.attention.picture_patches import query_on_picture
from viz.attention.token_heatmaps import attention_heatmap
from viz.builders.cells import head_grid
from viz.builders.number_format import head_name
from viz.builders.palette import LETTERS, PLACEMENTS, WeightScale
from viz.compare.head_distances import distance_heatmap, pair_spread


def draw_heads(
    slots: Slots, chosen: HeadChoice, first: Side, second: Side, pairing: Pairing, through: LensChoice
) -> None:
    """Draws, seen through one lens, all heads of both sides with the chosen pair in large; or the difference of that pair's maps,
    or the distances of all pairs of heads.
    """
    head, lens = (chosen.layer, chosen.head), chosen.lens
    with slots.controls:
        view = VIEW.choose((ALL_HEADS, DIFFERENCE, *[DISTANCES] * lens.has_heads))
        if view == ALL_HEADS:
            query = head_choice.choose_query(first.compared_record)
        choose_furthest_pair(pairing)
    figures = _titled_figures((first, second))
    with (
        slots.controls,
        st.container(horizontal=True, vertical_alignment="center", width="content", key="pair"),
    ):
        say_pair(first, second, pairing, chosen)
        if view == ALL_HEADS:
            blink(*figures)
    if view != ALL_HEADS:
        predictions(first, second, key="probabilities")
        if view == DIFFERENCE:
            _draw_difference(chosen, first, second, pairing, through)
        else:
            _draw_distances(first, second, pairing, head)
        warn_of_pairs(first, second, pairing, lens)
        return
    with slots.view:
        kind = choose_kind(first.subject, second.subject)
    with slots.controls:
        answers = choose_answers({side.title: side.subject for side in (first, second)})
    sides, pair = (first, second), (head, pairing.partner(head))
    viewed = [side.viewed(through) for side in sides]
    records = [record for record, _ in viewed]
    maxima = _maxima_of_pairs(records, pairing) if chosen.scale == "own" else (None, None)
    queries = query, corresponding_position(first, second, query)
    choice_callbacks = _choice_callbacks(first, second, pairing, chosen)
    partners = [
        [of_side(index) for index in np.ndindex(shape)]
        for of_side, shape in zip((pairing.partner, pairing.partner_in_first), pairing.shapes, strict=True)
    ]
    # by words, positions of the same number correspond if none lacks a counterpart
    correspond = all(side.words is None or not side.words.unmatched for side in sides)
    shares_query = "both" if queries[0] == queries[1] and correspond else ""
    patterns = [
        record.pattern[index] for record, index in zip(records, pair, strict=True) if index is not None
    ]
    scale = chosen.weights_to("the maximum of the pair", *patterns)
    columns = beside("heads_of_texts" if first.is_text else "heads_of_pictures")
    for i, (side, column) in enumerate(zip(sides, columns, strict=True)):
        with column:
            with st.container(gap=None):
                figure_name = (
                    f'<p class="headline" style="color: {figures[i].colour}">{escape(figures[i].name)}</p>'
                )
                st.html(figure_name)
                chart = st.container()
                tokens = st.container(key=f"tokens_{NUMBERS[i]}")
            if (own_head := pair[i]) is None:
                st.info(f"{side.title} has no partner for {map_name(head, lens)}.")
                continue
            own_query = queries[i]
            picture = side.subject.picture
            if picture is not None:
                picture = preprocessed_picture(picture, side.record)
            with chart:
                linked_view(
                    records[i],
                    Choice(*own_head, -1 if own_query is None else own_query),
                    choice_callbacks[i],
                    key=f"heads_{NUMBERS[i]}",
                    tokens=tokens,
                    measures=viewed[i].measures,
                    about=[
                        head_names(side.subject, *index).short_text if lens.name == ATTENTION else ""
                        for index in np.ndindex(records[i].pattern.shape[:2])
                    ],
                    by_layer=not lens.has_heads,
                    scale=WeightScale(what=lens.quantity, shares=lens.sums_to_1),
                    tops=maxima[i],
                    reach="1" if maxima[i] is None else "the maximum of each pair",
                    picture=picture,
                    compact=True,
                    partners=partners[i],
                    notes=through.notes,
                    shares_query=shares_query or NUMBERS[i],
                )
            if own_query is None:
                st.caption("The chosen query has no counterpart here.")
            answer = answers[i]
            reason = through.why_unchecked(side.record, of_masked_word=answer.word is not None)
            if reason is None:
                key, pattern = f"faithfulness_{NUMBERS[i]}", side.subject.through(through).pattern[own_head]
                draw_faithfulness_of_side(side, pattern, kind, answer, lens=lens.name, head=own_head, key=key)
            else:
                st.caption(reason)
            title, source = f"{side.title} {map_name(own_head, lens)}", side.maps(through)
            others: dict[str, Expression] = {}
            if picture is not None and own_query is not None:
                others[f"picture_{NUMBERS[i]}"] = call(
                    query_on_picture,
                    source,
                    as_python.seen_picture(side.subject),
                    source.pattern[own_head][own_query],
                    query=own_query,
                    scale=scale,
                    notes=[f"{title}: what {records[i].tokens[own_query]} attends to"],
                )
            figure = call(attention_heatmap, source, *own_head, query=own_query, scale=scale, title=title)
            download(figure, f"matrix_{NUMBERS[i]}", other_figures=others)
    warn_of_pairs(first, second, pairing, lens)
    measures_note(first.compared_record.units, viewed[0].measures, lens)


def _choice_callbacks(
    first: Side, second: Side, pairing: Pairing, chosen: HeadChoice
) -> tuple[Callable[[Choice], None], Callable[[Choice], None]]:
    """Callbacks of clicks on the first and on the second side. Either sets the head and the query of the first side, from which
    those of the second follow.
    """

    def take_head(layer: int, head: int) -> None:
        (head_choice.take_head if chosen.lens.has_heads else head_choice.take_layer)(layer, head)

    def take_first(choice: Choice) -> None:
        take_head(choice.layer, choice.head)
        if choice.query >= 0:
            head_choice.take_query(first.compared_record.number(choice.query))

    def take_second(choice: Choice) -> None:
        if (partner := pairing.partner_in_first((choice.layer, choice.head))) is not None:
            take_head(*partner)
        if choice.query >= 0:
            head_choice.take_position_from_second(first, second, choice.query)

    return take_first, take_second


def _titled_figures(sides: Sequence[Side]) -> list[Blinking]:
    """For each side the container of its figure, with its title (encoder and answer), in the colour of its norm placement if the
    two placements differ.
    """
    placements = [side.record.config.norm_placement for side in sides]
    differ = len(set(placements)) == len(sides)
    return [
        Blinking(
            f"heads_{number}_chart",
            f"{side.title} {answer_in_words(side.record, side.subject.label)}".strip(),
            "light-dark({}, {})".format(*LETTERS[PLACEMENTS[placement]]) if differ else "",
        )
        for number, side, placement in zip(NUMBERS, sides, placements, strict=False)
    ]


def _maxima_of_pairs(records: Sequence[AttentionRecord], pairing: Pairing) -> tuple[np.ndarray, np.ndarray]:
    """Colour scale maxima of both sides, each [layer, head]: the largest weight of the head and of the head that it is paired
    with, if any.
    """
    first_maxima, second_maxima = (head_maxima(record).copy() for record in records)
    for index in np.ndindex(first_maxima.shape):
        if (partner := pairing.partner(index)) is not None:
            first_maxima[index] = second_maxima[partner] = max(first_maxima[index], second_maxima[partner])
    return first_maxima, second_maxima


def _draw_difference(
    chosen: HeadChoice, first: Side, second: Side, pairing: Pairing, through: LensChoice
) -> None:
    """Draws the difference of the chosen pair's maps, and how every measure changes from head to paired head."""
    head, lens = (chosen.layer, chosen.head), chosen.lens
    if lens.has_heads:
        _draw_tables(head, first, second, pairing, through)
    partner = pairing.partner(head)
    if (reason := why_cells_differ(first, second)) is not None:
        st.info(f"{reason} Their weights cannot be subtracted.")
    elif partner is not None:
        title = f"{second.title} {map_name(partner, lens)} minus {first.title} {map_name(head, lens)}"
        n = len(two_sides.common_tokens(first, second))
        part = visible_window(n, 0)
        figure = two_sides.difference(
            first, second, head, partner, lens=through, title=title, notes=through.notes, window=part
        )
        show(figure, key="difference")
        say_visible_window(part, n, around="")


def _draw_tables(head: HeadIndex, first: Side, second: Side, pairing: Pairing, through: LensChoice) -> None:
    """Draws small grids [layer, head], laid out as the heads of the first side: the distance of each pair, and the change of each
    measure that both sides have.
    """
    notes = [
        f"{head_name(*index)} ↔ {head_name(*partner)}"
        if (partner := pairing.partner(index))
        else "no partner"
        for index in np.ndindex(pairing.shapes[0])
    ]
    pairs = pairing_expression(first, second, pairing)
    same_grid = first.record.patch_grid == second.record.patch_grid
    before, after = (side.viewed(through).measures for side in (first, second))
    summaries = [call(head_summary, side.maps(through)) for side in (first, second)]
    with st.container(horizontal=True, gap="medium"):

        def draw_table(key: str, values: Expression, title: list[str], *, signed: bool, digits: int) -> None:
            options = {"title": title, "signed": signed, "notes": notes, "digits": digits}
            with st.container(width="content"):
                clickable_heads(
                    call(head_grid, values, selected=head, **options), key=f"grid_{key}", chosen=head
                )

        if pairing.matrix is not None:
            title = ["head distance", "nats: 0 alike, 0.69 most apart"]
            draw_table("distance", pairs.distances, title, signed=False, digits=3)
        for measure in (name for name in before if name in after):
            if measure == "entropy" or same_grid:
                change = call(pairs.change, *(call(summary[measure].ravel) for summary in summaries))
                title = [f"change of {measure}", f"{second.title} minus {first.title}"]
                key = measure.partition(" (")[0].replace(" ", "_")
                draw_table(key, change, title, signed=True, digits=2)
    st.caption(
        f"Each cell: a head of {first.title} against its partner. Gold: {second.title} has more; purple: it has less. Entropies "
        "are shares of that of equal weights. A click chooses the pair."
    )


def _draw_distances(first: Side, second: Side, pairing: Pairing, head: HeadIndex) -> None:
    """Draws the distance (nats) of every head of the first side from every head of the second, with the chosen pair marked."""
    if pairing.matrix is None:
        st.info(why_not_measured(first, second))
        return
    (_, n_heads), (_, n_others) = pairing.shapes
    pairs = pairing_expression(first, second, pairing)
    chart = call(
        distance_heatmap,
        pairs.matrix,
        pairs.partners,
        n_heads=(n_heads, n_others),
        names=(first.title, second.title),
        selected=head[0] * n_heads + head[1],
    )
    stored = stored_comparison(first.checkpoint, second.checkpoint)
    with st.container(horizontal=True, gap="large"):
        with st.container(width="content"):
            _draw_pairs(chart, "distances", head, n_heads)
        if stored is not None:
            with st.container(width="content"):
                _draw_spread(pairs, stored, head)
    st.caption(
        r"**Head distance** of two heads $A$ and $B$: $\frac{1}{n} \sum_i \mathrm{JSD}(A'_i, B'_i)$ with "
        r"$A' = 0.999\,A + 0.001 / n$, the Jensen-Shannon divergence of their rows, from 0 to just below "
        r"$\ln 2 \approx 0.693$ nats (Clark et al. 2019, who sum over the rows). Rings mark the pairs; a "
        "click chooses the head of its row."
    )
    if stored is not None:
        draw_distances_beside_seeds(first, second)


def _draw_spread(source: Expression, stored: EncoderComparison, head: HeadIndex) -> None:
    """Draws the distances of all paired heads on this input and over the data set of `stored`, with the pair of `head` marked."""
    pairing: Pairing = source()
    ones = np.flatnonzero(pairing.partners >= 0)
    others = pairing.partners[ones]
    (_, n_heads), (_, n_others) = pairing.shapes
    over_data = stored.distances
    chart = call(
        pair_spread,
        [
            f"{head_name(*divmod(one, n_heads))} ↔ {head_name(*divmod(other, n_others))}"
            for one, other in zip(ones.tolist(), others.tolist(), strict=True)
        ],
        source.matrix[ones.tolist(), others.tolist()],
        *(distances[ones, others] for distances in (over_data.mean, over_data.sd)),
        first_heads=ones.tolist(),
        second_heads=others.tolist(),
        selected=int(np.ravel_multi_index(head, pairing.shapes[0])),
    )
    st.markdown(
        f"**Over {examples_phrase(stored.source)}**; the dot is this input", help="Mean ± standard deviation."
    )
    _draw_pairs(chart, "spread_of_pairs", head, n_heads)


def _draw_pairs(chart: Expression, key: str, head: HeadIndex, n_heads: int) -> None:
    """Draws a chart of pairs of heads; a click chooses the first head of a pair. The chart numbers heads across layers, with
    `n_heads` in each layer.
    """
    clickable(
        chart,
        key=key,
        chosen=head,
        selection="pair",
        take=lambda pair: take_head(*divmod(int(pair["one"]), n_heads)),
        width="content",
    )
