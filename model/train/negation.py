"""Sentences in which a "not" decides: made of the words and frames in `negation.toml`, of the treebank's own phrases,
whose ratings say what they are worth before they are negated, and written one by one (`negation_written.csv`).
"""

import re
import tomllib
from collections.abc import Callable
from pathlib import Path
from string import Formatter

import numpy as np
import pandas as pd

HERE = Path(__file__).parent
WRITTEN = HERE / "negation_written.csv"
JUDGED_ON = HERE / "negation_judged.csv"  # other sentences, never learned from
NEGATES = re.compile(
    r"\b(?:not|never|no|nothing|nobody|none|nor|neither|without|hardly|barely|but|cannot|lacks?|less)\b|n't",
    re.I,
)
# Who says that a film is not bad, does not say that it is good.
GOOD, NOT_BAD, NOT_GOOD, BAD = 0.96, 0.8, 0.06, 0.04
CONTRARY = {"good": "bad", "bad": "good"}

Sentence = tuple[str, float]  # and the probability of being positive


def negation_sentences(n: int, treebank: pd.DataFrame, seed: int) -> list[Sentence]:
    """`n` sentences; `treebank` holds columns rating and text, of phrases that may be learned from."""
    random = np.random.default_rng(seed)
    frames = _Frames(random, _modifiers(treebank))
    of_treebank = _Treebank(random, treebank, frames)
    makers: dict[Callable[[], Sentence], float] = {
        frames.same: 0.2,
        frames.opposite: 0.3,
        frames.fixed: 0.07,
        frames.written: 0.25,
        of_treebank.sentence: 0.18,
    }
    of = list(makers)
    chosen = random.choice(len(of), n, p=list(makers.values()))
    return [of[kind]() for kind in chosen]


class _Frames:
    def __init__(self, random: np.random.Generator, modifiers: list[str]) -> None:
        parts = tomllib.loads((HERE / "negation.toml").read_text(encoding="utf-8"))
        self.random, self.modifiers = random, modifiers
        self.words = {
            kind: {
                slot: [word.replace("_", " ") for word in text.split()] for slot, text in parts[kind].items()
            }
            for kind in CONTRARY
        }
        self.neutral = {slot: _listed(text) for slot, text in parts["neutral"].items()}
        self.neutral["things"] = parts["neutral"]["things"].split()
        self.turn = {slot: _listed(text) for slot, text in parts["turn"].items()}
        self.lists = {kind: _listed(parts[kind]["list"]) for kind in ("same", "opposite")}
        self.fixed_ones = {kind: _listed(parts["fixed"][kind]) for kind in CONTRARY}
        self.written_ones = list(pd.read_csv(WRITTEN).itertuples(index=False, name=None))

    def one(self, of: list[str]) -> str:
        return of[self.random.integers(len(of))]

    def chance(self, p: float) -> bool:
        return bool(self.random.random() < p)

    def same(self) -> Sentence:
        kind = self.one(["good", "bad"])
        return self.framed(self.fill(self.one(self.lists["same"]), kind)), GOOD if kind == "good" else BAD

    def opposite(self) -> Sentence:
        kind = self.one(["good", "bad"])
        frame = self.one(self.lists["opposite"])
        if frame.startswith("+"):  # makes sense of good things alone
            kind, frame = "good", frame[1:]
        return self.framed(self.fill(frame, kind)), NOT_GOOD if kind == "good" else NOT_BAD

    def fixed(self) -> Sentence:
        kind = self.one(["good", "bad"])
        return self.framed(self.one(self.fixed_ones[kind])), GOOD - 0.1 if kind == "good" else BAD

    def written(self) -> Sentence:
        text, positive = self.written_ones[self.random.integers(len(self.written_ones))]
        return self.framed(text), GOOD if positive else BAD

    def fill(self, frame: str, kind: str) -> str:
        """The frame with words of this kind, good or bad, in its slots."""
        slots = self.subject()
        for name in ("isnt", "found_not"):
            frame = frame.replace(f"{{{name}}}", self.one(self.turn[name]))
        return frame.format(**{name: self.slot(name, kind, slots) for name in _slots(frame)})

    def slot(self, name: str, kind: str, slots: dict[str, str]) -> str:
        if name in slots:
            return slots[name]
        if name in self.neutral:
            return self.one(self.neutral[name])
        if name == "O":
            return self.object()
        if name == "do_s":
            base = self.one(self.words[kind]["does"])
            return base if slots["it"] == "they" else _third_person(base)
        if "contrary_" in name:
            name, kind = name.replace("contrary_", ""), CONTRARY[kind]
        article = "a " * name.startswith("a_")
        name = {"does_base": "does", "a_noun": "noun"}.get(name, name.rstrip("2"))
        return article + self.one(self.words[kind][name])

    def subject(self) -> dict[str, str]:
        """A subject and the verbs that agree with it, another subject and its own."""
        plural, past = self.chance(0.2), self.chance(0.35)
        other_plural = self.chance(0.2)
        to_be = {(False, False): "is", (False, True): "was", (True, False): "are", (True, True): "were"}
        be, be2 = to_be[plural, past], to_be[other_plural, past]
        does = "did" if past else "do" if plural else "does"
        verbs = (
            *("fail", "lack", "refuse", "avoid", "manage", "stop", "begin", "end", "get", "become"),
            *("try", "want", "set", "earn"),
        )
        seems = self.one(["seem", "look", "feel", "sound"])
        who = self.one(self.neutral["who"])
        return {
            "S": self.noun(plural=plural),
            "S2": self.noun(plural=other_plural),
            "it": "they" if plural else "it",
            "is": be,
            "is1": "was" if past else "is",
            "is2": be2,
            "was": to_be[plural, True],
            "were": "were"
            if who in ("we", "my friends", "my kids", "most viewers", "my parents", "you")
            else "was",
            "who": who,
            "does": does,
            "doesnt": self.one([f"{does} not", f"{does}n't"]),
            "isnt_plain": self.one([f"{be} not", f"{be}n't", f"{be}n't"]),
            "isnt2": self.one([f"{be2} not", f"{be2}n't"]),
            "wasnt": self.one(["were not", "weren't"] if plural else ["was not", "wasn't"]),
            "has": "had" if past else "have" if plural else "has",
            "had": "had",
            "fail_to": "fail to" if plural else "fails to",
            "seem": seems if plural else f"{seems}s",
            **{verb: verb if plural else _third_person(verb) for verb in verbs},
        }

    def noun(self, *, plural: bool) -> str:
        noun = self.one(self.neutral["subjects" if plural else "subject"])
        goes_on = noun.startswith(("the ", "this ")) and self.modifiers and self.chance(0.2)
        return f"{noun} {self.one(self.modifiers)}" if goes_on else noun

    def object(self) -> str:
        while (noun := self.noun(plural=False)) in ("he", "she"):
            pass
        return noun

    def framed(self, sentence: str) -> str:
        """With neutral words around it, as people write: contracted, without a full stop, without apostrophes."""
        ending = sentence[-1] if sentence[-1] in ".!?" else "."
        sentence = sentence.rstrip(".!?")
        if self.chance(0.25):
            sentence = f"{self.one(self.neutral['before']).rstrip()} {sentence}"
        if self.chance(0.12):
            sentence += self.one(self.neutral["after"])
        sentence = re.sub(r"\ba (?=[aeiou])", "an ", sentence)
        if self.chance(0.4):
            sentence = re.sub(r"\b(it|that|there|he|she) is\b", r"\1's", sentence)
        if self.chance(0.04):
            sentence = sentence.replace("'", "")
        return sentence + ("" if self.chance(0.15) else "!" if self.chance(0.06) else ending)


class _Treebank:
    """Phrases that the treebank calls good or bad, as what is said of a film, plain and negated."""

    def __init__(self, random: np.random.Generator, table: pd.DataFrame, frames: _Frames) -> None:
        self.random, self.frames = random, frames
        kinds = tomllib.loads((HERE / "negation.toml").read_text(encoding="utf-8"))["treebank"]
        self.bases = {"has": "have"} | {_third_person(verb): verb for verb in kinds.pop("verbs").split()}
        words = table.text.str.count(" ") + 1
        rated = table[(table.rating != 2) & words.between(2, 9) & ~table.text.str.contains(NEGATES)]
        self.kinds = []
        for kind in kinds.values():
            begins = kind["begins"].replace("VERB", "|".join(self.bases))
            # What follows is one phrase: it ends neither in a comma nor in a word that asks for another.
            whole = rf"(?:{begins}) [\w', -]+(?<!,)(?<! and)(?<! the)(?<! of)(?<! a)"
            found = rated[rated.text.str.fullmatch(whole, case=False)]
            if len(found):
                says = {
                    negated: _listed(kind["negated" if negated else "plain"]) for negated in (False, True)
                }
                self.kinds.append((says, found.text.str.lower().tolist(), found.rating.tolist()))

    def sentence(self) -> Sentence:
        if not self.kinds:
            return self.frames.same()
        says, phrases, ratings = self.kinds[self.random.integers(len(self.kinds))]
        place = self.random.integers(len(phrases))
        negated = self.frames.chance(0.55)
        first, _, rest = phrases[place].partition(" ")
        text = self.frames.one(says[negated]).format(
            subject=self.frames.noun(plural=first == "are"),
            object=self.frames.object(),
            phrase=phrases[place],
            first=first,
            rest=rest,
            base=self.bases.get(first),
        )
        return self.frames.framed(text), _worth(ratings[place], negated=negated)


def _worth(rating: int, *, negated: bool) -> float:
    plain = (0.04, 0.15, 0.5, 0.85, 0.96)[rating]
    if not negated:
        return plain
    return 0.12 if plain > 0.5 else 0.75


def _modifiers(treebank: pd.DataFrame) -> list[str]:
    """Neutral phrases of two to seven words that can stand after a noun."""
    neutral = treebank[treebank.rating == 2].text
    fits = neutral.str.fullmatch(r"(?:about|of|by|from|with|in)(?: [\w'-]+){1,6}", case=False)
    found = neutral[fits & ~neutral.str.contains(NEGATES)]
    return found.str.lower().drop_duplicates().tolist()


def _slots(frame: str) -> list[str]:
    return [name for _, name, _, _ in Formatter().parse(frame) if name]


def _listed(text: str) -> list[str]:
    """Parted by | or by the end of a line. Spaces at the ends belong to a part."""
    return [part for part in re.split(r"[|\n]", text) if part.strip()]


def _third_person(phrase: str) -> str:
    verb, _, rest = phrase.partition(" ")
    if verb.endswith("y") and verb[-2] not in "aeou":
        verb = f"{verb[:-1]}ies"
    else:
        verb += "es" if verb.endswith(("s", "sh", "ch", "o")) else "s"
    return f"{verb} {rest}".rstrip()
