"""The rule-based writer's summaries, asked what nobody asked for its sake: by graded questions,
by agents' look-ups.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from pathlib import Path
from tempfile import TemporaryDirectory

import pandas as pd
from summaries import COUNT, recorded_contexts_of, written

from workbench.base.formats import decimal
from workbench.engine.transcript.message import Summary, said_text
from workbench.evaluation.experiment.prepared import Prepared
from workbench.lab.validation.answers.records import graded
from workbench.lab.validation.gaming import filled
from workbench.lab.validation.judges import text_of
from workbench.lab.validation.used_things import used_things
from workbench.recordings.importers.importer import load


def answers_held(folder: Path) -> pd.DataFrame:
    """How many exact answers of native-vs-text stand in models' summaries, the writer's and the
    newest messages.

    All of one size: that of the model's summary; the two messages behind a summary are there for
    all. A row a context and category: `context category answers held right`.
    """
    rows = []
    with TemporaryDirectory() as place:
        for fixture in json.loads((folder / "fixtures.json").read_text(encoding="utf-8")):
            (Path(place) / f"{fixture['id']}.json").write_text(
                json.dumps(fixture["history"]), encoding="utf-8"
            )
        history = {path.stem: load(path)[0].messages for path in Path(place).iterdir()}
    for one in graded(folder):
        messages, tail = history[one.group.partition(" ")[0]], one.texts[1:]
        most = COUNT(Summary(id="", text=one.texts[0]))
        said = [said_text(message) for message in messages[::-1]]
        newest = filled(said, lambda text: COUNT(Summary(id="", text=text)), [most])[0]
        texts = {
            "a model's summary": one.texts[0],
            "the writer's": written(messages, most),
            "newest messages": newest,
        }
        for name, text in texts.items():
            whole = "\n".join((text, *tail)).lower()
            rows += [(name, a.category, 1, a.answer.lower() in whole, a.right) for a in one.answers]
    table = pd.DataFrame(rows, columns=["context", "category", "answers", "held", "right"])
    return table.groupby(["context", "category"], sort=False).sum().astype(int).reset_index()


def held_table(rows: pd.DataFrame) -> Iterator[str]:
    """The share of the answers in each context, by category."""
    found = rows.pivot(index="context", columns="category", values=["held", "answers"])
    found = (found["held"] / found["answers"])[rows["category"].unique()].loc[
        rows["context"].unique()
    ]
    every = rows.groupby("context")[["answers", "held", "right"]].sum()
    found.insert(0, "all", every["held"] / every["answers"])
    heads = " | ".join(found).replace("_", " ")
    yield f"| share of the answers in it, {every['answers'].iloc[0]} answers | {heads} |"
    yield "|---" * (len(found.columns) + 1) + "|"
    for name, row in found.iterrows():
        yield f"| {name} | {' | '.join(map(decimal, row))} |"
    yield ""
    right = every["right"].iloc[0] / every["answers"].iloc[0]
    yield f"A model answered {decimal(right)} right from the models' summaries."


def looked_up(sessions: Sequence[Prepared]) -> pd.DataFrame:
    """What recorded agents used after their compactions, by how they came by it, and what each
    context names of it.

    A thing is named where its text occurs. The agent's own context decided what it looked for, the
    others nothing. A row a compaction, way and context: `session at how context things named`.
    """
    things = used_things(sessions)
    things = things[things["context"] == "recorded"][["session", "at", "thing", "how"]]
    rows = []
    for session, at, contexts in recorded_contexts_of(sessions):
        own = things[(things["session"] == session) & (things["at"] == at)]
        texts = {name: text_of(context.messages).lower() for name, context in contexts.items()}
        rows += [
            (session, at, one.how, name, 1, one.thing.lower() in text)
            for one in own.itertuples()
            for name, text in texts.items()
        ]
    table = pd.DataFrame(rows, columns=["session", "at", "how", "context", "things", "named"])
    return (
        table.groupby(["session", "at", "how", "context"], sort=False)
        .sum()
        .astype(int)
        .reset_index()
    )


def looked_up_table(rows: pd.DataFrame) -> Iterator[str]:
    """The shares that are named, over all compactions."""
    found = rows.groupby(["how", "context"])[["things", "named"]].sum()
    yield (
        "| the agent | things | named in its own context | with the writer's summary | by"
        " *truncate* |"
    )
    yield "|---" * 5 + "|"
    for how in ("remembered", "looked for", "fetched"):
        each = [found.loc[(how, name)] for name in ("recorded", "extractive", "truncate")]
        row = [decimal(one["named"] / one["things"]) for one in each]
        yield f"| {how} | {each[0]['things']} | {' | '.join(row)} |"
