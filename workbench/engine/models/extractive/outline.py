"""Where a chosen line goes in a summary, and how the summary is written and read back."""

import re
from collections.abc import Iterable, Iterator
from itertools import groupby
from typing import Literal, NamedTuple, TypeAlias

from workbench.engine.models.extractive.choice import Pick
from workbench.engine.models.extractive.reading import OF_THE_AGENT, Line, LineOrigin, harmless

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
    if line.origin in OF_THE_AGENT:
        if recent and _OPEN.search(line.text):
            return "next"
        if line.decides:
            return "decisions"
    if line.origin == LineOrigin.SAID:
        return "progress"
    return "context"


def heading_topic(heading: str) -> Topic | None:
    """What belongs under a heading; None if its words do not tell."""
    for name, words in _TOPICS:
        if words.search(heading):
            return name
    return None


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
        if about == "constraints":
            for number, heading in enumerate(self.headings):
                if _OF_THE_USER.search(heading):
                    return number
        if "context" in self.topics:
            return self.topics.index("context")
        return len(self.topics) - 1

    def row(self, pick: Pick, recent: int, above: Above | None) -> Row:
        """Where a line is written, and how; one of an earlier summary stays in its section if there
        is such a section.

        Args:
            pick: the line.
            recent: the message from which on what was said can still be open.
            above: what is above a line of the earlier summary; None for a line of a message.
        """
        if above is None:
            about = topic(pick.line, pick.message_index >= recent)
            label = _label(pick.line)
        else:
            about = above.about
            label = above.part
        if above is not None and above.heading in self.headings:
            section = self.headings.index(above.heading)
        else:
            section = self.section(about)
        if about == "constraints" and not label and about not in self.topics:
            label = DEMANDED
        text = harmless(pick.line.text)
        return Row(section, LABELS.index(label), pick.message_index, pick.place, text)

    def written(self, rows: Iterable[Row]) -> str:
        """The summary of these rows; empty sections are left out."""
        lines = []
        for section, rows_of_section in groupby(sorted(rows), key=lambda row: row.section):
            lines.append(f"\n## {self.headings[section]}")
            for label, rows_of_part in groupby(rows_of_section, key=lambda row: row.label):
                if label:
                    lines.append(f"### {LABELS[label]}")
                for row in rows_of_part:
                    lines.append(f"- {row.text}")
        return "\n".join(lines).lstrip("\n")


def _label(line: Line) -> str:
    if line.origin != LineOrigin.ARGUMENT:
        return _LABEL_OF.get(line.origin, "")
    if _FILE.fullmatch(line.text):
        return "Files"
    return "Written"


def lines_below(summary: str) -> Iterator[tuple[Above, str]]:
    """The lines of an earlier summary, whoever wrote it, each with what is above it."""
    above = Above("", "", "context")
    for line in summary.splitlines():
        match = _HEADING.match(line)
        if match is None:
            yield above, line
        else:
            above = _below_heading(match.group(1).strip(), above.heading)


def _below_heading(name: str, heading: str) -> Above:
    """What is above the lines below this name: a label below a heading, or a heading itself."""
    part = ""
    if name in LABELS:
        part = name
    else:
        heading = name
    if part == DEMANDED:
        return Above(heading, part, "constraints")
    return Above(heading, part, heading_topic(heading) or "context")
