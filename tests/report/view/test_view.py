"""The view without a browser: who is refused, what is shown, and what is said where nothing can
be shown.
"""

from __future__ import annotations

import json
import re
import shutil
from collections.abc import Callable, Iterator
from html import unescape
from pathlib import Path

import pandas as pd
import pytest
from command import shared_copy
from report.page.made import with_recorded
from report.view.made import get, losses_of, made_run, served

from workbench import Findings, Results
from workbench.cli import main
from workbench.evaluation.experiment.preliminary import Preliminary, SessionSoFar
from workbench.evaluation.experiment.replay_results import SizedScore
from workbench.evaluation.experiment.run_folder import RunFolder
from workbench.evaluation.experiment.run_notes import RunNotes
from workbench.report.view.app import ViewServer

SESSION = "runs/run/session?id=s%2F1"


@pytest.fixture(scope="module")
def folder(made_once: Callable[..., Path]) -> Path:
    return made_once("view", made_run)


@pytest.fixture(scope="module")
def view(folder: Path) -> Iterator[ViewServer]:
    with served(folder / "reports") as server:
        yield server


@pytest.fixture
def copied(folder: Path, tmp_path: Path) -> Path:
    """The same run with a recording of its own, to change."""
    shutil.copytree(folder / "reports", tmp_path / "reports")
    shutil.copy(folder / "session.jsonl", tmp_path / "session.jsonl")
    run = tmp_path / "reports" / "run"
    (run / "manifest.json").write_text(
        (run / "manifest.json").read_text().replace(str(folder), str(tmp_path))
    )
    sessions = pd.read_parquet(run / "sessions.parquet").assign(
        path=str(tmp_path / "session.jsonl")
    )
    sessions.to_parquet(run / "sessions.parquet", index=False)
    return tmp_path


def test_without_the_token_everything_is_refused(view: ViewServer) -> None:
    base = view.address.rsplit("/", 2)[0]
    for path in ("/", "/wrong/", "/static/report.css", "/runs/run", f"/{'x' * 32}/runs/run", "//"):
        status, text, _ = get(base + path)
        assert status == 403 and "lacks the token" in text
    assert get(view.address)[0] == 200


def test_another_host_and_another_page_are_refused(view: ViewServer) -> None:
    assert get(view.address, Host="evil.example")[0] == 403
    for origin in ("http://evil.example", "null", "http://127.0.0.1:1"):
        assert get(view.address, Origin=origin)[0] == 403
    own = view.address.rsplit("/", 2)[0]
    assert get(view.address, Origin=own)[0] == 200


@pytest.mark.parametrize(
    "path",
    [
        "static/../../../../README.md", "static/..%2f..%2f__init__.py", "runs/..%2f..%2fetc/report.html",
        "runs/run/../../../session.jsonl", "runs/run/manifest.json", "runs/%2e%2e/report.html", "../../etc/passwd",
    ],
)  # fmt: skip
def test_files_outside_of_the_runs_are_unreachable(view: ViewServer, path: str) -> None:
    status, text, _ = get(view.address + path)
    assert status == 404 and "Not shown" in text


def test_a_link_out_of_the_folder_is_no_run(folder: Path, tmp_path: Path) -> None:
    (tmp_path / "inside").symlink_to(folder / "reports" / "run")
    with served(tmp_path) as server:
        assert json.loads(get(server.address + "?format=json")[1]) == []
    (tmp_path / "own").mkdir()
    (tmp_path / "own" / "manifest.json").write_text("{}")
    (tmp_path / "own" / "report.html").symlink_to(folder / "session.jsonl")
    with served(tmp_path) as server:
        assert get(server.address + "runs/own/report.html")[0] == 404


def test_every_answer_forbids_what_it_does_not_need(view: ViewServer) -> None:
    for address in (view.address, view.address + SESSION, view.address.rsplit("/", 2)[0] + "/"):
        headers = get(address)[2]
        policy = headers["Content-Security-Policy"]
        assert (
            "default-src 'none'" in policy
            and "script-src 'self'" in policy
            and "unsafe-eval" not in policy
        )
        assert (
            headers["Referrer-Policy"] == "no-referrer"
            and headers["X-Content-Type-Options"] == "nosniff"
        )


def test_what_a_recording_says_is_shown_as_text(view: ViewServer) -> None:
    for address in (view.address, view.address + "runs/run", view.address + SESSION + "&request=0"):
        text = get(address)[1]
        assert "window.hit=1</script>" not in text and "<img" not in text
    assert "&lt;script&gt;window.hit=1" in text


def test_a_loss_has_an_address_that_opens_at_its_story(view: ViewServer) -> None:
    loss = losses_of(view, "run")[0]
    key = loss["loss"]
    status, _, headers = get(f"{view.address}runs/run/loss/{key}")
    assert status == 303 and headers["Location"].endswith("#loss")
    text = get(view.address.rsplit("/", 2)[0] + headers["Location"].partition("#")[0])[1]
    assert f'href="#m{loss["said_at"]}"' in text and f"message {loss['needed_at']}</a>" in text
    assert "removed it at" in text
    assert f'/runs/run/queue?loss={key}"' in text
    assert get(f"{view.address}runs/run/loss/none")[0] == 404


def test_the_contexts_are_those_of_the_run(folder: Path, view: ViewServer) -> None:
    compactions = Results.open(folder / "reports" / "run").compactions
    for strategy, other in (("truncate", "summarize"), ("summarize", "truncate")):
        rows = compactions[compactions["strategy"] == strategy]
        assert len(rows) > 1
        for row in rows.itertuples():
            page = f"{view.address}{SESSION}&left={strategy}&right={other}&compaction={row.number}"
            text = get(page)[1]
            assert (
                f"Last compacted before message {row.at} (compaction {row.number + 1} of"
                f" {len(rows)}): {row.tokens_before:,} → {row.tokens_sent:,} tokens by" in text
            )
            assert '<p class="bad">' not in text, "the replay of today is that of the run"


def test_the_list_of_runs_shows_what_each_recommends_and_how_sure_that_is(
    folder: Path, view: ViewServer
) -> None:
    decision = Findings.of(Results.open(folder / "reports" / "run")).decision
    text = unescape(get(view.address)[1]).replace("\xa0", " ")
    assert decision and decision.confidence in text
    assert f"<summary>{decision.recommendation}</summary><p>{decision.trade_off}" in text
    assert (
        "run" in get(view.address + "?q=confidence")[1]
        and "No run fits" in get(view.address + "?q=nowhere")[1]
    )


def test_the_list_of_runs_is_sorted_by_its_columns(copied: Path) -> None:
    shutil.copytree(copied / "reports" / "run", copied / "reports" / "second")
    RunNotes(name="a first", tags=("nightly",)).write(copied / "reports" / "second")
    with served(copied / "reports") as server:
        text = get(server.address + "?sort=name")[1]
        assert text.index(">a first</a>") < text.index(">run</a>")
        assert 'aria-sort="ascending"' in text and 'href="?sort=-name"' in text
        text = get(server.address + "?sort=-name")[1]
        assert text.index(">run</a>") < text.index(">a first</a>")
        text = get(server.address + "?tag=nightly&sort=-usd")[1]
        assert ">run</a>" not in text and 'href="?tag=nightly&amp;sort=usd"' in text
        rows = json.loads(get(server.address + "?tag=nightly&format=json")[1])
        assert [(row["run"], row["name"]) for row in rows] == [("second", "a first")]
        assert get(server.address + "?sort=colour")[0] == 404


def test_every_link_inside_of_a_run_leads_somewhere(tmp_path: Path) -> None:
    with_recorded(9).written(tmp_path / "run")
    with served(tmp_path) as server:
        page = get(server.address + "runs/run")[1]
        inside = set(re.findall(r'href="#([^"]+)"', page))
        assert {"where-the-recorded-agent-compacted", "sessions"} <= inside
        assert all(f'id="{place}"' in page for place in inside)
        assert 'href="?by=summarize#losses"' in page
        rows = get(server.address + "runs/run?by=summarize")[1].split("<tr")
        lost = [row for row in rows if "/loss/" in row]
        assert lost and all("summarize" in row for row in lost)


def test_what_is_shown_can_be_downloaded(view: ViewServer) -> None:
    status, text, headers = get(view.address + SESSION + "&show=differ&format=json")
    rows = json.loads(text)
    assert status == 200 and rows and all(row["left"] != row["right"] for row in rows)
    assert headers["Content-Disposition"].startswith("attachment")
    assert get(view.address + "runs/run?of=sessions&format=csv")[1].startswith("session,title")


def test_a_recording_that_changed_or_is_gone_is_said(copied: Path) -> None:
    recording = copied / "session.jsonl"
    with served(copied / "reports") as server:
        lines = recording.read_text().splitlines(keepends=True)
        recording.write_text("".join(lines[:-4]))
        assert "has changed since the run" in get(server.address + SESSION)[1]
        recording.unlink()
        status, text, _ = get(server.address + SESSION)
        assert status == 404 and "no longer" in text
        assert get(server.address + "runs/run")[0] == 200


def test_a_shared_copy_shows_figures_and_no_text(folder: Path, tmp_path: Path) -> None:
    copy = shared_copy(folder / "reports" / "run", tmp_path / "copy")
    with served(tmp_path) as server:
        status, text, _ = get(server.address + "runs/copy")
        assert (
            status == 200
            and "holds figures" in text
            and "timeout_of" not in text
            and "/session?" not in text
        )
        session = str(copy.sessions["session"].iloc[0]).replace(" ", "%20")
        assert "holds figures" in get(f"{server.address}runs/copy/session?id={session}")[1]


def test_a_run_that_goes_on_shows_what_is_done(copied: Path) -> None:
    with served(copied / "reports") as server:
        before = json.loads(get(server.address + "state")[1])["stamp"]
        (copied / "reports" / "run" / "manifest.json").unlink()
        now = json.loads(get(server.address + "state?run=run")[1])
        assert now["stamp"] != before and now["words"].startswith("The run goes on: ")
        text = get(server.address + "runs/run")[1]
        assert "This run has stopped:" in text and "truncate" in text
        with RunFolder(copied / "reports" / "run").claimed():
            assert "This run goes on:" in get(server.address + "runs/run")[1]


def test_a_run_that_has_just_begun_shows_preliminary_figures(tmp_path: Path) -> None:
    scores = (SizedScore(0.2, "exam_recall", 0.5), SizedScore(0.2, "tokens_kept", 0.2))
    session = SessionSoFar(0, 0, "s", "p", "s.jsonl", 2, 4, {"truncate": scores * 2})
    figures = Preliminary(tmp_path / "new", files=3, group_by="project")
    figures.sessions[0, 0] = session
    figures.files_read.add(0)
    figures.write()
    with served(tmp_path) as server:
        with RunFolder(tmp_path / "new").claimed():
            assert "going on" in get(server.address)[1]
        page = get(server.address)[1]
        assert "stopped" in page and "going on" not in page
        text = get(server.address + "runs/new")[1]
        assert "Preliminary: 2 of 4 boundaries of 1 session" in text
        assert re.search(r"<li>truncate: names 50 % \(\d+ to \d+\)</li>", text)


@pytest.mark.parametrize(
    "words",
    [
        "request=x",
        "mode=none",
        "share=x&mode=matched&at=9",
        "share=0.1&mode=matched&at=99999",
        "message=99999",
        "loss=none",
    ],
)
def test_an_address_that_leads_nowhere_is_a_sentence(view: ViewServer, words: str) -> None:
    status, text, _ = get(f"{view.address}{SESSION}&{words}")
    assert status == 404 and "Not shown" in text and "Traceback" not in text


def test_the_command_says_what_is_wrong(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["view", str(tmp_path / "none"), "--no-browser"]) == 2
    assert "is no folder" in capsys.readouterr().err
    assert main(["view", str(tmp_path), "--loss", "none", "--no-browser"]) == 2
    assert "has a loss 'none'" in capsys.readouterr().err
