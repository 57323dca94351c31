"""Tables of the view are sorted by a column, and leave columns out, as the address says."""

from __future__ import annotations

import json
from collections.abc import Iterator
from html import unescape

import pytest
from report.page.made import made
from report.view.made import get, served

from workbench import WorkbenchError
from workbench.report.view.app import ViewServer
from workbench.report.view.sorting import column_switches, hidden_columns, sorted_records

ROWS: list[dict[str, object]] = [{"a": "b"}, {"a": None}, {"a": "C"}, {"a": "a"}]


@pytest.fixture(scope="module")
def view(tmp_path_factory: pytest.TempPathFactory) -> Iterator[ViewServer]:
    folder = tmp_path_factory.mktemp("reports")
    made().written(folder / "run")
    with served(folder) as server:
        yield server


def test_rows_are_sorted_and_those_without_a_value_come_last() -> None:
    columns = {"a": "A"}
    assert sorted_records(ROWS, "", columns) == ROWS
    assert [row["a"] for row in sorted_records(ROWS, "a", columns)] == ["a", "b", "C", None]
    assert [row["a"] for row in sorted_records(ROWS, "-a", columns)] == ["C", "b", "a", None]
    with pytest.raises(WorkbenchError, match="none of the columns"):
        sorted_records(ROWS, "b", columns)


def test_a_column_is_left_out_and_shown_again() -> None:
    columns = {"a": "A", "b, c": "B"}
    [first, second] = column_switches(columns, [], {"sort": "a"})
    assert first.is_shown and first.address == "?sort=a&hide=a"
    assert hidden_columns({"hide": "b, c|none"}, columns) == ["b, c"]
    [_, second] = column_switches(columns, ["b, c"], {"sort": ""})
    assert not second.is_shown and second.address == "?"


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
