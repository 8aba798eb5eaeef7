"""Damage to folders in this project's own format: to the files beside the weights, and finite but absurd weights."""

import gzip
import json
from typing import Any

import torch
from safetensors.torch import load, save

from benchmarks.mutations.case import CONFIG, HOSTILE, WEIGHTS, Case, kind

HISTORY, FILM, PREDICTIONS = "history.json", "film.safetensors.gz", "predictions.safetensors"
SIZES = (1e-38, 1e-10, 0.0, -1.0, 1e10, 1e18, 3e38)


def _holders_and_keys(values: Any) -> list[tuple[Any, Any]]:
    """All values inside a JSON value, each as the dict or list that holds it and its key; of lists only the first two
    and the last.
    """
    if isinstance(values, dict):
        own = [(values, key) for key in values]
    elif isinstance(values, list):
        own = [(values, index) for index in {0, 1, len(values) - 1} if 0 <= index < len(values)]
    else:
        return []
    return own + [position for holder, key in own for position in _holders_and_keys(holder[key])]


def _change_values(case: Case, name: str) -> None:
    """Changes one or three random values in a JSON file."""
    values = case.read_json(name)
    for _ in range(case.random.choice((1, 1, 3))):
        places = _holders_and_keys(values)
        if not places:
            break
        holder, key = case.random.choice(places)
        what = case.random.random()
        if what < 0.15:
            del holder[key]
        elif what < 0.3 and isinstance(holder, dict):
            holder[case.random.choice(HOSTILE[:8])] = holder[key]
        elif what < 0.5 and isinstance(holder[key], str):
            holder[key] = case.random.choice(HOSTILE)
        elif what < 0.7 and isinstance(holder[key], int | float):
            holder[key] = case.random.choice(
                (0, -1, 1e300, 10**12, float("nan"), -holder[key], holder[key] * 10**6)
            )
        else:
            holder[key] = case.odd_value()
    case.write_json(name, values)


def _damage_bytes(case: Case, name: str) -> None:
    """Cuts a file, or changes some of its bytes."""
    path = case.folder / name
    raw = bytearray(path.read_bytes())
    if case.random.random() < 0.5:
        raw = raw[: case.random.choice((0, 1, 8, 100, len(raw) // 2, len(raw) - 1))]
    else:
        for _ in range(case.random.choice((1, 20, 500))):
            raw[case.random.randrange(len(raw))] = case.random.randrange(256)
    path.write_bytes(raw)


@kind("own")
def history_values(case: Case) -> None:
    """Values of the training history are odd."""
    _change_values(case, HISTORY)


@kind("own")
def history_of_words(case: Case) -> None:
    """The training history is well formed, but its texts, which pages show, are hostile."""
    values = case.read_json(HISTORY)
    text = lambda: case.random.choice(HOSTILE)  # noqa: E731
    values["figures"] = {"n": 5, "accuracy": case.random.choice((0.5, -3, 1e9)), "loss": 0.1, "data": text()}
    values["also_measured"] = [{"n": 0, "accuracy": 1.0, "loss": -1e300, "data": text()} for _ in range(3)]
    values["probes"] = case.random.choice(([], [text()], [text() for _ in range(400)]))
    values["recipe"] = {"published": text(), "phases": [{"task": text()}, {"task": text()}]}
    values["log"] = [{"phase": 1, "step": 10**9, "loss": 1e308}, {"phase": 0, "step": 0, "loss": 0.0, "x": 3}]
    values["evaluations"] = case.random.choice(([], [{"phase": 0, "step": 10**9, "accuracy": 2.0}]))
    case.write_json(HISTORY, values)


@kind("own")
def long_history(case: Case) -> None:
    """The training history has 100,000 rows."""
    values = case.read_json(HISTORY)
    row = (values.get("log") or [{"phase": 0, "step": 0, "loss": 1.0}])[0]
    case.write_json(HISTORY, values | {"log": [row | {"step": index} for index in range(100_000)]})


@kind("own")
def stored_numbers(case: Case) -> None:
    """A file that `model.atlas` has stored is damaged."""
    names = sorted(
        path.name
        for path in case.folder.iterdir()
        if path.suffix == ".parquet" or path.name.startswith("against")
    )
    name = case.random.choice(names)
    if name.endswith(".json") and case.random.random() < 0.7:
        _change_values(case, name)
    elif case.random.random() < 0.3:
        (case.folder / name).write_bytes((case.folder / case.random.choice(names)).read_bytes())
    else:
        _damage_bytes(case, name)


@kind("own")
def spoiled_film(case: Case) -> None:
    """The recording of the training is damaged."""
    if (case.folder / FILM).exists():
        _damage_bytes(case, FILM)
    else:
        (case.folder / FILM).write_bytes(gzip.compress(b"\0" * 10**6))


@kind("own")
def other_film(case: Case) -> None:
    """An array in the recording of the training is wrong."""
    _change_arrays(case, FILM)


@kind("own")
def other_predictions(case: Case) -> None:
    """An array in the stored predictions is wrong."""
    _change_arrays(case, PREDICTIONS)


def _change_arrays(case: Case, name: str) -> None:
    """Gives one of the arrays in a file another shape, type or odd numbers, or removes it."""
    path = case.folder / name
    arrays = {"steps": torch.arange(3)}
    if path.exists():
        raw = path.read_bytes()
        arrays = load(gzip.decompress(raw) if name == FILM else raw)
    key = case.random.choice(sorted(arrays))
    it = arrays[key]
    others = (
        it[:0],
        it[:1],
        it.flatten(),
        it[None],
        it.double(),
        it.to(torch.uint8),
        it.to(torch.int64) - 1000,
    )
    others += (
        torch.full_like(it, float("nan")) if it.is_floating_point() else torch.full_like(it, 99),
        it * 0,
    )
    if (choice := case.random.randrange(len(others) + 2)) < len(others):
        arrays[key] = others[choice].contiguous()
    elif choice == len(others):
        del arrays[key]
    else:
        arrays[case.random.choice(HOSTILE[:4])] = it.clone()
    raw = save(arrays)
    path.write_bytes(gzip.compress(raw, 1) if name == FILM else raw)


@kind("own")
def own_labels(case: Case) -> None:
    """The names of the classes are hostile, equal, empty or too few."""
    n = len(case.read_json()["class_names"])
    several = [case.random.choice(HOSTILE) for _ in range(n)]
    case.update_json(
        CONFIG, class_names=case.random.choice((several, ["same"] * n, [""] * n, several[:1], [], [None] * n))
    )


@kind("own")
def variants(case: Case) -> None:
    """The configuration has other settings, to which the same weights may fit as well."""
    values = {
        "norm_placement": ("pre", "post", "deepnorm", "b2t"), "residual": (True, False), "final_norm": (True, False),
        "embedding_scaled": (True, False), "positions": ("sinusoidal", "learned"), "pooling": ("class", "mean", "max"),
        "activation": ("relu", "gelu", "gelu_tanh"), "layer_norm_eps": (1e-300, 1e-12, 0.99), "n_positions": (1, 2, 3, 50),
        "n_heads": (1, 2, 8, 16), "d_k": (1, 2, 8, 64), "pixel_std": (1e-300, 1.9), "pixel_mean": (0.99, 0),
    }  # fmt: skip
    names = case.random.sample(sorted(values), 2)
    case.update_json(CONFIG, **{name: case.random.choice(values[name]) for name in names})


@kind("own")
def absurd_weights(case: Case) -> None:
    """Weights are finite, but so large or small that activations may overflow."""
    tensors = case.tensors()
    names = case.random.choice((sorted(tensors), [case.any_tensor()], [case.any_tensor() for _ in range(5)]))
    size = case.random.choice(SIZES)
    for name in names:
        most = torch.finfo(tensors[name].dtype).max
        tensors[name] = (tensors[name].double() * size).clamp(-most, most).to(tensors[name].dtype)
    case.save_tensors(tensors)


@kind("own")
def same_weights(case: Case) -> None:
    """All tokens, all positions or all heads have the same weights."""
    tensors = case.tensors()
    for name in [case.any_tensor() for _ in range(case.random.choice((1, 3)))]:
        tensors[name] = tensors[name] * 0 + case.random.choice((0.0, 1.0, -1e-20))
    case.save_tensors(tensors)


@kind("own")
def own_keys(case: Case) -> None:
    """A file has an additional entry with a hostile name."""
    name = case.random.choice((CONFIG, HISTORY, WEIGHTS))
    if name == WEIGHTS:
        header, data = case.header()
        header["__metadata__"] = {case.random.choice(HOSTILE): case.random.choice(HOSTILE)}
        case.write_header(json.dumps(header), data)
    else:
        case.update_json(name, **{case.random.choice(HOSTILE): case.odd_value()})
