"""Runs of smolagents (1.x): the steps of `agent.memory.get_full_steps()`, as a list or in what
`agent.run(..., return_full_result=True).dict()` gives.
"""

import re

from workbench.engine.transcript.message import Json, ToolCall
from workbench.recordings.importers.blocks import content, text_block
from workbench.recordings.importers.chat import ChatBuilder
from workbench.recordings.importers.format import Format
from workbench.recordings.importers.head import Head
from workbench.recordings.importers.message_content import Content
from workbench.recordings.importers.message_lists import message_sessions
from workbench.recordings.importers.tool_calls import tool_calls
from workbench.recordings.importers.usage import OPENAI_USAGE
from workbench.recordings.importers.values import (
    Record,
    as_mapping,
    first_value,
    items,
    label,
    mapping,
    text,
)

LISTS = ("steps",)
ASIDE = (
    "steps.model_input_messages steps.model_output_message steps.action_output output"
    " model_input_messages model_output_message action_output steps.code_action code_action"
)
"""What repeats the steps before, and what a step shows in other forms."""
_CODE = re.compile(r"\s*(?:<code>|```(?:py|python)?\n).*?(?:</code>|```|\Z)", re.DOTALL)


def knows_smolagents(head: Head) -> bool:
    """Whether it is steps with what the model gave, in a list or in a run."""
    if '"model_output"' not in head.text or '"step_number"' not in head.text:
        return False
    return head.is_list or {"steps", "state"} <= head.keys


class SmolagentsBuilder(ChatBuilder):
    """Reads steps: the task, plans, and actions with what was observed after them."""

    def begin(self, document: Record) -> None:
        """Read the system prompt that went into the first action."""
        super().begin(document)
        for step in items(document, "steps"):
            for message in items(as_mapping(step), "model_input_messages"):
                if label(as_mapping(message), "role") == "system":
                    self.say_content("system", content(as_mapping(message)))
                    return

    def read(self, record: Record) -> None:
        """Read one step."""
        self.time = self.source.time(mapping(record, "timing"), "start_time")
        if "system_prompt" in record:
            self.say_text("system", text(record, "system_prompt"))
        elif "task" in record:
            self.say_text("user", text(record, "task"))
        elif "plan" in record:
            plan = text_block(text(record, "plan"))
            self._say_answer(record, Content(list(plan)))
        elif "step_number" in record:
            self._action(record)
        elif "output" not in record:
            self.source.leave_record("step of an unknown kind", record)

    def _action(self, step: Record) -> None:
        """Read an action: code in the text of an answer is the argument of its call."""
        words = label(step, "model_output")
        if label(step, "code_action"):
            words = _CODE.sub("", words).strip()
        calls = tool_calls(step)
        self._say_answer(step, Content([*text_block(words), *calls]))
        self._observed(step, calls)

    def _say_answer(self, step: Record, answer: Content) -> None:
        model = self.source.name(step, "model_output_message/raw/model")
        usage = self.source.usage(OPENAI_USAGE, self._usage(step))
        self.say_content(
            "assistant",
            answer,
            model=model,
            usage=usage,
        )

    def _usage(self, step: Record) -> Record:
        """The provider's report where the step has it whole, else the two sums of the agent."""
        reported: Json = first_value(step, "model_output_message/raw/usage token_usage")
        return as_mapping(reported)

    def _observed(self, step: Record, calls: list[ToolCall]) -> None:
        """Read what came of a step: of several calls, all of it stands in one text."""
        observed = label(step, "observations")
        error = text(mapping(step, "error"), "message")
        for words, failed in ((observed, False), (error, True)):
            if not words:
                continue
            if self.open_calls:
                self.say_result("", text_block(words), failed=failed)
            else:
                self.say_text("user", words, synthetic=True)
        for call in calls[1:]:
            self.open_calls.pop(call.id, None)


SMOLAGENTS = Format(
    name="smolagents",
    description="runs and steps of smolagents (JSON)",
    carries=("calls", "images", "usage", "times", "model", "system"),
    knows=knows_smolagents,
    sessions=message_sessions(SmolagentsBuilder, LISTS),
    aside=ASIDE,
)
