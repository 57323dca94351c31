"""Reads the usage that a provider reports for a request."""

from collections.abc import Mapping

from workbench.engine.transcript.message import Json, Usage
from workbench.live.formats.parts import plain
from workbench.recordings.importers.usage import ANTHROPIC_USAGE, GEMINI_USAGE, OPENAI_USAGE
from workbench.recordings.importers.values import count

GEMINI_FIELDS = ("prompt_token_count", "promptTokenCount")
OPENAI_FIELDS = ("prompt_tokens", "prompt_tokens_details", "input_tokens_details")


def usage_of(report: Json) -> Usage | None:
    """A report of OpenAI, Anthropic or Gemini, a dict or a client's object; None if it holds no
    usage.
    """
    if report is None or isinstance(report, Usage):
        return report
    figures = _figures(report) or {}
    if any(figures.get(name) for name in GEMINI_FIELDS):
        return GEMINI_USAGE.read(figures)
    if any(figures.get(name) for name in OPENAI_FIELDS):
        return OPENAI_USAGE.read(figures)
    return ANTHROPIC_USAGE.read(figures)


def cleared_by(managed: Json) -> int:
    """Tokens that the provider's own edits took out of a request, from the `context_management`
    of its answer.
    """
    record = managed if isinstance(managed, Mapping) else plain(managed)
    if not isinstance(record, Mapping):
        return 0
    cleared_tokens = 0
    for edit in record.get("applied_edits") or ():
        cleared_tokens += count(plain(edit), "cleared_input_tokens")
    return cleared_tokens


def _figures(value: Json) -> Json:
    """Counts, and dicts of counts; None for anything else."""
    if isinstance(value, int | float):
        is_count = value > 0 and not isinstance(value, bool)
        return int(value) if is_count else None
    record = _fields_of(value)
    if record is None:
        return None
    return {name: _figures(figure) for name, figure in record.items()}


def _fields_of(value: Json) -> Json:
    """The fields of a mapping or of a client's object; None for anything else."""
    if isinstance(value, Mapping):
        return value
    dump = getattr(value, "model_dump", None)
    if callable(dump):
        return dump()
    return getattr(value, "__dict__", None)
