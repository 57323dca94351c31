"""The files of the recorded sessions that ship with the package."""

from __future__ import annotations

from pathlib import Path

RECORDED = Path(__file__).parents[1] / "datasets" / "recorded"


def bundled_files() -> tuple[Path, ...]:
    """By name, as `workbench compare` reads them where no path is named."""
    return tuple(sorted(RECORDED.glob("*/session.jsonl.gz")))
