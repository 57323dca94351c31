"""Who wrote the summaries of a strategy's contexts: a model, a rule, or nobody."""

from dataclasses import dataclass
from typing import Literal, TypeAlias

TextKind: TypeAlias = Literal["model", "rule", "mixed", "cut"]
"""Who made contexts: a model wrote their summaries, a rule did, each wrote some, or messages
were only cut.
"""
RULES = ("extractive", "the strategy's stand-in")
"""Writers of summaries that are no models."""


def text_kind(writer: str) -> TextKind:
    """The kind of context that a writer of summaries makes: a model's name, several with ` + `,
    or nothing.
    """
    if not writer:
        return "cut"
    are_rules = {name in RULES for name in writer.split(" + ")}
    if len(are_rules) == 2:
        return "mixed"
    if are_rules == {True}:
        return "rule"
    return "model"


def parts_of(kind: TextKind) -> tuple[TextKind, ...]:
    """The kinds that a kind is made of: mixed contexts are a model's and a rule's."""
    if kind == "mixed":
        return ("model", "rule")
    return (kind,)


@dataclass(frozen=True, slots=True)
class Writing:
    """Who wrote a strategy's contexts.

    Attributes:
        kind: a model, a rule, each some, or nobody.
        rule_share: the share of its summaries that a rule wrote, where the kind is mixed.
    """

    kind: TextKind
    rule_share: float = 0.0
