"""Cheap stages that shorten tool results in their place: ExAthena's, restated."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import accumulate
from typing import ClassVar

from workbench.engine.compaction.clip import (
    EXCERPT,
    REPEATED,
    SNIPPED,
    NewResult,
    head,
    is_archived,
    reference,
    rewritten,
    truncated,
)
from workbench.engine.compaction.cut import Pins
from workbench.engine.compaction.plan import Budget, Plan
from workbench.engine.transcript.context import Context
from workbench.engine.transcript.files import touched
from workbench.engine.transcript.message import (
    AssistantMessage,
    Message,
    ToolCall,
    ToolResult,
    plain_text,
)
from workbench.engine.transcript.results import unseen_results


@dataclass(frozen=True, slots=True)
class BudgetReduction:
    """Puts a reference in the place of each tool result of more than `chars` characters, but for
    those that the model has not seen yet.

    `Context.archive[reference]` holds the full text.

    Source:
        ExAthena, `Compactors.BudgetReduction`, restated; the reference is a hash of the text, so
        that the same text has the same reference in every run. The original takes any result.
    """

    chars: int = 16_000
    name: ClassVar[str] = "budget_reduction"

    def plan(self, context: Context, budget: Budget, /) -> Plan | None:
        """Replace what is too long, in the whole context."""
        return rewritten(context, self._references(context), pictures=True)

    def _references(self, context: Context) -> Iterator[NewResult]:
        unseen = unseen_results(context.messages)
        for i, message in enumerate(context.messages):
            if message.role != "tool" or i in unseen:
                continue
            texts = [block.text for block in message.blocks if block.type == "text"]
            if sum(map(len, texts)) > self.chars:
                text = plain_text(message)
                ref = reference(text)
                yield NewResult(i, truncated(len(text), ref), ref)


@dataclass(frozen=True, slots=True)
class Snip:
    """Puts a marker with the call's id in the place of each stale tool result.

    Attributes:
        age: a result is stale when at least so many answers of the model came after it.
        pins: what stays; `prefix` and `suffix` are counted in messages here, whatever their size.

    Source:
        ExAthena, `Compactors.Snip`: four iterations, live suffix of six, restated.
    """

    age: int = 4
    pins: Pins = Pins(suffix=6)
    name: ClassVar[str] = "snip"

    def plan(self, context: Context, budget: Budget, /) -> Plan | None:
        """Replace stale results; one whose marker would not be smaller stays, and so does a
        reference.
        """
        return rewritten(context, self._markers(context))

    def _markers(self, context: Context) -> Iterator[NewResult]:
        is_answer = [message.role == "assistant" for message in context.messages]
        later_answers = list(accumulate(reversed(is_answer)))
        later_answers.reverse()
        for i in _inner_results(context, self.pins):
            message = context.messages[i]
            is_stale = later_answers[i] >= self.age
            if is_stale and message.role == "tool" and _may_go(context, i, self.pins):
                yield NewResult(i, SNIPPED.format(message.call_id))


@dataclass(frozen=True, slots=True)
class Microcompact:
    """Cuts the results in each run of adjacent tool results to an excerpt, in place, so that pairs
    stay whole.

    Attributes:
        run: how many adjacent results make a run.
        chars: how many characters of each are kept.
        pins: what stays; `prefix` and `suffix` are counted in messages here, whatever their size.

    Source:
        ExAthena, `Compactors.Microcompact`: runs of three, 200 characters, restated. Where the
        original's first version merged a run into one message and so orphaned its calls, each
        result stays in its place.
    """

    run: int = 3
    chars: int = 200
    pins: Pins = Pins(suffix=6)
    name: ClassVar[str] = "microcompact"

    def plan(self, context: Context, budget: Budget, /) -> Plan | None:
        """Replace the long results of each run; one that is an excerpt already stays."""
        return rewritten(context, self._excerpts(context))

    def _excerpts(self, context: Context) -> Iterator[NewResult]:
        for run in _runs(_inner_results(context, self.pins)):
            if len(run) < self.run:
                continue
            for i in run:
                text = plain_text(context.messages[i])
                is_long = len(text) > self.chars and not text.startswith(EXCERPT)
                if is_long and _may_go(context, i, self.pins):
                    yield NewResult(i, f"{EXCERPT} {head(text, self.chars)} […]")


def _runs(indices: Sequence[int]) -> list[list[int]]:
    """The indices, ascending, in runs of neighbours."""
    runs: list[list[int]] = []
    for i in indices:
        if runs and runs[-1][-1] == i - 1:
            runs[-1].append(i)
        else:
            runs.append([i])
    return runs


def _inner_results(context: Context, pins: Pins) -> list[int]:
    """The tool results between the prefix and the suffix, both counted in messages, that the model
    has seen.
    """
    between = range(pins.prefix, len(context.messages) - pins.suffix)
    unseen = unseen_results(context.messages)
    indices: list[int] = []
    for i in between:
        if context.messages[i].role == "tool" and i not in unseen:
            indices.append(i)
    return indices


def _may_go(context: Context, i: int, pins: Pins) -> bool:
    """Whether neither its name nor the archive, whose reference it is, keeps a result."""
    message = context.messages[i]
    return not pins.names_it(message) and not is_archived(message, context.archive)


@dataclass(frozen=True, slots=True)
class ContextCollapse:
    """Puts a stub in the place of a read whose file was changed later, and of a result that only
    repeats the last.

    A call repeats the one before if it has the same tool and arguments with only tool results in
    between; its result becomes a stub if it is the same text.

    Source:
        ExAthena, `Compactors.ContextCollapse`, restated. There the marker of a repeated call made
        the request longer and the projection was never sent; here it is sent, and a stub is written
        only where it is smaller.
    """

    name: ClassVar[str] = "context_collapse"

    def plan(self, context: Context, budget: Budget, /) -> Plan | None:
        """The stubs, each strictly smaller than what it hides."""
        stubs = dict(_repeats(context.messages)) | dict(_overtaken(context))
        new_results = [NewResult(i, text) for i, text in stubs.items()]
        return rewritten(context, new_results)


def _overtaken(context: Context) -> Iterator[tuple[int, str]]:
    """The results of reads whose file was changed later, by a call that did not fail."""
    changed: set[str] = set()
    for i, call in reversed(context.calls.items()):
        result = context.messages[i]
        failed = result.role == "tool" and result.is_error
        files = touched(call.name, call.arguments)
        if files.modified and not failed:
            changed.update(files.modified)
        elif files.read and files.read[0] in changed:
            yield i, f"<read superseded by later edit: {files.read[0]}>"


def _repeats(messages: Sequence[Message]) -> Iterator[tuple[int, str]]:
    """The results that are the same as that of an equal call just before."""
    previous_call: ToolCall | None = None
    call: ToolCall | None = None
    result_of: dict[str, ToolResult] = {}
    for i, message in enumerate(messages):
        if message.role == "assistant":
            previous_call, call = call, _only_call(message)
        elif message.role == "tool":
            if call is None or message.call_id != call.id:
                continue
            result_of[call.id] = message
            if previous_call is None or previous_call.id == call.id:
                continue
            previous_result = result_of.get(previous_call.id)
            if previous_result is None or not same_result(previous_result, message):
                continue
            if same_call(previous_call, call):
                yield i, f"{REPEATED} same result as call {previous_call.id}"
        else:
            previous_call = call = None


def _only_call(message: AssistantMessage) -> ToolCall | None:
    """The call of a message that consists of one call."""
    if len(message.blocks) > 1:
        return None
    for block in message.blocks:
        if block.type == "tool_call":
            return block
    return None


def same_call(call: ToolCall, other_call: ToolCall) -> bool:
    """Whether two calls have the same tool and the same arguments."""
    return call.name == other_call.name and call.arguments == other_call.arguments


def same_result(result: ToolResult, other_result: ToolResult) -> bool:
    """Whether two results say the same, and both failed or neither."""
    return result.blocks == other_result.blocks and result.is_error == other_result.is_error
