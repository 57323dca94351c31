"""Holds future-reference recall against a real model: does it rank contexts as the model's surprise does?

Usage: python tests/benchmarks/bench_surprisal.py [rank|whole] [--boundaries N] [--size TOKENS] [--weights NAME] [FILES]

`rank`: at each boundary five contexts of equal size (newest messages, random list of entities, half newest and half
best lines, texts without tool results, a summary), each scored by *bound* and by how much less surprising it makes the
demanded entities in their recorded use than the floor does (`null`: system prompt and newest user message). Prints
Spearman's rank correlation within a boundary, its mean with a bootstrap interval over sessions, and the mean gains.
`whole`: at how many boundaries the whole history leaves less surprise than the floor.

The sessions are the bundled ones unless files are named. Scores are kept in the cache folder, so a killed run goes on.
"""

from __future__ import annotations

import argparse
import sys
import time
from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path

import numpy as np
from scipy.stats import spearmanr

sys.path.insert(0, str(Path(__file__).parent.parent))

from benchmarks.recall_boundaries import FEWEST, Boundary, Ready

from workbench.analysis.paired import estimate
from workbench.compaction.engine import compact
from workbench.compaction.presets.own import NULL, SUMMARIZE
from workbench.compaction.stage import Budget
from workbench.compaction.strategy import Preset
from workbench.datasets.bundled import bundled
from workbench.importers.importer import load
from workbench.judge.question_answerer import context_text
from workbench.judge.surprisal.continuation import Surprise, Use, surprise, uses
from workbench.metrics.demand import Retention
from workbench.metrics.view import view
from workbench.models.extractive import Extractive
from workbench.models.likelihood_cache import CachedLikelihood
from workbench.models.tokenizer import TiktokenCounter
from workbench.models.weights import weights
from workbench.replay.boundaries import at_shares
from workbench.transcript.context import Context
from workbench.transcript.message import Message
from workbench.transcript.session import Session

SHARES = {"rank": (0.5, 0.8, 0.35, 0.65), "whole": (0.15, 0.25, 0.35, 0.5, 0.65, 0.8)}
"""In this order, so that a run that is stopped has looked at every session; few whole histories of more than half of a
session fit into the model's window."""

Text = tuple[str, Retention]
"""A context as the model is shown it, and what it retains."""

Groups = Mapping[str, list[float]]
"""Values by session, or by context."""


def contexts(one: Boundary, tokens: int) -> dict[str, Text]:
    demand, said = one.index.demand(one.at), one.session.messages
    half, newest = one.newest(tokens / 2), one.newest(tokens)
    lines, listed, texts = one.best_lines(half, tokens / 2), one.random_entities(tokens), one.without_results(tokens)
    return {
        "random list of entities": ("\n".join(listed), demand.retained([], listed)),
        "newest messages": (context_text(said[newest : one.at]), demand.retained(range(newest, one.at))),
        "half newest, half best lines": (
            "\n".join(lines) + "\n\n" + context_text(said[half : one.at]),
            demand.retained(range(half, one.at), lines),
        ),
        "newest texts without tool results": (
            context_text([said[i] for i in sorted(texts)]),
            demand.retained(texts),
        ),
        "summary": summary(one, tokens),
    }


def summary(one: Boundary, tokens: int) -> Text:
    """The agent's own where it compacted here, else the extractive model's with its kept tail."""
    demand = one.index.demand(one.at)
    for own in one.session.recorded:
        text = getattr(getattr(own.entry, "summary", None), "text", "")
        if own.at == one.at and text:
            return text, demand.retained([], [text])
    sent = sent_by(SUMMARIZE, one, tokens)
    seen = view(one.session, sent)
    return context_text(sent.messages), demand.retained(seen.kept, seen.texts)


def sent_by(preset: Preset, one: Boundary, tokens: int) -> Context:
    context = Context(one.session.messages[: one.at], tuple(one.sizes[: one.at]), 0, TiktokenCounter())
    return compact(context, preset.strategy, Budget(target=tokens, window=200_000, reason="matched"), Extractive()).sent


def boundaries(sessions: Sequence[Session], shares: Sequence[float], most: int) -> Iterator[Boundary]:
    ready = [Ready.of(session) for session in sessions]
    found = 0
    for share in shares:
        for one in ready:
            for at in at_shares(one.session, (share,)):
                if len(one.index.demand(at)) >= FEWEST and found < most:
                    found += 1
                    yield one.boundary(at)


def floor(one: Boundary, lines: Sequence[Use], model: CachedLikelihood) -> Surprise:
    return surprise(model, context_text(sent_by(NULL, one, 1).messages), lines)


def rank(every: Sequence[Boundary], model: CachedLikelihood, tokens: int) -> None:
    ranks: dict[str, list[float]] = defaultdict(list)
    gains: dict[str, list[float]] = defaultdict(list)
    bounds: dict[str, list[float]] = defaultdict(list)
    started = time.monotonic()
    for number, one in enumerate(every, 1):
        lines = uses(one.index.demand(one.at), 12)
        null = floor(one, lines, model)
        slots = sorted(null.nats)
        bound, gain, size = [], [], []
        for kind, (text, retention) in contexts(one, tokens).items():
            found = surprise(model, text, lines)
            bound.append(float(retention.level("bound")[slots].mean()))
            gain.append(null.per_entity - found.per_entity)
            size.append(len(text))
            gains[kind].append(gain[-1])
            bounds[kind].append(bound[-1])
        rho = float(spearmanr(bound, gain).statistic)
        ranks[one.session.id].append(rho)
        show = " ".join(f"{b:.2f}/{g:+.1f}" for b, g in zip(bound, gain, strict=True))
        print(
            f"{number:3} {one.session.id[:28]:28} before {one.at:4}: {len(slots):3} entities, "
            f"floor {null.per_entity:5.1f}"
            f" nats; bound/gain {show}; rho {rho:+.2f}  ({time.monotonic() - started:.0f} s)",
            flush=True,
        )
    report(ranks, gains, bounds)


def report(ranks: Groups, gains: Groups, bounds: Groups) -> None:
    every = np.array([rho for found in ranks.values() for rho in found])
    every = every[~np.isnan(every)]
    low, high = interval(ranks)
    surer = estimate([float(np.nanmean(found)) for found in ranks.values()], least=-1, most=1)
    told = f"{surer.low:.2f} to {surer.high:.2f}" if surer and surer.low and surer.high else "too few sessions"
    print(
        f"\nSpearman within a boundary: mean {every.mean():.2f} (95 % interval over sessions {told}; by redrawing them"
        f" {low:.2f} to {high:.2f}), median {np.median(every):.2f}, positive in {(every > 0).sum()} of {len(every)}"
        f" boundaries of {len(ranks)} sessions"
    )
    for kind in gains:
        print(f"  {kind:36} bound {np.mean(bounds[kind]):.2f}  gain {np.mean(gains[kind]):5.1f} nats an entity")


def interval(ranks: Groups, draws: int = 10_000) -> tuple[float, float]:
    """Sessions are drawn again, each with all its boundaries."""
    sums = np.array([np.nansum(found) for found in ranks.values()])
    counts = np.array([np.count_nonzero(~np.isnan(found)) for found in ranks.values()])
    drawn = np.random.default_rng(7).integers(len(sums), size=(draws, len(sums)))
    means = sums[drawn].sum(axis=1) / np.maximum(counts[drawn].sum(axis=1), 1)
    low, high = np.percentile(means, [2.5, 97.5])
    return float(low), float(high)


def whole(every: Sequence[Boundary], model: CachedLikelihood) -> None:
    lower, scored, large = 0, 0, 0
    for one in every:
        lines = uses(one.index.demand(one.at), 12)
        history: Sequence[Message] = one.session.messages[: one.at]
        text = context_text(history)
        if model.tokens(text) > model.window - 512:
            large += 1
            print(f"{one.session.id[:28]:28} before {one.at:4}: its history does not fit into the window", flush=True)
            continue
        full, null = surprise(model, text, lines), floor(one, lines, model)
        scored += 1
        lower += full.per_token < null.per_token
        print(
            f"{one.session.id[:28]:28} before {one.at:4}: {len(full.nats):3} entities, nats a token: whole history"
            f" {full.per_token:.2f}, floor {null.per_token:.2f}",
            flush=True,
        )
    print(f"\nthe whole history leaves less surprise than the floor at {lower} of {scored} boundaries", end="")
    print(f"; {large} histories do not fit" if large else "")


def main() -> None:
    ask = argparse.ArgumentParser()
    ask.add_argument("job", choices=["rank", "whole"], nargs="?", default="rank")
    ask.add_argument("files", nargs="*", type=Path)
    ask.add_argument("--boundaries", type=int, default=15)
    ask.add_argument("--size", type=int, default=3_000)
    ask.add_argument("--weights", default="gemma")
    given = ask.parse_args()
    sessions = [s for f in given.files for s in load(f, lenient=True)] if given.files else bundled()
    model = CachedLikelihood.of(weights(given.weights))
    every = list(boundaries(sessions, SHARES[given.job], given.boundaries))
    print(f"{model.name}: {len(every)} boundaries, contexts of {given.size} tokens")
    rank(every, model, given.size) if given.job == "rank" else whole(every, model)


if __name__ == "__main__":
    main()
