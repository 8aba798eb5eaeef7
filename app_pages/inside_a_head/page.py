"""Inside a head: one query's path through a layer, number by number, and why it is built so."""

from app_pages.controls.head_choice import choose_head
from app_pages.controls.inside_a_head_controls import LAYER_NORM, PART, SCALE, STEP_BY_STEP
from app_pages.inputs.row import choose_input
from app_pages.inside_a_head.layer_norm import layer_norm
from app_pages.inside_a_head.scale import why_the_scale
from app_pages.inside_a_head.sets import set_to_set
from app_pages.inside_a_head.steps import step_by_step

part = PART.choose()
if part == STEP_BY_STEP:
    step_by_step(choose_head(choose_input(), stepped=True))
elif part == SCALE:
    why_the_scale()
elif part == LAYER_NORM:
    layer_norm(choose_head(choose_input(), with_colours=False))
else:
    set_to_set(choose_head(choose_input(), with_colours=False))
