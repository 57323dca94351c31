"""What kind an error is: by words of providers that are known, by its status, by the request that it
answers, and only then by what it speaks of.
"""

import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Literal

from workbench.engine.models.error_evidence import LITELLM_OVERFLOW
from workbench.engine.models.error_numbers import parts_counted, token_numbers, tokens_of_a_minute
from workbench.engine.models.error_wordings import WORDINGS, Kind, compiled, joined_pattern
from workbench.engine.models.refused_fields import refused_fields
from workbench.engine.models.refused_request import Defect, RefusedRequest

REFUSED = (None, 200, 400, 404, 413, 415, 416, 422, 429, 500)
"""HTTP statuses of errors that the general rules are for: a request was refused for what is in
it.
"""
UNREADABLE = (None, 400, 413, 422)
"""HTTP statuses that speak of the request alone, so that its own state may explain a text that says
nothing.
"""
UNPROCESSABLE = (400, 422)
"""HTTP statuses that say that a request cannot be read: what is broken in its history explains
them.
"""
BUSY = (408, 502, 503, 504, 529)
"""HTTP statuses of a server that could not answer now."""
LEAST_BYTES = 1_000_000
"""A limit of so many, of what is called a size or a length, is one of bytes."""
_DIGITS = re.compile(r"\d{7,12}")
_IN_BYTES = compiled(WORDINGS["in_bytes"])
_IN_TOKENS = compiled(WORDINGS["in_tokens"])
_BODY_SIZE = compiled(WORDINGS["body_size"])
_KINDS: Mapping[Kind, re.Pattern[str]] = {
    kind: compiled(patterns) for kind, patterns in WORDINGS["kinds"].items()
}
_VAGUE = compiled(WORDINGS["vague"])
_FORM = compiled(WORDINGS["form"])
_SIZE = compiled(WORDINGS["size"])
_NO_WORD = re.compile(r"[\W\d_]+")
_ADDRESSES = compiled(WORDINGS["addresses"])
_BUSY = compiled(WORDINGS["busy"])
_LIMIT_OF_BODY = compiled(WORDINGS["limit_of_body"])
_NO_BODY = compiled(WORDINGS["no_body"])
_NO_PARAMETER = compiled(WORDINGS["no_parameter"])
_ANOTHER_MATTER = compiled(WORDINGS["another_matter"])
_MEDIA = compiled(WORDINGS["media"])
_MEDIA_FIELD = compiled(WORDINGS["media_field"])
_SUBJECT = compiled(WORDINGS["subject"])
_THINGS = compiled(WORDINGS["things"])
_HISTORY = compiled(WORDINGS["history"])
_OUTPUT = compiled(WORDINGS["output"])
_INPUT = compiled(WORDINGS["input"])
_TOO_LARGE_BY_ITSELF = compiled(WORDINGS["too_large_by_itself"])
_DEFECTS: Mapping[Defect, re.Pattern[str]] = {
    defect: compiled(pattern) for defect, pattern in WORDINGS["defects"].items()
}


@dataclass(frozen=True, slots=True)
class GeneralRule:
    """What an error speaks of where no provider's own wording fits."""

    kind: Kind
    about: str
    fault: str = ""
    size: str = ""
    unless: str = ""
    unit: str = ""

    def is_about(self, text: str) -> bool:
        """Whether the text speaks of the rule's subject, and of nothing that rules it out."""
        if self.unless and re.search(self.unless, text, re.IGNORECASE):
            return False
        return re.search(self.about, text, re.IGNORECASE) is not None

    def matches(self, text: str) -> bool:
        """Whether it also speaks of all that is wanted besides."""
        if self.unit and _unit(text) != self.unit:
            return False
        patterns = (self.fault, self.size)
        is_wanted = all(re.search(pattern, text, re.IGNORECASE) for pattern in patterns)
        return is_wanted and self.is_about(text)


def _general_rules() -> list[GeneralRule]:
    """The rules of the file, in its order."""
    rules: list[GeneralRule] = []
    for record in WORDINGS["general"]:
        rule = GeneralRule(
            record["kind"],
            about=joined_pattern(record["about"]),
            fault=joined_pattern(record.get("fault", "")),
            size=joined_pattern(record.get("size", "")),
            unless=joined_pattern(record.get("unless", "")),
            unit=record.get("unit", ""),
        )
        rules.append(rule)
    return rules


_GENERAL = _general_rules()


def kind_of(
    text: str, status: int | None, overflow: re.Pattern[str] | None, request: RefusedRequest
) -> Kind:
    """The kind of an error.

    Args:
        text: what it says.
        status: its HTTP status; None if unknown.
        overflow: texts that a host knows as an overflow.
        request: what was refused.
    """
    text = _ADDRESSES.sub(" ", text)
    if _NO_BODY.search(text):
        if request.is_full or not request.tokens:
            return "overflow"
        return _kind_by_request(text, status, request) or "other"
    kind = _stated_kind(text, status)
    if kind == "rate" and _TOO_LARGE_BY_ITSELF.search(text) and _states_size(text, request):
        return "rate_permanent"
    tokens_a_minute = tokens_of_a_minute(text)
    if kind == "rate" and tokens_a_minute and request.is_never_taken(tokens_a_minute):
        return "rate_permanent"
    if kind is None and overflow is not None and overflow.search(text):
        kind = "overflow"
    if kind is None and status in REFUSED and refused_fields(text):
        kind = "malformed"
    if kind is None and status in REFUSED:
        kind = _general_kind(text, request)
    if kind is None and status in UNREADABLE:
        kind = _kind_by_request(text, status, request)
    if kind == "bytes" and _is_of_tokens(text, request):
        return "overflow"
    if kind is None and status == 415 and request.media:
        kind = "media"
    if kind is None and status == 413 and not _ANOTHER_MATTER.search(text):
        kind = "bytes"
    if kind is None and (status in BUSY or _BUSY.search(text)):
        kind = "rate"
    return kind or "other"


def named_defects(text: str) -> frozenset[Defect]:
    """The defects of a history that an error speaks of."""
    defects: set[Defect] = set()
    for defect, pattern in _DEFECTS.items():
        if pattern.search(text):
            defects.add(defect)
    if refused_fields(text):
        defects.add("extra field")
    return frozenset(defects)


def _stated_kind(text: str, status: int | None) -> Kind | None:
    """The kind of an error in words that are known, or of a status that says it alone."""
    if status == 413 and _LIMIT_OF_BODY.search(text):
        return "bytes"
    for kind, pattern in _KINDS.items():
        if pattern.search(text) or (kind == "rate" and status == 429):
            return kind
    if LITELLM_OVERFLOW in text:
        return "overflow"
    return None


def _general_kind(text: str, request: RefusedRequest) -> Kind | None:
    """The kind of an error by what it speaks of, as far as the request bears it out."""
    if _NO_PARAMETER.search(text):
        return "other"
    kind = _named_part(text, request)
    if kind is not None:
        return kind
    for rule in _GENERAL:
        if not rule.matches(text):
            continue
        if rule.kind == "overflow":
            parts = parts_counted(text)
            if parts == {"input", "output"}:
                return "mixed"
            if parts == {"output"}:
                return "output_cap"
        if rule.kind == "media" and request.media == 0:
            return "other"
        numbers = token_numbers(text)
        if rule.kind == "overflow" and request.is_of_another_size(numbers):
            if _OUTPUT.search(text):
                return "mixed"
            continue
        if rule.kind == "output_cap" and request.is_full and request.window in numbers:
            return "overflow"
        return rule.kind
    if parts_counted(text) == {"input", "output"}:
        return "mixed"
    if _states_size(text, request):
        return "overflow"
    return None


def _named_part(text: str, request: RefusedRequest) -> Kind | None:
    """The kind of an error that names a picture of the request, or what is broken in its history."""
    if request.media and _MEDIA_FIELD.search(text):
        for rule in _GENERAL:
            if rule.kind == "media" and rule.matches(text):
                return "media"
    if request.has_rare_defect and _speaks_of_history(text):
        return "malformed"
    if named_defects(text) & request.defects:
        return "malformed"
    return None


def _speaks_of_history(text: str) -> bool:
    """Whether a text speaks of messages and their parts, and of no setting."""
    return any(rule.kind == "malformed" and rule.is_about(text) for rule in _GENERAL)


def _states_size(text: str, request: RefusedRequest) -> bool:
    """Whether a text in words that no rule knows says that a request of about so many tokens is
    above a limit.
    """
    return _SUBJECT.search(text) is not None and _numbers_are_tokens(text, request)


def _is_of_tokens(text: str, request: RefusedRequest) -> bool:
    """Whether a text that calls a request too large speaks of its tokens, though it names none."""
    if _unit(text) == "tokens" or _numbers_are_tokens(text, request):
        return True
    return request.media == 0 and request.is_full


def _numbers_are_tokens(text: str, request: RefusedRequest) -> bool:
    """Whether the larger of two numbers without a unit is about that of a request's tokens; of its
    bytes there are several times as many.
    """
    numbers = token_numbers(text)
    if len(numbers) != 2 or _unit(text) == "bytes":
        return False
    return request.is_near(max(numbers))


def _kind_by_request(text: str, status: int | None, request: RefusedRequest) -> Kind | None:
    """The kind of an error that the state of the request explains, unless the text plainly names
    something else.
    """
    if request.media and _MEDIA.search(text):
        return "media"
    if _states_bytes(text) and (request.media or _states_size_in_bytes(text, request)):
        return "bytes"
    if _ANOTHER_MATTER.search(text):
        return None
    says_nothing = _says_nothing(text)
    is_unprocessable = status in UNPROCESSABLE
    explains_form = is_unprocessable and (says_nothing or _may_be_about_history(text))
    if explains_form and request.has_certain_defect:
        return "malformed"
    is_of_another_size = request.is_of_another_size(token_numbers(text))
    may_be_too_large = request.is_full and not is_of_another_size
    if may_be_too_large and (says_nothing or _speaks_of_size(text)):
        return "overflow"
    is_broken = is_unprocessable and request.has_certain_defect
    if is_broken and not _names_thing(text):
        return "malformed"
    is_explained = request.has_rare_defect
    if may_be_about_form(text):
        is_explained = bool(request.defects)
    if explains_form and is_explained:
        return "malformed"
    return None


def _may_be_about_history(text: str) -> bool:
    """Whether a text says that something could not be read, or speaks of messages and their parts."""
    if _FORM.search(text) or _speaks_of_history(text):
        return True
    if _SIZE.search(text):
        return False
    return _HISTORY.search(text) is not None


def _names_thing(text: str) -> bool:
    """Whether a text speaks of a size, or of something that stands in no history."""
    if _SIZE.search(text):
        return True
    return _THINGS.search(text) is not None


def _speaks_of_size(text: str) -> bool:
    """Whether a text says of what a model reads, and not of what it writes, that it is too much."""
    speaks_of_output = _OUTPUT.search(text) is not None
    if speaks_of_output and not _INPUT.search(text):
        return False
    if not _SIZE.search(text):
        return False
    return _SUBJECT.search(text) is not None


def _unit(text: str) -> Literal["bytes", "tokens"] | None:
    """What the numbers of a text count; None where they count both, or neither."""
    counts_bytes = _IN_BYTES.search(text) is not None
    counts_tokens = _IN_TOKENS.search(text) is not None
    if counts_bytes and not counts_tokens:
        return "bytes"
    if counts_tokens and not counts_bytes:
        return "tokens"
    return None


def _states_bytes(text: str) -> bool:
    """Whether a text says a limit that is too large for one of tokens."""
    numbers = map(int, _DIGITS.findall(text))
    largest = max(numbers, default=0)
    return largest >= LEAST_BYTES and _BODY_SIZE.search(text) is not None


def _states_size_in_bytes(text: str, request: RefusedRequest) -> bool:
    """Whether a text without a word of tokens says the bytes of a request of text beside a limit."""
    numbers = token_numbers(text)
    if len(numbers) != 2 or min(numbers) < LEAST_BYTES or "token" in text.lower():
        return False
    return not request.is_near(max(numbers))


def may_be_about_form(text: str) -> bool:
    """Whether a text says that something could not be read, or no more than that a request was
    refused: how its contents are written may explain that.
    """
    return _FORM.search(text) is not None or _says_nothing(text)


def _says_nothing(text: str) -> bool:
    """Whether a text says no more than that a request was refused."""
    remaining_words = _VAGUE.sub(" ", text)
    return not _NO_WORD.sub("", remaining_words)
