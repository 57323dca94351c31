"""Reasoning items of the Responses API and what follows them: the API takes neither without the
other.

Source:
    OpenAI: "was provided without its required following item" (vercel/ai#7099), "without its
    required 'reasoning' item" (cline#12242), and "Items are not persisted when `store` is set to
    false". It asks for reasoning by the ids of what follows, so that these go.
"""

from collections.abc import Callable, Sequence
from itertools import groupby

from workbench.live.formats.parts import type_of
from workbench.live.formats.responses import without_id
from workbench.live.formats.table import FORMATS, MessageFormat
from workbench.live.mending.sent_entry import SentEntry


def without_lone_reasoning(entries: Sequence[SentEntry], format: MessageFormat) -> list[SentEntry]:
    """Without reasoning that nothing of the same answer follows."""

    def followed(answer: list[SentEntry]) -> list[SentEntry]:
        while answer and _is_reasoning(answer[-1]):
            answer = answer[:-1]
        return answer

    return _with_answers(entries, format, followed)


def without_missing_reasoning(
    entries: Sequence[SentEntry], format: MessageFormat
) -> list[SentEntry]:
    """Without the ids of answers whose reasoning is gone."""

    def anonymous(answer: list[SentEntry]) -> list[SentEntry]:
        return answer if any(map(_is_reasoning, answer)) else _without_ids(answer)

    return _with_answers(entries, format, anonymous)


def without_stored_items(entries: Sequence[SentEntry], format: MessageFormat) -> list[SentEntry]:
    """Without reasoning that only the provider's store has, and without the ids that refer to it."""

    def carried(answer: list[SentEntry]) -> list[SentEntry]:
        items = [entry for entry in answer if not _is_stored(entry)]
        return answer if len(items) == len(answer) else _without_ids(items)

    return _with_answers(entries, format, carried)


def without_reasoning(entries: Sequence[SentEntry], format: MessageFormat) -> list[SentEntry]:
    """Without any reasoning, and without the ids that ask for it."""

    def thoughtless(answer: list[SentEntry]) -> list[SentEntry]:
        items = [entry for entry in answer if not _is_reasoning(entry)]
        return answer if len(items) == len(answer) else _without_ids(items)

    return _with_answers(entries, format, thoughtless)


def _with_answers(
    entries: Sequence[SentEntry],
    format: MessageFormat,
    mend_answer: Callable[[list[SentEntry]], list[SentEntry]],
) -> list[SentEntry]:
    """The items with each run of those that are one answer mended."""
    if format != "responses":
        return list(entries)
    responses = FORMATS["responses"]
    mended: list[SentEntry] = []
    for is_answer, run in groupby(entries, key=lambda entry: responses.joins(entry.record)):
        items = list(run)
        mended += mend_answer(items) if is_answer else items
    return mended


def _without_ids(answer: Sequence[SentEntry]) -> list[SentEntry]:
    anonymous: list[SentEntry] = []
    for entry in answer:
        record = without_id(entry.record)
        if "id" in entry.record and "id" not in record:
            entry = SentEntry(record, entry.place)
        anonymous.append(entry)
    return anonymous


def _is_reasoning(entry: SentEntry) -> bool:
    return type_of(entry.record) == "reasoning"


def _is_stored(entry: SentEntry) -> bool:
    """Whether it is reasoning that only its id names."""
    return _is_reasoning(entry) and not entry.record.get("encrypted_content")
