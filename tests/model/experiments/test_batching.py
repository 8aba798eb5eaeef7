import numpy as np
import pytest
import torch

from model.capture.intervention import Intervention
from model.capture.replacements import Zeroed
from model.experiments.ablation import ablate_heads, ablated
from model.experiments.knock_out import knock_out
from model.experiments.probabilities import probabilities
from model.hooks import watch
from model.loaded import Loaded
from tests.model import tiny
from tests.model.experiments.test_ablation import one_by_one
from tests.model.huggingface.folders import SENTENCE, encoder
from tests.model.lenses.lens_encoders import PLACEMENTS, TEXT, read_by
from tests.model.tiny import CLOSE

# What they pool: class token; mean; class and distillation token; class token and patches; patches; a learned query; a token.
OF_TEXTS = (
    "BertModel",
    "RobertaModel",
    "MPNetForSequenceClassification",
    "AlbertForSequenceClassification",
    "ModernBertForSequenceClassification",
    "T5EncoderModel",
    "DebertaV2ForSequenceClassification",
)
OF_PICTURES = {
    "DeiTForImageClassificationWithTeacher": {"num_channels": 1},
    "Dinov2ForImageClassification": {"num_channels": 1},
    "BeitForImageClassification": {"num_channels": 1},
    "SiglipVisionModel": {"num_channels": 1},
}
IMAGE = np.random.default_rng(0).integers(0, 256, (32, 32), dtype=np.uint8)


def widths_in_last_feed_forward(loaded: Loaded, call) -> list[int]:
    """Number of positions of each batch that reaches the feed-forward of the last block."""
    widths: list[int] = []
    feed_forward = loaded.model.blocks[-1].feed_forward
    hook = feed_forward.register_forward_pre_hook(lambda _, args: widths.append(args[0].shape[1]))
    try:
        call()
    finally:
        hook.remove()
    return widths


@pytest.mark.rest_is_slow
@pytest.mark.parametrize("name", PLACEMENTS)
def test_every_placement_of_the_norm_and_pooling(name, tmp_path):
    loaded, model_input = read_by(name, tmp_path)
    result = ablate_heads(loaded, [model_input])[0]
    np.testing.assert_allclose(result, one_by_one(loaded, model_input, None), **CLOSE)


@pytest.mark.rest_is_slow
@pytest.mark.parametrize("name", [*OF_TEXTS, *OF_PICTURES, "CLIPTextModel"])
def test_what_other_families_pool(name, tmp_path):
    loaded = encoder(tmp_path, name, **OF_PICTURES.get(name, {}))
    model_input = SENTENCE if loaded.config.is_text else IMAGE
    result = ablate_heads(loaded, [model_input])[0]
    np.testing.assert_allclose(result, one_by_one(loaded, model_input, None), **CLOSE)


@pytest.mark.parametrize(("name", "n_positions"), [("pre", 1), ("post", 1), ("b2t", 1), ("mean", 5)])
def test_the_last_block_ends_for_the_class_token_alone(name, n_positions, tmp_path):
    """Except for the forward without a change, and where all positions are pooled."""
    loaded, text = read_by(name, tmp_path)
    widths = widths_in_last_feed_forward(loaded, lambda: ablate_heads(loaded, [text]))
    assert set(widths) == {n_positions, 5}
    assert set(widths_in_last_feed_forward(loaded, lambda: knock_out(loaded, text))) == {n_positions}


def test_a_last_block_that_is_changed_behind_its_attention_runs_whole():
    loaded = tiny.loaded(tiny.TEXT)
    change = Intervention(replacements=(("blocks.1.feed_forward_out", Zeroed()),))
    answers: list[np.ndarray] = []
    widths = widths_in_last_feed_forward(
        loaded, lambda: answers.append(probabilities(loaded, [TEXT], [change, ablated(heads=[(1, 1)])]))
    )
    assert widths == [5]  # both in one batch
    without = loaded.model.blocks[1].feed_forward
    with torch.no_grad():
        without.contract.weight.zero_()
        without.contract.bias.zero_()
    np.testing.assert_allclose(answers[0][0, 0], probabilities(loaded, [TEXT])[0, 0], **CLOSE)


def test_who_watches_the_last_block_sees_all_positions():
    loaded, shapes = tiny.loaded(tiny.TEXT), []
    unwatched = ablate_heads(loaded, [TEXT])
    with watch(loaded.model, {"blocks.1.resid_post": lambda x: shapes.append(x.shape[1])}):
        watched = ablate_heads(loaded, [TEXT])
    assert set(shapes) == {5}
    np.testing.assert_allclose(watched, unwatched, **CLOSE)
