"""Output layers of text encoders: recognised by the names of their weights, whatever the architecture is called."""

from typing import Any

from ..family_options import Act, Answers
from .tensor_map import Layout, Source

# Stored beside the token embedding although it is the same: tied weights.
TIED = ("decoder.weight", "vocab_projector.weight", "generator_lm_head.weight")


def read_outputs(
    layout: Layout,
    *,
    pooler: str | None = None,
    hidden: tuple[str, Act] | None = None,
    masked: tuple[str, str, tuple[str, ...], Act] | None = None,
) -> tuple[dict[str, Any], dict[str, Any]]:
    """What is to be set in the `ModelConfig` and in its `Family`.

    `pooler` is the encoder's own linear map with tanh, `hidden` one that belongs to a classifier of whole texts and
    the function behind it, `masked` the transform, norm and possible biases of the masked-token output with its
    function.
    """
    config: dict[str, Any] = {}
    family: dict[str, Any] = {}
    if masked is not None:
        _masked_token(layout, config, family, *masked)
    # Some older files hold a pooler beside a classifier of tokens that never used it.
    of_tokens = "TokenClassification" in str(layout.values.get("architectures"))
    if hidden and layout.beside(f"{hidden[0]}.weight") and not of_tokens:
        layout.linear_beside("pooler", hidden[0])
        family["pooler"] = hidden[1]
        final = "classifier.out_proj" if hidden[0] == "classifier.dense" else "classifier"
        _classes(layout, config, family, final)
    elif pooler and layout.has(f"{pooler}.weight") and not of_tokens:
        layout.linear("pooler", pooler)
        family["pooler"] = "tanh"
        for final in ("classifier", *_of_pairs(layout)):
            if layout.beside(f"{final}.weight"):
                _classes(layout, config, family, final)
                break
    elif layout.beside("classifier.weight"):
        n = layout.rows(layout.beside("classifier.weight"))
        layout.linear_beside("token_classifier", "classifier")
        family["token_class_names"] = layout.labels(n)
    return config, family


def _of_pairs(layout: Layout) -> tuple[str, ...]:
    """Whether a second sentence follows the first: where the architecture is named for it, since most have it unused."""
    named = str(layout.values.get("architectures", ""))
    told = any(word in named for word in ("PreTraining", "NextSentence", "SentenceOrder"))
    return ("cls.seq_relationship", "sop_classifier.classifier") if told else ()


def _classes(layout: Layout, config: dict, family: dict, final: str) -> None:
    name = layout.beside(f"{final}.weight")
    if name is None:
        raise ValueError(f"{final}.weight is missing")
    n = layout.rows(name)
    layout.linear_beside("classifier", final)
    config["class_names"] = (
        ("follows", "does not follow") if final in _of_pairs(layout) and n == 2 else layout.labels(n)
    )
    family["answers"] = answers(layout, n)


def answers(layout: Layout, n: int) -> Answers:
    """As `transformers` reads the numbers: several right classes, or a number, only where config.json says it."""
    problem = layout.values.get("problem_type")
    if problem == "multi_label_classification":
        return "each"
    if problem == "regression" or n == 1:
        return "numbers"
    return "choice"


def _masked_token(
    layout: Layout,
    config: dict,
    family: dict,
    transform: str,
    norm: str,
    biases: tuple[str, ...],
    act: Act,
) -> None:
    if layout.beside(f"{transform}.weight") is None or layout.beside(f"{norm}.weight") is None:
        return
    layout.linear_beside("masked_token_output.transform", transform)
    layout.linear_beside("masked_token_output.norm", norm)
    tied = layout.flag("tie_word_embeddings", True)
    order = biases if tied else biases[::-1]  # untied, the decoder's own is the one that is added
    bias = next((found for name in order if (found := layout.beside(name))), biases[0])
    layout.sources["masked_token_output.bias"] = Source(bias)
    config["masked_token_output"], family["masked_token_act"] = True, act
    if not tied:
        decoder = next((found for name in TIED if (found := _ending(layout, name))), None)
        if decoder is not None:
            family["tied_output"] = False
            layout.sources["masked_token_output.decoder.weight"] = Source(decoder)


def _ending(layout: Layout, name: str) -> str | None:
    return next((each for each in layout.stored.shapes if f".{each}".endswith(f".{name}")), None)
