"""Looks at a summary without a model: does it have its sections and its size, and does what it names exist?"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Literal, TypeAlias

from workbench.extraction.entities import plain
from workbench.extraction.extractor import Extractor
from workbench.models.model import Completion, SummaryRequest
from workbench.transcript.message import Summary, counted_text

What: TypeAlias = Literal["empty", "markup", "loop", "echo", "size", "cut", "sections", "fabricated"]

TOO_LONG, FAR_TOO_LONG = 1.1, 1.5  # a summary's size as a part of what was allowed
UNSUPPORTED, MOSTLY_UNSUPPORTED = 0.1, 0.5  # the share of names, numbers and quotes that the source does not contain
SOME, MANY = 3, 6  # how many of them there must be at least
LOOP = 6  # how often one line may come again
ECHOED = 0.8  # the share of a summary that repeats whole lines of its prompt

_MARKUP = re.compile(
    r"<\|[\w-]+\|>|</?(?:tool_call|tool_calls|function_call|function_calls|tool_use|invoke|antml:\w+|parameter)\b[^>\n]{0,80}>|"
    r"\[/?TOOL_CALLS?\]|<function=\w+|```tool_(?:code|call)|\bto=functions\.\w+|"
    r"(?m:^\s*\{\s*\"(?:name|tool|function)\"\s*:\s*\"[\w.-]+\"\s*,\s*\"(?:arguments|parameters|input)\"\s*:)"
)
_LABEL = re.compile(
    r"(?m)^\s*\[(?:User|Assistant|System|Summary|Result)\b[^\]\n]{0,80}\]:|</?(?:conversation|previous-summary)>"
)
_HEADING = re.compile(r"^[\s#*_>\-\d.)]*(.*?)[\s:*_#]*$")
_NAMES = frozenset({"path", "url", "hash", "version", "flag", "identifier", "id", "number", "quote"})


@dataclass(frozen=True, slots=True)
class Finding:
    """Something wrong with a summary.

    Attributes:
        fatal: whether it makes the summary useless; else it is merely worse than it could be.
        sentence: for the model that may repair it, and for reports.
    """

    what: What
    fatal: bool
    sentence: str


def findings(request: SummaryRequest, answer: Completion) -> tuple[Finding, ...]:
    """What is wrong with a model's summary; nothing for a good one.

    Fails to see: a false sentence whose names are all true. Takes for false: a number that was worked out.
    """
    text = answer.text.strip()
    if not text:
        return (Finding("empty", True, "it is empty"),)
    source = _source(request)
    cut = Finding("cut", False, "it was cut off at its token limit") if answer.cut else None
    found = (_markup(text, source), _loop(text), _echo(text, request), _size(request, text), cut,
             _sections(request, text), _fabricated(text, source))  # fmt: skip
    return tuple(finding for finding in found if finding is not None)


def _source(request: SummaryRequest) -> str:
    """All that a summary may be made of."""
    parts = [request.previous, request.instructions, *map(counted_text, request.messages)]
    return "\n".join([*parts, *request.files.read, *request.files.modified])


def _markup(text: str, source: str) -> Finding | None:
    found = next((one for one in _MARKUP.findall(text) if one.strip() not in source), None)
    why = f"it contains the markup of a tool call or of a chat: {found and found.strip()!r}"
    return None if found is None else Finding("markup", True, why)


def _loop(text: str) -> Finding | None:
    lines = [line.strip() for line in text.splitlines() if len(line.strip()) > 2]
    line, times = Counter(lines).most_common(1)[0] if lines else ("", 0)
    if times >= LOOP and times > len(lines) / 3:
        return Finding("loop", True, f"it repeats itself: {_short(line)!r} occurs {times} times")
    tail = text[-60:].strip()
    if len(text) > 300 and (times := text.count(tail)) >= LOOP and times * len(tail) > len(text) / 2:
        return Finding("loop", True, f"it repeats itself: {_short(tail)!r} occurs {times} times")
    return None


def _echo(text: str, request: SummaryRequest) -> Finding | None:
    labels = len(_LABEL.findall(text))
    lines = [line.strip() for line in text.splitlines() if line.strip()]
    if labels >= SOME or labels > 0.2 * len(lines):
        return Finding("echo", True, "it continues the record instead of summarising it: its lines have speaker labels")
    long = [line for line in lines if len(line) >= 40]
    if sum(map(len, long)) > ECHOED * len(text) and len(long) >= SOME:
        prompt = request.prompt
        copied = sum(len(line) for line in long if line in prompt)
        if copied > ECHOED * len(text):
            return Finding("echo", True, f"{copied / len(text):.0%} of it is copied word for word from the prompt")
    return None


def _size(request: SummaryRequest, text: str) -> Finding | None:
    size = request.count(Summary(id="", text=text))
    replaced = sum(map(request.count, request.messages)) + (
        request.count(Summary(id="", text=request.previous)) if request.previous else 0
    )
    if request.messages and size >= replaced:
        return Finding("size", True, f"it has {size} tokens, and the messages that it replaces only {replaced}")
    if request.max_tokens is not None and size > TOO_LONG * request.max_tokens:
        far = size > FAR_TOO_LONG * request.max_tokens
        return Finding("size", far, f"it has {size} tokens; at most {request.max_tokens} were allowed")
    return None


def _sections(request: SummaryRequest, text: str) -> Finding | None:
    if not request.sections:
        return None
    lines = {found.group(1).casefold() for line in text.splitlines() if (found := _HEADING.match(line))}
    missing = [name for name in request.sections if name.casefold() not in lines]
    if not missing:
        return None
    fatal = len(missing) > len(request.sections) / 2
    return Finding("sections", fatal, f"these headings are missing: {', '.join(missing)}")


def _fabricated(text: str, source: str) -> Finding | None:
    opened = plain(source.replace("\\n", " ").replace('\\"', '"').replace("\\\\", "\\"))  # escapes of JSON
    digits = opened.replace(",", "").replace("_", "")
    extractor = Extractor()
    extractor.read("\n".join(line for line in text.splitlines() if not line.lstrip().startswith("#")))
    named = [
        (kind, name)
        for kind, name in extractor.entities
        if kind in _NAMES and (kind != "number" or len(name.split(" ")[0].strip("%")) > 2)
    ]
    false = [name for kind, name in named if not _is_supported(kind, name, digits if kind == "number" else opened)]
    if len(false) < SOME or len(false) < UNSUPPORTED * len(named):
        return None
    fatal = len(false) >= MANY and len(false) > MOSTLY_UNSUPPORTED * len(named)
    shown = ", ".join(map(repr, map(_short, false[:8])))
    return Finding(
        "fabricated", fatal, f"{len(false)} of the {len(named)} things it names are not in the record: {shown}"
    )


def _is_supported(kind: str, name: str, source: str) -> bool:
    text = plain(name)
    if kind == "number":
        return text.split(" ")[0] in source
    return text in source or (kind == "path" and any(tail in source for tail in _tails(text)))


def _tails(path: str) -> Iterator[str]:
    """What a path may be called for short: its last two parts, and the file alone."""
    parts = [part for part in path.split("/") if part not in ("", ".", "~")]
    if len(parts) > 2:
        yield "/".join(parts[-2:])
    if parts and "." in parts[-1]:
        yield parts[-1]


def _short(text: str) -> str:
    return text if len(text) <= 60 else text[:57] + "..."
