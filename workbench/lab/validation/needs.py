"""Items of the exam to be judged by reading: sheets to fill, and the labels of two readers."""

import random
from collections import Counter
from collections.abc import Iterator, Sequence
from hashlib import sha256
from pathlib import Path

import pandas as pd

from workbench.base.errors import SettingError
from workbench.engine.transcript.message import Message, is_real_user, plain_text
from workbench.evaluation.experiment.prepared import Prepared
from workbench.evaluation.metrics.exam.exams import Exams
from workbench.evaluation.metrics.exam.gap import gapped
from workbench.evaluation.metrics.exam.item import Item
from workbench.evaluation.replays.boundaries import at_shares

NEEDED = "needed"
LABELS = {"label": (NEEDED, "boilerplate", "duplicate"), "given_away": ("yes", "no")}
"""The columns that a reader fills, and what each may say; reports/studies/validity/README.md has
the guidelines.
"""
SHIPPED = Path(__file__).with_name("needs.csv")
"""Labels of two readers; references to recordings, without their text."""
READERS = (1, 2)
KEY = ["session", "at", "kind", "key"]
"""The columns that say which item a row is about."""
SHOWN = 600
"""Characters of a line, and of the user's request, that a sheet shows."""


def key_of(item: Item) -> str:
    """A short name of an item that holds none of its text; another question about the same thing
    has another one.
    """
    cue = sorted(item.cue, key=lambda name: -item.cue[name])
    key_texts = (item.kind, item.evidence, item.use, *cue, *item.candidates)
    return sha256("\0".join(key_texts).encode("utf-8", "surrogatepass")).hexdigest()[:12]


def sheet(sessions: Sequence[Prepared], items: int = 300, seed: int = 0) -> pd.DataFrame:
    """Items to be labelled, drawn from sessions with all that a reader needs to judge them.

    From each session equally many, the kinds in turn, so that rare kinds are judged as well;
    `weight` is how many items of its session and kind a row stands for.

    Args:
        sessions: any; each gives at most its share of the items.
        items: how many at most.
        seed: another number draws others.

    Returns:
        A row an item: `KEY`, `project`, `weight`, `request` (the user's last before the boundary),
            `evidence`,
        `said_by`, `use`, `gapped` (the use as a reader is shown it), `used_by`, `between` (messages
            from the evidence
        to the use), `cue`, `answer`, `look_alikes` (one a line) and, empty, the columns of
            `LABELS`.

    Raises:
        SettingError: the sessions have no exam.
    """
    rows = [
        row
        for prepared_session in sessions
        for row in _drawn(prepared_session, -(-items // len(sessions)), seed)
    ]
    if not rows:
        raise SettingError(
            "no item to label: the recordings are too short for an exam; name longer ones"
        )
    return pd.DataFrame(rows[:items])


def _drawn(prepared_session: Prepared, limit: int, seed: int) -> Iterator[dict[str, object]]:
    chance = random.Random(f"{seed} {prepared_session.session.id}")
    items = list(_items(prepared_session))
    chance.shuffle(items)
    turn_counts, count = Counter[str](), Counter(item.kind for _, item in items)
    turns = []
    for boundary, item in items:
        turns.append((turn_counts[item.kind], boundary, item))
        turn_counts[item.kind] += 1
    drawn_items = sorted(turns, key=lambda turn: turn[0])[:limit]
    drawn_counts = Counter(item.kind for _, _, item in drawn_items)
    for _, boundary, item in drawn_items:
        yield _row(prepared_session, boundary, item, count[item.kind] / drawn_counts[item.kind])


def _items(prepared_session: Prepared) -> Iterator[tuple[int, Item]]:
    """The items of a session's boundaries; what an earlier boundary asks for is left out, it is
    no duplicate there.
    """
    earlier_questions = set[tuple[str, str]]()
    for boundary in at_shares(prepared_session.session):
        new = [
            item
            for item in Exams.of(prepared_session.index).at(boundary).items
            if (item.kind, item.answer) not in earlier_questions
        ]
        earlier_questions.update((item.kind, item.answer) for item in new)
        yield from ((boundary, item) for item in new)


def _row(prepared_session: Prepared, boundary: int, item: Item, weight: float) -> dict[str, object]:
    messages = prepared_session.session.messages
    request = next(
        (plain_text(message) for message in reversed(messages[:boundary]) if is_real_user(message)),
        "",
    )
    cue = sorted(item.cue, key=lambda name: -item.cue[name])
    return {
        "session": prepared_session.session.id,
        "at": boundary,
        "kind": item.kind,
        "key": key_of(item),
        "project": prepared_session.session.project or prepared_session.session.id,
        "weight": weight,
        "request": request[:SHOWN],
        "evidence": item.evidence[:SHOWN],
        "said_by": _speaker(messages, item.said),
        "use": item.use[:SHOWN],
        "gapped": gapped(item),
        "used_by": _speaker(messages, item.used),
        "between": item.used - item.said if item.used >= 0 else None,
        "cue": ", ".join(name.lstrip("=") for name in cue),
        "answer": item.answer,
        "look_alikes": "\n".join(item.look_alikes),
        **dict.fromkeys(LABELS, ""),
    }


def _speaker(messages: Sequence[Message], number: int) -> str:
    return f"{number}: {type(messages[number]).__name__}" if number >= 0 else ""


def labelled(first_sheet: Path | None = None, second_sheet: Path | None = None) -> pd.DataFrame:
    """Labels of two readers in one table: of two filled sheets, or without any those that ship with
    the package.

    Its columns are `KEY`, `project`, `weight`, `label_1`, `label_2`, `given_away_1` and
    `given_away_2`.

    Raises:
        SettingError: a sheet lacks a column, or has a label that is none of `LABELS`.
    """
    if first_sheet is None or second_sheet is None:
        return pd.read_csv(SHIPPED, dtype={"key": str})
    first_labels, second_labels = (
        _filled(path).rename(columns={name: f"{name}_{reader}" for name in LABELS})
        for path, reader in zip((first_sheet, second_sheet), READERS, strict=True)
    )
    filled = [f"{name}_{reader}" for name in LABELS for reader in READERS]
    return first_labels.merge(second_labels[[*KEY, *(f"{name}_2" for name in LABELS)]], on=KEY)[
        [*KEY, "project", "weight", *filled]
    ]


def _filled(path: Path) -> pd.DataFrame:
    try:
        table = pd.read_csv(path, dtype={"key": str}, keep_default_na=False)
    except ValueError as error:
        raise SettingError(
            f"{path} is no table of comma-separated values: {str(error).strip()}"
        ) from error
    # a sheet has an apostrophe before what would be a formula
    for column in table.columns.intersection(KEY):
        table[column] = table[column].map(
            lambda text: text.lstrip("'") if isinstance(text, str) else text
        )
    if missing := [name for name in (*KEY, "project", "weight", *LABELS) if name not in table]:
        raise SettingError(
            f"{path}: the column {missing[0]!r} is missing; take a sheet of `lab validate needs`"
        )
    for column, allowed in LABELS.items():
        for number, label in enumerate(table[column], 2):
            if label not in allowed:
                raise SettingError(
                    f"{path}, row {number}: {column} is {label!r}; it must be one of"
                    f" {', '.join(allowed)}"
                )
    return table


def still_asked(labels: pd.DataFrame, sessions: Sequence[Prepared]) -> pd.DataFrame:
    """The labelled items of these sessions that the exam still asks."""
    asked_keys = {
        (prepared_session.session.id, key_of(item))
        for prepared_session in sessions
        for _, item in _items(prepared_session)
    }
    return labels[[key in asked_keys for key in zip(labels["session"], labels["key"], strict=True)]]
