"""What a message says, each text with the form in which it says it."""

from collections.abc import Iterator
from typing import Literal, TypeAlias

from workbench.engine.extraction.statements import tasks
from workbench.engine.transcript.message import Message, Text, ToolCall, ToolResult, argument_texts

Form: TypeAlias = Literal["prose", "result", "command", "file"]
FORMS: tuple[Form, ...] = ("prose", "result", "command", "file")
"""Where a line occurs: in words, a tool's result, a one-line argument of a call, an argument of
several lines.
"""


def texts_by_form(message: Message) -> Iterator[tuple[Form, str]]:
    """What a message says, without thoughts and bare numbers; tasks as ticked boxes."""
    form_of_text: Form = "prose"
    if isinstance(message, ToolResult):
        form_of_text = "result"
    for block in message.blocks:
        if isinstance(block, Text):
            yield form_of_text, block.text
        elif isinstance(block, ToolCall):
            yield from _texts_of_call(block)


def _texts_of_call(call: ToolCall) -> Iterator[tuple[Form, str]]:
    for task, is_done in tasks(call.arguments):
        box = "x" if is_done else " "
        yield "prose", f"[{box}] {task}"
    for text in argument_texts(call.arguments):
        if _is_number(text):
            continue
        if "\n" in text:
            yield "file", text
        else:
            yield "command", text


def _is_number(text: str) -> bool:
    without_points = text.replace(".", "")
    without_marks = without_points.replace(",", "")
    digits = without_marks.strip()
    return digits.isdigit()
