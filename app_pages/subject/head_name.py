"""Names of a head's roles beside its number, from `model.measures.head_roles`, with the rule of each role as help."""

from typing import NamedTuple

from app_pages.subject.stored_results import examples_phrase
from app_pages.subject.subject import Subject
from app_pages.toolkit.markdown import plain
from model.measures.head_roles import HeadRole, roles_from_numbers
from model.measures.head_statistics import statistics, statistics_of_even_weights


class HeadNames(NamedTuple):
    """Names of a head's roles on this input and over a data set, joined by commas, and the rules that define the roles."""

    input_roles: str  # on this input; "" if it has none
    dataset_roles: str  # by the means over a data set; "" if it has none
    dataset_phrase: str  # such as "872 SST development sentences", in Markdown; "" where nothing is stored
    rules: str  # how each of the roles is defined, in Markdown

    @property
    def short_text(self) -> str:
        """Role names for narrow places: those on this input, else those over the data set, marked as such."""
        return self.input_roles or (f"{self.dataset_roles} over the data set" if self.dataset_roles else "")

    @property
    def full_text(self) -> str:
        """Role names on this input, followed by those over the data set if they differ."""
        if not self.dataset_phrase or self.input_roles == self.dataset_roles:
            return self.input_roles
        return f"{self.input_roles or 'no role'} here; over {self.dataset_phrase}: {self.dataset_roles or 'no role'}"

    @property
    def help_text(self) -> str | None:
        """Rules of the roles, and the role names over the data set, as Markdown; None if the head has no roles."""
        if not self.rules:
            return None
        return f"{self.rules}." + (
            f" Over {self.dataset_phrase}: {self.dataset_roles or 'no role'}." if self.dataset_phrase else ""
        )


def head_names(subject: Subject, layer: int, head: int) -> HeadNames:
    """Names of a head's roles, computed on the whole input, even if the page hides some of its tokens."""
    numbers, chance = subject.measure(statistics), subject.measure(statistics_of_even_weights)
    roles = roles_from_numbers(subject.record, numbers, layer, head, chance)
    mean_roles, dataset_phrase = _roles_over_data(subject, layer, head)
    rules = "; ".join(f"**{role.name}**: {role.rule}" for role in dict.fromkeys((*roles, *mean_roles)))
    return HeadNames(_joined_names(roles), _joined_names(mean_roles), dataset_phrase, rules)


def _roles_over_data(subject: Subject, layer: int, head: int) -> tuple[tuple[HeadRole, ...], str]:
    """Roles by the means over the data set, and the name of that data set; (), "" if nothing is stored."""
    stored = subject.stored_heads
    if stored is None or stored.z.shape[:2] != subject.record.pattern.shape[:2]:
        return (), ""
    means = {name: spread.mean for name, spread in stored.spreads.items()}
    return roles_from_numbers(subject.record, means, layer, head), plain(examples_phrase(stored.source))


def _joined_names(roles: tuple[HeadRole, ...]) -> str:
    return ", ".join(role.name for role in roles)
