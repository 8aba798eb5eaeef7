"""A process that was started without options: no models folder, no uploads, no Hub."""

import asyncio

from benchmarks.addresses import texts
from benchmarks.faults.promises import OFF
from benchmarks.faults.world import World
from benchmarks.load.browser_window import LOST, NoAnswerError

UPLOADS_OFF, HUB_OFF = "Uploads are off.", "Downloads are off."


async def ask_for_what_is_off(world: World, server: str, name: str) -> None:
    """`server` is the address of such a process, and `name` an encoder in the models folder of the others."""
    while world.goes_on:
        window = world.window("your_own", server=server)
        try:
            answer = await window.open()
            world.judge(OFF, answer, "the page without options")
            said = "\n".join(texts(answer))
            for sentence in (UPLOADS_OFF, HUB_OFF):
                world.ledger.note(OFF, "" if sentence in said else f"it does not say: {sentence}")
            uploaders = [key for key, widget in window.widgets.items() if widget.kind == "file_uploader"]
            world.ledger.note(OFF, f"it takes files: {uploaders}" if uploaders else "")
            await window.close()
            window = world.window("", {"checkpoint": name}, server)
            said = " ".join(each.body for each in (await window.open()).of("alert"))
            world.ledger.note(OFF, "" if "cannot be opened" in said else f"{name} was opened: {said}")
        except (*LOST, NoAnswerError) as error:
            world.ledger.note(OFF, f"{type(error).__name__}: {error}")
        finally:
            await window.close()
        await asyncio.sleep(10)
