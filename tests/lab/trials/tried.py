"""One trial as a user makes it: its row of the table, and the conversation that was kept."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import workbench as wb
from workbench.engine.transcript.message import Json

WINDOW = 4_000


@dataclass(frozen=True)
class Tried:
    """What a user has of a trial.

    Attributes:
        row: of the table `trials`.
        messages: the whole conversation.
    """

    row: Mapping[str, Any]
    messages: Sequence[Json]

    def said(self, role: str) -> list[str]:
        """What was said in a role, in order."""
        return [str(message["content"]) for message in self.messages if message["role"] == role]

    def calls(self) -> list[tuple[str, Mapping[str, Json]]]:
        """The tool calls in order, each with its arguments."""
        calls = []
        for message in self.messages:
            for call in message.get("tool_calls", ()):
                function = call["function"]
                calls.append((function["name"], json.loads(function["arguments"])))
        return calls


def tried(
    folder: Path,
    *strategies: str | wb.Preset,
    family: str = "far_dependency",
    window: int = WINDOW,
    **settings: Any,
) -> dict[str, Tried]:
    """One task under some strategies, without the references; the trials by strategy."""
    results = wb.trial(
        families=(family,),
        seeds=1,
        strategies=strategies,
        no_references=True,
        window=window,
        conversations=True,
        quiet=True,
        out=folder,
        **settings,
    )
    assert results is not None
    trials = {}
    for row in results.table.to_dict("records"):
        strategy = str(row["strategy"])
        trials[strategy] = Tried(row, kept_messages(folder, strategy, family))
    return trials


def families_of(families: Sequence[str], folder: Path, seeds: int) -> list[str]:
    """The family of each task that is tried where these are named."""
    results = wb.trial(
        families=families,
        seeds=seeds,
        strategies=("none",),
        no_references=True,
        window=WINDOW,
        steps=1,
        quiet=True,
        out=folder,
    )
    assert results is not None
    return [str(family) for family in results.table["family"]]


def kept_messages(folder: Path, strategy: str, family: str) -> Sequence[Json]:
    """The conversation of a trial; empty where it did not come to its end."""
    file = folder / "conversations" / f"{strategy}-{family}-0.json"
    if not file.exists():
        return ()
    messages: Sequence[Json] = json.loads(file.read_text())["messages"]
    return messages


class Caller:
    """An agent that makes calls one after another, whatever it is sent, and says that it is done.

    Attributes:
        calls: the name of each tool, and its arguments as JSON.
    """

    name = "caller"

    def __init__(self, *calls: tuple[str, str]) -> None:
        self.calls = list(calls)

    def complete(self, request: wb.SummaryRequest, /) -> wb.Completion:
        if not self.calls:
            return wb.Completion(text="Done.", model=self.name)
        return wb.Completion(text="I try.", model=self.name, calls=(self.calls.pop(0),))


def call(tool: str, **arguments: object) -> tuple[str, str]:
    """A call as a model writes it."""
    return tool, json.dumps(arguments)
