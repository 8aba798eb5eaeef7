from model.train.edits import changed_sentences


def test_sentences_that_differ_stand_beside_their_counterparts():
    before = "I saw it twice. The plot is dull!<br /><br />The end is not good. Go home."
    after = "I saw it twice. The plot is fine! The end is good. Go home."
    assert changed_sentences(before, after) == [
        ("The plot is dull!", "The plot is fine!"),
        ("The end is not good.", "The end is good."),
    ]


def test_what_has_no_counterpart_is_left_out():
    assert changed_sentences("It is long. It is bad.", "It is long.") == []
    assert changed_sentences("It is bad. I left early.", "It is very good.") == []


def test_sentences_that_say_different_things_are_no_edit():
    assert changed_sentences("The plot is dull.", "Everybody laughed all evening.") == []


def test_very_long_sentences_are_left_out():
    long = " ".join(["and on"] * 31)
    assert changed_sentences(f"It is bad {long}.", f"It is good {long}.") == []
