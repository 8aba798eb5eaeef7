import numpy as np
import pytest

from app_pages.controls import input_controls
from app_pages.controls.input_controls import KIND
from app_pages.controls.positions_controls import METHOD, PERPLEXITY, T_SNE_SEED, WORDS
from model import checkpoint
from model.experiments.embeddings import cosine_similarities, embedding_parts
from tests.app_pages.charts import described, table
from tests.app_pages.shown_text import shown_text
from tests.tolerance import rounding

PART = "Embeddings"
TEXT = "great film not great"
SUM = "content + positions"


@pytest.mark.parametrize("positioned", [False, True])
def test_the_neighbours_are_those_of_the_full_space(open_part, positioned):
    app = open_part(query="2 film", **({"positions_map_vectors": SUM} if positioned else {}))
    parts = embedding_parts(checkpoint.load("imdb-pre-ln"), TEXT)
    vectors = parts.total if positioned else parts.content
    cosines = cosine_similarities(vectors[2:3], vectors)[0]
    ranked = [index for index in np.argsort(-cosines, kind="stable") if index != 2]
    result = table(app, "The 5 nearest neighbours of film", "cosine")["cosine"].tolist()
    assert result == pytest.approx(cosines[ranked], abs=rounding(3 * 8))


def test_a_word_that_occurs_twice_is_one_vector_until_positions_are_added(open_part):
    app = open_part(query="1 great")
    nearest = table(app, "The 5 nearest neighbours of great", "label", "cosine").iloc[0]
    assert nearest["label"] == "great 4"
    assert nearest["cosine"] == pytest.approx(1, rel=rounding(3 * 8))
    assert "The 6 tokens of the input have **5** different vectors" in shown_text(app)
    assert len(table(app, "The 8 nearest neighbours of great", "cosine")) == 8
    app.segmented_control(key="positions_map_vectors").set_value(SUM).run()
    assert "have **6** different vectors" in shown_text(app)
    assert "whole vocabulary" not in shown_text(app)  # which is searched for content alone


def test_padding_has_no_neighbours(open_part, checkpoints):
    loaded = checkpoint.load("imdb-pre-ln")
    with_zeros = loaded.model.state_dict()
    with_zeros["embedding.tokens.weight"][0] = 0
    checkpoint.save(checkpoints / "imdb-pre-ln", loaded.model, {}, loaded.tokenizer)
    app = open_part(input_controls.TEXT.to("[PAD] film"), query="1 [PAD]")
    assert "all zeros: without a direction" in shown_text(app)


def test_words_around_are_drawn_behind_the_text(open_part):
    app = open_part(WORDS.to(True))
    vectors = table(app, "9 vectors in two dimensions", "token", "word")
    assert sorted(vectors["token"][vectors["word"]]) == ["film", "great", "not"]
    app.segmented_control(key="positions_map_vectors").set_value(SUM).run()
    described(app, "6 vectors in two dimensions")  # a word of the vocabulary has no position


def test_the_share_of_the_variance_is_said(open_part):
    app = open_part()
    assert "of the variance of the 6 vectors drawn" in shown_text(app)
    chart = described(app, "6 vectors in two dimensions")
    assert "first principal axis (" in chart["layer"][0]["encoding"]["x"]["title"]


def test_t_sne_says_its_perplexity_and_seed(open_part):
    app = open_part(METHOD.to("t-SNE"), PERPLEXITY.to(15), T_SNE_SEED.to(4))
    assert "Perplexity 5 (15 is not below the number of vectors), seed 4" in shown_text(app)
    described(app, "6 vectors in two dimensions")


def test_t_sne_of_too_few_vectors_gives_one_sentence(open_part):
    app = open_part(input_controls.TEXT.to("x"), METHOD.to("t-SNE"))
    assert app.info[0].value.startswith("t-SNE needs four vectors or more")


def test_patches_are_drawn_as_pictures_and_not_looked_up(open_part):
    app = open_part(KIND.to("Digit"), query="r1c1")
    assert len(table(app, "5 vectors in two dimensions; r1c1 is chosen", "on_light")) == 4
    assert "whole vocabulary" not in shown_text(app)
    assert "From word to vector" not in shown_text(app)


@pytest.mark.rest_is_slow
@pytest.mark.parametrize("text", ["x", "[PAD]", "[MASK] [MASK]", "<b>*x*</b> `$y$`", "你好"])
@pytest.mark.parametrize(("method", "vectors"), [("PCA", "content alone"), ("t-SNE", SUM)])
def test_any_text_can_be_drawn(open_part, text, method, vectors):
    assert shown_text(
        open_part(input_controls.TEXT.to(text), positions_map_method=method, positions_map_vectors=vectors)
    )


def test_the_query_is_looked_up_by_hand(open_part):
    loaded = checkpoint.load("imdb-pre-ln")
    token_id = loaded.tokenizer.token_to_id("film")
    row = loaded.model.embedding.tokens.weight[token_id].detach().numpy()
    text = shown_text(open_part(query="2 film"))
    assert f"`film` has the number **{token_id}**" in text
    assert ", ".join(f"{value:.3f}".replace("-", "−") for value in row[:4]) in text
    assert "largest difference 0." in text
