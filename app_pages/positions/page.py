"""Positions: how an encoder knows where a token stands. The theory of sinusoids, and what the encoder does."""

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
from app_pages.positions.embeddings import embedding_map
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
elif part == ADDING:
    adding(choose_head(choose_input(), with_colours=False))
elif part == ENCODER:
    checkpoint_positions(choose_input())
elif part == EXPERIMENTS:
    position_experiments(choose_head(choose_input()))
else:
    embedding_map(choose_input())
