"""Generated training sentences in which a negation such as "not" decides the sentiment.

They are generated from templates and words (`negation.toml`), from rated phrases of the Stanford Sentiment Treebank, and
from sentences written by hand (`negation_written.csv`).
"""

import re
import tomllib
from collections.abc import Callable
from pathlib import Path
from string import Formatter

import numpy as np
import pandas as pd

from ..inputs.digits import EXAMPLES

HERE = Path(__file__).parent
WRITTEN = HERE / "negation_written.csv"
HELD_OUT_SENTENCES = EXAMPLES / "negation_judged.csv"  # for evaluation only, never learned from
NEGATION = re.compile(
    r"\b(?:not|never|no|nothing|nobody|none|nor|neither|without|hardly|barely|but|cannot|lacks?|less)\b|n't",
    re.I,
)
# Probabilities of being positive. Who says that a film is not bad, does not say that it is good.
GOOD, NOT_BAD, NOT_GOOD, BAD = 0.96, 0.8, 0.06, 0.04
OPPOSITE = {"good": "bad", "bad": "good"}

Sentence = tuple[str, float]  # text, and probability of being positive


def negation_sentences(n: int, treebank: pd.DataFrame, seed: int) -> list[Sentence]:
    """`n` random sentences, each with its probability of being positive.

    `treebank` is a table of the phrases that may be used, with the columns rating (0 to 4) and text.
    """
    random = np.random.default_rng(seed)
    templates = _Templates(random, _neutral_phrases(treebank))
    probability_by_generator: dict[Callable[[], Sentence], float] = {
        templates.same_sentiment: 0.2,
        templates.opposite_sentiment: 0.3,
        templates.fixed_sentence: 0.07,
        templates.written_sentence: 0.25,
        _RatedPhrases(random, treebank, templates).sentence: 0.18,
    }
    functions = list(probability_by_generator)
    indices = random.choice(len(functions), n, p=list(probability_by_generator.values()))
    return [functions[index]() for index in indices]


class _Templates:
    """Generates random sentences from the templates and words of `negation.toml`.

    `kind`, "good" or "bad", is the sentiment of the words that fill a template.
    """

    def __init__(self, random: np.random.Generator, neutral_phrases: list[str]) -> None:
        tables = _read_tables()
        self.random, self.neutral_phrases = random, neutral_phrases
        self.words = {
            kind: {
                slot: [word.replace("_", " ") for word in text.split()] for slot, text in tables[kind].items()
            }
            for kind in OPPOSITE
        }
        self.neutral = {slot: split_options(text) for slot, text in tables["neutral"].items()}
        self.neutral["things"] = tables["neutral"]["things"].split()
        self.negations = {slot: split_options(text) for slot, text in tables["turn"].items()}
        self.templates = {name: split_options(tables[name]["list"]) for name in ("same", "opposite")}
        self.fixed_sentences = {kind: split_options(tables["fixed"][kind]) for kind in OPPOSITE}
        self.written_sentences = list(pd.read_csv(WRITTEN).itertuples(index=False, name=None))

    def choose(self, options: list[str]) -> str:
        """One of the options at random."""
        return options[self.random.integers(len(options))]

    def draw_bool(self, p: float) -> bool:
        """True with probability `p`, drawn at random."""
        return bool(self.random.random() < p)

    def same_sentiment(self) -> Sentence:
        """A random sentence that negates nothing: positive with good words, negative with bad ones."""
        kind = self.choose(["good", "bad"])
        text = self.fill_slots(self.choose(self.templates["same"]), kind)
        return self.random_variant(text), GOOD if kind == "good" else BAD

    def opposite_sentiment(self) -> Sentence:
        """A random sentence whose sentiment is the opposite of that of its words."""
        kind = self.choose(["good", "bad"])
        template = self.choose(self.templates["opposite"])
        if template.startswith("+"):  # makes sense with good words only
            kind, template = "good", template[1:]
        return self.random_variant(self.fill_slots(template, kind)), NOT_GOOD if kind == "good" else NOT_BAD

    def fixed_sentence(self) -> Sentence:
        """A random sentence of those in `negation.toml` that have no slots."""
        kind = self.choose(["good", "bad"])
        return self.random_variant(
            self.choose(self.fixed_sentences[kind])
        ), GOOD - 0.1 if kind == "good" else BAD

    def written_sentence(self) -> Sentence:
        """A random sentence of `negation_written.csv`."""
        text, positive = self.written_sentences[self.random.integers(len(self.written_sentences))]
        return self.random_variant(text), GOOD if positive else BAD

    def fill_slots(self, template: str, kind: str) -> str:
        """The template with a random word in each `{slot}`; words of opinion are "positive" or "negative", as `kind` says."""
        subject = self.subject_words()
        for name in ("isnt", "found_not"):
            template = template.replace(f"{{{name}}}", self.choose(self.negations[name]))
        slots = [name for _, name, _, _ in Formatter().parse(template) if name]
        return template.format(**{name: self.words_for_slot(name, kind, subject) for name in slots})

    def words_for_slot(self, name: str, kind: str, subject: dict[str, str]) -> str:
        """Words for the slot `name`, of the sentiment `kind`; `subject` is the result of `subject_words`."""
        if name in subject:
            return subject[name]
        if name in self.neutral:
            return self.choose(self.neutral[name])
        if name == "O":
            return self.object_noun()
        if name == "do_s":
            base = self.choose(self.words[kind]["does"])
            return base if subject["it"] == "they" else _third_person(base)
        if "contrary_" in name:
            name, kind = name.replace("contrary_", ""), OPPOSITE[kind]
        article = "a " * name.startswith("a_")
        name = {"does_base": "does", "a_noun": "noun"}.get(name, name.rstrip("2"))
        return article + self.choose(self.words[kind][name])

    def subject_words(self) -> dict[str, str]:
        """Words for the slots of two random subjects, and of the verbs that agree with them, by slot."""
        plural, past = self.draw_bool(0.2), self.draw_bool(0.35)
        other_plural = self.draw_bool(0.2)
        to_be = {(False, False): "is", (False, True): "was", (True, False): "are", (True, True): "were"}
        be, other_be = to_be[plural, past], to_be[other_plural, past]
        does = "did" if past else "do" if plural else "does"
        verbs = "fail lack refuse avoid manage stop begin end get become try want set earn"
        seems = self.choose(["seem", "look", "feel", "sound"])
        who = self.choose(self.neutral["who"])
        who_is_plural = who in ("we", "my friends", "my kids", "most viewers", "my parents", "you")
        return {
            "S": self.subject_noun(plural=plural),
            "S2": self.subject_noun(plural=other_plural),
            "it": "they" if plural else "it",
            "is": be,
            "is1": "was" if past else "is",
            "is2": other_be,
            "was": to_be[plural, True],
            "were": to_be[who_is_plural, True],
            "who": who,
            "does": does,
            "doesnt": self.choose([f"{does} not", f"{does}n't"]),
            "isnt_plain": self.choose([f"{be} not", f"{be}n't", f"{be}n't"]),
            "isnt2": self.choose([f"{other_be} not", f"{other_be}n't"]),
            "wasnt": self.choose(["were not", "weren't"] if plural else ["was not", "wasn't"]),
            "has": "had" if past else "have" if plural else "has",
            "had": "had",
            "fail_to": "fail to" if plural else "fails to",
            "seem": seems if plural else f"{seems}s",
            **{verb: verb if plural else _third_person(verb) for verb in verbs.split()},
        }

    def subject_noun(self, *, plural: bool) -> str:
        """A noun for a subject, sometimes followed by a neutral phrase such as "about a dog"."""
        noun = self.choose(self.neutral["subjects" if plural else "subject"])
        if noun.startswith(("the ", "this ")) and self.neutral_phrases and self.draw_bool(0.2):
            return f"{noun} {self.choose(self.neutral_phrases)}"
        return noun

    def object_noun(self) -> str:
        """A singular noun that can be the object of a sentence."""
        while (noun := self.subject_noun(plural=False)) in ("he", "she"):
            pass
        return noun

    def random_variant(self, sentence: str) -> str:
        """A random variant of the sentence.

        Neutral words may be put before or after it, "it is" contracted to "it's", apostrophes left out ("dont"), and the
        full stop dropped or replaced.
        """
        ending = sentence[-1] if sentence[-1] in ".!?" else "."
        sentence = sentence.rstrip(".!?")
        if self.draw_bool(0.25):
            sentence = f"{self.choose(self.neutral['before']).rstrip()} {sentence}"
        if self.draw_bool(0.12):
            sentence += self.choose(self.neutral["after"])
        sentence = re.sub(r"\ba (?=[aeiou])", "an ", sentence)
        if self.draw_bool(0.4):
            sentence = re.sub(r"\b(it|that|there|he|she) is\b", r"\1's", sentence)
        if self.draw_bool(0.04):
            sentence = sentence.replace("'", "")
        return sentence + ("" if self.draw_bool(0.15) else "!" if self.draw_bool(0.06) else ending)


class _RatedPhrases:
    """Generates random sentences around good and bad phrases of the treebank, about half of them negated."""

    def __init__(self, random: np.random.Generator, treebank: pd.DataFrame, templates: _Templates) -> None:
        self.random, self.templates = random, templates
        groups = _read_tables()["treebank"]
        self.base_forms = {"has": "have"} | {
            _third_person(verb): verb for verb in groups.pop("verbs").split()
        }
        n_words = treebank.text.str.count(" ") + 1
        rated_phrases = treebank[
            (treebank.rating != 2) & n_words.between(2, 9) & ~treebank.text.str.contains(NEGATION)
        ]
        self.groups = []
        for group in groups.values():
            begins = group["begins"].replace("VERB", "|".join(self.base_forms))
            # What follows is one phrase: it ends neither in a comma nor in a word that asks for another.
            whole_pattern = rf"(?:{begins}) [\w', -]+(?<!,)(?<! and)(?<! the)(?<! of)(?<! a)"
            phrases = rated_phrases[rated_phrases.text.str.fullmatch(whole_pattern, case=False)]
            if len(phrases):
                plain, negated = (split_options(group[name]) for name in ("plain", "negated"))
                self.groups.append(
                    (plain, negated, phrases.text.str.lower().tolist(), phrases.rating.tolist())
                )

    def sentence(self) -> Sentence:
        """A random sentence around a phrase, plain or negated; a sentence from the templates if there is no suitable phrase."""
        if not self.groups:
            return self.templates.same_sentiment()
        plain, negated, phrases, ratings = self.groups[self.random.integers(len(self.groups))]
        index = self.random.integers(len(phrases))
        is_negated = self.templates.draw_bool(0.55)
        probability = (0.04, 0.15, 0.5, 0.85, 0.96)[ratings[index]]
        if is_negated:
            probability = 0.12 if probability > 0.5 else 0.75
        first_word, _, other_words = phrases[index].partition(" ")
        text = self.templates.choose(negated if is_negated else plain).format(
            subject=self.templates.subject_noun(plural=first_word == "are"),
            object=self.templates.object_noun(),
            phrase=phrases[index],
            first=first_word,
            rest=other_words,
            base=self.base_forms.get(first_word),
        )
        return self.templates.random_variant(text), probability


def split_options(text: str) -> list[str]:
    """The options listed in a text, separated by | or line ends; spaces at the ends of an option are kept."""
    return [option for option in re.split(r"[|\n]", text) if option.strip()]


def _read_tables() -> dict:
    return tomllib.loads((HERE / "negation.toml").read_text(encoding="utf-8"))


def _neutral_phrases(treebank: pd.DataFrame) -> list[str]:
    """Neutral phrases of two to seven words that can follow a noun."""
    neutral = treebank[treebank.rating == 2].text
    fits = neutral.str.fullmatch(r"(?:about|of|by|from|with|in)(?: [\w'-]+){1,6}", case=False)
    return neutral[fits & ~neutral.str.contains(NEGATION)].str.lower().drop_duplicates().tolist()


def _third_person(phrase: str) -> str:
    """The phrase with its first word, a verb, in the third person singular."""
    verb, _, other_words = phrase.partition(" ")
    if verb.endswith("y") and verb[-2] not in "aeou":
        verb = f"{verb[:-1]}ies"
    else:
        verb += "es" if verb.endswith(("s", "sh", "ch", "o")) else "s"
    return f"{verb} {other_words}".rstrip()
