"""Messages of frameworks that have a drop-in: they are refused with a sentence that names it, and
never half read.
"""

import sys
from collections.abc import Mapping
from dataclasses import dataclass

from workbench.engine.transcript.message import Json
from workbench.live.formats.parts import type_of

DROPINS = "workbench.live.dropins"


@dataclass(frozen=True, slots=True)
class Framework:
    """A framework whose messages are classes of its own.

    Attributes:
        name: of the framework.
        module: in which its messages are declared, or the beginning of its name.
        instead: what takes them.
        mark: a name that its package has, where the package's own name is a usual one.
    """

    name: str
    module: str
    instead: str
    mark: str = ""

    @property
    def is_imported(self) -> bool:
        """Whether the module of that name is the framework's, and not one of a user's own."""
        package, _, _ = self.module.partition(".")
        return not self.mark or hasattr(sys.modules.get(package), self.mark)

    @property
    def objection(self) -> str:
        """Why its messages are refused."""
        return f"this is a message of {self.name}, and none of a provider's API; use {self.instead}"


LANGCHAIN = Framework(
    "LangChain",
    "langchain_core.messages",
    f"{DROPINS}.langchain.CompactionMiddleware, in LangGraph {DROPINS}.langgraph.CompactionNode, or"
    " pass what langchain_core.messages.convert_to_openai_messages returns",
)
FRAMEWORKS = (
    LANGCHAIN,
    Framework("pydantic-ai", "pydantic_ai.messages", f"{DROPINS}.pydantic_ai.CompactionCapability"),
    Framework("Google's ADK", "google.adk.events", f"{DROPINS}.google_adk.CompactionPlugin"),
    Framework("Inspect", "inspect_ai.model", f"{DROPINS}.inspect_ai.WorkbenchCompaction"),
    Framework(
        "the OpenAI Agents SDK",
        "agents.items",
        f"{DROPINS}.openai_agents.AgentsCompactor",
        mark="RunConfig",
    ),
)
_OF_LANGCHAIN = frozenset({"human", "ai", "AIMessageChunk", "HumanMessageChunk"})
"""Types of LangChain's messages, written as dicts, that no API has."""


def framework_objection(message: Json) -> str:
    """Why a message of a framework is refused, with what takes it; empty if it is of none."""
    if isinstance(message, Mapping):
        return LANGCHAIN.objection if _is_written_by_langchain(message) else ""
    for kind in type(message).__mro__:
        for framework in FRAMEWORKS:
            is_declared_there = f"{kind.__module__}.".startswith(f"{framework.module}.")
            if is_declared_there and framework.is_imported:
                return framework.objection
    return ""


def _is_written_by_langchain(record: Mapping[str, Json]) -> bool:
    """Whether a dict is a message that LangChain wrote down."""
    is_dumped = "lc" in record and "kwargs" in record
    return is_dumped or (not record.get("role") and type_of(record) in _OF_LANGCHAIN)
