"""Heads: what each head does, on this input and over a data set, and whether it matters."""

from app_pages.controls.head_choice import choose_head
from app_pages.controls.heads_controls import (
    ABLATE,
    EXAMPLES,
    PART,
    PATCH,
    PRUNE,
    RELATIONS,
    SCATTER,
    TABLE,
)
from app_pages.heads.ablate import draw_ablation
from app_pages.heads.examples import draw_examples
from app_pages.heads.patch import draw_patching
from app_pages.heads.prune import draw_pruning
from app_pages.heads.relations_tab import draw_relations
from app_pages.heads.table import draw_scatter, draw_table
from app_pages.inputs.row import choose_input, choose_input_or_record

OF_RECORDS = {TABLE: draw_table, SCATTER: draw_scatter}  # these need no encoder
OF_ENCODERS = {
    EXAMPLES: draw_examples,
    RELATIONS: draw_relations,
    ABLATE: draw_ablation,
    PRUNE: draw_pruning,
    PATCH: draw_patching,
}

part = PART.choose()
if part in OF_RECORDS:
    shown, slots = choose_input_or_record()
    chosen = choose_head(shown, slots, with_colours=False, with_roles=False)
    OF_RECORDS[part](shown, slots, chosen)
else:
    subject, slots = choose_input()
    chosen = choose_head(subject, slots, with_colours=False, with_roles=False)
    OF_ENCODERS[part](subject, slots, chosen)
