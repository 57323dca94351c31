"""What a message says as one text, for servers that take no list of parts.

Source:
    DeepSeek: "invalid type: sequence, expected a string" (QwenLM/qwen-code#2158). Ollama: "cannot
    unmarshal array into Go struct field ChatRequest.messages of type string" (BerriAI/litellm#6808).
    vLLM: "Input should be a valid string" of a content of null.
"""

from collections.abc import Sequence

from workbench.engine.transcript.message import Json
from workbench.live.formats.parts import plain, type_of
from workbench.live.formats.table import MessageFormat
from workbench.live.mending.sent_entry import TEXT_TYPES, SentEntry

_BETWEEN = "\n\n"


def with_plain_texts(entries: Sequence[SentEntry], format: MessageFormat) -> list[SentEntry]:
    """With one text in the place of each list of texts, and of none beside calls; a list with
    anything else stays, since it would lose that.
    """
    if format != "openai":
        return list(entries)
    return list(map(_with_plain_text, entries))


def with_joined_texts(entries: Sequence[SentEntry], format: MessageFormat) -> list[SentEntry]:
    """With one text in the place of each list of texts alone: beside calls OpenAI itself says null."""
    if format != "openai":
        return list(entries)
    return list(map(_with_joined_text, entries))


def _with_plain_text(entry: SentEntry) -> SentEntry:
    if entry.record.get("content") is None:
        return entry.with_fields(content="")
    return _with_joined_text(entry)


def _with_joined_text(entry: SentEntry) -> SentEntry:
    content = entry.record.get("content")
    if not isinstance(content, list):
        return entry
    texts: list[str] = []
    for part in content:
        text = _text_of(plain(part))
        if text is None:
            return entry
        texts.append(text)
    return entry.with_fields(content=_BETWEEN.join(texts))


def _text_of(part: Json) -> str | None:
    """The words of a part that holds nothing else; None for others."""
    if isinstance(part, str):
        return part
    if not isinstance(part, dict) or type_of(part) not in TEXT_TYPES:
        return None
    text = part.get("text")
    if isinstance(text, str):
        return text
    return None
