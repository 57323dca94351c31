"""The DDx agent's form of a conversation, and how it cuts texts by bytes."""

from collections.abc import Iterator, Sequence

from workbench.engine.compaction.clip import boundary, byte_length
from workbench.engine.compaction.presets.ddx_agent.cut import (
    PREFIX,
    SUFFIX,
)
from workbench.engine.compaction.prompt_template import PromptTemplate
from workbench.engine.compaction.transcript_text import characters, harmless, json_call
from workbench.engine.transcript.message import (
    Message,
    ToolResult,
    plain_text,
)


class DdxPrompt(PromptTemplate):
    """The DDx agent's form of a conversation, in which each call is in one line with its result."""

    opening = PREFIX
    closing = SUFFIX

    def transcript(self, messages: Sequence[Message], most_chars: int | None = None) -> str:
        """The messages as text."""
        results: dict[str, list[ToolResult]] = {}
        for message in messages:
            if message.role == "tool":
                results.setdefault(message.call_id, []).append(message)
        lines: list[str] = []
        for message in messages:
            lines += self._lines(message, results)
        return "\n".join(lines)

    def _lines(self, message: Message, results: dict[str, list[ToolResult]]) -> Iterator[str]:
        """The lines of one message; the results that they show are taken from `results`."""
        words = plain_text(message)
        result_chars = characters(self.result_chars)
        yield from self._thoughts(message)
        if message.role == "assistant":
            if words:
                yield f"[Assistant]: {self.shown_words(words)}"
            for call in message.calls:
                call_results = results.get(call.id)
                answer = plain_text(call_results.pop(0)) if call_results else ""
                call_text = harmless(json_call(call, characters(self.argument_chars)))
                yield f"[Assistant → {call_text}]: {self.shown_result(answer, result_chars)}"
        elif message.role == "tool":
            unanswered = results.get(message.call_id, [])
            if any(message is result for result in unanswered):
                unanswered.remove(message)
                yield f"[Tool Result]: {self.shown_result(words, result_chars)}"
        else:
            speaker = "System" if message.role == "system" else "User"
            yield f"[{speaker}]: {self.shown_words(words)}"

    def shown_result(self, text: str, chars: int) -> str:
        """A result's text, cut to so many bytes."""
        return harmless(truncated(text, chars))


def first_bytes(text: str, max_bytes: int) -> str:
    """As many whole characters as fit into that many bytes."""
    if byte_length(text) <= max_bytes:
        return text
    encoded = text.encode("utf-8", "surrogatepass")[: max(max_bytes, 0)]
    head = encoded.decode("utf-8", "ignore")
    return text[: boundary(text, len(head))]


def truncated(text: str, max_bytes: int) -> str:
    """The first `most` bytes of a tool result and a line that says how much is missing."""
    if byte_length(text) <= max_bytes:
        return text
    head = first_bytes(text, max_bytes)
    return f"{head}\n[... {byte_length(text) - byte_length(head)} more characters truncated]"
