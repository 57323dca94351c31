from __future__ import annotations

import pytest

import workbench as wb
from workbench import Model, SettingError, UnknownName
from workbench.live.events import CompactionEnded

TALK = [
    {"role": "user", "content": f"question {n}: " + "and why is that so? " * 30} for n in range(12)
]


def sent(model: Model | str) -> list[object]:
    compactor = wb.Compactor("summarize", model=model, window=1_000)
    messages = list(compactor.before_request(TALK))
    assert any(isinstance(event, CompactionEnded) for event in compactor.events)
    return messages


def test_a_model_by_its_name_writes_what_the_model_itself_writes() -> None:
    assert sent("extractive") == sent(wb.find_model("extractive"))


def test_a_scripted_model_says_what_stands_behind_the_colon() -> None:
    assert any(
        "what was said before" in str(message) for message in sent("scripted:what was said before")
    )


def test_an_unknown_model_is_refused_at_once_with_the_names_that_are_known() -> None:
    with pytest.raises(UnknownName, match="extractive"):
        wb.Compactor("summarize", model="gpt")
    with pytest.raises(SettingError, match="litellm:"):
        wb.Compactor("summarize", model="litellm")
