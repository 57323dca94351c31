"""The measured parts of docs/validity.md and reports/studies/validity, and the facts that every
report shows.

`python docs/validity.py PART PATHS...` measures one of them, keeps its rows beside the page and
writes the page: `behaviour` and `names` from recordings, `summaries` and `writer` from these and
the bundled ones (some minutes), `answers` from the folder of graded ones, `held` from
native-vs-text, `code` from people's labels and trajectories. `readers` and `readers-more` (studies
of this repository), `gamers` and `wordings` (bundled sessions), `needs` and `errors` (what ships)
take no paths and keep no rows. Without paths the page is written from the rows that are there.

With `--check` nothing is written: without paths it says where the page and the rows differ, with
paths where the rows and the recordings differ, of sessions that both have. It exits with 1 where
they do.
"""

from __future__ import annotations

import math
import sys
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path

import pandas as pd

sys.path.insert(0, str(Path(__file__).parent))

import alarm
import code_labels
from answered import answers_held, held_table, looked_up, looked_up_table
from rows import Frames, Part, run
from summaries import (
    at_equal_size,
    at_recorded,
    by_judge,
    by_session,
    counted,
    recorded_table,
    sample,
    sizes_table,
)
from writers import tried, writers_table

from workbench.base.formats import decimal, some
from workbench.lab.sides.gamers import gamers
from workbench.lab.sides.planted import planted
from workbench.lab.sides.real_readers import real_readers
from workbench.lab.sides.wordings import wordings
from workbench.lab.validation.answers.agreement import METRICS, agreement
from workbench.lab.validation.answers.exams import verdicts
from workbench.lab.validation.answers.records import graded
from workbench.lab.validation.fetched_again import (
    by_way,
    figures,
    lead_note,
    precision_table,
    ranks,
    with_intervals,
)
from workbench.lab.validation.needs import labelled
from workbench.lab.validation.selfcheck import sessions_of
from workbench.lab.validation.used_things import COLUMNS, CONTROL, compacted, used_things
from workbench.recordings.datasets.bundled import bundled_files

PAGE = Path(__file__).parents[1] / "reports" / "studies" / "validity" / "README.md"
FIRST_PAGE = Path(__file__).parent / "validity.md"
ON_FIRST_PAGE = ("readers", "wordings")
"""The parts that stand on the first page."""
SHOWN = ("if_lost", "if_kept", "auc", "alike", "lead")
STRATA = ("kind", "source", "recoverable", "when")


def _behaviour(paths: Sequence[str], _: bool) -> Frames:
    rows = used_things(compacted(paths))
    numbers = rows.groupby("session")["thing"].transform(
        lambda of_session: pd.factorize(of_session)[0]
    )
    return {"": rows.assign(thing=numbers)}


def behaviour(rows: pd.DataFrame) -> Iterator[str]:
    """What `workbench lab validate behaviour` says of some recordings."""
    rows = _used(rows)
    recorded = rows[rows["context"] == "recorded"]
    projects = recorded.groupby("project")["session"].nunique()
    projects = projects.sort_values(ascending=False, kind="stable")
    names = ", ".join([f"{name} ({n})" for name, n in projects.items()])
    compactions = some(recorded.groupby(["session", "compaction"]).ngroups, "compaction")
    yield (
        f"{compactions} in {some(int(projects.sum()), 'session')} of"
        f" {some(len(projects), 'project')}: {names}."
    )
    yield ""
    yield from table_of(by_way(rows).rename(columns={"how": "how the agent came by it"}))
    yield ""
    yield from _verdicts_table(rows)
    yield ""
    over_projects = _interval(figures(recorded, unit="project"))
    yield f"{lead_note(figures(recorded))} Over projects: {over_projects}."
    yield ""
    yield from _strata_table(recorded)
    yield ""
    yield (
        "Rank correlation over sessions of the mean verdict with the share fetched again (only of"
        " what the metric"
    )
    correlations: list[str] = []
    for row in ranks(rows).to_dict("records"):
        correlations.append(f"{row['metric']} {decimal(row['used'])} ({decimal(row['asked'])})")
    yield f"demands or asks): {', '.join(correlations)}."


def _verdicts_table(rows: pd.DataFrame) -> Iterator[str]:
    """What the metrics say of things that were fetched again, and of those that were not."""
    yield (
        "| context | metric | lost, of | fetched again if lost | if kept | AUC | pairs alike | less"
        " presence's AUC |"
    )
    yield "|---|---|---|---|---|---|---|---|"
    for name, title in (
        ("recorded", "the agent's own"),
        (CONTROL, f"*{CONTROL}*, which it never had"),
    ):
        of_context = rows[rows["context"] == name]
        for row in with_intervals(figures(of_context)).to_dict("records"):
            numbers = " | ".join([row[column] for column in SHOWN])
            yield f"| {title} | {row['metric']} | {row['lost']}, {row['things']} | {numbers} |"


def _strata_table(rows: pd.DataFrame) -> Iterator[str]:
    """The same for each kind of thing."""
    yield (
        "| | things | fetched again | presence: if lost, if kept, AUC | exam: if lost, if kept,"
        " AUC |"
    )
    yield "|---|---|---|---|---|"
    for stratum in STRATA:
        for key, of_stratum in figures(rows, [stratum]).groupby(stratum, sort=False):
            by_metric = of_stratum.set_index("metric")
            title = f"{stratum}: {key}"
            if stratum == "when":
                title = f"first used {key} messages later"
            cells = [
                title,
                str(by_metric["things"].iloc[0]),
                decimal(by_metric["fetched"].iloc[0]),
            ]
            for name in ("presence", "exam"):
                numbers = [decimal(by_metric.loc[name, column]) for column in SHOWN[:3]]
                cells.append(", ".join(numbers))
            yield f"| {' | '.join(cells)} |"


def behaviour_facts(rows: pd.DataFrame) -> dict[str, object]:
    """What reports show of it."""
    rows = _used(rows)
    recorded = rows[rows["context"] == "recorded"]
    columns = ("things", *SHOWN, "auc_low", "auc_high", "lead_low")
    by_metric = _by_metric(figures(recorded), *columns)
    return {"sessions": int(recorded["session"].nunique()), **by_metric}


def _used(rows: pd.DataFrame) -> pd.DataFrame:
    return rows.astype({name: kind for name, kind in COLUMNS.items() if name in rows})


def _interval(by_metric: pd.DataFrame) -> str:
    return str(with_intervals(by_metric).set_index("metric").loc["exam", "lead"])


def table_of(table: pd.DataFrame) -> Iterator[str]:
    """Any rows as a table in Markdown."""
    yield f"| {' | '.join(table)} |"
    yield "|---" * len(table.columns) + "|"
    for row in table.itertuples(index=False):
        yield f"| {' | '.join(_cell(value) for value in row)} |"


def _cell(value: object) -> str:
    if not isinstance(value, float):
        return str(value)
    return "" if math.isnan(value) else decimal(value)


SETS = {
    "native-vs-text": "native-vs-text (algal/pi-openai-server-compaction, 24 summaries, 1,800 exact answers)",
    "compaction-integrity-human":
        "compaction-integrity (COMPINT, 50 verdicts of a person: is this instruction still there?)",
    "longmemeval-con": "longmemeval-con (Hunk0724/LongMemEval, 523 answers from notes)",
}  # fmt: skip
"""Folders of graded answers, and how the page calls them."""
MEASURES = {"agreement": "agreement", "auc": "AUC", "spearman": "Spearman"}
"""How the page calls the measures of agreement."""


def _answers(paths: Sequence[str], _: bool) -> Frames:
    folder = Path(paths[0])
    tables = [verdicts(graded(folder / name)).assign(set=name) for name in SETS]
    rows = pd.concat(tables)
    columns = ["set", "group", "variant", "context", "category", "kind", "right"]
    repeats = rows.groupby([*columns, "metric"], dropna=False).cumcount()
    keys = [*columns, "n", "metric"]
    by_metric = rows.assign(n=repeats).set_index(keys)["value"].unstack("metric")
    return {"": by_metric.reset_index().drop(columns="n")}


def answers(rows: pd.DataFrame) -> Iterator[str]:
    """How far the metrics agree with graded answers, by set."""
    yield f"| set | | {' | '.join(METRICS)} |"
    yield "|---" * (len(METRICS) + 2) + "|"
    for name, title in SETS.items():
        by_metric = _agreement(rows, name)
        for measure, measure_title in MEASURES.items():
            values = by_metric[measure]
            if values.isna().any():
                continue
            set_title = title if measure == "agreement" else ""
            cells = [f"{value:.3f}".lstrip("0") for value in values]
            yield f"| {set_title} | {measure_title} | {' | '.join(cells)} |"
        pairs = by_metric["pairs"].iloc[0]
        if pairs:
            yield f"| | signs, {pairs} pairs | {' | '.join(map(str, by_metric['signs']))} |"


def answers_facts(rows: pd.DataFrame) -> dict[str, object]:
    """What reports show of native-vs-text."""
    by_metric = _agreement(rows, "native-vs-text").reset_index()
    return {**_by_metric(by_metric, "questions", "agreement")}


def _agreement(rows: pd.DataFrame, name: str) -> pd.DataFrame:
    of_set = rows[rows["set"] == name].fillna({"variant": "", "category": ""})
    columns = [column for column in of_set if column not in METRICS]
    by_metric = agreement(of_set.melt(columns, var_name="metric")).set_index("metric")
    return by_metric.loc[list(METRICS)]


def _by_metric(table: pd.DataFrame, *columns: str) -> dict[str, dict[str, float]]:
    rounded = table.set_index("metric")[list(columns)].astype(float).round(4)
    return {str(metric): row.dropna().to_dict() for metric, row in rounded.iterrows()}


def _readers_more(*_: object) -> Frames:
    details = real_readers().details.items()
    return {str(number): table.assign(title=title) for number, (title, table) in enumerate(details)}


def readers_more(*tables: pd.DataFrame) -> Iterator[str]:
    """The longer tables of `workbench lab validate readers`."""
    for table in tables:
        yield f"**{str(table['title'].iloc[0]).capitalize()}**"
        yield ""
        yield from table_of(table.drop(columns="title"))
        yield ""


def _gamers(paths: Sequence[str], _: bool) -> Frames:
    side = gamers(sessions_of(paths or bundled_files()))
    return {"": side.rows}


def _summaries(paths: Sequence[str], bundled: bool) -> Frames:
    sessions = alarm.compacted_in(paths)
    return {
        "sizes": by_session(at_equal_size(sample(paths, bundled)), "size"),
        "recorded": by_session(at_recorded(sessions), "at"),
        "looked": looked_up(sessions),
    }


def summaries(looked: pd.DataFrame, recorded: pd.DataFrame, sizes: pd.DataFrame) -> Iterator[str]:
    """`summarize` beside `truncate`, and the writer's summaries beside those of recorded agents."""
    yield from sizes_table(by_judge(sizes))
    yield from recorded_table(by_judge(recorded))
    yield ""
    yield from looked_up_table(looked)


def _writer(paths: Sequence[str], bundled: bool) -> Frames:
    return {"": by_session(tried(sample(paths, bundled)))}


def writer(rows: pd.DataFrame) -> Iterator[str]:
    """What the writer's rules are worth, chosen on some projects and tried on others."""
    yield f"{counted(rows)}, at 10 and 20 % of the history:"
    yield ""
    yield from writers_table(by_judge(rows))


def needs(rows: pd.DataFrame) -> Iterator[str]:
    """What two readers say of the labelled items."""
    yield "| | items | needed, as both say | by either | kappa | given away |"
    yield "|---|---|---|---|---|---|"
    for row in rows.to_dict("records"):
        needed = decimal(row["needed"])
        if pd.notna(row["low"]):
            needed += f" ({decimal(row['low'])} to {decimal(row['high'])})"
        cells = [str(row["kind"]), str(row["items"]), needed]
        for name in ("by_either", "kappa", "given_away"):
            cells.append(decimal(row[name]))
        yield f"| {' | '.join(cells)} |"


PARTS: Mapping[str, Part] = {
    "answers": Part(measure=_answers, tell=answers, facts=answers_facts),
    "behaviour": Part(measure=_behaviour, tell=behaviour, facts=behaviour_facts),
    "readers": Part(measure=lambda *_: {"": real_readers().rows}, tell=table_of, kept=False),
    "readers-more": Part(measure=_readers_more, tell=readers_more, kept=False),
    "wordings": Part(measure=lambda *_: {"": wordings().rows}, tell=table_of, kept=False),
    "gamers": Part(measure=_gamers, tell=table_of, kept=False),
    "code": Part(measure=code_labels.measured, tell=code_labels.code_table),
    "names": Part(measure=alarm.measured, tell=alarm.alarm),
    "summaries": Part(measure=_summaries, tell=summaries),
    "held": Part(measure=lambda paths, _: {"": answers_held(Path(paths[0]))}, tell=held_table),
    "writer": Part(measure=_writer, tell=writer),
    "needs": Part(measure=lambda *_: {"": precision_table(labelled())}, tell=needs, kept=False),
    "errors": Part(measure=lambda *_: {"": planted().rows}, tell=table_of, kept=False),
}


if __name__ == "__main__":
    sys.exit(run(PARTS, FIRST_PAGE if sys.argv[1] in ON_FIRST_PAGE else PAGE, sys.argv[1:]))
