"""Damage to preprocessor_config.json, to the modules of sentence encoders, and to names of tensors in torch's own format."""

import os

import torch
from safetensors.torch import save_file

from benchmarks.mutations.case import CONFIG, HOSTILE, PIXELS, Case, kind


@kind("picture")
def settings_of_pictures(case: Case) -> None:
    """Values in preprocessor_config.json are odd."""
    values = {"size": {"height": 32, "width": 32}, "image_mean": [0.5] * 3, "image_std": [0.5] * 3}
    values |= {"resample": 2, "rescale_factor": 1 / 255, "do_normalize": True, "do_center_crop": False}
    chosen = case.random.sample(sorted(values), 2)
    values |= {name: case.odd_value() for name in chosen[: case.random.choice((1, 2))]}
    if case.random.random() < 0.4:
        tiny = (1e-300, 1e-320, -1.0, 1e5, 1e300, 0, True)
        values |= {
            case.random.choice(("image_std", "rescale_factor", "image_mean")): case.random.choice(tiny)
        }
    case.write_json(PIXELS, values)


@kind("picture")
def sizes_of_pictures(case: Case) -> None:
    """The sizes in preprocessor_config.json are odd."""
    sides = (0, 1, 2, 31, 33, 4096, 4097, 10**9, -3, 1.5, "32", None)
    a, b = (case.random.choice(sides) for _ in range(2))
    sizes = ({"height": a, "width": b}, {"shortest_edge": a}, a, [a, b], {}, {"longest_edge": a})
    case.write_json(PIXELS, {"size": case.random.choice(sizes), "do_center_crop": case.random.random() < 0.5})


@kind("picture")
def shape_of_pictures(case: Case) -> None:
    """The sizes of pictures and patches in config.json are odd."""
    sides = (0, 1, 3, 8, 31, 4096, 2**18, 10**9, [32, 32], [32, 16], [], "32", None)
    changed = {"image_size": case.random.choice(sides), "patch_size": case.random.choice(sides)}
    changed["num_channels"] = case.random.choice((0, 1, 2, 4, 10**9, 10**12, -1))
    name = case.random.choice(sorted(changed))
    case.update_json(CONFIG, **{name: changed[name]})


# Sentences


@kind("sentences")
def modules(case: Case) -> None:
    """modules.json of a sentence encoder is damaged."""
    listed = case.read_json("modules.json")
    module = case.random.choice(listed)
    paths = ("..", "/etc", "../../outside/sibling", "a/b", "a" * 300, "\0", ".", "\n<b>", 3, None, [])
    what = case.random.choice(("path", "type", "whole", "twice", "value", "large"))
    if what == "path":
        module["path"] = case.random.choice(paths)
    elif what == "type":
        module["type"] = case.random.choice((*HOSTILE, "x.Transformer.y", None, [], {}, "a.LSTM"))
    elif what == "twice":
        listed += [dict(module) for _ in range(3)]
    elif what == "value":
        listed.append(case.odd_value())
    case.write_json("modules.json", case.odd_value() if what == "whole" else listed)
    if what == "large":
        os.truncate(case.folder / "modules.json", 3 * 2**30)


@kind("sentences")
def pooling(case: Case) -> None:
    """The pooling settings of a sentence encoder are odd."""
    names = ("pooling_mode_cls_token", "pooling_mode_mean_tokens", "pooling_mode_weightedmean_tokens")
    values = {name: case.odd_value() for name in names}
    if case.random.random() < 0.5:
        values["pooling_mode"] = case.odd_value()
    case.write_json("1_Pooling/config.json", case.random.choice((values, {}, case.odd_value())))


@kind("sentences")
def dense(case: Case) -> None:
    """The dense layer of a sentence encoder has odd weights or an odd activation."""
    weights = (
        *(torch.ones(()), torch.ones(7), torch.ones(0, 24), torch.ones(7, 24, 1), torch.ones(7, 23)),
        *(torch.ones(7, 24).to(torch.int8), torch.full((7, 24), torch.nan), torch.ones(10**6, 0)),
    )
    chosen = {
        "linear.weight": case.random.choice(weights),
        "linear.bias": torch.ones(case.random.choice((6, 7))),
    }
    if case.random.random() < 0.2:
        del chosen["linear.weight"]
    save_file(chosen, case.folder / "2_Dense" / "model.safetensors")
    if case.random.random() < 0.3:
        case.update_json("2_Dense/config.json", activation_function=case.odd_value())


# torch.nn.TransformerEncoder


@kind("torch")
def names_around(case: Case) -> None:
    """The names of the tensors around torch's encoder, such as the embedding, are wrong."""
    names = case.read_json()["names"]
    key = case.random.choice(("embedding", "positions", "embedding_norm", "classifier"))
    others = sorted(case.tensors())
    names[key] = case.random.choice((*others, "absent", "", None, 3, [], *HOSTILE[:3]))
    case.update_json(CONFIG, names=case.random.choice((names, names, names, case.odd_value())))


@kind("torch")
def shapes_around(case: Case) -> None:
    """The shapes of the tensors around torch's encoder are wrong."""
    tensors = case.tensors()
    shapes = ((40, 8), (20, 15), (1, 1, 1, 20, 16), (5, 4, 16), (16,), (), (0, 16), (20, 0))
    tensors["pos"] = torch.ones(case.random.choice(shapes))
    first = case.name_ending_in("layers.0.self_attn.in_proj_weight")
    if case.random.random() < 0.4:
        tensors[first] = torch.ones(case.random.choice(((), (0,), (48,), (16, 48), (48, 0))))
    case.save_tensors(tensors)
