"""Sessions of Continue, the editor's and the command line's: documents under `~/.continue/sessions`.

Source: continuedev/continue, core/index.d.ts (ChatHistoryItem).
"""

from __future__ import annotations

from collections.abc import Mapping

from workbench.importers.blocks import text_block
from workbench.importers.chat import ChatBuilder
from workbench.importers.usage import UsageFields
from workbench.importers.values import block_texts, mapping, objects, text
from workbench.transcript.message import Json, ToolResult, Usage

USAGE = UsageFields(
    "promptTokens", "completionTokens", "promptTokensDetails/cachedTokens", "promptTokensDetails/cacheWriteTokens"
)
FAILED = frozenset({"errored", "canceled"})


class ContinueBuilder(ChatBuilder):
    """Reads items: a message, what was attached to it, and the states of its calls."""

    def begin(self, document: Mapping[str, Json]) -> None:
        """Read the session's id, its title, its folder and its model."""
        self.id, self.title = text(document, "sessionId"), text(document, "title")
        self.cwd = text(document, "workspaceDirectory").removeprefix("file://")
        self.model = text(document, "chatModelTitle")

    def read(self, record: Mapping[str, Json], *, synthetic: bool = False) -> None:
        """Read one item. A thought is a message of its own; a summary stands for all before it and the item itself."""
        message = mapping(record, "message")
        attached = "\n\n".join(text(item, "content") for item in objects(record, "contextItems"))
        if attached:
            self.say_text("user", attached, synthetic=True)
        role = text(message, "role")
        if role == "thinking":
            thought = text(message, "content") or block_texts(message, "content")
            message = {"role": "assistant", "content": [{"type": "thinking", "thinking": thought}]}
        shaped = {"tool_calls": message.get("toolCalls"), "tool_call_id": message.get("toolCallId")}
        super().read({**message, **shaped}, synthetic=synthetic)
        for state in objects(record, "toolCallStates"):
            words, failed = (
                "\n".join(text(one, "content") for one in objects(state, "output")),
                text(state, "status") in FAILED,
            )
            if words or failed or text(state, "status") == "done":
                call_id, blocks = text(state, "toolCallId"), tuple(text_block(words))
                self.say(ToolResult(id="", call_id=call_id, blocks=blocks, is_error=failed))
        if summary := text(record, "conversationSummary"):
            self.compaction(summary, kept=self.system_ids)

    def usage(self, record: Mapping[str, Json]) -> Usage | None:
        """The figures of an answer; the input is what was not cached."""
        return USAGE.read(mapping(record, "usage"))
