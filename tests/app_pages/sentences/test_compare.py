"""What is said of two encoders or two inputs: sentences against numbers."""

import math
from types import SimpleNamespace
from typing import Any

import numpy as np

from app_pages.compare import pairing, representations, sides, stream, token_knock_out
from app_pages.subject.answer import ClassAnswer
from app_pages.toolkit.expression import named
from model.measures.head_matching import Pairing
from tests.app_pages.sentences.turns import Row, row, table


def paired(matrix: list[list[float]], partners: list[int], head: tuple[int, int]) -> str:
    n = len(partners)
    side = Pairing(
        shapes=((1, n), (1, n)), partners=np.array(partners), matched=True, matrix=np.array(matrix)
    )
    return pairing._distance_sentence(side, head, None)


def last_stage(gap: float, *, has_norm: bool = True) -> str:
    record = SimpleNamespace(
        logits_by_layer=np.zeros((2, 2)), logits=np.full(2, gap), config=SimpleNamespace(final_norm=has_norm)
    )
    return stream._last_stage_sentence(SimpleNamespace(record=record))


def rule(first: tuple[int, int], second: tuple[int, int], compared: str) -> str:
    """The rule by which sides are compared by words, from how many of each side's words have a counterpart and how many do not."""
    return sides.rule_sentence(word_side(*first), word_side(*second), compared)


def word_side(matched: int, unmatched: int) -> Any:
    tokens = tuple(f"w{index}" for index in range(matched + unmatched))
    aligned = SimpleNamespace(
        matched=tuple(range(matched)), unmatched=tuple(range(matched, matched + unmatched))
    )
    return SimpleNamespace(words=aligned, compared_record=SimpleNamespace(tokens=tokens), title="mine")


def knocked_out(before: tuple[float, float], *after: tuple[float, float]) -> str:
    """What is said of the answers without one token after the other, of an encoder that chooses good."""
    probabilities = np.array(before, np.float32)
    record = SimpleNamespace(
        class_names=("bad", "good"),
        probabilities=probabilities,
        logits=np.log(np.array(before)),
        predicted_class=1,
    )
    compared = SimpleNamespace(tokens=("a", "b"), units="tokens")
    side = SimpleNamespace(title="mine", record=record, words=None, is_text=True, compared_record=compared)
    answer, answers = ClassAnswer.of(record, 1), np.log(np.array(after))
    changes = answer.changes(answers)
    falls = named("falls", -changes)
    result = token_knock_out.Changes(side, "keys", answer, range(len(after)), answers, changes, falls)
    return token_knock_out.largest_change_sentence(result)


TABLE: dict[str, list[Row]] = {
    "the distance of a pair of heads": [
        row(
            "the furthest",
            lambda: paired([[0.3, 1], [1, 0.1]], [0, 1], (0, 0)),
            "Further apart: 0 of 2 pairs",
        ),
        row("one is further", lambda: paired([[0.3, 1], [1, 0.1]], [0, 1], (0, 1)), "Further apart: 1 of 2"),
        row("a tie", lambda: paired([[0.3, 1], [1, 0.3]], [0, 1], (0, 0)), "Further apart: 0 of 2"),
        row(
            "a head without a partner",
            lambda: paired([[0.3, 1], [1, 0.1]], [0, -1], (0, 0)),
            "Further apart: 0 of 1 pairs",
        ),
    ],
    "two tokenizers, compared by words": [
        row(
            "all correspond",
            lambda: rule((3, 0), (3, 0), sides.WEIGHTS),
            "3 words and special tokens.",
            never=("without",),
        ),
        row(
            "weights",
            lambda: rule((3, 1), (3, 0), sides.WEIGHTS),
            "1 without a counterpart",
            "for distances of heads their weights are added up as one more key",
            never=("left out of what is compared",),
        ),
        row("states", lambda: rule((3, 1), (3, 0), sides.STATES), "left out of what is compared"),
        row(
            "knocked out",
            lambda: rule((3, 1), (3, 2), sides.KNOCKED_OUT),
            "3 without a counterpart, knocked out on their side alone",
        ),
        row("entropies", lambda: rule((3, 1), (3, 2), sides.ENTROPIES), "part of the entropy on their own"),
        row("one corresponds", lambda: rule((1, 0), (1, 0), sides.STATES), "one word or special token."),
    ],
    "whether the last stage gives the logits": [
        row("equal", lambda: last_stage(0.0), "Checked: through the final norm", "deviation 0)"),
        row("rounding", lambda: last_stage(9e-5), "Checked"),
        row("not equal", lambda: last_stage(2e-4), "does not give the true logits"),
        row("without a norm", lambda: last_stage(0.0, has_norm=False), "Checked: no final norm"),
    ],
    "what chance makes of CKA": [
        row("measured", lambda: representations.chance_sentence(0.05), "is 0.05: that much is chance"),
        row(
            "nothing varies",
            lambda: representations.chance_sentence(math.nan),
            "cannot be measured",
            never=("nan",),
        ),
    ],
    "the scales of two sides": [
        row(
            "one quantity",
            lambda: token_knock_out.quantity_sentences({"log P": 0.5}, {}),
            "Both scales reach to 0.5.",
        ),
        row(
            "two quantities",
            lambda: token_knock_out.quantity_sentences(
                {"log P": 0.5, "the log-odds": 2.0}, {"log P": "mine", "the log-odds": "yours"}
            ),
            "in nats. The scale reaches to 0.5. yours: by how much the log-odds",
            "cannot be converted",
        ),
    ],
    "the token on which the answer depends most": [
        row(
            "one changes the answer",
            lambda: knocked_out((0.1, 0.9), (0.6, 0.4), (0.2, 0.8)),
            "P(good) is 90.0 %; without `a` (position 0) it is 40.0 % (−2.60 in log-odds), the largest change. Hidden alone, 1 of 2 tokens change the answer.",
        ),
        row(
            "saturated",
            lambda: knocked_out((1e-9, 1.0), (1e-6, 1.0), (1e-9, 1.0)),
            "P(good) is over 99.9 %; without `a` (position 0) it is over 99.9 %",
            "−6.91 in log-odds",
            never=("100.00",),
        ),
    ],
}


@table(TABLE)
def test_it_says_what_the_numbers_say(turn):
    turn.check()
