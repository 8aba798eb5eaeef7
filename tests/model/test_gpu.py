"""Where there is a GPU, it computes what the CPU computes. Every other test is kept from it (`tests/conftest.py`)."""

import os
import subprocess
import sys
from pathlib import Path

import pytest
import torch

from model import capture as module
from model.capture import capture
from model.checkpoint import load
from model.config import ModelConfig
from model.huggingface.encoder import own_full_mask
from model.transformer import Transformer
from tests.model import on_device, tiny
from tests.model.huggingface.folders import build

ROOT = Path(__file__).parents[2]
# The device of tensors without numbers: reading one there raises, as reading one from a GPU makes the processor wait.
NUMBERLESS = torch.device("meta")
GPU = torch.device("cuda")


@pytest.mark.slow
def test_a_gpu_computes_what_the_cpu_computes():
    seen = {name: value for name, value in os.environ.items() if name != "CUDA_VISIBLE_DEVICES"}
    command = [sys.executable, "-m", "tests.model.on_device", "cuda"]
    done = subprocess.run(command, env=seen, cwd=ROOT, capture_output=True, text=True)
    if done.returncode == on_device.NO_DEVICE:
        pytest.skip("there is no GPU")
    assert done.returncode == 0, done.stdout + done.stderr


def blocks_without_numbers(model: Transformer, config: ModelConfig, n: int) -> torch.Tensor:
    """What leaves the blocks of the encoder, moved to the device without numbers, for `n` positions that all are real."""
    states = torch.empty(1, n, config.d_model, device=NUMBERLESS)
    mask = own_full_mask(config, n, NUMBERLESS)
    with torch.inference_mode():
        return model.to(NUMBERLESS).run_blocks(states, mask)


@pytest.mark.rest_is_slow
@pytest.mark.parametrize(
    "architecture", ["BertModel", "ModernBertModel", "DebertaV2Model", "T5EncoderModel", "EsmModel"]
)
def test_no_layer_waits_for_a_number(architecture, tmp_path):
    build(tmp_path, architecture)
    encoder = load(str(tmp_path), "cpu")
    result = blocks_without_numbers(encoder.model, encoder.config, 9)
    assert result.shape == (1, 9, encoder.config.d_model)


def test_a_layer_that_reads_a_number_would_be_noticed():
    with pytest.raises(RuntimeError, match="meta tensors"):
        bool(torch.ones(1, device=NUMBERLESS).all())


def test_a_record_has_its_own_copy_of_what_lies_on_the_device(monkeypatch):
    encoder = tiny.loaded(tiny.TEXT)
    expected = capture(encoder, "great film")
    copied: list[torch.Tensor] = []

    def copy_and_destroy(values: torch.Tensor) -> torch.Tensor:
        copied.append(values)
        with torch.inference_mode():
            copy = values.clone()
            if values.is_contiguous():
                values.zero_()
        return copy

    monkeypatch.setattr(module, "to_cpu", copy_and_destroy)
    record = capture(encoder, "great film")
    for name in ("scores", "pattern", "q", "k", "v", "z", "residual", "logits", "mask"):
        assert (getattr(record, name) == getattr(expected, name)).all(), name
    # all activations by layer cross in one piece
    assert max(values.numel() for values in copied) >= sum(
        getattr(record, name).size for name in ("scores", "pattern", "q", "k", "v", "z", "residual")
    )


@pytest.mark.parametrize("free", [0, 10**6])
def test_a_gpu_with_too_little_memory_says_so(monkeypatch, free):
    monkeypatch.setattr(module, "available_memory", lambda: 10**12)
    monkeypatch.setattr(module, "available_on_gpu", lambda device: free if device == GPU else 10**12)
    shapes = module._array_shapes(tiny.TEXT, 4096)
    with pytest.raises(torch.OutOfMemoryError, match=r"4,096 positions .* GB are free on the GPU"):
        module._flat_buffer(shapes, GPU)


def test_a_gpu_is_not_asked_where_the_machine_itself_has_no_room(monkeypatch):
    # the record ends up in the machine's memory
    monkeypatch.setattr(module, "available_memory", lambda: 10**6)
    shapes = module._array_shapes(tiny.TEXT, 4096)
    with pytest.raises(MemoryError, match=r"0\.0 GB are free$"):
        module._flat_buffer(shapes, GPU)
