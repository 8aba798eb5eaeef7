from dataclasses import fields, replace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from model.capture import capture
from model.files.arrays_file import KINDS
from model.measures.head_measures import head_summary, odd_rows
from model.measures.word_view import view
from model.record import AttentionRecord, ForwardRecord
from model.record.from_arrays import attention_alone, from_arrays
from model.record.record_file import (
    AXES,
    HALF,
    OPTIONAL,
    dump,
    fits_half_precision,
    from_bytes,
    n_bytes,
    read,
    read_file,
    save,
)
from model.version import VERSION
from tests.model import tiny

PICTURE = np.arange(64, dtype=np.uint8).reshape(8, 8)
PATTERN = np.full((2, 3, 4, 4), 0.25, np.float32)
TOKENS = ("a", "b", "c", "d")


@pytest.fixture(scope="module")
def record() -> ForwardRecord:
    return capture(tiny.loaded(tiny.TEXT), "a great films [MASK] x")


def assert_same(one: AttentionRecord, other: AttentionRecord) -> None:
    assert type(one) is type(other)
    for field in fields(one):
        left, right = getattr(one, field.name), getattr(other, field.name)
        if isinstance(left, np.ndarray):
            assert (left.dtype, left.shape) == (right.dtype, right.shape)
            assert left.tobytes() == right.tobytes()
            assert not right.flags.writeable
        else:
            assert left == right


@pytest.mark.parametrize("kind", KINDS)
@tiny.encoders
def test_a_record_comes_back_bit_for_bit(loaded, given_input, kind, tmp_path):
    saved = capture(loaded, given_input)
    picture = given_input if isinstance(given_input, np.ndarray) else None
    save(saved, tmp_path / f"a{kind}", {"checkpoint": "größer"}, picture)
    result = read_file(tmp_path / f"a{kind}")
    assert_same(saved, result.record)
    assert_same(saved, read(str(tmp_path / f"a{kind}")))
    assert result.settings["checkpoint"] == "größer"
    assert result.settings["version"] == VERSION
    assert (result.picture is None) == (picture is None)
    if picture is not None:
        np.testing.assert_array_equal(result.picture, picture)


def test_an_encoder_without_classes_and_an_empty_array_come_back():
    saved = capture(tiny.loaded(replace(tiny.TEXT, class_names=())), "a film")
    assert saved.logits.shape == (0,)
    assert_same(saved, from_bytes(dump(saved, {}), "a.npz").record)


@pytest.mark.parametrize("kind", KINDS)
def test_attention_alone_comes_back(kind):
    cross = from_arrays(PATTERN[..., :2], TOKENS, keys=("x", "##y"), roles=["class", *["word"] * 3])
    assert_same(cross, from_bytes(dump(cross, {}, kind=kind), f"a{kind}").record)
    picture = from_arrays(PATTERN, picture=PICTURE)
    result = from_bytes(dump(picture, {}, PICTURE, kind), f"a{kind}")
    assert_same(picture, result.record)
    np.testing.assert_array_equal(result.picture, PICTURE)
    view = replace(from_arrays(PATTERN, TOKENS), numbers=(0, 2, 3, 7), merged=True)
    assert_same(view, from_bytes(dump(view, {}, kind=kind), f"a{kind}").record)


@pytest.mark.rest_is_slow
@pytest.mark.parametrize("kind", KINDS)
@tiny.encoders
def test_half_precision_rounds_each_number_by_as_much_as_it_says(loaded, given_input, kind):
    saved = capture(loaded, given_input)
    result = from_bytes(dump(saved, {}, kind=kind, half=True), f"a{kind}")
    assert type(result.record) is ForwardRecord
    assert result.settings["precision"] == HALF
    for name in AXES:
        before, after = getattr(saved, name), getattr(result.record, name)
        if before is None:
            assert after is None
        elif name == "mask":
            np.testing.assert_array_equal(after, before)
        else:
            assert after.dtype == np.float32
            np.testing.assert_allclose(after, before, rtol=2**-11, atol=2**-25, err_msg=name)
            assert before.size < 10 or not np.array_equal(after, before)
    assert not len(odd_rows(result.record.pattern, result.record.mask))
    np.testing.assert_allclose(result.record.probabilities, saved.probabilities, atol=2e-3)
    for name, values in head_summary(saved).items():
        np.testing.assert_allclose(
            head_summary(result.record)[name], values, rtol=1e-3, atol=1e-4, err_msg=name
        )


def test_what_was_rounded_says_so_after_it_was_saved_again(record):
    once = from_bytes(dump(record, {}, half=True), "a.npz")
    again = from_bytes(dump(once.record, once.settings), "a.npz")
    assert_same(once.record, again.record)
    assert again.settings["precision"] == HALF
    assert "precision" not in from_bytes(dump(record, {}), "a.npz").settings


def test_numbers_too_large_for_half_precision_are_refused(record):
    large = replace(record, scores=record.scores * np.float32(1e7))
    assert fits_half_precision(record)
    assert not fits_half_precision(large)
    assert fits_half_precision(attention_alone(large))
    with pytest.raises(ValueError, match="above 65,504, which half precision does not have"):
        dump(large, {}, half=True)


@pytest.mark.parametrize("half", [False, True])
def test_the_size_that_is_said_is_that_of_the_file(half):
    saved = capture(tiny.loaded(replace(tiny.TEXT, n_positions=200)), " ".join(["film"] * 190))
    for record in (saved, attention_alone(saved)):
        size = len(dump(record, {}, half=half))
        assert size <= n_bytes(record, half=half) <= size + 2**17
    assert n_bytes(attention_alone(saved)) < n_bytes(saved)


def test_the_arrays_have_the_records_names(record, tmp_path):
    save(record, tmp_path / "a.npz", {})
    with np.load(tmp_path / "a.npz") as file:
        assert set(file) == {*set(AXES) - set(OPTIONAL), "tokens", "roles", "pieces", "settings"}
        assert file["tokens"].tolist() == list(record.tokens)
        np.testing.assert_array_equal(file["pattern"], record.pattern)


@pytest.mark.parametrize("kind", KINDS)
def test_tokens_and_pieces_come_back_as_they_were(kind, tmp_path):
    pieces, keys = ("<s>", "ĠÃĥÂ©", "ðŁ", "ĺĢ"), ("▁a", "▁", "<0xC3>", "<0xA9>")
    saved = from_arrays(PATTERN, pieces, keys=keys)
    assert saved.tokens == ("<s>", "Ã©", "[U+1F600]1/2", "[U+1F600]2/2")
    save(saved, tmp_path / f"a{kind}", {})
    result = read(tmp_path / f"a{kind}")
    assert_same(saved, result)
    assert view(result, merged=True).tokens == ("<s>", "Ã©😀")
    assert view(result, merged=True).attended.tokens == ("a", "é")


def test_a_file_of_somebody_else_needs_no_more_than_pattern_and_tokens(tmp_path):
    np.savez(tmp_path / "a.npz", pattern=PATTERN.astype(np.float16), tokens=TOKENS)
    result = read_file(tmp_path / "a.npz")
    assert type(result.record) is AttentionRecord
    assert result.record.tokens == TOKENS
    assert result.record.mask.all()
    assert result.settings == {"precision": HALF}
    np.savez(tmp_path / "b.npz", pattern=PATTERN[..., :2], queries=TOKENS, keys=TOKENS[:2])
    assert read(tmp_path / "b.npz").attended.tokens == TOKENS[:2]


def damaged(record: ForwardRecord, **changed: object) -> bytes:
    """A whole record's file with other arrays in it, those that are None left out."""
    import io

    with np.load(io.BytesIO(dump(record, {}))) as file:
        arrays = dict(file)
    arrays |= changed
    made = io.BytesIO()
    np.savez(made, **{name: values for name, values in arrays.items() if values is not None})
    return made.getvalue()


@pytest.mark.parametrize(
    ("changed", "why"),
    [
        ({"pattern": None}, "holds no pattern"),
        ({"pattern": PATTERN[0]}, r"pattern must be numbers of \[layer, head, query, key\]"),
        ({"pattern": PATTERN}, "positions of the pattern"),
        ({"tokens": None}, "labels are missing"),
        ({"tokens": np.arange(8)}, "tokens must be text"),
        ({"tokens": np.array("one")}, "tokens must be a list of strings"),
        ({"tokens": np.array([["a"] * 8])}, "tokens must be a list of strings"),
        ({"roles": np.array(["noun"] * 8)}, "got .noun."),
        ({"roles": np.array(["word"])}, "1 roles for 8"),
        ({"scores": np.zeros((2, 2, 8, 7), np.float32)}, "scores has 7 of 'key', other arrays have 8"),
        (
            {"scores": np.full((2, 2, 8, 8), np.nan, np.float32)},
            "scores holds numbers that are not finite",
        ),
        ({"q": np.zeros((2, 2, 8), np.float32)}, "q has 3 axes"),
        ({"mask": np.ones((2, 2, 8, 8))}, "mask must be true or false"),
        ({"residual": np.zeros((4, 8, 8), np.float32)}, "logits_by_layer has 5 of 'stage'"),
        ({"patch_grid": np.array([2, 3])}, "6 positions, one after the other, must be the patches"),
        ({"patch_grid": np.array([0, 0])}, "too few"),
        ({"patch_grid": np.array([1.5, 1])}, "patch_grid must be two whole numbers"),
        ({"picture": np.zeros((3, 3))}, "a picture must be uint8"),
        ({"numbers": np.array([1, 1])}, "numbers must ascend"),
        ({"settings": np.array("[1]")}, "settings are no"),
        ({"settings": np.array("{")}, "cannot be read"),
        ({"settings": np.array('{"config": 1}')}, "it must be an object, got 1"),
        ({"settings": np.array('{"config": {}}')}, "d_model is missing"),
        ({"settings": np.array('{"config": {"secret": 1}}')}, "d_model is missing"),
    ],
)
def test_a_file_that_contradicts_itself_is_refused_in_one_sentence(record, changed, why):
    with pytest.raises(ValueError, match=why) as refused:
        from_bytes(damaged(record, **changed), "a.npz")
    assert str(refused.value).startswith("a.npz cannot be read: ")
    assert "\n" not in str(refused.value)


def test_another_encoders_configuration_is_refused(record):
    other = replace(record, config=replace(record.config, n_heads=3))
    with pytest.raises(ValueError, match="config says 3 of 'head', its arrays have 2"):
        from_bytes(dump(other, {}), "a.npz")


def test_what_could_not_be_read_again_is_not_written(record):
    with pytest.raises(ValueError, match="q holds numbers that are not finite"):
        dump(replace(record, q=np.full_like(record.q, np.inf)), {})
    with pytest.raises(ValueError, match="NUL"):
        dump(replace(record, tokens=("a\0", *record.tokens[1:])), {})
    with pytest.raises(ValueError, match=r"got '\.bin'"):
        save(record, "a.bin", {})


def test_what_is_wrong_names_no_folder(tmp_path):
    with pytest.raises(FileNotFoundError, match=r"^there is no file a\.npz$"):
        read(tmp_path / "a.npz")
    (tmp_path / "b.npz").write_bytes(b"nothing")
    with pytest.raises(ValueError, match=r"^b\.npz cannot be read") as refused:
        read(tmp_path / "b.npz")
    assert str(tmp_path) not in str(refused.value)


@pytest.mark.parametrize("kind", KINDS)
@given(data=st.data())
def test_whatever_happens_to_a_file_it_is_read_or_refused_in_one_sentence(record, kind, data):
    content = bytearray(dump(record, {"text": "a"}, kind=kind))
    edge = data.draw(st.sampled_from([600, 4000, len(content)]))
    for _ in range(data.draw(st.integers(1, 6))):
        index = data.draw(st.integers(0, edge - 1))
        content[data.draw(st.sampled_from([index, -1 - index]))] = data.draw(st.integers(0, 255))
    content = content[: data.draw(st.sampled_from([None, None, edge // 2]))]
    refusal = ""
    try:
        result = from_bytes(bytes(content), f"a{kind}")
    except ValueError as error:
        refusal = str(error)
    if refusal:
        assert refusal.startswith(f"a{kind} cannot be read: ")
        assert "\n" not in refusal
    else:
        assert len(result.record) == result.record.pattern.shape[-2]
