from dataclasses import replace

import numpy as np
import pytest
import torch

from model.capture import capture
from model.capture.intervention import Intervention, without_keys
from model.experiments.knock_out import (
    knock_out,
    knock_out_interventions,
    knock_out_kinds,
    log_odds_falls,
    removable_positions,
)
from model.inputs import Text, prepare
from tests.model import tiny
from tests.model.huggingface.folders import SECOND, SENTENCE, encoder
from tests.model.tiny import CLOSE, encoders

TEXT = "not great film"  # five tokens, with [CLS] and [SEP]


@pytest.mark.rest_is_slow
@encoders
def test_masked_out_of_the_keys_one_at_a_time(loaded, given_input):
    record = capture(loaded, given_input)
    by_loop = [
        capture(loaded, given_input, without_keys(index)).probabilities
        for index in removable_positions(record)
    ]
    np.testing.assert_allclose(knock_out(loaded, given_input), by_loop, **CLOSE)


def test_another_token_is_what_the_encoder_reads_there(text_loaded):
    """The same as running the changed token ids."""
    for kind, token in (("mask", "[MASK]"), ("unknown", "[UNK]")):
        inputs, _ = prepare(text_loaded, TEXT)
        answers = knock_out(text_loaded, TEXT, kind)
        for row, index in enumerate(removable_positions(capture(text_loaded, TEXT))):
            changed = inputs.clone()
            changed[0, index] = text_loaded.tokenizer.token_to_id(token)
            with torch.inference_mode():
                expected = text_loaded.model(changed).softmax(dim=-1)[0]
            np.testing.assert_allclose(answers[row], expected, **CLOSE)


def test_a_grey_patch_is_what_the_encoder_sees_there(digit_loaded, image):
    """The same as running the picture with the patch painted over; a class token stands before the patches."""
    inputs, positions = prepare(digit_loaded, image)
    answers = knock_out(digit_loaded, image, "grey")
    assert len(answers) == 4
    for patch in range(4):
        painted, (row, column) = inputs.clone(), divmod(patch, 2)
        painted[0, 4 * row : 4 * row + 4, 4 * column : 4 * column + 4] = inputs.mean()
        with torch.inference_mode():
            expected = digit_loaded.model(painted).softmax(dim=-1)[0]
        np.testing.assert_allclose(answers[patch], expected, **CLOSE)
    (both,) = knock_out_interventions(digit_loaded, image, [(1, 4)], "grey")
    painted = inputs.clone()
    painted[0, :4, :4] = painted[0, 4:, 4:] = inputs.mean()
    with torch.inference_mode():
        expected = digit_loaded.model(painted).softmax(dim=-1)[0]
    np.testing.assert_allclose(capture(digit_loaded, image, both).probabilities, expected, **CLOSE)
    assert positions.first_patch == 1


@pytest.mark.parametrize(("has_teacher", "first", "side"), [(False, 1, 8), (True, 2, 32)])
def test_colours_have_a_grey_each(has_teacher, first, side, tmp_path):
    """Also behind a class and a distillation token, of an encoder whose pixels are normalised colour by colour."""
    loaded = tiny.loaded(replace(tiny.DIGIT, n_channels=3))
    if has_teacher:
        loaded = encoder(tmp_path / "it", "DeiTForImageClassificationWithTeacher")
    picture = np.random.default_rng(0).integers(0, 256, (side, side, 3), dtype=np.uint8)
    inputs, positions = prepare(loaded, picture)
    assert removable_positions(positions) == tuple(range(first, first + loaded.config.n_patches))
    patch = loaded.config.patch_size
    inputs[0, :, :patch, patch : 2 * patch] = inputs[0].mean(dim=(1, 2))[:, None, None]
    with torch.inference_mode():
        expected = loaded.model(inputs).softmax(dim=-1)[0]
    np.testing.assert_allclose(knock_out(loaded, picture, "grey", [first + 1])[0], expected, **CLOSE)


def test_what_cannot_be_taken_away_is_left_out(text_loaded, digit_loaded, image):
    record = capture(text_loaded, "film [PAD] great [PAD]")
    assert record.roles == ("class", "word", "padding", "word", "padding", "separator")
    assert removable_positions(record) == (1, 3, 5)
    assert removable_positions(capture(digit_loaded, image)) == (1, 2, 3, 4)


def test_each_encoder_has_its_kinds(text_loaded, digit_loaded, image):
    assert knock_out_kinds(text_loaded) == ("keys", "mask", "unknown")
    assert knock_out_kinds(digit_loaded) == ("keys", "grey")
    with pytest.raises(ValueError, match="tiny can be asked with keys and grey, not with 'mask'"):
        knock_out(digit_loaded, image, "mask")


def test_a_token_beyond_the_encoders_vocabulary_is_none_of_its_kinds(text_loaded):
    unknown = text_loaded.tokenizer.token_to_id("[UNK]")
    short = replace(text_loaded, model=tiny.build(replace(tiny.TEXT, vocab_size=unknown + 1)))
    assert knock_out_kinds(short) == ("keys", "unknown")


@pytest.mark.parametrize(("kind", "index"), [("keys", 5), ("grey", 0), ("keys", -1)])
def test_a_position_that_cannot_be_taken_away_is_named(digit_loaded, image, kind, index):
    with pytest.raises(ValueError, match=rf"positions \[{index}\] cannot be taken away by '{kind}'"):
        knock_out(digit_loaded, image, kind, [index])


def test_nothing_taken_away_changes_nothing(text_loaded, digit_loaded, image):
    for loaded, model_input in ((text_loaded, TEXT), (digit_loaded, image)):
        for kind in knock_out_kinds(loaded):
            assert knock_out_interventions(loaded, model_input, [()], kind) == (Intervention(),)
            assert knock_out(loaded, model_input, kind, []).shape == (0, loaded.config.n_classes)


def test_of_a_pair_of_texts_the_part_stays_known(tmp_path):
    """With token types another token is still one of the part in which it stands."""
    loaded, pair = (
        encoder(tmp_path / "it", "BertForSequenceClassification", type_vocab_size=2),
        Text(SENTENCE, SECOND),
    )
    inputs, positions = prepare(loaded, pair)
    answers = knock_out(loaded, pair, "mask")
    for row, index in enumerate(removable_positions(positions)):
        changed, vocabulary = inputs.clone(), loaded.config.vocab_size
        changed[0, index] = (
            loaded.tokenizer.token_to_id("[MASK]") + inputs[0, index] // vocabulary * vocabulary
        )
        with torch.inference_mode():
            expected = loaded.model(changed).softmax(dim=-1)[0]
        np.testing.assert_allclose(answers[row], expected, **CLOSE)
    assert (inputs >= loaded.config.vocab_size).any()


def test_falls_by_hand(text_loaded):
    record = replace(capture(text_loaded, TEXT), logits=np.log(np.array([0.25, 0.75], np.float32)))
    # Odds of 3 become 9 and 1.
    result = log_odds_falls(record, np.log([[0.1, 0.9], [0.5, 0.5], [0.25, 0.75]]))
    np.testing.assert_allclose(result, [-np.log(3), np.log(3), 0], atol=1e-6)


def test_without_classes_the_pooled_state_is_followed():
    loaded = tiny.loaded(replace(tiny.TEXT, class_names=()))
    record = capture(loaded, TEXT)
    answers = knock_out(loaded, TEXT)
    assert answers.shape == (4, tiny.TEXT.d_model)
    by_hand = [
        1 - record.pooled @ answer / np.linalg.norm(record.pooled) / np.linalg.norm(answer)
        for answer in answers
    ]
    np.testing.assert_allclose(log_odds_falls(record, answers), by_hand, atol=1e-6)
