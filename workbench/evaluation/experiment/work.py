"""What a worker does: read a source, then every replay of its sessions that is not on disk yet."""

import json
from collections import deque
from collections.abc import Iterable, Iterator, Mapping
from contextlib import suppress
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from workbench.base.errors import SetupError, Unanswered, WorkbenchError
from workbench.base.palette import REFERENCES
from workbench.engine.compaction.strategy import Preset
from workbench.engine.models.folder import Folder, are_changed
from workbench.engine.models.model import Model
from workbench.engine.models.settings import ModelSettings
from workbench.engine.models.wrappers import AnsweringModel, innermost, requests_of
from workbench.engine.transcript.message import said_texts
from workbench.engine.transcript.redaction import holds_one, masker
from workbench.engine.transcript.session import Session
from workbench.evaluation.experiment.code_versions import code_versions
from workbench.evaluation.experiment.filler import FillerModel
from workbench.evaluation.experiment.keys import key
from workbench.evaluation.experiment.prepared import Prepared, Unreadable, read
from workbench.evaluation.experiment.references import BaselineAtSizes
from workbench.evaluation.experiment.replay_rows import Row, replay_rows, replays
from workbench.evaluation.experiment.requests_ahead import RequestsAhead, is_awaited
from workbench.evaluation.experiment.sources import SessionSource
from workbench.evaluation.experiment.spec import RunSpec
from workbench.evaluation.experiment.store import SCHEMA, RunFolder
from workbench.evaluation.metrics import NAMES
from workbench.evaluation.metrics.builtin import installed
from workbench.evaluation.metrics.work_exam.reader_error import RULES
from workbench.evaluation.replays.boundaries import at_boundaries
from workbench.evaluation.replays.step import Replay


@dataclass(frozen=True, slots=True)
class Task:
    """Everything that a worker needs to know about a run.

    Attributes:
        model_settings: how models are asked.
        baseline: the strategy that is cut to the sizes of the others; None where none is.
        codes: the version of the code behind a replay under each preset, see `replay_codes`.
    """

    spec: RunSpec
    presets: tuple[Preset, ...]
    folder: RunFolder
    model_settings: ModelSettings
    baseline: Preset | None = None
    codes: Mapping[str, str] = field(default_factory=dict)

    def baseline_of(self, ready: Prepared, model: Model | None = None) -> BaselineAtSizes | None:
        """The baseline in one session, with the run's first model where none is given."""
        if self.baseline is None or not self.spec.shares:
            return None
        model = model or ready.reader(self.model_settings.model(self.spec.model[0]))
        at = at_boundaries(ready.session, ready.sizing, ready.window, self.spec.boundaries)
        return BaselineAtSizes(
            ready, self.baseline, model, at, self.spec.shares, ready.exam_beside(at)
        )

    def masked(self, text: str) -> str:
        """A path or a reason: either may quote what is to be masked, such as a part of a
        provider's key.
        """
        return masker(self.spec.redaction)(text)


@dataclass(frozen=True, slots=True)
class Shard:
    """One source under some of the run's presets."""

    source: SessionSource
    presets: tuple[Preset, ...]


@dataclass(frozen=True, slots=True)
class ReplayResult:
    """One replay: where it is on disk, or why it is not.

    Attributes:
        reason: why it failed, or what it waits for; empty where it is on disk.
        pending: whether it waits for answers of its model: the same command asks for them again.
        model: which was there to write summaries.
        asked: whether that model was asked anything, or may have been.
        summaries: that were asked for, or would have been where it is pending.
        written: those of them that the model wrote; `useless` where its answer was of no use. The
            rest is unanswered, or not bundled.
        paid: the dollars that the run has spent on each request, by its name in the ledger; None if
            unknown.
        recall: exam recall on the strategy's own trigger; None where it has no score.
    """

    strategy: str
    key: str = ""
    reason: str = ""
    pending: bool = False
    model: str = ""
    asked: bool = True
    summaries: int = 0
    written: int = 0
    useless: int = 0
    paid: Mapping[str, float | None] = field(default_factory=dict)
    recall: float | None = None


@dataclass(frozen=True, slots=True)
class ShardResult:
    """A row and the replays of each session, what is unreadable, and the replays that killed
    their workers.
    """

    number: int
    sessions: tuple[tuple[Row, tuple[ReplayResult, ...]], ...] = ()
    unreadable: tuple[Unreadable, ...] = ()
    died: tuple[ReplayResult, ...] = ()


def work(task: Task, shard: Shard) -> ShardResult:
    """Do every replay of a shard; those on disk are not done again."""
    found = read(shard.source, task.spec.window, redaction=task.spec.redaction)
    sessions = []
    for ready in found.ready[: shard.source.most]:
        baseline = task.baseline_of(ready)
        replays = tuple(
            done
            for preset in shard.presets
            for done in _under_each_model(ready, preset, task, baseline)
        )
        sessions.append((_session_row(ready), replays))
    return ShardResult(shard.source.number, tuple(sessions), found.unreadable)


def _under_each_model(
    ready: Prepared, preset: Preset, task: Task, baseline: BaselineAtSizes | None
) -> Iterator[ReplayResult]:
    """A replay for each model; where the first one was asked nothing, its replay serves for all."""
    first: ReplayResult | None = None
    for wanted in task.spec.model:
        model = task.model_settings.model(wanted)
        if first is None or first.asked:
            done = _replayed(ready, preset, wanted, model, task, baseline)
            first = first or done
            yield done
        else:
            yield replace(first, model=model.name)


def _replayed(
    ready: Prepared,
    preset: Preset,
    wanted: str | Model,
    model: Model,
    task: Task,
    baseline: BaselineAtSizes | None,
) -> ReplayResult:
    asked = ready.reader(model)
    against = baseline if is_compared(preset, wanted, task) else None
    done = ReplayResult(preset.name, model=model.name)
    tables: Mapping[str, Any] | None = None
    try:
        done = replace(done, key=replay_key(ready, preset, wanted, model, task))
        tables = task.folder.replay(done.key)
        if tables is None or _rests_on_changed_answers(tables):
            tables = _new_tables(ready, preset, asked, task, against)
            if holds_one(json.dumps(tables, ensure_ascii=False), ready.masked):
                raise WorkbenchError(
                    "its tables would hold a text that was masked elsewhere, and were not written"
                )
            task.folder.keep(done.key, tables)
    except (Unanswered, SetupError) as error:
        done = _pending(done, error, ready, preset, asked, task, against)
    except WorkbenchError as error:
        done = replace(done, reason=task.masked(str(error)))
    except MemoryError:
        raise  # it is tried again while nothing else takes memory
    except Exception as error:  # noqa: BLE001 - the replay boundary: a part's bug fails its replay, not the run
        done = replace(done, reason=task.masked(f"{type(error).__name__}: {error}"))
    if tables is None:
        return replace(done, paid=_paid(task, requests_of(asked)))
    own = [row for row in tables["compactions"] if row["strategy"] == preset.name]
    summaries, useless, by_rule = (
        sum(row[name] for row in own) for name in ("requests", "fallbacks", "by_rule")
    )
    by_others = useless if model.name in RULES else by_rule
    paid = _paid(task, tables["paid"], tables["paid"])
    counts = {"summaries": summaries, "written": summaries - by_others, "useless": useless}
    recall = next((row["value"] for row in tables["scores"] if _is_recall(row, preset.name)), None)
    return replace(done, asked=summaries > 0, paid=paid, recall=recall, **counts)


def _is_recall(row: Row, strategy: str) -> bool:
    return row["metric"] == NAMES and row["mode"] == "natural" and row["strategy"] == strategy


def _new_tables(
    ready: Prepared, preset: Preset, model: Model, task: Task, baseline: BaselineAtSizes | None
) -> dict[str, Any]:
    """The rows of a replay by table, and under `paid` what its requests and the baseline's have
    cost.
    """
    before = () if baseline is None else requests_of(baseline.model)
    tables = replay_rows(ready, preset, model, task.spec, baseline)
    since = () if baseline is None else requests_of(baseline.model)[len(before) :]
    # what a model said beside its summary; the rest was masked before
    for row in tables["compactions"]:
        row |= {
            column: task.masked(str(row[column])) for column in ("findings", "misreports", "why")
        }
    writers = [innermost(model), innermost(baseline.model)] if baseline else [innermost(model)]
    answers = {writer.model: writer.taken for writer in writers if isinstance(writer, Folder)}
    return {**tables, "paid": _paid(task, (*requests_of(model), *since)), "answers": answers}


def _rests_on_changed_answers(tables: Mapping[str, Any]) -> bool:
    """Whether somebody has written answers in a folder anew since a replay took them."""
    answers: Mapping[str, Mapping[str, str]] = tables.get("answers", {})
    return any(are_changed(Path(folder), taken) for folder, taken in answers.items())


def _pending(
    done: ReplayResult,
    why: WorkbenchError,
    ready: Prepared,
    preset: Preset,
    model: Model,
    task: Task,
    baseline: BaselineAtSizes | None,
) -> ReplayResult:
    """A replay that waits for its model; filler counts the summaries that it needs."""
    if is_awaited(why) and isinstance(model, AnsweringModel):
        return _awaiting(done, why, ready, preset, model, task, baseline)
    answers = getattr(model, "answers", [])
    filler = FillerModel(model.name)
    for _ in replays(ready, preset, filler, task.spec):
        pass
    summaries, written = max(len(filler.asked), len(answers) + 1), sum(answers)
    counts = {"summaries": summaries, "written": written, "useless": len(answers) - written}
    return replace(done, pending=True, reason=task.masked(str(why)), **counts)


def _awaiting(
    done: ReplayResult,
    why: WorkbenchError,
    ready: Prepared,
    preset: Preset,
    model: AnsweringModel,
    task: Task,
    baseline: BaselineAtSizes | None,
) -> ReplayResult:
    """A replay of which somebody answers the requests later: all that can be known are made."""
    answering = AnsweringModel(model.model)
    ahead = RequestsAhead(answering, chained=True)
    # what else is wrong with the replay comes up when its answers are there
    with suppress(WorkbenchError):
        for replay in replays(ready, preset, ahead, task.spec):
            ahead.chained = False  # only in the natural replay, which is made before all others
            if baseline is not None and replay.mode == "matched" and not ahead.awaited:
                _ask_baseline_ahead(baseline, replay, ready, task)
    answers = answering.answers
    return replace(
        done,
        pending=True,
        reason=task.masked(str(why)),
        summaries=max(ahead.requests, len(answers) + 1),
        written=sum(answers),
        useless=len(answers) - sum(answers),
    )


def _ask_baseline_ahead(
    baseline: BaselineAtSizes, replay: Replay, ready: Prepared, task: Task
) -> None:
    """Make the requests of the baseline at the sizes of a replay."""
    ahead = RequestsAhead(baseline.model)
    copy = task.baseline_of(ready, ahead)
    if copy is None:
        return
    copy.prepare()
    if not ahead.awaited:  # else the sizes that it has are not known
        deque(copy.rows(replay), maxlen=0)


def _paid(
    task: Task, requests: Iterable[str], before: Mapping[str, float | None] | None = None
) -> Mapping[str, float | None]:
    """What the run has spent on requests, as this machine's ledger says; no less than was known
    before.
    """
    wanted = list(requests)
    found = task.model_settings.ledger.paid(wanted) if wanted else {}
    known = before or {}
    return {name: _larger(usd, known.get(name, 0.0)) for name, usd in found.items()}


def _larger(usd: float | None, earlier: float | None) -> float | None:
    """The larger amount of dollars; None where one of them is unknown."""
    return None if usd is None or earlier is None else max(usd, earlier)


def is_compared(preset: Preset, wanted: str | Model, task: Task) -> bool:
    """Whether the baseline is cut to the sizes of this replay: not to those of a reference, nor
    to its own.
    """
    own = preset == task.baseline and wanted == task.spec.model[0]
    return task.baseline is not None and preset.name not in REFERENCES and not own


def replay_key(
    ready: Prepared, preset: Preset, wanted: str | Model, model: Model, task: Task
) -> str:
    """The name of a replay: equal for equal work, whatever the run.

    Raises:
        SettingError, SetupError: how the model is asked cannot be found out.
    """
    spec = task.spec
    who, first = (one if isinstance(one, str) else key(one) for one in (wanted, spec.model[0]))
    against = (task.baseline, first) if is_compared(preset, wanted, task) else None
    return key(
        SCHEMA,
        task.codes[preset.name],
        ready.content,
        preset,
        who,
        task.model_settings.seal(model),
        ready.window,
        spec.shares,
        spec.boundaries,
        spec.seed,
        spec.redaction,
        spec.price_model,
        spec.prices,
        installed(),
        against,
        ready.work.seal,
    )


REPLAY_BEGINS = (
    "workbench.evaluation.experiment.replay_rows",
    "workbench.evaluation.experiment.references",
    "workbench.evaluation.experiment.prepared",
)
"""The modules that make the rows of a replay."""
READS_SESSIONS = ("workbench.recordings.importers", "workbench.recordings.datasets")
"""What reads sessions: a replay's key has what they read."""
MASKS = ("workbench.engine.transcript.redaction", "workbench.engine.transcript.personal")
"""What masks; without redaction a replay uses none of it."""


def code_of_replays(
    redaction: frozenset[str] | None, parts: Mapping[str, object], folder: Path
) -> dict[str, str]:
    """The version of the code behind replays, by name, each with the parts that are used in it."""
    if redaction is None:
        return code_versions(REPLAY_BEGINS, parts, (*READS_SESSIONS, *MASKS), folder)
    return code_versions((*REPLAY_BEGINS, *MASKS), parts, READS_SESSIONS, folder)


def replay_codes(task: Task) -> dict[str, str]:
    """The version of the code behind a replay under each preset: its own parts, and those of its
    baseline.
    """
    parts: dict[str, object] = {}
    for preset in task.presets:
        is_reference = preset.name in REFERENCES
        parts[preset.name] = preset if is_reference else (preset, task.baseline)
    return code_of_replays(task.spec.redaction, parts, task.folder.path)


def content_of(session: Session) -> str:
    """A name for what was said in a session, whatever the session is called and wherever it
    lies.
    """
    said = [[message.role, *said_texts(message)] for message in session.messages]
    return key(said)[:16]


def _session_row(ready: Prepared) -> Row:
    session, sizing, fitted = ready.session, ready.sizing, ready.sizing.calibration
    return {
        **{name: getattr(session, name) for name in ("project", "model", "window", "branches")},
        "title": session.heading,
        "session": session.id,
        "path": session.origin.path,
        "format": session.origin.format,
        "messages": len(session.messages),
        "requests": len(session.requests),
        "tokens": sum(sizing.sizes),
        "overhead": sizing.overhead,
        "scale": None if fitted is None else fitted.scale,
        "calibration_error": None if fitted is None else fitted.error,
        "window_wanted": ready.wanted.tokens,
        "window_source": ready.wanted.source,
        "window_used": ready.window,
        "recorded_compactions": len(session.recorded),
        "skipped": "\n".join(session.origin.skipped),
        "reports_left_out": "\n".join(ready.left_out),
        "content": content_of(session),
        "status": "ok",
        "reason": "",
    }
