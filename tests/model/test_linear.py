import numpy as np
import pytest
import torch
from torch.nn import functional

from model import linear as module
from model.capture import capture
from model.linear import LEAST, ROWS, Linear, linear_map
from tests.model.lenses.lens_encoders import IMPORTED, PLACEMENTS, read_by

# whether oneDNN is chosen; torch for some processors has none
LIBRARIES = [False, True] if torch.backends.mkldnn.is_available() else [False]
by_either_library = pytest.mark.usefixtures("library")


@pytest.fixture(params=LIBRARIES)
def library(request, monkeypatch):
    monkeypatch.setattr(module, "_onednn_is_faster", lambda: request.param)


def in_float64(x, weight, bias):
    return functional.linear(x.double(), weight.double(), None if bias is None else bias.double())


@by_either_library
@pytest.mark.parametrize(
    "shape", [(128, 96), (2, 3, 50, 96), (700, 96), (2049, 96), (31, 96), (1, 96), (0, 96), (96,)]
)
@pytest.mark.parametrize("has_bias", [True, False])
@torch.inference_mode()
def test_products_of_any_shape(monkeypatch, shape, has_bias):
    monkeypatch.setattr(module, "LEAST", 0)
    x, weight = torch.randn(shape), torch.randn(128, 96)
    bias = torch.randn(128) if has_bias else None
    torch.testing.assert_close(
        linear_map(x, weight, bias), in_float64(x, weight, bias).float(), rtol=1e-5, atol=1e-4
    )


@by_either_library
@torch.inference_mode()
def test_tensors_that_are_no_single_piece_of_memory():
    weight = torch.randn(96, 128).T
    for x in (
        torch.randn(96, 200).T,
        torch.randn(200, 192)[:, ::2],
        torch.randn(200, 1, 96).expand(-1, 3, -1),
    ):
        result = linear_map(x, weight)
        torch.testing.assert_close(result, in_float64(x, weight, None).float(), rtol=1e-5, atol=1e-4)


@by_either_library
@torch.inference_mode()
def test_what_is_no_number_spoils_its_own_row_alone():
    x, weight = torch.randn(200, 96), torch.rand(128, 96)
    x[0, 0], x[1, 1] = torch.nan, torch.inf
    result = linear_map(x, weight)
    assert result[0].isnan().all()
    assert result[1].isinf().all()
    assert result[2:].isfinite().all()


@by_either_library
def test_gradients_are_those_of_torch():
    layer, torchs = Linear(96, 128), torch.nn.Linear(96, 128)
    torchs.load_state_dict(layer.state_dict())
    x = torch.randn(200, 96)
    for module_ in (layer, torchs):
        module_(x).square().sum().backward()
    torch.testing.assert_close(layer.weight.grad, torchs.weight.grad, rtol=0, atol=0)
    torch.testing.assert_close(layer(x), torchs(x), rtol=0, atol=0)


@by_either_library
@torch.inference_mode()
def test_other_precisions_are_those_of_torch():
    layer, x = Linear(96, 128), torch.randn(200, 96)
    with torch.autocast("cpu", torch.bfloat16):
        assert layer(x).dtype == torch.bfloat16
    assert layer.double()(x.double()).dtype == torch.float64


def test_few_numbers_of_rows_are_compiled(monkeypatch):
    """Texts of a thousand lengths need no more code than those of one."""
    numbers_of_rows = set()

    def multiply(x, weight, bias, *_):
        numbers_of_rows.add(len(x))
        return functional.linear(x, weight, bias)

    monkeypatch.setattr(module, "_onednn_is_faster", lambda: True)
    monkeypatch.setattr(module, "LEAST", 0)
    monkeypatch.setattr(torch.ops.mkldnn, "_linear_pointwise", multiply)
    weight, bias = torch.randn(4, 4), torch.randn(4)
    with torch.inference_mode():
        for n in range(1, 1000, 7):
            x = torch.randn(n, 4)
            torch.testing.assert_close(linear_map(x, weight, bias), functional.linear(x, weight, bias))
    assert numbers_of_rows <= set(ROWS)


def test_a_product_worth_it_goes_the_other_way(monkeypatch):
    calls = []
    monkeypatch.setattr(module, "_onednn_is_faster", lambda: calls.append(1) or False)
    width = 2**8
    weight = torch.zeros(width, width)
    with torch.no_grad():
        linear_map(torch.zeros(LEAST // width**2 - 1, width), weight)
        assert not calls
        linear_map(torch.zeros(LEAST // width**2, width), weight)
    assert calls == [1]


@pytest.mark.parametrize(
    ("capability", "maker", "expected"),
    [
        ("AVX512", "vendor_id : AuthenticAMD", True),
        ("AVX512", "vendor_id : GenuineIntel", False),
        ("AVX2", "vendor_id : AuthenticAMD", False),
        ("NEON", "", False),
    ],
)
def test_it_is_chosen_for_processors_on_which_mkl_leaves_half_of_the_speed(
    monkeypatch, capability, maker, expected
):
    monkeypatch.setattr(torch.backends.cpu, "get_cpu_capability", lambda: capability)
    monkeypatch.setattr(torch.backends.mkldnn, "is_available", lambda: True)
    monkeypatch.setattr(module, "processor", lambda: maker)
    module._onednn_is_faster.cache_clear()
    try:
        assert module._onednn_is_faster() is expected
    finally:
        module._onednn_is_faster.cache_clear()


@pytest.mark.parametrize("name", [*PLACEMENTS, *IMPORTED])
def test_an_encoder_computes_the_same_by_either_library(monkeypatch, tmp_path, name):
    loaded, text = read_by(name, tmp_path)
    monkeypatch.setattr(module, "LEAST", 0)
    records = []
    for is_chosen in LIBRARIES:
        monkeypatch.setattr(module, "_onednn_is_faster", lambda is_chosen=is_chosen: is_chosen)
        records.append(capture(loaded, text))
    for array in ("pattern", "residual", "logits", "pooled"):
        first, last = getattr(records[0], array), getattr(records[-1], array)
        np.testing.assert_allclose(last, first, rtol=1e-3, atol=1e-5)
