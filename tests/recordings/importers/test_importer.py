from __future__ import annotations

import gzip
import io
import json
import tracemalloc
from pathlib import Path

import pytest
from recordings.importers.files import (
    PI,
    document,
    format_names,
    listed_formats,
    only,
    say,
    written,
)

from workbench import FormatError, UnknownFormat, UnknownName, load
from workbench.engine.transcript.message import plain_text
from workbench.recordings.importers.importer import known_formats, read, scan


def test_content_and_not_the_name_says_the_format(tmp_path: Path) -> None:
    assert only(written(tmp_path, [PI, say("hi")], "notes.bin")).origin.format == "pi"


def test_the_origin_names_file_and_hash(tmp_path: Path) -> None:
    path = written(tmp_path, [PI, say("hi")])
    origin = only(path).origin
    assert (origin.path, len(origin.sha256), origin.skipped) == (str(path), 64, ())


def test_a_packed_file_is_unpacked(tmp_path: Path) -> None:
    packed = tmp_path / "one.jsonl.gz"
    packed.write_bytes(gzip.compress(written(tmp_path, [PI, say("hi")]).read_bytes()))
    assert len(only(packed).messages) == 1


def test_a_packed_file_that_is_cut_off_is_an_error(tmp_path: Path) -> None:
    packed = tmp_path / "one.jsonl.gz"
    packed.write_bytes(
        gzip.compress(written(tmp_path, [PI, say("hi" * 99_999)]).read_bytes())[:200]
    )
    with pytest.raises(FormatError, match="cannot be read"):
        load(packed)


def test_standard_input_is_read(monkeypatch: pytest.MonkeyPatch) -> None:
    stream = io.TextIOWrapper(io.BytesIO("\n".join(map(json.dumps, [PI, say("hi")])).encode()))
    monkeypatch.setattr("sys.stdin", stream)
    assert only(Path("-")).origin.path == "standard input"


def test_a_folder_and_a_pattern_give_all_recordings_in_them(tmp_path: Path) -> None:
    (tmp_path / "deep").mkdir()
    (tmp_path / ".hidden").mkdir()
    for folder, name in ((tmp_path, "b"), (tmp_path / "deep", "a"), (tmp_path / ".hidden", "c")):
        written(folder, [{**PI, "id": name}, say("hi")], f"{name}.jsonl")
    (tmp_path / "README.md").write_text("# only words")
    assert [session.id for session in load(tmp_path)] == ["b", "a"]
    assert [session.id for session in load(tmp_path / "**" / "a*.jsonl")] == ["a"]


def test_files_of_a_run_in_a_folder_are_no_recordings(tmp_path: Path) -> None:
    written(tmp_path, [PI, say("hi")], "a.jsonl")
    run = tmp_path / "reports" / "run"
    (run / "replays").mkdir(parents=True)
    for name in ("manifest.json", "code.json", "replays.parquet", "replays/0a1b.json"):
        (run / name).write_text("{}")
    for folder_or_pattern in (tmp_path, tmp_path / "**" / "*.json*"):
        assert [loaded.error for loaded in scan(folder_or_pattern)] == [None]
    (named,) = scan(run / "manifest.json", lenient=True)
    assert isinstance(named.error, UnknownFormat)


def test_a_damaged_file_does_not_stop_the_others(tmp_path: Path) -> None:
    written(tmp_path, [PI, say("hi")], "1.jsonl")
    written(tmp_path, [PI, '{"type": "message", "mess'], "2.jsonl")
    (tmp_path / "3.json").write_text("[1, 2")
    first, second, third = scan(tmp_path)
    assert (len(first.sessions), first.error) == (1, None)
    assert second.error is not None
    assert second.error.line == 2 and not isinstance(second.error, UnknownFormat)
    assert third.error is not None
    assert isinstance(third.error, UnknownFormat)
    assert len(load(tmp_path, lenient=True)) == 2


def test_one_damaged_file_is_an_error_unless_lenient(tmp_path: Path) -> None:
    path = written(tmp_path, [PI, say("one"), "{oops", say("two")])
    with pytest.raises(FormatError, match=r"one.jsonl, line 3: not JSON"):
        load(path)
    session = only(path, lenient=True)
    assert [plain_text(message) for message in session.messages] == ["one", "two"]
    assert session.origin.skipped[0].startswith("line 3: not JSON")


@pytest.mark.parametrize(
    ("raw", "why"),
    [
        (b"\xff\xfe", "byte 0xff is not UTF-8"),
        (b'{"a": "\0"}', "not JSON"),
        (b"\0" * 50, "not JSON"),
        (b"[" * 5000, "nested deeper than 200 levels"),
        (b'{"a":' * 300 + b"1" + b"}" * 300, "nested deeper than 200 levels"),
        (b'{"a": ' + b"9" * 5000 + b"}", "too many digits"),
        (b'{"a": 1e999}', "1e999 is not a number that a float can hold"),
        (b'{"a": NaN}', "NaN is not a number that a float can hold"),
        (b'{"type": "message", "message": {"role": "us', "not JSON"),
        (b"7", "expected an object, found a number"),
    ],
)
def test_damage_is_named_or_skipped_and_listed(tmp_path: Path, raw: bytes, why: str) -> None:
    path = written(tmp_path, [PI, say("hi")])
    path.write_bytes(path.read_bytes() + raw)
    with pytest.raises(FormatError) as caught:
        load(path)
    assert why in str(caught.value)
    assert caught.value.line == 3
    session = only(path, lenient=True)
    assert len(session.messages) == 1
    assert any(why in one for one in session.origin.skipped)


def test_bom_crlf_and_blank_lines_do_no_harm(tmp_path: Path) -> None:
    path = written(tmp_path, [PI, "", say("hi")])
    path.write_bytes(b"\xef\xbb\xbf" + path.read_bytes().replace(b"\n", b"\r\n"))
    assert only(path).origin.skipped == ()


def test_half_a_surrogate_pair_becomes_a_character_that_can_be_written(tmp_path: Path) -> None:
    path = written(
        tmp_path,
        [
            PI,
            (
                r'{"type":"message","message":{"role":"user","content":"a\ud83d b\ud83d\ude00'
                r' c\\ud83d"}}'
            ),
        ],
    )
    assert plain_text(only(path).messages[0]) == "a\ufffd b\U0001f600 c\\ud83d"


@pytest.mark.parametrize(
    ("text", "why"),
    [
        ("", "the file is empty"),
        (
            "hello",
            "no importer recognises this content, which is no JSON: no format is near it; docs/own-format.md",
        ),
    ],
)
def test_a_file_that_nobody_knows_is_an_error_that_says_why(
    tmp_path: Path, text: str, why: str
) -> None:
    path = tmp_path / "x.txt"
    path.write_text(text)
    with pytest.raises(FormatError, match=f"{why}"):
        load(path)


def test_a_missing_file_and_a_pattern_without_match_are_errors(tmp_path: Path) -> None:
    with pytest.raises(FormatError, match="No such file"):
        load(tmp_path / "gone.jsonl")
    with pytest.raises(FormatError, match="no file matches"):
        load(tmp_path / "*.jsonl")
    with pytest.raises(FormatError, match="cannot be read as a pattern"):
        load(tmp_path / "a**")


def test_a_folder_without_recordings_is_an_error(tmp_path: Path) -> None:
    with pytest.raises(FormatError, match="no session was found"):
        load(tmp_path)


def test_the_format_can_be_named(tmp_path: Path) -> None:
    path = document(tmp_path, [{"role": "user", "content": "hi"}])
    assert only(path, format="anthropic_messages").origin.format == "anthropic_messages"
    with pytest.raises(UnknownName, match="openai_chat"):
        load(path, format="telepathy")


def test_sessions_of_one_file_come_one_by_one(tmp_path: Path) -> None:
    path = written(
        tmp_path, [{"messages": [{"role": "user", "content": str(n)}]} for n in range(3)]
    )
    path.write_bytes(path.read_bytes() + b"{oops")
    reading = read(path)
    assert [len(next(reading).messages) for _ in range(3)] == [1, 1, 1]


def test_every_built_in_format_says_what_it_carries() -> None:
    assert len(format_names()) == 73
    assert all(row["what it is"] and row["carries"] for row in listed_formats())


def test_aninstalled_importer_is_found_and_asked_first(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "plain_chat.py").write_text(PLAIN_CHAT)
    about = tmp_path / "plain_chat-1.dist-info"
    about.mkdir()
    (about / "METADATA").write_text("Metadata-Version: 2.1\nName: plain-chat\nVersion: 1\n")
    (about / "entry_points.txt").write_text(
        "[workbench.importers]\nplain_chat = plain_chat:PLAIN_CHAT\n"
    )
    monkeypatch.syspath_prepend(str(tmp_path))
    known_formats.cache_clear()
    try:
        (tmp_path / "talk.txt").write_text("user: hi\nbot: ho\n")
        session = only(tmp_path / "talk.txt")
        assert [message.role for message in session.messages] == ["user", "assistant"]
        assert (session.origin.format, len(session.origin.sha256)) == ("plain_chat", 64)
        assert "plain_chat" in format_names()
    finally:
        known_formats.cache_clear()


PLAIN_CHAT = """
from workbench.recordings.importers.format import Format
from workbench.engine.transcript.message import AssistantMessage, Text, UserMessage
from workbench.engine.transcript.session import Session

def sessions(source):
    kinds = {"user": UserMessage, "bot": AssistantMessage}
    said = [line.split(": ", 1) for _, line in source.lines()]
    messages = [kinds[who](id=f"m{i}", blocks=(Text(text),)) for i, (who, text) in enumerate(said)]
    yield Session.of(messages, source.stem)

PLAIN_CHAT = Format("plain_chat", "lines of user and bot", (), lambda head: head.text.startswith("user: "), sessions)
"""


def test_sessions_of_two_files_have_two_ids(tmp_path: Path) -> None:
    for name in ("a", "b"):
        written(tmp_path, [PI, say("hi")], f"{name}.jsonl")
    assert [session.id for session in load(tmp_path)] == ["s1", "s1~2"]


def test_a_file_of_many_sessions_takes_the_memory_of_one(tmp_path: Path) -> None:
    size = 40_000
    path = written(
        tmp_path, [{"messages": [{"role": "user", "content": "x" * size}]} for _ in range(200)]
    )
    next(read(path))  # what is looked up once a process is not counted
    tracemalloc.start()
    count = sum(len(session.messages) for session in read(path))
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert count == 200
    assert peak < 60 * size < path.stat().st_size


@pytest.mark.parametrize(
    ("raw", "messages"),
    [
        ('{"role": "user", "id": "same", "content": "x"}\n' * 20_000, 20_000),
        ("<!-- Generated by SpecStory -->\n_**User**_\n" + "\n" * 300_000 + "hi\n---\n", 1),
        ("# aider chat started at 2026-01-01 10:00:00\n" + "#### hi\n\nho\n\n" * 10_000, 20_000),
        (
            "# aider chat started at 2026-01-01 10:00:00\n#### hi\n\nho\n\n> Tokens: "
            + "9" * 300_000
            + " sent, 1 received\n",
            2,
        ),
        (
            '<!-- Generated by SpecStory -->\n_**Agent**_\n<tool-use data-tool-type="x">\n'
            + "<details " * 50_000,
            1,
        ),
    ],
    ids=["one id", "empty lines", "many turns", "digits", "tags"],
)
def test_what_is_long_in_one_way_takes_no_longer_than_its_length(
    tmp_path: Path, raw: str, messages: int
) -> None:
    """Work that grew with the square would not end within the time of a test run."""
    path = tmp_path / "long"
    path.write_text(raw)
    assert len(only(path).messages) == messages
