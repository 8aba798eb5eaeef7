"""Positions: how an encoder knows where a token is. The theory of sinusoids, and what the encoder does."""

from app_pages.controls import positions_controls as controls
from app_pages.inputs.row import choose_input
from app_pages.positions.by_distance import draw_by_distance
from app_pages.positions.embedding_map import draw_embedding_map
from app_pages.positions.experiments import draw_experiment
from app_pages.positions.sinusoids import draw_sinusoids
from app_pages.positions.this_encoder import draw_this_encoder


def draw() -> None:
    part = controls.PART.choose()
    if part == controls.SINUSOIDS:
        draw_sinusoids()
    elif part == controls.BY_DISTANCE:
        draw_by_distance()
    else:
        parts = {
            controls.ENCODER: draw_this_encoder,
            controls.EXPERIMENTS: draw_experiment,
            controls.EMBEDDINGS: draw_embedding_map,
        }
        parts[part](*choose_input(with_answer=False))
