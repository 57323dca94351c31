"""A figure is the same whatever instructions the processor has."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pandas as pd

RECORDING = Path(__file__).parents[2] / "datasets" / "recorded" / "kiln-uploads"
SCRIPT = """
import sys
import workbench as wb
recording, out = sys.argv[1:]
wb.compare([recording], strategies=["truncate"], shares=[0.1, 0.2], out=out, quiet=True)
"""


def scores(out: Path, **environment: str) -> pd.DataFrame:
    subprocess.run(
        [sys.executable, "-W", "ignore", "-c", SCRIPT, str(RECORDING), str(out)],
        env={**os.environ, **environment},
        check=True,
        capture_output=True,
    )
    return pd.read_parquet(out / "scores.parquet")


def test_a_score_does_not_depend_on_the_instructions_that_sort(tmp_path: Path) -> None:
    """Equal scores are sorted one way by AVX-512, and another way without it."""
    newest = scores(tmp_path / "newest")
    oldest = scores(
        tmp_path / "oldest", NPY_DISABLE_CPU_FEATURES="X86_V3 X86_V4 AVX512_ICL AVX512_SPR"
    )
    columns = ["strategy", "mode", "metric", "value"]
    timeless = ~newest["metric"].str.contains("seconds")
    pd.testing.assert_frame_equal(newest.loc[timeless, columns], oldest.loc[timeless, columns])
