"""Claude Code: one summary of everything at the window less 33,000 tokens, and the files read last
sent again.

Restates the full compaction and the time-based micro-compaction of Anthropic's Claude Code as third
parties read them in its shipped bundles and as the package compact-middleware (PyPI) ports them;
Anthropic publishes neither, so all of it is approximate. The API-side `cache_edits` variant,
session memory and partial compaction are not restated. Besides the general differences (`presets`):

- The newest user message and pinned messages stay beside the summary. The original keeps nothing.
- A file is sent again as its last read showed it, unless it was changed after that: a replay has no
  disk. The original reads up to five files anew. Skills, plans, todos and hooks' messages are not
  known here.
- Files take at most a third of the room, the summary a quarter; in a window of 200,000 that is more
  than their bounds.
- The micro-compaction looks at recorded times, and only when a compaction is due. The original
  looks at every request.
- A result is cleared only where the marker is smaller.
- Its draft of an analysis, which it throws away, is not asked for.
- An earlier summary is given to the model as what is to be carried on. The original shows it as a
  message like others.
- The original asks in the conversation itself, whose prefix is cached, or apart from it; analyses
  differ. `claude_code:request=conversation` does the first, with an earlier summary as a message
  like others. By default the model gets a transcript. Both have whole results, and no thoughts and
  pictures. Where a transcript exceeds nine tenths of the window its oldest part is left out; the
  original does so after a refusal, three times.
- When the model fails, the original gives up after three failures.
- The longest answer, up to 20,000 tokens of the reserve, is taken to be a quarter of a small window
  at most.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import ClassVar

from workbench.engine.compaction.clip import NewResult, clipped, reference, rewritten
from workbench.engine.compaction.plan import Budget, Plan
from workbench.engine.compaction.presentation import Presentation
from workbench.engine.compaction.prompt_template import LIVE_SHARE, PromptTemplate
from workbench.engine.compaction.size_limits import SUMMARY_SHARE, SizeLimits
from workbench.engine.compaction.span_selection import Movable, Span
from workbench.engine.compaction.stages.summarize import Summarize
from workbench.engine.compaction.strategy import AtLimit, Preset, Strategy
from workbench.engine.transcript.context import Context, answered
from workbench.engine.transcript.files import tool_name, touched
from workbench.engine.transcript.message import Message, Text, UserMessage, plain_text

LEAST_FILE = 40
FILES = 5
FILE_TOKENS = 5_000
ALL_FILES_TOKENS = 50_000
RESTORED = "restored:"
"""Begins the name of a message that sends a file again."""
CLEARED = "[old result taken out]"
TOOLS = {
    "read", "readfile", "bash", "shell", "runshell", "grep", "glob", "websearch", "webfetch", "edit", "write",
    "writefile",
}  # fmt: skip
"""Reading, shell, grep, glob, web search, web fetch, editing and writing, by the names that
agents use.
"""


@dataclass(frozen=True, slots=True)
class IdleMicrocompact:
    """Clears all but the newest results (`keep`) of eight tools after a pause of more than `idle`
    seconds.

    The provider's cache is cold by then, so that old results go at no further cost.
    """

    idle: float = 60 * 60.0
    keep: int = 5
    name: ClassVar[str] = "idle_microcompact"

    def plan(self, context: Context, budget: Budget, /) -> Plan | None:
        """The markers; None without such a pause, or where no times are recorded."""
        pause = _pause(context.messages)
        if pause is None or pause <= self.idle:
            return None
        results: list[int] = []
        for i, message in enumerate(context.messages):
            tool = tool_name(message.name).replace("_", "")
            if message.role == "tool" and tool in TOOLS:
                results.append(i)
        old_results = results[: max(len(results) - self.keep, 0)]
        return rewritten(context, [NewResult(i, CLEARED) for i in old_results])


def _pause(messages: Sequence[Message]) -> float | None:
    """Seconds from the newest answer to the newest message; None where times are unknown."""
    newest_time = messages[-1].time if messages else None
    for message in reversed(messages):
        if message.role == "assistant":
            if newest_time is None or message.time is None:
                return None
            return newest_time - message.time
    return None


def keep_nothing(context: Context, budget: Budget) -> Span | None:
    """Selects everything, unless that would only be what an earlier compaction left."""
    movable = Movable.of(context, budget)
    span = movable.cut(movable.fitting(movable.kept(0)))
    if span is None:
        return None
    for i in span.indices:
        message = context.messages[i]
        if message.role != "summary" and not is_restored(message):
            return span
    return None


def is_restored(message: Message) -> bool:
    """Whether the message sends a file again."""
    return message.name.startswith(RESTORED) and message.role == "user"


def last_read(messages: Sequence[Message]) -> Iterator[tuple[str, str]]:
    """Each file with the text of its last read, newest first; none that was changed after that."""
    answered_calls = answered(messages)
    handled_paths = set[str]()
    for i in reversed(range(len(messages))):
        message, path, text = messages[i], "", ""
        if is_restored(message):
            path = message.name.removeprefix(RESTORED)
            text = plain_text(message).partition("\n")[2]
        elif message.role == "tool" and i in answered_calls and not message.is_error:
            _, call = answered_calls[i]
            files = touched(call.name, call.arguments)
            handled_paths.update(files.modified)
            text = plain_text(message)
            path = files.read[0] if files.read and text.strip() else ""
        if path and path not in handled_paths:
            handled_paths.add(path)
            yield path, text


def restored_files(
    context: Context,
    budget: Budget,
    span: Span,
) -> tuple[UserMessage, ...]:
    """Sends the files read last again, at most `FILES` of them, in at most a third of the room."""
    removed_messages = [context.messages[i] for i in span.indices]
    newest = removed_messages[-1]
    target_room = max(budget.target - context.tokens + 1, 0)
    freed_room = budget.room(context, span.indices) - target_room
    token_room = min(ALL_FILES_TOKENS, freed_room // 3)
    file_messages: list[UserMessage] = []
    for path, text in last_read(removed_messages):
        if len(file_messages) == FILES or token_room < LEAST_FILE:
            break
        headed_text = f"[{path}, as it was last read]\n{text}"
        short = clipped(headed_text, min(FILE_TOKENS, token_room), context.count)
        if not short:
            continue
        identity = "\0".join((newest.id, path, short))
        file_message = UserMessage(
            id=f"restored-{reference(identity)}",
            blocks=(Text(short),),
            name=RESTORED + path,
            synthetic=True,
            time=newest.time,
        )
        file_messages.append(file_message)
        token_room -= context.count(file_message)
    file_messages.reverse()
    return tuple(file_messages)


COMPACT = Summarize(
    cut=keep_nothing,
    prompt=PromptTemplate(
        headings="claude_headings",
        lead="claude_lead",
        result_chars="whole",
        argument_chars="whole",
        window_share=LIVE_SHARE,
        too_long="oldest",
    ),
    limits=SizeLimits(most=20_000, share=SUMMARY_SHARE),
    name="claude_compact",
    presentation=Presentation(file_lists="", beside=restored_files),
)

CLAUDE_CODE = Preset(
    "claude_code",
    Strategy("claude_code", (IdleMicrocompact(), COMPACT)),
    AtLimit(reserve=13_000, answer=20_000, above=True),
    source="Claude Code, third-party analyses of its bundles; compact-middleware (PyPI)",
)
