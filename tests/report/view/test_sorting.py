"""Tables of the view are sorted by a column, and leave columns out, as the address says."""

from __future__ import annotations

import json
from collections.abc import Iterator
from html import unescape
from pathlib import Path

import pytest
from report.page.made import made
from report.view.made import get, served

from workbench.report.view.app import ViewServer

COMMA = "a, b"
"""A strategy whose name has a comma."""


@pytest.fixture(scope="module")
def view(tmp_path_factory: pytest.TempPathFactory) -> Iterator[ViewServer]:
    folder = tmp_path_factory.mktemp("reports")
    made().written(folder / "run")
    with served(folder) as server:
        yield server


@pytest.fixture(scope="module")
def projects(tmp_path_factory: pytest.TempPathFactory) -> Iterator[ViewServer]:
    """A run of four projects."""
    folder = tmp_path_factory.mktemp("projects")
    run = made(4, ("none", "null", COMMA, "truncate"))
    for row, project in zip(run.rows["sessions"], ("b", "d", "C", "a"), strict=True):
        row["project"] = project
    for row in run.rows["scores"]:
        if (row["session"], row["strategy"]) == ("session-02", "truncate"):
            row["value"] = None
    run.written(folder / "run")
    with served(folder) as server:
        yield server


def column(view: ViewServer, name: str, sort: str) -> list[object]:
    """A column of the sessions of the run, whose rows are sorted so."""
    address = f"{view.address}runs/run?of=sessions&sort={sort}&format=json"
    return [row[name] for row in json.loads(get(address)[1])]


def test_rows_are_sorted_in_whatever_case_and_stay_as_they_are_unasked(
    projects: ViewServer,
) -> None:
    assert column(projects, "project", "") == ["b", "d", "C", "a"]
    assert column(projects, "project", "project") == ["a", "b", "C", "d"]
    assert column(projects, "project", "-project") == ["d", "C", "b", "a"]


def test_what_has_no_value_comes_last_whichever_way(projects: ViewServer) -> None:
    rising = column(projects, "truncate", "truncate")
    falling = column(projects, "truncate", "-truncate")
    assert rising[-1] is None and falling[-1] is None
    assert falling[:-1] == rising[-2::-1] and len(set(rising)) == 4
    assert column(projects, "project", "truncate")[-1] == "C"


def test_runs_of_unknown_cost_come_last_in_either_direction(tmp_path: Path) -> None:
    paid = {"dear": 2.0, "of unknown cost": None, "cheap": 1.0}
    for name, dollars in paid.items():
        run = made(1)
        for row in run.rows["replays"]:
            row["usd"] = dollars
        run.written(tmp_path / name)
    orders = []
    with served(tmp_path) as view:
        for sort in ("usd", "-usd"):
            rows = json.loads(get(f"{view.address}?sort={sort}&format=json")[1])
            orders.append([row["name"] for row in rows])
    assert orders == [
        ["cheap", "dear", "of unknown cost"],
        ["dear", "cheap", "of unknown cost"],
    ]


def test_a_column_is_left_out_and_shown_again(projects: ViewServer) -> None:
    page = unescape(get(f"{projects.address}runs/run?sort=project")[1])
    assert 'href="?sort=project&hide=a%2C+b"' in page and f"Hide {COMMA}" in page
    page = unescape(get(f"{projects.address}runs/run?hide=a%2C%20b|none")[1])
    assert '<a href="?" data-in-place id="column-6">Show a, b</a>' in page
    assert f"Hide {COMMA}" not in page and "Show none" not in page


def test_a_strategy_shows_its_worst_session_first(view: ViewServer) -> None:
    address = f"{view.address}runs/run?of=sessions&sort=truncate&format=json"
    values = [row["truncate"] for row in json.loads(get(address)[1])]
    assert len(set(values)) > 1 and values == sorted(values)
    text = get(f"{view.address}runs/run?sort=truncate&hide=project&by=truncate")[1]
    assert 'aria-sort="ascending"' in text and ">Project</a></th>" not in text
    assert "?by=truncate&sort=-truncate&hide=project" in unescape(text)
    assert get(f"{view.address}runs/run?sort=colour")[0] == 404


def test_the_list_of_runs_leaves_columns_out(view: ViewServer) -> None:
    assert 'data-label="Cost"' in get(view.address)[1]
    text = get(f"{view.address}?hide=usd&sort=name")[1]
    assert 'data-label="Cost"' not in text and "Show Cost" in text
    assert 'href="?sort=-name&amp;hide=usd"' in text and 'name="hide" value="usd"' in text
    assert "usd" in json.loads(get(f"{view.address}?hide=usd&format=json")[1])[0]
