"""Activation patching over pairs of texts or digits from a file: each part's mean effect and its spread over the pairs."""

from collections.abc import Callable
from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np
import streamlit as st

from app_pages.controls.answer_choice import WORD
from app_pages.controls.estimated_work import AT_ONCE, duration, multiply_adds
from app_pages.controls.head_choice import HeadChoice
from app_pages.heads.effects import InputPair, effects_over_pairs
from app_pages.heads.parse_pairs import (
    MOST_PAIRS,
    Pair,
    PairList,
    digit_pairs_from_file,
    pairs_from_file,
)
from app_pages.heads.patch_effect import PARTS, Columns, Quantity, quantity
from app_pages.inputs.text_input import OPPOSITES, one_word_changed
from app_pages.show.html_table import HtmlTable, TableCell, TableRow
from app_pages.show.show import clickable
from app_pages.show.side_predictions import beside, tell
from app_pages.subject.answer import Answer
from app_pages.subject.shipped_inputs import sentences, test_digits
from app_pages.subject.subject import LiveSubject, encoded_text
from app_pages.toolkit.expression import Expression, call
from app_pages.toolkit.markdown import counted, plain
from app_pages.toolkit.stoppable import is_wanted, until_done
from model.experiments.patching_over_pairs import (
    LEAST_DISTANCE_OF_MEAN,
    LEAST_NATS_OF_MEAN,
    SIGNIFICANT,
    MeanEffects,
)
from model.inputs import Picture, Text
from viz.builders.number_format import format_number
from viz.heads.part_grids import EffectSpread, patch_grid

LARGEST_FILE = 5  # MB of a file
N_EXAMPLES = 40  # pairs of digits
_UPLOAD_ROUND = "pairs_round"
_TITLES = {"part": "part", "mean": "mean", "interval": "95 % interval", "sd": "sd", "n": "pairs"}
_RESULT = {"result": "effect"}
_table = HtmlTable("patch_effects", Path(__file__).with_suffix(".css"))


@dataclass(frozen=True)
class _PairKind:
    """Pairs of texts or pairs of digits: the words, session keys and functions with which a list of them is entered."""

    noun: str
    pairs_key: str  # session key of the pairs
    columns_text: str  # what the file holds, behind "a table with two columns: "
    read: Callable[[str, bytes], PairList]  # from a file: its name and content
    examples: Callable[[], PairList]

    @property
    def problem(self) -> str:
        """Session key of the message on what is wrong with the file."""
        return f"{self.pairs_key}_problem"

    @property
    def help(self) -> str:
        """What a file has to hold, as Markdown."""
        return f"A CSV or TSV file with two columns: {self.columns_text} Up to {MOST_PAIRS} pairs are read."


def draw_patching_over_pairs(
    subject: LiveSubject, chosen: HeadChoice, answer: Answer, patched_option: str, *, normalised: bool
) -> None:
    """Draws the choice of a file of pairs, and the mean effects of patching over them; `patched_option` is a key of `PARTS`."""
    kind = _TEXTS if isinstance(subject.model_input, Text) else _DIGITS
    if (listed := _choose_pairs(kind)) is None:
        return
    pairs = _input_pairs(subject, listed)
    measured_word = None if answer.word is None else WORD.held("").strip()
    shown = quantity(
        answer,
        normalised=normalised,
        what=answer.change_title if measured_word else answer.change_title_over_inputs,
    )
    part = PARTS[patched_option]
    work_key = ("patch pairs", subject.checkpoint, pairs, part, measured_word, normalised)
    work = _n_multiply_adds(subject, pairs)
    label = f"Patch each part in {counted(len(pairs), 'pair')}, {duration(work)}"
    if not is_wanted(work_key, label, "patch_pairs_all", is_short=work <= AT_ONCE):
        return
    source = effects_over_pairs(subject.checkpoint, pairs, part, measured_word, normalised=normalised)
    try:
        with until_done(work_key):
            source()
    except ValueError as error:
        st.warning(plain(str(error)), icon=":material/warning:")
        return
    columns = Columns.of(subject.record.config, part)
    _draw_effects(source, columns, chosen, patched_option, shown, kind.noun)


def _input_pairs(subject: LiveSubject, listed: PairList) -> tuple[InputPair, ...]:
    """Both inputs of each pair, and its line in the file. Texts get the other properties of the subject's text."""
    template = subject.model_input
    if isinstance(template, Text):
        return tuple(
            (replace(template, text=first), replace(template, text=second), line)
            for first, second, line in listed.pairs
        )
    images, _ = test_digits()
    return tuple(
        (Picture.of(images[first]), Picture.of(images[second]), line) for first, second, line in listed.pairs
    )


def _choose_pairs(kind: _PairKind) -> PairList | None:
    """Draws the upload or, once pairs are loaded, their name with a button that removes them; returns the pairs, None without
    any.
    """
    session = st.session_state
    pair_list: PairList | None = session.get(kind.pairs_key)
    with st.container(horizontal=True, vertical_alignment="center", key="patch_pairs_entry"):
        if pair_list is None:
            key = f"pairs_file_{session.get(_UPLOAD_ROUND, 0)}"
            st.file_uploader(
                f"Pairs of {kind.noun}s (CSV or TSV, two columns)",
                ("csv", "tsv", "txt"),
                key=key,
                max_upload_size=LARGEST_FILE,
                on_change=_keep_pairs,
                args=(kind, lambda: _from_upload(kind, key)),
                help=kind.help,
            )
            st.button(
                "Try it with the examples",
                key="pairs_examples",
                on_click=_keep_pairs,
                args=(kind, kind.examples),
            )
        else:
            notes = " ".join(("", *pair_list.notes))
            count = counted(len(pair_list.pairs), "pair")
            st.markdown(plain(f"{count} of {kind.noun}s from {pair_list.name}.{notes}"), width="content")
            st.button("Other pairs", key="pairs_other", type="tertiary", on_click=_remove_pairs, args=(kind,))
    if problem := session.get(kind.problem):
        st.warning(plain(problem), icon=":material/warning:")
    if pair_list is None:
        st.caption(
            f"The mean effect over many pairs, with its spread, in place of that of the two {kind.noun}s above. Only this session sees "
            "the pairs; a link to this page does not contain them."
        )
    return pair_list


def _keep_pairs(kind: _PairKind, read: Callable[[], PairList]) -> None:
    """Callback: keeps the pairs that `read` returns in the session, or the message of its ValueError."""
    session = st.session_state
    session[kind.problem] = None
    try:
        session[kind.pairs_key] = read()
    except ValueError as error:
        session[kind.problem] = str(error)
    session[_UPLOAD_ROUND] = session.get(_UPLOAD_ROUND, 0) + 1


def _from_upload(kind: _PairKind, key: str) -> PairList:
    if (file := st.session_state[key]) is None:
        raise ValueError("No file was chosen.")
    return kind.read(file.name, file.getvalue())


def _remove_pairs(kind: _PairKind) -> None:
    """Callback: removes the entered pairs of this `kind` from the session, and the message about a file that was refused."""
    st.session_state[kind.pairs_key] = st.session_state[kind.problem] = None


def example_pairs() -> PairList[str]:
    """The example texts with a word that has an opposite, each paired with the text in which the opposite replaces that word."""
    texts = [text for text in sentences().values() if OPPOSITES.keys() & set(text.lower().split())]
    pairs = [Pair(text, one_word_changed(text), line) for line, text in enumerate(texts, 1)]
    return PairList("the examples, each with one word replaced by its opposite", tuple(pairs))


def example_digit_pairs() -> PairList[int]:
    """The first test digits, each with the next one of another class."""
    labels = test_digits()[1].tolist()
    pairs = []
    for first, label in enumerate(labels[:N_EXAMPLES]):
        second = next((number for number in range(first + 1, len(labels)) if labels[number] != label), None)
        if second is not None:
            pairs.append(Pair(first, second, first + 1))
    return PairList("the first test digits, each with the next one of another class", tuple(pairs))


_TEXTS = _PairKind(
    "text",
    "pairs_held",
    "a text, and the second text from which parts are taken. A header is not needed; a text that contains the separator stands in "
    "quotation marks.",
    pairs_from_file,
    example_pairs,
)
_DIGITS = _PairKind(
    "digit",
    "digit_pairs_held",
    "the number of a test digit, and that of the second one from which parts are taken, as they stand where a digit is chosen. A "
    "header is not needed.",
    lambda name, content: digit_pairs_from_file(name, content, len(test_digits()[1])),
    example_digit_pairs,
)


def _n_multiply_adds(subject: LiveSubject, pairs: tuple[InputPair, ...]) -> int:
    """Multiply-adds of patching each part in all pairs: a change in one layer reruns only the layers after it."""
    config = subject.record.config
    n_forwards = -(-(config.n_heads + 3) * config.n_layers // 2)
    lengths = (
        len(encoded_text(subject.checkpoint, first)) if isinstance(first, Text) else len(subject.record)
        for first, *_ in pairs
    )
    return sum(n_forwards * multiply_adds(config, length) for length in lengths)


def _draw_effects(
    source: Expression,
    columns: Columns,
    chosen: HeadChoice,
    patched_option: str,
    shown: Quantity,
    noun: str,
) -> None:
    effects: MeanEffects = source()
    tell(headline(effects, columns, shown), is_headline=True)
    grid, table = beside("patch")
    with grid:
        st.markdown(
            f"**Each head's {patched_option}, and each feed-forward, taken from the second {noun}: mean over pairs**"
        )
        figure = call(
            patch_grid,
            source.mean,
            columns.names,
            selected=(chosen.layer, columns.of_head(chosen.head)),
            what=shown.name,
            signed=shown.signed,
            ends=shown.end_names,
            spread=call(
                EffectSpread, source.sd, source.low, source.high, source.is_shown, source.is_tested, source.n
            ),
        )
        head = chosen.layer, chosen.head
        clickable(
            figure, key="patch_pairs_grid", chosen=head, selection="head", take=columns.take, width="content"
        )
        colours = " Without a colour: no clear effect." if shown.signed else ""
        st.caption(
            f"{columns.sentence(patched_option, f'the second {noun} of the pair')}{colours} A click chooses the head."
        )
    with table:
        st.markdown("**The same numbers, the largest first**")
        titles = _TITLES | (_RESULT if shown.signed else {})
        _table.draw(
            [{"name": name, "title": title} for name, title in titles.items()],
            effect_rows(effects, columns, head, is_tested=shown.signed),
            key="patch_table",
            take_row=lambda key: columns.take({"layer": key[0], "column": key[1]}),
        )
    st.caption(" ".join(filter(None, (shown.formula, reading_sentences(effects, shown, noun)))))


def headline(effects: MeanEffects, columns: Columns, shown: Quantity) -> str:
    """Sentence, as plain text, on the part or parts with the largest mean effect, and on how many parts have a clear effect."""
    pairs = counted(effects.n, "pair")
    if effects.n < 2:
        return f"Over {pairs}: at least two pairs are needed to tell an effect from chance."
    indices = shown.largest_parts(effects.mean)
    if not len(indices):
        return f"Over {pairs}, no part has an effect."
    largest = f"{_subject_and_verb(indices, columns)} the largest mean effect: {_mean_text(effects, indices, shown)}"
    if not shown.signed:
        return f"Over {pairs}, {largest}."
    is_shown = effects.is_shown
    if not is_shown.any():
        return f"Over {pairs}, no part has a clear effect; {largest}."
    n_shown = f"{int(is_shown.sum())} of {is_shown.size} parts have a clear effect."
    if is_shown.flat[indices].any():
        return f"Over {pairs}, {largest}. {n_shown}"
    indices = shown.largest_parts(np.where(is_shown, effects.mean, 0))
    largest_clear = (
        f"{_subject_and_verb(indices, columns)} the largest: {_mean_text(effects, indices, shown)}"
    )
    return f"Over {pairs}, {largest}, which could be chance. Of the parts with a clear effect, {largest_clear}. {n_shown}"


def _subject_and_verb(indices: np.ndarray, columns: Columns) -> str:
    """Beginning of a sentence: the names of the parts, and "has" or "have"."""
    return f"{columns.part_names(indices)} {'has' if len(indices) == 1 else 'have'}"


def _mean_text(effects: MeanEffects, indices: np.ndarray, shown: Quantity) -> str:
    """Mean effect of the parts with these flat indices, for a single part with its 95 % interval."""
    mean, low, high = (
        shown.as_text(float(numbers.flat[indices[0]]))
        for numbers in (effects.mean, effects.low, effects.high)
    )
    return f"{mean}, 95 % interval {low} to {high}" if len(indices) == 1 else mean


def reading_sentences(effects: MeanEffects, shown: Quantity, noun: str) -> str:
    """Sentences on how to read the numbers: the interval and the test, and which pairs are left out."""
    sentences_read = [
        "The interval is that of the mean over pairs (Student's t); sd is the standard deviation between pairs."
    ]
    if shown.signed:
        n_tested = int(effects.is_tested.sum())
        sentences_read.append(
            f"An effect is clear where a t-test against 0 has p < {SIGNIFICANT:g} after Holm's correction for all {n_tested} parts "
            "that are tested; a part with the same effect in all pairs cannot be tested."
        )
    else:
        sentences_read.append(
            "A distance is never below 0, so it shows how far a patch moves the answer, and not whether it does."
        )
    if effects.n_repeated:
        sentences_read.append(
            f"Left out: {counted(effects.n_repeated, 'pair')} that the encoder reads like an earlier one: equal pairs count once."
        )
    if effects.n_equal:
        sentences_read.append(
            f"Left out: {counted(effects.n_equal, 'pair')} whose two answers are too close to divide by their difference "
            f"(below {LEAST_NATS_OF_MEAN:g} nat, or a cosine distance of {LEAST_DISTANCE_OF_MEAN:g}): their shares would outweigh all others."
        )
    if noun == "text":
        sentences_read.append(
            "Positions differ from pair to pair, so states are shown for a single pair alone."
        )
    else:
        sentences_read.append("States of single patches are shown for a single pair alone.")
    return " ".join(sentences_read)


def effect_rows(
    effects: MeanEffects, columns: Columns, head: tuple[int, int], *, is_tested: bool
) -> list[TableRow]:
    """Rows of the table of effects, the largest mean first, with the row of `head` (layer, head) as the current one.

    If `is_tested`, a last cell says whether an effect is clearly not 0, which cannot be tested for cosine distances.
    """
    order = np.argsort(-np.abs(effects.mean), axis=None, kind="stable")
    indices = [divmod(int(number), len(columns.names)) for number in order]
    current, p_values = (head[0], columns.of_head(head[1])), effects.p
    return [
        {
            "key": [layer, column],
            "current": (layer, column) == current,
            "cells": _table_cells(
                effects, columns, layer, column, p_values[layer, column] if is_tested else None
            ),
        }
        for layer, column in indices
    ]


def _table_cells(
    effects: MeanEffects, columns: Columns, layer: int, column: int, p: float | None
) -> list[TableCell]:
    index, spec = (layer, column), "#.3g" if p is None else "+#.3g"
    mean, low, high = (
        format_number(float(numbers[index]), spec) for numbers in (effects.mean, effects.low, effects.high)
    )
    texts = {
        "mean": mean,
        "interval": "–" if effects.n < 2 else f"{low} to {high}",
        "sd": format_number(float(effects.sd[index]), "#.3g"),
        "n": f"{effects.n}",
    }
    if p is not None:
        texts["result"] = "not tested" if np.isnan(p) else "clear" if p < SIGNIFICANT else "could be chance"
    return [
        {"name": "part", "text": columns.name(layer, column), "is_header": True, "is_button": True},
        *[TableCell(name=name, text=text) for name, text in texts.items()],
    ]
