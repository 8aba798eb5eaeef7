import numpy as np
import pytest
import torch
from safetensors.torch import save_file

from model.train.reading_teacher import LONGEST, ReadingTeacher
from tests.model.huggingface import folders
from tests.tolerance import encoder_rounding

TEXTS = ["the film is not bad", "bad", "a long slow story that made me cry", "it is a film"]


@pytest.fixture(scope="module")
def encoder(tmp_path_factory):
    folder = tmp_path_factory.mktemp("bert")
    folders.build(folder, "BertModel", max_position_embeddings=LONGEST)
    return folder


@pytest.fixture(scope="module")
def teacher(encoder):
    torch.manual_seed(0)
    return ReadingTeacher.untrained(encoder)


def close(teacher, expected):
    return pytest.approx(expected, abs=encoder_rounding(teacher.model.encoder.config))


def test_answers_do_not_depend_on_what_else_is_read(teacher):
    together = teacher.log_odds(TEXTS)
    alone = [teacher.log_odds([text])[0] for text in TEXTS]
    assert together == close(teacher, alone)
    assert len(set(alone)) == len(TEXTS)


def test_an_answer_is_the_difference_of_the_two_logits_of_the_pooled_state(teacher):
    ids = torch.tensor([teacher.tokenizer.encode(TEXTS[0]).ids])
    with torch.inference_mode():
        encoder = teacher.model.encoder
        negative, positive = teacher.model.output(encoder.pool(encoder.encode(ids), ids))[0]
    assert teacher.log_odds(TEXTS[:1]) == close(teacher, [(positive - negative).item()])


def test_a_long_text_is_read_at_its_end(teacher):
    beginning, end = ("film " * 20).strip(), ("bad " * (LONGEST - 2)).strip()
    assert teacher.log_odds([f"{beginning} {end}"]) == close(teacher, teacher.log_odds([end]))


def test_rows_of_different_length_are_padded_between_the_special_tokens(teacher):
    padding, first, last = map(teacher.tokenizer.token_to_id, ("[PAD]", "[CLS]", "[SEP]"))
    rows = teacher.pad([np.array([7, 8]), np.array([9])])
    assert rows.tolist() == [[first, 7, 8, last], [first, 9, last, padding]]


def test_the_fine_tuned_weights_are_read_from_the_state_of_the_run(encoder, teacher, tmp_path):
    state = tmp_path / "state.safetensors"
    tensors = {f"model.{name}": value.detach() for name, value in teacher.model.named_parameters()}
    save_file(tensors | {"optimizer.0.0.step": torch.zeros(1)}, state)
    torch.manual_seed(1)  # whose random classifier is another one
    assert ReadingTeacher.trained(encoder, state).log_odds(TEXTS) == close(teacher, teacher.log_odds(TEXTS))


def test_an_encoder_of_pictures_teaches_nobody_to_read(tmp_path):
    folders.build(tmp_path, "ViTModel")
    with pytest.raises(ValueError, match="reads no text"):
        ReadingTeacher.untrained(tmp_path)


def test_the_faster_precision_is_one_of_the_two(teacher):
    assert teacher.faster_precision() in ("bf16", "fp32")
