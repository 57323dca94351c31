"""Every preset over four recordings of four agents: nothing breaks, nothing fails, and nearly
all of them fire.
"""

from __future__ import annotations

from functools import cache
from pathlib import Path

import pytest
from benchmarks.replay_corpora import Cell, table
from preset_names import BUILTIN_PRESETS

FILES = (
    "agentv/rollout-019f05f8-7f53-7492-a941-83098e16765c.jsonl",
    "entireio-cli/a032db5a-df02-44d7-ab1e-fb024213ecc4.jsonl",
    "session-bridge/gemini/session-cdb14b05-cceb-4354-a9d8-8c9182ece8bf.json",
    "gatomia-vscode/ses_20c67c805ffez5760ap0ETph7x.json",
)
NEVER = {"none"}


@cache
def replayed(folder: Path) -> dict[str, Cell]:
    sums = {name: Cell() for name in BUILTIN_PRESETS}
    for _, _, cells in table(
        [str(folder / file) for file in FILES], tuple(BUILTIN_PRESETS), 16_000
    ):
        for name, cell in cells.items():
            sums[name].add(cell)
    return sums


@pytest.mark.parametrize("name", BUILTIN_PRESETS)
def test_a_preset_replays_real_recordings_without_a_violation(corpora: Path, name: str) -> None:
    cell = replayed(corpora)[name]
    assert not cell.failed
    assert not cell.violations, cell.rules
    assert bool(cell.compactions) == (name not in NEVER)
