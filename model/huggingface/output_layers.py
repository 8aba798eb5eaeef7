"""Maps the output layers of encoders, which are recognised by the names of their weights, not by the architecture's name."""

from dataclasses import dataclass
from typing import NamedTuple

from ..family_options import AnswerKind, OutputActivation
from .tensor_map import ReadingBuilder, Source

# Stored beside the token embedding although it is the same: tied weights.
TIED = ("decoder.weight", "vocab_projector.weight", "generator_lm_head.weight")


class MaskedTokenLayers(NamedTuple):
    """Names, in the weights file, of the layers that predict masked tokens, and the activation between them."""

    transform: str
    norm: str
    biases: tuple[str, ...]  # possible names, the usual one first
    act: OutputActivation | None = None  # between transform and norm; None for that of the blocks


@dataclass(frozen=True, slots=True, kw_only=True)
class OutputNames:
    """Names of the output layers that encoders of a family can have."""

    pooler: str | None = None  # a linear layer of the encoder, before a tanh
    # a linear layer in a classifier of whole texts, and the activation after it
    hidden: tuple[str, OutputActivation] | None = None
    masked: MaskedTokenLayers | None = None


PREDICTIONS = MaskedTokenLayers(
    "cls.predictions.transform.dense",
    "cls.predictions.transform.LayerNorm",
    ("cls.predictions.bias", "cls.predictions.decoder.bias"),
)
LM_HEAD = MaskedTokenLayers(
    "lm_head.dense", "lm_head.layer_norm", ("lm_head.bias", "lm_head.decoder.bias"), "gelu"
)
BERT_OUTPUTS = OutputNames(pooler="pooler.dense", masked=PREDICTIONS)
ROBERTA_OUTPUTS = OutputNames(pooler="pooler.dense", hidden=("classifier.dense", "tanh"), masked=LM_HEAD)


def read_outputs(builder: ReadingBuilder, names: OutputNames, act: OutputActivation) -> None:
    """Maps the tensors of all stored output layers, and sets the fields of the configuration that say which the encoder has.

    `act` is the activation of the blocks.
    """
    if names.masked is not None:
        _read_masked_token_output(builder, names.masked, names.masked.act or act)
    # Some older files hold a pooler beside a classifier of tokens that never used it.
    classifies_tokens = "TokenClassification" in str(builder.values.get("architectures"))
    if names.hidden and builder.output_tensor_name(f"{names.hidden[0]}.weight") and not classifies_tokens:
        hidden, builder.family["pooler"] = names.hidden
        builder.map_output_linear("pooler", hidden)
        read_classifier(builder, "classifier.out_proj" if hidden == "classifier.dense" else "classifier")
    elif names.pooler and builder.has_tensor(f"{names.pooler}.weight") and not classifies_tokens:
        builder.map_linear("pooler", names.pooler)
        builder.family["pooler"] = "tanh"
        for name in ("classifier", *_next_sentence_classifiers(builder)):
            if builder.output_tensor_name(f"{name}.weight"):
                read_classifier(builder, name)
                break
    elif builder.output_tensor_name("classifier.weight"):
        read_token_classifier(builder)


def read_classifier(builder: ReadingBuilder, layer_name: str = "classifier") -> None:
    """Maps a classifier of whole inputs. Raises ValueError if it is not stored."""
    name = builder.output_tensor_name(f"{layer_name}.weight") or f"{layer_name}.weight"
    n_classes = builder.n_output_rows(name)
    builder.map_output_linear("classifier", layer_name)
    classifies_pairs = layer_name in _next_sentence_classifiers(builder) and n_classes == 2
    labels = ("follows", "does not follow") if classifies_pairs else builder.class_labels(n_classes)
    builder.fields["class_names"] = labels
    # by the rules of `transformers`
    problem_type = builder.values.get("problem_type")
    answers: AnswerKind = "choice"  # a softmax over the classes
    if problem_type == "multi_label_classification":
        answers = "each"  # a sigmoid for each class
    elif problem_type == "regression" or n_classes == 1:
        answers = "numbers"
    builder.family["answers"] = answers


def read_token_classifier(builder: ReadingBuilder) -> None:
    """Maps the layer `classifier`, which classifies each token."""
    n_classes = builder.n_output_rows(builder.output_tensor_name("classifier.weight") or "classifier.weight")
    builder.map_output_linear("token_classifier", "classifier")
    builder.family["token_class_names"] = builder.class_labels(n_classes)


def _next_sentence_classifiers(builder: ReadingBuilder) -> tuple[str, ...]:
    """Possible names of the layer that classifies whether a second sentence follows the first.

    Empty unless the architecture's name says that the layer was trained: most files hold it without using it.
    """
    architecture = str(builder.values.get("architectures", ""))
    was_trained = any(word in architecture for word in ("PreTraining", "NextSentence", "SentenceOrder"))
    return ("cls.seq_relationship", "sop_classifier.classifier") if was_trained else ()


def _read_masked_token_output(
    builder: ReadingBuilder, names: MaskedTokenLayers, act: OutputActivation
) -> None:
    """Maps the tensors of the layers that predict masked tokens, if they are stored; `act` is the activation between the two."""
    if not all(builder.output_tensor_name(f"{layer}.weight") for layer in (names.transform, names.norm)):
        return
    builder.map_output_linear("masked_token_output.transform", names.transform)
    builder.map_output_linear("masked_token_output.norm", names.norm)
    is_tied = builder.flag("tie_word_embeddings", True)
    # untied, the decoder's own bias is the one that is added
    builder.map_output_tensor("masked_token_output.bias", *(names.biases if is_tied else names.biases[::-1]))
    candidates = (
        name for ending in TIED for name in builder.stored.shapes if f".{name}".endswith(f".{ending}")
    )
    decoder_name = None if is_tied else next(candidates, None)
    if decoder_name is not None:
        builder.sources["masked_token_output.decoder.weight"] = Source(decoder_name)
    builder.fields["masked_token_output"] = True
    builder.family |= {"masked_token_act": act, "tied_output": decoder_name is None}
