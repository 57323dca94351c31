"""Metrics of the caller's own, measured in whole runs."""

import html
import json
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import pytest
from planted_run import PlantedRun

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


def test_the_metric_of_the_page_gives_no_zero_where_there_are_no_requests(tmp_path: Path) -> None:
    page = Path("docs/own-metric.md").read_text()
    block = page.partition("```python\n")[2].partition("```")[0]
    written: dict[str, Any] = {}
    exec(block, written)
    settings: dict[str, Any] = {"strategies": ["truncate"], "shares": (0.2,), "window": 4000}
    metrics = [written["LongestGap"]()]
    run = wb.compare([SESSION], **settings, metrics=metrics, out=tmp_path / "run", quiet=True)
    scores = run.scores[run.scores["metric"] == "longest_gap"].set_index("mode")
    assert scores.loc["matched", "value"].isna().all()
    assert (scores.loc["natural", "value"].dropna() > 0).any()


def test_a_run_without_one_says_nothing_of_them(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    run = wb.compare(
        [SESSION], strategies=["truncate"], window=4000, out=tmp_path / "run", quiet=True
    )
    show(Findings.of(run))
    assert "Your metrics" not in capsys.readouterr().out
    assert "metrics" not in run.manifest["settings"]


def test_strategies_are_compared_over_the_sizes_at_which_all_have_a_value(
    capsys: pytest.CaptureFixture[str],
) -> None:
    run = run_with_test_names(too_large=())
    rows = Report(run).own_metrics.data
    assert rows is not None
    at_same_size = rows.set_index("strategy")["same_size"]
    assert at_same_size["mine"] == at_same_size["truncate"] == pytest.approx(0.6)
    show(Findings.of(run))
    assert "*" not in capsys.readouterr().out


def test_a_strategy_that_cannot_be_cut_to_the_size_is_marked_beside_its_own_metric(
    capsys: pytest.CaptureFixture[str],
) -> None:
    run = run_with_test_names(too_large=("s0", "s1", "s2"))
    rows = Report(run).own_metrics.data
    assert rows is not None
    by_strategy = rows.set_index("strategy")
    assert by_strategy.loc["truncate", "same_size"] == pytest.approx(0.4)
    assert by_strategy.loc["truncate", "sessions_same_size"] == 4
    assert by_strategy.loc["mine", "sessions_same_size"] == 1
    show(Findings.of(run))
    assert "60 %*" in capsys.readouterr().out
    assert "larger in 3" in Report(run).headline.html


@pytest.mark.parametrize(
    ("unit", "value", "shown"),
    [
        ("share", 0.4616, "46 %"),
        ("seconds", 3.25, "3.2 s"),
    ],
)
def test_a_metric_of_ones_own_has_one_rendering_everywhere_and_its_number_in_json(
    unit: str, value: float, shown: str, capsys: pytest.CaptureFixture[str]
) -> None:
    run = run_with_test_names(too_large=(), unit=unit, values={0.1: value, 0.2: value})
    findings = Findings.of(run)
    show(findings)
    printed = capsys.readouterr().out
    assert f"  {shown}  " in printed.split("Your metrics")[1]
    for part in (Report(run).own_metrics, Report(run).headline):
        assert f">{shown}</td>" in part.html
    rows = json.loads(json.dumps(outcome(run, findings, no_report=True)))["own_metrics"]
    assert all(row["same_size"] == pytest.approx(value) for row in rows)


HIGHER_AT_LARGER = {0.1: 0.2, 0.2: 0.6}


def run_with_test_names(
    too_large: Sequence[str],
    unit: str = "share",
    values: Mapping[float, float] = HIGHER_AT_LARGER,
) -> PlantedRun:
    """Two strategies in four sessions, of which `mine` has no names of tests at the small size.

    Args:
        too_large: the sessions in which `mine` stays larger than that size; it has no value in the
            others either.
        unit: of the own metric.
        values: of both metrics, by size.
    """
    scores: list[dict[str, Any]] = []
    replays: list[dict[str, Any]] = []
    for session in ("s0", "s1", "s2", "s3"):
        for strategy in ("truncate", "mine"):
            replays.append({"session": session, "strategy": strategy, "status": "ok"})
            for metric in ("exam_recall", "test_names"):
                for share, value in values.items():
                    place: dict[str, Any] = {"session": session, "strategy": strategy}
                    score: dict[str, Any] = {"mode": "matched", "metric": metric, "share": share}
                    score |= {"value": value, "why": ""}
                    score |= {"better": "higher", "unit": "share"}
                    if metric == "test_names":
                        score["unit"] = unit
                    if strategy == "mine" and share == 0.1:
                        why = "no test was named"
                        if session in too_large:
                            why = "it stays larger than the size that was set, up to 2 times"
                        elif metric == "exam_recall":
                            why = ""
                        score |= {"value": None if why else value, "why": why}
                    scores.append(place | score)
    sessions = [
        {"session": name, "project": name, "status": "ok"} for name in ("s0", "s1", "s2", "s3")
    ]
    manifest = {"settings": {"strategies": ["truncate", "mine"], "metrics": ["test_names"]}}
    return PlantedRun(manifest, {"scores": scores, "replays": replays, "sessions": sessions})


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
