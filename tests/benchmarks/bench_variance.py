"""Prints how well planted variance components are found again.

Usage: python tests/benchmarks/bench_variance.py [SIMULATIONS]

Each simulation is a table of sessions x summarisers x readers x judges x replicates with known components, a tenth of
its rows missing.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Mapping
from itertools import product
from pathlib import Path

import numpy as np

sys.path.insert(0, str(Path(__file__).parent.parent))

from workbench.judge.variance.components import RESIDUAL, Component, components

LEVELS = {"session": 12, "summariser": 5, "reader": 5, "judge": 3, "replicate": 2}


def effects_of(planted: Mapping[str, float], rng: np.random.Generator) -> dict[str, np.ndarray]:
    return {name: rng.normal(0, planted[name] ** 0.5, n) for name, n in LEVELS.items() if name in planted}


def table(planted: Mapping[str, float], seed: int) -> tuple[list[float], dict[str, list[int]]]:
    rng = np.random.default_rng(seed)
    effects = effects_of(planted, rng)
    values: list[float] = []
    factors: dict[str, list[int]] = {name: [] for name in effects}
    for levels in product(*(range(n) for n in LEVELS.values())):
        if rng.random() < 0.1:
            continue
        at = dict(zip(LEVELS, levels, strict=True))
        values.append(0.6 + sum(effects[name][at[name]] for name in effects) + rng.normal(0, planted[RESIDUAL] ** 0.5))
        for name in effects:
            factors[name].append(at[name])
    return values, factors


def found(planted: Mapping[str, float], seed: int) -> Mapping[str, Component]:
    values, factors = table(planted, seed)
    return {one.factor: one for one in components(values, factors)}


NESTED = {"session": 16, "question": 6, "reader": 4, "replicate": 3}
"""Questions of their own for each session, each put to every reader several times."""


def asked(planted: Mapping[str, float], seed: int) -> tuple[list[float], dict[str, list[str]]]:
    """As `table`, with questions nested in sessions."""
    rng = np.random.default_rng(seed)
    drawn: dict[tuple[str, str], float] = {}

    def effect(name: str, level: str) -> float:
        return drawn.setdefault((name, level), rng.normal(0, planted[name] ** 0.5))

    values: list[float] = []
    factors: dict[str, list[str]] = {"reader": [], "session": [], "question": []}
    for session, question, reader, _ in product(*(range(n) for n in NESTED.values())):
        if rng.random() < 0.1:
            continue
        known = {"reader": f"r{reader}", "session": f"s{session}", "question": f"s{session} q{question}"}
        noise = rng.normal(0, planted[RESIDUAL] ** 0.5)
        values.append(0.6 + sum(effect(name, level) for name, level in known.items()) + noise)
        for name, level in known.items():
            factors[name].append(level)
    return values, factors


def found_nested(planted: Mapping[str, float], seed: int) -> Mapping[str, Component]:
    values, factors = asked(planted, seed)
    return {one.factor: one for one in components(values, factors, nested="question", inside="session")}


def main() -> None:
    times = int(sys.argv[1]) if len(sys.argv) > 1 else 200
    tell(times, {"session": 0.04, "summariser": 0.01, "reader": 0.0025, "judge": 0.0, RESIDUAL: 0.02}, found)
    tell(times, {"session": 0.01, "question": 0.04, "reader": 0.0025, RESIDUAL: 0.02}, found_nested)


def tell(
    times: int, planted: Mapping[str, float], find: Callable[[Mapping[str, float], int], Mapping[str, Component]]
) -> None:
    every = [find(planted, seed) for seed in range(times)]
    print(f"{times} tables; component: planted, mean found, share of 95 % intervals that hold it")
    for name, value in planted.items():
        parts = [one[name].variance for one in every]
        mean = np.mean([part.value for part in parts if part])
        held = np.mean([part.low <= value <= part.high for part in parts if part])
        print(f"  {name:12} {value:.4f}  {mean:.4f}  {held:.3f}")


if __name__ == "__main__":
    main()
