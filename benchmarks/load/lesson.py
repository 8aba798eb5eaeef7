"""What a class does: each student is on one page, with a word in the text that no other has, and changes its controls.

The words are whole entries of the encoder's vocabulary and occur nowhere else in the app, so one that arrives at somebody
else's window, as a token of a figure too, has leaked.
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
EXTRA_SHARE = 0.25  # of what a window does
PATIENCE = 5  # how often somebody reloads a page that does not open


# What somebody does besides changing controls; None where the page has nothing for it.
Extra = Callable[["Pupil", random.Random], Awaitable[Answer | None]]


@dataclass(frozen=True)
class Place:
    """A page, with the address it is opened with, and the controls that somebody there uses, by their key."""

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
# The default page has no name in its address. Whoever reads goes to other pages, where there is nothing to change.
PLACES = (
    Place("", TEXT, (*HEADS, "hide_special")),
    Place("masks", TEXT, (*HEADS, "masks_kind")),
    Place("inside_a_head", TEXT, (*HEADS, "inside_key")),
    Place("", DIGIT, HEADS, shows_text=False),
    Place("compare", TEXT, (*HEADS, "compare_view")),
    Place("heads", TEXT, ("head", "layer", "heads_role")),
    Place("positions", TEXT, ("positions_t", "positions_length"), shows_text=False),
    Place("", TEXT, HEADS),
    Place("training", DIGIT, ("training_probe", "training_curves"), shows_text=False),
    Place("cost", {}, ("cost_n_layers", "cost_n_heads"), shows_text=False),
    Place("masks", TEXT | {"masks_part": "What follows"}, HEADS),
    Place("positions", TEXT | {"positions": "Experiments"}, HEADS),
    Place("theory", {}, ("theory_over", "theory_part"), shows_text=False),
    Place("inside_a_head", TEXT | {"inside": "Why √d_k"}, HEADS),
    Place("compare", TEXT | {"compare_part": "Stream"}, HEADS),
    Place("reading", {"reading_part": "Papers"}, ("reading_paper", "reading_place"), shows_text=False),
    Place("norm_placement", {}, (), shows_text=False),
    Place("your_own", {}, (), shows_text=False),
    Place("many_inputs", {}, (), shows_text=False),
)


def words(n: int) -> list[str]:
    """So many rare words that nothing in the app says."""
    tokenizer = Tokenizer.from_file(str(ROOT / "checkpoints" / "imdb-pre-ln" / "tokenizer.json"))
    kinds = (".py", ".js", ".css", ".json", ".csv", ".toml")
    folders = (ROOT / name for name in ("app_pages", "viz", "model", "examples"))
    everything = [path for folder in folders for path in folder.rglob("*") if path.suffix in kinds]
    used = set(re.findall(r"\w+", "\n".join(path.read_text(encoding="utf-8").lower() for path in everything)))
    rarest_first = sorted(tokenizer.get_vocab().items(), key=lambda entry: -entry[1])
    words = [word for word, _ in rarest_first if re.fullmatch(r"[a-z]{8,}", word) and word not in used]
    if len(words) < n:
        raise ValueError(f"{n} words are needed, and the vocabulary has {len(words)}")
    return words[:n]


@dataclass
class Seen:
    """The figures of all windows together."""

    messages: int = 0
    bytes: int = 0
    leaks: list[str] = field(default_factory=list)


@dataclass
class Change:
    place: str
    what: str
    began: float
    seconds: float


class Pupil:
    """One window, whose changes and errors are noted."""

    def __init__(
        self, server: str, place: Place, word: str, others: re.Pattern, seen: Seen, draw: random.Random,
        extras: Mapping[str, Extra],
    ) -> None:  # fmt: skip
        self.place, self.word, self._others, self._seen, self._draw = place, word.encode(), others, seen, draw
        text = (
            {"text": f"The {word} film is not bad at all."}
            if place.query.get("checkpoint") == "imdb-pre-ln"
            else {}
        )
        self._extras, self._again = extras, ""
        self.window = Window(server, place.page, place.query | text, look=self._look)
        self.changes: list[Change] = []
        self.errors: list[str] = []
        self.opened: list[float] = []
        self.told: list[str] = []  # by the page when it was opened last, in boxes
        self.saw_own_word = False
        self.lost_at: list[float] = []  # when it lost its process
        self.second_tries = self.states_lost = 0

    async def open(self) -> bool:
        try:
            answer = await self.window.open()
        except (*LOST, NoAnswerError):
            return False
        self.told = [alert.body for alert in answer.of("alert")]
        self.opened.append(answer.seconds)
        self._note(answer)
        return True

    async def work(self, period: float, until: float) -> None:
        """Changes something every `period` seconds, later where the answer takes longer."""
        due = time.monotonic() + period * self._draw.random()
        while due < until:
            await asyncio.sleep(max(0, due - time.monotonic()))
            began = time.monotonic()
            what, act = self._next()
            page = self.window.page
            due = max(began + period, due)
            try:
                answer = await act()
            except LOST:
                await self._reload(page)
                self._again = what if what in self._extras else ""
                continue
            except NoAnswerError as error:
                self.errors.append(f"{self.place.title}, {what}: {error}")
                await self._reload(page)
                continue
            due = max(due, time.monotonic())
            if answer is not None:
                self.changes.append(Change(self.place.title, what, began, answer.seconds))
                self._note(answer)

    def _next(self) -> tuple[str, Callable[[], Awaitable[Answer | None]]]:
        """What is done next, by its name, and the function that does it; what a lost process cut off is done again."""
        window, draw = self.window, self._draw
        extra, self._again = self._again, ""
        if not extra and self._extras and draw.random() < EXTRA_SHARE:
            extra = draw.choice(list(self._extras))
        if extra:
            return extra, partial(self._extras[extra], self, draw)
        for key in draw.sample(self.place.controls, len(self.place.controls)):
            if (
                key in window.widgets
                and (value := window.widgets[key].other(window.values.get(key), draw)) is not None
            ):
                return key, partial(window.change, key, value)
        return AWAY, self._away

    async def _away(self) -> Answer:
        return await self.window.go(self.place.page if self.window.page != self.place.page else "reading")

    async def _reload(self, page: str) -> None:
        """The same address in a new session must show what was chosen, unless another `page` was asked for meanwhile."""
        before, query = dict(self.window.values), dict(self.window.query)
        self.lost_at.append(time.monotonic())
        for _ in range(PATIENCE):
            if await self.open():
                break
            self.second_tries += 1
            await asyncio.sleep(1)
        else:
            self.errors.append(f"{self.place.title} did not open again")
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
                f"{self.place.title}: after a reload another state, {lost}; it said {self.told}"
            )

    def _note(self, answer: Answer) -> None:
        self.errors += [f"{self.place.title}: {each}" for each in answer.exceptions]

    def others_in(self, content: bytes) -> list[str]:
        """Words of other windows in something that was sent to this one."""
        return [found.decode() for found in self._others.findall(content) if found != self.word]

    def _look(self, content: bytes) -> None:
        self._seen.messages += 1
        self._seen.bytes += len(content)
        self.saw_own_word = self.saw_own_word or self.word in content
        self._seen.leaks += [f"{self.place.title} was sent {word}" for word in self.others_in(content)]


def pupils(
    n: int, server: str, seed: int, extras: Mapping[str, Extra] | None = None
) -> tuple[list[Pupil], Seen]:
    seen, all_words = Seen(), words(n)
    others = re.compile("|".join(all_words).encode())
    return [
        Pupil(server, place, word, others, seen, random.Random(f"{seed} {word}"), extras or {})
        for place, word in zip(_places(n), all_words, strict=True)
    ], seen


def _places(n: int) -> Iterator[Place]:
    for number in range(n):
        yield PLACES[number % len(PLACES)]
