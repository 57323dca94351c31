"""The rule-based writer's summaries, asked what nobody asked for its sake: by graded questions, by agents' look-ups."""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from pathlib import Path
from tempfile import TemporaryDirectory

import pandas as pd
from summaries import COUNT, recorded_contexts_of, text_of, written

from workbench.experiment.prepared import Prepared
from workbench.formats import decimal
from workbench.importers.importer import load
from workbench.transcript.message import Summary, said_text
from workbench.validation.answers.records import graded
from workbench.validation.gaming import filled
from workbench.validation.used_things import used_things


def answers_held(folder: Path) -> Iterator[str]:
    """The exact answers of native-vs-text that stand in models' summaries, the writer's and the newest messages.

    All of one size: that of the model's summary; the two messages behind a summary are there for all.
    """
    rows = []
    with TemporaryDirectory() as place:
        for fixture in json.loads((folder / "fixtures.json").read_text(encoding="utf-8")):
            (Path(place) / f"{fixture['id']}.json").write_text(json.dumps(fixture["history"]), encoding="utf-8")
        history = {path.stem: load(path)[0].messages for path in Path(place).iterdir()}
    for one in graded(folder):
        messages, tail = history[one.group.partition(" ")[0]], one.texts[1:]
        most = COUNT(Summary(id="", text=one.texts[0]))
        said = [said_text(message) for message in messages[::-1]]
        newest = filled(said, lambda text: COUNT(Summary(id="", text=text)), [most])[0]
        texts = {"a model's summary": one.texts[0], "the writer's": written(messages, most), "newest messages": newest}
        for name, text in texts.items():
            whole = "\n".join((text, *tail)).lower()
            rows += [(name, one.variant, a.category, a.answer.lower() in whole, a.right) for a in one.answers]
    table = pd.DataFrame(rows, columns=["context", "asked for", "category", "held", "right"])
    found = table.pivot_table(index="context", columns="category", values="held", sort=False)
    found.insert(0, "all", table.groupby("context")["held"].mean())
    yield f"| share of the answers in it, {len(table) // len(found)} answers | {' | '.join(found).replace('_', ' ')} |"
    yield "|---" * (len(found.columns) + 1) + "|"
    for name, row in found.iterrows():
        yield f"| {name} | {' | '.join(map(decimal, row))} |"
    yield ""
    yield f"A model answered {decimal(table['right'].mean())} right from the models' summaries."


def looked_up(sessions: Sequence[Prepared]) -> Iterator[str]:
    """What recorded agents used after their compactions, by how they came by it, and what each context names of it.

    A thing is named where its text occurs. The agent's own context decided what it looked for, the others nothing.
    """
    things = used_things(sessions)
    things = things[things["context"] == "recorded"][["session", "at", "thing", "how"]]
    rows = []
    for session, at, contexts in recorded_contexts_of(sessions):
        own = things[(things["session"] == session) & (things["at"] == at)]
        texts = {name: text_of(context.messages).lower() for name, context in contexts.items()}
        rows += [(one.how, name, one.thing.lower() in text) for one in own.itertuples() for name, text in texts.items()]
    table = pd.DataFrame(rows, columns=["how", "context", "named"])
    found = table.pivot_table(index="how", columns="context", values="named")
    yield "| the agent | things | named in its own context | with the writer's summary | by *truncate* |"
    yield "|---" * 5 + "|"
    for how in ("remembered", "looked for", "fetched"):
        row = [decimal(found.loc[how, name]) for name in ("recorded", "extractive", "truncate")]
        yield f"| {how} | {(table['how'] == how).sum() // len(found.columns)} | {' | '.join(row)} |"
