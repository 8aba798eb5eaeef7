"""The tab Similarity of the page Side by side: how alike two inputs are to one encoder, in one view at a time."""

from collections.abc import Callable

from app_pages.compare.patch_views import draw_colours, draw_norms, draw_patch
from app_pages.compare.several_texts import draw_several_texts
from app_pages.compare.similar_hidden import draw_hidden_words
from app_pages.compare.similar_pairs import draw_pairs
from app_pages.compare.similar_tokens import draw_input_tokens
from app_pages.controls import compare_controls as controls
from app_pages.controls.control_bar import Slots
from app_pages.subject.two_sides import Side

View = Callable[[Slots, Side, Side], None]

_OF_TEXTS: dict[str, View] = {
    controls.PAIRS: draw_pairs,
    controls.HIDDEN_WORDS: draw_hidden_words,
    controls.INPUT_TOKENS: draw_input_tokens,
    controls.SEVERAL: draw_several_texts,
}
_OF_PICTURES: dict[str, View] = {
    controls.PAIRS: draw_pairs,
    controls.ONE_PATCH: draw_patch,
    controls.THREE_COLOURS: draw_colours,
    controls.PATCH_NORMS: draw_norms,
}


def draw_similarity(slots: Slots, first: Side, second: Side) -> None:
    """Draws the chosen view of two texts or two pictures; the choice stands in the row of controls."""
    views = _OF_TEXTS if first.is_text else _OF_PICTURES
    with slots.controls:
        view = controls.SIMILARITY_VIEW.choose([*views])
    views[view](slots, first, second)
