"""SWE-agent's trajectories (`.traj`), before and since version 1: a JSON document with a history."""

import re

from workbench.engine.transcript.message import Json
from workbench.recordings.importers.blocks import text_block
from workbench.recordings.importers.chat import ChatBuilder
from workbench.recordings.importers.format import Format, json_document
from workbench.recordings.importers.head import Head
from workbench.recordings.importers.text_calls import call_parts, function_call_parts
from workbench.recordings.importers.values import (
    JsonObject,
    Record,
    as_mapping,
    items,
    label,
    objects,
    text,
    texts,
)

_FENCE = re.compile(r"(?:```\w*|<command>)\s*\Z")
_FENCE_END = re.compile(r"\A\s*(?:```|</command>)")


class SweAgentBuilder(ChatBuilder):
    """Reads turns; the first of a user that is no demonstration is the task, all others are the
    client's.

    Where the model has no tools, its command stands in its text, and what the command printed is a
    user's turn.
    """

    has_task = False
    has_commands = False
    previous_role = ""

    def begin(self, document: Record) -> None:
        """Read the environment's name, and whether commands stand in the text of answers."""
        self.title = label(document, "environment")
        for turn in items(document, "history"):
            turn = as_mapping(turn)
            is_answer = turn.get("role") == "assistant" and not turn.get("tool_calls")
            if is_answer and label(turn, "action"):
                self.has_commands = True
        self._tell_what_no_turn_has(document)

    def _tell_what_no_turn_has(self, document: Record) -> None:
        """Name the answers and the patch that only the trajectory and its end hold."""
        turns: list[str] = []
        for item in items(document, "history"):
            turn = as_mapping(item)
            thought = label(turn, "thought")
            turns.append(thought.strip())
            content = label(turn, "content")
            turns.append(content.strip())
            if not isinstance(turn.get("content"), list):
                continue
            for part in objects(turn, "content"):
                words = label(part, "text")
                turns.append(words.strip())
        answers = frozenset(turns)
        for item in items(document, "trajectory"):
            step = as_mapping(item)
            answer = label(step, "response")
            answer = answer.strip()
            if answer and answer not in answers:
                self.source.unknown["answer that only the trajectory has"] += 1
        info = as_mapping(document.get("info"))
        self.source.leave_total(info, "model_stats")
        patch = label(info, "submission")
        patch = patch.strip()
        history = "\n".join(turns)
        if patch and patch not in history:
            self.source.unknown["patch that no turn has"] += 1

    def read(self, record: Record) -> None:
        """Read one turn: a result names its call in a list of one."""
        role = label(record, "role")
        self._tell_what_is_out_of_order(role, record)
        if role == "user" and self.open_calls and isinstance(record.get("content"), str):
            blocks = text_block(label(record, "content"))
            self.say_result("", blocks)
            return
        is_task = role == "user" and not self.has_task and record.get("is_demo") is not True
        self.synthetic = not is_task
        super().read(self._shaped(role, record))
        self.has_task = self.has_task or is_task

    def _shaped(self, role: str, record: Record) -> JsonObject:
        """The turn in the shape of a chat API."""
        fields = ("role", "content", "tool_calls")
        message = {name: record[name] for name in fields if name in record}
        call_ids = texts(record, "tool_call_ids")
        if call_ids:
            message["tool_call_id"] = call_ids[0]
        thoughts = objects(record, "thinking_blocks")
        if thoughts:
            words = [text(thought, "thinking") for thought in thoughts]
            message["reasoning_content"] = "\n".join(words)
        if role == "assistant" and not record.get("tool_calls"):
            action = label(record, "action").strip()
            message["content"] = self._with_call(record.get("content"), action)
        return message

    def _tell_what_is_out_of_order(self, role: str, record: Record) -> None:
        """Note turns that are not as answers with a command in their text and what it printed
        follow each other.
        """
        if role == self.previous_role == "assistant":
            self.source.note("follows another answer, with nothing between them", field="role")
        self.previous_role = role
        if role != "assistant" and label(record, "action"):
            self.source.note("stands at a turn that is no answer", field="action")
        is_answer = role == "assistant" and not record.get("tool_calls")
        lacks_action = "action" not in record and self.has_commands
        if is_answer and (lacks_action or not isinstance(record.get("action", ""), str)):
            self.source.note("is no text, so that the answer has no call", field="action")
        if not self.has_commands or record.get("is_demo") is True:
            return
        if role == "user" and self.open_calls and not record.get("content"):
            self.source.unknown["result of a command without its text"] += 1
        if role == "user" and not self.open_calls and self.has_task:
            self.source.note("answers no command", field="content")

    def _with_call(self, words: Json, action: str) -> Json:
        """An answer's content, with the command that ends it as a call: the agent takes it from
        there.
        """
        if not action:
            return words
        if not isinstance(words, str):
            self.source.note(
                "stands beside no text of an answer, so that it is no call", field="action"
            )
            return words
        parts = function_call_parts(words)
        if parts:
            return parts
        start = words.rfind(action)
        text_after = words[start + len(action) :]
        if start < 0 or _FENCE_END.sub("", text_after).strip():
            self.source.note(
                "is not what ends the answer, so its text is read alone", field="action"
            )
            return words
        text_before = _FENCE.sub("", words[:start])
        return call_parts(
            text_before, len(text_before), len(text_before), "bash", {"command": action}
        )


def knows_swe_agent(head: Head) -> bool:
    """Whether it has a history, and beside it a trajectory or turns that name their agent."""
    if head.is_list or {"sessionId", "instance_id"} & head.keys:
        return False
    if "history" not in head.keys or '"role"' not in head.text:
        return False
    return "trajectory" in head.keys or '"agent":' in head.text


SWE_AGENT = Format(
    name="swe_agent",
    description="SWE-agent trajectories, old and new (JSON)",
    carries=("calls", "thinking", "system"),
    knows=knows_swe_agent,
    sessions=json_document("history", SweAgentBuilder),
    aside="trajectory info replay_config environment history.action",
)
