"""What the steps are called and how their formulas are written for the encoder at hand, whose parts may be other ones than
those of "Attention Is All You Need".
"""

from app_pages.inside_a_head.view import View
from model.config import ModelConfig
from model.family_options import LinearMap

ACTIVATIONS = {"relu": "ReLU", "gelu": "GELU", "gelu_tanh": "GELU", "silu": "SiLU", "quick_gelu": "QuickGELU"}


def bias_tex(config: ModelConfig, linear_map: LinearMap, symbol: str) -> str:
    """LaTeX for " + symbol", or "" if this linear map has no bias."""
    return "" if linear_map in config.family.parts.without_bias else f" + {symbol}"


def attention_input_tex(view: View) -> str:
    r"""The symbol of what attention reads: \hat{x} behind a norm, x where it reads the stream as it is."""
    is_normed = view.record.config.norm_placement == "pre" and view.steps.norm_attention is not None
    return r"\hat{x}" if is_normed else "x"


def query_and_key_tex(view: View) -> tuple[str, str]:
    """Symbols of q_i and k_j as they are multiplied, with a tilde if they are rotated first."""
    is_rotated = view.steps.attention.rotation is not None
    return (r"\tilde{q}", r"\tilde{k}") if is_rotated else ("q", "k")


def query_and_key_text(view: View) -> tuple[str, str]:
    """The same symbols as plain text, without indices."""
    return ("q̃", "k̃") if view.steps.attention.rotation is not None else ("q", "k")


def division_text(config: ModelConfig) -> str:
    """The division of the products in a word: "÷ √d_k", "÷ √(3 d_k)" or "not divided"."""
    parts = config.family.parts
    if not parts.scaled:
        return "not divided"
    return "÷ √d_k" if parts.disentangled is None else f"÷ √({parts.disentangled.n_maps} d_k)"


def is_on_grid(view: View) -> bool:
    """Whether positions are rows and columns of patches, by which queries and keys are rotated."""
    rotary = view.record.config.family.parts.rotary
    return rotary is not None and rotary.on_grid


def shared_heads(config: ModelConfig, head: int) -> range:
    """The heads that have their keys and values in common with `head`; empty if it has its own."""
    n_shared = config.n_heads // (config.family.parts.n_key_heads or config.n_heads)
    start = head - head % n_shared
    return range(start, start + n_shared) if n_shared > 1 else range(0)
