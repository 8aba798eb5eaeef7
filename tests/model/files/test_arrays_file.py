import io
import json
import struct
import zipfile

import numpy as np
import pytest
from safetensors.numpy import save

from model.files import arrays_file
from model.files.arrays_file import read_arrays, write_arrays

WANTED = ("pattern", "tokens")
PATTERN = np.linspace(0, 1, 16, dtype=np.float32).reshape(1, 1, 4, 4)


def npz(**arrays: np.ndarray) -> bytes:
    buffer = io.BytesIO()
    np.savez_compressed(buffer, **arrays)
    return buffer.getvalue()


def header(claims: object, values: bytes = b"") -> bytes:
    """A safetensors file with a header of one's own."""
    content = json.dumps(claims).encode()
    return struct.pack("<Q", len(content)) + content + values


def npy(shape: tuple[int, ...], descr: str = "<f4", values: bytes = b"") -> bytes:
    """A member of an .npz whose header claims that shape and type."""
    buffer = io.BytesIO()
    np.lib.format.write_array_header_1_0(buffer, {"shape": shape, "fortran_order": False, "descr": descr})
    return buffer.getvalue() + values


def zipped(*members: tuple[str, bytes]) -> bytes:
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w", zipfile.ZIP_DEFLATED) as file:
        for name, content in members:
            file.writestr(name, content)
    return buffer.getvalue()


@pytest.mark.parametrize("kind", arrays_file.KINDS)
def test_what_is_written_is_read(kind):
    texts = {"tokens": ["[CLS]", "größe", "", "字"], "settings": "{}"}
    content = write_arrays({"pattern": PATTERN, "scalar": np.array(3)}, texts, kind)
    arrays, result = read_arrays(content, f"a{kind}", ("pattern", "scalar", "tokens", "settings"))
    assert result == texts
    assert arrays["pattern"].tobytes() == PATTERN.tobytes()
    assert arrays["pattern"].shape == PATTERN.shape
    assert arrays["scalar"] == 3


def test_an_npz_of_numpys_own_is_read_in_any_layout():
    content = npz(pattern=np.asfortranarray(PATTERN.astype(">f8")), tokens=np.array(["a", "b"]))
    arrays, texts = read_arrays(content, "a.NPZ", WANTED)
    np.testing.assert_array_equal(arrays["pattern"], PATTERN)
    assert texts == {"tokens": ["a", "b"]}


def test_a_bfloat16_is_the_upper_half_of_a_float32():
    values = np.array([1.0, 0.5, -2.0], np.float32)
    halves = (values.view(np.uint32) >> 16).astype(np.uint16)
    claims = {"pattern": {"dtype": "BF16", "shape": [3], "data_offsets": [0, 6]}}
    arrays, _ = read_arrays(header(claims, halves.tobytes()), "a.safetensors", WANTED)
    np.testing.assert_array_equal(arrays["pattern"], values)


def test_what_nobody_asked_for_is_left_whatever_it_is():
    content = npz(pattern=PATTERN, other=np.array([{}], dtype=object))
    assert set(read_arrays(content, "a.npz", WANTED).arrays) == {"pattern"}
    content = save({"pattern": PATTERN, "other": np.ones(3)}, {"tokens": '["a"]', "more": "x"})
    assert read_arrays(content, "a.safetensors", WANTED).texts == {"tokens": ["a"]}


HUGE = 2**40
HOSTILE = {
    "an object": (npz(pattern=np.array([{}], dtype=object)), "pattern: Object arrays cannot be loaded"),
    "a structure": (npz(pattern=np.zeros(2, [("a", "f4")])), "pattern is stored as"),
    "complex numbers": (npz(pattern=np.zeros(2, complex)), "pattern is stored as complex128"),
    "bytes for text": (npz(tokens=np.array([b"a"])), "tokens is stored as bytes"),
    "a bomb": (zipped(("pattern.npy", npy((5, 2**20), values=bytes(5 * 2**22)))), "more than 16 MB"),
    "a header that promises all memory": (zipped(("pattern.npy", npy((HUGE,)))), "pattern: "),
    "a negative size": (zipped(("pattern.npy", npy((-4, -4), values=bytes(64)))), "pattern: can only"),
    "a negative length": (zipped(("pattern.npy", npy((-4,), values=bytes(64)))), "negative"),
    "too little": (zipped(("pattern.npy", npy((4, 4), values=bytes(60)))), "pattern: EOF"),
    "too much": (zipped(("pattern.npy", npy((4, 4), values=bytes(68)))), "promises"),
    "no header": (zipped(("pattern.npy", b"abc")), "magic"),
    "a long header": (zipped(("pattern.npy", npy((1,) * 9000))), "header"),
    "two of one name": (zipped(("pattern.npy", npy(())), ("pattern", npy(()))), "two arrays of one name"),
    "many entries": (zipped(*((f"{n}.npy", b"") for n in range(1001))), "1,001 entries"),
    "no zip": (b"PK\3\4 nothing", "zip"),
    "nothing": (b"", "zip"),
    "a cut": (npz(pattern=PATTERN)[:-40], "zip"),
}


def test_a_changed_byte_is_noticed():
    content = bytearray(zipped(("pattern.npy", npy((64,), values=np.random.default_rng(0).bytes(256)))))
    content[200] ^= 1
    with pytest.raises(ValueError, match="cannot be read"):
        read_arrays(bytes(content), "a.npz", WANTED)


ENTRY = {"dtype": "F32", "shape": [2], "data_offsets": [0, 8]}
DAMAGED = {
    "nothing": (b"", "buffer"),
    "a header longer than the file": (struct.pack("<Q", 100) + b"{}", "claims 100 bytes"),
    "a huge header": (struct.pack("<Q", 2**22 + 1) + b" " * (2**22 + 1), "claims"),
    "no JSON": (struct.pack("<Q", 2) + b"{]", "cannot be read"),
    "deep JSON": (struct.pack("<Q", 2 * 10**5) + b"[" * 10**5 + b"]" * 10**5, "cannot be read"),
    "a list": (header([]), "header"),
    "offsets outside": (header({"pattern": ENTRY | {"data_offsets": [0, 80]}}, bytes(8)), "cannot be read"),
    "another shape": (header({"pattern": ENTRY | {"shape": [HUGE]}}, bytes(8)), "cannot be read"),
    "an unknown type": (
        header({"pattern": {"dtype": "F8_E4M3", "shape": [8], "data_offsets": [0, 8]}}, bytes(8)),
        "F8_E4M3",
    ),
    "a part of it missing": (header({"pattern": ENTRY}, bytes(4)), "cannot be read"),
}


@pytest.mark.parametrize(
    ("file", "content", "why"),
    [
        *(pytest.param("a.npz", *HOSTILE[name], id=f"npz, {name}") for name in HOSTILE),
        *(pytest.param("a.safetensors", *DAMAGED[name], id=f"safetensors, {name}") for name in DAMAGED),
    ],
)
@pytest.mark.filterwarnings("ignore:Duplicate name")
def test_a_damaged_or_hostile_file_is_refused_in_one_sentence(file, content, why, monkeypatch):
    monkeypatch.setattr(arrays_file, "LARGEST", 2**24)
    with pytest.raises(ValueError, match=why) as refused:
        read_arrays(content, file, WANTED)
    assert str(refused.value).startswith(f"{file} cannot be read: ")
    assert "\n" not in str(refused.value)


def test_small_numbers_count_as_the_four_bytes_that_they_become(monkeypatch):
    monkeypatch.setattr(arrays_file, "LARGEST", 1000)
    content = save({"pattern": np.zeros(251, bool)})
    with pytest.raises(ValueError, match="more than"):
        read_arrays(content, "a.safetensors", WANTED)
    assert read_arrays(save({"pattern": np.zeros(250, bool)}), "a.safetensors", WANTED).arrays


def test_a_file_of_another_kind_is_refused():
    with pytest.raises(
        ValueError, match=r"a\.pt cannot be read: its name must end in \.npz or \.safetensors"
    ):
        read_arrays(b"", "a.pt", WANTED)
    with pytest.raises(ValueError, match=r"\.pt"):
        write_arrays({}, {}, ".pt")
