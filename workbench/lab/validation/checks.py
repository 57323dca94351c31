"""Checks of the measure on sessions: what must hold, what was measured, and whether it holds."""

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from statistics import median
from typing import Literal, NamedTuple, TypeAlias

from workbench.engine.compaction.presets import preset
from workbench.engine.compaction.strategy import Preset
from workbench.engine.extraction.entities import Entity
from workbench.engine.models.extractive import Extractive
from workbench.engine.models.model import Model
from workbench.engine.transcript.log import Log, MessageEntry
from workbench.engine.transcript.message import Message, Text, UserMessage
from workbench.engine.transcript.session import Session
from workbench.evaluation.experiment.prepared import Prepared, prepared
from workbench.evaluation.metrics.costs.pricing import Pricing, pricing
from workbench.evaluation.metrics.costs.reconciliation import Reconciliation, reconcile
from workbench.evaluation.metrics.demand import HORIZON
from workbench.evaluation.metrics.index import Index
from workbench.evaluation.replays.boundaries import at_shares
from workbench.evaluation.replays.matched import matched
from workbench.evaluation.replays.sizing import Sizing
from workbench.recordings.datasets.generator import VOCABULARY, Generated, generate

Outcome: TypeAlias = Literal["passed", "failed", "skipped"]


@dataclass(frozen=True, slots=True)
class Check:
    """The outcome of one check.

    Attributes:
        name: a word or two.
        claim: what must hold, in a sentence.
        outcome: `skipped` where there was nothing to check.
        found: what was measured, with its number of cases.
        where: the first cases that break the claim; empty where it holds.
    """

    name: str
    claim: str
    outcome: Outcome
    found: str
    where: tuple[str, ...] = ()

    @property
    def failed(self) -> bool:
        """Whether the claim does not hold."""
        return self.outcome == "failed"


def check(
    name: str,
    claim: str,
    holds: bool | None,
    measured: str,
    where: Sequence[str] = (),
) -> Check:
    """An outcome; `holds` is None where there was nothing to check."""
    outcome: Outcome = "skipped"
    if holds is not None:
        outcome = "passed" if holds else "failed"
    return Check(name, claim, outcome, measured, tuple(where[:3]))


ENOUGH = 0.95
"""Precision and recall that the extractor must have on planted dependencies."""
CHANCE = 0.1
"""Of the demand of a session's own future, what a foreign future may have."""
TOKENS = 30_000
"""Size of each generated session."""


def planted(
    generated: Sequence[Generated] | None = None,
    make_index: Callable[[Sequence[Message]], Index] = Index,
) -> Check:
    """Planted dependencies are recovered: facts that are said once and used later, and nothing
    else.

    `generated` are sessions with what was planted in them; by default two of each profile are made.
    """
    samples: Iterable[Generated] = _two_of_each_profile() if generated is None else generated
    hits = 0
    extracted_count = 0
    expected_count = 0
    wrong: list[str] = []
    for sample in samples:
        index = make_index(sample.session.messages)
        for boundary in at_shares(sample.session):
            expected = _needed(sample, index, boundary)
            extracted = {need.entity for need in index.demand(boundary).needs}
            hits += len(extracted & expected)
            extracted_count += len(extracted)
            expected_count += len(expected)
            for entity in sorted(extracted ^ expected):
                wrong.append(f"{entity.text} in {sample.session.id} at {boundary}")
    precision = _share(hits, extracted_count)
    recall = _share(hits, expected_count)
    holds = precision >= ENOUGH and recall >= ENOUGH
    return check(
        "planted dependencies",
        "on generated sessions the extractor finds later needs with precision and recall of at"
        f" least {ENOUGH}",
        holds if expected_count else None,
        f"precision {precision:.3f}, recall {recall:.3f} of {expected_count} planted dependencies",
        [] if holds or not expected_count else wrong,
    )


def _share(part: int, total: int) -> float:
    """A part of a total; 0 where there is none."""
    return part / total if total else 0.0


def _two_of_each_profile() -> Iterator[Generated]:
    for profile in VOCABULARY:
        yield generate(TOKENS, 0, profile)
        yield generate(TOKENS, 1, profile)


def _needed(sample: Generated, index: Index, boundary: int) -> set[Entity]:
    """What was planted before a boundary and is used after it, within the horizon."""
    place_of = sample.session.index_of
    names = index.inverted_index.names
    entities: set[Entity] = set()
    for fact in sample.facts:
        is_said_before = place_of[fact.message] < boundary
        uses = [place_of[use] for use in fact.uses]
        later_uses = [use for use in uses if use >= boundary]
        if not is_said_before or not later_uses:
            continue
        if later_uses[0] >= boundary + HORIZON:
            continue
        for number in index.read((fact.entity,)).entities:
            entities.add(names[number])
    return entities


def placebo(sessions: Sequence[Prepared]) -> Check:
    """Futures that belong to other projects need next to nothing of a history."""
    own_demand = 0
    foreign_demand = 0
    pairs = 0
    worst: list[str] = []
    for prepared_session, stranger in _unrelated(sessions):
        session = prepared_session.session
        # one boundary a pair: extraction is the cost
        boundary = at_shares(session)[0]
        demand = len(prepared_session.index.demand(boundary))
        foreign_index = _with_future_of(stranger, prepared_session, boundary)
        swapped = len(foreign_index.demand(boundary))
        pairs += 1
        own_demand += demand
        foreign_demand += swapped
        if swapped > CHANCE * max(demand, 10):
            worst.append(
                f"{session.id} at {boundary} with the future of {stranger.session.id}:"
                f" {swapped} of {demand}"
            )
    rate = _share(foreign_demand, own_demand)
    return check(
        "placebo futures",
        f"with the future of an unrelated project at most {CHANCE:.0%} of the demand is left",
        rate <= CHANCE if own_demand else None,
        f"{foreign_demand} of {own_demand} demanded things ({rate:.1%}) over {pairs} swapped futures",
        worst if rate > CHANCE else (),
    )


def _with_future_of(stranger: Prepared, prepared_session: Prepared, boundary: int) -> Index:
    """The index of a history that goes on as another session does."""
    session = prepared_session.session
    start = at_shares(stranger.session)[0]
    past = session.messages[:boundary]
    future = stranger.session.messages[start:]
    background = prepared_session.index.background
    return Index((*past, *future), session.cwd, background)


def _unrelated(sessions: Sequence[Prepared]) -> Iterator[tuple[Prepared, Prepared]]:
    """Each session with the next one of another project."""
    long_enough = [session for session in sessions if at_shares(session.session)]
    for place, prepared_session in enumerate(long_enough):
        project = prepared_session.session.project
        strangers = long_enough[place + 1 :] + long_enough[:place]
        for stranger in strangers:
            is_of_another = stranger.session.project != project
            if is_of_another or not project:
                yield prepared_session, stranger
                break


SHARE = 0.2
STRATEGIES = ("truncate", "summarize", "pipeline")


def blindness(
    sessions: Sequence[Prepared],
    presets: Sequence[Preset] | None = None,
    model: Model | None = None,
) -> Check:
    """The same history under another name and with another future is compacted to the same
    bytes.
    """
    strategies = presets or [preset(name) for name in STRATEGIES]
    tried = 0
    apart: list[str] = []
    for prepared_session in sessions:
        boundaries = at_shares(prepared_session.session, (0.5,))
        if not boundaries:
            continue
        relabelled = _relabelled(prepared_session, boundaries[0])
        for strategy in strategies:
            tried += 1
            original_bytes = _sent(strategy, prepared_session, boundaries, model)
            relabelled_bytes = _sent(strategy, relabelled, boundaries, model)
            if relabelled_bytes != original_bytes:
                session_id = prepared_session.session.id
                apart.append(f"{strategy.name} on {session_id} at {boundaries[0]}")
    return check(
        "blindness",
        "a strategy sends the same bytes whatever the session is called and whatever comes later",
        not apart if tried else None,
        f"{tried - len(apart)} of {tried} contexts are the same",
        apart,
    )


def _sent(
    strategy: Preset,
    prepared_session: Prepared,
    boundaries: tuple[int, ...],
    model: Model | None,
) -> str:
    """What a strategy sends at the first of some boundaries."""
    replay = matched(
        prepared_session.session,
        strategy,
        # as a replay asks it: it knows what the index has read
        prepared_session.reader(model or Extractive()),
        prepared_session.sizing,
        window=prepared_session.window,
        boundaries=boundaries,
        shares=(SHARE,),
    )
    return repr(replay.snapshots[0].context.messages)


def _relabelled(prepared_session: Prepared, boundary: int) -> Prepared:
    """The same history with every later message saying something else, under another name."""
    session = prepared_session.session
    sizing = prepared_session.sizing
    log = Log()
    for number, message in enumerate(session.messages):
        new_message = message
        if number >= boundary:
            new_message = _other_message(message, number)
        entry = MessageEntry(
            id=new_message.id,
            parent=log.leaf,
            message=new_message,
        )
        log.append(entry)
    renamed = replace(
        session,
        id="relabelled",
        log=log,
        title="",
        project="relabelled",
    )
    later_messages = renamed.messages[boundary:]
    later_sizes = tuple(map(sizing.count, later_messages))
    sizes = sizing.sizes[:boundary] + later_sizes
    relabelled = prepared(renamed, prepared_session.window)
    return replace(relabelled, sizing=replace(sizing, sizes=sizes))


def _other_message(message: Message, number: int) -> Message:
    """A message of the same speaker that says something else."""
    if message.role == "assistant":
        return replace(
            message,
            blocks=(Text(f"another answer {number}"),),
            usage=None,
        )
    return UserMessage(id=message.id, blocks=(Text(f"another wish {number}"),))


CLOSE = 0.02
"""The share by which the replay's prompts and cache reads may miss the reported ones in the
median session.
"""


def reconciliation(
    sessions: Sequence[Prepared],
    predict: Callable[[Session, Sizing, Pricing], Reconciliation] = reconcile,
) -> Check:
    """The replay without compaction reproduces the reported prompts and cache reads.

    A session's error is the median over its requests; what must be close is the median over the
    sessions, and each session farther off is named. A session whose first report is far above what
    the recording shows is left out: it goes on from another file, or its overhead is wrong, and
    following it hides which.
    """
    errors: dict[str, UsageError] = {}
    left_out = 0
    for prepared_session in sessions:
        session = prepared_session.session
        predicted = predict(session, prepared_session.sizing, pricing(session))
        if predicted.turns["unseen start"]:
            left_out += 1
            continue
        prompt = predicted.error("prompt")
        read = predicted.error("read")
        if prompt is not None and read is not None:
            errors[session.id] = UsageError(prompt, read)
    far = []
    for name, error in errors.items():
        if max(error) > CLOSE:
            far.append((max(error), name))
    far.sort(reverse=True)
    holds = None
    if errors:
        medians = _median_error(list(errors.values()))
        holds = medians.prompt <= CLOSE and medians.read <= CLOSE
    return check(
        "reported usage",
        f"replayed without compaction, prompts and cache reads are within {CLOSE:.0%} of those"
        " reported",
        holds,
        _usage_words(list(errors.values()), left_out),
        [f"{name}: {share:.1%} off" for share, name in far],
    )


class UsageError(NamedTuple):
    """By which shares the replay of a session misses what was reported."""

    prompt: float
    read: float


def _median_error(errors: Sequence[UsageError]) -> UsageError:
    """Of the prompts and of the cache reads, each by itself."""
    prompt = median(error.prompt for error in errors)
    read = median(error.read for error in errors)
    return UsageError(prompt, read)


def _usage_words(errors: Sequence[UsageError], left_out: int) -> str:
    without = ""
    if left_out:
        without = f"; {left_out} left out, whose start is not in the recording"
    if not errors:
        return f"no session reports usage that fits one law{without}"
    medians = _median_error(errors)
    close_count = sum(max(error) <= CLOSE for error in errors)
    return (
        f"median session: prompts {medians.prompt:.1%} off, cache reads {medians.read:.1%};"
        f" {close_count} of {len(errors)} sessions with usage are within {CLOSE:.0%}{without}"
    )
