"""Attention: every head on one input, and the chosen one in detail."""

from app_pages.inputs.row import choose_input_or_record
from app_pages.show.prediction import prediction
from app_pages.subject.shipped_inputs import correct_class
from app_pages.subject.subject import LiveSubject
from model.record import ForwardRecord


def draw() -> None:
    """Draws the page."""
    subject, slots = choose_input_or_record()
    if isinstance(subject.record, ForwardRecord):
        label = subject.label
        if label is None and isinstance(subject, LiveSubject):
            label = correct_class(subject)
        with slots.answer:
            prediction(subject.record, label)
    # Here, since it imports what draws figures: meanwhile the prediction already stands.
    from app_pages.attention.below_prediction import draw_below_prediction

    draw_below_prediction(subject, slots)
