"""What the page of a test is about, as its controls say."""

from streamlit.testing.v1 import AppTest

from app_pages.inputs.drawing.code import from_code
from app_pages.subject.encoders import RECORD, TEXT, label_for
from app_pages.subject.shipped_inputs import example_picture, test_digits
from app_pages.subject.subject import OPENED, LiveSubject, Subject
from model.inputs import Picture, Text


def subject_of(app: AppTest) -> Subject:
    """The encoder and the input, or the record, that the app shows."""
    held = app.session_state
    if held["kind"] == RECORD:
        return held[OPENED]
    name = held["checkpoint"]
    if held["kind"] == TEXT:
        return LiveSubject(name, Text(held["text"], app.query_params.get("second") or None))
    if held["source"] == "Example":
        return LiveSubject(name, Picture.of(example_picture(held["example_picture"])))
    if held["source"] == "Draw":
        return LiveSubject(name, Picture.of(from_code(app.query_params["drawing"])))
    images, labels = test_digits()
    label = label_for(name, int(labels[held["digit"]]))
    return LiveSubject(name, Picture.of(images[held["digit"]]), label)
