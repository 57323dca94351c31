"""Cheap stages that shorten tool results in their place: ExAthena's, restated."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import accumulate, groupby
from typing import ClassVar

from workbench.engine.compaction.clip import (
    EXCERPT,
    REPEATED,
    SNIPPED,
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
from workbench.engine.transcript.message import Message, ToolCall, ToolResult, plain_text


@dataclass(frozen=True, slots=True)
class BudgetReduction:
    """Puts a reference in the place of each tool result of more than `chars` characters.

    `Context.archive[reference]` holds the full text.

    Source:
        ExAthena, `Compactors.BudgetReduction`, restated; the reference is a hash of the text, so
            that the same text
        has the same reference in every run.
    """

    chars: int = 16_000
    name: ClassVar[str] = "budget_reduction"

    def plan(self, context: Context, budget: Budget, /) -> Plan | None:
        """Replace what is too long, in the whole context."""
        long = (
            (i, plain_text(message))
            for i, message in enumerate(context.messages)
            if message.role == "tool"
            and sum([len(block.text) for block in message.blocks if block.type == "text"])
            > self.chars
        )
        named = ((i, len(text), reference(text)) for i, text in long)
        return rewritten(
            context, ((i, truncated(size, ref), ref) for i, size, ref in named), pictures=True
        )


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
        answers = [message.role == "assistant" for message in context.messages]
        later = list(accumulate(reversed(answers)))[::-1]
        stale = (i for i in _inner_results(context, self.pins) if later[i] >= self.age)
        results = ((i, context.messages[i]) for i in stale if _may_go(context, i, self.pins))
        return rewritten(
            context,
            ((i, SNIPPED.format(result.call_id)) for i, result in results if result.role == "tool"),
        )


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
            original's first
        version merged a run into one message and so orphaned its calls, each result stays in its
            place.
    """

    run: int = 3
    chars: int = 200
    pins: Pins = Pins(suffix=6)
    name: ClassVar[str] = "microcompact"

    def plan(self, context: Context, budget: Budget, /) -> Plan | None:
        """Replace the long results of each run; one that is an excerpt already stays."""
        numbered = enumerate(_inner_results(context, self.pins))
        runs = [[i for _, i in run] for _, run in groupby(numbered, lambda pair: pair[1] - pair[0])]
        indices = [
            i for run in runs if len(run) >= self.run for i in run if _may_go(context, i, self.pins)
        ]
        texts = ((i, plain_text(context.messages[i])) for i in indices)
        long = (
            (i, text)
            for i, text in texts
            if len(text) > self.chars and not text.startswith(EXCERPT)
        )
        return rewritten(
            context, ((i, f"{EXCERPT} {head(text, self.chars)} […]") for i, text in long)
        )


def _inner_results(context: Context, pins: Pins) -> list[int]:
    """The tool results between the prefix and the suffix, both counted in messages."""
    between = range(pins.prefix, len(context.messages) - pins.suffix)
    return [i for i in between if context.messages[i].role == "tool"]


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
            the request longer
        and the projection was never sent; here it is sent, and a stub is written only where it is
            smaller.
    """

    name: ClassVar[str] = "context_collapse"

    def plan(self, context: Context, budget: Budget, /) -> Plan | None:
        """The stubs, each strictly smaller than what it hides."""
        return rewritten(
            context, (dict(_repeats(context.messages)) | dict(_overtaken(context))).items()
        )


def _overtaken(context: Context) -> Iterator[tuple[int, str]]:
    """The results of reads whose file was changed later, by a call that did not fail."""
    changed: set[str] = set()
    for i, call in reversed(context.calls.items()):
        files, result = touched(call.name, call.arguments), context.messages[i]
        if files.modified and not (result.role == "tool" and result.is_error):
            changed.update(files.modified)
        elif files.read and files.read[0] in changed:
            yield i, f"<read superseded by later edit: {files.read[0]}>"


def _repeats(messages: Sequence[Message]) -> Iterator[tuple[int, str]]:
    """The results that are the same as that of an equal call just before."""
    previous_call: ToolCall | None = None
    call: ToolCall | None = None
    result_by_call: dict[str, ToolResult] = {}
    for i, message in enumerate(messages):
        if message.role == "assistant":
            blocks = message.blocks
            previous_call, call = (
                call,
                blocks[0] if len(blocks) == 1 and blocks[0].type == "tool_call" else None,
            )
        elif message.role == "tool":
            if call is None or message.call_id != call.id:
                continue
            result_by_call[call.id] = message
            if (
                previous_call
                and previous_call.id != call.id
                and (previous_call.name, previous_call.arguments) == (call.name, call.arguments)
            ):
                earlier = result_by_call.get(previous_call.id)
                if earlier is not None and (earlier.blocks, earlier.is_error) == (
                    message.blocks,
                    message.is_error,
                ):
                    yield i, f"{REPEATED} same result as call {previous_call.id}"
        else:
            previous_call = call = None
