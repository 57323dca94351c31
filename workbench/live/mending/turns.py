"""Who may speak when: systems at the beginning, user and assistant in turns, a user at the end.

Source:
    Anthropic: "This model does not support assistant message prefill"; copilot-api#261 and
    hermes-agent#50055 on what helps. Chat templates of Mistral and Gemma: "roles must alternate",
    tool calls and results apart (theia#17104). Google: "function call turn comes immediately
    after a user turn".
"""

from collections.abc import Sequence

from workbench.live.formats.shape import GAP, SYSTEM_ROLES, is_system
from workbench.live.formats.table import MessageFormat
from workbench.live.mending.sent_entry import (
    TEXT_TYPES,
    SentEntry,
    body_name,
    joined,
    parts_of,
    said_by_user,
)

GO_ON = "Continue."
"""A user's turn behind an answer that was to be gone on with."""
NO_ANSWER = "(no answer)"
"""An answer between a result and what the user said next."""


def with_early_system(entries: Sequence[SentEntry], format: MessageFormat) -> list[SentEntry]:
    """With a user's words in the place of a system message that comes after others: joined to the
    user's message before it, and never between calls and their results.

    Anthropic takes none at all among the messages.
    """
    if format not in ("openai", "anthropic"):
        return list(entries)
    mended: list[SentEntry] = []
    late: list[SentEntry] = []
    has_begun = format == "anthropic"
    for entry in entries:
        if has_begun and is_system(entry.object):
            late.append(entry)
            continue
        if not is_system(entry.object):
            has_begun = True
        if late and not entry.has_results:
            _put_late(late, mended, format)
            late = []
            if entry.role == "user":
                mended[-1] = joined(mended[-1], entry, format)
                continue
        mended.append(entry)
    _put_late(late, mended, format)
    return mended


def _put_late(late: Sequence[SentEntry], mended: list[SentEntry], format: MessageFormat) -> None:
    """Put late system messages behind what is there."""
    for entry in late:
        spoken = SentEntry({"role": "user", "content": entry.record.get("content")}, entry.place)
        if mended and mended[-1].role == "user":
            mended[-1] = joined(mended[-1], spoken, format)
        else:
            mended.append(spoken)


def with_alternating_roles(entries: Sequence[SentEntry], format: MessageFormat) -> list[SentEntry]:
    """With messages of one role behind each other joined, a user's turn at the beginning, and an
    answer between a result and what the user says next.
    """
    mended: list[SentEntry] = []
    if format == "responses":
        return list(entries)
    for entry in entries:
        previous = mended[-1] if mended else None
        is_first = previous is None or previous.role in SYSTEM_ROLES
        if is_first and entry.role == "assistant":
            mended.append(said_by_user(GAP, format))
        elif previous is not None and previous.role == "tool" and entry.role == "user":
            mended.append(SentEntry({"role": "assistant", "content": NO_ANSWER}))
        elif previous is not None and _are_of_one_turn(previous, entry):
            mended[-1] = joined(previous, entry, format)
            continue
        mended.append(entry)
    return mended


def _are_of_one_turn(previous: SentEntry, entry: SentEntry) -> bool:
    """Whether both are a user's, or answers of which the first has no call that waits."""
    if previous.role != entry.role or entry.role not in ("user", "assistant"):
        return False
    return not previous.has_calls


def with_user_at_end(entries: Sequence[SentEntry], format: MessageFormat) -> list[SentEntry]:
    """With a user's turn behind an answer at the end, which stays as it is."""
    if not entries:
        return []
    newest = entries[-1]
    if newest.role != "assistant" or newest.has_calls:
        return list(entries)
    return [*entries, said_by_user(GO_ON, format)]


def without_blank_end(entries: Sequence[SentEntry], format: MessageFormat) -> list[SentEntry]:
    """Without white space at the end of an answer that is to be gone on with."""
    if not entries or entries[-1].role != "assistant":
        return list(entries)
    newest = entries[-1]
    name = body_name(format)
    body = newest.record.get(name)
    if isinstance(body, str) and body != body.rstrip():
        return [*entries[:-1], newest.with_fields(**{name: body.rstrip()})]
    parts = parts_of(newest)
    if not parts:
        return list(entries)
    last_part = parts[-1]
    is_text = last_part.get("type", "text") in TEXT_TYPES and isinstance(last_part.get("text"), str)
    if not is_text or last_part["text"] == last_part["text"].rstrip():
        return list(entries)
    parts[-1] = {**last_part, "text": last_part["text"].rstrip()}
    return [*entries[:-1], newest.with_fields(**{name: parts})]
