"""Trajectories of SWE-agent (`.traj`), before and since its version 1: one JSON document with a history."""

from __future__ import annotations

from collections.abc import Mapping

from workbench.importers.chat import ChatBuilder
from workbench.importers.values import label, objects, text, texts
from workbench.transcript.message import Json


class SweAgentBuilder(ChatBuilder):
    """Reads turns; the first of a user that is no demonstration is the task, all others are the client's."""

    asked = False

    def read(self, record: Json, *, synthetic: bool = False) -> None:
        """Read one turn: a result names its call in a list of one."""
        by_hand = record.get("role") == "user" and not self.asked and record.get("is_demo") is not True
        shaped = {name: record[name] for name in ("role", "content", "tool_calls") if name in record}
        if answered := texts(record, "tool_call_ids"):
            shaped["tool_call_id"] = answered[0]
        if thoughts := objects(record, "thinking_blocks"):
            shaped["reasoning_content"] = "\n".join(text(thought, "thinking") for thought in thoughts)
        super().read(shaped, synthetic=synthetic or not by_hand)
        self.asked = self.asked or by_hand

    def begin(self, document: Mapping[str, Json]) -> None:
        """Read the environment's name."""
        self.title = label(document, "environment")
