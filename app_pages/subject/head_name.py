"""What a head is called, beside its number: the names of `model.measures.head_roles`, with the rule that gave each as help."""

from typing import NamedTuple

from app_pages.subject.stored_results import over
from app_pages.subject.subject import Subject
from app_pages.toolkit.markdown import plain
from model.measures.head_roles import HeadRole, roles_from_numbers, roles_on_input


class HeadNames(NamedTuple):
    """What the chosen head is called; "" where it has no such name."""

    here: str  # on this input
    mostly: str  # by the means over a data set
    data: str  # such as "872 SST development sentences", in Markdown; "" where nothing is stored
    rules: str  # of all these names, in Markdown

    @property
    def short(self) -> str:
        """Where room is scarce: the name on this input, or else the one over the data set, which is said."""
        return self.here or (f"{self.mostly} over the data set" if self.mostly else "")

    @property
    def whole(self) -> str:
        """Both names, where they differ."""
        if not self.data or self.here == self.mostly:
            return self.here
        return f"{self.here or 'no role'} here; over {self.data}: {self.mostly or 'no role'}"

    @property
    def help(self) -> str | None:
        """The rules, and what the name is over the data set."""
        if not self.rules:
            return None
        return f"{self.rules}." + (f" Over {self.data}: {self.mostly or 'no role'}." if self.data else "")


def head_names(subject: Subject, layer: int, head: int) -> HeadNames:
    """By the whole input, whatever a view of it hides."""
    here = roles_on_input(subject.record, layer, head)
    mostly, data = _over_data(subject, layer, head)
    rules = "; ".join(f"**{role.name}**: {role.rule}" for role in dict.fromkeys((*here, *mostly)))
    return HeadNames(_joined(here), _joined(mostly), data, rules)


def _over_data(subject: Subject, layer: int, head: int) -> tuple[tuple[HeadRole, ...], str]:
    """Those by the means over the data set, and what that is; "" where nothing is stored."""
    stored = subject.stored_heads
    if stored is None or stored.z.shape[:2] != subject.record.pattern.shape[:2]:
        return (), ""
    means = {name: spread.mean for name, spread in stored.spreads.items()}
    return roles_from_numbers(subject.record, means, layer, head), plain(over(stored.source))


def _joined(names: tuple[HeadRole, ...]) -> str:
    return ", ".join(role.name for role in names)
