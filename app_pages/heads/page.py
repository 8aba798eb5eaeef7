"""Heads: what each head does, on this input and over a data set, and whether it matters."""

from app_pages.controls.control_bar import parts
from app_pages.controls.head_choice import choose_head
from app_pages.heads.ablate import ablate
from app_pages.heads.examples import examples
from app_pages.heads.patch import patch
from app_pages.heads.prune import prune
from app_pages.heads.scatter import scatter
from app_pages.heads.table import table
from app_pages.inputs.row import choose_input

PARTS = {
    "Table": table,
    "Scatter": scatter,
    "Examples": examples,
    "Ablate": ablate,
    "Prune": prune,
    "Patch": patch,
}
OF_RECORDS = ("Table", "Scatter")  # these need no encoder

part = parts(PARTS, key="heads_part")
chosen = choose_input(records=part in OF_RECORDS)
PARTS[part](choose_head(chosen, with_colours=False, with_roles=False))
