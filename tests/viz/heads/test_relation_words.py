import pytest

from viz.heads.relation_words import linked_words


@pytest.mark.parametrize(
    ("relation", "direction", "expected"),
    [
        ("det", "to head", "determiner → noun"),
        ("det", "to dependent", "noun → determiner"),
        ("nsubj:pass", "to head", "subject → verb"),
        ("contact", "to dependent", "contact, to dependent"),
    ],
)
def test_a_relation_is_named_by_the_words_that_it_links(relation: str, direction: str, expected: str) -> None:
    assert linked_words(relation, direction) == expected
