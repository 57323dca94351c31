"""Hosts that rewrite what they said before: each habit changes the list that a host passes with
its n-th request.
"""

from __future__ import annotations

import random
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from itertools import groupby
from typing import Any

import validators
from live.habits import HABITS as ADDING
from live.habits import Habit, as_it_is, reminder
from live.talk import Record

import workbench as wb
from workbench import Completion, SummaryRequest
from workbench.live.events import CompactionEnded, Rewound

IDS = {"id", "tool_call_id", "tool_use_id"}
TURNS_KEPT = 12
OLD = 30
"""Messages after which a host takes one for old."""


def is_question(message: Record) -> bool:
    """Whether it is a person's message, and no message of results."""
    if message["role"] != "user":
        return False
    content = message["content"]
    text = content if isinstance(content, str) else content[0].get("text", "")
    return str(text).startswith("Q")


def newest_turns(messages: list[Record]) -> list[Record]:
    """The newest turns, whole."""
    starts = [index for index, message in enumerate(messages) if is_question(message)]
    return messages[starts[-TURNS_KEPT] :] if len(starts) > TURNS_KEPT else messages


def changed_results(messages: list[Record], change: Callable[[str], str]) -> list[Record]:
    """The list with the text of each old result changed."""
    changed: list[Record] = []
    for index, message in enumerate(messages):
        if index >= len(messages) - OLD:
            changed.append(message)
        elif message["role"] == "tool":
            changed.append({**message, "content": change(message["content"])})
        elif isinstance(message["content"], list):
            parts = [_changed_part(part, change) for part in message["content"]]
            changed.append({**message, "content": parts})
        else:
            changed.append(message)
    return changed


def _changed_part(part: Record, change: Callable[[str], str]) -> Record:
    return {**part, "content": change(part["content"])} if part["type"] == "tool_result" else part


def drops_oldest_turns(messages: list[Record], request: int) -> list[Record]:
    return newest_turns(messages)


def drops_oldest_turns_behind_a_note(messages: list[Record], request: int) -> list[Record]:
    kept = newest_turns(messages)
    note = {
        "role": "user",
        "content": f"[{len(messages) - len(kept)} earlier messages were dropped]",
    }
    return (
        messages if kept is messages else [note, {"role": "assistant", "content": "I see."}, *kept]
    )


def drops_in_larger_steps(messages: list[Record], request: int) -> list[Record]:
    starts = [index for index, message in enumerate(messages) if is_question(message)]
    dropped = max(len(starts) - TURNS_KEPT, 0) // 5 * 5
    return messages[starts[dropped] :] if dropped else messages


def renders_its_head_anew(messages: list[Record], request: int) -> list[Record]:
    return [
        {"role": "user", "content": f"<env>step {request}, {request * 37} seconds</env>"},
        *messages,
    ]


def renders_its_head_and_drops_turns(messages: list[Record], request: int) -> list[Record]:
    return renders_its_head_anew(newest_turns(messages), request)


def shows_an_open_file(messages: list[Record], request: int) -> list[Record]:
    """A file as it is now, before the newest question, if there is one."""
    starts = [index for index, message in enumerate(messages) if is_question(message)]
    if not starts:
        return messages
    text = f"<open_file>line {request}, {request * 37} more lines</open_file>"
    return [*messages[: starts[-1]], {"role": "user", "content": text}, *messages[starts[-1] :]]


def blanks_old_results(messages: list[Record], request: int) -> list[Record]:
    return changed_results(messages, lambda text: "[cleared]")


def shortens_old_results(messages: list[Record], request: int) -> list[Record]:
    return changed_results(messages, lambda text: text[:200])


def shortens_old_answers(messages: list[Record], request: int) -> list[Record]:
    old = [
        (
            {**message, "content": message["content"][:60]}
            if message["role"] == "assistant" and isinstance(message["content"], str)
            else message
        )
        for message in messages[:-OLD]
    ]
    return [*old, *messages[-OLD:]]


def drops_old_steps(messages: list[Record], request: int) -> list[Record]:
    """Questions and final answers stay; the calls between them and their results go once they
    are old.
    """
    kept = [message for message in messages[:-OLD] if is_question(message) or is_final(message)]
    newest = messages[-OLD:]
    while newest and (
        newest[0]["role"] == "tool" or (newest[0]["role"] == "user" and not is_question(newest[0]))
    ):
        newest = newest[1:]  # its call is gone
    return [*kept, *newest] if len(messages) > OLD else messages


def is_final(message: Record) -> bool:
    """Whether it is an answer without calls."""
    return message["role"] == "assistant" and isinstance(message["content"], str)


def drops_old_thoughts(messages: list[Record], request: int) -> list[Record]:
    old = []
    for message in messages[:-OLD]:
        content = message["content"]
        if isinstance(content, list):
            content = [part for part in content if part["type"] != "thinking"]
        plain = {name: value for name, value in message.items() if name != "reasoning_content"}
        old.append({**plain, "content": content})
    return [*old, *messages[-OLD:]]


def numbers_old_results(messages: list[Record], request: int) -> list[Record]:
    """Renders each old result anew with every request, as a host does that states its age."""
    return changed_results(messages, lambda text: f"[{request} requests ago] {text[:80]}")


def gives_calls_new_ids(messages: list[Record], request: int) -> list[Record]:
    """As an adapter does whose library has no ids: each request has its own."""
    return [_with_new_ids(message, request) for message in messages]


def _with_new_ids(value: Any, request: int) -> Any:
    if isinstance(value, list):
        return [_with_new_ids(part, request) for part in value]
    if not isinstance(value, dict):
        return value
    renamed = {name: _with_new_ids(field, request) for name, field in value.items()}
    for name in IDS & renamed.keys():
        renamed[name] = f"{value[name]}_{request}"
    return renamed


def reorders_parallel_results(messages: list[Record], request: int) -> list[Record]:
    """Passes the results of one step in another order with each second request."""
    if request % 2 == 0:
        return messages
    reordered: list[Record] = []
    for message in messages:
        content = message["content"]
        if isinstance(content, list) and message["role"] == "user":
            message = {**message, "content": content[::-1]}
        reordered.append(message)
    backwards: list[Record] = []
    for is_result, group in groupby(reordered, lambda message: bool(message["role"] == "tool")):
        step = list(group)
        if is_result:
            step.reverse()
        backwards += step
    return backwards


def trims_old_texts(messages: list[Record], request: int) -> list[Record]:
    """Strips old texts, and makes one space of several."""
    trimmed: list[Record] = []
    for message in messages[:-4]:
        content = message["content"]
        if isinstance(content, str):
            content = " ".join(content.split())
        trimmed.append({**message, "content": content})
    return [*trimmed, *messages[-4:]]


def keeps_records_of_its_own(messages: list[Record], request: int) -> list[Record]:
    """As a host does that reads its messages from a database with each request."""
    return [
        {**message, "id": f"row_{index}", "createdAt": index, "metadata": {"read_at": request}}
        for index, message in enumerate(messages)
    ]


REWRITING: tuple[Habit, ...] = (
    drops_oldest_turns,
    drops_oldest_turns_behind_a_note,
    drops_in_larger_steps,
    renders_its_head_anew,
    renders_its_head_and_drops_turns,
    shows_an_open_file,
    blanks_old_results,
    shortens_old_results,
    shortens_old_answers,
    drops_old_steps,
    drops_old_thoughts,
    numbers_old_results,
    gives_calls_new_ids,
    reorders_parallel_results,
    trims_old_texts,
    keeps_records_of_its_own,
)
ZOO: tuple[Habit, ...] = (*REWRITING, *ADDING)


def no_text(request: int) -> str:
    return ""


def same_reminder(request: int) -> str:
    return reminder(7)


def text_added_by(habit: Habit) -> Callable[[int], str]:
    """The text by which a habit makes the n-th request longer."""
    name = habit.__name__
    if "reminder" not in name:
        return no_text
    return same_reminder if name.startswith("same") else reminder


class Writer:
    """A model that counts what it is asked."""

    name = "writer"
    at_once = True

    def __init__(self) -> None:
        self.asked = 0

    def complete(self, request: SummaryRequest, /) -> Completion:
        """A summary of a few lines."""
        self.asked += 1
        text = f"## Goal\nBuild part {self.asked}.\n" + "A detail that matters. " * 20
        return Completion(text=text, model=self.name, usd=0.01)


@dataclass(frozen=True, slots=True)
class Visit:
    """What became of a host.

    Attributes:
        summaries: how many were paid.
        compactions: how many were put in place.
        undone: how many of these were taken back.
        lost: requests without the newest question.
        broken: requests that the API would refuse, though it would take what the host passed.
    """

    summaries: int
    compactions: int
    undone: int
    lost: int = 0
    broken: int = 0
    events: tuple[str, ...] = field(default=(), compare=False)


def turn(number: int, rng: random.Random, api: str) -> list[Record]:
    """A question, some calls with results, and an answer."""
    messages: list[Record] = [
        {"role": "user", "content": f"Q{number}. " + "ask " * rng.randrange(5, 200)}
    ]
    for step in range(rng.randrange(0, 4)):
        ids = [f"c{number}_{step}_{place}" for place in range(1 + rng.randrange(3))]
        texts = [f"{id} " + "line " * rng.randrange(10, 1_500) for id in ids]
        if api == "openai":
            function = {"name": "read_file", "arguments": f'{{"path": "f{number}.py"}}'}
            calls = [{"id": id, "type": "function", "function": function} for id in ids]
            messages.append({"role": "assistant", "content": None, "tool_calls": calls})
            pairs = zip(ids, texts, strict=True)
            messages += [
                {"role": "tool", "tool_call_id": id, "content": text} for id, text in pairs
            ]
        else:
            thought = {
                "type": "thinking",
                "thinking": "hm " * 20,
                "signature": f"seal {number} {step}",
            }
            path = {"path": f"f{number}.py"}
            uses = [
                {"type": "tool_use", "id": id, "name": "read_file", "input": path} for id in ids
            ]
            messages.append({"role": "assistant", "content": [thought, *uses]})
            pairs = zip(ids, texts, strict=True)
            results = [
                {"type": "tool_result", "tool_use_id": id, "content": text} for id, text in pairs
            ]
            messages.append({"role": "user", "content": results})
    messages.append(
        {"role": "assistant", "content": f"A{number}. " + "say " * rng.randrange(5, 100)}
    )
    return messages


def requests_of(turns: int, api: str) -> Iterator[tuple[int, list[Record]]]:
    """The turn's number and the host's own conversation at each request; the same in each call."""
    rng = random.Random(1)
    said: list[Record] = []
    for number in range(turns):
        for message in turn(number, rng, api):
            if message["role"] == "assistant":
                yield number, said
            said.append(message)


def visit(
    preset: str,
    api: str,
    habit: Habit = as_it_is,
    turns: int = 60,
    window: int = 16_000,
    prompt: Callable[[int], str] = no_text,
) -> Visit:
    """What a compactor pays for a host of that habit, which has this system prompt at its n-th
    request.
    """
    writer = Writer()
    live = wb.Compactor(preset, model=writer, window=window, format=api)  # type: ignore[arg-type]  # both are formats
    lost = broken = 0
    faults = validators.openai_chat if api == "openai" else validators.anthropic
    for request, (number, said) in enumerate(requests_of(turns, api)):
        passed = habit(list(said), request)
        is_valid = not faults(passed)
        sent = live.before_request(passed, system=prompt(request) or None)
        broken += is_valid and bool(faults(sent))
        lost += f"Q{number}. " not in str(sent)
        live.after_turn()
    ended = [
        event
        for event in live.events
        if isinstance(event, CompactionEnded) and event.outcome != "unchanged"
    ]
    undone = sum(event.undone for event in live.events if isinstance(event, Rewound))
    types = tuple(event.type for event in live.events if not event.type.startswith("compaction_"))
    return Visit(writer.asked, len(ended), undone, lost, broken, types)
