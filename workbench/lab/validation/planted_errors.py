"""Histories with summaries in which errors of known kinds are planted: which of them does the exam
find?

A statement that is false has its answer in plain sight, so that a measure of presence calls it
known.
"""

import random
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import partial
from itertools import pairwise
from typing import Literal, TypeAlias

from workbench.evaluation.metrics.exam.item import ItemKind
from workbench.lab.validation.answers.records import Answer, GradedContext

Error: TypeAlias = Literal["intact", "stale", "reversed", "negated", "swapped"]
ERRORS: tuple[Error, ...] = ("intact", "stale", "reversed", "negated", "swapped")

EACH = 20
"""Things of each sort in a history: values, values that change, relations, rules."""

_PLACES = (
    "billing gateway", "mail relay", "search indexer", "audit trail", "invoice printer", "login page", "export job",
    "image resizer", "report builder", "session store", "rate limiter", "webhook sender", "price feed", "order queue",
    "tax table", "backup runner", "chat widget", "geo lookup", "file scanner", "token vault",
)  # fmt: skip
_TRAITS = ("timeout", "port", "retry budget", "batch size", "cache lifetime")
_NEVER = (
    "push to the {} branch without review", "log the customer names of the {}", "restart the {} in business hours",
    "edit the generated files of the {}", "call the {} from a test",
)  # fmt: skip
_SAID = (
    "The {trait} of the {place} is {value}.",
    "For the {place}, the {trait} was set to {value}.",
)
_CHANGED = (
    "The {trait} of the {place} changes from {old} to {value}.",
    "Correction: {place} {trait} is now {value}, not {old}.",
)
_JOINED = ("`{one}` depends on `{other}`.", "`{one}` calls `{other}` for every request.")
_SHORT = (
    "{place} {trait}: {value}",
    "The {place} runs with a {trait} of {value}.",
    "{place}: {trait} = {value}",
)
_SHORT_JOINED = ("{one} -> {other}", "`{one}` relies on `{other}`.", "{one} calls {other}")
_FILLER = (
    "I looked at {} more pages of the handbook and found nothing that changes the plan for the {}."
)


@dataclass(frozen=True, slots=True)
class _Thing:
    """One thing of a history: what the history says, what a true summary says, and the same with
    each error.
    """

    said: tuple[str, ...]
    question: str
    answer: str
    kind: ItemKind
    lines: dict[Error, str]


def planted_errors(seeds: Sequence[int] = (1, 2, 3, 4, 5)) -> list[GradedContext]:
    """For each seed one history, with a true summary and one for each kind of error, planted where
    it can be.

    An answer is right where its statement is true; its category is the error planted in its
    statement.
    """
    return [context for seed in seeds for context in _contexts(seed)]


def _contexts(seed: int) -> Iterator[GradedContext]:
    chance = random.Random(f"planted errors {seed}")
    things = [*_values(chance), *_changing(chance), *_relations(chance), *_rules(chance)]
    history: list[str] = []
    for step in range(2):
        for thing in things:
            if step < len(thing.said):
                history += [
                    thing.said[step],
                    _FILLER.format(chance.randrange(3, 90), chance.choice(_PLACES)),
                ]
    for error in ERRORS:
        planted = [thing for thing in things if error in thing.lines]
        lines = [thing.lines[error if thing in planted else "intact"] for thing in things]
        answers = tuple(
            Answer(thing.question, thing.answer, error == "intact", thing.kind, error)
            for thing in planted
        )
        chance.shuffle(lines)
        yield GradedContext(
            f"history {seed}",
            error,
            ("\n".join(f"- {line}" for line in lines),),
            answers,
            tuple(history),
        )


def _numbers(chance: random.Random, count: int) -> list[str]:
    return [str(number) for number in chance.sample(range(1_001, 9_999), count)]


def _values(chance: random.Random) -> Iterator[_Thing]:
    """Values that are said once; each may be denied, or given to another thing with the same
    trait.
    """
    pairs = chance.sample([(place, trait) for place in _PLACES for trait in _TRAITS[:2]], EACH)
    value = dict(zip(pairs, _numbers(chance, EACH), strict=True))
    for place, trait in pairs:
        same = [pair for pair in pairs if pair[1] == trait]
        other_value = value[same[(same.index((place, trait)) + 1) % len(same)]]
        true_value, short = (
            value[place, trait],
            partial(chance.choice(_SHORT).format, place=place, trait=trait),
        )
        yield _Thing(
            (chance.choice(_SAID).format(place=place, trait=trait, value=true_value),),
            f"What is the {trait} of the {place}?",
            true_value,
            "fact",
            {
                "intact": short(value=true_value),
                "negated": f"The {trait} of the {place} is no longer {true_value}.",
                "swapped": short(value=other_value),
            },
        )


def _changing(chance: random.Random) -> Iterator[_Thing]:
    """Values that were replaced; a summary may give the old one."""
    pairs = chance.sample([(place, trait) for place in _PLACES for trait in _TRAITS[2:]], EACH)
    old, new = _numbers(chance, EACH), _numbers(chance, EACH)
    for (place, trait), old_value, new_value in zip(pairs, old, new, strict=True):
        short = partial(chance.choice(_SHORT).format, place=place, trait=trait)
        first_statement = chance.choice(_SAID).format(place=place, trait=trait, value=old_value)
        second_statement = chance.choice(_CHANGED).format(
            place=place, trait=trait, old=old_value, value=new_value
        )
        yield _Thing(
            (first_statement, second_statement),
            f"What is the {trait} of the {place} now?",
            new_value,
            "latest",
            {"intact": short(value=new_value), "stale": short(value=old_value)},
        )


def _relations(chance: random.Random) -> Iterator[_Thing]:
    """A chain of services, each of which needs the next; a summary may turn a relation round."""
    names = [
        f"{place.split()[1]}-{number}"
        for place, number in zip(_PLACES, _numbers(chance, EACH), strict=True)
    ]
    chance.shuffle(names)
    for service, needed_service in pairwise(names):
        statement, short = chance.choice(_JOINED), chance.choice(_SHORT_JOINED)
        yield _Thing(
            (statement.format(one=service, other=needed_service),),
            f"What does {service} depend on or call?",
            needed_service,
            "fact",
            {
                "intact": short.format(one=service, other=needed_service),
                "reversed": short.format(one=needed_service, other=service),
            },
        )


def _rules(chance: random.Random) -> Iterator[_Thing]:
    """Prohibitions; a summary may allow what was forbidden."""
    for number, place in enumerate(chance.sample(_PLACES, EACH // 2)):
        rule = _NEVER[number % len(_NEVER)].format(place)
        lines: dict[Error, str] = {
            "intact": f"The user does not allow us to {rule}.",
            "negated": f"The user allows us to {rule}.",
        }
        yield _Thing((f"Never {rule}.",), "", f"Never {rule}.", "rule", lines)
