"""ExAthena's stages for runs of results and repeated calls: runs are merged or cut short,
repeats are only marked.
"""

from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import groupby
from typing import ClassVar, TypeAlias

from workbench.base.typed_value import check_whole_number
from workbench.engine.compaction.clip import EXCERPT, REPEATED, byte_length, head, rewritten
from workbench.engine.compaction.plan import UNWRITTEN, Budget, Draft, Plan, Replace
from workbench.engine.compaction.presets.ex_athena.stages import MARKS, Pinning, rewritable, tool_of
from workbench.engine.compaction.presets.token_counters import calls_of
from workbench.engine.compaction.stages.tool_results import ContextCollapse as Stubs
from workbench.engine.compaction.strategy import DOCUMENTED
from workbench.engine.transcript.context import Context
from workbench.engine.transcript.message import (
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

    def runs(self, context: Context, calls: Mapping[int, ToolCall]) -> Iterator[Run]:
        """The runs between prefix and live end, without pinned results, by their indices."""
        messages = context.messages

        def tool(i: int) -> str | None:
            message = messages[i]
            return (
                tool_of(message, calls.get(i))
                if message.role == "tool" and not message.pinned
                else None
            )

        for _, indices in groupby(self.pinning.between(messages), tool):
            run = {
                i: message
                for i in indices
                if isinstance(message := messages[i], ToolResult) and not message.pinned
            }
            if len(run) >= max(self.run, 3):
                yield run

    def excerpt(self, text: str) -> str:
        """The first characters of a text, and a mark where there are more."""
        return text if len(text) <= self.chars else f"{head(text, self.chars)} […]"


class ExcerptRuns(Microcompaction):
    """Cuts each long result of a run to an excerpt, in place. As in the newest version."""

    def plan(self, context: Context, budget: Budget, /) -> Plan | None:
        """Replace the long results of each run."""
        calls = context.calls
        excerpts = (
            (i, f"{EXCERPT} {head(text, self.chars)} […]")
            for run in self.runs(context, calls)
            for i, _, text in rewritable(context, run)
            if byte_length(text) > self.chars and not text.startswith(MARKS)
        )
        return rewritten(context, excerpts, by_bytes=True)


class MergeRuns(Microcompaction):
    """Merges each run into one message, as documented. Calls go with their results, so that
    pairs stay whole.
    """

    def plan(self, context: Context, budget: Budget, /) -> Plan | None:
        """Replace each run by one message where that is smaller."""
        messages, caller_of, calls = context.messages, context.callers, context.calls
        # a call answered twice goes with both results
        answers: dict[tuple[int, str], set[int]] = defaultdict(set)
        for i, call in calls.items():
            answers[caller_of[i], call.id].add(i)
        floor, merged_runs = self.pinning.floor(messages), list[tuple[Run, Summary]]()
        for run in self.runs(context, calls):
            run_calls = {
                (caller_of[i], result.call_id) for i, result in run.items() if i in caller_of
            }
            stays = any(
                caller < floor or messages[caller].pinned or self.pinning.named(messages[caller])
                for caller, _ in run_calls
            )
            if stays or any(answers[call] - run.keys() for call in run_calls):
                continue
            merged = self._merged(run, calls)
            replaced_texts = [
                *map(plain_text, run.values()),
                *(calls[i].arguments_json() for i in run if i in calls),
            ]
            if byte_length(merged.text) < sum(map(byte_length, replaced_texts)):
                merged_runs.append((run, merged))
        plan = Plan(_edits(messages, merged_runs, caller_of))
        return plan if merged_runs and plan.apply(context).tokens <= context.tokens else None

    def _merged(self, run: Run, calls: Mapping[int, ToolCall]) -> Summary:
        lines = [f"[microcompact: {len(run)} tool results elided]"]
        for i, result in run.items():
            named = (
                f" {calls[i].name}({self.excerpt(calls[i].arguments_json())})" if i in calls else ""
            )
            lines.append(f"- {result.call_id}{named}: {self.excerpt(plain_text(result))}")
        ids = tuple(result.id for result in run.values())
        frame = replace(UNWRITTEN, replaces=ids, name=self.name)
        return Draft(requests=(), template="", footer="\n".join(lines), frame=frame).written(())


def _edits(
    messages: Sequence[Message],
    merged_runs: Sequence[tuple[Run, Summary]],
    caller_of: Mapping[int, int],
) -> tuple[Replace, ...]:
    """The merged messages instead of their runs; before a caller that keeps calls, whose results
    still follow.
    """
    answered_ids: dict[int, set[str]] = defaultdict(set)
    for run, _ in merged_runs:
        for i, result in run.items():
            if i in caller_of:
                answered_ids[caller_of[i]].add(result.call_id)
    unfinished = {
        caller
        for caller, ids in answered_ids.items()
        if any(call.id not in ids for call in calls_of(messages[caller]))
    }
    new_messages: dict[int, tuple[Message, ...]] = dict.fromkeys(
        [*(i for run, _ in merged_runs for i in run), *answered_ids], ()
    )
    for run, summary in merged_runs:
        new_messages[
            min((caller_of[i] for i in run if caller_of.get(i) in unfinished), default=min(run))
        ] += (summary,)
    for caller, ids in answered_ids.items():
        new_messages[caller] += _without(messages[caller], ids)
    return tuple(Replace(i, i + 1, new_messages[i]) for i in sorted(new_messages))


def _without(message: Message, calls: set[str]) -> tuple[Message, ...]:
    """The message without these calls; nothing where nothing else is in it."""
    assert message.role == "assistant"
    remaining_blocks = tuple(
        block for block in message.blocks if not (block.type == "tool_call" and block.id in calls)
    )
    short = replace(message, blocks=remaining_blocks)
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
        stubs, repeats = Stubs().plan(context, budget), _repeats(context.messages)
        results = ((i, REPEATED) for i in repeats.values() if i is not None)
        repeated = rewritten(context, results, by_bytes=True)
        edits = {
            edit.start: edit
            for plan in (repeated, stubs)
            if plan is not None
            for edit in plan.edits
        }
        marks = {i: Replace(i, i + 1, (_marked(context.messages[i]),)) for i in repeats}
        if sum(_growth(context, edit) for edit in (*edits.values(), *marks.values())) <= 0:
            edits |= marks
        return Plan(tuple(edits[i] for i in sorted(edits))) if edits else None


def _repeats(messages: Sequence[Message]) -> dict[int, int | None]:
    """Each message whose one call repeats the one before, with its result's index where that is
    the same again.
    """
    result_index_of: dict[int, int | None] = {}
    call: ToolCall | None = None
    result: ToolResult | None = None
    call_index = -1
    for i, message in enumerate(messages):
        if message.role == "assistant":
            calls = message.calls
            previous_call, call, call_index = call, calls[0] if len(calls) == 1 else None, i
            repeats = (
                previous_call
                and call
                and (previous_call.name, previous_call.arguments) == (call.name, call.arguments)
            )
            if repeats and not message.pinned and not plain_text(message).endswith(REPEATED):
                result_index_of[i] = None
        elif message.role != "tool":
            call = result = None
        elif call is not None and message.call_id == call.id:
            if (
                call_index in result_index_of
                and result
                and (result.blocks, result.is_error) == (message.blocks, message.is_error)
            ):
                result_index_of[call_index] = i
            result = message
    return result_index_of


def _marked(message: Message) -> Message:
    """The message with a mark at the end of its words, before its call."""
    assert message.role == "assistant"
    blocks = list(message.blocks)
    words = [(i, block.text) for i, block in enumerate(blocks) if block.type == "text"]
    if words:
        index, text = words[-1]
        blocks[index] = Text(f"{text} {REPEATED}".strip())
    else:
        blocks.insert(blocks.index(message.calls[0]), Text(REPEATED))
    return replace(message, blocks=tuple(blocks))


def _growth(context: Context, edit: Replace) -> int:
    """Bytes of words that the edit adds."""
    new_bytes = sum(byte_length(plain_text(new)) for new in edit.by if not isinstance(new, Draft))
    return new_bytes - byte_length(plain_text(context.messages[edit.start]))
