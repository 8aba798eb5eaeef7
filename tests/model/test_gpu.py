"""Where there is a GPU, it says what the CPU says. Every other test is kept from it (`tests/conftest.py`)."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
NO_GPU = 77
SCRIPT = f"""
import numpy as np, torch
if not torch.cuda.is_available():
    raise SystemExit({NO_GPU})
from model.capture import capture
from model.checkpoint import load
from model.inputs.digits import examples
from model.capture.intervention import MaskChoice
from model.capture.intervention import masked
for name, given in (("mnist-pre-ln", examples()[0][0]), ("imdb-post-ln", "It is not a bad film.")):
    here, there = (load(name, device) for device in ("cpu", "cuda"))
    pairs = [[capture(each, given) for each in (here, there)]]
    changes = [masked(MaskChoice(kind="causal"))]
    if isinstance(given, str):
        changes += [masked(MaskChoice(kind="padding", n_padding=3), "ignored")]
    pairs += [[capture(each, given, change) for each in (here, there)] for change in changes]
    for cpu, gpu in pairs:
        for field in ("pattern", "residual", "logits_by_layer"):
            np.testing.assert_allclose(getattr(gpu, field), getattr(cpu, field), atol=2e-3, rtol=2e-3)
"""


@pytest.mark.slow
def test_the_gpu_says_what_the_cpu_says():
    seen = {name: value for name, value in os.environ.items() if name != "CUDA_VISIBLE_DEVICES"}
    done = subprocess.run([sys.executable, "-c", SCRIPT], env=seen, cwd=ROOT, capture_output=True, text=True)
    if done.returncode == NO_GPU:
        pytest.skip("there is no GPU")
    assert done.returncode == 0, done.stderr
