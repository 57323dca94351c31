"""The alarm on a strategy that reads like a list of names: in the verdict, in JSON and in the
terminal.
"""

from __future__ import annotations

import json
import re

import pytest
from planted_run import PlantedRun
from recorded_files import bundled_files
from report.page.made import made, tables_of

import workbench as wb
from workbench import Context, Findings, Report, Results
from workbench.cli.headline import outcome, show
from workbench.evaluation.findings.tables import Tables

NAMES = "exam_recall"


class NameSoup:
    """Writes the names of the history, eight a line, as many as fit, in the place of all but the
    last message.
    """

    name = "name_soup"

    def plan(self, context: Context, budget: wb.Budget) -> wb.Plan | None:
        last = max(i for i, message in enumerate(context.messages) if message.role == "user")
        text = " ".join(
            str(message.blocks) for i, message in enumerate(context.messages) if i != last
        )
        names = [*dict.fromkeys(re.findall(r"[\w./-]*[\d_/][\w./-]*", text))]
        lines = [" ".join(names[i : i + 8]) for i in range(0, len(names), 8)]
        room = budget.target - context.overhead - context.sizes[last]
        while lines and context.count(wb.Summary(id="soup", text="\n".join(lines))) > room:
            lines = lines[: -max(1, len(lines) // 20)]
        soup = wb.Summary(id="soup", text="\n".join(lines))
        start = next(i for i, message in enumerate(context.messages) if message.role != "system")
        return wb.Plan(
            (wb.Replace(start, last, (soup,)), wb.Replace(last + 1, len(context.messages)))
        )


@pytest.fixture(scope="module")
def run(tmp_path_factory: pytest.TempPathFactory) -> Results:
    mine = wb.Preset("mine", wb.Strategy("mine", (NameSoup(),)))
    sessions = [
        path for path in bundled_files() if path.parent.name in ("kiln-uploads", "saltmarsh-levels")
    ]
    out = tmp_path_factory.mktemp("run")
    return wb.compare(sessions, strategies=["truncate", mine], shares=(0.2,), out=out, quiet=True)


def test_a_soup_of_names_is_warned_of_and_honest_strategies_are_not(
    run: Results, capsys: pytest.CaptureFixture[str]
) -> None:
    found = json.loads(json.dumps(outcome(run, Findings.of(run, "truncate"), True)))
    assert set(found["names_only"]) == {"mine"}
    assert found["names_only"]["mine"]["exam"] < found["names_only"]["mine"]["presence"] / 2
    assert "mine reads like a list of names" in found["verdict"]
    set_aside = "Not considered: mine, whose contexts read like a list of names."
    assert found["decision"]["set_aside"] == set_aside
    show(Findings.of(run, "truncate"))
    printed = " ".join(capsys.readouterr().out.split())
    assert "mine reads like a list of names" in printed
    assert set_aside in printed


def test_the_report_shows_the_warning(run: Results) -> None:
    assert "mine reads like a list of names" in Report(run).headline.html


def with_levels(source: PlantedRun, **levels: tuple[float, float]) -> PlantedRun:
    """The same with presence and the exam's score of some strategies at every size; others have
    .8 and .7.
    """
    for row in [
        one for one in source.rows["scores"] if one["metric"] == NAMES and one["mode"] == "matched"
    ]:
        presence, row["value"] = levels.get(row["strategy"], (0.8, 0.7))
        source.rows["scores"].append({**row, "metric": "recall_presence", "value": presence})
    return source


def test_a_context_that_holds_next_to_nothing_is_no_list_of_names() -> None:
    levels = {"truncate": (0.05, -0.04), "pipeline": (0.8, 0.1), "summarize": (0.8, 0.7)}
    assert list(Tables.of(with_levels(made(), **levels)).names_only) == ["pipeline"]


def test_references_are_not_warned_of() -> None:
    tables = Tables.of(with_levels(made(), null=(0.5, 0.0), pipeline=(0.8, 0.2)))
    assert list(tables.names_only) == ["pipeline"]
    assert tables.names_only["pipeline"] == pytest.approx((0.8, 0.2))


def test_a_run_without_presence_is_not_warned_of() -> None:
    assert tables_of().names_only == {}
