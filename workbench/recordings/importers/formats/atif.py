"""Trajectories in the Agent Trajectory Interchange Format of Harbor: one JSON document of steps,
`trajectory.json`. In the folder of a trial, the verdict on it stands in `result.json`.

Source: laude-institute/harbor, docs/rfcs/0001-trajectory-format.md, versions 1.0 to 1.7.
"""

from dataclasses import replace
from pathlib import Path
from typing import Any

from workbench.engine.transcript.message import ToolCall, UserMessage
from workbench.recordings.importers.blocks import content, result_blocks, thought_block
from workbench.recordings.importers.chat import ChatBuilder
from workbench.recordings.importers.format import Format, json_document
from workbench.recordings.importers.head import Head
from workbench.recordings.importers.json_text import decodable
from workbench.recordings.importers.tool_calls import tool_calls
from workbench.recordings.importers.usage import OPENAI_USAGE
from workbench.recordings.importers.values import (
    JsonObject,
    Record,
    identifier,
    mapping,
    objects,
    text,
)

USAGE = replace(
    OPENAI_USAGE,
    cache_read=f"{OPENAI_USAGE.cache_read} cached_tokens cache_tokens",
    total="total_tokens extra/total_tokens",
)

MOST_BYTES = 1 << 20
"""Of a file with a verdict."""


class AtifBuilder(ChatBuilder):
    """Reads steps of the system, the user and the agent, each with what was observed after it."""

    about = {"id": "session_id trajectory_id", "model": "agent/model_name", "title": "agent/name"}

    def read(self, record: Record) -> None:
        """Read one step."""
        self.time = self.source.time(record, "timestamp")
        speaker = text(record, "source")
        step_id = ""
        if record.get("step_id") is not None:
            step_id = f"step-{identifier(record, 'step_id')}"
        if self.open_calls and _is_result(record):
            extra = mapping(record, "extra")
            call_id = identifier(extra, "tool_call_id")
            parts = content(record, "message")
            self.say_result(call_id, parts.said, id=step_id)
            return
        parts = content(record, "message")
        calls: list[ToolCall] = []
        fields: dict[str, Any] = {}
        if speaker == "agent":
            role = "assistant"
            calls = tool_calls(record)
            thoughts = thought_block(text(record, "reasoning_content"))
            parts.blocks = [*thoughts, *parts.blocks, *calls]
            fields["model"] = self.source.name(record, "model_name") or self.model
            fields["usage"] = self.source.usage(USAGE, record, "metrics", "usage")
        elif speaker == "system" and not len(self.log):
            role = "system"
        elif speaker in ("user", "system"):
            role = "user"
            fields["synthetic"] = speaker == "system"
        else:
            self.source.leave_record(f"step of source {speaker!r:.40}", record)
            return
        self.say_content(role, parts, id=step_id, **fields)
        self._observed(mapping(record, "observation"), [call.id for call in calls])

    def close(self) -> None:
        """Note the verdict on the trial, where this file is in its folder."""
        result = _result_of_trial(Path(self.source.where))
        if not result:
            return
        self.project = self.source.name(result, "task_name")
        self.time = self.source.time(result, "finished_at")
        rewards = self.source.report(result, "verifier_result/rewards")
        words = [f"{name} {reward}" for name, reward in rewards.items()]
        stopped_by = self.source.name(
            self.source.report(result, "exception_info"), "exception_type"
        )
        if stopped_by:
            words.append(f"stopped by {stopped_by}")
        self.note("verdict", ", ".join(words))

    def _observed(self, observation: Record, call_ids: list[str]) -> None:
        """Read what came back: a call's result, or the environment's word where no call is
        named.
        """
        open_ids = set(call_ids)
        for result in objects(observation, "results"):
            blocks = result_blocks(result.get("content"))
            call_id = identifier(result, "source_call_id")
            if not call_id and len(open_ids) == 1:
                call_id = next(iter(open_ids))
            if call_id in call_ids:
                open_ids.discard(call_id)
                self.say_result(call_id, blocks)
            elif blocks:
                self.say(UserMessage(id="", blocks=blocks, synthetic=True))


def _is_result(step: Record) -> bool:
    """Whether an agent's step says only what it observed, as converters write an agent's results
    that were messages of their own.
    """
    observation = mapping(step, "observation")
    results = objects(observation, "results")
    if step.get("tool_calls") or len(results) != 1:
        return False
    words = step.get("message")
    return bool(words) and words == results[0].get("content")


def _result_of_trial(trajectory: Path) -> JsonObject:
    """What Harbor says of the trial whose trajectory this is; empty where it says nothing."""
    for folder in (trajectory.parent, trajectory.parent.parent):
        file = folder / "result.json"
        if file.is_file() and file.stat().st_size <= MOST_BYTES:
            result = decodable(file.read_text("utf-8", "replace"))
            if isinstance(result, dict) and "verifier_result" in result:
                return result
    return {}


def knows_atif(head: Head) -> bool:
    """Whether it names the version of the schema, or has numbered steps of an agent."""
    if head.is_object_with("schema_version"):
        return '"ATIF-v' in head.text
    is_of_agent = head.is_object_with("agent", "steps")
    return is_of_agent and '"step_id"' in head.text and '"source"' in head.text


ATIF = Format(
    name="atif",
    description="ATIF trajectories (JSON)",
    carries=("calls", "thinking", "images", "usage", "times", "model", "system"),
    knows=knows_atif,
    sessions=json_document("steps", AtifBuilder),
)
