"""Every link of the reading guide is opened, and what it promises must stand there."""

import re
from collections.abc import Callable, Iterator
from pathlib import Path
from urllib.parse import parse_qs, urljoin, urlsplit

import pytest
from streamlit.testing.v1 import AppTest

from app_pages.reading.page import GUIDE, GuideLink, links, opening_here, papers
from model.claims.catalogue import CLAIMS
from model.claims.verdict import CLAIMS_FILE, read_measurements
from model.theory import gradients_at_start
from model.theory.digit_training import RUNS
from model.train.warmup import write_runs
from tests.app_pages.theory.test_page import RUN, SMALL

Open = Callable[..., AppTest]

TEXT = GUIDE.read_text(encoding="utf-8")
LINKS = links(TEXT)
PAGES = sorted({link.page for link in LINKS})
FIRST = "attention"
# What stands on a page in words or in a figure; options that are not chosen do not count.
WORDS = (
    "markdown",
    "caption",
    "latex",
    "header",
    "subheader",
    "info",
    "metric",
    "expander",
    "toggle",
    "file_uploader",
)


@pytest.fixture(autouse=True)
def stored_runs(checkpoints: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(gradients_at_start, "N_SEQUENCES", 4)
    write_runs(checkpoints / RUNS, [RUN])


def broken(open_app: Open, link: GuideLink) -> str | None:
    """What is wrong with a link, None where it keeps its promise."""
    measures = link.page == "theory"
    try:
        app = open_app(f"app_pages/{link.page or FIRST}/page.py", **(SMALL if measures else {}) | link.query)
    except AssertionError as error:
        return f"{link.address}: {error}"
    if app.exception:
        return f"{link.address} fails: {app.exception[0].message}"
    if dropped := link.query.keys() - set(
        app.query_params
    ):  # another step of the history, to which Back would return
        return f"{link.address}: {', '.join(dropped)} stands for what is chosen to begin with"
    if not any(plain(link.promise) in plain(message) for message in words(app)):
        return f"{link.address} shows nowhere: {link.promise}"
    return None


def words(app: AppTest) -> Iterator[str]:
    for kind in WORDS:
        for part in app.get(kind):
            yield from (str(getattr(part, name, "")) for name in ("label", "value"))
    yield from (figure.proto.spec for figure in app.get("plotly_chart"))


def plain(markup: str) -> str:
    return " ".join(re.sub(r"[$*`\\]", "", markup).split())


@pytest.mark.rest_is_slow
@pytest.mark.parametrize("page", PAGES)
def test_every_link_shows_what_it_promises(open_app, page):
    of_page = [link for link in LINKS if link.page == page]
    assert [message for link in of_page if (message := broken(open_app, link))] == []


@pytest.mark.rest_is_slow
@pytest.mark.parametrize(
    "link",
    [
        GuideLink("/cost", "The price of a horse"),
        GuideLink("/cost?cost_form=big", "Every number with its formula"),
        GuideLink("/cost?cost_from=bigger", "Every number with its formula"),
        GuideLink(
            "/masks?masks_part=Ways%20of%20masking", "Entropy of every head, with the mask minus without"
        ),
        GuideLink("/cost?figure=price", "Every number with its formula"),
        GuideLink("/positions?positions_offset=5", "There is no t in it: one matrix serves all positions"),
    ],
    ids=["promise", "key", "value", "another part", "figure", "to begin with"],
)
def test_a_link_that_leads_astray_is_noticed(open_app, link):
    assert broken(open_app, link)


def test_no_link_is_overlooked():
    written = set(re.findall(r"\]\(([^\s)]+)", TEXT))
    assert written == {link.address for link in LINKS} | {
        address for address in written if address.startswith("https://")
    }


def test_every_paper_that_the_pages_cite_has_a_place():
    sources = "\n".join(
        path.read_text(encoding="utf-8") for path in GUIDE.parents[1].glob("app_pages/**/*.py")
    )
    cited = set(re.findall(r"(\w+ (?:et al\.|& \w+) \d{4})", sources))
    assert {"Vaswani et al. 2017", "Ioffe & Szegedy 2015"} <= cited
    assert {one for one in cited if one not in TEXT} == set()


def test_every_paper_is_introduced_and_every_place_has_a_link():
    for title, paper in papers(TEXT).items():
        assert paper.about, title
        assert paper.sections, title
        assert all(links(text) for text in paper.sections.values()), title


def test_links_of_the_page_stay_in_the_window_and_below_the_address_of_the_app():
    shown = opening_here(TEXT)
    assert "](/" not in shown
    assert shown.count('target="_self"') == shown.count('<a href="./')
    targets = re.findall(r'<a href="([^"]+)"', shown)
    result = {urljoin("https://some.where/loupe/reading", target.replace("&amp;", "&")) for target in targets}
    assert result == {f"https://some.where/loupe{link.address}" for link in LINKS}


def test_links_keep_the_reader_s_own_sentence_or_say_beside_them_what_they_need_instead():
    guide = '[One](/masks "p"), [two](/?view=lines "p"), [three](/?text=great%20film "p") and [four](/?kind=Digit "p").'
    shown = opening_here(guide, "Is 1 & 1 = 2?")
    addresses = [target.replace("&amp;", "&") for target in re.findall(r'<a href="([^"]+)"', shown)]
    assert [parse_qs(urlsplit(target).query).get("text") for target in addresses] == [
        ["Is 1 & 1 = 2?"],
        ["Is 1 & 1 = 2?"],
        ["great film"],
        None,
    ]
    assert parse_qs(urlsplit(addresses[1]).query)["view"] == ["lines"]
    message = re.sub("<[^>]+>", "", shown)
    assert message == "One, two, three (reads a sentence of its own) and four (reads a digit)."


@pytest.mark.slow
@pytest.mark.parametrize("page", PAGES)
def test_links_keep_their_promise_with_another_sentence(open_app, page):
    others = (GuideLink(link.with_text("A quiet film."), link.promise) for link in LINKS if link.page == page)
    assert [
        message for link in others if "quiet" in link.address and (message := broken(open_app, link))
    ] == []


def test_what_the_guide_says_of_warm_up_is_what_was_measured():
    """The sentences of "3.2 and 4: warm-up", rate by rate."""
    measured = read_measurements(GUIDE.parents[1] / "checkpoints" / CLAIMS_FILE)

    def outcomes(key: str) -> dict[str, str]:
        (claim,) = (claim for claim in CLAIMS if claim.key == key)
        judgements = claim.judgements(
            [measurement for measurement in measured if measurement.source == "fresh"]
        )
        return {
            judgement.measured.where.rpartition(" ")[2]: judgement.outcome.name for judgement in judgements
        }

    untold = {"0.01": "LEFT_OUT", "0.03": "LEFT_OUT"}
    assert outcomes("warm_up") == {"0.001": "OPPOSITE", "0.003": "NO_CLEAR_DIFFERENCE"} | untold
    assert outcomes("warm_up_gain") == {"0.001": "NO_CLEAR_DIFFERENCE", "0.003": "HOLDS"} | untold
    text = " ".join(TEXT.split())
    assert "post-LN gains more from 30 steps of warm-up than pre-LN at a rate of 0.003" in text
    assert "at 0.001 it learns without them too; at 0.01 and 0.03 it does not learn with them either" in text
