import re
import tomllib

import numpy as np
import pandas as pd
import pytest

from model.train.negation import (
    HELD_OUT_SENTENCES,
    HERE,
    WRITTEN,
    _Templates,
    negation_sentences,
    split_options,
)

TREEBANK = pd.DataFrame(
    [
        (3, "is a lovely film"),
        (0, "a dull mess"),
        (4, "very moving"),
        (1, "fails to delight"),
        (1, "offers little"),
        (3, "delivers the goods"),
        (2, "about a dog"),
        (3, "is not bad"),
    ],
    columns=["rating", "text"],
)


@pytest.fixture
def templates() -> _Templates:
    return _Templates(np.random.default_rng(0), ["about a dog"])


def test_the_same_seed_makes_the_same_sentences():
    assert negation_sentences(50, TREEBANK, seed=3) == negation_sentences(50, TREEBANK, seed=3)
    assert negation_sentences(50, TREEBANK, seed=3) != negation_sentences(50, TREEBANK, seed=4)


@pytest.mark.slow
def test_no_sentence_is_one_that_is_judged_on():
    judged = {_bare(text) for text in pd.read_csv(HELD_OUT_SENTENCES).text}
    made = {_bare(text) for text, _ in negation_sentences(5000, TREEBANK, seed=0)}
    assert len(judged) > 100
    assert not made & judged


def test_no_written_sentence_is_one_that_is_judged_on_or_stands_twice():
    written = pd.read_csv(WRITTEN)
    judged = {_bare(text) for text in pd.read_csv(HELD_OUT_SENTENCES).text}
    bare = [_bare(text) for text in written.text]
    assert len(set(bare)) == len(bare) > 2000
    assert not judged & set(bare)
    assert set(written.label) == {0, 1}


def test_every_template_can_be_filled_with_good_and_with_bad_words(templates):
    parts = tomllib.loads((HERE / "negation.toml").read_text(encoding="utf-8"))
    for template in split_options(parts["same"]["list"]) + split_options(parts["opposite"]["list"]):
        for kind in ("good", "bad"):
            filled = templates.fill_slots(template.removeprefix("+"), kind)
            assert "{" not in filled
            assert "_" not in filled


@pytest.mark.parametrize(
    ("template", "name", "good_is_positive"),
    [
        ("{adj}", "same", True),
        ("not {adj}", "opposite", False),
        ("not {contrary_adj} but {adj}", "same", True),
    ],
)
def test_a_label_follows_its_word_or_is_turned_around(templates, template, name, good_is_positive):
    good_words = set(templates.words["good"]["adj"])
    templates.neutral |= {"before": [""], "after": [""]}
    templates.templates[name] = [template]
    for _ in range(40):
        text, positive = getattr(templates, f"{name}_sentiment")()
        word = text.rstrip(".!").split()[-1]
        assert (positive > 0.5) == ((word in good_words) == good_is_positive)


def test_a_phrase_of_the_treebank_is_worth_the_opposite_when_negated():
    treebank = TREEBANK.iloc[[0]]  # "is a lovely film"
    made = [
        (text, positive)
        for text, positive in negation_sentences(400, treebank, seed=0)
        if "a lovely film" in text
    ]
    turned = re.compile("(?:not|n'?t|never|hardly|by no means|anything but) a lovely film")
    assert {bool(turned.search(text)) for text, _ in made} == {True, False}
    for text, positive in made:
        assert (positive < 0.5) == bool(turned.search(text))


def test_what_is_negated_already_is_not_negated_again():
    assert not [text for text, _ in negation_sentences(500, TREEBANK.iloc[[7]], seed=0) if "not not" in text]


def _bare(text: str) -> str:
    return text.lower().rstrip(".!?")
