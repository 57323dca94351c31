"""Items about what was replaced: which value holds now, and what was decided."""

import re
from collections.abc import Iterable, Iterator, Sequence

import numpy as np

from workbench.base.ragged import Ints
from workbench.engine.extraction.entities import Kind
from workbench.engine.transcript.message import AssistantMessage
from workbench.evaluation.metrics.demand import HORIZON
from workbench.evaluation.metrics.exam.cues import Question
from workbench.evaluation.metrics.exam.history import ExamHistory, Past
from workbench.evaluation.metrics.exam.item import Item
from workbench.evaluation.metrics.exam.tokens import Names
from workbench.evaluation.metrics.state.value_changes import Change

MOST = 12
"""Changes of one boundary that are asked about: the newest."""
_DESCRIBES = re.compile(
    r"\b(?:return|convert|produc|yield|giv|output|print|pars|resolv)", re.IGNORECASE
)
"""What a thing does or has rather than the other: nobody chose that."""


def latest_and_decisions(history: ExamHistory, changes: Sequence[Change], at: int) -> list[Item]:
    """The items of one boundary: things whose value was replaced before it, and whose new value is
    used after it.

    A replaced number or version is of kind `latest`; a name that was preferred to another one is a
    `decision`. The changes are those of the session, in order.
    """
    before = history.before(at)
    past = [change for change in changes if change.at < at]
    chains = list(_chains(past))
    used = _used(history, [chain[-1].new for chain in chains], at)
    items = [
        _item(history, chain, used[chain[-1].new], before)
        for chain in chains
        if chain[-1].new in used
    ]
    return [item for item in items if item is not None][-MOST:]


def _chains(changes: Iterable[Change]) -> Iterator[list[Change]]:
    """The changes of one thing after another: each begins with the value that the one before
    ended with.
    """
    chains: list[list[Change]] = []
    for change in changes:
        about = set(change.about)
        for chain in chains:
            if chain[-1].new == change.old and about & set(chain[-1].about):
                chain.append(change)
                break
        else:
            chains.append([change])
    seen: set[tuple[str, str]] = set()
    for chain in chains:
        key = chain[-1].old, chain[-1].new
        if key not in seen and chain[-1].new not in {change.old for change in chain}:
            seen.add(key)
            yield chain


def _used(history: ExamHistory, values: Sequence[str], at: int) -> dict[str, int]:
    """The values that an answer after the boundary uses, each with the line of its first use."""
    names = Names(values, history.vocabulary)
    name, row = names.found(history.lines)
    line = history.lines.segment_line[row]
    answers = np.array([isinstance(message, AssistantMessage) for message in history.messages])
    after = (
        (history.place_message >= at)
        & (history.place_message < at + HORIZON)
        & answers[history.place_message]
    )
    first: Ints = np.full(len(history.texts), len(history.place_line))
    np.minimum.at(first, history.place_line[after], np.flatnonzero(after))
    found: dict[str, int] = {}
    for value, number in names.place.items():
        lines = line[name == number]
        if len(lines) and first[lines].min() < len(history.place_line):
            found[value] = int(lines[first[lines].argmin()])
    return found


def _item(history: ExamHistory, chain: Sequence[Change], use: int, past: Past) -> Item | None:
    change = chain[-1]
    said = [
        int(line)
        for line in np.flatnonzero(past.newest == change.at)
        if change.new in history.texts[line]
    ]
    if not said or not all(map(history.is_value, (change.new, change.old))):
        return None
    about = set(change.about)
    evidence = max(
        (history.texts[line] for line in said),
        key=lambda text: len(about.intersection(text.lower().split())),
    )
    question = Question(history, change.new, history.texts[use], evidence)
    old = tuple(
        dict.fromkeys(one.old for one in reversed(chain) if one.old.lower() != change.new.lower())
    )
    cue = {
        name: weight
        for name, weight in question.cue.items()
        if name.lstrip("=") not in map(str.lower, old)
    }
    if not cue or not old:
        return None
    kind = _kind(history, change.new)
    others = tuple(text for text in question.look_alikes(kind, past) if text not in old)
    is_decision = not any(value[:1].isdigit() for value in (change.new, *old))
    if is_decision and _DESCRIBES.search(evidence):
        return None
    return Item(
        "decision" if is_decision else "latest",
        change.new,
        (*old, *others)[:15],
        cue,
        evidence,
        question.use,
        said=change.at,
    )


def _kind(history: ExamHistory, value: str) -> Kind:
    number = history.name_number.get(value.lower())
    return (
        history.names[number].kind
        if number is not None
        else "number"
        if value[:1].isdigit()
        else "identifier"
    )
