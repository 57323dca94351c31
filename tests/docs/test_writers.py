"""The study of the writer's rules runs on the writer as it is."""

from __future__ import annotations

from importlib import import_module
from pathlib import Path

import pytest

import workbench as wb

DOCS = Path(__file__).parents[2] / "docs"


def test_each_rule_of_the_writer_can_be_left_out(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.syspath_prepend(str(DOCS))
    writers, summaries = import_module("writers"), import_module("summaries")
    messages = wb.bundled()[0].messages[:30]
    whole = summaries.written(messages, 600)
    changed = []
    for rule in writers.RULES:
        with writers.used([rule]):
            summary = summaries.written(messages, 600)
        assert summary, rule
        if summary != whole:
            changed.append(rule)
    assert len(changed) > len(writers.RULES) // 2, "rules that are left out change a summary"
    assert summaries.written(messages, 600) == whole, "the writer has its rules again"
