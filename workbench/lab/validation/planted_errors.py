"""Histories with summaries in which errors of known kinds are planted: which of them does the exam
find?

A statement that is false has its answer in plain sight, so that a measure of presence calls it
known.
"""

import random
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import partial
from itertools import cycle, pairwise, product
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
_JOINED = ("`{service}` depends on `{needed}`.", "`{service}` calls `{needed}` for every request.")
_SHORT = (
    "{place} {trait}: {value}",
    "The {place} runs with a {trait} of {value}.",
    "{place}: {trait} = {value}",
)
_SHORT_JOINED = (
    "{service} -> {needed}",
    "`{service}` relies on `{needed}`.",
    "{service} calls {needed}",
)
_FILLER = (
    "I looked at {} more pages of the handbook and found nothing that changes the plan for the {}."
)


@dataclass(frozen=True, slots=True)
class _Thing:
    """One thing of a history: what the history says, what a true summary says, and the same with
    each error.
    """

    statements: tuple[str, ...]
    question: str
    answer: str
    kind: ItemKind
    lines: dict[Error, str]

    def graded(self, error: Error) -> Answer:
        """The answer that a summary with an error gives; only the intact one is right."""
        return Answer(
            question=self.question,
            answer=self.answer,
            right=error == "intact",
            kind=self.kind,
            category=error,
        )


def planted_errors(seeds: Sequence[int] = (1, 2, 3, 4, 5)) -> list[GradedContext]:
    """For each seed one history, with a true summary and one for each kind of error, planted where
    it can be.

    An answer is right where its statement is true; its category is the error planted in its
    statement.
    """
    contexts: list[GradedContext] = []
    for seed in seeds:
        contexts += _contexts(seed)
    return contexts


def _contexts(seed: int) -> Iterator[GradedContext]:
    chance = random.Random(f"planted errors {seed}")
    things: list[_Thing] = []
    for planted_things in (_values, _changing, _relations, _rules):
        things += planted_things(chance)
    history = tuple(_history(things, chance))
    for error in ERRORS:
        lines = []
        answers = []
        for thing in things:
            if error in thing.lines:
                answers.append(thing.graded(error))
            lines.append(thing.lines.get(error, thing.lines["intact"]))
        chance.shuffle(lines)
        text = "\n".join(f"- {line}" for line in lines)
        yield GradedContext(
            group=f"history {seed}",
            variant=error,
            texts=(text,),
            answers=tuple(answers),
            history=history,
        )


def _history(
    things: Sequence[_Thing],
    chance: random.Random,
) -> Iterator[str]:
    """What is said first of each thing, then what is said later of those that change; each with a
    sentence that says nothing.
    """
    for step in range(2):
        for thing in things:
            if step < len(thing.statements):
                yield thing.statements[step]
                number = chance.randrange(3, 90)
                place = chance.choice(_PLACES)
                yield _FILLER.format(number, place)


def _numbers(chance: random.Random, count: int) -> list[str]:
    numbers = chance.sample(range(1_001, 9_999), count)
    return [str(number) for number in numbers]


def _places_with_traits(
    chance: random.Random,
    traits: Sequence[str],
) -> list[tuple[str, str]]:
    pairs = list(product(_PLACES, traits))
    return chance.sample(pairs, EACH)


def _values(chance: random.Random) -> Iterator[_Thing]:
    """Values that are said once; each may be denied, or given to another thing with the same
    trait.
    """
    pairs = _places_with_traits(chance, _TRAITS[:2])
    values = _numbers(chance, EACH)
    value_of = dict(zip(pairs, values, strict=True))
    for pair in pairs:
        place, trait = pair
        same_trait = [trait_pair for trait_pair in pairs if trait_pair[1] == trait]
        next_place = same_trait.index(pair) + 1
        next_pair = same_trait[next_place % len(same_trait)]
        value = value_of[pair]
        other_value = value_of[next_pair]
        short = partial(
            chance.choice(_SHORT).format,
            place=place,
            trait=trait,
        )
        statement = chance.choice(_SAID).format(
            place=place,
            trait=trait,
            value=value,
        )
        lines: dict[Error, str] = {
            "intact": short(value=value),
            "negated": f"The {trait} of the {place} is no longer {value}.",
            "swapped": short(value=other_value),
        }
        question = f"What is the {trait} of the {place}?"
        yield _Thing((statement,), question, value, "fact", lines)


def _changing(chance: random.Random) -> Iterator[_Thing]:
    """Values that were replaced; a summary may give the old one."""
    pairs = _places_with_traits(chance, _TRAITS[2:])
    old_values = _numbers(chance, EACH)
    new_values = _numbers(chance, EACH)
    for pair, old, new in zip(pairs, old_values, new_values, strict=True):
        place, trait = pair
        short = partial(
            chance.choice(_SHORT).format,
            place=place,
            trait=trait,
        )
        statement = chance.choice(_SAID).format(
            place=place,
            trait=trait,
            value=old,
        )
        change = chance.choice(_CHANGED).format(
            place=place,
            trait=trait,
            old=old,
            value=new,
        )
        lines: dict[Error, str] = {
            "intact": short(value=new),
            "stale": short(value=old),
        }
        question = f"What is the {trait} of the {place} now?"
        yield _Thing((statement, change), question, new, "latest", lines)


def _relations(chance: random.Random) -> Iterator[_Thing]:
    """A chain of services, each of which needs the next; a summary may turn a relation round."""
    names = []
    for place, number in zip(_PLACES, _numbers(chance, EACH), strict=True):
        _, noun = place.split()
        names.append(f"{noun}-{number}")
    chance.shuffle(names)
    for service, needed in pairwise(names):
        statement = chance.choice(_JOINED).format(service=service, needed=needed)
        short = chance.choice(_SHORT_JOINED)
        lines: dict[Error, str] = {
            "intact": short.format(service=service, needed=needed),
            "reversed": short.format(service=needed, needed=service),
        }
        question = f"What does {service} depend on or call?"
        yield _Thing((statement,), question, needed, "fact", lines)


def _rules(chance: random.Random) -> Iterator[_Thing]:
    """Prohibitions; a summary may allow what was forbidden."""
    places = chance.sample(_PLACES, EACH // 2)
    for place, template in zip(places, cycle(_NEVER), strict=False):
        rule = template.format(place)
        lines: dict[Error, str] = {
            "intact": f"The user does not allow us to {rule}.",
            "negated": f"The user allows us to {rule}.",
        }
        yield _Thing((f"Never {rule}.",), "", f"Never {rule}.", "rule", lines)
