import hashlib

import numpy as np

from model.capture.intervention import Intervention, MaskChoice
from model.capture.provenance import settings
from model.checkpoint import load
from model.version import VERSION
from tests.model import tiny


def test_what_was_read_and_through_which_weights(text) -> None:
    (text / "predictions.safetensors").write_bytes(b"what was made of the weights is no part of them")
    found = settings(load("text"), "a film")
    assert found["weights_sha256"] == hashlib.sha256((text / "model.safetensors").read_bytes()).hexdigest()
    assert (found["checkpoint"], found["text"], found["version"]) == ("text", "a film", VERSION)
    assert (found["class_names"], found["intervention"]) == (["negative", "positive"], "none")


def test_what_was_changed_is_said() -> None:
    changed = Intervention(masks=(MaskChoice(kind="keys", keys=(2,)),))
    found = settings(tiny.loaded(tiny.DIGIT), np.zeros((8, 8), np.uint8), changed)
    assert "keys=(2,)" in found["intervention"]
    assert (found["text"], found["weights_sha256"]) == (None, None)
