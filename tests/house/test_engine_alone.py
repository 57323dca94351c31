"""The engine works where only the base is installed; `.ci/run` tries the same in such an
environment.
"""

from __future__ import annotations

import subprocess
import sys
import tomllib
from pathlib import Path

from packaging.requirements import Requirement

ROOT = Path(__file__).parents[2]
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))["project"]
BASE = {Requirement(line).name for line in PROJECT["dependencies"]}
REFUSED = (
    "pydantic",
    "pandas",
    "litellm",
    "pyarrow",
    "scipy",
    "matplotlib",
    "IPython",
    "ipywidgets",
    "cyclopts",
)
WITHOUT_EXTRAS = f"""
import runpy, sys

class Refusing:
    def find_spec(self, name, path=None, target=None):
        if name.partition(".")[0] in {REFUSED!r}:
            raise ModuleNotFoundError(f"No module named {{name!r}}", name=name)

sys.meta_path.insert(0, Refusing())
runpy.run_path({str(ROOT / "tests" / "house" / "engine_alone.py")!r})
"""


def test_the_engine_needs_nothing_of_the_extras() -> None:
    assert not BASE & set(REFUSED)
    engine = subprocess.run(
        [sys.executable, "-c", WITHOUT_EXTRAS],
        capture_output=True,
        text=True,
        cwd=ROOT,
        check=False,
    )
    assert engine.returncode == 0, engine.stderr
    assert "sent" in engine.stdout
