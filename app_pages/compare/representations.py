"""How alike two encoders represent many examples: linear CKA for each pair of stages."""

from functools import partial

import numpy as np
import streamlit as st

from app_pages.compare.sides import DIFFERS, STATES
from app_pages.compare.stored_comparisons import draw_cka_beside_seeds
from app_pages.show.show import show
from app_pages.subject import cache, shipped_inputs
from app_pages.subject.as_python import encoder
from app_pages.subject.cache import Checkpoint, cached
from app_pages.subject.subject import encoded_text
from app_pages.subject.two_sides import Side, shared_words
from app_pages.toolkit.expression import Expression, call, named
from app_pages.toolkit.stoppable import in_steps
from model.experiments.residual_stream import cka_by_chance, digit_states, linear_cka, residual_stream
from model.inputs import Text, digits
from viz.compare.stage_curves import stage_similarity

N_DIGITS, AT_ONCE = 300, 50


def draw_representations(first: Side, second: Side) -> None:
    """Draws the CKA of every stage of one encoder with every stage of the other."""
    st.markdown(
        "How alike two encoders arrange the same examples. "
        r"**Linear CKA**: $\lVert Y^\top X \rVert_F^2 \,/\, (\lVert X^\top X \rVert_F \, \lVert Y^\top Y "
        r"\rVert_F)$, with the states of all examples at a stage of either encoder as the centred rows "
        "of $X$ and $Y$. 1: equal up to rotation and scale (Kornblith et al. 2019). States are those "
        "carried in the stream, before the norm at the end of pre-LN."
    )
    examples: tuple[Text | int, ...] = tuple(range(0, N_DIGITS, AT_ONCE))
    is_text = by_words = False
    if isinstance(first.model_input, Text) and isinstance(second.model_input, Text):
        texts = (*shipped_inputs.sentences().values(), first.model_input.text, second.model_input.text)
        text_examples = tuple(map(Text, dict.fromkeys(texts)))
        is_text, examples = True, text_examples
        by_words = _are_tokenised_differently(first.checkpoint, second.checkpoint, text_examples)
    if by_words:
        st.caption(f"{DIFFERS} — {STATES}; words that only one encoder reads are left out.")
    is_one = first.checkpoint == second.checkpoint
    if is_one:
        st.caption(
            "One encoder compared with itself: which of its stages are alike. "
            + ("The two texts only add their tokens." if is_text else "The two digits are not used here.")
        )
    reads = [
        partial(_example_states, side.checkpoint, example) for side in (first, second) for example in examples
    ]
    work_key = ("representations", first.checkpoint, second.checkpoint, examples)
    in_steps(reads, "Reading the states of the examples …", work_key)  # from here on they are cached
    similarities, chance_cka, n = _cka_and_chance(first.checkpoint, second.checkpoint, examples, by_words)
    states = [
        _all_states(*names, examples, by_words)
        for names in ((first.checkpoint, second.checkpoint), (second.checkpoint, first.checkpoint))
    ]
    chart = call(
        stage_similarity,
        named("cka", call(linear_cka, *states), lambda: similarities),
        first.record.stages,
        second.record.stages,
        names=(first.checkpoint, second.checkpoint + ", again" * is_one),
        what="CKA",
        signed=False,
        side=480,
        undefined="all examples have the same state here",
    )
    show(chart, key="cka", width="content")
    if np.isnan(similarities).any():
        st.caption("A dash: all examples have the same state at that stage, and nothing can be compared.")
    _say_examples(first, second, n, chance_cka, by_words)
    draw_cka_beside_seeds(first, second)


@cached
def _example_states(name: Checkpoint, example: Text | int) -> np.ndarray:
    """States [stage, example, d_model]: of each token of a text, or of the `AT_ONCE` test digits from number `example` on."""
    if isinstance(example, Text):
        return residual_stream(cache.loaded(name), [example])[:, 0]
    images, _ = shipped_inputs.test_digits()
    return digit_states(cache.loaded(name), images[example : example + AT_ONCE])


def _all_states(
    name: Checkpoint, other_name: Checkpoint, examples: tuple[Text | int, ...], by_words: bool
) -> Expression:
    """States [stage, example, d_model] of the encoder `name`, where example i is the same token, word or digit in both encoders."""
    images = named("images", call(digits.examples)[0])
    states = []
    for example in examples:
        if isinstance(example, Text):
            of_example = call(residual_stream, encoder(name), [example])[:, 0]
        else:
            of_example = call(digit_states, encoder(name), images[example : example + AT_ONCE])
        of_example = of_example.with_value(partial(_example_states, name, example))
        if by_words and isinstance(example, Text):
            of_example = call(shared_words(name, other_name, example)[0].matched_states, of_example)
        states.append(of_example)
    return call(np.concatenate, states, axis=1)


@cached(spinner="Comparing the stages …")
def _cka_and_chance(
    name: Checkpoint, other_name: Checkpoint, examples: tuple[Text | int, ...], by_words: bool
) -> tuple[np.ndarray, float, int]:
    """CKA [stage, other stage]; the largest CKA after one encoder's examples are shuffled; the number of examples.

    With `by_words` an example is a word that both encoders read, with the mean state of its tokens; otherwise a token or a digit.
    """
    first = _all_states(name, other_name, examples, by_words)()
    second = _all_states(other_name, name, examples, by_words)()
    return linear_cka(first, second), cka_by_chance(first, second), first.shape[1]


@cached
def _are_tokenised_differently(name: Checkpoint, other_name: Checkpoint, texts: tuple[Text, ...]) -> bool:
    return any(encoded_text(name, text).tokens != encoded_text(other_name, text).tokens for text in texts)


def _say_examples(first: Side, second: Side, n: int, by_chance: float, by_words: bool) -> None:
    if first.record.unit == "token":
        unit = "words and special tokens" if by_words else "tokens"
        description = f"the {n:,} {unit} of the {len(shipped_inputs.sentences())} example sentences and of what was typed, a state each"
    else:
        pooled = dict.fromkeys(
            "class token" if side.record.has_class_token else "mean over the patches"
            for side in (first, second)
        )
        description = f"the first {n} test digits, the {' and the '.join(pooled)} of each"
    widths = sorted({side.record.config.d_model for side in (first, second)})
    st.caption(
        f"Used: {description}, of width {' and '.join(map(str, widths))}. {chance_sentence(by_chance)}"
    )


def chance_sentence(by_chance: float) -> str:
    """Sentence that compares the CKA values shown with `by_chance`, the largest CKA after shuffling the examples; NaN if it
    cannot be computed.
    """
    if np.isnan(by_chance):
        return "What chance makes of it cannot be measured, since the states do not vary."
    return f"With the examples of one side shuffled, the largest of these numbers is {by_chance:.2f}: that much is chance."
