"""The rule-based writer's summaries, asked what nobody asked for its sake: by graded questions,
by agents' look-ups.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TypeAlias

import pandas as pd
from summaries import COUNT, recorded_contexts_of, written

from workbench.base.formats import decimal
from workbench.engine.transcript.message import Message, Summary, said_text
from workbench.evaluation.experiment.prepared import Prepared
from workbench.lab.validation.answers.records import graded
from workbench.lab.validation.gaming import filled
from workbench.lab.validation.judges import text_of
from workbench.lab.validation.used_things import used_things
from workbench.recordings.importers.importer import load

Row: TypeAlias = dict[str, object]


def answers_held(folder: Path) -> pd.DataFrame:
    """How many exact answers of native-vs-text stand in models' summaries, the writer's and the
    newest messages.

    All of one size: that of the model's summary; the two messages behind a summary are there for
    all. A row a context and category: `context category answers held right`.
    """
    histories = _histories(folder)
    rows: list[Row] = []
    for context in graded(folder):
        history_name, _, _ = context.group.partition(" ")
        model_summary, *tail = context.texts
        texts = _texts_of_one_size(model_summary, histories[history_name])
        for name, summary in texts.items():
            text = "\n".join((summary, *tail)).lower()
            for answer in context.answers:
                row: Row = {
                    "context": name,
                    "category": answer.category,
                    "answers": 1,
                    "held": answer.answer.lower() in text,
                    "right": answer.right,
                }
                rows.append(row)
    by_category = pd.DataFrame(rows).groupby(["context", "category"], sort=False)
    return by_category.sum().astype(int).reset_index()


def _histories(folder: Path) -> dict[str, Sequence[Message]]:
    """By the name of each recorded history its messages."""
    fixtures = json.loads((folder / "fixtures.json").read_text(encoding="utf-8"))
    histories: dict[str, Sequence[Message]] = {}
    with TemporaryDirectory() as place:
        for fixture in fixtures:
            file = Path(place) / f"{fixture['id']}.json"
            file.write_text(json.dumps(fixture["history"]), encoding="utf-8")
            (session,) = load(file)
            histories[file.stem] = session.messages
    return histories


def _texts_of_one_size(model_summary: str, messages: Sequence[Message]) -> dict[str, str]:
    """A model's summary, the writer's, and the newest messages up to its size."""
    most_tokens = _tokens(model_summary)
    newest_first = [said_text(message) for message in messages[::-1]]
    (newest_messages,) = filled(newest_first, _tokens, [most_tokens])
    return {
        "a model's summary": model_summary,
        "the writer's": written(messages, most_tokens),
        "newest messages": newest_messages,
    }


def _tokens(text: str) -> int:
    """Tokens of a summary of this text."""
    return COUNT(Summary(id="", text=text))


def held_table(rows: pd.DataFrame) -> Iterator[str]:
    """The share of the answers in each context, by category."""
    counts = rows.pivot(index="context", columns="category", values=["held", "answers"])
    shares = counts["held"] / counts["answers"]
    shares = shares[rows["category"].unique()].loc[rows["context"].unique()]
    totals = rows.groupby("context")[["answers", "held", "right"]].sum()
    shares.insert(0, "all", totals["held"] / totals["answers"])
    heads = " | ".join(shares).replace("_", " ")
    answer_count = totals["answers"].iloc[0]
    yield f"| share of the answers in it, {answer_count} answers | {heads} |"
    yield "|---" * (len(shares.columns) + 1) + "|"
    for name, row in shares.iterrows():
        yield f"| {name} | {' | '.join(map(decimal, row))} |"
    yield ""
    right_share = totals["right"].iloc[0] / answer_count
    yield f"A model answered {decimal(right_share)} right from the models' summaries."


def looked_up(sessions: Sequence[Prepared]) -> pd.DataFrame:
    """What recorded agents used after their compactions, by how they came by it, and what each
    context names of it.

    A thing is named where its text occurs. The agent's own context decided what it looked for, the
    others nothing. A row a compaction, way and context: `session at how context things named`.
    """
    things = used_things(sessions)
    things = things[things["context"] == "recorded"]
    rows: list[Row] = []
    for session, boundary, contexts in recorded_contexts_of(sessions):
        is_of_compaction = (things["session"] == session) & (things["at"] == boundary)
        texts = {name: text_of(context.messages).lower() for name, context in contexts.items()}
        for thing in things[is_of_compaction].to_dict("records"):
            for name, text in texts.items():
                row: Row = {
                    "session": session,
                    "at": boundary,
                    "how": thing["how"],
                    "context": name,
                    "things": 1,
                    "named": thing["thing"].lower() in text,
                }
                rows.append(row)
    columns = ["session", "at", "how", "context"]
    table = pd.DataFrame(rows, columns=[*columns, "things", "named"])
    return table.groupby(columns, sort=False).sum().astype(int).reset_index()


def looked_up_table(rows: pd.DataFrame) -> Iterator[str]:
    """The shares that are named, over all compactions."""
    counts = rows.groupby(["how", "context"])[["things", "named"]].sum()
    yield (
        "| the agent | things | named in its own context | with the writer's summary | by"
        " *truncate* |"
    )
    yield "|---" * 5 + "|"
    for way in ("remembered", "looked for", "fetched"):
        of_way = counts.loc[way]
        shares = of_way["named"] / of_way["things"]
        cells = [decimal(shares[name]) for name in ("recorded", "extractive", "truncate")]
        yield f"| {way} | {of_way.loc['recorded', 'things']} | {' | '.join(cells)} |"
