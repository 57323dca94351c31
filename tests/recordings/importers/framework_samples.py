"""A small made-up recording in each format of frameworks and of streams that real programs wrote
in the same shape.
"""

from __future__ import annotations

from typing import Any

QUESTION = "Why does the lamp in the hall flicker?"
FILE = "VOLTS = 11 and LIMIT = 12"
ANSWER = "It gets 11 volts and needs 12."
THOUGHT = "I should look at the file first."
SUMMARY = "The lamp flickers since it gets 11 volts."
PROMPT = "You mend lamps in the whole house."
CALL = {"id": "c1", "name": "read", "arguments": '{"path": "lamp.py"}'}
OPENAI_CALL = {"id": "c1", "type": "function", "function": {**CALL}}
FIGURES = {
    "prompt_tokens": 100,
    "completion_tokens": 9,
    "prompt_tokens_details": {"cached_tokens": 60},
}


def kimi(type_: str, **more: Any) -> dict[str, Any]:
    return {"type": type_, "agentId": "main", "time": 1767261600000, **more}


def kimi_said(words: str, kind: str) -> dict[str, Any]:
    content = [{"type": "text", "text": words}]
    message = {"role": "user", "content": content, "toolCalls": [], "origin": {"kind": kind}}
    return kimi("context.append_message", message=message)


def kimi_step(type_: str, **more: Any) -> dict[str, Any]:
    return kimi("context.append_loop_event", event={"type": type_, "turnId": "0", **more})


KIMI_USAGE = {"inputOther": 40, "output": 9, "inputCacheRead": 60, "inputCacheCreation": 0}
KIMI_CODE: list[dict[str, Any]] = [
    {"type": "metadata", "protocol_version": "1.5", "created_at": 1767261600000},
    kimi("profile.bind", systemPrompt=PROMPT, profileName="agent"),
    kimi("turn.prompt", input=[{"type": "text", "text": QUESTION}]),
    kimi_said(QUESTION, "user"),
    kimi_said("<system-reminder>\nIt is Thursday today.\n</system-reminder>", "injection"),
    kimi("llm.request", model="big", kind="loop"),
    kimi_step("step.begin"),
    kimi_step("content.part", part={"type": "think", "think": THOUGHT}),
    kimi_step("tool.call", toolCallId="c1", name="Read", args={"path": "lamp.py"}),
    kimi_step("tool.result", toolCallId="c1", result={"output": FILE, "note": "<system>1 line read.</system>"}),
    kimi_step("step.end", finishReason="tool_use", usage=KIMI_USAGE),
    kimi("full_compaction.begin", source="manual"),
    kimi("context.apply_compaction", summary=SUMMARY, contextSummary=SUMMARY, compactedCount=4,
         tokensBefore=900, tokensAfter=90, keptUserMessageCount=1),
    kimi_step("step.begin"),
    kimi_step("content.part", part={"type": "text", "text": ANSWER}),
    kimi_step("step.end", finishReason="end_turn", usage=KIMI_USAGE),
]  # fmt: skip


def gemini(type_: str, **more: Any) -> dict[str, Any]:
    return {"type": type_, "timestamp": "2026-01-01T10:00:00Z", **more}


GEMINI_STREAM: list[dict[str, Any]] = [
    gemini("init", session_id="g1", model="flash"),
    gemini("message", role="user", content=QUESTION),
    gemini("message", role="assistant", content="I look ", delta=True),
    gemini("message", role="assistant", content="at it.", delta=True),
    gemini("tool_use", tool_name="read_file", tool_id="c1", parameters={"path": "lamp.py"}),
    gemini("tool_result", tool_id="c1", status="success", output=FILE),
    gemini("message", role="assistant", content=ANSWER, delta=True),
    gemini("result", status="success", stats={"input_tokens": 100, "output_tokens": 9}),
]


def droid(type_: str, **more: Any) -> dict[str, Any]:
    return {"type": type_, "session_id": "d1", "timestamp": 1767261600000, **more}


DROID_CALL = {"id": "c1", "toolName": "Read", "parameters": {"path": "lamp.py"}}
DROID_STREAM: list[dict[str, Any]] = [
    droid("system", subtype="init", cwd="/house", model="big", tools=["Read"]),
    droid("message", role="user", id="u1", text=QUESTION),
    droid("reasoning", id="r1", text=THOUGHT),
    droid("message", role="assistant", id="a1", text="I look at it."),
    droid("tool_call", messageId="a1", toolId="Read", **DROID_CALL),
    droid("tool_result", messageId="a2", toolId="Read", id="c1", isError=False, value=FILE),
    droid("message", role="assistant", id="a3", text=ANSWER),
    droid("completion", finalText=ANSWER, numTurns=2, usage={"input_tokens": 100}),
]


def smolagents_step(number: int, words: str, **more: Any) -> dict[str, Any]:
    sent = [{"role": "system", "content": [{"type": "text", "text": PROMPT}]}]
    return {
        "step_number": number,
        "timing": {"start_time": 1767261600.5},
        "model_input_messages": sent,
        "model_output": words,
        "model_output_message": {"role": "assistant", "raw": {"model": "big", "usage": FIGURES}},
        "token_usage": {"input_tokens": 100, "output_tokens": 9},
        **more,
    }


SMOLAGENTS_CODE = "answer = open('lamp.py').read()"
SMOLAGENTS_CALL = {
    "id": "c2",
    "type": "function",
    "function": {"name": "python_interpreter", "arguments": SMOLAGENTS_CODE},
}
SMOLAGENTS: dict[str, Any] = {
    "output": ANSWER,
    "state": "success",
    "steps": [
        {"task": QUESTION, "task_images": None},
        {"plan": f"Plan: {THOUGHT}", "timing": {"start_time": 1767261600.1}},
        smolagents_step(1, "I look at it.", tool_calls=[OPENAI_CALL], observations=FILE),
        smolagents_step(
            2,
            f"{THOUGHT}\n<code>\n{SMOLAGENTS_CODE}\n</code>",
            code_action=SMOLAGENTS_CODE,
            tool_calls=[SMOLAGENTS_CALL],
            observations=FILE,
        ),
        smolagents_step(3, ANSWER, is_final_answer=True),
    ],
}


def autogen(type_: str, content: Any, **more: Any) -> dict[str, Any]:
    return {
        "type": type_,
        "source": "lamp",
        "content": content,
        "created_at": "2026-01-01T10:00:00Z",
        **more,
    }


AUTOGEN_USAGE = {"prompt_tokens": 100, "completion_tokens": 9}
AUTOGEN: dict[str, Any] = {
    "messages": [
        {**autogen("TextMessage", QUESTION), "source": "user"},
        autogen("ThoughtEvent", THOUGHT),
        autogen("ToolCallRequestEvent", [CALL], models_usage=AUTOGEN_USAGE),
        autogen(
            "ToolCallExecutionEvent",
            [{"content": FILE, "name": "read", "call_id": "c1", "is_error": False}],
        ),
        autogen("TextMessage", ANSWER, models_usage=AUTOGEN_USAGE),
    ],
    "stop_reason": "Maximum number of messages 6 reached",
}
AUTOGEN_AGENT: dict[str, Any] = {
    "type": "AssistantAgentState",
    "llm_context": {
        "messages": [
            {"type": "UserMessage", "source": "user", "content": QUESTION},
            {"type": "AssistantMessage", "source": "lamp", "content": [CALL], "thought": THOUGHT},
            {
                "type": "FunctionExecutionResultMessage",
                "content": [{"content": FILE, "call_id": "c1"}],
            },
            {"type": "AssistantMessage", "source": "lamp", "content": ANSWER, "thought": None},
        ]
    },
}
AUTOGEN_TEAM: dict[str, Any] = {
    "type": "TeamState",
    "agent_states": {
        "lamp": {"type": "ChatAgentContainerState", "agent_state": AUTOGEN_AGENT},
        "judge": {"type": "ChatAgentContainerState", "agent_state": AUTOGEN_AGENT},
        "Manager": {"type": "RoundRobinManagerState", "message_thread": []},
    },
}


def weave(number: int, sent: list[Any], answer: dict[str, Any]) -> dict[str, Any]:
    return {
        "project_id": "me/house",
        "id": f"k{number}",
        "trace_id": "t1",
        "op_name": "weave:///me/house/op/openai.chat.completions.create:abc",
        "started_at": f"2026-01-01T10:00:0{number}Z",
        "inputs": {"messages": sent, "model": "big"},
        "output": {"choices": [{"message": answer}], "model": "big", "usage": FIGURES},
    }


WEAVE_SENT = [{"role": "system", "content": PROMPT}, {"role": "user", "content": QUESTION}]
WEAVE_CALL = {"role": "assistant", "content": "I look at it.", "tool_calls": [OPENAI_CALL]}
WEAVE_RESULT = {"role": "tool", "tool_call_id": "c1", "content": FILE}
WEAVE: list[dict[str, Any]] = [
    weave(1, WEAVE_SENT, WEAVE_CALL),
    {**weave(2, [], {}), "inputs": {"path": "lamp.py"}, "output": FILE},
    weave(3, [*WEAVE_SENT, WEAVE_CALL, WEAVE_RESULT], {"role": "assistant", "content": ANSWER}),
]

GROK: list[dict[str, Any]] = [
    {"type": "system", "content": PROMPT},
    {
        "type": "user",
        "content": [
            {"type": "text", "text": "<user_info>\nThe house has two floors.\n</user_info>"}
        ],
        "synthetic_reason": "environment_context",
    },
    {"type": "user", "content": [{"type": "text", "text": QUESTION}], "prompt_index": 0},
    {"type": "reasoning", "id": "r1", "summary": [{"type": "summary_text", "text": THOUGHT}]},
    {"type": "assistant", "content": "I look.", "tool_calls": [CALL], "model_id": "grok"},
    {"type": "tool_result", "tool_call_id": "c1", "content": FILE},
    {"type": "assistant", "content": ANSWER, "model_id": "grok"},
]


def llama_index(role: str, *blocks: dict[str, Any], **beside: Any) -> dict[str, Any]:
    """A message of LlamaIndex."""
    return {"role": role, "additional_kwargs": beside, "blocks": list(blocks)}


def words(text: str) -> dict[str, Any]:
    """A block of text."""
    return {"block_type": "text", "text": text}


LLAMA_CALL = {
    "block_type": "tool_call",
    "tool_call_id": "c1",
    "tool_name": "read",
    "tool_kwargs": '{"path": "lamp.py"}',
}
LLAMA_INDEX = [
    llama_index("user", words(QUESTION)),
    llama_index(
        "assistant",
        {"block_type": "thinking", "content": THOUGHT},
        LLAMA_CALL,
        tool_calls=[OPENAI_CALL],
    ),
    llama_index("tool", words(FILE), tool_call_id="c1"),
    llama_index("assistant", words(ANSWER)),
]


def muse(second: int, run: str, kind: str, **more: Any) -> dict[str, Any]:
    return {
        "schema_version": 1,
        "id": f"rec-{second}",
        "stream": {"kind": "session", "id": "u1"},
        "sequence": second,
        "recorded_at": 1_767_261_600_000_000 + 1_000_000 * second,
        "payload_type": "runtime.session",
        "payload": {"kind": "run", "run_id": run, "event": {"kind": kind, **more}},
    }


MUSE_USAGE = {"input_tokens": 100, "output_tokens": 9, "cached_tokens": 60, "reasoning_tokens": 4}
MUSE_CALL = {"id": "fc_1", "call_id": "c1", "name": "read_file", "args": '{"path": "lamp.py"}'}
MUSE_RESULT = {"tool_call_index": 0, "tool_call_id": "c1", "text": FILE}
MUSE: list[dict[str, Any]] = [
    {
        **muse(0, "", ""),
        "payload_type": "runtime.session.metadata",
        "payload": {
            "kind": "metadata",
            "record": {"model_id": "muse-spark", "workspace_root": "/home/me/hall"},
        },
    },
    muse(1, "r1", "started", prompt=QUESTION),
    muse(2, "r1", "reasoning_committed", response_id="s1", text=THOUGHT, encrypted_content="seal"),
    muse(3, "r1", "model_completed", usage=MUSE_USAGE, model="muse-spark"),
    muse(4, "r1", "assistant_tool_calls_committed", response_id="s1", tool_calls=[MUSE_CALL]),
    muse(5, "r1", "tool_result_batch_committed", results=[MUSE_RESULT]),
    muse(6, "r1", "assistant_message_committed", response_id="s2", text=ANSWER),
    muse(7, "r1", "model_completed", usage=MUSE_USAGE, model="muse-spark"),
    muse(8, "r1", "terminal", terminal="completed", reason=None),
]
FRAMEWORK_DOCUMENTS: dict[str, Any] = {
    "smolagents": SMOLAGENTS,
    "autogen": AUTOGEN,
    "weave": WEAVE,
    "llama_index": LLAMA_INDEX,
}


def managed(number: int, type_: str, **more: Any) -> dict[str, Any]:
    """An event of a session of Claude's managed agents."""
    time = f"2026-01-01T10:00:{number:02}Z"
    return {"id": f"sevt_{number}", "type": type_, "processed_at": time, **more}


def spoken(words: str) -> list[dict[str, Any]]:
    return [{"type": "text", "text": words}]


MANAGED_USAGE = {"input_tokens": 3, "cache_read_input_tokens": 90, "output_tokens": 7}
MANAGED_AGENTS: list[dict[str, Any]] = [
    managed(1, "session.status_running"),
    managed(2, "user.message", content=spoken("Why does the lamp in the hall flicker?")),
    managed(3, "span.model_request_start"),
    managed(4, "agent.thinking"),
    managed(5, "agent.message", content=spoken("I look at the file first.")),
    managed(6, "agent.tool_use", name="read", input={"path": "lamp.py"}),
    managed(
        7,
        "span.model_request_end",
        model_request_start_id="sevt_3",
        model_usage=MANAGED_USAGE,
    ),
    managed(
        8,
        "agent.tool_result",
        tool_use_id="sevt_6",
        content=spoken("VOLTS = 11 and LIMIT = 12"),
    ),
    managed(9, "agent.thread_context_compacted"),
    managed(10, "span.model_request_start"),
    managed(11, "agent.message", content=spoken("It gets 11 volts and needs 12.")),
    managed(12, "span.model_request_end", model_usage=MANAGED_USAGE),
    managed(13, "session.status_idle", stop_reason={"type": "end_turn"}),
]
FRAMEWORK_LINES: dict[str, list[Any]] = {
    "managed_agents": MANAGED_AGENTS,
    "kimi_code": KIMI_CODE,
    "muse": MUSE,
    "gemini_stream": GEMINI_STREAM,
    "droid_stream": DROID_STREAM,
    "grok": GROK,
}
