"""Calls of the public face, right ones and wrong ones, for a type checker; nothing here is ever
run.

Each entry has a right call, a call with a wrong name, and a call with a value of a wrong type. A
wrong call is marked with the error that a type checker must find there: with `--strict`, a mark
without its error is an error too.
"""

from __future__ import annotations

from pathlib import Path

import workbench as wb
import workbench.lab.advice.advise as advise
from workbench import Model
from workbench.evaluation.analysis.ablation import leave_one_out
from workbench.evaluation.experiment import compare, sweep
from workbench.lab.judge.work_exam.judge_work import judge_work
from workbench.lab.judge.work_exam.write import write_exams
from workbench.lab.simulation import simulate
from workbench.testing import CompactionGate


def calls_of_runs(model: Model, settings: wb.ModelSettings) -> None:
    results = wb.compare(
        ["my-sessions/"],
        strategies=["truncate", wb.preset("summarize")],
        shares=[0.1, "20%"],
        boundaries="recorded",
        window=64_000,
        model=[model, "extractive"],
        model_settings=settings,
        group_by="folder",
        out="reports/mine",
        jobs=None,
    )
    wb.compare(strategis=["truncate"])  # type: ignore[call-arg]
    wb.compare(window="large")  # type: ignore[arg-type]
    wb.compare(group_by="month")  # type: ignore[arg-type]
    print(results.scores.columns, results.path.name, results.report.name)
    print(results.score)  # type: ignore[attr-defined]
    compare.forecast("my-sessions/", strategies="truncate,summarize", limit=3)
    compare.forecast(limits=3)  # type: ignore[call-arg]
    compare.forecast(limit="all")  # type: ignore[arg-type]
    wb.sweep("grid.toml", jobs=2, quiet=True, replicates=3)
    wb.sweep("grid.toml", strategies=3)  # type: ignore[call-arg]
    wb.sweep("grid.toml", quiet="no")  # type: ignore[arg-type]
    sweep.forecast({"strategies": ["truncate"]}, scheduler="localhost:8786")
    sweep.forecast("grid.toml", schedule="")  # type: ignore[call-arg]
    sweep.forecast("grid.toml", scheduler=8786)  # type: ignore[arg-type]
    wb.sweep_table(results)
    wb.sweep_table(result=results)  # type: ignore[call-arg]
    wb.sweep_table("reports/mine")  # type: ignore[arg-type]
    leave_one_out("my-sessions/", "pipeline", shares=(0.1,), seed=2)
    leave_one_out(strategy="pipeline", share=0.1)  # type: ignore[call-arg]
    leave_one_out(seed=None)  # type: ignore[arg-type]
    wb.render("reports/mine", baseline="truncate")
    wb.render("reports/mine", against="truncate")  # type: ignore[call-arg]
    wb.render(results)  # type: ignore[arg-type]


def calls_of_the_closed_loop(model: Model) -> None:
    wb.simulate([], window=32_000, reader="local", model=model, strategies="none,truncate")
    wb.simulate([], windw=1)  # type: ignore[call-arg]
    wb.simulate([], strategies=3)  # type: ignore[arg-type]
    simulate.forecast("my-sessions/", redact=True, unmasked=["email"])
    simulate.forecast(mask=True)  # type: ignore[call-arg]
    simulate.forecast(redact="yes")  # type: ignore[arg-type]
    wb.trial(agent=model, families="bundled", seeds=2, share="30%", out=Path("reports/trial"))
    wb.trial(tasks="bundled")  # type: ignore[call-arg]
    wb.trial(seeds=[1, 2])  # type: ignore[arg-type]
    wb.advise(["my-sessions/"], candidates=8, model=["extractive"], worth=0.5)
    wb.advise(candidate=8)  # type: ignore[call-arg]
    wb.advise(worth="much")  # type: ignore[arg-type]
    advise.forecast(space="grid.toml")
    advise.forecast(grid="grid.toml")  # type: ignore[call-arg]
    advise.forecast(folds=2.5)  # type: ignore[arg-type]
    wb.learn("my-sessions/", jobs=2)
    wb.learn("my-sessions/", job=2)  # type: ignore[call-arg]
    wb.learn("my-sessions/", jobs="two")  # type: ignore[arg-type]


def calls_of_judges(model: Model) -> None:
    wb.judge_exam("my-sessions/", model=model, shares=[0.1], most=20)
    wb.judge_exam(models=model)  # type: ignore[call-arg]
    wb.judge_exam(model=7)  # type: ignore[arg-type]
    wb.judge_losses("reports/run", model=model, strategies="truncate", limit=20)
    wb.judge_losses("reports/run", models=model)  # type: ignore[call-arg]
    wb.judge_losses("reports/run", limit="all")  # type: ignore[arg-type]
    judge_work(model="fitted", chains=[1, 3], writers="extractive", exams=Path("exams"))
    judge_work(chain=3)  # type: ignore[call-arg]
    judge_work(chains=3)  # type: ignore[arg-type]
    write_exams("session.jsonl", model=model, boundaries=(0.5, 40), again=True)
    write_exams("session.jsonl", force=True)  # type: ignore[call-arg]
    write_exams("session.jsonl", questions="many")  # type: ignore[arg-type]


def calls_of_the_gate(compaction_gate: CompactionGate) -> None:
    compaction_gate("summarize", baseline="truncate", share=0.2, window=32_000, limit=2)
    compaction_gate("summarize", widnow=32_000)  # type: ignore[call-arg]
    compaction_gate("summarize", limit="two")  # type: ignore[arg-type]


def calls_on_one_session(model: Model) -> None:
    wb.bundled()
    wb.bundled(names=["a"])  # type: ignore[call-arg]
    (session,) = wb.load("session.jsonl", lenient=True)
    wb.load("session.jsonl", strict=True)  # type: ignore[call-arg]
    wb.load(7)  # type: ignore[arg-type]
    wb.save(session, "copy.jsonl")
    wb.save(session, to="copy.jsonl")  # type: ignore[call-arg]
    wb.save("session.jsonl", "copy.jsonl")  # type: ignore[arg-type]
    wb.composition(session)
    wb.composition("session.jsonl")  # type: ignore[arg-type]
    wb.composition(session, request=3)  # type: ignore[call-arg]
    ready = wb.prepared(session, window=64_000)
    wb.prepared(session, size=64_000)  # type: ignore[call-arg]
    wb.prepared("session.jsonl")  # type: ignore[arg-type]
    replay = wb.replay(ready, "summarize", model=model, by_hand=[12])
    wb.replay(ready, "summarize", threshold=0.8)  # type: ignore[call-arg]
    wb.replay(ready, "summarize", window="64k")  # type: ignore[arg-type]
    wb.metric_input(ready, replay)
    wb.metric_input(ready, replays=replay)  # type: ignore[call-arg]
    wb.metric_input(session, replay)  # type: ignore[arg-type]
    wb.exam(session, at=40)
    wb.exam(session, where=40)  # type: ignore[call-arg]
    wb.exam(session, at="end")  # type: ignore[arg-type]
    wb.explore(session, strategy="truncate", threshold=0.8)
    wb.explore(session, model_settings=None)  # type: ignore[call-arg]
    wb.explore("session.jsonl")  # type: ignore[arg-type]


def calls_of_the_engine(context: wb.Context, budget: wb.Budget, model: Model) -> None:
    preset = wb.preset("claude_code", result_chars=2000)
    wb.preset(strategy="claude_code")  # type: ignore[call-arg]
    wb.preset(7)  # type: ignore[arg-type]
    wb.with_recall(preset)
    wb.with_recall(preset, True)  # type: ignore[call-arg]
    wb.with_recall(preset.strategy)  # type: ignore[arg-type]
    wb.find_model("extractive")
    wb.find_model("extractive", cache=None)  # type: ignore[call-arg]
    wb.find_model(7)  # type: ignore[arg-type]
    wb.compact(context, preset.strategy, budget, model)
    wb.compact(context, preset.strategy, budget, writer=model)  # type: ignore[call-arg]
    wb.compact(context, preset, budget, model)  # type: ignore[arg-type]
