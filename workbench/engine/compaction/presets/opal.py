"""Opal: a summary at 80 % of the window that keeps the newest quarter, with long turns summarised
apart.

Restates the compaction of Opal as its document `docs/compaction.md` describes it, and where that is
silent as its source behaves: matteing/opal at 36f655c5cfe0d903bbe7419feaad990b0b7989a9
(2026-03-08), in `opal/lib/opal/` the files `session/{compaction,session}.ex`,
`agent/{usage_tracker,overflow,token,retry}.ex`, `provider/registry.ex`, `rpc/server.ex`. Besides
the general differences (`presets`):

- Where a turn has no user message left, the source starts the kept part at a tool result and
  repairs pairs when it sends. A newest user message whose turn is split goes into its summary.
- An earlier summary is sent once, in its tags and not in the transcript too, and no cut lies before
  it. Nothing but an earlier summary is not summarised again; a split turn right behind one makes
  one update of it.
- When the model fails, the earlier summary's text stays above the truncation note. The source
  replaces it; with a split turn and no provider it crashes.
- The file lists in the text are those of the summary's metadata, also after a fallback. The source
  leaves the text to the model, lists only the newest batch in a fallback and knows three tools.
- Pictures are counted; the source has none. Client-made user messages do not begin a turn.
- The live log keeps originals and side branches readable. The source deletes the replaced rows.
- After an overflow there is one compaction and one retry until the next good answer. The source has
  no end.
- A silent overflow (a reported prompt above the window) is compacted before the next turn, as
  documented; the source repeats the answered turn.
- A request states no length, as in the source, unless little room is left. An answer no shorter
  than what it replaces is cut to a quarter of that.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from functools import partial
from math import ceil

from workbench.engine.compaction.clip import byte_length, head
from workbench.engine.compaction.file_lists import file_ops, lists_in, without_lists
from workbench.engine.compaction.host_policy import (
    HostPolicy,
    Retries,
    any_of,
)
from workbench.engine.compaction.plan import Budget, Draft, Plan, Replace
from workbench.engine.compaction.presentation import Presentation
from workbench.engine.compaction.presets.token_counters import opal_tokens
from workbench.engine.compaction.prompt_files import prompt
from workbench.engine.compaction.prompt_template import PromptTemplate
from workbench.engine.compaction.size_limits import LEAST, UNBOUNDED, SizeLimits
from workbench.engine.compaction.span_selection import LEFT_BY_FORCE, Movable, Span
from workbench.engine.compaction.stages.summarize import Summarize
from workbench.engine.compaction.stand_in import StandIns, note
from workbench.engine.compaction.strategy import (
    Preset,
    Situation,
    Strategy,
)
from workbench.engine.compaction.summary_input import Reading, SummaryInput, SummaryTask
from workbench.engine.compaction.transcript_text import harmless, word
from workbench.engine.models.model import SummaryRequest
from workbench.engine.transcript.context import Context
from workbench.engine.transcript.message import Message, Summary, is_real_user, plain_text

SPLIT_FROM = 5
HEADER = "[Conversation summary — older messages were compacted]"
MARK = "[Conversation summary"
RESULT_BYTES = 500
ARGUMENT_BYTES = 200


@dataclass(frozen=True, slots=True)
class OpalTrigger:
    """Due at exactly 80 % of the window and above; the target is what would not be due."""

    threshold: float = 0.80

    def check(self, situation: Situation, /) -> Budget | None:
        """Due at `measured / window >= threshold`."""
        tokens = situation.measured
        window = situation.window
        if not situation.requested and (window <= 0 or tokens / window < self.threshold):
            return None
        return situation.budget(
            ceil(self.threshold * window * situation.tokens / max(tokens, 1)) - 1
        )


def walked(
    messages: Sequence[Message],
    keep: int,
    *,
    force: bool = False,
) -> int | None:
    """The first message to keep, before pairs are looked at; None where nothing is to be cut off.

    A message counts the bytes of its words and 20; its calls are not looked at. `keep` is in tokens
    of four bytes; `force` cuts before the last two messages where there would be no cut.
    """
    place = _filling(messages, 4 * keep)
    if place is not None:
        for later_place in range(place, len(messages)):
            if is_real_user(messages[later_place]):
                place = later_place
                break
    if place:
        return place
    if force and len(messages) > LEFT_BY_FORCE:
        return len(messages) - LEFT_BY_FORCE
    return None


def _filling(messages: Sequence[Message], byte_room: int) -> int | None:
    """The last place from which on the messages fill so many bytes; None if all take less."""
    for place in reversed(range(len(messages))):
        byte_room -= byte_length(plain_text(messages[place])) + 20
        if byte_room <= 0:
            return place
    return None


def split_from(messages: Sequence[Message], place: int) -> int | None:
    """Where the turn begins that a cut here parts; None for none, or a short one."""
    if place >= len(messages) or is_real_user(messages[place]):
        return None
    for turn in reversed(range(place)):
        if is_real_user(messages[turn]):
            return turn if place - turn >= SPLIT_FROM else None
    return None


def opal_cut(context: Context, budget: Budget) -> Span | None:
    """Back from the newest message, then forward to a user message, or inside a long turn where it
    parts no pair.

    It lies behind any earlier summary; None where everything fits and no compaction is forced.
    """
    movable = Movable.of(context, budget)
    keep_tokens = budget.window // 4 if budget.keep_recent is None else budget.keep_recent
    keep_tokens = movable.granted(keep_tokens)
    place = walked(movable.messages, keep_tokens, force=budget.force)
    if place is None and not budget.matched:
        return None
    place = movable.within(max(place or 0, movable.earlier))
    if place < len(movable) or not budget.matched:
        inner = movable.inner(place)
        if inner is None or inner < movable.earlier:
            return None
        place = inner
    return movable.span(place, split_from(movable.messages, place))


class OpalPrompt(PromptTemplate):
    """Opal's prompts: a transcript with short results, the sections, and what to dwell on at the
    end.

    Here `result_chars` are bytes, and `argument_chars` the bytes of all arguments of a call.
    """

    opening = HEADER + "\n\n"
    separator = "\n"

    def shown(self, request: SummaryRequest) -> str:
        """The transcript, and the earlier summary with its header."""
        if request.previous:
            request = replace(request, previous=f"{HEADER}\n\n{request.previous}")
        return super().shown(request)

    def question(self, request: SummaryRequest) -> str:
        """What is asked; the start of a turn has its own focus."""
        if request.purpose == "turn_prefix":
            request = replace(request, instructions=prompt("opal_turn_prefix"))
        return super().question(request)

    def spoken(
        self,
        message: Message,
        results: int,
        arguments: int,
    ) -> Iterator[str]:
        """One line a message, and one for its calls."""
        text = plain_text(message)
        if message.role == "tool":
            tool = word(message.name or message.call_id)
            yield f"[Tool result ({tool})]: {harmless(_head(text, results))}"
        elif message.role == "assistant":
            yield f"[Assistant]: {self.shown_words(text)}"
            if message.calls:
                calls: list[str] = []
                for call in message.calls:
                    calls.append(f"{word(call.name)}({_head(call.arguments_json(), arguments)})")
                yield "[Assistant tool calls]: " + harmless("; ".join(calls))
        else:
            yield f"[{message.role.capitalize()}]: {self.shown_words(text)}"


def _head(text: str, limit: int) -> str:
    """The text up to `limit` bytes; of a longer one the first `limit` characters."""
    return text if byte_length(text) <= limit else head(text, limit)


class OpalReading(Reading):
    """A user message with a summary's header is a summary again."""

    def full_input(self, context: Context, summary_input: SummaryInput) -> SummaryInput:
        """The input with its first message as a summary, if it has that header."""
        if summary_input.earlier or not summary_input.new:
            return summary_input
        first_message = summary_input.new[0]
        words = plain_text(first_message) if first_message.role == "user" else ""
        if not words.startswith(MARK):
            return summary_input
        text = words.partition("\n")[2].strip() or words
        summary = Summary(
            id=first_message.id,
            text=text,
            replaces=(first_message.id,),
            files=lists_in(text),
        )
        history = summary_input.history
        prefix = summary_input.prefix
        if history:
            history = history[1:]
        else:
            prefix = prefix[1:]
        files = file_ops([summary, *history, *prefix])
        return SummaryInput((summary,), history, prefix, files)


def own_lists(
    task: SummaryTask,
    draft: Draft,
    edited: Context,
    summary_index: int,
) -> Plan | None:
    """The summary with the file lists of the record instead of the model's."""
    summary = edited.messages[summary_index]
    if not draft.requests or summary.role != "summary":
        return None
    text = without_lists(summary.text) + draft.footer
    edit = Replace.message_at(summary_index, replace(summary, text=text))
    return Plan((edit,))


TRUNCATION = partial(note, wording="[Compacted {n} messages: {counts}]")
"""Replaces a summary: the earlier one as far as it fits, and how many messages of which roles
are gone.
"""

SUMMARY = Summarize(
    cut=opal_cut,
    reads=OpalReading(),
    prompt=OpalPrompt(
        result_chars=RESULT_BYTES,
        argument_chars=ARGUMENT_BYTES,
        headings="opal_headings",
        split="opal_split",
        start="opal_start",
        turn_headings="opal_headings",
        turn_prompt="summary",
        turn_focus=False,
        focus_prompt="opal_focus",
        rules=("opal_files", "rules"),
        says_size=False,
        window_share=None,
    ),
    limits=SizeLimits(
        least=LEAST,
        most=UNBOUNDED,
        to_target=False,
        stated=False,
        split_from=0,
    ),
    presentation=Presentation(file_lists="inside"),
    stand_ins=StandIns(fallback=TRUNCATION, unread=TRUNCATION),
    finish=own_lists,
    name="opal_compact",
)

HOST = HostPolicy(
    overflow=any_of(
        "maximum context length", "max_tokens", "max_prompt_tokens", "too many tokens", "context window", "token limit",
        "exceeds the limit", "exceeds the model's maximum", "reduce the length", "maximum number of tokens",
        "content_too_large"
    ),
    needs_model=False,  # without one the older messages give way to a count of them
    overflow_keep=1 / 5,
    manual_keep=20_000,
    retries=Retries(
        errors=any_of(
            "429", "500", "502", "503", "504", "529", "rate limit", "rate_limit", "too many requests", "overloaded",
            "unavailable", "timeout", "timed out", "econnreset", "econnrefused", "connection reset",
            "connection closed"
        ),
        permanent=any_of("unauthorized", "invalid_api_key", "authentication"),
    ),
)  # fmt: skip

OPAL = Preset(
    "opal",
    Strategy("opal", (SUMMARY,)),
    OpalTrigger(),
    count=opal_tokens,
    host=HOST,
    source=(
        "matteing/opal 36f655c5 opal/lib/opal/session/compaction.ex,"
        " agent/{usage_tracker,overflow,token}.ex"
    ),
)


class NoReading(OpalReading):
    """No model reads anything."""

    def model_input(self, task: SummaryTask) -> SummaryInput:
        """Nothing."""
        return SummaryInput((), ())


COUNTED = replace(SUMMARY, reads=NoReading())

OPAL_TRUNCATE = replace(
    OPAL,
    name="opal_truncate",
    strategy=Strategy("opal_truncate", (COUNTED,)),
)
"""What Opal does where it has no model: the older messages give way to a count of them and the
file lists.
"""
