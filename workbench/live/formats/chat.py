"""Messages with a role and a content: OpenAI's chat completions and Anthropic's messages."""

import re
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import replace

from workbench.engine.transcript.message import (
    WANTED_BACK,
    AnswerBlock,
    AssistantMessage,
    Json,
    Message,
    Summary,
    SystemMessage,
    Thinking,
    ToolResult,
    UserMessage,
)
from workbench.live.formats.chat_answers import WORDS, rewritten_answer
from workbench.live.formats.foreign import foreign_part
from workbench.live.formats.parts import SAID, blocks, type_of
from workbench.live.formats.shape import (
    SYSTEM_ROLES,
    Entry,
    HostFormat,
    HostMessage,
    OutgoingMessage,
    Record,
    content_of,
    own_parts,
)
from workbench.live.formats.turns import compacts, merged_results, with_turns
from workbench.recordings.importers.blocks import thought_block
from workbench.recordings.importers.tool_calls import tool_call
from workbench.recordings.importers.values import label

_BY_CLIENT = re.compile(r"\s*<(system-reminder|environment_details)>.*</\1>\s*", re.DOTALL)
"""What Claude Code and Cline write in the user's name."""
_ROLES = ("system", "developer", "user", "assistant", "tool", "function")
_ANSWERED = SAID | {"thinking", "redacted_thinking", "tool_use"}


class Chat(HostFormat):
    """Reads both APIs' messages alike, so that a gateway may mix them; each API writes its own
    new ones.
    """

    def problem(self, record: Record) -> tuple[str, str]:
        """Whether the role is unknown, or a part is of an API that is none of ours."""
        if record.get("role") not in _ROLES:
            role_names = ", ".join(_ROLES)
            objection = f"no role is named {record.get('role')!r}; known are {role_names}"
            return "role", objection
        return foreign_part(record)

    def read(self, entry: Entry) -> list[Message]:
        """The messages of one of the host's: several where it holds Anthropic's tool results."""
        (record,) = entry.records
        content = record.get("content")
        name = label(record, "name")
        if record["role"] == "assistant":
            return _answers(record, entry)
        if record["role"] in ("tool", "function"):
            if not name:
                name = label(record, "tool_name")
            call_id = label(record, "tool_call_id")
            if not call_id:
                call_id = entry.waiting_call(name)
            if not call_id:
                call_id = _own_id(name, 1)
            return [_result(call_id, content, entry, name)]
        if record["role"] in SYSTEM_ROLES:
            system_blocks = blocks(content, entry.parts)
            system = SystemMessage(id=entry.new_id(), blocks=system_blocks, name=name)
            return [system]
        summary = entry.own_summary(content)
        if summary is not None:
            return [summary]
        messages: list[Message] = []
        other_content = content
        if isinstance(content, list):
            other_content = [part for part in content if type_of(part) != "tool_result"]
            for part in content:
                if type_of(part) == "tool_result":
                    call_id = label(part, "tool_use_id")
                    result = _result(call_id, part.get("content"), entry)
                    result = replace(result, is_error=part.get("is_error") is True)
                    messages.append(result)
                    entry.parts[id(result)] = part
        if other_content or not messages:
            user_blocks = blocks(other_content, entry.parts)
            user_message = UserMessage(
                id=entry.new_id(),
                blocks=user_blocks,
                name=name,
                pinned=entry.pinned,
                synthetic=_is_by_client(user_blocks),
            )
            messages.append(user_message)
        return messages

    def rewritten(self, group: Sequence[Message], host_message: HostMessage) -> Iterator[Record]:
        """The host's message with what a stage changed or removed; one that is of another kind
        now is written anew.
        """
        originals = {message.id: message for message in host_message.messages}
        parts: list[Json] = []
        for message in group:
            original = originals[message.id]
            is_of_another_kind = type(original) is not type(message)
            is_another_summary = message.role == "summary" and message is not original
            if is_of_another_kind or is_another_summary:
                yield from self.new(message)
            elif message.role == "summary":
                parts.append(host_message.parts[id(original)])
            elif id(original) in host_message.parts:
                host_part = host_message.parts[id(original)]
                content = content_of(message.blocks, host_message, WORDS)
                parts.append({**host_part, "content": content})
            elif message.role == "assistant" and original.role == "assistant":
                for record in rewritten_answer(message, original, host_message):
                    if parts:
                        content = [*parts, *record["content"]]
                        record = {**record, "content": content}
                    yield record
                    parts = []
            elif len(host_message.messages) == 1:
                content = content_of(message.blocks, host_message, WORDS)
                yield {**host_message.record, "content": content}
            else:
                parts += own_parts(message.blocks, host_message, WORDS)
        if parts:
            yield {**host_message.record, "content": parts}

    def finished(
        self, outgoing: list[OutgoingMessage], path: Sequence[HostMessage]
    ) -> list[OutgoingMessage]:
        """With a user's turn where one is required, and the results of one turn in one message."""
        turns = with_turns(outgoing, opens=_first_role(path) == "user")
        return merged_results(turns)


def _first_role(path: Sequence[HostMessage]) -> str:
    """Who says the first message that is no system prompt; empty where there is none."""
    for host_message in path:
        role: str = host_message.record["role"]
        if role not in SYSTEM_ROLES:
            return role
    return ""


def _result(call_id: str, content: Json, entry: Entry, name: str = "") -> ToolResult:
    name = entry.names.get(call_id) or name
    result_blocks = blocks(content, entry.parts)
    return ToolResult(
        id=entry.new_id(),
        call_id=call_id,
        blocks=result_blocks,
        name=name,
        pinned=entry.pinned,
    )


def _is_by_client(user_blocks: Sequence[AnswerBlock]) -> bool:
    """Whether all of it is what a client writes in the user's name."""
    for block in user_blocks:
        if block.type != "text" or not _BY_CLIENT.fullmatch(block.text):
            return False
    return bool(user_blocks)


def _answers(record: Record, entry: Entry) -> list[Message]:
    """An answer, and before it the newest compaction by the provider that it holds: it stands for
    all that came before.

    Anthropic drops everything before such a block, and takes one without content as nothing said.
    """
    content = record.get("content")
    parts = content if isinstance(content, list) else []
    compaction_indices = [i for i, part in enumerate(parts) if compacts(part)]
    if not compaction_indices:
        return [_answer(record, entry)]
    newest_index = compaction_indices[-1]
    part = parts[newest_index]
    later_parts = parts[newest_index + 1 :]
    summary = Summary(id=entry.new_id(), text=part["content"], said_by="assistant")
    entry.parts[id(summary)] = part
    entry.covers = "all"
    if not later_parts:
        return [summary]
    return [summary, _answer({**record, "content": later_parts}, entry)]


def _answer(record: Record, entry: Entry) -> AssistantMessage:
    thought = label(record, "reasoning_content")
    answer_blocks: list[AnswerBlock] = []
    if thought:
        answer_blocks.append(Thinking(thought, WANTED_BACK))
    else:
        answer_blocks += thought_block(label(record, "reasoning"))
    answer_blocks += blocks(record.get("content"), entry.parts, _ANSWERED)
    calls = [*(record.get("tool_calls") or ())]
    if record.get("function_call"):
        calls.append({"function": record["function_call"]})
    unnamed = Counter[str]()
    for call_record in calls:
        call = tool_call(call_record)
        if not call.id:
            unnamed[call.name] += 1
            own_id = _own_id(call.name, unnamed[call.name])
            call = replace(call, id=own_id)
        answer_blocks.append(call)
        entry.parts[id(call)] = call_record
    name = label(record, "name")
    return AssistantMessage(
        id=entry.new_id(),
        blocks=tuple(answer_blocks),
        name=name,
        pinned=entry.pinned,
    )


def _own_id(name: str, number: int) -> str:
    """Our id for a call that has none: the first of its name in an answer, the second, ..."""
    if number == 1:
        return f"function:{name}"
    return f"function:{name}:{number}"
