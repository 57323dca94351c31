"""A real S3 server on this machine, named in the environment as a user names it."""

from __future__ import annotations

import logging
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

BUCKET = "bucket"


@contextmanager
def serving_s3() -> Iterator[str]:
    """An S3 server with one empty bucket; its address."""
    for package in ("s3fs", "moto", "flask", "flask_cors"):
        pytest.importorskip(package, reason="the extra `remote` and a local S3 server are missing")
    import s3fs
    from moto.server import ThreadedMotoServer

    logging.getLogger("werkzeug").setLevel(logging.ERROR)
    server = ThreadedMotoServer(ip_address="127.0.0.1", port=0, verbose=False)
    server.start()
    _, port = server.get_host_and_port()
    address = f"http://127.0.0.1:{port}"
    with pytest.MonkeyPatch.context() as patched:
        for name, value in environment(address).items():
            patched.setenv(name, value)
        patched.delenv("AWS_PROFILE", raising=False)
        s3fs.S3FileSystem.clear_instance_cache()
        s3fs.S3FileSystem().mkdir(BUCKET)
        try:
            yield address
        finally:
            s3fs.S3FileSystem.clear_instance_cache()
            server.stop()


def environment(address: str) -> dict[str, str]:
    """What a process needs in its environment to use the server."""
    return {
        "AWS_ENDPOINT_URL": address,
        "AWS_ACCESS_KEY_ID": "tests",
        "AWS_SECRET_ACCESS_KEY": "tests",
        "AWS_DEFAULT_REGION": "us-east-1",
        "AWS_CONFIG_FILE": "/nowhere",
        "AWS_SHARED_CREDENTIALS_FILE": "/nowhere",
    }


def put(folder: Path, address: str) -> None:
    """Copy the files of a folder to an address."""
    import fsspec

    store, root = fsspec.core.url_to_fs(address)
    for file in sorted(folder.rglob("*")):
        if file.is_file():
            store.pipe_file(f"{root}/{file.relative_to(folder).as_posix()}", file.read_bytes())
