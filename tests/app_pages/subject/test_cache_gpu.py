"""Where the memory of a GPU does not suffice."""

from dataclasses import replace
from pathlib import Path

import pytest
import torch

from app_pages.subject import cache
from app_pages.subject.cache import Checkpoint, cached
from model import checkpoint
from model.loaded import Loaded


class TooLarge:
    """`model.checkpoint.load` on a machine whose GPU is too small, for the weights or for what is made with them."""

    def __init__(self, when: str) -> None:
        self.when, self.requested, self._load = when, [], checkpoint.load

    def __call__(self, name: str, device: str = "auto") -> Loaded:
        self.requested.append((name, device))
        if device == "auto" and self.when == "loading":
            raise torch.OutOfMemoryError("CUDA out of memory. Tried to allocate 20.00 MiB.")
        encoder = self._load(name, "cpu")
        return replace(encoder, device=torch.device("cuda")) if device == "auto" else encoder


def where(encoder: Loaded, *_: object) -> str:
    if encoder.device.type == "cuda":
        raise torch.OutOfMemoryError("CUDA out of memory. Tried to allocate 20.00 MiB.")
    return encoder.device.type


@cached
def where_both(one: Checkpoint, other: Checkpoint) -> list[str]:
    return [where(cache.loaded(name)) for name in (one, other)]


@pytest.fixture(params=["loading", "computing"])
def too_large(request: pytest.FixtureRequest, checkpoints: Path, monkeypatch: pytest.MonkeyPatch) -> TooLarge:  # noqa: ARG001
    load = TooLarge(request.param)
    monkeypatch.setattr(checkpoint, "load", load)
    monkeypatch.setattr(cache, "_on_cpu", set())
    return load


def test_an_encoder_too_large_for_the_gpu_runs_on_the_cpu_from_then_on(too_large):
    assert not cache.is_on_cpu_instead("mnist-pre-ln")
    assert cache.of(where, "mnist-pre-ln") == "cpu"
    assert cache.is_on_cpu_instead("mnist-pre-ln")
    assert cache.loaded("mnist-pre-ln").device.type == "cpu"
    assert cache.of(where, "mnist-pre-ln", "another input") == "cpu"
    assert too_large.requested == [("mnist-pre-ln", "auto"), ("mnist-pre-ln", "cpu")]
    assert not cache.is_on_cpu_instead("mnist-post-ln")


@pytest.mark.usefixtures("too_large")
def test_so_do_two_of_which_one_thing_is_made():
    assert where_both("mnist-pre-ln", "mnist-post-ln") == ["cpu", "cpu"]


@cached
def never(_n: int) -> None:
    raise torch.OutOfMemoryError("CUDA out of memory.")


def test_what_is_made_of_no_encoder_cannot_go_elsewhere():
    with pytest.raises(torch.OutOfMemoryError):
        never(1)
