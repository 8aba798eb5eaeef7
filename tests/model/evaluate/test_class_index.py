import pytest

from model.evaluate.class_index import class_index_of

NAMES = ("negative", "Positive")


@pytest.mark.parametrize("label", ["1", "1.0", "1.", "1,0", " 1.000 ", "positive", " POSITIVE ", 1, 1.0])
def test_a_class_is_named_by_its_name_or_its_number(label: object) -> None:
    assert class_index_of(label, NAMES) == 1


@pytest.mark.parametrize(
    "label", ["2", "2.0", "1.5", "0.01", "-1", "-1.0", "", ".0", "nan", "neutral", "1.0.0", "²"]
)
def test_other_labels_are_refused(label: str) -> None:
    with pytest.raises(ValueError, match="a label must be one of"):
        class_index_of(label, NAMES)


def test_a_name_counts_before_a_number() -> None:
    assert class_index_of("1.0", ("1.0", "0")) == 0
