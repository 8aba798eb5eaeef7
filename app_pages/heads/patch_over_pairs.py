"""Activation patching over pairs of texts from a file: the mean effect of each part, and how far it spreads."""

from collections.abc import Callable
from dataclasses import replace

import numpy as np
import streamlit as st

from app_pages.controls.answer_choice import WORD, Answer
from app_pages.controls.estimated_work import AT_ONCE, duration, multiply_adds
from app_pages.controls.head_choice import HeadChoice
from app_pages.heads.effects import AnswerOfPairs, effects_over_pairs
from app_pages.heads.effects_table import draw_effects_table
from app_pages.heads.parse_pairs import MOST, PairList, TextPair, pairs_from_file
from app_pages.heads.patch_effect import PARTS, SHARE_FORMULA, Columns, Quantity, quantity
from app_pages.inputs.one_word_changed import OPPOSITES, one_word_changed
from app_pages.show.show import clickable
from app_pages.show.side_predictions import beside, tell
from app_pages.subject.shipped_inputs import sentences
from app_pages.subject.subject import LiveSubject, encoded_text
from app_pages.toolkit.markdown import counted, plain
from app_pages.toolkit.stoppable import is_wanted, until_done
from model.experiments.patching_over_pairs import MeanEffects
from model.inputs import Input, Text
from viz.builders.number_format import format_number
from viz.heads.patch_grid import Spread, patch_grid

LARGEST = 5  # MB of a file
_HELD, _PROBLEM, _ROUND = "pairs_held", "pairs_problem", "pairs_round"
_TABLE = (
    "A CSV or TSV file with two columns: a text, and the second text from which parts are taken. A header is not needed; a text "
    f"that contains the separator stands in quotation marks. Up to {MOST} pairs are read."
)


def draw_patching_over_pairs(
    subject: LiveSubject, chosen: HeadChoice, answer: Answer, taken: str, *, normalised: bool
) -> None:
    """Draws the choice of a file, and the mean effects over its pairs."""
    if (listed := _choose_pairs()) is None:
        return
    assert isinstance(subject.model_input, Text)  # pictures have no such choice
    template = subject.model_input
    pairs = tuple(
        (replace(template, text=pair.first), replace(template, text=pair.second), pair.line)
        for pair in listed.pairs
    )
    measured = AnswerOfPairs(answer.is_masked_word, WORD.held("").strip() if answer.is_masked_word else "")
    shown = quantity(
        answer, subject.record, normalised=normalised, over_pairs=True, guessed=not measured.word
    )
    part = PARTS[taken]
    work_key = ("patch pairs", subject.checkpoint, pairs, part, measured, normalised)
    work = _work(subject, pairs)
    label = f"Patch each part in {counted(len(pairs), 'pair')}, {duration(work)}"
    if not is_wanted(work_key, label, "patch_pairs_all", is_short=work <= AT_ONCE):
        return
    try:
        with until_done(work_key):
            effects = effects_over_pairs(subject.checkpoint, pairs, part, measured, normalised=normalised)
    except ValueError as error:
        st.warning(plain(str(error)), icon=":material/warning:")
        return
    columns = Columns.of(subject.record.config, part)
    _draw_effects(effects, columns, chosen, taken, shown, normalised=normalised)


def _choose_pairs() -> PairList | None:
    """Draws the upload, or the pairs that are held with a button that removes them; returns the pairs."""
    session = st.session_state
    held: PairList | None = session.get(_HELD)
    with st.container(horizontal=True, vertical_alignment="center", key="patch_pairs_entry"):
        if held is None:
            key = f"pairs_file_{session.get(_ROUND, 0)}"
            st.file_uploader(
                "Pairs of texts (CSV or TSV, two columns)",
                ("csv", "tsv", "txt"),
                key=key,
                max_upload_size=LARGEST,
                on_change=_take,
                args=(lambda: _from_upload(key),),
                help=_TABLE,
            )
            st.button("Try it with the examples", key="pairs_examples", on_click=_take, args=(example_pairs,))
        else:
            notes = " ".join(("", *held.notes))
            count = counted(len(held.pairs), "pair")
            st.markdown(plain(f"{count} of texts from {held.name}.{notes}"), width="content")
            st.button("Other pairs", key="pairs_other", type="tertiary", on_click=_forget)
    if problem := session.get(_PROBLEM):
        st.warning(plain(problem), icon=":material/warning:")
    if held is None:
        st.caption(
            "The mean effect over many pairs, with its spread, in place of that of the two texts above. Only this session sees the "
            "pairs; a link to this page does not contain them."
        )
    return held


def _take(read: Callable[[], PairList]) -> None:
    """Callback: holds the pairs that `read` returns for this session, or the message of its ValueError."""
    session = st.session_state
    session[_PROBLEM] = None
    try:
        session[_HELD] = read()
    except ValueError as error:
        session[_PROBLEM] = str(error)
    session[_ROUND] = session.get(_ROUND, 0) + 1


def _from_upload(key: str) -> PairList:
    if (file := st.session_state[key]) is None:
        raise ValueError("No file was chosen.")
    return pairs_from_file(file.name, file.getvalue())


def _forget() -> None:
    """Callback: removes the pairs."""
    st.session_state[_HELD] = st.session_state[_PROBLEM] = None


def example_pairs() -> PairList:
    """The example texts that hold a word with an opposite, each with the text in which it is replaced."""
    texts = [text for text in sentences().values() if OPPOSITES.keys() & set(text.lower().split())]
    pairs = [TextPair(text, one_word_changed(text), line) for line, text in enumerate(texts, 1)]
    return PairList("the examples, each with one word replaced by its opposite", tuple(pairs))


def _work(subject: LiveSubject, pairs: tuple[tuple[Input, Input, int], ...]) -> int:
    """Multiply-adds that all pairs take: a change in one layer reruns only the layers after it."""
    config = subject.record.config
    n_forwards = -(-(config.n_heads + 3) * config.n_layers // 2)
    lengths = (len(encoded_text(subject.checkpoint, first)) for first, *_ in pairs if isinstance(first, Text))
    return sum(n_forwards * multiply_adds(config, length) for length in lengths)


def _draw_effects(
    effects: MeanEffects,
    columns: Columns,
    chosen: HeadChoice,
    taken: str,
    shown: Quantity,
    *,
    normalised: bool,
) -> None:
    tell(_headline(effects, columns, shown), is_headline=True)
    spread = Spread(effects.sd, effects.low, effects.high, effects.is_shown, effects.n)
    grid, table = beside("patch")
    with grid:
        st.markdown(
            f"**Each head's {taken}, and each feed-forward, taken from the second text: mean over pairs**"
        )
        figure = patch_grid(
            effects.mean,
            columns.names,
            selected=(chosen.layer, columns.of_head(chosen.head)),
            what=shown.what,
            signed=shown.signed,
            ends=shown.ends,
            spread=spread,
        )
        head = chosen.layer, chosen.head
        clickable(
            figure, key="patch_pairs_grid", chosen=head, selection="head", take=columns.take, width="content"
        )
        colours = " Without a colour: no effect shown." if shown.signed else ""
        st.caption(
            f"{columns.sentence(taken, 'the second text of the pair')}{colours} A click chooses the head."
        )
    with table:
        st.markdown("**The same numbers, the largest first**")
        draw_effects_table(effects, columns, head, is_tested=shown.signed)
    st.caption(" ".join([*([SHARE_FORMULA] if normalised else []), _reading_sentences(effects, shown)]))


def _headline(effects: MeanEffects, columns: Columns, shown: Quantity) -> str:
    """Sentence on the part with the largest mean effect that is shown, as plain text."""
    pairs = counted(effects.n, "pair")
    if effects.n < 2:
        return f"Over {pairs}: an effect needs at least two pairs to be shown."
    spec = "+#.3g" if shown.signed else "#.3g"
    sizes = np.abs(effects.mean)
    if shown.signed:
        if not effects.is_shown.any():
            return f"Over {pairs}, no part has an effect that is shown."
        sizes = np.where(effects.is_shown, sizes, 0)
    layer, column = divmod(int(sizes.argmax()), sizes.shape[1])
    mean, low, high = (float(numbers[layer, column]) for numbers in (effects.mean, effects.low, effects.high))
    name, interval = columns.name(layer, column), f"{format_number(low, spec)} to {format_number(high, spec)}"
    sentence = f"Over {pairs}, {name} has the largest mean effect: {format_number(mean, spec)}, 95 % interval {interval}."
    if not shown.signed:
        return sentence
    return f"{sentence} {int(effects.is_shown.sum())} of {sizes.size} parts have an effect that is shown."


def _reading_sentences(effects: MeanEffects, shown: Quantity) -> str:
    sentences_read = [
        "The interval is that of the mean over pairs (Student's t); sd is the standard deviation between pairs."
    ]
    if shown.signed:
        sentences_read.append(
            f"An effect is shown where a t-test against 0 has p < 0.05 after Holm's correction for all {effects.mean.size} parts."
        )
    else:
        sentences_read.append(
            "A distance is never below 0, so it shows how far a patch moves the answer, and not whether it does."
        )
    if effects.n_equal:
        sentences_read.append(
            f"Left out: {counted(effects.n_equal, 'pair')} whose two answers are too close to divide by their difference."
        )
    sentences_read.append("Positions differ from pair to pair, so states are shown for a single pair alone.")
    return " ".join(sentences_read)
