"""Where Opal cuts, what it asks a model, and what stands in where a model fails."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from string import Template

from workbench.compaction.clip import head
from workbench.compaction.file_lists import file_ops, lists_in, without_lists
from workbench.compaction.plan import Draft, Plan, Replace
from workbench.compaction.presets.token_counters import byte_length
from workbench.compaction.prompt_template import Prompt, PromptTemplate, harmless, prompt, word
from workbench.compaction.size_limits import LEAST, UNBOUNDED, SizeLimits
from workbench.compaction.span_selection import Movable, Span, SummaryInput, SummaryTask
from workbench.compaction.stage import Budget
from workbench.compaction.stages.summarize import Summarize, clipped
from workbench.transcript.context import Context
from workbench.transcript.message import (
    AssistantMessage,
    Message,
    Summary,
    Text,
    ToolResult,
    UserMessage,
    is_real_user,
    plain_text,
)
from workbench.transcript.tokens import TokenCounter

KEEP_BY_HAND = 20_000
SPLIT_FROM = 5
LEFT_BY_FORCE = 2
HEADER = "[Conversation summary — older messages were compacted]"
MARK = "[Conversation summary"
RESULT_BYTES = 500
ARGUMENT_BYTES = 200


def walked(messages: Sequence[Message], keep: int, *, force: bool = False) -> int | None:
    """The first message to keep, before pairs are looked at; None where nothing is to be cut off.

    A message counts the bytes of its words and 20; its calls are not looked at.

    Args:
        messages: n, oldest first.
        keep: tokens of four bytes, >= 0.
        force: cut before the last two messages where there would be no cut.
    """
    left = 4 * keep
    for i in range(len(messages) - 1, -1, -1):
        left -= byte_length(plain_text(messages[i])) + 20
        if left <= 0:
            at = next((k for k in range(i, len(messages)) if is_real_user(messages[k])), i)
            if at >= 1:
                return at
            break
    return max(len(messages) - LEFT_BY_FORCE, 1) if force and len(messages) > LEFT_BY_FORCE else None


def split_from(messages: Sequence[Message], at: int) -> int | None:
    """Where the turn that a cut at `at` parts begins; None if it parts none, or one of fewer than five messages."""
    if at >= len(messages) or is_real_user(messages[at]):
        return None
    turn = next((i for i in range(at - 1, -1, -1) if is_real_user(messages[i])), None)
    return turn if turn is not None and at - turn >= SPLIT_FROM else None


@dataclass(frozen=True, slots=True)
class OpalCut:
    """Back from the newest message, then forward to a user message, or inside a long turn where it parts no pair."""

    def find(self, context: Context, budget: Budget, /) -> Span | None:
        """The span, behind any earlier summary; None where everything fits and nobody forces it."""
        movable = Movable.of(context, budget)
        at = walked(movable.messages, movable.granted(_keep_recent(budget)), force=budget.force)
        if at is None and not budget.matched:
            return None
        at = movable.within(max(at or 0, movable.earlier))
        if at < len(movable) or not budget.matched:
            inner = movable.inner(at)
            if inner is None or inner < movable.earlier:
                return None
            at = inner
        return movable.span(at, split_from(movable.messages, at))


def _keep_recent(budget: Budget) -> int:
    """Tokens to keep: what was asked for, else a quarter of the window, a fifth after an overflow, 20,000 by hand."""
    if budget.keep_recent is not None:
        return budget.keep_recent
    if budget.reason == "overflow":
        return budget.window // 5
    return KEEP_BY_HAND if budget.reason in ("manual", "requested") else budget.window // 4


class OpalPrompt(PromptTemplate):
    """Opal's prompts: a transcript with short results, the sections, and what to dwell on at the end."""

    @property
    def opening(self) -> str:
        """The header and a blank line."""
        return HEADER + "\n\n"

    def request(self, filled: Prompt) -> str:
        """The transcript, what is asked for, and what is not to be done."""
        outline = "\n\n".join(f"## {name}\n({about})" for name, about in self.outline(filled.purpose))
        parts = [f"<conversation>\n{self.transcript(filled.messages)}\n</conversation>"]
        if filled.previous:
            parts.append(f"<previous-summary>\n{HEADER}\n\n{harmless(filled.previous)}\n</previous-summary>")
        parts.append(Template(prompt("update" if filled.previous else "summary")).substitute(sections=outline))
        parts += [prompt("opal_files"), prompt("rules")]
        focus = prompt("opal_turn_prefix") if filled.purpose == "turn_prefix" else filled.instructions
        if focus:
            parts.append(f"Additional focus instructions: {focus}")
        return "\n\n".join(parts)

    def transcript(self, messages: Sequence[Message], most_chars: int | None = None) -> str:
        """One line a message, and one for its calls."""
        return "\n".join(line for message in messages for line in _lines(message))


def _lines(message: Message) -> Iterator[str]:
    text = plain_text(message)
    if isinstance(message, ToolResult):
        yield f"[Tool result ({word(message.name or message.call_id)})]: {harmless(_head(text, RESULT_BYTES))}"
    elif isinstance(message, AssistantMessage):
        yield f"[Assistant]: {harmless(text)}"
        if message.calls:
            calls = (f"{word(call.name)}({_head(call.arguments_json(), ARGUMENT_BYTES)})" for call in message.calls)
            yield "[Assistant tool calls]: " + harmless("; ".join(calls))
    else:
        role = "User" if isinstance(message, Summary) else message.role.capitalize()
        yield f"[{role}]: {harmless(text)}"


def _head(text: str, most: int) -> str:
    """The text itself up to `most` bytes; of a longer one the first `most` characters, without a mark."""
    return text if byte_length(text) <= most else head(text, most)


def recognise(context: Context, given: SummaryInput) -> SummaryInput:
    """The input without the lists in earlier summaries, and with a first user message known that was a summary.

    A message that was a summary before it went through plain messages is known by its header.
    """
    if not given.earlier and given.new and given.new[0].role == "user":
        first = given.new[0]
        words = plain_text(first)
        if words.startswith(MARK):
            text = words.partition("\n")[2].strip() or words
            summary = Summary(id=first.id, text=text, replaces=(first.id,), files=lists_in(text))
            history, prefix = (given.history[1:], given.prefix) if given.history else ((), given.prefix[1:])
            files = file_ops([summary, *history, *prefix])
            given = replace(given, earlier=(summary,), history=history, prefix=prefix, files=files)
    earlier = tuple(replace(summary, text=without_lists(summary.text)) for summary in given.earlier)
    return replace(given, earlier=earlier)


def truncation(messages: Sequence[Message], previous: str, most: int, count: TokenCounter) -> str:
    """What stands in for a summary: the earlier one as far as it fits, how many messages, and of which roles."""
    roles = Counter("user" if isinstance(message, Summary) else message.role for message in messages)
    counts = ", ".join(f"{n} {role}" for role, n in sorted(roles.items()))
    note = f"[Compacted {len(messages)} messages: {counts}]"
    left = most - count(UserMessage(id="", blocks=(Text(f"\n\n{note}"),)))
    kept = clipped(previous, left, count)
    return f"{kept}\n\n{note}" if kept else note


def own_lists(task: SummaryTask, draft: Draft, edited: Context) -> Plan | None:
    """The summary with the file lists of the record in the place of those that the model wrote."""
    for i, message in enumerate(edited.messages):
        if draft.requests and isinstance(message, Summary) and message.replaces == draft.replaces:
            text = without_lists(message.text) + draft.footer
            return None if text == message.text else Plan((Replace(i, i + 1, (replace(message, text=text),)),))
    return None


OPAL_SUMMARY = Summarize(
    cut=OpalCut(),
    prompt=OpalPrompt(
        headings="opal_headings",
        split="opal_split",
        start="opal_start",
        turn_headings="opal_headings",
        turn_focus=False,
        window_chars=None,
    ),
    limits=SizeLimits(least=LEAST, most=UNBOUNDED, to_target=False, stated=False, split_from=0),
    name="opal_compact",
    file_lists="inside",
    recognise=recognise,
    finish=own_lists,
    fallback=truncation,
)
