"""What four chat APIs refuse, each as a list of sentences: empty for a request that they would
take.

The rules are the providers' own, restated: a call has exactly one result, in its place; nobody is
empty; the first turn is a user's; thoughts are whole.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from typing import Any

Request = Sequence[Mapping[str, Any]]


def openai_chat(messages: Request) -> list[str]:
    """OpenAI's chat completions."""
    found: list[str] = []
    waiting: list[str] = []
    seen: set[str] = set()
    for i, message in enumerate(messages):
        role = message.get("role")
        if role == "tool":
            call = message.get("tool_call_id")
            if call not in waiting:
                found.append(
                    f"messages[{i}]: a tool message must follow a message with its call {call!r}"
                )
            else:
                waiting.remove(call)
            found += [] if _has_content(message) else [f"messages[{i}]: empty tool result"]
            continue
        found += [f"messages[{i}]: no result of call {call!r} before it" for call in waiting]
        waiting = []
        if role == "assistant":
            calls = message.get("tool_calls")
            if calls is not None and not calls:
                found.append(f"messages[{i}]: empty tool_calls")
            if not calls and not message.get("function_call") and not _has_content(message):
                found.append(f"messages[{i}]: empty assistant message")
            for call in calls or ():
                waiting.append(call["id"])
                found += (
                    [f"messages[{i}]: call id {call['id']!r} again"] if call["id"] in seen else []
                )
                seen.add(call["id"])
                found += _arguments(i, call["function"]["arguments"])
        elif role not in {"system", "developer", "user"}:
            found.append(f"messages[{i}]: role {role!r}")
        elif not _has_content(message):
            found.append(f"messages[{i}]: empty {role} message")
        elif role in {"system", "developer"} and any(
            m.get("role") not in {"system", "developer"} for m in messages[:i]
        ):
            found.append(f"messages[{i}]: the system prompt does not come first")
    if not any(message.get("role") == "user" for message in messages):
        found.append("no user message at all")
    return found + [f"no result of call {call!r} at the end" for call in waiting]


def anthropic(messages: Request) -> list[str]:
    """Anthropic's messages; turns of one role are joined first, as the API does."""
    found: list[str] = []
    turns: list[tuple[str, list[Mapping[str, Any]]]] = []
    for i, message in enumerate(messages):
        role = message.get("role")
        if role not in {"user", "assistant"}:
            found.append(f"messages[{i}]: role {role!r}")
            continue
        blocks = _blocks(message.get("content"))
        found += [] if blocks else [f"messages[{i}]: no content"]
        found += [
            f"messages[{i}]: empty text"
            for b in blocks
            if b["type"] == "text" and not b["text"].strip()
        ]
        if turns and turns[-1][0] == role:
            turns[-1][1].extend(blocks)
        else:
            turns.append((role, list(blocks)))
    if turns and turns[0][0] != "user":
        found.append("the first turn is not the user's")
    if turns and turns[-1][0] != "user":
        found.append("the last turn is not the user's")
    waiting: list[str] = []
    seen: set[str] = set()
    for i, (role, blocks) in enumerate(turns):
        told = [b["tool_use_id"] for b in blocks if b["type"] == "tool_result"]
        if role == "user":
            first = next(
                (k for k, b in enumerate(blocks) if b["type"] != "tool_result"), len(blocks)
            )
            late = any(b["type"] == "tool_result" for b in blocks[first:])
            found += [f"turns[{i}]: a tool result stands behind other content"] if late else []
            found += [
                f"turns[{i}]: no result of call {call!r}" for call in waiting if call not in told
            ]
            found += [
                f"turns[{i}]: a result of the unknown call {call!r}"
                for call in told
                if call not in waiting
            ]
            found += [
                f"turns[{i}]: two results of call {call!r}"
                for call in set(told)
                if told.count(call) > 1
            ]
            waiting = []
        else:
            found += [f"turns[{i}]: a tool result in an answer"] if told else []
            calls = [b for b in blocks if b["type"] == "tool_use"]
            found += [f"turns[{i}]: call id {b['id']!r} again" for b in calls if b["id"] in seen]
            found += [
                f"turns[{i}]: input is no object" for b in calls if not isinstance(b["input"], dict)
            ]
            waiting = [b["id"] for b in calls]
            seen.update(waiting)
            thoughts = [b for b in blocks if b["type"] == "thinking"]
            found += [
                f"turns[{i}]: a thought without its seal"
                for b in thoughts
                if not b.get("signature")
            ]
            found += [f"turns[{i}]: {fault}" for fault in _server_tools(blocks)]
    pictures = sum(b["type"] in {"image", "document"} for _, blocks in turns for b in blocks)
    found += [f"{pictures} pictures"] if pictures > MAX_PICTURES else []
    found += ["the last answer ends in blanks"] if _ends_in_blanks(turns) else []
    return found + [f"no result of call {call!r} at the end" for call in waiting]


MAX_PICTURES = 100


def _server_tools(blocks: Request) -> list[str]:
    """A tool that the provider runs has its result in the same turn, and there is no result
    without it.
    """
    used = [b["id"] for b in blocks if b["type"] == "server_tool_use"]
    told = [b["tool_use_id"] for b in blocks if b["type"].endswith("_tool_result")]
    return [f"server tool {id!r} is used or answered alone" for id in sorted(set(used) ^ set(told))]


def _ends_in_blanks(turns: Sequence[tuple[str, Request]]) -> bool:
    last = turns[-1][1][-1] if turns and turns[-1][0] == "assistant" and turns[-1][1] else {}
    return last.get("type") == "text" and last["text"] != last["text"].rstrip()


def openai_responses(items: Request) -> list[str]:
    """OpenAI's responses: items in a flat list."""
    found: list[str] = []
    called: set[str] = set()
    told: set[str] = set()
    for i, item in enumerate(items):
        kind = item.get("type", "message")
        if kind == "function_call":
            found += (
                [f"items[{i}]: call {item['call_id']!r} again"] if item["call_id"] in called else []
            )
            called.add(item["call_id"])
            found += _arguments(i, item["arguments"])
        elif kind == "function_call_output":
            if item["call_id"] not in called:
                found.append(
                    f"items[{i}]: no tool call found for function call output {item['call_id']!r}"
                )
            if item["call_id"] in told:
                found.append(f"items[{i}]: two outputs of call {item['call_id']!r}")
            told.add(item["call_id"])
        elif kind == "reasoning":
            follower = items[i + 1] if i + 1 < len(items) else {"type": None}
            after = follower.get("type", "message")
            if (
                after not in {"function_call", "message", "reasoning"}
                or follower.get("role", "assistant") != "assistant"
            ):
                found.append(f"items[{i}]: a reasoning item without the item that it led to")
        elif kind == "message" and not _has_content(item):
            found.append(f"items[{i}]: empty message")
    return found + [
        f"no tool output found for function call {call!r}" for call in sorted(called - told)
    ]


def gemini(contents: Request) -> list[str]:
    """Gemini's contents: turns of user and model in alternation, results in the turn right after
    their calls.
    """
    found: list[str] = []
    calls = 0
    for i, turn in enumerate(contents):
        role, parts = turn.get("role"), turn.get("parts", [])
        wanted = "user" if i % 2 == 0 else "model"
        found += [f"contents[{i}]: role {role!r}, not {wanted!r}"] if role != wanted else []
        found += [] if parts else [f"contents[{i}]: no parts"]
        found += [
            f"contents[{i}]: empty text" for part in parts if "text" in part and not part["text"]
        ]
        told = sum(_is(part, "function_response") for part in parts)
        if role == "user" and told != calls:
            found.append(
                f"contents[{i}]: {told} function response parts for {calls} function call parts"
            )
        calls = sum(_is(part, "function_call") for part in parts) if role == "model" else 0
    return found + (["a function call is the last turn"] if calls else [])


def _is(part: Mapping[str, Any], name: str) -> bool:
    head, _, tail = name.partition("_")
    return name in part or head + tail.capitalize() in part


def _arguments(i: int, text: str) -> list[str]:
    try:
        value = json.loads(text)
    except ValueError:
        return [f"[{i}]: arguments are no JSON"]
    return [] if isinstance(value, dict) else [f"[{i}]: arguments are no object"]


def _has_content(message: Mapping[str, Any]) -> bool:
    content = message.get("content")
    if isinstance(content, str):
        return bool(content.strip())
    return bool(content) and all(
        part.get("type") != "text" or part["text"].strip() for part in content or ()
    )


def _blocks(content: Any) -> list[Mapping[str, Any]]:
    if isinstance(content, str):
        return [{"type": "text", "text": content}]
    return list(content or ())
