"""A sample of the benchmark: a run over a store, killed and resumed on two Dask workers."""

from __future__ import annotations

import runpy
from pathlib import Path

import pytest

pytest.importorskip("distributed", reason="the extra `dask` is not installed")


@pytest.mark.slow
def test_a_killed_run_over_a_store_gives_the_tables_of_a_local_one() -> None:
    benchmark = runpy.run_path(str(Path(__file__).with_name("bench_store.py")))
    outcome = benchmark["measured"](12, 1)
    assert outcome.is_good, str(outcome)
    assert len(outcome.finished) == 1
