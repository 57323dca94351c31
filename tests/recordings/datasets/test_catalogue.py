from __future__ import annotations

import hashlib
import json
import re
import threading
from collections.abc import Iterator
from dataclasses import dataclass, field, replace
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

import pytest

from workbench import FormatError, SetupError
from workbench.cli import main
from workbench.recordings.datasets.catalogue import PublicRecording, fetch, recordings

DATA = bytes(range(256)) * 1000
ENTRY = PublicRecording(
    set="corpora", source="thing", file="sample.jsonl", repository="someone/thing", commit="c" * 40, path="a b/session.jsonl",
    licence="MIT", what="native", sha256=hashlib.sha256(DATA).hexdigest(), size=len(DATA),
)  # fmt: skip


@dataclass
class Host:
    """A loopback server and what it was asked for; after `breaks_after` bytes it hangs up."""

    address: str = ""
    files: dict[str, bytes] = field(default_factory=dict)
    asked: list[str] = field(default_factory=list)
    breaks_after: int | None = None


@pytest.fixture
def host() -> Iterator[Host]:
    known = Host(files={"/someone/thing/" + "c" * 40 + "/a%20b/session.jsonl": DATA})

    class Handler(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            known.asked.append(self.path)
            if self.path not in known.files:
                self.send_error(404)
                return
            data = known.files[self.path]
            self.send_response(200)
            self.send_header("Content-Length", str(len(data)))
            self.end_headers()
            self.wfile.write(data[: known.breaks_after])

        def log_message(self, format: str, *args: object) -> None:
            pass

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    known.address = f"http://127.0.0.1:{server.server_port}"
    thread = threading.Thread(target=server.serve_forever, args=(0.01,))
    thread.start()
    yield known
    server.shutdown()
    thread.join()
    server.server_close()


def fetched(entry: PublicRecording, folder: Path, host: Host) -> Path:
    """The one file, or the error that stands in its place."""
    [(_, found)] = fetch([entry], folder, host.address, seconds=2)
    if not isinstance(found, Path):
        raise found
    return found


def part(data: bytes, **where: object) -> PublicRecording:
    """A recording that is a part of the host's file."""
    return replace(ENTRY, file="part", sha256=hashlib.sha256(data).hexdigest(), **where)  # type: ignore[arg-type]


def test_a_recording_is_fetched_once_to_the_folder_of_its_source(
    tmp_path: Path, host: Host
) -> None:
    assert fetched(ENTRY, tmp_path / "fetched", host).read_bytes() == DATA
    assert (
        fetched(ENTRY, tmp_path / "fetched", host)
        == tmp_path / "fetched" / "corpora" / "thing" / "sample.jsonl"
    )
    assert len(host.asked) == 1


def test_recordings_that_are_parts_of_one_file_ask_for_it_once(tmp_path: Path, host: Host) -> None:
    text = b"one\ntwo\rtoo\n\xffthree\nfour\n"
    host.files = dict.fromkeys(host.files, text)
    every = [part(b"two\rtoo\n\xffthree\n", lines=(2, 3)), replace(part(text), file="whole")]
    assert [
        file.read_bytes()
        for _, file in fetch(every, tmp_path, host.address)
        if isinstance(file, Path)
    ] == [
        b"two\rtoo\n\xffthree\n",
        text,
    ]
    assert len(host.asked) == 1


def test_items_of_a_list_are_taken_in_the_order_of_the_catalogue(
    tmp_path: Path, host: Host
) -> None:
    host.files = dict.fromkeys(host.files, '[{"a": 1}, "é", [2]]'.encode())
    public_recording = part('[\n [\n  2\n ],\n "é"\n]'.encode(), items=(2, 1))
    assert json.loads(fetched(public_recording, tmp_path, host).read_text("utf-8")) == [[2], "é"]
    for other in (b"[]", b"no list"):
        host.files = dict.fromkeys(host.files, other)
        with pytest.raises(FormatError, match="differs"):
            fetched(replace(public_recording, file=f"other {len(other)}"), tmp_path, host)


def test_a_download_that_breaks_off_leaves_nothing(tmp_path: Path, host: Host) -> None:
    host.breaks_after = 100_000
    with pytest.raises(SetupError, match="could not be read"):
        fetched(ENTRY, tmp_path, host)
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize("data", [DATA[:-1] + b"x", DATA + b"more"])
def test_another_file_than_meant_is_thrown_away(tmp_path: Path, host: Host, data: bytes) -> None:
    host.files = dict.fromkeys(host.files, data)
    with pytest.raises(FormatError, match="differs from the one in the catalogue") as found:
        fetched(ENTRY, tmp_path, host)
    assert host.address in str(found.value)
    assert list(tmp_path.iterdir()) == []


def test_a_damaged_file_in_the_folder_is_fetched_again(tmp_path: Path, host: Host) -> None:
    file = fetched(ENTRY, tmp_path, host)
    file.write_bytes(DATA[:-1] + b"x")
    assert fetched(ENTRY, tmp_path, host).read_bytes() == DATA


def test_a_recording_that_the_host_does_not_have_stops_no_other(tmp_path: Path, host: Host) -> None:
    public_recording = replace(ENTRY, file="gone", path="none.jsonl")
    (_, missing), (_, there) = fetch([public_recording, ENTRY], tmp_path, host.address)
    assert "answered 404" in str(missing)
    assert there == tmp_path / "corpora" / "thing" / "sample.jsonl"


def test_a_connection_that_breaks_off_stops_no_other(tmp_path: Path, host: Host) -> None:
    host.files["/someone/thing/" + "c" * 40 + "/short.jsonl"] = b"short"
    host.breaks_after = 10
    short = replace(part(b"short"), path="short.jsonl")
    (_, broken), (_, there) = fetch([ENTRY, short], tmp_path, host.address)
    assert "connection broke off" in str(broken)
    assert host.address in str(broken)
    assert there == tmp_path / "corpora" / "thing" / "part"


@pytest.mark.parametrize("address", ["http://127.0.0.1:9", "no address"])
def test_a_host_that_does_not_answer_is_an_error(address: str, tmp_path: Path) -> None:
    with pytest.raises(SetupError, match="could not be read"):
        fetched(ENTRY, tmp_path, Host(address))


def test_the_catalogue_lists_files_that_are_fixed_for_good() -> None:
    public_recordings = recordings()
    assert len(public_recordings) >= 100
    assert len({entry.name for entry in public_recordings}) == len(public_recordings)
    for entry in public_recordings:
        assert re.fullmatch(r"[0-9a-f]{40}", entry.commit)
        assert re.fullmatch(r"[0-9a-f]{64}", entry.sha256)
        assert entry.licence in {"MIT", "Apache-2.0", "CC0-1.0"}
        assert entry.url().startswith("https://")
        assert not Path(entry.name).is_absolute() and ".." not in entry.name


def test_an_unknown_name_lists_the_known_ones(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["lab", "dataset", "fetch", "nothing"]) == 2
    assert re.search("has .*pi-mono", capsys.readouterr().err)


@pytest.mark.parametrize(
    ("name", "sources"),
    [
        ("corpora/pi-mono/large-session.jsonl", {"corpora/pi-mono": 1}),
        ("pi-mono", {"corpora/pi-mono": 2}),
        ("graded", {"graded": None}),
    ],
)
def test_a_file_a_source_and_a_whole_set_can_be_fetched(
    name: str,
    sources: dict[str, int | None],
    host: Host,
    tmp_path: Path,
    capsys: pytest.CaptureFixture[str],
) -> None:
    without_them = ["--host", host.address, "--folder", str(tmp_path), "--json"]
    assert main(["lab", "dataset", "fetch", name, *without_them]) == 1
    missing = list(json.loads(capsys.readouterr().out)["missing"])
    ((source, count),) = sources.items()
    assert missing and all(file.startswith(f"{source}/") for file in missing)
    assert count in (None, len(missing))
