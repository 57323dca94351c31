"""A provider whose bills cannot be true: the run goes on within its limit, and says so."""

from __future__ import annotations

from pathlib import Path

import pytest
from engine.models.provider import completion, serving

from builders import remembering, rules
from workbench import ModelSettings, Session, compare
from workbench.evaluation.findings.tables import Tables
from workbench.evaluation.findings.trust import trust_sentences

SECTIONS = (
    "Goal",
    "Constraints & preferences",
    "Progress",
    "Key decisions",
    "Next steps",
    "Critical context",
)
SUMMARY = "\n\n".join(
    f"## {name}\nkeep part {number}; the limit is {number}" for number, name in enumerate(SECTIONS)
)
HUGE = {"prompt_tokens": 10**15, "completion_tokens": 10**15, "total_tokens": 2 * 10**15}


def test_bills_of_a_quadrillion_tokens_do_not_end_a_run_and_are_named(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "models.toml").write_text("[default]\ninput_usd = 1.0\noutput_usd = 1.0\n")
    monkeypatch.setenv("WORKBENCH_MODELS", str(tmp_path / "models.toml"))
    session = Session.of([rules("be brief"), *remembering(30, later=5, words=40)])
    model_settings = ModelSettings(cache=tmp_path / "cache", max_usd=1.0, run="money")
    with serving() as server:
        monkeypatch.setenv("WORKBENCH_API_BASE", server.address)
        server.replies = [completion(SUMMARY, usage=HUGE)]
        results = compare(
            [session],
            strategies=["summarize"],
            model="litellm:openai/stub",
            window=2_000,
            shares=(),
            model_settings=model_settings,
            out=tmp_path / "run",
            quiet=True,
        )
        asked = len(server.requests)
    assert asked > 3 and set(results.replays["status"]) == {"ok"}
    assert 0 < model_settings.ledger.spent < 1.0
    (sentence,) = trust_sentences(Tables.of(results))
    assert (
        "cannot be true" in sentence
        and "openai/stub reported a prompt of 1,000,000,000,000,000 tokens" in sentence
    )
