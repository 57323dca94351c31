"""Where a chosen line stands in a summary, and how the summary is written and read back."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import Literal, TypeAlias

from workbench.models.extractive_choice import Pick
from workbench.models.extractive_reading import Source

Topic: TypeAlias = Literal["goal", "constraints", "progress", "decisions", "next", "context"]

HEADINGS: tuple[str, ...] = ("Goal", "Constraints", "Progress", "Key decisions", "Next steps", "Critical context")
"""What a summary is divided into when nobody asks for other sections."""

_TOPICS: tuple[tuple[Topic, re.Pattern[str]], ...] = (
    ("constraints", re.compile(r"constraint|preference|requirement|rule|demand", re.I)),
    ("goal", re.compile(r"goal|request|intent|objective|task\b|asked", re.I)),
    ("decisions", re.compile(r"decision|decided|rationale|approach", re.I)),
    ("next", re.compile(r"next|pending|to.?do|remaining|in progress|open", re.I)),
    ("progress", re.compile(r"progress|done|complete|history|tried|so far", re.I)),
    ("context", re.compile(r"context|critical|reference|detail|file|error|finding|result|technical|note", re.I)),
)

_OF_THE_USER = re.compile(r"\buser\b|intent|request|important|objective", re.I)

_DEMAND = re.compile(
    r"\b(?:must|never|always|only|don'?t|do not|doesn'?t|shouldn'?t|should|can'?t|cannot|avoid|ensure|make sure|prefer|"
    r"require[sd]?|needs? to|have to|has to|without|instead of|at (?:most|least)|no (?:more|less|longer)|keep|stop)\b",
    re.I,
)
_DECIDED = re.compile(
    r"\b(?:decided?|decision|chose|chosen|opted|settled on|go(?:ing)? with|instead of|rather than|because|so that|"
    r"root cause|switch(?:ed|ing)? to|"
    r"the (?:fix|problem|issue|cause|reason) (?:is|was)|we(?:'ll| will) use|i(?:'ll| will) use)\b",
    re.I,
)
_OPEN = re.compile(
    r"\b(?:to-?do|next|remaining|still (?:need|have|to|missing|fails?)|not yet|left to|pending|need(?:s)? to|let me|"
    r"i(?:'ll| will)|we(?:'ll| will)|should now|follow-?up)\b|\[ \]",
    re.I,
)
_BULLET = re.compile(r"^\s*[-*+•]\s+")
_FILE = re.compile(r"[\w.@~/\\:-]*/[\w.@~/\\:-]*")
_HEADING = re.compile(r"^#{1,6}\s+(.+?)\s*#*$")


REMEMBERED = 50_000
"""Lines of which a process remembers what they are about: those of one summary mostly stand in the next one again."""

DEMANDED = "Constraints of the user"
"""What the user demands, in a section that is not only for that: so an update knows it again."""

LABELS = ("", DEMANDED, "Files", "Commands", "Written", "Results", "Errors")
"""Parts of the section for everything exact, in their order."""


_LABEL = {name: number for number, name in enumerate(LABELS)}

Row: TypeAlias = tuple[int, int, tuple[int, int], str]
"""A line of a summary: the numbers of its section and label, where it was said, and how it is written."""


@dataclass(slots=True)  # a frozen one takes three times as long to make
class Noted:
    """A line of an earlier summary, and what stood above it.

    Attributes:
        heading: the one that it stood under; empty above the first.
        text: the line without its mark.
        part: the heading below that, one of `LABELS`.
        about: what the line is about, as its headings say.
    """

    heading: str
    text: str
    part: str
    about: Topic


@lru_cache(maxsize=REMEMBERED)
def is_demand(text: str) -> bool:
    """Whether a person's words demand or forbid something."""
    return bool(_DEMAND.search(text))


@lru_cache(maxsize=REMEMBERED)
def is_decision(text: str) -> bool:
    """Whether words say what was decided, or why."""
    return bool(_DECIDED.search(text))


@lru_cache(maxsize=REMEMBERED)
def is_open(text: str) -> bool:
    """Whether words say what is still to do."""
    return bool(_OPEN.search(text))


def topic(pick: Pick, recent: int) -> Topic:
    """What a chosen line is about; only what was said from message `recent` on can still be open."""
    if pick.source is Source.USER:
        return "constraints" if is_demand(pick.text) else "goal"
    if pick.source in (Source.SAID, Source.THOUGHT):
        if pick.place[0] >= recent and is_open(pick.text):
            return "next"
        if is_decision(pick.text):
            return "decisions"
        return "progress" if pick.source is Source.SAID else "context"
    return "context"


@lru_cache(maxsize=REMEMBERED)
def heading_topic(heading: str) -> Topic | None:
    """What belongs under a heading; None if its words do not tell."""
    return next((name for name, words in _TOPICS if words.search(heading)), None)


@dataclass(frozen=True, slots=True)
class Outline:
    """The sections of a summary, in order.

    Attributes:
        headings: at least one.
    """

    headings: tuple[str, ...]

    def heading(self, about: Topic) -> str:
        """The section for a topic; for one that has none, that of the context, else the last.

        Demands without a section of their own stand where the user's words do.
        """
        found = next((heading for heading in self.headings if heading_topic(heading) == about), None)
        if found is None and about == "constraints":
            found = next((heading for heading in self.headings if _OF_THE_USER.search(heading)), None)
        if found is None:
            found = next((heading for heading in self.headings if heading_topic(heading) == "context"), None)
        return self.headings[-1] if found is None else found

    def topic(self, pick: Pick, recent: int, noted: Sequence[Noted]) -> Topic:
        """What a line is about; one of an earlier summary is about what its heading says."""
        if pick.place[0] < 0 and noted:
            return noted[pick.place[1]].about
        return topic(pick, recent)

    def rows(self, picks: Iterable[Pick], recent: int, noted: Sequence[Noted]) -> list[Row]:
        """Where each line is written, and how; one of an earlier summary stays in its section where there is such."""
        number = {heading: i for i, heading in reversed(list(enumerate(self.headings)))}
        mixed = not any(heading_topic(heading) == "constraints" for heading in self.headings)
        of_topic: dict[Topic, int] = {}
        found: list[Row] = []
        for pick in picks:
            section = number.get(noted[pick.place[1]].heading) if pick.place[0] < 0 and noted else None
            if section is None:
                about = self.topic(pick, recent, noted)
                section = of_topic.get(about)
                if section is None:
                    section = of_topic[about] = number[self.heading(about)]
            label = _label(pick, noted)
            if mixed and not label and self.topic(pick, recent, noted) == "constraints":
                label = _LABEL[DEMANDED]
            found.append((section, label, pick.place, f"- {harmless(pick.text)}"))
        return found

    def written(self, rows: Iterable[Row]) -> str:
        """The summary: sections in their order, lines in the order in which they were said; empty sections left out."""
        lines: list[str] = []
        before, part = -1, 0
        for section, label, _, line in sorted(rows):
            if section != before:
                lines += ["", f"## {self.headings[section]}"]
                before, part = section, 0
            if label != part:
                lines.append(f"### {LABELS[label]}")
                part = label
            lines.append(line)
        return "\n".join(lines[1:])


def _label(pick: Pick, noted: Sequence[Noted]) -> int:
    """Which of `LABELS` a line stands under, by number."""
    match pick.source:
        case Source.COMMAND:
            return _LABEL["Commands"]
        case Source.ARGUMENT:
            return _LABEL["Files"] if _FILE.fullmatch(pick.text) else _LABEL["Written"]
        case Source.RESULT:
            return _LABEL["Results"]
        case Source.FAILED:
            return _LABEL["Errors"]
        case Source.EARLIER if noted and pick.place[0] < 0:
            return _LABEL.get(noted[pick.place[1]].part, 0)
    return 0


def harmless(text: str) -> str:
    """A line of a session in which no tag can be closed."""
    return text.replace("</", "< /")


def noted_lines(summary: str) -> Iterator[Noted]:
    """The lines of an earlier summary, whoever wrote it, without their marks."""
    heading = part = ""
    about: Topic = "context"
    for line in summary.splitlines():
        if line[:1] == "#" and (found := _HEADING.match(line)):
            name = found.group(1).strip()
            heading, part = (heading, name) if name in LABELS else (name, "")
            about = "constraints" if part == DEMANDED else heading_topic(heading) or "context"
        elif text := (line[2:] if line[:2] == "- " else _BULLET.sub("", line)).strip():
            yield Noted(heading, text, part, about)
