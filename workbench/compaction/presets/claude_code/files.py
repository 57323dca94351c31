"""The files that were read last in a conversation, as their newest reads show them."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from workbench.transcript.files import FileOps, touched
from workbench.transcript.message import Message, ToolCall, ToolResult, UserMessage, plain_text
from workbench.transcript.pairing import callers

RESTORED = "restored:"
"""Begins the name of a message that sends a file again."""


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
