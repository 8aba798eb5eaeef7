"""Which kind of knock-out a page asks with, and what the encoder answers."""

from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from app_pages.controls.map_controls import KNOCK_OUT, KNOCK_OUTS
from app_pages.subject import state
from app_pages.subject.cache import Checkpoint
from app_pages.subject.two_sides import Side, answers_under
from model.config import ModelConfig
from model.experiments.knock_out import Kind, kinds, knocked_out
from model.inputs import Input
from model.theory.cost import n_multiply_adds

NAMES = {kind: name for name, kind in KNOCK_OUTS.items()}
# Multiply-adds that are done in about half a second: on one core 9 to 40 · 10⁹ a second were measured, by encoder.
AT_ONCE = 5e9
_A_SECOND = 1e10


def choose_kind(*checkpoints: Checkpoint) -> Kind:
    """Of those that all of these encoders have."""
    there = [kinds(state.loaded(each)) for each in checkpoints]
    names = [name for name, kind in KNOCK_OUTS.items() if all(kind in each for each in there)]
    return KNOCK_OUTS[KNOCK_OUT.choose(names)]


def knock_out_answers(
    chosen: Side | state.Selection, sets: Sequence[Sequence[int]], kind: Kind
) -> np.ndarray:
    """The answers [set, answer] without each of the `sets` of positions, with a bar where it takes longer."""
    loaded = state.loaded(chosen.checkpoint)
    changes = knocked_out(loaded, chosen.given, sets, kind)
    record = state.record(chosen.checkpoint, chosen.given)
    title = chosen.title if isinstance(chosen, Side) else chosen.checkpoint
    return answers_under(chosen, changes, f"Knocking out one {record.unit} after the other in {title} …")


def multiply_adds(config: ModelConfig, n: int) -> int:
    """Of one forward of an input of `n` positions."""
    return n_multiply_adds(replace(config, n_positions=n) if config.is_text else config)


def is_quick(name: Checkpoint, given: Input, n_forwards: int) -> bool:
    """Whether so many forwards take about half a second or less, by their multiply-adds."""
    return n_forwards * _of_one(name, given) <= AT_ONCE


def about(name: Checkpoint, given: Input, n_forwards: int) -> str:
    """How long so many forwards take, in words; no promise."""
    seconds = n_forwards * _of_one(name, given) / _A_SECOND
    return f"about {max(1, round(seconds))} s" if seconds < 90 else f"about {round(seconds / 60)} min"


def _of_one(name: Checkpoint, given: Input) -> int:
    return multiply_adds(state.loaded(name).config, len(state.record(name, given)))
