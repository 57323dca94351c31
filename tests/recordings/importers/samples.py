"""A small made-up recording in each format that is one document, and in those that no corpus
has.
"""

from __future__ import annotations

import json
from typing import Any

from recordings.importers.agent_samples import AGENT_DOCUMENTS, AGENT_LINES

PNG = "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg=="

OPENCODE: dict[str, Any] = {
    "info": {
        "id": "ses_1",
        "version": "1.4.3",
        "title": "a flag",
        "directory": "/home/me/shop",
        "time": {"created": 1},
    },
    "messages": [
        {
            "info": {"id": "m1", "role": "user", "time": {"created": 1767261600000}},
            "parts": [
                {"type": "text", "text": "add a flag"},
                {"type": "file", "mime": "image/png", "url": f"data:image/png;base64,{PNG}"},
            ],
        },
        {
            "info": {
                "id": "m2",
                "role": "assistant",
                "modelID": "big",
                "finish": "tool-calls",
                "tokens": {
                    "input": 900,
                    "output": 40,
                    "reasoning": 3,
                    "cache": {"read": 8000, "write": 5},
                },
            },
            "parts": [
                {"type": "step-start"},
                {"type": "reasoning", "text": "hm"},
                {
                    "type": "tool",
                    "tool": "read",
                    "callID": "c1",
                    "state": {
                        "status": "completed",
                        "input": {"filePath": "a.ts"},
                        "output": "1: x",
                        "time": {"end": 2},
                    },
                },
                {
                    "type": "tool",
                    "tool": "bash",
                    "callID": "c2",
                    "state": {"status": "error", "input": {}, "error": "no"},
                },
                {
                    "type": "tool",
                    "tool": "bash",
                    "callID": "c3",
                    "state": {"status": "running", "input": {}},
                },
            ],
        },
        {"info": {"id": "m3", "role": "user"}, "parts": [{"type": "compaction", "auto": True}]},
        {
            "info": {
                "id": "m4",
                "role": "assistant",
                "summary": True,
                "modelID": "big",
                "tokens": {"input": 9000},
            },
            "parts": [{"type": "text", "text": "## Goal"}],
        },
        {
            "info": {"id": "m5", "role": "user"},
            "parts": [{"type": "text", "text": "go on", "synthetic": True}],
        },
    ],
}

GEMINI: dict[str, Any] = {
    "sessionId": "s1",
    "projectHash": "abc",
    "startTime": "2026-01-01T10:00:00Z",
    "kind": "main",
    "messages": [
        {
            "id": "u1",
            "timestamp": "2026-01-01T10:00:00Z",
            "type": "user",
            "content": [{"text": "read it"}],
        },
        {
            "id": "g1",
            "timestamp": "2026-01-01T10:00:01Z",
            "type": "gemini",
            "content": "I read",
            "model": "flash",
            "thoughts": [{"subject": "Look", "description": "at it"}],
            "tokens": {
                "input": 100,
                "output": 7,
                "cached": 60,
                "thoughts": 5,
                "tool": 0,
                "total": 112,
            },
            "toolCalls": [
                {
                    "id": "c1",
                    "name": "read_file",
                    "args": {"file_path": "a.md"},
                    "status": "success",
                    "result": [
                        {
                            "functionResponse": {
                                "id": "c1",
                                "name": "read_file",
                                "response": {"output": "# A"},
                            }
                        }
                    ],
                    "resultDisplay": "a long display",
                },
                {
                    "id": "c2",
                    "name": "shell",
                    "args": {},
                    "status": "error",
                    "result": [
                        {
                            "functionResponse": {
                                "id": "c2",
                                "name": "shell",
                                "response": {"error": "denied"},
                            }
                        }
                    ],
                },
            ],
        },
        {
            "id": "i1",
            "timestamp": "2026-01-01T10:00:02Z",
            "type": "info",
            "content": "Request cancelled.",
        },
    ],
}

CLINE: dict[str, Any] = {
    "version": 1,
    "agent": "lead",
    "sessionId": "s1",
    "system_prompt": "be Cline",
    "messages": [
        {
            "role": "user",
            "metadata": {
                "kind": "compaction_summary",
                "summary": "## Goal",
                "tokensBefore": 900,
                "details": {"readFiles": ["a.py"], "modifiedFiles": ["b.py"]},
            },
            "content": [{"type": "text", "text": "Context summary:\n\n## Goal"}],
        },
        {
            "id": "m1",
            "role": "user",
            "ts": 1767261600000,
            "content": [
                {"type": "text", "text": "smaller"},
                {"type": "file", "path": "a.py", "content": "x = 1"},
            ],
        },
        {
            "id": "m2",
            "role": "assistant",
            "ts": 1767261601000,
            "modelInfo": {"id": "big"},
            "metrics": {
                "inputTokens": 100,
                "outputTokens": 7,
                "cacheReadTokens": 60,
                "cacheWriteTokens": 10,
            },
            "content": [
                {"type": "tool_use", "id": "t1", "name": "editor", "input": {"path": "a.py"}}
            ],
        },
        {
            "id": "m3",
            "role": "user",
            "content": [{"type": "tool_result", "tool_use_id": "t1", "content": "ok"}],
        },
    ],
}

ADK: dict[str, Any] = {
    "id": "s1",
    "app_name": "shopping",
    "user_id": "u",
    "state": {},
    "events": [
        {"id": "e0", "author": "model", "timestamp": 1767261600.5, "actions": {"state_delta": {}}},
        {
            "id": "e1",
            "author": "user",
            "timestamp": 1767261601,
            "content": {"role": "user", "parts": [{"text": "a dress"}]},
        },
        {
            "id": "e2",
            "author": "agent",
            "timestamp": 1767261602,
            "usage_metadata": {
                "prompt_token_count": 50,
                "candidates_token_count": 5,
                "cached_content_token_count": 20,
            },
            "content": {
                "role": "model",
                "parts": [
                    {"text": "thinking", "thought": True},
                    {"function_call": {"id": "f1", "name": "search", "args": {"q": "dress"}}},
                ],
            },
        },
        {
            "id": "e3",
            "author": "agent",
            "timestamp": 1767261603,
            "content": {
                "role": "user",
                "parts": [
                    {
                        "function_response": {
                            "id": "f1",
                            "name": "search",
                            "response": {"result": "B0 for $9"},
                        }
                    },
                ],
            },
        },
    ],
}

TAU: list[dict[str, Any]] = [
    {
        "task_id": 4,
        "trial": trial,
        "reward": 0.0,
        "info": {},
        "traj": [
            {"role": "system", "content": "the policy"},
            {"role": "user", "content": "cancel it"},
            {
                "role": "assistant",
                "content": None,
                "tool_calls": [
                    {
                        "id": "c1",
                        "type": "function",
                        "function": {"name": "cancel", "arguments": '{"id": 7}'},
                    }
                ],
            },
            {"role": "tool", "tool_call_id": "c1", "name": "cancel", "content": "done"},
        ],
    }
    for trial in (0, 1)
]

SWE_NEW: dict[str, Any] = {
    "environment": "shop__1",
    "trajectory": [{"action": "ls", "observation": "a.py"}],
    "info": {"exit_status": "submitted"},
    "history": [
        {"role": "system", "content": "rules", "message_type": "system_prompt", "agent": "main"},
        {
            "role": "user",
            "content": [{"type": "text", "text": "fix it"}],
            "message_type": "observation",
            "agent": "main",
        },
        {
            "role": "assistant",
            "content": "I look",
            "thought": "I look",
            "action": "ls",
            "message_type": "action",
            "thinking_blocks": [{"type": "thinking", "thinking": "hm", "signature": "s"}],
            "tool_calls": [
                {
                    "id": "c1",
                    "type": "function",
                    "function": {"name": "bash", "arguments": '{"command": "ls"}'},
                }
            ],
        },
        {
            "role": "tool",
            "content": [{"type": "text", "text": "a.py"}],
            "tool_call_ids": ["c1"],
            "agent": "main",
        },
    ],
}

MINI_SWE: dict[str, Any] = {
    "info": {
        "exit_status": "Submitted",
        "submission": "diff --git a/a.py b/a.py",
        "mini_version": "1.17.3",
    },
    "messages": [
        {"role": "system", "content": "one command an answer", "timestamp": 1767261600.0},
        {"role": "user", "content": "fix the sum", "timestamp": 1767261601.0},
        {
            "role": "assistant",
            "content": "THOUGHT: look\n\n```bash\ncat a.py\n```",
            "timestamp": 1767261602.5,
            "extra": {
                "response": {
                    "model": "big-model",
                    "usage": {
                        "prompt_tokens": 900,
                        "completion_tokens": 40,
                        "prompt_tokens_details": {"cached_tokens": 800},
                        "cache_read_input_tokens": 800,
                    },
                }
            },
        },
        {
            "role": "user",
            "content": "<returncode>1</returncode>\n<output>\nno such file\n</output>",
        },
        {"role": "assistant", "content": "```bash\nls\n```\nor rather\n```bash\nls src\n```"},
        {"role": "user", "content": "Please give exactly one action."},
        {"role": "assistant", "content": "```mswea_bash_command\nls src\n```\nThis lists it."},
        {"role": "user", "content": "<returncode>0</returncode>\n<output>\na.py\n</output>"},
        {"role": "exit", "content": "Submitted"},
    ],
    "trajectory_format": "mini-swe-agent-1",
    "instance_id": "shop__1",
}

SWE_OLD: dict[str, Any] = {
    "environment": "swe_main",
    "trajectory": [],
    "info": {},
    "history": [
        {"role": "system", "content": "rules", "agent": "primary"},
        {"role": "user", "content": "a demonstration", "is_demo": True, "agent": "primary"},
        {"role": "user", "content": "fix it", "agent": "primary"},
        {
            "role": "assistant",
            "content": "look\n```\nls\n```",
            "thought": "look",
            "action": "ls",
            "agent": "primary",
        },
        {"role": "user", "content": "a.py", "agent": "primary"},
    ],
}

RESPONSE = {
    "id": "r1",
    "model": "llama",
    "usage": {"prompt_tokens": 90, "completion_tokens": 9},
    "choices": [
        {
            "message": {
                "role": "assistant",
                "content": "I run both",
                "tool_calls": [
                    {"id": "c1", "function": {"name": "bash", "arguments": '{"command": "ls"}'}},
                    {"id": "c2", "function": {"name": "bash", "arguments": '{"command": "pwd"}'}},
                ],
            }
        }
    ],
}

OPENHANDS: dict[str, Any] = {
    "instance_id": "shop__shop-1",
    "instruction": "fix it",
    "metadata": {"llm_config": {"model": "llama"}},
    "history": [
        {
            "id": 0,
            "source": "agent",
            "action": "system",
            "args": {"content": "be OpenHands", "tools": []},
        },
        {
            "id": 1,
            "source": "user",
            "action": "message",
            "args": {"content": "fix it", "image_urls": None},
        },
        {"id": 2, "source": "user", "action": "recall", "args": {"query": "fix it"}},
        *(
            {
                "id": 3 + i,
                "source": "agent",
                "action": "run",
                "args": {"command": "x", "thought": ""},
                "timestamp": "2026-01-01T10:00:00",
                "tool_call_metadata": {
                    "function_name": "bash",
                    "tool_call_id": f"c{i + 1}",
                    "model_response": RESPONSE,
                },
            }
            for i in range(2)
        ),
        {
            "id": 5,
            "source": "agent",
            "observation": "run",
            "cause": 3,
            "content": "a.py",
            "extras": {"metadata": {"exit_code": 0}},
        },
        {"id": 6, "source": "agent", "observation": "error", "cause": 4, "content": "broken"},
        {
            "id": 7,
            "source": "agent",
            "action": "condensation",
            "args": {"forgotten_event_ids": [1, 3], "summary": "so far"},
        },
        {"id": 8, "source": "user", "action": "message", "args": {"content": "go on"}},
    ],
}

LANGFUSE: dict[str, Any] = {
    "trace": {"id": "t1", "projectId": "p", "name": "weather"},
    "observations": [
        {
            "id": "o2",
            "type": "GENERATION",
            "name": "chat",
            "startTime": "2026-01-01T10:00:05Z",
            "model": "big",
            "usageDetails": {"input": 85, "output": 9},
            "output": {"role": "assistant", "content": "It is sunny."},
            "input": [
                {"role": "user", "content": "the weather?"},
                {
                    "type": "function_call",
                    "call_id": "c1",
                    "name": "weather",
                    "arguments": {"city": "Rome"},
                },
                {"type": "function_call_output", "call_id": "c1", "output": "sunny"},
            ],
        },
        {
            "id": "o1",
            "type": "GENERATION",
            "name": "chat",
            "startTime": "2026-01-01T10:00:01Z",
            "model": "big",
            "usageDetails": {"input": 50, "output": 5},
            "input": '[{"role": "user", "content": "the weather?"}]',
            "output": {
                "output": [
                    {
                        "type": "function_call",
                        "call_id": "c1",
                        "name": "weather",
                        "arguments": '{"city": "Rome"}',
                    },
                ]
            },
        },
        {"id": "o3", "type": "SPAN", "name": "tool", "input": None, "output": None},
    ],
}

INSPECT: dict[str, Any] = {
    "version": 2,
    "status": "success",
    "eval": {"task": "ctf", "model": "openai/big", "created": "2026-01-01T10:00:00Z"},
    "plan": {},
    "samples": [
        {
            "id": "one",
            "epoch": 1,
            "input": "find it",
            "target": "flag",
            "attachments": {"abc": "a very long result"},
            "messages": [
                {"id": "s", "role": "system", "content": "rules"},
                {"id": "u", "role": "user", "content": "find it", "source": "input"},
                {
                    "id": "a",
                    "role": "assistant",
                    "model": "big",
                    "source": "generate",
                    "content": [
                        {"type": "reasoning", "reasoning": "hm"},
                        {"type": "text", "text": "I look"},
                    ],
                    "tool_calls": [
                        {
                            "id": "c1",
                            "function": "bash",
                            "arguments": {"cmd": "ls"},
                            "type": "function",
                        }
                    ],
                },
                {
                    "id": "t",
                    "role": "tool",
                    "tool_call_id": "c1",
                    "function": "bash",
                    "content": "attachment://abc",
                },
                {"id": "k", "role": "user", "content": "so far", "metadata": {"summary": True}},
                {"id": "b", "role": "assistant", "model": "big", "content": "found"},
            ],
            "events": [
                {
                    "event": "model",
                    "output": {
                        "choices": [{"message": {"id": "a", "role": "assistant", "content": ""}}],
                        "usage": {
                            "input_tokens": 10,
                            "output_tokens": 4,
                            "input_tokens_cache_read": 90,
                        },
                    },
                },
                {
                    "event": "compaction",
                    "type": "summary",
                    "tokens_before": 1000,
                    "tokens_after": 100,
                },
            ],
        },
    ],
}

ATIF: dict[str, Any] = {
    "schema_version": "ATIF-v1.4",
    "session_id": "s1",
    "agent": {"name": "harbor", "version": "1", "model_name": "big"},
    "steps": [
        {"step_id": 1, "source": "system", "message": "rules", "timestamp": "2026-01-01T10:00:00Z"},
        {"step_id": 2, "source": "user", "message": "fix it"},
        {
            "step_id": 3,
            "source": "agent",
            "message": "I look",
            "reasoning_content": "hm",
            "tool_calls": [
                {"tool_call_id": "c1", "function_name": "bash", "arguments": {"command": "ls"}},
                {"tool_call_id": "c2", "function_name": "bash", "arguments": {"command": "pwd"}},
            ],
            "observation": {
                "results": [
                    {"source_call_id": "c1", "content": "a.py"},
                    {"source_call_id": "c2", "content": "/"},
                    {"content": "tick"},
                ]
            },
            "metrics": {
                "prompt_tokens": 100,
                "completion_tokens": 7,
                "cached_tokens": 60,
                "cost_usd": 0.1,
            },
        },
    ],
    "final_metrics": {"total_steps": 3},
}


def copilot(type_: str, id: str, parent: str | None, **more: Any) -> dict[str, Any]:
    agent = {"agentId": more.pop("agent")} if "agent" in more else {}
    return {
        "type": type_,
        "id": id,
        "parentId": parent,
        "timestamp": "2026-01-01T10:00:00Z",
        "data": more,
        **agent,
    }


COPILOT: list[dict[str, Any]] = [
    copilot(
        "session.start",
        "e1",
        None,
        sessionId="s1",
        selectedModel="gpt",
        context={"cwd": "/home/me/shop", "repository": "me/shop"},
    ),
    copilot("system.message", "e2", "e1", content="be Copilot", role="system"),
    copilot(
        "user.message", "e3", "e2", content="fix it", transformedContent="<now>today</now>\nfix it"
    ),
    copilot("assistant.turn_start", "e4", "e3", turnId="0"),
    copilot(
        "assistant.message",
        "e5",
        "e4",
        messageId="m",
        content="I look",
        reasoningText="hm",
        outputTokens=9,
        toolRequests=[{"toolCallId": "c1", "name": "bash", "arguments": {"command": "ls"}}],
    ),
    copilot(
        "assistant.usage",
        "e6",
        "e5",
        model="gpt",
        inputTokens=100,
        outputTokens=9,
        cacheReadTokens=60,
    ),
    copilot("tool.execution_start", "e7", "e6", toolCallId="c1", toolName="bash"),
    copilot("assistant.message", "e8", "e7", content="sub agent", agent="sub"),
    copilot(
        "tool.execution_complete",
        "e9",
        "e8",
        toolCallId="c1",
        success=True,
        result={"content": "a.py", "detailedContent": "a.py in full"},
    ),
    copilot(
        "session.compaction_complete",
        "e10",
        "e9",
        success=True,
        preCompactionTokens=900,
        postCompactionTokens=90,
        summaryContent="so far",
    ),
    copilot("user.message", "e11", "e10", content="go on"),
]


def attribute(key: str, value: Any) -> dict[str, Any]:
    kind = "intValue" if isinstance(value, int) else "stringValue"
    return {"key": key, "value": {kind: str(value) if isinstance(value, int) else value}}


def span(
    start: int, sent: list[dict[str, Any]], answer: list[dict[str, Any]], prompt: int
) -> dict[str, Any]:
    return {
        "traceId": "t1",
        "spanId": str(start),
        "name": "chat big",
        "startTimeUnixNano": str(start * 10**9),
        "attributes": [
            attribute("gen_ai.operation.name", "chat"),
            attribute("gen_ai.request.model", "big"),
            attribute("gen_ai.conversation.id", "conv"),
            attribute("gen_ai.usage.input_tokens", prompt),
            attribute("gen_ai.usage.output_tokens", 5),
            attribute("gen_ai.usage.cache_read.input_tokens", prompt // 2),
            attribute(
                "gen_ai.system_instructions", json.dumps([{"type": "text", "content": "rules"}])
            ),
            attribute("gen_ai.input.messages", json.dumps(sent)),
            attribute("gen_ai.output.messages", json.dumps(answer)),
        ],
    }


ASKED = {"role": "user", "parts": [{"type": "text", "content": "the weather?"}]}
CALLED = {
    "role": "assistant",
    "parts": [{"type": "tool_call", "id": "c1", "name": "weather", "arguments": {"city": "Rome"}}],
}
TOLD = {"role": "tool", "parts": [{"type": "tool_call_response", "id": "c1", "response": "sunny"}]}
DONE = {
    "role": "assistant",
    "parts": [{"type": "reasoning", "content": "hm"}, {"type": "text", "content": "It is sunny."}],
}

OTEL: dict[str, Any] = {
    "resourceSpans": [
        {
            "scopeSpans": [
                {
                    "spans": [
                        span(1767261600, [ASKED], [CALLED], 50),
                        span(1767261605, [ASKED, CALLED, TOLD], [DONE], 80),
                    ]
                }
            ]
        },
    ],
}

AMP: dict[str, Any] = {
    "v": 9,
    "id": "T-1",
    "created": 1767261600000,
    "title": "a thread",
    "env": {"initial": {"trees": [{"uri": "file:///home/me/shop"}]}},
    "messages": [
        {
            "role": "user",
            "messageId": 0,
            "content": [{"type": "text", "text": "read it"}],
            "meta": {"sentAt": 1767261600000},
        },
        {
            "role": "assistant",
            "messageId": 1,
            "content": [
                {"type": "tool_use", "id": "t1", "name": "Read", "input": {"path": "a.py"}}
            ],
            "state": {"type": "complete", "stopReason": "tool_use"},
            "usage": {
                "model": "big",
                "maxInputTokens": 168000,
                "inputTokens": 3,
                "outputTokens": 7,
                "cacheCreationInputTokens": 40,
                "cacheReadInputTokens": 900,
                "timestamp": "2026-01-01T10:00:01Z",
            },
        },
        {
            "role": "user",
            "messageId": 2,
            "content": [
                {
                    "type": "tool_result",
                    "toolUseID": "t1",
                    "run": {"status": "done", "result": {"content": "1: x = 1"}},
                },
            ],
        },
        {
            "role": "info",
            "messageId": 3,
            "content": [{"type": "text", "text": "the thread was shared"}],
        },
    ],
}

CONTINUE: dict[str, Any] = {
    "sessionId": "s1",
    "title": "a session",
    "workspaceDirectory": "file:///home/me/shop",
    "history": [
        {"message": {"role": "system", "content": "rules"}, "contextItems": []},
        {
            "message": {"role": "user", "content": "read it"},
            "contextItems": [{"name": "a.py", "description": "a file", "content": "x = 1"}],
        },
        {"message": {"role": "thinking", "content": "hm"}, "contextItems": []},
        {
            "message": {
                "role": "assistant",
                "content": "I look",
                "usage": {
                    "promptTokens": 30,
                    "completionTokens": 7,
                    "promptTokensDetails": {"cachedTokens": 60},
                },
                "toolCalls": [
                    {
                        "id": "c1",
                        "type": "function",
                        "function": {"name": "ls", "arguments": '{"dir": "src"}'},
                    },
                    {"id": "c2", "type": "function", "function": {"name": "rm", "arguments": "{}"}},
                ],
            },
            "contextItems": [],
            "toolCallStates": [
                {
                    "toolCallId": "c1",
                    "status": "done",
                    "output": [{"name": "Tool Result", "content": "a.py"}],
                },
                {"toolCallId": "c2", "status": "canceled"},
            ],
            "conversationSummary": "so far: listed src",
        },
        {"message": {"role": "user", "content": "go on"}, "contextItems": []},
    ],
}

VSCODE_CHAT: dict[str, Any] = {
    "version": 3,
    "sessionId": "s1",
    "customTitle": "a chat",
    "requests": [
        {
            "requestId": "r1",
            "timestamp": 1767261600000,
            "modelId": "copilot/big",
            "message": {"text": "find it"},
            "response": [{"value": "I search. "}, {"kind": "inlineReference"}, {"value": "Found."}],
            "result": {
                "metadata": {
                    "renderedGlobalContext": [{"type": 1, "text": "the system is Linux"}],
                    "renderedUserMessage": [
                        {"type": 1, "text": "<file>a.py</file>\nfind it"},
                        {"type": 3},
                    ],
                    "promptTokens": 500,
                    "outputTokens": 9,
                    "toolCallRounds": [
                        {
                            "id": "round1",
                            "response": "I search.",
                            "toolCalls": [
                                {"id": "c1", "name": "grep", "arguments": '{"query": "it"}'}
                            ],
                        },
                        {"id": "round2", "response": "Found.", "toolCalls": []},
                    ],
                    "toolCallResults": {
                        "c1": {
                            "content": [
                                {
                                    "value": {
                                        "node": {
                                            "children": [
                                                {"text": "1 match"},
                                                {
                                                    "children": [
                                                        {
                                                            "text": "a.py: it",
                                                            "lineBreakBefore": True,
                                                        }
                                                    ]
                                                },
                                            ]
                                        }
                                    }
                                }
                            ]
                        }
                    },
                    "summaries": [
                        {"toolCallRoundId": "round1", "text": "so far", "contextLengthBefore": 480}
                    ],
                }
            },
        },
        {
            "requestId": "r2",
            "message": {"text": "thanks"},
            "response": [{"value": "You are welcome."}],
            "result": {},
        },
    ],
}

RESPONSES: dict[str, Any] = {
    "id": "resp_1",
    "model": "gpt",
    "instructions": "rules",
    "input": [
        {"role": "user", "content": "an old question"},
        {"type": "compaction", "encrypted_content": "gAAAAA"},
        {"type": "message", "role": "user", "content": [{"type": "input_text", "text": "list it"}]},
        {"type": "reasoning", "summary": [{"type": "summary_text", "text": "hm"}]},
        {"type": "function_call", "call_id": "c1", "name": "ls", "arguments": '{"dir": "src"}'},
        {"type": "function_call_output", "call_id": "c1", "output": "a.py"},
    ],
    "output": [
        {
            "type": "message",
            "role": "assistant",
            "content": [{"type": "output_text", "text": "a.py is there"}],
        }
    ],
    "usage": {
        "input_tokens": 100,
        "input_tokens_details": {"cached_tokens": 60},
        "output_tokens": 9,
    },
}

DROID: list[dict[str, Any]] = [
    {"type": "session_start", "id": "s1", "title": "a task", "version": 2, "cwd": "/home/me/shop"},
    {
        "type": "message", "id": "m1", "timestamp": "2026-01-01T10:00:00Z",
        "message": {"role": "user", "content": [{"type": "text", "text": "read it"}]},
    },
    {
        "type": "message", "id": "m2", "timestamp": "2026-01-01T10:00:01Z", "parentId": "m1",
        "message": {"role": "assistant", "content": [{"type": "tool_use", "id": "t1", "name": "Read", "input": {}}]},
    },
    {"type": "todo_state", "id": "d1", "timestamp": "2026-01-01T10:00:01Z", "todos": {"todos": "1. read"}},
    {
        "type": "message", "id": "m3", "timestamp": "2026-01-01T10:00:02Z", "parentId": "m2",
        "message": {"role": "user", "content": [{"type": "tool_result", "tool_use_id": "t1", "content": "x = 1"}]},
    },
    {
        "type": "compaction_state", "id": "k1", "timestamp": "2026-01-01T10:00:03Z", "summaryText": "it was asked",
        "anchorMessage": {"id": "m1", "index": 0}, "removedCount": 1,
    },
    {
        "type": "message", "id": "m4", "timestamp": "2026-01-01T10:00:04Z", "parentId": "m3",
        "message": {"role": "assistant", "content": [{"type": "text", "text": "x is 1"}]},
    },
]  # fmt: skip

CURSOR: list[dict[str, Any]] = [
    {
        "role": "user",
        "message": {"content": [{"type": "text", "text": "<user_query>\nread it\n</user_query>"}]},
    },
    {
        "role": "assistant",
        "message": {
            "content": [
                {"type": "text", "text": "I look"},
                {"type": "tool_use", "name": "Read", "input": {"path": "a.py"}},
            ]
        },
    },
    {"role": "assistant", "message": {"content": [{"type": "text", "text": "done"}]}},
]

WINDSURF: list[dict[str, Any]] = [
    {"status": "done", "type": "user_input", "user_input": {"user_response": "list it"}},
    {"status": "done", "type": "planner_response", "planner_response": {"response": "I look"}},
    {
        "status": "done",
        "type": "run_command",
        "run_command": {
            "command": "ls",
            "cwd": "/home/me/shop",
            "exit_code": 0,
            "output": "a.py",
            "user_rejected": False,
        },
    },
    {"status": "done", "type": "grep_search", "grep_search": {"query": "x", "total_results": 0}},
    {"status": "error", "type": "list_resources", "list_resources": {"server_name": "memory"}},
    {"status": "done", "type": "planner_response", "planner_response": {"response": "one file"}},
]

ANTIGRAVITY: list[dict[str, Any]] = [
    {
        "step_index": 0,
        "source": "USER_EXPLICIT",
        "type": "USER_INPUT",
        "status": "DONE",
        "created_at": "2026-06-25T20:02:49Z",
        "content": "<USER_REQUEST>\nlist it\n</USER_REQUEST>\n<USER_SETTINGS_CHANGE>\nThe user changed setting"
        " `Model Selection` from None to Gemini 3.5 Flash (High). No comment.\n</USER_SETTINGS_CHANGE>",
    },
    {"step_index": 1, "source": "SYSTEM", "type": "CONVERSATION_HISTORY", "status": "DONE"},
    {
        "step_index": 3,
        "source": "MODEL",
        "type": "LIST_DIRECTORY",
        "status": "DONE",
        "created_at": "2026-06-25T20:02:52Z",
        "content": "a.py",
    },
    {
        "step_index": 2,
        "source": "MODEL",
        "type": "PLANNER_RESPONSE",
        "status": "DONE",
        "created_at": "2026-06-25T20:02:50Z",
        "content": "I look",
        "thinking": "a folder",
        "tool_calls": [
            {"name": "list_dir", "args": {"DirectoryPath": '"/home/me/shop"'}},
            {"name": "view_file", "args": {"AbsolutePath": '"/home/me/no.py"'}},
        ],
        "usage": {"input_tokens": 100, "output_tokens": 50, "cached_content_token_count": 20},
    },
    {
        "step_index": 4,
        "source": "MODEL",
        "type": "VIEW_FILE",
        "status": "ERROR",
        "content": "no such file",
    },
    {
        "step_index": 5,
        "source": "SYSTEM",
        "type": "CHECKPOINT",
        "status": "DONE",
        "content": "{{ CHECKPOINT 0 }}\n# USER Objective:\nlist it",
    },
    {
        "step_index": 6,
        "source": "SYSTEM",
        "type": "CHECKPOINT",
        "status": "DONE",
        "content": "{{ CHECKPOINT 1 }}\nthe folder was listed",
    },
    {
        "step_index": 7,
        "source": "MODEL",
        "type": "PLANNER_RESPONSE",
        "status": "DONE",
        "content": "one file",
    },
]

SPECSTORY = """<!-- Generated by SpecStory, Markdown v2.1.0 -->

# 2026-01-01 10:00:00Z

<!-- Claude Code Session s1 (2026-01-01 10:00:00Z) -->

_**User (2026-01-01 10:00:00Z)**_

fix it

---

_**Agent (big 2026-01-01 10:00:01Z)**_

<think><details><summary>Thought Process</summary>
hm
</details></think>

_**Agent (big 2026-01-01 10:00:02Z)**_

I look

_**Agent (big 2026-01-01 10:00:03Z)**_

<tool-use data-tool-type="shell" data-tool-name="Bash"><details>
<summary>Tool use: **Bash**</summary>
List the files

`ls -a`

```text
_**User (2026-01-01 09:00:00Z)**_
a.py
```
</details></tool-use>

---

_**Agent - sidechain (big 2026-01-01 10:00:04Z)**_

<analysis>a summary</analysis>

---

_**User (2026-01-01 10:00:05Z)**_

This session is being continued from a previous conversation that ran out of context.

_**Agent (big 2026-01-01 10:00:06Z)**_

done
"""

AIDER = """
# aider chat started at 2026-01-01 10:00:00

> Main model: big with diff edit format  
> Added a.py to the chat.  

#### fix it  
#### please  

I fix it.

> Tokens: 1.2k sent, 1.0k cache hit, 34 received. Cost: $0.01 message, $0.01 session.  
> Applied edit to a.py  

#### /test pytest  
> == test session ==
1 failed
> == test session ==  

The test fails since it is Monday.

> Tokens: 2,000 sent, 50 received.  

#### /run ls  
> a.py
b.py

# aider chat started at 2026-01-02 10:00:00

#### thanks  

You are welcome.
"""

DOCUMENTS: dict[str, Any] = {
    "opencode": OPENCODE,
    "gemini_cli": GEMINI,
    "cline": CLINE,
    "adk": ADK,
    "tau_bench": TAU,
    "swe_agent": SWE_NEW,
    "mini_swe_agent": MINI_SWE,
    "langfuse": LANGFUSE,
    "inspect_ai": INSPECT,
    "atif": ATIF,
    "otel": OTEL,
    "amp": AMP,
    "continue": CONTINUE,
    "vscode_chat": VSCODE_CHAT,
    "openai_responses": RESPONSES,
    **AGENT_DOCUMENTS,
}
LINES: dict[str, list[Any]] = {
    "openhands": [OPENHANDS],
    "copilot_cli": COPILOT,
    "droid": DROID,
    "cursor": CURSOR,
    "windsurf": WINDSURF,
    "antigravity": ANTIGRAVITY,
    **AGENT_LINES,
}
TEXTS = {"specstory": SPECSTORY, "aider": AIDER}
