"""Heads: what each head does, on this input and over a data set, and whether it matters."""

from app_pages.controls.head_choice import choose_head
from app_pages.controls.heads_controls import ABLATE, EXAMPLES, PART, PATCH, PRUNE, SCATTER, TABLE
from app_pages.heads.ablate import ablate
from app_pages.heads.examples import examples
from app_pages.heads.patch import patch
from app_pages.heads.prune import prune
from app_pages.heads.scatter import scatter
from app_pages.heads.table import table
from app_pages.inputs.row import choose_input

DRAW = {TABLE: table, SCATTER: scatter, EXAMPLES: examples, ABLATE: ablate, PRUNE: prune, PATCH: patch}

part = PART.choose()
chosen = choose_input(records=part in (TABLE, SCATTER))  # these need no encoder
DRAW[part](choose_head(chosen, with_colours=False, with_roles=False))
