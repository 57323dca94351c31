"""A run for others: a copy without any text of its recordings, its scores as logs of Inspect, its
tables as CSV.

In a copy, texts become keyed hashes, written in digits so that no word can come about by chance.
The key is drawn anew for each copy and kept nowhere: a hash cannot be reversed by trying texts, and
two copies have no hash in common.
"""

from __future__ import annotations

import hmac
import json
import re
from collections.abc import Iterable, Mapping, Sequence
from datetime import UTC, datetime
from hashlib import sha256
from pathlib import Path
from secrets import token_bytes
from statistics import fmean
from typing import TYPE_CHECKING, Any

from workbench.base.errors import SettingError
from workbench.engine.compaction.presets import WEIGHTS
from workbench.engine.models.settings import model_names
from workbench.evaluation.experiment.atomic import write_atomically
from workbench.evaluation.experiment.results import Results
from workbench.evaluation.experiment.run_folder import RunFolder
from workbench.evaluation.experiment.table_columns import COLUMNS

if TYPE_CHECKING:
    import pandas as pd

SHARED = "shared"
"""The manifest's field that says that a run is a shared copy, and how."""
DIGITS = 18
"""Of a hash: among a million texts no two are likely to have the same."""
MANIFEST = frozenset(
    {
        "schema",
        "settings",
        "presets",
        "code",
        "python",
        "packages",
        "jobs",
        "seconds",
        "created",
        "projects",
        "advice",
    }
)
"""The fields of a manifest that are copied: what was asked for, with what, and never where the
recordings are.
"""


def share(run: str | Path | Results, out: str | Path) -> Results:
    """Write a copy of a run without any text of its recordings; a report can be rendered from it as
    from any run.

    Args:
        run: the run, or its folder.
        out: a folder that does not exist yet, or is empty.

    Raises:
        SettingError: there is no finished run, it was written by another version, or the folder
            holds something.
    """
    results = run if isinstance(run, Results) else Results.open(run)
    folder = Path(out)
    if folder.exists() and (not folder.is_dir() or any(folder.iterdir())):
        raise SettingError(
            f"{folder} holds something already; name a new folder for the shared copy"
        )
    key = token_bytes(32)
    # numbered in the order of their ids, so that tables keep their order
    session_ids = sorted(set(results.sessions["session"].dropna()))
    session_numbers = {session: number for number, session in enumerate(session_ids, 1)}
    width = len(str(len(session_numbers)))
    shown_names = _weights_files(results.manifest.get("settings", {}).get("strategies", ()))
    for model in results.replays["model"].dropna():
        if model.startswith("command:"):
            shown_names[model] = _model(model)

    def hidden(text: str, column: str, kind: str) -> str:
        if kind == "session":
            return f"session {session_numbers.get(text, 0):0{width}} {_hash(key, text)}"
        if kind == "lines":
            return "\n".join(f"line {_hash(key, line)}" for line in text.split("\n"))
        return f"{column} {_hash(key, text)}, {len(text)} characters"

    tables = {}
    for name, columns in COLUMNS.items():
        table = results.table(name)[list(columns)]
        for column, kind in columns.items():
            if kind in ("session", "text", "lines"):
                texts = table[column].fillna("")
                table[column] = [hidden(text, column, kind) if text else text for text in texts]
            if kind == "str":
                for name_here, shown_name in shown_names.items():
                    table[column] = table[column].str.replace(name_here, shown_name, regex=False)
        tables[name] = table
    manifest_text = json.dumps(_manifest(results.manifest, key), ensure_ascii=False)
    for name_here, shown_name in shown_names.items():
        manifest_text = manifest_text.replace(_in_json(name_here), _in_json(shown_name))
    RunFolder(folder).write(tables, json.loads(manifest_text))
    return Results.open(folder)


def _in_json(text: str) -> str:
    """A text as it stands between quotation marks in JSON."""
    return json.dumps(text, ensure_ascii=False)[1:-1]


def _weights_files(strategies: Iterable[str]) -> dict[str, str]:
    """The names of strategies with weights from a file, the longest first, each with one without
    its place.
    """
    names = [name for name in strategies if name.startswith(WEIGHTS)]
    names.sort(key=len, reverse=True)
    files = [Path(name.removeprefix(WEIGHTS)).name for name in names]
    shown_names = {}
    for number, (name, file) in enumerate(zip(names, files, strict=True), 1):
        if files.count(file) > 1:
            file = f"{number}-{file}"
        shown_names[name] = WEIGHTS + file
    return shown_names


def _hash(key: bytes, text: str) -> str:
    digest = hmac.new(key, text.encode("utf-8", "surrogatepass"), sha256).digest()
    return str(int.from_bytes(digest, "big"))[-DIGITS:]


def _manifest(manifest: Mapping[str, Any], key: bytes) -> dict[str, Any]:
    """What may be known of how the run was made."""
    settings = manifest.get("settings", {})
    models = map(_model, model_names(settings.get("model", "extractive")))
    shared_manifest = {name: manifest[name] for name in manifest if name in MANIFEST}
    shared_manifest["sources"] = [
        f"source {_hash(key, path)}" for path in manifest.get("sources", [])
    ]
    shared_manifest["command"] = []
    shared_manifest["settings"] = {**settings, "model": ",".join(models)}
    # so that its letters form no word
    shared_manifest["code"] = "-".join(re.findall(".{1,3}", manifest.get("code", "")))
    shared_manifest[SHARED] = "texts of the recordings are keyed hashes; the key was not kept"
    return shared_manifest


def _model(name: str) -> str:
    """A model's name without what may be taken from a recording, or from a path on this machine."""
    kind, _, line = name.partition(":")
    if kind == "scripted":
        return kind
    if kind == "command":
        return f"{kind}:{Path(line.split()[0]).name}"
    if kind in ("local", "folder") and line:
        return f"{kind}:{Path(line).name}"
    return name


def csv_text(table: pd.DataFrame) -> str:
    """A table as comma-separated values.

    A text that a spreadsheet would take for a formula gets an apostrophe before it. What could
    steer a terminal, such as an escape in a file's name, becomes U+FFFD.
    """
    plain = table.copy()
    for name in plain.select_dtypes(["string", "object"]):
        plain[name] = [_cell(value) if isinstance(value, str) else value for value in plain[name]]
    return str(plain.rename(columns=lambda name: _cell(str(name))).to_csv(index=False))


def _cell(text: str) -> str:
    apostrophe = "'" if text.startswith(_FORMULA) else ""
    return apostrophe + _STEERING.sub("\ufffd", text)


_STEERING = re.compile(r"[\x00-\x08\x0b\x0c\x0e-\x1f\x7f-\x9f\u202a-\u202e\u2066-\u2069]")
"""Control characters but tab and line ends, and those that turn the direction of a line."""
_FORMULA = ("=", "+", "-", "@", "\t", "\r")
"""What a cell begins with that a spreadsheet computes."""

VERSION = 2
"""Of Inspect's log format."""


def to_inspect(results: Results, out: str | Path) -> list[Path]:
    """Write a log a strategy: a session is a sample, a metric is a score; matched mode's are called
    `recall@20%`.

    A score without a value is left out, with its reason in the sample's metadata. A log holds no
    text of a recording but the session's id and title.

    Args:
        results: a run.
        out: a folder; logs of the same names are replaced.

    Returns:
        The logs, in the order of the strategies.

    Source:
        Log format version 2 of `inspect_ai.log.EvalLog`, inspect_ai 0.3.285; restated.
    """
    paths = []
    for strategy in dict.fromkeys(map(str, results.replays["strategy"])):
        file_name = re.sub(r"[^A-Za-z0-9._=-]+", "-", strategy).strip("-.") or "strategy"
        path = Path(out) / f"{file_name}.json"
        log = json.dumps(_log(results, strategy), indent=1, ensure_ascii=True, allow_nan=False)
        write_atomically(path, log + "\n")
        paths.append(path)
    return paths


def _log(results: Results, strategy: str) -> dict[str, object]:
    when = datetime.fromtimestamp(results.manifest.get("created", 0), UTC).isoformat(
        timespec="seconds"
    )
    titles = results.sessions.set_index("session")["title"].fillna("").to_dict()
    scores = results.scores[results.scores["strategy"] == strategy]
    replays = results.replays[results.replays["strategy"] == strategy]
    samples: list[dict[str, Any]] = []
    for row in replays.to_dict("records"):
        session = row["session"]
        of_session = scores[scores["session"] == session]
        samples.append(_sample(session, titles.get(session), row["reason"], of_session))
    settings = results.manifest.get("settings") or {}
    finished_count = int((replays["status"] == "ok").sum())
    values: dict[str, list[float]] = {}
    for sample in samples:
        for name, score in sample["scores"].items():
            values.setdefault(name, []).append(score["value"])
    return {
        "version": VERSION,
        "status": "success" if finished_count == len(samples) else "error",
        "eval": {
            "run_id": results.path.name,
            "created": when,
            "task": "workbench",
            "task_id": f"workbench-{strategy}",
            "task_version": 0,
            "task_args": {"strategy": strategy},
            "model": settings.get("model") or "none",
            "model_args": {},
            "config": {},
            "dataset": {
                "name": results.path.name,
                "samples": len(samples),
                "sample_ids": [s["id"] for s in samples],
            },
            "packages": results.manifest.get("packages") or {},
            "metadata": {"strategy": strategy, "settings": settings},
        },
        "plan": {"name": "plan", "steps": [], "config": {}},
        "results": {
            "total_samples": len(samples),
            "completed_samples": finished_count,
            "scores": [_mean_score(name, score_values) for name, score_values in values.items()],
        },
        "stats": {"started_at": when, "completed_at": when, "model_usage": {}},
        "samples": samples,
    }


def _mean_score(name: str, values: Sequence[float]) -> dict[str, object]:
    """One metric over all samples."""
    mean = {"name": "mean", "value": fmean(values), "params": {}}
    return {
        "name": name,
        "scorer": name,
        "params": {},
        "scored_samples": len(values),
        "metrics": {"mean": mean},
    }


def _sample(session: str, title: str | None, reason: str, scores: pd.DataFrame) -> dict[str, Any]:
    values: dict[str, object] = {}
    missing: dict[str, str] = {}
    for row in scores.astype(object).where(scores.notna(), None).to_dict("records"):
        name = row["metric"] if row["share"] is None else f"{row['metric']}@{row['share']:.0%}"
        if row["value"] is None:
            missing[name] = row["why"] or ""
        else:
            facts = {
                "unit": row["unit"],
                "better": row["better"],
                "mode": row["mode"],
                "n": row["n"],
            }
            values[name] = {"value": row["value"], "metadata": facts}
    sample: dict[str, Any] = {
        "id": session,
        "epoch": 1,
        "input": title or session,
        "target": "",
        "messages": [],
        "output": {"model": "", "choices": []},
        "scores": values,
        "metadata": {"without_a_value": missing},
        "store": {},
        "events": [],
        "model_usage": {},
        "attachments": {},
    }
    if reason:
        sample["error"] = {"message": reason, "traceback": "", "traceback_ansi": ""}
    return sample
