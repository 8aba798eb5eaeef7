import numpy as np
import pytest
from streamlit.testing.v1 import AppTest

from app_pages.attention.shown_head import most_weight_sentence
from app_pages.subject.subject import OPENED, FileSubject, LiveSubject
from model.inputs import Text
from model.measures.head_statistics import attention_by_kind
from model.record import AttentionRecord
from model.record.from_arrays import from_arrays
from tests.app_pages.linked import linked
from tests.model.measures.roles import roles_on_input

TEXT = "great films not x y z"  # [CLS] great film ##s not x y z [SEP]
AT = {"text": TEXT, "checkpoint": "imdb-pre-ln"}
N = 9
WORDS = ("[CLS]", *"bcdefgh", "[SEP]")


def line(app: AppTest, name: str) -> str:
    """The sentence of a head; its measures, which follow it, are those of what is shown."""
    chart = linked(app)
    assert chart.name == name
    return chart.about.partition(" · ")[0]


def of(pattern: np.ndarray, tokens: tuple[str, ...] | None = WORDS, **more: object) -> AttentionRecord:
    return from_arrays(np.asarray(pattern, np.float32)[None, None], tokens, **more)


def in_a_sentence(record: AttentionRecord) -> str:
    return most_weight_sentence(attention_by_kind(record, 0, 0), record, "its weight").replace("\u2009", " ")


def column(key: int, weight: float) -> np.ndarray:
    """`weight` on one key, the rest spread over all others."""
    pattern = np.full((N, N), (1 - weight) / (N - 1))
    pattern[:, key] = weight
    return pattern


@pytest.mark.parametrize("how", [{"hide_special": "true"}, {"words": "true"}])
@pytest.mark.parametrize(("layer", "head"), [(0, 1), pytest.param(1, 0, marks=pytest.mark.slow)])
def test_what_a_view_hides_or_merges_changes_nothing_in_the_line(open_app, how, layer, head):
    address, name = {"layer": str(layer), "head": str(head)}, f"L{layer} H{head}"
    whole, viewed = line(open_app(**AT, **address), name), line(open_app(**AT, **address, **how), name)
    assert viewed == whole
    called = ", ".join(
        role.name for role in roles_on_input(LiveSubject("imdb-pre-ln", Text(TEXT)).record, layer, head)
    )
    assert viewed.startswith(f"{called}: " if called else "")
    assert "on average" in viewed.replace("\u2009", " ")


def test_a_kind_of_key_that_gets_much():
    assert in_a_sentence(of(np.eye(N))) == "on average 100 % of its weight goes to the query itself"
    assert (
        in_a_sentence(of(column(N - 1, 0.6))) == "on average 60 % of its weight goes to the separator [SEP]"
    )


def test_a_patch_is_named_by_its_row_and_column():
    patches = of(column(5, 0.6), None, patch_grid=(3, 3))
    assert (
        in_a_sentence(patches) == "on average 60 % of its weight goes to the patch in row 1, column 2, from 0"
    )


def test_of_a_local_head_the_sentence_says_what_makes_it_local():
    local = sum(share * np.eye(N, k=offset) for share, offset in ((0.25, -1), (0.2, 0), (0.35, 1)))
    # Of 9 queries 8 have a token before and 8 one after: (9 * 0.2 + 8 * 0.6) / 9 of a weight that is not spread.
    rest = 1 - local.sum(axis=1, keepdims=True)
    far = np.abs(np.subtract.outer(range(N), range(N))) > 1
    sentence = in_a_sentence(of(local + rest * far / far.sum(axis=1, keepdims=True)))
    assert sentence == "on average 73 % of its weight goes to the query itself and its two neighbours"


def test_a_sink_is_named():
    """It gets more than any kind of key, so the weight is not spread."""
    assert in_a_sentence(of(column(4, 0.42))) == "on average 42 % of its weight goes to “e”"
    twice = (*WORDS[:6], "e", *WORDS[7:])
    assert in_a_sentence(of(column(4, 0.42), twice)) == "on average 42 % of its weight goes to “4 e”"
    marked = (*WORDS[:4], "*", *WORDS[5:])
    assert "to “*”" in in_a_sentence(of(column(4, 0.42), marked))


def test_no_token_is_read_as_markup(open_app):
    """The chart shows text as it is, and beside a single map the page does, which is Markdown."""
    record = of(column(4, 0.42), (*WORDS[:4], "*[x]*", *WORDS[5:]))
    session = {OPENED: FileSubject(file_name="mine.npz", record=record, settings={}, picture=None)}
    assert "“*[x]*”" in linked(open_app(kind="Record", session=session)).about
    app = open_app(kind="Record", session=session, view="lines")
    (summary,) = (block.value for block in app.markdown if block.value.startswith("**L0 H0**"))
    assert r"“\*\[x\]\*”" in summary


def test_where_most_of_the_weight_is_on_no_such_key_that_is_said_first():
    away = (np.roll(np.eye(N), 3, axis=1) + np.roll(np.eye(N), 5, axis=1)) / 2
    assert in_a_sentence(of(away)) == (
        "no favourite: on average at most 11 % each to neighbours, itself, [CLS] and [SEP]"
    )


def test_patches_have_no_neighbours():
    patches = of(np.full((N, N), 1 / N), None, patch_grid=(3, 3))
    assert in_a_sentence(patches) == "no favourite: on average at most 11 % to itself"
