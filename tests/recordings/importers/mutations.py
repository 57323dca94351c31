"""Recordings with one odd value each, read leniently: what else changed, and whether the reader
said so.

A recording is a list of records: lines of JSON, or the elements of the longest list in a document.
Each mutation changes one value of one record. All that the other records say must come out as it
did: the words, the role, and the call that a result answers. Where something did not, a note must
say so.
"""

from __future__ import annotations

import json
import random
import re
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, Literal

from recordings.importers.indexed import CORPORA, rows
from recordings.importers.samples import DOCUMENTS, LINES
from recordings.importers.test_fuzz import places, shortened

from workbench import (
    AssistantMessage,
    CompactionEntry,
    FormatError,
    MessageEntry,
    NoteEntry,
    Session,
    ToolCall,
    bundled,
    load,
    save,
)
from workbench.engine.transcript.message import Message, argument_texts, said_texts

OTHER_PROJECTS = CORPORA.parent / "more-projects"
MOST_LINES = 60
LONG = 12
"""Characters from which a text inside of another is the same text."""
MARKS_OF_CALLS = ("```", "<tool_call>", "<command>")
"""What stands around a call in the text of an answer."""
SHORT = 5
"""Characters below which a text is taken for the touched record's wherever that has it."""
RAW = {
    "@@1e999@@": "1e999",
    "@@digits@@": "9" * 5_000,
    "@@deep@@": "[" * 201 + "]" * 201,
    "@@deepest@@": "[" * 9_000 + "]" * 9_000,
}
"""What JSON text holds in the place of these strings; Python's encoder would not write it."""
ODD: tuple[Any, ...] = (
    None, True, 7, -1, -0.5, float("nan"), float("inf"), 10**400, "", "x", "\ud83d", [], {}, [[]], {"a": "b"}, *RAW,
)  # fmt: skip
MISSING = object()
"""In the place of a value: the field is gone."""
UNNEEDED = re.compile(
    r"usage|tokens?$|^tokens|time(stamp)?$|^time|^ts$|cost|^metrics$|window|^score", re.IGNORECASE
)
"""Names of fields without which every message can be read."""
SWITCHES = ("hookEvent",)
"""Fields that say whether a client sent a record: another true value leaves its words out, and
rightly so.
"""

Outcome = Literal[
    "same",
    "told",
    "refused",
    "changed without a word",
    "lost for a value that is not needed",
    "a bug",
]
FAILURES: tuple[Outcome, ...] = (
    "changed without a word",
    "lost for a value that is not needed",
    "a bug",
)


@dataclass(frozen=True)
class Recording:
    """A recording as a list of records.

    Attributes:
        document: the document around them; None for JSON lines.
        way: the keys that lead from the document to the list of records.
    """

    name: str
    records: list[Any]
    document: Any = None
    way: tuple[Any, ...] = ()

    def raw(self) -> bytes:
        """Its bytes."""
        values = self.records if self.document is None else [self.document]
        text = "\n".join(json.dumps(value) for value in values)
        for mark, raw in RAW.items():
            text = text.replace(f'"{mark}"', raw)
        return text.encode("utf-8", "surrogatepass")

    def copy(self) -> Recording:
        """The same, to be changed."""
        if self.document is None:
            return Recording(self.name, json.loads(json.dumps(self.records)))
        return in_document(self.name, json.loads(json.dumps(self.document)), self.way)


@dataclass(frozen=True)
class Mutation:
    """A recording with one odd value.

    Attributes:
        place: which value of which record, and what it became.
        record: the record as it was and as it is; everything else is untouched.
        value: what was there before.
        unneeded: whether no message depends on the value.
        is_switch: whether it says whether a client sent the record at all, or where its words are.
    """

    recording: Recording
    place: str
    record: tuple[Any, Any]
    value: Any
    unneeded: bool
    is_switch: bool


def in_document(name: str, document: Any, way: Sequence[Any] | None = None) -> Recording:
    """A document with its longest list of objects as records."""
    if way is None:
        way = max(lists(document), key=lambda one: len(at(document, one)), default=())
    records = at(document, way)
    return Recording(
        name, records if isinstance(records, list) else [document], document, tuple(way)
    )


def lists(value: Any, way: tuple[Any, ...] = ()) -> Iterator[tuple[Any, ...]]:
    """The ways to all lists of objects that lie in no other such list."""
    if isinstance(value, list) and value and all(isinstance(item, dict) for item in value):
        yield way
    elif isinstance(value, dict | list):
        for key, inner in value.items() if isinstance(value, dict) else enumerate(value):
            yield from lists(inner, (*way, key))


def at(value: Any, way: Sequence[Any]) -> Any:
    """What lies at the end of a way."""
    for key in way:
        value = value[key]
    return value


def made_up() -> Iterator[Recording]:
    """A small recording of each format."""
    for name, document in DOCUMENTS.items():
        yield in_document(name, json.loads(json.dumps(document)))
    for name, lines in LINES.items():
        yield (
            Recording(name, json.loads(json.dumps(lines)))
            if len(lines) > 1
            else in_document(name, lines[0])
        )


def of_the_package(folder: Path) -> Iterator[Recording]:
    """The starts of the recordings that the package holds."""
    for session in bundled():
        path = folder / "bundled.jsonl"
        save(session, path)
        yield started(session.id, path)


def of_others() -> Iterator[Recording]:
    """The starts of real recordings of other people's agents; none without the corpora."""
    paths = [CORPORA / row["path"] for row in rows()]
    paths += sorted(OTHER_PROJECTS.glob("*/*.jsonl"))
    for path in paths:
        if path.suffix != ".md":
            yield started(str(path.relative_to(CORPORA.parent)), path)


def started(name: str, path: Path) -> Recording:
    """The start of a recording, its texts cut."""
    text = path.read_bytes().decode(errors="replace")
    if path.suffix == ".jsonl":
        lines = [line for line in text.split("\n") if line.startswith("{")][:MOST_LINES]
        return Recording(name, [shortened(json.loads(line)) for line in lines])
    return in_document(name, shortened(json.loads(text)))


def mutations(recording: Recording, count: int, chance: random.Random) -> Iterator[Mutation]:
    """So many mutations of a recording, drawn by chance."""
    for _ in range(count):
        copy = recording.copy()
        number = chance.randrange(len(copy.records))
        record = copy.records[number]
        everywhere = places(record)
        if not everywhere:
            continue
        holder, key = chance.choice(everywhere)
        before, value = json.loads(json.dumps(record)), holder[key]
        same_field = [
            other[key]
            for inner in copy.records
            for other, name in places(inner)
            if name == key and isinstance(key, str) and other[name] != value
        ]
        action = chance.choice(("odd", "odd", "odd", "gone", "another's"))
        if action == "another's" and same_field:
            holder[key] = json.loads(json.dumps(chance.choice(same_field)))
            text = f"= {str(holder[key])[:30]!r} of another"
        elif action == "gone" and isinstance(holder, dict):
            del holder[key]
            text = "is gone"
        else:
            action, holder[key] = "odd", chance.choice(ODD)
            text = f"= {str(holder[key])[:30]}"
        way = way_to(before, key, value)
        is_switch = key in SWITCHES or str(value).startswith("attachment://")
        unneeded = any(UNNEEDED.search(str(part)) for part in way)
        place = f"record {number + 1}: {'.'.join(map(str, way))} {text}"
        yield Mutation(copy, place, (before, record), value, unneeded, is_switch)


def changed(recording: Recording, number: int, way: Sequence[Any], value: Any) -> Mutation:
    """A recording with this value at one place of one record; `MISSING` takes the field away."""
    copy = recording.copy()
    record = copy.records[number]
    before = json.loads(json.dumps(record))
    holder, key = at(record, way[:-1]), way[-1]
    earlier = holder[key]
    if value is MISSING:
        del holder[key]
    else:
        holder[key] = value
    return Mutation(
        copy,
        f"record {number + 1}: {way}",
        (before, record),
        earlier,
        unneeded=False,
        is_switch=False,
    )


def way_to(record: Any, key: Any, value: Any, way: tuple[Any, ...] = ()) -> tuple[Any, ...]:
    """The way to a key that holds this value, for people."""
    items = (
        record.items()
        if isinstance(record, dict)
        else enumerate(record)
        if isinstance(record, list)
        else ()
    )
    for name, inner in items:
        if name == key and inner == value:
            return (*way, name)
        if found := way_to(inner, key, value, (*way, name)):
            return found
    return ()


@dataclass(frozen=True)
class Reading:
    """What was read: every message with its fingerprint, all texts, the notes, and by field how
    many characters of text stand in no message.
    """

    fingerprints: Counter[str]
    texts: str
    notes: Counter[str]
    unread: Counter[str]


def outcome(mutation: Mutation, original: Sequence[Session], path: Path) -> tuple[Outcome, str]:
    """What became of a mutated recording, and the first thing that changed."""
    path.write_bytes(mutation.recording.raw())
    try:
        sessions = load(path, lenient=True)
    except FormatError as error:
        why = str(error)
        if isinstance(error.__cause__, Exception):
            return "a bug", why
        return ("lost for a value that is not needed" if mutation.unneeded else "refused"), why
    touched = {text for record in mutation.record for text in strings(record)}
    others = {
        text
        for record in mutation.recording.records
        for text in strings(record)
        if record is not mutation.record[1]
    }
    alone = {text for text in touched - others if len(text) >= SHORT}
    touched_calls = {name for name, call in calls_of(original).items() ^ calls_of(sessions).items()}
    before, after = (
        reading(version, touched, alone, touched_calls) for version in (original, sessions)
    )
    changed = before.fingerprints - after.fingerprints
    if any(mark in text for text in strings(mutation.record[1]) for mark in MARKS_OF_CALLS):
        changed = Counter(
            {said: n for said, n in changed.items() if not answers_new_call(said, after)}
        )
    taken = "\n".join(strings(mutation.value))
    left = [
        text
        for text in strings(mutation.record[0], mutation.value)
        if len(text) >= LONG
        and text in before.texts
        and text not in taken
        and text not in after.texts
        and not any(quoted in after.texts for quoted in as_json_texts(text))
    ]
    if mutation.is_switch:
        left = []
    what = f"{next(iter(changed), '')} {left[:1]}"
    if (changed or left) and mutation.unneeded:
        return "lost for a value that is not needed", what
    if not changed and not left:
        return "same", ""
    if after.notes - before.notes:
        return "told", what
    if not changed and after.unread - before.unread:
        return "told", what
    return "changed without a word", what


def as_json_texts(text: str) -> tuple[str, str]:
    """How a text stands inside of JSON: with and without escapes of other letters."""
    return json.dumps(text)[1:-1], json.dumps(text, ensure_ascii=False)[1:-1]


def answers_new_call(said: str, after: Reading) -> bool:
    """Whether a user's words are now what the call in the touched record's text returned, and
    rightly so.
    """
    return (
        said.startswith("user||")
        and f"tool|a touched call|{said.removeprefix('user||')}" in after.fingerprints
    )


def strings(value: Any, without: Any = None) -> Iterator[str]:
    """All texts and numbers in a value but those of one of its parts, and those inside of text
    that is JSON.
    """
    if isinstance(value, str):
        if value:
            yield value
        if value.startswith(("{", "[")):
            try:
                yield from strings(json.loads(value))
            except (ValueError, RecursionError):
                return
    elif isinstance(value, dict | list):
        for inner in value.values() if isinstance(value, dict) else value:
            if without is None or inner != without:
                yield from strings(inner, without)
    elif isinstance(value, int | float) and not isinstance(value, bool):
        yield str(value)


def calls_of(sessions: Sequence[Session]) -> dict[str, str]:
    """Each call by its id, with its name and arguments."""
    return {
        call.id: f"{call.name} {call.arguments_json()}"
        for session in sessions
        for entry in session.log
        if isinstance(entry, MessageEntry) and entry.message.role == "assistant"
        for call in entry.message.calls
    }


def reading(
    sessions: Sequence[Session], touched: set[str], alone: set[str], touched_calls: set[str]
) -> Reading:
    """What sessions hold, without the messages that the touched record speaks in."""
    long = "\n".join(text for text in touched if len(text) >= LONG)
    every = "\n".join(touched)
    stripped = {text.strip() for text in touched}

    def is_touched(said: Iterable[str]) -> bool:
        words = {text.strip() for text in said if text.strip()}
        texts = words.union(*(strings(text) for text in words))
        lines = [line for text in texts for line in text.splitlines() if len(line) >= LONG]
        whole = "\n".join(texts)
        same = not texts.isdisjoint(stripped) or any(line in long for line in lines)
        same = same or any(len(text) < SHORT and text in every for text in texts)
        return not texts or same or any(text in whole for text in alone)

    def stands_in_text(call: ToolCall) -> bool:
        """Whether a call is one that the touched record has in its text, as agents without tools
        write them.
        """
        arguments = list(argument_texts(call.arguments))
        return any(all(argument in text for argument in arguments) for text in texts_with_calls)

    texts_with_calls = [text for text in touched if any(mark in text for mark in MARKS_OF_CALLS)]
    calls = {
        name: "a touched call" if name in touched_calls else call
        for name, call in calls_of(sessions).items()
    }
    prints: Counter[str] = Counter()
    texts: list[str] = []
    notes: Counter[str] = Counter()
    unread: Counter[str] = Counter()
    for session in sessions:
        notes = notes | Counter(session.origin.skipped)
        for field in session.origin.unread:
            unread[field.field] = max(unread[field.field], field.characters)
        for entry in session.log:
            if isinstance(entry, NoteEntry):
                texts += [entry.text, entry.kind]
            elif isinstance(entry, CompactionEntry) and entry.summary is not None:
                texts += said_texts(entry.summary)
                if not is_touched(said_texts(entry.summary)):
                    prints[f"summary: {entry.summary.text}"] += 1
            elif isinstance(entry, MessageEntry):
                texts += said_texts(entry.message)
                message = entry.message
                if isinstance(message, AssistantMessage):
                    spoken = [
                        block
                        for block in message.blocks
                        if block.type != "tool_call" or not stands_in_text(block)
                    ]
                    message = replace(message, blocks=tuple(spoken))
                prints.update(fingerprints(message, calls, is_touched))
    return Reading(prints, "\n".join(texts), notes, unread)


def fingerprints(
    message: Message, calls: dict[str, str], is_touched: Callable[[Iterable[str]], bool]
) -> Iterator[str]:
    """Who says what to whom, block by block: the parts of one answer may stand in several
    records.
    """
    answers = calls.get(message.call_id, "no call") if message.role == "tool" else ""
    for block in message.blocks:
        if block.type == "tool_call" and not is_touched(argument_texts(block.arguments)):
            yield f"{message.role} calls {block.name} {block.arguments_json()}"
        elif block.type in ("text", "thinking") and not is_touched([block.text]):
            yield f"{message.role}|{answers}|{block.text}"
