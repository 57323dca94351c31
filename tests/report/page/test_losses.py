import re

import pytest
from report.page.made import findings_of, made, report_of
from report.page.test_parts import HOSTILE, Page

from workbench import Report


def test_a_figure_leads_to_the_losses_of_its_kind_and_strategy() -> None:
    html = report_of(3).by_kind.html
    assert '<a class="into" href="#losses" data-show-by="truncate" data-show-kind="path">' in html
    # a reference that measures the scale has no losses of its own
    assert 'data-show-by="null"' not in html
    rows = findings_of(3).figures.by_kind.set_index(["kind", "strategy"])["recall"]
    assert f"{100 * rows['path', 'truncate']:.0f} %" in html


def test_a_figure_leads_to_the_losses_of_its_session() -> None:
    report = report_of(3)
    html = report.by_session.html
    assert (
        '<a class="into" href="#losses" data-show-by="pipeline" data-show-session="session-01">'
        in html
    )
    assert len(report.figures.by_session) == 9


def test_a_session_without_a_score_is_shown_as_missing() -> None:
    source = made(2)
    for row in source.rows["scores"]:
        if row["session"] == "session-00" and row["strategy"] == "truncate":
            row["value"] = None
    line = re.search(
        r"<tr[^>]*>(?:(?!</tr>).)*Repair number 0.*?</tr>",
        Report(source).by_session.html,
    )
    assert line and line.group().count("–") == 1


@pytest.mark.parametrize(
    ("stated", "name", "last"),
    [
        ('{"src/store_0.py": 900}', "src/store_0.py", True),
        ("  holdLimit?: string;", "holdLimit", True),
        ('<div className="mx-auto p-8">', "mx-auto", True),
        ('the background is "#88C0D0"', "C0D0", True),
        ("holdLimit := load()", "holdLimit", False),
        ("the hold ends, see holdLimit: it is a second", "holdLimit", False),
        ('the key "holdLimit" is a second', "holdLimit", False),
    ],
)
def test_what_one_strategy_loses_and_another_keeps_comes_first_and_boilerplate_last(
    stated: str, name: str, last: bool
) -> None:
    source = made(1)
    rows = source.rows["losses"]
    rows[:] = [
        row for row in rows if (row["strategy"], row["entity"]) != ("summarize", "src/store_2.py")
    ]
    for row in rows:
        if row["entity"] == "src/store_0.py":
            row |= {"entity": name, "kind": "identifier", "evidence": stated}
    found = Report(source).losses.data
    assert found is not None
    order = [name, *(f"src/store_{n}.py" for n in (1, 3))]
    assert list(found["entity"]) == ["src/store_2.py", *(order[1:] + order[:1] if last else order)]
    assert {name for name, _, _ in found["lost_by"][0]} == {"truncate", "pipeline"}


def test_a_loss_says_what_brings_it_back() -> None:
    html = report_of(1).losses.html
    assert "only the user said it" in html and "The user has to say it again." in html
    assert "One call that only looks: 1,234 tokens." in html


def test_sessions_of_one_title_are_told_apart_and_a_title_stands_for_the_id() -> None:
    alike = report_of(2, title="Repair").by_session.html
    assert 0 < alike.index("Repair (1 of 2)") < alike.index("Repair (2 of 2)")
    apart = report_of(2).by_session.html
    assert 0 < apart.index("Repair number 0") < apart.index("Repair number 1")
    assert " of 2)" not in apart


def test_hostile_titles_stay_text() -> None:
    for text in HOSTILE:
        page = Page(report_of(2, title=text).by_session.html)
        assert (
            not page.open
            and not page.wrong
            and not {"script", "img", "style"} & {tag for tag, _ in page.tags}
        )


def test_an_empty_run_says_so() -> None:
    report = report_of(0)
    assert "No session" in report.by_session.html
    assert "Nothing from before" in report.by_kind.html
