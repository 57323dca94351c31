"""Items of kind `fact`: the exact things of the history that the agent then used."""

import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass

import numpy as np

from workbench.base.ragged import Flags, Ints, kept_mask
from workbench.engine.extraction.entities import Kind
from workbench.engine.transcript.message import AssistantMessage, ToolResult
from workbench.evaluation.metrics.background import BACKGROUND
from workbench.evaluation.metrics.demand import HORIZON
from workbench.evaluation.metrics.exam.cues import FEWEST, Question
from workbench.evaluation.metrics.exam.history import ExamHistory, Past
from workbench.evaluation.metrics.exam.item import Item
from workbench.evaluation.metrics.exam.texts_by_form import FORMS
from workbench.evaluation.metrics.indexes.arrays import flags
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
    """A name of the history that an answer used, with the lines of its use and its evidence."""

    name: int
    message: int
    line: int
    form: int
    evidence: int


def facts(history: ExamHistory, boundary: int, *, every: bool = False) -> list[Item]:
    """The items of `messages[:boundary]`, in order of use.

    A name counts that an answer among the next messages uses, unless somebody said it again before,
    in a line that the history does not have. (A result that the history has was fetched again, and
    so was that of a call which it has or that asks for a file which it has: that was needed.) One
    need is one item: one a command line, one a line of prose and its evidence, one a written file
    and the message of its evidence; of several names the one in fewest lines that has look-alikes.
    With `every`, each name is an item, also one said again.
    """
    past = history.before(boundary)
    items: list[Item] = []
    for need in _needs(history, boundary, past, apart=every):
        item = _rarest(history, need, past)
        if item is not None:
            items.append(item)
    return items


def stand_ins(history: ExamHistory, boundary: int) -> dict[str, str]:
    """For each needed name, in lower case, the answer of the item that asks for its need."""
    past = history.before(boundary)
    answers: dict[str, str] = {}
    for need in _needs(history, boundary, past, apart=False):
        item = _rarest(history, need, past)
        if item is None:
            continue
        for use in need:
            name = history.names[use.name].text
            answers[name.lower()] = item.answer
    return answers


def _needs(
    history: ExamHistory, boundary: int, past: Past, *, apart: bool
) -> Iterable[Sequence[Use]]:
    """The uses, those of one need together, or each name apart."""
    needs: dict[tuple[int, int, int], list[Use]] = {}
    for use in uses(history, boundary, past, apart):
        key = (use.name, -1, -1)
        if not apart:
            key = _need_key(use, past)
        uses_of_need = needs.setdefault(key, [])
        uses_of_need.append(use)
    return needs.values()


def _need_key(use: Use, past: Past) -> tuple[int, int, int]:
    """What the uses of one need have in common."""
    form = FORMS[use.form]
    if form == "command":
        return use.message, use.line, -1
    if form == "file":
        evidence_message = int(past.newest[use.evidence])
        return use.message, -1, evidence_message
    return use.message, use.line, use.evidence


def uses(
    history: ExamHistory,
    boundary: int,
    past: Past,
    said_again: bool = True,
    horizon: int = HORIZON,
) -> Iterator[Use]:
    """The first use of each name of the history, each with its evidence; of those that nobody said
    again, or of all.

    Args:
        history: of the session.
        boundary: uses are in `messages[boundary:boundary + horizon]`.
        past: the history before it.
        said_again: whether names count that somebody said again before their use.
        horizon: messages.
    """
    message = history.place_message
    is_answer = flags(isinstance(entry, AssistantMessage) for entry in history.messages)
    answers = is_answer[message]
    is_candidate = answers
    if not said_again:
        is_candidate = ~_fetched_again(history, boundary, past)
    is_after = message >= boundary
    is_later = is_after & (message < boundary + horizon)
    places = np.flatnonzero(is_later & is_candidate)
    lines_of_places = history.place_line[places]
    row, names = history.names_in(lines_of_places)
    is_of_past = past.names[names]
    occurrences = np.flatnonzero(is_of_past)
    first_places: dict[int, int] = {}
    for occurrence in occurrences.tolist():
        name = int(names[occurrence])
        if name in first_places:
            continue
        place = int(places[row[occurrence]])
        if _is_written(history, name, place):
            first_places[name] = place
    places_with_names = [(place, name) for name, place in first_places.items()]
    places_with_names.sort()
    for place, name in places_with_names:
        if not answers[place] or not _is_exact(history, name):
            continue
        line = int(history.place_line[place])
        lines_with_name = _newest_lines_with(name, history, past)
        yield Use(
            name=name,
            message=int(message[place]),
            line=line,
            form=int(history.place_form[place]),
            evidence=_evidence(history, lines_with_name, line),
        )


def _newest_lines_with(name: int, history: ExamHistory, past: Past) -> Ints:
    """The newest lines of the history that hold a name."""
    lines = history.lines_with(name, past.newest)
    return lines[-MOST_LINES:]


def _fetched_again(history: ExamHistory, boundary: int, past: Past) -> Flags:
    """(places,) whether each is in a result that the history has, or whose call or file it has."""
    message = history.place_message
    is_result = flags(isinstance(entry, ToolResult) for entry in history.messages)
    is_in_past = past.lines[history.place_line]
    first_call = history.fetched[message]
    is_called_in_past = first_call < boundary
    is_known = is_in_past | is_called_in_past
    fetched_again: Flags = is_result[message] & is_known
    return fetched_again


def _is_exact(history: ExamHistory, name: int) -> bool:
    """Whether a name is an exact thing of the work, which an exam may ask for."""
    entity = history.names[name]
    return (
        entity.kind not in LEFT_OUT
        and entity not in BACKGROUND
        and entity.text.lower() not in history.tool_words
        and not _is_everyday(entity.text)
        and not _is_borrowed(history, name)
    )


def _is_written(history: ExamHistory, name: int, place: int) -> bool:
    """Whether an answer writes a name as one thing: no words of a sentence, no pieces."""
    line_number = history.place_line[place]
    line = _with_slashes(history.texts[line_number])
    entity = history.names[name]
    text = _with_slashes(entity.text)
    kind = entity.kind
    form = FORMS[history.place_form[place]]
    is_code_string = kind == "quote" and form == "file"
    if is_code_string:
        return False
    for styles in _CLASSES.findall(line):
        if text in styles.split():
            return False
    if " " not in text:
        if kind == "quote":
            return False
        bare_text = text.strip("./@#~-:")
        return kind == "number" or bare_text in line
    if kind != "quote" or form == "command":
        return True
    if not _PLAIN.fullmatch(text):
        return True
    quoted = re.escape(text)
    pattern = f"[{_MARKS}]{quoted}|{quoted}[{_MARKS}]"
    return re.search(pattern, line) is not None


def _with_slashes(text: str) -> str:
    """A text in lower case, with the slashes of paths one way."""
    return text.replace("\\", "/").lower()


def _is_everyday(name: str) -> bool:
    letter_count = sum(map(str.isalnum, name))
    if letter_count < SHORTEST and "%" not in name:
        return True
    if _EVERYDAY.match(name):
        return True
    return _CAPITALS.fullmatch(name) is not None


def _is_borrowed(history: ExamHistory, name: int) -> bool:
    """Whether a name is somebody else's, or no whole name.

    The session never writes it without a dot or a star before it (`response.StatusCode`, `*.tsx`;
    but `self.limit` is its own), or other names end with it (`_test.go`).
    """
    entity = history.names[name]
    text = entity.text.lower()
    kind = entity.kind
    if text[0] == "_" and kind == "path":
        for other_entity in history.names:
            other_text = other_entity.text.lower()
            if other_text != text and other_text.endswith(text):
                return True
        return False
    if kind not in ("identifier", "path"):
        return False
    is_named = False
    rows = history.rows_with_name(name)
    lines_of_rows = history.lines.segment_line[rows]
    for line_number in np.unique(lines_of_rows).tolist():
        line = history.texts[line_number].lower()
        for is_marked in _marks_before(text, kind, line):
            if not is_marked:
                return False
            is_named = True
    return is_named


def _marks_before(name: str, kind: Kind, line: str) -> Iterator[bool]:
    """For each place of a name in a line whether a dot, or for a path a star, stands before it.

    An identifier behind a letter is a part of another one.
    """
    mark = "*"
    no_mark: str | tuple[str, ...] = "*"
    if kind == "identifier":
        mark = "."
        no_mark = ("self", "this")
    end = 0
    start = line.find(name)
    while start >= 0:
        preceding = line[start - 1 : start]
        is_marked = preceding == mark and start > end
        if is_marked and line.endswith(no_mark, 0, start - 1):
            is_marked = False
        is_part = preceding.isalnum() or preceding == "_"
        if is_marked or kind == "path" or not is_part:
            yield is_marked
            end = start + len(name)
            start = line.find(name, end)
        else:
            start = line.find(name, start + 1)


def _evidence(history: ExamHistory, lines: Ints, use: int) -> int:
    """The line that shares most with the line of the use, by the weight of what they share; ties
    go to the newest.
    """
    features_of_use = row_of(history.features, use)
    feature_count = len(history.idf)
    is_used = kept_mask(features_of_use, feature_count)
    row, feature = pairs_of(history.features, lines)
    weights = history.idf[feature] * is_used[feature]
    line_count = len(lines)
    shared = np.bincount(row, weights, minlength=line_count)
    bar = shared.max() - 1e-9
    is_best = shared >= bar
    best = np.flatnonzero(is_best)
    newest_best = best[-1]
    return int(lines[newest_best])


def _rarest(history: ExamHistory, uses: Sequence[Use], past: Past) -> Item | None:
    """The item of the name in fewest lines that makes one."""

    def rarity(use: Use) -> tuple[int, int]:
        rows = history.rows_with_name(use.name)
        name = history.names[use.name].text
        return len(rows), -len(name)

    for use in sorted(uses, key=rarity):
        item = item_of(history, use, past)
        if item is not None:
            return item
    return None


def item_of(history: ExamHistory, use: Use, past: Past) -> Item | None:
    """The item of a need; None where nothing leads to it or nothing could be mistaken for it."""
    entity = history.names[use.name]
    use_line = history.texts[use.line]
    evidence_line = history.texts[use.evidence]
    question = Question(history, entity.text, use_line, evidence_line)
    if not question.cue:
        return None
    look_alikes = question.look_alikes(entity.kind, past)
    if len(look_alikes) < FEWEST:
        return None
    lines = _newest_lines_with(use.name, history, past)
    first_messages = history.first[lines]
    return Item(
        "fact",
        entity.text,
        look_alikes,
        question.cue,
        question.evidence,
        question.use,
        said=int(first_messages.min()),
        used=use.message,
        denied=question.denied,
        sides=question.sides,
    )
