"""A strategy, a metric and a format of somebody's own package work by name: in worker processes
and in a sweep.
"""

from __future__ import annotations

import json
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from workbench import SetupError, compare, preset, sweep
from workbench.cli import main
from workbench.evaluation.metrics.builtin import installed
from workbench.recordings.importers.importer import known_formats

PACKAGE = '''
from dataclasses import dataclass
from typing import ClassVar

from workbench import (
    AssistantMessage, AtShare, Plan, Preset, Replace, Score, Session, Strategy, Text, UserMessage
)
from workbench.recordings.importers.format import Format


@dataclass(frozen=True)
class Forget:
    """Forgets all but the newest messages."""

    keep: int = 4
    name: ClassVar[str] = "forget"

    def plan(self, context, budget):
        old = len(context.messages) - self.keep
        return Plan((Replace(0, old),)) if old > 0 else None


FORGETFUL = Preset("forgetful", Strategy("forgetful", (Forget(),)), AtShare())


class Requests:
    """How many requests there were."""

    name = "requests_made"
    unit = "count"
    better = "lower"

    def score(self, data):
        return Score(float(len(data.replay.steps)))


def sessions(source):
    messages = []
    for i, line in enumerate(source.text().splitlines()):
        who, _, text = line.partition(": ")
        kind = UserMessage if who == "user" else AssistantMessage
        messages.append(kind(id=f"m{i}", blocks=(Text(text),)))
    yield Session.of(messages, id=source.stem)


PLAIN_CHAT = Format("plain_chat", "plain lines of a chat", (), lambda head: head.text.startswith("user: "), sessions)
'''
POINTS = """
[workbench.presets]
forgetful = somebody:FORGETFUL
[workbench.metrics]
requests_made = somebody:Requests
[workbench.importers]
plain_chat = somebody:PLAIN_CHAT
"""


@pytest.fixture
def chat(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """A recording that only the installed package can read."""
    site = tmp_path / "site"
    (site / "somebody-1.0.dist-info").mkdir(parents=True)
    (site / "somebody.py").write_text(PACKAGE)
    (site / "somebody-1.0.dist-info" / "METADATA").write_text(
        "Metadata-Version: 2.1\nName: somebody\nVersion: 1.0\n"
    )
    (site / "somebody-1.0.dist-info" / "entry_points.txt").write_text(POINTS)
    monkeypatch.syspath_prepend(str(site))
    monkeypatch.setenv("PYTHONPATH", str(site))
    lines = [
        f"user: tell me about part {i} {'word ' * 200}\nbot: part {i} is {i + 5000} long"
        for i in range(20)
    ]
    (tmp_path / "talk.chat").write_text("\n".join(lines))
    installed.cache_clear()
    known_formats.cache_clear()
    yield tmp_path / "talk.chat"
    installed.cache_clear()
    known_formats.cache_clear()
    sys.modules.pop("somebody", None)


def test_a_part_that_cannot_be_loaded_is_told_where_it_is_wanted(
    chat: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    points = tmp_path / "site" / "somebody-1.0.dist-info" / "entry_points.txt"
    points.write_text("[workbench.presets]\nforgetful = somebody:FORGETFUL\nlost = somebody:LOST\n")
    assert preset("forgetful").name == "forgetful"
    with pytest.raises(SetupError, match="plug-in lost cannot be loaded from somebody:LOST"):
        preset("lost")
    assert main(["list", "strategies"]) == 2
    assert "plug-in lost cannot be loaded" in " ".join(capsys.readouterr().err.split())


@pytest.mark.slow
def test_parts_of_another_package_work_by_name_in_workers(chat: Path, tmp_path: Path) -> None:
    results = compare(
        chat,
        strategies=("forgetful",),
        window=3_000,
        shares=(),
        out=tmp_path / "run",
        jobs=2,
        quiet=True,
    )
    assert results.sessions["format"].tolist() == ["plain_chat"]
    assert results.failed == 0
    scores = results.scores[results.scores["metric"] == "requests_made"]
    assert set(scores["value"]) == {20.0} and "forgetful" in set(scores["strategy"])
    assert (results.compactions["stages"] == "forget").any()


def test_they_can_be_swept(chat: Path, tmp_path: Path) -> None:
    (tmp_path / "grid.toml").write_text(
        f"sessions = [{json.dumps(str(chat))}]\nstrategies = ['forgetful']\nwindows ="
        " [3000]\nshares = []\n[settings.forgetful]\nforget.keep = [2, 6]\n"
    )
    results = sweep(tmp_path / "grid.toml", out=tmp_path / "run", quiet=True)
    kept = results.compactions.groupby("strategy")["kept"].max()
    assert kept["forgetful keep=2"] < kept["forgetful keep=6"]
