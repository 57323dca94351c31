"""Evaluation output of OpenHands 0.x: JSON lines, a task each, with a history of events."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import ClassVar

from workbench.importers.chat import calls
from workbench.importers.content import content, result_blocks
from workbench.importers.fields import epoch, inner, items, known_id, maybe_whole, objects, openai_usage, words
from workbench.importers.growth import Growth, main_model
from workbench.importers.heads import seen
from workbench.importers.images import linked
from workbench.importers.source import Carries, Source
from workbench.transcript.log import CompactionEntry, MessageEntry, NoteEntry
from workbench.transcript.message import (
    AnswerBlock,
    AssistantMessage,
    Json,
    SaidBlock,
    Summary,
    SystemMessage,
    Text,
    ToolCall,
    ToolResult,
    UserMessage,
)
from workbench.transcript.session import Session

QUIET = frozenset({"recall", "change_agent_state", "agent_state_changed", "null", "", "send_message"})


class OpenHands:
    """The `output.jsonl` of OpenHands' benchmarks."""

    name: ClassVar[str] = "openhands"
    description: ClassVar[str] = "OpenHands evaluation output (JSON lines)"
    carries: ClassVar[tuple[Carries, ...]] = ("calls", "images", "usage", "times", "model", "compactions", "system")

    def knows(self, head: str) -> bool:
        """Whether a line is a task with its instruction and its metadata."""
        keys = seen(head).keys
        return "instance_id" in keys and bool({"history", "test_result", "instruction", "metadata"} & keys)

    def sessions(self, source: Source) -> Iterator[Session]:
        """One session a task."""
        for line, record in source.records():
            with source.at(line):
                reading = _Reading(source, line)
                for i, event in enumerate(objects(record, "history")):
                    with source.at(line, f"history[{i}]"):
                        reading.hear(event)
                log = reading.growth.log
                name = known_id(record, "instance_id")
                model = words(inner(inner(record, "metadata"), "llm_config"), "model")
                repo = words(inner(record, "instance"), "repo") or name.rpartition("-")[0]
                yield Session(id=name or source.stem, log=log, model=main_model(log) or model, project=repo)


class _Reading:
    def __init__(self, source: Source, line: int) -> None:
        self.source, self.line = source, line
        self.growth = Growth()
        self.responses: set[str] = set()
        self.calls: dict[str, str] = {}
        self.names: dict[str, str] = {}
        self.entries: dict[str, str] = {}

    def hear(self, event: Mapping[str, Json]) -> None:
        """Read one event: something done, or what came of it."""
        time = epoch(event, "timestamp")
        before = self.growth.log.leaf
        if "observation" in event:
            self._observed(event, time)
        else:
            self._acted(event, words(event, "action"), time)
        if self.growth.log.leaf is not None and self.growth.log.leaf != before:
            self.entries[known_id(event, "id")] = self.growth.log.leaf

    def _acted(self, event: Mapping[str, Json], action: str, time: float | None) -> None:
        args = inner(event, "args")
        if action == "system":
            self.growth.say(SystemMessage(id="", blocks=(Text(words(args, "content")),), time=time))
        elif action == "message" and words(event, "source") == "user":
            pictures = tuple(linked(url) for url in items(args, "image_urls") if isinstance(url, str))
            self.growth.say(UserMessage(id="", blocks=(Text(words(args, "content")), *pictures), time=time))
        elif action == "condensation":
            self._condensed(args, time)
        elif action in QUIET:
            self.growth.note(NoteEntry(id=self._note_id(event), parent=None, kind=action or "event", time=time))
        else:
            self._answer(event, action, args, time)

    def _note_id(self, event: Mapping[str, Json]) -> str:
        return self.growth.fresh(f"event-{known_id(event, 'id')}")

    def _answer(self, event: Mapping[str, Json], action: str, args: Mapping[str, Json], time: float | None) -> None:
        about = inner(event, "tool_call_metadata")
        response = inner(about, "model_response")
        call_id = known_id(about, "tool_call_id") or f"event-{known_id(event, 'id')}"
        self.calls[known_id(event, "id")] = call_id
        self.names[call_id] = words(about, "function_name") or action
        response_id = known_id(response, "id")
        if response_id and response_id in self.responses:
            return
        self.responses.add(response_id)
        blocks = self._spoken(response) or self._done(call_id, action, args)
        self.growth.say(
            AssistantMessage(
                id="",
                blocks=tuple(blocks),
                model=words(response, "model"),
                usage=openai_usage(inner(response, "usage")),
                time=time,
            )
        )

    def _spoken(self, response: Mapping[str, Json]) -> list[AnswerBlock]:
        """What the model really answered, with all its parallel calls."""
        choices = objects(response, "choices")
        message = inner(choices[0], "message") if choices else {}
        return [*content(message).blocks, *calls(message)] if message else []

    def _done(self, call_id: str, action: str, args: Mapping[str, Json]) -> list[AnswerBlock]:
        """The action itself, where the model's answer is not recorded."""
        if action == "message":
            return [Text(words(args, "content"))]
        thought = words(args, "thought")
        rest = {name: value for name, value in args.items() if name != "thought"}
        return [*([Text(thought)] if thought else []), ToolCall(call_id, action, rest)]

    def _observed(self, event: Mapping[str, Json], time: float | None) -> None:
        observation = words(event, "observation")
        if observation in QUIET:
            self.growth.note(
                NoteEntry(
                    id=self._note_id(event), parent=None, kind=observation, text=words(event, "content"), time=time
                )
            )
            return
        about = inner(event, "tool_call_metadata")
        call_id = self.calls.get(known_id(event, "cause"), known_id(about, "tool_call_id"))
        blocks: tuple[SaidBlock, ...] = result_blocks(event.get("content"))
        code = inner(inner(event, "extras"), "metadata").get("exit_code")
        if not call_id:
            self.growth.say(UserMessage(id="", blocks=blocks, synthetic=True, time=time))
            return
        failed = observation == "error" or (isinstance(code, int) and code > 0)
        name = self.names.get(call_id, words(about, "function_name"))
        self.growth.say(ToolResult(id="", call_id=call_id, blocks=blocks, name=name, is_error=failed, time=time))

    def _condensed(self, args: Mapping[str, Json], time: float | None) -> None:
        """A condensation names the events that were forgotten, one by one or as a range."""
        gone = {known_id({"id": one}, "id") for one in items(args, "forgotten_event_ids")}
        first, last = maybe_whole(args, "forgotten_events_start_id"), maybe_whole(args, "forgotten_events_end_id")
        if first is not None and last is not None:
            gone |= {event for event in self.entries if event.isdigit() and first <= int(event) <= last}
        lost = {self.entries[event] for event in gone if event in self.entries}
        kept = tuple(e.id for e in self.growth.log if isinstance(e, MessageEntry) and e.id not in lost)
        text = words(args, "summary")
        entry_id = self.growth.fresh("condensation")
        summary = Summary(id=f"{entry_id}-summary", text=text, time=time) if text else None
        self.growth.note(CompactionEntry(id=entry_id, parent=None, summary=summary, kept=kept, time=time))
