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
from dataclasses import dataclass
from difflib import SequenceMatcher

from workbench.engine.transcript.message import Json, is_real_user
from workbench.live.formats.canonical import is_result, key, loose_key, result_ids
from workbench.live.formats.parts import plain
from workbench.live.formats.shape import HostMessage, is_system

ALIGNED_BY = 128
"""So many messages around the end of the covered part say where it ends now."""


@dataclass(frozen=True, slots=True)
class Comparison:
    """What counts as the same message: the keys of one that was heard, and of a present one."""

    of_entry: Callable[[HostMessage], bytes]
    of_message: Callable[[Json], bytes]


@dataclass(frozen=True, slots=True)
class _SamePair:
    """Where the same message stands among those that were heard, and in the present list."""

    path_index: int
    present_index: int


def _key_of(entry: HostMessage) -> bytes:
    return entry.key


def _loose_key_of(entry: HostMessage) -> bytes:
    return loose_key(entry.record)


EXACT = Comparison(_key_of, key)
LOOSE = Comparison(_loose_key_of, loose_key)
"""For a host that gives its calls new ids, or trims texts, with each request."""


def end_of_step(path: Sequence[HostMessage], covered: int) -> int:
    """Where the step ends that the covered part ends in: behind the last result of its calls."""
    pending = _pending_calls(path[:covered])
    end = covered
    while pending and end < len(path) and is_result(path[end].record):
        for message in path[end].messages:
            if message.role == "tool":
                pending.discard(message.call_id)
        end += 1
    return end


def first_uncovered(
    path: Sequence[HostMessage],
    covered: int,
    messages: Sequence[Json],
    is_head: Callable[[Json], bool],
) -> int | None:
    """Where in the host's present list the messages begin that no compaction covers.

    Args:
        path: the host's messages as they were heard.
        covered: how many of them the newest compaction stands for, up to the end of a step.
        messages: the host's present list.
        is_head: whether a message is one before all others that the host renders anew, and so no
            person's.

    Returns:
        None where the list does not fit, or where a person's words in the covered part are others
        now.
    """
    comparisons = [EXACT, LOOSE]
    if _pending_calls(path[:covered]):
        comparisons = [EXACT]  # results that are still to come must find the ids of their calls
    for comparison in comparisons:
        start = _end_of_covered(path, covered, messages, comparison)
        if start is None:
            continue
        covered_path = path[:covered]
        if _begins_with_strange_result(covered_path, messages[start:]):
            continue
        entries: list[HostMessage] = []
        for entry in covered_path:
            is_rendered = is_system(entry.record) or is_head(entry.record)
            if not is_rendered:
                entries.append(entry)
        present: list[Json] = []
        for message in messages[:start]:
            is_rendered = is_system(message) or is_head(message)
            if not is_rendered:
                present.append(message)
        if _keeps_words(entries, present, comparison):
            return start
    return None


def _end_of_covered(
    path: Sequence[HostMessage],
    covered: int,
    messages: Sequence[Json],
    comparison: Comparison,
) -> int | None:
    """Where the covered part ends now, by the messages around its end that are the same; None if
    none is.
    """
    from_path = max(covered - ALIGNED_BY, 0)
    from_said = max(len(messages) - (len(path) - from_path) - ALIGNED_BY, 0)
    entries = path[from_path:]
    present = messages[from_said:]
    path_keys = list(map(comparison.of_entry, entries))
    present_keys = list(map(comparison.of_message, present))
    if not _pending_calls(path[:covered]):  # else the covered part ends among results
        path_keys = _ordered(path_keys, [entry.record for entry in entries])
        present_keys = _ordered(present_keys, present)
    last_covered: _SamePair | None = None
    first_behind: _SamePair | None = None
    matcher = SequenceMatcher(None, path_keys, present_keys, autojunk=False)
    for block in matcher.get_matching_blocks():
        for step in range(block.size):
            pair = _SamePair(
                path_index=block.a + step + from_path,
                present_index=block.b + step + from_said,
            )
            if pair.path_index < covered:
                last_covered = pair
            elif first_behind is None:
                first_behind = pair
    earliest_end = 0
    if last_covered is not None:
        earliest_end = last_covered.present_index + 1
    if first_behind is not None:
        behind_end = first_behind.path_index - covered
        return max(first_behind.present_index - behind_end, earliest_end)
    if last_covered is None or len(path) > covered:
        return None  # what no compaction covers is gone: the host went back
    lost_count = covered - 1 - last_covered.path_index
    start = earliest_end + lost_count
    if start > len(messages):
        return None
    return start


def _ordered(keys: list[bytes], records: Sequence[Json]) -> list[bytes]:
    """The keys with those of results that follow one another in one order, whatever order the
    host gives them.
    """
    ordered: list[bytes] = []
    results: list[bytes] = []
    for its_key, record in zip(keys, records, strict=True):
        if is_result(record):
            results.append(its_key)
            continue
        ordered += [*sorted(results), its_key]
        results = []
    return [*ordered, *sorted(results)]


def _pending_calls(entries: Sequence[HostMessage]) -> set[str]:
    """The ids of calls whose results are not among these."""
    pending: set[str] = set()
    for entry in entries:
        for message in entry.messages:
            if message.role == "assistant":
                for call in message.calls:
                    pending.add(call.id)
            elif message.role == "tool":
                pending.discard(message.call_id)
    return pending


def _begins_with_strange_result(covered: Sequence[HostMessage], later: Sequence[Json]) -> bool:
    """Whether what follows begins with results of calls that are not in the covered part."""
    if not later or not is_result(later[0]):
        return False
    ids = result_ids(later[0])
    return not ids <= _pending_calls(covered)


def _keeps_words(
    covered: Sequence[HostMessage], messages_before: Sequence[Json], comparison: Comparison
) -> bool:
    """Whether the person's words in the covered part are the same, or the oldest of them are
    gone.
    """
    places: dict[bytes, int] = {}
    words: list[bytes] = []
    for place, entry in enumerate(covered):
        its_key = comparison.of_entry(entry)
        places[its_key] = place
        if any(map(is_real_user, entry.messages)):
            words.append(its_key)
    present: list[bytes] = []
    first_known = len(covered)
    is_noted = False
    for index, message in enumerate(messages_before):
        its_key = comparison.of_message(message)
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


def _is_a_persons(message: Json) -> bool:
    """Whether a host's message may hold a person's words: it is a user's, and no tool's result."""
    record = plain(message)
    return record.get("role") == "user" and not is_result(record)
