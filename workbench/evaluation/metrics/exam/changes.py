"""Items about what was replaced: which value holds now, and what was decided."""

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence

import numpy as np

from workbench.base.ragged import Ints
from workbench.engine.extraction.entities import Kind
from workbench.engine.transcript.message import AssistantMessage
from workbench.evaluation.metrics.demand import HORIZON
from workbench.evaluation.metrics.exam.cues import LOOK_ALIKES, Question
from workbench.evaluation.metrics.exam.history import ExamHistory, Past
from workbench.evaluation.metrics.exam.item import Item, ItemKind
from workbench.evaluation.metrics.exam.names import Names
from workbench.evaluation.metrics.indexes.arrays import flags
from workbench.evaluation.metrics.state.value_changes import Change

MOST = 12
"""Changes of one boundary that are asked about: the newest."""
_DESCRIBES = re.compile(
    r"\b(?:return|convert|produc|yield|giv|output|print|pars|resolv)", re.IGNORECASE
)
"""What a thing does or has rather than the other: nobody chose that."""


def latest_and_decisions(
    history: ExamHistory, changes: Sequence[Change], boundary: int
) -> list[Item]:
    """The items of one boundary: things whose value was replaced before it, and whose new value is
    used after it.

    A replaced number or version is of kind `latest`; a name that was preferred to another one is a
    `decision`. The changes are those of the session, in order.
    """
    past = history.before(boundary)
    past_changes = [change for change in changes if change.at < boundary]
    chains = list(_chains(past_changes))
    newest_values = [chain[-1].new for chain in chains]
    use_lines = _lines_of_first_use(history, newest_values, boundary)
    items: list[Item] = []
    for chain in chains:
        value = chain[-1].new
        if value not in use_lines:
            continue
        item = _item(history, chain, use_lines[value], past)
        if item is not None:
            items.append(item)
    return items[-MOST:]


def _chains(changes: Iterable[Change]) -> Iterator[list[Change]]:
    """The changes of one thing after another: each begins with the value that the previous one
    ended with. A chain that comes back to an old value is left out.
    """
    distinct_ends: set[tuple[str, str]] = set()
    for chain in _all_chains(changes):
        last_change = chain[-1]
        old_values = {change.old for change in chain}
        if last_change.new in old_values:
            continue
        end = (last_change.old, last_change.new)
        if end not in distinct_ends:
            distinct_ends.add(end)
            yield chain


def _all_chains(changes: Iterable[Change]) -> list[list[Change]]:
    chains: list[list[Change]] = []
    for change in changes:
        for chain in chains:
            if _continues(chain[-1], change):
                chain.append(change)
                break
        else:
            chains.append([change])
    return chains


def _continues(earlier: Change, later: Change) -> bool:
    """Whether a change takes up the value that an earlier one ended with, of the same thing."""
    if earlier.new != later.old:
        return False
    earlier_words = set(earlier.about)
    return not earlier_words.isdisjoint(later.about)


def _lines_of_first_use(
    history: ExamHistory, values: Sequence[str], boundary: int
) -> dict[str, int]:
    """The values that an answer after the boundary uses, each with the line of its first use."""
    names = Names(values, history.vocabulary)
    name, row = names.found(history.lines)
    line = history.lines.segment_line[row]
    is_answer = flags(isinstance(entry, AssistantMessage) for entry in history.messages)
    message = history.place_message
    is_after = message >= boundary
    is_near = is_after & (message < boundary + HORIZON)
    is_use = is_near & is_answer[message]
    place_count = len(history.place_line)
    line_count = len(history.texts)
    first_place: Ints = np.full(line_count, place_count)
    used_lines = history.place_line[is_use]
    use_places = np.flatnonzero(is_use)
    np.minimum.at(first_place, used_lines, use_places)
    use_lines: dict[str, int] = {}
    for value, number in names.place.items():
        lines = line[name == number]
        if not len(lines):
            continue
        first_places = first_place[lines]
        if first_places.min() < place_count:
            first = first_places.argmin()
            first_line = lines[first]
            use_lines[value] = int(first_line)
    return use_lines


def _item(history: ExamHistory, chain: Sequence[Change], use_line: int, past: Past) -> Item | None:
    change = chain[-1]
    evidence = _evidence(history, change, past)
    if evidence is None:
        return None
    if not history.is_value(change.new):
        return None
    if not history.is_value(change.old):
        return None
    use = history.texts[use_line]
    question = Question(history, change.new, use, evidence)
    old_values = _old_values(chain)
    cue = _cue_without(question.cue, old_values)
    if not cue or not old_values:
        return None
    values = (change.new, *old_values)
    item_kind: ItemKind = "latest"
    if not any(value[:1].isdigit() for value in values):
        item_kind = "decision"
    if item_kind == "decision" and _DESCRIBES.search(evidence):
        return None
    look_alikes = list(old_values)
    kind = _kind(history, change.new)
    for text in question.look_alikes(kind, past):
        if text not in old_values:
            look_alikes.append(text)
    return Item(
        item_kind,
        change.new,
        tuple(look_alikes[:LOOK_ALIKES]),
        cue,
        evidence,
        question.use,
        said=change.at,
    )


def _evidence(history: ExamHistory, change: Change, past: Past) -> str | None:
    """The line that states a change: of those with the new value, the one with most words of what
    the change is about.
    """
    about = set(change.about)

    def words_about(text: str) -> int:
        words = text.lower().split()
        return len(about.intersection(words))

    is_of_message = past.newest == change.at
    lines = np.flatnonzero(is_of_message)
    stating: list[str] = []
    for line in lines.tolist():
        text = history.texts[line]
        if change.new in text:
            stating.append(text)
    return max(stating, key=words_about, default=None)


def _old_values(chain: Sequence[Change]) -> tuple[str, ...]:
    """The values that the newest one replaced, each once, the latest first."""
    newest = chain[-1].new.lower()
    values: list[str] = []
    for change in reversed(chain):
        is_newest = change.old.lower() == newest
        if not is_newest and change.old not in values:
            values.append(change.old)
    return tuple(values)


def _cue_without(cue: Mapping[str, float], values: Iterable[str]) -> dict[str, float]:
    """A cue without names that are one of some values."""
    left_out = {value.lower() for value in values}
    other_cue: dict[str, float] = {}
    for name, weight in cue.items():
        text = name.lstrip("=")
        if text not in left_out:
            other_cue[name] = weight
    return other_cue


def _kind(history: ExamHistory, value: str) -> Kind:
    number = history.name_number.get(value.lower())
    if number is not None:
        return history.names[number].kind
    if value[:1].isdigit():
        return "number"
    return "identifier"
