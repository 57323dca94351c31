"""Who wrote the summaries of a run, and what came of each request for one."""

from __future__ import annotations

from dataclasses import dataclass

import pandas as pd

from workbench.engine.models.bundled_answers import NAME as BUNDLED
from workbench.evaluation.analysis.table_rows import rows_of_contenders, rows_with
from workbench.evaluation.findings.tables import Tables
from workbench.evaluation.findings.wording import sentences
from workbench.evaluation.metrics.work_exam.text_kind import RULES


def writers(run: Tables) -> pd.DataFrame:
    """One row a strategy that asked for summaries: who wrote them, at what cost, and with which
    faults.
    """
    has_requests = run.compactions["requests"] > 0
    with_requests = run.compactions[has_requests]
    rows = []
    for name in run.strategies:
        compactions = rows_with(with_requests, strategy=name)
        if len(compactions):
            rows.append(_writer(run, name, compactions))
    return pd.DataFrame(rows)


def _writer(
    run: Tables,
    name: str,
    compactions: pd.DataFrame,
) -> dict[str, object]:
    own_metric = run.leading("natural")
    metric_at_size = run.leading("matched")
    replays = rows_with(run.replays, strategy=name)
    methods = compactions["method"].astype(str)
    findings = compactions["findings"].astype(str)
    is_repaired = methods.str.contains("repaired")
    has_fallback = compactions["fallbacks"] > 0
    has_no_fallback = compactions["fallbacks"] == 0
    messages_left_out = compactions["left_out"].fillna(0)
    is_faulty = (findings != "") & has_no_fallback
    return {
        "strategy": name,
        "writer": _writer_names(compactions),
        "summaries": len(compactions),
        "recall": run.values(own_metric, name).mean(),
        "recall_at_size": _mean_at_size(run, metric_at_size, name),
        "fabricated": _mean_at_size(run, "fabrication", name),
        "usd": replays["usd"].sum(skipna=False),
        "price": compactions["usd"].sum(skipna=False),
        "seconds": compactions["seconds"].mean(),
        "read": compactions["input_tokens"].sum(),
        "wrote": compactions["output_tokens"].sum(),
        "repaired": int(is_repaired.sum()),
        "replaced": int(has_fallback.sum()),
        "faulty": int(is_faulty.sum()),
        "unread": int(messages_left_out.sum()),
    }


def _writer_names(compactions: pd.DataFrame) -> str:
    """Who wrote the summaries, with the number of each where there are several."""
    counts = compactions["writer"].value_counts()
    if len(counts) == 1:
        return str(counts.index[0])
    names = [f"{writer} ({count})" for writer, count in counts.items()]
    return ", ".join(names)


def _mean_at_size(run: Tables, metric: str, name: str) -> float:
    scores = run.select(metric, "matched")
    of_strategy = rows_with(scores, strategy=name)
    return float(of_strategy["value"].mean())


@dataclass(frozen=True, slots=True)
class SummaryCounts:
    """Who wrote the summaries of a run.

    Attributes:
        by_model: how many models wrote.
        by_rule: how many a rule wrote: `extractive`, or a strategy's stand-in.
        models: the models, as the tables name them.
    """

    by_model: int = 0
    by_rule: int = 0
    models: tuple[str, ...] = ()

    @property
    def total(self) -> int:
        """All summaries."""
        return self.by_model + self.by_rule


def summary_counts(run: Tables) -> SummaryCounts:
    """Who wrote the summaries of a run's contenders."""
    rows = rows_of_contenders(run.summaries)
    writers = rows["writer"].str.split(" + ", regex=False)
    models: list[str] = []
    for name in writers.explode().unique():
        if name not in RULES:
            models.append(name)
    total = int(rows["requests"].sum())
    by_rule = int(rows["by_rule"].sum())
    return SummaryCounts(
        by_model=total - by_rule,
        by_rule=by_rule,
        models=tuple(models),
    )


def author(model: str) -> str:
    """Who a model is, for readers: `bundled` is the name of recorded answers, not of a model."""
    name, _, writer = model.partition(" (")
    if name != BUNDLED:
        return model
    writer = writer.removesuffix(")")
    who, _, date = writer.partition(", ")
    who = who or "a large language model"
    recorded_when = f"recorded {date}".strip()
    return f"{who} ({recorded_when}; its answers ship with the package)"


OWN = ("", "extractive")
"""Writers that no provider stands behind."""


def answers(replays: pd.DataFrame) -> pd.DataFrame:
    """One row a model that may not answer, from the table `replays`.

    Returns:
        `model`; `summaries` that the run needs; those `written` by it; those `useless`, for which
        other text stands; those `not_bundled`, which `extractive` wrote; `pending` replays, which
        are in no figure; `usd`, the dollars that the run has paid, missing if unknown.
    """
    models = replays["model"].fillna("")
    has_model = ~models.isin(OWN)
    is_pending = replays["status"] == "pending"
    with_model = replays.assign(pending=is_pending)[has_model]
    by_model = with_model.groupby("model", sort=False)
    columns = ["summaries", "written", "useless", "pending"]
    sums = by_model[columns].sum()
    counts = sums.astype(int)
    came = counts["written"] + counts["useless"]
    lacking = counts["summaries"] - came
    is_bundled = counts.index == BUNDLED
    counts["not_bundled"] = lacking.where(is_bundled, 0)
    counts["usd"] = by_model["usd"].apply(_known_sum)
    return counts.reset_index()


def _known_sum(dollars: pd.Series[float]) -> object:
    """The sum; missing where one of the numbers is."""
    return dollars.sum(skipna=False)


def answer_sentences(replays: pd.DataFrame) -> list[str]:
    """Where a model did not write all summaries: `0 of 8 summaries were written by gpt-4o-mini;
    ...`.
    """
    models = answers(replays)
    is_incomplete = models["written"] < models["summaries"]
    incomplete = models[is_incomplete]
    authors = incomplete["model"].map(author)
    incomplete = incomplete.assign(author=authors)
    return sentences("answers", models=incomplete.to_dict("records"))
