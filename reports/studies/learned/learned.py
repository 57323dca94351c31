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
from workbench.lab.learning.samples import by_part, samples_of
from workbench.lab.validation.judges import FEWEST, JUDGES, Judged

PAGE = Path(__file__).parent / "README.md"
SHARES, SHARE = (0.05, 0.1, 0.2, 0.3), 0.1
NEWER = ("opencode_v2", "crush", "anthropic_on_demand", "scored")
"""Presets that were added after these rows had been measured."""
OTHERS = tuple(name for name in NAMES if name not in ("none", "null", *NEWER))
OWN, ALL = "learned", "composed"
LINES = (OWN, f"{OWN}+recall", f"{OWN}_summary", ALL)
"""Contexts that have learned lines."""
PARTS_OF_MODEL = ("without needed", "without tells", "without states")
PARTS_OF_ALL = ("without supersede", "without register", "without lines", "without recall")
KINDS = {"fact": ("fact", "latest", "decision"), "rule": ("rule",)}
MOST, PLACES, LONGEST = 1, 3, 1000
"""Sessions of a project, boundaries of a session at which open work is asked about, and its
messages, at most.
"""
AGAINST, CLEAR = "less the best other, chosen on other projects", "clearly ahead of, behind"
ALPHA = 0.05


def _flat(model: Logistic) -> Logistic:
    """The same for every row: half."""
    return Logistic(0.0, (0.0,) * len(model.weights))


def own_strategies(weights: LearnedWeights) -> dict[str, Strategy]:
    """Those that have learned lines, by name."""
    lines, truncate = LearnedLines(weights), preset("truncate").strategy.stages
    plain = Strategy(OWN, (lines, *truncate))
    return {
        OWN: plain,
        f"{OWN}+recall": replace(plain, name=f"{OWN}+recall", recall=True),
        f"{OWN}_summary": Strategy(f"{OWN}_summary", (LearnedSummary(weights), *truncate)),
        ALL: Strategy(ALL, (Supersede(), Register(), lines, *truncate), recall=True),
    }


def strategies(weights: LearnedWeights, share: float) -> dict[str, Strategy]:
    """By name; the parts of the model left out at one size only."""
    found = {name: preset(name).strategy for name in OTHERS} | own_strategies(weights)
    whole = found[ALL]
    for name, left_out in zip(PARTS_OF_ALL[:3], whole.stages[:3], strict=True):
        found[name] = replace(
            whole, stages=tuple(stage for stage in whole.stages if stage is not left_out)
        )
    found["without recall"] = replace(whole, recall=False)
    if share == SHARE:
        never = Logistic(-30.0, (0.0,) * len(weights.states.weights))
        changed = (
            replace(weights, needed=_flat(weights.needed)),
            replace(weights, tells=_flat(weights.tells)),
            replace(weights, states=never),
        )
        for name, one in zip(PARTS_OF_MODEL, changed, strict=True):
            found[name] = own_strategies(one)[OWN]
    return found


def project_of(session: Session) -> str:
    """A session's project; where it names none, it is one of its own."""
    return session.project or session.id


def without_each(sessions: Iterable[Session]) -> dict[str, LearnedWeights]:
    """For each project of these sessions the weights that were fitted without it; under "" those
    of all sessions.
    """
    parts = by_part(one for session in sessions for one in samples_of(prepared(session)))
    projects = {one.project for samples in parts.values() for one in samples}
    folds = [[""], *folds_of(projects)]
    return {
        project: weights for fold in folds for weights in [fitted(parts, fold)] for project in fold
    }


def _measured(paths: Sequence[str], bundled: bool) -> Frames:
    without = without_each(sample(paths, bundled, MOST))
    sizes: list[dict[str, object]] = []
    for session in sample(paths, bundled, MOST):
        if project_of(session) in without:
            sizes += _at_sizes(prepared(session), without[project_of(session)])
    work: list[dict[str, object]] = []
    for source in [*(sources_of([]) if bundled else ()), *sources_of(list(paths))]:
        for session in sessions_in(source):
            if len(session.messages) <= LONGEST:
                work += _open_work(prepared(session), without.get(project_of(session), without[""]))
    projects = sorted(without.keys() - {""})
    return {"sizes": _by_project(sizes, projects), "work": _by_project(work, projects)}


def _at_sizes(ready: Prepared, weights: LearnedWeights) -> Iterator[dict[str, object]]:
    """What each judge says of each context, at half and four fifths of the messages."""
    for one in sized_histories(ready.session, ready.sizing, at_shares(ready.session, AT), SHARES):
        exam = Exams.of(ready.index).at(one.at)
        if not one.fits or len(exam.items) < FEWEST or one.share is None:
            continue
        judged = Judged(ready, one.at)
        for name, sent in _contexts(ready, one, strategies(weights, one.share)):
            if one.share == SHARE and name in (*OTHERS, *LINES):
                scores = judged.scores(sent)
            else:
                scores = {"exam": exam.score(view(ready.session, sent))}
            if "stale" in scores:
                scores["stale"] = 1 - scores["stale"]
            kinds = {kind: _of_kind(ready, one.at, sent, names) for kind, names in KINDS.items()}
            yield {**_about(ready, one, name, sent), **scores, **kinds}


def _open_work(ready: Prepared, weights: LearnedWeights) -> Iterator[dict[str, object]]:
    """What is known of open work, at boundaries where the exam asks about it."""
    session, index = ready.session, ready.index
    asked = [
        at
        for at in session.requests
        if worth(session, at) and todos(index.statements, index.work, at)
    ]
    chosen = {asked[n * len(asked) // PLACES] for n in range(PLACES)} if asked else set()
    for one in sized_histories(session, ready.sizing, sorted(chosen), (SHARE,)):
        if one.fits:
            known = {name: preset(name).strategy for name in OTHERS} | own_strategies(weights)
            for name, sent in _contexts(ready, one, known):
                yield {
                    **_about(ready, one, name, sent),
                    "todo": _of_kind(ready, one.at, sent, ("todo",)),
                }


def _contexts(
    ready: Prepared, one: SizedHistory, known: dict[str, Strategy]
) -> Iterator[tuple[str, Context]]:
    budget = Budget(target=one.target, window=ready.window, reason="matched")
    model = ready.reader(Extractive())
    for name, strategy in known.items():
        yield name, compact(one.history, strategy, budget, model).sent


def _about(ready: Prepared, one: SizedHistory, name: str, sent: Context) -> dict[str, object]:
    of = {
        "project": project_of(ready.session),
        "session": ready.session.id,
        "share": one.share,
        "context": name,
    }
    return {**of, "over": float(sent.tokens > ALLOWED * one.target)}


def _of_kind(ready: Prepared, at: int, sent: Context, names: Sequence[str]) -> float | None:
    exam = Exams.of(ready.index).at(at)
    asked = [item.kind in names for item in exam.items]
    if not any(asked):
        return None
    return float(corrected(exam.items, exam.credit(view(ready.session, sent)))[asked].mean())


def _by_project(rows: list[dict[str, object]], projects: list[str]) -> pd.DataFrame:
    """Means over boundaries, then over the sessions of a project, with the number of sessions
    and boundaries.
    """
    known = pd.DataFrame(rows)
    by = [known[name] for name in ("project", "share", "context")]
    each = known.groupby(["project", "session", "share", "context"], sort=False).mean(
        numeric_only=True
    )
    found = each.groupby(["project", "share", "context"], sort=False).mean().round(4)
    counts = known.groupby(by, sort=False)["session"].agg(sessions="nunique", boundaries="size")
    made = counts.join(found).reset_index()
    return made.assign(looked_at=made["project"].isin(projects[::2]))


def of_projects(rows: pd.DataFrame, share: float, column: str) -> pd.DataFrame:
    """A row a project and a column a context, in points."""
    known = rows[rows["share"] == share].dropna(subset=[column])
    return 100 * known.pivot_table(column, "project", "context", sort=False)


def ranked(rows: pd.DataFrame, share: float) -> list[str]:
    """The presets that get as small as that."""
    over = rows[rows["share"] == share].groupby("context")["over"].mean()
    return [name for name in OTHERS if over[name] <= MOST_OVER_TARGET]


def unseen(found: pd.DataFrame, others: Sequence[str], own: str = OWN) -> pd.Series:
    """`own` less the best of the others, which is chosen for each project on all other projects."""
    best = {
        one: str(found.loc[found.index != one, list(others)].mean().idxmax()) for one in found.index
    }
    return pd.Series(
        {one: found.loc[one, own] - found.loc[one, name] for one, name in best.items()}
    )


def beside_each(found: pd.DataFrame, others: Sequence[str], own: str = OWN) -> str:
    """How many of the others `own` is clearly ahead of and behind: sign-flip tests over
    projects, p by Holm.
    """
    apart = {name: (found[own] - found[name]).dropna().to_numpy() for name in others}
    clear = dict(zip(apart, holm([float(sign_flip(one)) for one in apart.values()]), strict=True))
    means = [float(one.mean()) for name, one in apart.items() if (clear[name] or 1.0) < ALPHA]
    return f"{sum(mean > 0 for mean in means)}, {sum(mean < 0 for mean in means)} of {len(others)}"


def cell(values: pd.Series) -> str:
    """A mean difference with its 95 % interval over projects."""
    found = estimate(values.dropna().tolist())
    if found is None:
        return ""
    ends = "" if found.low is None else f" ({found.low:+.1f} to {found.high:+.1f})"
    return f"{found.mean:+.1f}{ends}"


def best_of(found: pd.DataFrame, others: Sequence[str]) -> str:
    """The one with the highest mean."""
    return str(found[list(others)].mean().idxmax())


def row(*cells: object) -> str:
    """A row of a table."""
    return f"| {' | '.join(map(str, cells))} |"


def head(*cells: object) -> Iterator[str]:
    """The first rows of a table."""
    yield row(*cells)
    yield "|---" * len(cells) + "|"


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
    once = sizes[(sizes["share"] == SHARE) & (sizes["context"] == OWN)]
    asked = work[(work["share"] == SHARE) & (work["context"] == OWN)]
    yield (
        f"Means over {once['sessions'].sum()} sessions of as many projects at {SHARE:.0%}, and"
        f" {sizes[sizes['share'] == SHARES[-1]]['project'].nunique()} at {SHARES[-1]:.0%}; open"
        f" work at {asked['boundaries'].sum()} places of"
        f" {some(asked['sessions'].sum(), 'session')}. Intervals (95 %) over projects, of six or"
        f" more. A preset that stays larger than {ALLOWED} times the size in more than"
        f" {percent(MOST_OVER_TARGET)} of the cases is not ranked there."
    )


def _against_the_best(sizes: pd.DataFrame) -> Iterator[str]:
    yield from head(f"`{OWN}` by exam", *(f"{share:.0%}" for share in SHARES))
    for title, known in (("", sizes), (", projects not looked at", sizes[~sizes["looked_at"]])):
        tables = [(of_projects(known, share, "exam"), ranked(sizes, share)) for share in SHARES]
        best = [best_of(*one) for one in tables]
        against = (
            f"{cell(found[OWN] - found[name])}, `{name}`"
            for (found, _), name in zip(tables, best, strict=True)
        )
        yield row(f"less the best other{title}", *against)
        if not title:
            yield row(AGAINST, *(cell(unseen(*one)) for one in tables))
        yield row(f"{CLEAR}{title}", *(beside_each(*one) for one in tables))


def _scores(sizes: pd.DataFrame) -> Iterator[str]:
    yield from head("by exam", *(f"{share:.0%}" for share in SHARES))
    tables = {share: of_projects(sizes, share, "exam").mean() for share in SHARES}
    order = sorted(
        (*LINES, *OTHERS), key=lambda name: -sum(table[name] for table in tables.values())
    )
    for name in order:
        kept = [name in LINES or name in ranked(sizes, share) for share in SHARES]
        if any(kept):
            values = (
                f"{tables[share][name]:.1f}" if one else ""
                for share, one in zip(SHARES, kept, strict=True)
            )
            yield row(f"`{name}`", *values)


def _judges(sizes: pd.DataFrame) -> Iterator[str]:
    others = ranked(sizes, SHARE)
    yield from head(
        f"judge, at {SHARE:.0%}", f"`{OWN}`", "best other", "`truncate`", AGAINST, CLEAR
    )
    for judge in JUDGES:
        found = of_projects(sizes, SHARE, judge)
        means, best = found.mean(), best_of(found, others)
        values = (f"{means[OWN]:.1f}", f"{means[best]:.1f}, `{best}`", f"{means['truncate']:.1f}")
        yield row(TITLES[judge], *values, cell(unseen(found, others)), beside_each(found, others))


def _kinds(sizes: pd.DataFrame, work: pd.DataFrame) -> Iterator[str]:
    yield from head(
        f"asked, at {SHARE:.0%}",
        *(f"`{name}`" for name in LINES),
        "best other",
        AGAINST,
        "projects",
    )
    for kind, rows in (*((kind, sizes) for kind in KINDS), ("todo", work)):
        found, others = of_projects(rows, SHARE, kind), ranked(sizes, SHARE)
        best = best_of(found, others)
        values = (f"{found[name].mean():.1f}" for name in LINES)
        yield row(
            kind,
            *values,
            f"{found[best].mean():.1f}, `{best}`",
            cell(unseen(found, others)),
            len(found),
        )


def _parts_left_out(sizes: pd.DataFrame) -> Iterator[str]:
    yield from head("points by exam", *(f"{share:.0%}" for share in SHARES))
    by_share = [of_projects(sizes, share, "exam") for share in SHARES]
    for name in LINES[1:]:
        yield row(f"`{name}` less `{OWN}`", *(cell(found[name] - found[OWN]) for found in by_share))
    for name in PARTS_OF_ALL:
        yield row(f"`{ALL}` {name}", *(cell(found[name] - found[ALL]) for found in by_share))
    for name in PARTS_OF_MODEL:
        yield row(
            f"`{OWN}` {name}",
            *(cell(found[name] - found[OWN]) if name in found else "" for found in by_share),
        )


PARTS = {"learned": Part(measure=_measured, tell=lines)}

if __name__ == "__main__":
    sys.exit(run(PARTS, PAGE, sys.argv[1:]))
