"""What a person reads who has not installed the library of a drop-in."""

from __future__ import annotations

import importlib
import sys

import pytest


@pytest.mark.parametrize(
    ("file", "library", "sentence"),
    [
        (
            "langchain",
            "langchain",
            "CompactionMiddleware needs LangChain; `pip install 'langchain>=1.3,<2'`",
        ),
        (
            "openai_agents",
            "agents",
            "AgentsCompactor needs the OpenAI Agents SDK; `pip install openai-agents`",
        ),
        (
            "pydantic_ai",
            "pydantic_ai",
            "CompactionCapability needs pydantic-ai; `pip install 'pydantic-ai-slim>=2.68,<3'`",
        ),
        (
            "langgraph",
            "langgraph",
            "CompactionNode needs LangGraph; `pip install 'langgraph>=1.1,<2'`",
        ),
        (
            "litellm",
            "litellm",
            "ProxyCompaction needs LiteLLM's proxy; `pip install 'litellm[proxy]'`",
        ),
        (
            "google_adk",
            "google.adk",
            "CompactionPlugin needs Google's ADK; `pip install 'google-adk>=2,<3'`",
        ),
        (
            "opentelemetry",
            "opentelemetry",
            "CompactionSpans needs OpenTelemetry's API;"
            " `pip install 'compaction-workbench[opentelemetry]'`",
        ),
        (
            "inspect_ai",
            "inspect_ai",
            "WorkbenchCompaction needs Inspect; `pip install 'inspect_ai>=0.3.285'`",
        ),
    ],
)
def test_one_sentence_says_what_to_install(
    file: str, library: str, sentence: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    name = f"workbench.live.dropins.{file}"
    for one in [
        module for module in sys.modules if module == name or f"{module}.".startswith(f"{library}.")
    ]:
        monkeypatch.delitem(sys.modules, one)
    monkeypatch.setitem(sys.modules, library, None)
    with pytest.raises(ModuleNotFoundError) as error:
        importlib.import_module(name)
    assert str(error.value) == f"{sentence} installs it" and error.value.__suppress_context__
