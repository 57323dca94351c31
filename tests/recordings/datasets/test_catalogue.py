from __future__ import annotations

import hashlib
import json
import re
import threading
import tomllib
from collections.abc import Callable, Iterator
from dataclasses import asdict, dataclass, field, replace
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any, TypeAlias

import pytest

import workbench
from workbench.cli import main

CATALOGUE = Path(workbench.__file__).parent / "recordings" / "datasets" / "catalogue.toml"
DATA = bytes(range(256)) * 1000


@dataclass(frozen=True, slots=True, kw_only=True)
class Entry:
    """A file of the catalogue, of one source."""

    file: str
    path: str
    sha256: str
    size: int
    lines: tuple[int, int] | None = None
    items: tuple[int, ...] | None = None

    def toml(self) -> str:
        """Its line in the catalogue."""
        values = {name: value for name, value in asdict(self).items() if value is not None}
        fields = [f"{name} = {json.dumps(value)}" for name, value in values.items()]
        return f"{{ {', '.join(fields)} }}"


ENTRY = Entry(
    file="sample.jsonl",
    path="a b/session.jsonl",
    sha256=hashlib.sha256(DATA).hexdigest(),
    size=len(DATA),
)
SOURCE = f"""[[source]]
name = "thing"
set = "corpora"
repository = "someone/thing"
commit = "{"c" * 40}"
licence = "MIT"
what = "native"
"""


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


@dataclass(frozen=True, slots=True)
class Fetched:
    """What the command answers: the files, and why others are missing, by name."""

    files: list[Path]
    missing: dict[str, str]


Fetch: TypeAlias = Callable[..., Fetched]


@pytest.fixture
def fetch(
    host: Host,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> Fetch:
    """Fetches all files of a catalogue that has these."""

    def fetched(*entries: Entry) -> Fetched:
        catalogue = tmp_path / "catalogue.toml"
        files = ",\n".join(entry.toml() for entry in entries)
        catalogue.write_text(f"{SOURCE}files = [\n{files}\n]\n", "utf-8")
        monkeypatch.setattr("workbench.recordings.datasets.catalogue.CATALOGUE", catalogue)
        words = ["--all", "--host", host.address, "--folder", str(tmp_path / "fetched"), "--json"]
        has_failed = main(["lab", "dataset", "fetch", *words])
        answer = json.loads(capsys.readouterr().out)
        assert has_failed == bool(answer["missing"])
        return Fetched([Path(file) for file in answer["files"]], answer["missing"])

    return fetched


def part(data: bytes, **where: Any) -> Entry:
    """A recording that is a part of the host's file."""
    return replace(ENTRY, file="part", sha256=hashlib.sha256(data).hexdigest(), **where)


def test_a_recording_is_fetched_once_to_the_folder_of_its_source(
    fetch: Fetch, tmp_path: Path, host: Host
) -> None:
    file = tmp_path / "fetched" / "corpora" / "thing" / "sample.jsonl"
    assert fetch(ENTRY) == Fetched([file], {})
    assert file.read_bytes() == DATA
    assert fetch(ENTRY) == Fetched([file], {})
    assert len(host.asked) == 1


def test_recordings_that_are_parts_of_one_file_ask_for_it_once(fetch: Fetch, host: Host) -> None:
    text = b"one\ntwo\rtoo\n\xffthree\nfour\n"
    host.files = dict.fromkeys(host.files, text)
    middle = b"two\rtoo\n\xffthree\n"
    fetched = fetch(part(middle, lines=(2, 3)), replace(part(text), file="whole"))
    assert [file.read_bytes() for file in fetched.files] == [middle, text]
    assert len(host.asked) == 1


def test_items_of_a_list_are_taken_in_the_order_of_the_catalogue(fetch: Fetch, host: Host) -> None:
    host.files = dict.fromkeys(host.files, '[{"a": 1}, "é", [2]]'.encode())
    entry = part('[\n [\n  2\n ],\n "é"\n]'.encode(), items=(2, 1))
    (file,) = fetch(entry).files
    assert json.loads(file.read_text("utf-8")) == [[2], "é"]
    for other in (b"[]", b"no list"):
        host.files = dict.fromkeys(host.files, other)
        (reason,) = fetch(replace(entry, file=f"other {len(other)}")).missing.values()
        assert "differs" in reason


def test_a_download_that_breaks_off_leaves_nothing(
    fetch: Fetch, tmp_path: Path, host: Host
) -> None:
    host.breaks_after = 100_000
    assert "could not be read" in fetch(ENTRY).missing["corpora/thing/sample.jsonl"]
    assert not (tmp_path / "fetched").exists()


@pytest.mark.parametrize("data", [DATA[:-1] + b"x", DATA + b"more"])
def test_another_file_than_meant_is_thrown_away(
    fetch: Fetch, tmp_path: Path, host: Host, data: bytes
) -> None:
    host.files = dict.fromkeys(host.files, data)
    reason = fetch(ENTRY).missing["corpora/thing/sample.jsonl"]
    assert "differs from the one in the catalogue" in reason and host.address in reason
    assert not (tmp_path / "fetched").exists()


def test_a_damaged_file_in_the_folder_is_fetched_again(fetch: Fetch) -> None:
    (file,) = fetch(ENTRY).files
    file.write_bytes(DATA[:-1] + b"x")
    assert fetch(ENTRY).files == [file]
    assert file.read_bytes() == DATA


def test_a_recording_that_the_host_does_not_have_stops_no_other(
    fetch: Fetch, tmp_path: Path
) -> None:
    fetched = fetch(replace(ENTRY, file="gone", path="none.jsonl"), ENTRY)
    assert "answered 404" in fetched.missing["corpora/thing/gone"]
    assert fetched.files == [tmp_path / "fetched" / "corpora" / "thing" / "sample.jsonl"]


def test_a_connection_that_breaks_off_stops_no_other(
    fetch: Fetch, tmp_path: Path, host: Host
) -> None:
    host.files["/someone/thing/" + "c" * 40 + "/short.jsonl"] = b"short"
    host.breaks_after = 10
    fetched = fetch(ENTRY, replace(part(b"short"), path="short.jsonl"))
    reason = fetched.missing["corpora/thing/sample.jsonl"]
    assert "connection broke off" in reason and host.address in reason
    assert fetched.files == [tmp_path / "fetched" / "corpora" / "thing" / "part"]


@pytest.mark.parametrize("address", ["http://127.0.0.1:9", "no address"])
def test_a_host_that_does_not_answer_is_an_error(
    address: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    words = ["--all", "--host", address, "--folder", str(tmp_path)]
    assert main(["lab", "dataset", "fetch", *words]) == 2
    assert "could not be read" in capsys.readouterr().err


def test_the_catalogue_lists_files_that_are_fixed_for_good() -> None:
    names: list[str] = []
    for source in tomllib.loads(CATALOGUE.read_text("utf-8"))["source"]:
        assert re.fullmatch(r"[0-9a-f]{40}", source["commit"])
        assert source["licence"] in {"MIT", "Apache-2.0", "CC0-1.0"}
        for file in source["files"]:
            assert re.fullmatch(r"[0-9a-f]{64}", file["sha256"])
            names.append(f"{source['set']}/{source['name']}/{file['file']}")
    assert len(names) >= 100 and len(set(names)) == len(names)
    assert not any(Path(name).is_absolute() or ".." in name for name in names)


def test_recordings_are_fetched_over_https(capsys: pytest.CaptureFixture[str]) -> None:
    main(["lab", "dataset", "fetch", "--help"])
    assert "default: https://raw.githubusercontent.com" in " ".join(capsys.readouterr().out.split())


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
