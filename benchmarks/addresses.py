"""python -m benchmarks.addresses [--n 10000] [--seed 0] [--processes 2] [--only NUMBER]

Opens random addresses: any page, with keys that pages read from the address, and for each key either a value that the
page offers or nonsense (infinities, markup, paths, control characters, 60 KB of text). Each address is opened in a session
of its own, over the websocket that a browser would use (`benchmarks.load.browser_window`).

The rule: the page is drawn or says in a sentence why not. Never an exception, no markup that runs or makes the browser
fetch something, no path of this machine; and the server answers until the end. Addresses that break the rule are printed,
and the exit code is 1. `--only NUMBER` opens one address again and prints all texts of the page.
"""

import argparse
import asyncio
import random
import re
import sys
import tempfile
from collections import Counter
from collections.abc import Iterator, Sequence
from contextlib import ExitStack
from dataclasses import dataclass
from pathlib import Path
from statistics import median
from urllib.parse import quote, urlencode

from benchmarks.load.browser_window import LOST, Answer, NoAnswerError, Window
from benchmarks.load.servers import ROOT, Process, serving

FIRST = "attention"  # its address is the app's own, without a name
PATIENCE = 60  # seconds for one address
LONG = 61_440
NONSENSE = (
    "", " ", "0", "-1", "1", "3.7", "-0.0", "1e999", "-1e999", "inf", "-inf", "Infinity", "nan", "1e308", "1e-320", "9" * 400,
    "0x10", "1_000", "+2", " 2 ", "١٢", "１２", "²", "½", "true", "TRUE", "None", "null", "undefined", "[]", "{}", "[0]",
    "\x00", "a\x00b", "\x1b[31mred", "a\nb\r\nc", "\u2028", "\ufeff", "\u202egnp.exe", "مرحبا بالعالم", "👩‍👩‍👧", "e" + "\u0301" * 500,
    "<script>alert(1)</script>", "<img src=x onerror=alert(1)>", "![x](http://192.0.2.1/x.png)", "[x](javascript:alert(1))",
    "$\\frac{1}{0}$", ":material/bug_report:", ":red[x]", "**x** `y` ~z~", "`![x](http://192.0.2.1/x.png)`", "{{7*7}}", "%s%n{0}",
    "../../etc/passwd", "/etc/passwd", "..\\..\\x", "file:///etc/passwd", ".", "..", "~", "hub:../../x", "hub:a/b@main", "hub:a/b@" + "0" * 40,
    "models:../x", "models:", "upload:x-0000000000000000", "pip:MiniLM", "pip:os", "imdb-pre-ln/../mnist-pre-ln",
    "1-2.3-4", "1-2-3.", "0-0", "999-999", "-", "--", "1.2.3", "0-1-2-3-4", "-1--1", "eJw", "x" * LONG, "é" * (LONG // 2), "1." * (LONG // 2),
    "[MASK] " * 3000, "a " * 20000,
)  # fmt: skip
ODD_PAGES = (
    "nonsense",
    "Masks",
    "masks/",
    "../masks",
    "attention",
    "app_pages/masks/page.py",
    "_stcore/health",
    "\x00",
)
ODD_ENDS = ("&", "&&==&=", "&%", "&%zz=%", "&embed=true", "&embed_options=dark_theme", "&=", "&head", "#x")
# What texts that are shown as Markdown or HTML must not contain
FETCHED = re.compile(r"(?<!\\)!\[x\]\(http|(?<!\\)\[x\]\(javascript")
RUN = re.compile(r"<script>alert|<img src=x onerror")
FIELDS = ("body", "label", "help", "title", "placeholder", "delta", "message")
FIGURES = ("vega_lite_chart", "plotly_chart", "imgs", "table")


@dataclass(frozen=True)
class AddressKey:
    """A key of the query string: the pages on which it was seen, and the values that widgets offered for it."""

    pages: frozenset[str]
    values: tuple[str, ...]


@dataclass(frozen=True)
class OpenedAddress:
    """One address that was opened: what it showed (`outcome`), and in what ways it broke the rule."""

    number: int
    page: str
    query: str
    outcome: str
    broke: tuple[str, ...] = ()
    seconds: float = 0.0

    def __str__(self) -> str:
        address = quote(f"/{self.page}?{self.query}", safe="/?=&%+", errors="replace")
        short = address if len(address) < 300 else f"{address[:300]} … ({len(address):,} characters)"
        return f"{self.number}: {short}\n    " + "\n    ".join(self.broke or [self.outcome])


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("--n", type=int, default=10_000)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--processes", type=int, default=2)
    parser.add_argument("--only", type=int, metavar="NUMBER")
    arguments = parser.parse_args()
    numbers = range(arguments.n) if arguments.only is None else [arguments.only]
    with ExitStack() as stack:
        servers, processes = [], []
        for _ in range(min(arguments.processes, len(numbers))):
            home = Path(stack.enter_context(tempfile.TemporaryDirectory()))
            server, (process,) = stack.enter_context(serving(1, home, ["--client.showErrorDetails=full"]))
            servers.append(server)
            processes.append(process)
        known = asyncio.run(survey(servers[0]))
        print(f"{len(pages())} pages, {len(known)} keys", flush=True)
        results = asyncio.run(open_all(servers, known, arguments.seed, numbers, arguments.only is not None))
        return report(results, processes)


def pages() -> list[str]:
    """The names of all pages, "" for the first."""
    names = sorted(path.parent.name for path in (ROOT / "app_pages").glob("*/page.py"))
    return ["" if name == FIRST else name for name in names]


# What an address can hold


async def survey(server: str) -> dict[str, AddressKey]:
    """All keys of the query string, with their pages and values: opens every page, with texts and with digits, and
    each of its parts.
    """
    known_keys: dict[str, tuple[set[str], list[str]]] = {key: (set(), []) for key in keys_in_source()}
    for page in pages():
        waiting: list[dict[str, str]] = [{}, {"kind": "Digit"}]
        seen: set[tuple[str, str]] = set()
        while waiting:
            query = waiting.pop(0)
            window = Window(server, page, query, patience=PATIENCE)
            await window.open()
            for widget in window.widgets.values():
                if not (key := getattr(widget.element, "query_param_key", "")):
                    continue
                on, values = known_keys.setdefault(key, (set(), []))
                on.add(page)
                offered = list(offered_values(widget.kind, widget.element))
                values += [value for value in offered if value not in values]
                if widget.kind == "button_group" and key != "kind" and len(query) < 2:
                    parts = [(key, value) for value in offered if (key, value) not in seen]
                    seen.update(parts)
                    waiting += [query | dict([part]) for part in parts]
            await window.close()
    return {key: AddressKey(frozenset(on), tuple(values)) for key, (on, values) in sorted(known_keys.items())}


def keys_in_source() -> set[str]:
    """The keys of the query string that the source of the pages names; keys with a computed part are found only by
    `survey`.
    """
    known_keys = set()
    for path in (ROOT / "app_pages").rglob("*.py"):
        source = path.read_text(encoding="utf-8")
        known_keys.update(
            re.findall(r'\bkey="([a-z_]+)"', source), re.findall(r'\bcode\("([a-z_]+)"', source)
        )
        for line in re.findall(r"^[A-Z_, ]+ = (.*)$", source, re.MULTILINE):
            known_keys.update(re.findall(r'"([a-z]+_[a-z_]+)"', line))
    return known_keys


def offered_values(kind: str, element: object) -> Iterator[str]:
    """Values for the query string that a widget of this `kind` offers."""
    match kind:
        case "button_group":
            yield from (option.content for option in element.options)
        case "selectbox" | "multiselect" | "select_slider":
            yield from list(element.options)[:40]
        case "checkbox":
            yield from ("true", "false")
        case "slider" | "number_input":
            middle = (element.min + element.max) / 2
            yield from (f"{value:.15g}" for value in (element.min, middle // 1, element.max))
        case _:
            yield "A gripping film [MASK] bad."


def address(known: dict[str, AddressKey], draw: random.Random) -> tuple[str, str]:
    """A random address: a page, and the query string after its question mark."""
    page = draw.choice(ODD_PAGES) if draw.random() < 0.03 else draw.choice(pages())
    keys_of_page = [key for key, about in known.items() if page in about.pages]
    query = []
    for _ in range(draw.choice((1, 1, 2, 3, 4, 6, 10))):
        key = draw.choice(keys_of_page) if keys_of_page and draw.random() < 0.8 else draw.choice(list(known))
        for _ in range(draw.choice((1,) * 9 + (3,))):
            query.append((key, value(known[key], draw)))
    if draw.random() < 0.02:
        query.append((draw.choice(NONSENSE), draw.choice(NONSENSE)))
    return page, urlencode(query) + (draw.choice(ODD_ENDS) if draw.random() < 0.03 else "")


def value(about: AddressKey, draw: random.Random) -> str:
    """A random value for a key: one that a widget offered, one that is nearly right, or nonsense."""
    if about.values and draw.random() < 0.45:
        return draw.choice(about.values)
    if about.values and draw.random() < 0.1:  # nearly right
        right = draw.choice(about.values)
        return draw.choice(
            (right.upper(), right[:-1], f"{right} ", f"{right}\x00", f"-{right}", right + right)
        )
    return draw.choice(NONSENSE)


# What becomes of it


async def open_all(
    servers: Sequence[str], known: dict[str, AddressKey], seed: int, numbers: Sequence[int], print_texts: bool
) -> list[OpenedAddress]:
    """Opens the random addresses with these `numbers`, spread over the `servers`; `print_texts` prints all texts of
    each page.
    """
    left, results = iter(numbers), []

    async def work(server: str) -> None:
        for number in left:  # shared: who is ready takes the next
            result = await open_one(
                server, number, *address(known, random.Random(f"{seed} {number}")), print_texts
            )
            results.append(result)
            if result.broke:
                print(result, flush=True)
            if len(results) % 500 == 0:
                print(f"{len(results):,} opened", flush=True)

    await asyncio.gather(*map(work, servers))
    return results


async def open_one(
    server: str, number: int, page: str, query: str, print_texts: bool = False, patience: float = PATIENCE
) -> OpenedAddress:
    """Opens one address in a session of its own; `print_texts` prints all texts of the page."""
    window = _RawQueryWindow(server, page, query, patience)
    try:
        answer = await window.open()
    except NoAnswerError as error:
        return OpenedAddress(number, page, query, "no answer", (str(error),), patience)
    except LOST as error:
        return OpenedAddress(number, page, query, "no answer", (f"the connection was lost: {error}"[:300],))
    finally:
        await window.close()
    if print_texts:
        for text in texts(answer):
            print(text[:2000])
    broke = tuple(dict.fromkeys(broken(answer)))
    if broke:
        outcome = "broke the rule"
    elif answer.of(*FIGURES):
        outcome = "showed figures"
    else:
        outcome = "a sentence instead of figures" if answer.of("alert") else "a page without figures"
    return OpenedAddress(number, page, query, outcome, broke, answer.seconds)


class _RawQueryWindow(Window):
    """A window that sends its query string unchanged, however malformed, and does not fetch the HTML page first."""

    def __init__(self, server: str, page: str, query: str, patience: float) -> None:
        super().__init__(server, page, patience=patience)
        self._raw = query

    def _first_page(self) -> None:
        pass

    def _request(self) -> object:
        request = super()._request()
        request.rerun_script.query_string = self._raw
        return request


def broken(answer: Answer, root: Path = ROOT) -> Iterator[str]:
    """The ways in which an answer breaks the rule, as sentences; no path below `root` may be shown."""
    for item in answer.of("exception"):
        lines = [line.strip().split("\n")[0] for line in item.stack_trace]
        own = [
            line.replace(str(root), "").replace(str(ROOT), "")
            for line in lines
            if re.search(f"(?:{re.escape(str(root))}|{re.escape(str(ROOT))})/(?:app_pages|model|viz)/", line)
        ]
        yield f"{item.type}: {item.message[:300]} {' < '.join(own[:-4:-1])}"
    for kind, element in answer.elements:
        if kind != "exception" and any(
            str(item).encode() in element.SerializeToString() for item in {root, ROOT}
        ):
            yield f"a path of this machine, in {kind}"
    for kind, text in _texts(answer):
        if kind != "html" and FETCHED.search(re.sub(r"`[^`]*`", "", text)):
            yield f"somebody else's Markdown, in {kind}: {text[:200]}"
        if RUN.search(text.replace("\\<", "")) and "<style" not in text:
            yield f"somebody else's HTML, in {kind}: {text[:200]}"


def texts(answer: Answer) -> Iterator[str]:
    """The texts of a page that are Markdown or HTML; values of text boxes and options of drop-down lists are neither."""
    return (text for _, text in _texts(answer))


def _texts(answer: Answer) -> Iterator[tuple[str, str]]:
    """The texts of a page that are Markdown or HTML, each with the kind of its element. In elements of the kind
    "html" the browser reads HTML, but no Markdown.
    """
    for kind, element in answer.elements:
        if kind not in ("exception", "code", "text"):
            for name in FIELDS:
                if isinstance(text := getattr(element, name, ""), str) and text:
                    yield kind, text
        if kind == "button_group":
            yield from ((kind, option.content) for option in element.options)


def report(results: list[OpenedAddress], processes: Sequence[Process]) -> int:
    """Prints how many addresses had each outcome, and which broke the rule; returns the exit code."""
    print(f"\n{len(results):,} addresses:")
    for outcome, n in Counter(result.outcome for result in results).most_common():
        print(f"  {n:6,} {outcome}")
    seconds = [result.seconds for result in results]
    slowest = max(results, key=lambda result: result.seconds)
    print(f"median {median(seconds):.2f} s, slowest {slowest.seconds:.1f} s (number {slowest.number})")
    died = [process.name for process in processes if not process.is_up]
    tracebacks = Counter(line[:200] for process in processes for line in process.tracebacks())
    for process in processes:
        print(
            f"{process.name}: " + ", ".join(f"{what} {mb:,.0f} MB" for what, mb in process.memory().items())
        )
    for line, times in tracebacks.most_common(10):
        print(f"{times} × in the server's log: {line}")
    if died:
        print(f"ended before they were told to: {', '.join(died)}")
    return int(bool(died or tracebacks or any(result.broke for result in results)))


if __name__ == "__main__":
    sys.exit(main())
