"""The blocks of docs/in-your-agent.md that need another library, word for word, against a server
on this machine.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from engine.models.provider import Reply
from live.dropins.server import ROOT, answering, chat, responses

PAGE = (ROOT / "docs" / "in-your-agent.md").read_text(encoding="utf-8")


@pytest.mark.parametrize(
    ("mark", "needs", "answer", "said"),
    [
        (
            "langchain",
            "langgraph.checkpoint.sqlite",
            chat,
            lambda space: space["answer"]["messages"][-1].content,
        ),
        ("openai agents", "agents", responses, lambda space: space["answer"].final_output),
    ],
)
def test_it_runs(
    mark: str,
    needs: str,
    answer: Callable[[dict[str, Any]], Reply],
    said: Callable[[dict[str, Any]], str],
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    pytest.importorskip(needs)
    found = re.search(rf"<!-- {mark} -->\n```python\n(.*?)^```$", PAGE, re.MULTILINE | re.DOTALL)
    assert found is not None
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("OPENAI_API_KEY", "none")
    monkeypatch.setenv("OPENAI_AGENTS_DISABLE_TRACING", "1")
    space: dict[str, Any] = {}
    with answering(answer) as provider:
        monkeypatch.setenv("OPENAI_BASE_URL", provider.address)
        exec(compile(found[1], "in-your-agent.md", "exec"), space)
        assert "recall" in str(provider.requests[0]["tools"])
    assert said(space) == "The limits are as they were." and (tmp_path / "chats.db").exists()
