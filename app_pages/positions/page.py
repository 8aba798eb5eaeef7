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
from app_pages.positions.adding import draw_adding
from app_pages.positions.checkpoint import draw_checkpoint_positions
from app_pages.positions.embedding_map import draw_embedding_map
from app_pages.positions.experiments import draw_experiment
from app_pages.positions.products import draw_products
from app_pages.positions.shift import draw_shift
from app_pages.positions.sinusoids import draw_sinusoids

part = PART.choose()
if part == SINUSOIDS:
    draw_sinusoids()
elif part == PRODUCTS:
    draw_products()
elif part == SHIFT:
    draw_shift()
else:
    subject, slots = choose_input()
    if part == ENCODER:
        draw_checkpoint_positions(subject, slots)
    elif part in (ADDING, EXPERIMENTS):
        chosen = choose_head(subject, slots, with_colours=part == EXPERIMENTS)
        draw = draw_adding if part == ADDING else draw_experiment
        draw(subject, slots, chosen)
    else:
        draw_embedding_map(subject, slots)
