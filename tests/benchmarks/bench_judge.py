"""Prints how often the corrected share of a judge with planted errors lies within its interval.

Usage: python tests/benchmarks/bench_judge.py [SIMULATIONS A ROW]

Each simulation: a pool of judged answers, of which a person labels 25 that the judge called right and 25 that it called
wrong; another set of answers is judged, and its true share of right answers is estimated from the verdicts.
"""

from __future__ import annotations

import sys
from pathlib import Path

import numpy as np

sys.path.insert(0, str(Path(__file__).parent.parent))

from workbench.judge.calibration import Corrected, Labels, corrected

POOL, ANSWERS, EACH = 200, 300, 25


def judged(right: np.ndarray, sensitive: float, specific: float, rng: np.random.Generator) -> np.ndarray:
    """The verdicts on answers of which we know the truth."""
    return np.where(right, rng.random(len(right)) < sensitive, rng.random(len(right)) >= specific)


def once(share: float, pool_share: float, sensitive: float, specific: float, seed: int) -> Corrected:
    rng = np.random.default_rng(seed)
    truth = rng.random(POOL) < pool_share
    verdicts = judged(truth, sensitive, specific, rng)
    chosen = np.concatenate([rng.permutation(np.flatnonzero(verdicts == kind))[:EACH] for kind in (True, False)])
    labels = Labels.of(verdicts[chosen].tolist(), truth[chosen].tolist(), (int(verdicts.sum()), int((~verdicts).sum())))
    right = rng.random(ANSWERS) < share
    found = judged(right, sensitive, specific, rng)
    return corrected([int(found.sum())], [ANSWERS], labels, seed)


def coverage(
    share: float, pool_share: float, sensitive: float, specific: float, times: int
) -> tuple[float, float, int]:
    """The share of simulations whose interval holds the truth, the mean bias, and how many gave no number."""
    inside, bias, silent = 0, 0.0, 0
    for seed in range(times):
        found = once(share, pool_share, sensitive, specific, seed).share
        if found is None:
            silent += 1
        else:
            inside += found.low <= share <= found.high
            bias += found.value - share
    told = max(times - silent, 1)
    return inside / told, bias / told, silent


def main() -> None:
    times = int(sys.argv[1]) if len(sys.argv) > 1 else 1_000
    print("share right, in the pool, sensitivity, specificity: coverage of the 95 % interval, bias, no number")
    every = []
    for sensitive, specific in ((0.95, 0.95), (0.9, 0.8), (0.8, 0.9), (0.75, 0.75)):
        for share, pool in ((0.2, 0.5), (0.5, 0.5), (0.8, 0.5), (0.6, 0.3), (0.4, 0.7), (0.95, 0.6)):
            held, bias, silent = coverage(share, pool, sensitive, specific, times)
            every.append(held)
            print(f"  {share:.2f}  {pool:.2f}  {sensitive:.2f}  {specific:.2f}:  {held:.3f}  {bias:+.3f}  {silent}")
    print(f"mean {np.mean(every):.3f}, lowest {min(every):.3f}, over {len(every)} settings of {times} simulations")


if __name__ == "__main__":
    main()
