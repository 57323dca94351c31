"""Reasoning items of the Responses API and what follows them: the API takes neither without the
other.

Source:
    OpenAI: "was provided without its required following item" (vercel/ai#7099), "without its
    required 'reasoning' item" (cline#12242), and "Items are not persisted when `store` is set to
    false". It asks for reasoning by the ids of what follows, so that these go.
"""

from collections.abc import Callable, Sequence
from typing import TypeAlias

from workbench.live.formats.parts import type_of
from workbench.live.formats.responses import without_id
from workbench.live.formats.table import FORMATS, MessageFormat
from workbench.live.mending.sent_entry import SentEntry

Answer: TypeAlias = list[SentEntry]
"""The items of one answer."""


def without_lone_reasoning(entries: Sequence[SentEntry], format: MessageFormat) -> list[SentEntry]:
    """Without reasoning that nothing of the same answer follows."""
    return _with_answers(entries, format, _without_last_reasoning)


def without_missing_reasoning(
    entries: Sequence[SentEntry], format: MessageFormat
) -> list[SentEntry]:
    """Without the ids of answers whose reasoning is gone."""
    return _with_answers(entries, format, _anonymous_without_reasoning)


def without_stored_items(entries: Sequence[SentEntry], format: MessageFormat) -> list[SentEntry]:
    """Without reasoning that only the provider's store has, and without the ids that refer to it."""
    return _with_answers(entries, format, _without_stored_reasoning)


def without_reasoning(entries: Sequence[SentEntry], format: MessageFormat) -> list[SentEntry]:
    """Without any reasoning, and without the ids that ask for it."""
    return _with_answers(entries, format, _without_any_reasoning)


def _with_answers(
    entries: Sequence[SentEntry],
    format: MessageFormat,
    mend_answer: Callable[[Answer], Answer],
) -> list[SentEntry]:
    """The items, with those of each answer mended together."""
    if format != "responses":
        return list(entries)
    responses = FORMATS["responses"]
    mended: list[SentEntry] = []
    answer: Answer = []
    for entry in entries:
        if responses.joins(entry.record):
            answer.append(entry)
            continue
        mended += mend_answer(answer)
        answer = []
        mended.append(entry)
    mended += mend_answer(answer)
    return mended


def _without_last_reasoning(answer: Answer) -> Answer:
    while answer and _is_reasoning(answer[-1]):
        answer = answer[:-1]
    return answer


def _anonymous_without_reasoning(answer: Answer) -> Answer:
    if any(map(_is_reasoning, answer)):
        return answer
    return _without_ids(answer)


def _without_stored_reasoning(answer: Answer) -> Answer:
    return _without_items(answer, _is_stored_reasoning)


def _without_any_reasoning(answer: Answer) -> Answer:
    return _without_items(answer, _is_reasoning)


def _without_items(answer: Answer, is_dropped: Callable[[SentEntry], bool]) -> Answer:
    """The answer without these items, and where there are some without the ids of the others."""
    other_items: Answer = []
    for entry in answer:
        if not is_dropped(entry):
            other_items.append(entry)
    if len(other_items) == len(answer):
        return answer
    return _without_ids(other_items)


def _without_ids(answer: Answer) -> Answer:
    """The answer without the ids that the API can do without."""
    anonymous: Answer = []
    for entry in answer:
        record = without_id(entry.record)
        if len(record) < len(entry.record):
            entry = SentEntry(record, entry.place)
        anonymous.append(entry)
    return anonymous


def _is_reasoning(entry: SentEntry) -> bool:
    return type_of(entry.record) == "reasoning"


def _is_stored_reasoning(entry: SentEntry) -> bool:
    """Whether it is reasoning that only its id names."""
    if not _is_reasoning(entry):
        return False
    return not entry.record.get("encrypted_content")
