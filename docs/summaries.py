"""Summaries of the rule-based writer beside other contexts of the same size, by judges that are
made differently.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TypeAlias

import pandas as pd

from workbench.base.formats import some
from workbench.engine.compaction.engine import compact
from workbench.engine.compaction.plan import Budget
from workbench.engine.compaction.presets import preset
from workbench.engine.models.extractive import Extractive
from workbench.engine.models.model import Model, SummaryRequest
from workbench.engine.models.tokenizer import TiktokenCounter
from workbench.engine.transcript.context import Context
from workbench.engine.transcript.message import Message, Summary
from workbench.engine.transcript.session import Session
from workbench.evaluation.analysis.paired import estimate
from workbench.evaluation.experiment.prepared import Prepared, prepared
from workbench.evaluation.experiment.sources import SessionSource, sessions_in, sources_of
from workbench.evaluation.replays.boundaries import at_shares
from workbench.evaluation.replays.matched import (
    RecordedContexts,
    SizedHistory,
    recorded_contexts,
    sized_histories,
)
from workbench.lab.validation.judges import JUDGES, Judged

TITLES = JUDGES | {"bound": "*bound*"}
"""The judges as pages name them."""
SHARES = (0.1, 0.2)
"""Sizes that contexts are cut to, as shares of the history."""
AT = (0.5, 0.8)
"""Shares of the messages at which contexts are looked at."""
MESSAGES = range(60, 401)
COUNT = TiktokenCounter()
EXTRACTIVE = Extractive()
Row: TypeAlias = dict[str, object]


def sample(paths: Sequence[str], bundled: bool = True, most: int = 3) -> Iterator[Session]:
    """The bundled sessions and the recordings with as many messages as `MESSAGES`, at most so
    many a project.
    """
    sources: list[SessionSource] = []
    if bundled:
        sources += sources_of([])
    if paths:
        sources += sources_of(list(paths))
    counts: Counter[str] = Counter()
    for source in sources:
        for session in sessions_in(source):
            project = session.project or session.id
            if len(session.messages) in MESSAGES and counts[project] < most:
                counts[project] += 1
                yield session


def ours(rows: pd.DataFrame) -> pd.Series:
    """Whether each row's project (a column, or the index) is one of a bundled session."""
    bundled_projects: set[str | None] = set()
    for source in sources_of([]):
        for session in sessions_in(source):
            bundled_projects.add(session.project)
    projects = rows["project"] if "project" in rows else rows.index.to_series()
    return projects.isin(bundled_projects)


def cut(
    prepared_session: Prepared, history: SizedHistory, name: str, target: int | None = None
) -> Context:
    """A history under a strategy with the rule-based writer, at its size or another one."""
    budget = Budget(
        target=target or history.target, window=prepared_session.window, reason="matched"
    )
    strategy = preset(name).strategy
    writer = prepared_session.reader(EXTRACTIVE)
    return compact(history.history, strategy, budget, writer).sent


def at_equal_size(sessions: Iterable[Session]) -> pd.DataFrame:
    """`summarize`, and `truncate` cut to the sizes that it really used: a row a boundary, size,
    context and judge.
    """
    rows: list[Row] = []
    for session in sessions:
        prepared_session = prepared(session)
        boundaries = at_shares(session, AT)
        for history in sized_histories(session, prepared_session.sizing, boundaries, SHARES):
            if not history.fits:
                continue
            summarised = cut(prepared_session, history, "summarize")
            truncated = cut(prepared_session, history, "truncate", summarised.tokens)
            contexts = {"summarize": summarised, "truncate": truncated}
            judged = Judged(prepared_session, history.at)
            rows += rows_of(judged, contexts, f"{history.share:.0%}")
    return pd.DataFrame(rows)


def at_recorded(sessions: Iterable[Prepared]) -> pd.DataFrame:
    """Rows as in `at_equal_size`, of the contexts of `recorded_contexts_of`."""
    rows: list[Row] = []
    for prepared_session in sessions:
        for _, boundary, contexts in recorded_contexts_of([prepared_session]):
            rows += rows_of(Judged(prepared_session, boundary), contexts, "recorded")
    return pd.DataFrame(rows)


def recorded_contexts_of(
    sessions: Iterable[Prepared],
) -> Iterator[tuple[str, int, dict[str, Context]]]:
    """What recorded agents went on with; the same with a summary by the writer for the agent's own;
    and `truncate`.

    Session, boundary and contexts. The writer's summary has at most the tokens of the agent's, all
    else is the same.
    """
    for prepared_session in sessions:
        session = prepared_session.session
        for boundary, recorded in recorded_contexts(session, prepared_session.sizing).items():
            size = recorded.after.tokens
            history = SizedHistory(boundary, None, recorded.before, size, size)
            if not history.fits:
                continue
            rewritten_context = rewritten(prepared_session, recorded)
            if rewritten_context is None:
                continue
            contexts = {
                "recorded": recorded.after,
                "extractive": rewritten_context,
                "truncate": cut(prepared_session, history, "truncate"),
            }
            yield session.id, boundary, contexts


def rewritten(prepared_session: Prepared, recorded: RecordedContexts) -> Context | None:
    """What an agent went on with, its summary written by the rule-based writer; None where it
    has no one summary.
    """
    context = recorded.after
    summaries: dict[int, Summary] = {}
    for place, message in enumerate(context.messages):
        if isinstance(message, Summary):
            summaries[place] = message
    if len(summaries) != 1:
        return None
    ((place, agent_summary),) = summaries.items()
    kept_messages = set(map(id, context.messages))
    replaced = [message for message in recorded.before.messages if id(message) not in kept_messages]
    text = written(replaced, context.sizes[place], prepared_session.reader(EXTRACTIVE))
    summary = replace(agent_summary, id="written", text=text)
    messages = list(context.messages)
    messages[place] = summary
    sizes = list(context.sizes)
    sizes[place] = recorded.before.count(summary)
    return Context(tuple(messages), tuple(sizes), context.overhead, context.count)


def written(messages: Sequence[Message], most: int, model: Model = EXTRACTIVE) -> str:
    """The writer's summary of some messages, of at most so many tokens."""
    request = SummaryRequest(
        purpose="summary",
        system="",
        write=lambda _: "",
        max_tokens=most,
        count=COUNT,
        messages=tuple(messages),
    )
    return model.complete(request).text


def rows_of(judged: Judged, contexts: Mapping[str, Context], size: str) -> Iterator[Row]:
    """A row a context and judge."""
    session = judged.ready.session
    for name, context in contexts.items():
        for judge, value in judged.scores(context).items():
            yield {
                "session": session.id,
                "project": session.project or session.id,
                "at": judged.at,
                "size": size,
                "context": name,
                "tokens": context.spoken,
                "judge": judge,
                "value": value,
            }


def by_session(rows: pd.DataFrame, *columns: str) -> pd.DataFrame:
    """A row a session and context (and `columns`), a column a judge: means over the rest."""
    keys = ["session", "project", *columns, "context", "judge"]
    means = rows.groupby(keys, sort=False)["value"].mean()
    return means.unstack("judge").reindex(columns=list(JUDGES)).reset_index()


def by_judge(rows: pd.DataFrame) -> pd.DataFrame:
    """The rows of `by_session`, a row a judge again."""
    columns = [name for name in rows if name not in JUDGES]
    return rows.melt(columns, var_name="judge").dropna(subset="value")


def sizes_table(rows: pd.DataFrame) -> Iterator[str]:
    """`summarize` and `truncate` by each judge at each size, in points, over projects: on others'
    recordings, on ours.
    """
    is_ours = ours(rows)
    for title, part in (
        ("recordings of others", rows[~is_ours]),
        ("the bundled sessions", rows[is_ours]),
    ):
        yield f"{counted(part)}, {title}:"
        yield ""
        yield from _sizes(part)
        yield ""


def _sizes(rows: pd.DataFrame) -> Iterator[str]:
    sizes = sorted(rows["size"].unique())
    heads = [f"summarize, {size} | truncate, {size} | difference" for size in sizes]
    yield f"| judge | {' | '.join(heads)} |"
    yield "|---" * (3 * len(sizes) + 1) + "|"
    for judge, title in TITLES.items():
        of_judge = rows[rows["judge"] == judge]
        cells: list[str] = []
        for size in sizes:
            lead = Lead.of(of_judge[of_judge["size"] == size], "summarize", "truncate")
            cells += [f"{lead.mean:.0f}", f"{lead.other_mean:.0f}", lead.difference]
        yield f"| {title} | {' | '.join(cells)} |"


def counted(rows: pd.DataFrame) -> str:
    """How many sessions and projects some rows are of."""
    return (
        f"{some(rows['session'].nunique(), 'session')} of"
        f" {some(rows['project'].nunique(), 'project')}"
    )


def recorded_table(rows: pd.DataFrame) -> Iterator[str]:
    """The agent's own summary and the writer's by each judge, in points, and at how many
    compactions each is ahead.
    """
    compactions = some(rows.groupby(["session", "at"]).ngroups, "recorded compaction")
    yield f"{compactions}, {counted(rows)}:"
    yield ""
    yield (
        "| judge | the agent's own | the writer's | difference | writer ahead, level, behind |"
        " *truncate* |"
    )
    yield "|---" * 6 + "|"
    for judge, title in TITLES.items():
        of_judge = rows[rows["judge"] == judge]
        writer = Lead.of(of_judge, "extractive", "recorded")
        truncate = Lead.of(of_judge, "truncate", "recorded")
        cells = (
            f"{writer.other_mean:.0f}",
            f"{writer.mean:.0f}",
            writer.difference,
            _ahead_level_behind(of_judge, lower_is_better=judge == "stale"),
            f"{truncate.mean:.0f}",
        )
        yield f"| {title} | {' | '.join(cells)} |"


def _ahead_level_behind(rows: pd.DataFrame, *, lower_is_better: bool) -> str:
    """At how many compactions the writer is ahead, level and behind."""
    values = rows.pivot_table(index=["session", "at"], columns="context", values="value")
    leads = (values["extractive"] - values["recorded"]).dropna()
    if lower_is_better:
        leads = -leads
    return f"{(leads > 0).sum()}, {(leads == 0).sum()}, {(leads < 0).sum()}"


@dataclass(frozen=True)
class Lead:
    """The means of two contexts over projects, in points, and their difference with its interval
    in words.
    """

    mean: float
    other_mean: float
    difference: str

    @classmethod
    def of(cls, rows: pd.DataFrame, context: str, other: str) -> Lead:
        """That of sessions which have both contexts."""
        index = ["project", "session"]
        values = rows.pivot_table(index=index, columns="context", values="value")
        points = 100 * values[[context, other]].dropna()
        projects = points.index.get_level_values("project").astype(str).tolist()
        mean = estimate(points[context].tolist(), projects)
        other_mean = estimate(points[other].tolist(), projects)
        difference = estimate((points[context] - points[other]).tolist(), projects)
        assert mean is not None and other_mean is not None and difference is not None
        words = f"{difference.mean:+.0f}"
        if difference.low is not None:
            words += f" ({difference.low:+.0f} to {difference.high:+.0f})"
        return cls(mean.mean, other_mean.mean, words)
