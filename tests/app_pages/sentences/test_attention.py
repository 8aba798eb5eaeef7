"""What is said of an attribution, of a head and of links: sentences against numbers."""

from collections.abc import Callable
from dataclasses import replace
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

from app_pages.attention import attributed_answer, sentence_links, shown_head
from app_pages.attention.attribution_target import baseline_clause
from app_pages.controls.attention_controls import GRADIENT, INTEGRATED
from app_pages.subject.subject import FileSubject, LensChoice
from model.atlas.relations import left_out_clause, link_counts
from model.capture import capture
from model.experiments.attribution import Attribution
from model.experiments.masked_word import MaskedWord
from model.lenses import LENSES
from model.measures.head_statistics import AttentionByKind
from model.record import ForwardRecord
from tests.app_pages.sentences.turns import Row, row, table
from tests.model import tiny

TEXT = capture(tiny.loaded(tiny.TEXT), "not great film")  # [CLS] not great film [SEP]
DIGIT = capture(tiny.loaded(tiny.DIGIT), np.zeros((8, 8), np.uint8))


def attributed(
    values: tuple[float, ...], difference: float, method: str = INTEGRATED, least: float = 1.0
) -> str:
    attribution = Attribution(
        np.array(values), output=difference, baseline_output=0.0, n_gradients=96, least=least
    )
    return attributed_answer._completeness_sentence(method, attribution)


def baseline(
    tokens: str,
    roles: str = "class word word word separator",
    answer: MaskedWord | None = None,
    record: ForwardRecord = TEXT,
) -> str:
    record = replace(record, tokens=tuple(tokens.split()), roles=tuple(roles.split()))
    return baseline_clause(record, answer)


def kinds(largest: float, key: int = 1, **shares: float) -> str:
    of = AttentionByKind(shares, ("itself", "[SEP]"), key=key, largest=largest)
    return shown_head.most_weight_sentence(of, TEXT, "its weight")


def links(*hits: bool) -> str:
    cells = [SimpleNamespace(relation="case", hits=np.array([[hit]])) for hit in hits]
    return sentence_links._hits_sentence(cells, 0, 0)


def odd_rows(*sums: float) -> str:
    pattern = np.array([[value, 0.0] for value in (*sums, 1.0)], np.float32)[None, None]
    record = SimpleNamespace(pattern=pattern, mask=np.ones(pattern.shape, bool))
    return FileSubject(file_name="", record=record, settings={}, picture=None).odd_rows_sentence  # type: ignore[arg-type]


def refusal(make: Callable[[], object]) -> str:
    with pytest.raises(ValueError) as error:  # noqa: PT011 - the row says what must stand in it
        make()
    return str(error.value)


def counts(n: int, *left_out: int) -> dict[str, np.ndarray]:
    return {"n": np.array([n]), "left_out": np.array(left_out)}


def gradient_lens() -> Any:
    return next(lens for lens in LENSES.values() if lens.needs == "gradients")


TABLE: dict[str, list[Row]] = {
    "whether an attribution is complete": [
        row("complete", lambda: attributed((1.0, 1.0), 2.0), "Complete: the sum is 2.0000"),
        row(
            "the gap prints like what is allowed",
            lambda: attributed((-1.46,), -1.461478),
            "0.00148 apart after",
            "allowed: 0.00146",
            never=("Complete:",),
        ),
        row("just complete", lambda: attributed((-1.46,), -1.461461), "Complete:", never=("Not complete",)),
        row(
            "the sums print alike",
            lambda: attributed((2.00001,), 2.0),
            "sum is 2.0000; $F$ is 2.0000 above",
            "1 × 10⁻⁵ apart",
        ),
        row(
            "F falls",
            lambda: attributed((-2.0,), -2.0),
            "$F$ minus that of the baseline is −2.0000",
            never=("above",),
        ),
        row("nothing at all", lambda: attributed((0.0,), 0.0), "Complete:", "0.0000"),
        row(
            "one gradient",
            lambda: attributed((1.0,), 2.0, GRADIENT),
            "only for a linear $F$ must they be equal",
            never=("omplete",),
        ),
        row("cosines are smaller", lambda: attributed((0.1002,), 0.1, least=0.1), "Not complete"),
    ],
    "what the baseline holds": [
        row("a class token", lambda: baseline_clause(TEXT), r"no content but that of \[CLS\]"),
        row(
            "nothing",
            lambda: baseline("a b c d e", "word word word word word"),
            "has no content",
            never=("but",),
        ),
        row(
            "padding",
            lambda: baseline("[CLS] a b [PAD] [PAD]", "class word word padding padding"),
            r"\[CLS\] and \[PAD\]",
        ),
        row(
            "the masked word",
            lambda: baseline("[CLS] [MASK] a b [SEP]", answer=MaskedWord(1, 3)),
            r"\[CLS\] and \[MASK\]",
            never=("position",),
        ),
        row(
            "one of two masks",
            lambda: baseline("[CLS] [MASK] a [MASK] [SEP]", answer=MaskedWord(3, 3)),
            r"\[MASK\] at position 3",
        ),
        row(
            "registers",
            lambda: baseline("[CLS] R1 R2 a b", "class register register patch patch", record=DIGIT),
            r"\[CLS\] and the registers",
        ),
    ],
    "what a head attends to": [
        row("exactly much", lambda: kinds(0.3, itself=0.3), "on average 30 % of its weight goes to itself"),
        row("key and kind tie", lambda: kinds(0.4, itself=0.4), "goes to itself", never=("“not”",)),
        row("nearly all", lambda: kinds(0.5, itself=0.998), "over 99 % of its weight", never=("100 %",)),
    ],
    "how many links a head follows": [
        row("all", lambda: links(True, True), "follows 2 of the 2 links of"),
        row("none", lambda: links(False, False), "follows 0 of the 2 links"),
        row("one alone", lambda: links(True), "follows 1 of the 1 link of"),
        row("none is there", lambda: links(), "follows 0 of the 0 links", never=("relation",)),
        row("one left out", lambda: sentence_links._left_out_sentence(1), "1 more has a word"),
        row("several left out", lambda: sentence_links._left_out_sentence(2), "2 more have words"),
    ],
    "links that were left out": [
        row(
            "several reasons",
            lambda: left_out_clause({"links": 7, "cut": 2, "dropped": 1}),
            "3 of ",
            " are left out: 2 with a word beyond",
            "1 with a word for which",
        ),
        row(
            "no link was read",
            lambda: refusal(lambda: link_counts(counts(0, 0, 0, 0), "mine.csv")),
            "what was read of it has none",
        ),
    ],
    "why a map is not checked": [
        row("the predicted class", lambda: str(LensChoice().why_unchecked(TEXT)), "None"),
        row(
            "another class",
            lambda: str(
                LensChoice(class_name=TEXT.class_names[int(TEXT.logits.argmin())]).why_unchecked(TEXT)
            ),
            "choose that one",
        ),
        row(
            "a masked word by gradients",
            lambda: str(LensChoice(lens=gradient_lens()).why_unchecked(TEXT, of_masked_word=True)),
            "not a word at [MASK]",
        ),
    ],
    "a record from a file": [
        row("all rows sum to 1", lambda: f"[{odd_rows(1.0)}]", "[]"),
        row("several do not", lambda: odd_rows(0.5, 2.0), "2 of 3 rows", "to 0.5 to 2"),
        row("within half precision", lambda: f"[{odd_rows(1.004)}]", "[]"),
    ],
}


@table(TABLE)
def test_it_says_what_the_numbers_say(turn):
    turn.check()
