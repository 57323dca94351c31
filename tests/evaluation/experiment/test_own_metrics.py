"""Metrics of the caller's own, measured in whole runs."""

import html
import json
from pathlib import Path

import pytest

import workbench as wb
from builders import remembering, rules
from workbench import Findings, MetricInput, Report, Session, SettingError
from workbench.cli.headline import outcome, show
from workbench.evaluation.metrics.metric import Better, Unit


class MessagesSent:
    """Messages of the largest request."""

    name = "messages_sent"
    unit: Unit = "count"
    better: Better = "lower"

    def score(self, data: MetricInput) -> wb.Score:
        """The most messages of a context."""
        if not data.snapshots:
            return wb.Score(None, "nothing was compacted")
        sizes = [len(snapshot.context.messages) for snapshot in data.snapshots]
        return wb.Score(float(max(sizes)), n=len(sizes))


SESSION = Session.of([rules("be brief"), *remembering(24)])


def test_a_metric_of_ones_own_is_measured_and_shown_beside_the_others(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    run = wb.compare(
        [SESSION],
        strategies=["truncate"],
        shares=(0.2,),
        window=4000,
        metrics=[MessagesSent()],
        out=tmp_path / "run",
        quiet=True,
    )
    scores = run.scores[run.scores["metric"] == "messages_sent"]
    assert set(scores["mode"]) >= {"natural", "matched"}
    assert scores["value"].notna().any()
    assert run.manifest["settings"]["metrics"] == ["messages_sent"]
    findings = Findings.of(run)
    show(findings)
    assert "Your metrics" in capsys.readouterr().out
    rows = json.loads(json.dumps(outcome(run, findings, no_report=True)))["own_metrics"]
    assert {row["metric"] for row in rows} == {"messages_sent"}
    assert "messages_sent" in Report(run).headline.html


def test_a_run_without_one_says_nothing_of_them(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    run = wb.compare(
        [SESSION], strategies=["truncate"], window=4000, out=tmp_path / "run", quiet=True
    )
    show(Findings.of(run))
    assert "Your metrics" not in capsys.readouterr().out
    assert "metrics" not in run.manifest["settings"]


class Nameless:
    """Lacks all but a name."""

    name = "nameless"


@pytest.mark.parametrize(
    ("metrics", "said"),
    [
        ([Nameless()], "one of these lacks unit"),
        ([MessagesSent(), MessagesSent()], "there is another metric of the name messages_sent"),
        ("messages_sent", "it must be a list of metrics"),
    ],
)
def test_what_is_no_metric_is_refused_in_one_sentence(metrics: object, said: str) -> None:
    with pytest.raises(SettingError, match=said):
        wb.compare([SESSION], metrics=metrics)  # type: ignore[arg-type]  # what a caller may do


class Faulty:
    """Fails in one of the ways in which a metric under construction does."""

    name = "faulty"
    unit: Unit = "count"
    better: Better = "lower"

    def __init__(self, answer: object) -> None:
        self.answer = answer

    def score(self, data: MetricInput) -> wb.Score:
        """What a test wants it to do."""
        if isinstance(self.answer, Exception):
            raise self.answer
        return self.answer  # type: ignore[return-value]


@pytest.mark.parametrize(
    ("answer", "reason"),
    [
        (ValueError("boom"), "it failed: ValueError: boom"),
        (3.0, "it returned 3.0; a wb.Score would be accepted"),
        (wb.Score(float("nan")), "its value is nan; a finite number would be accepted"),
        (wb.Score("many"), "its value is 'many'; a finite number would be accepted"),  # type: ignore[arg-type]
    ],
)
def test_a_faulty_metric_has_no_value_says_why_and_takes_no_other_figure_away(
    answer: object, reason: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    run = wb.compare(
        [SESSION],
        strategies=["truncate"],
        window=4000,
        metrics=[Faulty(answer), MessagesSent()],
        out=tmp_path / "run",
        quiet=True,
    )
    by_metric = run.scores.groupby("metric")
    faulty = by_metric.get_group("faulty")
    assert faulty["value"].isna().all() and set(faulty["why"]) == {reason}
    assert by_metric.get_group("messages_sent")["value"].notna().any()
    findings = Findings.of(run)
    show(findings)
    assert f"faulty, where it has no value: {reason}." in " ".join(capsys.readouterr().out.split())
    assert reason in html.unescape(Report(run).headline.html)
