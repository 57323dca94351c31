"""The compactor as a capability of pydantic-ai's agents.

The run's history keeps every message; only what is sent is compacted. What the compactor knows is
saved in a file for each conversation.

Source:
    pydantic-ai 2.68: `AbstractCapability.prepare_model_request`, whose changes are not persisted,
    and `RetryModelRequest`. A processor of `ProcessHistory` would shorten the history itself.
"""

from __future__ import annotations

import asyncio
from dataclasses import dataclass, replace
from os import PathLike
from typing import Any

from workbench.engine.compaction.recall import TOOL
from workbench.engine.compaction.strategy import Preset
from workbench.engine.transcript.message import Json
from workbench.live.compactor import Compactor
from workbench.live.dropins.conversations import Conversations
from workbench.live.events import Retry
from workbench.live.recall_tool import ABOUT

try:
    from pydantic_ai import FunctionToolset, RetryModelRequest, RunContext
    from pydantic_ai.capabilities import AbstractCapability
    from pydantic_ai.messages import ModelResponse
    from pydantic_ai.models import ModelRequestContext

    from workbench.live.dropins.pydantic_messages import MessageRecords
except ImportError as error:
    install_hint = "CompactionCapability needs pydantic-ai; `pip install 'pydantic-ai-slim>=2.68,<3'` installs it"
    raise ModuleNotFoundError(install_hint, name=error.name) from None

OPEN_REQUESTS = 1_024
"""Requests that wait for an answer, of which the messages are remembered at most."""


@dataclass(slots=True)
class _OpenRequest:
    """A request that waits for an answer.

    Attributes:
        run_messages: those that it was to send.
        retry: what to send instead; None where it was not refused.
    """

    run_messages: MessageRecords
    retry: Retry | None = None


class CompactionCapability(AbstractCapability[Any]):
    """Sends a compacted conversation where `Agent(..., capabilities=[CompactionCapability()])` has
    it.

    One capability serves all conversations of an agent, told apart by pydantic-ai's
    `conversation_id`.
    """

    def __init__(
        self,
        preset: Preset | str = "pipeline",
        *,
        folder: PathLike[str] | str | None = None,
        **options: Json,
    ) -> None:
        """A capability.

        Args:
            preset: how to compact: a preset or its name.
            folder: for a file of each conversation, so that a killed agent goes on; None saves
                nothing.
            options: what else `Compactor` takes: `model`, `window`, `settings`, `hooks`, `on_event`,
                ...; `pins` and `count` see messages in OpenAI's chat format.

        Raises:
            UnknownName: no preset or model has that name.
            SettingError: no model for a preset that asks one first of all.
        """
        self._conversations = Conversations(preset, folder, "openai", options)
        self._open: dict[str, _OpenRequest] = {}

    def compactor(self, conversation_id: str) -> Compactor:
        """The compactor of a conversation, for its events and properties."""
        return self._conversations.of(conversation_id).compactor

    def get_toolset(self) -> FunctionToolset[Any] | None:
        """`recall` where the preset keeps an archive (`wb.with_recall`), else none."""
        if not self._conversations.preset.strategy.recall:
            return None

        def recall(ctx: RunContext[Any], id: str = "", query: str = "") -> str:
            return self.compactor(_id(ctx)).recall(id, query)

        toolset: FunctionToolset[Any] = FunctionToolset()
        toolset.add_function(recall, takes_ctx=True, name=TOOL, description=ABOUT)
        return toolset

    async def prepare_model_request(
        self, ctx: RunContext[Any], request_context: ModelRequestContext
    ) -> ModelRequestContext:
        """Send what the compactor makes of the messages; after a refusal, what it makes of them
        then.
        """
        conversation_id = _id(ctx)
        request = self._open.get(conversation_id)
        if request is None or request.retry is None:
            run_messages = MessageRecords(request_context.messages)
            parameters = request_context.model_request_parameters
            instructions = [part.content for part in parameters.instruction_parts or ()]
            system = "\n\n".join(instructions)
            conversation = self._conversations.of(conversation_id)
            sent = await conversation.to_send(
                run_messages.records,
                system=system,
                tools=list(map(_schema, parameters.function_tools)),
                model=request_context.model.model_name,
                model_window=request_context.model.context_window,
            )
            self._remember(conversation_id, _OpenRequest(run_messages))
            messages = run_messages.messages(sent)
            return replace(request_context, messages=messages)
        retry = request.retry
        request.retry = None
        settings: Any = request_context.model_settings
        if retry.max_tokens is not None:
            settings = {**(settings or {}), "max_tokens": retry.max_tokens}
        messages = request.run_messages.messages(retry.messages)
        return replace(request_context, messages=messages, model_settings=settings)

    async def after_model_request(
        self,
        ctx: RunContext[Any],
        *,
        request_context: ModelRequestContext,
        response: ModelResponse,
    ) -> ModelResponse:
        """Take in the usage."""
        conversation_id = _id(ctx)
        usage = response.usage
        if usage.input_tokens:
            prompt_details = {"cached_tokens": usage.cache_read_tokens}
            reported = {
                "prompt_tokens": usage.input_tokens,
                "completion_tokens": usage.output_tokens,
                "prompt_tokens_details": prompt_details,
            }
            conversation = self._conversations.of(conversation_id)
            await conversation.report_usage(
                reported,
                stop=response.finish_reason or "",
                model=request_context.model.model_name,
            )
        self._open.pop(conversation_id, None)
        return response

    async def on_model_request_error(
        self, ctx: RunContext[Any], *, request_context: ModelRequestContext, error: Exception
    ) -> ModelResponse:
        """Send the request again, smaller, where that helps."""
        conversation_id = _id(ctx)
        request = self._open.get(conversation_id)
        if request is None:
            raise error
        conversation = self._conversations.of(conversation_id)
        model_name = request_context.model.model_name
        retry = await conversation.on_error(error, model=model_name)
        request.retry = retry
        if retry is None:
            raise error
        await asyncio.sleep(retry.wait)
        raise RetryModelRequest from error

    def _remember(self, conversation_id: str, request: _OpenRequest) -> None:
        self._open.pop(conversation_id, None)
        self._open[conversation_id] = request
        while len(self._open) > OPEN_REQUESTS:
            oldest_id = next(iter(self._open))
            del self._open[oldest_id]


def _id(ctx: RunContext[Any]) -> str:
    """The id of the conversation that a run belongs to."""
    return ctx.conversation_id or ctx.run_id or ""


def _schema(tool: Json) -> dict[str, Json]:
    """What of a tool goes into a request, to be counted."""
    return {
        "name": tool.name,
        "description": tool.description,
        "parameters": tool.parameters_json_schema,
    }
