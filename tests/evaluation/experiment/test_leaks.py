"""A shared copy is searched for texts of its run, in whatever way they are written."""

from __future__ import annotations

import json
from base64 import b64encode, urlsafe_b64encode
from collections.abc import Callable
from html import escape
from pathlib import Path
from urllib.parse import quote

import pytest
from command import shared_copy

from builders import called, remembering, result, rules, said, told
from workbench import Preset, Results, Session, compare, preset, save
from workbench.cli import main
from workbench.engine.transcript.message import Message
from workbench.evaluation.experiment.leaks import leak

PLACE = 'src/Wörter & "zeppelin"/ostrich.py'
WAYS: dict[str, Callable[[str], str]] = {
    "plain": str,
    "base64": lambda text: b64encode(text.encode()).decode(),
    "base64 for addresses": lambda text: (
        urlsafe_b64encode(f"?{text}".encode()).decode().rstrip("=")
    ),
    "address": quote,
    "JSON": json.dumps,
    "HTML": escape,
    "JSON in base64": lambda text: b64encode(json.dumps({"path": text}).encode()).decode(),
}


@pytest.fixture(scope="module")
def run(tmp_path_factory: pytest.TempPathFactory) -> Results:
    folder = tmp_path_factory.mktemp("run")
    first: list[Message] = [
        rules("be brief"),
        said(f"look at {PLACE}", "u"),
        called("read", "c", path=PLACE),
        result("found", "c"),
    ]
    session = Session.of(
        [*first, *remembering(20), told(f"{PLACE} is done", "a")], id="s", title=PLACE
    )
    save(session, folder / "session.jsonl")
    return compare(
        folder / "session.jsonl",
        strategies=("truncate",),
        window=4_000,
        out=folder / "run",
        quiet=True,
    )


def test_a_copy_as_it_is_made_holds_none(run: Results, tmp_path: Path) -> None:
    assert leak(run, shared_copy(run.path, tmp_path / "copy").path) is None


@pytest.mark.parametrize("way", WAYS)
def test_a_text_is_found_however_it_is_written(way: str, run: Results, tmp_path: Path) -> None:
    (tmp_path / "notes.txt").write_text(f"see <b>{WAYS[way](PLACE)}</b>", encoding="utf-8")
    found = leak(run, tmp_path)
    assert (
        found is not None
        and found.path == tmp_path / "notes.txt"
        and found.column == "sessions.title"
    )


def test_the_command_names_the_file_and_fails(
    run: Results, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    words = ["runs", "share", "--no-report", "--check"]
    assert main([*words, str(run.path), "--out", str(tmp_path / "sound")]) == 0
    # the names of strategies are not hidden, and this one has a secret in its
    truncate = preset("truncate")
    telling = compare(
        run.path.parent / "session.jsonl",
        strategies=(Preset(PLACE, truncate.strategy, truncate.trigger),),
        window=4_000,
        shares=(),
        out=tmp_path / "telling",
        quiet=True,
    )
    capsys.readouterr()
    assert main([*words, str(telling.path), "--out", str(tmp_path / "copy")]) == 1
    text = capsys.readouterr().err
    assert ".parquet holds a text of the run's losses.entity" in text and "zeppelin" not in text
