"""How much property tests try: a sample by default, everything where WORKBENCH_TESTS is `full`
(`FULL=1 .ci/run`).
"""

from __future__ import annotations

import os
from collections.abc import Iterable
from itertools import cycle, product
from typing import TypeVar

PROFILE = os.environ.get("WORKBENCH_TESTS", "short")
if PROFILE not in ("short", "full"):
    raise SystemExit(f"WORKBENCH_TESTS is {PROFILE!r}; it must be 'short' or 'full'")

A = TypeVar("A")
B = TypeVar("B")

FULL = PROFILE == "full"


def examples(everything: int) -> int:
    """How many examples to try of this many: all of them in the full profile, a tenth in the
    short one, at least 5.
    """
    return everything if FULL else max(everything // 10, min(everything, 5))


def pairs(many: Iterable[A], few: Iterable[B]) -> list[tuple[A, B]]:
    """Each with each in the full profile; in the short one each of the many once, with the few
    in turn.
    """
    return list(product(many, few) if FULL else zip(many, cycle(few), strict=False))
