"""Look inside a trained Transformer encoder: the library for notebooks and scripts.

>>> from loupe import capture, heads, load
>>> record = capture(load("checkpoints/imdb-pre-ln"), "A gripping film.")
>>> record
ForwardRecord(6 tokens '[CLS] a gripping film . [SEP]', 4 layers × 4 heads, 'positive' 96.7%)
>>> heads.head_summary(record)["entropy"].shape
(4, 4)

Encoders and inputs: `load`, `available`, `Loaded`, `Text`, `Picture`, `hook_points`.
One forward pass: `capture`, `activations`, `probabilities`, `watch`.
Changes to it: `Intervention`, `MaskChoice`, `masked`, `without_keys`, `ablated`, `at_temperature`, `repositioned`.
Experiments: `ablate_heads`, `importance`, `prune_heads`, `knock_out`, `guess_masked`.
Activation patching: `patch_heads`, `patch_feed_forwards`, `patch_positions`, and `patch_pairs`, the mean over pairs of inputs.
What each token adds to the answer: `integrated_gradients`, `gradient_times_input`; also to a `Similarity` with another text.
What an answer and a score are made of, to the last digit: `answer_parts`, `score_parts`; and `answer_effects` of taking heads away.
Why two inputs are similar: `similarity_parts`; by hiding words: `hidden_words`; by input tokens: `integrated_jacobians`.
Which of several texts are most similar to a query: `rank_texts`, and by which of its words: `similarity_difference`. Which patches a
text means to CLIP or SigLIP: `text_on_picture`.
What the patches of a picture resemble: `patch_similarity`, `patch_colours`, `patch_norms`.
A word in place of [MASK]: `masked_word`, which experiments take as their `answer`, and `masked_word_by_layer`.
Records: `ForwardRecord`, `AttentionRecord`, `word_view`, `save_record`, `read_record`.
Records of models outside this project: `from_transformers` (a `ModelRecord`), `from_arrays`.
Measures and other maps: `heads` (a module), `head_table`, `head_relations` over a file of links, `LENSES`, `through`.
A figure in a notebook's cell, in one line: `show`.
Figures: `linked_heads`, `head_overview`, `attention_heatmap`, `token_strip`, `score_products`, `answer_bars`, `similarity_matrix`,
`patch_map`, `patch_colour_map`, `patch_norm_map`, `text_map`, `text_ranking`.
Files: `save_figure` in an `ExportStyle`; `latex_table` of any table.

`__init__.pyi` names the module of each. A name is imported when it is first used: records and attention from elsewhere are
read and drawn without torch, which the extra `attention-loupe[model]` installs.
"""

import ast
import sys
from collections.abc import Sequence
from importlib import import_module
from importlib.abc import Loader, MetaPathFinder
from importlib.machinery import ModuleSpec
from importlib.util import find_spec
from pathlib import Path
from types import ModuleType
from typing import Any

# Installed, model and viz are in this package. In a clone they stand beside it, and are imported from there: a second copy
# of their modules would have classes of its own, and a record of one copy would be none for the other.
_PACKAGE_PREFIX = f"{__name__}." if find_spec(f"{__name__}.model") else ""


class _CloneImporter(MetaPathFinder, Loader):
    """Import hook for a clone, where `model` and `viz` are beside this package: `loupe.model` is the same module as `model`."""

    def find_spec(
        self, fullname: str, _path: Sequence[str] | None, _target: ModuleType | None = None
    ) -> ModuleSpec | None:
        is_ours = fullname.split(".")[:2] in ([__name__, "model"], [__name__, "viz"])
        return ModuleSpec(fullname, self) if is_ours else None

    def create_module(self, spec: ModuleSpec) -> ModuleType:
        module = import_module(spec.name.removeprefix(f"{__name__}."))
        self._own_spec = module.__spec__
        return module

    def exec_module(self, module: ModuleType) -> None:
        module.__spec__ = self._own_spec  # in place of the new one, or its relative imports would go astray


if not _PACKAGE_PREFIX:
    sys.meta_path.insert(0, _CloneImporter())
# The module of each name, and its name there.
SOURCES = {
    alias.asname or alias.name: (_PACKAGE_PREFIX + node.module, alias.name)
    for node in ast.parse(Path(__file__).with_suffix(".pyi").read_text("utf-8")).body
    if isinstance(node, ast.ImportFrom)
    for alias in node.names
}
__all__ = list(SOURCES)
# Packages that come with the extra `model`.
_MODEL_EXTRA_PACKAGES = {"torch", "tokenizers", "google", "huggingface_hub", "sklearn", "scipy", "tqdm"}


def __getattr__(name: str) -> Any:
    """Imports the library's object called `name` when it is first used. Raises AttributeError for an unknown name, and
    ImportError where it needs torch, or what comes with it, and that is not installed.
    """
    if name not in SOURCES:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    module, name_in_module = SOURCES[name]
    try:
        value = globals()[name] = getattr(__import__(module, fromlist=[name_in_module]), name_in_module)
    except ModuleNotFoundError as error:
        if (error.name or "").partition(".")[0] in _MODEL_EXTRA_PACKAGES:
            message = f"loupe.{name} needs {error.name}: pip install 'attention-loupe[model]'"
            raise ImportError(message, name=error.name) from None
        raise
    return value


def __dir__() -> list[str]:
    return [*globals(), *SOURCES]
