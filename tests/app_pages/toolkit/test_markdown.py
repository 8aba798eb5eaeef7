from app_pages.toolkit.markdown import as_code, plain, sentence


def test_code_is_not_ended_by_the_words_in_it():
    assert as_code("*sigh* $x$") == "`*sigh* $x$`"
    assert as_code("a`b") == "`aˋb`"


def test_a_sentence_begins_with_a_capital_and_leaves_names_alone():
    assert sentence(ValueError("mnist-pre-LN takes an image, got NaN")) == (
        "Mnist-pre-LN takes an image, got NaN."
    )


def test_signs_in_somebody_elses_words_are_no_markdown():
    assert plain("a *b* [c](d) $e$ :f:") == r"a \*b\* \[c\]\(d\) \$e\$ \:f\:"
