"""A picture and texts in the two encoders of one folder, such as CLIP's: the logit of each text as a sum over the picture's
patches.
"""

from functools import partial

import numpy as np
import streamlit as st

from app_pages.controls import compare_controls as controls
from app_pages.controls.estimated_work import is_wanted
from app_pages.inputs.row import stop
from app_pages.show.show import heading, show
from app_pages.subject import as_python, encoders, session_encoders
from app_pages.subject.cache import Checkpoint, cached, loaded
from app_pages.subject.subject import LiveSubject
from app_pages.toolkit.expression import Expression, call, named
from app_pages.toolkit.markdown import plain, sentence
from app_pages.toolkit.stoppable import in_steps, progress, until_done
from model.experiments.faithfulness import (
    N_ORDERS,
    DeletionAreas,
    deletion_answers,
    deletion_area,
    random_orders,
    removal_counts,
    sort_by_score,
)
from model.inputs import Input, Text
from model.similarity.text_on_picture import MOST_TEXTS, TextOnPicture, text_on_picture
from viz.attention.picture_patches import picture_overlay
from viz.builders.number_format import format_number
from viz.builders.palette import ROUNDING, largest_absolute, weight_scale
from viz.faithfulness.map_agreement import removal_curve
from viz.similarity.text_map import text_map

_SIDES = {1: 420, 3: 356, MOST_TEXTS: 228}  # pixels of a picture, for up to so many texts
_POOLING = "attention weight of the pooling, mean over its heads"
_HIDDEN = (
    "grey"  # how a patch is hidden: an encoder that pools by attention reads a patch that no head attends to
)


def draw_text_on_picture(subject: LiveSubject) -> None:
    """Draws the boxes for the texts and, for each text, the picture coloured by what each patch adds to its logit; largest logit
    first.
    """
    names = encoders.picture_and_texts(subject.checkpoint)
    assert names is not None
    with st.container(horizontal=True, gap="medium"):
        with st.container(width=360, gap="xxsmall"):
            st.caption(f"Up to {MOST_TEXTS} texts, one a line")
            lines = [line.strip() for line in controls.TEXTS.choose().splitlines()]
        about = st.container(width="stretch")
    texts = tuple(dict.fromkeys(filter(None, lines)))
    if not texts:
        stop("Write a text above, or several with one a line, to compare it with the picture.")
    if len(texts) > MOST_TEXTS:
        stop(f"At most {MOST_TEXTS} texts are compared with a picture, and above are {len(texts)}.")
    try:
        with about:
            _say_encoder_notes(names[1], texts)
        parts = _logit_parts(*names, subject.model_input, texts)
    except (ValueError, OSError) as error:
        st.info(plain(sentence(error)))
        return
    of_texts = named("texts", as_python.encoder(names[1]))
    written = call(
        text_on_picture,
        as_python.encoder(names[0]),
        of_texts,
        as_python.model_input(subject),
        [*texts],
    )
    source = named("parts", written, lambda: parts)
    order = np.argsort(-parts.recorded, kind="stable").tolist()
    about.markdown(_rule_sentence(parts))
    about.caption(_patch_caption(parts))
    _draw_maps(subject, source, texts, order)
    _draw_pooling(subject, source)
    _draw_falls(subject, source, [(texts[index], index) for index in order])


@cached
def _logit_parts(
    name: Checkpoint, of_texts: Checkpoint, picture: Input, texts: tuple[str, ...]
) -> TextOnPicture:
    """The logit of each text and the patches' parts of it, from the picture encoder `name` and the text encoder `of_texts`;
    cached.
    """
    with progress("Reading one text after the other …", ("texts on picture", name, picture, texts)) as step:
        return text_on_picture(loaded(name), loaded(of_texts), picture, texts, progress=step)


def _say_encoder_notes(name: Checkpoint, texts: tuple[str, ...]) -> None:
    """Writes which of the texts the encoder `name` does not read in full or in known tokens, and its notes."""
    session_encoders.say_on_cpu(name)
    for note in loaded(name).notes:
        st.caption(f"{plain(name)}: {plain(note)}")
    for text in texts:
        of_text = LiveSubject(name, Text(text))
        if of_text.left_out_phrase:
            st.caption(
                f"“{plain(text[:40].rstrip())} …” is too long for the encoder of texts, which leaves out the {of_text.left_out_phrase}."
            )
        if of_text.unknown_phrase:
            st.caption(f"“{plain(text)}”: {of_text.unknown_phrase}.")


def _rule_sentence(parts: TextOnPicture) -> str:
    """Sentence on how logits and probabilities are computed from the cosines, with the model's own scale and bias."""
    scale = format_number(parts.scale, ".4g")
    if parts.kind == "choice":
        n = f"these {len(parts.maps)} texts" if len(parts.maps) > 1 else "this one text, and so 1"
        return f"Logit = **{scale}** × cosine similarity of picture and text: the model's own scale. Its probabilities are the softmax over {n}."
    bias = format_number(abs(parts.bias), ".4g")
    return (
        f"Logit = **{scale}** × cosine similarity of picture and text {'−' if parts.bias < 0 else '+'} **{bias}**: the model's own scale "
        "and bias. Each text has a probability by itself, so they need not add up to 1."
    )


def _patch_caption(parts: TextOnPicture) -> str:
    """Caption on what a patch's number is, what part of a logit belongs to no patch, and how far all parts together are from the
    encoder's logits.
    """
    others = ["the embedding", "feed-forwards", "biases"]
    if parts.positions.positions_with_role("class"):
        others.insert(0, "what heads read from the class token")
    if parts.bias:
        others.append("the model's own bias")
    return (
        "A patch's number is what the heads of all layers read from it, as far as it reaches the logit (Gandelsman et al. 2024). "
        f"“No patch” is all else: {', '.join(others[:-1])} and {others[-1]}. Together they are the logit (largest difference "
        f"{format_number(parts.gap, '.1g')}). Gold speaks for the text, purple against it; all texts share the scale of colours."
    )


def _draw_maps(subject: LiveSubject, source: Expression, texts: tuple[str, ...], order: list[int]) -> None:
    """Draws the picture coloured for each text, in this `order`. All share one colour scale, whose legend stands below the first;
    in downloaded files each has it.
    """
    limit = largest_absolute(source().maps, at_least=ROUNDING)
    side = next(side for most, side in _SIDES.items() if len(texts) <= most)
    with st.container(horizontal=True, gap="small"):
        for rank, index in enumerate(order):
            figure = partial(
                call,
                text_map,
                as_python.seen_picture(subject),
                source.maps[index],
                subject.record.patch_grid,
                text=texts[index],
                elsewhere=source.elsewhere[index],
                probability=source.probabilities[index],
                limit=limit,
                side=side,
            )
            key = f"text_map_{rank}"
            show(figure(has_legend=rank == 0), key=key, width="content", in_file=figure())


def _draw_pooling(subject: LiveSubject, source: Expression) -> None:
    """Draws the attention weights with which an encoder such as SigLIP pools its patches, the same for all texts; nothing for
    other encoders.
    """
    weights = source().pooled_from
    if weights is None:
        return
    heading("What the pooling reads", key="text_pooling_heading")
    st.caption(
        "After the last layer a learned query attends to all patches; what it reads is the pooled state. These weights are the same for "
        "every text, and say nothing about what a patch adds to one."
    )
    figure = call(
        picture_overlay,
        as_python.seen_picture(subject),
        source.pooled_from,
        subject.record.patch_grid,
        query=None,
        n_keys=len(weights),
        scale=weight_scale("own", "its maximum", weights, what=_POOLING),
        without_query="the pooling",
    )
    show(figure, key="text_pooling", width="content")


def _draw_falls(subject: LiveSubject, source: Expression, texts: list[tuple[str, int]]) -> None:
    """Draws on demand how the logit of one text falls as more and more patches are greyed: those with the largest parts first,
    and in random orders.
    """
    heading("Does the logit fall without these patches?", key="text_falls_heading")
    chosen = controls.CHECKED_TEXT.choose([text for text, _ in texts])
    index = dict(texts)[chosen]
    parts: TextOnPicture = source()
    positions = range(len(parts.positions))[parts.positions.patches]
    scores = dict(zip(positions, parts.maps[index].tolist(), strict=True))
    by_map, counts = sort_by_score(scores, positions), removal_counts(len(positions))
    work_key = ("greyed patches", subject, by_map)
    label = "Grey the patches, most positive first and at random"
    if not is_wanted(subject, work_key, (N_ORDERS + 1) * len(counts), label, "text_falls_wanted"):
        return
    orders = (*random_orders(positions), by_map)
    steps = [partial(subject.compute, deletion_answers, (order,), _HIDDEN) for order in orders]
    with until_done(work_key):
        answers = np.concatenate(in_steps(steps, "Greying more and more patches …", work_key))
    *random, curve = parts.falls(answers)[..., index]
    written = partial(as_python.computed, subject, deletion_answers)
    areas = DeletionAreas(perfect=0.0, random=deletion_area(np.array(random), len(positions)))
    own_area, bound = float(deletion_area(curve, len(positions))), areas.bound
    st.markdown(
        f"Each pixel of a greyed patch is the mean of the picture. In the order of its map, patches lower the logit of “{plain(chosen)}” "
        f"**{'sooner' if own_area > bound else 'no sooner'}** than in {N_ORDERS} random orders, whose mean area plus two standard "
        f"deviations is {format_number(bound, '.3f')}."
    )
    mean, sd = (
        format_number(float(number), ".3f") for number in (areas.random.mean(), areas.random.std(ddof=1))
    )
    figure = call(
        removal_curve,
        "deletion",
        counts,
        call(source.falls, written((by_map,), _HIDDEN))[0, :, index].with_value(lambda: curve),
        call(source.falls, written(call(random_orders, positions), _HIDDEN))[..., index].with_value(
            lambda: np.array(random)
        ),
        what="fall of the logit",
        removed_things="patches",
        reading=f"area {format_number(own_area, '.3f')}, random {mean} ± {sd}",
    )
    with st.container(width=560):
        show(figure, key="text_falls")
