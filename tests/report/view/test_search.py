"""A text is searched in all recordings of a run."""

from __future__ import annotations

import json
import shutil
from collections.abc import Callable, Iterator
from pathlib import Path

import pandas as pd
import pytest
from command import shared_copy
from report.view.made import get, made_run, served

import workbench as wb
from workbench.engine.transcript.message import said_texts
from workbench.report.view import search
from workbench.report.view.app import ViewServer

PAGE = "runs/run/search"


@pytest.fixture(scope="module")
def folder(made_once: Callable[..., Path]) -> Path:
    return made_once("view", made_run)


@pytest.fixture(scope="module")
def view(folder: Path) -> Iterator[ViewServer]:
    with served(folder / "reports") as server:
        yield server


def hits(view: ViewServer, query: str) -> list[dict[str, object]]:
    rows: list[dict[str, object]] = json.loads(get(f"{view.address}{PAGE}?{query}&format=json")[1])
    return rows


def test_every_message_with_the_text_is_found_in_whatever_case(
    view: ViewServer, folder: Path
) -> None:
    [session] = wb.load(folder / "session.jsonl")
    texts = ["\n".join(said_texts(message)).lower() for message in session.messages]
    numbers = [number for number, text in enumerate(texts) if "timeout" in text]
    found = hits(view, "q=TimeOut")
    assert numbers and [row["message"] for row in found] == numbers
    assert [row["times"] for row in found] == [texts[number].count("timeout") for number in numbers]
    assert hits(view, "q=nowhere-at-all") == []


def test_a_hit_leads_to_its_message(view: ViewServer) -> None:
    first = hits(view, "q=timeout")[0]
    text = get(f"{view.address}{PAGE}?q=timeout")[1]
    link = f"session?id=s%2F1&amp;message={first['message']}#story"
    assert link in text or link.replace("%2F", "/") in text
    assert "<mark>timeout</mark>" in text.lower()
    assert get(f"{view.address}runs/run/session?id=s%2F1&message={first['message']}")[0] == 200


def test_hits_are_filtered_by_who_wrote_them(view: ViewServer) -> None:
    assert {row["role"] for row in hits(view, "q=timeout&who=tool")} == {"tool"}
    assert len(hits(view, "q=timeout&who=tool")) < len(hits(view, "q=timeout"))


def test_what_is_found_is_shown_as_text(view: ViewServer) -> None:
    text = get(f"{view.address}{PAGE}?q=%3Cscript%3E")[1]
    assert "<mark>&lt;script&gt;</mark>" in text and "window.hit=1</script>" not in text


def test_a_long_search_shows_what_it_has_and_goes_on(
    view: ViewServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(search, "LONGEST", -1.0)
    text = get(f"{view.address}{PAGE}?q=timeout")[1]
    assert "1 of 1 session searched" in text and "Search on" not in text
    assert (
        "0 of 1 session searched, behind the first 1"
        in get(f"{view.address}{PAGE}?q=timeout&from=1")[1]
    )


def test_recordings_that_are_gone_and_shared_copies_are_said(folder: Path, tmp_path: Path) -> None:
    shutil.copytree(folder, tmp_path / "moved")
    run = tmp_path / "moved" / "reports" / "run"
    manifest = (run / "manifest.json").read_text()
    (run / "manifest.json").write_text(manifest.replace(str(folder), str(tmp_path / "nowhere")))
    sessions = pd.read_parquet(run / "sessions.parquet").assign(path="gone.jsonl")
    sessions.to_parquet(run / "sessions.parquet", index=False)
    (tmp_path / "moved" / "session.jsonl").unlink()
    shared_copy(folder / "reports" / "run", tmp_path / "moved" / "reports" / "copy")
    with served(tmp_path / "moved" / "reports") as server:
        assert "no longer where the run read it" in get(f"{server.address}{PAGE}?q=timeout")[1]
        status, text, _ = get(f"{server.address}runs/copy/search?q=timeout")
        assert status == 404 and "holds figures" in text
        (run / "manifest.json").unlink()
        assert "goes on" in get(f"{server.address}{PAGE}?q=timeout")[1]
