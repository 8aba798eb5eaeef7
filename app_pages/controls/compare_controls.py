"""Controls of the page Side by side."""

from app_pages.controls.address import Row, SelectBox, Tabs, TextBox, Toggle, nearest
from app_pages.controls.input_controls import DigitNumber, second_example

HEADS, KNOCK_OUT, STREAM, CROSS, SIMILARITY = "Heads", "Knock-out", "Stream", "Cross-attention", "Similarity"
OF_TWO_INPUTS = CROSS, SIMILARITY
ENCODERS, INPUTS, TEXTS_ON_PICTURE = "two encoders", "two inputs", "a picture and texts"
ON_INPUT, BY_NUMBER = "alike on this input", "of the same number"
ALL_HEADS, DIFFERENCE, DISTANCES = "all heads", "difference", "distances of all heads"
NORMS, SHARES, ANSWERS, PARTS, SPREAD, ENTROPY, COSINES, REPRESENTATIONS = (
    "norms",
    "shares",
    "answer by layer",
    "answer by part",
    "spread of the tokens",
    "entropy of the heads",
    "cosines",
    "representations",
)
PAIRS = "pairs"
HIDDEN_WORDS = "hidden words"
INPUT_TOKENS = "input tokens"
SEVERAL = "several texts"
ONE_PATCH, THREE_COLOURS, PATCH_NORMS = "one patch", "three colours", "norms"
FIRST_SAYS, SECOND_SAYS = "what the first says", "what the second says"


PART = Tabs("compare_part", (HEADS, KNOCK_OUT, STREAM, CROSS, SIMILARITY))
COMPARED = Row(
    "compare_what",
    "Compare",
    (ENCODERS, INPUTS, TEXTS_ON_PICTURE),
    label_visibility="collapsed",
)
OTHER_ENCODER = SelectBox[str]("compare_with", "with", width=170, label_visibility="collapsed")
SECOND_TEXT = TextBox("compare_text", "Second text", "The film is not bad at all.")
TEXTS = TextBox(
    "compare_texts",
    "Texts, one a line",
    "a photo of a cat\na photo of a dog\na photo of a cup",
    enter_breaks_line=True,
)
SECOND_DIGIT = DigitNumber("compare_digit", "Second digit, test digit number", 1, width=160)
SECOND_PICTURE = second_example("compare_picture")
PAIRING = Row[str](
    "compare_pairing",
    "Pair heads",
    pattern=f"alike over [0-9,]+ examples|{ON_INPUT}|{BY_NUMBER}",
    help="Two encoders number their heads in any order, so a head is set beside the one that looks most like it: the "
    "pairs whose head distances have the smallest sum, as a mean over many examples or on this input. Or beside the "
    "head of the same number.",
)
VIEW = SelectBox("compare_view", "Show", (ALL_HEADS, DIFFERENCE, DISTANCES), width=200)
STREAM_PART = SelectBox(
    "compare_stream",
    "Show",
    (NORMS, SHARES, SPREAD, COSINES, REPRESENTATIONS, ENTROPY, ANSWERS, PARTS),
    width=230,
    help="Of the tokens' vectors: how long they are (norms), how much each step adds (shares), how different the tokens still "
    "are (spread), how much a vector keeps its direction (cosines), and how alike both sides are (representations). Of the heads: "
    "how evenly they spread their weight (entropy). Of the answer: what it would be after each layer, and what it is a sum of.",
)
SIMILARITY_VIEW = SelectBox[str](
    "similarity_view",
    "Show",
    width=230,
    help="Of two inputs: the cosine similarity divided exactly among pairs of their last states (pairs). Of texts: what happens without "
    "a word (hidden words), what words change against padding (input tokens), and one text against many (several texts). These answer "
    "different questions and need not agree. Of pictures: which patches are alike (one patch, three colours), and which states are "
    "unusually long (norms).",
)
# The index of a patch: those of the second picture come after those of the first.
PATCH = SelectBox[int]("similar_patch", "Patch", gone=nearest, width=215)
CLASS_OF = Row("compare_class", "Class", (FIRST_SAYS, SECOND_SAYS))
WITHOUT_HEADS = Toggle("without_heads", "Take each head away (dots)")
CHECKED_TEXT = SelectBox[str]("compare_checked", "Text", width=320, label_visibility="collapsed")
RANKED_FIRST = SelectBox[int]("similarity_text", "Compare", width=260)
RANKED_SECOND = SelectBox[int]("similarity_with", "with", width=260)
