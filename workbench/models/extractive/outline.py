"""Where a chosen line stands in a summary, and how the summary is written and read back."""

from __future__ import annotations

import re
from bisect import bisect_left
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from functools import lru_cache
from itertools import islice
from typing import Literal, TypeAlias

from workbench.models.extractive.choice import Pick
from workbench.models.extractive.reading import Source, harmless

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
    re.IGNORECASE,
)
_DECIDED = re.compile(
    r"\b(?:decided?|decision|chose|chosen|opted|settled on|go(?:ing)? with|instead of|rather than|because|so that|"
    r"root cause|switch(?:ed|ing)? to|"
    r"the (?:fix|problem|issue|cause|reason) (?:is|was)|we(?:'ll| will) use|i(?:'ll| will) use)\b",
    re.IGNORECASE,
)
_OPEN = re.compile(
    r"\b(?:to-?do|next|remaining|still (?:need|have|to|missing|fails?)|not yet|left to|pending|need(?:s)? to|let me|"
    r"i(?:'ll| will)|we(?:'ll| will)|should now|follow-?up)\b|\[ \]",
    re.IGNORECASE,
)
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


Noted: TypeAlias = tuple[Above, range]
"""What stands above some lines of an earlier summary, and which of its lines they are."""


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

    def rows(
        self, picks: Iterable[Pick], text_of: Callable[[int], str], recent: int, noted: Iterable[Noted]
    ) -> dict[int, str]:
        """Where each line is written, and how; one of an earlier summary stays in its section where there is such.

        The place is one number, its section and label before where it was said, since numbers are put in order much
        more quickly than what they stand for.

        Args:
            picks: different lines.
            text_of: gives what a line says, by its number.
            recent: the message from which on what was said can still be open.
            noted: the lines of the earlier summary.
        """
        number = {heading: i for i, heading in reversed(list(enumerate(self.headings)))}
        mixed = not any(heading_topic(heading) == "constraints" for heading in self.headings)

        def part(about: Topic, label: int, section: int | None = None) -> int:
            if section is None:
                section = number[self.heading(about)]
            label = _LABEL[DEMANDED] if mixed and not label and about == "constraints" else label
            return ((section << _LABEL_BITS) + label) << _PLACE

        of_earlier: list[int] = []
        for above, places in noted:
            where = part(above.about, _LABEL.get(above.part, 0), number.get(above.heading))
            of_earlier += [where] * len(places)
        of_said: dict[tuple[Topic, int], int] = {}
        found: dict[int, str] = {}
        for at, i, source, line in picks:
            said = text_of(line)
            if at < 0:
                where = of_earlier[i]
            else:
                about = topic(source, said, at >= recent), _label(source, said)
                if about not in of_said:
                    of_said[about] = part(*about)
                where = of_said[about] + (at + 1 << _PLACE // 2)
            found[where + i] = harmless(said)
        return found

    def items(self, rows: Mapping[int, str], many: int) -> list[str]:
        """The summary of the first rows, as what stands between its `ITEM`s.

        Sections stand in their order, lines in the order in which they were said; empty sections are left out.
        """
        keys = sorted(islice(rows, many))
        found = [""]
        before = -1
        first = part = 0
        while first < len(keys):
            group = keys[first] >> _PLACE
            section, label = divmod(group, 1 << _LABEL_BITS)
            if section != before:
                found[-1] += f"\n\n## {self.headings[section]}"
                before, part = section, 0
            if label != part:
                found[-1] += f"\n### {LABELS[label]}"
                part = label
            last = bisect_left(keys, (group + 1) << _PLACE, first)
            found += map(rows.__getitem__, keys[first:last])
            first = last
        found[0] = found[0][2:]
        return found


def _label(source: int, text: str) -> int:
    """Which of `LABELS` a line of a message stands under, by number."""
    if source == Source.ARGUMENT:
        return _FILES if is_file(text) else _WRITTEN
    return _OF_SOURCE.get(source, 0)


@lru_cache(maxsize=REMEMBERED)
def is_file(text: str) -> bool:
    """Whether an argument is a path and nothing else."""
    return _FILE.fullmatch(text) is not None


def noted_lines(summary: str) -> Iterator[tuple[Above, list[str]]]:
    """The lines of an earlier summary, whoever wrote it, as they stand there: with what stands above them."""
    above, first = Above("", "", "context"), 0
    lines = summary.splitlines()
    for at, line in enumerate(lines):
        if line[:1] == "#" and (heading := _HEADING.match(line)):
            yield above, lines[first:at]
            first = at + 1
            name = heading.group(1).strip()
            over, part = (above.heading, name) if name in LABELS else (name, "")
            above = Above(over, part, "constraints" if part == DEMANDED else heading_topic(over) or "context")
    yield above, lines[first:]
