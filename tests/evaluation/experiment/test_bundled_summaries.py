"""Who wrote the summaries of a run with the bundled model: real summaries, a rule's, or both,
named everywhere.
"""

from __future__ import annotations

import re
import shutil
from collections.abc import Iterator
from dataclasses import dataclass, field, replace
from html import unescape
from pathlib import Path
from typing import Any

import pytest
from recorded_files import bundled_files

from builders import remembering, rules
from workbench import (
    Completion,
    Findings,
    Model,
    ModelSettings,
    Preset,
    Report,
    Results,
    Session,
    SummaryRequest,
    bundled,
    compare,
    find_model,
    preset,
)
from workbench.cli.ending import finish
from workbench.cli.headline import outcome, show
from workbench.engine.models.bundled import Bundled
from workbench.engine.models.bundled_answers import BundledAnswer, answers_text
from workbench.engine.models.plain_text import request_key
from workbench.evaluation.experiment.compare import Run
from workbench.evaluation.experiment.grid import Grid
from workbench.evaluation.experiment.sources import sources_of
from workbench.evaluation.experiment.spec import RunSpec

WITHOUT_A_MODEL = (
    "Without a model a comparison of presets compares triggers, cuts and cost, not summaries. "
    "Name one with --model: litellm:NAME, command:LINE or folder:PATH."
)

WRITER = "a large language model, 2026-11"
AUTHOR = "a large language model (recorded 2026-11; its answers ship with the package)"


def session() -> Session:
    return Session.of([rules("be brief"), *remembering(40)], id="s", project="p")


@dataclass
class Recorder:
    """A model whose answers are written down."""

    name: str = "recorder"
    answers: dict[str, BundledAnswer] = field(default_factory=dict)

    def complete(self, request: SummaryRequest, /) -> Completion:
        completion = find_model("extractive").complete(request)
        key = request_key(request)
        self.answers[key] = BundledAnswer(
            key=key, text=completion.text, input_tokens=9, output_tokens=9, writer=WRITER
        )
        return replace(completion, model=self.name)


def run(folder: Path, model: str | Model, strategy: str | Preset = "summarize") -> Results:
    return compare(
        session(),
        strategies=("truncate", strategy),
        window=6_000,
        shares=(0.2,),
        boundaries=(0.6,),
        model=model,
        model_settings=ModelSettings(cache=folder / "cache", on_bad_summary="keep"),
        simulate=False,
        out=folder / "run",
        quiet=True,
    )


@pytest.fixture(scope="module")
def answers(tmp_path_factory: pytest.TempPathFactory) -> Iterator[list[BundledAnswer]]:
    recorder = Recorder()
    run(tmp_path_factory.mktemp("recorded"), recorder)
    yield list(recorder.answers.values())


def bundled_model(folder: Path, answers: list[BundledAnswer]) -> Bundled:
    file = folder / "answers.jsonl"
    file.write_text(answers_text(answers), "utf-8")
    return Bundled(file=file)


def page(results: Results) -> str:
    """What the first screen of the report says, and what it says of who wrote."""
    report = Report(results)
    html = report.verdict.html + report.headline.html + report.reproduce.html
    return " ".join(unescape(re.sub(r"<[^>]+>", " ", html)).replace("\xa0", " ").split())


def printed(results: Results, capsys: pytest.CaptureFixture[str]) -> str:
    """All that terminal and standard error say of a run."""
    finish(results)
    show(Findings.of(results))
    told = capsys.readouterr()
    return " ".join((told.err + told.out).split())


def test_where_all_answers_are_bundled_a_model_wrote_the_summaries(
    answers: list[BundledAnswer], tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    results = run(tmp_path, bundled_model(tmp_path, answers))
    findings, n = Findings.of(results), len(answers)
    assert findings.figures.kinds["summarize"] == "model"
    assert findings.written_by == f"{n} summaries, all by {AUTHOR}."
    assert findings.opening == ""
    text = printed(results, capsys)
    assert findings.written_by in text and "not among these" not in text
    row = results.replays.set_index("strategy").loc["summarize"]
    assert (row["model"], row["summaries"], row["written"], row["usd"]) == ("bundled", n, n, 0.0)


def test_a_summary_that_is_not_bundled_is_named_a_rules_everywhere(
    answers: list[BundledAnswer], tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    results = run(tmp_path, bundled_model(tmp_path, answers[:-1]))
    findings, n = Findings.of(results), len(answers)
    assert findings.figures.kinds["summarize"] == "mixed", (
        "such a replay never counts as the model's"
    )
    line = f"{n} summaries: {n - 1} by {AUTHOR}, 1 by a rule."
    assert findings.written_by == line
    assert findings.opening.startswith(
        f"A rule wrote 1 of {n} summaries, some of summarize among them"
    )
    note = (
        f"{n - 1} of {n} summaries were written by a large language model (recorded; its answers"
        " ship with the package); 1 is not among these, and a rule (extractive) wrote it"
    )
    text = printed(results, capsys)
    for words in (line, note, findings.opening):
        assert words in text
        assert words in page(results)
    told = outcome(results, findings, no_report=True)
    models = (f"bundled ({WRITER})",)
    counts = {"by_model": n - 1, "by_rule": 1, "models": models, "words": line}
    assert told["written_by"] == counts
    assert isinstance(told["summaries"], list)
    (summaries,) = told["summaries"]
    assert (summaries["written"], summaries["not_bundled"], summaries["useless"]) == (n - 1, 1, 0)
    compactions = results.compactions[results.compactions["requests"] > 0]
    assert compactions["by_rule"].sum() == 1
    (by_rule,) = compactions[compactions["by_rule"] > 0].to_dict("records")
    assert (by_rule["writer"], by_rule["method"]) == ("extractive", "not bundled")


def test_another_prompt_makes_the_answers_stale_and_that_is_said(
    answers: list[BundledAnswer], tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    changed = preset("summarize", **{"summarize.prompt.result_chars": 999})
    results = run(tmp_path, bundled_model(tmp_path, answers), changed)
    findings = Findings.of(results)
    assert findings.figures.kinds[changed.name] == "rule"
    assert findings.opening == WITHOUT_A_MODEL
    none_written = r"\b0 of \d+ summaries were written by a large language model \(recorded"
    assert re.search(none_written, printed(results, capsys))
    assert "the prompt, the window or the session is another than the recorded one" in page(results)


def test_the_rules_summaries_are_those_of_extractive_to_the_letter(tmp_path: Path) -> None:
    mine, plain = (
        run(tmp_path / "a", bundled_model(tmp_path, [])),
        run(tmp_path / "b", "extractive"),
    )
    columns = ["session", "strategy", "mode", "metric", "value"]
    assert mine.scores[columns].equals(plain.scores[columns])
    assert mine.costs.equals(plain.costs)


def default_model(what: Any, **settings: object) -> tuple[object, ...]:
    return Run.of(sources_of(what), RunSpec(**settings)).job.spec.model


def test_bundled_sessions_alone_have_the_bundled_summaries_where_no_model_is_named(
    tmp_path: Path,
) -> None:
    copy = shutil.copy(bundled_files()[0], tmp_path / "mine.jsonl.gz")
    own = session()
    assert default_model(()) == ("bundled",)
    assert default_model(bundled_files()[0]) == ("bundled",)
    assert default_model(copy) == ("bundled",), "wherever the file lies"
    assert default_model(bundled()[:2]) == ("bundled",)
    assert default_model(own) == ("extractive",)
    assert default_model([bundled_files()[0], own]) == ("extractive",)
    assert default_model((), model="extractive") == ("extractive",)


def test_grids_vary_what_was_recorded_and_have_the_rule() -> None:
    assert Grid().models == ("extractive",)
