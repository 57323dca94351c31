"""Takes out what a newer version replaced: older reads of a file, outputs of the same call,
whole files, task lists.
"""

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from typing import ClassVar

from workbench.engine.compaction.clip import rewritten
from workbench.engine.compaction.plan import Budget, Plan, Replace
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
        markers, again = _superseded(context)
        results = rewritten(context, markers.items())
        edits = [*(results.edits if results is not None else ()), *_shortened(context, again)]
        return Plan(tuple(sorted(edits, key=lambda edit: edit.start))) if edits else None


def _superseded(context: Context) -> tuple[dict[int, str], dict[int, set[str]]]:
    """The marker of each result that goes, and the ids of the calls whose arguments go, by their
    message.
    """
    markers: dict[int, str] = {}
    again: dict[int, set[str]] = {}
    later_keys: set[Json] = set()
    for i, (caller, call) in reversed(list(context.answered.items())):
        result, files = context.messages[i], touched(call.name, call.arguments)
        failed = result.role == "tool" and result.is_error
        if files.read:
            path, part = normal_path(files.read[0]), _key(call, (*PATH_KEYS, *_SAYS_NOTHING))
            if ("file", path) in later_keys or ("part", path, part) in later_keys:
                markers[i] = READ_AGAIN.format(files.read[0])
            elif not failed:
                later_keys.add(("part", path, part) if part else ("file", path))
        elif files.modified or any(tasks(call.arguments)):
            thing = _set_whole(call, files.modified)
            if thing is not None and thing in later_keys:
                again.setdefault(caller, set()).add(call.id)
            elif thing is not None and not failed:
                later_keys.add(thing)
        elif not _GOES_ON.search(call.name):
            same = ("call", call.name, _key(call, _PROSE))
            if same in later_keys:
                markers[i] = CALLED_AGAIN
            later_keys.add(same)
    return markers, again


def _set_whole(call: ToolCall, modified: tuple[str, ...]) -> Json:
    """The file or the task list of which a call gives the whole; None where it gives a part."""
    if not modified:
        return ("tasks", call.name)
    gives_content = any(isinstance(call.arguments.get(key), str) for key in _CONTENT_KEYS)
    return ("file", normal_path(modified[0])) if gives_content and len(modified) == 1 else None


def _key(call: ToolCall, without: frozenset[str] | tuple[str, ...]) -> tuple[str, ...]:
    """The arguments of a call but for some, in one order; two calls with equal ones show the
    same thing.
    """
    items = sorted(
        (key, value)
        for key, value in call.arguments.items()
        if key not in without and value is not None
    )
    return tuple(
        text for key, value in items for text in (key, *argument_texts(value), repr(value)[:40])
    )


def _shortened(context: Context, again: Mapping[int, set[str]]) -> Iterator[Replace]:
    """The messages whose calls lose their long arguments; a pinned one stays, and one that would
    not be smaller.
    """
    for i, ids in again.items():
        message = context.messages[i]
        if message.role != "assistant" or message.pinned:
            continue
        blocks = tuple(
            (
                replace(
                    block,
                    arguments={key: _marked(key, value) for key, value in block.arguments.items()},
                )
                if block.type == "tool_call" and block.id in ids
                else block
            )
            for block in message.blocks
        )
        short = replace(message, blocks=blocks)
        size = context.count(short)
        if blocks != message.blocks and size < context.sizes[i]:
            yield Replace(i, i + 1, (short,), size)


def _marked(key: str, value: Json) -> Json:
    goes = key in _CONTENT_KEYS if isinstance(value, str) else isinstance(value, list | tuple)
    return SET_AGAIN if goes else value
