"""Scores to and from logs of Inspect, so that its viewer and other tools can show ours, and ours can weigh theirs."""

from __future__ import annotations

import json
import re
import zipfile
from collections.abc import Iterable, Iterator, Mapping
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING

from workbench.errors import FormatError, SettingError
from workbench.experiment.store import Results, write_atomically
from workbench.experiment.tables import frame

if TYPE_CHECKING:
    import pandas as pd

VERSION = 2
"""Of Inspect's log format."""

_GRADES = {"C": 1.0, "I": 0.0, "P": 0.5, "N": 0.0}
"""Inspect's letters: correct, incorrect, partly correct, no answer."""


def to_inspect(results: Results, out: str | Path) -> list[Path]:
    """Write a log a strategy: a session is a sample, a metric is a score; matched mode's are called `recall@20%`.

    A score that has no value is left out, with its reason in the sample's metadata. No word of a recording is in a log
    but the session's id and title.

    Args:
        results: a run.
        out: a folder; logs of the same names are replaced.

    Returns:
        The logs, in the order of the strategies.

    Source:
        Log format version 2 of `inspect_ai.log.EvalLog`, inspect_ai 0.3.285; restated.
    """
    titles = dict(zip(results.sessions["session"], results.sessions["title"].fillna(""), strict=True))
    when = datetime.fromtimestamp(float(str(results.manifest.get("created", 0))), UTC).isoformat(timespec="seconds")
    found = []
    for strategy in dict.fromkeys(map(str, results.replays["strategy"])):
        log = _log(results, strategy, titles, when)
        path = Path(out) / f"{re.sub(r'[^A-Za-z0-9._=-]+', '-', strategy).strip('-.') or 'strategy'}.json"
        write_atomically(path, json.dumps(log, indent=1, ensure_ascii=True, allow_nan=False) + "\n")
        found.append(path)
    return found


def inspect_scores(paths: str | Path | Iterable[str | Path], strategy: str | None = None) -> pd.DataFrame:
    """The scores of Inspect logs as rows of the table `scores`, to be compared or gated like a run's.

    `session` is the sample's id, `strategy` what the log was written for by us, else its model; `mode` is `natural`;
    the mean is taken over a sample's epochs. Letters count as Inspect counts them; a score of several named values is
    a metric each, `scorer/name`; other words are left out.

    Args:
        paths: logs, `.eval` or JSON.
        strategy: takes the place of the model's name.

    Raises:
        FormatError: a file is no log of Inspect.
    """
    rows: dict[tuple[str, str, str], list[float]] = {}
    for path in [paths] if isinstance(paths, str | Path) else paths:
        about, samples = _read(Path(path))
        metadata = about.get("metadata")
        ours = metadata.get("strategy") if isinstance(metadata, Mapping) else None
        name = strategy or (str(ours) if ours else str(about.get("model") or about.get("task") or ""))
        for sample in samples:
            scores = sample.get("scores")
            for metric, score in scores.items() if isinstance(scores, Mapping) else ():
                value = score.get("value") if isinstance(score, Mapping) else None
                for whole, number in _numbers(str(metric), value):
                    rows.setdefault((str(sample.get("id")), name, whole), []).append(number)
    return frame(
        "scores",
        [
            {"session": session, "strategy": name, "mode": "natural", "metric": metric, "n": len(values),
             "value": sum(values) / len(values), "better": "higher", "why": ""}
            for (session, name, metric), values in rows.items()
        ],
    )  # fmt: skip


def _log(results: Results, strategy: str, titles: Mapping[str, str], when: str) -> dict[str, object]:
    scores = results.scores[results.scores["strategy"] == strategy]
    replays = results.replays[results.replays["strategy"] == strategy]
    samples = [_sample(str(row.session), str(row.reason or ""), scores, titles) for row in replays.itertuples()]
    settings = results.manifest.get("settings")
    model = str(settings.get("model") or "none") if isinstance(settings, Mapping) else "none"
    done = int((replays["status"] == "ok").sum())
    return {
        "version": VERSION,
        "status": "success" if done == len(samples) else "error",
        "eval": {
            "run_id": results.path.name, "created": when, "task": "workbench", "task_id": f"workbench-{strategy}",
            "task_version": 0, "task_args": {"strategy": strategy}, "model": model, "model_args": {}, "config": {},
            "dataset": {"name": results.path.name, "samples": len(samples), "sample_ids": [s["id"] for s in samples]},
            "packages": results.manifest.get("packages") or {},
            "metadata": {"strategy": strategy, "settings": settings},
        },
        "plan": {"name": "plan", "steps": [], "config": {}},
        "results": {
            "total_samples": len(samples), "completed_samples": done,
            "scores": list(_aggregates(samples)),
        },
        "stats": {"started_at": when, "completed_at": when, "model_usage": {}},
        "samples": samples,
    }  # fmt: skip


def _sample(session: str, reason: str, scores: pd.DataFrame, titles: Mapping[str, str]) -> dict[str, object]:
    values: dict[str, object] = {}
    missing: dict[str, str] = {}
    own = scores[scores["session"] == session]
    for row in own.astype(object).where(own.notna(), None).to_dict("records"):
        name = str(row["metric"]) if row["share"] is None else f"{row['metric']}@{float(row['share']):.0%}"
        if row["value"] is None:
            missing[name] = str(row["why"] or "")
            continue
        facts = {"unit": row["unit"], "better": row["better"], "mode": row["mode"], "n": row["n"]}
        values[name] = {"value": float(row["value"]), "metadata": facts}
    found: dict[str, object] = {
        "id": session, "epoch": 1, "input": titles.get(session) or session, "target": "", "messages": [],
        "output": {"model": "", "choices": []}, "scores": values, "metadata": {"without_a_value": missing},
        "store": {}, "events": [], "model_usage": {}, "attachments": {},
    }  # fmt: skip
    if reason:
        found["error"] = {"message": reason, "traceback": "", "traceback_ansi": ""}
    return found


def _aggregates(samples: Iterable[Mapping[str, object]]) -> Iterator[dict[str, object]]:
    values: dict[str, list[float]] = {}
    for sample in samples:
        scores = sample["scores"]
        assert isinstance(scores, Mapping)
        for name, score in scores.items():
            values.setdefault(str(name), []).append(float(score["value"]))
    for name, own in values.items():
        mean = {"name": "mean", "value": sum(own) / len(own), "params": {}}
        yield {"name": name, "scorer": name, "params": {}, "metrics": {"mean": mean}, "scored_samples": len(own)}


def _read(path: Path) -> tuple[Mapping[str, object], list[Mapping[str, object]]]:
    try:
        if zipfile.is_zipfile(path):
            with zipfile.ZipFile(path) as archive:
                names = archive.namelist()
                header = json.loads(archive.read("header.json")) if "header.json" in names else {}
                members = sorted(name for name in names if name.startswith("samples/") and name.endswith(".json"))
                samples = [json.loads(archive.read(name)) for name in members]
        else:
            header = json.loads(path.read_text(encoding="utf-8"))
            samples = header.get("samples") or [] if isinstance(header, dict) else []
    except FileNotFoundError:
        raise SettingError(f"there is no file {path}") from None
    except (OSError, ValueError, KeyError, zipfile.BadZipFile) as error:
        raise FormatError(f"not a log of Inspect that can be read ({error})", where=str(path)) from None
    about = header.get("eval") if isinstance(header, dict) else None
    if not isinstance(about, dict):
        raise FormatError("not a log of Inspect: it has no object `eval`", where=str(path))
    return about, [sample for sample in samples if isinstance(sample, dict)]


def _numbers(metric: str, value: object) -> Iterator[tuple[str, float]]:
    """A score's value as numbers, under its name or, where it has several, names."""
    if isinstance(value, Mapping):
        for name, inner in value.items():
            yield from _numbers(f"{metric}/{name}", inner)
    elif isinstance(value, bool | int | float):
        yield metric, float(value)
    elif isinstance(value, str):
        try:
            yield metric, _GRADES[value] if value in _GRADES else float(value)
        except ValueError:
            return
