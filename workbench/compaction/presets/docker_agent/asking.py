"""What the summariser is asked: a conversation that fits into its window, and with which settings it answers."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

from workbench.compaction.presets.docker_agent.generation import Generation
from workbench.compaction.presets.docker_agent.tail import first_index_in_budget
from workbench.compaction.presets.docker_agent.wording import Letter, framing
from workbench.compaction.prompt_template import prompt
from workbench.models.model import SummaryRequest
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


def fitted(
    messages: Sequence[Message],
    limit: int,
    generation: Generation,
    additional: str = "",
    counted: Sequence[int] | None = None,
) -> Fitted:
    """The newest of these messages that fit beside the prompts and the answer; none where nothing fits.

    Args:
        messages: what is to be summarised, n messages, earlier summaries among them.
        limit: tokens of the summariser's window.
        generation: of docker-agent.
        additional: the host's own instruction.
        counted: n sizes by the generation's counter, where they are known.
    """
    sizes = tuple(map(generation.count, messages)) if counted is None else counted
    both = list(zip(messages, sizes, strict=True))
    beside = sum(map(generation.count, framing(additional)))
    beside += sum(size for message, size in both if isinstance(message, Summary))
    room = max(limit - generation.cap(limit) - beside, 0)
    said = [(message, size) for message, size in both if not isinstance(message, Summary)]
    whole, known = [message for message, _ in said], [size for _, size in said]
    new = generation.bounded(whole, known, room)
    known = [n if one is old else generation.count(one) for one, old, n in zip(new, whole, known, strict=True)]
    start = first_index_in_budget(new, generation.sizes(new, known), room)
    earlier = tuple(message for message in messages if isinstance(message, Summary))
    return Fitted(earlier, new[start:], new[:start])


def summary_request(
    said: Fitted, most: int, generation: Generation, files: FileOps, additional: str = "", model: str = ""
) -> SummaryRequest:
    """The question, for an answer of at most `most` tokens."""
    return SummaryRequest(
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
class AgentModelSettings:
    """How an agent's model is called."""

    model: str = ""
    max_tokens: int | None = None
    structured_output: Mapping[str, Json] | None = None
    temperature: float | None = None


def cloned(agents: AgentModelSettings, limit: int, generation: Generation, dedicated: str = "") -> AgentModelSettings:
    """The same for a summary: without structured output, and with the cap; a dedicated model goes before."""
    return replace(agents, model=dedicated or agents.model, max_tokens=generation.cap(limit), structured_output=None)
