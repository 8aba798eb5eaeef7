import os
import platform
import re
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest
import torch

from model import device
from model.device import available_memory, available_on_gpu, find_device, machine_memory, torch_seed

ROOT = Path(__file__).parents[2]


def test_a_device_by_name():
    assert find_device("cpu") == torch.device("cpu")


def test_the_gpu_is_taken_where_there_is_one(monkeypatch):
    assert find_device() == torch.device("cpu")  # tests see no GPU
    monkeypatch.setattr(torch.cuda, "is_available", lambda: True)
    with pytest.raises(ValueError, match="the device 'cuda' cannot be used: "):
        find_device()  # and it is no use to claim that there is one


@pytest.mark.parametrize("name", ["cuda", "cuda:7", "toaster", ""])
def test_a_device_that_is_not_there_is_refused_in_one_sentence(name):
    with pytest.raises(ValueError, match=f"the device '{name}' cannot be used: ") as caught:
        find_device(name)
    assert "\n" not in str(caught.value)


ONE_THREAD = """
import torch
torch.set_num_threads(3)
import model.capture
print(torch.get_num_threads())
import app_pages.subject.cache
print(torch.get_num_threads())
"""


def test_one_thread_is_the_servers_choice_and_not_that_of_whoever_imports_the_model():
    done = subprocess.run([sys.executable, "-c", ONE_THREAD], capture_output=True, text=True, check=True)
    assert done.stdout.split() == ["3", "1"]


KEPT = """
from pathlib import Path
from model.device import release_memory
import numpy as np

def resident():
    return int(Path("/proc/self/statm").read_text().split()[1]) * 4096 / 2**20

np.ones(2**21)  # 16 MB: once this is freed, glibc takes blocks up to that size from its heap
large, small = [], []
before = resident()
for _ in range(100):
    large.append(np.ones(2**17))  # 1 MB
    small.append(bytes(10_000))  # in the heap it stands behind each of them
large.clear()
print(resident() - before)
release_memory()
print(resident() - before)
"""


REUSED = """
import resource
import numpy as np

def faults_per_layer():
    before = resource.getrusage(resource.RUSAGE_SELF).ru_minflt
    for _ in range(20):
        layer = [np.ones(2**21, np.float64) for _ in range(2)]  # 16 MB each
        del layer
    return (resource.getrusage(resource.RUSAGE_SELF).ru_minflt - before) / 20

faults_per_layer()
print(faults_per_layer())
"""


@pytest.mark.skipif(platform.libc_ver()[0] != "glibc", reason="other systems keep memory in their own way")
def test_memory_that_is_freed_is_used_again():
    """As the image of the service sets its environment, and not by default."""
    settings = dict(re.findall(r"(MALLOC_\w+)=(\d+)", (ROOT / "Dockerfile").read_text()))
    faults = [
        float(
            subprocess.run(
                [sys.executable, "-c", REUSED],
                env=os.environ | environment,
                capture_output=True,
                text=True,
                check=True,
            ).stdout
        )
        for environment in (settings, {})
    ]
    assert faults[0] < 1 < faults[1]


@pytest.mark.skipif(
    platform.libc_ver()[0] != "glibc", reason="other systems give memory back in their own way"
)
def test_freed_memory_goes_back_to_the_system_when_told():
    done = subprocess.run([sys.executable, "-c", KEPT], capture_output=True, text=True, check=True)
    freed, handed_back = map(float, done.stdout.split())
    assert freed > 50 > handed_back  # of 100 MB


@pytest.mark.parametrize(
    ("limit", "is_limited"), [("max\n", False), (f"{2**20}\n", True), (f"{2**60}\n", False)]
)
def test_the_memory_is_that_of_the_machine_or_of_a_smaller_container(
    monkeypatch, tmp_path, limit, is_limited
):
    (tmp_path / "memory.max").write_text(limit)
    monkeypatch.setattr(device, "CONTAINER_LIMIT", tmp_path / "memory.max")
    of_machine = os.sysconf("SC_PHYS_PAGES") * os.sysconf("SC_PAGE_SIZE")
    assert machine_memory() == (2**20 if is_limited else of_machine)


def test_a_system_that_cannot_be_asked_says_no_memory(monkeypatch, tmp_path):
    monkeypatch.setattr(device, "CONTAINER_LIMIT", tmp_path / "none")
    monkeypatch.delattr(os, "sysconf")
    assert machine_memory() is None


@pytest.mark.parametrize(
    ("limit", "expected"),
    [("max\n", 3000 * 1024), ("1000000\n", 1_000_000 - 700_000 + 50_000), ("9000000\n", 3000 * 1024)],
)
def test_what_is_free_is_that_of_the_machine_or_of_a_smaller_container(
    monkeypatch, tmp_path, limit, expected
):
    files = {
        "meminfo": "MemTotal:  8000 kB\nMemFree:  1000 kB\nMemAvailable:  3000 kB\nHugePages_Total:  0\n",
        "memory.max": limit,
        "memory.current": "700000\n",
        "memory.stat": "anon 600000\ninactive_file 50000\n",
    }
    for name, text in files.items():
        (tmp_path / name).write_text(text)
    monkeypatch.setattr(device, "MEMORY_REPORT", tmp_path / "meminfo")
    monkeypatch.setattr(device, "CONTAINER_LIMIT", tmp_path / "memory.max")
    assert available_memory() == expected


def test_of_a_system_that_cannot_be_asked_nobody_knows_what_is_free(monkeypatch, tmp_path):
    monkeypatch.setattr(device, "MEMORY_REPORT", tmp_path / "none")
    monkeypatch.setattr(device, "CONTAINER_LIMIT", tmp_path / "none")
    assert available_memory() is None


def test_what_torch_keeps_on_a_gpu_for_reuse_is_free(monkeypatch):
    monkeypatch.setattr(torch.cuda, "mem_get_info", lambda _device: (1000, 8000))
    monkeypatch.setattr(torch.cuda, "memory_reserved", lambda _device: 700)
    monkeypatch.setattr(torch.cuda, "memory_allocated", lambda _device: 300)
    assert available_on_gpu(torch.device("cuda")) == 1400


def drawn(seed: int) -> list[float]:
    with torch_seed(seed):
        return [torch.rand(()).item() for _ in range(50)]


def test_the_numbers_are_the_seeds_whoever_draws_at_the_same_time():
    alone = {seed: drawn(seed) for seed in (3, 4)}
    assert alone[3] != alone[4]
    with ThreadPoolExecutor(8) as threads:
        together = list(threads.map(drawn, (3, 4) * 16))
    assert together == [alone[3], alone[4]] * 16


def test_what_comes_after_goes_on_as_before():
    torch.manual_seed(0)
    expected = torch.rand(3)
    torch.manual_seed(0)
    drawn(5)
    assert torch.equal(torch.rand(3), expected)
