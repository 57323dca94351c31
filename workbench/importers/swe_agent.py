"""Trajectories of SWE-agent, before and since its version 1: one JSON document with a history."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import ClassVar

from workbench.errors import FormatError
from workbench.importers.chat import Chat
from workbench.importers.fields import items, objects, words
from workbench.importers.growth import main_model, project
from workbench.importers.heads import seen
from workbench.importers.source import Carries, Source, kind
from workbench.transcript.message import Json
from workbench.transcript.session import Session


class SweAgent:
    """`.traj` files, old (0.x) and new (1.x)."""

    name: ClassVar[str] = "swe_agent"
    description: ClassVar[str] = "SWE-agent trajectories, old and new (JSON)"
    carries: ClassVar[tuple[Carries, ...]] = ("calls", "thinking", "system")

    def knows(self, head: str) -> bool:
        """Whether a trajectory stands at the top with its environment, history or steps."""
        start = seen(head)
        known = {"trajectory", "history"} & start.keys and '"role"' in head
        return not start.is_list and bool(known or ("trajectory" in start.keys and '"observation"' in head))

    def sessions(self, source: Source) -> Iterator[Session]:
        """The one session of a file."""
        document = source.document()
        if not isinstance(document, dict):
            raise FormatError(f"expected an object with `history`, found {kind(document)}", where=source.where)
        chat, asked = Chat(source), False
        history: list[dict[str, Json]] = []
        with source.at():
            history = objects(document, "history")
        for i, turn in enumerate(history):
            with source.at(field=f"history[{i}]"):
                by_hand = turn.get("role") == "user" and not asked and turn.get("is_demo") is not True
                chat.hear(_as_chat(turn), synthetic=not by_hand)
                asked = asked or by_hand
        log = chat.growth.log
        with source.at():
            environment = document.get("environment")
            yield Session(
                id=source.stem,
                log=log,
                model=main_model(log),
                title=environment if isinstance(environment, str) else "",
                project=project("", source.folder),
            )


def _as_chat(turn: Mapping[str, Json]) -> dict[str, Json]:
    """A turn of the history in OpenAI's shape: a result names its call in a list of one."""
    shaped = {name: turn[name] for name in ("role", "content", "tool_calls", "thinking_blocks") if name in turn}
    answers = [one for one in items(turn, "tool_call_ids") if isinstance(one, str)]
    if answers:
        shaped["tool_call_id"] = answers[0]
    thoughts = objects(turn, "thinking_blocks")
    if thoughts:
        shaped["reasoning_content"] = "\n".join(words(thought, "thinking") for thought in thoughts)
    return shaped
