"""The message and the exit code for an answer of pip-audit."""

import json

import pytest

from tests.audit import NOBODY, verdict

CLEAN = {"name": "numpy", "version": "1.0", "vulns": []}
SKIPPED = {"name": "torch", "skip_reason": "not found on PyPI"}


def answer(*dependencies: dict) -> str:
    return json.dumps({"dependencies": dependencies, "fixes": []})


@pytest.mark.parametrize("output", ["", "Traceback", "[]", "{}", answer(), answer(SKIPPED)])
def test_where_nobody_answers_nothing_has_failed(output):
    assert verdict(output) == (0, NOBODY)


def test_none_known():
    code, message = verdict(answer(CLEAN, SKIPPED))
    assert code == 0
    assert "of 1 requirements" in message
    assert "torch" in message


@pytest.mark.parametrize(("versions", "mended"), [(["1.1", "2.0"], "1.1, 2.0"), ([], "no version yet")])
def test_what_is_known_is_named_with_what_mends_it(versions, mended):
    vulnerable = CLEAN | {"vulns": [{"id": "PYSEC-1", "fix_versions": versions}]}
    assert verdict(answer(vulnerable)) == (1, f"numpy 1.0: PYSEC-1, mended in {mended}")
