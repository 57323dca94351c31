"""The compactor inside the OpenAI Agents SDK: a filter of each request's items, hooks for usage,
and sessions.

The session keeps every item; only what is sent is compacted. What the compactor knows is kept in
another session of the same kind: first the whole, then an item for what changed with each request.
Once that has grown large it begins anew in a second session, so that one of the two is whole
whenever the process is killed.

Source:
    openai-agents 0.24: `RunConfig.call_model_input_filter`, `RunHooks.on_llm_end`, the protocol
    `Session`. The filter changes what is sent and not what a session keeps.
"""

from __future__ import annotations

import sys
from collections.abc import Callable
from dataclasses import replace
from inspect import isawaitable
from typing import Any

from workbench.engine.compaction.recall import TOOL
from workbench.engine.compaction.strategy import Preset
from workbench.engine.models.error_evidence import ProviderError
from workbench.engine.transcript.message import Json
from workbench.live.async_compactor import AsyncCompactor
from workbench.live.compactor import Compactor
from workbench.live.formats.canonical import is_output
from workbench.live.journal import largest_size, line_of
from workbench.live.recall_tool import ABOUT
from workbench.live.recorder import Recorder

try:
    from agents import (
        Agent,
        AgentHookContext,
        ModelResponse,
        RunConfig,
        RunContextWrapper,
        RunHooks,
        Session,
        Tool,
        function_tool,
    )
    from agents.run import CallModelData, ModelInputData
except ImportError as error:
    install_hint = (
        "AgentsCompactor needs the OpenAI Agents SDK; `pip install openai-agents` installs it"
    )
    own_module = getattr(sys.modules.get("agents"), "__file__", None)
    if own_module:
        install_hint = (
            f"AgentsCompactor needs the OpenAI Agents SDK, whose module `agents` {own_module} hides;"
            " another name of that file would be accepted"
        )
    raise ModuleNotFoundError(install_hint, name=error.name) from None


class AgentsCompactor(RunHooks[Any]):
    """Sends a compacted conversation: `Runner.run(agent, "...", **compactor.arguments())`. One a
    conversation.

    Attributes:
        session: the conversation, whole.
        tools: for the agent: `recall` where the preset keeps an archive (`wb.with_recall`), else
            none.
    """

    def __init__(
        self,
        sessions: Callable[[str], Session],
        session_id: str,
        preset: Preset | str = "pipeline",
        **given: Json,
    ) -> None:
        """A compactor.

        Args:
            sessions: makes the session of an id, such as `lambda id: SQLiteSession(id,
                "chats.db")`.
            session_id: of the conversation; the compactor's own are `ID/compactor-0` and
                `ID/compactor-1`.
            preset: how to compact: a preset or its name.
            given: what else `Compactor` takes: `model`, `window`, `settings`, `hooks`, `on_event`,
                ...

        Raises:
            UnknownName: no preset or model has that name.
            SettingError: no model for a preset that asks one first of all.
        """
        self.session = sessions(session_id)
        self._kept = [sessions(f"{session_id}/compactor-{n}") for n in range(2)]
        self._preset = preset
        self._options = {"format": "responses", **given}
        compactor = Compactor(preset, **self._options)
        self._live = AsyncCompactor(compactor)
        self._agent: Agent[Any] | None = None
        self._saves: int | None = None  # None until what was saved is loaded
        self._session_in_use = 0
        self._recorder: Recorder | None = None  # None where the session in use needs the whole
        # of the items in the session in use
        self._size = 0
        self._largest_size = 0
        self.tools: list[Tool] = []
        if compactor.preset.strategy.recall:
            recall_tool = self._recall_tool()
            self.tools.append(recall_tool)

    @property
    def compactor(self) -> Compactor:
        """For its events and properties; before the first request it knows nothing of a resumed
        conversation.
        """
        return self._live.compactor

    def arguments(self, config: RunConfig | None = None) -> dict[str, Any]:
        """Arguments for `Runner.run` and its kin: the session, the hooks, and this configuration
        with the filter.
        """
        run_config = config or RunConfig()
        host_filter = run_config.call_model_input_filter

        async def both(data: CallModelData[Any]) -> ModelInputData:
            filtered: Any = data.model_data
            if host_filter is not None:
                filtered = host_filter(data)
            if isawaitable(filtered):
                filtered = await filtered
            return await self._filter(filtered, data.agent)

        filtering_config = replace(run_config, call_model_input_filter=both)
        return {
            "session": self.session,
            "hooks": self,
            "run_config": filtering_config,
        }

    async def on_agent_start(self, context: AgentHookContext[Any], agent: Agent[Any]) -> None:
        """Remember whose run it is: an agent that is another's tool has a conversation of its
        own, left as it is.
        """
        self._agent = agent

    async def on_llm_end(
        self, context: RunContextWrapper[Any], agent: Agent[Any], response: ModelResponse
    ) -> None:
        """Take in the usage."""
        self.compactor.report_usage(response.usage, model=_model(agent))
        await self._save()

    async def on_error(self, error: ProviderError) -> bool:
        """Whether another run with no new input goes on where this error ended one."""
        retry = await self._live.on_error(error)
        await self._save()
        return retry is not None

    async def _filter(self, data: ModelInputData, agent: Agent[Any]) -> ModelInputData:
        if self._agent is not None and agent is not self._agent:
            return data
        await self._load()
        if data.input and is_output(data.input[-1]):
            await self._live.after_tools(data.input)
        schemas = [_schema(agent_tool) for agent_tool in agent.tools]
        sent = await self._live.before_request(
            data.input,
            system=data.instructions,
            tools=schemas,
            model=_model(agent),
        )
        await self._save()
        return ModelInputData(input=sent, instructions=data.instructions)

    async def _load(self) -> None:
        """Go on from what was saved last, if this compactor has not begun yet."""
        if self._saves is not None:
            return
        self._saves = 0
        records: list[Json] = []
        for index, session in enumerate(self._kept):
            items: list[Any] = await session.get_items()
            if items and items[-1]["saves"] > self._saves:
                self._saves = items[-1]["saves"]
                self._session_in_use = index
                records = [item["document"] for item in items]
        if records:
            compactor = Compactor.load(records, self._preset, **self._options)
            self._live = AsyncCompactor(compactor)

    async def _save(self) -> None:
        """Add what changed to the session in use, or begin anew in the other one."""
        self._saves = (self._saves or 0) + 1
        recorder = self._recorder
        self._recorder = None  # should the session fail
        if recorder is None or self._size > self._largest_size:
            recorder = self.compactor.recorder()
            self._session_in_use = 1 - self._session_in_use
            session = self._kept[self._session_in_use]
            await session.clear_session()
            self._size = await self._add(recorder.whole())
            self._largest_size = largest_size(self._size)
        else:
            changes = recorder.changes()
            if changes is not None:
                self._size += await self._add(changes)
        self._recorder = recorder

    async def _add(self, record: Json) -> int:
        """Add a record to the session in use, which keeps any JSON; the size of the record."""
        item: Any = {"saves": self._saves, "document": record}
        session = self._kept[self._session_in_use]
        await session.add_items([item])
        line = line_of(record)
        return len(line)

    def _recall_tool(self) -> Tool:
        async def recall(id: str = "", query: str = "") -> str:
            await self._load()
            return self.compactor.recall(id, query)

        return function_tool(recall, name_override=TOOL, description_override=ABOUT)


def _model(agent: Agent[Any]) -> str:
    model = agent.model
    name = getattr(model, "model", model)
    return str(name or "")


def _schema(tool: Tool) -> dict[str, Json]:
    """What of a tool goes into a request, to be counted."""
    return {
        "name": tool.name,
        "description": getattr(tool, "description", ""),
        "parameters": getattr(tool, "params_json_schema", None),
    }
