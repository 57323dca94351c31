"""What providers report about a request, in any of their forms."""

from __future__ import annotations

from collections.abc import Mapping

from workbench.transcript.message import Json, Usage


def usage_of(given: Json) -> Usage | None:
    """Reads a report, a dict or an object; None if it holds no usage.

    OpenAI's prompt figure includes what was cached, Anthropic's does not.
    """
    if given is None or isinstance(given, Usage):
        return given
    prompt = _count(given, "prompt_tokens")
    detail = _inner(given, "prompt_tokens_details") or _inner(given, "input_tokens_details")
    output = _count(given, "completion_tokens") or _count(given, "output_tokens")
    if prompt or detail is not None:
        whole = prompt or _count(given, "input_tokens")
        cached = min(_count(detail, "cached_tokens"), whole) if detail is not None else 0
        usage = Usage(input=whole - cached, cache_read=cached, output=output)
    else:
        usage = Usage(
            _count(given, "input_tokens"),
            _count(given, "cache_read_input_tokens"),
            _count(given, "cache_creation_input_tokens"),
            output,
        )
    return usage if usage != Usage() else None


def _inner(given: Json, name: str) -> Json:
    return given.get(name) if isinstance(given, Mapping) else getattr(given, name, None)


def _count(given: Json, name: str) -> int:
    value = _inner(given, name)
    return int(value) if isinstance(value, int | float) and not isinstance(value, bool) and value > 0 else 0
