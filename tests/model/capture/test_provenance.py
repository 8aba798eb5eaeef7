import hashlib

import numpy as np

from model.capture.intervention import Intervention, MaskChoice
from model.capture.provenance import settings
from model.checkpoint import load
from model.version import VERSION
from tests.model import tiny


def test_what_was_read_and_through_which_weights(text):
    (text / "predictions.safetensors").write_bytes(b"what was made of the weights is no part of them")
    result = settings(load("text"), "a film")
    assert result["weights_sha256"] == hashlib.sha256((text / "model.safetensors").read_bytes()).hexdigest()
    assert (result["checkpoint"], result["text"], result["version"]) == ("text", "a film", VERSION)
    assert (result["class_names"], result["intervention"]) == (["negative", "positive"], "none")


def test_what_was_changed_is_said():
    changed = Intervention(masks=(MaskChoice(kind="keys", keys=(2,)),))
    result = settings(tiny.loaded(tiny.DIGIT), np.zeros((8, 8), np.uint8), changed)
    assert "keys=(2,)" in result["intervention"]
    assert (result["text"], result["weights_sha256"]) == (None, None)
