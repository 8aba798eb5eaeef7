"""Encoders that were trained elsewhere open every part that is about an input."""

import shutil
from collections.abc import Callable
from functools import cache
from pathlib import Path

import pytest
from streamlit.testing.v1 import AppTest
from tokenizers import Tokenizer, models, pre_tokenizers

from model.inputs import preprocessed_picture
from tests.app_pages.charts import table
from tests.app_pages.linked import linked
from tests.app_pages.shown_subject import subject_of
from tests.model.huggingface.folders import SENTENCE, build
from tests.slow import one_of_each

Open = Callable[..., AppTest]

# a classifier of pairs, and one for pictures with a distillation token
WHOLE = {"Text": "BertForSequenceClassification", "Digit": "DeiTForImageClassificationWithTeacher"}
# rotated, biased and disentangled scores, gates, norms without bias, shared keys
WITHOUT_POSITION_VECTORS = ("ModernBertModel", "T5EncoderModel", "DebertaV2Model", "EuroBertModel")
OTHERS = (
    *("ElectraForPreTraining", "MPNetModel", "AlbertForMaskedLM", "RobertaForSequenceClassification"),
    *("BertForTokenClassification", "ViTModel"),
    *WITHOUT_POSITION_VECTORS,
)
EVERY = [
    ("attention", {}),
    ("attention", {"part": "mean"}),
    *(("inside_a_head", {"inside": part}) for part in ("Step by step", "Why √d_k", "LayerNorm")),
    ("inside_a_head", {"inside": "Why √d_k", "inside_scale": "temperature"}),
    *(("masks", {"masks_part": part}) for part in ("What follows", "Ways of masking")),
    ("masks", {"masks_kind": "Local window"}),
    *(
        ("positions", {"positions": part})
        for part in ("Sinusoids", "This encoder", "Embeddings", "Experiments")
    ),
    *(("positions", {"positions": "This encoder", "positions_own": it}) for it in ("lengths", "all pairs")),
    *(("compare", {"compare_part": it}) for it in ("Heads", "Knock-out")),
    ("compare", {"compare_view": "difference"}),
    *(
        ("compare", {"compare_part": "Stream", "compare_stream": it})
        for it in ("norms", "shares", "answer by layer")
    ),
    *(("compare", {"compare_what": "two inputs", "compare_part": it}) for it in ("Heads", "Cross-attention")),
    (
        "compare",
        {"compare_what": "two inputs", "compare_part": "Stream", "compare_stream": "representations"},
    ),
    *((page, {}) for page in ("training", "cost", "norm_placement", "theory")),
    *(("heads", {"heads_scatter": is_on}) for is_on in ("false", "true")),
]
SOME = [EVERY[index] for index in (0, 2, 7, 11, 13, 18, -2, -1)]


@pytest.fixture(scope="module")
def folder_of(tmp_path_factory: pytest.TempPathFactory) -> Callable[[str], Path]:
    """`folder_of(architecture)` holds such an encoder; each is made once."""

    @cache
    def built(architecture: str) -> Path:
        folder = tmp_path_factory.mktemp(architecture)
        build(folder, architecture, **({"num_labels": 1} if architecture.startswith("Roberta") else {}))
        return folder

    return built


@pytest.fixture
def open_imported(open_app: Open, checkpoints: Path, folder_of: Callable[[str], Path]) -> Open:
    def opened(architecture: str, page: str, **query: str) -> AppTest:
        shutil.copytree(folder_of(architecture), checkpoints / "own")
        kind = "Picture" if architecture.startswith(("ViT", "DeiT")) else "Text"
        if kind == "Picture" and page == "compare":  # what encoders of digits read as well can be compared
            query = {"source": "Test digits"} | query
        return open_app(f"app_pages/{page}/page.py", kind=kind, text=SENTENCE, checkpoint="own", **query)

    return opened


@pytest.mark.rest_is_slow
@pytest.mark.parametrize("architecture", WHOLE.values())
@pytest.mark.parametrize(("page", "part"), one_of_each(EVERY))
def test_every_part_opens(open_imported, page, part, architecture):
    app = open_imported(architecture, page, **part)
    assert not app.exception
    assert not app.error
    of_other_encoders = page in ("norm_placement", "theory", "training")
    charts = [*app.get("vega_lite_chart"), *app.get("plotly_chart")]
    assert of_other_encoders or charts or app.table or has_table(app)


def has_table(app: AppTest) -> bool:
    own = {"heads_table", "word_stroke"}
    return any(item.proto.component_name in own for item in app.get("bidi_component"))


@pytest.mark.slow
@pytest.mark.parametrize("architecture", OTHERS)
@pytest.mark.parametrize(("page", "part"), SOME)
def test_other_families_open_too(open_imported, page, part, architecture):
    if architecture in WITHOUT_POSITION_VECTORS:
        part = {key: value for key, value in part.items() if key != "positions_own"}
    app = open_imported(architecture, page, **part)
    assert not app.exception
    assert not app.error
    if part.get("positions") == "This encoder":
        assert app.get("vega_lite_chart") or app.get("plotly_chart")


def test_the_second_part_is_read_behind_the_first(open_imported):
    app = open_imported("BertForSequenceClassification", "attention", second="a long story")
    assert app.text_area(key="second").value == "a long story"
    (options,) = (box.options for box in app.selectbox if box.key == "query")
    assert options[9:] == ["9 [SEP]", "10 a", "11 long", "12 story", "13 [SEP]"]


def test_each_token_has_its_class(open_imported):
    app = open_imported("BertForTokenClassification", "attention")
    (message,) = (
        block.proto.body for block in app.get("html") if 'class="token-answers"' in block.proto.body
    )
    assert message.count("<code>") == 10
    assert "<code>film</code><small>class " in message
    assert "This encoder predicts a class for each token: see below." in [
        caption.value for caption in app.caption
    ]


def test_numbers_are_no_probabilities(open_imported):
    app = open_imported("RobertaForSequenceClassification", "attention")
    (message,) = (
        block.proto.body for block in app.get("html") if "a number, not a probability" in block.proto.body
    )
    assert "%" not in message


def test_a_digit_lies_under_the_patches_and_its_label_is_no_class_of_other_pictures(open_imported):
    app = open_imported("ViTForImageClassification", "attention", source="Test digits")
    (message,) = app.metric
    assert message.delta == ""
    chosen = subject_of(app)
    seen = preprocessed_picture(chosen.model_input.array, chosen.record)
    assert chosen.model_input.array.shape == (28, 28)
    assert seen.shape == (32, 32, 3)


@pytest.mark.slow
def test_without_the_class_token_the_patches_lie_on_the_same_picture(open_imported):
    app = open_imported("ViTForImageClassification", "attention", layer="1")
    whole = linked(app).frames["picture"]["on_light"]
    app.toggle(key="hide_special").set_value(True).run()
    assert not app.exception
    assert linked(app).frames["picture"]["on_light"].equals(whole)


def test_a_word_that_is_no_piece_has_neighbours_in_the_vocabulary(open_app, checkpoints):
    build(checkpoints / "own", "AlbertForMaskedLM")
    pieces = [("<unk>", 0.0), *((f"▁{letter}", -1.0) for letter in "abcdefgh")]
    made = Tokenizer(models.Unigram(pieces, unk_id=0))
    made.pre_tokenizer = pre_tokenizers.Metaspace()
    made.save(str(checkpoints / "own" / "tokenizer.json"))
    chosen = {"positions": "Embeddings", "query": "1 €", "checkpoint": "own", "kind": "Text"}
    app = open_app("app_pages/positions/page.py", text="a € b", **chosen)
    assert not app.exception
    assert len(table(app, "The 8 nearest neighbours of", "cosine", "label")) == 8
