import pytest

from model.history import check_history

WHOLE = {
    "figures": {"n": 10, "accuracy": 0.5, "loss": 0.7, "data": "ten texts"},
    "recipe": {"phases": [{"task": "digits", "epochs": 3}], "published": None, "seed": 1},
    "probes": ["test digit 3"],
    "log": [{"phase": 0, "step": 0, "loss": 2.3, "gradient_norm": float("nan")}],
    "evaluations": [{"phase": 0, "step": 1, "n": 10, "accuracy": 0.5, "loss": 0.7}],
    "note": {"anything": ["else"]},
}


@pytest.mark.parametrize("history", [WHOLE, {}, {"recipe": {}}, {"log": []}], ids=["whole", *"123"])
def test_what_is_told_may_be_much_or_nothing(history):
    check_history(history)


@pytest.mark.parametrize(
    ("changes", "sentence"),
    [
        ({"figures": {"accuracy": 0.5}}, "figures: 'n' is a required property"),
        ({"figures": WHOLE["figures"] | {"n": "ten"}}, "figures n: 'ten' is not of type 'integer'"),
        ({"recipe": "by heart"}, "recipe: 'by heart' is not of type 'object'"),
        ({"recipe": {"phases": [{}]}}, "recipe phases 0: 'task' is a required property"),
        ({"probes": [3]}, "probes 0: 3 is not of type 'string'"),
        ({"log": [{"phase": 0, "step": -1}]}, "log 0 step: -1 is less than the minimum of 0"),
        ({"log": [{"phase": 0, "step": 1, "loss": "low"}]}, "log 0 loss: 'low' is not of type 'number'"),
        ({"evaluations": [{"phase": 1, "step": 1}]}, "evaluations tells of more than the 1 phases"),
    ],
    ids=str,
)
def test_what_the_pages_could_not_read_is_refused(changes, sentence):
    with pytest.raises(ValueError, match=f"^{sentence}"):
        check_history(WHOLE | changes)


def test_the_sentence_does_not_quote_a_book():
    with pytest.raises(ValueError, match=r"^figures: ") as error:
        check_history({"figures": "long " * 10_000})
    assert len(str(error.value)) < 300
