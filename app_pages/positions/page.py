"""Positions: how an encoder knows where a token is. The theory of sinusoids, and what the encoder does."""

from app_pages.controls import positions_controls as controls
from app_pages.controls.head_choice import choose_head
from app_pages.inputs.row import choose_input
from app_pages.positions.adding import draw_adding
from app_pages.positions.by_distance import draw_by_distance
from app_pages.positions.embedding_map import draw_embedding_map
from app_pages.positions.experiments import draw_experiment
from app_pages.positions.products import draw_products
from app_pages.positions.shift import draw_shift
from app_pages.positions.sinusoids import draw_sinusoids
from app_pages.positions.this_encoder import draw_this_encoder

part = controls.PART.choose()
if part == controls.SINUSOIDS:
    draw_sinusoids()
elif part == controls.PRODUCTS:
    draw_products()
elif part == controls.SHIFT:
    draw_shift()
elif part == controls.BY_DISTANCE:
    draw_by_distance()
else:
    subject, slots = choose_input(with_answer=False)
    if part == controls.ENCODER:
        draw_this_encoder(subject, slots)
    elif part in (controls.ADDING, controls.EXPERIMENTS):
        chosen = choose_head(subject, slots, with_colours=part == controls.EXPERIMENTS)
        draw = draw_adding if part == controls.ADDING else draw_experiment
        draw(subject, slots, chosen)
    else:
        draw_embedding_map(subject, slots)
