"""What the summariser is asked: a conversation that fits into its window, and with which settings it answers."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

from workbench.compaction.presets.docker_agent.generation import Generation
from workbench.compaction.presets.docker_agent.tail import first_index_in_budget
from workbench.compaction.presets.docker_agent.wording import Letter, framing
from workbench.compaction.wording import prompt
from workbench.models.model import Ask
from workbench.transcript.files import FileOps
from workbench.transcript.message import Json, Message, Summary


@dataclass(frozen=True, slots=True)
class Fitted:
    """What the summariser reads, and what did not fit: the oldest messages.

    Attributes:
        earlier: earlier summaries, which always fit before other messages.
    """

    earlier: tuple[Summary, ...]
    messages: tuple[Message, ...]
    dropped: tuple[Message, ...]


def fitted(messages: Sequence[Message], limit: int, generation: Generation, additional: str = "") -> Fitted:
    """The newest of these messages that fit beside the prompts and the answer; none where nothing fits.

    Args:
        messages: what is to be summarised, earlier summaries among it.
        limit: tokens of the summariser's window.
        generation: of docker-agent.
        additional: the host's own instruction.
    """
    earlier = tuple(message for message in messages if isinstance(message, Summary))
    beside = sum(map(generation.count, (*framing(additional), *earlier)))
    room = max(limit - generation.cap(limit) - beside, 0)
    new = generation.bounded([message for message in messages if not isinstance(message, Summary)], room)
    start = first_index_in_budget(new, generation.sizes(new), room)
    return Fitted(earlier, new[start:], new[:start])


def ask(said: Fitted, most: int, generation: Generation, files: FileOps, additional: str = "", model: str = "") -> Ask:
    """The question, for an answer of at most `most` tokens."""
    return Ask(
        purpose="update" if said.earlier else "summary",
        system=prompt("docker_system"),
        write=Letter((*said.earlier, *said.messages), additional),
        messages=said.messages,
        previous="\n\n".join(summary.text for summary in said.earlier),
        instructions=additional,
        files=files,
        max_tokens=most,
        if_empty="",
        count=generation.count,
        model=model,
    )


@dataclass(frozen=True, slots=True)
class ModelSettings:
    """How an agent's model is called."""

    model: str = ""
    max_tokens: int | None = None
    structured_output: Mapping[str, Json] | None = None
    temperature: float | None = None


def cloned(agents: ModelSettings, limit: int, generation: Generation, dedicated: str = "") -> ModelSettings:
    """The same for a summary: without structured output, and with the cap; a dedicated model goes before."""
    return replace(agents, model=dedicated or agents.model, max_tokens=generation.cap(limit), structured_output=None)
