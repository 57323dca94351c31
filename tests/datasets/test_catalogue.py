from __future__ import annotations

import hashlib
import re
import threading
from collections.abc import Iterator
from dataclasses import dataclass, field, replace
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

import pytest

from workbench.errors import FormatError, SettingError, SetupError
from workbench.datasets.catalogue import PublicRecording, fetch, find, recordings

DATA = bytes(range(256)) * 1000
ENTRY = PublicRecording(
    name="sample", repository="someone/thing", commit="c" * 40, path="a b/session.jsonl", licence="MIT",
    format="native",
    sha256=hashlib.sha256(DATA).hexdigest(), bytes=len(DATA),
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


def test_a_recording_is_fetched_once(tmp_path: Path, host: Host) -> None:
    folder = tmp_path / "fetched"
    assert fetch(ENTRY, folder, host.address).read_bytes() == DATA
    assert fetch(ENTRY, folder, host.address).name == "sample.jsonl"
    assert len(host.asked) == 1
    assert [file.name for file in folder.iterdir()] == ["sample.jsonl"]


def test_a_download_that_breaks_off_leaves_nothing(tmp_path: Path, host: Host) -> None:
    host.breaks_after = 100_000
    with pytest.raises(SetupError, match="could not be read"):
        fetch(ENTRY, tmp_path, host.address)
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize("data", [DATA[:-1] + b"x", DATA + b"more"])
def test_another_file_than_meant_is_thrown_away(tmp_path: Path, host: Host, data: bytes) -> None:
    host.files = {path: data for path in host.files}
    with pytest.raises(FormatError, match="differs from the one in the catalogue"):
        fetch(ENTRY, tmp_path, host.address)
    assert list(tmp_path.iterdir()) == []


def test_a_damaged_file_in_the_folder_is_fetched_again(tmp_path: Path, host: Host) -> None:
    file = fetch(ENTRY, tmp_path, host.address)
    file.write_bytes(DATA[:-1] + b"x")
    assert fetch(ENTRY, tmp_path, host.address).read_bytes() == DATA


def test_a_recording_that_the_host_does_not_have_is_an_error(tmp_path: Path, host: Host) -> None:
    with pytest.raises(SetupError, match="answered 404"):
        fetch(replace(ENTRY, path="none.jsonl"), tmp_path, host.address)


def test_a_host_that_does_not_answer_is_an_error(tmp_path: Path) -> None:
    with pytest.raises(SetupError, match="could not be read"):
        fetch(ENTRY, tmp_path, "http://127.0.0.1:9", seconds=2)


def test_the_catalogue_lists_files_that_are_fixed_for_good() -> None:
    known = recordings()
    assert len(known) >= 10
    assert len({entry.name for entry in known}) == len(known)
    for entry in known:
        assert re.fullmatch(r"[0-9a-f]{40}", entry.commit)
        assert re.fullmatch(r"[0-9a-f]{64}", entry.sha256)
        assert entry.licence in {"MIT", "Apache-2.0"}
        assert entry.url().startswith("https://")


def test_an_unknown_name_lists_the_known_ones() -> None:
    with pytest.raises(SettingError, match=f"has .*{recordings()[0].name}"):
        find("nothing")
    assert find(recordings()[0].name) == recordings()[0]
