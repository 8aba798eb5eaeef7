"""Inside a head: one query's path through a layer, number by number, and why it is built so."""

from app_pages.controls.head_choice import choose_head
from app_pages.controls.inside_a_head_controls import LAYER_NORM, PART, SCALE, STEP_BY_STEP
from app_pages.inputs.row import choose_input
from app_pages.inside_a_head.layer_norm import draw_layer_norm
from app_pages.inside_a_head.scale import draw_scale
from app_pages.inside_a_head.sets import set_to_set
from app_pages.inside_a_head.steps import step_by_step

part = PART.choose()
if part == SCALE:
    draw_scale()
else:
    subject, slots = choose_input()
    in_steps = part == STEP_BY_STEP
    chosen = choose_head(subject, slots, with_colours=in_steps, stepped=in_steps)
    draw = step_by_step if in_steps else draw_layer_norm if part == LAYER_NORM else set_to_set
    draw(subject, slots, chosen)
