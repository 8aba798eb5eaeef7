from concurrent.futures import ThreadPoolExecutor

import torch

from model.torch_seed import torch_seed


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
