"""The peers that install from the package index, each handed the history in its own message
format.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence, Set
from typing import Any

from peers.case import Case, Decision

from workbench.engine.transcript.message import Message, argument_texts, plain_text

CLEARED = "[tool result cleared to save room]"
TOOLS = {
    "read", "readfile", "bash", "shell", "runshell", "grep", "glob", "websearch", "webfetch", "edit", "write",
    "writefile",
}  # fmt: skip
"""Tools whose results the preset `claude_code` clears, by the names that agents use."""

Rules = Set[str]
Package = tuple[str, Callable[[Case, Rules], Decision]]
"""The distribution's name, and what it decides."""


def langchain_messages(messages: Sequence[Message]) -> list[Any]:
    """The history as LangChain holds it; a summary is the user's message that its middleware
    makes of one.
    """
    from langchain_core.messages import AIMessage, HumanMessage, ToolMessage

    said: list[Any] = []
    for message in messages:
        text = plain_text(message)
        if message.role == "assistant":
            calls = [
                {"id": c.id, "name": c.name, "args": dict(c.arguments), "type": "tool_call"}
                for c in message.calls
            ]
            said.append(AIMessage(text, tool_calls=calls, id=message.id))
        elif message.role == "tool":
            said.append(
                ToolMessage(text, tool_call_id=message.call_id, name=message.name, id=message.id)
            )
        else:
            made = {"lc_source": "summarization"} if message.role == "summary" else {}
            said.append(HumanMessage(text, id=message.id, additional_kwargs=made))
    return said


def langchain_20(case: Case, ours: Rules) -> Decision:
    """`SummarizationMiddleware` as it comes, always due."""
    from langchain.agents.middleware import SummarizationMiddleware
    from langchain_core.language_models.fake_chat_models import FakeListChatModel

    class Counting(FakeListChatModel):
        def _call(self, *args: Any, **more: Any) -> str:
            asked.append(True)
            return super()._call(*args, **more)

    asked: list[bool] = []
    middleware = SummarizationMiddleware(
        Counting(responses=["what happened"]), trigger=("messages", 1)
    )
    done = middleware.before_model({"messages": langchain_messages(case.messages)}, None)  # type: ignore[arg-type, typeddict-item]
    left = (
        {message.id for message in done["messages"]}
        if done
        else {message.id for message in case.messages}
    )
    whole = case.ids(i for i, message in enumerate(case.messages) if message.id in left)
    return Decision(
        whole | case.newest if "newest" in ours else whole,
        asked=None if "partly" in ours else bool(asked),
    )


def clear_tool_uses(case: Case, ours: Rules) -> Decision:
    """`ClearToolUsesEdit` as it comes, always due."""
    from langchain.agents.middleware import ClearToolUsesEdit
    from langchain_core.messages.utils import count_tokens_approximately

    said = langchain_messages(case.messages)
    for message in said:
        if message.content == CLEARED:
            message.response_metadata = {"context_editing": {"cleared": True}}
    left = list(said)
    ClearToolUsesEdit(trigger=0).apply(left, count_tokens=count_tokens_approximately)
    return rewritten(
        case,
        {i for i, (one, other) in enumerate(zip(said, left, strict=True)) if one is not other},
        ours,
    )


def rewritten(case: Case, changed: set[int], ours: Rules) -> Decision:
    """What stays where these messages say less; by our rule results only where the marker is
    smaller.
    """
    if "smaller" in ours:
        changed = {i for i in changed if case.sizes[i] > case.size(CLEARED)}
    return Decision(case.ids(set(range(len(case.messages))) - changed), case.ids(changed))


def claude_code(case: Case, ours: Rules) -> Decision:
    """`compact-middleware`, a port of Claude Code: its micro-compaction where only that was
    done, else no message.
    """
    if not case.pruned:
        return Decision(case.newest if "newest" in ours else frozenset())
    from compact_middleware.config import MicrocompactConfig
    from compact_middleware.microcompact import microcompact_messages

    said = langchain_messages(case.messages)
    for message in said:
        message.additional_kwargs["timestamp"] = 0.0
    names = {call.name for m in case.messages if m.role == "assistant" for call in m.calls}
    config = MicrocompactConfig(
        compactable_tools={name for name in names if name.replace("_", "").lower() in TOOLS}
    )
    left, _ = microcompact_messages(said, config)
    return rewritten(
        case,
        {i for i, (one, other) in enumerate(zip(said, left, strict=True)) if one is not other},
        ours,
    )


def long_argument(message: Message) -> bool:
    """Whether a single text among the arguments of a call has more than 500 characters."""
    calls = message.calls if message.role == "assistant" else ()
    texts = (text for call in calls for text in argument_texts(call.arguments))
    return any(len(text) > 500 for text in texts)


def hermes_lean(case: Case, ours: Rules) -> Decision:
    """The pruning of Hermes' `ContextCompressor`, with the tail of its lean mode, which this
    release has not yet.
    """
    from agent.context_compressor import ContextCompressor

    said: list[dict[str, Any]] = []
    for message in case.messages:
        one: dict[str, Any] = {"role": message.role, "content": plain_text(message)}
        if message.role == "tool":
            one["tool_call_id"] = message.call_id
        elif message.role == "assistant" and message.calls:
            functions = [
                (call.id, {"name": call.name, "arguments": call.arguments_json()})
                for call in message.calls
            ]
            one["tool_calls"] = [
                {"id": id, "type": "function", "function": one} for id, one in functions
            ]
        elif message.role == "summary":
            one["role"] = "user"
        said.append(one)
    tail = min(max(int(0.025 * case.window), 10_000), 25_000)
    tail = min(tail, case.half) if "room" in ours else tail
    n = len(said)
    start = case.unparted(next(i for i in range(n + 1) if sum(case.sizes[i:]) <= tail))
    compressor = ContextCompressor(
        "peer", quiet_mode=True, config_context_length=max(case.window, 64_000)
    )
    count, tokens = (n - start, None) if "tail" in ours else (20, tail)
    pruned, _ = compressor._prune_old_tool_results(said, count, tokens)
    changed = {i for i, (one, other) in enumerate(zip(said, pruned, strict=True)) if one != other}
    if "tail" in ours:
        changed = {i for i in changed if i < start}
    if "arguments" in ours:
        changed = {i for i in changed if case.messages[i].role != "assistant"}
        changed |= {i for i in range(start) if long_argument(case.messages[i])}
    return rewritten(case, changed, ours)


PACKAGES: dict[str, Package] = {
    "langchain_20": ("langchain", langchain_20),
    "clear_tool_uses": ("langchain", clear_tool_uses),
    "claude_code": ("compact-middleware", claude_code),
    "hermes_lean": ("hermes-agent", hermes_lean),
}
