"""Asks a provider for its own compaction, and reads what it gives: Anthropic's on request
(`compact-2026-09-04`) and at a threshold (`compact_20260112`), and OpenAI's `/responses/compact`.

Source:
    The request and response types of the packages anthropic 2.14.0 and openai 3.57.0, and
    Anthropic's documentation of compaction, read at 2026-11-27.
"""

from __future__ import annotations

import json
import os
import time
from collections.abc import Mapping
from dataclasses import dataclass
from http.client import HTTPException
from typing import TYPE_CHECKING, Any
from urllib.error import HTTPError, URLError
from urllib.parse import urlsplit
from urllib.request import HTTPRedirectHandler, Request, build_opener

from workbench.base.errors import ModelError
from workbench.engine.models.keys import without_keys
from workbench.engine.models.language_model import with_retries
from workbench.engine.models.model import Completion, ServerRequest, ServerService
from workbench.engine.models.prices import tariff
from workbench.engine.models.provider_errors import classify
from workbench.engine.transcript.message import encrypted_tokens

if TYPE_CHECKING:  # the engine alone has no pydantic, which reads the options
    from workbench.engine.models.provider_options import ProviderOptions

LEAST_TRIGGER = 50_000
"""Tokens of the least threshold that Anthropic's `compact_20260112` takes."""
MOST_SUMMARY = 16_000
"""Tokens of Anthropic's summary at most: its `max_tokens`."""
MOST_BYTES = 64 << 20
"""Bytes of an answer that are read."""
SHOWN = 300
"""Characters of an error that are shown."""
UNREADABLE = "(The provider compacted what came before this; only the provider can read it.)"
"""The text of a compaction that is encrypted."""
WISHES = (
    "Write a summary of this conversation from which the work can go on: what was asked for, how"
    " things stand, what was found out, and what comes next. {wishes}"
)
"""Takes the place of the provider's prompt where the user has wishes of his own."""
ANTHROPIC = ("compact_on_demand", "compact_20260112")
BETAS = {"compact_on_demand": "compact-2026-09-04", "compact_20260112": "compact-2026-01-12"}
KEYS = {"anthropic": "ANTHROPIC_API_KEY", "openai": "OPENAI_API_KEY"}
BASES = {
    "anthropic": ("https://api.anthropic.com", "ANTHROPIC_BASE_URL", "ANTHROPIC_API_BASE"),
    "openai": ("https://api.openai.com/v1", "OPENAI_BASE_URL", "OPENAI_API_BASE"),
}
"""The address of each provider, and the variables that may hold another one."""


def provider_of(service: ServerService) -> str:
    """Whose service it is."""
    if service in ANTHROPIC:
        return "anthropic"
    return "openai"


class _NoRedirect(HTTPRedirectHandler):
    """Follows no redirect: a key is sent to nobody else."""

    def redirect_request(self, *arguments: object) -> None:
        """None."""


@dataclass(frozen=True, slots=True)
class Call:
    """One request as it is sent."""

    model: str
    address: str
    headers: Mapping[str, str]
    body: Mapping[str, Any]


def compacted(request: ServerRequest, model: str, options: ProviderOptions) -> Completion:
    """The provider's compaction of a conversation.

    Args:
        request: the conversation, and by which service.
        model: the model's name, which may begin with its provider's.
        options: how it is called.

    Raises:
        ModelError: it is a model of another provider, its key is missing, or no compaction came.
    """
    call = call_of(request, model, options)
    return with_retries(options, lambda: _answer(call, request.service, options))


def call_of(request: ServerRequest, model: str, options: ProviderOptions) -> Call:
    """The request as the provider takes it.

    Raises:
        ModelError: it is a model of another provider, or its key is missing.
    """
    provider = provider_of(request.service)
    if "/" in model and not model.startswith(f"{provider}/"):
        raise ModelError(f"{model} has no compaction {request.service}, which is {provider}'s")
    name = model.removeprefix(f"{provider}/")
    variable = options.key or KEYS[provider]
    key = os.environ.get(variable, "")
    if not key and not options.api_base:
        raise ModelError(f"{model} needs the environment variable {variable}")
    base = _base(provider, options).rstrip("/")
    headers = {"content-type": "application/json"}
    if key:
        headers["authorization"] = f"Bearer {key}"
    body: dict[str, Any] = {"model": name}
    if provider == "openai":
        body["input"] = list(request.messages)
        if isinstance(request.system, str) and request.system:
            body["instructions"] = request.system
        return Call(name, f"{base}/responses/compact", headers, body)
    headers |= {"anthropic-version": "2026-10-21", "anthropic-beta": BETAS[request.service]}
    body |= {"max_tokens": MOST_SUMMARY, "messages": list(request.messages)}
    if request.system:
        body["system"] = request.system
    if request.tools:
        body["tools"] = request.tools
    body |= _asked_of_anthropic(request)
    address = base.removesuffix("/v1")
    return Call(name, f"{address}/v1/messages", headers, body)


def _asked_of_anthropic(request: ServerRequest) -> dict[str, Any]:
    """The part of Anthropic's request that asks for the compaction."""
    wishes: dict[str, Any] = {}
    if request.instructions:
        wishes["instructions"] = WISHES.format(wishes=request.instructions)
    if request.service == "compact_on_demand":
        return {"compaction": {"type": "summarize", **wishes}}
    edit = {
        "type": request.service,
        "trigger": {"type": "input_tokens", "value": LEAST_TRIGGER},
        "pause_after_compaction": True,
        **wishes,
    }
    return {"context_management": {"edits": [edit]}}


def _base(provider: str, options: ProviderOptions) -> str:
    """The provider's address, or another one that the user names."""
    if options.api_base:
        return options.api_base
    usual, *variables = BASES[provider]
    for variable in variables:
        address = os.environ.get(variable)
        if address:
            return address
    return usual


def _answer(call: Call, service: ServerService, options: ProviderOptions) -> Completion:
    """The compaction in the provider's answer.

    Raises:
        ModelError: it has none.
    """
    document = _document(call, options)
    if service == "responses_compact":
        return _items(call, document)
    return _block(call, document)


def _document(call: Call, options: ProviderOptions) -> Mapping[str, Any]:
    """The answer as JSON.

    Raises:
        ModelError: none came, or it is something else.
    """
    if urlsplit(call.address).scheme not in ("http", "https"):
        raise ModelError(f"{call.model} has no address that can be asked: {call.address:.80}")
    body = json.dumps(call.body, default=str).encode("utf-8", "replace")
    request = Request(call.address, body, dict(call.headers), method="POST")
    opener = build_opener(_NoRedirect)
    started = time.monotonic()
    try:
        with opener.open(request, timeout=options.timeout) as response:
            raw = response.read(MOST_BYTES + 1)
    except HTTPError as error:
        raise _refusal(call, error, options) from None
    except (URLError, OSError, HTTPException) as error:
        seconds = time.monotonic() - started
        reason = _error_text(str(getattr(error, "reason", error)), options)
        raise ModelError(
            f"{call.model} gave no answer in {seconds:.1f} seconds: {reason}", retryable=True
        ) from None
    if len(raw) > MOST_BYTES:
        raise ModelError(f"{call.model} answered with more than {MOST_BYTES:,} bytes")
    try:
        document = json.loads(raw)
    except ValueError:
        document = None
    if not isinstance(document, dict):
        raise ModelError(f"{call.model} gave an answer that is no JSON object")
    return document


def _refusal(call: Call, error: HTTPError, options: ProviderOptions) -> ModelError:
    """What a provider's error means."""
    text = _error_text(error.read(MOST_BYTES).decode("utf-8", "replace"), options)
    diagnosis = classify(text, error.code)
    overflow = diagnosis.is_too_large
    limit: int | None = None
    if overflow:
        limit = diagnosis.limit
    is_passing = error.code in (408, 409, 429) or error.code >= 500
    return ModelError(
        f"{call.model} did not compact: {error.code} {text}",
        retryable=is_passing,
        overflow=overflow,
        limit=limit,
        outage=is_passing,
    )


def _error_text(text: str, options: ProviderOptions) -> str:
    """What may be shown of an error: one line without keys."""
    line = " ".join(text.split())
    return without_keys(line, options.key or "", options.api_base or "")[:SHOWN]


def _block(call: Call, document: Mapping[str, Any]) -> Completion:
    """The compaction block of Anthropic's answer.

    Raises:
        ModelError: it has none, or one without a summary.
    """
    for block in _dicts(document.get("content")):
        if block.get("type") != "compaction":
            continue
        text = block.get("content")
        if isinstance(text, str) and text.strip():
            message = {"role": "assistant", "content": [block]}
            return _completion(call, document, "anthropic", [message], text)
    raise ModelError(f"{call.model} answered without a compaction")


def _items(call: Call, document: Mapping[str, Any]) -> Completion:
    """The items of OpenAI's answer, all of which are sent back.

    Raises:
        ModelError: none of them is a compaction.
    """
    items = _dicts(document.get("output"))
    sealed_tokens = 0
    for item in items:
        encrypted = item.get("encrypted_content")
        if isinstance(encrypted, str):
            sealed_tokens += encrypted_tokens(len(encrypted))
        else:
            sealed_tokens += len(json.dumps(item, ensure_ascii=False)) // 4
    if not any(item.get("type") in ("compaction", "compaction_summary") for item in items):
        raise ModelError(f"{call.model} answered without a compaction")
    return _completion(call, document, "responses", items, UNREADABLE, sealed_tokens)


def _dicts(value: object) -> list[dict[str, Any]]:
    """The objects in a list of an answer; none where it is no list."""
    if not isinstance(value, list):
        return []
    return [item for item in value if isinstance(item, dict)]


def _completion(
    call: Call,
    document: Mapping[str, Any],
    format: str,
    records: list[Any],
    text: str,
    sealed_tokens: int = 0,
) -> Completion:
    """The completion with what it cost."""
    usage = _usage(document)
    cached_tokens = _number(usage, "cache_read_input_tokens")
    input_tokens = _number(usage, "input_tokens") + cached_tokens
    input_tokens += _number(usage, "cache_creation_input_tokens")
    if format == "responses":
        for details in _dicts([usage.get("input_tokens_details")]):
            cached_tokens = _number(details, "cached_tokens")
    output_tokens = _number(usage, "output_tokens")
    return Completion(
        text=text,
        model=call.model,
        input_tokens=input_tokens,
        output_tokens=output_tokens,
        cached_tokens=cached_tokens,
        usd=_usd(call.model, input_tokens, cached_tokens, output_tokens),
        method="by the provider",
        sealed=json.dumps({"format": format, "records": records}, ensure_ascii=False),
        sealed_tokens=sealed_tokens,
    )


def _usage(document: Mapping[str, Any]) -> Mapping[str, Any]:
    """The reported usage: of the compaction, where Anthropic reports that apart."""
    usage = document.get("usage")
    if not isinstance(usage, dict):
        return {}
    for iteration in _dicts(usage.get("iterations")):
        if iteration.get("type") == "compaction":
            return iteration
    return usage


def _number(usage: Mapping[str, Any], name: str) -> int:
    value = usage.get(name)
    if not isinstance(value, int):
        return 0
    return max(value, 0)


def _usd(model: str, read: int, cached: int, wrote: int) -> float | None:
    """What so many tokens cost; None where the model has no known price."""
    listed = tariff(model)
    if listed is None or not read:
        return None
    rates = listed.at(read)
    return (read - cached) * rates.input + cached * rates.cache_read + wrote * rates.output
