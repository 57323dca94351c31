"""An advised candidate as settings of the systems whose compaction it restates, and as a
`Compactor`.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass

from workbench.base.markup import render
from workbench.engine.compaction.setting_text import Plain
from workbench.engine.compaction.settings import settings
from workbench.engine.compaction.strategy import AtLimit, Preset, Situation, granted_by


@dataclass(frozen=True, slots=True)
class System:
    """A system that compacts, and can be set.

    Attributes:
        name: as people call it.
        template: of its settings.
        where: its settings go.
        presets: those that restate its compaction; none where it takes any.
        lacks: what it cannot express of a candidate that it follows otherwise.
        beside: what else may stand in that file, and where these settings go then.
        key: of the setting that moves its compaction.
        value: what is set there, by its name in the template.
        largest_share: the largest share of the window at which it can be made to compact; None where that
            is its own rule's.
    """

    name: str
    template: str
    where: str
    presets: tuple[str, ...] = ()
    lacks: str = ""
    beside: str = ""
    key: str = ""
    value: str = ""
    largest_share: float | None = 0.9


IN_OBJECT = "beside the keys that stand there"
NO_TARGET = "its target and kept tail cannot be set"
AGENT_SYSTEMS: Mapping[str, System] = {
    # against a local server 2.1.332 compacted a request of 60,000 with both lines, one of 97,000 with
    # the window alone, and none of 60,000 with the share alone; a window outside of 100,000 to
    # 1,000,000 is dropped, and the share can only lower the threshold (claude-code issue 31806)
    "claude_code": System(
        name="Claude Code",
        template="claude_code",
        where="~/.claude/settings.json",
        presets=("claude_code",),
        lacks=f"{NO_TARGET}, and the threshold can only be lowered",
        beside=IN_OBJECT,
        key="CLAUDE_AUTOCOMPACT_PCT_OVERRIDE",
        value="percent",
        largest_share=None,
    ),
    # 0.171.0 heeds it against a local server; its `doctor` refuses another type
    "codex_local": System(
        name="Codex",
        template="codex",
        where="~/.codex/config.toml",
        presets=("codex_local",),
        lacks=NO_TARGET,
        beside="above its first line in [brackets]",
        key="model_auto_compact_token_limit",
        value="due",
    ),
    # 1.6.0 heeds it against a local server; since 1.4 it does not bound the summary any more
    "pi": System(
        name="pi",
        template="pi",
        where="~/.pi/agent/settings.json",
        presets=("pi",),
        lacks="before pi 1.4 a summary may grow to 80 % of that reserve, and pi up to 0.73 fails"
        " where its model answers shorter",
        beside=IN_OBJECT,
        key="compaction.reserveTokens",
        value="reserve",
    ),
    # 1.18.33 heeds it against a local server; 2: anomalyco/opencode at 8a6e991, core/src/config/compaction.ts
    "opencode": System(
        name="opencode",
        template="opencode",
        where="~/.config/opencode/opencode.json",
        presets=("opencode",),
        lacks="OpenCode ignores it for a model without `limit.input`: set"
        " provider.NAME.models.MODEL.limit.input for yours; in OpenCode 2 the key is"
        " compaction.buffer",
        beside=IN_OBJECT,
        key="compaction.reserved",
        value="reserve",
    ),
    # 7.8.1 heeds it against a local server
    "kilo": System(
        name="Kilo Code",
        template="kilo",
        where="~/.config/kilo/kilo.jsonc",
        presets=("opencode",),
        lacks="its target and kept tail are set apart, and compaction comes earlier where its"
        " reserve is reached",
        beside=IN_OBJECT,
        key="compaction.threshold_percent",
        value="window_percent",
    ),
    # 0.61.0 heeds it against a local server: from 0 to 1, read at its start
    "gemini_cli": System(
        name="Gemini CLI",
        template="gemini_cli",
        where="~/.gemini/settings.json",
        presets=("gemini_cli",),
        lacks=NO_TARGET,
        beside=IN_OBJECT,
        key="model.compressionThreshold",
        value="share",
    ),
}
"""By the preset that restates it, or its name as a fork, each agent that can be set."""
LIBRARIES = (
    System("LangChain", "langchain", "Python", ("langchain_20", "clear_tool_uses")),
    System("Anthropic", "anthropic", "Python", ("clear_tool_uses",)),
    System("Compactor", "compactor", "Python"),
)
"""What an agent that you build yourself may compact with."""
CLAUDE_ANSWER = 20_000
"""Tokens of its window that Claude Code keeps for an answer; its threshold is a share of the
rest.
"""
CLAUDE_WINDOWS = (100_000, 1_000_000)
"""The smallest and the largest window that Claude Code can be told; without one it heeds no
threshold in windows that its servers do not bound (2.1.197, tried against a local server).
"""


@dataclass(frozen=True, slots=True)
class Snippet:
    """Settings to paste for one system; `lacks` says what it cannot express of the advice,
    `beside` where they go in a file that holds others, `setting` what is set to which value.
    """

    system: str
    where: str
    text: str
    lacks: str = ""
    beside: str = ""
    setting: str = ""


def due_at(preset: Preset, window: int) -> int | None:
    """The smallest request that the preset compacts in that window, in tokens; None where sizes
    do not decide.
    """
    low = 0
    high = window + 1
    while low + 1 < high:
        tokens = (low + high) // 2
        is_due = granted_by(preset.trigger, Situation(tokens=tokens, window=window))
        if is_due:
            high = tokens
        else:
            low = tokens
    if high > window:
        return None
    return high


def agent_snippet(preset: Preset, restated: str, window: int) -> Snippet | None:
    """What makes an agent compact where a variant of its own preset does; None where it cannot be
    set.

    Args:
        preset: the variant.
        restated: the preset that restates the agent, or its name as a fork.
        window: in which the agent works, in tokens.
    """
    system = AGENT_SYSTEMS.get(restated)
    if system is None or not isinstance(preset.trigger, AtLimit):
        return None
    limit = preset.trigger.limit(window)
    least_window, most_window = CLAUDE_WINDOWS
    claude_window = min(max(window, least_window), most_window)
    percent = 100 * limit // (claude_window - CLAUDE_ANSWER)
    values = {
        "due": limit,
        "claude_window": claude_window,
        "percent": percent,
        "window_percent": round(100 * limit / window),
        "share": round(limit / window, 3),
        "reserve": window - limit,
        "tail": None,
    }
    text = render(f"settings/{system.template}.txt", **values)
    setting = f"{system.key} to {values[system.value]}"
    return Snippet(system.name, system.where, text, system.lacks, system.beside, setting)


def snippets(
    preset: Preset,
    base: str,
    changes: Mapping[str, Plain],
    window: int,
    model: str,
) -> Iterator[Snippet]:
    """The candidate in an agent that you build yourself: for each library that has it.

    Args:
        preset: the candidate.
        base: the preset that it varies.
        changes: its settings by path.
        window: tokens.
        model: that writes summaries.
    """
    preset_settings = settings(preset)
    due = due_at(preset, window)
    clears = base == "clear_tool_uses"
    kept_uses: object = 0
    if clears:
        kept_uses = preset_settings["clear_tool_uses.keep"].value
    values = {
        "due": due,
        "tail": _tail(preset, due, window),
        "clears": clears,
        "keep": kept_uses,
        "base": base,
        "changes": changes,
        "window": window,
        "model": model,
    }
    for system in LIBRARIES:
        if not system.presets or (base in system.presets and due is not None):
            text = render(f"settings/{system.template}.txt", **values)
            yield Snippet(system.name, system.where, text, system.lacks)


def _tail(
    preset: Preset,
    due: int | None,
    window: int,
) -> int | None:
    """Tokens of the messages that stay as they are; None where the preset has no share of them."""
    if not due:
        return None
    budget = granted_by(preset.trigger, Situation(tokens=due, window=window))
    if not budget:
        return None
    for path, setting in settings(preset).items():
        if path.endswith("cut.share"):
            share = setting.value
            return int(float(str(share)) * budget.target) if share else None
    return None
