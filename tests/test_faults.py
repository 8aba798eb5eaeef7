"""What the benchmark of faults counts as broken; and, in the slow part, that a short run of it breaks nothing."""

import asyncio
import os
import random
import resource
import shutil
import socket
import subprocess
import sys
from types import SimpleNamespace

import numpy as np
import pytest
from streamlit.proto.Alert_pb2 import Alert
from streamlit.proto.Image_pb2 import ImageList

from benchmarks.faults import uploads_on_small_disk
from benchmarks.faults.downloads import file_error
from benchmarks.faults.hostile_checkpoints import promise_of
from benchmarks.faults.hostile_files import RECORDS, TABLES, objects
from benchmarks.faults.process_monitor import cache_sizes, connected_hosts
from benchmarks.faults.promises import (
    DOWNLOADS,
    FULL_DISK,
    NAMED_FOLDER,
    ONE_SENTENCE,
    PROMISES,
    TOKENIZERS,
    UPLOADS,
    Ledger,
)
from benchmarks.faults.replaced_checkpoint import WAYS, make_versions, record_error
from benchmarks.faults.small_disk import SIMULATED, SmallDisk
from benchmarks.faults.world import World
from benchmarks.load.browser_window import Answer, File
from benchmarks.load.servers import HOST, ROOT
from benchmarks.mutations import KINDS
from model.capture import capture
from model.capture.provenance import settings
from model.checkpoint import load, weights_hash
from model.record.record_file import dump, from_bytes

TEXT = "a film"


def test_a_promise_is_broken_once_it_has_a_failure():
    ledger = Ledger()
    ledger.record(DOWNLOADS)
    assert not ledger.is_broken
    assert set(ledger.untried) == set(PROMISES) - {DOWNLOADS}
    ledger.record(DOWNLOADS, "half a\nfile")
    assert ledger.is_broken
    assert (ledger.counts[DOWNLOADS].tried, ledger.counts[DOWNLOADS].broken) == (2, 1)
    assert "half a file" in str(ledger)


def file(name: str, kind: str, content: bytes, claimed: int | None = None) -> File:
    return File(name, kind, content, "/media/x", len(content) if claimed is None else claimed)


@pytest.mark.parametrize(
    ("downloaded", "fault"),
    [
        (file("a.csv", "text/csv; charset=utf-8", b"a,b\n1,2\n"), ""),
        (file("a.csv", "text/csv", b"a,b\n"), "it has no rows"),
        (file("a.csv", "text/html", b"a,b\n1,2\n"), "its type is text/html, not text/csv"),
        (file("a.csv", "text/csv", b"a,b\n1,2\n", 99), "8 of 99 bytes"),
        (file("a.svg", "image/svg+xml", b"<svg></svg>"), ""),
        (file("a.svg", "image/svg+xml", b"<svg>"), "it does not open: ParseError"),
        (file("a.png", "image/png", b"\x89PNG\r\n\x1a\n"), "it does not open: "),
        (file("a.pdf", "application/pdf", b"%PDF-1.7 half"), "it has no beginning or no end"),
        (file("a.html", "text/html", b"<html></html>"), "it has no Content-Security-Policy or no end"),
        (file("a.exe", "application/octet-stream", b"MZ"), "unknown file type .exe"),
    ],
)
def test_a_download_that_is_cut_or_something_else_is_a_fault(downloaded, fault):
    error = file_error(downloaded)
    assert error.startswith(fault)
    assert bool(error) == bool(fault)


def test_a_record_is_its_windows_own():
    loaded = load("imdb-pre-ln", "cpu")
    content = dump(capture(loaded, TEXT), settings(loaded, TEXT))
    record = file("a.npz", "application/octet-stream", content)
    assert file_error(record, "film") == ""
    assert file_error(record, "somebody") == "its tokens are [CLS] a film [SEP]"


@pytest.mark.parametrize("way", WAYS, ids=lambda way: way.__name__)
def test_a_record_of_other_weights_than_it_names_is_mixed_up(tmp_path, way):
    encoder = make_versions(ROOT / "checkpoints" / "imdb-pre-ln", tmp_path / "replaced", tmp_path)
    first, second = encoder.hashes
    loaded = load(encoder.folder, "cpu")
    record, about = capture(loaded, TEXT), settings(loaded, TEXT)
    assert record_error(record, about, encoder.hashes, TEXT, expected=first) == ""
    encoder.replace(way)
    assert encoder.current_hash == weights_hash(encoder.folder) == second
    assert "replaced before" in record_error(record, about, encoder.hashes, TEXT, expected=second)
    assert "not what the weights" in record_error(
        record, settings(loaded, TEXT), encoder.hashes, TEXT, expected=""
    )
    assert "never there" in record_error(
        record, about | {"weights_sha256": "0"}, encoder.hashes, TEXT, expected=""
    )


def test_a_simulated_full_disk_takes_no_large_file(tmp_path):
    disk, process = SmallDisk(tmp_path, is_mounted=False), SimpleNamespace(pid=os.getpid())
    before = resource.getrlimit(resource.RLIMIT_FSIZE)
    try:
        disk.fill([process])
        (tmp_path / "small").write_bytes(bytes(1000))
        with pytest.raises(OSError, match="File too large"):
            (tmp_path / "large").write_bytes(bytes(SIMULATED + 1))
    finally:
        disk.empty([process])
    assert resource.getrlimit(resource.RLIMIT_FSIZE)[0] == before[0]
    (tmp_path / "large").write_bytes(bytes(SIMULATED + 1))


class UploadPage:
    """Stands in for a window on the page of uploads, which answers with these alerts and then lists these uploads."""

    def __init__(self, alerts: list[str], uploads: list[str], shows_figure: bool = True) -> None:
        self.answer = Answer(0, elements=[("alert", Alert(body=body)) for body in alerts])
        self.opened = Answer(0, elements=[("imgs", ImageList())] if shows_figure else [])
        self.widgets = {"own_files_Files_0": None} | {f"{action}_{name}": None for name in uploads for action in ("open", "remove")}  # fmt: skip

    async def upload(self, *_: object, **__: object) -> Answer:
        return self.answer

    async def change(self, key: str, _: object) -> Answer:
        if key.startswith("remove_"):
            del self.widgets[key]
        return self.opened

    async def go(self, _: str) -> Answer:
        return Answer(0)


@pytest.mark.parametrize(
    ("page", "broken"),
    [
        (UploadPage(["The server cannot store these files: No space left on device."], []), []),
        (UploadPage(["Choose the files first."], []), [FULL_DISK]),
        (UploadPage([], []), [FULL_DISK]),
        # A process that starts deletes what a killed one has left on the disk: then there is room, and the upload is whole.
        (UploadPage([], ["upload:encoder-0"]), []),
        (UploadPage([], ["upload:encoder-0"], shows_figure=False), [UPLOADS]),
    ],
    ids=["sentence", "another sentence", "nothing", "room again", "half an encoder"],
)
def test_an_upload_on_a_full_disk_is_refused_in_a_sentence_or_whole(page, broken, tmp_path, monkeypatch):
    monkeypatch.setattr(uploads_on_small_disk, "STAYS_FULL", 0)
    world = World("http://127.0.0.1:9", [], Ledger(), tmp_path, seconds=1)
    asyncio.run(uploads_on_small_disk.upload_on_full_disk(world, SmallDisk(tmp_path, is_mounted=False), page))
    assert [promise for promise, count in world.ledger.counts.items() if count.broken] == broken
    assert not any(key.startswith("remove_") for key in page.widgets)


def test_what_the_cache_holds_is_read_from_the_log():
    line = "12:00 app_pages.subject.cache: kept: x, 0.2 MB; cache: 1,204 entries, 1,255.9 of 256 MB"
    assert list(cache_sizes([line, "another line"])) == [(1255.9, 256.0)]


def test_whom_a_process_speaks_to_is_seen():
    with socket.create_server((HOST, 0)) as server, socket.create_connection(server.getsockname()):
        assert HOST in set(connected_hosts(os.getpid()))


def test_each_kind_of_damage_stands_for_a_promise():
    assert {promise_of(kind) for kind in KINDS} <= set(PROMISES)
    assert promise_of("links") == NAMED_FOLDER
    assert promise_of("tokenizer_parts") == TOKENIZERS
    assert promise_of("truncated_weights") == ONE_SENTENCE


@pytest.mark.parametrize("name", sorted(RECORDS))
def test_hostile_records_are_read_or_refused_in_a_sentence(name, tmp_path):
    trace, sentence = tmp_path / "trace", ""
    content = objects(trace) if name == "objects" else RECORDS[name](random.Random(name))
    try:
        assert np.isfinite(from_bytes(content, "a.npz").record.pattern).all()
    except ValueError as error:
        sentence = str(error)
    assert "\n" not in sentence
    assert not trace.exists()


@pytest.mark.parametrize("name", sorted(TABLES))
def test_hostile_tables_can_be_made_once_more(name):
    assert TABLES[name](random.Random(name)) == TABLES[name](random.Random(name))


@pytest.mark.slow
def test_a_short_run_breaks_nothing():
    n_processes = "2" if shutil.which("haproxy", path=f"{os.environ['PATH']}:/usr/sbin") else "1"
    command = [sys.executable, "-m", "benchmarks.faults", "--seconds", "40", "--windows", "4", "--every", "2"]
    done = subprocess.run([*command, "--processes", n_processes], cwd=ROOT, capture_output=True, text=True)
    assert done.returncode == 0, done.stdout + done.stderr
    assert DOWNLOADS in done.stdout
