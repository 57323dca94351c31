"""Checks of the measure on sessions and on a run: what must hold, what was measured, and whether
it holds.
"""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from statistics import median
from typing import Literal

from workbench.engine.compaction.presets import preset
from workbench.engine.compaction.strategy import Preset
from workbench.engine.extraction.entities import Entity
from workbench.engine.models.extractive import Extractive
from workbench.engine.models.model import Model
from workbench.engine.transcript.log import Log, MessageEntry
from workbench.engine.transcript.message import Message, Text, UserMessage
from workbench.engine.transcript.session import Session
from workbench.evaluation.experiment.prepared import Prepared, prepared
from workbench.evaluation.experiment.store import Results
from workbench.evaluation.metrics import NAMES
from workbench.evaluation.metrics.costs.pricing import Pricing, pricing
from workbench.evaluation.metrics.costs.reconciliation import Reconciliation, reconcile
from workbench.evaluation.metrics.demand import HORIZON
from workbench.evaluation.metrics.index import Index
from workbench.evaluation.replays.boundaries import at_shares
from workbench.evaluation.replays.matched import matched
from workbench.evaluation.replays.sizing import Sizing
from workbench.recordings.datasets.generator import VOCABULARY, Generated, generate


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
    outcome: Literal["passed", "failed", "skipped"]
    found: str
    where: tuple[str, ...] = ()

    @property
    def failed(self) -> bool:
        """Whether the claim does not hold."""
        return self.outcome == "failed"


def check(
    name: str, claim: str, holds: bool | None, measured: str, where: Sequence[str] = ()
) -> Check:
    """An outcome; `holds` is None where there was nothing to check."""
    return Check(
        name,
        claim,
        "skipped" if holds is None else "passed" if holds else "failed",
        measured,
        tuple(where[:3]),
    )


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

    `made` are sessions with what was planted in them; by default two of each profile are generated.
    """
    sessions = (
        [generate(TOKENS, seed, profile) for profile in VOCABULARY for seed in (0, 1)]
        if generated is None
        else generated
    )
    hit = extracted_count = true = 0
    wrong: list[str] = []
    for sample in sessions:
        index = make_index(sample.session.messages)
        for boundary in at_shares(sample.session):
            expected = _needed(sample, index, boundary)
            extracted = {need.entity for need in index.demand(boundary).needs}
            hit, extracted_count, true = (
                hit + len(extracted & expected),
                extracted_count + len(extracted),
                true + len(expected),
            )
            wrong += [
                f"{entity.text} in {sample.session.id} at {boundary}"
                for entity in sorted(extracted ^ expected)
            ]
    precision, recall = (
        (hit / extracted_count if extracted_count else 0.0),
        (hit / true if true else 0.0),
    )
    return check(
        "planted dependencies",
        "on generated sessions the extractor finds later needs with precision and recall of at"
        f" least {ENOUGH}",
        (precision >= ENOUGH and recall >= ENOUGH) if true else None,
        f"precision {precision:.3f}, recall {recall:.3f} of {true} planted dependencies",
        wrong if true and min(precision, recall) < ENOUGH else (),
    )


def _needed(sample: Generated, index: Index, boundary: int) -> set[Entity]:
    """What was planted before a boundary and is used after it, within the horizon."""
    place = sample.session.index_of
    entities: set[Entity] = set()
    for fact in sample.facts:
        later_uses = [place[use] for use in fact.uses if place[use] >= boundary]
        if place[fact.message] < boundary and later_uses and later_uses[0] < boundary + HORIZON:
            entities.update(
                index.inverted_index.names[number] for number in index.read((fact.entity,)).entities
            )
    return entities


def placebo(sessions: Sequence[Prepared]) -> Check:
    """Futures that belong to other projects need next to nothing of a history."""
    own_demand = foreign_demand = pairs = 0
    worst: list[str] = []
    for prepared_session, stranger in _unrelated(sessions):
        boundary = at_shares(prepared_session.session)[
            0
        ]  # one boundary a pair: extraction is the cost
        foreign_future = stranger.session.messages[at_shares(stranger.session)[0] :]
        swapped = Index(
            (*prepared_session.session.messages[:boundary], *foreign_future),
            prepared_session.session.cwd,
            prepared_session.index.background,
        )
        mine, theirs = len(prepared_session.index.demand(boundary)), len(swapped.demand(boundary))
        own_demand, foreign_demand, pairs = own_demand + mine, foreign_demand + theirs, pairs + 1
        if theirs > CHANCE * max(mine, 10):
            worst.append(
                f"{prepared_session.session.id} at {boundary} with the future of {stranger.session.id}: {theirs} of"
                f" {mine}"
            )
    rate = foreign_demand / own_demand if own_demand else 0.0
    return check(
        "placebo futures",
        f"with the future of an unrelated project at most {CHANCE:.0%} of the demand is left",
        rate <= CHANCE if own_demand else None,
        f"{foreign_demand} of {own_demand} demanded things ({rate:.1%}) over {pairs} swapped futures",
        worst if rate > CHANCE else (),
    )


def _unrelated(sessions: Sequence[Prepared]) -> Iterator[tuple[Prepared, Prepared]]:
    """Each session with the next one of another project."""
    good = [
        prepared_session for prepared_session in sessions if at_shares(prepared_session.session)
    ]
    for i, prepared_session in enumerate(good):
        strangers = (
            stranger
            for stranger in good[i + 1 :] + good[:i]
            if stranger.session.project != prepared_session.session.project
            or not prepared_session.session.project
        )
        if (stranger := next(strangers, None)) is not None:
            yield prepared_session, stranger


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
    tried, apart = 0, []
    for prepared_session in sessions:
        boundaries = at_shares(prepared_session.session, (0.5,))
        for strategy in presets or map(preset, STRATEGIES) if boundaries else ():
            tried += 1
            sent = set()
            for variant in (prepared_session, _relabelled(prepared_session, boundaries[0])):
                # as a replay asks it: it knows what the index has read
                writer = variant.reader(model or Extractive())
                replay = matched(
                    variant.session,
                    strategy,
                    writer,
                    variant.sizing,
                    window=prepared_session.window,
                    at=boundaries,
                    shares=(SHARE,),
                )
                sent.add(repr(replay.snapshots[0].context.messages))
            if len(sent) > 1:
                apart.append(f"{strategy.name} on {prepared_session.session.id} at {boundaries[0]}")
    return check(
        "blindness",
        "a strategy sends the same bytes whatever the session is called and whatever comes later",
        not apart if tried else None,
        f"{tried - len(apart)} of {tried} contexts are the same",
        apart,
    )


def _relabelled(prepared_session: Prepared, boundary: int) -> Prepared:
    """The same history with every later message saying something else, under another name."""
    log = Log()
    for i, message in enumerate(prepared_session.session.messages):
        new: Message = message
        if i >= boundary and message.role == "assistant":
            new = replace(message, blocks=(Text(f"another answer {i}"),), usage=None)
        elif i >= boundary:
            new = UserMessage(id=message.id, blocks=(Text(f"another wish {i}"),))
        log.append(MessageEntry(id=new.id, parent=log.leaf, message=new))
    renamed = replace(
        prepared_session.session, id="relabelled", log=log, title="", project="relabelled"
    )
    sizes = prepared_session.sizing.sizes[:boundary] + tuple(
        prepared_session.sizing.count(message) for message in renamed.messages[boundary:]
    )
    return replace(
        prepared(renamed, prepared_session.window),
        sizing=replace(prepared_session.sizing, sizes=sizes),
    )


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
    errors: dict[str, tuple[float, float]] = {}
    left_out = 0
    for prepared_session in sessions:
        predicted = predict(
            prepared_session.session, prepared_session.sizing, pricing(prepared_session.session)
        )
        left_out += predicted.turns["unseen start"] > 0
        prompt, read = predicted.error("prompt"), predicted.error("read")
        if not predicted.turns["unseen start"] and prompt is not None and read is not None:
            errors[prepared_session.session.id] = prompt, read
    prompts, reads = ([pair[i] for pair in errors.values()] for i in (0, 1))
    far = sorted(
        ((max(pair), name) for name, pair in errors.items() if max(pair) > CLOSE), reverse=True
    )
    return check(
        "reported usage",
        f"replayed without compaction, prompts and cache reads are within {CLOSE:.0%} of those"
        " reported",
        None if not errors else median(prompts) <= CLOSE and median(reads) <= CLOSE,
        _found(prompts, reads, left_out),
        [f"{name}: {off:.1%} off" for off, name in far],
    )


def _found(prompts: Sequence[float], reads: Sequence[float], left_out: int) -> str:
    without = f"; {left_out} left out, whose start is not in the recording" if left_out else ""
    if not prompts:
        return f"no session reports usage that fits one law{without}"
    close = sum(
        prompt <= CLOSE and read <= CLOSE for prompt, read in zip(prompts, reads, strict=True)
    )
    text = f"median session: prompts {median(prompts):.1%} off, cache reads {median(reads):.1%}"
    return f"{text}; {close} of {len(prompts)} sessions with usage are within {CLOSE:.0%}{without}"


REFERENCES = frozenset({"none", "null", "random", "oracle", "recorded"})
TINY = 1e-9
PLACE = ["session", "mode", "share"]
AT_SIZE = ["strategy", "session", "share"]


def floor(run: Results) -> Check:
    """The reference `null` is 0 on the scale, and never above the median strategy."""
    scores = run.table("scores")
    rows = scores[(scores["metric"] == NAMES) & scores["value"].notna()].copy()
    rows["share"] = rows["share"].fillna(-1.0)
    null = rows[rows["strategy"] == "null"]
    bent = null[null["scaled"].notna() & (null["scaled"].abs() > TINY)]
    contenders = rows[~rows["strategy"].isin(REFERENCES)]
    middle = contenders.groupby(PLACE)["value"].median().rename("median").reset_index()
    both = null.merge(middle, on=PLACE)
    above = both[both["value"] > both["median"] + TINY]
    wrong = [
        f"{row.session}, {row.mode}: null is {row.scaled} on the scale" for row in bent.itertuples()
    ]
    wrong += [
        f"{row.session}, {row.mode}: null {row.value:.3f}, median {row.median:.3f}"
        for row in above.itertuples()
    ]
    return check(
        "floor",
        "the reference null is 0 on the scale and never above the median strategy",
        not wrong if len(both) else None,
        f"{len(both) - len(above)} of {len(both)} times not above the median",
        wrong,
    )


def ceiling(run: Results) -> Check:
    """No strategy whose contexts are all within the budget answers more than the reference
    `oracle` there.
    """
    scores = run.table("scores")
    rows = scores[
        (scores["metric"] == NAMES) & (scores["mode"] == "matched") & scores["value"].notna()
    ]
    fired = run.table("compactions")
    fired = fired[fired["mode"] == "matched"]
    within = (
        (fired["tokens_sent"] <= fired["target"]).groupby([fired[name] for name in AT_SIZE]).all()
    )
    best = (
        rows[rows["strategy"] == "oracle"].set_index(["session", "share"])["value"].rename("oracle")
    )
    both = rows[~rows["strategy"].isin(REFERENCES)].join(best, on=["session", "share"], how="inner")
    both = both[both.set_index(AT_SIZE).index.isin(within.index[within])]
    above = both[both["value"] > both["oracle"] + TINY]
    wrong = [
        f"{r.strategy} on {r.session} at {r.share:g}: {r.value:.3f}, oracle {r.oracle:.3f}"
        for r in above.itertuples()
    ]
    return check(
        "ceiling",
        "no strategy within its budget answers more of the exam than the reference oracle at the"
        " same size",
        not wrong if len(both) else None,
        f"{len(both) - len(above)} of {len(both)} means are not above it",
        wrong,
    )
