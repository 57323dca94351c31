"""The strategy `learned` beside every preset at equal size, with weights fitted without the project
at hand.

Sessions are those of `summaries.sample`, the first of each project; open work is asked about
wherever a recording gives it.
"""

from __future__ import annotations

import sys
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace
from pathlib import Path
from typing import TypeAlias

import pandas as pd

sys.path.insert(0, str(Path(__file__).parents[3] / "docs"))

from rows import Frames, Part, run
from summaries import AT, sample

from workbench.base.formats import percent, some
from workbench.engine.compaction.engine import compact
from workbench.engine.compaction.plan import Budget
from workbench.engine.compaction.presets import NAMES, preset
from workbench.engine.compaction.presets.learned import LearnedLines, LearnedSummary
from workbench.engine.compaction.stages.register import Register
from workbench.engine.compaction.stages.supersede import Supersede
from workbench.engine.compaction.strategy import Strategy
from workbench.engine.models.extractive import Extractive
from workbench.engine.models.learned.weights import LearnedWeights, Logistic
from workbench.engine.transcript.context import Context
from workbench.engine.transcript.session import Session
from workbench.evaluation.analysis.paired import estimate, holm, sign_flip
from workbench.evaluation.experiment.prepared import Prepared, prepared
from workbench.evaluation.experiment.sources import sessions_in, sources_of
from workbench.evaluation.metrics.exam.exams import Exams, todos
from workbench.evaluation.metrics.exam.item import corrected
from workbench.evaluation.metrics.view import view
from workbench.evaluation.replays.boundaries import at_shares, worth
from workbench.evaluation.replays.matched import (
    ALLOWED,
    MOST_OVER_TARGET,
    SizedHistory,
    sized_histories,
)
from workbench.lab.agreement.orders import TITLES
from workbench.lab.learning.fit import fitted, folds_of
from workbench.lab.learning.samples import LabelledSample, by_part, samples_of
from workbench.lab.validation.judges import FEWEST, JUDGES, Judged

PAGE = Path(__file__).parent / "README.md"
SHARES = (0.05, 0.1, 0.2, 0.3)
SHARE = 0.1
NEWER = ("opencode_v2", "crush", "anthropic_on_demand", "scored")
"""Presets that were added after these rows had been measured."""
OTHERS = tuple(name for name in NAMES if name not in ("none", "null", *NEWER))
OWN, ALL = "learned", "composed"
LINES = (OWN, f"{OWN}+recall", f"{OWN}_summary", ALL)
"""Contexts that have learned lines."""
PARTS_OF_MODEL = ("without needed", "without tells", "without states")
PARTS_OF_ALL = ("without supersede", "without register", "without lines", "without recall")
KINDS = {"fact": ("fact", "latest", "decision"), "rule": ("rule",)}
MOST = 1
"""Sessions of a project at most."""
PLACES = 3
"""Boundaries of a session at which open work is asked about, at most."""
LONGEST = 1000
"""Messages of a session at which open work is asked about, at most."""
AGAINST = "less the best other, chosen on other projects"
CLEAR = "clearly ahead of, behind"
ALPHA = 0.05
Row: TypeAlias = dict[str, object]


def _flat(model: Logistic) -> Logistic:
    """The same for every row: half."""
    return Logistic(0.0, (0.0,) * len(model.weights))


def own_strategies(weights: LearnedWeights) -> dict[str, Strategy]:
    """Those that have learned lines, by name."""
    lines = LearnedLines(weights)
    truncate = preset("truncate").strategy.stages
    plain = Strategy(OWN, (lines, *truncate))
    summary_name = f"{OWN}_summary"
    return {
        OWN: plain,
        f"{OWN}+recall": replace(plain, name=f"{OWN}+recall", recall=True),
        summary_name: Strategy(summary_name, (LearnedSummary(weights), *truncate)),
        ALL: Strategy(ALL, (Supersede(), Register(), lines, *truncate), recall=True),
    }


def preset_strategies() -> dict[str, Strategy]:
    """Those of the presets that `learned` is compared with, by name."""
    return {name: preset(name).strategy for name in OTHERS}


def strategies(weights: LearnedWeights, share: float) -> dict[str, Strategy]:
    """By name; the parts of the model left out at one size only."""
    by_name = preset_strategies() | own_strategies(weights)
    composed = by_name[ALL]
    stage_names = PARTS_OF_ALL[:3]
    for name, omitted in zip(stage_names, composed.stages[:3], strict=True):
        stages = tuple([stage for stage in composed.stages if stage is not omitted])
        by_name[name] = replace(composed, stages=stages)
    by_name["without recall"] = replace(composed, recall=False)
    if share == SHARE:
        never = Logistic(-30.0, (0.0,) * len(weights.states.weights))
        reduced_weights = (
            replace(weights, needed=_flat(weights.needed)),
            replace(weights, tells=_flat(weights.tells)),
            replace(weights, states=never),
        )
        for name, reduced in zip(PARTS_OF_MODEL, reduced_weights, strict=True):
            by_name[name] = own_strategies(reduced)[OWN]
    return by_name


def project_of(session: Session) -> str:
    """A session's project; where it names none, it is one of its own."""
    return session.project or session.id


def _samples(sessions: Iterable[Session]) -> Iterator[LabelledSample]:
    for session in sessions:
        yield from samples_of(prepared(session))


def without_each(sessions: Iterable[Session]) -> dict[str, LearnedWeights]:
    """For each project of these sessions the weights that were fitted without it; under "" those
    of all sessions.
    """
    parts = by_part(_samples(sessions))
    projects: set[str] = set()
    for samples in parts.values():
        projects.update([part_sample.project for part_sample in samples])
    weights_by_project: dict[str, LearnedWeights] = {}
    for fold in [[""], *folds_of(projects)]:
        weights = fitted(parts, fold)
        for project in fold:
            weights_by_project[project] = weights
    return weights_by_project


def _measured(paths: Sequence[str], bundled: bool) -> Frames:
    weights_by_project = without_each(sample(paths, bundled, MOST))
    sizes: list[Row] = []
    for session in sample(paths, bundled, MOST):
        project = project_of(session)
        if project in weights_by_project:
            sizes += _at_sizes(prepared(session), weights_by_project[project])
    work: list[Row] = []
    sources = sources_of(list(paths))
    if bundled:
        sources = [*sources_of([]), *sources]
    for source in sources:
        for session in sessions_in(source):
            if len(session.messages) > LONGEST:
                continue
            weights = weights_by_project.get(project_of(session), weights_by_project[""])
            work += _open_work(prepared(session), weights)
    projects = sorted(weights_by_project.keys() - {""})
    return {"sizes": _by_project(sizes, projects), "work": _by_project(work, projects)}


def _at_sizes(prepared_session: Prepared, weights: LearnedWeights) -> Iterator[Row]:
    """What each judge says of each context, at half and four fifths of the messages."""
    session = prepared_session.session
    boundaries = at_shares(session, AT)
    for history in sized_histories(session, prepared_session.sizing, boundaries, SHARES):
        exam = Exams.of(prepared_session.index).at(history.at)
        if not history.fits or len(exam.items) < FEWEST or history.share is None:
            continue
        judged = Judged(prepared_session, history.at)
        by_name = strategies(weights, history.share)
        for name, sent in _contexts(prepared_session, history, by_name):
            scores = {"exam": exam.score(view(session, sent))}
            if history.share == SHARE and name in (*OTHERS, *LINES):
                scores = judged.scores(sent)
            if "stale" in scores:
                scores["stale"] = 1 - scores["stale"]
            kinds: Row = {}
            for kind, item_kinds in KINDS.items():
                kinds[kind] = _of_kind(prepared_session, history.at, sent, item_kinds)
            yield {**_about(prepared_session, history, name, sent), **scores, **kinds}


def _open_work(prepared_session: Prepared, weights: LearnedWeights) -> Iterator[Row]:
    """What is known of open work, at boundaries where the exam asks about it."""
    session = prepared_session.session
    boundaries = _boundaries_with_open_work(prepared_session)
    by_name = preset_strategies() | own_strategies(weights)
    for history in sized_histories(session, prepared_session.sizing, boundaries, (SHARE,)):
        if not history.fits:
            continue
        for name, sent in _contexts(prepared_session, history, by_name):
            todo = _of_kind(prepared_session, history.at, sent, ("todo",))
            yield {**_about(prepared_session, history, name, sent), "todo": todo}


def _boundaries_with_open_work(prepared_session: Prepared) -> list[int]:
    """A few of those at which the exam asks about open work, evenly apart."""
    session = prepared_session.session
    index = prepared_session.index
    boundaries: list[int] = []
    for boundary in session.requests:
        if worth(session, boundary) and todos(index.statements, index.work, boundary):
            boundaries.append(boundary)
    if not boundaries:
        return []
    places = {number * len(boundaries) // PLACES for number in range(PLACES)}
    return sorted([boundaries[place] for place in places])


def _contexts(
    prepared_session: Prepared, history: SizedHistory, by_name: dict[str, Strategy]
) -> Iterator[tuple[str, Context]]:
    """What is sent of a history under each strategy, with its name."""
    budget = Budget(target=history.target, window=prepared_session.window, reason="matched")
    model = prepared_session.reader(Extractive())
    for name, strategy in by_name.items():
        yield name, compact(history.history, strategy, budget, model).sent


def _about(prepared_session: Prepared, history: SizedHistory, name: str, sent: Context) -> Row:
    """The columns that every row begins with."""
    session = prepared_session.session
    return {
        "project": project_of(session),
        "session": session.id,
        "share": history.share,
        "context": name,
        "over": float(sent.tokens > ALLOWED * history.target),
    }


def _of_kind(
    prepared_session: Prepared, boundary: int, sent: Context, kinds: Sequence[str]
) -> float | None:
    """The mean over the exam's questions of these kinds; None where it asks none."""
    exam = Exams.of(prepared_session.index).at(boundary)
    is_of_kind = [item.kind in kinds for item in exam.items]
    if not any(is_of_kind):
        return None
    credit = exam.credit(view(prepared_session.session, sent))
    scores = corrected(exam.items, credit)
    return float(scores[is_of_kind].mean())


def _by_project(rows: list[Row], projects: list[str]) -> pd.DataFrame:
    """Means over boundaries, then over the sessions of a project, with the number of sessions
    and boundaries.
    """
    table = pd.DataFrame(rows)
    by_session = table.groupby(["project", "session", "share", "context"], sort=False)
    session_means = by_session.mean(numeric_only=True)
    by_context = session_means.groupby(["project", "share", "context"], sort=False)
    means = by_context.mean().round(4)
    columns = [table[name] for name in ("project", "share", "context")]
    counts = table.groupby(columns, sort=False)["session"].agg(
        sessions="nunique", boundaries="size"
    )
    by_project = counts.join(means).reset_index()
    return by_project.assign(looked_at=by_project["project"].isin(projects[::2]))


def of_projects(rows: pd.DataFrame, share: float, column: str) -> pd.DataFrame:
    """A row a project and a column a context, in points."""
    scored = rows[rows["share"] == share].dropna(subset=[column])
    return 100 * scored.pivot_table(column, "project", "context", sort=False)


def ranked(rows: pd.DataFrame, share: float) -> list[str]:
    """The presets that get as small as that."""
    over = rows[rows["share"] == share].groupby("context")["over"].mean()
    return [name for name in OTHERS if over[name] <= MOST_OVER_TARGET]


def unseen(scores: pd.DataFrame, others: Sequence[str], own: str = OWN) -> pd.Series:
    """`own` less the best of the others, which is chosen for each project on all other projects."""
    leads: dict[object, float] = {}
    for project in scores.index:
        other_projects = scores.loc[scores.index != project]
        best = best_of(other_projects, others)
        leads[project] = scores.loc[project, own] - scores.loc[project, best]
    return pd.Series(leads)


def beside_each(scores: pd.DataFrame, others: Sequence[str], own: str = OWN) -> str:
    """How many of the others `own` is clearly ahead of and behind: sign-flip tests over
    projects, p by Holm.
    """
    means: list[float] = []
    p_values: list[float] = []
    for name in others:
        differences = (scores[own] - scores[name]).dropna().to_numpy()
        means.append(float(differences.mean()))
        p_values.append(float(sign_flip(differences)))
    ahead = behind = 0
    for mean, p in zip(means, holm(p_values), strict=True):
        is_clear = (p or 1.0) < ALPHA
        ahead += is_clear and mean > 0
        behind += is_clear and mean < 0
    return f"{ahead}, {behind} of {len(others)}"


def cell(values: pd.Series) -> str:
    """A mean difference with its 95 % interval over projects."""
    estimated = estimate(values.dropna().tolist())
    if estimated is None:
        return ""
    if estimated.low is None:
        return f"{estimated.mean:+.1f}"
    return f"{estimated.mean:+.1f} ({estimated.low:+.1f} to {estimated.high:+.1f})"


def best_of(scores: pd.DataFrame, names: Sequence[str]) -> str:
    """The one with the highest mean."""
    return str(scores[list(names)].mean().idxmax())


def row(*cells: object) -> str:
    """A row of a table."""
    return f"| {' | '.join(map(str, cells))} |"


def head(*cells: object) -> Iterator[str]:
    """The first rows of a table."""
    yield row(*cells)
    yield "|---" * len(cells) + "|"


def share_head(title: str) -> Iterator[str]:
    """The first rows of a table with a column a size."""
    yield from head(title, *[f"{share:.0%}" for share in SHARES])


def lines(sizes: pd.DataFrame, work: pd.DataFrame) -> Iterator[str]:
    """Scores by size; against the best other; other judges; kinds and open work; and parts left
    out.
    """
    yield from _against_the_best(sizes)
    yield ""
    yield from _scores(sizes)
    yield ""
    yield from _judges(sizes)
    yield ""
    yield from _kinds(sizes, work)
    yield ""
    yield from _parts_left_out(sizes)
    yield ""
    own_sizes = sizes[(sizes["share"] == SHARE) & (sizes["context"] == OWN)]
    own_work = work[(work["share"] == SHARE) & (work["context"] == OWN)]
    largest = SHARES[-1]
    projects_at_largest = sizes[sizes["share"] == largest]["project"].nunique()
    yield (
        f"Means over {own_sizes['sessions'].sum()} sessions of as many projects at {SHARE:.0%}, and"
        f" {projects_at_largest} at {largest:.0%}; open"
        f" work at {own_work['boundaries'].sum()} places of"
        f" {some(own_work['sessions'].sum(), 'session')}. Intervals (95 %) over projects, of six or"
        f" more. A preset that stays larger than {ALLOWED} times the size in more than"
        f" {percent(MOST_OVER_TARGET)} of the cases is not ranked there."
    )


def _against_the_best(sizes: pd.DataFrame) -> Iterator[str]:
    yield from share_head(f"`{OWN}` by exam")
    unseen_projects = sizes[~sizes["looked_at"]]
    for title, rows in (("", sizes), (", projects not looked at", unseen_projects)):
        leads: list[str] = []
        unseen_leads: list[str] = []
        clear: list[str] = []
        for share in SHARES:
            scores = of_projects(rows, share, "exam")
            others = ranked(sizes, share)
            best = best_of(scores, others)
            leads.append(f"{cell(scores[OWN] - scores[best])}, `{best}`")
            unseen_leads.append(cell(unseen(scores, others)))
            clear.append(beside_each(scores, others))
        yield row(f"less the best other{title}", *leads)
        if not title:
            yield row(AGAINST, *unseen_leads)
        yield row(f"{CLEAR}{title}", *clear)


def _scores(sizes: pd.DataFrame) -> Iterator[str]:
    yield from share_head("by exam")
    means = {share: of_projects(sizes, share, "exam").mean() for share in SHARES}
    shown = {share: (*LINES, *ranked(sizes, share)) for share in SHARES}
    total = sum(means.values())
    for name in sorted((*LINES, *OTHERS), key=lambda name: -total[name]):
        cells: list[str] = []
        for share in SHARES:
            cells.append(f"{means[share][name]:.1f}" if name in shown[share] else "")
        if any(cells):
            yield row(f"`{name}`", *cells)


def _judges(sizes: pd.DataFrame) -> Iterator[str]:
    others = ranked(sizes, SHARE)
    yield from head(
        f"judge, at {SHARE:.0%}", f"`{OWN}`", "best other", "`truncate`", AGAINST, CLEAR
    )
    for judge in JUDGES:
        scores = of_projects(sizes, SHARE, judge)
        means = scores.mean()
        best = best_of(scores, others)
        yield row(
            TITLES[judge],
            f"{means[OWN]:.1f}",
            f"{means[best]:.1f}, `{best}`",
            f"{means['truncate']:.1f}",
            cell(unseen(scores, others)),
            beside_each(scores, others),
        )


def _kinds(sizes: pd.DataFrame, work: pd.DataFrame) -> Iterator[str]:
    own_heads = [f"`{name}`" for name in LINES]
    yield from head(f"asked, at {SHARE:.0%}", *own_heads, "best other", AGAINST, "projects")
    others = ranked(sizes, SHARE)
    rows_by_kind = dict.fromkeys(KINDS, sizes) | {"todo": work}
    for kind, rows in rows_by_kind.items():
        scores = of_projects(rows, SHARE, kind)
        best = best_of(scores, others)
        yield row(
            kind,
            *[f"{scores[name].mean():.1f}" for name in LINES],
            f"{scores[best].mean():.1f}, `{best}`",
            cell(unseen(scores, others)),
            len(scores),
        )


def _parts_left_out(sizes: pd.DataFrame) -> Iterator[str]:
    yield from share_head("points by exam")
    tables = [of_projects(sizes, share, "exam") for share in SHARES]
    for name in LINES[1:]:
        yield row(f"`{name}` less `{OWN}`", *_leads(tables, name, OWN))
    for name in PARTS_OF_ALL:
        yield row(f"`{ALL}` {name}", *_leads(tables, name, ALL))
    for name in PARTS_OF_MODEL:
        yield row(f"`{OWN}` {name}", *_leads(tables, name, OWN))


def _leads(tables: Sequence[pd.DataFrame], name: str, other: str) -> list[str]:
    """The lead of a context over another one at each size; empty where it was not measured."""
    leads: list[str] = []
    for scores in tables:
        leads.append(cell(scores[name] - scores[other]) if name in scores else "")
    return leads


PARTS = {"learned": Part(measure=_measured, tell=lines)}

if __name__ == "__main__":
    sys.exit(run(PARTS, PAGE, sys.argv[1:]))
