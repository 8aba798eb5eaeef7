"""How two encoders were trained, side by side, from their training histories."""

import re
from itertools import zip_longest

import streamlit as st

from viz.builders.number_format import percent

UNKNOWN = "not recorded"
OPTIMIZERS = {"adamw": "AdamW", "muon": "Muon and AdamW"}
BETWEEN = " · "
RecipeFacts = dict[str, str]  # what is said, by what it is about


def draw_recipes(first: tuple[str, dict], second: tuple[str, dict]) -> None:
    """Draws a folded table with the training recipes of two encoders; differences are bold."""
    with st.expander("How these two were trained"):
        (first_name, history), (second_name, other_history) = first, second
        st.markdown(
            _markdown_table((first_name, second_name), (recipe_facts(history), recipe_facts(other_history)))
        )
        with_muon = [
            name for name, training_history in (first, second) if "muon" in _optimizers(training_history)
        ]
        if with_muon:
            st.markdown(
                f"Muon trained the matrices of {' and '.join(with_muon)} in some phases. The papers about the place of the "
                "norm speak of Adam, and its effects may differ with another optimiser: the small family, trained with "
                'AdamW alone, is on <a href="./norm_placement" target="_self">Norm placement</a>.',
                unsafe_allow_html=True,
            )


def recipe_facts(history: dict) -> RecipeFacts:
    """Facts on the training from `history["recipe"]`, by name: optimiser, rates, warm-up, clipping, batches, seed, and
    one line for each phase.
    """
    recipe = history.get("recipe")
    if not recipe:
        return {}
    clip = recipe.get("gradient_clip", UNKNOWN)
    facts = {
        "optimiser": " then ".join(
            dict.fromkeys(OPTIMIZERS.get(value, value) for value in _optimizers(history))
        ),
        "Adam's β": _comma_separated(recipe.get("betas", UNKNOWN)),
        "clipping": "none" if clip is None else clip if clip is UNKNOWN else f"gradients to a norm of {clip}",
        "seed": recipe.get("seed", UNKNOWN),
        "precision": history.get("precision", UNKNOWN),
        "began from": "another encoder" if history.get("went_on_from") else "random weights",
    }
    if recipe.get("published"):
        facts["published"] = recipe["published"]
    for phase_number, phase in enumerate(recipe.get("phases", []), 1):
        facts[f"phase {phase_number}"] = _phase_text(phase)
    return {name: str(value) for name, value in facts.items()}


def _phase_text(phase: dict) -> str:
    warmup, facts = phase.get("warmup"), [str(phase["task"])]
    named = {
        "epochs": f"{phase.get('epochs')} epochs",
        "batch_size": f"batches of {phase.get('batch_size')}",
        "optimizer": _optimizer_name(phase.get("optimizer")),
        "learning_rate": f"rate {phase.get('learning_rate')}",
    }
    facts += [text for field, text in named.items() if field in phase]
    if isinstance(warmup, int | float):
        facts.append(f"warm-up over {percent(warmup, 0)} of the steps" if warmup else "no warm-up")
    if "falls" in phase:
        facts.append("then falls to 0" if phase["falls"] else "then stays")
    if "weight_decay" in phase:
        facts.append(f"weight decay {phase['weight_decay']}")
    if "dropout" in phase:
        facts.append("dropout" if phase["dropout"] else "no dropout")
    return BETWEEN.join(facts)


def _optimizers(history: dict) -> list[str]:
    """Optimiser of each phase. Early runs of this project do not name it: they used AdamW."""
    recipe = history.get("recipe", {})
    default = recipe.get("optimizer", "adamw" if "preset" in recipe else UNKNOWN)
    return [str(phase.get("optimizer", default)) for phase in recipe.get("phases", [])] or [str(default)]


def _markdown_table(names: tuple[str, str], facts_of_both: tuple[RecipeFacts, RecipeFacts]) -> str:
    """The facts on both encoders as a Markdown table."""
    first, second = facts_of_both
    fact_names = sorted({**first, **second}, key=lambda name: name.startswith("phase"))  # else in their order
    lines = [f"| | {_escape_for_cell(names[0])} | {_escape_for_cell(names[1])} |", "|---|---|---|"]
    for fact_name in fact_names:
        missing = "none" if fact_name.startswith("phase") and first and second else UNKNOWN
        left, right = (_escape_for_cell(facts.get(fact_name, missing)) for facts in facts_of_both)
        if left != right:
            left, right = _mark_differences(left, right)
        lines.append(f"| {fact_name} | {left} | {right} |")
    if not fact_names:
        return "Nothing is known of how they were trained."
    return "\n".join(lines)


def _mark_differences(one: str, other: str) -> tuple[str, str]:
    """The two cells with the parts that differ in bold."""
    pairs = list(zip_longest(one.split(BETWEEN), other.split(BETWEEN)))
    sides = zip(*pairs, strict=True)
    marked_sides = (
        [item if a == b else f"**{item}**" for item, (a, b) in zip(side, pairs, strict=True) if item]
        for side in sides
    )
    bold_one, bold_other = (BETWEEN.join(side) for side in marked_sides)
    return bold_one, bold_other


def _optimizer_name(optimizer: object) -> str:
    return OPTIMIZERS.get(str(optimizer), str(optimizer))


def _comma_separated(values: object) -> str:
    return ", ".join(map(str, values)) if isinstance(values, list | tuple) else str(values)


def _escape_for_cell(words: str) -> str:
    """The words with Markdown escaped, on one line, so that they stay within their cell."""
    return re.sub(r"([\\`*_{}\[\]<>|$#~:])", r"\\\1", " ".join(words.split()))
