"""The compactor as a hook of LiteLLM's proxy, for agents in any language.

A client names its conversation in the header `x-workbench-conversation`, or as `conversation_id` in
the request's metadata, and sends its whole conversation each time; the provider gets a compacted
one. A request that names none passes as it came. Conversations of different keys are different ones,
whatever they are named; and what is sent is made of the request's own messages alone.

Source:
    LiteLLM 1.108: `CustomLogger.async_pre_call_hook`, `async_post_call_success_hook`,
    `async_post_call_failure_hook` and, for streams, `async_log_success_event`.
"""

from __future__ import annotations

import logging
from collections import OrderedDict
from collections.abc import Mapping
from dataclasses import dataclass
from os import PathLike
from typing import Any

from workbench.base.errors import FormatError
from workbench.engine.compaction.strategy import Preset
from workbench.engine.transcript.message import Json
from workbench.live.compactor import Compactor
from workbench.live.dropins.conversations import Conversation, Conversations
from workbench.live.formats.table import MessageFormat

try:
    from litellm.integrations.custom_logger import CustomLogger
    from litellm.proxy import proxy_server
except ImportError as error:
    install_hint = (
        "ProxyCompaction needs LiteLLM's proxy; `pip install 'litellm[proxy]'` installs it"
    )
    raise ModuleNotFoundError(install_hint, name=error.name) from None

HEADER = "x-workbench-conversation"
METADATA_KEY = "conversation_id"
OPEN_REQUESTS = 10_000
"""Requests that wait for an answer of which the conversation is remembered, at most."""


@dataclass(frozen=True, slots=True)
class Route:
    """Where a kind of request has what the compactor reads.

    Attributes:
        messages: the field with the conversation.
        system: the field with the system prompt that is none of the messages.
    """

    format: MessageFormat
    messages: str
    system: str = ""


_CHAT = Route("openai", "messages")
_MESSAGES = Route("anthropic", "messages", "system")
_RESPONSES = Route("responses", "input", "instructions")
ROUTES: Mapping[str, Route] = {
    "completion": _CHAT, "acompletion": _CHAT,
    "anthropic_messages": _MESSAGES, "aanthropic_messages": _MESSAGES,
    "responses": _RESPONSES, "aresponses": _RESPONSES,
}  # fmt: skip
"""By LiteLLM's types of calls; every other request passes as it came."""

_log = logging.getLogger(__name__)


class ProxyCompaction(CustomLogger):
    """Compacts the requests of a proxy: `callbacks: module.name` of one, in the proxy's
    `litellm_settings`.
    """

    def __init__(
        self,
        preset: Preset | str = "pipeline",
        *,
        folder: PathLike[str] | str | None = None,
        **options: Json,
    ) -> None:
        """A hook.

        Args:
            preset: how to compact: a preset or its name.
            folder: for a file of each conversation, so that a restarted proxy goes on; None saves
                nothing.
            options: what else `Compactor` takes: `model`, `window`, `settings`, `hooks`, `on_event`,
                ... Without a `window` each model's own is taken, as the proxy knows it.

        Raises:
            UnknownName: no preset or model has that name.
            SettingError: no model for a preset that asks one first of all.
        """
        super().__init__()
        self._conversations: dict[MessageFormat, Conversations] = {}
        for route in (_CHAT, _MESSAGES, _RESPONSES):
            conversations = Conversations(preset, folder, route.format, options)
            self._conversations[route.format] = conversations
        self._open: OrderedDict[str, Conversation] = OrderedDict()  # by LiteLLM's ids of calls

    def compactor(self, id: str, format: MessageFormat = "openai", *, key: str = "") -> Compactor:
        """The compactor of a conversation, for its events and properties.

        Args:
            id: as the client names it.
            format: of its messages.
            key: the client's, as the proxy stores it.
        """
        return self._conversation(id, format, key).compactor

    async def async_pre_call_hook(
        self, user_api_key_dict: Json, cache: Json, data: dict[str, Any], call_type: str
    ) -> dict[str, Any]:
        """The request with what the compactor makes of its messages."""
        route = ROUTES.get(getattr(call_type, "value", call_type))
        id = _conversation_id(data)
        if route is None or not id or data.get("previous_response_id"):
            return data
        messages = data.get(route.messages)
        if not isinstance(messages, list):
            return data
        key = _key(user_api_key_dict)
        conversation = self._conversation(id, route.format, key)
        model = str(data.get("model") or "")
        system = None
        if route.system:
            system = data.get(route.system)
        try:
            sent = await conversation.to_send(
                messages,
                system=system,
                tools=data.get("tools"),
                model=model,
                model_window=_window(model),
            )
        except FormatError as error:
            _log.warning("a request passes as it came: %s", error)
            return data
        call_id = _call_id(data)
        self._open[call_id] = conversation
        while len(self._open) > OPEN_REQUESTS:
            self._open.popitem(last=False)
        return {**data, route.messages: sent}

    async def async_post_call_success_hook(
        self, data: dict[str, Any], user_api_key_dict: Json, response: Json
    ) -> None:
        """Take in the usage of an answer."""
        model = str(data.get("model") or "")
        await self._answered(_call_id(data), response, model)

    async def async_log_success_event(
        self, kwargs: dict[str, Any], response_obj: Json, start_time: Json, end_time: Json
    ) -> None:
        """Take in the usage of an answer that came as a stream."""
        await self._answered(_call_id(kwargs), response_obj, _group(kwargs))

    async def async_post_call_failure_hook(
        self,
        request_data: dict[str, Any],
        original_exception: Exception,
        user_api_key_dict: Json,
        traceback_str: str | None = None,
    ) -> None:
        """Learn from a refused request, so that the same one is sent smaller when it comes
        again.
        """
        call_id = _call_id(request_data)
        conversation = self._open.pop(call_id, None)
        if conversation is not None:
            model = str(request_data.get("model") or "")
            await conversation.on_error(original_exception, model=model)

    def _conversation(self, id: str, format: MessageFormat, key: str) -> Conversation:
        conversations = self._conversations[format]
        return conversations.of(f"{format}\n{key}\n{id}")

    async def _answered(self, call_id: str, response: Json, model: str) -> None:
        usage = _field(response, "usage")
        if usage is None:
            return
        conversation = self._open.pop(call_id, None)
        if conversation is not None:
            stop = _stop(response)
            await conversation.report_usage(usage, stop=stop, model=model)


def _conversation_id(data: Mapping[str, Any]) -> str:
    """How the client names the conversation; empty where it does not."""
    client_request = data.get("proxy_server_request") or {}
    headers = client_request.get("headers") or {}
    for name, value in headers.items():
        header = str(name).lower()
        if header == HEADER and value:
            return str(value)
    metadata = data.get("metadata")
    if isinstance(metadata, Mapping) and metadata.get(METADATA_KEY):
        return str(metadata[METADATA_KEY])
    return ""


def _key(user_api_key: Json) -> str:
    """The client's key, as the proxy stores it."""
    key = getattr(user_api_key, "api_key", None)
    return str(key or "")


def _call_id(data: Mapping[str, Any]) -> str:
    call_id = data.get("litellm_call_id")
    return str(call_id or "")


def _group(kwargs: Mapping[str, Any]) -> str:
    """The model as the client named it."""
    parameters = kwargs.get("litellm_params") or {}
    for field in ("metadata", "litellm_metadata"):
        metadata = parameters.get(field) or {}
        group = metadata.get("model_group")
        if group:
            return str(group)
    return ""


def _window(model: str) -> int | None:
    """The tokens that a model takes, as the proxy knows it."""
    router = proxy_server.llm_router
    if router is None:
        return None
    info = router.get_model_group_info(model)
    window = getattr(info, "max_input_tokens", None)
    if not window:
        return None
    return int(window)


def _field(response: Json, name: str) -> Json:
    if isinstance(response, Mapping):
        return response.get(name)
    return getattr(response, name, None)


def _stop(response: Json) -> str:
    """Why the model stopped, in the words of the API."""
    choices = _field(response, "choices")
    reason = _field(response, "stop_reason")
    if choices:
        reason = _field(choices[0], "finish_reason")
    return str(reason or "")
