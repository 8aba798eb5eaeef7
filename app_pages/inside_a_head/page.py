"""Inside a head: the computation of one query in one layer, number by number, and why it is built so."""

from app_pages.controls.head_choice import choose_head
from app_pages.controls.inside_a_head_controls import PART, SCALE, STEP_BY_STEP
from app_pages.inputs.row import choose_input
from app_pages.inside_a_head.layer_norm import draw_layer_norm
from app_pages.inside_a_head.scale import draw_score_scaling
from app_pages.inside_a_head.steps import draw_steps


def draw() -> None:
    part = PART.choose()
    if part == SCALE:
        draw_score_scaling()
    else:
        subject, slots = choose_input()
        in_steps = part == STEP_BY_STEP
        chosen = choose_head(subject, slots, with_colours=in_steps)
        (draw_steps if in_steps else draw_layer_norm)(subject, slots, chosen)
