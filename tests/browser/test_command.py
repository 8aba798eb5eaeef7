"""`attention-loupe owner/name --text "..."`, as `python -m loupe`; tests/test_library.py starts the installed command."""

import os
import re
import signal
import subprocess
import sys

import pytest
from playwright.sync_api import expect

from tests.browser.acting import text_box
from tests.browser.conftest import new_context
from tests.browser.server import ROOT, START_UP
from tests.browser.watching import eventually
from tests.model.hub_server import Hub, serving
from tests.model.huggingface.folders import build

TEXT = "the film is not bad & long"


@pytest.mark.slow
def test_a_model_of_the_hub_opens_in_the_browser(tmp_path, browser):
    build(tmp_path / "bert", "BertForSequenceClassification")
    files = {path.name: path.read_bytes() for path in (tmp_path / "bert").iterdir()}
    opened = tmp_path / "opened"
    program = tmp_path / "browser"
    program.write_text(f'#!/bin/sh\necho "$1" > {opened}\n')
    program.chmod(0o755)
    with serving(Hub(files)) as hub:
        environment = os.environ | {
            "HOME": str(tmp_path),
            "PYTHONPATH": str(ROOT),
            "HF_ENDPOINT": hub.endpoint,
            "HF_HOME": str(tmp_path / "cache"),
            "DISPLAY": ":0",
            "BROWSER": f"{program} %s",
        }
        server = subprocess.Popen(
            [sys.executable, "-m", "loupe", "some/bert", "--text", TEXT],
            cwd=tmp_path,
            env=environment,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
        )
        try:
            address = re.search(r"http://127\.0\.0\.1:\d+/\S+", server.stdout.readline())[0]
            with new_context(browser, address) as context:
                page = context.new_page()
                page.goto(address)
                expect(page.get_by_text("[CLS]", exact=True).first).to_be_visible()
                expect(text_box(page)).to_have_value(TEXT)
                expect(page.locator(".st-key-answer")).to_contain_text("class 1")
                eventually(page, lambda: opened.exists() and opened.read_text().strip() == address)
            server.send_signal(signal.SIGINT)
            _, errors = server.communicate(timeout=START_UP)
        finally:
            server.kill()
    assert server.returncode == 130
    assert "Traceback" not in errors
