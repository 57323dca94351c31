"""Where a chosen line stands in a summary, and how the summary is written and read back."""

from __future__ import annotations

import re
from bisect import bisect_left
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import Literal, TypeAlias

from workbench.models.extractive_choice import Pick
from workbench.models.extractive_reading import Source
from workbench.transcript.signs import Signs

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

_DEMAND = Signs(
    r"\b(?:must|never|always|only|don'?t|do not|doesn'?t|shouldn'?t|should|can'?t|cannot|avoid|ensure|make sure|prefer|"
    r"require[sd]?|needs? to|have to|has to|without|instead of|at (?:most|least)|no (?:more|less|longer)|keep|stop)\b",
    "must never always only don dont not doesn doesnt shouldn shouldnt should can cant cannot avoid ensure sure prefer"
    " require requires required need needs have has without instead most least more less longer keep stop",
)
_DECIDED = Signs(
    r"\b(?:decided?|decision|chose|chosen|opted|settled on|go(?:ing)? with|instead of|rather than|because|so that|"
    r"root cause|switch(?:ed|ing)? to|"
    r"the (?:fix|problem|issue|cause|reason) (?:is|was)|we(?:'ll| will) use|i(?:'ll| will) use)\b",
    "decide decided decision chose chosen opted settled go going instead rather because so cause switch switched"
    " switching fix problem issue reason use",
)
_OPEN = Signs(
    r"\b(?:to-?do|next|remaining|still (?:need|have|to|missing|fails?)|not yet|left to|pending|need(?:s)? to|let me|"
    r"i(?:'ll| will)|we(?:'ll| will)|should now|follow-?up)\b|\[ \]",
    "todo do next remaining still yet left pending need needs let ll will should follow followup",
    ("[ ]",),
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
_FILES, _WRITTEN = _LABEL["Files"], _LABEL["Written"]
_OF_SOURCE: dict[int, int] = {
    Source.COMMAND: _LABEL["Commands"], Source.RESULT: _LABEL["Results"], Source.FAILED: _LABEL["Errors"],
}  # fmt: skip

Row: TypeAlias = tuple[int, str]
"""A line of a summary: where it is written, and how. The place is one number, its section and label before where it was
said, since numbers are put in order much more quickly than what they stand for."""

_LABEL_BITS = 8
_PLACE = 48
"""Bits of a row's place that say where it was said: half of them the message, half the line."""


@dataclass(frozen=True, slots=True)
class Above:
    """What stands above some lines of an earlier summary.

    Attributes:
        heading: empty above the first.
        part: the heading below that, one of `LABELS`.
        about: what the lines are about, as their headings say.
    """

    heading: str
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


def topic(source: int, text: str, recent: bool) -> Topic:
    """What a chosen line is about; only what was said recently can still be open."""
    if source == Source.USER:
        return "constraints" if is_demand(text) else "goal"
    if source in (Source.SAID, Source.THOUGHT):
        if recent and is_open(text):
            return "next"
        if is_decision(text):
            return "decisions"
        return "progress" if source == Source.SAID else "context"
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

    def rows(self, picks: Iterable[Pick], text: Callable[[int], str], recent: int, above: Sequence[Above]) -> list[Row]:
        """Where each line is written, and how; one of an earlier summary stays in its section where there is such.

        Args:
            picks: the lines.
            text: what a line says, by its number.
            recent: the message from which on what was said can still be open.
            above: for each line of the earlier summary what stood above it.
        """
        number = {heading: i for i, heading in reversed(list(enumerate(self.headings)))}
        mixed = not any(heading_topic(heading) == "constraints" for heading in self.headings)
        of_topic: dict[Topic, int] = {}
        of_earlier: dict[Above, tuple[int, int]] = {}

        def place(about: Topic, label: int, section: int | None = None) -> tuple[int, int]:
            if section is None:
                section = of_topic.get(about)
            if section is None:
                section = of_topic[about] = number[self.heading(about)]
            return section, _LABEL[DEMANDED] if mixed and not label and about == "constraints" else label

        found: list[Row] = []
        for at, i, source, line in picks:
            said = text(line)
            if at < 0:
                over = above[i]
                where = of_earlier.get(over)
                if where is None:
                    where = place(over.about, _LABEL.get(over.part, 0), number.get(over.heading))
                    of_earlier[over] = where
            else:
                where = place(topic(source, said, at >= recent), _label(source, said))
            section, label = where
            group = (section << _LABEL_BITS) + label
            key = (((group << _PLACE // 2) + at + 1) << _PLACE // 2) + i
            found.append((key, "- " + harmless(said)))
        return found

    def written(self, rows: Iterable[Row]) -> str:
        """The summary: sections in their order, lines in the order in which they were said; empty sections left out."""
        items = dict(rows)
        keys = sorted(items)
        lines: list[str] = []
        before = -1
        first = part = 0
        while first < len(keys):
            group = keys[first] >> _PLACE
            section, label = divmod(group, 1 << _LABEL_BITS)
            if section != before:
                lines += ["", f"## {self.headings[section]}"]
                before, part = section, 0
            if label != part:
                lines.append(f"### {LABELS[label]}")
                part = label
            last = bisect_left(keys, (group + 1) << _PLACE, first)
            lines += map(items.__getitem__, keys[first:last])
            first = last
        return "\n".join(lines[1:])


def _label(source: int, text: str) -> int:
    """Which of `LABELS` a line of a message stands under, by number."""
    if source == Source.ARGUMENT:
        return _FILES if is_file(text) else _WRITTEN
    return _OF_SOURCE.get(source, 0)


@lru_cache(maxsize=REMEMBERED)
def is_file(text: str) -> bool:
    """Whether an argument is a path and nothing else."""
    return _FILE.fullmatch(text) is not None


def harmless(text: str) -> str:
    """A line of a session in which no tag can be closed."""
    return text.replace("</", "< /")


def noted_lines(summary: str) -> Iterator[tuple[Above, list[str]]]:
    """The lines of an earlier summary, whoever wrote it, without their marks: with what stands above them."""
    above, found = Above("", "", "context"), list[str]()
    for line in summary.splitlines():
        if line[:2] == "- ":
            text = line[2:].strip()
        elif line[:1] == "#" and (heading := _HEADING.match(line)):
            if found:
                yield above, found
            found = []
            name = heading.group(1).strip()
            over, part = (above.heading, name) if name in LABELS else (name, "")
            above = Above(over, part, "constraints" if part == DEMANDED else heading_topic(over) or "context")
            continue
        else:
            text = _BULLET.sub("", line).strip()
        if text:
            found.append(text)
    if found:
        yield above, found
