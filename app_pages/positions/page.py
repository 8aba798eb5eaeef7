"""Positions: how an encoder knows where a token stands. The theory of sinusoids, and what the checkpoint does."""

from app_pages import address, state
from app_pages.positions.adding import adding
from app_pages.positions.checkpoint import checkpoint_positions
from app_pages.positions.embeddings import embedding_map
from app_pages.positions.experiments import position_experiments
from app_pages.positions.products import products
from app_pages.positions.shift import shift
from app_pages.positions.sinusoids import sinusoids
from app_pages.widgets.head_choice import choose_head
from app_pages.widgets.prediction import prediction

chosen = state.selection()
with chosen.top:
    record = state.record(chosen.checkpoint, chosen.given)
    prediction(record, chosen.label, key="probabilities")

PARTS = {
    "Sinusoids": sinusoids,
    "Dot products": products,
    "Shift": shift,
    "Adding": lambda: adding(choose_head(chosen, with_colours=False)),
    "This checkpoint": lambda: checkpoint_positions(chosen),
    "Experiments": lambda: position_experiments(choose_head(chosen)),
    "Embeddings": lambda: embedding_map(chosen),
}
part = address.row("Part", PARTS, key="positions")
PARTS[part]()
