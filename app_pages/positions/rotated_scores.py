"""Rotary positions of the opened encoder: the score of one query and key over their distance, and with both moved by the same
offset.
"""

from typing import NamedTuple

import numpy as np
import streamlit as st

from app_pages.controls.chosen_word import first_query, keep_word
from app_pages.controls.control_bar import Slots
from app_pages.controls.head_choice import HeadChoice, choose_head
from app_pages.controls.map_controls import QUERY
from app_pages.controls.positions_controls import OVER_DISTANCE, OWN_KEY, OWN_ROTATED
from app_pages.positions.notation import between_patches, format_scientific
from app_pages.positions.windows import range_text
from app_pages.show.show import show
from app_pages.subject import cache
from app_pages.subject.as_python import computed
from app_pages.subject.subject import LiveSubject
from app_pages.toolkit.expression import Expression, call, named
from app_pages.toolkit.markdown import as_code
from model.experiments.position_kinds import (
    GridScore,
    MovedScores,
    Reach,
    RotaryScore,
    grid_score,
    moved_scores,
    reach,
    rotary_score,
)
from viz.builders.number_format import format_number, head_name
from viz.positions.bias_figures import distance_curves, offset_map, pair_map, score_curves, short_length
from viz.positions.sinusoid_figures import clock_hands


class Pair(NamedTuple):
    """The query and key of one head whose score is shown."""

    subject: LiveSubject
    chosen: HeadChoice
    query: int
    key: int

    @property
    def head(self) -> tuple[int, int]:
        """Layer and head."""
        return self.chosen.layer, self.chosen.head

    @property
    def name(self) -> str:
        """Query and key in words, as Markdown."""
        query, key = (as_code(self.subject.record.labels[position]) for position in (self.query, self.key))
        return f"{head_name(*self.head)}, query {query} and key {key}"


GROUPS = 4  # of pairs, as curves
FURTHER = 10  # positions that both are moved
ROUNDING = 1e-4  # of the largest score: float32 sums of rotated numbers differ by less
PLACEMENTS = 6  # in the table
_ROTATED = r"\frac{1}{\sqrt{d_k}} \sum_i |q_i|\,|k_i| \cos(\omega_i \delta - \theta_i)"
_FREQUENCY = r"\omega_i = \frac{2\pi}{\lambda_i}"


def draw_rotated_scores(subject: LiveSubject, slots: Slots) -> None:
    """Draws the score of the chosen query and key over their distance, split by frequency, or with both moved by the same
    offset.
    """
    with slots.controls:
        view = OWN_ROTATED.choose()
    pair = choose_pair(subject, slots)
    if view != OVER_DISTANCE:
        _draw_moved(pair)
    elif subject.record.patch_grid is None:
        _draw_over_distance(pair)
    else:
        _draw_over_grid(pair)


def _draw_over_distance(pair: Pair) -> None:
    subject, layer = pair.subject, pair.chosen.layer
    score: RotaryScore = subject.compute(rotary_score, pair.head, pair.query, pair.key)
    st.markdown(
        f"**{pair.name}**: contents held fixed, the distance varied. At their own offset, {format_number(score.own_offset, '+d')}, the score is "
        f"**{format_number(score.at_own_offset, '.3f')}**, the sum over {len(score.wavelengths)} pairs of numbers, each rotated at its own speed."
    )
    seen: Reach = cache.of(reach, subject.checkpoint)
    before, after = (int(distance) for distance in seen.sees[layer])
    window = None if min(before, after) == seen.half else (-before, after)
    with st.container(horizontal=True, gap="medium", key="beside_score_curves"):
        with st.container(key="side_score_curves"):
            source = computed(subject, rotary_score, pair.head, pair.query, pair.key)
            parts = _groups_expression(score, source)
            figure = call(
                score_curves, source.offsets, parts, source.total, own_offset=score.own_offset, window=window
            )
            show(figure, key="positions_score_curves")
        with st.container(key="side_score_pairs"):
            figure_of_pairs = call(
                pair_map,
                source.by_pair,
                call(source.offsets.tolist),
                source.wavelengths,
                own_offset=score.own_offset,
            )
            show(figure_of_pairs, key="positions_score_pairs")
    remark = (
        ""
        if window is None
        else f" Grey: keys that a query of L{layer} does not see; it sees {range_text(seen.sees[layer], seen.half)}."
    )
    st.caption(
        f"The thick line is the score, colours are what groups of pairs add to it; λ is a pair's wavelength, in positions.{remark}"
    )
    st.latex(score_formula(rotates_all=not score.not_rotated))
    st.caption(_source_sentence(pair))


def score_formula(*, rotates_all: bool, on_grid: bool = False) -> str:
    """LaTeX of the score over the offset or, `on_grid`, over the rows and columns between two patches; unless `rotates_all`,
    components that are not rotated add a constant c.
    """
    offset = "" if on_grid else r"(\delta)"
    of_patches = r" \delta = \delta_{\text{row}} \text{ or } \delta_{\text{column}}, \quad" if on_grid else ""
    constant = "" if rotates_all else " + c"
    return rf"\text{{score}}{offset} = {_ROTATED}{constant}, \qquad{of_patches} {_FREQUENCY}"


def _groups_expression(score: RotaryScore, source: Expression) -> dict[str, Expression]:
    """The sums that components of similar wavelength add to the score, by name of the group; with a group of those that are not
    rotated, if any.
    """
    groups, parts = named("groups", call(source.in_groups, GROUPS)), {}
    for pairs in groups():
        ends = dict.fromkeys(short_length(score.wavelengths[pair]) for pair in pairs)
        parts[f"λ {' to '.join(ends)}"] = groups[pairs]
    if score.not_rotated:
        parts["not rotated"] = call(np.full, len(score.offsets), source.not_rotated)
    return parts


def _source_sentence(pair: Pair) -> str:
    rotary = pair.subject.record.config.family.parts.rotary
    assert rotary is not None
    base = rotary.bases[pair.chosen.layer]
    kinds = [f"{other:,.0f}" for other in dict.fromkeys(rotary.bases) if other != base]
    others = f", other layers {' and '.join(kinds)}" if kinds else ""
    share = "" if rotary.share == 1 else f" {rotary.share:.0%} of the head's numbers are rotated."
    return (
        "Su et al. 2021, equations 12 and 16; $\\theta_i$ is the angle between $q_i$ and $k_i$ before rotation, $\\delta$ key − query. "
        f"L{pair.chosen.layer} has the base {base:,.0f}{others}.{share}"
    )


def _draw_over_grid(pair: Pair) -> None:
    score: GridScore = pair.subject.compute(grid_score, pair.head, pair.query, pair.key)
    down, right = score.by_row.own_offset, score.by_column.own_offset
    st.markdown(
        f"**{pair.name}**: contents held fixed, the key moved. The key is {between_patches(down, right)}; there the score is "
        f"**{format_number(score.at_own_offset, '.3f')}**, the sum of a part by rows and a part by columns."
    )
    with st.container(horizontal=True, gap="medium", key="beside_score_curves"):
        with st.container(key="side_score_curves"):
            source = computed(pair.subject, grid_score, pair.head, pair.query, pair.key)
            parts = {"by rows": source.by_row.total, "by columns": source.by_column.total}
            figure = call(
                distance_curves,
                source.by_row.offsets,
                parts,
                what="adds to the score",
                unit="rows or columns",
            )
            show(figure, key="positions_score_curves")
        with st.container(key="side_score_pairs"):
            show(
                call(offset_map, source.total, what="score", offset=(down, right)),
                key="positions_score_pairs",
            )
    st.latex(score_formula(rotates_all=not score.by_row.not_rotated, on_grid=True))
    st.caption(
        "Siméoni et al. 2025, after Su et al. 2021: $\\delta$ counts rows in one half of the pairs and columns in the other; $\\theta_i$ is "
        "the angle between $q_i$ and $k_i$ before rotation."
    )


def _draw_moved(pair: Pair) -> None:
    subject, record = pair.subject, pair.subject.record
    moved: MovedScores = subject.compute(moved_scores, pair.head, pair.query, pair.key)
    if record.patch_grid is None:
        _draw_clocks(pair)
    shown = np.unique(np.linspace(0, len(moved.scores) - 1, PLACEMENTS).round().astype(int))
    names: list[str] = [_placement_name(pair, int(moved.queries[placement])) for placement in shown]
    cells = " | ".join(format_number(moved.scores[placement], ".5f") for placement in shown)
    st.markdown(
        f"**The same pair moved along, {pair.name}.** Contents are held fixed; the encoder rotates them.\n\n"
        f"| query at | {' | '.join(names)} |\n|---|{'---|' * len(names)}\n| score | {cells} |\n\n"
        f"{moved_sentence(moved.scores)}"
    )
    st.caption("Su et al. 2021, equation 16: $(R_t\\, q) \\cdot (R_s\\, k) = q \\cdot R_{s-t}\\, k$.")


def moved_sentence(scores: np.ndarray) -> str:
    """Sentence on whether `scores`, those of query and key at all positions with the same offset, are equal up to rounding."""
    if len(scores) == 1:
        return "There is one place alone with this offset, so nothing can be compared."
    difference = float(np.ptp(scores))
    beginning = f"Over all {len(scores):,} places with the same offset, the largest difference is ${format_scientific(difference)}$"
    if difference > ROUNDING * max(1.0, float(np.abs(scores).max())):
        return f"{beginning}: the score changes."
    return f"{beginning}, which is rounding in single precision: **the score stays**."


def _placement_name(pair: Pair, position: int) -> str:
    record = pair.subject.record
    return str(position) if record.patch_grid is None else record.tokens[position]


def _draw_clocks(pair: Pair) -> None:
    """Draws the rotation angles of query and key as clock hands, at their own positions and moved along."""
    source = computed(pair.subject, rotary_score, pair.head, pair.query, pair.key)
    for further in (0, FURTHER):
        query, key = pair.query + further, pair.key + further
        title = (
            f"**Each pair of numbers is turned like a clock's hand**: bold the key's, by its position {key}, faint the query's, by {query}"
            if not further
            else f"**Both {further} positions further**: every hand has turned, the angle between the two is the same"
        )
        st.markdown(title)
        angles = {
            position: call(np.divide, 2 * np.pi * position, source.wavelengths) for position in (key, query)
        }
        hands = call(clock_hands, angles[key], source.wavelengths, before=angles[query], counted="pair")
        show(hands, key=f"positions_own_clocks_{further}")


def choose_pair(subject: LiveSubject, slots: Slots) -> Pair:
    """Draws the controls of head, query and key; returns the choice. In a picture both are patches. By default the key is the one
    with the largest weight other than the query itself.
    """
    chosen = choose_head(subject, slots, with_colours=False, with_roles=False)
    record = subject.record
    first = record.first_patch if record.patch_grid is not None else 0
    labels = {position: label for position, label in enumerate(record.labels) if position >= first}

    begin = first_query(record)
    begin = begin if begin in labels else (first + len(record)) // 2
    with slots.controls:
        # Streamlit keeps the functions: they must not refer to the record
        query = QUERY.choose(
            labels, begin, format_func=labels.__getitem__, gone=lambda _value, _options: begin
        )
        weights = record.pattern[chosen.layer, chosen.head, query].copy()
        weights[:first] = weights[query] = -1
        default = int(weights.argmax())
        keep_word(OWN_KEY, record, default)
        key = OWN_KEY.choose(
            labels, default, format_func=labels.__getitem__, gone=lambda _value, _options: default
        )
    return Pair(subject, chosen, query, key)
