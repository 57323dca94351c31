"""Two runs compared in the view: the findings of `runs diff`, regressions first, filtered and sorted
by column.
"""

from __future__ import annotations

import json
import shutil
from collections.abc import Callable, Iterator
from html import unescape
from pathlib import Path

import pandas as pd
import pytest
from report.page.made import made
from report.view.made import HOSTILE, get, losses_of, made_run, served

from workbench import Results
from workbench.cli import main
from workbench.evaluation.experiment.run_notes import RunNotes
from workbench.report.view.app import ViewServer

PAGE = "changes?before=old&after=new"


@pytest.fixture(scope="module")
def reports(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """`old`, and `new`, in which `truncate` tells less and has lost something else."""
    folder = tmp_path_factory.mktemp("reports")
    made().written(folder / "old")
    made().written(folder / "new")
    scores = pd.read_parquet(folder / "new" / "scores.parquet")
    is_worse = (scores["strategy"] == "truncate") & (scores["metric"] == "exam_recall")
    scores.loc[is_worse, "value"] -= 0.1
    scores.to_parquet(folder / "new" / "scores.parquet", index=False)
    losses = pd.read_parquet(folder / "new" / "losses.parquet")
    losses.loc[losses["strategy"] == "truncate", "entity"] = f"other {HOSTILE}"
    losses.to_parquet(folder / "new" / "losses.parquet", index=False)
    return folder


@pytest.fixture(scope="module")
def view(reports: Path) -> Iterator[ViewServer]:
    with served(reports) as server:
        yield server


def rows(view: ViewServer, address: str) -> list[dict[str, object]]:
    found: list[dict[str, object]] = json.loads(get(f"{view.address}{address}&format=json")[1])
    return found


def test_the_page_has_the_findings_of_the_command(
    view: ViewServer, reports: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    words = ["runs", "diff", str(reports / "old"), str(reports / "new"), "--json"]
    assert main(words) == 0
    said = json.loads(capsys.readouterr().out)
    values, losses = rows(view, PAGE), rows(view, f"{PAGE}&of=losses")
    assert values and losses
    columns = ("session", "strategy", "mode", "share", "difference")
    for shown, told in ((values, said["values"]), (losses, said["entities"])):
        assert len(shown) == len(told)
        for row, same in zip(shown, told, strict=True):
            for name in (*columns, "change", "entity"):
                assert row.get(name) == pytest.approx(same.get(name)) or name not in same


def test_regressions_come_first_and_a_column_sorts(view: ViewServer) -> None:
    worse = [row["worse_by"] for row in rows(view, PAGE)]
    assert worse == sorted(worse, reverse=True)  # type: ignore[type-var]
    after = [row["after"] for row in rows(view, f"{PAGE}&sort=after")]
    assert after == sorted(after)  # type: ignore[type-var]
    text = get(f"{view.address}{PAGE}&sort=after")[1]
    assert 'aria-sort="ascending"' in text and "sort=-after" in text
    kinds = [row["kind"] for row in rows(view, f"{PAGE}&of=losses&loss_sort=-kind")]
    assert kinds == sorted(kinds, reverse=True)  # type: ignore[type-var]


def test_rows_are_filtered_by_column(view: ViewServer) -> None:
    assert {row["strategy"] for row in rows(view, f"{PAGE}&strategy=truncate")} == {"truncate"}
    assert rows(view, f"{PAGE}&strategy=summarize") == []
    lost = rows(view, f"{PAGE}&of=losses&change=lost&session=session-01")
    assert {(row["change"], row["session"]) for row in lost} == {("lost", "session-01")}
    assert rows(view, f"{PAGE}&of=losses&q=nowhere") == []


def test_what_only_one_run_replayed_is_no_change(tmp_path: Path) -> None:
    made(strategies=("none", "truncate")).written(tmp_path / "old")
    made(strategies=("none", "truncate", "summarize")).written(tmp_path / "new")
    with served(tmp_path) as server:
        assert rows(server, f"{PAGE}&of=losses") == []


def test_a_marked_loss_is_no_change(reports: Path, tmp_path: Path) -> None:
    shutil.copytree(reports, tmp_path / "reports")
    with served(tmp_path / "reports") as server:
        first, *others = rows(server, f"{PAGE}&of=losses&change=lost")
        places = ("session", "kind", "entity", "needed_at")
        (key,) = [
            loss["loss"]
            for loss in losses_of(server, "new")
            if all(loss[name] == first[name] for name in places)
        ]
        RunNotes().marked(key, "wrong kind").write(tmp_path / "reports" / "new")
        now = rows(server, f"{PAGE}&of=losses&change=lost")
        assert len(now) < len(others) + 1


def test_what_a_loss_says_is_shown_as_text(view: ViewServer) -> None:
    text = get(f"{view.address}{PAGE}")[1]
    assert "<script>window" not in text and "<img" not in text
    assert "other <script>" in unescape(text)


@pytest.mark.parametrize(
    "address", ["changes", "changes?before=old&after=none", f"{PAGE}&metric=x", f"{PAGE}&sort=x"]
)
def test_an_address_that_leads_nowhere_is_a_sentence(view: ViewServer, address: str) -> None:
    status, text, _ = get(view.address + address)
    assert status == 404 and "Not shown" in text and "Traceback" not in text


def test_runs_of_other_sessions_cannot_be_compared(
    made_once: Callable[..., Path], reports: Path, tmp_path: Path
) -> None:
    shutil.copytree(made_once("view", made_run) / "reports" / "run", tmp_path / "old")
    shutil.copytree(reports / "new", tmp_path / "new")
    assert Results.open(tmp_path / "old")
    with served(tmp_path) as server:
        status, text, _ = get(server.address + PAGE)
        assert status == 404 and "no session in common" in text
