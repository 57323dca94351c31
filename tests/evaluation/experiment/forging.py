"""Runs four sessions, one of which is forged, and says how far that moves the figures and
whether it is said.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TypeAlias

from evaluation.experiment.forged import FORGED, FORGERIES, honest

from workbench import Session, compare, save
from workbench.evaluation.findings.tables import Tables
from workbench.evaluation.findings.trust import trust_sentences

NAMES = "exam_recall"

NEAR = 0.02
"""By how much a figure may move without a word: shares of the bill, of tokens, and of names."""
WINDOWS = (6_000, None)
"""Of the runs: one for all sessions, and each session's own."""
STRATEGIES = ("truncate", "summarize", "pipeline")
Figures: TypeAlias = Mapping[tuple[str, str], float]
"""By strategy and figure."""


@dataclass(frozen=True, slots=True)
class Outcome:
    """How far a forgery moves any figure, and the sentences that name the forged session."""

    moved: float
    sentences: tuple[str, ...]

    @property
    def is_silent(self) -> bool:
        """Whether a figure moved and nothing was said."""
        return self.moved > NEAR and not self.sentences


def figures_of(folder: Path, window: int | None) -> Figures:
    """The figures of a run over the four sessions as they are."""
    return _figures(_run(folder, [honest(0)], window))


def outcome_of(name: str, folder: Path, window: int | None, untouched: Figures) -> Outcome:
    """What a forgery comes to, held against the figures of the untouched run in the same window."""
    run = _run(folder, FORGERIES[name](honest(0)), window)
    figures = _figures(run)
    moved = max(abs(figures.get(place, float("inf")) - value) for place, value in untouched.items())
    sentences = [*trust_sentences(run), *map(str, run.unreadable["reason"])]
    return Outcome(moved, tuple(sentence for sentence in sentences if FORGED in sentence))


def _run(folder: Path, forged: Sequence[Session], window: int | None) -> Tables:
    sessions = [*forged, *map(honest, (1, 2, 3))]
    recordings = folder / "recordings"
    recordings.mkdir(exist_ok=True)
    files = []
    for session in sessions:
        files.append(recordings / f"{session.id}.jsonl")
        save(session, files[-1])
    out = folder / f"run in {window}"
    return Tables.of(
        compare(files, strategies=STRATEGIES, window=window, shares=(), out=out, quiet=True)
    )


def _figures(run: Tables) -> Figures:
    figures: dict[tuple[str, str], float] = {}
    for strategy in STRATEGIES:
        estimates = {
            "cost saved": run.net_saving(strategy),
            "tokens saved": run.own_trigger(strategy, "tokens_saved"),
            "names": run.own_trigger(strategy, NAMES),
        }
        figures |= {
            (strategy, name): estimate.mean
            for name, estimate in estimates.items()
            if estimate is not None
        }
    return figures
