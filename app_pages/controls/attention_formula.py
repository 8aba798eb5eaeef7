"""The formula of attention for the encoder at hand, whose scores may be others than those of "Attention Is All You Need"."""

from typing import NamedTuple

from model.config import ModelConfig


class AttentionFormula(NamedTuple):
    """The formula of attention weights or scores, and what its further symbols mean."""

    tex: str
    meanings: str  # sentences; "" where there are no symbols beside those of the paper


def divisor_tex(config: ModelConfig) -> str:
    """LaTeX for the root by which the products are divided, with its symbols; "" if they are not divided."""
    parts = config.family.parts
    if not parts.scaled:
        return ""
    return r"\sqrt{d_k}" if parts.disentangled is None else rf"\sqrt{{{parts.disentangled.n_maps} \, d_k}}"


def attention_formula(config: ModelConfig) -> AttentionFormula:
    """The attention weights of this encoder: with its divisor, rotations, biases and terms of relative positions."""
    score, meanings = score_formula(config)
    return AttentionFormula(rf"A_{{ij}} = \mathrm{{softmax}}_j\left({score}\right)", meanings)


def score_formula(config: ModelConfig) -> AttentionFormula:
    """The scores of this encoder, before the mask and the softmax."""
    parts, meanings = config.family.parts, []
    score = r"q_i \cdot k_j"
    if parts.rotary is not None:
        score = r"\tilde q_i \cdot \tilde k_j"
        meanings.append("q̃ and k̃ are rotated by their positions.")
    if parts.disentangled is not None:
        terms = [
            term
            for term, is_there in (
                (r"q_i \cdot k^{\mathrm{r}}_{\delta}", parts.disentangled.content_to_position),
                (r"q^{\mathrm{r}}_{\delta} \cdot k_j", parts.disentangled.position_to_content),
            )
            if is_there
        ]
        score = " + ".join((score, *terms))
        meanings.append("qʳ and kʳ are vectors of the relative position δ.")
        score = rf"({score})" if terms else score
    if divisor := divisor_tex(config):
        score += f" / {divisor}"
    if config.has_distance_bias:
        score += " + B_{ij}"
        meanings.append("B is a learned bias that depends only on where the key stands from the query.")
    return AttentionFormula(score, " ".join(meanings))
