"""What a recording says of its own sizes and times, held against its text: what cannot be true is
left out and named.

The bounds are far from all real recordings. Of 6,706 reports in 88 public sessions, the largest
prompt is 92 % of its model's window, and where more than 20,000 tokens of text were sent, 4.2 times
what we count of it; the smallest is 0.4 times. The rest (system prompt and tools, and what an
earlier file said) is at most 137,000 tokens. The largest answer is 16,099 tokens, of which 14,072
are in no text. No recording names a window larger than its model's, and after none of 12 pauses of
more than an hour did a cache still hold half of the prompt.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import pairwise

from workbench.base.formats import some
from workbench.engine.models.prices import most_output
from workbench.engine.models.prices import window as listed_window
from workbench.engine.transcript.log import CompactionEntry, Entry, Log, MessageEntry
from workbench.engine.transcript.message import AssistantMessage, TokenCounter, Usage
from workbench.engine.transcript.recorded_requests import recorded_requests
from workbench.engine.transcript.sent_context import SentContext
from workbench.engine.transcript.session import Session

USUAL_WINDOW = 200_000
"""Tokens of a model that the table does not have, where the recording names no window."""
LARGEST_WINDOW = 2_000_000
"""Tokens of a window that a recording may name for such a model."""
USUAL_ANSWER = 128_000
"""Tokens of an answer of such a model at most."""
MOST_TIMES, LEAST_TIMES = 5, 0.1
"""So many times what we count of a text a provider may report of it, at most and at least."""
LITTLE = 2_000
"""Counted tokens below which a small report contradicts nothing."""
LONGEST_CACHE = 3_900.0
"""Seconds after which no provider's cache holds a prompt: an hour, and what a clock may be off."""
LATE_READS = 3
"""Prompts found in a cache after so long that make the times of a session no measurement."""


@dataclass(frozen=True, slots=True)
class CheckedSession:
    """A session without what cannot be true of its reports, and what that was, in words."""

    session: Session
    left_out: tuple[str, ...] = ()


@dataclass(slots=True)
class Faults:
    """How often a session reports what cannot be true, by kind, with the worst figure of each."""

    counts: dict[str, int] = field(default_factory=dict)
    worst: dict[str, int] = field(default_factory=dict)

    def add(self, kind: str, figure: int) -> None:
        """Count one, and remember the largest by its size."""
        self.counts[kind] = self.counts.get(kind, 0) + 1
        self.worst[kind] = max(self.worst.get(kind, figure), figure, key=abs)

    def sentences(self) -> Iterator[str]:
        """A sentence a kind."""
        for kind, count in self.counts.items():
            yield f"{some(count, 'report')} of {kind.format(self.worst[kind])}"


PROMPT_TOO_LARGE = "a prompt of up to {:,} tokens, more than its text and its model's window allow"
PROMPT_TOO_SMALL = "a prompt of no more than {:,} tokens, a tenth of its text or less"
NEGATIVE = "a negative number of tokens, such as {:,}"
CONTRADICTORY = "more tokens kept long in the cache than were written to it, such as {:,}"
ANSWER_TOO_LARGE = "an answer of up to {:,} tokens, more than its text and its model allow"
COMPACTION = (
    "a compacted context of up to {:,} tokens, which its text and its model's window contradict"
)
WINDOW_TOO_LARGE = "a window of {:,} tokens, larger than its model's"
WINDOW_TOO_SMALL = "a window of {:,} tokens, smaller than a prompt that was sent"
TIMES = "times, as {:,} prompts were found in a cache hours after any cache forgets them"


def checked_reports(session: Session, sizes: Sequence[int], count: TokenCounter) -> CheckedSession:
    """The session without reports that cannot be true; the same object where there are none.

    Args:
        session: any.
        sizes: tokens of each of its messages, as `count` gives them.
        count: the counter, for summaries and for messages off the main path.
    """
    faults = Faults()
    usages = dict(_corrected_usages(session, sizes, count, faults))
    compactions = set(_false_compactions(session, sizes, count, faults))
    trusted = session
    if faults.counts:
        trusted = replace(session, log=_rewritten(session.log, usages, compactions))
    if session.window is not None and not _is_plausible_window(trusted, session.window, faults):
        trusted = replace(trusted, window=None)
    late_reads = _late_reads(trusted)
    if late_reads:
        faults.add(TIMES, late_reads)
        trusted = replace(trusted, log=_timeless(trusted.log))
    return CheckedSession(trusted, tuple(faults.sentences()))


def _room(model: str, window: int | None) -> int:
    """The largest prompt that a model takes, whatever was said."""
    listed = listed_window(model)
    if listed is not None:
        return listed
    if window is not None and USUAL_WINDOW < window <= LARGEST_WINDOW:
        return window
    return USUAL_WINDOW


def _corrected_usages(
    session: Session, sizes: Sequence[int], count: TokenCounter, faults: Faults
) -> Iterator[tuple[str, Usage | None]]:
    """By message id, each report that cannot be true, without what cannot."""
    ids = [message.id for message in session.messages]
    sizes_by_id = dict(zip(ids, sizes, strict=True))
    for request in recorded_requests(session, sizes, count):
        answer = request.answer
        usage = answer.usage
        if usage is None:
            continue
        model = answer.model or session.model
        room = _room(model, session.window)
        corrected = _without_false_prompt(usage, request.counted, room, faults)
        if corrected is not None:
            size = sizes_by_id.get(answer.id)
            if size is None:
                size = count(answer)
            largest = max(most_output(model) or USUAL_ANSWER, MOST_TIMES * size)
            corrected = _without_false_answer(corrected, largest, faults)
        if corrected != usage:
            yield answer.id, corrected


def _without_false_prompt(
    usage: Usage, counted_tokens: int, room: int, faults: Faults
) -> Usage | None:
    """A report; None where its prompt cannot be true, since then nothing of it can be trusted."""
    smallest = min(
        usage.input,
        usage.cache_read,
        usage.cache_write,
        usage.output,
        usage.reasoning,
        usage.cache_write_long,
    )
    if smallest < 0:
        faults.add(NEGATIVE, smallest)
    elif usage.cache_write_long > usage.cache_write:
        faults.add(CONTRADICTORY, usage.cache_write_long)
    elif usage.prompt > max(room, MOST_TIMES * counted_tokens):
        faults.add(PROMPT_TOO_LARGE, usage.prompt)
    elif counted_tokens >= LITTLE and 0 < usage.prompt < LEAST_TIMES * counted_tokens:
        faults.add(PROMPT_TOO_SMALL, usage.prompt)
    else:
        return usage
    return None


def _without_false_answer(usage: Usage, largest: int, faults: Faults) -> Usage:
    """A report without figures of an answer that is larger than it can be."""
    reported = max(usage.output, usage.reasoning)
    if reported <= largest:
        return usage
    faults.add(ANSWER_TOO_LARGE, reported)
    return replace(usage, output=0, reasoning=0)


def _false_compactions(
    session: Session, sizes: Sequence[int], count: TokenCounter, faults: Faults
) -> Iterator[str]:
    """The ids of compactions whose figures cannot be true."""
    sent = SentContext(session, sizes, count)
    room = _room(session.model, session.window)
    for entry in session.path:
        if isinstance(entry, CompactionEntry) and entry.tokens_before is not None:
            largest = max(room, MOST_TIMES * sent.tokens)
            smallest = LEAST_TIMES * sent.tokens if sent.tokens >= LITTLE else 0
            if not smallest <= entry.tokens_before <= largest:
                faults.add(COMPACTION, entry.tokens_before)
                yield entry.id
        sent.take(entry)


def _is_plausible_window(session: Session, window: int, faults: Faults) -> bool:
    largest = 0
    for message in session.messages:
        if isinstance(message, AssistantMessage) and message.usage is not None:
            largest = max(largest, message.usage.prompt)
    listed = listed_window(session.model)
    if window < largest:
        faults.add(WINDOW_TOO_SMALL, window)
    elif window > max(LARGEST_WINDOW if listed is None else listed, largest):
        faults.add(WINDOW_TOO_LARGE, window)
    else:
        return True
    return False


def _late_reads(session: Session) -> int:
    """How many prompts a cache held that had long forgotten them; 0 if other pauses fit."""
    answers = [
        message
        for message in session.messages
        if isinstance(message, AssistantMessage) and message.usage
    ]
    pauses = contradictions = 0
    for earlier, later in pairwise(answers):
        if earlier.time is None or later.time is None or later.time - earlier.time <= LONGEST_CACHE:
            continue
        pauses += 1
        assert earlier.usage is not None
        assert later.usage is not None
        contradictions += later.usage.cache_read >= max(earlier.usage.prompt / 2, 1)
    if contradictions < LATE_READS or 2 * contradictions <= pauses:
        return 0
    return contradictions


def _rewritten(log: Log, usages: Mapping[str, Usage | None], compactions: set[str]) -> Log:
    """The log with these reports, and without the figures of these compactions."""

    def entry_of(entry: Entry) -> Entry:
        if (
            isinstance(entry, MessageEntry)
            and isinstance(entry.message, AssistantMessage)
            and entry.id in usages
        ):
            return replace(entry, message=replace(entry.message, usage=usages[entry.id]))
        if isinstance(entry, CompactionEntry) and entry.id in compactions:
            return replace(entry, tokens_before=None)
        return entry

    rewritten = Log(map(entry_of, log))
    rewritten.leaf = log.leaf
    return rewritten


def _timeless(log: Log) -> Log:
    """The log without the times of its messages."""

    def timeless_entry(entry: Entry) -> Entry:
        if isinstance(entry, MessageEntry):
            return replace(entry, message=replace(entry.message, time=None))
        return entry

    timeless = Log(map(timeless_entry, log))
    timeless.leaf = log.leaf
    return timeless
