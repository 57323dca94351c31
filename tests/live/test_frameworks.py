"""Messages of a framework's own classes in a plain list are refused with what takes them."""

from __future__ import annotations

import sys
from types import SimpleNamespace
from typing import Any

import pytest
from live.talk import asked
from pydantic import BaseModel

from workbench import Compactor, FormatError


class Said(BaseModel):
    """A message as a framework's class holds it."""

    content: str = "so?"
    type: str = "human"
    role: str = "user"


def message_of(module: str) -> Said:
    """A message whose class a host derived from one that is declared in this module."""
    theirs = type("Theirs", (Said,), {"__module__": module})
    own: type[Said] = type("Own", (theirs,), {"__module__": "my_agent"})
    return own()


@pytest.mark.parametrize(
    ("module", "dropin"),
    [
        ("langchain_core.messages.human", "workbench.live.dropins.langchain.CompactionMiddleware"),
        ("langchain_core.messages", "workbench.live.dropins.langgraph.CompactionNode"),
        ("langchain_core.messages.ai", "langchain_core.messages.convert_to_openai_messages"),
        ("pydantic_ai.messages", "workbench.live.dropins.pydantic_ai.CompactionCapability"),
        ("google.adk.events.event", "workbench.live.dropins.google_adk.CompactionPlugin"),
        ("inspect_ai.model._chat_message", "workbench.live.dropins.inspect_ai.WorkbenchCompaction"),
        ("agents.items", "workbench.live.dropins.openai_agents.AgentsCompactor"),
    ],
)
def test_a_message_of_a_framework_is_refused_with_what_takes_it(
    module: str, dropin: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    if module == "agents.items":
        monkeypatch.setitem(sys.modules, "agents", SimpleNamespace(RunConfig=object))
    live = Compactor("truncate", window=8_000)
    with pytest.raises(FormatError, match=r"^messages\[1\]: this is a message of ") as error:
        live.before_request([asked("so?"), message_of(module)])
    assert dropin in str(error.value)
    assert live.before_request([asked("so?")]) == [asked("so?")]


def test_a_message_of_a_host_s_own_module_named_as_a_framework_is_read(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setitem(sys.modules, "agents", SimpleNamespace(Planner=object))
    message = message_of("agents.items")
    assert Compactor("truncate", window=8_000).before_request([message]) == [message]


@pytest.mark.parametrize("module", ["my_agent.messages", "agents.chat", "openai.types.chat"])
def test_a_message_of_any_other_class_is_read(module: str) -> None:
    message = message_of(module)
    assert Compactor("truncate", window=8_000).before_request([message]) == [message]


@pytest.mark.parametrize(
    "record",
    [
        {"type": "human", "content": "so?", "additional_kwargs": {}},
        {"type": "ai", "data": {"content": "so"}},
        {"lc": 1, "type": "constructor", "id": ["langchain"], "kwargs": {"content": "so?"}},
    ],
)
def test_a_message_that_langchain_wrote_down_is_refused_too(record: dict[str, Any]) -> None:
    live = Compactor("truncate", window=8_000)
    with pytest.raises(FormatError, match=r"of LangChain, .*CompactionMiddleware"):
        live.before_request([record])


def test_langchains_own_class_is_refused_and_its_conversion_is_read() -> None:
    messages = pytest.importorskip("langchain_core.messages")
    said = [messages.HumanMessage("so?")]
    live = Compactor("truncate", window=8_000)
    with pytest.raises(FormatError, match="convert_to_openai_messages"):
        live.before_request(said)
    converted = messages.convert_to_openai_messages(said)
    assert live.before_request(converted) == converted
