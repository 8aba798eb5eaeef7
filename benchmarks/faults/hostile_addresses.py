"""Made-up addresses, as in `benchmarks.addresses`, names that lead out of the models folder, and texts of 100,000 characters."""

from collections.abc import Mapping

from benchmarks.addresses import Known, address, in_source, open_one, pages
from benchmarks.faults.promises import ADDRESSES, NAMED_FOLDER
from benchmarks.faults.world import PATIENCE, World
from benchmarks.load.browser_window import LOST, NoAnswerError

LEADING_OUT = (
    "../outside/sibling", "models:../outside/sibling", "..", ".", "../../etc", "/etc", "models:/etc", "linked-out", "hub:../../../etc",
    "hub:..", "upload:../outside", "imdb-pre-ln/../../outside/sibling", "%2e%2e/outside/sibling", "..\\outside\\sibling", "~root", ".hidden",
)  # fmt: skip
LONG = ("a " * 50_000, "x" * 100_000, "[MASK] " * 14_000, "é👩‍👩‍👧" * 12_000, "\u202e<b>" * 20_000)


def known_keys() -> Mapping[str, Known]:
    """The keys that pages read, as the source names them, for every page."""
    return {key: Known(frozenset(pages()), ("0", "1", "true")) for key in in_source()}


async def open_addresses(world: World) -> None:
    draw, known, number = world.draw("addresses"), dict(known_keys()), 0
    while world.goes_on:
        number += 1
        page, query = address(known, draw)
        opened = await open_one(world.server, number, page, query, patience=PATIENCE)
        if opened.broke and not (world.lost_a_process and "connection was lost" in opened.broke[0]):
            world.ledger.note(ADDRESSES, str(opened))
        else:
            world.ledger.note(ADDRESSES)
        await world.rest(draw)


async def lead_out(world: World) -> None:
    """Names of encoders that are outside the models folder, where a secret word would be shown."""
    draw = world.draw("lead out")
    while world.goes_on:
        name, page = draw.choice(LEADING_OUT), draw.choice(pages())
        window = world.window(page, {"checkpoint": name, "compare_with": draw.choice(LEADING_OUT)})
        try:
            world.judge(NAMED_FOLDER, await window.open(), f"{name} on /{page}")
        except NoAnswerError as error:
            world.ledger.note(NAMED_FOLDER, f"{name} on /{page}: {error}")
        except LOST as error:
            if not world.lost_a_process:
                world.ledger.note(NAMED_FOLDER, f"{name} on /{page}: the connection was lost: {error}")
        finally:
            await window.close()
        await world.rest(draw)


async def write_long_texts(world: World) -> None:
    draw = world.draw("long texts")
    while world.goes_on:
        page = draw.choice(("", "masks", "heads", "inside_a_head", "positions", "compare"))
        window = world.window(page, {"checkpoint": "imdb-pre-ln"})
        try:
            await window.open()
            for _ in range(2):
                text = draw.choice(LONG)
                if "text" in window.widgets:
                    world.judge(
                        ADDRESSES, await window.change("text", text), f"{len(text):,} characters on /{page}"
                    )
        except NoAnswerError as error:
            world.ledger.note(ADDRESSES, f"a long text on /{page}: {error}")
        except LOST as error:
            if not world.lost_a_process:
                world.ledger.note(ADDRESSES, f"a long text on /{page}: the connection was lost: {error}")
        finally:
            await window.close()
        await world.rest(draw)
