"""A run's scores as logs of Inspect, which its viewer and other tools can show."""

from __future__ import annotations

import json
import re
from datetime import UTC, datetime
from pathlib import Path
from statistics import fmean
from typing import TYPE_CHECKING, Any

from workbench.experiment.store import Results, write_atomically

if TYPE_CHECKING:
    import pandas as pd

VERSION = 2
"""Of Inspect's log format."""


def to_inspect(results: Results, out: str | Path) -> list[Path]:
    """Write a log a strategy: a session is a sample, a metric is a score; matched mode's are called `recall@20%`.

    A score without a value is left out, with its reason in the sample's metadata. A log holds no text of a recording
    but the session's id and title.

    Args:
        results: a run.
        out: a folder; logs of the same names are replaced.

    Returns:
        The logs, in the order of the strategies.

    Source:
        Log format version 2 of `inspect_ai.log.EvalLog`, inspect_ai 0.3.285; restated.
    """
    found = []
    for strategy in dict.fromkeys(map(str, results.replays["strategy"])):
        path = Path(out) / f"{re.sub(r'[^A-Za-z0-9._=-]+', '-', strategy).strip('-.') or 'strategy'}.json"
        log = json.dumps(_log(results, strategy), indent=1, ensure_ascii=True, allow_nan=False)
        write_atomically(path, log + "\n")
        found.append(path)
    return found


def _log(results: Results, strategy: str) -> dict[str, object]:
    when = datetime.fromtimestamp(results.manifest.get("created", 0), UTC).isoformat(timespec="seconds")
    titles = dict(zip(results.sessions["session"], results.sessions["title"].fillna(""), strict=True))
    scores = results.scores[results.scores["strategy"] == strategy]
    replays = results.replays[results.replays["strategy"] == strategy]
    samples = [
        _sample(row["session"], titles.get(row["session"]), row["reason"], scores[scores["session"] == row["session"]])
        for row in replays.to_dict("records")
    ]
    settings = results.manifest.get("settings") or {}
    done = int((replays["status"] == "ok").sum())
    values: dict[str, list[float]] = {}
    for sample in samples:
        for name, score in sample["scores"].items():
            values.setdefault(name, []).append(score["value"])
    return {
        "version": VERSION,
        "status": "success" if done == len(samples) else "error",
        "eval": {
            "run_id": results.path.name, "created": when, "task": "workbench", "task_id": f"workbench-{strategy}",
            "task_version": 0, "task_args": {"strategy": strategy}, "model": settings.get("model") or "none",
            "model_args": {}, "config": {},
            "dataset": {"name": results.path.name, "samples": len(samples), "sample_ids": [s["id"] for s in samples]},
            "packages": results.manifest.get("packages") or {},
            "metadata": {"strategy": strategy, "settings": settings},
        },
        "plan": {"name": "plan", "steps": [], "config": {}},
        "results": {
            "total_samples": len(samples), "completed_samples": done,
            "scores": [
                {"name": name, "scorer": name, "params": {}, "scored_samples": len(own),
                 "metrics": {"mean": {"name": "mean", "value": fmean(own), "params": {}}}}
                for name, own in values.items()
            ],
        },
        "stats": {"started_at": when, "completed_at": when, "model_usage": {}},
        "samples": samples,
    }  # fmt: skip


def _sample(session: str, title: str | None, reason: str, scores: pd.DataFrame) -> dict[str, Any]:
    values: dict[str, object] = {}
    missing: dict[str, str] = {}
    for row in scores.astype(object).where(scores.notna(), None).to_dict("records"):
        name = row["metric"] if row["share"] is None else f"{row['metric']}@{row['share']:.0%}"
        if row["value"] is None:
            missing[name] = row["why"] or ""
        else:
            facts = {"unit": row["unit"], "better": row["better"], "mode": row["mode"], "n": row["n"]}
            values[name] = {"value": row["value"], "metadata": facts}
    error = {"error": {"message": reason, "traceback": "", "traceback_ansi": ""}} if reason else {}
    return {
        "id": session, "epoch": 1, "input": title or session, "target": "", "messages": [],
        "output": {"model": "", "choices": []}, "scores": values, "metadata": {"without_a_value": missing},
        "store": {}, "events": [], "model_usage": {}, "attachments": {}, **error,
    }  # fmt: skip
