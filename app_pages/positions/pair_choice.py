"""Choice of one query and one key, whose score is followed over their distance."""

from typing import NamedTuple

from app_pages.controls.chosen_word import first_query, keep_word
from app_pages.controls.control_bar import Slots
from app_pages.controls.head_choice import HeadChoice, choose_head
from app_pages.controls.map_controls import QUERY
from app_pages.controls.positions_controls import OWN_KEY
from app_pages.subject.subject import LiveSubject
from app_pages.toolkit.markdown import as_code
from viz.builders.number_format import head_name


class Pair(NamedTuple):
    """One query and one key in one head."""

    subject: LiveSubject
    chosen: HeadChoice
    query: int
    key: int

    @property
    def head(self) -> tuple[int, int]:
        """Layer and head."""
        return self.chosen.layer, self.chosen.head

    @property
    def name(self) -> str:
        """The pair in words, as Markdown."""
        query, key = (as_code(self.subject.record.labels[position]) for position in (self.query, self.key))
        return f"{head_name(*self.head)}, query {query} and key {key}"


def choose_pair(subject: LiveSubject, slots: Slots) -> Pair:
    """Draws the controls of head, query and key. In a picture, both are patches; at first the key with the largest weight
    that is not the query itself is chosen.
    """
    chosen = choose_head(subject, slots, with_colours=False, with_roles=False)
    record = subject.record
    first = record.first_patch if record.patch_grid is not None else 0
    labels = {position: label for position, label in enumerate(record.labels) if position >= first}

    begin = first_query(record)
    begin = begin if begin in labels else (first + len(record)) // 2
    with slots.controls:
        # Streamlit keeps the functions: they must not refer to the record
        query = QUERY.choose(
            labels, begin, format_func=labels.__getitem__, gone=lambda _value, _options: begin
        )
        weights = record.pattern[chosen.layer, chosen.head, query].copy()
        weights[:first] = weights[query] = -1
        default = int(weights.argmax())
        keep_word(OWN_KEY, record, default)
        key = OWN_KEY.choose(
            labels, default, format_func=labels.__getitem__, gone=lambda _value, _options: default
        )
    return Pair(subject, chosen, query, key)
