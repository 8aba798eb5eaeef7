from app_pages.widgets.spelling import as_code, sentence


def test_code_is_not_ended_by_the_words_in_it() -> None:
    assert as_code("*sigh* $x$") == "`*sigh* $x$`"
    assert as_code("a`b") == "`aˋb`"


def test_a_sentence_begins_with_a_capital_and_leaves_names_alone() -> None:
    assert sentence(ValueError("mnist-pre-LN takes an image, got NaN")) == (
        "Mnist-pre-LN takes an image, got NaN."
    )
