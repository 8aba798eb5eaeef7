"""One session uploads encoders, to a disk that is full every other time; another one tries to open them."""

import asyncio
import random
import time
from collections.abc import Sequence
from pathlib import Path

from benchmarks.addresses import FIGURES
from benchmarks.faults.promises import FULL_DISK, UPLOADS
from benchmarks.faults.small_disk import SmallDisk
from benchmarks.faults.world import World
from benchmarks.load.browser_window import Answer, Window
from benchmarks.load.servers import ROOT

PAGE = "your_own"
FILES, SUBMIT = "own_files_Files_", "FormSubmitter:upload_form-Use these files"
ENCODER = ROOT / "checkpoints" / "imdb-pre-ln"
PARTS = ("config.json", "model.safetensors", "tokenizer.json")
UPLOADS_MB = 12  # what a session may upload: two of these encoders, and not three
NOT_STORED = "server cannot store these files"
STAYS_FULL = 5  # seconds for which the class goes on with a full disk
DELETED_AFTER = 330  # seconds from closing a window until its uploads are deleted: the app's and Streamlit's delay together


async def upload_encoders(world: World, disk: SmallDisk) -> None:
    draw = world.draw("uploads")
    abandoned = await _abandon_upload(world)
    closed_at = time.monotonic()
    while world.goes_on:
        try:
            async with world.visit(UPLOADS, "uploading", PAGE) as window:
                world.check(UPLOADS, await window.open(), "the page of uploads")
                await upload_on_full_disk(world, disk, window)
                if name := await _upload_on_free_disk(world, window):
                    await _open_in_other_sessions(world, name, draw)
                    await _exceed_limit(world, window)
                    await _delete(world, window)
        finally:
            disk.empty(world.processes)
        await asyncio.sleep(2)
    if abandoned and time.monotonic() - closed_at > DELETED_AFTER:
        remaining = abandoned & set(stored_files(world.small))
        failure = (
            f"{DELETED_AFTER} s after its window was closed there is {min(remaining)}" if remaining else ""
        )
        world.ledger.record(UPLOADS, failure)


async def _abandon_upload(world: World) -> set[str]:
    """Closes a window with its upload, which must be deleted some minutes later; returns the upload's files."""
    is_uploaded = False
    async with world.visit(UPLOADS, "the first upload", PAGE) as window:
        await window.open()
        await _upload(window, PARTS)
        is_uploaded = True
    if not is_uploaded:
        return set()
    files = set(stored_files(world.small))
    world.ledger.record(UPLOADS, "" if len(files) == len(PARTS) else f"stored were {sorted(files)}")
    return files


async def upload_on_full_disk(world: World, disk: SmallDisk, window: Window) -> None:
    """Uploads an encoder while the disk is full: the page must say in one sentence that it cannot be stored.

    A process that was killed leaves its uploads on the disk, and the next one to start deletes them, which may be just now. The
    disk then has room, and the encoder must be whole.
    """
    disk.fill(world.processes)
    try:
        answer = await _upload(window, PARTS)
    except ValueError as error:  # the server refused the file itself
        if world.lost_a_process:
            raise
        world.ledger.record(FULL_DISK, f"the server refused the upload: {error}")
    else:
        world.check(FULL_DISK, answer, "an upload on a full disk")
        sentences = [alert.body for alert in answer.of("alert")]
        if not sentences and (names := _uploaded_names(window)):
            print("an upload was stored on the full disk, where files had been deleted", flush=True)
            await _open_upload(world, window, names[0])
            await _delete(world, window)
        else:
            world.ledger.record(FULL_DISK, full_disk_failure(sentences))
    world.check(FULL_DISK, await window.go(PAGE), "the page after it")
    await asyncio.sleep(STAYS_FULL)
    disk.empty(world.processes)


def full_disk_failure(sentences: Sequence[str]) -> str:
    """What the page shows instead of the one sentence that the files cannot be stored; "" if it shows this sentence."""
    is_refused = len(sentences) == 1 and NOT_STORED in sentences[0]
    return "" if is_refused else f"on a full disk the page shows {list(sentences)}"


async def _upload_on_free_disk(world: World, window: Window) -> str:
    """Uploads an encoder and returns its name; "" if the upload failed."""
    answer = await _upload(window, PARTS)
    world.check(UPLOADS, answer, "an upload")
    names = _uploaded_names(window)
    alerts = [alert.body for alert in answer.of("alert")]
    world.ledger.record(UPLOADS, "" if names else f"nothing was uploaded: {alerts}")
    if not names:
        return ""
    await _open_upload(world, window, names[0])
    return names[0]


def _uploaded_names(window: Window) -> list[str]:
    """The names of the uploaded encoders that the page offers."""
    return [key.removeprefix("open_") for key in window.widgets if key.startswith("open_upload:")]


async def _open_upload(world: World, window: Window, name: str) -> None:
    """Opens an uploaded encoder, which must show figures, and goes back to the page of uploads."""
    answer = await window.change(f"open_{name}", True)
    world.check(UPLOADS, answer, "the uploaded encoder")
    world.ledger.record(UPLOADS, "" if answer.of(*FIGURES) else "the uploaded encoder shows no figure")
    await window.go(PAGE)


async def _open_in_other_sessions(world: World, name: str, draw: random.Random) -> None:
    """Tries to open an upload in other sessions, by its name and by a guessed name; both must be refused."""
    for guess in (name, f"{name[:-16]}{draw.getrandbits(64):016x}"):
        for page in ("", "masks"):
            action = "an upload of another session"
            async with world.visit(UPLOADS, action, page, {"checkpoint": guess}) as other:
                answer = await other.open()
                world.check(UPLOADS, answer, action)
                alerts = " ".join(alert.body for alert in answer.of("alert"))
                is_refused = "upload can be seen only in the session that made it" in alerts
                failure = "" if is_refused else f"another session was shown {alerts or 'nothing'}"
                world.ledger.record(UPLOADS, failure)


async def _exceed_limit(world: World, window: Window) -> None:
    """Uploads more than a session may, which must be refused in one sentence."""
    for _ in range(UPLOADS_MB * 2**20 // n_bytes()):
        answer = await _upload(window, PARTS)
        world.check(UPLOADS, answer, "one upload more")
    alerts = [alert.body for alert in answer.of("alert")]
    is_refused = len(alerts) == 1 and "may be uploaded" in alerts[0]
    world.ledger.record(UPLOADS, "" if is_refused else f"beyond {UPLOADS_MB} MB the page shows {alerts}")


def n_bytes() -> int:
    """The size of one upload in bytes."""
    return sum((ENCODER / part).stat().st_size for part in PARTS)


async def _delete(world: World, window: Window) -> None:
    while keys := [key for key in window.widgets if key.startswith("remove_upload:")]:
        world.check(UPLOADS, await window.change(keys[0], True), "a deleted upload")


async def _upload(window: Window, parts: Sequence[str]) -> Answer:
    uploader = next(key for key in window.widgets if key.startswith(FILES))
    contents = {part: (ENCODER / part).read_bytes() for part in parts}
    return await window.upload(uploader, contents, **{SUBMIT: True})


def stored_files(small: Path) -> list[str]:
    """Files of uploads on the small disk, as relative paths."""
    return sorted(str(path.relative_to(small)) for path in small.rglob("*") if path.name in PARTS)
