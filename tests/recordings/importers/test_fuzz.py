"""Recordings that were damaged in every way: an error that names the place, or a session, and
nothing else.
"""

from __future__ import annotations

import json
import random
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from recordings.importers.indexed import CORPORA, rows
from recordings.importers.samples import DOCUMENTS, LINES, TEXTS

from profiles import examples
from workbench import FormatError, Session
from workbench.engine.transcript.log import fold
from workbench.engine.transcript.message import counted_text
from workbench.recordings.importers.importer import read

MUTATIONS = examples(2_000)
SLOWEST = 5.0
"""Seconds of computing for one recording, whatever else the machine does."""
KEPT_LINES, KEPT_ITEMS, KEPT_CHARS = 60, 14, 400
ODD: tuple[Any, ...] = (
    None,
    True,
    -1,
    0,
    2**63,
    1e300,
    0.5,
    "",
    "x",
    "\ud83d",
    "\0",
    "🧭",
    [],
    {},
    [[]],
    [None],
    {"": None},
    [1, "a"],
    {"type": "text"},
    {"role": "user"},
    "2026-01-01T10:00:00Z",
    "not a time",
    {"a": {"b": {"c": []}}},
    "e1",
    "u1",
)
BYTES = (
    b"\0",
    b"\xff\xfe",
    b"\xc3\x28",
    b"\r\n",
    b"\n",
    b'"',
    b"{",
    b"}",
    b"[" * 400,
    b"\\ud800",
    b"9" * 5000,
    b"1e999",
    b"NaN",
    b"```",
    b"---\n",
    b"_**User**_\n",
    b"#### ",
    b"> Tokens: 1.2.3k sent, , received",
    b"data:image/png;base64,",
)


def shortened(value: Any) -> Any:
    """The same shape with fewer and shorter parts."""
    if isinstance(value, str):
        return value[:KEPT_CHARS]
    if isinstance(value, list):
        return [shortened(one) for one in value[:KEPT_ITEMS]]
    if isinstance(value, dict):
        return {name: shortened(inside) for name, inside in value.items()}
    return value


def recordings() -> Iterator[tuple[str, list[Any] | str]]:
    """Made-up recordings of each format, and the starts of real ones: lines of JSON, or text."""
    for name, made in DOCUMENTS.items():
        yield name, [made]
    yield from LINES.items()
    yield from TEXTS.items()
    for row in rows():
        raw = (CORPORA / row["path"]).read_bytes().decode(errors="replace")
        if row["path"].endswith(".md"):
            yield row["path"], raw[:20_000]
        elif row["path"].endswith(".jsonl"):
            lines = [line for line in raw.split("\n") if line and not line.startswith("//")]
            start = random.Random(row["path"]).randrange(max(1, len(lines) - KEPT_LINES))
            wanted = [lines[0], *lines[start : start + KEPT_LINES]]
            yield (
                row["path"],
                [
                    shortened(json.loads(line))
                    for line in wanted
                    if line.endswith("}") and _whole(line)
                ],
            )
        else:
            yield row["path"], [shortened(json.loads(raw))]


def _whole(line: str) -> bool:
    try:
        json.loads(line)
    except ValueError:
        return False
    return True


def places(value: Any) -> list[tuple[Any, Any]]:
    """Every container in a value with each of its keys or indices."""
    found, rest = [], [value]
    while rest:
        holder = rest.pop()
        keys = list(holder) if isinstance(holder, dict) else list(range(len(holder)))
        for key in keys:
            found.append((holder, key))
            if isinstance(holder[key], dict | list):
                rest.append(holder[key])
    return found


def with_other_values(lines: list[Any], chance: random.Random) -> bytes:
    """Some values replaced by odd ones, taken out, swapped or renamed; lines dropped, doubled or
    moved.
    """
    copy = json.loads(json.dumps(lines))
    for _ in range(chance.choice((1, 1, 2, 4))):
        everywhere = places(copy)
        if not everywhere:
            break
        holder, key = chance.choice(everywhere)
        action = chance.randrange(5)
        if action == 0:
            holder[key] = json.loads(json.dumps(chance.choice(ODD)))
        elif action == 1:
            del holder[key]
        elif action == 2:
            other, there = chance.choice(everywhere)
            try:
                holder[key] = json.loads(json.dumps(other[there]))
            except (KeyError, IndexError, ValueError):
                continue
        elif action == 3 and isinstance(holder, dict):
            holder[chance.choice(("id", "parentUuid", "uuid", "type", "role", "content", "x"))] = (
                holder.pop(key)
            )
        else:
            copy.insert(chance.randrange(len(copy) + 1), chance.choice(copy))
    ending = "" if len(copy) == 1 and chance.random() < 0.5 else "\n"
    return ("\n".join(json.dumps(line) for line in copy) + ending).encode("utf-8", "surrogatepass")


def with_other_bytes(raw: bytes, chance: random.Random) -> bytes:
    """Bytes put in, cut out, doubled or changed."""
    for _ in range(chance.choice((1, 1, 2, 6))):
        at = chance.randrange(len(raw) + 1)
        end = min(len(raw), at + chance.choice((1, 2, 30, 2_000)))
        action = chance.randrange(5)
        if action == 0:
            raw = raw[:at] + chance.choice(BYTES) + raw[at:]
        elif action == 1:
            raw = raw[:at] + raw[end:]
        elif action == 2:
            raw = raw[:at]
        elif action == 3:
            raw = raw[:end] + raw[at:end] + raw[end:]
        else:
            raw = raw[:at] + bytes([chance.randrange(256)]) + raw[at + 1 :]
    return raw


def with_one_broken_line(
    count: int, seed: str = "lines"
) -> Iterator[tuple[str, int, list[str], int]]:
    """So many recordings of JSON lines: the name and number of each, its lines, and the index of
    the one to break.
    """
    chance = random.Random(seed)
    found = [
        (name, lines) for name, lines in recordings() if isinstance(lines, list) and len(lines) > 4
    ]
    for n in range(count):
        name, lines = chance.choice(found)
        yield name, n, [json.dumps(line) for line in lines], chance.randrange(1, len(lines))


def used(session: Session) -> None:
    """What everything after an importer does with a session."""
    fold(session.path)
    for message in session.messages:
        counted_text(message).encode()
    assert session.branches >= 0
    assert len(session.requests) <= len(session.messages)


def damaged(count: int, seed: str = "importers") -> Iterator[tuple[str, int, bytes]]:
    """So many damaged recordings: the name of each, its number and its bytes."""
    chance = random.Random(seed)
    found = list(recordings())
    for n in range(count):
        name, recording = found[n % len(found)]
        if isinstance(recording, str):
            yield name, n, with_other_bytes(recording.encode(), chance)
        elif chance.random() < 0.6:
            yield name, n, with_other_values(recording, chance)
        else:
            yield (
                name,
                n,
                with_other_bytes("\n".join(json.dumps(one) for one in recording).encode(), chance),
            )


def test_no_damage_makes_anything_but_an_error_or_a_session(tmp_path: Path) -> None:
    path = tmp_path / "damaged"
    outcomes = {"error": 0, "session": 0}
    for name, n, raw in damaged(MUTATIONS):
        path.write_bytes(raw)
        for lenient in (False, True):
            began = time.process_time()
            try:
                for session in read(path, lenient=lenient):
                    used(session)
                outcomes["session"] += 1
            except FormatError as error:
                assert str(path) in str(error)
                assert not isinstance(error.__cause__, Exception), (
                    "a bug of the importer, which `read` made a sentence of"
                )
                outcomes["error"] += 1
            except Exception as error:
                raise AssertionError(
                    f"mutation {n} of {name}, lenient={lenient}: {error!r}"
                ) from error
            assert time.process_time() - began < SLOWEST, f"mutation {n} of {name}"
    assert min(outcomes.values()) > MUTATIONS / 10


def test_as_many_branches_as_messages_are_read(tmp_path: Path) -> None:
    branches = examples(100_000)
    line = '{"type":"user","uuid":"u%d","parentUuid":%s,"sessionId":"s","message":{"role":"user","content":"x"}}\n'
    path = tmp_path / "wide.jsonl"
    path.write_text("".join(line % (i, '"u0"' if i else "null") for i in range(branches)))
    (session,) = read(path)
    assert session.branches == branches - 1


def messages_of(path: Path) -> tuple[int, str]:
    """How many messages are read of what is intact, and what is said of the rest."""
    sessions = list(read(path, lenient=True))
    return sum(len(session.log) for session in sessions), "\n".join(sessions[0].origin.skipped)


def lost_silently(path: Path, lines: list[str], broken: int) -> str:
    """What is wrong where one line is broken: more than it is lost, or nothing says so; empty
    where nothing is.
    """
    path.write_text("\n".join(line for n, line in enumerate(lines) if n != broken))
    try:
        without, _ = messages_of(path)
    except FormatError:
        return ""  # nothing can be read without that line
    path.write_text(
        "\n".join(line if n != broken else line[: len(line) // 2] for n, line in enumerate(lines))
    )
    kept, text = messages_of(path)
    if f"line {broken + 1}" not in text:
        return f"line {broken + 1} is not named"
    return f"{without - kept} more are lost" if kept < without else ""


def test_a_broken_line_costs_that_line_and_is_named(tmp_path: Path) -> None:
    for name, n, lines, broken in with_one_broken_line(MUTATIONS // 4):
        wrong = lost_silently(tmp_path / "broken.jsonl", lines, broken)
        assert not wrong, f"{name}, number {n}: {wrong}"
