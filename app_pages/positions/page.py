"""Positions: how an encoder knows where a token stands. The theory of sinusoids, and what the encoder does."""

from app_pages.controls.control_bar import parts
from app_pages.controls.head_choice import choose_head
from app_pages.inputs.row import choose_input
from app_pages.positions.adding import adding
from app_pages.positions.checkpoint import checkpoint_positions
from app_pages.positions.embeddings import embedding_map
from app_pages.positions.experiments import position_experiments
from app_pages.positions.products import products
from app_pages.positions.shift import shift
from app_pages.positions.sinusoids import sinusoids

PARTS = {
    "Sinusoids": sinusoids,
    "Dot products": products,
    "Shift": shift,
    "Add or concatenate": lambda: adding(choose_head(choose_input(), with_colours=False)),
    "This encoder": lambda: checkpoint_positions(choose_input()),
    "Experiments": lambda: position_experiments(choose_head(choose_input())),
    "Embeddings": lambda: embedding_map(choose_input()),
}
PARTS[parts(PARTS, key="positions")]()
