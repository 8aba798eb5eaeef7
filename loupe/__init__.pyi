# The names of the library: editors and type checkers read them here, and so does __init__.py.

from .model.atlas.relations import head_relations
from .model.capture import activations, capture
from .model.capture.from_transformers import ModelRecord, from_transformers
from .model.capture.intervention import (
    Intervention,
    MaskChoice,
    at_temperature,
    masked,
    repositioned,
    without_keys,
)
from .model.checkpoint import available
from .model.checkpoint.load_or_download import load_or_download as load
from .model.decompositions.answer_effects import answer_effects
from .model.decompositions.answer_parts import answer_parts
from .model.decompositions.score_parts import score_parts
from .model.experiments.ablation import ablate_heads, ablated, importance
from .model.experiments.attribution import Similarity, gradient_times_input, integrated_gradients
from .model.experiments.knock_out import knock_out
from .model.experiments.masked_word import guesses as guess_masked
from .model.experiments.masked_word import masked_word, masked_word_by_layer
from .model.experiments.patching import patch_feed_forwards, patch_heads, patch_positions
from .model.experiments.patching_over_pairs import patch_pairs
from .model.experiments.probabilities import probabilities
from .model.experiments.pruning import greedy as prune_heads
from .model.hooks import hook_points, watch
from .model.inputs import Picture, Text
from .model.lenses import LENSES, through
from .model.loaded import Loaded
from .model.measures import head_measures as heads
from .model.measures.head_roles import head_table
from .model.measures.word_view import view as word_view
from .model.record import AttentionRecord, ForwardRecord
from .model.record.from_arrays import from_arrays
from .model.record.record_file import read as read_record
from .model.record.record_file import save as save_record
from .model.similarity.hidden_words import hidden_words
from .model.similarity.integrated_jacobians import integrated_jacobians
from .model.similarity.patch_similarity import patch_colours, patch_norms, patch_similarity
from .model.similarity.ranked_texts import rank_texts, similarity_difference
from .model.similarity.similarity_parts import similarity_parts
from .model.similarity.text_on_picture import text_on_picture
from .viz.attention.head_overview import head_overview
from .viz.attention.linked_heads import linked_heads
from .viz.attention.token_heatmaps import attention_heatmap
from .viz.attention.token_strip import token_strip
from .viz.compare.answer_bars import answer_bars
from .viz.export.export_style import ExportStyle
from .viz.export.notebook import show
from .viz.export.save import latex_table
from .viz.export.save import save as save_figure
from .viz.inside.score_products import score_products
from .viz.similarity.patch_map import patch_map
from .viz.similarity.patch_pictures import patch_colour_map, patch_norm_map
from .viz.similarity.similarity_matrix import similarity_matrix
from .viz.similarity.text_map import text_map
from .viz.similarity.text_ranking import text_ranking

SOURCES: dict[str, tuple[str, str]]  # the module of each name, and its name there

__all__ = [
    "LENSES",
    "AttentionRecord",
    "ExportStyle",
    "ForwardRecord",
    "Intervention",
    "Loaded",
    "MaskChoice",
    "ModelRecord",
    "Picture",
    "Similarity",
    "Text",
    "ablate_heads",
    "ablated",
    "activations",
    "answer_bars",
    "answer_effects",
    "answer_parts",
    "at_temperature",
    "attention_heatmap",
    "available",
    "capture",
    "from_arrays",
    "from_transformers",
    "gradient_times_input",
    "guess_masked",
    "head_overview",
    "head_relations",
    "head_table",
    "heads",
    "hidden_words",
    "hook_points",
    "importance",
    "integrated_gradients",
    "integrated_jacobians",
    "knock_out",
    "latex_table",
    "linked_heads",
    "load",
    "masked",
    "masked_word",
    "masked_word_by_layer",
    "patch_colour_map",
    "patch_colours",
    "patch_feed_forwards",
    "patch_heads",
    "patch_map",
    "patch_norm_map",
    "patch_norms",
    "patch_pairs",
    "patch_positions",
    "patch_similarity",
    "probabilities",
    "prune_heads",
    "rank_texts",
    "read_record",
    "repositioned",
    "save_figure",
    "save_record",
    "score_parts",
    "score_products",
    "show",
    "similarity_difference",
    "similarity_matrix",
    "similarity_parts",
    "text_map",
    "text_on_picture",
    "text_ranking",
    "through",
    "token_strip",
    "watch",
    "without_keys",
    "word_view",
]
