"""Made-up addresses, as in `benchmarks.addresses`, names of folders outside the models folder, and texts of 100,000 characters."""

from collections.abc import Mapping

from benchmarks.addresses import AddressKey, address, keys_in_source, open_one, pages
from benchmarks.faults.promises import ADDRESSES, NAMED_FOLDER
from benchmarks.faults.world import PATIENCE, World

OUTSIDE_NAMES = (
    "../outside/sibling", "models:../outside/sibling", "..", ".", "../../etc", "/etc", "models:/etc", "linked-out", "hub:../../../etc",
    "hub:..", "upload:../outside", "imdb-pre-ln/../../outside/sibling", "%2e%2e/outside/sibling", "..\\outside\\sibling", "~root", ".hidden",
)  # fmt: skip
LONG = ("a " * 50_000, "x" * 100_000, "[MASK] " * 14_000, "é👩‍👩‍👧" * 12_000, "\u202e<b>" * 20_000)


def known_keys() -> Mapping[str, AddressKey]:
    """The keys of the query string that the source of the pages names, each allowed on every page."""
    return {key: AddressKey(frozenset(pages()), ("0", "1", "true")) for key in keys_in_source()}


async def open_addresses(world: World) -> None:
    """Opens random addresses; each must show a page or a sentence."""
    draw, known, number = world.draw("addresses"), dict(known_keys()), 0
    while world.goes_on:
        number += 1
        page, query = address(known, draw)
        opened = await open_one(world.server, number, page, query, patience=PATIENCE)
        if opened.broke and not (world.lost_a_process and "connection was lost" in opened.broke[0]):
            world.ledger.record(ADDRESSES, str(opened))
        else:
            world.ledger.record(ADDRESSES)
        await world.rest(draw)


async def open_names_outside(world: World) -> None:
    """Opens encoders by names that lead outside the models folder, to files that hold a secret word."""
    draw = world.draw("lead out")
    while world.goes_on:
        name, page = draw.choice(OUTSIDE_NAMES), draw.choice(pages())
        query = {"checkpoint": name, "compare_with": draw.choice(OUTSIDE_NAMES)}
        action = f"{name} on /{page}"
        async with world.visit(NAMED_FOLDER, action, page, query) as window:
            world.check(NAMED_FOLDER, await window.open(), action)
        await world.rest(draw)


async def write_long_texts(world: World) -> None:
    """Enters texts of 100,000 characters; each must show a page or a sentence."""
    draw = world.draw("long texts")
    while world.goes_on:
        page = draw.choice(("", "masks", "heads", "inside_a_head", "positions", "compare"))
        query = {"checkpoint": "imdb-pre-ln"}
        async with world.visit(ADDRESSES, f"a long text on /{page}", page, query) as window:
            await window.open()
            for _ in range(2):
                text = draw.choice(LONG)
                if "text" in window.widgets:
                    world.check(
                        ADDRESSES, await window.change("text", text), f"{len(text):,} characters on /{page}"
                    )
        await world.rest(draw)
