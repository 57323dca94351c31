"""Counts the rows of the conformance tables and prints the count."""

from __future__ import annotations

from collections import Counter
from collections.abc import Generator

import pytest
from conformance.rows import Row, count_line

_ROWS: Counter[str] = Counter()
_PASSED: Counter[str] = Counter()
_INSTEAD: Counter[str] = Counter()


@pytest.hookimpl(wrapper=True)
def pytest_runtest_makereport(
    item: pytest.Item,
) -> Generator[None, pytest.TestReport, pytest.TestReport]:
    report = yield
    call = getattr(item, "callspec", None)
    row = None if call is None else call.params.get("row")
    if isinstance(row, Row) and report.when == "call":
        _ROWS[row.preset] += 1
        _PASSED[row.preset] += report.passed
        _INSTEAD[row.preset] += bool(row.instead)
    return report


def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter) -> None:
    for preset in sorted(_ROWS):
        terminalreporter.write_line(
            count_line(preset, _ROWS[preset], _PASSED[preset], _INSTEAD[preset])
        )
