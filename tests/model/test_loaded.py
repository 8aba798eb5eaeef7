from tests.model.tiny import DIGIT, TEXT, loaded


def test_it_says_on_one_line_which_encoder_it_is():
    text = loaded(TEXT)
    shape = f"2 layers × 2 heads, {text.n_parameters:,} parameters, cpu"
    assert repr(text) == f"Loaded({text.name!r}, text encoder, {shape})"
    assert "picture encoder" in repr(loaded(DIGIT))
