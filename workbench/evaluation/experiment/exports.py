"""A run for others: a copy without any text of its recordings, and its tables as CSV.

In a copy, texts become keyed hashes, written in digits so that no word can come about by chance.
The key is drawn anew for each copy and kept nowhere: a hash cannot be reversed by trying texts, and
two copies have no hash in common.
"""

from __future__ import annotations

import hmac
import json
import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from hashlib import sha256
from pathlib import Path
from secrets import token_bytes
from typing import TYPE_CHECKING, Any, Self

from workbench.base.errors import SettingError
from workbench.engine.compaction.guard import without_ids
from workbench.engine.compaction.presets import WEIGHTS
from workbench.engine.models.settings import model_names
from workbench.evaluation.experiment.atomic import write_atomically
from workbench.evaluation.experiment.results import Results
from workbench.evaluation.experiment.run_folder import SIMULATED_FILE, RunFolder
from workbench.evaluation.experiment.table_columns import COLUMNS
from workbench.evaluation.experiment.table_folder import read_table
from workbench.evaluation.metrics.builtin import BUILTIN
from workbench.evaluation.metrics.guarded_score import FAILED

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
    _check_empty(folder)
    key = token_bytes(32)
    hiding = _Hiding.of(results, key)
    shown_names = _shown_names(results)
    tables = {}
    for name, columns in COLUMNS.items():
        table = results.table(name)[list(columns)]
        for column, kind in columns.items():
            if kind in ("session", "text", "lines"):
                texts = table[column].fillna("")
                table[column] = [hiding.hidden(text, column, kind) for text in texts]
            elif kind == "str":
                table[column] = _renamed(table[column], shown_names)
        tables[name] = table
    _hide_reasons(tables["scores"], hiding)
    manifest = _manifest(results.manifest, key)
    manifest_text = json.dumps(manifest, ensure_ascii=False)
    for name_here, shown_name in shown_names.items():
        manifest_text = manifest_text.replace(_in_json(name_here), _in_json(shown_name))
    RunFolder(folder).write(tables, json.loads(manifest_text))
    _share_simulation(results.path, folder, hiding, shown_names)
    return Results.open(folder)


def _hide_reasons(scores: pd.DataFrame, hiding: _Hiding) -> None:
    """Hide why metrics have no value where that may quote a recording: what one of a user's own
    says, and what one raised. In our own reasons no id stands for which a reader has no recording.
    """
    reasons = scores["why"].fillna("")
    is_own = ~scores["metric"].isin(list(BUILTIN))
    may_quote = is_own | reasons.str.startswith(FAILED)
    texts: list[str] = []
    for reason, is_hidden in zip(reasons, may_quote, strict=True):
        text = hiding.hidden(reason, "why", "text") if is_hidden else without_ids(reason)
        texts.append(text)
    scores.loc[:, "why"] = texts


def _check_empty(folder: Path) -> None:
    """Raise an error where a copy would be written beside something else."""
    if not folder.exists():
        return
    if not folder.is_dir() or any(folder.iterdir()):
        raise SettingError(
            f"{folder} holds something already; name a new folder for the shared copy"
        )


def _renamed(texts: pd.Series, shown_names: Mapping[str, str]) -> pd.Series:
    """Texts with each name as a copy shows it."""
    for name_here, shown_name in shown_names.items():
        texts = texts.str.replace(name_here, shown_name, regex=False)
    return texts


def _shown_names(results: Results) -> dict[str, str]:
    """What a copy shows in the place of names that hold a path on this machine."""
    settings = results.manifest.get("settings", {})
    shown_names = _weights_files(settings.get("strategies", ()))
    models = results.replays["model"].dropna()
    for model in models:
        if model.startswith("command:"):
            shown_names[model] = _model(model)
    return shown_names


@dataclass(frozen=True, slots=True)
class _Hiding:
    """Puts hashes in the place of texts.

    Attributes:
        key: of the hashes.
        session_numbers: of each session, in the order of their ids, so that tables keep their
            order.
    """

    key: bytes
    session_numbers: Mapping[str, int]

    @classmethod
    def of(cls, results: Results, key: bytes) -> Self:
        """For the texts of a run."""
        sessions = results.sessions["session"].dropna()
        numbers: dict[str, int] = {}
        for number, session in enumerate(sorted(set(sessions)), 1):
            numbers[session] = number
        return cls(key, numbers)

    def hidden(self, text: str, column: str, kind: str) -> str:
        """A text of a column of this kind as the copy has it; an empty one stays empty."""
        if not text:
            return text
        if kind == "session":
            return self._session(text)
        if kind == "lines":
            lines = [f"line {_hash(self.key, line)}" for line in text.split("\n")]
            return "\n".join(lines)
        return f"{column} {_hash(self.key, text)}, {len(text)} characters"

    def _session(self, session: str) -> str:
        number = self.session_numbers.get(session, 0)
        width = len(str(len(self.session_numbers)))
        return f"session {number:0{width}} {_hash(self.key, session)}"


def _share_simulation(
    path: Path,
    folder: Path,
    hiding: _Hiding,
    shown_names: Mapping[str, str],
) -> None:
    """Copy the simulation of a run, if there is one, as its tables are copied."""
    if not (path / SIMULATED_FILE).is_file():
        return
    simulated = read_table(path / SIMULATED_FILE)
    for column, kind in (("session", "session"), ("project", "text")):
        simulated[column] = [hiding.hidden(text, column, kind) for text in simulated[column]]
    simulated["strategy"] = _renamed(simulated["strategy"], shown_names)
    write_atomically(folder / SIMULATED_FILE, simulated.to_parquet(index=False))


def _in_json(text: str) -> str:
    """A text as it stands between quotation marks in JSON."""
    quoted = json.dumps(text, ensure_ascii=False)
    return quoted[1:-1]


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
    encoded = text.encode("utf-8", "surrogatepass")
    digest = hmac.new(key, encoded, sha256).digest()
    number = int.from_bytes(digest, "big")
    return str(number)[-DIGITS:]


def _manifest(manifest: Mapping[str, Any], key: bytes) -> dict[str, Any]:
    """What may be known of how the run was made."""
    shared_manifest: dict[str, Any] = {}
    for name, value in manifest.items():
        if name in MANIFEST:
            shared_manifest[name] = value
    sources: list[str] = []
    for path in manifest.get("sources", []):
        sources.append(f"source {_hash(key, path)}")
    settings = dict(manifest.get("settings", {}))
    models = model_names(settings.get("model", "extractive"))
    settings["model"] = ",".join(map(_model, models))
    # so that its letters form no word
    code_parts = re.findall(".{1,3}", manifest.get("code", ""))
    shared_manifest["sources"] = sources
    shared_manifest["command"] = []
    shared_manifest["settings"] = settings
    shared_manifest["code"] = "-".join(code_parts)
    shared_manifest[SHARED] = "texts of the recordings are keyed hashes; the key was not kept"
    return shared_manifest


def _model(name: str) -> str:
    """A model's name without what may be taken from a recording, or from a path on this machine."""
    kind, _, line = name.partition(":")
    if kind == "scripted":
        return kind
    if kind == "command":
        program, *_ = line.split()
        return f"{kind}:{Path(program).name}"
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
        cells: list[object] = []
        for value in plain[name]:
            cells.append(_cell(value) if isinstance(value, str) else value)
        plain[name] = cells
    plain = plain.rename(columns=lambda name: _cell(str(name)))
    return str(plain.to_csv(index=False))


def _cell(text: str) -> str:
    harmless = _STEERING.sub("\ufffd", text)
    if text.startswith(_FORMULA):
        return f"'{harmless}"
    return harmless


_STEERING = re.compile(r"[\x00-\x08\x0b\x0c\x0e-\x1f\x7f-\x9f\u202a-\u202e\u2066-\u2069]")
"""Control characters but tab and line ends, and those that turn the direction of a line."""
_FORMULA = ("=", "+", "-", "@", "\t", "\r")
"""What a cell begins with that a spreadsheet computes."""
