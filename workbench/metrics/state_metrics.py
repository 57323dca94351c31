"""Metrics: whether a context knows the user's demands and the state of files, replaced values, announced work, doubts.

All but `reacquisition` are shares in [0, 1] over the whole session: the counts of its boundaries are added up before
they are divided, so that a boundary with few things weighs little. `n` is the number of things, each once a boundary.
"""

from __future__ import annotations

from workbench.metrics.metric import MetricInput, Score, What, mean_score, metric
from workbench.metrics.recall import NO_BOUNDARY
from workbench.transcript.message import Summary, said_texts


def _share(data: MetricInput, what: What, states: tuple[str, ...], why: str) -> Score:
    """Of all things of a sort at all boundaries, the share in these states."""
    if not data.snapshots:
        return Score(None, NO_BOUNDARY)
    good = sum(one.get((what, state), 0) for one in data.states for state in states)
    whole = sum(n for one in data.states for (sort, _), n in one.items() if sort == what)
    return Score(good / whole, n=whole) if whole else Score(None, why)


@metric("share", "higher")
def constraint_recall(data: MetricInput) -> Score:
    """The user's demands that the context still states.

    Denominator: the statements of kind `constraint` of the history. Still stated: the message is there, or one line has
    60 % of its words, by their rarity. Fails to see a demand in words without a sign of one, and one that was taken
    back; a paraphrase in other words counts as lost.
    """
    if not data.snapshots:
        return Score(None, NO_BOUNDARY)
    found = [kinds["constraint"] for kinds in data.recalled if "constraint" in kinds]
    kept, whole = sum(one for one, _ in found), sum(every for _, every in found)
    return Score(kept / whole, n=whole) if whole else Score(None, "the user demanded nothing that was recognised")


@metric("share", "higher")
def pending_recall(data: MetricInput) -> Score:
    """The open pieces of work that the context still states.

    Denominator: what the history announced and nobody called done. Work that was done without a word stays open; a
    paraphrase counts as lost.
    """
    return _share(data, "open work", ("stated",), "no open work was recognised")


@metric("share", "lower")
def work_resurrected(data: MetricInput) -> Score:
    """The finished pieces of work that the context states as still to do, and nowhere as done.

    Denominator: what the history announced and then called done. A context that says nothing of it is at 0 as well.
    """
    return _share(data, "done work", ("resurrected",), "no finished work was recognised")


@metric("share", "higher")
def files_correct(data: MetricInput) -> Score:
    """The files that the context names and of which it knows nothing older than their last change.

    Denominator: the files that a tool call of the history read or changed. Any mention after the last change counts as
    knowing it; changes by scripts are not seen.
    """
    return _share(data, "file", ("correct",), "no tool call works on a file")


@metric("share", "lower")
def files_stale(data: MetricInput) -> Score:
    """The files of which the context shows only what is older than their last change: worse than nothing.

    Denominator and failure modes as `files_correct`; the rest is lost.
    """
    return _share(data, "file", ("stale",), "no tool call works on a file")


@metric("share", "higher")
def value_latest(data: MetricInput) -> Score:
    """The replaced values of which the context gives the newest one, alone or beside the old one.

    Denominator: the values that the history replaced. The table `states` says which of the two it is: the whole history
    gives both, a good summary the newest. A change whose words do not say so is not seen.
    """
    return _share(data, "value", ("latest", "both"), "no value was replaced")


@metric("share", "lower")
def value_stale(data: MetricInput) -> Score:
    """The replaced values of which the context gives the old one alone. Else as `value_latest`."""
    return _share(data, "value", ("stale",), "no value was replaced")


@metric("tokens", "lower")
def reacquisition(data: MetricInput) -> Score:
    """Tokens of the tool results to fetch again, because something in them was lost and is needed later.

    The mean over the boundaries, >= 0; `n` is their number. Each source counts once a boundary, with its recorded size.
    A narrower call might do; the file may have changed since; an agent may go on without asking.
    """
    sizes = data.replay.sizing.sizes
    tokens = [sum(sizes[at] for at in one.retention.sources_to_fetch()) for one in data.retained]
    return mean_score(tokens, NO_BOUNDARY)


@metric("share", "lower")
def fabrication(data: MetricInput) -> Score:
    """Entities of summaries that occur nowhere in the history before them. In [0, 1]; `n` is the number of entities.

    The marks that stages leave (a reference to the archive, how much was cut) are no fabrication: the writer saw them.
    """
    false, whole = 0, 0
    marks = [
        (event.at, text)
        for event in data.replay.events
        for stage in event.compaction.stages
        for message in stage.wrote
        if not isinstance(message, Summary)
        for text in said_texts(message)
    ]
    for one in data.retained:
        if one.view.generated:
            seen = "\n".join(text for at, text in marks if at <= one.snapshot.at)
            found, named = data.index.support.fabricated(one.snapshot.at, one.view.generated)
            false += sum(entity.text not in seen for entity in found)
            whole += named
    return Score(false / whole, n=whole) if whole else Score(None, "nothing was written anew")


@metric("share", "lower")
def overclaim(data: MetricInput) -> Score:
    """The doubtful or denied values that a summary names without the doubt.

    Denominator: the entities that summaries name and that every line of the history before them hedges or denies. A
    hedge in the line before, and any hedge in another language than English, is not seen.
    """
    return _share(data, "doubt", ("dropped",), "no summary names a value that the history is unsure of")
