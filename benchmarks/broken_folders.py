"""python -m benchmarks.broken_folders [--n 300] [--seed 0] [--keep DIR] [--only KIND] [--folders NAME ...]

Opens damaged and hostile folders: small encoders of every family (`tests/model/huggingface/folders.py`), each changed by one of
the functions of `benchmarks.mutations`. Each is found by its name below a root, described, loaded, and given a short input,
in a process of its own, which may map 4 GB of memory and take a minute.

The rule: what cannot be opened is refused in one sentence (one line of at most 400 characters besides the list of families, without
traceback, path or invisible character); what opens gives a record without a gap, and the intact one's pattern where nothing was
changed that the encoder reads; and nothing outside the root is read, of which a secret word in all files there would
tell. Exits with 1 where a folder breaks the rule. `--keep` leaves the folders, to be opened in the app.
"""

import argparse
import json
import os
import random
import re
import resource
import shutil
import sys
import tempfile
import time
import traceback
import unicodedata
from collections import Counter
from collections.abc import Callable
from pathlib import Path

import numpy as np
import torch

from benchmarks.mutations import KINDS, Case
from model import checkpoint
from model.capture import capture
from model.huggingface import describe, family_names
from model.sources import locations

SECRET = "THE-WORD-THAT-NOBODY-MAY-SEE"
SENTENCE = "the film is not bad at all"
PICTURE = np.random.default_rng(0).integers(0, 256, (40, 50, 3), dtype=np.uint8)
MEMORY, SECONDS, LONGEST = 4 * 2**30, 60, 400
# what each whole folder is, by which a kind says where it can be done
WHOLE = {
    "bert": ("BertForSequenceClassification", ("text", "classes", "bert"), {"num_labels": 3}),
    "distilbert": ("DistilBertForMaskedLM", ("text", "distilbert"), {}),
    "roberta": ("RobertaForTokenClassification", ("text", "classes"), {"num_labels": 4}),
    "xlm-roberta": ("XLMRobertaForSequenceClassification", ("text", "classes"), {}),
    "camembert": ("CamembertModel", ("text",), {}),
    "prelayernorm": ("RobertaPreLayerNormForMaskedLM", ("text",), {}),
    "megatron": ("MegatronBertModel", ("text",), {}),
    "electra": ("ElectraForPreTraining", ("text",), {}),
    "mpnet": ("MPNetForMaskedLM", ("text", "mpnet"), {}),
    "albert": ("AlbertForSequenceClassification", ("text", "classes"), {}),
    "vit": ("ViTForImageClassification", ("picture", "classes"), {"num_labels": 3}),
    "deit": ("DeiTForImageClassificationWithTeacher", ("picture",), {}),
    "modernbert": ("ModernBertForSequenceClassification", ("text", "classes", "rotary"), {"num_labels": 3}),
    "modernbert-masked": ("ModernBertForMaskedLM", ("text", "rotary"), {}),
    "esm": ("EsmForMaskedLM", ("text", "rotary"), {}),
    "nomic": ("NomicBertForMaskedLM", ("text", "rotary"), {}),
    "eurobert": ("EuroBertForSequenceClassification", ("text", "classes", "rotary"), {"num_labels": 3}),
    "gte": ("GteForTokenClassification", ("text", "classes", "rotary"), {"num_labels": 4}),
    "jina": ("JinaEmbeddingsV3Model", ("text", "rotary"), {}),
    "deberta": ("DebertaV2ForSequenceClassification", ("text", "classes", "distances"), {"num_labels": 3}),
    "deberta-masked": (
        "DebertaV2ForMaskedLM",
        ("text", "distances"),
        {"share_att_key": False, "position_biased_input": True, "legacy": False},
    ),
    "t5": ("T5EncoderModel", ("text", "distances"), {}),
    "t5-gated": ("MT5EncoderModel", ("text", "distances"), {"feed_forward_proj": "gated-gelu"}),
    "umt5": ("UMT5EncoderModel", ("text", "distances"), {}),
    "clip-classes": ("CLIPForImageClassification", ("picture", "classes"), {"num_labels": 3}),
    "dinov2": ("Dinov2ForImageClassification", ("picture", "classes", "scaled"), {"num_labels": 3}),
    "dinov2-gated": ("Dinov2Model", ("picture", "scaled"), {"use_swiglu_ffn": True}),
    "dinov2-registers": ("Dinov2WithRegistersModel", ("picture", "scaled"), {}),
    "vit-mae": ("ViTMAEModel", ("picture",), {}),
    "ijepa": ("IJepaModel", ("picture",), {}),
    "clip": ("CLIPModel", ("text", "pair"), {}),
    "siglip": ("SiglipModel", ("picture", "pair"), {}),
    "clip-vision": ("CLIPVisionModelWithProjection", ("picture", "pair"), {}),
    "clip-text": ("CLIPTextModelWithProjection", ("text", "pair"), {}),
    "siglip-vision": ("SiglipVisionModel", ("picture", "pair"), {}),
    "siglip-text": ("SiglipTextModel", ("text", "pair"), {}),
    "dinov3": ("DINOv3ViTModel", ("picture", "grid"), {}),
    "dinov3-gated": (
        "DINOv3ViTModel",
        ("picture", "grid"),
        {"use_gated_mlp": True, "num_register_tokens": 0},
    ),
    "beit": (
        "BeitForImageClassification",
        ("picture", "classes", "grid"),
        {"num_labels": 3, "use_shared_relative_position_bias": True},
    ),
    "data2vec-vision": (
        "Data2VecVisionForImageClassification",
        ("picture", "classes", "grid"),
        {"num_labels": 3, "use_absolute_position_embeddings": True},
    ),
    "deberta-pieces": ("DebertaV2Model", ("pieces",), {"vocab_size": 400}),
    "xlm-roberta-pieces": ("XLMRobertaModel", ("pieces",), {"vocab_size": 400, "pad_token_id": 1}),
    "albert-pieces": ("AlbertModel", ("pieces",), {"vocab_size": 400}),
    "t5-pieces": ("T5EncoderModel", ("pieces",), {"vocab_size": 400}),
    "residues": ("EsmModel", ("words",), {"vocab_size": 33, "pad_token_id": 1, "mask_token_id": 32}),
    "sentences": ("BertModel", ("text", "sentences"), {}),
    "words": ("BertModel", ("words",), {}),
    "pairs": ("RobertaModel", ("pairs",), {"vocab_size": 264, "pad_token_id": 1}),
    "torch": ("", ("torch",), {}),
}

# which of two encoders in a folder is opened
INNER = {"clip": "/text_model", "siglip": "/vision_model"}


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("--n", type=int, default=300)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--keep", type=Path)
    parser.add_argument("--only", choices=sorted(KINDS))
    parser.add_argument("--folders", nargs="+", choices=sorted(WHOLE), default=sorted(WHOLE))
    arguments = parser.parse_args()
    torch.set_num_threads(1)
    os.environ |= {"TOKENIZERS_PARALLELISM": "0", "RUST_BACKTRACE": "0"}
    with tempfile.TemporaryDirectory() as scratch:
        home = (arguments.keep or Path(scratch)).resolve()
        for name in ("whole", "models", "outside"):
            (home / name).mkdir(parents=True)
        in_child(lambda: build(home), seconds=600, memory=None)
        results = _all(home, arguments)
    return _report(results)


def build(home: Path) -> dict:
    """Makes the undamaged encoders of all families in `home`; runs in a child process, so that the memory of
    `transformers` is not counted.
    """
    from safetensors.torch import save_file

    from tests.model.huggingface import folders, test_torch_encoder
    from tests.model.huggingface.sentence_folders import modules, pooling
    from tests.model.huggingface.test_tokenizer_building import FAMILIES
    from tests.model.huggingface.vocabularies import sentencepiece_file

    for name, (architecture, _, changed) in WHOLE.items():
        folder = home / "whole" / name
        if architecture:
            folders.build(folder, architecture, **changed)
    folder = home / "whole" / "sentences"
    modules(folder, ("Transformer", ""), ("Pooling", "1_Pooling"), ("Dense", "2_Dense"), ("Normalize", "3"))
    pooling(folder, pooling_mode_mean_tokens=True)
    (folder / "2_Dense").mkdir()
    dense = {"out_features": 7, "activation_function": "torch.nn.modules.activation.Tanh"}
    (folder / "2_Dense" / "config.json").write_text(json.dumps(dense))
    save_file(
        {"linear.weight": torch.ones(7, 24), "linear.bias": torch.ones(7)},
        folder / "2_Dense" / "model.safetensors",
    )
    folder = home / "whole" / "words"
    (folder / "tokenizer.json").unlink()
    (folder / "vocab.txt").write_text("\n".join(folders.VOCABULARY))
    folder = home / "whole" / "residues"
    (folder / "tokenizer.json").unlink()
    (folder / "vocab.txt").write_text("\n".join(folders.RESIDUES))
    for name, (architecture, tags, _) in WHOLE.items():
        if "pieces" in tags:
            folder = home / "whole" / name
            (folder / "tokenizer.json").unlink()
            file, family = next(
                (file, family) for known, file, family in FAMILIES.values() if known == architecture
            )
            (folder / file).write_bytes(sentencepiece_file(family))
    folder = home / "whole" / "pairs"
    (folder / "tokenizer.json").unlink()
    from tokenizers import models, pre_tokenizers

    letters = sorted(pre_tokenizers.ByteLevel.alphabet())
    pieces = ["<s>", "<pad>", "</s>", "<unk>", *letters, "Ġb", "Ġba", "Ġbad"]
    models.BPE(
        {piece: index for index, piece in enumerate(pieces)}, [("Ġ", "b"), ("Ġb", "a"), ("Ġba", "d")]
    ).save(str(folder))
    folder = home / "whole" / "torch"
    folder.mkdir()
    own = test_torch_encoder.Own(norm_first=True, activation="gelu")
    save_file(own.state_dict(), folder / "model.safetensors")
    folders.tokenizer().save(str(folder / "tokenizer.json"))
    values = {
        "model_type": "torch.nn.TransformerEncoder",
        "n_heads": 4,
        "norm_first": True,
        "activation": "gelu",
    }
    values |= {"padding_id": 0, "names": {"embedding": "tok", "positions": "pos", "classifier": "head"}}
    values["names"]["embedding"] = "tok.weight"
    (folder / "config.json").write_text(json.dumps(values))
    sibling = home / "outside" / "sibling"
    shutil.copytree(home / "whole" / "bert", sibling)
    folders.rewrite(sibling, id2label={"0": SECRET, "1": SECRET, "2": SECRET})
    for path in (home / "outside" / "secret.txt", sibling / "vocab.txt", sibling / "modules.json"):
        path.write_text("\n".join([SECRET, *folders.VOCABULARY]))
    return {}


def _all(home: Path, arguments: argparse.Namespace) -> list[dict]:
    """Damages and opens `arguments.n` folders, and returns a result for each."""
    locations.use_models_folder(home / "models")
    patterns = {}
    for name in arguments.folders:
        shutil.copytree(home / "whole" / name, home / "models" / name)
        whole = in_child(lambda name=name: _opened(name + INNER.get(name, "")), SECONDS, MEMORY)
        if not whole.get("opened"):
            sys.exit(f"{name} does not open when it is whole: {whole}")
        patterns[name] = whole["pattern"]
    kinds = (
        [arguments.only] if arguments.only else sorted(k for k, (_, on) in KINDS.items() if "own" not in on)
    )
    results = []
    for number in range(arguments.n):
        drawn = random.Random(f"{arguments.seed} {number}")
        kind = kinds[number % len(kinds)]
        function, on = KINDS[kind]
        bases = [name for name in arguments.folders if not on or set(on) & set(WHOLE[name][1])]
        if not bases:
            continue
        base = drawn.choice(bases)
        name = f"{number:04}-{kind}-{base}"
        folder = home / "models" / name
        shutil.copytree(home / "whole" / base, folder)
        try:
            same = function(Case(folder, home / "outside", drawn))
        except (FileNotFoundError, LookupError):  # of a family that has no such file or tensor
            shutil.rmtree(folder)
            continue
        opened_name = name + INNER.get(base, "")
        result = in_child(lambda name=opened_name: _opened(name), SECONDS, MEMORY)
        result |= {"name": name, "kind": kind}
        result["broke"] = _broke(result, home, patterns[base] if same else None)
        results.append(result)
        if result["broke"]:
            print(f"{name}: {result['broke']}\n    {str(result)[:1500]}", flush=True)
        if not arguments.keep:
            folder.unlink() if folder.is_symlink() else shutil.rmtree(folder)
    return results


def _opened(name: str) -> dict:
    """Does with the folder all that the app would do, and returns what each step gave."""
    result: dict = {}
    try:
        folder = locations.find(name, checkpoint.CHECKPOINTS)
    except (ValueError, FileNotFoundError) as error:
        return {"said": [str(error)], "refused": "by its place"}
    description = describe(folder)
    result["said"] = [description.problem] if description.problem else []
    shown = [
        *description.notes,
        *description.left_out[:200],
        *(f"{what}: {it}" for what, it in description.summary),
    ]
    try:
        loaded = checkpoint.load(name)
    except ValueError as error:
        result["said"].append(str(error))
        return result | {"refused": "described" if description.problem else "when loaded", "shown": shown}
    if description.problem:
        return result | {"opened": True, "contradicts": True}
    config = loaded.config
    shown += [*config.class_names, *config.family.token_class_names]
    try:
        record = capture(loaded, SENTENCE if config.is_text else PICTURE)
    except ValueError as error:
        result["said"].append(str(error))
        return result | {"refused": "by the input", "shown": shown}
    return result | {
        "opened": True,
        "shown": [*shown, *record.tokens],
        "whole": bool(
            np.isfinite(record.pattern).all()
            and np.isfinite(record.residual).all()
            and np.isfinite(record.logits).all()
            and np.allclose(record.pattern.sum(axis=-1), 1, atol=1e-5)
            and record.pattern.shape[-1] == len(record.tokens)
        ),
        "pattern": record.pattern.astype(float).round(6).tolist(),
    }


def _broke(result: dict, home: Path, pattern: list | None) -> str:
    """How the result breaks the rule; "" if it does not. `pattern` is that of the undamaged encoder if it must be
    unchanged, or None.
    """
    for sentence in result.get("said", ()):
        if len(sentence.replace(family_names(), "")) > LONGEST:
            return f"a sentence of {len(sentence):,} characters"
        if any(unicodedata.category(character) in ("Cc", "Cf", "Zl", "Zp") for character in sentence):
            return "invisible characters"
        # what a file itself names stands in quotation marks, and is no secret
        if str(home) in sentence or re.search(r"(?<![\w.'])/(?:tmp|etc|work|root|home|proc|dev)\b", sentence):
            return "a path"
        if "Traceback" in sentence or not sentence.strip():
            return "no sentence"
    if SECRET in json.dumps(result):
        return "the secret was read"
    if "failed" in result:
        return result["failed"]
    if result.get("contradicts"):
        return "loads although its description says that it cannot"
    if result.get("opened") and not result["whole"]:
        return "a record with gaps"
    if any(len(text) > 1000 for text in result.get("shown", ())):
        return "a name of more than 1,000 characters is shown"
    if pattern is not None and (not result.get("opened") or result["pattern"] != pattern):
        return "another pattern than the intact one's"
    return ""


def in_child(work: Callable[[], dict], seconds: float, memory: int | None) -> dict:
    """The result of `work` in a forked child process, or how it failed, with its time in seconds and its peak memory
    in MB; `memory` is the bytes that it may map.
    """
    reading, writing = os.pipe()
    began = time.monotonic()
    if not (child := os.fork()):
        os.close(reading)
        if memory:
            resource.setrlimit(resource.RLIMIT_AS, (memory, memory))
            os.dup2(os.open(os.devnull, os.O_WRONLY), 2)  # Rust writes its panics there
        try:
            result = work()
        except BaseException as error:
            lines = "".join(traceback.format_exception(error))
            result = {"failed": f"{type(error).__name__}: {str(error)[:300]}", "where": lines[-1200:]}
        with os.fdopen(writing, "w") as file:
            file.write(json.dumps(result))
        os._exit(0)
    os.close(writing)
    os.set_blocking(reading, False)
    content, killed = b"", False
    while True:
        ended, _, used = os.wait4(child, os.WNOHANG)
        try:
            while part := os.read(reading, 2**20):
                content += part
        except BlockingIOError:
            pass
        if ended:
            break
        if time.monotonic() - began > seconds and not killed:
            os.kill(child, 9)
            killed = True
        time.sleep(0.005)
    os.close(reading)
    took = time.monotonic() - began
    if killed or not content:
        result = {"failed": f"no answer within {seconds} s" if killed else "the process died"}
    else:
        result = json.loads(content)
    return result | {"seconds": took, "megabytes": used.ru_maxrss / 2**10}


def _report(results: list[dict]) -> int:
    """Prints how many folders had each outcome, and which broke the rule; returns the exit code."""
    outcomes = Counter(
        result.get("refused", "opened" if result.get("opened") else "failed") for result in results
    )
    broke = sum(bool(result["broke"]) for result in results)
    slowest = max(results, key=lambda result: result["seconds"])
    largest = max(results, key=lambda result: result["megabytes"])
    idle = min(result["megabytes"] for result in results)
    print(f"{len(results)} folders of {len({result['kind'] for result in results})} kinds:")
    for how, n in outcomes.most_common():
        print(f"  {n:4} {how if how in ('opened', 'failed') else f'refused {how}'}")
    print(f"  {broke:4} broke the rule")
    print(f"slowest {slowest['seconds']:.1f} s ({slowest['name']})")
    print(
        f"most memory {largest['megabytes']:,.0f} MB ({largest['name']}), {idle:,.0f} MB of it without any encoder"
    )
    return bool(broke)


if __name__ == "__main__":
    sys.exit(main())
