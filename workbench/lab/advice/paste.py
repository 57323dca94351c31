"""An advised candidate as settings of the systems that can express it."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass

from workbench.base.markup import render
from workbench.engine.compaction.presets import preset as preset_named
from workbench.engine.compaction.settings import Plain, settings
from workbench.engine.compaction.strategy import Preset, Situation

SYSTEMS: Mapping[str, tuple[str, str]] = {
    "Claude Code": ("claude_code", "~/.claude/settings.json"),
    "Codex": ("codex", "~/.codex/config.toml"),
    "pi": ("pi", "~/.pi/agent/settings.json"),
    "opencode": ("opencode", "opencode.json"),
    "LangChain": ("langchain", "Python"),
    "Anthropic": ("anthropic", "Python"),
    "Compactor": ("compactor", "Python"),
}
"""Each system with its template and where its text goes."""
FREE = "it always writes a summary"
OWN = {"claude_code": "claude_code", "codex": "codex_local", "pi": "pi", "opencode": "opencode"}
"""By template the preset that restates the system."""


@dataclass(frozen=True, slots=True)
class Snippet:
    """Settings to paste for one system; `text` is empty where it cannot express the advice, and `lacks` says what."""

    system: str
    where: str
    text: str
    lacks: str = ""


def due_at(preset: Preset, window: int) -> int | None:
    """The smallest request that the preset compacts in that window, in tokens; None where sizes do not decide."""
    low, high = 0, window + 1
    while low + 1 < high:
        tokens = (low + high) // 2
        low, high = (low, tokens) if preset.trigger.check(Situation(tokens=tokens, window=window)) else (tokens, high)
    return high if high <= window else None


def snippets(preset: Preset, base: str, changes: Mapping[str, Plain], window: int, model: str) -> Iterator[Snippet]:
    """The settings for each system, in the order of `SYSTEMS`.

    Args:
        preset: the candidate.
        base: the preset that it varies.
        changes: its settings by path.
        window: tokens.
        model: that writes summaries.
    """
    known = settings(preset)
    due = due_at(preset, window)
    budget = preset.trigger.check(Situation(tokens=due, window=window)) if due else None
    share = next((one.value for path, one in known.items() if path.endswith("cut.share")), None)
    tail = int(float(str(share)) * budget.target) if budget and share else None
    as_is = all(settings(preset_named(base))[path].value == known[path].value for path in known)
    clears = base == "clear_tool_uses"
    summarises = any(".prompt." in path or "summarization_model" in path for path in known)
    keep = known["clear_tool_uses.keep"].value if clears else 0
    values = {
        "due": due, "percent": due and 100 * due // window, "reserve": due and window - due, "tail": tail,
        "clears": clears, "keep": keep, "base": base, "changes": changes, "window": window, "model": model,
    }  # fmt: skip
    for system, (template, where) in SYSTEMS.items():
        if as_is and OWN.get(template) == base:
            yield Snippet(system, where, "", "set nothing: this is how it compacts by itself")
            continue
        why = _cannot(template, due, summarises, clears)
        text = "" if why else render(f"settings/{template}.txt", **values)
        yield Snippet(system, where, text, why or LACKS.get(template, ""))


LACKS = {
    "claude_code": "its target and kept tail cannot be set, and the threshold can only be lowered",
    "codex": "its target and kept tail cannot be set",
    "pi": "its target cannot be set, only the kept tail",
    "opencode": "its target cannot be set, only the kept tail",
    "langchain": "its target cannot be set, only the kept tail",
    "anthropic": "its target and kept tail cannot be set",
}
"""What a system cannot express of an advice that it can follow otherwise."""


def _cannot(template: str, due: int | None, summarises: bool, clears: bool) -> str:
    """Why a system cannot follow the advice at all; empty where it can."""
    if template == "compactor":
        return ""
    if due is None:
        return "it compacts by tokens, and this candidate by something else"
    if clears:
        return "" if template in ("langchain", "anthropic") else FREE
    if not summarises:
        return FREE
    if template == "anthropic" and due < LEAST_ANTHROPIC:
        return f"its compaction starts at {LEAST_ANTHROPIC:,} tokens or later"
    return ""


LEAST_ANTHROPIC = 50_000
"""The smallest trigger that Anthropic's `compact_20260112` takes."""
