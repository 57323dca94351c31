"""Who put a message, and each part of it, into the context."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from typing import TypeAlias

from workbench.engine.transcript.message import Message, TokenCounter, ToolResult

THINKING = "thinking"
"""What a model thought, as far as the recording shows it."""
_MCP = re.compile(r"mcp__(?P<server>.+?)__")


@dataclass(frozen=True, slots=True)
class Source:
    """Who put something into the context.

    Attributes:
        kind: `rules` (a recorded system prompt), `user`, `client` (what the program said in the
            user's name), `assistant`, `thinking`, `call`, `result`, `MCP call`, `MCP result`,
            `picture`, `summary`, `PUT_BACK`, `MEASURED`, `OF_AGENT`, `HIDDEN` or `UNEXPLAINED`.
        name: the tool's, the MCP server's or the agent's; empty for all others.
    """

    kind: str
    name: str = ""

    @property
    def who(self) -> str:
        """Both in words, as `inspect` and `watch` show them."""
        return f"{self.kind} {self.name}".rstrip()


@dataclass(frozen=True, slots=True)
class MessagePart:
    """A share of one message, and who put it there."""

    source: Source
    share: float


PartMessage: TypeAlias = Callable[[Message, Mapping[str, str], TokenCounter], list[MessagePart]]
"""Parts a message, as `parts_of` does."""


def parts_of(
    message: Message,
    tools: Mapping[str, str],
    count: TokenCounter,
) -> list[MessagePart]:
    """Who put what share of a message into the context; `tools` names tools by call id."""
    if isinstance(message, ToolResult):
        tool = message.name or tools.get(message.call_id, "")
        source = _of_tool("result", tool)
        return [MessagePart(source, 1.0)]
    sources: list[Source] = []
    for block in message.blocks:
        tool = getattr(block, "name", "")
        sources.append(_source(message, block.type, tool))
    if not sources:
        source = _source(message, "text", "")
        return [MessagePart(source, 1.0)]
    if len(set(sources)) == 1:
        return [MessagePart(sources[0], 1.0)]
    sizes: list[int] = []
    for block in message.blocks:
        message_of_block = replace(message, blocks=(block,))  # type: ignore[arg-type]
        sizes.append(count(message_of_block))
    total = sum(sizes) or 1
    parts: list[MessagePart] = []
    for source, size in zip(sources, sizes, strict=True):
        parts.append(MessagePart(source, size / total))
    return parts


def _source(message: Message, block: str, tool: str) -> Source:
    """Who put a block of a message into the context."""
    if block == "image":
        return Source("picture")
    if block == "tool_call":
        return _of_tool("call", tool)
    if block == "thinking":
        return Source(THINKING)
    if message.role == "system":
        return Source("rules")
    if message.role == "user" and message.synthetic:
        return Source("client")
    return Source(message.role)


def _of_tool(kind: str, tool: str) -> Source:
    """A call or a result, under its tool's name or under its MCP server's."""
    server = _MCP.match(tool)
    if server:
        return Source(f"MCP {kind}", server["server"])
    return Source(kind, tool)
