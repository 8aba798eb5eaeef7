"""How wide a piece of LaTeX is in Computer Modern, the font of LaTeX's own classes."""

import re
import unicodedata

# Widths of the characters of cmr10, in thousandths of its size, from its metrics (cmr10.tfm). In \small and \footnotesize the
# letters are wider for their size, by 2.9 and 6.3 %.
_WIDTHS = {
    letter: width
    for width, letters in {
        278: "!',.:;[]`il|",
        306: "fj",
        333: "- ",
        361: "I_",
        389: "()t",
        392: "r",
        394: "s",
        444: "cez",
        472: "?",
        500: '"$*/0123456789\\^ago{}~',
        514: "J",
        528: "kqvxy",
        556: "Sbdhnpu–",
        611: "Z",
        625: "L",
        653: "F",
        681: "EP",
        708: "B",
        722: "CTw",
        736: "R",
        750: "AHNUVXY",
        764: "D",
        778: "&+=@KOQ−",
        785: "G",
        833: "#%m",
        917: "M",
        1028: "W",
        1056: "<>",  # these two with the space around them
        1222: "×",
    }.items()
    for letter in letters
}
_OTHER = 1000  # a character that the font lacks, such as a Chinese one
_RAISED = 0.8  # size of an exponent, as wide as its letters are in cmr7
_COMMANDS = {
    r"\textbackslash": "\\",
    r"\textasciitilde": "~",
    r"\textasciicircum": "^",
    r"\textless": "<",
    r"\textgreater": ">",
    r"\textbar": "|",
    r"\times": "×",
    "--": "–",
}
_PART = re.compile(
    r"(?P<power>\^\{[^}]*\})|(?P<command>\\[a-z]+|--)|\\(?P<escaped>[&%$#_{}])|(?P<markup>[${}])|(?P<minus>-(?=\d))|(?P<letter>.)"
)


def latex_width(code: str, size: float = 10) -> float:
    """Width in points of one line of text and numbers, at letters of `size` points; kerning, which makes it a little narrower,
    is left out.

    Understood are the commands that `latex_table` writes.
    """
    return size * sum(_part_width(part) for part in _PART.finditer(code)) / 1000


def _part_width(part: re.Match) -> float:
    match part.lastgroup:
        case "power":
            return _RAISED * 1000 * latex_width(part["power"][2:-1], 1)
        case "command":
            return _letter_width(_COMMANDS.get(part["command"], ""))
        case "markup":
            return 0
        case "minus":
            return _letter_width("−")
        case _:
            return _letter_width(part["escaped"] or part["letter"])


def _letter_width(letter: str) -> float:
    """The width of a letter, of one with an accent that of the letter below it."""
    if not letter:
        return 0
    base = unicodedata.normalize("NFKD", letter)[0]
    return _WIDTHS.get(letter, _WIDTHS.get(base, _OTHER))
