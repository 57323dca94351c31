import re

from report.page.made import made, report_of

from workbench import Report


def lines(html: str) -> list[list[tuple[int, int]]]:
    """The points of each strategy's line, picture by picture."""
    found = re.findall(r'<polyline points="([^"]+)"', html)
    return [
        [(int(x), int(y)) for x, y in (pair.split(",") for pair in one.split())] for one in found
    ]


def test_each_session_has_a_picture_a_strategy_and_one_session_is_open() -> None:
    report = report_of(3)
    html = report.contexts.html
    assert html.count("<details") == 3 and html.count(" open") == 1
    assert len(lines(html)) == 3 * len(
        report.findings.tables.contenders
    ) and "none" not in re.findall(r'data-strategy="(\w+)"', html)


def test_a_line_is_what_each_request_sends_and_upright_lines_are_its_compactions() -> None:
    report = report_of(1)
    run = report.findings
    part = report.contexts
    name = run.tables.contenders[0]
    rows = run.tables.steps[run.tables.steps["strategy"] == name].sort_values("request")
    assert lines(part.html)[0] == list(zip(rows["request"], rows["tokens_sent"], strict=True))
    assert part.data is not None
    (mine,) = part.data[part.data["strategy"] == name].to_dict("records")
    assert (mine["requests"], mine["peak"]) == (len(rows), rows["tokens_sent"].max())
    assert mine["compactions"] == rows["compaction"].notna().sum() > 0
    picture = part.html.split("<figure")[1]
    upright = [int(x) for x in re.findall(r'<line x1="(\d+)" x2="\1"', picture)]
    assert upright == list(rows.loc[rows["compaction"].notna(), "request"])


def test_a_session_of_one_request_is_not_said_to_have_two() -> None:
    source = made(1)
    source.rows["steps"] = [row for row in source.rows["steps"] if row["request"] == 0]
    html = Report(source).contexts.html
    assert ": 1 request, up to" in html


def test_of_a_long_session_each_point_is_the_largest_of_its_neighbours() -> None:
    source = made(1)
    steps = [row for row in source.rows["steps"] if row["strategy"] == "truncate"]
    source.rows["steps"] = [
        {**row, "request": row["request"] + 60 * n, "tokens_sent": row["tokens_sent"] + n}
        for row in steps
        for n in range(20)
    ]
    report = Report(source)
    run = report.findings
    (line,) = lines(report.contexts.html)
    sent = dict(zip(run.tables.steps["request"], run.tables.steps["tokens_sent"], strict=True))
    assert len(line) == 400 and all(sent[x] == y for x, y in line)
    assert max(y for _, y in line) == run.tables.steps["tokens_sent"].max()


def test_more_sessions_than_a_page_takes_are_counted() -> None:
    html = Report(made(24 + 2)).contexts.html
    assert html.count("<details") == 24 and "24 of 26 sessions" in html


def test_without_a_replay_there_is_a_sentence() -> None:
    assert "Nothing to draw" in report_of(0).contexts.html
