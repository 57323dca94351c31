"""Trajectories of SWE-agent, before and since its version 1: one JSON document with a history."""

from __future__ import annotations

from collections.abc import Mapping

from workbench.importers.chat import ChatBuilder
from workbench.importers.format import DocumentImporter
from workbench.importers.head import Head
from workbench.importers.values import label, objects, text, texts
from workbench.transcript.message import Json


class SweAgentBuilder(ChatBuilder):
    """Reads turns; the first of a user that is no demonstration is the task, all others are the client's."""

    asked = False

    def read(self, record: Mapping[str, Json]) -> None:
        """Read one turn: a result names its call in a list of one."""
        by_hand = record.get("role") == "user" and not self.asked and record.get("is_demo") is not True
        shaped = {name: record[name] for name in ("role", "content", "tool_calls", "thinking_blocks") if name in record}
        if answered := texts(record, "tool_call_ids"):
            shaped["tool_call_id"] = answered[0]
        if thoughts := objects(record, "thinking_blocks"):
            shaped["reasoning_content"] = "\n".join(text(thought, "thinking") for thought in thoughts)
        self.read_message(shaped, synthetic=not by_hand)
        self.asked = self.asked or by_hand

    def describe(self, document: Mapping[str, Json]) -> None:
        """Read the environment's name."""
        self.title = label(document, "environment")


class SweAgent(DocumentImporter):
    """`.traj` files, old (0.x) and new (1.x)."""

    name = "swe_agent"
    description = "SWE-agent trajectories, old and new (JSON)"
    carries = ("calls", "thinking", "system")
    records, builder = "history", SweAgentBuilder

    def knows(self, head: Head) -> bool:
        """Whether the document has a trajectory with a history or steps."""
        history = {"trajectory", "history"} & head.keys and '"role"' in head.text
        steps = "trajectory" in head.keys and '"observation"' in head.text
        return not head.is_list and bool(history or steps)
