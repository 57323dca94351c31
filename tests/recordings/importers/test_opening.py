"""Whatever a file is: it is read, in part if it must be, or refused in a sentence that names it."""

import bz2
import gzip
import json
import lzma
import os
import socket
import struct
import zipfile
import zlib
from collections.abc import Callable
from pathlib import Path

import pyarrow
import pytest
from recordings.importers.files import PI, say, written

from workbench import FormatError, load
from workbench.engine.transcript.message import plain_text
from workbench.recordings.importers import opening
from workbench.recordings.importers.importer import scan

LINES = [PI, *(say(f"message {n}") for n in range(400))]


@pytest.fixture
def plain(tmp_path: Path) -> Path:
    return written(tmp_path, LINES)


def pipe(path: Path) -> None:
    os.mkfifo(path)


def a_socket(path: Path) -> None:
    with socket.socket(socket.AF_UNIX) as one:
        one.bind(str(path))


def loop(path: Path) -> None:
    path.symlink_to(path)


@pytest.mark.parametrize("make", [pipe, a_socket, loop])
def test_what_is_no_regular_file_is_refused_at_once_and_the_others_are_read(
    plain: Path, tmp_path: Path, make: Callable[[Path], None], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)  # a socket's path must be short
    make(Path("odd.jsonl"))
    good, bad = scan([plain, "odd.jsonl"])
    assert good.sessions and bad.error is not None
    assert str(bad.error).startswith("odd.jsonl: ")


@pytest.mark.parametrize(
    "encode",
    [
        lambda text: text.encode("utf-16"),
        lambda text: text.encode("utf-16-le"),
        lambda text: text.encode("utf-16-be"),
        lambda text: text.encode("utf-32"),
        lambda text: b"\xef\xbb\xbf" + text.encode(),
        lambda text: text.replace("\n", "\r\n").encode(),
        lambda text: text.replace("\n", "\r").encode(),
        lambda text: gzip.compress(text.encode("utf-16")),
    ],
    ids=[
        "utf-16 with mark",
        "utf-16-le",
        "utf-16-be",
        "utf-32",
        "utf-8 with mark",
        "crlf",
        "cr",
        "packed utf-16",
    ],
)
def test_other_encodings_and_line_ends_read_the_same(
    plain: Path, encode: Callable[[str], bytes]
) -> None:
    (wanted,) = load(plain)
    plain.write_bytes(encode(plain.read_text() + json.dumps(say("grün ✓ 🧭"), ensure_ascii=False)))
    (session,) = load(plain)
    assert [*session.messages[:-1]] == [*wanted.messages]
    assert plain_text(session.messages[-1]) == "grün ✓ 🧭"


@pytest.mark.parametrize(
    ("encoding", "before"), [("utf-8", ""), ("utf-8-sig", " \n"), ("utf-16", "")]
)
@pytest.mark.parametrize("content", ["document", "lines"])
def test_what_a_program_encoded_as_json_twice_reads_the_same(
    tmp_path: Path, encoding: str, before: str, content: str
) -> None:
    text = "\n".join(map(json.dumps, [PI, say("What is a name? 🌦")]))
    if content == "document":
        text = json.dumps([{"role": "user", "content": 'What is a "name"? 🌦'}], indent=1)
    file = tmp_path / "talk.json"
    file.write_text(text, encoding="utf-8")
    (once,) = load(file)
    file.write_text(before + json.dumps(text), encoding=encoding)
    (twice,) = load(file)
    assert "🌦" in plain_text(once.messages[0])
    assert [plain_text(message) for message in twice.messages] == [
        plain_text(message) for message in once.messages
    ]


def test_a_string_of_json_that_is_not_closed_is_refused_as_no_json(tmp_path: Path) -> None:
    file = tmp_path / "talk.json"
    file.write_text('"{\\"role\\": \\"user\\"}')
    with pytest.raises(FormatError, match="which is no JSON"):
        load(file)


def test_of_a_packed_file_that_is_cut_off_the_intact_part_is_read_where_that_is_wanted(
    tmp_path: Path,
) -> None:
    packed = tmp_path / "cut.jsonl.gz"
    whole = gzip.compress(
        written(tmp_path, [PI, *(say(os.urandom(50).hex()) for _ in range(400))]).read_bytes()
    )
    packed.write_bytes(whole[: len(whole) // 2])
    with pytest.raises(
        FormatError, match=r"cut\.jsonl\.gz: cannot be read after [\d,]+ unpacked bytes"
    ):
        load(packed)
    (session,) = load(packed, lenient=True)
    assert 150 < len(session.messages) < 250
    assert sum("unpacked bytes cannot be read" in one for one in session.origin.skipped) == 1


def test_a_flipped_bit_in_a_packed_file_ends_no_folder(plain: Path, tmp_path: Path) -> None:
    raw = bytearray(gzip.compress(plain.read_bytes()))
    raw[len(raw) // 2] ^= 8
    (tmp_path / "flipped.jsonl.gz").write_bytes(raw)
    outcomes = {Path(one.path).name: one for one in scan(tmp_path)}
    assert outcomes[plain.name].sessions and "flipped.jsonl.gz" in str(
        outcomes["flipped.jsonl.gz"].error
    )


def test_of_a_zip_that_is_cut_off_the_whole_samples_are_read_where_that_is_wanted(
    tmp_path: Path,
) -> None:
    log = tmp_path / "log.eval"
    sample = {"id": 1, "epoch": 1, "messages": [{"role": "user", "content": os.urandom(99).hex()}]}
    with zipfile.ZipFile(log, "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("header.json", json.dumps({"eval": {"task": "sums"}}))
        for n in range(6):
            archive.writestr(f"samples/{n}_epoch_1.json", json.dumps(sample | {"id": n}))
    log.write_bytes(log.read_bytes()[: log.stat().st_size * 3 // 5])
    with pytest.raises(FormatError, match="the zip cannot be read"):
        load(log)
    sessions = load(log, lenient=True)
    assert 2 <= len(sessions) <= 5 and sessions[0].title == "sums"
    assert "the end of the zip is missing" in str(sessions[0].origin.skipped)


def zstandard(raw: bytes) -> bytes:
    packed: bytes = pyarrow.Codec("zstd").compress(raw, asbytes=True)
    return packed


def zstandard_zip(path: Path, members: dict[str, bytes]) -> None:
    """Write a zip whose members are packed by Zstandard, as Inspect writes its logs."""
    with zipfile.ZipFile(path, "w", zipfile.ZIP_STORED) as archive:
        for name, data in members.items():
            archive.writestr(name, zstandard(data))
    raw = bytearray(path.read_bytes())
    directory = 0
    for data in members.values():
        directory = raw.index(b"PK\x01\x02", directory)
        struct.pack_into("<H", raw, directory + 10, 93)
        struct.pack_into("<I", raw, directory + 16, zlib.crc32(data))
        struct.pack_into("<I", raw, directory + 24, len(data))
        directory += 4
    path.write_bytes(raw)


def test_a_log_of_inspect_whose_members_are_packed_by_zstandard_is_read(tmp_path: Path) -> None:
    log = tmp_path / "log.eval"
    sample = {"id": 1, "epoch": 1, "messages": [{"role": "user", "content": "how much?"}]}
    header = json.dumps({"eval": {"task": "sums"}}).encode()
    members = {"header.json": header, "samples/1_epoch_1.json": json.dumps(sample).encode()}
    zstandard_zip(log, members)
    (session,) = load(log)
    assert (session.title, len(session.messages)) == ("sums", 1)


PACKINGS: dict[str, Callable[[bytes], bytes]] = {
    "gz": gzip.compress,
    "bz2": bz2.compress,
    "xz": lzma.compress,
    "zst": zstandard,
}


@pytest.mark.parametrize("ending", PACKINGS)
def test_a_packed_recording_is_read_by_its_name_and_in_a_folder(plain: Path, ending: str) -> None:
    (session,) = load(plain)
    packed = plain.with_name(f"packed.jsonl.{ending}")
    packed.write_bytes(PACKINGS[ending](plain.read_bytes()))
    plain.unlink()
    assert [*load(packed)[0].messages] == [*load(packed.parent)[0].messages] == [*session.messages]


@pytest.mark.parametrize("ending", ["bz2", "xz"])
def test_streams_that_were_packed_one_by_one_are_one_recording(plain: Path, ending: str) -> None:
    (session,) = load(plain)
    lines = plain.read_bytes().splitlines(keepends=True)
    plain.write_bytes(b"".join(PACKINGS[ending](line) for line in lines))
    assert [*load(plain)[0].messages] == [*session.messages]


@pytest.mark.parametrize("ending", PACKINGS)
@pytest.mark.slow
def test_of_every_packing_the_intact_part_is_read(tmp_path: Path, ending: str) -> None:
    lines = written(tmp_path, [PI, *(say(os.urandom(500).hex()) for _ in range(4_000))])
    whole = PACKINGS[ending](lines.read_bytes())
    packed = tmp_path / f"cut.jsonl.{ending}"
    packed.write_bytes(whole[: len(whole) // 2])
    with pytest.raises(FormatError, match=r"cannot be read after [\d,]+ unpacked bytes"):
        load(packed)
    (session,) = load(packed, lenient=True)
    assert 500 < len(session.messages) < 2_500
    assert any("unpacked bytes cannot be read" in note for note in session.origin.skipped)


@pytest.mark.parametrize("ending", PACKINGS)
def test_a_bomb_of_any_packing_is_refused(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, ending: str
) -> None:
    monkeypatch.setattr(opening, "ALWAYS", 1 << 16)
    bomb = tmp_path / f"bomb.jsonl.{ending}"
    bomb.write_bytes(PACKINGS[ending](json.dumps(PI).encode() + b"\n{}" * (1 << 20)))
    with pytest.raises(FormatError, match=r"unpacks to more than 50 times its size"):
        load(bomb, format="pi")


def test_a_line_that_is_too_long_costs_itself_alone(
    plain: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(opening, "LONGEST_LINE", 1 << 20)
    with plain.open("a") as stream:
        stream.write(json.dumps(say("x" * (3 << 20))) + "\n" + json.dumps(say("the end")) + "\n")
    with pytest.raises(FormatError, match=r"line 402: is longer than 1 MB"):
        load(plain)
    (session,) = load(plain, lenient=True)
    assert len(session.messages) == 401 and plain_text(session.messages[-1]) == "the end"
    assert session.origin.skipped == ("line 402: is longer than 1 MB, left out",)


@pytest.mark.slow
def test_what_unpacks_without_end_is_refused(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(opening, "MOST_UNPACKED", 1 << 20)
    bomb = tmp_path / "bomb.jsonl.gz"
    bomb.write_bytes(gzip.compress(b"{}\n" * (1 << 20)))
    with pytest.raises(FormatError, match=r"bomb\.jsonl\.gz: unpacks to more than"):
        load(bomb, format="pi")


def test_what_unpacks_to_far_more_than_its_size_is_refused_before_it_is_unpacked(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(opening, "ALWAYS", 1 << 16)
    bomb, log = tmp_path / "bomb.jsonl.gz", tmp_path / "log.eval"
    bomb.write_bytes(gzip.compress(json.dumps(PI).encode() + b"\n{}" * (1 << 20)))
    with zipfile.ZipFile(log, "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("header.json", "{}")
        archive.writestr("samples/1_epoch_1.json", "[" + " " * (1 << 20) + "]")
    for path in (bomb, log):
        with pytest.raises(FormatError, match=r"unpacks to more than 50 times its size"):
            load(path)


@pytest.mark.parametrize(
    ("name", "most", "refusal"),
    [("SECONDS", -1, "takes longer than"), ("MOST_LINES", 99, "more than 99 lines")],
)
def test_a_file_gets_so_much_time_and_so_many_lines_and_no_more(
    plain: Path, monkeypatch: pytest.MonkeyPatch, name: str, most: int, refusal: str
) -> None:
    monkeypatch.setattr(opening, name, most)
    (loaded,) = scan([plain], lenient=True)
    assert (
        loaded.error is not None
        and str(loaded.error).startswith(str(plain))
        and refusal in str(loaded.error)
    )


@pytest.mark.parametrize(
    ("name", "most"), [("LONGEST_LINE", "line 1: is longer"), ("MOST_AT_ONCE", "one document")]
)
def test_what_is_too_large_to_be_read_at_once_is_refused(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, name: str, most: str
) -> None:
    monkeypatch.setattr(opening, name, 1 << 16)
    large = tmp_path / "large.json"
    large.write_text('{"messages": [' + " " * (1 << 17) + "]}")
    with pytest.raises(FormatError, match=f"large.json.*{most}"):
        load(large, format="openai_chat")
