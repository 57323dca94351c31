"""The kind of a lost thing, where its line says more than its form."""

import re
from itertools import pairwise

from workbench.engine.extraction.entities import Kind
from workbench.evaluation.metrics.need import Need

_BRANCH = re.compile(r"(?:origin|upstream|refs)/\S+")
_UTILITY_CLASS = re.compile(
    r"(?:[a-z-]+:)*-?(?:bg|text|border|ring|fill|stroke|from|via|to|divide|shadow|outline|accent"
    r"|[mp][trblxy]?|w|h|gap|space-[xy]|rounded|z|grid-cols|col-span|max-w|min-h|leading|opacity|duration|scale)"
    r"-[a-z0-9-]+(?:/\d+)?"
)
"""A class of a style sheet that says what it does, as Tailwind's do (`bg-green-100`)."""
_CODED = re.compile(r"[a-z]+(?:_[a-z]+)*_\d{5,}|(?=[A-Z]*\d)(?=\d*[A-Z])[A-Z\d]{5,12}")
_QUOTED_PATH = re.compile(r"(?:[a-z]:|~)?(?:[^/:]*/)+[^/:]*\.\w{1,5}|(?:[a-z]:|~)?/[^:]*")


def loss_kind(need: Need) -> Kind:
    """The kind of a lost thing, where its line says more than its form."""
    name, kind = need.entity.text, need.entity.kind
    if kind == "id" and _UTILITY_CLASS.fullmatch(name):
        return "identifier"
    if kind == "path" and _BRANCH.fullmatch(name):
        return "id"
    if kind == "identifier" and _CODED.fullmatch(name):
        return "id"
    if kind == "quote" and _QUOTED_PATH.fullmatch(name):
        return "path"
    if kind == "identifier" and _is_random(name):
        return "id"
    if kind == "flag":
        if _is_property(name, need.evidence_text) or not name.islower():
            return "identifier"
        return kind
    if kind == "identifier" and _is_code_of_error(name, need.evidence_text):
        return "error"
    if kind == "quote" and _is_text_of_error(name, need.evidence_text):
        return "error"
    return kind


def _is_property(name: str, line: str) -> bool:
    """Whether a line of a style sheet uses or sets a property of this name."""
    return f"var({name}" in line or f"{name}:" in line


_MIXED = re.compile(r"(?=.*\d)(?=.*[a-z])(?=.*[A-Z])")


def _is_random(name: str) -> bool:
    """Whether a machine chose a name: digits, small and capital letters change all the time."""
    if len(name) < 8 or not _MIXED.match(name):
        return False
    change_count = 0
    for earlier, later in pairwise(name):
        if _sort_of(earlier) != _sort_of(later):
            change_count += 1
    return 2 * change_count >= len(name) - 1


def _sort_of(character: str) -> str:
    if character.isdigit():
        return "digit"
    if character.isupper():
        return "capital"
    return "small"


_GO_ERROR = re.compile(r"Err[A-Z]\w*")


def _is_code_of_error(name: str, line: str) -> bool:
    """Whether a name is an error's, as Go names them, or stands behind a status of HTTP."""
    if _GO_ERROR.fullmatch(name):
        return True
    return re.search(rf"\b[45]\d\d `?{re.escape(name)}\b", line) is not None


_MAKES_ERROR = re.compile(r"(?:(?:Errorf?|errors\.New|Exception|panic|bail!)\(|\bdetail=)$")


def _is_text_of_error(text: str, line: str) -> bool:
    """Whether a line of code makes an error that says this text."""
    code, quotation_mark, _ = line.partition('"')
    is_first = line.lower().startswith(text, len(code) + 1)
    return bool(quotation_mark) and is_first and _MAKES_ERROR.search(code) is not None
