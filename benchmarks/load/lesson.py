"""A class: each pupil has a window on one page, with a word in its text that no other window has, and changes the
page's controls.

The words are whole entries of the encoder's vocabulary and occur nowhere else in the app, so that a word that is sent
to another window, even as a token of a figure, shows a leak.
"""

import asyncio
import random
import re
import time
from collections.abc import Awaitable, Callable, Iterator, Mapping
from dataclasses import dataclass, field
from functools import partial

from tokenizers import Tokenizer

from benchmarks.load.browser_window import LOST, Answer, NoAnswerError, Window
from benchmarks.load.servers import ROOT

TEXT, DIGIT = {"checkpoint": "imdb-pre-ln"}, {"kind": "Digit", "checkpoint": "mnist-pre-ln"}
AWAY = "to another page and back"
EXTRA_SHARE = 0.25  # of a window's actions
MAX_RELOADS = 5  # of a page that does not open


# An action besides changing controls; its answer is None if the page has nothing for it.
Extra = Callable[["Pupil", random.Random], Awaitable[Answer | None]]


@dataclass(frozen=True)
class Scenario:
    """A page, the query it is opened with, and the keys of the controls that a pupil changes there."""

    page: str
    query: dict[str, str]
    controls: tuple[str, ...]
    shows_text: bool = True

    @property
    def title(self) -> str:
        kind = ", digit" if self.query.get("kind") == "Digit" else ""
        part = next(
            (f", {value}" for key, value in self.query.items() if key not in ("kind", "checkpoint")), ""
        )
        return f"{self.page or 'attention'}{kind}{part}"


HEADS = ("head", "query", "layer")
# The default page has no name in its address. Windows with no control to change go to another page and back.
SCENARIOS = (
    Scenario("", TEXT, (*HEADS, "hide_special")),
    Scenario("masks", TEXT, (*HEADS, "masks_kind")),
    Scenario("inside_a_head", TEXT, (*HEADS, "inside_key")),
    Scenario("", DIGIT, HEADS, shows_text=False),
    Scenario("compare", TEXT, (*HEADS, "compare_view")),
    Scenario("heads", TEXT, ("head", "layer", "heads_role")),
    Scenario("positions", TEXT, ("positions_t", "positions_length"), shows_text=False),
    Scenario("", TEXT, HEADS),
    Scenario("training", DIGIT, ("training_probe", "training_curves"), shows_text=False),
    Scenario("cost", {}, ("cost_n_layers", "cost_n_heads"), shows_text=False),
    Scenario("masks", TEXT | {"masks_part": "What follows"}, HEADS),
    Scenario("positions", TEXT | {"positions": "Experiments"}, HEADS),
    Scenario("theory", {}, ("theory_over", "theory_part"), shows_text=False),
    Scenario("inside_a_head", TEXT | {"inside": "Why √d_k"}, HEADS),
    Scenario("compare", TEXT | {"compare_part": "Stream"}, HEADS),
    Scenario("reading", {"reading_part": "Papers"}, ("reading_paper", "reading_place"), shows_text=False),
    Scenario("norm_placement", {}, (), shows_text=False),
    Scenario("your_own", {}, (), shows_text=False),
    Scenario("many_inputs", {}, (), shows_text=False),
)


def words(n: int) -> list[str]:
    """`n` rare words that occur nowhere in the app's source. Raises ValueError if the vocabulary has fewer."""
    tokenizer = Tokenizer.from_file(str(ROOT / "checkpoints" / "imdb-pre-ln" / "tokenizer.json"))
    kinds = (".py", ".js", ".css", ".json", ".csv", ".toml")
    folders = (ROOT / name for name in ("app_pages", "viz", "model", "examples"))
    paths = [path for folder in folders for path in folder.rglob("*") if path.suffix in kinds]
    used = set(re.findall(r"\w+", "\n".join(path.read_text(encoding="utf-8").lower() for path in paths)))
    rarest_first = sorted(tokenizer.get_vocab().items(), key=lambda entry: -entry[1])
    words = [word for word, _ in rarest_first if re.fullmatch(r"[a-z]{8,}", word) and word not in used]
    if len(words) < n:
        raise ValueError(f"{n} words are needed, and the vocabulary has {len(words)}")
    return words[:n]


@dataclass
class Traffic:
    """Messages that all windows received, and words of other windows in them."""

    messages: int = 0
    bytes: int = 0
    leaks: list[str] = field(default_factory=list)


@dataclass
class Change:
    """One change that a pupil made: its scenario, the action, when it began, and the seconds until it was answered."""

    scenario: str
    action: str
    began: float
    seconds: float


class Pupil:
    """One window with its random actions, its changes and its errors."""

    def __init__(
        self, server: str, scenario: Scenario, word: str, all_words: re.Pattern, traffic: Traffic, draw: random.Random,
        extras: Mapping[str, Extra],
    ) -> None:  # fmt: skip
        self.scenario, self.word, self._all_words = scenario, word.encode(), all_words
        self._traffic, self._draw = traffic, draw
        text = (
            {"text": f"The {word} film is not bad at all."}
            if scenario.query.get("checkpoint") == "imdb-pre-ln"
            else {}
        )
        self._extras, self._interrupted = extras, ""  # the name of an extra that a lost process cut off
        self.window = Window(server, scenario.page, scenario.query | text, on_message=self._on_message)
        self.changes: list[Change] = []
        self.errors: list[str] = []
        self.opened: list[float] = []
        self.alerts: list[str] = []  # on the page when it was opened last
        self.saw_own_word = False
        self.lost_at: list[float] = []  # times of lost connections
        self.second_tries = self.states_lost = 0

    async def open(self) -> bool:
        """Opens the window; returns whether that succeeded."""
        try:
            answer = await self.window.open()
        except (*LOST, NoAnswerError):
            return False
        self.alerts = [alert.body for alert in answer.of("alert")]
        self.opened.append(answer.seconds)
        self._record_exceptions(answer)
        return True

    async def work(self, period: float, until: float) -> None:
        """Changes something every `period` seconds, or later if the answer takes longer, until the time `until`."""
        due = time.monotonic() + period * self._draw.random()
        while due < until:
            await asyncio.sleep(max(0, due - time.monotonic()))
            began = time.monotonic()
            action, act = self._next()
            page = self.window.page
            due = max(began + period, due)
            try:
                answer = await act()
            except LOST:
                await self._reload(page)
                self._interrupted = action if action in self._extras else ""
                continue
            except NoAnswerError as error:
                self.errors.append(f"{self.scenario.title}, {action}: {error}")
                await self._reload(page)
                continue
            due = max(due, time.monotonic())
            if answer is not None:
                self.changes.append(Change(self.scenario.title, action, began, answer.seconds))
                self._record_exceptions(answer)

    def _next(self) -> tuple[str, Callable[[], Awaitable[Answer | None]]]:
        """The name of the next action and the function that does it; an extra action that a lost process interrupted
        is repeated.
        """
        window, draw = self.window, self._draw
        extra, self._interrupted = self._interrupted, ""
        if not extra and self._extras and draw.random() < EXTRA_SHARE:
            extra = draw.choice(list(self._extras))
        if extra:
            return extra, partial(self._extras[extra], self, draw)
        for key in draw.sample(self.scenario.controls, len(self.scenario.controls)):
            if (
                key in window.widgets
                and (value := window.widgets[key].other(window.values.get(key), draw)) is not None
            ):
                return key, partial(window.change, key, value)
        return AWAY, self._away

    async def _away(self) -> Answer:
        """Goes to another page and back."""
        return await self.window.go(
            self.scenario.page if self.window.page != self.scenario.page else "reading"
        )

    async def _reload(self, page: str) -> None:
        """Opens the same address in a new session, which must show the same values.

        They are not compared if the window was on its way from `page` to another page.
        """
        before, query = dict(self.window.values), dict(self.window.query)
        self.lost_at.append(time.monotonic())
        for _ in range(MAX_RELOADS):
            if await self.open():
                break
            self.second_tries += 1
            await asyncio.sleep(1)
        else:
            self.errors.append(f"{self.scenario.title} did not open again")
            return
        lost = {
            key: (value, self.window.values.get(key))
            for key, value in before.items()
            if key in query
            and self.window.values.get(key) != value
            and (key not in self.window.widgets or self.window.widgets[key].offers(value))
        }
        if lost and self.window.page == page:
            self.states_lost += 1
            self.errors.append(
                f"{self.scenario.title}: after a reload another state, {lost}; alerts: {self.alerts}"
            )

    def _record_exceptions(self, answer: Answer) -> None:
        self.errors += [f"{self.scenario.title}: {exception}" for exception in answer.exceptions]

    def words_of_others(self, content: bytes) -> list[str]:
        """Words of other windows in bytes that were sent to this one."""
        return [word.decode() for word in self._all_words.findall(content) if word != self.word]

    def _on_message(self, content: bytes) -> None:
        self._traffic.messages += 1
        self._traffic.bytes += len(content)
        self.saw_own_word = self.saw_own_word or self.word in content
        self._traffic.leaks += [
            f"{self.scenario.title} was sent {word}" for word in self.words_of_others(content)
        ]


def make_pupils(
    n: int, server: str, seed: int, extras: Mapping[str, Extra] | None = None
) -> tuple[list[Pupil], Traffic]:
    """`n` pupils, whose scenarios take turns, and the traffic of their windows. `extras` are further actions, by
    name.
    """
    traffic, own_words = Traffic(), words(n)
    all_words = re.compile("|".join(own_words).encode())
    return [
        Pupil(server, scenario, word, all_words, traffic, random.Random(f"{seed} {word}"), extras or {})
        for scenario, word in zip(_scenarios(n), own_words, strict=True)
    ], traffic


def _scenarios(n: int) -> Iterator[Scenario]:
    """The scenarios of `n` pupils, taking turns."""
    for number in range(n):
        yield SCENARIOS[number % len(SCENARIOS)]
