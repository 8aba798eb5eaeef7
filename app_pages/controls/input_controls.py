"""Controls of the row in which an input and an encoder are chosen."""

from app_pages.controls.address import Code, Number, Row, SelectBox, TextBox

TEST_DIGITS, DRAW, EXAMPLE, OWN_PICTURE = "Test digits", "Draw", "Example", "Own picture"
EXAMPLE_PICTURES = ("cat", "coffee")  # files in `examples/`
OTHER_KIND = "other_kind"  # in the session: the kind of input was changed
AS_THEY_COME, HARDEST, DISAGREE = "as they come", "hardest first", "where the two encoders disagree"


class DigitNumber(Number):
    """A box for the index of a picture in the test set of digits, not for the digit that it shows."""

    def __init__(self, key: str, label: str, default: int = 0, *, width: int) -> None:
        super().__init__(
            key, label, default=default, icon=":material/tag:", width=width, label_visibility="collapsed"
        )


def second_example(key: str) -> Row[str]:
    """A control that chooses the example picture to compare the input with; its default differs from that of the first input."""
    return Row(key, "Second picture", EXAMPLE_PICTURES[::-1], label_visibility="collapsed")


KIND = Row("kind", "Input", ("Text", "Digit", "Picture", "Record"), label_visibility="collapsed")
CHECKPOINT = SelectBox[str]("checkpoint", "Encoder", width=190, label_visibility="collapsed")
TEXT = TextBox("text", "Text")
SECOND_PART = TextBox("second", "Second part")  # of a pair of texts that one encoder reads
SOURCE = Row(
    "source",
    "Source",
    (TEST_DIGITS, DRAW, EXAMPLE, OWN_PICTURE),
    width="stretch",
    label_visibility="collapsed",
)
EXAMPLE_PICTURE = Row("example_picture", "Example picture", EXAMPLE_PICTURES, label_visibility="collapsed")
DRAWING = Code("drawing")  # see `app_pages.inputs.drawing`
# The sign before it is a #: the number of the picture, and not what it shows. In less width its two buttons are hidden.
DIGIT = DigitNumber("digit", "Test digit number", width=140)
DIGIT_CLASS = SelectBox("digit_class", "Class", ("all", *map(str, range(10))))
DIGIT_ORDER = SelectBox("digit_order", "Order", (AS_THEY_COME, HARDEST, DISAGREE))
