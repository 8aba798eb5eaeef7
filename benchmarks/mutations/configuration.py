"""Damage to `config.json`: values, sizes, labels."""

import json
import os

from benchmarks.mutations.case import CONFIG, HOSTILE, ODD, PIXELS, TOKENIZER, Case, kind


@kind()
def a_value(case: Case) -> None:
    """One value is odd."""
    case.update_json(CONFIG, **{case.random.choice(sorted(case.read_json())): case.odd_value()})


@kind()
def several_values(case: Case) -> None:
    """Three values are odd."""
    names = case.random.sample(sorted(case.read_json()), 3)
    case.update_json(CONFIG, **{name: case.odd_value() for name in names})


@kind()
def a_value_missing(case: Case) -> None:
    """One value is missing."""
    values = case.read_json()
    del values[case.random.choice(sorted(values))]
    case.write_json(CONFIG, values)


@kind()
def a_size(case: Case) -> None:
    """One whole number is another one; the encoder of that size must not be built before it is compared with the
    stored weights.
    """
    names = sorted(key for key, value in case.read_json().items() if type(value) is int)
    sizes = (0, 1, 2, 3, 5, 7, 24, 1000, 2**17, 2**18, 2**20, 2**31, 2**40)
    case.update_json(CONFIG, **{case.random.choice(names): case.random.choice(sizes)})


@kind()
def damaged_configuration(case: Case) -> None:
    """The file is not the JSON object that it should be."""
    path = case.folder / CONFIG
    whole = path.read_bytes()
    contents = (
        *(b"", b"{", b"[]", b"null", b"3", b"\xff\xfe{}", b"\x00" * 100, whole[: len(whole) // 2], whole * 2),
        *(b"[" * 10**5, b'{"a":' * 900 + b"1" + b"}" * 900, b'{"model_type": "bert", "a": "\\ud800"}'),
        *(b'{"model_type": "bert"}', b'{"model_type": "bert", "hidden_size": ' + b"9" * 10**5 + b"}"),
    )
    path.write_bytes(case.random.choice(contents))


@kind()
def deep_value(case: Case) -> None:
    """A value is nested so deeply that json.loads reads it but repr may fail."""
    values = case.read_json()
    name = case.random.choice([key for key, value in sorted(values.items()) if type(value) is int])
    text = json.dumps(values | {name: "HERE"}).replace('"HERE"', "[" * 960 + "]" * 960)
    (case.folder / CONFIG).write_text(text)


@kind()
def unknown_type(case: Case) -> None:
    """The type of the model is unknown."""
    kinds = ("gpt2", "llama", "t5", "bart", "BERT", "", *HOSTILE, None, 3, [], {"bert": 1})
    case.update_json(CONFIG, model_type=case.random.choice(kinds))


@kind()
def large_file(case: Case) -> None:
    """The file is huge: a sparse file of zeros without blocks on the disk."""
    names = (CONFIG, TOKENIZER, PIXELS, "modules.json", "tokenizer_config.json", "vocab.txt")
    path = case.folder / case.random.choice(names)
    path.write_bytes(b"")
    os.truncate(path, 3 * 2**30)


@kind("rotary")
def settings_of_positions(case: Case) -> None:
    """Odd bases, windows and types of layers, by the names of newer and older versions of `transformers`."""
    names = ("rope_parameters", "rope_scaling", "rope_theta", "layer_types", "local_attention", "head_dim")
    names += (
        "global_attn_every_n_layers",
        "global_rope_theta",
        "local_rope_theta",
        "position_embedding_type",
    )
    names += ("num_key_value_heads", "token_dropout", "mask_token_id", "classifier_pooling", "clf_pooling")
    odd = case.odd_value()
    settings = ("rope_type", "type", "rope_theta")
    values = (
        odd,
        [odd] * 3,
        ["sliding_attention", odd, "full_attention"],
        {case.random.choice(settings): odd},
        {"full_attention": odd},
        {
            layer_type: {case.random.choice(settings): odd}
            for layer_type in ("full_attention", "sliding_attention")
        },
    )
    case.update_json(CONFIG, **{case.random.choice(names): case.random.choice(values)})


@kind("distances")
def settings_of_distances(case: Case) -> None:
    """Odd buckets and kinds of scores of DeBERTa and T5."""
    names = (
        "relative_attention",
        "pos_att_type",
        "position_buckets",
        "max_relative_positions",
        "norm_rel_ebd",
    )
    names += (
        "share_att_key",
        "position_biased_input",
        "type_vocab_size",
        "conv_kernel_size",
        "embedding_size",
    )
    names += (
        "relative_attention_num_buckets",
        "relative_attention_max_distance",
        "feed_forward_proj",
        "d_kv",
    )
    names += ("attention_head_size", "legacy", "is_decoder", "pooler_hidden_act")
    kinds = (
        "c2p",
        "p2c|c2p",
        ["p2p"],
        ["c2p", "c2p"],
        "layer_norm",
        "layer_norm|x",
        "gated-silu",
        "gated-",
        "-gelu",
    )
    sizes = (0, 1, 2, 3, 4, 5, 7, 8, 9, 10**6, 2**31, -1, -2)
    for name in case.random.sample(names, case.random.choice((1, 2))):
        case.update_json(CONFIG, **{name: case.random.choice((*kinds, *sizes, case.odd_value()))})


@kind("scaled")
def settings_of_picture_blocks(case: Case) -> None:
    """Odd registers, layer scales and gates of DINOv2."""
    names = (
        "num_register_tokens",
        "layerscale_value",
        "use_swiglu_ffn",
        "mlp_ratio",
        "qkv_bias",
        "hidden_act",
    )
    sizes = (0, 1, 3, 4, 5, 10**4, 2**31, -1, 0.5, 1.75, 1e300, True, False)
    for name in case.random.sample(names, case.random.choice((1, 2))):
        case.update_json(CONFIG, **{name: case.random.choice((*sizes, case.odd_value()))})


@kind("grid")
def settings_of_grids(case: Case) -> None:
    """Odd rotation, biases, pooling, registers and picture sizes of DINOv3 and BEiT."""
    biases = ("query_bias", "key_bias", "value_bias", "proj_bias", "mlp_bias", "use_gated_mlp")
    tables = (
        "use_relative_position_bias",
        "use_shared_relative_position_bias",
        "use_absolute_position_embeddings",
        "use_mean_pooling",
    )
    numbers = ("rope_theta", "num_register_tokens", "layer_scale_init_value", "image_size", "patch_size")
    values = (0, 1, 3, 4, 7, 8, 32, 33, 1024, 1025, 2**31, -1, 0.5, 1e300, True, False)
    for name in case.random.sample((*biases, *tables, *numbers), case.random.choice((1, 2))):
        case.update_json(CONFIG, **{name: case.random.choice((*values, case.odd_value()))})
    if case.random.random() < 0.3:
        case.update_json(
            PIXELS, size=case.random.choice((*values, case.odd_value(), {"height": 32, "width": 24}))
        )


@kind("pair")
def settings_of_two_encoders(case: Case) -> None:
    """Odd projections, end tokens and nested configurations of CLIP and SigLIP."""
    names = (
        "projection_dim",
        "projection_size",
        "eos_token_id",
        "pad_token_id",
        "hidden_act",
        "vision_use_head",
    )
    values = case.read_json()
    inner = case.random.choice(("text_config", "vision_config"))
    changed = {
        name: case.random.choice((0, 1, 2, 49407, 2**31, -1, "relu", case.odd_value())) for name in names
    }
    some = {name: changed[name] for name in case.random.sample(names, 2)}
    if inner in values and case.random.random() < 0.7:
        sizes = sorted(key for key, value in values[inner].items() if type(value) is int)
        some |= {case.random.choice(sizes): case.random.choice((0, 1, 5, 2**18, 2**40, case.odd_value()))}
        values[inner] = case.random.choice((case.odd_value(), values[inner] | some, values[inner] | some))
        some = {}
    case.write_json(CONFIG, values | some)


@kind("classes")
def hostile_labels(case: Case) -> bool:
    """The names of the classes are markup and other hostile texts."""
    n = case.header()[0][case.name_ending_in("classifier.weight", "out_proj.weight")]["shape"][0]
    case.update_json(CONFIG, id2label={str(index): case.random.choice(HOSTILE) for index in range(n)})
    return True


@kind("classes")
def odd_labels(case: Case) -> bool:
    """The names of the classes have a wrong form."""
    several = {"0": {"a": [1]}, "1": None, "2": 3}
    case.update_json(
        CONFIG, id2label=case.random.choice((*ODD, several, {"0": "only"}, {"a": "b"} | several))
    )
    return True


@kind("classes")
def rows_without_columns(case: Case) -> None:
    """The classifier's weights have a huge number of rows, or 0, and no columns."""
    header, data = case.header()
    name, end = case.name_ending_in("classifier.weight", "out_proj.weight"), len(data)
    rows = case.random.choice((0, 10**5, 10**7, 10**9, 10**15))
    header |= {
        "old": dict(header[name]),
        name: {"dtype": "F32", "shape": [rows, 0], "data_offsets": [end, end]},
    }
    case.write_header(header, data)


@kind("classes")
def no_rows(case: Case) -> None:
    """The classifier has no rows."""
    tensors = case.tensors()
    name = case.name_ending_in("classifier.weight", "out_proj.weight")
    for tensor_name in (name, name.removesuffix("weight") + "bias"):
        tensors[tensor_name] = tensors[tensor_name][:0]
    case.save_tensors(tensors)
