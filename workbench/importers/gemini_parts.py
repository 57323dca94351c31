"""Gemini's contents: messages of parts, as Gemini CLI, ADK and the API itself write them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from workbench.importers.content import arguments, as_json, result_blocks
from workbench.importers.fields import inner, known_id, whole, words
from workbench.importers.images import image
from workbench.transcript.message import AnswerBlock, Image, Json, SaidBlock, Text, Thinking, ToolCall, Usage


@dataclass(slots=True)
class Parts:
    """What a list of parts holds."""

    blocks: list[AnswerBlock] = field(default_factory=list)
    results: list[tuple[str, str, tuple[SaidBlock, ...], bool]] = field(default_factory=list)
    unknown: list[str] = field(default_factory=list)

    @property
    def said(self) -> tuple[SaidBlock, ...]:
        """The words and pictures alone."""
        return tuple(block for block in self.blocks if isinstance(block, Text | Image))


def parts_of(items: Sequence[Mapping[str, Json]]) -> Parts:
    """Read parts in either spelling, `function_call` or `functionCall`."""
    found = Parts()
    for part in items:
        call = inner(part, "function_call") or inner(part, "functionCall")
        response = inner(part, "function_response") or inner(part, "functionResponse")
        data = inner(part, "inline_data") or inner(part, "inlineData")
        if call:
            call_id = known_id(call, "id") or known_id(part, "id")
            found.blocks.append(ToolCall(call_id, words(call, "name"), arguments(call.get("args"))))
        elif response:
            blocks, failed = answered(response.get("response"))
            found.results.append((known_id(response, "id"), words(response, "name"), blocks, failed))
        elif data:
            found.blocks.append(image(words(data, "mime_type") or words(data, "mimeType"), words(data, "data")))
        elif part.get("text") is not None:
            text = words(part, "text")
            found.blocks.append(Thinking(text) if part.get("thought") is True else Text(text))
        elif set(part) - {"thought", "thoughtSignature", "thought_signature"}:
            found.unknown.append(f"part with {min(part, default='')!r}")
    return found


def answered(response: Json) -> tuple[tuple[SaidBlock, ...], bool]:
    """A function's response as blocks, and whether it is an error."""
    if isinstance(response, dict):
        for key in ("output", "result"):
            if isinstance(response.get(key), str):
                return result_blocks(response[key]), "error" in response
        if isinstance(response.get("error"), str):
            return result_blocks(response["error"]), True
        return (Text(as_json(response)),) if response else (), "error" in response
    return result_blocks(response), False


def gemini_usage(record: Mapping[str, Json]) -> Usage | None:
    """Gemini's usage in snake or camel case; its prompt figure includes the cached part."""
    prompt = whole(record, "prompt_token_count") or whole(record, "promptTokenCount")
    cached = min(whole(record, "cached_content_token_count") or whole(record, "cachedContentTokenCount"), prompt)
    usage = Usage(
        input=prompt - cached,
        cache_read=cached,
        output=whole(record, "candidates_token_count") or whole(record, "candidatesTokenCount"),
        reasoning=whole(record, "thoughts_token_count") or whole(record, "thoughtsTokenCount"),
    )
    return usage if usage != Usage() else None
