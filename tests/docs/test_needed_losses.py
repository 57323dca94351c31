"""The fit that was to tell needed losses is tried on labels that it has not seen, and the page
prints what comes out.
"""

from __future__ import annotations

import importlib
import sys
from collections.abc import Iterator
from pathlib import Path
from types import ModuleType

import numpy as np
import pandas as pd
import pytest

STUDY = Path(__file__).parents[2] / "reports" / "studies" / "needed-losses"


@pytest.fixture
def certainty(monkeypatch: pytest.MonkeyPatch) -> ModuleType:
    monkeypatch.syspath_prepend(STUDY)
    return importlib.import_module("certainty")


@pytest.fixture
def features(certainty: ModuleType) -> ModuleType:
    return sys.modules[certainty.Elsewhere.__module__]


def made_rows() -> Iterator[dict[str, object]]:
    """Sixty losses of three sets and six projects; what other projects have is not needed."""
    for number in range(60):
        is_known = number % 3 == 0
        yield {
            "set": f"{number // 20}",
            "project": f"seed-{number % 6}",
            "needed": int(not is_known),
            "listed": 1,
            "other projects with it": float(is_known) + number % 2 / 4,
        }


def test_the_page_has_the_table_of_the_kept_numbers(certainty: ModuleType) -> None:
    assert certainty.run(certainty.PARTS, certainty.PAGE, ["certainty", "--check"]) == 0


def test_no_label_is_judged_by_a_fit_to_itself_or_to_a_later_set(certainty: ModuleType) -> None:
    rows = pd.DataFrame(made_rows())
    sets = rows["set"].to_numpy()
    for is_fitted_to, is_left_out in certainty.earlier_sets(rows):
        assert max(sets[is_fitted_to]) < min(sets[is_left_out])
    for is_fitted_to, is_left_out in certainty.other_sets(rows):
        assert set(sets[is_fitted_to]).isdisjoint(sets[is_left_out])
    projects = rows["project"].to_numpy()
    for is_fitted_to, is_left_out in certainty.other_projects(rows):
        assert set(projects[is_fitted_to]).isdisjoint(projects[is_left_out])


def test_a_fit_finds_what_tells_needed_things(certainty: ModuleType) -> None:
    rows = pd.DataFrame(made_rows())
    chances = certainty.promised(rows, certainty.other_sets(rows))
    is_needed = rows["needed"].to_numpy() == 1
    assert chances[is_needed].min() > chances[~is_needed].max()
    first_set = rows["set"].to_numpy() == "0"
    by_earlier = certainty.promised(rows, certainty.earlier_sets(rows))
    assert np.isnan(by_earlier[first_set]).all()
    of_newest = certainty.promised(rows, certainty.newest_set(rows))
    is_tried = ~np.isnan(of_newest)
    assert set(rows["set"][is_tried]) == {"2"}


def test_other_projects_are_counted_and_the_own_is_not(
    features: ModuleType, tmp_path: Path
) -> None:
    for project, text in (("ann+tulip", "sow_rows here"), ("bob+rose", "call sow_rows(3)")):
        folder = tmp_path / "others" / project
        folder.mkdir(parents=True)
        (folder / "session.jsonl").write_text(text)
    elsewhere = features.Elsewhere(tmp_path, ["sow_rows", "sow_seeds"])
    counts = elsewhere.features("sow_rows", "tulip")
    assert counts["other projects with it"] == pytest.approx(np.log1p(1))
    assert counts["no other project has it"] == 0
    assert elsewhere.features("sow_seeds", "tulip")["no other project has it"] == 1


def test_a_name_is_taken_apart_at_capitals_and_signs(features: ModuleType) -> None:
    assert features.parts_of("maxRetry_of_HTTPCall") == ["max", "retry", "http", "call"]
    assert features.parts_of("v2") == ["v", "2"]
