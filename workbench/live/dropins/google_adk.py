"""The compactor as a plugin of Google's Agent Development Kit.

The session keeps every event; only what is sent is compacted. What the compactor knows is saved in
a file for each agent of a session.

Source:
    google-adk 2.13: `BasePlugin.before_model_callback`, `after_model_callback` and
    `on_model_error_callback`; an answer that the last one returns takes the place of the error.
"""

from __future__ import annotations

import asyncio
import json
from collections.abc import Sequence
from os import PathLike
from typing import Any

from workbench.engine.compaction.strategy import Preset
from workbench.engine.transcript.message import Json
from workbench.live.compactor import Compactor
from workbench.live.dropins.conversations import Conversation, Conversations

try:
    from google.adk.models.llm_request import LlmRequest
    from google.adk.models.llm_response import LlmResponse
    from google.adk.plugins.base_plugin import BasePlugin
    from google.genai import types
except ImportError as error:
    install_hint = (
        "CompactionPlugin needs Google's ADK; `pip install 'google-adk>=2,<3'` installs it"
    )
    raise ModuleNotFoundError(install_hint, name=error.name) from None


class CompactionPlugin(BasePlugin):
    """Sends compacted conversations where `App(..., plugins=[CompactionPlugin()])` has it.

    One plugin serves all sessions of an app; each agent in a session has a conversation of its own.
    """

    def __init__(
        self,
        preset: Preset | str = "pipeline",
        *,
        folder: PathLike[str] | str | None = None,
        name: str = "compaction",
        **options: Json,
    ) -> None:
        """A plugin.

        Args:
            preset: how to compact: a preset or its name.
            folder: for the files, so that a killed agent goes on; None saves nothing.
            name: of the plugin.
            options: what else `Compactor` takes: `model`, `window`, `settings`, `hooks`, `on_event`,
                ...; `pins` and `count` see contents in Gemini's form.

        Raises:
            UnknownName: no preset or model has that name.
            SettingError: no model for a preset that asks one first of all.
        """
        super().__init__(name)
        self._conversations = Conversations(preset, folder, "gemini", options)

    def compactor(
        self, app_name: str, user_id: str, session_id: str, agent_name: str, branch: str = ""
    ) -> Compactor:
        """The compactor of an agent in a session, for its events and properties; `branch` as of
        the agent's events, empty outside parallel agents.
        """
        names = (app_name, user_id, session_id, agent_name, branch)
        return self._conversations.of("\n".join(names)).compactor

    async def before_model_callback(
        self,
        *,
        callback_context: Any,  # noqa: ANN401  # the library's
        llm_request: LlmRequest,
    ) -> LlmResponse | None:
        """Put what the compactor makes of the contents into the request."""
        contents = _Contents(llm_request.contents)
        config = llm_request.config
        sent = await self._conversation(callback_context).to_send(
            contents.records,
            system=_plain(config.system_instruction),
            tools=_plain(config.tools),
            model=llm_request.model or "",
        )
        llm_request.contents = contents.contents(sent)
        return None

    async def after_model_callback(
        self,
        *,
        callback_context: Any,  # noqa: ANN401  # the library's
        llm_response: LlmResponse,
    ) -> LlmResponse | None:
        """Take in the usage."""
        usage = llm_response.usage_metadata
        if usage is not None and not llm_response.partial:
            await self._conversation(callback_context).report_usage(
                _plain(usage), stop=_stop(llm_response)
            )
        return None

    async def on_model_error_callback(
        self,
        *,
        callback_context: Any,  # noqa: ANN401  # the library's
        llm_request: LlmRequest,
        error: Exception,
    ) -> LlmResponse | None:
        """Send the request again, smaller, where that helps; its answer is not streamed."""
        conversation = self._conversation(callback_context)
        model = callback_context.get_invocation_context().agent.canonical_model
        contents = _Contents(llm_request.contents)
        refusal = error
        while True:
            retry = await conversation.on_error(refusal, model=llm_request.model or "")
            if retry is None:
                return None
            await asyncio.sleep(retry.wait)
            llm_request.contents = contents.contents(retry.messages)
            if retry.max_tokens is not None:
                llm_request.config.max_output_tokens = retry.max_tokens
            answer: LlmResponse | None = None
            try:
                async for response in model.generate_content_async(llm_request, stream=False):
                    answer = response
            except Exception as next_error:  # noqa: BLE001  # the compactor knows which it can answer
                refusal = next_error
                continue
            if answer is not None:
                await self.after_model_callback(
                    callback_context=callback_context, llm_response=answer
                )
            return answer

    def _conversation(self, context: Json) -> Conversation:
        """The conversation of the agent that this callback is about."""
        session = context.session
        branch = getattr(context.get_invocation_context(), "branch", None) or ""
        names = (session.app_name, session.user_id, session.id, context.agent_name, branch)
        return self._conversations.of("\n".join(names))


class _Contents:
    """The contents of a request, and as records in the form of Gemini's API.

    Attributes:
        records: one for each content.
    """

    def __init__(self, contents: Sequence[types.Content]) -> None:
        self.records: list[Json] = [_plain(content) for content in contents]
        self._contents = {
            id(record): content for record, content in zip(self.records, contents, strict=True)
        }

    def contents(self, records: Sequence[Json]) -> list[types.Content]:
        """The contents of these records: the request's own where they are as they were."""
        contents: list[types.Content] = []
        for record in records:
            content = self._contents.get(id(record))
            if content is None:  # read as JSON, for the bytes in it
                content = types.Content.model_validate_json(json.dumps(record))
            contents.append(content)
        return contents


def _plain(value: Json) -> Json:
    """A value of the library's as JSON; a text as it is."""
    if isinstance(value, list):
        return [_plain(entry) for entry in value]
    if hasattr(value, "model_dump"):
        return value.model_dump(mode="json", exclude_none=True)
    return value


def _stop(response: LlmResponse) -> str:
    """Why the model stopped, as Gemini says it."""
    reason = response.finish_reason
    return str(getattr(reason, "value", reason) or "")
