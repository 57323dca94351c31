"""An agent on Inspect's model and its compaction that asks its person's questions, and goes on
where it was killed.

Its conversation and Inspect's own state of the compaction are written to a file after each step, as
Inspect's checkpoints are.
"""

from __future__ import annotations

import asyncio
import json
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

from inspect_ai.model import (
    ChatMessage,
    ChatMessageSystem,
    ChatMessageUser,
    Model,
    compaction,
    execute_tools,
    get_model,
)
from inspect_ai.tool import Tool, tool
from pydantic import TypeAdapter

from workbench.live.dropins.inspect_ai import WorkbenchCompaction

MESSAGES: TypeAdapter[list[ChatMessage]] = TypeAdapter(list[ChatMessage])


@tool
def read_part() -> Tool:
    async def execute(part: int) -> str:
        """Read a part.

        Args:
            part: Its number.
        """
        lines = [f"part {part}, line {n}: nothing of note" for n in range(20)]
        return "\n".join([*lines, f"limit = {part + 7000}"])

    return execute


class Steps:
    """A checkpointer that keeps the newest step in a file."""

    def __init__(self, file: Path | None) -> None:
        self._file = file
        self._tracked: dict[str, Callable[[], Any]] = {}
        self.messages: list[ChatMessage] = [ChatMessageSystem(content="Read each part.")]
        self._saved: dict[str, Any] = {}
        if file is not None and file.exists():
            self._saved = json.loads(file.read_text())
            self.messages = MESSAGES.validate_python(self._saved["messages"])

    def track(self, name: str, callback: Callable[[], Any], initial_value: Any) -> Any:
        self._tracked[name] = callback
        if name in self._saved:
            return type(initial_value).model_validate(self._saved[name])
        return initial_value

    def save(self) -> None:
        if self._file is None:
            return
        step = {name: value().model_dump(mode="json") for name, value in self._tracked.items()}
        step["messages"] = MESSAGES.dump_python(self.messages, mode="json")
        new = self._file.with_suffix(".new")
        new.write_text(json.dumps(step))
        new.replace(self._file)


def made(url: str) -> Model:
    """A model that counts four characters a token; Inspect's own counter is fetched from a
    network.
    """
    model = get_model("openai-api/local/stub", base_url=url, api_key="none", memoize=False)

    async def quarter(text: str) -> int:
        return len(text) // 4

    setattr(model.api, "count_text_tokens", quarter)  # noqa: B010  # a method of the library's
    return model


async def ask(
    model: Model, strategy: WorkbenchCompaction, parts: int, file: Path | None = None
) -> list[ChatMessage]:
    """The conversation after so many questions, those that it has already left out."""
    steps = Steps(file)
    messages = steps.messages
    tools = [read_part()]
    compact = compaction(strategy, messages[:1], tools, model, steps)
    for part in range(sum(message.role == "user" for message in messages), parts + 1):
        if messages[-1].role in ("system", "assistant"):
            if part == parts:
                break
            messages.append(ChatMessageUser(content=f"What is the limit in part {part}?"))
        while messages[-1].role != "assistant" or messages[-1].tool_calls:
            sent, extra = await compact.compact_input(messages)
            assert extra is None
            output = await model.generate(sent, tools)
            await compact.record_output(sent, output)
            messages.append(output.message)
            messages += (await execute_tools(messages, tools)).messages
            steps.save()
    return messages


if __name__ == "__main__":
    url, folder, preset, parts = sys.argv[1:]
    strategy = WorkbenchCompaction(preset, threshold=1_600, model="extractive")
    asyncio.run(ask(made(url), strategy, int(parts), Path(folder) / "steps.json"))
