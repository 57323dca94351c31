"""The compactor as a node of a LangGraph graph, before the one that calls the model.

The state keeps every message; what is to be sent stands beside them, in `llm_input_messages`. What
the compactor knows is in the state too, so that a checkpointer writes both together.

Source:
    LangGraph 1.2: `create_react_agent(pre_model_hook=...)`, deprecated in favour of LangChain's
    `create_agent`, and its key `llm_input_messages`.
"""

# no `from __future__ import annotations`: LangGraph reads the annotations of the state

from collections.abc import Mapping, Sequence
from typing import Annotated, Any, NotRequired, TypedDict

from workbench.engine.compaction.presets import preset as preset_named
from workbench.engine.compaction.strategy import Preset
from workbench.engine.models import find_model
from workbench.engine.models.error_evidence import ProviderError
from workbench.engine.transcript.message import Json
from workbench.live.async_compactor import AsyncCompactor
from workbench.live.compactor import Compactor
from workbench.live.dropins.graph_state import StateCompactors

try:
    from langchain_core.messages import AIMessage, AnyMessage, BaseMessage
    from langchain_core.runnables import Runnable, RunnableConfig
    from langchain_core.utils.function_calling import convert_to_openai_tool
    from langgraph.graph.message import add_messages
    from langgraph.managed import RemainingSteps

    from workbench.live.dropins.langchain_messages import MessageRecords, stop_of, usage_of
except ImportError as error:
    install_hint = "CompactionNode needs LangGraph; `pip install 'langgraph>=1.1,<2'` installs it"
    raise ModuleNotFoundError(install_hint, name=error.name) from None


class CompactedState(TypedDict):
    """A state for `create_react_agent` or a graph of your own; one with more keys may derive from
    it.

    Attributes:
        messages: the conversation, whole.
        llm_input_messages: what to send.
        compactor: the newest changes of what the compactor knows.
        compactor_whole: what it knew before these.
    """

    messages: Annotated[Sequence[BaseMessage], add_messages]
    remaining_steps: NotRequired[RemainingSteps]
    llm_input_messages: NotRequired[list[AnyMessage]]
    compactor: NotRequired[dict[str, Any]]
    compactor_whole: NotRequired[dict[str, Any]]


class CompactionNode(Runnable[Any, Any]):
    """Writes what to send into the state: `create_react_agent(..., pre_model_hook=node,
    state_schema=CompactedState)`, or `graph.add_node("compact", node)`.

    One node serves all conversations of a graph. Give the graph a checkpointer: without one every
    `invoke` begins a new conversation, for the compactor too.
    """

    def __init__(
        self,
        preset: Preset | str = "pipeline",
        *,
        llm: Json = None,
        tools: Sequence[Json] = (),
        system: str = "",
        **options: Json,
    ) -> None:
        """A node.

        Args:
            preset: how to compact: a preset or its name.
            llm: the agent's chat model, for its name and its window.
            tools: the agent's tools, to be counted.
            system: the agent's prompt where the state does not hold it, to be counted.
            options: what else `Compactor` takes: `model`, `window`, `settings`, `hooks`, `on_event`,
                ...; `pins` and `count` see messages in OpenAI's chat format.

        Raises:
            UnknownName: no preset or model has that name.
            SettingError: no model for a preset that asks one first of all.
        """
        arguments = {"format": "openai", **options}
        model = arguments.get("model")
        if model is not None:
            arguments["model"] = find_model(model)
        if arguments.get("window") is None:
            arguments["window"] = _window_of(llm)
        schemas = [convert_to_openai_tool(tool) for tool in tools]
        self._model = _model_name(llm)
        self._declared: dict[str, Any] = {
            "system": system or None,
            "tools": schemas,
            "model": self._model,
        }
        compaction = preset_named(preset)
        Compactor(compaction, **arguments)  # so that what it refuses is refused here
        self._compactors = StateCompactors(compaction, arguments)

    def compactor(self, state: Mapping[str, Any]) -> Compactor:
        """The compactor of a conversation at this state, such as `graph.get_state(config).values`."""
        return self._compactors.of(state)

    def invoke(
        self,
        input: Json,
        config: RunnableConfig | None = None,  # a Runnable's
        **_: Json,
    ) -> dict[str, Any]:
        """What to send, and what the compactor knows, for the state."""
        live, conversation = self._heard(input)
        if conversation.ends_with_a_result:
            live.after_tools(conversation.records)
        sent = live.before_request(conversation.records, **self._declared)
        messages = conversation.messages(sent)
        return self._update(live, input, messages)

    async def ainvoke(
        self,
        input: Json,
        config: RunnableConfig | None = None,  # a Runnable's
        **_: Json,
    ) -> dict[str, Any]:
        """As `invoke`; the event loop goes on while a summary is written."""
        live, conversation = self._heard(input)
        waiting = AsyncCompactor(live)
        if conversation.ends_with_a_result:
            await waiting.after_tools(conversation.records)
        sent = await waiting.before_request(conversation.records, **self._declared)
        messages = conversation.messages(sent)
        return self._update(live, input, messages)

    def after_error(self, error: ProviderError, state: Mapping[str, Any]) -> dict[str, Any] | None:
        """What to write into the state after a refused request, for `graph.invoke(None, config)`
        to send a smaller one; None where that does not help.

        `graph.update_state(config, update, as_node="pre_model_hook")` writes it.
        """
        live = self.compactor(state)
        conversation = MessageRecords(state["messages"])
        retry = live.on_error(error, conversation.records, model=self._model)
        if retry is None:
            return None
        messages = conversation.messages(retry.messages)
        return self._update(live, state, messages)

    def _heard(self, state: Mapping[str, Any]) -> tuple[Compactor, MessageRecords]:
        """The compactor, which has taken in the usage of the newest answer; and the messages."""
        live = self.compactor(state)
        messages = state["messages"]
        new_messages = messages[_sent_count(state) :]
        for message in reversed(new_messages):
            if not isinstance(message, AIMessage):
                continue
            if message.usage_metadata:
                usage = usage_of(message)
                stop = stop_of(message)
                live.report_usage(usage, stop=stop, model=self._model)
            break
        return live, MessageRecords(messages)

    def _update(
        self, live: Compactor, state: Mapping[str, Any], messages: list[BaseMessage]
    ) -> dict[str, Any]:
        update = self._compactors.saved(live, state)
        sent_count = len(state["messages"])
        update["compactor"]["sent_count"] = sent_count
        return {"llm_input_messages": messages, **update}


def _window_of(llm: Json) -> int | None:
    """The window of a chat model, as LangChain knows it."""
    profile = getattr(llm, "profile", None) or {}
    window: int | None = profile.get("max_input_tokens")
    return window


def _model_name(llm: Json) -> str:
    """The name of a chat model; empty where it has none."""
    name = getattr(llm, "model_name", "") or getattr(llm, "model", "")
    return str(name or "")


def _sent_count(state: Mapping[str, Any]) -> int:
    """How many messages the state had at the newest request."""
    saved = state.get("compactor") or {}
    sent_count = saved.get("sent_count", 0)
    return int(sent_count)
