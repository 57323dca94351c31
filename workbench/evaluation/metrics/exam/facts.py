"""Items of kind `fact`: the exact things of the history that the agent then used."""

import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass

import numpy as np

from workbench.base.ragged import Ints, kept_mask
from workbench.engine.extraction.entities import Kind
from workbench.engine.transcript.message import AssistantMessage, ToolResult
from workbench.evaluation.metrics.background import BACKGROUND
from workbench.evaluation.metrics.demand import HORIZON
from workbench.evaluation.metrics.exam.cues import FEWEST, Question
from workbench.evaluation.metrics.exam.history import FORMS, ExamHistory, Past
from workbench.evaluation.metrics.exam.item import Item
from workbench.evaluation.metrics.indexes.inverted_index import pairs_of, row_of

SHORTEST = 3
"""Letters and digits that a name needs: `#8` and `/n` agree with too much by chance."""
_EVERYDAY = re.compile(
    r"(?:git|gh|apt|apt-get|brew)"
    r" |.*(?:\bpath/to/|\bexample\.(?:com|org|net)\b|\b(?:my|your)[-_]|\blocalhost\b"
    r"|\b127\.0\.0\.1\b|%[#+]?[a-z]\b|\{\w*\}|[=)] ?[>{;]|\)\s*:\s*\w+\s*\{|\b0{8}-0{4}-)",
    re.IGNORECASE,
)
"""Commands that any engineer gives, names that stand for others in examples, and templates of
texts, and code.
"""
_CAPITALS = re.compile(r"[A-Z]{2,}(?:e?s|ed|ing)")
"""Capitals with an ending of grammar (`JWTs`): a word, not a name."""
_CLASSES = re.compile(r"\bclass(?:name)?=[\"'{`]+([^\"'`]*)")
"""The styles of an element."""
_PLAIN = re.compile(r"[\w\s'’,.!?-]+")
"""A quotation that is nothing but words."""
_MARKS = "\"'`“”‘’«»„"
"""What stands on a side of a quotation."""
LEFT_OUT: frozenset[Kind] = frozenset({"flag"})
"""Kinds of entities that are knobs of tools, not things of the work."""
MOST_LINES = 300
"""Lines with a name that its evidence is looked for in: the newest."""


@dataclass(frozen=True, slots=True)
class Use:
    """A name of the history that an answer used: its message and line, and the line of its
    evidence.
    """

    name: int
    message: int
    line: int
    form: int
    evidence: int


def facts(history: ExamHistory, at: int, *, every: bool = False) -> list[Item]:
    """The items of `messages[:at]`, in order of use.

    A name counts that an answer among the next messages uses, unless somebody said it again before,
    in a line that the history does not have. (A result that the history has was fetched again, and
    so was that of a call which it has or that asks for a file which it has: that was needed.) One
    need is one item: one a command line, one a line of prose and its evidence, one a written file
    and the message of its evidence; of several names the one in fewest lines that has look-alikes.
    With `every`, each name is an item, also one said again.
    """
    past = history.before(at)
    return [
        item for uses in _needs(history, at, past, every) if (item := _rarest(history, uses, past))
    ]


def stand_ins(history: ExamHistory, at: int) -> dict[str, str]:
    """For each needed name, in lower case, the answer of the item that asks for its need."""
    past = history.before(at)
    needs = [
        (uses, _rarest(history, uses, past)) for uses in _needs(history, at, past, every=False)
    ]
    return {
        history.names[use.name].text.lower(): item.answer
        for uses, item in needs
        if item
        for use in uses
    }


def _needs(history: ExamHistory, at: int, past: Past, every: bool) -> Iterable[Sequence[Use]]:
    """The uses, those of one need together."""
    needs: dict[tuple[int, int, int], list[Use]] = {}
    for use in uses(history, at, past, every):
        form = FORMS[use.form]
        source = int(past.newest[use.evidence])
        need = {"command": (use.message, use.line, -1), "file": (use.message, -1, source)}
        key = (use.name, -1, -1) if every else need.get(form, (use.message, use.line, use.evidence))
        needs.setdefault(key, []).append(use)
    return needs.values()


def uses(
    history: ExamHistory, at: int, past: Past, said_again: bool = True, horizon: int = HORIZON
) -> Iterator[Use]:
    """The first use of each name of the history, each with its evidence; of those that nobody said
    again, or of all.

    Args:
        history: of the session.
        at: the boundary: uses are in `messages[at:at + horizon]`.
        past: the history before it.
        said_again: whether names count that somebody said again before their use.
        horizon: messages.
    """
    after = (history.place_message >= at) & (history.place_message < at + horizon)
    answers, results = (
        np.array([isinstance(message, kind) for message in history.messages], dtype=bool)[
            history.place_message
        ]
        for kind in (AssistantMessage, ToolResult)
    )
    fetched = results & (
        past.lines[history.place_line] | (history.fetched[history.place_message] < at)
    )
    places = np.flatnonzero(after & (answers if said_again else ~fetched))
    row, names = history.names_in(history.place_line[places])
    known = np.flatnonzero(past.names[names])
    written = [
        _is_written(history, int(names[one]), int(places[row[one]])) for one in known.tolist()
    ]
    known = known[np.array(written, dtype=bool)]
    first = known[np.unique(names[known], return_index=True)[1]]
    for one in sorted(first.tolist(), key=lambda one: (row[one], names[one])):
        place, name = places[row[one]], int(names[one])
        entity, message, line = (
            history.names[name],
            int(history.place_message[place]),
            int(history.place_line[place]),
        )
        if not (
            answers[place]
            and entity.kind not in LEFT_OUT
            and entity not in BACKGROUND
            and entity.text.lower() not in history.tool_words
            and not _is_everyday(entity.text)
            and not _is_borrowed(history, name)
        ):
            continue
        form = int(history.place_form[place])
        evidence = _evidence(history, history.lines_with(name, past.newest)[-MOST_LINES:], line)
        yield Use(name, message, line, form, evidence)


def _is_written(history: ExamHistory, name: int, place: int) -> bool:
    """Whether an answer writes a thing as one: not the words of a quotation in a sentence, not a
    name in pieces.
    """
    line = history.texts[history.place_line[place]].replace("\\", "/").lower()
    text = history.names[name].text.replace("\\", "/").lower()
    kind, form = history.names[name].kind, FORMS[history.place_form[place]]
    if kind == "quote" and form == "file":  # a string of code
        return False
    if any(text in styles.split() for styles in _CLASSES.findall(line)):
        return False
    if " " not in text:
        return kind != "quote" and (kind == "number" or text.strip("./@#~-:") in line)
    if kind != "quote" or form == "command" or not _PLAIN.fullmatch(text):
        return True
    return re.search(f"[{_MARKS}]{re.escape(text)}|{re.escape(text)}[{_MARKS}]", line) is not None


def _is_everyday(name: str) -> bool:
    short = sum(map(str.isalnum, name)) < SHORTEST and "%" not in name
    return short or _EVERYDAY.match(name) is not None or _CAPITALS.fullmatch(name) is not None


def _is_borrowed(history: ExamHistory, name: int) -> bool:
    """Whether a name is somebody else's, or no whole name.

    The session never writes it without a dot or a star before it (`response.StatusCode`, `*.tsx`;
    but `self.limit` is its own), or other names end with it (`_test.go`).
    """
    text, kind = history.names[name].text.lower(), history.names[name].kind
    if text[0] == "_" and kind == "path":
        return any(
            other.text.lower().endswith(text) and other.text.lower() != text
            for other in history.names
        )
    if kind not in ("identifier", "path"):
        return False
    before, own = (
        (r"(?<!self)(?<!this)\.", r"(?<!\w)") if kind == "identifier" else (r"(?<!\*)\*", "")
    )
    written = re.compile(f"{before}{re.escape(text)}|({own}{re.escape(text)})")
    lines = np.unique(history.lines.segment_line[history.rows_with_name(name)])
    found = [
        bool(one[1])
        for line in lines.tolist()
        for one in written.finditer(history.texts[line].lower())
    ]
    return bool(found) and not any(found)


def _evidence(history: ExamHistory, lines: Ints, use: int) -> int:
    """The line that shares most with the line of the use, by the weight of what they share; ties
    go to the newest.
    """
    used = kept_mask(row_of(history.features, use), len(history.idf))
    row, feature = pairs_of(history.features, lines)
    shared = np.bincount(row, history.idf[feature] * used[feature], minlength=len(lines))
    return int(lines[np.flatnonzero(shared >= shared.max() - 1e-9)[-1]])


def _rarest(history: ExamHistory, uses: Sequence[Use], past: Past) -> Item | None:
    """The item of the name in fewest lines that makes one."""
    rarest = sorted(
        uses,
        key=lambda use: (len(history.rows_with_name(use.name)), -len(history.names[use.name].text)),
    )
    return next((item for use in rarest if (item := item_of(history, use, past))), None)


def item_of(history: ExamHistory, use: Use, past: Past) -> Item | None:
    """The item of a need; None where nothing leads to it or nothing could be mistaken for it."""
    entity = history.names[use.name]
    question = Question(history, entity.text, history.texts[use.line], history.texts[use.evidence])
    look_alikes = question.look_alikes(entity.kind, past) if question.cue else ()
    if len(look_alikes) < FEWEST:
        return None
    first = int(history.first[history.lines_with(use.name, past.newest)[-MOST_LINES:]].min())
    return Item(
        "fact",
        entity.text,
        look_alikes,
        question.cue,
        question.evidence,
        question.use,
        said=first,
        used=use.message,
        denied=question.denied,
        sides=question.sides,
    )
