"""A small made-up recording in each format of agents and frameworks whose messages have a shape
of their own.
"""

from __future__ import annotations

import json
from typing import Any

from recordings.importers.framework_samples import FRAMEWORK_DOCUMENTS, FRAMEWORK_LINES

QUESTION = "Why does the lamp in the hall flicker?"
FILE = "VOLTS = 11 and LIMIT = 12"
ANSWER = "It gets 11 volts and needs 12."
SUMMARY = "The lamp flickers since it gets 11 volts."
THOUGHT = "I should look at the file first."


def stream(type_: str, uuid: str, **more: Any) -> dict[str, Any]:
    return {"type": type_, "uuid": uuid, "session_id": "s1", "parent_tool_use_id": None, **more}


def said(role: str, content: Any, **more: Any) -> dict[str, Any]:
    return {"message": {"role": role, "content": content, **more}}


USAGE = {"input_tokens": 3, "cache_read_input_tokens": 90, "output_tokens": 7}
CLAUDE_STREAM: list[dict[str, Any]] = [
    {
        "type": "system",
        "subtype": "init",
        "session_id": "s1",
        "cwd": "/home/me/hall",
        "model": "big",
        "tools": [],
    },
    stream("user", "u1", **said("user", QUESTION)),
    stream(
        "assistant",
        "u2",
        **said(
            "assistant",
            [{"type": "thinking", "thinking": THOUGHT}],
            id="m1",
            model="big",
            usage=USAGE,
        ),
    ),
    stream(
        "assistant",
        "u3",
        **said(
            "assistant",
            [{"type": "tool_use", "id": "t1", "name": "Task", "input": {"prompt": "read it"}}],
            id="m1",
            model="big",
            usage=USAGE,
        ),
    ),
    stream("user", "u4", **said("user", "read it"), parent_tool_use_id="t1"),
    stream(
        "assistant",
        "u5",
        **said("assistant", FILE, id="m2", model="small"),
        parent_tool_use_id="t1",
    ),
    stream(
        "user",
        "u6",
        **said("user", [{"type": "tool_result", "tool_use_id": "t1", "content": FILE}]),
    ),
    {
        "type": "system",
        "subtype": "compact_boundary",
        "session_id": "s1",
        "uuid": "u7",
        "compact_metadata": {"trigger": "auto", "pre_tokens": 900},
    },
    stream("user", "u8", **said("user", SUMMARY), isSynthetic=True),
    stream(
        "assistant",
        "u9",
        **said("assistant", [{"type": "text", "text": ANSWER}], id="m3", model="big", usage=USAGE),
    ),
    {"type": "result", "subtype": "success", "session_id": "s1", "result": ANSWER, "usage": USAGE},
]

GEMINI_LINES: list[dict[str, Any]] = [
    {"sessionId": "g1", "projectHash": "ab", "startTime": "2026-01-01T10:00:00Z", "kind": "main"},
    {
        "$set": {
            "messages": [
                {"id": "m0", "type": "user", "content": [{"text": "<session_context> a house"}]}
            ]
        }
    },
    {
        "id": "m1",
        "timestamp": "2026-01-01T10:00:01Z",
        "type": "user",
        "content": [{"text": QUESTION}],
    },
    {
        "id": "m2",
        "timestamp": "2026-01-01T10:00:02Z",
        "type": "gemini",
        "content": "",
        "model": "flash",
    },
    {
        "id": "m2",
        "timestamp": "2026-01-01T10:00:02Z",
        "type": "gemini",
        "content": "",
        "model": "flash",
        "tokens": {"input": 100, "output": 7, "cached": 60, "thoughts": 5, "tool": 0, "total": 112},
        "toolCalls": [
            {
                "id": "c1",
                "name": "read_file",
                "args": {"path": "lamp.py"},
                "status": "success",
                "result": [
                    {
                        "functionResponse": {
                            "id": "c1",
                            "name": "read_file",
                            "response": {"output": FILE},
                        }
                    }
                ],
            }
        ],
    },
    {
        "id": "r1",
        "type": "user",
        "content": [
            {"functionResponse": {"id": "c1", "name": "read_file", "response": {"output": FILE}}}
        ],
    },
    {"$set": {"lastUpdated": "2026-01-01T10:00:03Z"}},
    {
        "id": "m3",
        "timestamp": "2026-01-01T10:00:04Z",
        "type": "user",
        "content": [{"text": "no, the other lamp"}],
    },
    {"$rewindTo": "m3"},
    {
        "$set": {
            "messages": [
                {
                    "id": "k1",
                    "timestamp": "2026-01-01T10:00:05Z",
                    "type": "user",
                    "content": [{"text": SUMMARY}],
                },
                {"id": "m2", "type": "gemini", "content": ""},
            ]
        }
    },
    {
        "id": "m4",
        "timestamp": "2026-01-01T10:00:06Z",
        "type": "gemini",
        "content": ANSWER,
        "model": "flash",
    },
]


def qwen(type_: str, uuid: str, parent: str | None, **more: Any) -> dict[str, Any]:
    about = {
        "sessionId": "q1",
        "timestamp": "2026-01-01T10:00:00Z",
        "cwd": "/home/me/hall",
        "version": "0.9.0",
    }
    return {"uuid": uuid, "parentUuid": parent, "type": type_, **about, **more}


QWEN_CALL = {"functionCall": {"id": "c1", "name": "read_file", "args": {"path": "lamp.py"}}}
QWEN_RESULT = {"functionResponse": {"id": "c1", "name": "read_file", "response": {"output": FILE}}}
QWEN: list[dict[str, Any]] = [
    qwen("system", "u0", None, subtype="session_model", systemPayload={"modelId": "coder"}),
    qwen("user", "u1", "u0", message={"role": "user", "parts": [{"text": QUESTION}]}),
    qwen(
        "assistant",
        "u2",
        "u1",
        model="coder",
        message={"role": "model", "parts": [{"text": THOUGHT, "thought": True}, QWEN_CALL]},
        usageMetadata={
            "promptTokenCount": 90,
            "candidatesTokenCount": 7,
            "cachedContentTokenCount": 50,
        },
    ),
    qwen(
        "tool_result",
        "u3",
        "u2",
        message={"role": "user", "parts": [QWEN_RESULT]},
        toolCallResult={"callId": "c1"},
    ),
    qwen("system", "u4", "u3", subtype="ui_telemetry", systemPayload={"uiEvent": {}}),
    qwen(
        "assistant",
        "u5",
        "u4",
        model="coder",
        message={"role": "model", "parts": [{"text": "A wrong guess."}]},
    ),
    qwen("system", "u6", "u4", subtype="rewind", systemPayload={"truncatedCount": 1}),
    qwen(
        "system",
        "u7",
        "u6",
        subtype="chat_compression",
        systemPayload={
            "info": {"originalTokenCount": 900, "newTokenCount": 300},
            "compressedHistory": [
                {"role": "user", "parts": [{"text": SUMMARY}]},
                {"role": "model", "parts": [{"text": "Understood."}]},
                {"role": "user", "parts": [QWEN_RESULT]},
            ],
        },
    ),
    qwen(
        "assistant",
        "u8",
        "u7",
        model="coder",
        message={"role": "model", "parts": [{"text": ANSWER}]},
    ),
]

FUNCTION = {
    "id": "c1",
    "type": "function",
    "function": {"name": "read", "arguments": '{"path": "lamp.py"}'},
}
KIMI: list[dict[str, Any]] = [
    {"role": "_system_prompt", "content": "You mend lamps in the whole house."},
    {"role": "_checkpoint", "id": 0},
    {"role": "user", "content": [{"type": "text", "text": QUESTION}]},
    {
        "role": "assistant",
        "content": [{"type": "think", "think": THOUGHT}],
        "tool_calls": [FUNCTION],
    },
    {"role": "_usage", "token_count": 120},
    {"role": "tool", "tool_call_id": "c1", "content": [{"type": "text", "text": FILE}]},
    {"role": "assistant", "content": [{"type": "text", "text": ANSWER}]},
]

HERMES: list[dict[str, Any]] = [
    {
        "role": "session_meta",
        "model": "hermes-4",
        "platform": "cli",
        "tools": [],
        "timestamp": "2026-01-01T10:00:00Z",
    },
    {"role": "user", "content": QUESTION, "timestamp": "2026-01-01T10:00:01Z"},
    {
        "role": "assistant",
        "content": "",
        "reasoning": THOUGHT,
        "finish_reason": "tool_calls",
        "tool_calls": [FUNCTION],
    },
    {"role": "tool", "tool_call_id": "c1", "tool_name": "read", "content": FILE},
    {"role": "user", "content": f"[CONTEXT COMPACTION] {SUMMARY}"},
    {"role": "assistant", "content": ANSWER, "finish_reason": "stop"},
]
HERMES_DOCUMENT: dict[str, Any] = {
    "session_id": "h1",
    "model": "hermes-4",
    "session_start": "2026-01-01T10:00:00Z",
    "system_prompt": "You mend lamps in the whole house.",
    "messages": HERMES[1:],
}


def goose(
    role: str, *content: dict[str, Any], agent: bool = True, user: bool = True
) -> dict[str, Any]:
    shown = {"agentVisible": agent, "userVisible": user}
    return {"role": role, "created": 1767261600, "content": list(content), "metadata": shown}


GOOSE_CALL = {
    "type": "toolRequest",
    "id": "c1",
    "toolCall": {
        "status": "success",
        "value": {"name": "shell", "arguments": {"command": "cat lamp.py"}},
    },
}
GOOSE_RESULT = {
    "type": "toolResponse",
    "id": "c1",
    "toolResult": {
        "status": "success",
        "value": {"content": [{"type": "text", "text": FILE}], "isError": False},
    },
}
GOOSE: list[dict[str, Any]] = [
    {"working_dir": "/home/me/hall", "description": "a lamp", "message_count": 5},
    goose("user", {"type": "text", "text": QUESTION}, agent=False),
    goose("assistant", GOOSE_CALL, agent=False),
    goose("user", GOOSE_RESULT, agent=False),
    goose("user", {"type": "text", "text": SUMMARY}, user=False),
    goose("assistant", {"type": "text", "text": ANSWER}),
    goose(
        "assistant",
        {
            "type": "systemNotification",
            "notificationType": "inlineMessage",
            "msg": "the context is full",
        },
    ),
]

CODEX_EXEC: list[dict[str, Any]] = [
    {"type": "thread.started", "thread_id": "x1"},
    {"type": "turn.started"},
    {"type": "item.completed", "item": {"id": "item_0", "type": "reasoning", "text": THOUGHT}},
    {
        "type": "item.started",
        "item": {"id": "item_1", "type": "command_execution", "command": "cat lamp.py"},
    },
    {
        "type": "item.completed",
        "item": {
            "id": "item_1",
            "type": "command_execution",
            "command": "cat lamp.py",
            "aggregated_output": FILE,
            "exit_code": 0,
            "status": "completed",
        },
    },
    {"type": "item.completed", "item": {"id": "item_2", "type": "agent_message", "text": ANSWER}},
    {
        "type": "item.started",
        "item": {"id": "item_3", "type": "mcp_tool_call", "server": "house", "tool": "light"},
    },
    {
        "type": "turn.completed",
        "usage": {"input_tokens": 100, "cached_input_tokens": 60, "output_tokens": 9},
    },
]

LANGCHAIN_CALL = {"name": "read", "args": {"path": "lamp.py"}, "id": "c1", "type": "tool_call"}
LANGCHAIN: list[dict[str, Any]] = [
    {"type": "system", "content": "You mend lamps in the whole house.", "additional_kwargs": {}},
    {"type": "human", "content": SUMMARY, "additional_kwargs": {"lc_source": "summarization"}},
    {"type": "human", "content": QUESTION, "additional_kwargs": {}},
    {
        "type": "ai",
        "content": [{"type": "tool_use", "id": "c1", "name": "read", "input": {"path": "lamp.py"}}],
        "additional_kwargs": {},
        "response_metadata": {"model_name": "big", "finish_reason": "tool_calls"},
        "tool_calls": [LANGCHAIN_CALL],
        "usage_metadata": {
            "input_tokens": 100,
            "output_tokens": 9,
            "total_tokens": 109,
            "input_token_details": {"cache_read": 60},
        },
    },
    {
        "type": "tool",
        "content": "no such file",
        "tool_call_id": "c1",
        "name": "read",
        "status": "error",
    },
    {"type": "ai", "content": ANSWER, "additional_kwargs": {}, "tool_calls": []},
]

PYDANTIC: list[dict[str, Any]] = [
    {
        "kind": "request",
        "instructions": "Answer in short sentences, please.",
        "parts": [
            {"part_kind": "system-prompt", "content": "You mend lamps in the whole house."},
            {"part_kind": "user-prompt", "content": QUESTION, "timestamp": "2026-01-01T10:00:00Z"},
        ],
    },
    {
        "kind": "response",
        "model_name": "big",
        "usage": {"input_tokens": 100, "cache_read_tokens": 60, "output_tokens": 9},
        "parts": [
            {"part_kind": "thinking", "content": THOUGHT},
            {
                "part_kind": "tool-call",
                "tool_name": "read",
                "args": '{"path": "lamp.py"}',
                "tool_call_id": "c1",
            },
        ],
    },
    {
        "kind": "request",
        "instructions": "Answer in short sentences, please.",
        "parts": [
            {"part_kind": "tool-return", "tool_name": "read", "content": FILE, "tool_call_id": "c1"}
        ],
    },
    {"kind": "response", "model_name": "big", "parts": [{"part_kind": "text", "content": ANSWER}]},
]

VERCEL: list[dict[str, Any]] = [
    {"role": "system", "content": "You mend lamps in the whole house."},
    {"role": "user", "content": [{"type": "text", "text": QUESTION}]},
    {
        "role": "assistant",
        "content": [
            {"type": "reasoning", "text": THOUGHT},
            {
                "type": "tool-call",
                "toolCallId": "c1",
                "toolName": "read",
                "input": {"path": "lamp.py"},
            },
        ],
    },
    {
        "role": "tool",
        "content": [
            {
                "type": "tool-result",
                "toolCallId": "c1",
                "toolName": "read",
                "output": {"type": "error-text", "value": FILE},
            }
        ],
    },
    {"role": "assistant", "content": ANSWER},
]

VERCEL_UI: list[dict[str, Any]] = [
    {"id": "m1", "role": "user", "parts": [{"type": "text", "text": QUESTION}]},
    {
        "id": "m2",
        "role": "assistant",
        "parts": [
            {"type": "step-start"},
            {"type": "reasoning", "text": THOUGHT},
            {
                "type": "tool-read",
                "toolCallId": "c1",
                "state": "output-available",
                "input": {"path": "lamp.py"},
                "output": FILE,
            },
            {"type": "step-start"},
            {"type": "text", "text": ANSWER},
            {"type": "data-weather", "data": {"words": "it rains in the whole of the country"}},
        ],
    },
]

BEDROCK: dict[str, Any] = {
    "system": [{"text": "You mend lamps in the whole house."}],
    "messages": [
        {"role": "user", "content": [{"text": QUESTION}]},
        {
            "role": "assistant",
            "content": [
                {"reasoningContent": {"reasoningText": {"text": THOUGHT, "signature": "x"}}},
                {"toolUse": {"toolUseId": "c1", "name": "read", "input": {"path": "lamp.py"}}},
            ],
        },
        {
            "role": "user",
            "content": [
                {"toolResult": {"toolUseId": "c1", "content": [{"text": FILE}], "status": "error"}}
            ],
        },
        {"role": "assistant", "content": [{"text": ANSWER}]},
    ],
}

GEMINI_CONTENTS: dict[str, Any] = {
    "systemInstruction": {"parts": [{"text": "You mend lamps in the whole house."}]},
    "contents": [
        {"role": "user", "parts": [{"text": QUESTION}]},
        {
            "role": "model",
            "parts": [{"functionCall": {"name": "read", "args": {"path": "lamp.py"}}}],
        },
        {
            "role": "user",
            "parts": [{"functionResponse": {"name": "read", "response": {"output": FILE}}}],
        },
        {"role": "model", "parts": [{"text": ANSWER}]},
    ],
}

SHAREGPT: list[dict[str, Any]] = [
    {
        "id": "one",
        "conversations": [
            {"from": "system", "value": "You mend lamps in the whole house."},
            {"from": "human", "value": QUESTION},
            {
                "from": "function_call",
                "value": '{"name": "read", "arguments": {"path": "lamp.py"}}',
            },
            {"from": "observation", "value": FILE},
            {"from": "gpt", "value": ANSWER},
        ],
    },
    {
        "id": "two",
        "conversations": [
            {"from": "human", "value": QUESTION},
            {
                "from": "gpt",
                "value": (
                    f"<think>{THOUGHT}</think>\n<tool_call>\n"
                    '{"name": "read", "arguments": {"path": "lamp.py"}}\n</tool_call>'
                ),
            },
            {"from": "tool", "value": f"<tool_response>\n{FILE}\n</tool_response>"},
            {"from": "gpt", "value": ANSWER},
        ],
    },
]

ROO: list[dict[str, Any]] = [
    {
        "role": "user",
        "content": [{"type": "text", "text": QUESTION}],
        "ts": 1767261600000,
        "condenseParent": "k1",
    },
    {
        "role": "assistant",
        "content": [
            {"type": "tool_use", "id": "c1", "name": "read_file", "input": {"path": "lamp.py"}}
        ],
        "ts": 1767261601000,
        "modelInfo": {"modelId": "big"},
        "metrics": {"tokens": {"prompt": 100, "completion": 9, "cached": 60}},
    },
    {
        "role": "user",
        "content": [{"type": "tool_result", "tool_use_id": "c1", "content": FILE}],
        "ts": 1767261602000,
    },
    {
        "role": "user",
        "content": [{"type": "text", "text": SUMMARY}],
        "ts": 1767261603000,
        "isSummary": True,
        "condenseId": "k1",
    },
    {"role": "assistant", "content": [{"type": "text", "text": ANSWER}], "ts": 1767261604000},
]

CLAUDE_EXPORT: list[dict[str, Any]] = [
    {
        "uuid": "k1",
        "name": "a lamp",
        "chat_messages": [
            {
                "uuid": "m1",
                "sender": "human",
                "text": QUESTION,
                "created_at": "2026-01-01T10:00:00Z",
                "content": [{"type": "text", "text": QUESTION}],
                "attachments": [{"file_name": "lamp.py", "extracted_content": FILE}],
            },
            {
                "uuid": "m2",
                "sender": "assistant",
                "created_at": "2026-01-01T10:00:01Z",
                "content": [
                    {"type": "thinking", "thinking": THOUGHT},
                    {"type": "tool_use", "id": "c1", "name": "search", "input": {"query": "volts"}},
                    {
                        "type": "tool_result",
                        "tool_use_id": "c1",
                        "content": [{"type": "text", "text": FILE}],
                    },
                    {"type": "text", "text": ANSWER},
                ],
            },
        ],
    }
]


def chatgpt(
    name: str, parent: str | None, role: str, content: dict[str, Any], **more: Any
) -> dict[str, Any]:
    author = {"role": role, "name": more.pop("tool", None)}
    message = {
        "id": name,
        "author": author,
        "content": content,
        "create_time": 1767261600.5,
        "metadata": {},
        **more,
    }
    return {"id": name, "parent": parent, "message": message}


CHATGPT_NODES = [
    chatgpt(
        "m5",
        "m4",
        "assistant",
        {"content_type": "text", "parts": [ANSWER]},
        metadata={"model_slug": "big"},
    ),
    {"id": "root", "parent": None, "message": None},
    chatgpt("m1", "root", "user", {"content_type": "text", "parts": [QUESTION]}),
    chatgpt(
        "m2",
        "m1",
        "assistant",
        {"content_type": "thoughts", "thoughts": [{"summary": "", "content": THOUGHT}]},
    ),
    chatgpt(
        "m3",
        "m2",
        "assistant",
        {"content_type": "code", "text": "read('lamp.py')"},
        recipient="python",
    ),
    chatgpt("m4", "m3", "tool", {"content_type": "execution_output", "text": FILE}, tool="python"),
    chatgpt(
        "m6",
        "m1",
        "assistant",
        {"content_type": "text", "parts": ["A first try that was made again."]},
    ),
]
CHATGPT_EXPORT: list[dict[str, Any]] = [
    {
        "conversation_id": "k1",
        "title": "a lamp",
        "current_node": "m5",
        "mapping": {node["id"]: node for node in CHATGPT_NODES},
    }
]


def constructed(name: str, **given: Any) -> dict[str, Any]:
    return {
        "lc": 1,
        "type": "constructor",
        "id": ["langchain", "schema", "messages", name],
        "kwargs": given,
    }


RUN_CALL = {"name": "read", "args": {"path": "lamp.py"}, "id": "c1", "type": "tool_call"}
RUN_SENT = [constructed("HumanMessage", content=QUESTION)]
RUN_ANSWER = constructed("AIMessage", content="I look.", tool_calls=[RUN_CALL])
RUN_RESULT = constructed("ToolMessage", content=FILE, tool_call_id="c1")


def run(number: int, sent: list[Any], answer: dict[str, Any]) -> dict[str, Any]:
    return {
        "id": f"r{number}",
        "trace_id": "t1",
        "run_type": "llm",
        "start_time": f"2026-01-01T10:00:0{number}Z",
        "inputs": {"messages": [sent]},
        "outputs": {"generations": [[{"text": "", "message": answer}]]},
        "extra": {"metadata": {"ls_model_name": "big"}},
        "prompt_tokens": 100 * number,
        "completion_tokens": 9,
    }


LANGSMITH: list[dict[str, Any]] = [
    {
        "id": "r0",
        "trace_id": "t1",
        "run_type": "chain",
        "inputs": {"question": "why?"},
        "outputs": {},
    },
    run(1, RUN_SENT, RUN_ANSWER),
    run(2, [*RUN_SENT, RUN_ANSWER, RUN_RESULT], constructed("AIMessage", content=ANSWER)),
]

PHOENIX_CALL = {
    "tool_call": {"id": "c1", "function": {"name": "read", "arguments": '{"path": "lamp.py"}'}}
}
PHOENIX_SENT = [
    {
        "message": {
            "role": "user",
            "contents": [{"message_content": {"type": "text", "text": QUESTION}}],
        }
    },
    {"message": {"role": "assistant", "tool_calls": [PHOENIX_CALL]}},
    {"message": {"role": "tool", "content": FILE, "tool_call_id": "c1"}},
]
PHOENIX: dict[str, Any] = {
    "name": "ChatCompletion",
    "span_kind": "LLM",
    "context": {"trace_id": "t1", "span_id": "s1"},
    "start_time": "2026-01-01T10:00:00Z",
    "attributes": {
        "openinference": {"span": {"kind": "LLM"}},
        "llm": {
            "model_name": "big",
            "input_messages": PHOENIX_SENT,
            "output_messages": [{"message": {"role": "assistant", "content": ANSWER}}],
            "token_count": {"prompt": 100, "completion": 9, "prompt_details": {"cache_read": 60}},
        },
    },
}


def in_columns(value: Any) -> Any:
    """Nested attributes of a message as one key each, as a table has them."""
    if isinstance(value, list):
        return [in_columns(inner) for inner in value]
    if not isinstance(value, dict):
        return value
    columns: dict[str, Any] = {}
    for name, inner in value.items():
        shaped = in_columns(inner)
        columns |= (
            {f"{name}.{key}": leaf for key, leaf in shaped.items()}
            if isinstance(shaped, dict)
            else {name: shaped}
        )
    return columns


def mlflow_span(name: str, type_: str, second: int, **values: Any) -> dict[str, Any]:
    attributes = {
        f"mlflow.{key}": json.dumps(value) for key, value in {"spanType": type_, **values}.items()
    }
    start = (1767261600 + second) * 10**9
    return {"name": name, "trace_id": "t1", "start_time_unix_nano": start, "attributes": attributes}


MLFLOW_SENT = {"model": "big", "messages": [{"role": "user", "content": QUESTION}]}
MLFLOW_ANSWER = {"choices": [{"message": {"role": "assistant", "content": ANSWER}}]}
MLFLOW_USAGE = {"chat.tokenUsage": {"input_tokens": 100, "output_tokens": 9}}
MLFLOW: dict[str, Any] = {
    "info": {"trace_id": "tr-1", "state": "OK"},
    "data": {
        "spans": [
            mlflow_span("agent", "AGENT", 0, spanInputs={"question": "why?"}),
            mlflow_span(
                "chat",
                "CHAT_MODEL",
                1,
                spanInputs=MLFLOW_SENT,
                spanOutputs=MLFLOW_ANSWER,
                **MLFLOW_USAGE,
            ),
        ]
    },
}


def kiro_entry(second: int, prompt: dict[str, Any], answer: dict[str, Any]) -> dict[str, Any]:
    place = {"operating_system": "linux", "current_working_directory": "/home/me/hall"}
    return {
        "user": {
            "additional_context": "",
            "env_context": {"env_state": place},
            "content": prompt,
            "timestamp": f"2026-01-01T10:00:{second:02}Z" if "Prompt" in prompt else None,
            "images": None,
        },
        "assistant": answer,
        "request_metadata": {
            "request_start_timestamp_ms": 1_767_261_600_000 + 1_000 * second,
            "stream_end_timestamp_ms": 1_767_261_601_000 + 1_000 * second,
            "model_id": "big",
        },
    }


KIRO_CALL = {
    "id": "c1",
    "name": "dummy",
    "orig_name": "fs_read",
    "args": {},
    "orig_args": {"path": "lamp.py"},
}
KIRO_RESULT = {"tool_use_id": "c1", "content": [{"Text": FILE}], "status": "Success"}
KIRO: dict[str, Any] = {
    "conversation_id": "k1",
    "next_message": None,
    "history": [
        kiro_entry(
            0,
            {"Prompt": {"prompt": QUESTION}},
            {"ToolUse": {"message_id": "a1", "content": "I look.", "tool_uses": [KIRO_CALL]}},
        ),
        kiro_entry(
            5,
            {"ToolUseResults": {"tool_use_results": [KIRO_RESULT]}},
            {"Response": {"message_id": "a2", "content": ANSWER}},
        ),
    ],
    "transcript": [f"> {QUESTION}", ANSWER],
    "latest_summary": [SUMMARY, {"request_id": "r1"}],
    "model_info": {"model_id": "big", "context_window_tokens": 200_000},
}


def kiro_line(kind: str, id: str, *parts: tuple[str, Any], **data: Any) -> dict[str, Any]:
    content = [{"kind": part, "data": value} for part, value in parts]
    return {"version": "v1", "kind": kind, "data": {"message_id": id, "content": content, **data}}


KIRO_LINES: list[dict[str, Any]] = [
    kiro_line("Prompt", "p1", ("text", QUESTION), meta={"timestamp": 1_767_261_600}),
    kiro_line(
        "AssistantMessage",
        "a1",
        ("thinking", {"text": THOUGHT, "signature": "seal", "modelId": "big"}),
        ("text", "I look."),
        ("toolUse", {"toolUseId": "c1", "name": "read", "input": {"path": "lamp.py"}}),
    ),
    kiro_line(
        "ToolResults",
        "r1",
        (
            "toolResult",
            {
                "toolUseId": "c1",
                "content": [{"kind": "text", "data": FILE}],
                "status": "success",
            },
        ),
        results={"c1": {"tool": {"kind": {"BuiltIn": {"Read": {}}}}}},
    ),
    kiro_line("AssistantMessage", "a2", ("text", "One more question for you?")),
    {
        "version": "v1",
        "kind": "Compaction",
        "data": {
            "summary": SUMMARY,
            "strategy": {"message_pairs_to_exclude": 1},
            "messages_snapshot": [],
        },
    },
    kiro_line("Prompt", "p2", ("text", "go on")),
    kiro_line("AssistantMessage", "a3", ("text", ANSWER)),
]
AGENT_DOCUMENTS: dict[str, Any] = {
    "pydantic_ai": PYDANTIC, "vercel": VERCEL, "vercel_ui": VERCEL_UI, "bedrock": BEDROCK,
    "gemini_contents": GEMINI_CONTENTS, "sharegpt": SHAREGPT, "roo_task": ROO, "langchain": LANGCHAIN,
    "claude_export": CLAUDE_EXPORT, "chatgpt_export": CHATGPT_EXPORT, "langsmith": LANGSMITH,
    "kiro": KIRO, **FRAMEWORK_DOCUMENTS,
}  # fmt: skip
AGENT_LINES: dict[str, list[Any]] = {
    "claude_stream": CLAUDE_STREAM, "qwen_code": QWEN, "kimi": KIMI, "hermes": HERMES, "goose": GOOSE,
    "codex_exec": CODEX_EXEC, "kiro_lines": KIRO_LINES, **FRAMEWORK_LINES,
}  # fmt: skip
AGENT_DATABASES = (
    "openai_agents_database",
    "goose_database",
    "crush_database",
    "hermes_database",
    "kiro_database",
)
"""Formats whose recordings `formats/test_agents.py` writes."""
FRAMEWORK_DATABASES = (
    "llm_database",
    "llm_responses",
    "agno_database",
    "adk_database",
    "llama_index_database",
    "langgraph_database",
)
"""Formats whose recordings `formats/test_framework_databases.py` writes."""
STORES = ("cursor_store",)
"""Formats of databases whose recordings a test of that name writes."""
SESSION_FOLDERS = ("strands", "openhands_events")
"""Formats whose recordings `formats/test_session_folders.py` writes."""
