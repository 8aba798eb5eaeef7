import pytest

from app_pages.controls.lens import attention_formula
from model.checkpoint import load
from tests.model import tiny
from tests.model.huggingface.folders import build


def test_of_an_encoder_of_the_paper_it_is_that_of_the_paper():
    tex, meanings = attention_formula(tiny.TEXT)
    assert (tex, meanings) == (r"A_{ij} = \mathrm{softmax}_j\left(q_i \cdot k_j / \sqrt{d_k}\right)", "")


@pytest.mark.parametrize(
    ("architecture", "score", "meaning"),
    [
        ("BeitModel", r"q_i \cdot k_j / \sqrt{d_k} + B_{ij}", "B is a learned bias"),
        ("T5EncoderModel", r"q_i \cdot k_j + B_{ij}", "B is a learned bias"),
        ("EsmModel", r"\tilde q_i \cdot \tilde k_j / \sqrt{d_k}", "q̃ and k̃ are rotated"),
        (
            "DebertaV2Model",
            r"(q_i \cdot k_j + q_i \cdot k^{\mathrm{r}}_{\delta} + q^{\mathrm{r}}_{\delta} \cdot k_j) / \sqrt{3 \, d_k}",
            "vectors of the relative position δ",
        ),
    ],
)
def test_what_the_scores_of_a_family_hold_besides_is_named(tmp_path, architecture, score, meaning):
    settings = {"use_relative_position_bias": True} if architecture == "BeitModel" else {}
    build(tmp_path / "own", architecture, **settings)
    tex, meanings = attention_formula(load(str(tmp_path / "own")).config)
    assert tex == rf"A_{{ij}} = \mathrm{{softmax}}_j\left({score}\right)"
    assert meaning in meanings
