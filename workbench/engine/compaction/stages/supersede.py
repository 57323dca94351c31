"""Takes out what a newer version replaced: older reads of a file, outputs of the same call,
whole files, task lists.
"""

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field, replace
from typing import ClassVar

from workbench.engine.compaction.clip import NewResult, rewritten
from workbench.engine.compaction.plan import Budget, Plan, Replace, in_order
from workbench.engine.extraction.paths import normal_path
from workbench.engine.extraction.statements import tasks
from workbench.engine.transcript.context import Context
from workbench.engine.transcript.files import PATH_KEYS, touched
from workbench.engine.transcript.message import Json, ToolCall, argument_texts

READ_AGAIN = "[superseded: {} was read or written again later]"
CALLED_AGAIN = "[superseded: the same call was made again later]"
SET_AGAIN = "[superseded: set again later]"
_CONTENT_KEYS = ("content", "contents", "file_text", "text")
_SAYS_NOTHING = frozenset({"command", "description", "explanation", "timeout"})
"""Arguments that do not narrow what a read shows; `command` is the verb of an editor's tool."""
_PROSE = frozenset({"description", "explanation", "timeout"})
"""Arguments that two equal calls may differ in."""
_GOES_ON = re.compile(r"output|poll|stdin|wait|next|sleep", re.IGNORECASE)
"""Names of tools whose results continue those of the same call before."""


@dataclass(frozen=True, slots=True)
class Supersede:
    """Puts a marker in the place of what a newer version replaced; the newest version of each thing
    stays.

    A read goes where the same part or the whole file was read again, or the whole file was written;
    an edit alone replaces no read, since the rest of the file stands nowhere else. A result goes
    where the same tool was called again with the same arguments. The arguments of a call go where
    it wrote a whole file, or set a task list, that was written or set again. A failed read or
    change replaces nothing, and tools whose results continue the last ones (such as a poll) replace
    nothing.
    """

    name: ClassVar[str] = "supersede"

    def plan(self, context: Context, budget: Budget, /) -> Plan | None:
        """The markers, each smaller than what it replaces."""
        superseded = _superseded(context)
        results = rewritten(context, superseded.results)
        edits = [] if results is None else list(results.edits)
        edits += _shortened(context, superseded.calls)
        return Plan(in_order(edits)) if edits else None


@dataclass(slots=True)
class _Superseded:
    """What goes, and what stands later in the conversation.

    Attributes:
        results: the markers of the results that go.
        calls: the ids of the calls whose arguments go, by their message.
        later: what was read, written, set or called later.
    """

    results: list[NewResult] = field(default_factory=list)
    calls: dict[int, set[str]] = field(default_factory=dict)
    later: set[Json] = field(default_factory=set)

    def read(
        self,
        i: int,
        call: ToolCall,
        path: str,
        failed: bool,
    ) -> None:
        """Go back to a read of a file."""
        whole_file = ("file", normal_path(path))
        part = _key(call, (*PATH_KEYS, *_SAYS_NOTHING))
        part_of_file = ("part", normal_path(path), part)
        if whole_file in self.later or part_of_file in self.later:
            self.results.append(NewResult(i, READ_AGAIN.format(path)))
        elif not failed:
            self.later.add(part_of_file if part else whole_file)

    def wrote(
        self,
        caller: int,
        call: ToolCall,
        modified: tuple[str, ...],
        failed: bool,
    ) -> None:
        """Go back to a call that changed files, or a task list."""
        target = _set_whole(call, modified)
        if target is None:
            return
        if target in self.later:
            call_ids = self.calls.setdefault(caller, set())
            call_ids.add(call.id)
        elif not failed:
            self.later.add(target)

    def called(self, i: int, call: ToolCall) -> None:
        """Go back to any other call."""
        key = ("call", call.name, _key(call, _PROSE))
        if key in self.later:
            self.results.append(NewResult(i, CALLED_AGAIN))
        self.later.add(key)


def _superseded(context: Context) -> _Superseded:
    """What newer versions replaced, by a walk back from the newest call."""
    superseded = _Superseded()
    for i in reversed(list(context.answered)):
        caller, call = context.answered[i]
        result = context.messages[i]
        failed = result.role == "tool" and result.is_error
        files = touched(call.name, call.arguments)
        if files.read:
            superseded.read(i, call, files.read[0], failed)
        elif files.modified or any(tasks(call.arguments)):
            superseded.wrote(caller, call, files.modified, failed)
        elif not _GOES_ON.search(call.name):
            superseded.called(i, call)
    return superseded


def _set_whole(call: ToolCall, modified: tuple[str, ...]) -> Json:
    """The file or the task list of which a call gives the whole; None where it gives a part."""
    if not modified:
        return ("tasks", call.name)
    if len(modified) > 1:
        return None
    for key in _CONTENT_KEYS:
        if isinstance(call.arguments.get(key), str):
            return ("file", normal_path(modified[0]))
    return None


def _key(call: ToolCall, without: frozenset[str] | tuple[str, ...]) -> tuple[str, ...]:
    """The arguments of a call but for some, by which calls that show the same are equal."""
    texts: list[str] = []
    for key, value in sorted(call.arguments.items()):
        if key not in without and value is not None:
            texts += (key, *argument_texts(value), repr(value)[:40])
    return tuple(texts)


def _shortened(context: Context, calls: Mapping[int, set[str]]) -> Iterator[Replace]:
    """The messages whose calls lose long arguments, where that makes them smaller."""
    for i, call_ids in calls.items():
        message = context.messages[i]
        if message.role != "assistant" or message.pinned:
            continue
        blocks = list(message.blocks)
        for block_index, block in enumerate(blocks):
            if block.type == "tool_call" and block.id in call_ids:
                blocks[block_index] = _without_content(block)
        short = replace(message, blocks=tuple(blocks))
        size = context.count(short)
        if short.blocks != message.blocks and size < context.sizes[i]:
            yield Replace.message_at(i, short, size)


def _without_content(call: ToolCall) -> ToolCall:
    """The call with markers in the place of its long arguments."""
    arguments: dict[str, Json] = {}
    for key, value in call.arguments.items():
        arguments[key] = _marked(key, value)
    return replace(call, arguments=arguments)


def _marked(key: str, value: Json) -> Json:
    is_content = isinstance(value, str) and key in _CONTENT_KEYS
    if is_content or isinstance(value, list | tuple):
        return SET_AGAIN
    return value
