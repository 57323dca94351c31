"""Claude Code's full compaction: when it is due, the summary, and the files that are sent again."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from typing import ClassVar

from workbench.compaction.cut import Cut
from workbench.compaction.marker import reference
from workbench.compaction.plan import Plan
from workbench.compaction.presets.due import above, output
from workbench.compaction.presets.loose import Loose
from workbench.compaction.presets.modest import ModestSummary
from workbench.compaction.presets.swap import clipped
from workbench.compaction.prompt_template import PromptTemplate
from workbench.compaction.stage import Budget
from workbench.compaction.stages.summarize import Summarize
from workbench.compaction.trigger import Situation
from workbench.transcript.context import Context
from workbench.transcript.files import FileOps, touched
from workbench.transcript.message import Message, Summary, Text, ToolCall, ToolResult, UserMessage, plain_text
from workbench.transcript.pairing import callers, protected

LARGEST_OUTPUT = 20_000
BUFFER = 13_000
MOST_SUMMARY = 20_000
FILES = 5
FILE_TOKENS = 5_000
ALL_FILES_TOKENS = 50_000
LEAST_FILE = 40
RESTORED = "restored:"


@dataclass(frozen=True, slots=True)
class ClaudeTrigger:
    """Due when less is free than the longest answer and a buffer of 13,000 tokens."""

    name: ClassVar[str] = "claude_trigger"

    def check(self, situation: Situation, /) -> Budget | None:
        """Due above `window - min(longest answer, 20_000) - 13_000`."""
        return above(situation, situation.window - output(situation.window, LARGEST_OUTPUT) - BUFFER)


@dataclass(frozen=True, slots=True)
class KeepNothing:
    """Cuts behind the last message, unless somebody asks by hand for newest messages to be kept."""

    def find(self, context: Context, budget: Budget, /) -> Cut | None:
        """The cut; None where nothing may go."""
        loose = Loose.of(context, budget)
        return loose.cut(loose.fitting(loose.kept(0)))


@dataclass(frozen=True, slots=True)
class ClaudeCompact:
    """Summarises everything, and sends the files that were read last again behind the summary.

    Attributes:
        files: how many at most.
        file_tokens, all_files_tokens: what one of them and all together may take.
    """

    summary: ModestSummary = ModestSummary(  # noqa: RUF009  # frozen
        Summarize(
            cut=KeepNothing(),
            wording=PromptTemplate(headings="claude_headings", lead="claude_lead"),
            track_files=False,
            most=MOST_SUMMARY,
        )
    )
    files: int = FILES
    file_tokens: int = FILE_TOKENS
    all_files_tokens: int = ALL_FILES_TOKENS
    name: ClassVar[str] = "claude_compact"

    def plan(self, context: Context, budget: Budget, /) -> Plan | None:
        """The draft with the files behind it; None where only what an earlier compaction wrote would go."""
        cut = self.summary.summarize.cut.find(context, budget)
        if cut is None:
            return None
        held = protected(context.messages)
        gone = [i for i in range(cut.keep) if i not in held]
        if all(_written_before(context.messages[i]) for i in gone):
            return None
        target = min(budget.target, max(context.tokens - 1, 0))
        again = self._restored(context, gone, target)
        used = sum(map(context.count, again))
        plan = self.summary.plan(context, replace(budget, target=target - used))
        if plan is None:
            return None
        edits = (replace(edit, by=(*edit.by, *again)) if edit.by else edit for edit in plan.edits)
        return replace(plan, edits=tuple(edits))

    def _restored(self, context: Context, gone: Sequence[int], target: int) -> tuple[UserMessage, ...]:
        """The newest files that fit, the newest last."""
        freed = sum(context.sizes[i] for i in gone)
        left = min(self.all_files_tokens, (target - context.tokens + freed) // 3)
        said = [context.messages[i] for i in gone]
        found: list[UserMessage] = []
        for path, text in last_read(said):
            if len(found) == self.files or left < LEAST_FILE:
                break
            short = clipped(f"[{path}, as it was last read]\n{text}", min(self.file_tokens, left), context.count)
            if not short:
                continue
            seal = reference("\0".join((said[-1].id, path, short)))
            again = UserMessage(
                id=f"restored-{seal}", blocks=(Text(short),), name=RESTORED + path, synthetic=True, time=said[-1].time
            )
            found.append(again)
            left -= context.count(again)
        return tuple(reversed(found))


def last_read(messages: Sequence[Message]) -> Iterator[tuple[str, str]]:
    """Each file with the text of its last read, newest first; none that was changed after that."""
    caller_of = callers(messages)
    seen: set[str] = set()
    for i in range(len(messages) - 1, -1, -1):
        message = messages[i]
        if isinstance(message, UserMessage) and message.synthetic and message.name.startswith(RESTORED):
            path = message.name.removeprefix(RESTORED)
            if path not in seen:
                seen.add(path)
                yield path, plain_text(message).partition("\n")[2]
        if isinstance(message, ToolResult) and i in caller_of and not message.is_error:
            files = _touched(messages[caller_of[i]], message.call_id)
            seen.update(files.modified)
            text = plain_text(message)
            if files.read and files.read[0] not in seen and text.strip():
                seen.add(files.read[0])
                yield files.read[0], text


def _touched(caller: Message, call_id: str) -> FileOps:
    call = next((b for b in caller.blocks if isinstance(b, ToolCall) and b.id == call_id), None)
    return FileOps() if call is None else touched(call.name, call.arguments)


def _written_before(message: Message) -> bool:
    return isinstance(message, Summary) or (message.name.startswith(RESTORED) and message.role == "user")
