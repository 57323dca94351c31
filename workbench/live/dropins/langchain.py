"""The compactor as a middleware of LangChain's agents.

The agent's state keeps every message; only what is sent is compacted. What the compactor knows is
in the state too, so that a checkpointer writes both together: a conversation that is resumed, in
another process or from an earlier checkpoint, goes on as if it had not been stopped. A step changes
one small field of the state, which holds what the compactor learned of late; the large one changes
in one step of many.

Source:
    LangChain 1.4: `wrap_model_call`, `ExtendedModelResponse`, `PrivateStateAttr`. Deep Agents keeps
    its summaries in private state beside whole messages likewise.
"""

# no `from __future__ import annotations`: LangChain reads the annotations of the state and of the
# tool

import asyncio
import time
from collections.abc import Awaitable, Callable, Sequence
from typing import Annotated, Any, NotRequired

from workbench.engine.compaction.presets import preset as preset_named
from workbench.engine.compaction.recall import TOOL
from workbench.engine.compaction.strategy import Preset
from workbench.engine.models import find_model
from workbench.engine.models.model import Model
from workbench.engine.transcript.message import Json
from workbench.live.async_compactor import AsyncCompactor
from workbench.live.compactor import Compactor
from workbench.live.dropins.graph_state import StateCompactors
from workbench.live.recall_tool import ABOUT

try:
    from langchain.agents.middleware import (
        AgentMiddleware,
        AgentState,
        ExtendedModelResponse,
        ModelRequest,
        ModelResponse,
        Runtime,
    )
    from langchain.agents.middleware.types import PrivateStateAttr
    from langchain.tools import BaseTool, ToolRuntime, tool
    from langchain_core.messages import AIMessage
    from langchain_core.utils.function_calling import convert_to_openai_tool
    from langgraph.types import Command

    from workbench.live.dropins.langchain_messages import (
        MessageRecords,
        stop_of,
        usage_of,
    )
except ImportError as error:
    install_hint = (
        "CompactionMiddleware needs LangChain; `pip install 'langchain>=1.3,<2'` installs it"
    )
    raise ModuleNotFoundError(install_hint, name=error.name) from None


class CompactionState(AgentState[Any]):
    """The state of an agent, and in it what the compactor knows, as records of its `Recorder`.

    Attributes:
        compactor: the newest `changes`, under a stamp of the moment.
        compactor_whole: the `records` before these: a whole one and the changes behind it.
    """

    compactor: NotRequired[Annotated[dict[str, Any], PrivateStateAttr]]  # type: ignore[valid-type]  # a TypedDict
    compactor_whole: NotRequired[Annotated[dict[str, Any], PrivateStateAttr]]  # type: ignore[valid-type]  # a TypedDict


class CompactionMiddleware(AgentMiddleware[CompactionState, Any, Any]):
    """Sends a compacted conversation where `create_agent(...,
    middleware=[CompactionMiddleware("pipeline")])` has it.

    One middleware serves all conversations of an agent. Give the agent a checkpointer: without one
    every `invoke` begins a new conversation, for the compactor too.

    Attributes:
        tools: `recall` where the preset keeps an archive (`wb.with_recall`), else none.
    """

    state_schema = CompactionState

    def __init__(
        self, preset: Preset | str = "pipeline", *, model: Model | str | None = None, **given: Json
    ) -> None:
        """A middleware.

        Args:
            preset: how to compact: a preset or its name.
            model: writes the summaries: a model or its name, such as `extractive` or
                `litellm:gpt-4o-mini`.
            given: what else `Compactor` takes: `window`, `settings`, `hooks`, `on_event`, ...;
                `pins` and `count` see messages in OpenAI's chat format.

        Raises:
            UnknownName: no preset or model has that name.
            SettingError: no model for a preset that asks one first of all.
        """
        super().__init__()
        self._preset = preset_named(preset)
        arguments = {"format": "openai", "model": None, **given}
        if model is not None:
            arguments["model"] = find_model(model)
        Compactor(self._preset, **arguments)  # so that what it refuses is refused here
        self._compactors = StateCompactors(self._preset, arguments)
        self.tools: Sequence[BaseTool] = []
        if self._preset.strategy.recall:
            self.tools = [self._recall_tool()]

    def compactor(self, state: CompactionState) -> Compactor:
        """The compactor of a conversation at this state of the agent, such as
        `agent.get_state(config).values`.
        """
        return self._compactors.of(state)

    def wrap_model_call(
        self, request: ModelRequest[Any], handler: Callable[[ModelRequest[Any]], ModelResponse[Any]]
    ) -> ExtendedModelResponse[Any]:
        """Send what the compactor makes of the messages; after an error, what it makes of them
        then.
        """
        live = self.compactor(request.state)
        call = _Call(request)
        if call.conversation.ends_with_a_result:
            live.after_tools(call.records)
        sent = live.before_request(call.records, **call.declared)
        request = call.sending(sent)
        while True:
            try:
                response = handler(request)
                break
            except Exception as error:  # the compactor knows which it can answer
                retry = live.on_error(error, model=call.model)
                if retry is None:
                    raise
                time.sleep(retry.wait)
                request = call.sending(retry.messages, retry.max_tokens)
        return self._answered(live, response, call)

    async def awrap_model_call(
        self,
        request: ModelRequest[Any],
        handler: Callable[[ModelRequest[Any]], Awaitable[ModelResponse[Any]]],
    ) -> ExtendedModelResponse[Any]:
        """As `wrap_model_call`; the event loop goes on while a summary is written."""
        live = self.compactor(request.state)
        call = _Call(request)
        waiting = AsyncCompactor(live)
        if call.conversation.ends_with_a_result:
            await waiting.after_tools(call.records)
        sent = await waiting.before_request(call.records, **call.declared)
        request = call.sending(sent)
        while True:
            try:
                response = await handler(request)
                break
            except Exception as error:  # the compactor knows which it can answer
                retry = await waiting.on_error(error, model=call.model)
                if retry is None:
                    raise
                await asyncio.sleep(retry.wait)
                request = call.sending(retry.messages, retry.max_tokens)
        return self._answered(live, response, call)

    def after_agent(self, state: CompactionState, runtime: Runtime[Any]) -> dict[str, Any]:
        """The turn is over: the time for compactions that should not fall into one."""
        live = self.compactor(state)
        conversation = MessageRecords(state["messages"])
        live.after_turn(conversation.records)
        return self._compactors.saved(live, state)

    async def aafter_agent(self, state: CompactionState, runtime: Runtime[Any]) -> dict[str, Any]:
        """As `after_agent`."""
        live = self.compactor(state)
        conversation = MessageRecords(state["messages"])
        waiting = AsyncCompactor(live)
        await waiting.after_turn(conversation.records)
        return self._compactors.saved(live, state)

    def _answered(
        self, live: Compactor, response: ModelResponse[Any], call: "_Call"
    ) -> ExtendedModelResponse[Any]:
        answer = _answer_in(response)
        if answer is not None and answer.usage_metadata:
            usage = usage_of(answer)
            managed = answer.response_metadata.get("context_management")
            live.report_usage(
                usage,
                stop=stop_of(answer),
                model=call.model,
                context_management=managed,
            )
        saved = self._compactors.saved(live, call.request.state)
        update = Command(update=saved)
        return ExtendedModelResponse(model_response=response, command=update)

    def _recall_tool(self) -> BaseTool:
        def recall(runtime: ToolRuntime[Any, Any], id: str = "", query: str = "") -> str:
            live = self.compactor(runtime.state)
            return live.recall(id, query)

        as_tool = tool(TOOL, description=ABOUT)
        return as_tool(recall)


def _answer_in(response: ModelResponse[Any]) -> AIMessage | None:
    """The answer among the messages of a response."""
    for message in response.result:
        if isinstance(message, AIMessage):
            return message
    return None


class _Call:
    """One request of an agent, and its messages as the compactor reads them."""

    def __init__(self, request: ModelRequest[Any]) -> None:
        self.request = request
        self.conversation = MessageRecords(request.messages)
        self.records = self.conversation.records
        model = request.model
        model_name = getattr(model, "model_name", "") or getattr(model, "model", "")
        self.model = str(model_name)
        system: Json = None
        if request.system_message is not None:
            system = request.system_message.content
        schemas = [convert_to_openai_tool(request_tool) for request_tool in request.tools]
        self.declared: dict[str, Any] = {
            "system": system,
            "tools": schemas,
            "model": self.model,
        }

    def sending(self, records: Sequence[Json], max_tokens: int | None = None) -> ModelRequest[Any]:
        """The request with these messages: the agent's own where they are as they were."""
        messages = self.conversation.messages(records)
        settings = self.request.model_settings
        if max_tokens is not None:
            settings = {**settings, "max_tokens": max_tokens}
        return self.request.override(messages=messages, model_settings=settings)
