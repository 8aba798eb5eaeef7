"""An encoder and its own library on the same input: both forwards, and whether states and outputs agree."""

import json
from pathlib import Path
from typing import Any

import numpy as np
import torch

from model.capture import capture
from model.inputs import Text, prepare
from model.loaded import Loaded
from model.record import ForwardRecord
from tests.model.huggingface.folders import SENTENCE

CLOSE = {"rtol": 0, "atol": 1e-5}


def picture(height: int, width: int | None = None, n_channels: int = 3) -> np.ndarray:
    """A picture of chance, a square without `width`."""
    shape = (height, width or height, 3)[: 3 if n_channels == 3 else 2]
    return np.random.default_rng(0).integers(0, 256, shape, dtype=np.uint8)


def forwards(
    model: torch.nn.Module, loaded: Loaded, model_input: Text | np.ndarray | None = None, **options: Any
) -> tuple[ForwardRecord, Any]:
    """Our record of an input and the output of `transformers`, which gets the same tokens or pixels.

    By default it is a sentence, or a picture that needs no resizing; means and deviations of pixels are 0.5.
    """
    config = loaded.config
    if model_input is None and config.is_text:
        model_input = Text(SENTENCE)
    elif model_input is None:
        model_input = picture(
            config.image_size + config.family.pixels.remainder, n_channels=config.n_channels
        )
    if isinstance(model_input, Text):
        ids, positions = prepare(loaded, model_input)
        read = ids % config.vocab_size
        if config.family.n_token_types > 1:
            options["token_type_ids"] = torch.tensor([positions.types])
    else:
        pixels = torch.tensor(model_input).view(*model_input.shape[:2], -1).movedim(-1, 0)[None] / 255
        read = (pixels - 0.5) / 0.5
    with torch.inference_mode():
        expected = model(read, output_attentions=True, output_hidden_states=True, **options)
    return capture(loaded, model_input), expected


def compare_states(
    record: ForwardRecord, loaded: Loaded, expected: Any, *, has_final_norm: bool = True
) -> None:
    """Compares attention and states of all layers; without `has_final_norm`, the last states are handed over before it."""
    patterns = np.stack([pattern[0].numpy() for pattern in expected.attentions])
    np.testing.assert_allclose(record.pattern, patterns, **CLOSE)
    *states, last = (state[0].numpy() for state in expected.hidden_states)
    # the first of a narrower embedding is handed over before it is widened
    first = int(record.config.d_embedding != record.config.d_model)
    for ours, theirs in list(zip(record.residual[::2], states, strict=False))[first:]:
        np.testing.assert_allclose(ours, theirs, **CLOSE)
    with torch.inference_mode():
        final = loaded.model.final_norm(torch.tensor(np.array(record.residual[-1]))).numpy()
    # some hand over the last one behind the norm at the end, others before it
    assert any(np.allclose(last, ours, **CLOSE) for ours in (record.residual[-1], final))
    if getattr(expected, "last_hidden_state", None) is not None:
        ours = final if has_final_norm else record.residual[-1]
        np.testing.assert_allclose(ours, expected.last_hidden_state[0], **CLOSE)


def compare_output(record: ForwardRecord, loaded: Loaded, expected: Any) -> None:
    """Compares whichever output layer there is."""
    logits = getattr(expected, "logits", None)
    if loaded.config.masked_token_output:
        logits = expected.logits if logits is not None else expected.prediction_logits
        states = torch.tensor(np.array(record.residual[-1]))
        with torch.inference_mode():
            predicted = loaded.model.predict_tokens(loaded.model.final_norm(states))
        np.testing.assert_allclose(predicted, logits[0], **CLOSE)
        pairs = getattr(expected, "seq_relationship_logits", getattr(expected, "sop_logits", None))
        assert (pairs is not None) == record.has_classes
        if pairs is not None:
            np.testing.assert_allclose(record.logits, pairs[0], **CLOSE)
    elif record.token_logits is not None:
        np.testing.assert_allclose(record.token_logits, logits[0].reshape(record.token_logits.shape), **CLOSE)
    elif logits is not None:
        np.testing.assert_allclose(record.logits, logits[0], **CLOSE)
    else:
        named = (getattr(expected, name, None) for name in ("image_embeds", "text_embeds", "pooler_output"))
        pooled = next((state for state in named if state is not None), None)
        if pooled is None:
            states = expected.last_hidden_state
            pooled = states[:, 0] if loaded.config.pooling == "class" else states.mean(dim=1)
        np.testing.assert_allclose(record.pooled, pooled[0], **CLOSE)


def agree(
    model: torch.nn.Module, loaded: Loaded, model_input: Text | np.ndarray | None = None, **options: Any
) -> ForwardRecord:
    """Compares states and output of `forwards`; returns our record."""
    record, expected = forwards(model, loaded, model_input, **options)
    # the last norm of CLIP for pictures is for the class token alone
    has_final_norm = not type(model).__name__.startswith("CLIPVision")
    compare_states(record, loaded, expected, has_final_norm=has_final_norm)
    compare_output(record, loaded, expected)
    return record


def read_size(folder: Path, height: int, width: int | None = None, *, cropped: bool = False) -> None:
    """Lets the preprocessor resize pictures to this size, a square without `width`, or if `cropped` cut it out of the middle."""
    size = {"height": height, "width": width or height}
    settings: dict[str, Any] = {"do_center_crop": cropped, "image_mean": [0.5] * 3, "image_std": [0.5] * 3}
    settings |= {"crop_size": size, "do_resize": False} if cropped else {"size": size, "resample": 2}
    (folder / "preprocessor_config.json").write_text(json.dumps(settings))


def enlarge(model: torch.nn.Module, folder: Path, factor: float, *names: str) -> None:
    """Multiplies the parameters of these names, so that what they do can be seen in the attention; saves the folder anew."""
    with torch.no_grad():
        for name, parameter in model.named_parameters():
            if any(part in name for part in names):
                parameter.mul_(factor)
    model.save_pretrained(folder)
