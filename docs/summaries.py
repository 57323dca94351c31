"""Summaries of the rule-based writer beside other contexts of the same size, by judges that are
made differently.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace

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
from workbench.evaluation.experiment.sources import sessions_in, sources_of
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
SHARES, AT = (0.1, 0.2), (0.5, 0.8)
MESSAGES = range(60, 401)
COUNT = TiktokenCounter()
EXTRACTIVE = Extractive()


def sample(paths: Sequence[str], bundled: bool = True, most: int = 3) -> Iterator[Session]:
    """The bundled sessions and the recordings with as many messages as `MESSAGES`, at most so
    many a project.
    """
    known: Counter[str] = Counter()
    for source in [
        *(sources_of([]) if bundled else ()),
        *(sources_of(list(paths)) if paths else ()),
    ]:
        for session in sessions_in(source):
            project = session.project or session.id
            if len(session.messages) in MESSAGES and known[project] < most:
                known[project] += 1
                yield session


def ours(rows: pd.DataFrame) -> pd.Series:
    """Whether each row's project (a column, or the index) is one of a bundled session."""
    projects = {session.project for source in sources_of([]) for session in sessions_in(source)}
    return (rows["project"] if "project" in rows else rows.index.to_series()).isin(projects)


def cut(ready: Prepared, one: SizedHistory, name: str, target: int | None = None) -> Context:
    """A history under a strategy with the rule-based writer, at its size or another one."""
    budget = Budget(target=target or one.target, window=ready.window, reason="matched")
    return compact(one.history, preset(name).strategy, budget, ready.reader(EXTRACTIVE)).sent


def at_equal_size(sessions: Iterable[Session]) -> pd.DataFrame:
    """`summarize`, and `truncate` cut to the sizes that it really used: a row a boundary, size,
    context and judge.
    """
    rows: list[dict[str, object]] = []
    for ready in map(prepared, sessions):
        for one in sized_histories(
            ready.session, ready.sizing, at_shares(ready.session, AT), SHARES
        ):
            if one.fits:
                written = cut(ready, one, "summarize")
                contexts = {
                    "summarize": written,
                    "truncate": cut(ready, one, "truncate", written.tokens),
                }
                rows += rows_of(Judged(ready, one.at), contexts, f"{one.share:.0%}")
    return pd.DataFrame(rows)


def at_recorded(sessions: Iterable[Prepared]) -> pd.DataFrame:
    """Rows as in `at_equal_size`, of the contexts of `recorded_contexts_of`."""
    rows: list[dict[str, object]] = []
    for ready in sessions:
        for _, at, contexts in recorded_contexts_of([ready]):
            rows += rows_of(Judged(ready, at), contexts, "recorded")
    return pd.DataFrame(rows)


def recorded_contexts_of(
    sessions: Iterable[Prepared],
) -> Iterator[tuple[str, int, dict[str, Context]]]:
    """What recorded agents went on with; the same with a summary by the writer for the agent's own;
    and `truncate`.

    Session, boundary and contexts. The writer's summary has at most the tokens of the agent's, all
    else is the same.
    """
    for ready in sessions:
        for at, one in recorded_contexts(ready.session, ready.sizing).items():
            size = one.after.tokens
            history = SizedHistory(at, None, one.before, size, size)
            if history.fits and (own := rewritten(ready, one)):
                cut_down = cut(ready, history, "truncate")
                yield (
                    ready.session.id,
                    at,
                    {"recorded": one.after, "extractive": own, "truncate": cut_down},
                )


def rewritten(ready: Prepared, one: RecordedContexts) -> Context | None:
    """What an agent went on with, its summary written by the rule-based writer; None where it
    has no one summary.
    """
    kept = {id(message) for message in one.after.messages}
    places = [i for i, message in enumerate(one.after.messages) if isinstance(message, Summary)]
    if len(places) != 1:
        return None
    place = places[0]
    replaced = [message for message in one.before.messages if id(message) not in kept]
    text = written(replaced, one.after.sizes[place], ready.reader(EXTRACTIVE))
    recorded_summary = one.after.messages[place]
    assert isinstance(recorded_summary, Summary)
    summary = replace(recorded_summary, id="written", text=text)
    messages, sizes = list(one.after.messages), list(one.after.sizes)
    messages[place], sizes[place] = summary, one.before.count(summary)
    return Context(tuple(messages), tuple(sizes), one.after.overhead, one.after.count)


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


def rows_of(
    judged: Judged, contexts: Mapping[str, Context], size: str
) -> Iterator[dict[str, object]]:
    """A row a context and judge."""
    session = judged.ready.session
    of = {
        "session": session.id,
        "project": session.project or session.id,
        "at": judged.at,
        "size": size,
    }
    for name, context in contexts.items():
        for judge, value in judged.scores(context).items():
            yield {**of, "context": name, "tokens": context.spoken, "judge": judge, "value": value}


def by_session(rows: pd.DataFrame, *of: str) -> pd.DataFrame:
    """A row a session and context (and `of`), a column a judge: means over the rest."""
    each = rows.groupby(["session", "project", *of, "context", "judge"], sort=False)["value"].mean()
    return each.unstack("judge").reindex(columns=list(JUDGES)).reset_index()


def by_judge(rows: pd.DataFrame) -> pd.DataFrame:
    """The rows of `by_session`, a row a judge again."""
    of = [name for name in rows if name not in JUDGES]
    return rows.melt(of, var_name="judge").dropna(subset="value")


def sizes_table(
    rows: pd.DataFrame, one: str = "summarize", other: str = "truncate"
) -> Iterator[str]:
    """Two contexts by each judge at each size, in points, over projects: on others' recordings,
    on ours.
    """
    bundled = ours(rows)
    for title, own in (
        ("recordings of others", rows[~bundled]),
        ("the bundled sessions", rows[bundled]),
    ):
        yield f"{counted(own)}, {title}:"
        yield ""
        yield from _sizes(own, one, other)
        yield ""


def _sizes(rows: pd.DataFrame, one: str, other: str) -> Iterator[str]:
    sizes = sorted(rows["size"].unique())
    heads = (f"{one}, {size} | {other}, {size} | difference" for size in sizes)
    yield f"| judge | {' | '.join(heads)} |"
    yield "|---" * (3 * len(sizes) + 1) + "|"
    for judge, title in TITLES.items():
        cells = (
            _lead(rows[(rows["judge"] == judge) & (rows["size"] == size)], one, other)
            for size in sizes
        )
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
        own = rows[rows["judge"] == judge]
        each = own.pivot_table(index=["session", "at"], columns="context", values="value")
        apart = (each["extractive"] - each["recorded"]).dropna() * (-1 if judge == "stale" else 1)
        ahead = f"{(apart > 0).sum()}, {(apart == 0).sum()}, {(apart < 0).sum()}"
        first = _lead(own, "extractive", "recorded").split(" | ")
        cut = _lead(own, "truncate", "recorded").split(" | ")[0]
        yield f"| {title} | {first[1]} | {first[0]} | {first[2]} | {ahead} | {cut} |"


def _lead(rows: pd.DataFrame, one: str, other: str) -> str:
    """The means of two contexts over projects, and their difference with its interval: three
    cells.
    """
    each = rows.pivot_table(index=["project", "session"], columns="context", values="value")[
        [one, other]
    ].dropna()
    projects = each.index.get_level_values("project").astype(str).tolist()
    apart = 100 * (each[one] - each[other])
    found = [
        estimate(values.tolist(), projects)
        for values in (100 * each[one], 100 * each[other], apart)
    ]
    first, second, difference = (one for one in found if one is not None)
    ends = "" if difference.low is None else f" ({difference.low:+.0f} to {difference.high:+.0f})"
    return f"{first.mean:.0f} | {second.mean:.0f} | {difference.mean:+.0f}{ends}"
