from __future__ import annotations

import hashlib
import os
import re
import threading
from collections.abc import Iterator
from dataclasses import dataclass, field, replace
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

import pytest

from workbench.errors import FormatError, SettingError, SetupError
from workbench.datasets.catalogue import Cache, Recording, recordings, fetch, find

DATA = bytes(range(256)) * 1000
ENTRY = Recording(
    name="sample", repository="someone/thing", commit="c" * 40, path="a b/session.jsonl", licence="MIT",
    format="native",
    sha256=hashlib.sha256(DATA).hexdigest(), bytes=len(DATA),
)  # fmt: skip


@dataclass
class Host:
    """A loopback server and what it was asked for.

    `breaks_after` bytes it hangs up; `ranges` says whether it knows them.
    """

    address: str = ""
    files: dict[str, bytes] = field(default_factory=dict)
    asked: list[tuple[str, str | None]] = field(default_factory=list)
    breaks_after: int | None = None
    ranges: bool = True
    sends_to: str = ""


@pytest.fixture
def host() -> Iterator[Host]:
    known = Host(files={"/someone/thing/" + "c" * 40 + "/a%20b/session.jsonl": DATA})

    class Handler(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            wanted = self.headers.get("Range")
            known.asked.append((self.path, wanted))
            if known.sends_to:
                self.send_response(302)
                self.send_header("Location", known.sends_to)
                self.end_headers()
                return
            if self.path not in known.files:
                self.send_error(404)
                return
            data = known.files[self.path]
            start = int(wanted[6:-1]) if wanted and known.ranges else 0
            self.send_response(206 if start else 200)
            self.send_header("Content-Length", str(len(data) - start))
            self.end_headers()
            stop = len(data) if known.breaks_after is None else start + known.breaks_after
            self.wfile.write(data[start:stop])

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
    cache = Cache(tmp_path / "cache")
    assert fetch(ENTRY, cache, host.address).read_bytes() == DATA
    assert fetch(ENTRY, cache, host.address).name == "sample.jsonl"
    assert len(host.asked) == 1
    assert [file.name for file in cache.folder.iterdir()] == ["sample.jsonl"]


def test_a_broken_download_goes_on_where_it_broke_off(tmp_path: Path, host: Host) -> None:
    cache = Cache(tmp_path)
    host.breaks_after = 100_000
    with pytest.raises(SetupError, match=r"100000 of 256000 bytes|could not be read"):
        fetch(ENTRY, cache, host.address)
    host.breaks_after = None
    assert fetch(ENTRY, cache, host.address).read_bytes() == DATA
    assert host.asked[1][1] == "bytes=100000-"


def test_a_host_that_knows_no_ranges_is_read_from_the_start(tmp_path: Path, host: Host) -> None:
    cache = Cache(tmp_path)
    (tmp_path / "sample.jsonl.part").write_bytes(DATA[:1000])
    host.ranges = False
    assert fetch(ENTRY, cache, host.address).read_bytes() == DATA


@pytest.mark.parametrize("data", [DATA[:-1] + b"x", DATA + b"more"])
def test_another_file_than_meant_is_thrown_away(tmp_path: Path, host: Host, data: bytes) -> None:
    cache = Cache(tmp_path)
    host.files = {path: data for path in host.files}
    with pytest.raises(FormatError, match="differs from the one in the catalogue"):
        fetch(ENTRY, cache, host.address)
    assert list(tmp_path.iterdir()) == []


def test_a_damaged_file_in_the_cache_is_fetched_again(tmp_path: Path, host: Host) -> None:
    cache = Cache(tmp_path)
    file = fetch(ENTRY, cache, host.address)
    file.write_bytes(DATA[:-1] + b"x")
    assert fetch(ENTRY, cache, host.address).read_bytes() == DATA


def test_what_is_missing_is_said_in_a_sentence(tmp_path: Path, host: Host) -> None:
    with pytest.raises(SetupError, match="answered 404"):
        fetch(replace(ENTRY, path="none.jsonl"), Cache(tmp_path), host.address)


def test_nobody_listening_is_said_in_a_sentence(tmp_path: Path) -> None:
    with pytest.raises(SetupError, match="could not be read"):
        fetch(ENTRY, Cache(tmp_path), "http://127.0.0.1:9", seconds=2)


@pytest.mark.parametrize("address", ["http://example.org", "ftp://127.0.0.1", "file:///etc"])
def test_only_https_is_used(tmp_path: Path, address: str) -> None:
    with pytest.raises(SettingError, match="over https"):
        fetch(ENTRY, Cache(tmp_path), address)


def test_a_redirect_may_not_leave_https(tmp_path: Path, host: Host) -> None:
    host.sends_to = "http://example.org/x"
    with pytest.raises(SettingError, match="over https"):
        fetch(ENTRY, Cache(tmp_path), host.address)


def test_the_cache_stays_below_its_limit_and_drops_what_was_used_longest_ago(tmp_path: Path, host: Host) -> None:
    cache = Cache(tmp_path, limit=len(DATA) * 2)
    others = [replace(ENTRY, name=name) for name in ("first", "second", "third")]
    for n, entry in enumerate(others[:2]):
        os.utime(fetch(entry, cache, host.address), (n, n))
    fetch(others[0], cache, host.address)  # used again, so the second is now the older one
    fetch(others[2], cache, host.address)
    assert sorted(file.name for file in tmp_path.iterdir()) == ["first.jsonl", "third.jsonl"]


def test_what_is_larger_than_the_cache_is_refused(tmp_path: Path, host: Host) -> None:
    with pytest.raises(SettingError, match="256000 bytes"):
        fetch(ENTRY, Cache(tmp_path, limit=1000), host.address)
    assert host.asked == []


def test_a_check_names_what_is_damaged_unfinished_or_unknown(tmp_path: Path, host: Host) -> None:
    cache = Cache(tmp_path)
    file = fetch(ENTRY, cache, host.address)
    assert cache.problems((ENTRY,)) == ()
    file.write_bytes(b"x")
    (tmp_path / "sample.jsonl.part").write_bytes(b"x")
    (tmp_path / "other.txt").write_bytes(b"x")
    assert [re.sub(r"^\S+ |;.*", "", line) for line in cache.problems((ENTRY,))] == [
        "is not in the catalogue",
        "differs from the file in the catalogue",
        "is unfinished",
    ]


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
    with pytest.raises(SettingError, match=f"there are .*{recordings()[0].name}"):
        find("nothing")
    assert find(recordings()[0].name) == recordings()[0]


@pytest.mark.parametrize(
    "line, why", [('sha256 = "x"', ""), ("bytes = '12'", "bytes"), ('name = "../x"', "plain file name")]
)
def test_a_bad_catalogue_is_named(tmp_path: Path, line: str, why: str) -> None:
    good = {"name": '"a"', "repository": '"r"', "commit": '"c"', "path": '"p"', "licence": '"MIT"', "format": '"f"',
            "sha256": '"s"', "bytes": "3"}  # fmt: skip
    good[line.split(" ")[0]] = line.split(" = ")[1]
    file = tmp_path / "catalogue.toml"
    file.write_text("[[recording]]\n" + "\n".join(f"{name} = {value}" for name, value in good.items()))
    if why:
        with pytest.raises(FormatError, match=why):
            recordings(file)
    else:
        assert len(recordings(file)) == 1
