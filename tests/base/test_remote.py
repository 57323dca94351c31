"""Addresses of files in a store, and what is said of one that cannot be read."""

from __future__ import annotations

import importlib
import sys
from collections.abc import Iterator
from functools import partial
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from threading import Thread
from uuid import uuid4

import pytest

from workbench import MissingPath, SettingError, SetupError
from workbench.base import remote

pytest.importorskip("fsspec", reason="the extra `remote` is not installed")


@pytest.fixture
def folder() -> str:
    """The address of a folder in memory that no other test uses."""
    return f"memory://{uuid4().hex}"


def test_a_path_made_of_an_address_is_the_same_address() -> None:
    assert remote.address_of(Path("s3://bucket/a/b.jsonl")) == "s3://bucket/a/b.jsonl"
    assert remote.address_of("s3://bucket/a/") == "s3://bucket/a"


@pytest.mark.parametrize("place", ["sessions", "/s3/bucket", "c:/sessions", "ssh://host/a", "s3:"])
def test_other_texts_are_paths(place: str) -> None:
    assert remote.address_of(place) == ""
    assert remote.name_of(place) == place


def test_a_file_address_is_its_path() -> None:
    assert remote.address_of("file:///tmp/a") == ""
    assert remote.name_of("file:///tmp/a") == "/tmp/a"
    assert remote.name_of(Path("file:///tmp/a")) == "/tmp/a"


def test_an_address_leads_nowhere_else() -> None:
    with pytest.raises(SettingError, match=r"has a part `\.\.`"):
        remote.address_of("s3://bucket/runs/../other")


def test_what_was_written_is_listed_and_read(folder: str) -> None:
    remote.write(f"{folder}/b/two.json", "two")
    remote.write(f"{folder}/one.json", b"one")
    listed = remote.files_below(folder)
    assert [(file.address, file.size) for file in listed] == [
        (f"{folder}/b/two.json", 3),
        (f"{folder}/one.json", 3),
    ]
    assert remote.folder(folder).folders == (f"{folder}/b",)
    assert [file.name for file in remote.folder(folder).files] == ["one.json"]
    assert remote.read(f"{folder}/one.json") == b"one"
    assert [file.name for file in remote.files_below(f"{folder}/*.json")] == ["one.json"]


def test_a_file_that_is_not_there_has_no_content_and_cannot_be_listed(folder: str) -> None:
    assert remote.read(f"{folder}/none") is None
    remote.remove(f"{folder}/none")
    with pytest.raises(MissingPath, match="there is no file or folder memory://"):
        remote.files_below(folder)


@pytest.mark.parametrize(
    ("address", "module", "command"),
    [
        ("s3://bucket/a", "fsspec.core", "pip install 'compaction-workbench[remote]'"),
        ("s3://bucket/a", "s3fs", "needs the package s3fs: pip install 'compaction-workbench[rem"),
        ("gs://bucket/a", "gcsfs", "needs the package gcsfs: pip install .* gcsfs"),
        ("az://container/a", "adlfs", "needs the package adlfs: pip install .* adlfs"),
    ],
)
def test_a_missing_package_is_named_with_the_command_that_installs_it(
    address: str, module: str, command: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(sys.modules, module, None)
    imported_stores = importlib.import_module("fsspec.registry")._registry
    monkeypatch.delitem(imported_stores, address.partition("://")[0], raising=False)
    with pytest.raises(SetupError, match=command.replace("[", r"\[")):
        remote.read(address)


def test_without_credentials_the_store_is_not_asked(monkeypatch: pytest.MonkeyPatch) -> None:
    s3fs = pytest.importorskip("s3fs")
    s3fs.S3FileSystem.clear_instance_cache()
    for name in ("AWS_ACCESS_KEY_ID", "AWS_SECRET_ACCESS_KEY", "AWS_PROFILE"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("AWS_EC2_METADATA_DISABLED", "true")
    monkeypatch.setenv("AWS_CONFIG_FILE", "/nowhere")
    monkeypatch.setenv("AWS_SHARED_CREDENTIALS_FILE", "/nowhere")
    with pytest.raises(SetupError, match="needs credentials, and none were found"):
        remote.read("s3://bucket/a")


def test_a_store_that_does_not_answer_is_one_sentence(monkeypatch: pytest.MonkeyPatch) -> None:
    s3fs = pytest.importorskip("s3fs")
    s3fs.S3FileSystem.clear_instance_cache()
    monkeypatch.setenv("AWS_ENDPOINT_URL", "http://127.0.0.1:9")
    monkeypatch.setenv("AWS_ACCESS_KEY_ID", "a")
    monkeypatch.setenv("AWS_SECRET_ACCESS_KEY", "a")
    monkeypatch.setenv("AWS_MAX_ATTEMPTS", "1")
    with pytest.raises(SetupError, match=r"s3://bucket/a cannot be reached: .*127\.0\.0\.1:9"):
        remote.read("s3://bucket/a")
    s3fs.S3FileSystem.clear_instance_cache()


@pytest.fixture
def web(tmp_path: Path) -> Iterator[str]:
    """The address of a web server with one file."""
    pytest.importorskip("aiohttp", reason="the extra `remote` is not installed")
    (tmp_path / "chat.jsonl").write_text("{}")
    handler = partial(SimpleHTTPRequestHandler, directory=str(tmp_path))
    with ThreadingHTTPServer(("127.0.0.1", 0), handler) as server:
        Thread(target=server.serve_forever, daemon=True).start()
        yield f"http://127.0.0.1:{server.server_port}"
        server.shutdown()


def test_one_file_of_a_web_server_is_found(web: str) -> None:
    (file,) = remote.files_below(f"{web}/chat.jsonl")
    assert (file.address, file.size) == (f"{web}/chat.jsonl", 2)
    assert remote.read(file.address) == b"{}"
    with pytest.raises(MissingPath):
        remote.files_below(f"{web}/none.jsonl")


def test_a_web_server_that_does_not_answer_is_told() -> None:
    pytest.importorskip("aiohttp", reason="the extra `remote` is not installed")
    with pytest.raises(SetupError, match="cannot be reached"):
        remote.files_below("http://127.0.0.1:1/chat.jsonl")
