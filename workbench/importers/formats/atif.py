"""Trajectories in the Agent Trajectory Interchange Format of Harbor: one JSON document of steps.

Source: laude-institute/harbor, docs/rfcs/0001-trajectory-format.md, versions 1.0 to 1.7.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

from workbench.errors import FormatError
from workbench.importers.blocks import arguments, content, result_blocks, thought_block
from workbench.importers.format import DocumentImporter
from workbench.importers.head import Head
from workbench.importers.session_builder import SessionBuilder
from workbench.importers.source import Source
from workbench.importers.usage import OPENAI_USAGE
from workbench.importers.values import identifier, mapping, objects, text, timestamp
from workbench.transcript.message import AnswerBlock, Json, ToolCall

USAGE = replace(OPENAI_USAGE, cache_read=(*OPENAI_USAGE.cache_read, "cached_tokens"))


class AtifBuilder(SessionBuilder):
    """Reads steps of the system, the user and the agent, each with what was observed after it."""

    def __init__(self, source: Source) -> None:
        super().__init__(source)
        self.agent: Mapping[str, Json] = {}

    def begin(self, document: Mapping[str, Json]) -> None:
        """Read what is known of the agent."""
        self.agent = mapping(document, "agent")

    def read(self, record: Mapping[str, Json]) -> None:
        """Read one step."""
        self.model = text(self.agent, "model_name")
        self.time, speaker = timestamp(record, "timestamp"), text(record, "source")
        step_id = f"step-{identifier(record, 'step_id')}" if record.get("step_id") is not None else ""
        found = content(record, "message")
        self.source.unknown.update(found.unknown)
        calls: list[str] = []
        if speaker == "agent":
            calls = self._answer(record, step_id, found.blocks)
        elif speaker == "system" and not len(self.log):
            self.system(found.said, id=step_id)
        elif speaker in ("user", "system"):
            self.user(found.said, id=step_id, synthetic=speaker == "system")
        else:
            raise FormatError(f"unknown source {speaker!r}; known sources are agent, system and user", field="source")
        self._observed(mapping(record, "observation"), calls)

    def _answer(self, step: Mapping[str, Json], step_id: str, said: list[AnswerBlock]) -> list[str]:
        """Read an agent's step; gives the ids of its calls."""
        blocks = [*thought_block(text(step, "reasoning_content")), *said]
        calls = [
            ToolCall(identifier(call, "tool_call_id"), text(call, "function_name"), arguments(call.get("arguments")))
            for call in objects(step, "tool_calls")
        ]
        model, usage = text(step, "model_name") or self.model, USAGE.read(mapping(step, "metrics"))
        self.assistant([*blocks, *calls], id=step_id, model=model, usage=usage)
        return [call.id for call in calls]

    def _observed(self, observation: Mapping[str, Json], calls: list[str]) -> None:
        """Read what came back: a call's result, or the environment's word where no call is named."""
        left = list(dict.fromkeys(calls))
        for result in objects(observation, "results"):
            blocks = result_blocks(result.get("content"))
            call_id = identifier(result, "source_call_id") or (left[0] if len(left) == 1 else "")
            if call_id in calls:
                left = [one for one in left if one != call_id]
                self.result(call_id, blocks)
            elif blocks:
                self.user(blocks, synthetic=True)

    def describe(self, document: Mapping[str, Json]) -> None:
        """Read the trajectory's id, and the agent's name and model."""
        self.id = identifier(document, "session_id", "trajectory_id")
        self.model, self.title = text(self.agent, "model_name"), text(self.agent, "name")


class Atif(DocumentImporter):
    """`trajectory.json` as Harbor and the agents that follow it write it."""

    name = "atif"
    description = "ATIF trajectories (JSON)"
    carries = ("calls", "thinking", "images", "usage", "times", "model", "system")
    records, builder = "steps", AtifBuilder

    def knows(self, head: Head) -> bool:
        """Whether its schema names itself."""
        return head.is_object_with("schema_version") and '"ATIF-v' in head.text
