"""Hermes, lean: a short tail, one detailed log, the user's words as they were, and an index of
exact identifiers.

Restates the lean mode of Hermes Agent's context compressor (NousResearch/hermes-agent 0.19.0,
`agent/ context_compressor.py`, and the pull requests #87326 and #95571 that made the mode and its
default). Besides the general differences (`presets`):

- Pruning comes first, and where it is enough no summary is asked for; where it would gain less than
  a tenth it is left out. What it takes out can be read by its reference in the archive. The
  original prunes before each summary, stops after two compactions that gained less than a tenth,
  and searches its own sessions.
- Pruning takes results and arguments before the tail, which begins behind the first message that
  does not fit. Release 0.19.0, which has the pruning but not the lean mode, protects the newest 20
  messages, and the one that does not fit.
- An argument is shortened where it is a single text of more than 500 characters; the original
  shortens the texts of any call whose arguments have more than 500 together.
- The line for an old result names tool, target, length and failure; the original has a form for
  each of its tools.
- The user's older messages stay in place, newest first up to 10,000 tokens; in the original they
  are in the summary.
- The anchor index below the summary is carried on, newest identifiers last. It holds paths,
  addresses, hashes, long numbers and error lines, by our own patterns.
- The first three messages stay at the first compaction only, as far as they take no more than a
  quarter of the room.
- Of a result, or of what anyone says, with more than 6,000 characters the model is shown the first
  4,000 and the last 1,500, as there; of an argument 1,200. The original shows up to 1,500
  characters of a call's arguments together.
- Secrets are masked by the workbench where that is asked for, not here.
- When the model fails the anchors stay. The original has a digest of up to 8,000 characters and
  waits ten minutes.
- Approximate: the longest answer is not taken off the window in the threshold, since no recording
  says it.
"""

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import ClassVar

from workbench.engine.compaction.clip import (
    NewResult,
    boundary,
    head,
    left_out,
    reference,
    rewritten,
    with_texts,
)
from workbench.engine.compaction.cut import Pins
from workbench.engine.compaction.plan import Budget, Plan, Replace, in_order, saved_tokens
from workbench.engine.compaction.presentation import Presentation
from workbench.engine.compaction.presets.hermes_anchors import CHARS, anchors, index
from workbench.engine.compaction.prompt_template import PromptTemplate
from workbench.engine.compaction.size_limits import LEAST, SUMMARY_SHARE, SizeLimits
from workbench.engine.compaction.span_selection import Movable, Span
from workbench.engine.compaction.stages.summarize import Summarize
from workbench.engine.compaction.strategy import AtLimit, Preset, Strategy
from workbench.engine.compaction.summary_input import Reading, SummaryInput, SummaryTask
from workbench.engine.compaction.transcript_text import harmless
from workbench.engine.transcript.context import Context, last_user
from workbench.engine.transcript.message import (
    AnswerBlock,
    AssistantMessage,
    Image,
    Message,
    Text,
    ToolCall,
    ToolResult,
    UserMessage,
    argument_texts,
    image_tokens,
    is_real_user,
    plain_text,
)

SHARE = 0.5
SMALL_SHARE = 0.75
LARGE_WINDOW = 512_000
LEAST_SUMMARY = 2_000
MOST_SUMMARY = 10_000
SHARE_OF_OLD = 0.2
SHARE_OF_WINDOW = 0.05
POINTER = "\n\nA result that is named with a ref can be read again in full by that reference."
TAIL_SHARE = 0.025
LEAST_TAIL = 10_000
MOST_TAIL = 25_000
FIRST = 3
USER_TOKENS = 10_000
TARGET_CHARS = 80
SAME = "[the same result as a later one; ref="
OLD = "[old result of "

_LINE = re.compile(
    r"\[(?:the same result as a later one|old result of .*); ?ref=([0-9a-f]{16})\]", re.DOTALL
)


def tail_tokens(window: int) -> int:
    """Tokens of newest messages: a fortieth of the window, 10,000 to 25,000."""
    return min(max(int(TAIL_SHARE * window), LEAST_TAIL), MOST_TAIL)


def tail_start(movable: Movable, window: int) -> int:
    """The first movable message of the tail, where no pair is parted."""
    keep_tokens = movable.kept(tail_tokens(window))
    return movable.after(movable.fitting(keep_tokens))


@dataclass(frozen=True, slots=True)
class HermesPrune:
    """Rewrites messages before the tail to something smaller, if a share `worth` of the context
    is gained.
    """

    long_result: int = 200
    long_argument: int = 500
    kept_of_argument: int = 200
    worth: float = 0.1
    name: ClassVar[str] = "hermes_prune"

    def plan(self, context: Context, budget: Budget, /) -> Plan | None:
        """What is rewritten, and the full texts of results for the archive."""
        movable = Movable.of(context, budget)
        newest = last_user(context.messages)
        before_tail = movable.indices[: tail_start(movable, budget.window)]
        old_indices = [i for i in before_tail if i != newest]
        new_lines = self._lines(context, old_indices)
        lines = rewritten(context, new_lines) or Plan(())
        shrunk = self._shrunk(context, old_indices)
        edits = in_order([*lines.edits, *shrunk])
        if not edits or saved_tokens(context, edits) < self.worth * context.tokens:
            return None
        return Plan(edits, lines.archive)

    def _lines(self, context: Context, old_indices: Sequence[int]) -> Iterator[NewResult]:
        """The line for each old long result, or a pointer to the same result later."""
        long_texts: dict[int, str] = {}
        for i, message in enumerate(context.messages):
            if message.role == "tool":
                text = plain_text(message)
                if len(text) > self.long_result:
                    long_texts[i] = text
        last_index_of = {text: i for i, text in long_texts.items()}
        for i in old_indices:
            message = context.messages[i]
            if i not in long_texts or message.role != "tool":
                continue
            text = long_texts[i]
            if text.startswith((SAME, OLD)):
                continue
            ref = reference(text)
            line = _described(message, text, context.calls.get(i), ref)
            if last_index_of[text] > i:
                line = f"{SAME}{ref}]"
            yield NewResult(i, line, ref)

    def _shrunk(self, context: Context, old_indices: Sequence[int]) -> Iterator[Replace]:
        """Messages with shorter arguments or without pictures, where that is smaller."""
        messages = context.messages
        pictured: list[int] = []
        for i, message in enumerate(messages):
            if message.role == "user" and image_tokens(message):
                pictured.append(i)
        old_pictured = set(pictured[:-1])
        for i in old_indices:
            message = messages[i]
            short = message
            if message.role == "assistant":
                short = self._with_short_arguments(message)
            elif message.role == "user" and i in old_pictured:
                short = _without_pictures(message)
            if short is message:
                continue
            size = context.count(short)
            if size < context.sizes[i]:
                yield Replace.message_at(i, short, size)

    def _with_short_arguments(self, message: AssistantMessage) -> AssistantMessage:
        """The message with its long arguments cut; the same object where there are none."""
        if not any(map(self._is_long, message.calls)):
            return message
        blocks = tuple(map(self._shorter, message.blocks))
        return replace(message, blocks=blocks)

    def _is_long(self, call: ToolCall) -> bool:
        texts = argument_texts(call.arguments)
        return any(len(text) > self.long_argument for text in texts)

    def _shorter(self, block: AnswerBlock) -> AnswerBlock:
        if block.type != "tool_call":
            return block
        return replace(block, arguments=with_texts(block.arguments, self._short_argument))

    def _short_argument(self, text: str) -> str:
        if len(text) <= self.long_argument:
            return text
        return head(text, self.kept_of_argument) + " [...]"


def _without_pictures(message: UserMessage) -> UserMessage:
    """The message with a note in the place of each picture."""
    blocks: list[Text | Image] = []
    for block in message.blocks:
        if block.type == "image":
            blocks.append(Text(f"[{block.media_type} taken out]"))
        else:
            blocks.append(block)
    return replace(message, blocks=tuple(blocks))


def _described(
    message: ToolResult,
    text: str,
    call: ToolCall | None,
    ref: str,
) -> str:
    """One line that says which tool was used on what, and how it came out."""
    name = message.name or (call.name if call is not None else "a tool")
    target = _target(call)
    if target:
        name = f"{name} on {target}"
    outcome = "failed" if message.is_error else f"{text.count(chr(10)) + 1} lines"
    return f"{OLD}{name}: {outcome}, {len(text)} characters; ref={ref}]"


def _target(call: ToolCall | None) -> str:
    """What a call was used on: its first text, on one line."""
    if call is None:
        return ""
    for value in call.arguments.values():
        if isinstance(value, str) and value.strip():
            return " ".join(head(value, TARGET_CHARS).split())
    return ""


def restored(message: Message, archive: Mapping[str, str]) -> Message:
    """The result as it was before it became a line, if archived; else the message itself."""
    if not archive or message.role != "tool":
        return message
    match = _LINE.fullmatch(plain_text(message))
    text = archive.get(match.group(1)) if match is not None else None
    if text is None:
        return message
    return replace(message, blocks=(Text(text),))


@dataclass(frozen=True, slots=True)
class HermesTrigger(AtLimit):
    """Due at half of a large window, and at three quarters of one of less than 512,000 tokens."""

    def limit(self, window: int) -> int:
        """Tokens of a request."""
        return int((SHARE if window >= LARGE_WINDOW else SMALL_SHARE) * window)


@dataclass(frozen=True, slots=True)
class HermesLimits(SizeLimits):
    """A summary's bound follows what it replaces and the window."""

    def own(self, freed: int, window: int) -> int:
        """A fifth of what goes, at most a twentieth of the window; 2,000 to 10,000 tokens."""
        share_of_old = int(SHARE_OF_OLD * freed)
        share_of_window = int(SHARE_OF_WINDOW * window)
        return max(min(share_of_old, share_of_window, MOST_SUMMARY), LEAST_SUMMARY)


def hermes_cut(context: Context, budget: Budget) -> Span | None:
    """Selects all before the tail but the user's words, and at first the first messages."""
    movable = Movable.of(context, budget)
    span = movable.cut(tail_start(movable, budget.window))
    if span is None:
        return None
    pins = Pins(prefix=0 if movable.earlier else FIRST)
    held_indices = pins.fixed(context, budget)
    token_room = movable.kept(2 * USER_TOKENS) // 2
    for i in reversed(span.indices):
        if i not in held_indices and is_real_user(context.messages[i]):
            token_room -= context.sizes[i]
            if token_room < 0:
                break
            held_indices.add(i)
    return span.without(held_indices)


class RestoredResults(Reading):
    """The model reads results as they were before they became a line."""

    def model_input(self, task: SummaryTask) -> SummaryInput:
        """All that gives way, with whole results."""
        archive = task.context.archive
        messages = [restored(message, archive) for message in task.full_input.new]
        return replace(task.full_input, history=tuple(messages), prefix=())


def index_below(task: SummaryTask) -> Iterator[str]:
    """The anchor index; nothing where it leaves no room for a summary."""
    context = task.context
    shown_input = task.model_input
    lower_target = min(task.budget.target, context.tokens - 1)
    lower_budget = replace(task.budget, target=lower_target)
    room = lower_budget.room(context, task.span.indices)
    newest_anchors = anchors([*shown_input.earlier, *shown_input.new])
    pointer = POINTER if context.archive else ""
    yield pointer + index(newest_anchors, min(CHARS, max(room, 0)))
    yield ""


class HermesPrompt(PromptTemplate):
    """A transcript in which a long text has its beginning and its end."""

    def shortened(self, text: str, chars: int) -> str:
        """Two thirds of the characters from the beginning, and a quarter from the end."""
        if len(text) <= chars:
            return harmless(text)
        beginning = head(text, chars * 2 // 3)
        end = text[boundary(text, len(text) - chars // 4) :]
        mark = left_out(len(text) - len(beginning) - len(end))
        return harmless(f"{beginning}\n{mark}\n{end}")


SUMMARY = Summarize(
    cut=hermes_cut,
    reads=RestoredResults(),
    prompt=HermesPrompt(
        headings="hermes_headings",
        result_chars=6_000,
        argument_chars=1_200,
        message_chars=6_000,
    ),
    limits=HermesLimits(least=LEAST, share=SUMMARY_SHARE, to_target=False),
    presentation=Presentation(file_lists="", below=index_below),
    name="hermes_summary",
)

HERMES_LEAN = Preset(
    "hermes_lean",
    Strategy("hermes_lean", (HermesPrune(), SUMMARY)),
    HermesTrigger(),
    source="NousResearch/hermes-agent 0.19.0 agent/context_compressor.py, #87326, #95571",
)
