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
    return {
        "": rows.assign(
            thing=rows.groupby("session")["thing"].transform(lambda each: pd.factorize(each)[0])
        )
    }


def behaviour(rows: pd.DataFrame) -> Iterator[str]:
    """What `workbench lab validate behaviour` says of some recordings."""
    rows = _used(rows)
    own = rows[rows["context"] == "recorded"]
    projects = (
        own.groupby("project")["session"].nunique().sort_values(ascending=False, kind="stable")
    )
    names = ", ".join(f"{name} ({n})" for name, n in projects.items())
    compactions = some(own.groupby(["session", "compaction"]).ngroups, "compaction")
    yield (
        f"{compactions} in {some(int(projects.sum()), 'session')} of"
        f" {some(len(projects), 'project')}: {names}."
    )
    yield ""
    yield from table_of(by_way(rows).rename(columns={"how": "how the agent came by it"}))
    yield ""
    yield (
        "| context | metric | lost, of | fetched again if lost | if kept | AUC | pairs alike | less"
        " presence's AUC |"
    )
    yield "|---|---|---|---|---|---|---|---|"
    for name, title in (
        ("recorded", "the agent's own"),
        (CONTROL, f"*{CONTROL}*, which it never had"),
    ):
        for row in with_intervals(figures(rows[rows["context"] == name])).to_dict("records"):
            numbers = " | ".join(row[one] for one in SHOWN)
            yield f"| {title} | {row['metric']} | {row['lost']}, {row['things']} | {numbers} |"
    yield ""
    yield f"{lead_note(figures(own))} Over projects: {_interval(figures(own, unit='project'))}."
    yield ""
    yield (
        "| | things | fetched again | presence: if lost, if kept, AUC | exam: if lost, if kept,"
        " AUC |"
    )
    yield "|---|---|---|---|---|"
    for stratum in STRATA:
        for key, one in figures(own, [stratum]).groupby(stratum, sort=False):
            by = one.set_index("metric")
            cells = [
                ", ".join(decimal(by.loc[name, part]) for part in SHOWN[:3])
                for name in ("presence", "exam")
            ]
            shown = f"{stratum}: {key}" if stratum != "when" else f"first used {key} messages later"
            yield (
                f"| {shown} | {by['things'].iloc[0]} | {decimal(by['fetched'].iloc[0])} |"
                f" {' | '.join(cells)} |"
            )
    yield ""
    yield (
        "Rank correlation over sessions of the mean verdict with the share fetched again (only of"
        " what the metric"
    )
    each = [
        f"{row['metric']} {decimal(row['used'])} ({decimal(row['asked'])})"
        for row in ranks(rows).to_dict("records")
    ]
    yield f"demands or asks): {', '.join(each)}."


def behaviour_facts(rows: pd.DataFrame) -> dict[str, object]:
    """What reports show of it."""
    rows = _used(rows)
    own = rows[rows["context"] == "recorded"]
    found = _by_metric(figures(own), "things", *SHOWN, "auc_low", "auc_high", "lead_low")
    return {"sessions": int(own["session"].nunique()), **found}


def _used(rows: pd.DataFrame) -> pd.DataFrame:
    return rows.astype({name: kind for name, kind in COLUMNS.items() if name in rows})


def _interval(found: pd.DataFrame) -> str:
    return str(with_intervals(found).set_index("metric").loc["exam", "lead"])


def table_of(found: pd.DataFrame) -> Iterator[str]:
    """Any rows as a table in Markdown."""
    yield f"| {' | '.join(found)} |"
    yield "|---" * len(found.columns) + "|"
    for row in found.itertuples(index=False):
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
NAMES = {"auc": "AUC", "spearman": "Spearman"}


def _answers(paths: Sequence[str], _: bool) -> Frames:
    found = [verdicts(graded(Path(paths[0]) / name)).assign(set=name) for name in SETS]
    of = ["set", "group", "variant", "context", "category", "kind", "right"]
    rows = pd.concat(found).assign(
        n=lambda each: each.groupby([*of, "metric"], dropna=False).cumcount()
    )
    return {
        "": (
            rows.set_index([*of, "n", "metric"])["value"]
            .unstack("metric")
            .reset_index()
            .drop(columns="n")
        )
    }


def answers(rows: pd.DataFrame) -> Iterator[str]:
    """How far the metrics agree with graded answers, by set."""
    yield f"| set | | {' | '.join(METRICS)} |"
    yield "|---" * (len(METRICS) + 2) + "|"
    for name, title in SETS.items():
        found = _agreement(rows, name)
        for shown in ("agreement", "auc", "spearman"):
            if found[shown].notna().all():
                cells = " | ".join(f"{value:.3f}".lstrip("0") for value in found[shown])
                yield (
                    f"| {title if shown == 'agreement' else ''} | {NAMES.get(shown, shown)} |"
                    f" {cells} |"
                )
        if pairs := found["pairs"].iloc[0]:
            yield f"| | signs, {pairs} pairs | {' | '.join(map(str, found['signs']))} |"


def answers_facts(rows: pd.DataFrame) -> dict[str, object]:
    """What reports show of native-vs-text."""
    return {
        **_by_metric(_agreement(rows, "native-vs-text").reset_index(), "questions", "agreement")
    }


def _agreement(rows: pd.DataFrame, name: str) -> pd.DataFrame:
    own = rows[rows["set"] == name].fillna({"variant": "", "category": ""})
    of = [column for column in own if column not in METRICS]
    return agreement(own.melt(of, var_name="metric")).set_index("metric").loc[list(METRICS)]


def _by_metric(found: pd.DataFrame, *names: str) -> dict[str, dict[str, float]]:
    rounded = found.set_index("metric")[list(names)].astype(float).round(4)
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
    ready = alarm.compacted_in(paths)
    return {
        "sizes": by_session(at_equal_size(sample(paths, bundled)), "size"),
        "recorded": by_session(at_recorded(ready), "at"),
        "looked": looked_up(ready),
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
        ends = "" if pd.isna(row["low"]) else f" ({decimal(row['low'])} to {decimal(row['high'])})"
        more = " | ".join(decimal(row[name]) for name in ("by_either", "kappa", "given_away"))
        yield f"| {row['kind']} | {row['items']} | {decimal(row['needed'])}{ends} | {more} |"


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
