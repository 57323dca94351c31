"""Trajectories in the Agent Trajectory Interchange Format of Harbor: one JSON document of steps.

Source: laude-institute/harbor, docs/rfcs/0001-trajectory-format.md, versions 1.0 to 1.7.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import ClassVar

from workbench.errors import FormatError
from workbench.importers.content import arguments, content, result_blocks
from workbench.importers.fields import epoch, inner, known_id, objects, openai_usage, whole, words
from workbench.importers.growth import Growth, main_model, project
from workbench.importers.heads import seen
from workbench.importers.source import Carries, Source, kind
from workbench.transcript.message import (
    AnswerBlock,
    AssistantMessage,
    Json,
    SystemMessage,
    Thinking,
    ToolCall,
    ToolResult,
    UserMessage,
)
from workbench.transcript.session import Session


class Atif:
    """`trajectory.json` as Harbor and the agents that follow it write it."""

    name: ClassVar[str] = "atif"
    description: ClassVar[str] = "ATIF trajectories (JSON)"
    carries: ClassVar[tuple[Carries, ...]] = ("calls", "thinking", "images", "usage", "times", "model", "system")

    def knows(self, head: str) -> bool:
        """Whether its schema names itself."""
        return not seen(head).is_list and "schema_version" in seen(head).keys and '"ATIF-v' in head

    def sessions(self, source: Source) -> Iterator[Session]:
        """The one session of a file."""
        document = source.document()
        if not isinstance(document, dict):
            raise FormatError(f"expected an object with `steps`, found {kind(document)}", where=source.where)
        growth = Growth()
        steps: list[dict[str, Json]] = []
        agent: Mapping[str, Json] = {}
        with source.at():
            agent, steps = inner(document, "agent"), objects(document, "steps")
        for i, step in enumerate(steps):
            with source.at(field=f"steps[{i}]"):
                _hear(source, growth, step, words(agent, "model_name"))
        with source.at():
            yield Session(
                id=known_id(document, "session_id") or known_id(document, "trajectory_id") or source.stem,
                log=growth.log,
                model=main_model(growth.log) or words(agent, "model_name"),
                title=words(agent, "name"),
                project=project("", source.folder),
            )


def _hear(source: Source, growth: Growth, step: Mapping[str, Json], model: str) -> None:
    who = words(step, "source")
    time = epoch(step, "timestamp")
    step_id = f"step-{known_id(step, 'step_id')}" if step.get("step_id") is not None else ""
    found = content(step, "message")
    source.unknown.update(found.unknown)
    names: dict[str, str] = {}
    if who == "agent":
        names = _answer(growth, step, step_id, found.blocks, words(step, "model_name") or model, time)
    elif who == "user":
        growth.say(UserMessage(id=step_id, blocks=found.said, time=time))
    elif who == "system":
        if growth.messages:
            growth.say(UserMessage(id=step_id, blocks=found.said, synthetic=True, time=time))
        else:
            growth.say(SystemMessage(id=step_id, blocks=found.said, time=time))
    else:
        raise FormatError(f"no source is named {who!r}; known are agent, system and user", field="source")
    _observed(growth, inner(step, "observation"), names, time)


def _answer(
    growth: Growth, step: Mapping[str, Json], step_id: str, said: list[AnswerBlock], model: str, time: float | None
) -> dict[str, str]:
    """Write an agent's step; gives its tools' names by the calls' ids."""
    thought = words(step, "reasoning_content")
    calls = [
        ToolCall(known_id(call, "tool_call_id"), words(call, "function_name"), arguments(call.get("arguments")))
        for call in objects(step, "tool_calls")
    ]
    metrics = inner(step, "metrics")
    usage = openai_usage({**metrics, "cached_input_tokens": whole(metrics, "cached_tokens")}) if metrics else None
    blocks: tuple[AnswerBlock, ...] = (*([Thinking(thought)] if thought else []), *said, *calls)
    growth.say(AssistantMessage(id=step_id, blocks=blocks, model=model, usage=usage, time=time))
    return {call.id: call.name for call in calls}


def _observed(growth: Growth, observation: Mapping[str, Json], names: Mapping[str, str], time: float | None) -> None:
    """What came back: a call's result, or the environment's word where no call is named."""
    left = list(names)
    for result in objects(observation, "results"):
        blocks = result_blocks(result.get("content"))
        call_id = known_id(result, "source_call_id") or (left[0] if len(left) == 1 else "")
        if call_id in names:
            left = [one for one in left if one != call_id]
            growth.say(ToolResult(id="", call_id=call_id, blocks=blocks, name=names[call_id], time=time))
        elif blocks:
            growth.say(UserMessage(id="", blocks=blocks, synthetic=True, time=time))
