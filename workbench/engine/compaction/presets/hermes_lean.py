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
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import ClassVar

from workbench.engine.compaction.clip import (
    boundary,
    head,
    left_out,
    reference,
    rewritten,
    with_texts,
)
from workbench.engine.compaction.cut import Pins
from workbench.engine.compaction.plan import Budget, Plan, Replace
from workbench.engine.compaction.prompt_template import PromptTemplate, harmless
from workbench.engine.compaction.span_selection import Movable, Span, SummaryInput, SummaryTask
from workbench.engine.compaction.stages.summarize import LEAST, SUMMARY_SHARE, SizeLimits, Summarize
from workbench.engine.compaction.strategy import AtLimit, Preset, Strategy
from workbench.engine.transcript.context import Context, last_user
from workbench.engine.transcript.message import (
    AnswerBlock,
    Message,
    Text,
    ToolCall,
    ToolResult,
    argument_texts,
    image_tokens,
    is_real_user,
    plain_text,
    said_texts,
)

SHARE, SMALL_SHARE, LARGE_WINDOW = 0.5, 0.75, 512_000
LEAST_SUMMARY, MOST_SUMMARY = 2_000, 10_000
SHARE_OF_OLD, SHARE_OF_WINDOW = 0.2, 0.05
POINTER = "\n\nA result that is named with a ref can be read again in full by that reference."
CHARS = 8_000
"""What the index takes at most: some 2,000 tokens."""
HEAD_CHARS, END_CHARS = 4_000, 1_500
"""What is read of one text: its beginning and its end."""
ALL_CHARS = 500_000
"""What is read of all texts together, newest first, so that a compaction of any conversation
takes bounded work.
"""
LINE_CHARS = 160
OPEN, CLOSE = "<anchors>", "</anchors>"
TAIL_SHARE = 0.025
LEAST_TAIL, MOST_TAIL = 10_000, 25_000
FIRST, USER_TOKENS = 3, 10_000
TARGET_CHARS = 80
SAME = "[the same result as a later one; ref="
OLD = "[old result of "

_ANCHOR = re.compile(
    r"https?://[^\s\"'<>)\]]+"
    r"|(?:[\w.@~-]+/)+[\w.@-]+|/(?:[\w.@-]+/)*[\w.@-]+\.\w{1,8}"
    r"|\b[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}\b"
    r"|\b(?=[0-9a-f]*[0-9])(?=[0-9a-f]*[a-f])[0-9a-f]{7,64}\b"
    r"|\b[A-Z][A-Z0-9]{1,9}-\d+\b|#\d{2,}\b|\b\d{4,}\b"
)
_LIKELY = re.compile(r"[/\d]")
_FAILED = re.compile(r"Error|Exception|FAILED|fatal:|panic:|error\[")
_LINE = re.compile(
    r"\[(?:the same result as a later one|old result of .*); ?ref=([0-9a-f]{16})\]", re.DOTALL
)


def tail_tokens(window: int) -> int:
    """Tokens of newest messages to keep: a fortieth of the window, at least 10,000 and at most
    25,000.
    """
    return min(max(int(TAIL_SHARE * window), LEAST_TAIL), MOST_TAIL)


def tail_start(movable: Movable, window: int) -> int:
    """The first of the movable messages that belongs to the tail; behind pairs that it would
    part.
    """
    return movable.after(movable.fitting(movable.kept(tail_tokens(window))))


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
        old = [i for i in movable.indices[: tail_start(movable, budget.window)] if i != newest]
        lines = rewritten(context, self._lines(context, old)) or Plan(())
        edits = sorted([*lines.edits, *self._shrunk(context, old)], key=lambda edit: edit.start)
        gained = sum(context.sizes[edit.start] - (edit.size or 0) for edit in edits)
        return (
            Plan(tuple(edits), lines.archive)
            if edits and gained >= self.worth * context.tokens
            else None
        )

    def _lines(self, context: Context, old: Sequence[int]) -> Iterator[tuple[int, str, str]]:
        """The line for each old long result; one that says the same as a later result points to
        that.
        """
        messages, calls = context.messages, context.calls
        long = {
            i: text
            for i, message in enumerate(messages)
            if message.role == "tool" and len(text := plain_text(message)) > self.long_result
        }
        last_index_of = {text: i for i, text in long.items()}
        for i in old:
            message = messages[i]
            if i not in long or message.role != "tool" or long[i].startswith((SAME, OLD)):
                continue
            ref = reference(long[i])
            yield (
                i,
                (
                    f"{SAME}{ref}]"
                    if last_index_of[long[i]] > i
                    else _described(message, long[i], calls.get(i), ref)
                ),
                ref,
            )

    def _shrunk(self, context: Context, old: Sequence[int]) -> Iterator[Replace]:
        """Answers with shorter arguments and user messages without pictures, where that makes
        them smaller.
        """
        messages = context.messages
        pictured = [
            i
            for i, message in enumerate(messages)
            if message.role == "user" and image_tokens(message)
        ][:-1]
        for i in old:
            message = messages[i]
            short = message
            if message.role == "assistant" and any(map(self._is_long, message.calls)):
                short = replace(message, blocks=tuple(map(self._shorter, message.blocks)))
            elif message.role == "user" and i in pictured:
                named = (
                    Text(f"[{b.media_type} taken out]") if b.type == "image" else b
                    for b in message.blocks
                )
                short = replace(message, blocks=tuple(named))
            if short is not message and (size := context.count(short)) < context.sizes[i]:
                yield Replace(i, i + 1, (short,), size)

    def _is_long(self, call: ToolCall) -> bool:
        return any(len(text) > self.long_argument for text in argument_texts(call.arguments))

    def _shorter(self, block: AnswerBlock) -> AnswerBlock:
        def argument(text: str) -> str:
            return (
                text
                if len(text) <= self.long_argument
                else head(text, self.kept_of_argument) + " [...]"
            )

        return (
            replace(block, arguments=with_texts(block.arguments, argument))
            if block.type == "tool_call"
            else block
        )


def _described(message: ToolResult, text: str, call: ToolCall | None, ref: str) -> str:
    """One line that says which tool was used on what, and how it came out."""
    name = message.name or (call.name if call is not None else "a tool")
    values = call.arguments.values() if call is not None else ()
    first_text = next((value for value in values if isinstance(value, str) and value.strip()), "")
    target = " ".join(head(first_text, TARGET_CHARS).split())
    outcome = "failed" if message.is_error else f"{text.count(chr(10)) + 1} lines"
    return (
        f"{OLD}{name}{f' on {target}' if target else ''}: {outcome}, {len(text)} characters;"
        f" ref={ref}]"
    )


def whole(message: Message, archive: Mapping[str, str]) -> Message:
    """The result as it was before it became a line, where the archive holds it; any other
    message as it is.
    """
    if not archive or message.role != "tool":
        return message
    match = _LINE.fullmatch(plain_text(message))
    text = archive.get(match.group(1)) if match is not None else None
    return message if text is None else replace(message, blocks=(Text(text),))


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
        """A fifth of what is summarised and a twentieth of the window, at least 2,000 and at
        most 10,000 tokens.
        """
        return max(
            LEAST_SUMMARY,
            min(int(SHARE_OF_OLD * freed), int(SHARE_OF_WINDOW * window), MOST_SUMMARY),
        )


def hermes_cut(context: Context, budget: Budget) -> Span | None:
    """Selects all before the tail but the user's words, and without a summary the first
    messages.
    """
    movable = Movable.of(context, budget)
    span = movable.cut(tail_start(movable, budget.window))
    if span is None:
        return None
    stays = Pins(prefix=0 if movable.earlier else FIRST).fixed(context, budget)
    token_room = movable.kept(2 * USER_TOKENS) // 2
    for i in reversed(span.indices):
        if i not in stays and is_real_user(context.messages[i]):
            token_room -= context.sizes[i]
            if token_room < 0:
                break
            stays.add(i)
    return span.without(stays)


def anchors(messages: Sequence[Message]) -> Iterator[str]:
    """Paths, addresses, hashes, ticket and long numbers, and lines with errors; each once,
    newest mention first.
    """
    listed, char_room = set[str](), ALL_CHARS
    for message in reversed(messages):
        if message.role == "summary":
            candidates = (
                message.tail.partition(OPEN + "\n")[2].partition("\n" + CLOSE)[0].splitlines()
            )
        else:
            read = [*map(_read, said_texts(message))] if char_room > 0 else []
            char_room -= sum(map(len, read))
            candidates = [anchor for text in read for anchor in _found(text)]
        for anchor in reversed(candidates):
            if anchor not in listed:
                listed.add(anchor)
                yield anchor


def index(newest_first: Iterable[str], chars: int) -> str:
    """The newest of them that fit into so many characters, in tags, oldest first; empty where
    there are none.
    """
    shown_anchors: list[str] = []
    for anchor in newest_first:
        chars -= len(anchor) + 1
        if chars < 0:
            break
        shown_anchors.append(anchor)
    return "\n".join(("", "", OPEN, *reversed(shown_anchors), CLOSE)) if shown_anchors else ""


def _read(text: str) -> str:
    if len(text) <= HEAD_CHARS + END_CHARS:
        return text
    return f"{head(text, HEAD_CHARS)}\n{text[boundary(text, len(text) - END_CHARS) :]}"


def _found(text: str) -> Iterator[str]:
    for word in dict.fromkeys(text.split()):
        if len(word) <= LINE_CHARS and _LIKELY.search(word):
            yield from (match.rstrip(".,:;") for match in _ANCHOR.findall(word))
    for line in text.splitlines() if _FAILED.search(text) else ():
        if _FAILED.search(line):
            yield harmless(head(" ".join(line.split()), LINE_CHARS))


def in_full(task: SummaryTask) -> SummaryInput:
    """The model reads results as they were before they became a line."""
    full = tuple(whole(message, task.context.archive) for message in task.full_input.new)
    return replace(task.full_input, history=full, prefix=())


def index_below(task: SummaryTask) -> Iterator[str]:
    """The anchor index; nothing where it leaves no room for a summary."""
    context = task.context
    room = replace(task.budget, target=min(task.budget.target, context.tokens - 1)).room(
        context, task.span.indices
    )
    newest_anchors = anchors([*task.model_input.earlier, *task.model_input.new])
    yield (POINTER if context.archive else "") + index(newest_anchors, min(CHARS, max(room, 0)))
    yield ""


class HermesPrompt(PromptTemplate):
    """A transcript in which a long text has its beginning and its end."""

    def shortened(self, text: str, chars: int) -> str:
        """Of a longer one two thirds of the characters from the beginning, and a quarter from
        the end.
        """
        if len(text) <= chars:
            return harmless(text)
        beginning, end = head(text, chars * 2 // 3), text[boundary(text, len(text) - chars // 4) :]
        return harmless(f"{beginning}\n{left_out(len(text) - len(beginning) - len(end))}\n{end}")


SUMMARY = Summarize(
    cut=hermes_cut,
    prompt=HermesPrompt(
        headings="hermes_headings", result_chars=6_000, argument_chars=1_200, message_chars=6_000
    ),
    limits=HermesLimits(least=LEAST, share=SUMMARY_SHARE, to_target=False),
    name="hermes_summary",
    file_lists="",
    reads=in_full,
    below=index_below,
)

HERMES_LEAN = Preset(
    "hermes_lean",
    Strategy("hermes_lean", (HermesPrune(), SUMMARY)),
    HermesTrigger(),
    source="NousResearch/hermes-agent 0.19.0 agent/context_compressor.py, #87326, #95571",
)
