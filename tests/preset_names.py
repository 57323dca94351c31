"""The names of all presets, built in and variants."""

from __future__ import annotations

from workbench import UnknownName, preset

BUILTIN_PRESETS = (
    "none", "null", "truncate", "summarize", "pipeline", "opal", "operator_use", "ddx_agent", "ex_athena",
    "docker_agent", "clear_tool_uses", "observation_mask", "pi", "codex_local", "claude_code", "gemini_cli", "opencode",
    "openhands_rolling", "langchain_20", "hermes_lean", "opencode_v2", "crush", "anthropic_on_demand", "scored",
)  # fmt: skip
"""The presets in the order in which `workbench list strategies` has them, before the variants."""
VARIANTS = (
    "opal_truncate", "ex_athena_head", "ex_athena_0_5", "learned", "learned_summary", "anthropic_background",
    "anthropic_keep_turns", "docker_agent_g2",
)  # fmt: skip


def preset_names() -> list[str]:
    """Those that the error about an unknown name lists."""
    try:
        preset("no such preset")
    except UnknownName as error:
        return list(error.known)
    raise AssertionError("such a preset is known")
