"""How docker-agent asks for a summary, and how the summary stands in its context."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from workbench.compaction.prompt_template import PromptTemplate, prompt
from workbench.transcript.message import Message, SystemMessage, Text, UserMessage

LEAD = "Session Summary: "
_WHOLE = PromptTemplate(result_chars=10**9, argument_chars=10**9)


@dataclass(frozen=True, slots=True)
class Letter:
    """The user prompt, written when it is read: the conversation, what is asked for, and the host's own instruction."""

    messages: tuple[Message, ...]
    additional: str = ""

    def __call__(self) -> str:
        """The prompt."""
        return f"<conversation>\n{_WHOLE.transcript(self.messages)}\n</conversation>\n\n{question(self.additional)}"


def question(additional: str = "") -> str:
    """What is asked for."""
    return prompt("docker_summary") + (f"\n\n{additional}" if additional else "")


def framing(additional: str = "") -> tuple[Message, Message]:
    """System prompt and question as messages, to be counted."""
    return (
        SystemMessage(id="", blocks=(Text(prompt("docker_system")),)),
        UserMessage(id="", blocks=(Text(question(additional)),)),
    )


def left_out(messages: Sequence[Message]) -> str:
    """The note below a summary that says how many messages the summariser did not see; empty for none."""
    n = len(messages)
    return f"\n\n[{n} earlier message{'s' if n > 1 else ''} did not fit into the summariser's window]" if n else ""
