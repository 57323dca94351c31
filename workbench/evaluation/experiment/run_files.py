"""The files of a run, from what its workers did: merged tables and a manifest."""

import platform
import sys
from collections import defaultdict
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from time import time

from workbench.base.errors import SettingError
from workbench.base.registry import DISTRIBUTION
from workbench.engine.models import recorded_name
from workbench.evaluation.experiment.job import Crew
from workbench.evaluation.experiment.keys import described
from workbench.evaluation.experiment.merging import Merging, StoredReplay, StoredSession, merge
from workbench.evaluation.experiment.prepared import Unreadable
from workbench.evaluation.experiment.replay_results import ReplayResult
from workbench.evaluation.experiment.replay_rows import Row
from workbench.evaluation.experiment.replay_work import ReplayJob, code_of_replays
from workbench.evaluation.experiment.run_folder import RunFolder
from workbench.evaluation.experiment.sources import SessionSource
from workbench.evaluation.experiment.table_columns import SCHEMA, frame
from workbench.evaluation.experiment.table_files import to_arrow
from workbench.evaluation.experiment.units import UnitResult

PACKAGES = (DISTRIBUTION, "tiktoken", "litellm", "numpy", "pandas")
"""Whose versions the manifest has."""
NOT_HERE = "its file is not here; all workers must see the run's folder"


def write_run(
    job: ReplayJob,
    sources: Sequence[SessionSource],
    results: Sequence[UnitResult],
    crew: Crew,
) -> None:
    """Write the tables and the manifest of a run.

    Args:
        job: the run.
        sources: what it read.
        results: what came of its units.
        crew: did them; its workers put the tables together where they are as near to the replays
            as this process.

    Raises:
        SettingError: nothing could be read, and the folder holds a finished run.
    """
    plan = run_plan(results, job, sources)
    _keep_finished(job.folder, plan.session_rows)
    with job.folder.writing() as tables:
        merging = Merging(job.folder, plan.baselines)
        merging_crew = crew if job.merges_by_workers else None
        absent = merge(merging, plan.stored_sessions, tables, merging_crew)
        sessions = frame("sessions", plan.session_rows)
        replays = frame("replays", plan.replay_rows(absent))
        tables.add("sessions", to_arrow(sessions))
        tables.add("replays", to_arrow(replays))
    manifest = _manifest(job, sources, time() - crew.begun)
    manifest["projects"] = len(plan.projects)
    job.folder.finish(manifest)
    job.folder.tidy(crew.begun)


@dataclass(frozen=True, slots=True)
class NamedReplay:
    """A replay with its names in the run."""

    session: str
    strategy: str
    result: ReplayResult


@dataclass(frozen=True, slots=True)
class RunPlan:
    """What the tables of a run are made of, in the order of its sources, sessions and presets.

    Attributes:
        baselines: what each strategy is called in the run as a baseline.
    """

    session_rows: Sequence[Row]
    replays: Sequence[NamedReplay]
    baselines: Mapping[str, str]

    @property
    def projects(self) -> set[str]:
        """Of the sessions that could be read."""
        projects: set[str] = set()
        for row in self.session_rows:
            if row["status"] == "ok":
                projects.add(str(row["project"]))
        return projects

    @property
    def stored_sessions(self) -> list[StoredSession]:
        """The finished replays by session."""
        by_session: defaultdict[str, list[StoredReplay]] = defaultdict(list)
        for replay in self.replays:
            result = replay.result
            if result.reason:
                continue
            stored = StoredReplay(result.key, result.strategy, replay.strategy)
            by_session[replay.session].append(stored)
        sessions: list[StoredSession] = []
        for name, replays in by_session.items():
            sessions.append(StoredSession(name, tuple(replays)))
        return sessions

    def replay_rows(self, absent: Collection[str]) -> list[Row]:
        """The table of replays; `absent` has the keys of those whose file is not here."""
        bill = _bill(replay.result for replay in self.replays)
        rows: list[Row] = []
        for replay in self.replays:
            result = replay.result
            row = _replay_row(result, result.key not in absent)
            row["session"] = replay.session
            row["strategy"] = replay.strategy
            row["usd"] = _take_cost(bill, result.paid)
            rows.append(row)
        return rows


def run_plan(
    results: Sequence[UnitResult], job: ReplayJob, sources: Sequence[SessionSource]
) -> RunPlan:
    """What the tables of a run are made of.

    Args:
        results: what came of its units.
        job: the run.
        sources: what it read; prose is left out silently where the user did not name it.
    """
    preset_order = {preset.name: place for place, preset in enumerate(job.presets)}
    named_sources = {source.number for source in sources if source.named}
    strategy_names = _strategy_names(list(_replays_of(results)))
    session_names: set[str] = set()
    session_rows: list[Row] = []
    replays: list[NamedReplay] = []
    for number, units in _by_source(results).items():
        first_unit = units[0]
        for place, (row, _) in enumerate(first_unit.sessions):
            session = unique_name(str(row["session"]), session_names)
            session_rows.append({**row, "session": session})
            session_replays = _replays_of_session(units, place)
            session_replays.sort(key=lambda replay: preset_order[replay.strategy])
            for replay in session_replays:
                strategy = strategy_names.get((replay.strategy, replay.model))
                if strategy is not None:
                    replays.append(NamedReplay(session, strategy, replay))
        for unreadable in first_unit.unreadable:
            if not unreadable.is_prose or number in named_sources:
                session_rows.append(_unreadable_row(unreadable))
    baselines = _baseline_names(strategy_names, job)
    return RunPlan(session_rows, replays, baselines)


def _replays_of_session(units: Sequence[UnitResult], place: int) -> list[ReplayResult]:
    """The replays of the session at one place of a source, of all units of the source."""
    first_unit, *further_units = units
    _, first_replays = first_unit.sessions[place]
    replays = list(first_replays)
    for unit in further_units:
        if unit.died:
            replays += unit.died
        else:
            _, unit_replays = unit.sessions[place]
            replays += unit_replays
    return replays


def _baseline_names(
    strategy_names: Mapping[tuple[str, str], str], job: ReplayJob
) -> dict[str, str]:
    """What each strategy is called in the run as a baseline: under the run's first model."""
    first_model = job.model_settings.model(job.spec.model[0]).name
    names: dict[str, str] = {}
    for (strategy, model), name in strategy_names.items():
        if model == first_model:
            names[strategy] = name
    return names


def _unreadable_row(unreadable: Unreadable) -> Row:
    return {
        "session": unreadable.path,
        "path": unreadable.path,
        "status": "unreadable",
        "reason": unreadable.reason,
    }


def _by_source(results: Sequence[UnitResult]) -> dict[int, list[UnitResult]]:
    """What came of the units of each source by its number, those last whose workers died."""
    by_source: defaultdict[int, list[UnitResult]] = defaultdict(list)
    in_order = sorted(results, key=lambda result: (result.number, bool(result.died)))
    for result in in_order:
        by_source[result.number].append(result)
    return dict(by_source)


def _replays_of(results: Sequence[UnitResult]) -> Iterator[ReplayResult]:
    for result in results:
        for _, replays in result.sessions:
            yield from replays
        yield from result.died


def _replay_row(replay: ReplayResult, is_here: bool) -> Row:
    """The row of the table `replays`, without the session, the strategy and the cost."""
    reason = replay.reason
    if not reason and not is_here:
        reason = NOT_HERE
    status = "failed" if reason else "ok"
    if replay.pending:
        status = "pending"
    return {
        "model": replay.model if replay.asked else "",
        "status": status,
        "reason": reason,
        "summaries": replay.summaries.requested,
        "written": replay.summaries.written,
        "useless": replay.summaries.useless,
    }


def _take_cost(bill: dict[str, float | None], requests: Iterable[str]) -> float | None:
    """What these requests have cost, each of which is taken out of the bill; None if one is
    unknown.
    """
    total = 0.0
    is_known = True
    for request in requests:
        usd = bill.pop(request, 0.0)
        if usd is None:
            is_known = False
        else:
            total += usd
    if not is_known:
        return None
    return total


def _bill(replays: Iterable[ReplayResult]) -> dict[str, float | None]:
    """What each request has cost, as the last who looked knew; replays that send the same one
    pay once.
    """
    bill: dict[str, float | None] = {}
    for replay in replays:
        for request, usd in replay.paid.items():
            earlier_usd = bill.get(request, 0.0)
            if usd is None or earlier_usd is None:
                bill[request] = None
            else:
                bill[request] = max(usd, earlier_usd)
    return bill


def _strategy_names(replays: Sequence[ReplayResult]) -> dict[tuple[str, str], str]:
    """Each strategy's name under each model: its own where the run has one model, or none was
    asked.
    """
    asking_strategies: set[str] = set()
    models: set[str] = set()
    for replay in replays:
        if replay.asked:
            asking_strategies.add(replay.strategy)
        if replay.model:
            models.add(replay.model)
    has_several_models = len(models) > 1
    names: dict[tuple[str, str], str] = {}
    plain_names: set[str] = set()
    for replay in replays:
        strategy = replay.strategy
        model = replay.model
        place = (strategy, model)
        is_asking = strategy in asking_strategies
        if is_asking and has_several_models and model:
            names[place] = f"{strategy} ({model})"
        elif strategy not in plain_names or place in names:
            names[place] = strategy
            plain_names.add(strategy)
    return names


def unique_name(name: str, used_names: set[str]) -> str:
    """The name, or one with a number behind it where it is used already; it is used from then on."""
    free_name = name
    number = 2
    while free_name in used_names:
        free_name = f"{name}~{number}"
        number += 1
    used_names.add(free_name)
    return free_name


def _keep_finished(folder: RunFolder, sessions: Sequence[Row]) -> None:
    """Refuse to write a run of nothing over a finished one."""
    is_finished = (folder.local / "manifest.json").is_file()
    if is_finished and all(session["status"] != "ok" for session in sessions):
        reasons = "; ".join(str(session["reason"]) for session in sessions[:3])
        raise SettingError(
            f"no session could be read ({reasons}); the finished run in {folder.path} stays as it is"
        )


def _manifest(
    job: ReplayJob, sources: Sequence[SessionSource], seconds: float
) -> dict[str, object]:
    """How a run was made.

    Args:
        job: the run.
        sources: what it read.
        seconds: that it took.
    """
    names: list[str] = []
    for index, source in enumerate(sources):
        name = source.name if source.path else f"session {index}"
        names.append(job.masked(name))
    presets = [described(preset) for preset in job.presets]
    codes = code_of_replays(job.spec.redaction, {"": ()}, job.folder.local)
    return {
        "schema": SCHEMA,
        "command": _command(job),
        "settings": job.spec.settings(),
        "presets": presets,
        "sources": names,
        "folder": job.masked(str(Path.cwd())),
        "code": codes[""],
        "python": platform.python_version(),
        "packages": {name: _version(name) for name in PACKAGES},
        "jobs": job.spec.jobs,
        "seconds": round(seconds, 1),
        "created": round(time()),
    }


def _command(job: ReplayJob) -> list[str]:
    """The words of the command line; none where Python made the run."""
    program, *arguments = sys.argv
    if Path(program).name != "workbench":
        return []
    words: list[str] = []
    for word in ("workbench", *arguments):
        without_secrets = _without_secrets(word)
        words.append(job.masked(without_secrets))
    return words


def _without_secrets(word: str) -> str:
    """A word of our own command line; the command line of a model may hold a key."""
    prefix, command, line = word.partition("command:")
    if not command:
        return word
    name = recorded_name(f"{command}{line}")
    return f"{prefix}{name}"


def _version(package: str) -> str:
    try:
        return version(package)
    except PackageNotFoundError:
        return "not installed"
