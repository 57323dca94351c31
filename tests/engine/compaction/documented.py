"""The options that the documents of the restated systems name, and whether each works by that name."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import workbench as wb
from workbench import Preset
from workbench.evaluation.experiment.grid import Grid

DOCUMENTED: dict[str, dict[str, Any]] = {
    "ex_athena": {
        "compact_at": 0.5,
        "per_tool_result_max_chars": 8_000,
        "snip_age_iterations": 8,
        "microcompact_run_threshold": 5,
        "compaction_pipeline": ["budget_reduction", "summary"],
        "pinned_prefix_count": 2,
        "live_suffix_count": 4,
        "reactive_compact": False,
    },
    "ddx_agent": {
        "context_window": 65_536,
        "reserve_tokens": 4_096,
        "keep_recent_tokens": 4_096,
        "max_tool_result_chars": 1_000,
        "effective_percent": 80,
        "summarization_model": "small",
        "summarization_focus": "the tests",
        "user_message_tail_tokens": 0,
        "stuck_threshold": 3,
    },
    "operator_use": {"enabled": False, "reserve_tokens": 4_096, "keep_recent_tokens": 4_096},
    "docker_agent": {"threshold": 0.5},
}
"""The options that the documents of the systems name, with another value than the usual one."""
OPTIONS = [
    (preset, name, value)
    for preset, options in DOCUMENTED.items()
    for name, value in options.items()
]


def ways_that_differ(name: str, option: str, value: Any) -> list[str]:
    """Where setting the option does not do what it does in `wb.preset`; empty where it is the same
    everywhere.
    """
    usual, changed = wb.preset(name), wb.preset(name, **{option: value})
    ways: list[str] = []
    if _unnamed(changed) == _unnamed(usual):
        ways.append("wb.preset")
    if wb.preset(f"{name}:{option}={as_text(value)}") != changed:
        ways.append("text")
    if wb.Compactor(name, model="extractive", **{option: value}).preset != changed:
        ways.append("Compactor")
    grid = Grid(strategies=(name,), settings={name: {option: [value]}})
    (point,) = grid.points()
    from_file = grid.preset(point)
    has_same_parts = (
        from_file.trigger == changed.trigger
        and from_file.host == changed.host
        and from_file.strategy.stages == changed.strategy.stages
    )
    if not has_same_parts:
        ways.append("file")
    return ways


def _unnamed(preset: Preset) -> Preset:
    return replace(preset, name="", strategy=replace(preset.strategy, name=""))


def as_text(value: Any) -> str:
    if isinstance(value, list):
        return "+".join(value)
    return str(value).lower() if isinstance(value, bool) else str(value)
