"""When to compact: what the schedule of each preset's trigger costs beside the cheapest one that
knew the future.

Sessions are those of `summaries.sample` without the bundled ones, where a compaction before at
least one request has something to take out.
"""

from __future__ import annotations

import sys
from collections.abc import Iterator, Sequence
from pathlib import Path

import pandas as pd

sys.path.insert(0, str(Path(__file__).parents[3] / "docs"))

from rows import Frames, Part, run
from schedules import Schedules
from summaries import sample

from workbench.base.formats import some
from workbench.engine.compaction.presets import NAMES, preset, with_price
from workbench.engine.compaction.strategy import Preset
from workbench.engine.models.extractive import Extractive
from workbench.evaluation.analysis.paired import estimate
from workbench.evaluation.experiment.prepared import prepared
from workbench.evaluation.metrics.costs.pricing import pricing

PAGE = Path(__file__).parent / "README.md"
WINDOWS = (64_000, 128_000)
STRATEGIES = ("summarize", "truncate")
PRICE, CHEAPEST = "`+price`", "the cheapest"


def triggers() -> dict[str, Preset]:
    """Each trigger once, by the presets that have it; those that never or always compact are
    left out.
    """
    same: dict[str, list[Preset]] = {}
    for one in (preset(name) for name in NAMES if name not in ("none", "null")):
        same.setdefault(f"{one.trigger!r} {one.moments}", []).append(one)
    return {", ".join(f"`{one.name}`" for one in group): group[0] for group in same.values()}


def _measured(paths: Sequence[str], _: bool) -> Frames:
    rows: list[dict[str, object]] = []
    for session in sample(paths, bundled=False):
        priced = pricing(session)
        for window in WINDOWS:
            ready = prepared(session, window)
            for strategy in STRATEGIES:
                writer, stages = ready.reader(Extractive()), preset(strategy).strategy
                known = Schedules(
                    session, ready.sizing, ready.index, priced, stages, writer, window=ready.window
                )
                best = known.cheapest()
                if not known.compactable or known.cost(best) <= 0:
                    continue
                found = {name: known.under(one) for name, one in triggers().items()}
                found |= {PRICE: known.under(with_price(strategy)), CHEAPEST: best}
                about = {
                    "project": session.project or session.id,
                    "session": session.id,
                    "window": window,
                }
                rows += [
                    {
                        **about,
                        "strategy": strategy,
                        "context": name,
                        "usd": known.cost(made),
                        "compactions": len(made),
                    }
                    for name, made in found.items()
                ]
    return {"": pd.DataFrame(rows)}


def regrets(rows: pd.DataFrame, window: int, strategy: str) -> pd.DataFrame:
    """A row a project and a column a trigger: by how many per cent its schedules cost more than
    the cheapest ones.
    """
    known = rows[(rows["window"] == window) & (rows["strategy"] == strategy)]
    wide = known.pivot_table("usd", ["project", "session"], "context", sort=False)
    return 100 * wide.div(wide[CHEAPEST], axis=0).sub(1).groupby("project").mean()


def lines(rows: pd.DataFrame) -> Iterator[str]:
    """What each trigger costs more than the cheapest schedule, and `+price` against the best of
    the others.
    """
    columns = [(strategy, window) for strategy in STRATEGIES for window in WINDOWS]
    found = {one: regrets(rows, one[1], one[0]) for one in columns}
    names = [name for name in rows["context"].unique() if name != CHEAPEST]
    order = sorted(names, key=lambda name: sum(table[name].mean() for table in found.values()))
    yield (
        "| trigger of | "
        + " | ".join(f"`{strategy}`, {window // 1000}k" for strategy, window in columns)
        + " |"
    )
    yield "|---" * (len(columns) + 1) + "|"
    for name in order:
        yield f"| {name} | " + " | ".join(_cell(found[one][name]) for one in columns) + " |"
    yield ""
    yield (
        "| | "
        + " | ".join(f"`{strategy}`, {window // 1000}k" for strategy, window in columns)
        + " |"
    )
    yield "|---" * (len(columns) + 1) + "|"
    yield (
        "| `+price` less the best other | "
        + " | ".join(_against(found[one]) for one in columns)
        + " |"
    )
    for name in (PRICE, CHEAPEST):
        counts = (f"{_rows(rows, *one, name)['compactions'].mean():.1f}" for one in columns)
        yield f"| compactions a session, {name} | " + " | ".join(counts) + " |"
    counts = (_rows(rows, *one, PRICE)[["session", "project"]].nunique() for one in columns)
    yield (
        "| sessions | "
        + " | ".join(f"{n['session']} of {some(n['project'], 'project')}" for n in counts)
        + " |"
    )


def _rows(rows: pd.DataFrame, strategy: str, window: int, name: str) -> pd.DataFrame:
    return rows[
        (rows["window"] == window) & (rows["strategy"] == strategy) & (rows["context"] == name)
    ]


def _against(table: pd.DataFrame) -> str:
    others = table.drop(columns=[PRICE, CHEAPEST])
    best = str(others.mean().idxmin())
    return f"{_cell(table[PRICE] - others[best], '+')}, {best}"


def _cell(values: pd.Series, sign: str = "") -> str:
    found = estimate(values.tolist())
    assert found is not None
    ends = (
        ""
        if found.low is None or found.high is None
        else f" ({found.low:{sign}.0f} to {found.high:{sign}.0f})"
    )
    return f"{found.mean:{sign}.1f}{ends}"


PARTS = {"timing": Part(measure=_measured, tell=lines)}

if __name__ == "__main__":
    sys.exit(run(PARTS, PAGE, sys.argv[1:]))
