"""Heads: what each head does, on this input and over a data set, and whether it matters."""

from app_pages.controls.head_choice import choose_head
from app_pages.controls.heads_controls import ABLATE, PART, PATCH, RELATIONS, TABLE
from app_pages.heads.ablate import draw_ablation
from app_pages.heads.examples import draw_examples
from app_pages.heads.patch import draw_patching
from app_pages.heads.relations_tab import draw_relations
from app_pages.heads.table import draw_heads
from app_pages.inputs.row import choose_input, choose_input_or_record


def draw() -> None:
    part = PART.choose()
    if part == TABLE:
        shown, slots = choose_input_or_record()  # it needs no encoder
        # behind View, since a click on a row chooses its head
        draw_heads(
            shown,
            slots,
            choose_head(shown, slots, with_colours=False, with_roles=False, container=slots.view),
        )
    elif part == ABLATE:
        draw_ablation()
    elif part == PATCH:
        subject, slots = choose_input()
        draw_patching(subject, slots, choose_head(subject, slots, with_colours=False, with_roles=False))
    else:
        (draw_relations if part == RELATIONS else draw_examples)()
