from pathlib import Path

import pytest

from model.theory.claims.declared import CLAIMS
from tests.model.theory.claims.invented import invented, of_every_claim

ROOT = Path(__file__).parents[4]


def test_every_claim_has_a_name_of_its_own():
    assert len({claim.key for claim in CLAIMS}) == len({claim.says for claim in CLAIMS}) == len(CLAIMS)


@pytest.mark.parametrize("claim", CLAIMS, ids=lambda claim: claim.key)
def test_a_claim_is_a_sentence_with_a_page_to_look_at(claim):
    assert claim.says.endswith(".")
    assert (ROOT / "app_pages" / claim.link[0] / "page.py").is_file()
    assert claim.of(of_every_claim())


def test_the_verdict_follows_the_numbers():
    claim = next(claim for claim in CLAIMS if claim.key == "stream")
    longer, same = (
        invented((3.0, 3.1, 3.2), (1.0, 1.0, 1.0)),
        invented((1.0, 1.1, 0.9), (1.0, 1.0, 1.0), where="b"),
    )
    assert claim.verdict([longer]) == "holds here"
    assert claim.verdict([same]) == "does not hold here"
    assert claim.verdict([longer, same]).startswith("depends on the encoders (holds: encoders;")
    assert claim.verdict([]) == "not measured"
    assert claim.verdict([invented((3.0,), (1.0,))]) == "cannot be told from so few seeds"
