"""What an error says in numbers: the limit, what was used, and the output that was requested."""

import re
from collections.abc import Iterator
from dataclasses import dataclass

from workbench.engine.models.error_wordings import WORDINGS, Kind, compiled

PLAUSIBLE = range(1_024, 10_000_001)
"""Tokens that a stated limit can have; other numbers in an error are something else."""
_PAIRS = [compiled(pattern) for pattern in WORDINGS["pairs"]]
_LIMIT = compiled(WORDINGS["limit"])
_MINUTE = compiled(WORDINGS["minute"])
_PARTS = {part: compiled(pattern) for part, pattern in WORDINGS["parts"].items()}
_TOKENS = re.compile(
    r"(?<![\w.-])(?:\d{1,3}(?:[.\u202f\u00a0 ]\d{3})+(?!\d)|\d(?:[\d,_]*\d)?)(?![\w.]*\w)"
)
"""A number that is no part of a name or a version, also with dots or spaces at its thousands."""
_THOUSANDS = re.compile(r"(?<![\w.-])(\d{1,4})k(?=[ -]tokens?\b)", re.IGNORECASE)
"""A number of tokens in thousands."""
_ABOUT = re.compile(r"[~≈](?=\d)")
"""What stands before a number that is not exact."""
_ADVICE = "at least "
_BEFORE_CODE = re.compile(r"code\W{1,4}$", re.IGNORECASE)
_STATUS = re.compile(r"\W*(?:error\W{1,2})?[45]\d\d(?= )", re.IGNORECASE)
"""An HTTP status that an error begins with, which counts nothing."""
_ITEMS = compiled(WORDINGS["items"])
"""An overflow whose numbers count messages."""
_END_BEHIND = re.compile(r"[,;:.()!?+]|\b(?:plus|and|but|while|whereas|however|yet)\b")
"""Where the words end that belong to the number before them."""
_NEIGHBOURS = 40
"""Characters around a number that may say what it counts."""


@dataclass(frozen=True, slots=True)
class ErrorNumbers:
    """What an error says of tokens: the limit, what was used, and the output that was requested;
    None where it does not say.
    """

    limit: int | None = None
    used: int | None = None
    requested: int | None = None

    @property
    def is_above_limit(self) -> bool:
        """Whether it says that more was used than the limit."""
        return self.limit is not None and self.used is not None and self.used > self.limit

    @property
    def fits(self) -> bool:
        """Whether it says that the prompt alone is within the limit."""
        return self.limit is not None and self.used is not None and self.used <= self.limit


def error_numbers(text: str, kind: Kind) -> ErrorNumbers:
    """The numbers of an error of this kind, by what they count."""
    if _ITEMS.search(text):
        return ErrorNumbers()
    parts = _parts(text)
    if kind in ("overflow", "mixed") and "input" in parts and "output" in parts:
        return _sum_of(parts, text)
    if kind != "output_cap":
        for pattern in _PAIRS:
            match = pattern.search(text)
            if match is None:
                continue
            stated = match.groupdict()
            return ErrorNumbers(
                limit=_plausible(stated.get("limit")),
                used=_count(stated.get("used")),
                requested=_count(stated.get("asked")),
            )
    if kind == "overflow":
        limit = _plausible(parts.get("limit"))
        used = _plausible(parts.get("input"))
        if limit is not None and used is not None:
            return ErrorNumbers(limit, used)
    limit = _stated_limit(text)
    if kind != "overflow":
        return ErrorNumbers(limit)
    numbers = token_numbers(text)
    if limit is None and len(numbers) == 2:
        limit = min(numbers)
    if limit is None:
        return ErrorNumbers()
    larger = [number for number in numbers if number > limit]
    used = larger[0] if len(larger) == 1 else None
    return ErrorNumbers(limit, used)


def with_plain_numbers(text: str) -> str:
    """The text with `128k tokens` as `128000 tokens` and `~128` as `128`."""
    return _THOUSANDS.sub(r"\g<1>000", _ABOUT.sub("", text))


def parts_counted(text: str) -> set[str]:
    """Whether a text gives the tokens of the prompt, of the answer, or of both: `input`,
    `output`.
    """
    return _parts(text).keys() & {"input", "output"}


def tokens_of_a_minute(text: str) -> int | None:
    """The tokens that a provider takes in a minute, as a text says."""
    match = _MINUTE.search(text)
    if match is None:
        return None
    return _plausible(match[1])


def _sum_of(parts: dict[str, str], text: str) -> ErrorNumbers:
    """The numbers of a text that gives prompt and answer apart; the limit is the only other
    number where no word says which it is.
    """
    used = _count(parts["input"])
    requested = _count(parts["output"])
    limit = _plausible(parts.get("limit"))
    other_numbers = token_numbers(text) - {used, requested}
    if used is not None and requested is not None:
        other_numbers.discard(used + requested)
    if limit is None and len(other_numbers) == 1:
        limit = other_numbers.pop()
    elif limit is not None and requested is not None and limit + requested in other_numbers:
        # what the prompt may have is told too: the window less the answer
        limit += requested
    return ErrorNumbers(limit, used, requested)


def _stated_limit(text: str) -> int | None:
    """The limit that stands alone in a text."""
    match = _LIMIT.search(text)
    if match is None:
        return None
    for number in match.groups():
        if number:
            return _plausible(number)
    return None


def _parts(text: str) -> dict[str, str]:
    """The numbers of a text by what they count: `input`, `output`, `limit`."""
    numbers = list(_numbers_in(text))
    starts = [number.start() for number in numbers]
    next_starts = [*starts[1:], len(text)]
    parts: dict[str, str] = {}
    previous_end = 0
    for number, next_start in zip(numbers, next_starts, strict=False):
        start, end = number.span()
        reach = min(end + _NEIGHBOURS, next_start)
        following, *_ = _END_BEHIND.split(text[end:reach])
        reach_back = max(start - _NEIGHBOURS, previous_end)
        *_, preceding = re.split(r"[,;.()!?]", text[reach_back:start].rstrip("( "))
        previous_end = end
        part = _part_of(following, preceding)
        if part:
            parts.setdefault(part, number.group())
    return parts


def _part_of(following: str, preceding: str) -> str:
    """What a number counts, by the words on either side; empty where they do not say."""
    for words, part in (
        (following, "output"),
        (following, "input"),
        (preceding, "output"),
        (preceding, "limit"),
        (preceding, "input"),
    ):
        if _PARTS[part].search(words):
            return part
    return ""


def token_numbers(text: str) -> set[int]:
    """The numbers of a text that may be tokens of a prompt or a window."""
    numbers: set[int] = set()
    if _ITEMS.search(text):
        return numbers
    for match in _numbers_in(text):
        number = _plausible(match.group())
        is_advice = text[: match.start()].endswith(_ADVICE)
        if number is not None and not is_advice:
            numbers.add(number)
    return numbers


def _numbers_in(text: str) -> Iterator[re.Match[str]]:
    """The numbers of a text that are no code of an error."""
    status = _STATUS.match(text)
    after_status = status.end() if status else 0
    for match in _TOKENS.finditer(text, after_status):
        if not _BEFORE_CODE.search(text[: match.start()]):
            yield match


def _count(digits: str | None) -> int | None:
    if not digits:
        return None
    return int(re.sub(r"\D", "", digits))


def _plausible(digits: str | None) -> int | None:
    number = _count(digits)
    if number is None or number not in PLAUSIBLE:
        return None
    return number
