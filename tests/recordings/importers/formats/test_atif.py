"""Trajectories of ATIF whose converter wrote each result as a step of its own, as the one of
OpenClaw's sessions does.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

from recordings.importers.files import document, only

from workbench import AssistantMessage
from workbench.engine.transcript.message import ToolResult, Usage, plain_text


def asked(step: int, *calls: str) -> dict[str, Any]:
    """A step with these calls, whose prompt is told without the cache."""
    return {
        "step_id": step,
        "source": "agent",
        "message": "",
        "reasoning_content": f"I look for the lamp of step {step}.",
        "tool_calls": [
            {"tool_call_id": call, "function_name": "exec", "arguments": {}} for call in calls
        ],
        "metrics": {
            "prompt_tokens": 900,
            "completion_tokens": 9,
            "cached_tokens": 800,
            "extra": {"total_tokens": 1709},
        },
    }


def returned(step: int, words: str, **extra: str) -> dict[str, Any]:
    """A step that says only what it observed."""
    return {
        "step_id": step,
        "source": "agent",
        "message": words,
        "observation": {"results": [{"content": words}]},
        "extra": extra,
    }


STEPS = [
    {"step_id": 1, "source": "user", "message": "Find the lamp."},
    asked(2, "c1", "c2"),
    returned(3, "hall: dark", tool_call_id="c2"),
    returned(4, "no such room"),
    asked(5, "c3"),
    returned(6, "kitchen: bright", tool_call_id="c3"),
]
TRAJECTORY = {"schema_version": "ATIF-v1.6", "agent": {"name": "claw"}, "steps": STEPS}


def test_a_step_that_says_what_it_observed_is_the_result_of_an_open_call(tmp_path: Path) -> None:
    session = only(document(tmp_path, TRAJECTORY))
    roles = [message.role for message in session.messages]
    assert roles == ["user", "assistant", "tool", "tool", "assistant", "tool"]
    results = [message for message in session.messages if isinstance(message, ToolResult)]
    assert [(result.call_id, plain_text(result)) for result in results] == [
        ("c2", "hall: dark"),
        ("c1", "no such room"),
        ("c3", "kitchen: bright"),
    ]


def test_a_total_tells_that_the_prompt_is_without_the_cache(tmp_path: Path) -> None:
    session = only(document(tmp_path, TRAJECTORY))
    answers = [m for m in session.messages if isinstance(m, AssistantMessage)]
    assert [answer.usage for answer in answers] == [Usage(900, 800, 0, 9)] * 2


def test_a_step_without_an_open_call_says_its_words_itself(tmp_path: Path) -> None:
    alone = {**TRAJECTORY, "steps": [STEPS[0], returned(2, "There is no lamp.")]}
    session = only(document(tmp_path, alone))
    assert [message.role for message in session.messages][:2] == ["user", "assistant"]
