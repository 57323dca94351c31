"""The words of generated sessions, by profile: plain lower-case words that are no entities themselves."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Literal, TypeAlias

Profile: TypeAlias = Literal["coding", "support", "research"]


@dataclass(frozen=True, slots=True)
class Vocabulary:
    """How one kind of work sounds.

    Attributes:
        tool: the tool that looks something up, and `argument` the name of its argument.
        place: what is looked up, with `{n}` for a number that makes it unlike all others.
        places, things, aspects: together they name a fact: the harbour ledger timeout.
        line: a line of what the tool gives, with `{a}`, `{b}` for words and `{n}` for a number.
        asks: what the person wants next. says: what the agent says while it works.
    """

    tool: str
    argument: str
    place: str
    places: tuple[str, ...]
    things: tuple[str, ...]
    aspects: tuple[str, ...]
    line: tuple[str, ...]
    asks: tuple[str, ...]
    says: tuple[str, ...]


def _words(text: str) -> tuple[str, ...]:
    return tuple(text.split())


PLACES = _words(
    "harbour meadow granite willow copper lantern orchard canyon velvet amber cedar falcon marble thistle juniper"
    " saffron cobalt bramble heron quartz poplar ginger walnut pebble basalt clover dahlia ember fjord glacier hazel"
    " indigo jasper kelp lagoon maple nectar onyx prairie quince raven sorrel tundra umber violet wicker yarrow zephyr"
)
SAYS = (
    "I will look at the next part before I change anything.",
    "That explains the first half; the second half I still have to check.",
    "Nothing unusual here, so I go on with the part behind it.",
    "This agrees with what was said, and I keep to it.",
    "Two possibilities are left, and the next look decides between them.",
    "I leave this part as it is and note it for later.",
)

VOCABULARY: Mapping[Profile, Vocabulary] = {
    "coding": Vocabulary(
        "read",
        "path",
        "src/part{n}/unit{n}.py",
        PLACES,
        _words("ledger queue parser cache scheduler router broker index worker gateway session exporter compiler"),
        _words("timeout limit module release ticket handler failure commit address owner layout switch"),
        (
            "    for {a} in {b}_{n}.entries:",
            "        if {a} is None or {b}[{n}] < 0: continue",
            "    return {a}.merge({b}, key={n})",
            "# {a} before {b}, see item {n}",
            "def {a}_{n}({b}, rest):",
            "    {a} = {b}.open(mode={n})",
        ),
        (
            "Next, go through the part that writes the {a} and tell me what the {b} does there.",
            "Please tidy the {a} without touching the {b}.",
            "The {a} is slow again. Find out whether the {b} has to do with it.",
        ),
        SAYS,
    ),
    "support": Vocabulary(
        "lookup",
        "record",
        "customers/case{n}/notes{n}.txt",
        PLACES,
        _words("invoice parcel contract router meter voucher account device booking refund licence delivery"),
        _words("number amount form release ticket setting failure reference address contact document step"),
        (
            "note {n}: the {a} was seen at the {b} desk, nothing to add",
            "call {n} about the {a}, answered by {b}, closed",
            "letter {n}, {a} enclosed, copy to {b}",
            "visit {n}: {a} checked, {b} unchanged",
        ),
        (
            "Another customer asks about the {a}. What do we know about the {b}?",
            "Please check the {a} once more, the {b} desk is waiting.",
            "They wrote again. Read the notes on the {a} and on the {b}.",
        ),
        SAYS,
    ),
    "research": Vocabulary(
        "open_document",
        "document",
        "archive/volume{n}/page{n}.txt",
        PLACES,
        _words("survey sample trial archive census reactor glacier dialect genome sensor catalogue colony"),
        _words("count size table release record parameter failure checksum address author appendix method"),
        (
            "The {a} of series {n} was measured next to the {b} and did not differ.",
            "Plate {n} shows the {a}; the {b} is not visible.",
            "In the {n}th run the {a} came before the {b}.",
            "Of {n} observations of the {a} none concerned the {b}.",
        ),
        (
            "Read on about the {a}, and compare it with the {b}.",
            "What do the sources say about the {a} near the {b}?",
            "Find the passage on the {a} that mentions the {b}.",
        ),
        SAYS,
    ),
}
