"""Inside a head: one query's path through a layer, number by number, and why it is built so."""

from app_pages.controls.control_bar import parts
from app_pages.controls.head_choice import choose_head
from app_pages.inputs.row import choose_input
from app_pages.inside_a_head.layer_norm import layer_norm
from app_pages.inside_a_head.scale import why_the_scale
from app_pages.inside_a_head.sets import set_to_set
from app_pages.inside_a_head.steps import step_by_step

PARTS = {
    "Step by step": lambda: step_by_step(choose_head(choose_input(), stepped=True)),
    "Why √d_k": why_the_scale,
    "LayerNorm": lambda: layer_norm(choose_head(choose_input(), with_colours=False)),
    "Order of tokens": lambda: set_to_set(choose_head(choose_input(), with_colours=False)),
}
PARTS[parts(PARTS, key="inside")]()
