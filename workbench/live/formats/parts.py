"""Reads the parts of a content by the importers' table of kinds, and remembers which block came
from which part.
"""

import json
from base64 import urlsafe_b64encode
from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from workbench.base.errors import FormatError
from workbench.engine.transcript.message import AnswerBlock, Image, Json, Text, ToolResult
from workbench.recordings.importers.blocks import KINDS
from workbench.recordings.importers.images import UNKNOWN_TOKENS, linked, openai_tokens
from workbench.recordings.importers.values import label

SAID = frozenset(
    {
        "text",
        "input_text",
        "output_text",
        "image",
        "image_url",
        "input_image",
        "input_audio",
        "document",
        "computer_screenshot",
    }
)
"""Kinds of parts that a person or a tool can send."""
_OPENAI_PICTURES = frozenset({"image_url", "input_image", "computer_screenshot"})
LOW_DETAIL = 85
"""Tokens of a picture at OpenAI's low detail, whatever its size."""
_FILES = frozenset({"file", "input_file", "video_url"})


def plain(value: Json) -> Json:
    """The value of a client library's object; anything else as it is."""
    dump = getattr(value, "model_dump", None)
    if callable(dump):
        return dump(exclude_none=True)
    return value


def type_of(part: Json) -> str:
    """The type that a part states; empty if none."""
    if not isinstance(part, Mapping):
        return ""
    return label(part, "type")


def blocks(content: Json, parts: dict[int, Json], kinds: frozenset[str] = SAID) -> tuple[Any, ...]:
    """The blocks of a content, of these kinds; the part of each is put into `parts`."""
    content_parts = content if isinstance(content, list) else [content]
    read_blocks = []
    for part in content_parts:
        if part is not None and part != "":
            read_block = block(part, kinds)
            read_blocks.append(read_block)
            parts[id(read_block)] = part
    return tuple(read_blocks)


def block(part: Json, kinds: frozenset[str]) -> AnswerBlock:
    """A block, or a placeholder for what cannot be shortened: a file, or a part that only its
    provider understands.
    """
    if isinstance(part, str):
        return Text(part)
    if type_of(part) in kinds:
        try:
            read = KINDS[type_of(part)](part)
        except FormatError:
            read = None
        if isinstance(read, Image) and type_of(part) in _OPENAI_PICTURES:
            return _openai_picture(part, read)
        if read is not None and not isinstance(read, ToolResult):
            return read
    if not isinstance(part, Mapping):
        return Text(written(part))
    if type_of(part) in _FILES:
        return sealed(part, UNKNOWN_TOKENS)
    return sealed(part)


def _openai_picture(part: Mapping[str, Json], read: Image) -> Image:
    """The picture with its tokens as OpenAI counts them."""
    link = part.get("image_url")
    fields = link if isinstance(link, Mapping) else part
    if fields.get("detail") == "low":
        return replace(read, tokens=LOW_DETAIL)
    url = label(fields, "url") or label(fields, "image_url")
    if not url:
        return read
    return linked(url, openai_tokens)


def sealed(part: Mapping[str, Json], tokens: int | None = None) -> Image:
    """A placeholder for what only its provider understands: a token for four characters unless
    they are known.
    """
    size = len(written(part))
    if tokens is None:
        tokens = -(-size // 4)
    return Image(type_of(part) or "block", size, tokens)


def written(part: Json) -> str:
    """A part as JSON text."""
    return json.dumps(part, ensure_ascii=False, default=jsonable)


def jsonable(value: Json) -> Json:
    """What JSON has no form for: a client's object as its values, a mapping as a dict, bytes as
    Google's client writes them, anything else as text.
    """
    if isinstance(value, bytes):
        return urlsafe_b64encode(value).decode("ascii")
    plain_value = plain(value)
    if plain_value is not value:
        return plain_value
    if isinstance(value, Mapping):
        return dict(value)
    return str(value)
