"""ExAthena's stages for runs of results and repeated calls: runs are merged or cut short,
repeats are only marked.
"""

from collections import defaultdict
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import ClassVar, TypeAlias

from workbench.base.typed_value import check_whole_number
from workbench.engine.compaction.clip import (
    EXCERPT,
    REPEATED,
    NewResult,
    byte_length,
    head,
    rewritten,
)
from workbench.engine.compaction.plan import UNWRITTEN, Budget, Draft, Plan, Replace, in_order
from workbench.engine.compaction.presets.ex_athena.pinning import Pinning
from workbench.engine.compaction.presets.ex_athena.stages import rewritable, tool_of
from workbench.engine.compaction.presets.token_counters import calls_of
from workbench.engine.compaction.setting_names import DOCUMENTED
from workbench.engine.compaction.stages.tool_results import ContextCollapse as Stubs
from workbench.engine.compaction.stages.tool_results import same_call, same_result
from workbench.engine.transcript.context import Context
from workbench.engine.transcript.message import (
    AnswerBlock,
    Message,
    Summary,
    Text,
    ToolCall,
    ToolResult,
    is_empty,
    plain_text,
)

SHORT_END = Pinning(suffix=4)
"""The messages that the original's stage leaves alone, whatever the live end is."""

Run: TypeAlias = Mapping[int, ToolResult]
"""Results by their indices."""
CallKey: TypeAlias = tuple[int, str]
"""A call by the index of its message and its own id."""


@dataclass(frozen=True, slots=True)
class MergedRun:
    """A run, and the message that takes its place."""

    run: Run
    summary: Summary


@dataclass(frozen=True, slots=True)
class Microcompaction:
    """Finds runs: at least `run` adjacent results of one tool, never fewer than three.

    Attributes:
        chars: what is left of each result.
        pinning: what stays.
    """

    run: int = field(default=3, metadata={DOCUMENTED: "microcompact_run_threshold"})
    chars: int = 200
    pinning: Pinning = SHORT_END
    name: ClassVar[str] = "microcompact"

    def __post_init__(self) -> None:
        check_whole_number("run", self.run)
        check_whole_number("chars", self.chars, least=0)

    def runs(self, context: Context) -> list[Run]:
        """The runs between prefix and live end, without pinned results, by their indices."""
        runs: list[dict[int, ToolResult]] = []
        run_tool: str | None = None  # None where the newest run has ended
        for i in self.pinning.between(context.messages):
            message = context.messages[i]
            if message.role != "tool" or message.pinned:
                run_tool = None
                continue
            tool = tool_of(message, context.calls.get(i))
            if tool != run_tool:
                runs.append({})
            run_tool = tool
            runs[-1][i] = message
        least_results = max(self.run, 3)
        return [run for run in runs if len(run) >= least_results]

    def excerpt(self, text: str) -> str:
        """The first characters of a text, and a mark where there are more."""
        if len(text) <= self.chars:
            return text
        return f"{head(text, self.chars)} […]"


class ExcerptRuns(Microcompaction):
    """Cuts each long result of a run to an excerpt, in place. As in the newest version."""

    def plan(self, context: Context, budget: Budget, /) -> Plan | None:
        """Replace the long results of each run."""
        excerpts: list[NewResult] = []
        for run in self.runs(context):
            for old in rewritable(context, run):
                if byte_length(old.text) > self.chars and not old.is_marker:
                    excerpt = f"{EXCERPT} {head(old.text, self.chars)} […]"
                    excerpts.append(NewResult(old.index, excerpt))
        return rewritten(context, excerpts, by_bytes=True)


class MergeRuns(Microcompaction):
    """Merges each run into one message, as documented. Calls go with their results, so that
    pairs stay whole.
    """

    def plan(self, context: Context, budget: Budget, /) -> Plan | None:
        """Replace each run by one message where that is smaller."""
        results_of = _results_of_calls(context)
        merged_runs: list[MergedRun] = []
        for run in self.runs(context):
            if not self._may_go(context, run, results_of):
                continue
            merged_run = MergedRun(run, self._merged(run, context.calls))
            if byte_length(merged_run.summary.text) < _bytes_of(context, run):
                merged_runs.append(merged_run)
        if not merged_runs:
            return None
        plan = Plan(_edits(context, merged_runs))
        return plan if plan.apply(context).tokens <= context.tokens else None

    def _may_go(
        self,
        context: Context,
        run: Run,
        results_of: Mapping[CallKey, Collection[int]],
    ) -> bool:
        """Whether the calls of a run may go with it, and all their results are in it."""
        floor = self.pinning.floor(context.messages)
        for i, result in run.items():
            if i not in context.callers:
                continue
            caller = context.callers[i]
            message = context.messages[caller]
            if caller < floor or message.pinned or self.pinning.named(message):
                return False
            call_results = results_of[caller, result.call_id]
            if not run.keys() >= set(call_results):
                return False
        return True

    def _merged(self, run: Run, calls: Mapping[int, ToolCall]) -> Summary:
        """The message in the place of a run."""
        lines = [f"[microcompact: {len(run)} tool results elided]"]
        for i, result in run.items():
            label = result.call_id
            if i in calls:
                arguments = self.excerpt(calls[i].arguments_json())
                label = f"{label} {calls[i].name}({arguments})"
            lines.append(f"- {label}: {self.excerpt(plain_text(result))}")
        ids = tuple([result.id for result in run.values()])
        frame = replace(UNWRITTEN, replaces=ids, name=self.name)
        return Draft(
            requests=(),
            template="",
            footer="\n".join(lines),
            frame=frame,
        ).written(())


def _results_of_calls(context: Context) -> Mapping[CallKey, Collection[int]]:
    """The indices of the results of each call; of one that is answered twice, both."""
    results_of: dict[CallKey, set[int]] = defaultdict(set)
    for i, call in context.calls.items():
        results_of[context.callers[i], call.id].add(i)
    return results_of


def _bytes_of(context: Context, run: Run) -> int:
    """Bytes of the results of a run, and of the arguments of their calls."""
    total = 0
    for i, result in run.items():
        total += byte_length(plain_text(result))
        if i in context.calls:
            total += byte_length(context.calls[i].arguments_json())
    return total


def _edits(context: Context, merged_runs: Sequence[MergedRun]) -> tuple[Replace, ...]:
    """The merged messages instead of their runs, or before callers with further results."""
    messages = context.messages
    caller_of = context.callers
    new_messages: dict[int, list[Message]] = {}
    answered_ids: dict[int, set[str]] = defaultdict(set)
    for merged_run in merged_runs:
        for i, result in merged_run.run.items():
            new_messages[i] = []
            if i in caller_of:
                answered_ids[caller_of[i]].add(result.call_id)
    unfinished: set[int] = set()
    for caller, call_ids in answered_ids.items():
        new_messages[caller] = []
        if any(call.id not in call_ids for call in calls_of(messages[caller])):
            unfinished.add(caller)
    for merged_run in merged_runs:
        callers = [caller_of[i] for i in merged_run.run if i in caller_of]
        index = min(unfinished.intersection(callers), default=min(merged_run.run))
        new_messages[index].append(merged_run.summary)
    for caller, call_ids in answered_ids.items():
        new_messages[caller] += _without(messages[caller], call_ids)
    edits: list[Replace] = []
    for i, new in new_messages.items():
        edits.append(Replace(i, i + 1, tuple(new)))
    return in_order(edits)


def _without(message: Message, call_ids: set[str]) -> tuple[Message, ...]:
    """The message without these calls; nothing where nothing else is in it."""
    assert message.role == "assistant"
    remaining_blocks: list[AnswerBlock] = []
    for block in message.blocks:
        if block.type != "tool_call" or block.id not in call_ids:
            remaining_blocks.append(block)
    short = replace(message, blocks=tuple(remaining_blocks))
    return () if is_empty(short) else (short,)


@dataclass(frozen=True, slots=True)
class RepeatCollapse:
    """Stubs for what was overtaken, and a mark at each call that equals the one before, with only
    results in between.

    Calls are marked only where the stubs save more than the marks add, so that the request never
    becomes longer.
    """

    name: ClassVar[str] = "context_collapse"

    def plan(self, context: Context, budget: Budget, /) -> Plan | None:
        """The projection, from the history as it is kept."""
        repeats = _repeats(context.messages)
        repeated: list[NewResult] = []
        marks: dict[int, Replace] = {}
        for i, result_index in repeats.items():
            marked = _marked(context.messages[i])
            marks[i] = Replace.message_at(i, marked)
            if result_index is not None:
                repeated.append(NewResult(result_index, REPEATED))
        edits: dict[int, Replace] = {}
        repeated_plan = rewritten(context, repeated, by_bytes=True)
        stubs_plan = Stubs().plan(context, budget)
        for plan in (repeated_plan, stubs_plan):
            if plan is not None:
                edits |= {edit.start: edit for edit in plan.edits}
        growth = 0
        for edit in (*edits.values(), *marks.values()):
            growth += _growth(context, edit)
        if growth <= 0:
            edits |= marks
        return Plan(in_order(edits.values())) if edits else None


def _repeats(messages: Sequence[Message]) -> dict[int, int | None]:
    """Messages whose one call repeats the last, with the result's index if it is the same."""
    result_index_of: dict[int, int | None] = {}
    call: ToolCall | None = None
    result: ToolResult | None = None
    call_index = -1
    for i, message in enumerate(messages):
        if message.role == "assistant":
            previous_call = call
            call_index = i
            call = message.calls[0] if len(message.calls) == 1 else None
            if previous_call is None or call is None or not same_call(previous_call, call):
                continue
            if not message.pinned and not plain_text(message).endswith(REPEATED):
                result_index_of[i] = None
        elif message.role != "tool":
            call = result = None
        elif call is not None and message.call_id == call.id:
            if call_index in result_index_of and result and same_result(result, message):
                result_index_of[call_index] = i
            result = message
    return result_index_of


def _marked(message: Message) -> Message:
    """The message with a mark at the end of its words, before its call."""
    assert message.role == "assistant"
    blocks = list(message.blocks)
    for index in reversed(range(len(blocks))):
        block = blocks[index]
        if block.type == "text":
            blocks[index] = Text(f"{block.text} {REPEATED}".strip())
            break
    else:
        call_index = blocks.index(message.calls[0])
        blocks.insert(call_index, Text(REPEATED))
    return replace(message, blocks=tuple(blocks))


def _growth(context: Context, edit: Replace) -> int:
    """Bytes of words that the edit adds."""
    growth = -byte_length(plain_text(context.messages[edit.start]))
    for new in edit.by:
        if not isinstance(new, Draft):
            growth += byte_length(plain_text(new))
    return growth
