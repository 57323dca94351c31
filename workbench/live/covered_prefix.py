"""A host's list whose covered part says other things than before, as if that part had stayed as it
was.

Hosts trim, blank or render anew what a compaction stands for already. That changes nothing of what
is sent, so it must not undo the compaction. The list is aligned by the messages that are still the
same; what comes before the first one that no compaction covers stands for all that one covers. A
person's words are another matter: where one of them is new, changed, or taken out of the middle,
the person went back.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from difflib import SequenceMatcher

from workbench.engine.transcript.message import Json, is_real_user
from workbench.live.formats.canonical import key
from workbench.live.formats.parts import plain, type_of
from workbench.live.formats.shape import HostMessage, is_system

ALIGNED_BY = 128
"""So many messages around the end of the covered part say where it ends now."""
NO_PERSON = frozenset({"tool_result", "functionResponse"})


def first_uncovered(
    path: Sequence[HostMessage],
    covered: int,
    messages: Sequence[Json],
    is_head: Callable[[Json], bool],
) -> int | None:
    """Where in the host's present list the messages begin that no compaction covers.

    Args:
        path: the host's messages as they were heard.
        covered: how many of them the newest compaction stands for.
        messages: the host's present list.
        is_head: whether a message is one before all others that the host renders anew, and so no
            person's.

    Returns:
        None where the list does not fit, or where a person's words in the covered part are others
        now.
    """
    start = _end_of_covered(path, covered, messages)
    if start is None:
        return None
    covered_entries: list[HostMessage] = []
    for entry in path[:covered]:
        if not (is_system(entry.record) or is_head(entry.record)):
            covered_entries.append(entry)
    present: list[Json] = []
    for message in messages[:start]:
        if not (is_system(message) or is_head(message)):
            present.append(message)
    if not _keeps_words(covered_entries, present):
        return None
    return start


def _end_of_covered(
    path: Sequence[HostMessage], covered: int, messages: Sequence[Json]
) -> int | None:
    """Where the covered part ends now, by the messages around its end that are the same; None if
    none is.
    """
    from_path = max(covered - ALIGNED_BY, 0)
    from_said = max(len(messages) - (len(path) - from_path) - ALIGNED_BY, 0)
    path_keys = list(map(_key_of, path[from_path:]))
    present_keys = list(map(key, messages[from_said:]))
    last_covered = first_behind = None
    for block in SequenceMatcher(
        None, path_keys, present_keys, autojunk=False
    ).get_matching_blocks():
        for step in range(block.size):
            pair = block.a + step + from_path, block.b + step + from_said
            if pair[0] < covered:
                last_covered = pair
            elif first_behind is None:
                first_behind = pair
    earliest_end = 0 if last_covered is None else last_covered[1] + 1
    if first_behind is not None:
        return max(first_behind[1] - (first_behind[0] - covered), earliest_end)
    if last_covered is None or len(path) > covered:
        return None  # what no compaction covers is gone: the host went back
    start = earliest_end + covered - 1 - last_covered[0]
    return start if start <= len(messages) else None


def _keeps_words(covered: Sequence[HostMessage], messages_before: Sequence[Json]) -> bool:
    """Whether the person's words in the covered part are the same, or the oldest of them are
    gone.
    """
    places: dict[bytes, int] = {}
    words: list[bytes] = []
    for place, entry in enumerate(covered):
        places[entry.key] = place
        if any(map(is_real_user, entry.messages)):
            words.append(entry.key)
    present: list[bytes] = []
    first_known = len(covered)
    is_noted = False
    for index, message in enumerate(messages_before):
        its_key = key(message)
        if its_key in places:
            first_known = min(first_known, places[its_key])
            if its_key in words:
                present.append(its_key)
        elif _is_a_persons(message):
            if index > 0:
                return False
            is_noted = True
    # in the place of one message it is an edit, of several a host's note
    if is_noted and first_known == 1:
        return False
    return not present or words[-len(present) :] == present


def _key_of(entry: HostMessage) -> bytes:
    return entry.key


def _is_a_persons(message: Json) -> bool:
    """Whether a host's message may hold a person's words: it is a user's, and no tool's result."""
    record = plain(message)
    if record.get("role") != "user":
        return False
    parts = record.get("content") or record.get("parts")
    if not isinstance(parts, list):
        return True
    return not all(
        type_of(part) in NO_PERSON or NO_PERSON & set(part) for part in map(plain, parts)
    )
