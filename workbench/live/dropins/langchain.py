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
from collections import OrderedDict
from collections.abc import Awaitable, Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Annotated, Any, NotRequired
from uuid import uuid4

from workbench.engine.compaction.presets import preset as preset_named
from workbench.engine.compaction.recall import TOOL
from workbench.engine.compaction.strategy import Preset
from workbench.engine.models import find_model
from workbench.engine.models.model import Model
from workbench.engine.transcript.message import Json
from workbench.live.async_compactor import AsyncCompactor
from workbench.live.compactor import Compactor
from workbench.live.journal import line_of
from workbench.live.recall_tool import ABOUT
from workbench.live.recorder import Recorder

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
    from langchain_core.messages import (
        AIMessage,
        BaseMessage,
        convert_to_messages,
        convert_to_openai_messages,
    )
    from langchain_core.utils.function_calling import convert_to_openai_tool
    from langgraph.types import Command
except ImportError as error:
    why = "CompactionMiddleware needs LangChain; `pip install 'langchain>=1.3,<2'` installs it"
    raise ModuleNotFoundError(why, name=error.name) from None

CONVERSATIONS = 32
"""Compactors that are kept between requests, the newest; another conversation's is loaded from
its state.
"""


GROWTH = 2
"""Records that are so many times as large as the whole one among them begin anew."""


class CompactionState(AgentState[Any]):
    """The state of an agent, and in it what the compactor knows, as records of its `Recorder`.

    Attributes:
        compactor: the newest `changes`, under a stamp of the moment.
        compactor_whole: the `records` before these: a whole one and the changes behind it.
    """

    compactor: NotRequired[Annotated[dict[str, Any], PrivateStateAttr]]  # type: ignore[valid-type]  # a TypedDict
    compactor_whole: NotRequired[Annotated[dict[str, Any], PrivateStateAttr]]  # type: ignore[valid-type]  # a TypedDict


@dataclass(slots=True)
class LiveConversation:
    """A compactor, and how it is written into the state.

    The large field of the state is written again once the small one has cost as much.

    Attributes:
        size, largest_size: bytes of its records, and those above which they begin anew.
        changes_size: bytes of the records in the small field.
    """

    compactor: Compactor
    recorder: Recorder
    size: int = 0
    largest_size: int = 0
    changes_size: int = 0

    def whole_update(self) -> dict[str, Any]:
        """What goes into the state, with everything in it."""
        record = self.recorder.whole()
        self.size = len(line_of(record))
        self.largest_size = GROWTH * self.size
        self.changes_size = 0
        return {"compactor": {"changes": []}, "compactor_whole": {"records": [record]}}

    def update(self, state: CompactionState) -> dict[str, Any]:
        """What goes into a state that holds all that was known when it was written."""
        if self.size > self.largest_size:
            return self.whole_update()
        changes = list(state["compactor"]["changes"])
        change = self.recorder.changes()
        if change is not None:
            change_size = len(line_of(change))
            self.size += change_size
            self.changes_size += change_size
            changes.append(change)
        if len(changes) * self.changes_size < 2 * self.size:
            return {"compactor": {"changes": changes}}
        self.changes_size = 0
        records = [*state["compactor_whole"]["records"], *changes]
        return {"compactor": {"changes": []}, "compactor_whole": {"records": records}}


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
        self._given = {
            "format": "openai",
            "model": None if model is None else find_model(model),
            **given,
        }
        self._live: OrderedDict[str, LiveConversation] = OrderedDict()
        Compactor(self._preset, **self._given)  # so that what it refuses is refused here
        self.tools: Sequence[BaseTool] = (
            [self._recall_tool()] if self._preset.strategy.recall else []
        )

    def compactor(self, state: CompactionState) -> Compactor:
        """The compactor of a conversation at this state of the agent, such as
        `agent.get_state(config).values`.
        """
        saved = state.get("compactor")
        if saved is None:
            return Compactor(self._preset, **self._given)
        live = self._live.get(saved["stamp"])
        if live is not None:
            return live.compactor
        return Compactor.load(_records_in(state), self._preset, **self._given)

    def wrap_model_call(
        self, request: ModelRequest[Any], handler: Callable[[ModelRequest[Any]], ModelResponse[Any]]
    ) -> ExtendedModelResponse[Any]:
        """Send what the compactor makes of the messages; after an error, what it makes of them
        then.
        """
        live, call = self.compactor(request.state), _Call(request)
        if call.after_tools:
            live.after_tools(call.records)
        request = call.sending(live.before_request(call.records, **call.declared))
        while True:
            try:
                return self._answered(live, handler(request), call)
            except Exception as error:  # the compactor knows which it can answer
                retry = live.on_error(error, model=call.model)
                if retry is None:
                    raise
                time.sleep(retry.wait)
                request = call.sending(retry.messages, retry.max_tokens)

    async def awrap_model_call(
        self,
        request: ModelRequest[Any],
        handler: Callable[[ModelRequest[Any]], Awaitable[ModelResponse[Any]]],
    ) -> ExtendedModelResponse[Any]:
        """As `wrap_model_call`; the event loop goes on while a summary is written."""
        live, call = self.compactor(request.state), _Call(request)
        waiting = AsyncCompactor(live)
        if call.after_tools:
            await waiting.after_tools(call.records)
        request = call.sending(await waiting.before_request(call.records, **call.declared))
        while True:
            try:
                return self._answered(live, await handler(request), call)
            except Exception as error:  # the compactor knows which it can answer
                retry = await waiting.on_error(error, model=call.model)
                if retry is None:
                    raise
                await asyncio.sleep(retry.wait)
                request = call.sending(retry.messages, retry.max_tokens)

    def after_agent(self, state: CompactionState, runtime: Runtime[Any]) -> dict[str, Any]:
        """The turn is over: the time for compactions that should not fall into one."""
        live = self.compactor(state)
        live.after_turn([record for record, _ in _records(state["messages"])])
        return self._saved(live, state)

    async def aafter_agent(self, state: CompactionState, runtime: Runtime[Any]) -> dict[str, Any]:
        """As `after_agent`."""
        live = self.compactor(state)
        await AsyncCompactor(live).after_turn([record for record, _ in _records(state["messages"])])
        return self._saved(live, state)

    def _answered(
        self, live: Compactor, response: ModelResponse[Any], call: "_Call"
    ) -> ExtendedModelResponse[Any]:
        answer = next(
            (message for message in response.result if isinstance(message, AIMessage)), None
        )
        if answer is not None and answer.usage_metadata:
            metadata = answer.response_metadata
            stop = str(metadata.get("finish_reason") or metadata.get("stop_reason") or "")
            managed = metadata.get("context_management")
            live.report_usage(
                _usage(answer), stop=stop, model=call.model, context_management=managed
            )
        update = Command(update=self._saved(live, call.request.state))
        return ExtendedModelResponse(model_response=response, command=update)

    def _saved(self, compactor: Compactor, state: CompactionState) -> dict[str, Any]:
        """What goes into the state. Whoever goes back to the state before loads what that one has."""
        live = self._live.pop(state.get("compactor", {}).get("stamp", ""), None)
        if live is not None and live.compactor is compactor:
            update = live.update(state)
        else:
            live = LiveConversation(compactor, compactor.recorder())
            update = live.whole_update()
        stamp = uuid4().hex
        self._live[stamp] = live
        while len(self._live) > CONVERSATIONS:
            self._live.popitem(last=False)
        update["compactor"]["stamp"] = stamp
        return update

    def _recall_tool(self) -> BaseTool:
        def recall(runtime: ToolRuntime[Any, Any], id: str = "", query: str = "") -> str:
            return self.compactor(runtime.state).recall(id, query)

        return tool(TOOL, description=ABOUT)(recall)


def _records_in(state: CompactionState) -> list[Json]:
    """The records of a compactor; an earlier version had one whole document in the state."""
    saved = state["compactor"]
    if "document" in saved:
        return [saved["document"]]
    return [*state["compactor_whole"]["records"], *saved["changes"]]


class _Call:
    """One request of an agent, and its messages as the compactor reads them."""

    def __init__(self, request: ModelRequest[Any]) -> None:
        self.request = request
        self.pairs = [*_records(request.messages)]
        self.records = [record for record, _ in self.pairs]
        self.after_tools = bool(self.records) and self.records[-1]["role"] == "tool"
        self.model = str(
            getattr(request.model, "model_name", "") or getattr(request.model, "model", "")
        )
        system = request.system_message
        self.declared: dict[str, Any] = {
            "system": None if system is None else system.content,
            "tools": [convert_to_openai_tool(request_tool) for request_tool in request.tools],
            "model": self.model,
        }

    def sending(self, records: Sequence[Json], max_tokens: int | None = None) -> ModelRequest[Any]:
        """The request with these messages: the agent's own where they are as they were."""
        originals = {id(record): message for record, message in self.pairs}
        named = {message.id: message for message in self.request.messages if message.id}
        messages = [
            originals.get(id(sent_record)) or _message(sent_record, named)
            for sent_record in records
        ]
        settings = self.request.model_settings
        if max_tokens is not None:
            settings = {**settings, "max_tokens": max_tokens}
        return self.request.override(messages=messages, model_settings=settings)


def _records(messages: Sequence[BaseMessage]) -> Iterator[tuple[dict[str, Any], BaseMessage]]:
    """Each message in OpenAI's chat format, with the message itself."""
    for message in messages:
        yield convert_to_openai_messages(message, include_id=True), message


def _message(record: dict[str, Any], named: dict[str | None, BaseMessage]) -> BaseMessage:
    """What a stage wrote as a message; the agent's own with another content where it is a
    changed one.
    """
    message: BaseMessage = convert_to_messages([record])[0]
    original = named.get(record.get("id"))
    if original is None or original.type != message.type:
        return message
    changed = {"content": message.content}
    return original.model_copy(
        update=(
            {**changed, "tool_calls": message.tool_calls}
            if isinstance(message, AIMessage)
            else changed
        )
    )


def _usage(answer: AIMessage) -> dict[str, Any]:
    """What LangChain reports of any provider, as OpenAI words it: the input with what the cache
    had.
    """
    usage: Any = answer.usage_metadata
    cached = (usage.get("input_token_details") or {}).get("cache_read", 0)
    return {
        "prompt_tokens": usage["input_tokens"],
        "completion_tokens": usage["output_tokens"],
        "prompt_tokens_details": {"cached_tokens": cached},
    }
