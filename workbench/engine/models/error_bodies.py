"""What an error says, without what clients and gateways write around it: prefixes, JSON, JSON in
JSON.
"""

import ast
import json
import re
from collections.abc import Iterator, Mapping, Sequence

from workbench.engine.transcript.message import Json

LARGEST = 20_000
"""Characters of a body above which it is not decoded."""
DEEPEST = 24
"""Levels of a body that are read."""
_SENTENCES = frozenset(
    {"message", "msg", "detail", "details", "error", "error_msg", "raw", "reason", "title", "text"}
)
"""Fields of bodies in which an error is told."""
_NAMELESS = re.compile(r"\w*_id|id|provider_name|http_?code|status_?code")
"""Fields that do not say what is wrong."""
_VAGUE = re.compile(
    r"none|null|true|false|\d{3}|error|(?:api|server|upstream)_error"
    r"|\w*(?:invalid|bad)_?(?:request|argument|parameter)\w*",
    re.IGNORECASE,
)
"""Values that say no more than that something is wrong."""
_PREFIXES = re.compile(
    r"""^(?:\s*(?:
        litellm\.\w+:\s*(?:\w+Error:\s*)?(?:\w*Exception\s*[-:]\s*)?
        | Error\ code:\ \d{3}\ -\s
        | \d{3}\ [A-Z_]{4,}\.\s
        | An\ error\ occurred\ \(\w+\)\ when\ calling\ the\ \w+\ operation(?:\ \([^)]*\))?:\s
        | (?:[a-z_.]+\.)?(?:API|APIStatus|BadRequest|Model|Runtime|HTTP|HTTPStatus)?Error:\s
        | API\ Error:\s
        | \d{3}\ (?=[{\[])
        | AI_APICallError:\s(?:Bad\ Request:\s)?
    ))+""",
    re.VERBOSE,
)
_BODY = re.compile(r"[\[{].*[\]}]\s*$", re.DOTALL)


def words_of(error: str | Mapping[str, Json]) -> str:
    """What an error says; behind it, on lines of their own, what else its body has."""
    if isinstance(error, Mapping):
        return _told(error) or str(error)
    text = _PREFIXES.sub("", error)
    body = _decoded(text)
    if body is None:
        return text
    return _told(body) or text


def _told(body: Json) -> str:
    """The sentences of a body, and then its other fields."""
    sentences: list[str] = []
    fields: list[str] = []
    for name, value in _leaves(body, "", DEEPEST):
        if name in _SENTENCES:
            sentences.append(value)
        elif not _NAMELESS.fullmatch(name) and not _VAGUE.fullmatch(value):
            fields.append(f"{name}: {value}".removeprefix(": "))
    lines = dict.fromkeys([*sentences, *fields])
    return "\n".join(line for line in lines if line.strip())


def _leaves(body: Json, name: str, depth: int) -> Iterator[tuple[str, str]]:
    """The texts and numbers of a body with the fields in which they stand, also of bodies that
    stand in it as text.
    """
    if depth == 0 or body is None:
        return
    if isinstance(body, Mapping):
        for field, value in body.items():
            yield from _leaves(value, str(field), depth - 1)
    elif isinstance(body, str):
        inner_text = _PREFIXES.sub("", body)
        inner_body = _decoded(inner_text)
        if inner_body is None:
            yield name, inner_text
        else:
            yield from _leaves(inner_body, name, depth - 1)
    elif isinstance(body, Sequence):
        for value in body:
            yield from _leaves(value, name, depth - 1)
    else:
        yield name, str(body)


def _decoded(text: str) -> Json:
    """The body that a text is, as JSON or as Python shows it; None where it is none."""
    if len(text) > LARGEST or not _BODY.match(text.lstrip()):
        return None
    try:
        return json.loads(text)
    except (ValueError, RecursionError):
        pass
    try:
        return ast.literal_eval(text.strip())
    except (ValueError, SyntaxError, RecursionError, MemoryError):
        return None
