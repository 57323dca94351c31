"""An advice as plain JSON."""

from __future__ import annotations

from dataclasses import asdict

from workbench.cli.advise_words import IN_ASKED_WINDOW, NOT_MEASURED, notes
from workbench.cli.output import records
from workbench.evaluation.analysis.paired import Estimate
from workbench.lab.advice.advice import Advice
from workbench.lab.advice.advice_spec import AdviceSpec
from workbench.lab.advice.agents import AgentAdvice
from workbench.lab.advice.own_setting import alternative_setting, measured_setting
from workbench.lab.advice.paste import Snippet, snippets
from workbench.lab.advice.present_setting import PresentSetting
from workbench.lab.advice.shortage import Shortage


def plain_advice(advice: AgentAdvice, spec: AdviceSpec) -> dict[str, object]:
    """The advice for one agent: each figure and each warning that is printed, and more."""
    agent, present, settings = advice.agent, advice.present, advice.settings
    window = present.window.tokens if present else advice.compactor.window
    compactor = _plain_search(advice.compactor, spec)
    compactor["paste"] = []
    if present is None or not advice.compactor.stay:
        compactor["paste"] = [
            _plain_snippet(snippet, window)
            for snippet in compactor_snippets(advice.compactor, window)
        ]
    settings_fields = None
    if settings is not None:
        settings_fields = _plain_search(settings, spec) | _plain_settings(advice, spec)
    other_agents: list[dict[str, object]] = []
    for other_agent in advice.other_agents:
        other_agents.append({**asdict(other_agent), "answer": other_agent.answer})
    return {
        "agent": None if agent is None else agent.name,
        "sessions": advice.sessions,
        "present": _plain_present(present),
        "settings": settings_fields,
        "compactor": compactor,
        "other_agents": other_agents,
        "is_set_by_hand": advice.is_set_by_hand,
    }


def _plain_settings(advice: AgentAdvice, spec: AdviceSpec) -> dict[str, object]:
    """What to paste into the agent itself, in which window that was measured, and what was not."""
    agent, present, settings = advice.agent, advice.present, advice.settings
    assert present is not None and settings is not None
    window = present.window.tokens
    warnings: list[str] = []
    if settings.outcome != "no figure":
        warnings.append(NOT_MEASURED)
    snippet = measured_setting(agent, present, settings)
    paste = None
    if snippet is not None:
        paste = _plain_snippet(snippet, window)
    paste_if = None
    alternative = alternative_setting(agent, present, settings)
    if alternative is not None:
        condition, alternative_snippet = alternative
        paste_if = {"condition": condition, **_plain_snippet(alternative_snippet, window)}
    if spec.window is not None and (paste or paste_if):
        warnings.append(IN_ASKED_WINDOW.format(window=spec.window))
    return {"paste": paste, "paste_if": paste_if, "warnings": warnings}


def _plain_snippet(snippet: Snippet, window: int) -> dict[str, object]:
    """A setting, and the window in tokens that it is for."""
    return {**asdict(snippet), "window": window}


def _plain_present(present: PresentSetting | None) -> dict[str, object] | None:
    """When the agent compacts today; None where that is not known."""
    if present is None:
        return None
    return {
        "window": present.window.tokens,
        "window_from": present.window.source,
        "compacts_at": present.limit.tokens,
        "compacts_at_from": present.limit.source,
    }


def plain_shortage(shortage: Shortage) -> dict[str, object]:
    """What the session lacks that comes closest to a figure."""
    return {
        **asdict(shortage),
        "least_tokens": shortage.least_tokens,
        "lacking_tokens": shortage.lacking_tokens,
        "lacking_before": shortage.lacking_before,
        "lacking_behind": shortage.lacking_behind,
        "words": shortage.words,
    }


def _plain_search(advice: Advice, spec: AdviceSpec) -> dict[str, object]:
    """What a search found as plain JSON."""
    runner_up = None
    if advice.runner_up is not None:
        name, lead = advice.runner_up
        runner_up = {"candidate": name, "behind": _fields(lead)}
    return {
        "opening": advice.opening,
        "verdict": advice.verdict,
        "outcome": advice.outcome,
        "traded": advice.traded,
        "notes": notes(advice, spec.margin),
        "unit": advice.unit,
        "worth": advice.worth,
        "margin": spec.margin,
        "bill": advice.bill.name,
        "cheapest": advice.cheapest,
        "set_aside": dict(advice.set_aside),
        "out_of_reach": dict(advice.out_of_reach),
        "not_simulated": advice.not_simulated,
        "half": advice.half,
        "advised": asdict(advice.advised),
        "chosen": asdict(advice.chosen),
        "default": asdict(advice.default),
        "stay": advice.stay,
        "gain": _fields(advice.outside.gain),
        "chosen_in_folds": list(advice.outside.chosen),
        "lead": _fields(advice.lead),
        "runner_up": runner_up,
        "regret": advice.regret,
        "rounds": [asdict(step) for step in advice.rounds],
        "candidates": records(advice.table),
        "window": advice.window,
        "shortage": None if advice.shortage is None else plain_shortage(advice.shortage),
        "out": list(advice.out),
        "pending_replays": advice.pending,
    }


def _fields(value: Estimate | None) -> dict[str, object] | None:
    return None if value is None else asdict(value)


def compactor_snippets(advice: Advice, window: int) -> list[Snippet]:
    """The advised candidate in an agent that one builds, for a window in tokens."""
    point = advice.advised
    return list(
        snippets(advice.grid.preset(point), point.base, point.settings, window, point.model)
    )
