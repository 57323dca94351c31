"""Who may speak when: systems at the beginning, user and assistant in turns, a user at the end.

Source:
    Anthropic: "This model does not support assistant message prefill"; copilot-api#261 and
    hermes-agent#50055 on what helps. Chat templates of Mistral and Gemma: "roles must alternate",
    tool calls and results apart (theia#17104). Google: "function call turn comes immediately
    after a user turn".
"""

from collections.abc import Mapping, Sequence

from workbench.engine.transcript.message import Json
from workbench.live.formats.parts import plain
from workbench.live.formats.shape import GAP, SYSTEM_ROLES, is_system
from workbench.live.formats.table import MessageFormat
from workbench.live.mending.sent_entry import (
    SentEntry,
    body_name,
    joined,
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
        if is_system(entry.object) and has_begun:
            late.append(entry)
            continue
        if not is_system(entry.object):
            has_begun = True
        if entry.has_results or not late:
            mended.append(entry)
            continue
        _put_late(late, mended, format)
        late = []
        if entry.role == "user":
            mended[-1] = joined(mended[-1], entry, format)
        else:
            mended.append(entry)
    _put_late(late, mended, format)
    return mended


def _put_late(late: Sequence[SentEntry], mended: list[SentEntry], format: MessageFormat) -> None:
    """Put late system messages behind what is there."""
    for entry in late:
        content = entry.record.get("content")
        user_entry = SentEntry({"role": "user", "content": content}, entry.place)
        if mended and mended[-1].role == "user":
            mended[-1] = joined(mended[-1], user_entry, format)
        else:
            mended.append(user_entry)


def with_alternating_roles(entries: Sequence[SentEntry], format: MessageFormat) -> list[SentEntry]:
    """With messages of one role behind each other joined, a user's turn at the beginning, and an
    answer between a result and what the user says next.
    """
    mended: list[SentEntry] = []
    if format == "responses":
        return list(entries)
    for entry in entries:
        if mended and _are_of_one_turn(mended[-1], entry):
            mended[-1] = joined(mended[-1], entry, format)
            continue
        mended += _turn_between(mended, entry, format)
        mended.append(entry)
    return mended


def _turn_between(
    earlier: Sequence[SentEntry], entry: SentEntry, format: MessageFormat
) -> list[SentEntry]:
    """The turn that a template misses before this one."""
    previous_role = ""
    if earlier:
        previous_role = earlier[-1].role
    begins = previous_role in ("", *SYSTEM_ROLES)
    if begins and entry.role == "assistant":
        return [said_by_user(GAP, format)]
    if previous_role == "tool" and entry.role == "user":
        return [SentEntry({"role": "assistant", "content": NO_ANSWER})]
    return []


def _are_of_one_turn(previous: SentEntry, entry: SentEntry) -> bool:
    """Whether both are a user's, or answers of which the first has no call that waits."""
    if previous.role != entry.role or entry.role not in ("user", "assistant"):
        return False
    return not previous.has_calls


def with_user_at_end(entries: Sequence[SentEntry], format: MessageFormat) -> list[SentEntry]:
    """With a user's turn behind an answer at the end, which stays as it is."""
    mended = list(entries)
    if _ends_with_text(entries):
        mended.append(said_by_user(GO_ON, format))
    return mended


def without_blank_end(entries: Sequence[SentEntry], format: MessageFormat) -> list[SentEntry]:
    """Without white space at the end of an answer that is to be gone on with."""
    mended = list(entries)
    if not _ends_with_text(entries):
        return mended
    newest = mended.pop()
    name = body_name(format)
    body = newest.record.get(name)
    shorter: Json = body
    if isinstance(body, str):
        shorter = body.rstrip()
    elif isinstance(body, list) and body:
        shorter = [*body[:-1], _without_blanks(plain(body[-1]))]
    if shorter != body:
        newest = newest.with_fields(**{name: shorter})
    mended.append(newest)
    return mended


def _ends_with_text(entries: Sequence[SentEntry]) -> bool:
    """Whether the newest entry is an answer without calls."""
    if not entries:
        return False
    newest = entries[-1]
    return newest.role == "assistant" and not newest.has_calls


def _without_blanks(part: Json) -> Json:
    """A part without white space at the end of its text."""
    if not isinstance(part, Mapping) or not isinstance(part.get("text"), str):
        return part
    return {**part, "text": part["text"].rstrip()}
