"""Somebody uploads encoders, on a disk that is full every other time; somebody else tries to open them."""

import asyncio
import random
import time
from collections.abc import Sequence
from pathlib import Path

from benchmarks.addresses import FIGURES
from benchmarks.faults.promises import FULL_DISK, UPLOADS
from benchmarks.faults.small_disk import SmallDisk
from benchmarks.faults.world import World
from benchmarks.load.browser_window import LOST, Answer, NoAnswerError, Window
from benchmarks.load.servers import ROOT

PAGE = "your_own"
FILES, SUBMIT = "own_files_Files_", "FormSubmitter:upload_form-Use these files"
ENCODER = ROOT / "checkpoints" / "imdb-pre-ln"
PARTS = ("config.json", "model.safetensors", "tokenizer.json")
UPLOADS_MB = 12  # what a session may upload: two of these encoders, and not three
NOT_STORED = "server cannot store these files"
STAYS_FULL = 5  # seconds in which everybody else goes on with a full disk
LEFT_AFTER = 330  # seconds after a window was closed until its uploads must be gone: those of docs and Streamlit together


async def upload_encoders(world: World, disk: SmallDisk) -> None:
    draw = world.draw("uploads")
    left = await _leave_an_upload(world)
    left_at = time.monotonic()
    while world.goes_on:
        window = world.window(PAGE)
        try:
            world.judge(UPLOADS, await window.open(), "the page of uploads")
            await upload_on_full_disk(world, disk, window)
            if name := await _on_a_free_disk(world, window):
                await _others_do_not_see_it(world, name, draw)
                await _too_much(world, window)
                await _delete(world, window)
        except LOST as error:
            if not world.lost_a_process:
                world.ledger.note(UPLOADS, f"the connection was lost: {error}")
        except ValueError as error:  # another process than the killed one does not know this session
            if not world.lost_a_process:
                world.ledger.note(UPLOADS, f"the server did not take an upload: {error}")
        except NoAnswerError as error:
            world.ledger.note(UPLOADS, str(error))
        finally:
            disk.empty(world.processes)
            await window.close()
        await asyncio.sleep(2)
    if left and time.monotonic() - left_at > LEFT_AFTER:
        still = left & set(left_behind(world.small))
        world.ledger.note(
            UPLOADS, f"{LEFT_AFTER} s after its window was closed there is {min(still)}" if still else ""
        )


async def _leave_an_upload(world: World) -> set[str]:
    """A window is closed with its upload, which must be gone some minutes later; returns its files."""
    window = world.window(PAGE)
    try:
        await window.open()
        await _upload(window, PARTS)
    except (*LOST, NoAnswerError, ValueError) as error:
        if not world.lost_a_process:
            world.ledger.note(UPLOADS, f"the first upload: {error}")
        return set()
    finally:
        await window.close()
    written = set(left_behind(world.small))
    world.ledger.note(UPLOADS, "" if len(written) == len(PARTS) else f"written were {sorted(written)}")
    return written


async def upload_on_full_disk(world: World, disk: SmallDisk, window: Window) -> None:
    """Uploads an encoder while the disk is full: the page must say in one sentence that it cannot be stored.

    A process that was killed leaves its uploads on the disk, and the next one to start deletes them, which may be just now. The
    disk then has room, and the encoder must be whole.
    """
    disk.fill(world.processes)
    try:
        answer = await _upload(window, PARTS)
    except ValueError as error:  # the server refused the file itself
        if not world.lost_a_process:
            world.ledger.note(FULL_DISK, f"the upload was not taken: {error}")
        answer = None
    if answer is not None:
        world.judge(FULL_DISK, answer, "an upload on a full disk")
        sentences = [alert.body for alert in answer.of("alert")]
        if not sentences and (names := _uploaded_names(window)):
            print("an upload found room on the full disk, since files had been deleted there", flush=True)
            await _open_upload(world, window, names[0])
            await _delete(world, window)
        else:
            world.ledger.note(FULL_DISK, full_disk_failure(sentences))
    world.judge(FULL_DISK, await window.go(PAGE), "the page after it")
    await asyncio.sleep(STAYS_FULL)
    disk.empty(world.processes)


def full_disk_failure(sentences: Sequence[str]) -> str:
    """What the page says, if it does not say in one sentence that it cannot store the files; otherwise ""."""
    is_refused = len(sentences) == 1 and NOT_STORED in sentences[0]
    return "" if is_refused else f"on a full disk it said {list(sentences)}"


async def _on_a_free_disk(world: World, window: Window) -> str:
    """The name of the encoder that was uploaded; "" where that failed."""
    answer = await _upload(window, PARTS)
    world.judge(UPLOADS, answer, "an upload")
    names = _uploaded_names(window)
    world.ledger.note(
        UPLOADS, "" if names else f"nothing was uploaded: {[each.body for each in answer.of('alert')]}"
    )
    if not names:
        return ""
    await _open_upload(world, window, names[0])
    return names[0]


def _uploaded_names(window: Window) -> list[str]:
    return [key.removeprefix("open_") for key in window.widgets if key.startswith("open_upload:")]


async def _open_upload(world: World, window: Window, name: str) -> None:
    """Opens an uploaded encoder, which must show figures, and goes back to the page of uploads."""
    answer = await window.change(f"open_{name}", True)
    world.judge(UPLOADS, answer, "the uploaded encoder")
    world.ledger.note(UPLOADS, "" if answer.of(*FIGURES) else "the uploaded encoder shows no figure")
    await window.go(PAGE)


async def _others_do_not_see_it(world: World, name: str, draw: random.Random) -> None:
    """Neither with its whole name nor with a guessed end of it."""
    for guess in (name, f"{name[:-16]}{draw.getrandbits(64):016x}"):
        for page in ("", "masks"):
            other = world.window(page, {"checkpoint": guess})
            answer = await other.open()
            await other.close()
            world.judge(UPLOADS, answer, "somebody else's upload")
            said = " ".join(each.body for each in answer.of("alert"))
            is_refused = "upload can be seen only in the session that made it" in said
            world.ledger.note(UPLOADS, "" if is_refused else f"another session was told {said or 'nothing'}")


async def _too_much(world: World, window: Window) -> None:
    """More than a session may upload is refused in a sentence."""
    for _ in range(UPLOADS_MB * 2**20 // n_bytes()):
        answer = await _upload(window, PARTS)
        world.judge(UPLOADS, answer, "one upload more")
    said = [each.body for each in answer.of("alert")]
    is_refused = len(said) == 1 and "may be uploaded" in said[0]
    world.ledger.note(UPLOADS, "" if is_refused else f"beyond {UPLOADS_MB} MB it said {said}")


def n_bytes() -> int:
    return sum((ENCODER / part).stat().st_size for part in PARTS)


async def _delete(world: World, window: Window) -> None:
    while keys := [key for key in window.widgets if key.startswith("remove_upload:")]:
        world.judge(UPLOADS, await window.change(keys[0], True), "a deleted upload")


async def _upload(window: Window, parts: Sequence[str]) -> Answer:
    widget = next(key for key in window.widgets if key.startswith(FILES))
    contents = {part: (ENCODER / part).read_bytes() for part in parts}
    return await window.upload(widget, contents, **{SUBMIT: True})


def left_behind(small: Path) -> list[str]:
    """Files of uploads that are still there."""
    return sorted(str(path.relative_to(small)) for path in small.rglob("*") if path.name in PARTS)
