"""Prints how often intervals and tests are right, on samples whose truth is known, at 8, 20 and 60
sessions.

Usage: PYTHONPATH=. python tests/benchmarks/bench_statistics.py [--methods]
`--methods` adds the intervals that were tried and not taken (three kinds of bootstrap and Hall's).
A figure outside what its table aims at is marked with `!`. Shapes under "hard" break what every
method knows to ask for: they are shown so that nobody takes the tables above for a promise about
them.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Mapping

import numpy as np
from numpy.typing import NDArray
from scipy import special, stats

from workbench.evaluation.analysis.paired import interval, sign_flip
from workbench.evaluation.analysis.power import minimum_detectable
from workbench.evaluation.analysis.survival import survival

Floats = NDArray[np.float64]
Shape = Callable[[np.random.Generator, tuple[int, int]], Floats]
SESSIONS = (8, 20, 60)


def shares_of(few: int, near: tuple[float, float], loss: float) -> Shape:
    """Shares of a few demanded entities, with a hard or easy session for both strategies."""

    def draw(rng: np.random.Generator, size: tuple[int, int]) -> Floats:
        chance = rng.beta(*near, size)
        return (
            rng.binomial(few, chance, size) - rng.binomial(few, chance * (1 - loss), size)
        ) / few

    return draw


def ceiling(rng: np.random.Generator, size: tuple[int, int]) -> Floats:
    """Both keep all in most sessions."""
    one = np.where(rng.random(size) < 0.5, 1.0, rng.beta(8, 2, size))
    other = np.where(rng.random(size) < 0.4, 1.0, rng.beta(8, 2, size))
    return np.where(rng.random(size) < 0.4, 0.0, one - other)


def long_tailed_groups(rng: np.random.Generator, size: tuple[int, int]) -> Floats:
    session = rng.normal(0, 0.5, size)
    return np.exp(session + rng.normal(0, 0.4, size)) - 0.8 * np.exp(
        session + rng.normal(0, 0.4, size)
    )


SHAPES: Mapping[str, Shape] = {
    "normal": lambda rng, size: rng.normal(0.05, 0.1, size),
    "uniform": lambda rng, size: rng.uniform(-0.2, 0.4, size),
    "heavy tails (t, 3 df)": lambda rng, size: 0.1 * rng.standard_t(3, size),
    "heavy tails (Laplace)": lambda rng, size: rng.laplace(0.05, 0.1, size),
    "skewed groups (lognormal)": long_tailed_groups,
    "skewed (Weibull 1.5)": lambda rng, size: 0.1 * rng.weibull(1.5, size),
    "skewed (gamma 2)": lambda rng, size: rng.gamma(2, 0.05, size),
    "skewed (exponential)": lambda rng, size: rng.exponential(0.1, size),
    "shares, both near 1": lambda rng, size: rng.beta(18, 2, size) - rng.beta(9, 1.5, size),
    "shares, near 1 and spread": lambda rng, size: rng.beta(20, 1, size) - rng.beta(2, 2, size),
    "shares, both near 0": lambda rng, size: rng.beta(1, 9, size) - rng.beta(0.7, 9, size),
    "shares, one almost 0": lambda rng, size: rng.beta(1, 9, size) - rng.beta(0.3, 9, size),
    "shares of 10 entities": shares_of(10, (8, 2), 0.1),
    "shares of 5 entities near 1": shares_of(5, (18, 2), 0.1),
    "ties: half, three values": lambda rng, size: rng.choice(
        [-0.5, 0.0, 0.5], p=[0.15, 0.5, 0.35], size=size
    ),
    "ties: both at the ceiling": ceiling,
}
"""Differences a session. Those below were not looked at before the method was chosen."""

FRESH: Mapping[str, Shape] = {
    "fresh: Gumbel": lambda rng, size: rng.gumbel(0, 0.1, size),
    "fresh: triangular": lambda rng, size: rng.triangular(-0.1, 0.0, 0.5, size),
    "fresh: logistic": lambda rng, size: rng.logistic(0.02, 0.1, size),
    "fresh: shares of 20, near 0": shares_of(20, (2, 12), 0.3),
    "fresh: shares of 3": shares_of(3, (4, 2), 0.2),
    "fresh: squared normal + normal": lambda rng, size: (
        0.05 * rng.normal(size=size) ** 2 + rng.normal(0, 0.05, size)
    ),
}

HARD: Mapping[str, Shape] = {
    "hard: half tie, others gain": lambda rng, size: np.where(
        rng.random(size) < 0.5, 0.0, rng.beta(2, 4, size)
    ),
    "hard: one in five loses": lambda rng, size: np.where(
        rng.random(size) < 0.8, 0.0, -rng.beta(2, 4, size)
    ),
    "hard: one in ten loses": lambda rng, size: np.where(
        rng.random(size) < 0.9, 0.0, -rng.beta(2, 4, size)
    ),
    "hard: 15 % of another kind": lambda rng, size: np.where(
        rng.random(size) < 0.15, rng.normal(0.3, 0.1, size), rng.normal(0, 0.05, size)
    ),
    "hard: lognormal 0.7": lambda rng, size: np.exp(rng.normal(-3, 0.7, size)),
    "hard: lognormal 1": lambda rng, size: np.exp(rng.normal(-3, 1, size)),
}


def mean_of(shape: Shape) -> float:
    return float(shape(np.random.default_rng(99), (2_000, 5_000)).mean())


def held(ends: tuple[Floats, Floats], mean: float) -> tuple[float, float]:
    """Share of the shown intervals that hold the mean, and share of samples that show one: equal
    values do not.
    """
    low, high = ends
    shown = high - low > 1e-12
    return float(((low <= mean) & (mean <= high))[shown].mean()), float(shown.mean())


def mark(value: float, low: float, high: float) -> str:
    return f"{100 * value:6.1f}{' ' if low <= value <= high else '!'}"


def students(values: Floats) -> tuple[Floats, Floats]:
    n = values.shape[1]
    reach = stats.t.ppf(0.975, n - 1) * values.std(axis=1, ddof=1) / np.sqrt(n)
    return values.mean(axis=1) - reach, values.mean(axis=1) + reach


def halls(values: Floats) -> tuple[Floats, Floats]:
    n, found = values.shape[1], np.nan_to_num(stats.skew(values, axis=-1, bias=False))
    skew = np.where(np.abs(found) < 1e-9, 1e-9, found)
    mean, deviation = values.mean(axis=1), values.std(axis=1, ddof=1)
    low, high = (
        mean - deviation * 3 * (np.cbrt(1 + skew * (reach - skew / (6 * n))) - 1) / skew
        for reach in np.array([1, -1]) * stats.t.ppf(0.975, n - 1) / np.sqrt(n)
    )
    return low, high


def bootstraps(values: Floats, draws: int = 999) -> Mapping[str, tuple[Floats, Floats]]:
    """Percentile, BCa and studentised intervals; samples of equal values are to be left out
    before.
    """
    n = values.shape[1]
    mean, deviation = values.mean(axis=1, keepdims=True), values.std(axis=1, ddof=1, keepdims=True)
    apart = values - mean
    weights = np.random.default_rng(3).multinomial(n, np.full(n, 1 / n), size=draws) / n
    means = apart @ weights.T
    spread = np.sqrt(np.maximum((apart**2) @ weights.T - means**2, 0) * n / (n - 1))
    ratio = np.sort(means / np.maximum(spread, 1e-3 * deviation), axis=1)
    means.sort(axis=1)
    ends = np.array([0.025, 0.975])
    percentile = mean + np.quantile(means, ends, axis=1).T
    studentised = mean - np.quantile(ratio, ends[::-1], axis=1).T * deviation
    below = ((means < -1e-14).mean(axis=1) + (np.abs(means) <= 1e-14).mean(axis=1) / 2).clip(
        1 / draws, 1 - 1 / draws
    )
    bias = special.ndtri(below)[:, None]
    bend = ((apart**3).sum(axis=1) / (6 * (apart**2).sum(axis=1) ** 1.5))[:, None]
    at = special.ndtr(
        bias + (bias + special.ndtri(ends)) / (1 - bend * (bias + special.ndtri(ends)))
    )
    bca = mean + np.take_along_axis(
        means, np.clip((at * (draws - 1)).round().astype(int), 0, draws - 1), axis=1
    )
    found = {"percentile": percentile, "BCa": bca, "studentised": studentised}
    return {name: (one[:, 0], one[:, 1]) for name, one in found.items()}


def coverage(samples: int, methods: bool) -> None:
    print(
        f"\nCoverage of 95 % intervals, %, aim 93 to 97 ({samples:,} samples; the share that shows"
        " one where below 100)"
    )
    heads = ["ours", "Student", *(("Hall", "percentile", "BCa", "studentised") if methods else ())]
    print(f"{'':32}" + "".join(f"{head + ' at ' + str(n):>15}" for head in heads for n in SESSIONS))
    for name, shape in (SHAPES | FRESH | HARD).items():
        mean, line = mean_of(shape), {}
        for n in SESSIONS:
            values = shape(np.random.default_rng(n), (samples, n))
            rate, shown = held(interval(values), mean)
            line["ours", n] = mark(rate, 0.93, 0.97) + (
                f"({100 * shown:3.0f})" if shown < 0.995 else ""
            )
            line["Student", n] = mark(held(students(values), mean)[0], 0.93, 0.97)
            if methods:
                some = values[:2_000]
                some = some[np.ptp(some, axis=1) > 1e-12]
                for head, ends in ({"Hall": halls(some)} | dict(bootstraps(some))).items():
                    line[head, n] = mark(held(ends, mean)[0], 0.93, 0.97)
        print(f"{name:32}" + "".join(f"{line[head, n]:>15}" for head in heads for n in SESSIONS))


def p_values(values: Floats) -> Floats:
    """Each hundred samples with flips of their own, so that one odd set of flips does not colour
    the whole figure.
    """
    parts = np.array_split(values, max(1, len(values) // 100))
    return np.concatenate(
        [sign_flip(part, draws=499, seed=seed) for seed, part in enumerate(parts)]
    )


def errors(samples: int) -> None:
    """Exchangeable: the sign of each difference is a coin flip. Mean zero: skewed, so labels do
    matter to a session.
    """
    print(
        f"\nType-I error of tests at 5 %, aim <= 5 within two standard errors of {samples:,}"
        " samples"
    )
    print(
        f"{'':32}{'same strategies: sign flip':>30}{'mean 0: sign flip':>30}{'mean 0: verdict (two keys)':>30}"
    )
    highest = 0.05 + 2 * np.sqrt(0.05 * 0.95 / samples)
    for name, shape in (SHAPES | FRESH | HARD).items():
        mean, cells = mean_of(shape), [""] * 3
        for n in SESSIONS:
            rng = np.random.default_rng(n + 1)
            values = shape(rng, (samples, n))
            same_to_each = p_values(values * rng.choice([-1.0, 1.0], size=values.shape)) <= 0.05
            centred = values - mean
            low, high = interval(centred)
            alone = p_values(centred) <= 0.05
            both = alone & ((low > 0) | (high < 0)) & (high - low > 1e-12)
            for place, hits in enumerate((same_to_each, alone, both)):
                cells[place] += f"{mark(float(hits.mean()), 0, highest):>9}"
        print(f"{name:32}" + "".join(f"{cell:>30}" for cell in cells))


def family(samples: int, strategies: int = 7) -> None:
    print(
        f"\nAny false alarm among {strategies} equal strategies after Holm, %, aim <= 5"
        f" ({samples:,} families)"
    )
    for n in (9, 20, 60):
        rng = np.random.default_rng(n)
        groups = (
            rng.beta(2, 2, (samples, 1, n)) * 0.5
            + rng.beta(4, 4, (samples, strategies + 1, n)) * 0.5
        )
        gaps = (groups[:, 1:] - groups[:, :1]).reshape(-1, n)
        lowest = np.concatenate([sign_flip(part, draws=1_999) for part in np.array_split(gaps, 40)])
        # Holm's first step decides
        hits = lowest.reshape(samples, strategies).min(axis=1) * strategies <= 0.05
        print(
            f"  {n:3} sessions {mark(float(hits.mean()), 0, 0.05 + 2 * np.sqrt(0.0475 / samples))}"
        )


def margins(samples: int) -> None:
    print(
        f"\nClaims that hold though the truth is at the margin, one-sided 2.5 %, % ({samples:,}"
        " samples)"
    )
    print(f"{'':32}{'not worse, at 8, 20, 60':>30}{'... mirrored shape':>30}{'same':>30}")
    highest = 0.025 + 2 * np.sqrt(0.025 * 0.975 / samples)
    for name in (
        "normal",
        "skewed (gamma 2)",
        "skewed (exponential)",
        "shares, near 1 and spread",
        "shares of 10 entities",
    ):
        cells = [""] * 3
        for n in SESSIONS:
            values = SHAPES[name](np.random.default_rng(n + 2), (samples, n)) - mean_of(
                SHAPES[name]
            )
            margin = 2.5 * float(values.std())
            # A gate passes where these ends say so: tests/evaluation/analysis/test_gate.py
            at, mirrored = values - margin, -values - margin
            (low, high), (low_mirrored, _) = interval(at), interval(mirrored)
            for place, holds in enumerate(
                (low > -margin, low_mirrored > -margin, (low > -margin) & (high < margin))
            ):
                cells[place] += f"{mark(float(holds.mean()), 0, highest):>9}"
        print(f"{name:32}" + "".join(f"{cell:>30}" for cell in cells))


def powers(samples: int) -> None:
    print(
        f"\nHow often a difference of the size called detectable is seen, %, aim 80 ({samples:,}"
        " normal samples)"
    )
    for n in SESSIONS:
        values = np.random.default_rng(n).normal(minimum_detectable(0.1, n), 0.1, (samples, n))
        low, high = interval(values)
        seen, flipped = (low > 0) | (high < 0), p_values(values) <= 0.05
        rates = {
            "t test": students(values)[0] > 0,
            "sign flip": flipped,
            "verdict (two keys)": seen & flipped,
        }
        print(
            f"  {n:3} sessions: "
            + ", ".join(f"{head} {100 * hits.mean():.1f}" for head, hits in rates.items())
        )


def chains(samples: int, rounds: int = 4, entities: int = 30) -> None:
    print(
        "\nCoverage of survival curves, %, aim 93 to 97: "
        f"{entities} entities a session, lost together ({samples:,} samples)"
    )
    for label, (one, other) in {
        "rates spread": (2.0, 4.0),
        "rates alike": (20.0, 60.0),
        "few losses": (1.0, 15.0),
    }.items():
        many = np.random.default_rng(5).beta(one, other, 1_000_000)
        truth = [(np.power(1 - many, number)).mean() for number in range(1, rounds + 1)]
        for n in SESSIONS:
            rng, hits, shown = np.random.default_rng(n), np.zeros(rounds), np.zeros(rounds)
            for _ in range(samples):
                rates = np.repeat(rng.beta(one, other, n), entities).clip(1e-9, 1)
                ends = rng.geometric(rates)
                # recordings end in different rounds
                last = np.repeat(rng.integers(2, rounds + 1, n), entities)
                lived = np.minimum(ends, last).reshape(n, entities, 1)
                gone = (lived == np.arange(1, rounds + 1)) & (ends <= last).reshape(n, entities, 1)
                curve = survival((lived >= np.arange(1, rounds + 1)).sum(axis=1), gone.sum(axis=1))
                for place, low, high in curve[["low", "high"]].dropna().itertuples():
                    shown[place] += 1
                    hits[place] += low <= truth[place] <= high
            print(
                f"  {label:14}{n:3} sessions, rounds 1 to {rounds}: "
                + " ".join(
                    mark(hit / of, 0.93, 0.97) for hit, of in zip(hits, shown, strict=True) if of
                )
            )


def main() -> None:
    coverage(20_000, "--methods" in sys.argv)
    errors(6_000)
    family(1_000)
    margins(6_000)
    powers(4_000)
    chains(300)


if __name__ == "__main__":
    main()
