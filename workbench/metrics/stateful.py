"""Whether a context knows how things stand: files, replaced values, announced work, doubts, demands of the user.

All are counts over the whole session: the counts of its boundaries are added up before they are divided, so that a
boundary with few things weighs little. Definitions of the things stand in `artifacts.py`, `superseded.py`, `work.py`,
`overclaim.py` and `workbench.extraction.statements`.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from workbench.metrics.metric import Better, MetricInput, Score, Unit
from workbench.metrics.reacquisition import reacquisition_tokens
from workbench.metrics.states import What

NO_BOUNDARY = Score(None, "no boundary to score: the history never fills the window, or is too short")


def _share(data: MetricInput, what: What, state: str, why: str) -> Score:
    """Of all things of a sort at all boundaries, the share in this state; `n` is their number."""
    if not data.snapshots:
        return NO_BOUNDARY
    good = sum(one.get((what, state), 0) for one in data.states)
    whole = sum(n for one in data.states for (sort, _), n in one.items() if sort == what)
    return Score(good / whole, n=whole) if whole else Score(None, why)


@dataclass(frozen=True, slots=True)
class ConstraintRecall:
    """The user's demands that the context still states, over all that the history has.

    Unit share, in [0, 1], higher is better. Denominator: the statements of kind `constraint` of the history, each
    once a boundary. Still stated: the message is there, or one line has 60 % of its words, by their rarity. Failure
    mode: a demand in words without a sign of one is not seen; a paraphrase in other words counts as lost; a demand that
    was taken back counts still.
    """

    name: ClassVar[str] = "constraint_recall"
    unit: ClassVar[Unit] = "share"
    better: ClassVar[Better] = "higher"

    def score(self, data: MetricInput, /) -> Score:
        """Added up over the boundaries; `n` is the number of demands, each once a boundary."""
        if not data.snapshots:
            return NO_BOUNDARY
        found = [kinds["constraint"] for kinds in data.recalled if "constraint" in kinds]
        kept, whole = sum(one for one, _ in found), sum(every for _, every in found)
        return Score(kept / whole, n=whole) if whole else Score(None, "the user demanded nothing that was recognised")


@dataclass(frozen=True, slots=True)
class FilesCorrect:
    """The files worked on that the context names and of which it knows nothing older than their last change.

    Unit share, in [0, 1], higher is better. Denominator: the files that a tool call of the history read or changed,
    each once a boundary. Failure mode: any mention after the last change counts as knowing it; changes by scripts are
    not seen.
    """

    name: ClassVar[str] = "files_correct"
    unit: ClassVar[Unit] = "share"
    better: ClassVar[Better] = "higher"

    def score(self, data: MetricInput, /) -> Score:
        """Added up over the boundaries; `n` is the number of files, each once a boundary."""
        return _share(data, "file", "correct", "no tool call works on a file")


@dataclass(frozen=True, slots=True)
class FilesStale:
    """The files of which the context shows only what is older than their last change: worse than nothing.

    Unit share, in [0, 1], lower is better. Denominator and failure modes as `files_correct`; the rest is lost.
    """

    name: ClassVar[str] = "files_stale"
    unit: ClassVar[Unit] = "share"
    better: ClassVar[Better] = "lower"

    def score(self, data: MetricInput, /) -> Score:
        """Added up over the boundaries; `n` is the number of files, each once a boundary."""
        return _share(data, "file", "stale", "no tool call works on a file")


@dataclass(frozen=True, slots=True)
class LatestValue:
    """The replaced values of which the context gives the newest one, alone or beside the old one.

    Unit share, in [0, 1], higher is better. Denominator: the values that the history replaced, each once a boundary.
    Which of the two it is stands in the table `states`: the whole history gives both, a good summary the newest.
    Failure mode: a change whose words do not say so is not seen.
    """

    name: ClassVar[str] = "value_latest"
    unit: ClassVar[Unit] = "share"
    better: ClassVar[Better] = "higher"

    def score(self, data: MetricInput, /) -> Score:
        """Added up over the boundaries: `latest` and `both`; `n` is the number of values, each once a boundary."""
        latest = _share(data, "value", "latest", "no value was replaced")
        both = _share(data, "value", "both", "no value was replaced")
        if latest.value is None or both.value is None:
            return latest
        return Score(latest.value + both.value, n=latest.n)


@dataclass(frozen=True, slots=True)
class StaleValue:
    """The replaced values of which the context gives the old one alone.

    Unit share, in [0, 1], lower is better. Denominator and failure mode as `value_latest`.
    """

    name: ClassVar[str] = "value_stale"
    unit: ClassVar[Unit] = "share"
    better: ClassVar[Better] = "lower"

    def score(self, data: MetricInput, /) -> Score:
        """Added up over the boundaries; `n` is the number of values, each once a boundary."""
        return _share(data, "value", "stale", "no value was replaced")


@dataclass(frozen=True, slots=True)
class PendingRecall:
    """The open pieces of work that the context still states.

    Unit share, in [0, 1], higher is better. Denominator: what the history announced and nobody called done, each once a
    boundary. Failure mode: work that was done without a word stays open; a paraphrase counts as lost.
    """

    name: ClassVar[str] = "pending_recall"
    unit: ClassVar[Unit] = "share"
    better: ClassVar[Better] = "higher"

    def score(self, data: MetricInput, /) -> Score:
        """Added up over the boundaries; `n` is the number of open pieces of work, each once a boundary."""
        return _share(data, "open work", "stated", "no open work was recognised")


@dataclass(frozen=True, slots=True)
class Resurrected:
    """The finished pieces of work that the context states as still to do, and nowhere as done.

    Unit share, in [0, 1], lower is better. Denominator: what the history announced and then called done, each once a
    boundary. Failure mode: a context that says nothing of it is at 0 as well.
    """

    name: ClassVar[str] = "work_resurrected"
    unit: ClassVar[Unit] = "share"
    better: ClassVar[Better] = "lower"

    def score(self, data: MetricInput, /) -> Score:
        """Added up over the boundaries; `n` is the number of finished pieces of work, each once a boundary."""
        return _share(data, "done work", "resurrected", "no finished work was recognised")


@dataclass(frozen=True, slots=True)
class Overclaimed:
    """The doubtful or denied values that a summary names without the doubt.

    Unit share, in [0, 1], lower is better. Denominator: the entities that summaries name and that every line of the
    history before them hedges or denies, each once a boundary. Failure mode: a hedge in the line before, and any hedge
    in another language than English, is not seen.
    """

    name: ClassVar[str] = "overclaim"
    unit: ClassVar[Unit] = "share"
    better: ClassVar[Better] = "lower"

    def score(self, data: MetricInput, /) -> Score:
        """Added up over the boundaries; `n` is the number of doubtful values named, each once a boundary."""
        return _share(data, "doubt", "dropped", "no summary names a value that the history is unsure of")


@dataclass(frozen=True, slots=True)
class Reacquisition:
    """Tokens of the tool results to fetch again, because something in them was lost and is needed later.

    Unit tokens at a boundary, >= 0, lower is better. Each source counts once a boundary, with its recorded size.
    Denominator: the boundaries. Failure mode: a narrower call might do; the file may have changed since; an agent may
    go on without asking.
    """

    name: ClassVar[str] = "reacquisition"
    unit: ClassVar[Unit] = "tokens"
    better: ClassVar[Better] = "lower"

    def score(self, data: MetricInput, /) -> Score:
        """The mean over the boundaries; `n` is their number."""
        if not data.retained:
            return NO_BOUNDARY
        sizes = data.replay.sizing.sizes
        tokens = [reacquisition_tokens(one.retention, sizes) for one in data.retained]
        return Score(sum(tokens) / len(tokens), n=len(tokens))
