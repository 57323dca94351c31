"""Marks on losses: kept with the run, out of the figures with a note, and counted by
`lab validate needs`.
"""

from __future__ import annotations

import http.client
import json
import shutil
from collections.abc import Callable, Iterator
from pathlib import Path
from urllib.parse import urlsplit

import pytest
from command import shared_copy
from report.view.made import HOSTILE, get, losses_of, made_run, served

from workbench import Findings, Results
from workbench.cli import main
from workbench.evaluation.experiment.run_notes import RunNotes
from workbench.report.view.app import ViewServer


@pytest.fixture
def run(made_once: Callable[..., Path], tmp_path: Path) -> Path:
    shutil.copytree(made_once("view", made_run) / "reports", tmp_path / "reports")
    return tmp_path / "reports" / "run"


@pytest.fixture
def view(run: Path) -> Iterator[ViewServer]:
    with served(run.parent) as server:
        yield server


def post(address: str, body: str, **headers: str) -> tuple[int, str]:
    """Status and text of the answer to a change that a page of the view sends."""
    place = urlsplit(address)
    connection = http.client.HTTPConnection(place.hostname or "", place.port, timeout=60)
    own = {"Content-Type": "application/json", "Origin": f"http://{place.netloc}"}
    sent = {name: value for name, value in {**own, **headers}.items() if value}
    connection.request("POST", place.path, body.encode(), sent)
    answer = connection.getresponse()
    text = answer.read().decode()
    connection.close()
    return answer.status, text


def keys_of(view: ViewServer) -> list[str]:
    return [loss["loss"] for loss in losses_of(view, "run")]


def test_a_marked_loss_leaves_the_figures_with_a_note(run: Path, view: ViewServer) -> None:
    before = Findings.of(Results.open(run))
    rows = Results.open(run).losses
    wrong, fine, *_ = losses_of(view, "run")
    RunNotes().marked(wrong["loss"], "not needed").marked(fine["loss"], "needed").write(run)
    after = Findings.of(Results.open(run))
    assert wrong["entity"] not in set(after.tables.losses["entity"])
    assert fine["entity"] in set(after.tables.losses["entity"])
    assert len(Results.open(run).losses) == len(rows)
    assert "1 marked loss (1 not needed) is left out" in " ".join(after.warnings)
    assert not any("marked" in warning for warning in before.warnings)
    demanded = []
    for findings in (before, after):
        retention = findings.tables.retention
        demanded.append(retention.loc[retention["kind"] == wrong["kind"], "demanded"].sum())
    assert demanded[1] < demanded[0]
    assert (after.figures.by_kind["recall"].dropna() <= 1).all()


def test_a_loss_is_marked_and_the_next_one_comes(run: Path, view: ViewServer) -> None:
    first, second, *_ = keys_of(view)
    text = get(view.address + "runs/run/queue")[1]
    assert f'value="{first}"' in text and f'name="next" value="{second}"' in text
    body = json.dumps({"loss": first, "mark": "wrong kind", "next": second})
    status, answer = post(view.address + "runs/run/marks", body)
    assert status == 200 and json.loads(answer)["go"].endswith(f"/runs/run/queue?loss={second}")
    assert RunNotes.of(run).marks == {first: "wrong kind"}
    text = get(view.address + "runs/run/queue")[1]
    assert "1 of" in text and "1 wrong kind" in text and f'value="{second}"' in text
    assert f'value="{first}"' in get(f"{view.address}runs/run/queue?loss={first}")[1]
    assert first not in keys_of(view)
    assert f"/loss/{first}" not in get(view.address + "runs/run")[1]
    assert get(f"{view.address}runs/run/loss/{first}")[0] == 303
    post(view.address + "runs/run/marks", json.dumps({"loss": first, "mark": ""}))
    assert RunNotes.of(run).marks == {}


def test_a_change_comes_from_the_view_itself_only(run: Path, view: ViewServer) -> None:
    body = json.dumps({"name": "stolen", "tags": "", "note": ""})
    address = view.address + "runs/run/notes"
    refused: list[dict[str, str]] = [
        {"Origin": "http://evil.example"}, {"Origin": "null"}, {"Origin": ""},
        {"Content-Type": "text/plain"}, {"Content-Type": "application/x-www-form-urlencoded"},
        {"Host": "evil.example"},
    ]  # fmt: skip
    for headers in refused:
        assert post(address, body, **headers)[0] == 403
    token = view.address.rsplit("/", 2)[1]
    assert post(address.replace(token, "x" * len(token)), body)[0] == 403
    for wrong in ("", "[]", "{", '{"name": 1}', "x" * 70_000):
        assert post(address, wrong)[0] == 400
    assert not (run / "notes.json").exists()
    assert post(address, body)[0] == 200 and RunNotes.of(run).name == "stolen"
    for fields in ({"loss": "none", "mark": "needed"}, {"loss": keys_of(view)[0], "mark": "x"}):
        assert post(view.address + "runs/run/marks", json.dumps(fields))[0] == 400


def test_names_tags_and_notes_are_shown_as_text(run: Path, view: ViewServer) -> None:
    fields = {"name": HOSTILE[:120], "tags": HOSTILE[:40], "note": HOSTILE}
    assert post(view.address + "runs/run/notes", json.dumps(fields))[0] == 200
    assert RunNotes.of(run).note == HOSTILE
    for path in ("", "runs/run", "?q=hit", "runs/run/queue"):
        status, text, _ = get(view.address + path)
        assert status == 200
        assert "<script>window" not in text and "<img" not in text and "<style>main" not in text
    assert "&lt;script&gt;window" in get(view.address)[1]


def test_a_shared_copy_has_neither_notes_nor_marks(
    run: Path, view: ViewServer, tmp_path: Path
) -> None:
    notes = RunNotes().described("secret name", ["secret"], "secret note")
    notes.marked(keys_of(view)[0], "needed").write(run)
    copy = shared_copy(run, tmp_path / "reports" / "copy").path
    texts = [path.read_bytes() for path in copy.rglob("*") if path.is_file()]
    assert not any(b"secret" in text for text in texts)
    with served(run.parent) as server:
        assert "holds figures" in get(server.address + "runs/copy/queue")[1]


def test_a_run_is_deleted_in_the_view(run: Path, view: ViewServer) -> None:
    address = view.address + "runs/run/delete"
    assert post(address, "{}")[0] == 400 and run.exists()
    (run / "thesis.tex").write_text("years of work")
    status, text = post(address, json.dumps({"run": "run"}))
    assert status == 400 and "no run writes" in text
    (run / "thesis.tex").unlink()
    assert post(address, json.dumps({"run": "run"}))[0] == 200 and not run.exists()
    assert post(address, json.dumps({"run": "run"}))[0] == 400


def test_validate_counts_the_marks(
    run: Path, view: ViewServer, capsys: pytest.CaptureFixture[str]
) -> None:
    words = ["lab", "validate", "needs", "--marks", str(run), "--json"]
    assert main(words) == 2
    assert "no loss of these runs is marked" in capsys.readouterr().err
    first, second, third, *_ = keys_of(view)
    notes = RunNotes().marked(first, "needed").marked(second, "needed").marked(third, "wrong kind")
    notes.write(run)
    assert main(words) == 0
    total, *kinds = json.loads(capsys.readouterr().out)["marked losses"]
    assert (total["kind"], total["losses"], total["needed"], total["wrong kind"]) == (
        "all",
        3,
        2,
        1,
    )
    assert total["right"] == pytest.approx(2 / 3) and sum(kind["losses"] for kind in kinds) == 3
