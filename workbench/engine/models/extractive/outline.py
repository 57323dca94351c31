"""Where a chosen line goes in a summary, and how the summary is written and read back."""

import re
from collections.abc import Iterable, Iterator
from itertools import groupby
from typing import Literal, NamedTuple, TypeAlias

from workbench.engine.models.extractive.choice import Pick
from workbench.engine.models.extractive.reading import Line, LineOrigin, harmless

Topic: TypeAlias = Literal["goal", "constraints", "progress", "decisions", "next", "context"]

HEADINGS: tuple[str, ...] = (
    "Goal",
    "Constraints",
    "Progress",
    "Key decisions",
    "Next steps",
    "Critical context",
)
"""The sections of a summary when nobody asks for others."""

_TOPICS: tuple[tuple[Topic, re.Pattern[str]], ...] = (
    ("constraints", re.compile(r"constraint|preference|requirement|rule|demand", re.I)),
    ("goal", re.compile(r"goal|request|intent|objective|task\b|asked", re.I)),
    ("decisions", re.compile(r"decision|decided|rationale|approach", re.I)),
    ("next", re.compile(r"next|pending|to.?do|remaining|in progress|open", re.I)),
    ("progress", re.compile(r"progress|done|complete|history|tried|so far", re.I)),
    (
        "context",
        re.compile(
            r"context|critical|reference|detail|file|error|finding|result|technical|note", re.I
        ),
    ),
)

_OF_THE_USER = re.compile(r"\buser\b|intent|request|important|objective", re.I)

_DEMAND = re.compile(
    r"\b(?:must|never|always|only|don'?t|do"
    r" not|doesn'?t|shouldn'?t|should|can'?t|cannot|avoid|ensure|make sure|prefer|"
    r"require[sd]?|needs? to|have to|has to|without|instead of|at (?:most|least)|no"
    r" (?:more|less|longer)|keep|stop)\b"
)
_DECIDED = re.compile(
    r"\b(?:decided?|decision|chose|chosen|opted|settled on|go(?:ing)? with|instead of|rather"
    r" than|because|so that|"
    r"root cause|switch(?:ed|ing)? to|"
    r"the (?:fix|problem|issue|cause|reason) (?:is|was)|we(?:'ll| will) use|i(?:'ll| will) use)\b",
    re.IGNORECASE,
)
_OPEN = re.compile(
    r"\b(?:to-?do|next|remaining|still (?:need|have|to|missing|fails?)|not yet|left"
    r" to|pending|need(?:s)? to|let me|"
    r"i(?:'ll| will)|we(?:'ll| will)|should now|follow-?up)\b|\[ \]",
    re.IGNORECASE,
)
_FILE = re.compile(r"[\w.@~/\\:-]*/[\w.@~/\\:-]*")
_HEADING = re.compile(r"^#{1,6}\s+(.+?)\s*#*$")

DEMANDED = "Constraints of the user"
"""What the user demands, in a section that is not only for that: so an update knows it again."""

LABELS = ("", DEMANDED, "Files", "Commands", "Written", "Results", "Errors")
"""Parts of the section for everything exact, in their order."""

_LABEL_OF = {
    LineOrigin.COMMAND: "Commands",
    LineOrigin.RESULT: "Results",
    LineOrigin.FAILED: "Errors",
}


class Above(NamedTuple):
    """What is above some lines of an earlier summary.

    Attributes:
        heading: empty above the first.
        part: the heading below that, one of `LABELS`.
        about: what the lines are about, as their headings say.
    """

    heading: str
    part: str
    about: Topic


class Row(NamedTuple):
    """A line of a summary, and what decides where it goes: the numbers of its section and label,
    and where it was said.

    Rows are written in this order.
    """

    section: int
    label: int
    message_index: int
    place: int
    text: str


def is_demand(text: str) -> bool:
    """Whether a person's words demand or forbid something."""
    return _DEMAND.search(text.lower()) is not None


def topic(line: Line, recent: bool) -> Topic:
    """What a chosen line is about; only what was said recently can still be open."""
    if line.origin == LineOrigin.USER:
        return "constraints" if is_demand(line.text) else "goal"
    if line.origin in (LineOrigin.SAID, LineOrigin.THOUGHT):
        if recent and _OPEN.search(line.text):
            return "next"
        if _DECIDED.search(line.text):
            return "decisions"
        return "progress" if line.origin == LineOrigin.SAID else "context"
    return "context"


def heading_topic(heading: str) -> Topic | None:
    """What belongs under a heading; None if its words do not tell."""
    return next((name for name, words in _TOPICS if words.search(heading)), None)


class Outline:
    """The sections of a summary, in order, by their headings: at least one."""

    def __init__(self, headings: tuple[str, ...]) -> None:
        self.headings = headings
        self.topics = [heading_topic(heading) for heading in headings]

    def section(self, about: Topic) -> int:
        """The section for a topic; for one that has none, that of the context, else the last.

        Demands without a section of their own are put where the user's words are.
        """
        if about in self.topics:
            return self.topics.index(about)
        fallback = (
            self.topics.index("context") if "context" in self.topics else len(self.topics) - 1
        )
        users = (
            number for number, heading in enumerate(self.headings) if _OF_THE_USER.search(heading)
        )
        return next(users, fallback) if about == "constraints" else fallback

    def row(self, pick: Pick, recent: int, above: Above | None) -> Row:
        """Where a line is written, and how; one of an earlier summary stays in its section if there
        is such a section.

        Args:
            pick: the line.
            recent: the message from which on what was said can still be open.
            above: what is above a line of the earlier summary; None for a line of a message.
        """
        if above is None:
            about, label = topic(pick.line, pick.message_index >= recent), _label(pick.line)
            section = self.section(about)
        else:
            about, label = above.about, above.part
            has_heading = above.heading in self.headings
            section = self.headings.index(above.heading) if has_heading else self.section(about)
        if about == "constraints" and not label and about not in self.topics:
            label = DEMANDED
        return Row(
            section, LABELS.index(label), pick.message_index, pick.place, harmless(pick.line.text)
        )

    def written(self, rows: Iterable[Row]) -> str:
        """The summary of these rows; empty sections are left out."""
        rows_text = []
        for section, in_section in groupby(sorted(rows), key=lambda row: row.section):
            rows_text.append(f"\n## {self.headings[section]}")
            for label, in_part in groupby(in_section, key=lambda row: row.label):
                rows_text += [f"### {LABELS[label]}"] if label else []
                rows_text += [f"- {row.text}" for row in in_part]
        return "\n".join(rows_text).lstrip("\n")


def _label(line: Line) -> str:
    if line.origin == LineOrigin.ARGUMENT:
        return "Files" if _FILE.fullmatch(line.text) else "Written"
    return _LABEL_OF.get(line.origin, "")


def lines_below(summary: str) -> Iterator[tuple[Above, str]]:
    """The lines of an earlier summary, whoever wrote it, each with what is above it."""
    above = Above("", "", "context")
    for line in summary.splitlines():
        if line[:1] == "#" and (heading := _HEADING.match(line)):
            name = heading.group(1).strip()
            over, part = (above.heading, name) if name in LABELS else (name, "")
            above = Above(
                over, part, "constraints" if part == DEMANDED else heading_topic(over) or "context"
            )
        else:
            yield above, line
