from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from recordings.importers.files import only, written

from profiles import examples
from workbench import (
    AssistantMessage,
    ClearingEntry,
    CompactionEntry,
    FormatError,
    Log,
    MessageEntry,
    NoteEntry,
    Session,
    Summary,
    Text,
    ToolCall,
    UserMessage,
    load,
    save,
)
from workbench.engine.transcript.files import FileOps
from workbench.engine.transcript.message import Image, SystemMessage, Thinking, ToolResult, Usage

words = st.text(max_size=12)
counts = st.integers(0, 2**53)
times = st.none() | st.floats(0, 1e12)
plain: st.SearchStrategy[Any] = st.recursive(
    st.none()
    | st.booleans()
    | st.integers(-(2**60), 2**60)
    | st.floats(allow_nan=False, allow_infinity=False)
    | words,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(words, inner, max_size=3),
    max_leaves=6,
)
texts = st.builds(Text, words)
images = st.builds(Image, words, counts, counts)
said = st.lists(texts | images, max_size=3).map(tuple)
calls = st.builds(ToolCall, words, words, st.dictionaries(words, plain, max_size=3))
spoken = st.lists(texts | images | calls | st.builds(Thinking, words, words), max_size=3).map(tuple)
usages = st.none() | st.builds(Usage, counts, counts, counts, counts, counts, counts)
files = st.builds(
    FileOps, st.lists(words, max_size=2).map(tuple), st.lists(words, max_size=2).map(tuple)
)
common = {"name": words, "pinned": st.booleans(), "time": times}
ids = st.lists(words, max_size=2).map(tuple)
summaries = st.builds(
    Summary, id=words, text=words, replaces=ids, files=files, lead=words, tail=words, model=words,
    said_by=st.sampled_from(["user", "assistant"]), **common,
)  # fmt: skip
messages = st.one_of(
    st.builds(SystemMessage, id=words, blocks=said, **common),
    st.builds(UserMessage, id=words, blocks=said, synthetic=st.booleans(), **common),
    st.builds(
        AssistantMessage, id=words, blocks=spoken, model=words, usage=usages, stop=words, **common
    ),
    st.builds(ToolResult, id=words, call_id=words, blocks=said, is_error=st.booleans(), **common),
    summaries,
)


@st.composite
def sessions(draw: st.DrawFn) -> Session:
    log = Log()
    names = draw(st.lists(words, unique=True, max_size=8))
    for i, name in enumerate(names):
        parent = draw(st.none() | st.sampled_from(names[:i])) if i else None
        made: st.SearchStrategy[MessageEntry | CompactionEntry | ClearingEntry | NoteEntry] = (
            st.one_of(
                st.builds(MessageEntry, id=st.just(name), parent=st.just(parent), message=messages),
                st.builds(
                    CompactionEntry,
                    id=st.just(name),
                    parent=st.just(parent),
                    summary=st.none() | summaries,
                    first_kept=st.none() | words,
                    kept=st.none() | ids,
                    tokens_before=st.none() | counts,
                    tokens_after=st.none() | counts,
                    reason=words,
                    time=times,
                ),
                st.builds(
                    ClearingEntry,
                    id=st.just(name),
                    parent=st.just(parent),
                    call_ids=ids,
                    tokens_before=st.none() | counts,
                    tokens_saved=st.none() | counts,
                    reason=words,
                    time=times,
                ),
                st.builds(
                    NoteEntry,
                    id=st.just(name),
                    parent=st.just(parent),
                    kind=words,
                    text=words,
                    time=times,
                ),
            )
        )
        log.append(draw(made))
    if names:
        log.leaf = draw(st.sampled_from(names) | st.none())
    usual = Session.of([]).origin
    origin = replace(
        usual,
        format=draw(words.filter(bool)),
        path=draw(words),
        sha256=draw(words),
        skipped=draw(ids),
    )
    window = draw(st.none() | counts)
    return Session(
        draw(words), log, origin, draw(words), window, draw(words), draw(words), draw(words)
    )


NOT_COPIED = Session.of([]).copied
"""Of two sessions with the same requests the second is read as a copy."""


@given(st.lists(sessions(), min_size=1, max_size=2))
@settings(max_examples=examples(60), deadline=None)
def test_what_is_saved_is_read_again_without_loss(
    tmp_path_factory: pytest.TempPathFactory, given: list[Session]
) -> None:
    path = tmp_path_factory.mktemp("native") / "sessions.jsonl"
    save(given, path)
    assert [replace(session, copied=NOT_COPIED) for session in load(path)] == given


def header(**more: Any) -> dict[str, Any]:
    return {"workbench": "session", "version": 1, "id": "s", **more}


def entry(id: str = "e1", parent: str | None = None, **message: Any) -> dict[str, Any]:
    said = {"role": "user", "id": id, "blocks": [{"type": "text", "text": "hi"}], **message}
    return {"type": "message", "id": id, "parent": parent, "message": said}


@pytest.mark.parametrize(
    ("lines", "line", "field", "why"),
    [
        ([header(version=9)], 1, "version", "version 9 is unknown"),
        ([header(colour="red")], 1, "colour", "unknown field"),
        (
            [header(), entry(blocks=[{"type": "text", "text": 3}])],
            2,
            "message.blocks[0].text",
            "expected text, found a number",
        ),
        (
            [header(), entry(blocks=[{"type": "video"}])],
            2,
            "message.blocks[0].type",
            "expected one of image, text",
        ),
        ([header(), entry(role="robot")], 2, "message.role", "found 'robot'"),
        ([header(), entry(pinned="yes")], 2, "message.pinned", "expected true or false"),
        ([header(), entry(), entry()], 3, "id", "has an entry 'e1' already"),
        ([header(), entry(parent="e9")], 2, "parent", "names the unknown parent 'e9'"),
        (
            [header(), {"type": "message", "id": "x", "parent": None}],
            2,
            "message",
            "the field is missing",
        ),
        ([header(), '{"type":"message"'], 2, "", "not JSON"),
    ],
)
def test_damage_is_an_error_with_line_and_field(
    tmp_path: Path, lines: list[Any], line: int, field: str, why: str
) -> None:
    with pytest.raises(FormatError) as caught:
        load(written(tmp_path, lines))
    assert (caught.value.line, caught.value.field) == (line, field)
    assert why in str(caught.value)


def test_a_lenient_reader_goes_on_behind_the_damage_and_lists_it(tmp_path: Path) -> None:
    session = only(written(tmp_path, [header(), entry("e1"), "{", entry("e2", "e1")]), lenient=True)
    assert len(session.messages) == 2
    assert [one[:7] for one in session.origin.skipped] == ["line 3:"]


def test_a_file_of_ours_is_known_by_its_first_line(tmp_path: Path) -> None:
    path = tmp_path / "any.name"
    save(Session.of([UserMessage(id="u", blocks=(Text("hi"),))], "s"), path)
    assert json.loads(path.read_text().splitlines()[0])["workbench"] == "session"
    assert only(path).id == "s"
