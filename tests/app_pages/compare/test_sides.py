"""Two encoders on one text whose tokenizers differ are compared by words."""

import json
import shutil
from collections.abc import Callable, Iterator
from pathlib import Path

import numpy as np
import pytest
from streamlit.testing.v1 import AppTest
from tokenizers import Tokenizer, models, pre_tokenizers, processors, trainers

from app_pages.subject.session_encoders import _OPENED
from app_pages.subject.subject import LiveSubject
from model.inputs import Text
from model.measures.head_matching import distance_matrix, match_heads
from model.sources import locations
from tests.app_pages.charts import numbers
from tests.app_pages.linked import charts, choose, linked
from tests.app_pages.shown_text import page_text
from tests.model.huggingface.folders import build

Open = Callable[..., AppTest]

SENTENCE = "the films not bad"  # film ##s to the one, byte by byte to the other
STREAM = (
    "norms",
    "shares",
    "answer by layer",
    "spread of the tokens",
    "entropy of the heads",
    "cosines",
)


def of_bytes() -> Tokenizer:
    tokenizer = Tokenizer(models.BPE())
    tokenizer.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=False)
    trainer = trainers.BpeTrainer(
        vocab_size=259,
        special_tokens=["<pad>", "<s>", "</s>"],
        initial_alphabet=pre_tokenizers.ByteLevel.alphabet(),
        show_progress=False,
    )
    tokenizer.train_from_iterator([], trainer)
    tokenizer.post_processor = processors.RobertaProcessing(("</s>", 2), ("<s>", 1), trim_offsets=False)
    return tokenizer


@pytest.fixture(scope="module")
def folders(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A Bert with word pieces and a Roberta that reads bytes."""
    folder = tmp_path_factory.mktemp("two tokenizers")
    build(folder / "pieces", "BertForSequenceClassification", id2label={0: "good", 1: "bad"})
    build(folder / "bytes", "RobertaModel", seed=1, vocab_size=259)
    of_bytes().save(str(folder / "bytes" / "tokenizer.json"))
    return folder


@pytest.fixture
def open_both(open_compare: Open, checkpoints: Path, folders: Path) -> Open:
    for name in ("pieces", "bytes"):
        shutil.copytree(folders / name, checkpoints / name)
    chosen = {"kind": "Text", "text": SENTENCE, "checkpoint": "pieces", "compare_with": "bytes"}

    def opened(**query: str) -> AppTest:
        app = open_compare(**chosen | query)
        assert not app.exception
        assert not app.error
        return app

    return opened


def titles(app: AppTest) -> list[str]:
    return [json.loads(chart.proto.spec)["layout"]["title"]["text"] for chart in app.get("plotly_chart")]


def by_words(name: str, groups: list[range]) -> np.ndarray:
    """The weights of the encoder on the sentence, added up and averaged in loops."""
    pattern = LiveSubject(name, Text(SENTENCE)).record.pattern
    n = len(groups)
    merged = np.zeros((*pattern.shape[:2], n, n))
    for i, queries in enumerate(groups):
        for j, keys in enumerate(groups):
            merged[..., i, j] = sum(pattern[..., query, key] for query in queries for key in keys) / len(
                queries
            )
    return merged


def of_pieces() -> np.ndarray:
    return by_words("pieces", [range(1), range(1, 2), range(2, 4), range(4, 5), range(5, 6), range(6, 7)])


def of_the_bytes() -> np.ndarray:
    ends = np.cumsum([0, 1, 3, 6, 4, 4, 1])  # <s> the films not bad </s>
    return by_words(
        "bytes", [range(*pair) for pair in zip(ends[:-1].tolist(), ends[1:].tolist(), strict=True)]
    )


@pytest.mark.slow
def test_all_heads_are_shown_by_words_and_matched_and_have_one_query(open_both):
    app = open_both(query="0 [CLS]")
    assert "no counterpart" not in page_text(app)
    assert "The tokens differ: compared by words" in page_text(app)
    assert "; 6 words and special tokens." in page_text(app)
    one, other = (linked(app, key) for key in charts(app))
    np.testing.assert_allclose(one.weights.transpose(1, 2, 0, 3), of_pieces(), atol=1e-4)
    np.testing.assert_allclose(other.weights.transpose(1, 2, 0, 3), of_the_bytes(), atol=1e-4)
    assert other.kept[2] == 0
    partners = match_heads(distance_matrix(of_pieces(), of_the_bytes()))
    n_heads = of_pieces().shape[1]
    assert [tuple(pair) for pair in one.data["partners"]] == [
        divmod(int(partner), n_heads) for partner in partners
    ]
    choose(app, "heads_second", query=3)
    assert not app.exception
    assert app.selectbox(key="query").value == 4  # films is two pieces
    assert [linked(app, key).kept[2] for key in charts(app)] == [3, 3]


def test_the_other_way_round_the_query_is_a_position_of_the_first(open_both):
    app = open_both(checkpoint="bytes", compare_with="pieces", query="4 films")
    assert [linked(app, key).kept[2] for key in charts(app)] == [2, 2]
    choose(app, "heads_second", query=4)
    assert app.selectbox(key="query").value == 14  # the first of bad's
    assert [linked(app, key).kept[2] for key in charts(app)] == [4, 4]


def test_the_first_query_is_the_longest_word_of_both(open_both):
    app = open_both(checkpoint="bytes", compare_with="pieces")
    assert app.query_params["query"] == "4 films"
    assert [linked(app, key).kept[2] for key in charts(app)] == [2, 2]


def test_the_maps_are_subtracted_by_words(open_both):
    app = open_both(compare_view="difference", compare_pairing="of the same number", layer="1", head="0")
    (figure,) = (json.loads(chart.proto.spec) for chart in app.get("plotly_chart"))
    assert titles(app) == ["bytes L1 H0 minus pieces L1 H0"]
    assert figure["data"][0]["x"][0] == "[CLS]|&lt;s&gt;"
    np.testing.assert_allclose(numbers(figure["data"][0]), (of_the_bytes() - of_pieces())[1, 0], atol=1e-5)
    assert not app.info


def test_words_are_knocked_out_with_all_their_pieces(open_both):
    app = open_both(compare_part="Knock-out")
    text = "\n".join(block.value for block in app.markdown)
    assert "Each word, with all its pieces, in turn" in page_text(app)
    assert "of 6 words change the answer" in text
    assert "bytes: the cosine distance of the pooled state" in page_text(app)
    assert "**bytes**: without" in text
    assert "the pooled state moves by" in text
    assert "the pieces of a word knocked out together" in page_text(app)


@pytest.mark.rest_is_slow
@pytest.mark.parametrize("part", STREAM)
def test_each_part_of_the_stream_opens(open_both, part):
    app = open_both(compare_part="Stream", compare_stream=part)
    assert app.get("plotly_chart") or app.get("vega_lite_chart")
    is_of_tokens = part in ("shares", "answer by layer")
    assert ("compared by words" in page_text(app)) == (not is_of_tokens)
    assert ("each side is read over its own tokens" in page_text(app)) == is_of_tokens


def test_lengths_are_those_of_the_words_mean_states(open_both):
    app = open_both(compare_part="Stream", compare_stream="norms")
    residual = LiveSubject("bytes", Text(SENTENCE)).record.residual
    expected = np.linalg.norm(residual[:, 4:10].mean(axis=1), axis=-1)  # of films
    figures = [json.loads(chart.proto.spec) for chart in app.get("plotly_chart")]
    lengths = next(numbers(it["data"][0]) for it in figures if it["layout"]["title"]["text"] == "bytes")
    np.testing.assert_allclose(lengths[:, 2], expected, rtol=1e-3)


def test_what_only_one_encoder_reads_is_named(open_both):
    app = open_both(text="not bad " * 20, query="0 [CLS]")
    assert "without a counterpart" in page_text(app)
    assert "of pieces" in page_text(app)
    app = open_both(text="not bad " * 20, compare_view="difference")
    assert len(titles(app)) == 1


@pytest.mark.parametrize("lens", ["norm-weighted", "rollout"])
def test_other_lenses_are_by_words_as_well(open_both, lens):
    app = open_both(lens=lens, compare_view="difference")
    assert len(titles(app)) == 1


# The encoder beside which one opens


@pytest.fixture
def own_models(folders: Path) -> Iterator[None]:
    """Both encoders are in the models folder, and not among those of the project."""
    locations.use_models_folder(folders)
    yield
    locations.use_models_folder(None)


@pytest.mark.slow
def test_beside_an_opened_encoder_stands_the_other_one_opened_last(
    open_compare,
    own_models,  # noqa: ARG001
):
    both = {_OPENED: ["bytes", "pieces"]}
    app = open_compare(checkpoint="pieces", session=both)
    assert not app.exception
    assert app.selectbox(key="compare_with").value == "bytes"
    app = open_compare(checkpoint="imdb-post-ln", session=both)
    assert app.selectbox(key="compare_with").value == "imdb-pre-ln"
    app = open_compare(checkpoint="pieces", session={_OPENED: ["pieces"]})
    assert app.selectbox(key="compare_with").value in ("imdb-pre-ln", "imdb-post-ln")
