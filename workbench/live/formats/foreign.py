"""Which parts of a message belong to an API or framework that is none of ours: it is refused,
and never half read.
"""

from collections.abc import Mapping

from workbench.engine.transcript.message import Json
from workbench.live.formats.parts import type_of

CONVERT = "convert the messages to OpenAI's, Anthropic's or Gemini's form first"
BEDROCK = frozenset({"toolUse", "toolResult", "reasoningContent", "guardContent"})
"""The keys of parts in Bedrock's Converse API, which have no type."""
VERCEL = frozenset({"tool-call", "tool-result", "tool-invocation", "step-start", "dynamic-tool"})
"""The types of parts in Vercel's AI SDK."""
UNTYPED = "Bedrock's Converse API (a text without a type)"


def foreign_part(record: Mapping[str, Json]) -> tuple[str, str]:
    """The field that holds such a part, and why it cannot be read; empty if there is none."""
    for field in ("content", "parts"):
        value = record.get(field)
        parts = value if isinstance(value, list | tuple) else ()
        owners = dict.fromkeys(filter(None, map(_owner, parts)))
        if owners:
            owner = next((name for name in owners if name != UNTYPED), UNTYPED)
            return field, f"this holds a part of {owner}; {CONVERT}"
    if record.get("parts") and not record.get("content"):
        return "parts", f"these are parts of a framework's own messages; {CONVERT}"
    return "", ""


def foreign_content(record: Mapping[str, Json]) -> tuple[str, str]:
    """The same of a content in Gemini's form, whose parts have no type."""
    if record.get("role") == "assistant":
        return "role", f"this is the message of a framework and no content of Gemini's; {CONVERT}"
    for part in record["parts"]:
        if isinstance(part, Mapping) and ("part_kind" in part or type_of(part)):
            return "parts", f"this holds a part of {_owner(part) or 'a framework'}; {CONVERT}"
    return "", ""


def _owner(part: Json) -> str:
    """Whose part it is; empty for one that may be ours."""
    if not isinstance(part, Mapping):
        return ""
    kind = type_of(part)
    if kind in VERCEL:
        return f"Vercel's AI SDK ({kind})"
    if "part_kind" in part:
        return f"pydantic-ai ({part['part_kind']})"
    if kind:
        return ""
    keys = sorted(BEDROCK & part.keys())
    if keys:
        return f"Bedrock's Converse API ({keys[0]})"
    return UNTYPED if set(part) == {"text"} else ""
