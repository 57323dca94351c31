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
    asked = (item.kind, item.evidence, item.use, *cue, *item.candidates)
    return sha256("\0".join(asked).encode("utf-8", "surrogatepass")).hexdigest()[:12]


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
    rows = [row for one in sessions for row in _drawn(one, -(-items // len(sessions)), seed)]
    if not rows:
        raise SettingError(
            "no item to label: the recordings are too short for an exam; name longer ones"
        )
    return pd.DataFrame(rows[:items])


def _drawn(ready: Prepared, most: int, seed: int) -> Iterator[dict[str, object]]:
    drawn = random.Random(f"{seed} {ready.session.id}")
    every = list(_items(ready))
    drawn.shuffle(every)
    seen, count = Counter[str](), Counter(item.kind for _, item in every)
    turns = []
    for at, item in every:
        turns.append((seen[item.kind], at, item))
        seen[item.kind] += 1
    chosen = sorted(turns, key=lambda one: one[0])[:most]
    taken = Counter(item.kind for _, _, item in chosen)
    for _, at, item in chosen:
        yield _row(ready, at, item, count[item.kind] / taken[item.kind])


def _items(ready: Prepared) -> Iterator[tuple[int, Item]]:
    """The items of a session's boundaries; what an earlier boundary asks for is left out, it is
    no duplicate there.
    """
    known = set[tuple[str, str]]()
    for at in at_shares(ready.session):
        new = [
            item
            for item in Exams.of(ready.index).at(at).items
            if (item.kind, item.answer) not in known
        ]
        known.update((item.kind, item.answer) for item in new)
        yield from ((at, item) for item in new)


def _row(ready: Prepared, at: int, item: Item, weight: float) -> dict[str, object]:
    messages = ready.session.messages
    asked = next((plain_text(one) for one in reversed(messages[:at]) if is_real_user(one)), "")
    cue = sorted(item.cue, key=lambda name: -item.cue[name])
    return {
        "session": ready.session.id,
        "at": at,
        "kind": item.kind,
        "key": key_of(item),
        "project": ready.session.project or ready.session.id,
        "weight": weight,
        "request": asked[:SHOWN],
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


def labelled(first: Path | None = None, second: Path | None = None) -> pd.DataFrame:
    """Labels of two readers in one table: of two filled sheets, or without any those that ship with
    the package.

    Its columns are `KEY`, `project`, `weight`, `label_1`, `label_2`, `given_away_1` and
    `given_away_2`.

    Raises:
        SettingError: a sheet lacks a column, or has a label that is none of `LABELS`.
    """
    if first is None or second is None:
        return pd.read_csv(SHIPPED, dtype={"key": str})
    one, other = (
        _filled(path).rename(columns={name: f"{name}_{reader}" for name in LABELS})
        for path, reader in zip((first, second), READERS, strict=True)
    )
    filled = [f"{name}_{reader}" for name in LABELS for reader in READERS]
    return one.merge(other[[*KEY, *(f"{name}_2" for name in LABELS)]], on=KEY)[
        [*KEY, "project", "weight", *filled]
    ]


def _filled(path: Path) -> pd.DataFrame:
    try:
        found = pd.read_csv(path, dtype={"key": str}, keep_default_na=False)
    except ValueError as error:
        raise SettingError(
            f"{path} is no table of comma-separated values: {str(error).strip()}"
        ) from error
    # a sheet has an apostrophe before what would be a formula
    for column in found.columns.intersection(KEY):
        found[column] = found[column].map(
            lambda one: one.lstrip("'") if isinstance(one, str) else one
        )
    if missing := [name for name in (*KEY, "project", "weight", *LABELS) if name not in found]:
        raise SettingError(
            f"{path}: the column {missing[0]!r} is missing; take a sheet of `lab validate needs`"
        )
    for column, known in LABELS.items():
        for number, label in enumerate(found[column], 2):
            if label not in known:
                raise SettingError(
                    f"{path}, row {number}: {column} is {label!r}; it must be one of"
                    f" {', '.join(known)}"
                )
    return found


def still_asked(labels: pd.DataFrame, sessions: Sequence[Prepared]) -> pd.DataFrame:
    """The labelled items of these sessions that the exam still asks."""
    asked = {(ready.session.id, key_of(item)) for ready in sessions for _, item in _items(ready)}
    return labels[[one in asked for one in zip(labels["session"], labels["key"], strict=True)]]
