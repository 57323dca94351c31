"""What several parts of a report need is worked out once a run."""

from __future__ import annotations

from report.page.made import made

from workbench.report.page.once import once
from workbench.report.page.tables import Tables


def test_a_question_is_answered_once_a_run_and_another_question_anew() -> None:
    asked = []

    @once
    def sessions(run: Tables, times: int = 1) -> int:
        asked.append(times)
        return times * len(run.sessions)

    two, three = Tables.of(made(2)), Tables.of(made(3))
    assert [sessions(two), sessions(two), sessions(two, 4), sessions(three)] == [2, 2, 8, 3]
    assert asked == [1, 4, 1]
