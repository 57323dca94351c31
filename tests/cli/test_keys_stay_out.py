"""A gateway that repeats the key: it is in no file of the run, not in the cache, and not on the
terminal.
"""

from __future__ import annotations

import json
import sqlite3
import zlib
from base64 import b64encode
from collections.abc import Callable, Iterator
from contextlib import closing
from pathlib import Path
from urllib.parse import quote

import pandas as pd
import pytest
from engine.models.provider import Provider, Reply, completion, refusal, serving

from builders import remembering, rules
from workbench import Session, save
from workbench.cli import main

KEY = "sk-gateway-q7Rk2mVx9TzLw4Hn8PcYd3Fs"
GATEWAYS: dict[str, Callable[[str], Reply]] = {
    "refused": lambda header: refusal(401, f"Incorrect API key provided: {header}"),
    "refused, in part": lambda header: refusal(
        401, f"Incorrect API key provided: {KEY[:6]}...{KEY[-4:]}"
    ),
    "refused, encoded": lambda header: refusal(
        403, f"no {quote(header)} nor Basic {b64encode(f'user:{KEY}'.encode()).decode()}"
    ),
    "bad request": lambda header: refusal(
        400, f"headers were {json.dumps({'authorization': header})}"
    ),
    "busy": lambda header: refusal(429, f"slow down, {header}", retry_after="9999"),
    "broken": lambda header: refusal(500, f"failed with {header}"),
    "a page": lambda header: Reply(f"<html>{header}</html>", 502),
    "answered": lambda header: completion(f"You sent {header}.", finish=f"stop {header}"),
    "no completion": lambda header: Reply({"id": header, "choices": [], "model": header}),
    "an error with status 200": lambda header: Reply({"error": {"message": f"bad key {header}"}}),
}


@pytest.fixture
def gateway() -> Iterator[Provider]:
    with serving() as server:
        yield server


def contents(folder: Path) -> Iterator[tuple[str, bytes]]:
    """Every file below a folder, with all of it that is packed unpacked as well."""
    for file in folder.rglob("*"):
        if not file.is_file():
            continue
        yield file.name, file.read_bytes()
        if file.suffix == ".parquet":
            yield file.name, pd.read_parquet(file).to_json().encode()
        if file.suffix == ".sqlite":
            yield file.name, unpacked(file)


def unpacked(database: Path) -> bytes:
    with closing(sqlite3.connect(database)) as connection:
        packed = [row[0] for row in connection.execute("select value from answers")]
        rows = [
            str(row)
            for table in ("calls", "failures")
            for row in connection.execute(f"select * from {table}")
        ]
    return b"\n".join([*map(zlib.decompress, packed), *(row.encode() for row in rows)])


def holds_a_part(data: bytes) -> bool:
    """Whether six characters of the secret part of the key stand in a row, in any of the ways it
    was sent.
    """
    secret = KEY.removeprefix("sk-gateway-")
    forms = [
        secret,
        *(b64encode(b"x" * shift + KEY.encode()).decode()[20:40] for shift in range(5)),
    ]
    return any(form[at : at + 6].encode() in data for form in forms for at in range(len(form) - 5))


@pytest.mark.parametrize("name", GATEWAYS)
def test_a_key_that_a_gateway_repeats_is_nowhere(
    name: str,
    gateway: Provider,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capfd: pytest.CaptureFixture[str],
) -> None:
    save(
        Session.of([rules("be brief"), *remembering(16, later=5, words=20)]),
        tmp_path / "chat.jsonl",
    )
    gateway.by = lambda asked: GATEWAYS[name](gateway.authorization)
    (tmp_path / "models.toml").write_text(
        "[default]\ntries = 1\ninput_usd = 1.0\noutput_usd = 1.0\n"
    )
    monkeypatch.setenv("WORKBENCH_API_BASE", gateway.address)
    monkeypatch.setenv("WORKBENCH_CACHE", str(tmp_path / "cache"))
    monkeypatch.setenv("WORKBENCH_MODELS", str(tmp_path / "models.toml"))
    monkeypatch.setenv("OPENAI_API_KEY", KEY)
    main(
        [
            "compare",
            str(tmp_path / "chat.jsonl"),
            "--strategies",
            "summarize",
            "--model",
            "litellm:openai/stub",
            "--window",
            "1000",
            "--shares",
            "0.3",
            "--max-dollars",
            "5",
            "--out",
            str(tmp_path / "run"),
            "--jobs",
            "1",
        ]
    )
    shown = capfd.readouterr()
    assert gateway.authorization == f"Bearer {KEY}"
    assert {"answers.sqlite", "replays.parquet", "manifest.json"} <= {
        file for file, _ in contents(tmp_path)
    }
    found = {
        file
        for folder in ("run", "cache")
        for file, data in contents(tmp_path / folder)
        if holds_a_part(data)
    }
    assert not found
    assert not holds_a_part(shown.out.encode()) and not holds_a_part(shown.err.encode())
