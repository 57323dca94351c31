"""The measured parts of docs/validity.md, each between two marks, and the facts that every report shows.

`python docs/validity.py PART PATHS...` writes one of them: `gamers` from the bundled sessions, `behaviour` or `names`
from recordings, `summaries` and `writer` from both (up to an hour), `held` and the facts about `answers` from graded
ones, or `needs` and `errors` from what ships with the package.
With `--check` it says where the page and the code differ, and exits with 1.
"""

from __future__ import annotations

import json
import sys
from collections.abc import Callable, Iterator, Mapping, Sequence
from itertools import zip_longest
from pathlib import Path

import pandas as pd

sys.path.insert(0, str(Path(__file__).parent))

from answered import answers_held, looked_up
from summaries import at_equal_size, at_recorded, counted, recorded_table, sample, sizes_table
from writers import tried, writers_table

from workbench.analysis.fetched_again import by_way, figures, lead_note, ranks, with_intervals
from workbench.analysis.names_only import ANSWERED, names_only
from workbench.analysis.needs import precision_table
from workbench.analysis.selfcheck import sessions_of
from workbench.compaction.presets import catalogue
from workbench.datasets.bundled import bundled_files
from workbench.experiment.prepared import Prepared, prepared
from workbench.experiment.sources import sessions_in, sources_of
from workbench.formats import decimal, percent, some
from workbench.transcript.session import Session
from workbench.validation.adversaries import FAMILY, scored, search
from workbench.validation.answers.agreement import agreement, by_category
from workbench.validation.answers.exams import verdicts
from workbench.validation.answers.records import graded
from workbench.validation.needs import labelled
from workbench.validation.planted_errors import planted_errors
from workbench.validation.used_things import CONTROL, compacted, used_things

PAGE = Path(__file__).parent / "validity.md"
FACTS = Path(__file__).parent.parent / "workbench" / "validation" / "facts.json"
SHOWN = ("if_lost", "if_kept", "auc", "alike", "lead")
STRATA = ("kind", "source", "recoverable", "when")


def behaviour(paths: Sequence[str]) -> Iterator[str]:
    """What `workbench validate behaviour` says of some recordings."""
    rows = used_things(compacted(paths))
    own = rows[rows["context"] == "recorded"]
    projects = own.groupby("project")["session"].nunique().sort_values(ascending=False, kind="stable")
    names = ", ".join(f"{name} ({n})" for name, n in projects.items())
    compactions = some(own.groupby(["session", "compaction"]).ngroups, "compaction")
    yield f"{compactions} in {some(int(projects.sum()), 'session')} of {some(len(projects), 'project')}: {names}."
    yield ""
    yield from _table(by_way(rows).rename(columns={"how": "how the agent came by it"}))
    yield ""
    yield "| context | metric | lost, of | fetched again if lost | if kept | AUC | pairs alike | less presence's AUC |"
    yield "|---|---|---|---|---|---|---|---|"
    for name, title in (("recorded", "the agent's own"), (CONTROL, f"*{CONTROL}*, which it never had")):
        for row in with_intervals(figures(rows[rows["context"] == name])).to_dict("records"):
            numbers = " | ".join(row[one] for one in SHOWN)
            yield f"| {title} | {row['metric']} | {row['lost']}, {row['things']} | {numbers} |"
    yield ""
    main = figures(own)
    keep(
        "behaviour",
        {"sessions": int(projects.sum()), **_by_metric(main, "things", *SHOWN, "auc_low", "auc_high", "lead_low")},
    )
    yield f"{lead_note(main)} Over projects: {_interval(figures(own, unit='project'))}."
    yield ""
    yield "| | things | fetched again | presence: if lost, if kept, AUC | exam: if lost, if kept, AUC |"
    yield "|---|---|---|---|---|"
    for stratum in STRATA:
        for key, one in figures(own, [stratum]).groupby(stratum, sort=False):
            by = one.set_index("metric")
            cells = [", ".join(decimal(by.loc[name, part]) for part in SHOWN[:3]) for name in ("presence", "exam")]
            shown = f"{stratum}: {key}" if stratum != "when" else f"first used {key} messages later"
            yield f"| {shown} | {by['things'].iloc[0]} | {decimal(by['fetched'].iloc[0])} | {' | '.join(cells)} |"
    yield ""
    yield "Rank correlation over sessions of the mean verdict with the share fetched again (only of what the metric"
    each = [
        f"{row['metric']} {decimal(row['used'])} ({decimal(row['asked'])})" for row in ranks(rows).to_dict("records")
    ]
    yield f"demands or asks): {', '.join(each)}."


def _interval(found: pd.DataFrame) -> str:
    return str(with_intervals(found).set_index("metric").loc["exam", "lead"])


def _table(found: pd.DataFrame) -> Iterator[str]:
    yield f"| {' | '.join(found)} |"
    yield "|---" * len(found.columns) + "|"
    for row in found.itertuples(index=False):
        yield f"| {' | '.join(decimal(one) if isinstance(one, float) else str(one) for one in row)} |"


def answers(paths: Sequence[str]) -> Iterator[str]:
    """How far the metrics agree with graded answers; a fact, no part of the page."""
    keep("answers", _by_metric(agreement(verdicts(graded(paths[0]))), "questions", "agreement"))
    yield from ()


def keep(part: str, found: Mapping[str, object]) -> None:
    """Write what reports show of a part."""
    known = json.loads(FACTS.read_text(encoding="utf-8")) if FACTS.is_file() else {}
    FACTS.write_text(json.dumps(known | {part: found}, indent=1, sort_keys=True) + "\n", encoding="utf-8")


def _by_metric(found: pd.DataFrame, *names: str) -> dict[str, dict[str, float]]:
    rounded = found.set_index("metric")[list(names)].astype(float).round(4)
    return {str(metric): row.dropna().to_dict() for metric, row in rounded.iterrows()}


def names(paths: Sequence[str]) -> Iterator[str]:
    """How often contexts that only name things are recognised: chosen on half of the projects, tried on the rest."""
    ready = _one_a_project(paths)
    table = pd.concat([scored(ready, strategies=[*catalogue()]), _went_on_with(paths)], ignore_index=True)
    table = table[~table["name"].isin(["null", "none", "oracle"])]
    table["honest"] = table["name"].isin([*catalogue(), "recorded"])
    projects = sorted(table["project"].unique())
    first = table["project"].isin(projects[::2])
    yield f"{some(table['session'].nunique(), 'session')} of {some(len(projects), 'project')}:"
    yield f"{', '.join(name[:24] for name in projects)}."
    yield ""
    yield "| exam as a share of presence, means over the sessions | lowest honest | highest made to please |"
    yield "|---|---|---|"
    for title, half in (("projects to choose on", table[first]), ("other projects", table[~first])):
        means = half.groupby(["honest", "share", "name"], dropna=False)[["presence", "exam"]].mean().reset_index()
        means["told"] = means["exam"] / means["presence"]
        honest = means[means["honest"]].sort_values("told").iloc[0]
        made = means[~means["honest"]].sort_values("told").iloc[-1]
        yield f"| {title} | {_strategy(honest)} | {_strategy(made)} |"
        if title.startswith("projects"):
            middle = (honest["told"] + made["told"]) / 2
    yield ""
    yield f"Midway between the two on the first half: {decimal(middle)}. The alarm is below {ANSWERED}."
    yield ""
    yield f"| alarm below {ANSWERED}, on the other projects | strategies | sessions of each |"
    yield "|---|---|---|"
    for title, own in _groups(table[~first]):
        means = own.groupby(["share", "name"], dropna=False)[["presence", "exam"]].mean().reset_index()
        yield f"| {title} | {_rate(means)} | {_rate(own)} |"


MOST = 0.15
"""What lists and soups should have at most."""
SETTINGS = {
    "oracle": "oracle", "summarize": "summarize", "truncate": "truncate",
    "cue, 1 names, 10 words, frequent first": "index: a name with ten words of its line, commonest names first",
    "cue, 1 names, 6 words, frequent first": "index: six words, commonest names first",
    "fragment, 1 names, 4 words, newest first": "fragments: four words on each side of a name, newest first",
    "shuffled, 1 names, 0 words, newest first": "whole lines, their words shuffled, newest first",
    "soup, 2 names, 10 words, random first": "soup: two names and ten words common near them a line",
    "soup, 2 names, 10 words, newest first": "soup: two names and ten words, newest names first",
    "soup, 8 names, 10 words, newest first": "soup: eight names and ten words, newest names first",
    "soup, 8 names, 10 words, random first": "soup: eight names and ten words",
    "list, 12 names, 0 words, random first": "list: twelve names a line",
}  # fmt: skip
"""What the page shows of the search, in its order."""


def gamers(paths: Sequence[str]) -> Iterator[str]:
    """What `workbench validate gamers` says of some recordings or the bundled sessions."""
    found = search(sessions_of(paths or bundled_files()))
    yield f"{some(int(found['sessions'].max()), 'session')}, at 10 and 20 % of the history; the exam is scaled."
    yield ""
    yield "| context | exam | lines to edit | the request | phrases | *bound* | presence |"
    yield "|---|---|---|---|---|---|---|"
    for name, title in SETTINGS.items():
        own = found[found["name"] == name].sort_values("share")
        columns = (own[part] for part in ("scaled", "edits", "request", "phrases", "bound", "presence"))
        yield f"| {title} | {' | '.join(', '.join(map(decimal, column)) for column in columns)} |"
    made = found[found["name"].isin([gamer.label for gamer in FAMILY])]
    high = made[made["name"].str.startswith(("soup", "list")) & (made["scaled"] > MOST)]
    real = found[found["name"] == "truncate"].set_index("share")["scaled"]
    above = made[made["scaled"] > made["share"].map(real)]
    yield ""
    yield f"Of {len(FAMILY)} settings at two sizes, {len(high)} lists and soups have more than {MOST}. More than"
    names = (f"{name} ({percent(share)})" for name, share in zip(above["name"], above["share"], strict=True))
    yield f"*truncate* have: {'; '.join(names)}."


def summaries(paths: Sequence[str]) -> Iterator[str]:
    """`summarize` beside `truncate`, and the writer's summaries beside those of recorded agents."""
    yield from sizes_table(at_equal_size(sample(paths)))
    ready = compacted(paths)
    yield from recorded_table(at_recorded(ready))
    yield ""
    yield from looked_up(ready)


def held(paths: Sequence[str]) -> Iterator[str]:
    """How many exact answers of native-vs-text stand in the writer's summaries."""
    yield from answers_held(Path(paths[0]))


def writer(paths: Sequence[str]) -> Iterator[str]:
    """What the writer's rules are worth, chosen on some projects and tried on others."""
    rows = tried(sample(paths))
    yield f"{counted(rows)}, at 10 and 20 % of the history:"
    yield ""
    yield from writers_table(rows)


def needs(paths: Sequence[str]) -> Iterator[str]:
    """What two readers say of the labelled items."""
    rows = precision_table(labelled())
    yield "| | items | needed, as both say | by either | kappa | given away |"
    yield "|---|---|---|---|---|---|"
    for row in rows.to_dict("records"):
        ends = "" if pd.isna(row["low"]) else f" ({decimal(row['low'])} to {decimal(row['high'])})"
        more = " | ".join(decimal(row[name]) for name in ("by_either", "kappa", "given_away"))
        yield f"| {row['kind']} | {row['items']} | {decimal(row['needed'])}{ends} | {more} |"


def errors(paths: Sequence[str]) -> Iterator[str]:
    """Which planted errors each metric finds."""
    yield from _table(by_category(verdicts(planted_errors(range(1, 6)))))


def _one_a_project(paths: Sequence[str]) -> list[Prepared]:
    """The first session of 60 to 300 messages of each project, bundled ones included."""
    sources = [*sources_of([]), *sources_of(list(paths))]
    every = (session for source in sources for session in sessions_in(source) if 60 <= len(session.messages) <= 300)
    chosen: dict[str, Session] = {}
    for session in every:
        chosen.setdefault(session.project or session.id, session)
    return [prepared(session) for session in chosen.values()]


def _went_on_with(paths: Sequence[str]) -> pd.DataFrame:
    """The contexts that recorded agents went on with, over the things that they then used; chance is not taken off."""
    rows = used_things(compacted(paths))
    own = rows[(rows["context"] == "recorded") & rows["exam"].notna()].assign(name="recorded")
    return own.groupby(["session", "project", "name"])[["presence", "exam"]].mean().astype(float).reset_index()


def _strategy(row: pd.Series) -> str:
    size = "" if pd.isna(row["share"]) else f", {percent(row['share'])}"
    return f"{decimal(row['told'])} ({row['name']}{size})"


def _groups(table: pd.DataFrame) -> Iterator[tuple[str, pd.DataFrame]]:
    yield "presets (false alarms)", table[table["honest"] & (table["name"] != "recorded")]
    yield "what agents really went on with (false alarms)", table[table["name"] == "recorded"]
    forms = table["name"].str.partition(",")[0]
    for form in forms[~table["honest"]].unique():
        yield f"{form}s" if form != "shuffled" else "shuffled lines", table[~table["honest"] & (forms == form)]


def _rate(rows: pd.DataFrame) -> str:
    return f"{sum(map(names_only, rows['presence'], rows['exam']))} of {len(rows)}"


PARTS: Mapping[str, Callable[[Sequence[str]], Iterator[str]]] = {
    "answers": answers,
    "behaviour": behaviour,
    "gamers": gamers,
    "names": names,
    "summaries": summaries,
    "held": held,
    "writer": writer,
    "needs": needs,
    "errors": errors,
}


def main(part: str, paths: Sequence[str], *, check: bool = False) -> int:
    """Write or check a part of the page; 1 where a check finds a difference."""
    start, end = f"<!-- {part} -->\n", f"<!-- end of {part} -->\n"
    lines = "\n".join(PARTS[part](paths))
    if not lines:
        return 0
    before, _, rest = PAGE.read_text(encoding="utf-8").partition(start)
    old, _, after = rest.partition(end)
    if check:
        for mine, made in zip_longest(old.splitlines(), lines.splitlines(), fillvalue="nothing"):
            if mine != made:
                sys.stdout.write(f"{PAGE.name} says: {mine}\nthe code says:    {made}\n")
        return int(old != lines + "\n")
    PAGE.write_text(before + start + lines + "\n" + end + after, encoding="utf-8")
    return 0


if __name__ == "__main__":
    words = [word for word in sys.argv[1:] if word != "--check"]
    sys.exit(main(words[0], words[1:], check="--check" in sys.argv))
