"""A process that was started without options must offer no models folder, no uploads and no Hub."""

import asyncio

from benchmarks.addresses import texts
from benchmarks.faults.promises import OFF
from benchmarks.faults.world import World

UPLOADS_OFF = "start the app in a terminal with this command. It allows up to 500 MB."
HUB_OFF = "start the app in a terminal with this command. Then a name such as"


async def ask_for_what_is_off(world: World, server: str, name: str) -> None:
    """Opens pages of a process without options at the address `server`; `name` is an encoder in the models folder of
    the other processes.
    """
    while world.goes_on:
        action = "the page without options"
        async with world.visit(OFF, action, "your_own", server=server) as window:
            answer = await window.open()
            world.check(OFF, answer, action)
            page_text = "\n".join(texts(answer))
            for sentence in (UPLOADS_OFF, HUB_OFF):
                world.ledger.record(OFF, "" if sentence in page_text else f"it does not say: {sentence}")
            uploaders = [key for key, widget in window.widgets.items() if widget.kind == "file_uploader"]
            world.ledger.record(OFF, f"it takes files: {uploaders}" if uploaders else "")
        async with world.visit(OFF, f"opening {name}", query={"checkpoint": name}, server=server) as window:
            alerts = " ".join(alert.body for alert in (await window.open()).of("alert"))
            world.ledger.record(OFF, "" if "cannot be opened" in alerts else f"{name} was opened: {alerts}")
        await asyncio.sleep(10)
