"""Positions: how an encoder knows where a token is. The theory of sinusoids, and what the encoder does."""

from app_pages.controls.head_choice import choose_head
from app_pages.controls.positions_controls import (
    ADDING,
    ENCODER,
    EXPERIMENTS,
    PART,
    PRODUCTS,
    SHIFT,
    SINUSOIDS,
)
from app_pages.inputs.row import choose_input
from app_pages.positions.adding import adding
from app_pages.positions.checkpoint import checkpoint_positions
from app_pages.positions.embedding_map import embedding_map
from app_pages.positions.experiments import position_experiments
from app_pages.positions.products import products
from app_pages.positions.shift import shift
from app_pages.positions.sinusoids import sinusoids

part = PART.choose()
if part == SINUSOIDS:
    sinusoids()
elif part == PRODUCTS:
    products()
elif part == SHIFT:
    shift()
else:
    subject, slots = choose_input()
    if part == ENCODER:
        checkpoint_positions(subject, slots)
    elif part in (ADDING, EXPERIMENTS):
        chosen = choose_head(subject, slots, with_colours=part == EXPERIMENTS)
        draw = adding if part == ADDING else position_experiments
        draw(subject, slots, chosen)
    else:
        embedding_map(subject, slots)
