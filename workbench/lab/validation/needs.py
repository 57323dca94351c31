"""Items of the exam to be judged by reading: sheets to fill, and the labels of two readers."""

import random
from collections import Counter
from collections.abc import Iterator, Sequence
from hashlib import sha256
from math import ceil
from operator import itemgetter
from pathlib import Path
from typing import NamedTuple

import pandas as pd

from workbench.base.errors import SettingError
from workbench.engine.transcript.message import Message, is_real_user, plain_text
from workbench.evaluation.experiment.prepared import Prepared
from workbench.evaluation.metrics.exam.exams import Exams
from workbench.evaluation.metrics.exam.gap import gapped
from workbench.evaluation.metrics.exam.item import Item
from workbench.evaluation.replays.boundaries import at_shares

NEEDED = "needed"
LABELS = {
    "label": (NEEDED, "boilerplate", "duplicate"),
    "given_away": ("yes", "no"),
}
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
    key_text = "\0".join(
        (
            item.kind,
            item.evidence,
            item.use,
            *_weightiest_first(item),
            *item.candidates,
        )
    )
    digest = sha256(key_text.encode("utf-8", "surrogatepass"))
    return digest.hexdigest()[:12]


def _weightiest_first(item: Item) -> list[str]:
    """The words and names of an item's cue."""
    return sorted(item.cue, key=lambda name: -item.cue[name])


def sheet(
    sessions: Sequence[Prepared],
    items: int = 300,
    seed: int = 0,
) -> pd.DataFrame:
    """Items to be labelled, drawn from sessions with all that a reader needs to judge them.

    From each session equally many, the kinds in turn, so that rare kinds are judged as well;
    `weight` is how many items of its session and kind a row stands for.

    Args:
        sessions: any; each gives at most its share of the items.
        items: how many at most.
        seed: another number draws others.

    Returns:
        A row an item: `KEY`, `project`, `weight`, `request` (the user's last before the boundary),
        `evidence`, `said_by`, `use`, `gapped` (the use as a reader is shown it), `used_by`,
        `between` (messages from the evidence to the use), `cue`, `answer`, `look_alikes` (one a
        line) and, empty, the columns of `LABELS`.

    Raises:
        SettingError: the sessions have no exam.
    """
    rows: list[dict[str, object]] = []
    limit = ceil(items / max(len(sessions), 1))
    for prepared_session in sessions:
        rows += _drawn(prepared_session, limit, seed)
    if not rows:
        raise SettingError(
            "no item to label: the recordings are too short for an exam; name longer ones"
        )
    return pd.DataFrame(rows[:items])


def _drawn(prepared_session: Prepared, limit: int, seed: int) -> Iterator[dict[str, object]]:
    chance = random.Random(f"{seed} {prepared_session.session.id}")
    places = list(_items(prepared_session))
    chance.shuffle(places)
    counts = Counter[str]()
    turns: list[tuple[int, ItemPlace]] = []
    for place in places:
        kind = place.item.kind
        turns.append((counts[kind], place))
        counts[kind] += 1
    turns.sort(key=itemgetter(0))
    drawn_places = [place for _, place in turns[:limit]]
    drawn_kinds = [place.item.kind for place in drawn_places]
    drawn_counts = Counter(drawn_kinds)
    for place in drawn_places:
        kind = place.item.kind
        weight = counts[kind] / drawn_counts[kind]
        yield _row(prepared_session, place, weight)


class ItemPlace(NamedTuple):
    """An item of the exam of one boundary."""

    boundary: int
    item: Item


def _items(prepared_session: Prepared) -> Iterator[ItemPlace]:
    """The items of a session's boundaries; what an earlier boundary asks for is left out, it is
    no duplicate there.
    """
    exams = Exams.of(prepared_session.index)
    earlier_questions = set[tuple[str, str]]()
    for boundary in at_shares(prepared_session.session):
        new_questions = set[tuple[str, str]]()
        for item in exams.at(boundary).items:
            question = (item.kind, item.answer)
            if question not in earlier_questions:
                new_questions.add(question)
                yield ItemPlace(boundary, item)
        earlier_questions |= new_questions


def _row(prepared_session: Prepared, place: ItemPlace, weight: float) -> dict[str, object]:
    session = prepared_session.session
    item = place.item
    request = _last_request(session.messages[: place.boundary])
    messages_between = None
    if item.used >= 0:
        messages_between = item.used - item.said
    cue_names = [name.lstrip("=") for name in _weightiest_first(item)]
    return {
        "session": session.id,
        "at": place.boundary,
        "kind": item.kind,
        "key": key_of(item),
        "project": session.project or session.id,
        "weight": weight,
        "request": request[:SHOWN],
        "evidence": item.evidence[:SHOWN],
        "said_by": _speaker(session.messages, item.said),
        "use": item.use[:SHOWN],
        "gapped": gapped(item),
        "used_by": _speaker(session.messages, item.used),
        "between": messages_between,
        "cue": ", ".join(cue_names),
        "answer": item.answer,
        "look_alikes": "\n".join(item.look_alikes),
        **dict.fromkeys(LABELS, ""),
    }


def _last_request(messages: Sequence[Message]) -> str:
    """The last message of the user; empty where there is none."""
    for message in reversed(messages):
        if is_real_user(message):
            return plain_text(message)
    return ""


def _speaker(messages: Sequence[Message], number: int) -> str:
    if number < 0:
        return ""
    return f"{number}: {type(messages[number]).__name__}"


def labelled(
    first_sheet: Path | None = None,
    second_sheet: Path | None = None,
) -> pd.DataFrame:
    """Labels of two readers in one table: of two filled sheets, or without any those that ship with
    the package.

    Its columns are `KEY`, `project`, `weight`, `label_1`, `label_2`, `given_away_1` and
    `given_away_2`.

    Raises:
        SettingError: a sheet lacks a column, or has a label that is none of `LABELS`.
    """
    if first_sheet is None or second_sheet is None:
        return pd.read_csv(SHIPPED, dtype={"key": str})
    first_reader, second_reader = READERS
    first_labels = _labels_of(first_sheet, first_reader)
    second_labels = _labels_of(second_sheet, second_reader)
    second_columns = [label_column(name, second_reader) for name in LABELS]
    labels = first_labels.merge(second_labels[KEY + second_columns], on=KEY)
    columns = [*KEY, "project", "weight"]
    for name in LABELS:
        for reader in READERS:
            columns.append(label_column(name, reader))
    return labels[columns]


def label_column(name: str, reader: int) -> str:
    """The column of the labels that one reader gave, as `label_1`."""
    return f"{name}_{reader}"


def _labels_of(path: Path, reader: int) -> pd.DataFrame:
    """A filled sheet, with the number of its reader in the names of the labels' columns."""
    new_names = {name: label_column(name, reader) for name in LABELS}
    return _filled(path).rename(columns=new_names)


def _filled(path: Path) -> pd.DataFrame:
    try:
        table = pd.read_csv(
            path,
            dtype={"key": str},
            keep_default_na=False,
        )
    except ValueError as error:
        raise SettingError(
            f"{path} is no table of comma-separated values: {str(error).strip()}"
        ) from error
    # a sheet has an apostrophe before what would be a formula
    for column in table.columns.intersection(KEY):
        table[column] = table[column].map(_without_apostrophe)
    for name in (*KEY, "project", "weight", *LABELS):
        if name not in table:
            raise SettingError(
                f"{path}: the column {name!r} is missing; take a sheet of `lab validate needs`"
            )
    for column, allowed in LABELS.items():
        for number, label in enumerate(table[column], 2):
            if label not in allowed:
                raise SettingError(
                    f"{path}, row {number}: {column} is {label!r}; it must be one of"
                    f" {', '.join(allowed)}"
                )
    return table


def _without_apostrophe(value: object) -> object:
    return value.lstrip("'") if isinstance(value, str) else value


def still_asked(
    labels: pd.DataFrame,
    sessions: Sequence[Prepared],
) -> pd.DataFrame:
    """The labelled items of these sessions that the exam still asks."""
    asked_keys = set()
    for prepared_session in sessions:
        for place in _items(prepared_session):
            key = key_of(place.item)
            asked_keys.add((prepared_session.session.id, key))
    keys = zip(labels["session"], labels["key"], strict=True)
    is_asked = [key in asked_keys for key in keys]
    return labels[is_asked]
